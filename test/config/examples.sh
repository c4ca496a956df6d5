#!/bin/sh
# Every example of params/ runs, on a few cells and for a short time; where
# the solution is known its error is judged.
set -u
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
params=$here/../../params
tools=$(dirname "$htwave")/tools
data=${HTWAVE_TEST_DATA:-}/marmousi_vp_1601x401.f32
cd "$scratch" || exit 1
cp -R "$params" params # where ownmodel.cfg looks for its model

# A plane layered model in the shape that ownmodel.cfg wants, when the tool
# that writes a better one is not built.
make_model() {
    if [ -x "$tools/layered_model" ]; then
        "$tools/layered_model" params/model.f32
        return
    fi
    # 1500.0f and 3000.0f, little-endian; 401 columns of 201
    awk 'BEGIN { for (k = 0; k < 201; k++)
        printf "%s", k < 100 ? "\\000\\200\\273\\104" : "\\000\\200\\073\\105"
    }' >column
    for _ in $(seq 401); do
        # shellcheck disable=SC2059 # the format is the data
        printf "$(cat column)"
    done >params/model.f32
}

# Cells of a small grid with as many axes as the file's.
small_cells() {
    case $(sed -n 's/^[^#]*cells = \[\([^]]*\)\].*/\1/p' "$1" | head -n 1) in
    *,*,*) echo 'grid.cells=[6,5,5]' ;;
    *,*) echo 'grid.cells=[10,8]' ;;
    '') echo grid.spacing=0.1 ;;
    *) echo 'grid.cells=[16]' ;;
    esac
}

try() { # FILE OVERRIDE...
    file=$1
    shift
    name=$(basename "$file" .cfg)
    timeout 120 "$htwave" run "$file" "$device" "$(small_cells "$file")" \
        output.directory="$name" output.pictures=$drawn output.picture.pixels=64 --quiet "$@" \
        2>message.txt
    code=$?
    if [ $code != 0 ]; then
        sed 's/^/    | /' message.txt
        fail "$name: exit code $code"
        return
    fi
    judge "$name: summary and input" [ -s "$name/summary.json" -a \
        -s "$name/input.cfg" ]
    picture=$(find "$name" -name 'wave_*0000.png' | head -n 1)
    judge "$name: picture" [ $drawn = false -o -n "$picture" ]
    error=$(number "$name/summary.json" error_l2_relative)
    # 4 cells per wavelength at order 5 or more: below 5 %
    [ -z "$error" ] || judge "$name: error $error (bound 0.05)" \
        below "$error" 0.05
}

# By kernels, whose compiler and run take half of the reference's time.
try_kernels() { # FILE OVERRIDE...
    device=$fast
    unset POCL_EXTRA_BUILD_FLAGS
    try "$@" device.tune=never device.selfcheck=false
    device=$usual
}

