#!/bin/sh
# Sources: what is warned of and where, and what is not; boxes of plane waves
# that are refused; memory. Keys alone are judged in badinput.sh.
set -u
. "${0%/*}/common.sh"
cd "$scratch" || exit 1

cat >pool.cfg <<'CFG'
system = "acoustic";
grid = { cells = [60, 50]; upper = [60.0, 50.0]; order = 8; };
time = { end = 1.0; scheme = "fd"; };
medium = { type = "layers"; axis = "x2"; interfaces = [20.4];
           c = [1.0, 1.5]; rho = [1.0, 1.2]; };
boundary = { x1 = "rigid"; x2 = ["free", "rigid"]; };
output = { directory = "out"; snapshots = false; pictures = false; };
CFG

# check_pool SOURCES OVERRIDE...: sets code, and message.txt
check_pool() {
    sources=$1
    shift
    "$htwave" check pool.cfg --quiet "$device" "sources=($sources)" "$@" \
        >answer.txt 2>message.txt
    code=$?
}

# warned TITLE PATTERN SOURCES OVERRIDE...: exactly one warning, with the pattern
warned() {
    title=$1 pattern=$2
    shift 2
    check_pool "$@"
    judge "$title: $(cut -c1-160 message.txt)" \
        [ "$code $(grep -c '^warning:' message.txt)" = '0 1' ]
    judge "$title: says $pattern" grep -q -e "$pattern" message.txt
}

# silent TITLE SOURCES OVERRIDE...: no warning
silent() {
    title=$1
    shift
    check_pool "$@"
    judge "$title: exit code $code, no warning $(cut -c1-160 message.txt)" \
        [ "$code $(grep -c '^warning:' message.txt)" = '0 0' ]
}

# refused TITLE "PATTERN|PATTERN" SOURCES OVERRIDE...: exit code 2
refused() {
    title=$1 patterns=$2
    shift 2
    check_pool "$@"
    judge "$title: $(cut -c1-160 message.txt)" [ "$code" = 2 ]
    old=$IFS
    IFS='|'
    for pattern in $patterns; do
        judge "$title: says $pattern" grep -qF -e "$pattern" message.txt
    done
    IFS=$old
}

f='frequency=0.03;'
# ---- jumps of the medium ----
warned 'a point near a jump' '^warning: sources.1 at (30, 17.3)' \
    "{position=[30,17.3];$f}"
grep -q 'near (30, 20.8)' message.txt
judge 'a point near a jump: where the jump is' [ $? = 0 ]
silent 'a point five spacings from a jump' "{position=[30,15.3];$f}"
silent 'a point near a jump of 5 %' "{position=[30,17.3];$f}" \
    'medium.c=[1.0,1.0]' 'medium.rho=[1.0,1.05]'
warned 'a jump of density alone' 'sources.1 at (30, 24)' \
    "{position=[30,24];$f}" 'medium.c=[1.0,1.5]' 'medium.rho=[2.25,1.0]'
warned 'a line across a jump' 'sources.2: 3 of 11 places, the first at (30, 17)' \
    "{position=[30,9];$f},{type=\"line\";from=[30,5];to=[30,45];count=11;$f}"
warned 'a volume near a jump' 'sources.1 at (30, 8).*7 widths' \
    "{type=\"volume\";position=[30,8];width=2.0;$f}"
silent 'a small volume there' \
    "{type=\"volume\";position=[30,8];width=1.5;$f}"
warned 'a plane beside a jump' 'sources.1: 61 of 61 places' \
    "{type=\"plane\";axis=\"x2\";at=22.0;$f}"
silent 'a plane through the layers' "{type=\"plane\";axis=\"x1\";at=22.0;$f}"

# ---- quality factors at another frequency than the sources' ----
near="{position=[30,9];$f}"
warned 'a quality factor at frequency 1' 'q_frequency is 1 at sources.1' "$near" medium.q=30.0
warned 'a quality factor an octave off' 'q_frequency is 0.03 at sources.2, .* of 0.01' \
    "$near,{position=[30,9];frequency=0.015;}" medium.q=30.0 medium.q_frequency=0.03
