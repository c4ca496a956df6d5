#!/bin/sh
# htwave bench and htwave tune at tiny sizes: files, numbers, what runs make of
# a stored result, and what is refused.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
    end config/bench
    exit
fi
select=${HTWAVE_DEVICE:-cpu}
export XDG_CACHE_HOME="$PWD/home"
tiny="--device $select --dims 1 --orders 1,2 --cells 64 --quiet"

# ---- bench ----
# shellcheck disable=SC2086 # the flags are words
timeout 300 "$htwave" bench rates $tiny --systems acoustic \
    --variants propagator,monolithic,two-rolled --schemes taylor \
    --precisions single --out out --json >answer.json 2>message.txt
code=$?
judge "bench: exit code $code" [ $code = 0 ]
sed 's/^/    | /' message.txt
judge 'bench: JSON on standard output' valid_json answer.json
judge 'bench: the same in bench.json' cmp -s answer.json out/bench.json
plots 'bench: plots' out/bench.csv roofline.png bars.png limit.png
rows=$(grep -o '"case"' answer.json | wc -l)
lines=$(wc -l <out/bench.csv)
judge "bench: $lines lines of CSV, $rows rows of JSON" \
    [ "$lines" = $((rows + 1)) ]
column() { # NAME: its values in bench.csv
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++)
        if ($i == name) c = i } NR > 1 && c { print $c }' out/bench.csv
}
worst=$(column verified_ratio | sort -g | tail -n 1)
judge "bench: verified, worst ratio $worst (bound 1)" below "$worst" 1
judge 'bench: every row is verified' \
    [ "$(column verified_ratio | grep -c '^[0-9]')" = "$rows" ]
slow=$(column ms | sort -g | head -n 1)
judge "bench: least time $slow ms is positive" \
    below "$(echo "$slow" | awk '{ print -$1 }')" -1e-9
# rate x time = cells: 64
column ms >ms.txt
column cell_half_steps_per_s >rate.txt
off=$(paste ms.txt rate.txt | awk '{ d = $1 * $2 / 64000 - 1; if (d < 0) d = -d
    if (d > m) m = d } END { print m + 0 }')
judge "bench: rate times time is 64 cells, off by $off (bound 1e-6)" \
    below "$off" 1e-6

# shellcheck disable=SC2086
timeout 300 "$htwave" bench ${tiny% --quiet} --seconds 0 --out none \
    >/dev/null 2>message.txt
judge 'bench --seconds 0: nothing timed, said so' \
    grep -q '"left_out": [1-9]' none/bench.json
judge "bench: how to draw it: $(grep plot.py message.txt)" \
    grep -q '^results in none; tools/plot.py none/\*.csv draws them' message.txt

