#!/bin/sh
# The scripts of bench/ by their --quick cases: files, numbers, what is refused.
# What they find is judged where it is exact: errors that fall, rates times times.
set -u
. "$(dirname "$0")/common.sh"
bench=$(cd "$(dirname "$0")/../.." && pwd)/bench
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
elif ! have_modules numpy h5py; then
    skip 'no numpy and h5py are here'
fi
if [ $skipped -gt 0 ]; then
    end config/laboratory
    exit
fi
export HTWAVE="$htwave" XDG_CACHE_HOME="$PWD/home"
where="--device ${HTWAVE_DEVICE:-cpu} --backend ${HTWAVE_BACKEND:-auto}"

# script NAME ARGUMENT...: runs it into the folder NAME
script() {
    name=$1
    shift
    # shellcheck disable=SC2086 # the flags are words
    forked table.txt message.txt "$bench/$name.py" $where --out "$name" "$@"
    code=$?
    [ $code = 0 ] || sed 's/^/    | /' message.txt
    judge "$name.py: exit code $code" [ $code = 0 ]
    judge "$name.py: the table is the file" cmp -s table.txt "$name/$name.md"
    forked help.txt help.txt "$bench/$name.py" --help
    judge "$name.py --help" grep -q -e --quick help.txt
}

# errors NAME COLUMN VALUE...: "points:error ..." of rows of media.csv
script media --quick --orders 2 --schemes leapfrog
errors=$(awk -F, '$2 == "fd" && $3 == 8 && $4 == 2 && $7 == 4 { e[$5] = $8 }
    END { print e["auto"], e["box"], e["point"] }' media/media.csv)
judge "media.py: errors of fit, box, points: $errors" awk -v e="$errors" \
    'BEGIN { split(e, x, " "); exit !(x[1] > 0 && x[1] < x[2] &&
    2 * x[2] < x[3]) }'
judge 'media.py: leapfrog is refused' \
    grep -q '^| leapfrog, N = 2 |.* refused |$' table.txt
judge 'media.py: a picture' [ ! -e media/media.csv -o -s media/media_rough.png ]
cat >own.cfg <<'CFG'
system = "acoustic";
grid = { cells = [24, 11]; upper = [12.0, 6.0]; };
time = { end = 3.0; };
initial = { type = "gaussian"; centre = [5.9, 2.1]; width = 1.2; };
CFG
forked table.txt message.txt "$bench/media.py" --media own.cfg --out own
code=$?
judge "media.py, odd cells: $(tail -n 1 message.txt)" \
    [ $code = 2 -a "$(grep -c 'own.cfg: grid.cells' message.txt)" = 1 ]
script absorbing --quick
# layers of 10 and 8 cells, verified on the way
found=$(awk -F, 'NR > 1 && $4 != "walls" { n++; if ($15 > e) e = $15
    if ($15 <= 0 || $14 <= 0) bad++ }
    END { print n, NR - 1 - n, e, bad + 0 }' absorbing/absorbing.csv)
judge "absorbing.py: rows, walls, energy left, bad: $found (2, 1, 0.017, 0)" \
    awk -v f="$found" 'BEGIN { split(f, x, " ")
    exit !(x[1] == 2 && x[2] == 1 && x[3] < 0.017 && x[4] == 0) }'
# effective rate x time = cells inside; times over that of the walls
off=$(awk -F, 'NR > 1 { if ($4 == "walls") w = $9; d = $9 * $11 / $7 / 1e3 - 1
    if (d < 0) d = -d; r = $9 / w / $12 - 1; if (r < 0) r = -r
    if (d > m) m = d; if (r > m) m = r } END { print m + 0 }' \
    absorbing/absorbing.csv)
judge "absorbing.py: rates and ratios are those of the times, off by $off (1e-5)" \
    below "$off" 1e-5