silent 'a quality factor at their frequency' "$near" medium.q=30.0 medium.q_frequency=0.03
check_pool "$near" medium.q=30.0 medium.q_frequency=0.03 --json
judge 'a quality factor in JSON' [ "$(number answer.txt q_frequency)" = 0.03 ]

# ---- receivers that err by more than is said ----
h='medium={type="constant";c=1.0;rho=1.0;}'
near() { # a receiver on x2 = 9, by a Hermite method
    printf 'receivers=({name="a";position=[%s,9.0];every=0.3;})' "$1"
}
warned 'a receiver in a source' 'at (31, 9) is 1 cells from sources.1' \
    "{position=[30,9];$f}" "$h" "$(near 31.0)" time.scheme=taylor grid.order=3
silent 'a receiver six cells from it' \
    "{position=[30,9];$f}" "$h" "$(near 36.0)" time.scheme=taylor grid.order=3
b='type="plane wave";from=[20,0.0];to=[40.3,50];direction=[1.0,0.0];'
warned "a receiver at the end of a plane wave's box" \
    'at (40.6, 9) takes values from both sides' "{$b$f}" "$h" \
    "$(near 40.6)" boundary.x2=rigid time.scheme=fd grid.order=4
silent 'a receiver beside it' "{$b$f}" "$h" \
    "$(near 50.0)" boundary.x2=rigid time.scheme=fd grid.order=4
warned 'samples between long steps' 'carry frequencies up to 0.4' \
    '{position=[30,9];frequency=0.25;}' "$h" "$(near 50.0)" \
    time.scheme=leapfrog grid.order=8 time.end=100.0

# ---- waves that layers let through ----
warned 'waves longer than a layer' 'of the waves of sources.1 .* come back' \
    '{position=[30,9];frequency=0.007;}' "$h" time.scheme=taylor \
    grid.order=3 boundary.x1=absorbing time.end=3000.0
silent 'waves as long as it' "{position=[30,9];frequency=0.1;}" "$h" \
    time.scheme=taylor grid.order=3 boundary.x1=absorbing

# ---- samples of a medium that lie elsewhere ----
for i in 1 2 3 4 5 6 7 8 9 10; do # 1.0, 1.0, 1.0625
    printf '\000\000\200\077\000\000\200\077\000\000\210\077'
done >own.f32
m='medium={type="file";c="own.f32";shape=[6,5];rho=1.0'
o="{position=[30,9];$f}"
silent 'samples over the box' "$o" "$m;spacing=[12.0,12.0];}"
silent 'samples that end a spacing before it' "$o" "$m;spacing=[10.0,10.0];}"
warned 'samples of most of it' 'x1 9..49, x2 9..41, covers 89.6 % of' \
    "$o" "$m;spacing=[8.0,8.0];origin=[9.0,9.0];}"
warned 'samples in other units' \
    'x1 0..50000, x2 0..40000, covers 100 %.*(60, 50), which lies between two samples' "$o" \
    "$m;spacing=[10000.0,10000.0];}"
refused 'samples beside the box' 'medium.c|x2 90..138, covers nothing of the box' \
    "$o" "$m;spacing=[12.0,12.0];origin=[0.0,90.0];}"
refused 'a spacing of one axis' "medium.spacing must have an entry for each of the file's 2 axes" \
    "$o" "$m;spacing=[12.0];}"
warned 'a spacing left out' 'x1 0..5, x2 0..4, covers 1 %' "$o" "$m;}"
warned 'axes in the other order' 'covers 30 %.*and 100 % with its axes in the other order' "$o" \
    "$m;axes=[\"x2\",\"x1\"];spacing=[6.0,6.0];}" 'medium.shape=[10,3]' 'grid.cells=[60,18]' \
    'grid.upper=[60.0,18.0]'
for i in 1 2 3 4 5 6; do # depth first: rows of ten samples
    printf '\000\000\200\077\000\000\200\077\000\000\200\077\000\000\200\077\000\000\200\077'
    printf '\000\000\220\077\000\000\220\077\000\000\220\077\000\000\220\077\000\000\220\077'
