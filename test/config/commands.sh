#!/bin/sh
# Every command does what its help says: words for people, one valid JSON
# object for scripts, files where they belong, the exit codes.
set -u
. "$(dirname "$0")/common.sh"
documented=$(cd "$(dirname "$0")/../.." && pwd)/docs/options.md
cd "$scratch" || exit 1

cat >plane.cfg <<CFG
system = "acoustic";
grid = { cells = [8, 6]; order = 2; };
time = { end = 0.5; scheme = "taylor"; };
initial = { type = "plane"; cycles = [1, 0]; };
output = { directory = "out"; every = 0.2; pictures = $drawn;
    picture = { every = 0.1; pixels = 64; }; };
CFG

# answers WHAT CODE ARGUMENT...: answer.txt and message.txt
answers() {
    what=$1 wanted=$2
    shift 2
    timeout 120 "$htwave" "$@" >answer.txt 2>message.txt
    code=$?
    if [ $code = "$wanted" ]; then
        pass "$what: exit code $code"
    else
        sed 's/^/    | /' message.txt
        fail "$what: exit code $code, not $wanted"
    fi
}

says() { # WHAT TEXT...: in answer.txt
    what=$1
    shift
    for text in "$@"; do
        grep -qF -e "$text" answer.txt ||
            { fail "$what: no \"$text\""; return; }
    done
    pass "$what: $*"
}

has_keys() { # WHAT KEY...
    what=$1
    shift
    judge "$what: valid JSON" valid_json answer.txt
    missing=
    for key in "$@"; do
        grep -q "\"$key\": " answer.txt || missing="$missing $key"
    done
    if [ -z "$missing" ]; then
        pass "$what: has $*"
    else
        fail "$what: lacks$missing"
    fi
}

# bound WHAT KEY LIMIT: a number of answer.txt
bound() {
    value=$(number answer.txt "$2")
    judge "$1: $2 $value (bound $3)" below "$value" "$3"
}

# ---- help ----
answers help 0 --help
says help run check converge devices describe compare 'Exit codes'
answers version 0 --version
says version htwave 'commit ' opencl oracle HDF5 MPI pictures
answers '--version --json' 0 --version --json
has_keys '--version --json' version backends clblast hdf5 mpi
here=$(dirname "$documented")/..
if [ -e "$here/.git" ] && command -v git >/dev/null; then
    commit=$(git -C "$here" rev-parse --short=12 HEAD)
    judge "version: commit $commit" grep -q "\"commit\": \"$commit" answer.txt
else
    skip 'version: this is no checkout'
fi
"$htwave" --version >version.txt
answers '-V' 0 -V
judge '-V is --version' cmp -s answer.txt version.txt
"$htwave" --help >help.txt
answers 'help' 0 help
judge 'help is --help' cmp -s answer.txt help.txt
"$htwave" run --help >help.txt
answers 'help run' 0 help run
judge 'help run is run --help' cmp -s answer.txt help.txt
if [ -c /dev/full ]; then
    for full in --help --help-config; do
        "$htwave" $full >/dev/full 2>message.txt
        judge "$full that cannot be written: exit code $?, $(cat message.txt)" \
            grep -q 'cannot write to standard output' message.txt
    done
fi
{
    "$htwave" --help-config 2>message.txt
    echo $? >code.txt
} | :
judge "help of which nobody reads the end: exit code $(cat code.txt)" \
    [ "$(cat code.txt)" = 0 -a ! -s message.txt ]
answers '--help-config' 0 --help-config
says '--help-config' grid.cells device.planes_per_group
answers '--help-config --markdown' 0 --help-config --markdown
says '--help-config --markdown' '- `grid.order = 0`: integer, 0..16. Hermite'
"$htwave" --help-config --markdown >options.md
judge 'docs/options.md is what --help-config --markdown prints' \
    cmp -s options.md "$documented"

# Names in expressions: the parser's message and the manual agree.
"$htwave" check plane.cfg device.backend=oracle medium.type=expression \
    medium.c=q 2>&1 | sed -n 's/.*known are \([^(]*\) (.*/\1/p' |
    sed 's/and the functions //' | tr ' ' '\n' >words.txt
"$htwave" --help-config | sed -n '/^expressions/,$s/^  \([a-z0-9]*\).*/\1/p' \
    >manual.txt
judge "expressions: $(wc -l <words.txt) names in message and manual" \
    cmp -s words.txt manual.txt

