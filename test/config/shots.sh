#!/bin/sh
# Shots: each is what a run of its sources and receivers alone is, bit for bit;
# calls that go on, or begin anew; files of places; data; what is refused.
set -u
. "${0%/*}/common.sh"
cd "$scratch" || exit 1

cat >pool.cfg <<'CFG'
system = "acoustic";
grid = { cells = [24, 20]; upper = [24.0, 20.0]; };
time = { end = 12.0; scheme = "fd"; };
medium = { type = "expression"; c = "1 + 0.02*x2"; rho = "1 + 0.01*x1"; };
boundary = { x1 = "rigid"; x2 = ["free", "absorbing"]; };
sources = ( { position = [6.2, 5.1]; frequency = 0.08; },
            { position = [14.2, 9.1]; frequency = 0.08; amplitude = 1e-20; },
            { kind = "force"; direction = [1.0, 2.0]; position = [10.3, 4.4]; frequency = 0.05; } );
receivers = ( { name = "cable"; type = "line"; from = [3.0, 3.0]; to = [16.0, 8.0]; count = 5;
                every = 0.5; }, { position = [9.9, 8.8]; fields = ["v1", "p"]; } );
shots = ( { sources = [1]; receivers = ["cable"]; }, { sources = [3, 2]; }, { } );
output = { directory = "out"; pictures = false; };
CFG

# run ARGUMENT...: sets code, and message.txt
input=pool.cfg
run() {
    "$htwave" run "$input" "$device" "$@" >answer.txt 2>message.txt
    code=$?
}

# alone TITLE SHOT...: the input in its folder gives its files
alone() {
    title=$1
    shift
    for shot in "$@"; do
        "$htwave" run "out/shot-00$shot/input.cfg" --quiet "$device" output.directory=one \
            >said.txt 2>&1
        judge "$title, shot $shot: as a run alone $(cat said.txt)" \
            cmp -s "out/shot-00$shot/traces.h5" one/traces.h5
        judge "$title, shot $shot: last state" \
            cmp -s "out/shot-00$shot/fields_000000.h5" one/fields_000000.h5
        rm -rf one
    done
}

run
judge "three shots: exit code $code $(tail -1 message.txt)" [ $code = 0 ]
judge 'says how many' grep -q 'shots     3;' message.txt
alone 'fd' 1 2 3
"$htwave" run pool.cfg --quiet "$device" output.directory=all 'shots=()' >said.txt 2>&1
judge "the last is a run without shots $(cat said.txt)" \
    "$htwave" compare out/shot-003/traces.h5 all/traces.h5
judge 'shot 1 has one group of receivers' \
    [ "$("$htwave" compare out/shot-001/traces.h5 all/traces.h5 2>&1 | grep -c receivers-2)" = 1 ]

"$htwave" compare out out >said.txt 2>&1
judge "all three with themselves: $(cat said.txt)" grep -q '^[0-9]* values; .*shot-001/.* 0 for' said.txt
cp -r out other
cp out/shot-003/traces.h5 other/shot-002/traces.h5
"$htwave" compare out other >said.txt 2>&1
judge "one of another shot: exit code $?, $(tail -1 said.txt)" \
    grep -q 'sources/points has shape 2 in out/shot-002/traces.h5, 3 in other/' said.txt
rm other/shot-003/traces.h5
cp out/shot-002/traces.h5 other/shot-002/traces.h5
"$htwave" compare out other >said.txt 2>&1
judge "one less: exit code $?, $(cat said.txt)" \
    grep -q 'out/shot-003/traces.h5 is there, other/shot-003/traces.h5 is not' said.txt
rm -r other

# Other steppers: made anew, and pairs.
for how in 'time.scheme=leapfrog' 'time.stages=1' 'device.precision=double'; do
    rm -rf out
    run "$how" 'sources.3.kind=monopole' 'sources.3.direction=[0.0,0.0]' 'medium.type=constant' \
        'medium.c=1.0' 'medium.rho=1.0' 'boundary.x2=rigid' 'receivers.2.fields=["p"]'
    judge "$how: exit code $code $(tail -1 message.txt)" [ $code = 0 ]
    alone "$how" 2
done
sed -e 's/"acoustic"/"elastic"/' -e 's/ c = [^;]*;/ vp = "1 + 0.02*x2"; vs = "0.6";/' \
    pool.cfg >pair.cfg
rm -rf out
input=pair.cfg
run 'receivers.2.fields=["v1"]' sources.1.kind=explosion sources.2.kind=explosion \
    boundary.x1=roller boundary.x2=free
input=pool.cfg
judge "elastic: exit code $code $(tail -1 message.txt)" [ $code = 0 ]
alone elastic 1 2

# ---- calls that go on ----
rm -rf out
run
rm out/shot-002/finished
run
judge "goes on: exit code $code" [ $code = 0 ]
judge 'says which shots are finished' grep -q 'finished by .*shots 1, 3 (' message.txt
judge 'runs the others' grep -q '^done: 1 of 3 shots' message.txt
judge 'leaves the finished' [ ! -e out/run-001 ]
run --anew
judge "anew: $(tail -1 message.txt)" grep -q '^done: 3 of 3 shots' message.txt
judge 'moves what was there' [ -e out/run-001/shot-003/traces.h5 ]
run time.end=13.0
judge "another input: $(tail -1 message.txt)" grep -q '^done: 3 of 3 shots' message.txt
run time.end=13.0 device.threads=1
judge "the device's keys do not matter: $(tail -1 message.txt)" \
    grep -q '^done: 0 of 3 shots' message.txt
