#!/bin/sh
# Wrong input: one message that names key, value, rule and place, the exit
# code, and nothing left behind. Rules of which unit/params, lists, plan,
# medium_refusals, solution_data, signal, fit and io/output have the words are not repeated.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

# Five lines; what a case adds is line 6.
base='system = "acoustic";
grid = { cells = [6, 4]; order = 1; };
time = { end = 0.1; };
initial = { type = "gaussian"; width = 0.2; };
output = { directory = "out"; };'

message=message.txt

# One line "htwave: ...", which holds every pattern.
check_message() { # PATTERN...
    if [ "$(wc -c <$message)" -gt 1500 ] || grep -q "$(printf '\033')" $message
    then
        echo "    an escape, or $(wc -c <$message) bytes"
        return 1
    fi
    lines=$(grep -c '^htwave: ' $message)
    [ "$lines" = 1 ] || { echo "    $lines messages"; return 1; }
    for pattern in "$@"; do
        grep -qF -e "$pattern" $message ||
            { echo "    no \"$pattern\""; return 1; }
    done
}

# refused WHAT CODE "PATTERN|PATTERN" ARGUMENT...: runs htwave
refused() {
    what=$1 code=$2 patterns=$3
    shift 3
    rm -rf out
    timeout 60 "$htwave" "$@" >answer.txt 2>$message
    got=$?
    good=1
    [ $got = "$code" ] || { good=0; echo "    exit code $got, not $code"; }
    old=$IFS
    IFS='|'
    # shellcheck disable=SC2086 # split at bars
    check_message $patterns || good=0
    IFS=$old
    [ ! -e out ] || { good=0; echo "    left: $(ls out)"; }
    if [ $good = 1 ]; then
        pass "$what: $(sed -n 's/^htwave: //p' $message | cut -c1-150)"
    else
        sed 's/^/    | /' $message
        fail "$what"
    fi
}

# bad WHAT "PATTERN|PATTERN" LINE: a file with LINE as its last is refused
# with code 2, naming line 6
bad() {
    printf '%s\n%s\n' "$base" "$3" >bad.cfg
    refused "$1" 2 "bad.cfg:6|$2" run bad.cfg --quiet "$device"
}

# over WHAT "PATTERN|PATTERN" OVERRIDE...: refused with code 2
over() {
    what=$1 patterns=$2
    shift 2
    printf '%s\n' "$base" >bad.cfg
    refused "$what" 2 "$patterns|command line" run bad.cfg --quiet "$device" \
        "$@"
}

# ---- the file ----
printf '%s\ntime_step = 0.1;\n' "$base" >bad.cfg
refused 'unknown key at the top' 2 'time_step|unknown|bad.cfg:6' \
    run bad.cfg --quiet "$device"
bad 'unknown key in a group' 'device.varient|did you mean device.variant' \
    'device = { varient = "auto"; };'
bad 'syntax error' 'syntax error' 'device = { selfcheck = ; };'
refused 'missing file' 2 'nosuch.cfg|No such file' run nosuch.cfg "$device"
: >empty.cfg
refused 'an empty file' 2 'empty.cfg|sets nothing' check empty.cfg
mkfifo pipe
refused 'a named pipe as file' 2 'pipe|named pipe' run pipe "$device"
refused 'a device as file' 2 '/dev/zero|device' run /dev/zero "$device"
if truncate -s 17M large.cfg 2>/dev/null; then
    refused 'a file of 17 MiB' 2 'large.cfg|larger than 16.0 MiB' \
        run large.cfg "$device"
    rm large.cfg
fi

over 'a key of a group of none' 'sources.position|list of groups|give sources=({position=..;})' \
    'sources.position=[0.5,0.5]'
over 'a key of no group' 'sources.position|give sources.1.position, or the whole list' \
    'sources=({position=[0.5,0.5];frequency=1.0;})' 'sources.position=[0.5,0.5]'
printf '%s\n' 'grid = { cells = [20, 16]; }; time = { end = 0.1; }; medium = { c = -1.0; };' \
    'initial = { pulses = ({ width = "wide"; }); };' >replaced.cfg
judge 'the command line replaces what is no value in the file' "$htwave" check replaced.cfg --quiet \
    "$device" medium.c=1.0 'initial.pulses=({centre=[0.5,0.5];width=0.2;field="p";})'
printf '%s\n' 'time = { edn = 0.1; };' >replaced.cfg
refused 'but no name' 2 'replaced.cfg:1|did you mean time.end' check replaced.cfg time.edn=1.0

# ---- the grid ----
over 'an upper corner of fewer axes' 'grid.upper = [12.0]|each of the grid'"'"'s 2 axes' \
    'grid.upper=[12.0]'
over 'a lower corner of fewer axes' 'grid.lower = [0.5]|2 axes' 'grid.lower=[0.5]'
over 'a lower corner above the upper one' 'grid.upper = [1.0, 1.0]|above grid.lower|has 1 and 2' \
    'grid.upper=[1.0,1.0]' 'grid.lower=[2.0,0.0]' grid.spacing=0.1
over 'a spacing that does not fit' 'grid.spacing = 0.3|x1 has 3 cells from 0 to 1|not 0.3' \
    grid.spacing=0.3 'grid.upper=[1.0,1.0]'
over 'cells, end and spacing that contradict' 'x2 has 4 cells from 0 to 1, 0.25 apart, not 0.2' \
    'grid.cells=[6,4]' 'grid.upper=[1.2,1.0]' grid.spacing=0.2
printf '%s\n' 'time = { end = 0.1; };' >bad.cfg
refused 'a spacing alone' 2 'needs grid.cells or grid.upper' check bad.cfg "$device" \
    grid.spacing=0.1