for command in run check devices describe compare; do
    answers "$command --help" 0 $command --help
    says "$command --help" "htwave $command" --json
done

# ---- check: absorbing sides ----
cat >open.cfg <<'CFG'
system = "acoustic";
grid = { cells = [60]; order = 3; upper = [60.0]; };
time = { end = 10.0; scheme = "taylor"; };
boundary = { x1 = ["absorbing", "rigid"]; };
initial = { type = "gaussian"; width = 3.0; centre = [30.0]; };
CFG
open=$(device_option "${HTWAVE_DEVICE:-auto}")
if have_device; then
    answers 'check: layers' 0 check open.cfg "$open"
    says 'check: layers' 'about -107 dB of a point source' '608 B of memory' \
        "of the steps' time"
    answers 'check: layers as JSON' 0 check open.cfg "$open" --json
    # two memory variables of four coefficients and 4 bytes at 9 primary nodes, 9
    # dual ones and a ghost
    judge "check: layers of $(number answer.txt absorbing_bytes) bytes (608)" \
        [ "$(number answer.txt absorbing_bytes)" = 608 ]
    judge "check: about $(number answer.txt absorbing_point_source_db) dB (-107)" \
        [ "$(number answer.txt absorbing_point_source_db)" = -107 ]
    share=$(number answer.txt absorbing_time_share)
    # not faster than other cells: 8 of 60
    judge "check: layers take $share of the time (8/60 to 1)" \
        awk -v s="$share" 'BEGIN { exit !(s > 0.1333 && s < 1) }'
    answers 'check: layers with another R' 0 check open.cfg "$open" --json \
        absorbing.reflection=0.01
    judge "check: about $(number answer.txt absorbing_point_source_db) dB (-40)" \
        [ "$(number answer.txt absorbing_point_source_db)" = -40 ]
    answers 'check: layers with another profile' 0 check open.cfg "$open" --json \
        absorbing.degree=2
    judge 'check: what they reflect is not known' \
        [ -z "$(number answer.txt absorbing_point_source_db)" ]
else
    skip 'check: layers: no device is here'
fi
if have_device && [ -z "${HTWAVE_DEVICE:-}" ]; then
    POCL_CACHE_DIR=/dev/null/none "$htwave" run plane.cfg 2>message.txt
    judge "PoCL without a folder for its cache: $(cat message.txt)" \
        grep -q 'set POCL_CACHE_DIR.*/dev/null' message.txt
fi

# ---- run ----
answers run 0 run plane.cfg "$device" --json
has_keys run system order dimensions cells unknowns steps dt cfl stages \
    wall_s kernel_s output_s cell_half_steps_per_s device driver backend \
    precision memory_bytes error_l2_relative energy_initial energy_drift \
    expected_error expected_error_low expected_error_high \
    cells_per_wavelength xdmf interrupted
judge 'run: summary.json is the answer' cmp -s answer.txt out/summary.json
# twice the estimate for a wave along the axis
bound run error_l2_relative \
    "$(awk -v e="$(number answer.txt expected_error)" 'BEGIN { print 2 * e }')"
grep -q 'acoustic' message.txt && grep -q '8 x 6 cells' message.txt
judge 'run: banner on standard error' [ $? = 0 ]
# times 0, 0.2, 0.4 and 0.5; pictures at 0, 0.1, .. 0.5
judge 'run: 4 snapshots' [ "$(ls out/fields_*.h5 | wc -l)" = 4 ]
if $drawn; then
    has_keys run picture
    judge 'run: 6 pictures' [ "$(ls out/wave_*.png | wc -l)" = 6 ]
else
    skip 'pictures: this htwave was built without cairo'
    answers 'pictures without cairo' 2 check plane.cfg output.pictures=true
    judge "pictures without cairo: $(cat message.txt)" grep -q \
        'output.picture.every = 0.1: .*without cairo.*(plane.cfg:6)' message.txt
    answers 'nothing said of pictures' 0 check plane.cfg output.pictures=true \
        output.picture.every=auto
    judge "nothing said of pictures: $(grep cairo message.txt)" \
        grep -q 'no pictures are drawn: .*without cairo' message.txt
fi