done >deep.f32
d='medium={type="file";c="deep.f32";rho=1.0;spacing=[10.0,10.0]'
silent 'samples as they are' "$o" "$d;shape=[10,6];axes=[\"x2\",\"x1\"];}"
warned 'shape and axes both swapped' \
    'at least 1000 times .*medium.shape = \[10, 6\] and medium.axes = \["x2", "x1"\]' \
    "$o" "$d;shape=[6,10];}"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do # rows of six, which change a little from row to row
    printf '\000\000\200\077\000\000\200\077\000\000\200\077'
    printf '\000%b\220\077\000%b\220\077\000%b\220\077' "\\0$((i / 4))$((i * 2 % 8))0" \
        "\\0$((i / 4))$((i * 2 % 8))0" "\\0$((i / 4))$((i * 2 % 8))0"
done >two.f32
t='medium={type="file";c="two.f32";rho=1.0;spacing=[10.0,10.0]'
silent 'twice as many rows' "$o" "$t;shape=[6,12];axes=[\"x2\",\"x1\"];}" 'grid.upper=[110.0,50.0]'
warned 'both swapped near 2:1' 'at least 2 times .*medium.shape = \[6, 12\]' \
    "$o" "$t;shape=[12,6];}" 'grid.upper=[110.0,50.0]'
warned 'a medium that is uniform in the box' 'where it is uniform, and 1 to 1.0625 elsewhere' \
    "$o" "$m;axes=[\"x1\"];spacing=[60.0];}" 'medium.shape=[30]'

# ---- constant part, silent places, band ----
g='signal="gaussian";frequency=0.03;'
silent 'a constant part and a free side' "{position=[30,9];$g}"
warned 'a constant part in a closed box' 'sources.1.*constant part (1 of' \
    "{position=[30,9];$g}" boundary.x2=rigid
warned 'a plane with a constant part' 'sources.1.*constant part' \
    "{type=\"plane\";axis=\"x1\";at=22.0;$g}" boundary.x2=periodic \
    medium.type=constant medium.c=1 medium.rho=1
silent 'none in its derivative' "{position=[30,9];signal=\"gaussian derivative\";$f}" \
    boundary.x2=rigid
silent 'a force with a constant part' \
    "{position=[30,9];kind=\"force\";direction=[1,0];$g}" boundary.x2=rigid
warned 'a point on a free wall' 'sources.1: 1 of 1 point is on a free wall' \
    "{position=[30,0];$f}"
warned 'a plane on a free wall' 'on a free wall' \
    "{type=\"plane\";axis=\"x2\";at=0.0;$f}"
warned 'few points per wavelength' \
    'up to 0.23, of which the grid has 4.4 points.*order 8 needs' \
    "{position=[30,9];frequency=0.09;}"

# ---- boxes of plane waves ----
# the free side and the jump are far enough from this one
wave() { echo "{type=\"plane wave\";from=[$1];to=[$2];direction=[$3];$f}"; }
silent 'a box' "$(wave 20,31.0 35,42 1,1)" 'medium.interfaces=[10.4]'
refused 'a box at a jump' \
    'sources.1|varies at the surface|near (|12 spacings' "$(wave 20,25 35,42 1,1)"
refused 'a box around a jump' 'sources.1|varies at the surface' \
    "$(wave 20,10 35,36 1,1)" 'medium.rho=[1,1]' 'medium.c=[1,1.5]'
refused 'a jump of density inside a box, too near' \
    'sources.1|K is|12 spacings' "$(wave 20,8 35,36 1,1)" \
    'medium.interfaces=[18.0,26.0]' 'medium.c=[1,1.5,1]' 'medium.rho=[1,2,1]'
u='medium.type=constant medium.c=1 medium.rho=1'
# shellcheck disable=SC2086 # several options
{
refused 'a box too near to a side' 'sources.1.from|above 3,' \
    "$(wave 3,10 35,36 1,1)" $u
refused 'a box too near to the other side' 'sources.1.to|below 47' \
    "$(wave 20,10 35,47 1,1)" $u
refused 'a box beyond the grid' 'sources.1.to|x2 = 51 is outside' \
    "$(wave 20,10 35,51 1,1)" $u
refused 'a box between points' 'sources.1.to|no point' \
    "$(wave 20.2,10 20.7,36 1,1)" $u
refused 'the whole grid' 'sources.1.direction|normal to x1' \
    "$(wave 0,0 60,50 1,0)" $u
refused 'oblique between sides' 'sources.1.direction|normal to x2' \
    "$(wave 20,0 35,50 1,0.1)" $u boundary.x2=rigid
refused 'along a free side' 'sources.1.direction|rigid or periodic' \
    "$(wave 20,0 35,50 1,0)" $u
silent 'along rigid sides' "$(wave 20,0 35,50 1,0)" $u boundary.x2=rigid
}