# ---- sources ----
shot() { # WHAT PATTERNS KEYS [OVERRIDE...]
    what=$1 patterns=$2 keys=$3
    shift 3
    over "$what" "$patterns" 'grid.cells=[12,12]' grid.order=8 \
        "sources=({ ${place-position = [0.5, 0.5];} frequency = 1.0; $keys })" \
        "$@"
}
shot 'a source outside the box' 'sources.1.position|x2 = 1.2 is outside' '' \
    'sources.1.position=[0.5,1.2]'
shot 'a source next to the box' 'sources.1.position|x2 = 1.0000001 is outside' '' \
    'sources.1.position=[0.5,1.0000001]'
shot 'a source without a position' 'must give position' '' \
    'sources=({ frequency = 1.0; })'
shot 'a source of an unknown kind' 'sources.1.kind|monopole|force' \
    'kind = "quadrupole";'
shot 'a force without a direction' 'sources.1.kind|a direction that is not zero' \
    'kind = "force";'
shot 'a force of a wave' 'sources.1.kind|wave has no sources' \
    'kind = "force"; direction = [1.0, 0.0];' system=wave
shot 'a signal without a frequency' 'sources.1.frequency|above 0' '' \
    sources.1.frequency=0.0
shot 'a signal that begins early' 'sources.1.delay = 0.1|1.59' 'delay = 0.1;'
shot 'a burst of which two periods are cut off' \
    'sources.1.delay = -2.0|of its largest value before the run' 'signal = "burst"; delay = -2.0;'
shot 'a signal that ends before the run' 'sources.1.delay = -9.0|1 of its largest|1.59' \
    'delay = -9.0;'
printf '%s\n' "$base" >bad.cfg
refused 'a signal of more steps than are numbered' 2 'time.end|1e12 steps' run bad.cfg --quiet \
    "$device" 'grid.cells=[12,12]' grid.order=8 time.scheme=fd time.stages=1 time.end=1e-30 \
    'sources=({ position = [0.5, 0.5]; frequency = 1.0; })' \
    'receivers=({ position = [0.5, 0.5]; })'
shot 'waves that the grid does not carry' 'sources|up to 25.5|0.47 points per wavelength' \
    '' sources.1.frequency=10.0 time.scheme=fd
shot 'waves that N = 8 does not carry' 'sources|up to 76|0.16 cells per wavelength|0.7' \
    '' sources.1.frequency=30.0
shot 'a narrow source by leapfrog' 'sources.1.radius = 1|1.25 or more|leapfrog' \
    'radius = 1.0;' time.scheme=leapfrog grid.order=3
shot 'a radius for finite differences' 'sources.1.radius|time.scheme = "fd"' \
    'radius = 1.0;' time.scheme=fd
shot 'a tolerance for finite differences' 'sources.1.tolerance|Hermite' \
    'tolerance = 1e-3;' time.scheme=fd
shot 'a plane that ends at a free side' 'sources.1.axis|free side of x2' '' \
    'sources=({ type = "plane"; axis = "x1"; at = 0.5; frequency = 1.0; })' \
    time.scheme=taylor grid.order=4 boundary.x2=free
shot 'a wide volume by a Hermite method' 'sources.1.width|up to 6 cells, here 0.5' '' \
    'sources=({ type = "volume"; position = [0.5, 0.5]; width = 0.6; frequency = 1.0; })' \
    time.scheme=taylor grid.order=4
shot 'a volume wider than the box' 'sources.1.width|as the box is long, 1,' '' \
    'sources=({ type = "volume"; position = [0.5, 0.5]; width = 1e9; frequency = 1.0; })' \
    time.scheme=fd grid.order=4
shot 'a volume with a radius' 'sources.1.radius|"volume"' '' \
    'sources=({ type = "volume"; position = [0.5, 0.5]; width = 0.2; frequency = 1.0; radius = 1.0; })' \
    time.scheme=taylor grid.order=4
shot 'a radius of two numbers' 'sources.1.radius|one number' 'radius = [1.0, 2.0];'
shot 'a layer within reach of a source' \
    'sources.1.position|the medium varies within|time.scheme = "fd"' '' \
    time.scheme=taylor grid.order=2 medium.type=layers medium.axis=x2 \
    'medium.interfaces=[0.8]' 'medium.c=[1,2]'
shot 'a line with a position' 'sources.1.position|"line"' \
    'type = "line"; from = [0.5, 0.5]; to = [0.6, 0.6]; count = 3;'
place='from = [0.5, 0.5];'
shot 'a line of one point' 'sources.1.count = 1|2 or more' \
    'type = "line"; to = [0.6, 0.6]; count = 1;'
shot 'a line without an end' 'sources.1 |must give to' 'type = "line"; count = 3;'
shot 'a line without a count' 'sources.1 |must give count' \
    'type = "line"; to = [0.6, 0.6];'
shot 'a line that leaves the box' 'sources.1.to|x1 = 1.6 is outside' \
    'type = "line"; to = [1.6, 0.6]; count = 3;'
place=' '
shot 'a plane without a place' 'sources.1 |must give at' \
    'type = "plane"; axis = "x2";'
shot 'a plane normal to no axis' 'sources.1.axis = "x3"|2 axes' \
    'type = "plane"; axis = "x3"; at = 0.5;'
shot 'a plane outside the box' 'sources.1.at|x2 = 1.5 is outside' \
    'type = "plane"; axis = "x2"; at = 1.5;'
shot 'a force along a plane' 'sources.1.direction|along its axis' \
    'type = "plane"; axis = "x2"; at = 0.5; kind = "force"; direction = [1.0, 1.0];'
