#!/bin/sh
# Receivers: what is refused and in which words, what check says, files at
# signals and kills. What scripts read of them is in traces.sh.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

line_input >line.cfg

# refused WHAT "PATTERN|PATTERN" OVERRIDE...: exit code 2 by $commands
commands='run check'
refused() {
    what=$1 patterns=$2
    shift 2
    for command in $commands; do
        "$htwave" $command line.cfg --quiet "$device" "$@" \
            >answer.txt 2>message.txt
        code=$?
        missing=$(lacking message.txt "$patterns")
        if [ $code = 2 ] && [ -z "$missing" ] && [ ! -e out ]; then
            pass "$what, $command: $(tail -n 1 message.txt)"
        else
            sed 's/^/    | /' message.txt
            fail "$what, $command: exit code $code, lacks:$missing"
        fi
    done
}

refused 'outside the box' \
    'receivers.1.position|receiver 1 of 1, at (0.5, 1.7)|x2 is 0 to 1.6' \
    'receivers.1.position=[0.5,1.7]'
refused 'the end of a line outside' \
    'receivers.2.to|receiver 7 of 7, at (2.1, 0.1)|x1 is 0 to 2' \
    'receivers.2.to=[2.1,0.1]'
refused 'two groups of a name' 'receivers.2.name|receivers.1 has|names must differ' \
    receivers.2.name=receivers-1
refused 'a name with a slash' 'receivers.2.name|letters' receivers.2.name=a/b
commands=check # run plans in the same way
refused 'interval 0' 'receivers.2.every = 0|> 0' receivers.2.every=0
refused 'an interval above half a period' \
    'receivers.2.every = 0.01|at most 0.00714286|initial.frequency' \
    initial.frequency=70
refused 'an interval above half a period of a source' \
    'receivers.2.every = 0.01|sources' time.end=0.02 'grid.cells=[400,320]' \
    'sources=({position=[1,0.8];frequency=30;})'
refused 'a start after the end' 'receivers.1.start = 0.6|ends at 0.5' \
    receivers.1.start=0.6
refused 'an unknown field' 'receivers.1.fields|"q"|p_x1' \
    'receivers.1.fields=["q"]'
refused 'a derivative along no axis' 'receivers.1.fields|"p_x3"' \
    'receivers.1.fields=["p_x3"]'
refused 'a field that fd does not hold' 'receivers.1.fields|"v"|holds u' \
    system=wave 'receivers.1.fields=["v"]'
refused 'a derivative of a velocity by fd' 'receivers.1.fields|"v1_x2"|holds p' \
    'receivers.1.fields=["v1_x2"]'
refused 'dispersion of two terms removed' \
    'time.dispersion = "remove"|time.stages = 1' time.dispersion=remove
refused 'dispersion removed of data with a rate' \
    'time.dispersion = "remove"|at rest' time.dispersion=remove time.stages=1 \
    initial.field=v1
# 1 Hz: omega dt/2 = sin(w dt/2) of the step's frequency w
"$htwave" check line.cfg "$device" time.stages=1 \
    'initial={type="plane";cycles=[2,0];}' >answer.txt 2>&1
judge 'a plane wave keeps the dispersion of one term: its size' awk '
    / steps of / { for (i = 1; i < NF; i++) if ($i == "of" && !dt) dt = $(i+1) }
    /traces keep the dispersion/ { n++; for (i = 1; i < NF; i++)
        if ($(i+1) == "%") said = $i }
    END { s = 3.14159265 * dt; w = 2 * atan2(s, sqrt(1 - s * s))
          error = said / (100 * (w / (2 * s) - 1)) - 1
          exit !(n == 1 && error < 0.06 && error > -0.06) }' answer.txt
refused 'a field twice' 'receivers.1.fields|"p" twice' \
    'receivers.1.fields=["p","p"]'
refused 'an unknown format' 'output.traces|"sac"|segy' 'output.traces=["sac"]'
refused 'too many traces for CSV' 'output.traces|at most 64|65' \
    receivers.2.count=65 'output.traces=["csv"]'
refused 'an interval that SEG-Y does not hold' \
    'output.traces|1 to 65535 microseconds|receivers.2.every' \
    receivers.2.every=0.1 receivers.1.every=0.01 \
    'output.traces=["segy"]'
refused 'more traces than memory' 'receivers|1e+10 traces need|the host has|take fewer' \
    'receivers=({type="plane";from=[0,0];to=[2,0];side=[0,1.6];count=100000;count2=100000;})'
refused 'more traces than the disk' \
    'output.directory|36.4 TiB to write|free' \
    'receivers=({type="line";from=[0,0];to=[2,0];count=10000;every=1e-5;})' \
    time.end=1e4
# 51 samples of 7 traces and 7 of one, 4 bytes each, their times of 8; with
# snapshots six files of two blocks of the disk, for 20 x 16 values and what HDF5 adds
"$htwave" check line.cfg --json "$device" >answer.txt 2>message.txt
judge "$(number answer.txt output_bytes) bytes to write (1920)" \
    [ "$(number answer.txt output_bytes)" = 1920 ]
"$htwave" check line.cfg --json output.snapshots=true \
    output.every=0.1 'output.maps=({})' >answer.txt 2>message.txt
judge "$(number answer.txt output_bytes) bytes with snapshots and a map (52352)" \
    [ "$(number answer.txt output_bytes)" = 52352 ]
