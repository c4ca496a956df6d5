#!/bin/sh
# Pictures of several slices, the model's, and the scripts that draw snapshots,
# the model and films: names, what is refused and in which words.
set -u
. "$(dirname "$0")/common.sh"
tools=$(dirname "$plot")
cd "$scratch" || exit 1

if [ $drawn = false ]; then
    skip 'slices: this htwave was built without cairo'
    end config/pictures
    exit
fi

cat >box.cfg <<'CFG'
system = "acoustic";
grid = { cells = [10, 8, 6]; upper = [1.0, 0.8, 0.6]; };
time = { end = 4.0; scheme = "fd"; };
medium = { type = "layers"; axis = "x3"; interfaces = [0.3]; c = [1.0, 2.0]; };
sources = ( { position = [0.31, 0.4, 0.25]; frequency = 0.7; } );
receivers = (
    { type = "line"; from = [0.1, 0.1, 0.1]; to = [0.9, 0.7, 0.5]; count = 5; }
);
output = { directory = "out"; every = 2.0; units = { length = "km"; };
    picture = { every = 2.0; scale = "run"; pixels = 64; slices = (
        { name = "top"; position = 0.2; },
        { plane = "x2"; range = 0.5; }
    ); };
};
CFG

# refused WHAT "PATTERN|PATTERN" OVERRIDE...: exit code 2 by run
refused() {
    what=$1 patterns=$2
    shift 2
    "$htwave" run box.cfg --quiet "$device" "$@" 2>message.txt
    code=$? missing=
    IFS='|'
    for pattern in $patterns; do
        grep -qF -e "$pattern" message.txt || missing="$missing $pattern"
    done
    unset IFS
    judge "$what: exit code $code, $(tail -n 1 message.txt)" \
        [ $code = 2 -a -z "$missing" -a ! -e out ]
}
refused 'two slices of a name' \
    'output.picture.slices.2.name|slices.1 has|names must differ' \
    output.picture.slices.2.name=top
refused 'a name with a slash' 'output.picture.slices.1.name|letters' \
    output.picture.slices.1.name=a/b
refused 'a slice beside slices' 'output.picture.plane|slices is given too' \
    output.picture.plane=x1
refused 'an unknown field' 'output.picture.slices.2.field|no field "q"' \
    output.picture.slices.2.field=q
refused 'a position outside the box' 'output.picture.slices.1.position = 1.5' \
    output.picture.slices.1.position=1.5
refused 'an unknown scale' 'output.picture.scale|picture' \
    output.picture.scale=all

"$htwave" run box.cfg --quiet "$device"
(cd out && echo wave_*) >names.txt
judge "slices: $(cat names.txt)" grep -qx 'wave_slice-2_0000.png wave_slice-2_0001.png wave_slice-2_0002.png wave_top_0000.png wave_top_0001.png wave_top_0002.png' names.txt
"$htwave" run out/input.cfg --quiet "$device" output.directory=again
judge 'the resolved input draws the same' \
    cmp -s out/wave_top_0002.png again/wave_top_0002.png
: >again/wave_mine.png
: >again/wave_7.png
"$htwave" run box.cfg --quiet "$device" output.directory=again
judge "a later run moves pictures of slices, not the user's: $(echo again/run-001/wave*)" \
    [ -e again/wave_mine.png -a -e again/wave_7.png \
    -a -e again/run-001/wave_top_0000.png -a "$(ls again/run-001/wave* | wc -l)" = 6 ]

"$htwave" check box.cfg "$device" --model model --json >answer.json
judge "check --model: $(ls model | tr '\n' ' ')" [ "$(ls model | tr '\n' ' ')" = \
    'model.h5 model_slice-2.png model_top.png ' ]
"$htwave" check box.cfg "$device" --model model/model.h5/x >answer.txt 2>message.txt
judge "no directory: $(cat message.txt)" grep -q model.h5 message.txt

# ---- scripts ----
if ! have_modules h5py matplotlib PIL; then
    skip 'scripts: no python3 with h5py, matplotlib and pillow is here'
    end config/pictures
    exit
fi
export MPLCONFIGDIR="$scratch"