# Staggered fields stand half a spacing (0.5) from the nodes.
cat >staggered.cfg <<'CFG'
system = "elastic";
grid = { cells = [16, 14]; lower = [1.0, 2.0]; upper = [17.0, 16.0]; };
boundary = { x1 = "periodic"; x2 = "periodic"; };
medium = { vp = 1.5; vs = 0.9; rho = 1.0; };
sources = ( { kind = "explosion"; position = [5.0, 5.0]; frequency = 0.05; } );
time = { scheme = "fd"; end = 0.5; };
output = { pictures = false; directory = "staggered"; };
CFG
answers 'run of staggered fields' 0 run staggered.cfg "$device"
places=$(awk '
    /<Geometry/ { getline; gsub(/<[^>]*>/, ""); split($0, at, " "); place = at[3] "," at[2] }
    /<Attribute/ { split($0, word, "\""); print word[2] ":" place }' staggered/fields.xdmf |
    sort | uniq)
# shellcheck disable=SC2086 # the places are words
judge "XDMF: places of staggered fields $(echo $places)" [ "$(echo $places)" = \
    's11:1,2 s12:1.5,2.5 s22:1,2 v1:1.5,2 v2:1,2.5' ]

# 49 steps would do, 50 hit all times
answers 'run that hits the times' 0 run plane.cfg "$device" \
    'grid.cells=[88,6]' grid.order=1 output.directory=times output.pictures=false
times=$(sed -n 's/.*<Time Value="\(.*\)".*/\1/p' times/fields.xdmf | tr '\n' ' ')
# shellcheck disable=SC2086 # the times are words
judge "run: snapshots at $times" [ "$(printf '%.15g ' $times)" = '0 0.2 0.4 0.5 ' ]
judge 'run: not told that times are missed' \
    [ "$(grep -c nearest message.txt)" = 0 ]
answers 'run that misses times' 0 run plane.cfg "$device" \
    'grid.cells=[88,6]' grid.order=1 output.directory=times output.pictures=false \
    output.every=0.2123
judge "run: $(grep nearest message.txt)" \
    grep -q 'outputs   snapshots at the steps nearest' message.txt

answers 'run --quiet' 0 run plane.cfg "$device" --quiet \
    output.directory=quiet
judge 'run --quiet says nothing' [ ! -s answer.txt -a ! -s message.txt ]
answers 'run its own input' 0 run out/input.cfg --quiet \
    output.directory=again
answers 'compare equal' 0 compare out again --json
has_keys compare dataset largest max_abs max_relative l2_relative values equal
answers 'run of zero length' 0 run plane.cfg "$device" --quiet time.end=0.0 \
    output.directory=zero output.pictures=false
answers 'run of zero length with a source' 0 run plane.cfg "$device" --quiet time.end=0.0 \
    time.scheme=fd time.stages=1 grid.order=8 initial.type=zero "grid.cells=[12,12]" \
    "sources=({position=[0.5,0.5];frequency=1.0;})" "receivers=({position=[0.5,0.5];})" \
    output.directory=atonce output.pictures=false
# Without the dispersion of the steps the burst rings before it begins.
answers 'run with a burst that begins late' 0 run plane.cfg "$device" --quiet time.end=6.0 \
    time.scheme=fd time.stages=1 grid.order=8 initial.type=zero "grid.cells=[24,24]" \
    'sources=({position=[0.5,0.5];signal="burst";frequency=1.0;delay=5.5;})' \
    "receivers=({position=[0.5,0.5];})" output.directory=late output.pictures=false
answers 'run with coefficients' 0 run plane.cfg "$device" --quiet output.pictures=false \
    output.coefficients=true output.directory=coefficients
answers 'compare with coefficients' 4 compare coefficients out
answers 'compare different' 4 compare out zero
answers 'compare with --eps' 0 compare out zero --eps 3

# ---- initial data of .npy: p = x1 at nine nodes ----
{
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }"
    printf '\0\0\0\0\0\0\200\077\0\0\0\100\0\0\100\100\0\0\200\100\0\0\240\100\0\0\300\100'
    printf '\0\0\340\100\0\0\0\101'
} >p.npy
cat >line.cfg <<'CFG'
grid = { cells = [8]; upper = [8.0]; };
boundary = { x1 = "rigid"; };
medium = { c = 1.0; };
time = { scheme = "fd"; end = 2.0; };
output = { pictures = false; };
CFG
answers 'initial data of .npy' 0 run line.cfg "$device" initial.file=p.npy output.directory=npy
answers 'the same by an expression' 0 run line.cfg "$device" initial.type=expression \
    'initial.values={p="x1";}' output.directory=formula