rm -r out/shot-002
: >out/shot-002 # no folder
run time.end=13.0
judge "one that cannot run: exit code $code, $(tail -1 message.txt)" \
    [ "$code $(grep -c '^htwave: shot 2 of 3: ' message.txt)" = '2 1' ]
judge 'keeps the others' [ -e out/shot-003/finished ]

# ---- data ----
"$htwave" data pool.cfg "$device" 'shots=()' >answer.txt 2>message.txt
judge "data: exit code $?, $(tail -1 message.txt)" [ -e obs/shot-3.h5 ]
judge 'writes nothing else' [ ! -e obs/shot-4.h5 ]
"$htwave" run pool.cfg --quiet "$device" output.directory=one 'shots=({sources=[2];})' 2>said.txt
"$htwave" compare obs/shot-2.h5 one/shot-001/traces.h5 >said.txt 2>&1
judge "traces of group 2: $(cat said.txt)" "$htwave" compare obs/shot-2.h5 one/shot-001/traces.h5
"$htwave" data pool.cfg "$device" 'shots=()' >answer.txt 2>message.txt
judge 'goes on' grep -q '^done: 0 of 3 shots' message.txt
cp all/traces.h5 obs/shot-1.h5
"$htwave" data pool.cfg "$device" 'shots=()' >answer.txt 2>message.txt
code=$?
judge "keeps what it did not write: $(tail -1 message.txt)" \
    [ "$code $(grep -c 'obs/shot-1.h5 is there' message.txt)" = '2 1' ]
judge 'as it was' cmp -s obs/shot-1.h5 all/traces.h5

# ---- files of places ----
printf '# x1 x2\n6.2 5.1\n7.25, 6\n' >places.txt
printf '6.2 5.1 4 4\n7.25 6 8 8\n6.2 5.1 5 4\n' >traces.txt
rm -rf out one
run 'shots=({file="places.txt"; sources=[1]; receivers=["cable"];})'
judge "two places: exit code $code, $(tail -1 message.txt)" grep -q '2 of 2 shots' message.txt
judge 'the first is that of the group' [ -e out/shot-001/finished ]
alone places 2
"$htwave" run pool.cfg --quiet "$device" output.directory=one 'sources.1.position=[7.25,6.0]' \
    'shots=({sources=[1]; receivers=["cable"];})' 2>said.txt
judge 'the second stands there' cmp -s out/shot-002/traces.h5 one/shot-001/traces.h5
rm -rf out
run 'shots=({file="traces.txt"; sources=[1]; receivers=["cable"];})'
judge "lines of traces: $(tail -1 message.txt)" grep -q '2 of 2 shots' message.txt
judge 'two receivers of the first' [ "$(wc -l <out/shot-001/receivers.txt)" -eq 2 ]
alone traces 1 2

rm -rf out two
run 'output.traces=["segy"]' 'output.units={time="ms";}' receivers.2.every=0.5 \
    'shots=({file="places.txt"; sources=[1]; receivers=["cable"];})'
mv out two
number=$(od -An -tu1 -j3608 -N4 two/shot-002/traces_cable_p.sgy | tr -d ' ')
judge "SEG-Y of the second shot has its number: $number" [ "$number" = 0002 ]
run 'shots=({file="two/shots_cable_p.sgy"; sources=[1]; receivers=["cable"];})'
judge "places of SEG-Y headers: exit code $code, $(tail -1 message.txt)" [ $code = 0 ]
for shot in 1 2; do
    "$htwave" compare out/shot-00$shot/traces.h5 two/shot-00$shot/traces.h5 --eps 1e-5 \
        >said.txt 2>&1
    judge "shot $shot again: $(cat said.txt)" [ $? = 0 ]
done

# ---- refused ----
# refused "PATTERN|PATTERN" SHOTS OVERRIDE...: exit code 2
refused() {
    patterns=$1 shots=$2
    shift 2
    "$htwave" check pool.cfg --quiet "$device" "shots=($shots)" "$@" >answer.txt 2>message.txt
    judge "$shots: $(cut -c1-160 message.txt)" [ $? = 2 ]
    old=$IFS
    IFS='|'
    for pattern in $patterns; do
        judge "$shots: says $pattern" grep -qF -e "$pattern" message.txt
    done
    IFS=$old
}
refused 'shots.1.sources|no group of sources 4: there are 1 to 3' '{sources=[4];}'
refused 'has the group 1 twice' '{sources=[1,1];}'
refused 'shots.2.receivers|"cable", "receivers-2"' '{},{receivers=["line"];}'
refused 'twice' '{receivers=["2", "receivers-2"];}'
refused 'need sources' '{}' 'sources=()'
refused 'shots begin at rest' '{}' initial.type=gaussian
refused 'shots.1.file|name one in sources' '{file="places.txt";}'
refused 'which one group takes' '{file="traces.txt"; sources=[1];}'
echo 1 2 3 >three.txt
refused 'line 1 of three.txt' '{file="three.txt"; sources=[1];}'
refused 'same file' '{sources=[1]; data="a.h5";},{sources=[2]; data="a.h5";}'
printf '6.2 5.1\n7.25 66\n' >outside.txt
refused 'shots.1.file|shot 2 of 2|x2 = 66 is outside' '{file="outside.txt"; sources=[1];}'
end config/shots