# ---- memory ----
check_pool "{position=[30,9];$f}" && judge \
    'check shows the memory of sources' grep -q 'on the device' answer.txt
many=
n=0
while [ $n -lt 256 ]; do
    many="$many${many:+,}{type=\"volume\";position=[30,25,30];width=30.0;$f}"
    n=$((n + 1))
done
refused 'sources that do not fit' 'sources|of memory' "$many" \
    'grid.cells=[400,400,400]' 'grid.upper=[60,50,60]' medium.type=constant \
    medium.c=1 medium.rho=1

# ---- a flat face of a fluid ----
cat >floor.cfg <<'CFG'
system = "elastic";
grid = { cells = [20, 30]; upper = [20.0, 30.0]; order = 8; };
time = { end = 1.0; scheme = "fd"; };
initial = { type = "gaussian"; centre = [10.0, 6.0]; width = 2.5; };
medium = { type = "layers"; axis = "x2"; vp = [2.0, 1.5]; vs = [1.1, 0.0]; };
CFG
for at in 12.2:1 12.5:0; do
    "$htwave" check floor.cfg --quiet "$device" "medium.interfaces=[${at%:*}]" \
        boundary.x2=roller >answer.txt 2>message.txt
    judge "fluid from x2 = ${at%:*} on: $(cut -c1-120 message.txt)" \
        [ "$(grep -c "x2 = 12.2, 0.3 .*larger by -0.3" message.txt)" = "${at#*:}" ]
done
"$htwave" run floor.cfg --quiet "$device" medium.type=constant medium.vs=0.0 medium.vp=1.5 output.pictures=false \
    boundary.x2=roller initial.type=zero 'sources=({position=[9.3,12.0];kind="explosion";frequency=0.1;})' 2>message.txt
code=$?
judge "fluid alone runs: exit code $code $(tail -n 1 message.txt | cut -c1-80)" [ $code = 0 ]

# A signal that is slow beside the step begins with a small jump: no growth
for keys in 'time.cfl=0.8' 'time.cfl=0.2 time.stages=1' 'sources.1.signal=gaussian'; do
    # shellcheck disable=SC2086 # keys are words
    "$htwave" run pool.cfg --quiet "$device" medium.type=constant medium.c=1 medium.rho=1 \
        'boundary.x2="rigid"' 'sources=({position=[20.0,10.0];frequency=0.01;})' time.end=20 \
        output.checkpoint.every=0.01 $keys >answer.txt 2>message.txt
    code=$?
    judge "slow signal, $keys: exit code $code $(cut -c1-160 message.txt)" [ "$code" = 0 ]
done

# fd that auto takes in a uniform medium errs by at most 1 % over the run, which is at its end, where
# errors are largest, the root of 3 times as much. Leapfrog of order 2 errs by 2e-5 here.
for scheme in auto leapfrog; do
    order=0
    [ $scheme = auto ] || order=2
    "$htwave" run pool.cfg --quiet "$device" 'grid.cells=[30,20]' 'grid.upper=[30,20]' \
        grid.order=$order medium.type=constant medium.c=1 medium.rho=1 boundary.x2=rigid \
        'sources=({position=[15.3,10.2];frequency=0.075;})' time.end=60 \
        output.snapshots=true output.directory=$scheme time.scheme=$scheme 2>message.txt
done
"$htwave" compare auto leapfrog --eps 1 --json >answer.txt
differs=$(sed -n 's/.*"l2_relative": \([-+0-9.e]*\).*/\1/p' answer.txt)
judge "auto takes fd near its bound: differs from leapfrog by $differs (0.005 .. 0.0174)" \
    awk -v d="$differs" 'BEGIN { exit !(d > 0.005 && d <= 0.0174) }'

end config/sources