# two lines for each of 64 maps
maps=$(seq 64 | sed 's/.*/{name="map-of-a-name-of-almost-forty-letters-&"; what=["largest","time","rms"];},/')
"$htwave" run line.cfg time.end=0.01 receivers='()' 'sources=({position=[1,0.8];frequency=1.0;})' \
    "output.maps=(${maps%,})" 2>message.txt
judge "a banner of $(wc -c <message.txt) bytes has its last map" \
    sh -c 'test "$(wc -c <message.txt)" -gt 16384 && grep -q "letters-64: largest" message.txt'

printf '0.5 0.3\n# a comment\n 0.6,0.4\t# another\n\n' >places.txt
from_file() {
    "$htwave" run line.cfg --quiet "$device" \
        'receivers=({type="file";file="places.txt";name="f";})' \
        'output.traces=["csv"]'
}
from_file
judge "positions in a file: $(head -n 1 out/traces_f.csv)" \
    [ "$(head -n 1 out/traces_f.csv)" = 'time,p[1],p[2]' ]
rm -rf out
for wrong in '0.5' '0.5 0.3 0.1' '0.5 x' '0.5 nan' '' '0.5 7.0'; do
    printf '0.5 0.3\n%s\n' "$wrong" >places.txt
    [ -n "$wrong" ] || : >places.txt
    refused "a file with \"$wrong\"" 'receivers.1.file|places.txt' \
        'receivers=({type="file";file="places.txt";})'
done

# ---- what check says ----
"$htwave" check line.cfg "$device" >answer.txt 2>message.txt
for pattern in 'receivers 8 traces of 2 groups' 'line: 7 of p, 51 samples 0.01' \
    'receivers-1: 1 of p,'; do
    judge "check says \"$pattern\"" grep -q "$pattern" answer.txt
done
"$htwave" check line.cfg "$device" receivers.2.every=0.25 >answer.txt \
    2>message.txt
judge "an interval that the grid's waves outrun: $(grep note message.txt)" \
    grep -q 'receivers.2.every = 0.25 is more than half a period' message.txt

# ---- files at the end, at signals and kills ----
"$htwave" run line.cfg --quiet "$device" 'output.traces=["csv"]' \
    output.series=true
judge "series.csv: $(wc -l <out/series.csv) lines, energy $(sed -n '2s/.*,\(.*\),.*/\1/p' out/series.csv)" \
    awk -F, 'NR == 1 { good = $0 == "time,energy,largest_p" }
             NR == 2 { e = $2 } NR > 1 && ($2 - e)^2 > 1e-8 * e^2 { good = 0 }
             END { exit !(good && NR > 5 && e > 0) }' out/series.csv
judge 'a run again' "$htwave" run line.cfg --quiet "$device"
judge 'it moves traces, CSV and series away' \
    [ -e out/run-001/traces.h5 -a -e out/run-001/traces_line.csv -a \
    -e out/run-001/series.csv -a ! -e out/series.csv ]
rm -rf out

# ---- streams that are closed, or whose reader has gone ----
"$htwave" run line.cfg "$device" 2>/dev/null && mv out open
"$htwave" run line.cfg --verbose "$device" >&- 2>&-
judge "output and messages closed: exit code $?, the same traces" \
    cmp open/traces.h5 out/traces.h5
rm -rf open out
{
    "$htwave" run line.cfg --verbose "$device"
    echo $? >code.txt
} 2>&1 | :
judge "nobody reads the log: exit code $(cat code.txt)" [ "$(cat code.txt)" = 0 \
    -a -e out/summary.json ]
rm -rf out

killed() { # SIGNAL OVERRIDE...
    signal=$1
    shift
    "$htwave" run line.cfg --quiet "$device" time.end=1e4 \
        'output.traces=["csv"]' "$@" 2>message.txt &
    child=$!
    for _ in $(seq 300); do
        [ -e out/traces.h5 ] && break
        sleep 0.1
    done
    sleep 0.5
    kill -"$signal" $child
    wait $child 2>/dev/null
}
rm -rf out
killed TERM
judge "a signal: the samples so far, $(wc -l <out/traces_line.csv) lines" \
    [ -e out/traces.h5 -a -z "$(find out -name '*.tmp.*')" ]
judge 'they are whole' awk -F, 'NR > 1 { n++; bad += NF != 8 ||
    ($1 - 0.01 * (NR - 2))^2 > 1e-12 } END { exit !(n > 0 && !bad) }' \
    out/traces_line.csv
rm -rf out

killed TERM time.stages=1
judge "a signal, dispersion removed: $(wc -l <out/traces_line.csv) lines" \
    awk -F, 'NR > 1 { n++; bad += NF != 8 || ($1 - 0.01 * (NR - 2))^2 > 1e-12 }
             END { exit !(n > 0 && !bad) }' out/traces_line.csv
rm -rf out

# A state that is not finite: data of all wavelengths in a medium that jumps.
"$htwave" run line.cfg --quiet "$device" time.end=90 time.scheme=taylor \
    'grid.cells=[8,2]' initial.type=random medium.type=expression 'medium.c="1+4*step(x1-1)"' \
    'output.traces=["csv"]' 2>message.txt
code=$?
judge "not finite: exit code $code, $(tail -n 1 message.txt | cut -c 1-60)" \
    [ $code = 3 ]
judge "it keeps the traces until then, $(wc -l <out/traces_line.csv) lines" \
    [ -e out/traces.h5 -a -z "$(find out -name '*.tmp.*')" \
    -a "$(wc -l <out/traces_line.csv)" -gt 10 ]
judge "which say so" grep -aq 'not finite' out/traces.h5
rm -rf out

end config/receivers