script accuracy --quick --precisions single
judge 'accuracy.py: rows of all methods' [ "$(grep -c \
    -e '^| wave, leapfrog | ' -e '^| fd, [12] terms* | ' -e '^| cheapest | ' \
    -e '^| wave, leapfrog, N = 4 | ' -e '^| fd, 2 terms, order 4 | ' \
    table.txt)" = 12 ]
# "(1,1)" has commas: direction;cells,grid,cfl,error,expected,seconds
sed -n 's/^wave,leapfrog,4,0,single,[^,]*,10,"(\(.*\))",/\1;/p' \
    accuracy/accuracy.csv >runs.txt
# Along the axis the expected error is exact, of these data; above rounding
off=$(sed -n 's/^1,0[,0]*;//p' runs.txt | awk -F, '
    $5 != "" && $4 > 1e-4 && $4 < 0.1 { r = $4 / $5
    if (r < 1) r = 1 / r; if (r > m) m = r; n++ } END { print m }')
judge "accuracy.py: errors along the axis are off the expected by $off (3)" \
    below "$off" 3
# The least seconds of a grid whose runs reach 1e-2, of the file and of the table
found=$(sed 's/.*;//' runs.txt | awk -F, '{ if ($4 > e[$6]) e[$6] = $4 }
    END { for (s in e) if (e[s] <= 1e-2 && (!m || s + 0 < m)) m = s + 0
          print m }')
shown=$(sed -n '/^After 10 /s/^//;/^After 10 /,$s/^| wave, leapfrog | \([^\,]*\).*/\1/p' \
    table.txt | head -n 1)
judge "accuracy.py: 1e-2 costs $found s, $shown in the table" \
    [ "$(printf %.2g "$found")" = "$shown" ]

# shellcheck disable=SC2086
forked table.txt message.txt "$bench/figures.py" --quick interpolation q table1 $where --out figures
code=$?
judge "figures.py: exit code $code" [ $code = 0 ]
found=$(awk -F'|' 'NR > 2 && $10 > 0 && $11 > 0 { n[$2]++ }
    END { print (n[" interpolation "] >= 3) " " (n[" q "] >= 2) }' table.txt)
judge "figures.py: kernels of both, $found" [ "$found" = '1 1' ]
judge 'figures.py: the paper beside table 1' grep -q '^| monolithic | [0-9.e+]* | - | - |$' table.txt
judge 'figures.py: pictures' [ -s figures/interpolation.png -a -s figures/q.png ]

# ---- scaling.py --model: by hand, laws, machine files ----

machines=$bench/../params/machines
cat >cube.cfg <<'CFG'
system = "acoustic";
grid = { cells = [64, 64, 96]; order = 2; };
time = { end = 0.5; scheme = "taylor"; };
CFG
cat >plain.cfg <<'CFG'
name = "plain";
device = { memory = 1000.0; copy = 4.0; single = 1.0; double = 1.0;
    launch = 0.0; boundary = 1.0; per_node = 4; };
links = { bandwidth = 1.0; latency = 0.0; staged = false; };
host = { copy = 1.0; };
network = { bandwidth = 1.0; latency = 0.0; staged = false; };
CFG
# predicts ARGUMENT...: of cube.cfg, to model/model.json
predicts() {
    rm -rf model
    forked table.txt message.txt "$bench/scaling.py" --out model --model cube.cfg "$@"
}
# model EXPRESSION: true of the rows in strong and weak and of what is found, all
cat >model.py <<'PY'
import json, sys
found = json.load(open("model/model.json"))
strong, weak = found["strong"], found["weak"]
def near(*pairs):
    return all(abs(x - y) <= 1e-9 * abs(y) for x, y in zip(pairs[::2], pairs[1::2]))
sys.exit(not eval("(" + sys.argv[1] + ")"))
PY
model() { forked said.txt said.txt model.py "$1"; }
small='grid.cells=[10,10,20] grid.order=1'
# At 1e8 cell half-steps/s one rank takes 40 us for 2 x 20 planes, 1 us each. Two
# ranks with 10 planes: a half step has 9 us of interior, 1 of boundary; 100 nodes x
# 8 coefficients x 4 fields x 4 bytes = 12 800 bytes leave and as many come, read and
# written: 51 200 / 4e9 = 12.8 us; 12.8 us of travel, of which 9 are hidden. Weak: 19
# of 20 planes hide it all.
# shellcheck disable=SC2086 # the keys are words
predicts $small --machine plain.cfg --rate 1e8 --gpus 2
judge "model, by hand: $(grep '^| 2' table.txt | head -n 1)" model 'near(
    strong[0]["step_s"], 5.32e-5, strong[0]["exposed_s"], 7.6e-6,
    weak[0]["step_s"], 6.56e-5, strong[0]["efficiency"], 20 / 53.2,
    found["messages"]["dg_bytes_per_step"], 10 * 100 * 16 * 16) and
    found["rate_from"] == "given"'
# A cycle of one step: 4 planes and 4, one more computed twice, two leave last; 12 800
# bytes to either side, 2 launches of 3 us for them and as many each to pack and unpack
sed 's/launch = 0/launch = 3/; s/per_node = 4/per_node = 1/' plain.cfg >launch.cfg
# shellcheck disable=SC2086
predicts $small --machine launch.cfg --rate 1e8 --gpus 5 parallel.halo_depth=2
judge "model, depth 2: $(grep '^| 5' table.txt | head -n 1)" model 'near(
    strong[0]["interior_s"], 7e-6 + 6e-6, strong[0]["boundary_s"], 2e-6 + 6e-6,
    strong[0]["pack_s"], 2 * 12.8e-6 + 12e-6, strong[0]["exposed_s"], 23.6e-6)'
# Two passes of order 4: 8 planes of 10, 2 at either end leave first: 2 x 100 points
# x 4 bytes to either side
predicts 'grid.cells=[10,10,20]' grid.order=4 'time.scheme="fd"' time.stages=2 \
    --machine plain.cfg --rate 1e8 --gpus 2
judge "model, fd: $(grep '^| 2' table.txt | head -n 1)" model 'near(
    strong[0]["interior_s"], 12e-6, strong[0]["boundary_s"], 8e-6,
    strong[0]["pack_s"], 3.2e-6, strong[0]["transfer_s"], 3.2e-6,
    strong[0]["exposed_s"] + 1, 1) and "dg_per_step" not in found["messages"]'
