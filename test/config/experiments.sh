#!/bin/sh
# The experiments of params/ against exact solutions: a room against image
# sources, a focused array against the Rayleigh sum, a source between absorbing
# sides against free space, all from images.awk; a shot in the Marmousi model against a finer grid.
set -u
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
params=$here/../../params
data=${HTWAVE_TEST_DATA:-}/marmousi_vp_1601x401.f32
cd "$scratch" || exit 1

run() { # FILE OVERRIDE...
    file=$1
    shift
    "$htwave" run "$params/$file.cfg" "$device" output.pictures=false --quiet \
        "$@" 2>message.txt || { cat message.txt; fail "$file: exit code not 0"; }
}

exact() { # ARGUMENT... SOURCES TRACES
    awk -f "$here/images.awk" -v cycles=5 "$@" >answer.txt
}

# The third column of the line of a receiver, or a number of the last line.
word() { # LINE COLUMN
    awk -v line="$1" -v column="$2" '$0 ~ line { print $column }' answer.txt
}

# ---- a room ----
# At 6.1 points per shortest wavelength, and twice as many. The grid errs by 1e-3
# over six wavelengths of the peak (docs/developers/differences.md), and phases drift along
# the way, here up to 17 m, 8.8 wavelengths: 1.5e-3, by half the spacing 1/16 of
# it. The sincs at source and receiver err by up to 1.3e-3 each; near a wall the
# wave of an image joins: twice.
echo '1.03 0.87 1.21 0.0088' >sources.txt
for n in 1 ${HTWAVE_COVER:+2}; do
    run room "output.directory=room$n" sources.1.frequency=175 \
        sources.1.delay=0.0088 \
        "grid.cells=[$((32 * n)),$((24 * n)),$((20 * n))]"
    exact -v box='4 3 2.5' -v from='2.91 1.93 1.47' -v to='3.57 2.33 0.31' \
        -v c=343 -v rho=1.2 -v signal=ricker -v f=175 sources.txt \
        room$n/traces_room.csv
    eval "room$n=$(word rms 2)"
done
judge "room, 12.5 cm: error $room1 (bound 6.7e-3)" below "$room1" 6.7e-3
[ -z "${HTWAVE_COVER:-}" ] ||
    judge "room, 6.25 cm: error $room2 (bound 2.7e-3)" below "$room2" 2.7e-3

# ---- a focused burst ----
# At 5.3 points per shortest wavelength the grid errs by 2.4e-3 over six
# wavelengths (between 2e-2 at 4 and 1e-3 at 6), the sincs by 2.6e-3; of the
# burst 1e-4 of the energy, 1e-2 of the amplitude, lies at shorter waves.
run focus output.directory=focus
sed -n 's/.*position = \[\([^]]*\)\]; delay = \([0-9.]*\);.*/\1 \2/p' \
    "$params/focus.cfg" | tr -d ',' >sources.txt
judge "focus: $(wc -l <sources.txt) sources" [ "$(wc -l <sources.txt)" = 36 ]
exact -v box='120 120 120' -v from='0 0 20' -v to='0 0 90' -v c=1.5 -v rho=1 \
    -v signal=burst -v f=0.1 sources.txt focus/traces_axis.csv
judge "focus, along the axis: error $(word rms 2) (bound 1.5e-2)" \
    below "$(word rms 2)" 1.5e-2
awk '/^receiver/ && $4 > e { e = $4; i = $2 } /^receiver/ && $6 > c { c = $6; k = $2 }
    END { print i, k, e, c }' answer.txt >peaks.txt
read -r place found gain computed <peaks.txt
judge "the largest value is at receiver $found, by the Rayleigh sum at $place" \
    [ "$found" = "$place" ]
judge "it is $computed, by the Rayleigh sum $gain (1 %)" \
    awk -v a="$gain" -v b="$computed" 'BEGIN { exit !((a - b) ^ 2 < 1e-4 * a ^ 2) }'
exact -v box='120 120 120' -v from='0 0 60' -v to='30 0 60' -v c=1.5 -v rho=1 \
    -v signal=burst -v f=0.1 sources.txt focus/traces_across.csv
judge "focus, across: error $(word rms 2) (bound 1.5e-2)" \
    below "$(word rms 2)" 1.5e-2

# ---- a bowl ----
# Maps keep the dispersion of one term in time, 14 points per shortest wavelength for 1e-1 over ten
# (here 5.3, over six of the burst's own length, 8 points): 2e-2 on the axis; the peak is flat.
run array output.directory=array "$(device_option "${HTWAVE_DEVICE:-auto}")"
if have_modules h5py numpy; then
    python3 "$here/bowl.py" array/map_focus.h5 >answer.txt
    judge "bowl: along the axis maps err by $(word axis 2) (bound 2e-2)" below "$(word axis 2)" 2e-2
    judge "bowl: the peak by $(word peak 2) (bound 5e-3)" below "$(word peak 2)" 5e-3
    judge "bowl: its place by $(word place 2) spacings (bound 1)" below "$(word place 2)" 1.01
    judge "bowl: the time there by $(word time 2) of a period (bound 0.1)" \
        below "$(word time 2)" 0.1
else
    skip 'bowl: no python3 with h5py and numpy is here'
fi

# ---- free space ----
# At 5.2 points per shortest wavelength the grid errs by 1e-3 over six wavelengths of
# the peak, here over 1.6 at most; the sincs at receivers by up to 1.3e-3, the source
# is on a point; layers of 8 cells reflect -65 dB or less: 2.2e-3. Walls in their
# place: 0.5.
echo '0 0 0 0.006' >sources.txt
run freespace output.directory=free
exact -v box='1e5 1e5 1e5' -v from='0.41 0.23 0.37' -v to='1.37 1.18 0.94' \
    -v c=343 -v rho=1.2 -v signal=ricker -v f=260 sources.txt \
    free/traces_line.csv
judge "free space: error $(word rms 2) (bound 2.2e-3)" below "$(word rms 2)" 2.2e-3

# ---- a shot ----
# At 5.2 points per shortest wavelength: 1e-2 of the grid over 20 wavelengths, and
# as much of the medium, whose layers are thinner than a cell.
if [ -r "$data" ]; then
    for n in 1 2; do
        run marmousi_shot medium.c="$data" output.directory=shot$n \
            'output.traces=[]' "grid.cells=[$((160 * n)),$((80 * n))]" \
            sources.1.frequency=3 'sources.1.position=[6,0.1]' \
            'receivers.1.from=[4.005,0.1]' 'receivers.1.to=[7.995,0.1]' \
            receivers.1.count=50 receivers.1.every=0.01
    done
    "$htwave" compare shot1/traces.h5 shot2/traces.h5 --eps 1 --json >answer.json
    difference=$(sed -n 's/.*"max_relative": \([-+0-9.e]*\).*/\1/p' answer.json)
    judge "shot: differs from half the spacing by $difference (bound 2e-2)" \
        below "$difference" 2e-2
else
    skip 'marmousi_shot: no HTWAVE_TEST_DATA'
fi
end config/experiments