answers 'data of .npy are those of the expression' 0 compare npy formula
answers 'a type in place of the file of an input' 0 run npy/input.cfg "$device" \
    initial.type=gaussian initial.width=2.0 initial.centre=[4.0] output.directory=gaussian
answers 'whose resolved input has no file' 0 check gaussian/input.cfg "$device"

# ---- check ----
rm -rf out
answers check 0 check plane.cfg "$device"
says check 'Taylor stages' memory expected fine
judge 'check: the order in a uniform medium' grep -q 'errors ~ h^5$' answer.txt
answers 'check: a medium that varies' 0 check plane.cfg "$device" \
    time.scheme=taylor initial.type=gaussian medium.type=expression \
    'medium.c=1+0.1*x1' \
    grid.order=3 medium.degree=4
says 'check: a medium that varies' 'degree 4' 'errors ~ h^5' \
    "without the medium's own, ~ h^5"
answers 'check: constant per node' 0 check plane.cfg "$device" \
    time.scheme=taylor initial.type=gaussian medium.type=layers medium.axis=x1 \
    medium.interfaces=0.5 'medium.c=[1.0,2.0]'
says 'check: constant per node' 'errors ~ h to h^2'
judge 'check: constant per node: a note' grep -q 'every order can grow' message.txt
answers 'check --json' 0 check plane.cfg "$device" --json
has_keys check steps dt memory_bytes expected_s
answers 'check of layers' 0 check plane.cfg "$device" initial.type=gaussian initial.width=0.3 \
    time.scheme=taylor medium.type=layers medium.axis=x2 medium.interfaces=0.5 \
    'medium.c=[1,2]'
says 'check of layers' 'expected error up to' 'smooth parts of the medium only'
absorbs='boundary.x1="absorbing"'
answers 'data in layers, looked at after a step' 0 run plane.cfg "$device" \
    "$absorbs" 'grid.cells=[200]' 'grid.upper=[200.0]' grid.order=2 \
    time.scheme=fd time.step=0.2 time.end=0.8 initial.type=expression \
    'initial.values={p="cos(0.3*x1)"}' output.directory=early output.pictures=false
answers 'check of absorbing sides' 0 check plane.cfg "$device" "$absorbs" \
    time.scheme=auto \
    initial.type=gaussian 'grid.cells=[24,16,16]' grid.order=0 absorbing.cells=6
says 'check of absorbing sides' '1 term in time, as absorbing layers take' \
    'cpml of 6 cells at x1 lower and upper' 'expected reflection'
answers 'check of steep layers' 0 check plane.cfg "$device" "$absorbs" \
    initial.type=gaussian 'grid.cells=[24,16,16]' time.scheme=taylor \
    absorbing.cells=3 absorbing.reflection=1e-16
judge 'check of steep layers: damping is limited' \
    grep -q 'absorbing.reflection: damping is limited to 3 per half' message.txt
cat >bare <<CODE
#!/bin/sh
OCL_ICD_VENDORS=/nonexistent CUDA_VISIBLE_DEVICES= exec "$htwave" "\$@"
CODE
chmod +x bare
program=$htwave htwave=./bare
answers 'check without a device' 0 check plane.cfg
htwave=$program
says 'check without a device' 'no device matches' 'no device is available'
judge 'check leaves nothing' [ ! -e out ]

# ---- check --error ----
waves='grid.upper=[9.0,6.0]'
answers 'check --error' 0 check plane.cfg "$device" "$waves" \
    initial.frequency=1.0 --error 1e-3 --wavelengths 20
says 'check --error' 'error 0.001 after 20 wavelengths of 1,' leapfrog taylor \
    'fd 16, 2 terms' 'htwave run plane.cfg' 'grid.upper=[9.0,6.0]'
# What it recommends is a run that it can plan, with the error of the plan's own
# estimate; the file's wave of length 9 turned into one of length 1
keys=$(sed -n 's/^htwave run plane.cfg //p' answer.txt)
eval "set -- $keys" # as a shell takes them: the device's name may have spaces
answers 'check --error: its run' 0 check plane.cfg "$@" \
    'initial.cycles=[9,0]' time.end=20.0 --json
error=$(number answer.txt expected_error)
judge "check --error: the plan expects ${error:-none} (1e-3)" below "$error" 1e-3
answers 'check --error as JSON' 0 check plane.cfg "$device" "$waves" \
    initial.frequency=1.0 --error 1e-3 --json time.end=20.0
has_keys 'check --error' wavelengths choices cells_per_wavelength steps \
    memory_bytes expected_s