box='type = "plane wave"; from = [0.3, 0.3]; to = [0.7, 0.7];'
shot 'a plane wave by a Hermite method' \
    'sources.1.type|have no plane waves from outside|time.scheme = "fd"' \
    "$box direction = [1.0, 1.0];" time.scheme=taylor grid.order=4
shot 'a plane wave with a key of Hermite methods' 'sources.1.type|leapfrog' \
    "$box direction = [1.0, 1.0];" device.variant=monolithic
shot 'a plane wave and an order that may be N' \
    'grid.order = 8|a plane wave comes from outside|order is not N' \
    "$box direction = [1.0, 1.0];" grid.order=8
shot 'a plane wave without a direction' 'sources.1 |not zero' "$box"
shot 'a plane wave with a kind' 'sources.1.kind|has no kind' \
    "$box kind = \"force\"; direction = [1.0, 1.0];"
shot 'a box upside down' 'sources.1.to|x2 = 0.3 must be above' \
    'type = "plane wave"; from = [0.3, 0.3]; to = [0.7, 0.3]; direction = [1.0, 1.0];'
shot 'a plane wave of advection' 'sources.1.type|advection has no plane waves' \
    "$box direction = [1.0, 1.0];" system=advection medium.velocity=[1.0,0.0]
shot 'a plane wave of a scalar with a polarisation' 'sources.1.polarisation|is for vectors' \
    "$box direction = [1.0, 1.0]; polarisation = [1.0, 0.0];" time.scheme=fd
far='grid.cells=[48,48] time.scheme=fd'
light() { # WHAT PATTERNS KEYS [OVERRIDE...]
    what=$1 patterns=$2 keys=$3
    shift 3
    # shellcheck disable=SC2086 # several options
    shot "$what" "$patterns" "${from-$box} $keys" system=maxwell $far "$@"
}
light 'a plane wave of E without a polarisation' 'sources.1 |needs a polarisation|of its E' \
    'direction = [1.0, 1.0];'
light 'a polarisation of nothing' 'sources.1.polarisation = [0.0, 0.0]|not zero' \
    'direction = [1.0, 1.0]; polarisation = [0.0, 0.0];'
light 'a polarisation along the direction' 'sources.1.polarisation|is along the direction' \
    'direction = [1.0, 1.0]; polarisation = [2.0, 2.0];'
light 'a polarisation out of the plane' 'sources.1.polarisation|entry for x3|2 axes' \
    'direction = [1.0, 1.0]; polarisation = [0.0, 0.0, 1.0];'
from='type = "plane wave"; from = [0.3, 0.0]; to = [0.7, 1.0];'
light 'a wave along walls that turn it' 'sources.1.direction|electric or periodic' \
    'direction = [1.0, 0.0]; polarisation = [0.0, 1.0];' \
    'boundary.x2=["magnetic","magnetic"]'
unset from
light 'losses at the surface of the box' 'sources.1 |loses energy (medium.sigma)|near (' \
    'direction = [1.0, 0.0]; polarisation = [0.0, 1.0];' medium.type=expression \
    'medium.sigma="step(x1-0.6)"'
light 'the box at a layer' 'sources.1.from|reaches over 4 points|above 0.3125' \
    'direction = [1.0, 0.0]; polarisation = [0.0, 1.0];' boundary.x1=absorbing \
    absorbing.cells=12 absorbing.place=inside
light 'losses everywhere' 'sources.1 |loses energy (medium.sigma)' \
    'direction = [1.0, 0.0]; polarisation = [0.0, 1.0];' medium.sigma=0.1
light 'a jump of eps at the surface of the box' 'sources.1 |varies|1/eps is 1.0' \
    'direction = [1.0, 0.0]; polarisation = [0.0, 1.0];' medium.type=expression \
    'medium.eps="1+step(x1-0.6)"'
# shellcheck disable=SC2086 # several options
shot 'a shear wave in a fluid' 'sources.1.polarisation|across the direction' \
    "$box direction = [1.0, 0.0]; polarisation = [0.0, 1.0];" system=elastic medium.vs=0.0 $far
shot 'a polarisation of a point' 'sources.1.polarisation|is for plane waves' \
    'position = [0.5, 0.5]; polarisation = [1.0, 0.0];'
unset place
shot 'a volume without a width' 'sources.1 |must give width' 'type = "volume";'
shot 'a volume that the grid does not resolve' 'sources.1.width|0.0833333 and more' \
    'type = "volume"; width = 0.08;'
shot 'a signal file that is missing' 'sources.1.file|nosuch.txt' \
    'signal = "file"; file = "nosuch.txt";' sources.1.frequency=0.0
shot 'a file for another signal' 'sources.1.file|ricker' 'file = "signal.txt";'

# ---- what a terminal obeys, what fills it ----
escape=$(printf '\033[31m')
over 'escape in a value' 'system = "\x1b[31m"|acoustic' "system=$escape"
refused 'escape in a file name' 2 'no\x1b[31m.cfg|No such file' \
    run "no$escape.cfg" "$device"

# ---- scheme ----
over 'leapfrog for advection' 'time.scheme = "leapfrog"|acoustic, wave' \
    system=advection time.scheme=leapfrog
over 'a step without a square' 'time.end = 1e-300|makes steps of 1e-300' time.end=1e-300
over 'a step beside time.cfl' 'time.step = 0.01|instead of time.cfl' time.step=0.01 time.cfl=0.5
over 'a step of other units' 'time.step = 0.1|at most 0.000|the same unit?' time.step=0.1 \
    time.scheme=taylor medium.c=1500
over 'unstable leapfrog' 'time.cfl = 1|0.99' time.scheme=leapfrog time.cfl=1.0