for machine in "$machines"/*.cfg; do
    predicts --machine "$machine"
    judge "model, $(basename "$machine"): rows, efficiencies, sums, falling" model '
    (len(strong), len(weak)) == (7, 13) and found["rate_from"][0] == "a" and
    all(r["efficiency"] <= 1 and near(r["step_s"], r["interior_s"] + r["boundary_s"] +
        r["pack_s"] + r["exposed_s"]) for r in strong + weak) and
    all(a[key] >= b[key] for a, b in zip(strong, strong[1:])
         for key in ("interior_s", "memory_bytes", "efficiency"))'
done
# refuses WHAT PATTERN SED: a machine's file changed by it
refuses() {
    sed "$3" "$machines/h200-nvlink.cfg" >broken.cfg
    predicts --machine broken.cfg
    code=$?
    judge "model, $1: $(tail -n 1 message.txt)" \
        [ $code = 2 -a "$(grep -c -e "$2" message.txt)" = 1 ]
}
refuses 'unknown key' 'kopy: unknown key; did you mean device.copy? (broken.cfg:8)' \
    's/ copy = 4284/ kopy = 4284/'
refuses 'a missing key' 'host.copy: not set' '/^host/d'
refuses 'wrong syntax' 'wrong syntax (broken.cfg:20)' 's/^links = {/links = ;/'
predicts 'grid.cells=[8,8]'
judge "model, two dimensions: $(tail -n 1 message.txt)" grep -q 'three dim' message.txt
timeout 20 "$htwave" check cube.cfg --machine plain.cfg 2>message.txt
judge "check --machine: $(cat message.txt)" grep -q 'bench/scaling.py --model' message.txt
end config/laboratory