# draws "FILE FILE" PATTERN SCRIPT ARGUMENT...: writes the files and says so
draws() {
    files=$1 pattern=$2 script=$3
    shift 3
    rm -rf plots
    forked answer.txt answer.txt "$tools/$script" "$@"
    code=$?
    judge "$script: exit code $code, $(ls plots | tr '\n' ' ')" \
        [ $code = 0 -a "$(ls plots | tr '\n' ' ')" = "$files " ]
    judge "$script says: $(head -n 1 answer.txt)" grep -q "$pattern" answer.txt
}
draws 'slice_p_000001.png slice_p_000002.png' \
    '^fields_000002.h5: p at t = 4, x3 = 0.1 km: largest' snapshots.py \
    out/fields_000001.h5 out/fields_000002.h5 --at 0.08 \
    --model model/model.h5 --out plots
draws 'medium_c.png medium_rho.png' '^c, x1 = 0.5 km: 1 to 2; 1 source, 5 receivers' \
    model.py model/model.h5 --axis x1 --out plots
draws 'a.gif' ': 3 pictures' film.py out --slice top --out plots/a.gif
"$htwave" run box.cfg --quiet "$device" output.directory=fine \
    'grid.cells=[20,16,12]' output.pictures=false receivers.1.every=0.05
"$htwave" run box.cfg --quiet "$device" output.directory=coarse \
    output.pictures=false receivers.1.every=0.05
draws 'difference_spectrum_receivers-1_p.png difference_traces_receivers-1_p.png' \
    '^receivers-1: p: differs by 0\.0' traces.py coarse/traces.h5 \
    --minus fine/traces.h5 --out plots
# ten pictures unless the input says how many; of a plane a gather of each line
"$htwave" run box.cfg --quiet "$device" output.directory=ten output.picture.every=auto \
    output.down=x3 'receivers=({type="plane";from=[0.1,0.1,0.1];to=[0.9,0.1,0.1];
                                side=[0.1,0.7,0.1];count=5;count2=4;every=0.05;})'
judge "$(find ten -name 'wave_top*' | wc -l) pictures of ten" \
    [ "$(find ten -name 'wave_top_000[0-9].png' | wc -l)$(find ten -name 'wave*' | wc -l)" = 1020 ]
draws 'gather_receivers-1_p.png spectrum_receivers-1_p.png' '^receivers-1: p: 20 traces of' \
    traces.py ten/traces.h5 --out plots
# depth: away from a free side, not from other mirrors of negative images
echo "output = { pictures = false; };" >side.cfg
for side in elastic:free elastic:antisymmetric maxwell:magnetic; do
    "$htwave" run side.cfg --quiet "$device" system="${side%:*}" grid.cells=[20,16] time.end=0.02 \
        boundary.x2="${side#*:}" time.scheme=fd grid.order=4 \
        output.directory="side_${side#*:}"
done
PYTHONDONTWRITEBYTECODE=1 python3 - "$tools" "${tools%/*}" >answer.txt 2>&1 <<'PY'
import re, sys
sys.path.insert(0, sys.argv[1])
import h5py
import numpy as np
import snapshots, traces
from plot import SIGNED
with open(sys.argv[2] + "/src/io/plot.c", encoding="utf-8") as file:
    table = re.search(r"anchors\[LAST \+ 1\] = \{(.*?)\};", file.read(), re.S).group(1)
assert SIGNED == tuple(tuple(int(part, 16) for part in c) for c in
                       re.findall(r"0x(..)(..)(..)", table)), "colours"
with h5py.File("ten/traces.h5") as file:
    at = file["receivers-1/position"][:]
lines = traces.lines_of(at)
assert [at[line].shape for line in lines] == [(5, 3)] * 4, lines
along, name = traces.across_of(at[lines[1]])
assert name == "x1 (km)" or name == "x1" and np.allclose(along, np.linspace(0.1, 0.9, 5)), name
assert traces.lines_of(at[:7]) == [slice(None)]
with h5py.File("ten/fields_000001.h5") as file:
    assert snapshots.Grid(file).down == "x3"
down = {"free": "x2", "antisymmetric": None, "magnetic": None}
for side, axis in down.items():
    with h5py.File("side_%s/fields_000000.h5" % side) as file:
        assert file.attrs.get("down") == (axis.encode() if axis else None), side