# ---- medium ----
over 'layers of too much contrast' \
    'medium.rho = [1.0, 20000.0]: gives K = 1 at (0.5, 0.25)|along x2' \
    time.scheme=fd grid.order=4 'grid.cells=[12,12]' medium.type=layers \
    medium.axis=x2 'medium.interfaces=[0.5]' 'medium.rho=[1.0,20000.0]'
over 'x3 in two dimensions' 'medium.c = "1 + 0.1*x3"|x3 is no axis|which has 2' \
    medium.type=expression 'medium.c="1 + 0.1*x3"'
over 'x2 in one dimension' 'initial.values.p = "sin(x2)"|x2 is no axis' \
    initial.type=expression 'initial.values={p="sin(x2)";}' 'grid.cells=[6]'
over 'medium from a named pipe' 'medium.c = "pipe"|named pipe' \
    medium.type=file medium.c=pipe 'medium.shape=[4,4]'
over 'a medium that is no model' 'shape[0] = 0|makes raw' medium.type=file medium.c=bad.cfg
over 'a map with a corner of fewer axes' "output.maps.1.from = [0.0]|the grid's 2 axes" \
    'output.maps=({from=[0.0];})'
refused 'a map of no kind, by check' 2 'output.maps|command line' check bad.cfg "$device" \
    'output.maps=({what=["max"];})'
over 'medium from a device' 'medium.c|/dev/zero|device' medium.type=file \
    medium.c=/dev/zero 'medium.shape=[4,4]'
over 'HDF5 medium from a named pipe' 'medium.c = "pipe"|named pipe' \
    medium.type=file medium.format=hdf5 medium.c=pipe
over 'HDF5 medium that is none' 'medium.c = "bad.cfg"|not an HDF5 file' \
    medium.type=file medium.format=hdf5 medium.c=bad.cfg
# Too large to be read: its size is compared before.
if truncate -s 1000G huge.f32 2>/dev/null; then
    over 'file too large' 'medium.c|1073741824000 bytes|needs 64' \
        medium.type=file medium.c=huge.f32 'medium.shape=[4,4]'
    rm huge.f32
fi

# ---- initial data ----
base_with_initial=$base
base='system = "acoustic";
grid = { cells = [6, 4]; order = 1; };
time = { end = 0.1; };

output = { directory = "out"; };'
bad 'initial data no HDF5' 'initial.file = "bad.cfg"|not an HDF5 file, or it is damaged' \
    'initial = { type = "file"; file = "bad.cfg"; };'
bad 'initial data from a named pipe' 'initial.file = "pipe"|named pipe' \
    'initial = { type = "file"; file = "pipe"; };'
bad 'a type beside a file' 'initial.file = "ok.npy"|"file"|initial.type|"gaussian"' \
    'initial = { type = "gaussian"; file = "ok.npy"; };'
bad 'a type beside a file that is not there' 'initial.file = "none.npy"|initial.type|"plane"' \
    'initial = { type = "plane"; file = "none.npy"; };'
if ! $addresses && have_device; then # the reference computes in double precision
    printf '%s\n' "$base" >bad.cfg
    refused 'data beyond single precision' 2 \
        'initial.values.p = "1e39*x1"|p is 5e+38 at (0.5, 0)|device.precision = "double"' \
        run bad.cfg --quiet initial.type=expression 'initial.values={p="1e39*x1";}'
    refused 'an amplitude beyond single precision' 2 \
        'initial.amplitude = 1e+300|device.precision = "double"' \
        check bad.cfg --quiet initial.amplitude=1e300
fi
npy() { # FILE SHAPE: zeros
    head="{'descr': '<f8', 'fortran_order': False, 'shape': $2, }"
    { printf '\223NUMPY\001\000\166\000%-117s\n' "$head"; head -c 24 /dev/zero; } >"$1"
}
npy row.npy '(3,)'
bad 'an array of another shape' 'row.npy is 3, the grid'"'"'s nodes are ' \
    'initial = { type = "file"; file = "row.npy"; };'
npy number.npy '()'
truncate -s 136 number.npy
bad 'an array without axes' 'number.npy is 1 (without axes), the grid'"'"'s nodes are ' \
    'initial = { type = "file"; file = "number.npy"; };'
printf '%s\n' "$base_with_initial" >make.cfg
"$htwave" run make.cfg --quiet device.backend=oracle output.directory=made \
    time.scheme=taylor &&
    cp made/fields_000000.h5 good.h5
rm -rf made
printf '%s\n' "$base" >continue.cfg
refused 'a snapshot continued by finite differences' 2 \
    'initial.file|good.h5|time 0.1|lacks|time 0|taylor' check continue.cfg \
    --quiet "$device" initial.type=file initial.file=good.h5 time.scheme=fd \
    grid.order=2
"$htwave" check continue.cfg "$device" initial.type=file initial.file=good.h5 \
    'initial.values={p="p";}' >answer.txt 2>$message
judge "fields left out: $(tail -n 1 $message)" \
    grep -q 'note: initial.values leaves out v1, v2: 0 at the start' $message
"$htwave" check continue.cfg "$device" initial.type=file initial.file=good.h5 \
    time.scheme=taylor 'grid.upper=[1.0,2.0]' >answer.txt 2>$message
judge "a snapshot of another box: $(tail -n 1 $message)" grep -q \
    'warning: initial.file is of another box: its x2 begins at 0 with cells of 0.25' $message
base=$base_with_initial

# ---- keys that others leave without a meaning ----
base='system = "acoustic";
grid = { cells = [6, 4]; order = 1; };
time = { end = 0.1; };

