#!/bin/sh
# The scripts of bench/ by their --quick cases: files, numbers, what is refused.
# What they find is judged where it is exact: errors that fall, rates times times.
set -u
. "$(dirname "$0")/common.sh"
bench=$(cd "$(dirname "$0")/../.." && pwd)/bench
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
elif ! python3 -c 'import numpy, h5py' 2>/dev/null; then
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
    timeout 200 python3 "$bench/$name.py" $where --out "$name" "$@" >table.txt \
        2>message.txt
    code=$?
    [ $code = 0 ] || sed 's/^/    | /' message.txt
    judge "$name.py: exit code $code" [ $code = 0 ]
    judge "$name.py: the table is the file" cmp -s table.txt "$name/$name.md"
    timeout 20 "$htwave" bench "$name" 2>message.txt
    code=$?
    judge "bench $name: $(cat message.txt)" \
        [ $code = 2 -a "$(grep -c "bench/$name.py" message.txt)" = 1 ]
    help=$(python3 "$bench/$name.py" --help)
    judge "$name.py --help" [ -z "${help##*--quick*}" ]
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
timeout 60 python3 "$bench/media.py" --media own.cfg --out own >table.txt \
    2>message.txt
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
timeout 200 python3 "$bench/figures.py" --quick interpolation q $where \
    --out figures >table.txt 2>message.txt
code=$?
judge "figures.py: exit code $code" [ $code = 0 ]
found=$(awk -F'|' 'NR > 2 && $10 > 0 && $11 > 0 { n[$2]++ }
    END { print (n[" interpolation "] >= 4) " " (n[" q "] >= 2) }' table.txt)
judge "figures.py: kernels of both, $found" [ "$found" = '1 1' ]
judge 'figures.py: pictures' [ -s figures/interpolation.png -a -s figures/q.png ]
end config/laboratory