make_model
usual=$device fast=$device
! have_device || fast=$(device_option "${HTWAVE_DEVICE:-auto}")
for file in params/*.cfg; do
    case $file in
    */marmousi_shot.cfg)
        if [ -r "$data" ]; then
            try "$file" time.end=0.2 sources.1.frequency=0.05 medium.c="$data"
        else
            skip "marmousi_shot: no HTWAVE_TEST_DATA"
        fi
        ;;
    */marmousi_open.cfg)
        if [ -r "$data" ]; then
            try "$file" time.end=0.2 sources.1.frequency=0.05 medium.c="$data" \
                'grid.cells=[40,32]' absorbing.cells=6 \
                'sources.1.position=[6.0,0.1]' \
                'receivers.1.from=[4.6,0.1]' 'receivers.1.to=[7.4,0.1]'
        else
            skip "marmousi_open: no HTWAVE_TEST_DATA"
        fi
        ;;
    */marmousi_fwi.cfg)
        if [ -r "$data" ]; then
            try "$file" time.end=0.2 'initial.centre=[6.0,1.0]' initial.width=0.5 \
                medium.c="$data" 'grid.cells=[40,32]' absorbing.cells=6 'sources=()' 'receivers=()'
        else
            skip "marmousi_fwi: no HTWAVE_TEST_DATA"
        fi
        ;;
    */marmousi*)
        if [ -r "$data" ]; then
            try "$file" time.end=0.2 initial.width=0.5 medium.c="$data"
        else
            skip "$(basename "$file" .cfg): no HTWAVE_TEST_DATA"
        fi
        ;;
    */source.cfg) # waves that a few cells carry
        try "$file" time.end=0.2 sources.1.frequency=0.5 \
            sources.2.frequency=0.5
        ;;
    */shot.cfg) try "$file" sources.1.frequency=20.0 ;;
    */gather.cfg) try "$file" time.end=0.2 sources.1.frequency=1.0 absorbing.width=0.8 ;;
    */shots.cfg) # layers beside which the places are
        try "$file" 'grid.cells=[56,22]' absorbing.cells=6 time.end=0.2 sources.1.frequency=2.0
        ;;
    */room.cfg) try "$file" time.end=0.2 sources.1.frequency=15 \
        sources.1.delay=0.12 output.picture.every=0.1 \
        receivers.1.every=0.002 ;;
    */focus.cfg) try "$file" 'sources=()' initial.width=40.0 ;;
    */ownmodel.cfg) try "$file" time.end=0.2 initial.frequency=3.0 ;;
    */layers.cfg | */receivers.cfg | */seabed.cfg) # waves that few cells carry
        try "$file" time.end=0.2 initial.width=0.4
        ;;
    */scatter.cfg) # a box that fits between stencils
        try "$file" 'grid.cells=[120,90]' time.end=2e-4 \
            sources.1.frequency=5000.0
        ;;
    */mie.cfg) # a box that fits between stencils; judged below
        try_kernels "$file" 'grid.cells=[64,64]' absorbing.cells=11 time.end=20.0 \
            output.picture.every=20
        ;;
    */sphere.cfg) # the same in three dimensions; at length below
        try "$file" 'grid.cells=[25,25,25]' medium.eps=1.0 absorbing.cells=6 time.end=0.5 \
            'receivers=()' output.picture.every=1
        ;;
    */absorb.cfg) # layers beside which something is left
        try "$file" 'grid.cells=[34,29]' time.end=0.3 \
            absorbing.cells=6 sources.1.frequency=4.0
        ;;
    */freespace.cfg) try "$file" 'grid.cells=[12,12,12]' time.end=0.004 \
        absorbing.cells=6 sources.1.frequency=100.0 \
        sources.1.delay=0.016 ;;
    */ultrasound.cfg) try "$file" 'grid.cells=[9,9,15]' time.end=8.0 \
        absorbing.type=sponge absorbing.cells=3 'sources=()' \
        output.picture.every=4.0 initial.width=10.0 ;;
    */array.cfg) # its map: config/experiments
        try "$file" 'grid.cells=[10,10,12]' absorbing.type=sponge absorbing.cells=3 \
            sources.1.frequency=0.025 time.end=20.0 'output.maps=()'
        ;;
    */rayleigh.cfg) try_kernels "$file" 'grid.cells=[230,70]' ;; # judged below
    */seafloor.cfg) try "$file" 'grid.cells=[52,32]' time.end=0.2 \
        absorbing.cells=6 sources.1.frequency=2.0 output.picture.every=0.1 ;;
    */migrate.cfg) try "$file" 'grid.cells=[45,25]' absorbing.cells=6 time.end=0.1 time.step=0.006 \
        'sources=({position=[1.25,0.75];frequency=3.0;})' 'receivers=()' ;;
    */cavity.cfg) try "$file" 'grid.cells=[24,16]' ;; # returns at its end
    */halfspace.cfg) try_kernels "$file" 'grid.cells=[24,24,18]' output.picture.every=6 ;; # judged below
    */bone.cfg) try "$file" 'grid.cells=[51,81]' time.end=3.0 absorbing.type=sponge absorbing.width=2.0 \
        output.picture.every=3.0 ;;
    */ring.cfg) # many steps; judged below
        try_kernels "$file" 'grid.cells=[60,60]' absorbing.cells=10 time.end=200.0 \
            output.picture.every=200
        ;;
    */radar.cfg) try "$file" 'grid.cells=[75,55]' time.end=2.0 output.picture.every=1.0 \
        sources.1.frequency=0.2 ;;
    */impedance.cfg) try "$file" 'grid.cells=[24]' ;; # returns at its end
    *) try "$file" time.end=0.2 ;;
    esac
done

# exact NAME SCRIPT TRACES MODULE...: of an example against a solution, which prints each trace's error
exact() {
    name=$1 solution=$2 traces=$3
    shift 3
    if ! have_modules "$@"; then
        skip "$name: no python3 with $* is here"
        return
    fi
    forked answer.txt message.txt "$here/$solution.py" "$name/traces.h5"
    errors=$(cat answer.txt)
    judge "$name: $traces traces are compared" [ "$(echo "$errors" | wc -w)" = "$traces" ]
    for error in $errors; do
        judge "$name: off the exact solution by $error (bound 0.015)" below "$error" 0.015
    done
}
exact rayleigh lamb 3 h5py              # 0.0120, that of absorbing sides included
exact halfspace halfspace 7 h5py scipy # 0.0026 to 0.0102 on so coarse a grid