'
bad 'cycles of no wave' 'initial.cycles = [2, 1]|is for initial.type "plane", but|"random"' \
    'initial = { type = "random"; cycles = [2, 1]; };'
bad 'a width of expressions' 'initial.width|is for initial.type "gaussian", but|"expression"' \
    'initial = { type = "expression"; width = 0.2; values = { p = "x1"; }; };'
bad 'values of a plane wave' 'initial.values|"expression" or "file", but the type is "plane"' \
    'initial = { type = "plane"; values = { p = "x1"; }; };'
bad 'interfaces of no layers' 'medium.interfaces = [0.5]|"layers", but the type is "constant"' \
    'medium = { interfaces = [0.5]; };'
bad 'the shape of no file' 'medium.shape|"file" or "memory", but the type is "expression"' \
    'medium = { type = "expression"; c = "1"; shape = [4, 4]; };'
bad 'a layer of no side' 'absorbing.width = 0.2|sides that absorb (boundary)|none' \
    'absorbing = { width = 0.2; };'
bad 'formats of no traces' 'output.traces = ["csv"]|has no meaning without receivers' \
    'output = { traces = ["csv"]; };'
bad 'a slice of a plane' 'output.picture.plane = "x1"|three dimensions' \
    'output = { picture = { plane = "x1"; }; };'
base=$base_with_initial
shot 'a speed without a delay' 'sources.1.speed = 2.0|without focus or steer' \
    'type = "linear array"; axis = "x1"; elements = 4; pitch = 0.05; direction = [0.0, 1.0]; speed = 2.0;'
shot 'groups of ranks for one run' 'parallel.shots = 2|is one run' '' parallel.shots=2
shot 'an array steered nowhere' 'sources.1.steer = [0.0, 0.0]|must not be zero' \
    'type = "linear array"; axis = "x1"; elements = 4; pitch = 0.05; direction = [0.0, 1.0]; steer = [0.0, 0.0];'
over 'a layout of finite differences' 'device.layout = "blocked"|fd|Hermite' time.scheme=fd \
    device.layout=blocked
over 'couplings of Hermite methods' 'medium.couplings = false|taylor|differences' \
    time.scheme=taylor medium.couplings=false
over 'couplings of one field' 'medium.couplings = false|acoustic by finite differences' \
    time.scheme=fd 'grid.cells=[20,20]' medium.couplings=false
over 'coefficients of finite differences' 'output.coefficients = true|fd|Hermite' time.scheme=fd \
    output.coefficients=true
over 'data at rest that return' 'initial.returns = true|"file", but the type is "zero"' \
    initial.type=zero initial.returns=true
over 'a slice of a plane among slices' 'output.picture.slices.1.plane = "x1"|three dimensions' \
    'output.picture.slices=({plane="x1";})'
shot 'cycles of a Ricker' 'sources.1.cycles|"burst" and "sine"|"ricker"' 'cycles = 3.0;'
shot 'an array steered and focused' 'sources.1.steer|focus' \
    'type = "linear array"; axis = "x1"; elements = 4; pitch = 0.05; direction = [0.0, 1.0]; focus = [0.5, 0.9]; steer = [0.1, 1.0];'

# ---- outputs ----
over 'a frequency as text' \
    'output.maps.1.frequencies = "1.0"|must be a number or a list of numbers' \
    'output.maps=({frequencies="1.0";})'
over 'output of velocities by leapfrog' 'output.fields|"v1"|leapfrog|stores p' \
    time.scheme=leapfrog 'output.fields=["v1"]'
over 'picture of velocities by leapfrog' 'output.picture.field|stores p' \
    time.scheme=leapfrog output.picture.field=v2
over 'unit of nothing' 'output.units.lenght|"km"|length, time, p, v1, v2, c, K, rho' \
    output.units.lenght=km
over 'unit that is no text' 'output.units.p|UTF-8 of at most 24' \
    'output.units={p="P\x01";}'
over 'long unit' 'output.units.time|at most 24 bytes' \
    output.units.time=abcdefghijklmnopqrstuvwxy
: >file
printf '%s\n' "$base" >bad.cfg
refused 'directory below a file' 2 'output.directory = "file/out"' \
    run bad.cfg --quiet "$device" output.directory=file/out
refused 'directory without a name, before the medium is read' 2 'output.directory = ""' \
    run bad.cfg --quiet "$device" output.directory= medium.type=file medium.c=none.npy
for command in run check; do
    refused "directory that $command cannot make" 2 'output.directory = "/proc/out"' \
        $command bad.cfg --quiet "$device" output.directory=/proc/out
done
warned() { # WHAT PATTERN OVERRIDE...
    what=$1 pattern=$2
    shift 2
    "$htwave" check bad.cfg --quiet "$device" "$@" >answer.txt 2>$message
    judge "$what: $(cut -c1-150 $message)" [ "$? $(grep -c "^warning: .*$pattern" $message)" = '0 1' ]
}
warned 'snapshots after the end' 'output.every = 0.3 is above time.end = 0.1' output.every=0.3
warned 'checkpoints after the end' 'output.checkpoint.every = 0.3 is above time.end' \
    output.checkpoint.every=0.3
warned 'pictures after the end' 'output.picture.every = 0.3 is above time.end' \
    output.picture.every=0.3
warned 'very many steps' 'waves at 1 go 1e+06 times along the box' time.end=1e6
warned 'm/s in a box of km' 'are 150 times as long as the box' medium.c=1500 \
    initial.frequency=10

warned 'data in a layer' 'initial.centre: (0.5, 0.5) lies in the absorbing layers of x1' \
    'grid.upper=[6.0,6.0]' 'grid.cells=[60,60]' time.scheme=fd grid.order=4 boundary.x1=absorbing \
    absorbing.place=inside