# ---- several devices ----
devices=$("$htwave" devices | grep -c '^[0-9]*: ')
simulators=$("$htwave" devices | grep -c 'simulator')
# shellcheck disable=SC2086
timeout 300 "$htwave" bench rates ${tiny#--device * } --device all --systems acoustic \
    --variants auto --schemes taylor --precisions single --out every >table.txt 2>message.txt
judge "bench --device all: exit code $?" [ $? = 0 ]
measured=$(sed 1d every/bench.csv | sed 's/.*,\([^,]*,[^,]*,[^,]*,[^,]*\)$/\1/' | sort -u | wc -l)
judge "bench --device all: rows of $measured of $devices devices" \
    [ "$measured" = $((devices - simulators)) ]
if [ "$measured" -gt 1 ]; then
    judge 'bench --device all: rates side by side' grep -q 'cells/s of 1' table.txt
fi
# A second device, as far as pictures know.
{ cat out/bench.csv; sed '1d; s/,opencl,/,other,/; s/,cuda,/,other,/' out/bench.csv; } >two.csv
plots 'bench: plots of two devices' two.csv devices.png roofline_1.png bars_1.png limit_1.png \
    roofline_2.png bars_2.png limit_2.png

# ---- finite differences ----
timeout 300 "$htwave" bench rates --schemes fd --orders 3,4,8 --device "$select" \
    --quiet --cells 24 --variants auto --out fd --csv >fd.csv 2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "bench rates of fd: exit code $code" [ $code = 0 ]
# two orders, density uniform or not, one term or two
rates=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
    $c["verified_ratio"] < 1 && $c["cell_half_steps_per_s"] > 0 &&
    $c["limit_fraction"] > 0 { n[$c["order"] $c["stages"] $c["medium"]] = 1 }
    END { for (k in n) m++; print m }' fd.csv)
judge "bench rates of fd: $rates kinds verified, with rates above 0 (8)" \
    [ "$rates" = 8 ]

# refuses WHAT PATTERN ARGUMENT...
refuses() {
    what=$1 pattern=$2
    shift 2
    timeout 60 "$htwave" "$@" >answer.txt 2>message.txt
    code=$?
    if [ $code = 2 ] && grep -q -e "$pattern" message.txt &&
        [ "$(wc -l <message.txt)" = 1 ] && [ ! -e bench-out ]; then
        pass "$what: $(cut -c1-120 message.txt)"
    else
        sed 's/^/    | /' message.txt
        fail "$what: exit code $code"
    fi
}
refuses 'unknown case' 'nosuch.*rates' bench nosuch
refuses 'unknown system' 'systems acustic.*acoustic' bench --systems acustic
refuses 'unknown variant' 'variants fast.*monolithic' bench --variants fast
refuses 'order 9' 'orders 9.*1..8' bench --orders 9
refuses 'an order that no scheme has' 'flags exclude all' bench rates \
    --schemes taylor --orders 10 --quiet --out none
refuses 'CSV and JSON' 'choose one' bench --csv --json
refuses 'tune with a negative time' 'at least 0' tune --seconds -1 --orders 1

# ---- tune ----
cat >run.cfg <<'CFG'
system = "advection";
grid = { cells = [64]; order = 1; };
time = { end = 0.05; };
initial = { type = "gaussian"; };
output = { directory = "run"; pictures = false; };
CFG
chosen="device.select=$select device.backend=${HTWAVE_BACKEND:-auto}"
chosen="$chosen device.cache=tuned"
# shellcheck disable=SC2086
timeout 300 "$htwave" tune run.cfg $chosen --seconds 0.5 --json >tune.json \
    2>message.txt
code=$?
judge "tune: exit code $code" [ $code = 0 ]
judge 'tune: JSON' valid_json tune.json
# words for people
# shellcheck disable=SC2086
timeout 300 "$htwave" tune run.cfg $chosen device.cache=words \
    --quiet --seconds 1 >words.txt \
    2>message.txt
judge 'tune: the class in words' grep -q \
    '^advection, 1-D, N = 1, single precision, Taylor with .* stages, ' words.txt
judge 'tune: a head with units' grep -q 'half-steps/s$' words.txt
judge 'tune: where it is kept, and who takes it' \
    [ "$(grep -c -e '^Kept in words:$' -e '^runs of .* take' \
    words.txt)" = 2 ]
timeout 300 "$htwave" tune --device "$select" --quiet --systems advection \
    --dims 1 --orders 1 --precisions single --cache none --seconds 0.3 \
    >words.txt 2>message.txt
judge 'tune --cache none: nothing is kept' grep -q '^Not kept: ' words.txt
best=$(sed -n 's/.*], "variant": "\([a-z0-9-]*\)".*/\1/p' tune.json)

# runs WHAT TUNED [OPTION]: a run says "(tuned)" or not, and then takes the best
runs() {
    what=$1 tuned=$2
    shift 2
    # shellcheck disable=SC2086
    timeout 120 "$htwave" run run.cfg $chosen "$@" --json >answer.txt \
        2>message.txt
    code=$?
    if [ $code = 0 ] && grep -q "\"tuned\": $tuned" answer.txt; then
        pass "$what: tuned $tuned"
    else
        sed 's/^/    | /' message.txt
        fail "$what: exit code $code, not tuned $tuned"
    fi
}
runs 'stored result' true
judge "the run takes the best, $best" grep -q "\"variant\": \"$best\"" answer.txt
runs 'device.tune = never' false device.tune=never
runs 'other order' false grid.order=2
runs 'nothing open' false device.variant=monolithic device.layout=tensor
: >plain
runs 'a file as cache' false device.cache=plain
for file in tuned/*.bin; do echo >"$file"; done
runs 'damaged files' false
runs 'device.tune = always' true device.tune=always device.variant=monolithic \
    device.cells_per_group=4
judge 'nothing but results is left in the cache' \
    [ "$(ls tuned | grep -vc '\.bin$')" = 0 ]

# ---- check of the reference ----
# With all stages of it three times as long. CPU time: others may use the cores.
spend() { # sets spent, seconds of CPU time of the commands so far
    times >times.txt # of this shell: not in one within
    spent=$(tail -n 1 times.txt | tr ms '  ' |
        awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }')
}
spend
began=$spent
echo 'grid = { cells = [8, 8, 8]; order = 8; };' >cube.cfg
"$htwave" check cube.cfg time.scheme=taylor initial.type=gaussian initial.width=0.3 \
    medium.type=expression 'medium.c=1+0.1*sin(2*pi*x1)' device.backend=oracle \
    >answer.txt 2>message.txt
code=$?
spend
took=$(awk -v a="$began" -v b="$spent" 'BEGIN { print b - a }')
judge "check of the reference, N = 8: exit code $code, $took s of CPU time (at most 7)" \
    [ "$code $(below "$took" 7; echo $?)" = '0 0' ]

end config/bench