# A reflector in its migrated image: h/4 off at most.
if have_modules h5py numpy; then
    mkdir rtm
    # by optimised kernels, as try_kernels
    (cd rtm && unset POCL_EXTRA_BUILD_FLAGS && HTWAVE="$htwave" MPLCONFIGDIR=$scratch \
        python3 "$here/../../examples/rtm_flat.py" "$fast" device.tune=never device.selfcheck=false) \
        >answer.txt 2>&1
    judge "rtm_flat.py: exit code $?, $(grep layer answer.txt | tr '\n' ' ')" \
        awk '/layer at/ && $6 > 0.9 - 0.0125 / 4 && $8 < 0.9 + 0.0125 / 4 { found++ }
             END { exit found != 2 }' answer.txt
else
    skip 'rtm_flat.py: no python3 with h5py and numpy is here'
fi

# The far field of a cylinder against its series: 10 points per wavelength inside.
if have_modules h5py matplotlib scipy; then
    forked answer.txt answer.txt "$here/../../tools/farfield.py" mie/traces.h5 \
        --signal ricker:0.8 --frequency 0.75,1.0 --cylinder 0.5,4
    judge "mie: $(tail -n 1 answer.txt)" [ -s mie/farfield.png ]
    for error in $(sed -n 's/.*error //p' answer.txt); do
        judge "mie: scattering width, error $error (bound 0.02)" below "$error" 0.02
    done
    if [ -n "${HTWAVE_COVER:-}" ]; then # minutes
        "$htwave" run params/sphere.cfg "$device" output.directory=full --quiet >answer.txt 2>&1
        MPLCONFIGDIR=$scratch "$here/../../tools/farfield.py" full/traces.h5 --signal ricker:0.6 \
            --frequency 0.4,0.6,0.8 --direction 1,0,0 --polarisation 0,0,1 --sphere 0.5,4 \
            >>answer.txt 2>&1
        judge "sphere: $(tail -n 1 answer.txt)" grep -q 'error [0-9]' answer.txt
        for error in $(sed -n 's/.*error //p' answer.txt); do
            judge "sphere: radar cross section, error $error (bound 0.005)" below "$error" 0.005
        done
    fi
    forked answer.txt answer.txt "$here/../../tools/farfield.py" mie/traces.h5 \
        --signal ricker:0.8 --frequency 1.0 --groups left,right,above
    judge "a far field without a face: exit code $?" grep -q 'lower and upper' answer.txt
else
    skip 'mie: no python3 with h5py, matplotlib and scipy is here'
fi

# The resonances of a ring: 8 points per wavelength inside.
if have_modules h5py matplotlib numpy; then
    forked answer.txt answer.txt "$here/../../tools/traces.py" ring/traces.h5 --modes 60:0.11,0.18
    for mode in 0.118192,77.3 0.147431,344 0.175779,1634; do
        found=$(sed -n 's/.*frequency \(.*\), Q \(.*\), amp.*/\1 \2/p' answer.txt | awk -v m=$mode '
            BEGIN { split(m, exact, ",") }
            { f = $1 / exact[1] - 1; q = $2 / exact[2] - 1; f = f < 0 ? -f : f
              if (!n++ || f < best) { best = f; of = q < 0 ? -q : q } }
            END { if (n) print best, of; else print "no modes" }')
        judge "ring: mode $mode: off by $found (bounds 2e-3, 0.1)" \
            awk -v f="$found" 'BEGIN { split(f, x, " "); exit !(f ~ /^[0-9]/ && x[1] < 2e-3 && x[2] < 0.1) }'
    done
    forked answer.txt answer.txt "$here/../../tools/traces.py" ring/traces.h5 --modes 199:0.11,0.18
    judge "modes of few samples: $(tail -n 1 answer.txt)" grep -q 'too few for modes' answer.txt
else
    skip 'ring: no python3 with h5py and matplotlib is here'
fi

# What stands beside the outputs runs from anywhere.
mkdir elsewhere
cd elsewhere || exit 1
mkdir copy
cp ../ownmodel/input.cfg copy/x.cfg
try copy/x.cfg
"$htwave" compare ../ownmodel x >answer.txt
judge "its own input from another directory: $(tail -n 1 answer.txt)" \
    "$htwave" compare ../ownmodel x --eps 0

end config/examples