# ---- device ----
over 'larger than memory' \
    'grid.cells = [100000, 100000, 1000]|needs|PiB|has' \
    'grid.cells=[100000,100000,1000]' time.scheme=taylor
over 'more cells than 64 bits count' 'grid.cells|needs' \
    'grid.cells=[2000000000,2000000000,2000000000]'
over 'device that is not there' \
    'device.select = "nonexistent"|no device matches' device.backend=auto \
    device.select=nonexistent
refused 'such a device, by check' 2 'device.select = "rtx"|no device matches|command line' \
    check bad.cfg --quiet device.backend=auto device.select=rtx
refused 'no device on purpose, by run' 2 'device.select = "none"|is for `htwave check`' run bad.cfg \
    --quiet device.backend=auto device.select=none
"$htwave" check bad.cfg --quiet device.select=none >answer.txt 2>$message
judge "no device on purpose, by check: $(tail -n 1 answer.txt)" \
    grep -q 'but no device is available' answer.txt
if ! "$htwave" devices 2>&1 | grep -q '^ *cuda,'; then
    refused 'a back end that is not there, by check' 1 'device.backend = "cuda"' check bad.cfg \
        --quiet device.backend=cuda
fi
over 'unknown variant' 'device.variant = "fast"|monolithic|two-naive' \
    device.variant=fast
over 'variant that is gone' 'device.variant = "warp"|no longer there; use|fd' \
    device.variant=warp
over 'variant that does not apply' 'device.variant = "propagator"|uniform|use "|"monolithic"|"two-naive"' \
    device.variant=propagator time.scheme=taylor medium.type=expression 'medium.c="1 + 0.1*x1"'
if have_device; then
    warned 'a cache that cannot be made' 'device.cache = "/proc/x": .* are not kept' \
        device.backend=auto device.cache=/proc/x
    warned 'a map of one sample' 'output.maps.1.every = 0.3 is above .* one sample, at time 0' \
        device.backend=auto 'output.maps=({what=["maximum"];every=0.3;})'
    warned 'less than a period of a map' 'output.maps.1.frequencies: 4 has 0.3 of a period' \
        device.backend=auto 'output.maps=({frequencies=[4.0];start=0.025;every="step";})'
    refused 'a density beyond single precision' 1 'self-check|does not carry|"double"' run bad.cfg \
        --quiet device.backend=auto time.scheme=fd grid.order=2 grid.cells=[20,16] medium.rho=1e36
    over 'larger than device memory' 'grid.cells|needs|has' \
        device.backend=auto 'grid.cells=[1000000,1000000]'
    over 'groups too large' 'device.cells_per_group = 1024' \
        device.backend=auto device.variant=monolithic \
        device.cells_per_group=1024 grid.order=8
    over 'groups of whole rows' 'device.cells_per_group = 8|"fd-plain"|leave it out' \
        device.backend=auto time.scheme=fd 'grid.cells=[20,20]' grid.order=2 device.variant=fd-plain \
        device.cells_per_group=8
    over 'rounding grows in a variant' \
        'device.variant = "monolithic"|rounding|cfl 0.9|at most 0.8|or device.precision = "double", or variant "' \
        device.backend=auto device.variant=monolithic time.scheme=taylor \
        'grid.cells=[4,4,4]' grid.order=8 time.end=90 time.cfl=0.99
    over 'rounding grows in all variants' \
        'time.cfl = 0.89|rounding|at most 0.8|or device.precision = "double" (' \
        device.backend=auto 'medium.type=expression' \
        'medium.c="1 + 0.1*sin(2*pi*x1)"' time.scheme=taylor \
        'grid.cells=[4,4,4]' grid.order=8 time.end=90 time.cfl=0.89
else
    skip 'limits of a device: none is here'
fi

# ---- the command line ----
judge 'no command: the list of commands' [ "$("$htwave" | grep -c '^  htwave run FILE')" = 1 ]
refused 'a file alone is run' 2 'none.cfg' none.cfg
refused 'unknown command' 2 'rnu|nearest is run' rnu bad.cfg
refused 'a plot by the program' 2 'htwave-plot|tools/plot.py' plot a.h5
refused 'help of nothing' 2 'rnu|nearest is run' help rnu
refused 'unknown flag of the program' 2 'versions: unknown flag|nearest is --version' \
    --versions
refused 'unknown flag' 2 'jsn|nearest is --json' run bad.cfg --jsn
refused 'no file' 2 'run needs' run
refused 'flag without value' 2 '--cells needs a value' \
    converge bad.cfg --cells
refused 'cells no list' 2 '--cells 4,x' converge bad.cfg --cells 4,x
refused 'no known solution' 2 'initial.type|not known' converge bad.cfg \
    "$device" --cells 4
refused 'compare nothing' 1 'nosuch' compare nosuch nosuch
refused 'describe nothing' 2 'acustic|nearest is acoustic' describe acustic

refused 'a word behind --version' 2 '--version|--jsom|--json' --version --jsom
refused 'a word behind help' 2 'help: "extra"' help run extra
over 'a dot as a number' 'time.end|must be a number' time.end=.

cat >metres.cfg <<'CFG'
grid = { cells = [100, 100]; upper = [1000.0, 1000.0]; };
time = { end = 0.2; };
medium = { c = 1500.0; };
CFG
refused 'data that the grid does not carry' 2 \
    'initial.width = 0.1|0.021 cells|less than 0.25|more cells|default' \
    run metres.cfg --quiet "$device"
refused 'of finite differences' 2 'initial.width = 4.0|0.84 points|less than 1' \
    check metres.cfg --quiet "$device" initial.width=4.0 time.scheme=fd