judge "check --error: time.end times the frequency, \
$(number answer.txt wavelengths) wavelengths" \
    [ "$(number answer.txt wavelengths)" = 20 ]
answers 'check --error: a medium that varies' 0 check plane.cfg "$device" \
    initial.type=gaussian initial.frequency=2.0 medium.type=expression \
    'medium.c=1+0.1*x1' grid.order=0 --error 1e-2
says 'check --error: a medium that varies' 'finite differences alone' 'fd 8'
judge 'check --error: no Hermite methods there' \
    [ "$(grep -c -e taylor -e leapfrog answer.txt)" = 0 ]
answers 'check --error: no frequency' 2 check plane.cfg "$device" \
    initial.type=gaussian --error 1e-3
judge "check --error: $(cat message.txt)" \
    grep -q 'initial.frequency = .*: is needed by --error' message.txt
answers 'check --wavelengths alone' 2 check plane.cfg --wavelengths 5
answers 'check --error 2' 2 check plane.cfg --error 2
judge "check --error: $(cat message.txt)" grep -q 'above 0 and at most' message.txt
answers 'check --error: refused beside absorbing sides' 0 check plane.cfg \
    "$device" initial.type=gaussian initial.frequency=1.0 "$waves" \
    'boundary.x1="absorbing"' absorbing.cells=6 grid.order=0 \
    'grid.cells=[24,16]' --error 1e-2
says 'check --error: refused' 'leapfrog' 'refused: '

# ---- converge ----
# N = 2, cfl 0.9 on all grids: order 2 N + 0.7 or better
answers converge 0 converge plane.cfg "$device" device.precision=double \
    'grid.cells=[8]' time.end=0.9 --cells 8,16 --order 1,2 --min-order 2.7 \
    --json
has_keys converge rows cells h error_l2_relative order
judge 'converge leaves nothing' [ ! -e out ]
answers 'converge below --min-order' 4 converge plane.cfg "$device" \
    device.precision=double 'grid.cells=[8]' --cells 8,16 --min-order 9
says 'converge for people' ' N ' order '16'

# --min-order must not pass without an order: one grid, equal grids, errors that
# are rounding (N = 4 in double precision with 32 cells per wavelength)
answers 'converge --min-order, one grid' 2 converge plane.cfg "$device" \
    --cells 8 --min-order 1
answers 'converge --min-order, equal grids' 2 converge plane.cfg "$device" \
    --cells 8,8 --min-order 1
answers 'converge --min-order, all rounding' 4 converge plane.cfg \
    device.backend=oracle 'grid.cells=[8]' time.end=2.0 --cells 32,48 \
    --order 4 --min-order 1 --json
judge "converge --min-order, all rounding: $(cut -c1-90 message.txt)" \
    grep -q 'grid.order = 4: .* is not shown: .*rounding' message.txt
has_keys 'converge, rounding' rounding_bound rounding
judge 'converge, rounding: the second row is' \
    [ "$(grep -o '"rounding": [a-z]*' answer.txt | tr '\n' ' ')" = \
    '"rounding": false "rounding": true ' ]
# 4 u (2 * 107 steps + 1 + 4^4/16), u = 2^-53
bound 'converge, rounding' rounding_bound 1.1e-13
# Single precision, two wavelengths: 1.9e-5 and 1.5e-6 are truncation, order 6.2
if have_device; then
    answers 'converge in single precision' 0 converge plane.cfg \
        "$(device_option "${HTWAVE_DEVICE:-cpu}")" device.precision=single \
        time.end=2.0 --cells 4,6 --order 3 --min-order 5.5
    judge 'converge in single precision: order 6 is not called rounding' \
        [ "$(grep -c rounding answer.txt)" = 0 ]
else
    skip 'converge in single precision: no device is here'
fi

# ---- describe, devices ----
answers describe 0 describe
says describe advection acoustic
answers 'describe acoustic' 0 describe acoustic
says 'describe acoustic' p_t rigid free 'medium.c|K' energy
answers 'describe --json' 0 describe --json
has_keys describe systems fields materials boundaries
answers devices 0 devices
answers 'devices --json' 0 devices --json
has_keys devices devices
if [ "$device" != device.backend=oracle ]; then
    answers 'kernel-text of finite differences' 0 kernel-text plane.cfg \
        "$device" time.scheme=fd grid.order=4
    says 'kernel-text of finite differences' ht_fd_update_own \
        'define HT_FD_R (2)'
fi

end config/commands