print("fine")
PY
judge "one table of colours, lines of a plane: $(tail -n 1 answer.txt)" grep -qx fine answer.txt
cp fine/traces.h5 same.h5
forked answer.txt answer.txt "$tools/traces.py" same.h5 --minus fine/traces.h5 --out plots
judge "a run minus itself: $(head -n 1 answer.txt)" \
    grep -q 'differs by 0 (root mean square), 0 (largest)' answer.txt

# The numbers: a value of a file that is known, at its place.
python3 - <<'PY'
import h5py, numpy
with h5py.File("made.h5", "w") as file:
    file.attrs["lower"] = [1.0, 2.0, 3.0]
    file.attrs["spacing"] = [0.5, 0.25, 2.0]
    file.attrs["time"] = 0.75
    p = numpy.zeros((3, 4, 5))
    p[1, 2, 3] = -7
    p[2, 0, 1] = 5
    file["p"] = p
PY
draws 'slice_p_made.png' 'largest -7 at x1 = 2.5, x2 = 2.5' snapshots.py \
    made.h5 --out plots
draws 'slice_p_made.png' 'x1 = 2.5: largest -7 at x2 = 2.5, x3 = 5$' \
    snapshots.py made.h5 --axis x1 --at 2.4 --down --out plots

# A gradient whose model file has x2 fastest.
python3 - <<'PY'
import h5py, numpy
with h5py.File("gradient.h5", "w") as file:
    file.attrs.update(lower=[0.0, 0.0], spacing=[1.0, 1.0], unit_length="km",
                      model_axes="x2 x1", model_origin=[1.0, 2.0],
                      model_spacing=[0.5, 0.25])
    g, light = numpy.zeros((5, 4)), numpy.ones((5, 4))
    g[3, 1], g[1, 2], light[1, 2] = -7, 5, 0.09
    file["gradient/c"], file["illumination/c"] = g, light
    file["misfit"] = [1.0, 2.5]
PY
draws 'gradient_c.png' '^misfit 3.5, 2 shots' image.py gradient.h5 --out plots
judge "$(sed -n 2p answer.txt)" grep -q 'c: largest -7 at x1 = 2.75, x2 = 1.5$' answer.txt
draws 'gradient_c.png' 'negative: largest -50 at x1 = 2.25, x2 = 2$' image.py gradient.h5 \
    --illumination --negative --out plots
# 7 (2/0.5^2 + 2/0.25^2)
draws 'gradient_c.png' 'negative Laplacian: largest -280 at x1 = 2.75, x2 = 1.5$' image.py \
    gradient.h5 --laplacian --save image.h5 --out plots
judge 'the image has the order of the model file' python3 -c '
import h5py
c = h5py.File("image.h5")["c"]
assert c.shape == (5, 4) and c[3, 1] == -280'

python3 -c 'import h5py; h5py.File("gradient.h5", "a").move("gradient", "cross")'
draws 'cross_c.png' '^misfit 3.5, 2 shots' image.py gradient.h5 --out plots

# ---- the manual ----
"$htwave" run "$tools/../params/demo.cfg" --quiet "$device" \
    'grid.cells=[10,8]' output.pictures=false output.directory=demo
awk '/^```/ { if (block ~ /savefig/) printf "%s", block; block = ""; next } { block = block $0 "\n" }' \
    "$tools/../docs/usage.md" | sed 's/"out\//"demo\//' >snapshot.py
MPLBACKEND=Agg python3 snapshot.py
judge "usage.md: $(wc -l <snapshot.py) lines draw a snapshot" [ -s p.png ]

# fails SCRIPT PATTERN ARGUMENT...: one line
fails() {
    script=$1 pattern=$2
    shift 2
    forked answer.txt message.txt "$tools/$script" "$@"
    code=$?
    judge "$script: exit code $code, $(cat message.txt)" [ $code = 1 \
        -a "$(wc -l <message.txt)" = 1 -a \
        "$(grep -c "^$script: .*$pattern" message.txt)" = 1 ]
}
fails snapshots.py 'no such file' none.h5
fails snapshots.py 'out: is a folder' out
fails model.py 'has no vs: it has c, rho' model/model.h5 --parameter vs
fails image.py 'has no cross/rho: it has c' gradient.h5 --gradient rho
fails film.py 'a film is .gif or .mp4' out --slice top --out film.avi
fails traces.py 'other times or positions' coarse/traces.h5 \
    --minus out/traces.h5
end config/pictures