refused 'a wave of the data' 2 'initial.type|1.8 points|less than 2' \
    check metres.cfg --quiet "$device" initial.type=plane \
    'initial.cycles=[55,0]' time.scheme=fd
refused 'a frequency of the data' 2 'initial.frequency|less than 0.5' \
    check metres.cfg --quiet "$device" initial.frequency=400
"$htwave" check metres.cfg "$device" grid.upper='[1.0,1.0]' time.end=1e-4 \
    >answer.txt 2>$message
judge "no data: $(tail -n 1 $message)" \
    grep -q 'note: neither sources nor initial data are given' $message

# ---- while it runs ----
refused 'a medium beyond single precision' 2 \
    'medium.rho|K = 1e-40|range of single precision|"double"' check bad.cfg \
    --quiet "$device" device.backend=auto device.precision=single \
    medium.rho=1e-40
cat >rough.cfg <<'CFG'
system = "acoustic";
grid = { cells = [30]; order = 3; };
time = { end = 20.0; scheme = "taylor"; };
medium = { type = "expression"; c = "1+0.5*sin(8*pi*x1)"; degree = 0; };
initial = { type = "random"; };
CFG
refused 'growth without overflow' 3 'energy has grown|likely cause: the medium' \
    run rough.cfg --quiet "$device" output.directory=gone
cat >solid.cfg <<'CFG'
system = "elastic";
grid = { cells = [44, 36]; upper = [44.0, 36.0]; order = 4; };
time = { end = 600.0; scheme = "fd"; };
boundary = { x1 = "absorbing"; x2 = "absorbing"; };
absorbing = { cells = 12; mix = 0.001; place = "inside"; };
medium = { type = "expression"; vp = "exp(0.7*step(sin(0.6*x1+0.4*x2)*cos(0.5*x2-0.3*x1)))";
    vs = "exp(0.7*step(sin(0.6*x1+0.4*x2)*cos(0.5*x2-0.3*x1)))/3"; };
initial = { type = "expression"; values = { v1 = "exp(-((x1-22)^2+(x2-18)^2)/4)"; }; };
CFG
refused 'waves that grow in layers' 3 'the absorbing layer at the|waves grow in it|absorbing.mix' \
    run solid.cfg --quiet "$(device_option "${HTWAVE_DEVICE:-auto}")" output.directory=gone
rm -rf gone

# full LIMIT: files may be LIMIT blocks of 512 bytes long. Without a device,
# whose compiler may need files of its own.
full() {
    rm -rf out
    (
        trap '' XFSZ
        ulimit -f "$1"
        exec timeout 60 "$htwave" run bad.cfg --quiet 'grid.cells=[64,64]' \
            time.end=0.02 device.backend=oracle
    ) >answer.txt 2>$message
    code=$?
    rest=$(ls out | grep -v '^input.cfg$' | tr '\n' ' ')
    if [ $code = 1 ] && check_message out/ && [ -z "$rest" ]; then
        pass "disk full at $1 blocks: $(sed -n 's/^htwave: //p' $message)"
    else
        sed 's/^/    | /' $message
        fail "disk full at $1 blocks: exit code $code, left: $rest"
    fi
}
# Absorbing sides.
layered='grid.cells=[40,32]'
bad_layer() { # WHAT PATTERNS ARGUMENT...
    what=$1 patterns=$2
    shift 2
    printf '%s\n' "$base" >bad.cfg
    refused "$what" 2 "$patterns" run bad.cfg --quiet "$device" "$layered" \
        grid.order=0 boundary.x1=absorbing boundary.x2=rigid "$@"
}
bad_layer 'a layer thicker than half the axis' 'absorbing.cells = 21|x1|half' \
    absorbing.cells=21 absorbing.place=inside
bad_layer 'layers that leave nothing' 'absorbing.cells = 20|leave nothing' \
    absorbing.cells=20 absorbing.place=inside
bad_layer 'half a cell' 'absorbing.cells = 2.5|whole' absorbing.cells=2.5
bad_layer 'three numbers of cells' 'absorbing.cells|one per axis' \
    'absorbing.cells=[4,4,4]'
bad_layer 'cells and a width' 'absorbing.width = 0.3|absorbing.cells|one of them' \
    absorbing.width=0.3 absorbing.cells=12
bad_layer 'a thin width' 'absorbing.width = 0.1|4|6 points' absorbing.width=0.1 time.scheme=fd
bad_layer 'leapfrog with layers' 'absorbing.type|leapfrog|give "sponge"' \
    system=wave time.scheme=leapfrog
bad_layer 'leapfrog with cpml' 'absorbing.type = "cpml"|leapfrog|"sponge"' \
    system=wave time.scheme=leapfrog absorbing.type=cpml
bad_layer 'a thin sponge of leapfrog' 'absorbing.cells = 5|leapfrog|6 cells' \
    system=wave time.scheme=leapfrog absorbing.type=sponge absorbing.cells=5
bad_layer 'a sponge of leapfrog at even order' 'grid.order = 2|wave|an odd' \
    system=wave time.scheme=leapfrog absorbing.type=sponge grid.order=2
bad_layer 'a sponge of leapfrog at order 1' 'grid.order = 1|acoustic|2 or' \
    time.scheme=leapfrog absorbing.type=sponge grid.order=1
bad_layer 'alpha of a sponge' 'absorbing.alpha|sponge|Hermite' system=wave \
    time.scheme=leapfrog absorbing.type=sponge absorbing.alpha=0.1
bad_layer 'two terms with layers' 'time.stages = 2|sponge' time.scheme=fd \
    time.stages=2
bad_layer 'deep halos with layers' 'parallel.halo_depth = 2|must be 1' \
    parallel.halo_depth=2
bad_layer 'thin layers of taylor' 'absorbing.cells = 2|taylor|3 cells' \
    time.scheme=taylor absorbing.cells=2
bad_layer 'a thin sponge of taylor' 'absorbing.cells = 3|taylor|4 cells' \
    time.scheme=taylor absorbing.type=sponge absorbing.cells=3
bad_layer 'organisations, which are gone' \
    'absorbing.organisation|no longer there|"regions"' \
    time.scheme=taylor absorbing.organisation=operators
bad_layer 'thin matched layers of differences' 'absorbing.cells|5|6 points' \
    absorbing.cells=5 time.scheme=fd
bad_layer 'a source in a layer' 'sources.1.position|x1 = 0.1|absorbing layer' \
    'sources=({position=[0.1,0.5];frequency=2.0;})' absorbing.place=inside
bad_layer 'a receiver in a layer around the box' 'receivers.1.position|(1.1, 0.5)|0 to 1' \
    'receivers=({position=[1.1,0.5];})'

# First-order systems.
solid() { # WHAT PATTERNS ARGUMENT...
    what=$1 patterns=$2
    shift 2
    printf '%s\n' "$base" >bad.cfg
    refused "$what" 2 "$patterns" run bad.cfg --quiet "$device" system=elastic \
        'grid={cells=[20,16];order=4;}' time.scheme=fd "$@"
}
solid 'shear stress in a fluid' 's12 at (|fluid|pressure' medium.vs=0 \
    'initial.field="s12"'
solid 'one normal stress in a fluid' ' at (0.5, 0.5)|fluid|pressure' medium.vs=0 \
    'initial.field="s11"'
solid 'a fluid by Hermite methods' 'time.scheme = "taylor"|0 somewhere (a fluid)' medium.vs=0 \
    time.scheme=taylor
solid 'a source of acoustics' 'sources.1.kind|elastic has no sources|monopole' \
    'sources=({position=[0.5,0.5];frequency=2.0;})'
solid 'a force out of the plane' 'sources.1.direction|v3|2 axes' \
    'sources=({kind="force";direction=[0.0,0.0,1.0];position=[0.5,0.5];frequency=2.0;})'
solid 'a moment out of the plane' 'sources.1.moment|s33|2 axes' \
    'sources=({kind="moment";moment=[0.0,0.0,1.0,0.0,0.0,0.0];position=[0.5,0.5];frequency=2.0;})'
solid 'three numbers of a moment' 'sources.1.moment|6 numbers' \
    'sources=({kind="moment";moment=[1.0,0.0,1.0];position=[0.5,0.5];frequency=2.0;})'
solid 'a moment of another kind' 'sources.1.moment|is for kind "moment"|"explosion"' \
    'sources=({kind="explosion";moment=[0.0,0.0,0.0,1.0,0.0,0.0];position=[0.5,0.5];frequency=2.0;})'
solid 'a moment without numbers' 'sources.1.kind|needs a moment' \
    'sources=({kind="moment";position=[0.5,0.5];frequency=2.0;})'
solid 'shear of a moment in a fluid' 'sources.1|s12|fluid' medium.vs=0 \
    'sources=({kind="moment";moment=[1.0,1.0,0.0,1.0,0.0,0.0];position=[0.5,0.5];frequency=2.0;})'
solid 'a moment along an axis in a fluid' 'sources.1|fluid|pressure' medium.vs=0 \
    'sources=({kind="moment";moment=[1.0,0.0,0.0,0.0,0.0,0.0];position=[0.5,0.5];frequency=2.0;})'
solid 'a free side by Hermite methods' 'boundary.x2|fd|mirrors' time.scheme=taylor \
    boundary.x2=free
solid 'a free side at order 10' 'grid.order = 10|x2|2, 4, 6 and 8' grid.order=10 boundary.x2=free
solid 'free sides too near' 'grid.cells|2 free sides|11' grid.order=8 'grid.cells=[20,10]' \
    boundary.x2=free
solid 'two terms beside absorbing sides' 'time.stages = 2|absorbing sides of staggered' \
    time.stages=2 boundary.x1=absorbing absorbing.type=sponge
solid 'two terms with losses' 'time.stages = 2|losses of staggered' time.stages=2 medium.qp=50.0 \
    medium.qs=30.0
solid 'two terms with sources' 'time.stages = 2|sources of staggered' time.stages=2 \
    'sources=({kind="explosion";position=[0.5,0.5];frequency=2.0;})'
solid 'a variant of one field' 'fd-march|fd-plain' device.variant=fd-march \
    device.backend=auto

solid 'a quality factor below 2' 'medium.|qp and qs|2 with y = 1' medium.qp=1.5 medium.qs=1.5
solid 'absorption as frequency squared' 'medium.absorption_power = 2|less than 2|command line' medium.qp=9 medium.qs=9 medium.absorption_power=2
solid 'a quality factor of P alone too large' 'medium.qp|(vp/vs)^2 qs' medium.qp=90 \
    medium.qs=20
solid 'a negative quality factor' 'medium.qs|>= 0' medium.qs=-3
solid 'losses by Hermite methods' 'medium.qp|finite differences|"taylor"' medium.qp=30 \
    time.scheme=taylor
solid 'a negative conductivity' 'medium.sigma|>= 0' system=maxwell medium.sigma=-1

if (ulimit -f 16) 2>/dev/null; then
    full 16
else
    skip 'disk full: no ulimit -f'
fi
if [ -w /dev/full ]; then
    "$htwave" describe >/dev/full 2>$message
    code=$?
    judge "standard output full: exit code $code" [ $code = 1 ]
fi

end config/badinput
