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
timeout 300 "$htwave" bench rates stages $tiny --systems acoustic \
    --variants propagator,monolithic,two-rolled --schemes taylor \
    --precisions single --out out --json >answer.json 2>message.txt
code=$?
judge "bench: exit code $code" [ $code = 0 ]
sed 's/^/    | /' message.txt
judge 'bench: JSON on standard output' valid_json answer.json
judge 'bench: the same in bench.json' cmp -s answer.json out/bench.json
plots 'bench: plots' out/bench.csv roofline.png bars.png limit.png stages.png \
    stages_bandwidth.png
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
timeout 300 "$htwave" bench table1 interpolation q $tiny --cells 8 \
    --orders 1 --variants monolithic,two-rolled --out paper >table.txt \
    2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "bench table1 interpolation q: exit code $code" [ $code = 0 ]
judge 'bench table1: the paper beside it' grep -q '2.09.*13.77.*36.17' table.txt
plots 'bench interpolation, q: plots' paper/bench.csv interpolation.png \
    interpolation_groups.png q.png
judge 'bench q: time to cross a cell' grep -q 'ns to cross' table.txt
# shellcheck disable=SC2086
timeout 300 "$htwave" bench ${tiny% --quiet} --seconds 0 --out none \
    >/dev/null 2>message.txt
judge 'bench --seconds 0: nothing timed, said so' \
    grep -q '"left_out": [1-9]' none/bench.json
judge "bench: how to draw it: $(grep plot.py message.txt)" \
    grep -q '^results in none; tools/plot.py none/\*.csv draws them' message.txt

# ---- bench fd ----
timeout 300 "$htwave" bench fd --device "$select" --quiet --cells 24 --out fd \
    >table.txt 2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "bench fd: exit code $code" [ $code = 0 ]
# three orders, density uniform or not, one pass or two; both passes in one
# kernel besides, where the device takes it
rates=$(awk '/^fd-/ && !/^fd-fused/ && $6 > 0 && $7 > 0 && $8 > 0' table.txt |
    wc -l)
judge "bench fd: $rates rates above 0 (12)" [ "$rates" = 12 ]

# ---- bench accuracy ----
# N = 4 and finite differences of order 4, both precisions
timeout 300 "$htwave" bench accuracy --device "$select" --quiet --systems wave \
    --schemes leapfrog,fd --orders 4 --seconds 240 --out accuracy >table.txt \
    2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "bench accuracy: exit code $code" [ $code = 0 ]
judge 'bench accuracy: the tables are the file' \
    [ "$(tail -n "$(wc -l <accuracy/accuracy.md)" table.txt)" = \
    "$(cat accuracy/accuracy.md)" ]
judge 'bench accuracy: two tables of schemes, two of orders, to 1e-8' [ "$(grep -c \
    -e '^| scheme | 1e-2 | .* 1e-8 |$' -e '^| each order | 1e-2 |' \
    table.txt)" = 4 ]
judge 'bench accuracy: rows of all methods' [ "$(grep -c \
    -e '^| wave, leapfrog | ' -e '^| fd, [12] terms* | ' -e '^| cheapest | ' \
    -e '^| wave, leapfrog, N = 4 | ' -e '^| fd, 2 terms, order 4 | ' \
    table.txt)" = 12 ]
plots 'bench accuracy: plots' accuracy/accuracy.csv accuracy.png \
    accuracy_wave_leapfrog.png accuracy_fd_1_term.png accuracy_fd_2_terms.png
# "(1,1,0)" has commas; N, precision, direction, then as in accuracy.csv
sed -n 's/^wave,leapfrog,\([0-9]\),0,\([a-z]*\),[^,]*,\([0-9]*\),"(\(.*\))",/\1\2\4;\3,/p' \
    accuracy/accuracy.csv >runs.txt
kinds=$(cut -d';' -f1 runs.txt | sort -u | wc -l)
judge "bench accuracy: $kinds sets of N, precision, direction (6)" \
    [ "$kinds" = 6 ]
# Along the axis the expected error is exact, of these data; above rounding
off=$(sed -n 's/^4double1,0[,0]*;//p' runs.txt | awk -F, '
    $6 != "" && $5 > 1e-9 && $5 < 0.1 { r = $5 / $6
    if (r < 1) r = 1 / r; if (r > m) m = r; n++ } END { print (n > 3 ? m : "") }')
judge "bench accuracy: errors along the axis are off the expected by $off (3)" \
    below "$off" 3
# The least seconds of a grid whose runs reach 1e-3 after 100 wavelengths in all
# directions, of the file and of the table
found=$(sed -n 's/.*;100,//p' runs.txt | awk -F, '
    { if ($4 > e[$6]) e[$6] = $4 }
    END { for (s in e) if (e[s] <= 1e-3 && (!m || s + 0 < m)) m = s + 0
          print m }')
shown=$(sed -n '/^After 100/,/^After 10 /s/^| wave, leapfrog | [^|]*| \([^\\,]*\).*/\1/p' \
    table.txt | head -n 1)
judge "bench accuracy: 1e-3 costs $found s, $shown in the table" \
    [ "$(printf %.2g "$found")" = "$shown" ]

# ---- bench media ----
timeout 300 "$htwave" bench media --device "$select" --quiet --media rough \
    --dims 1 --orders 2 --out media >table.txt 2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "bench media: exit code $code" [ $code = 0 ]
judge 'bench media: the table is the file' cmp -s table.txt media/media.md
judge 'bench media: leapfrog is refused' \
    grep -q '^| leapfrog, N = 2 |.* refused |$' table.txt
judge 'bench media: all grids of the fit' \
    grep -q '^| fd, order 8, 2 terms | [0-9].* | [0-9][^|]*, 8 |$' table.txt
errors=$(awk -F, '$1 == "rough" && $2 == "fd" && $3 == 8 && $4 == 2 &&
    $7 == 8 { e[$5] = $8 } END { print e["auto"], e["box"], e["point"] }' \
    media/media.csv)
judge "bench media: errors of fit, box, points: $errors" awk -v e="$errors" \
    'BEGIN { split(e, x, " "); exit !(x[1] > 0 && 2 * x[1] < x[2] &&
    2 * x[2] < x[3]) }'
plots 'bench media: plots' media/media.csv media_rough.png
# What it wrote runs by itself.
timeout 100 "$htwave" run media/media-rough.cfg --quiet grid.cells=[96] \
    grid.order=8 time.scheme=fd output.directory=again \
    "device.select=$select" >/dev/null 2>message.txt
judge "bench media: its input runs, exit code $?" [ -e again/summary.json ]

# A medium of the user: samples beside the file that jump at x2 = 3.1, walls along
# one axis. What the file says of its own run does not matter.
mkdir models
for sample in '\0\0\0200\077' '\0\0\0\0100'; do # 1 and 2
    i=0
    while [ $((i += 1)) -le 144 ]; do printf '%b' "$sample"; done
done >models/own.f32
cat >models/own.cfg <<'CFG'
system = "acoustic";
grid = { cells = [24, 12]; upper = [12.0, 6.0]; order = 2; };
time = { end = 3.0; scheme = "taylor"; step = 0.001; stages = 7; };
boundary = { x2 = ["free", "rigid"]; };
medium = { type = "file"; c = "own.f32"; shape = [24, 12]; fit = "point";
           spacing = [0.5, 0.5]; origin = [0.25, 0.35]; };
initial = { type = "gaussian"; centre = [5.9, 2.1]; width = 1.2; };
CFG
timeout 300 "$htwave" bench media --device "$select" --quiet \
    --media models/own.cfg --orders 1 --out own >table.txt 2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "bench media of a file: exit code $code" [ $code = 0 ]
judge 'bench media of a file: the table says in what it counts' grep -q \
    '^\*\*own medium\*\*, 2-D.* times the file.s cells, \[24, 12\],' table.txt
judge 'bench media of a file: a grid too small for order 16' \
    grep -q '^| fd, order 16, 2 terms .*; 1 grid refused |$' table.txt
errors_of() { # ORDER FIT: "multiple:error ..." of two terms
    awk -F, -v order="$1" -v fit="$2" '$1 == "own" && $2 == "fd" &&
        $3 == order && $4 == 2 && $5 == fit { printf "%s:%s ", $7, $8 }' \
        own/media.csv
}
fitted=$(errors_of 4 auto) points=$(errors_of 8 point)
judge "bench media of a file: errors fall, $fitted" awk -v e="$fitted" \
    'BEGIN { split(e, x, "[: ]"); exit !(x[1] == 0.5 && x[3] == 1 &&
    x[5] == 1.5 && x[7] == 2 && x[2] < 0.2 && x[4] < x[2] / 1.8 &&
    x[6] < x[4] / 1.5 && x[8] < x[6] && x[8] < x[2] / 10) }'
judge "bench media of a file: errors without a fit, $points" awk \
    -v e="$points" -v f="$fitted" 'BEGIN { split(e, x, "[: ]")
    split(f, y, "[: ]"); exit !(x[7] == 2 && x[8] > 3 * y[8]) }'
hermite=$(awk -F, '$2 == "taylor" { printf "%s ", $7 }' own/media.csv)
judge "bench media of a file: Taylor N = 1 on $hermite" \
    [ "$hermite" = '0.25 0.5 1 ' ]
timeout 100 "$htwave" bench media --device "$select" --media models/own.cfg \
    --seconds 0 --out own >table.txt 2>message.txt
judge 'bench media --seconds 0: nothing is measured, said so' \
    grep -q '^note: [1-9][0-9]* rows left out' message.txt
judge 'bench media --seconds 0: no table' [ ! -s table.txt ]

# ---- bench absorbing ----
timeout 300 "$htwave" bench absorbing --device "$select" --quiet --dims 1 \
    --orders 2 --cells 64 --out absorbing >table.txt 2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "bench absorbing: exit code $code" [ $code = 0 ]
judge 'bench absorbing: the table is the file' \
    cmp -s table.txt absorbing/absorbing.md
# each organisation of fd (three and more) and of Taylor (one and more): layers of
# 10 cells and five thicknesses; walls once for each scheme
found=$(awk -F, 'NR > 1 && $4 != "walls" { if (!seen[$2 $4]++) kinds[$2]++
    n++; if ($15 > e) e = $15; if ($16 > d) d = $16
    if ($15 <= 0 || $14 <= 0) bad++ } END { k = kinds["fd"] + kinds["taylor"]
    print kinds["fd"], kinds["taylor"], n - 6 * k, NR - 1 - n, e, d, bad + 0 }' \
    absorbing/absorbing.csv)
judge "bench absorbing: organisations, rows amiss, walls, energy left, difference, bad: \
$found (3, 1, 0, 2, 0.017, 1, 0)" awk -v f="$found" 'BEGIN { split(f, x, " ")
    exit !(x[1] >= 3 && x[2] >= 1 && x[3] == 0 && x[4] == 2 && x[5] < 0.017 &&
    x[6] <= 1 && x[7] == 0) }'
# effective rate x time = cells inside; times over that of the walls
off=$(awk -F, 'NR > 1 { if ($4 == "walls") w = $9; d = $9 * $11 / $7 / 1e3 - 1
    if (d < 0) d = -d; r = $9 / w / $12 - 1; if (r < 0) r = -r
    if (d > m) m = d; if (r > m) m = r } END { print m + 0 }' \
    absorbing/absorbing.csv)
judge "bench absorbing: rates and ratios are those of the times, off by $off (1e-5)" \
    below "$off" 1e-5
plots 'bench absorbing: plots' absorbing/absorbing.csv absorbing_domain_fd.png \
    absorbing_domain_taylor.png absorbing_thickness_fd.png \
    absorbing_thickness_taylor.png

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
judge 'the cases are listed' [ "$("$htwave" bench --cases | wc -l)" -ge 7 ]
refuses 'unknown case' 'nosuch.*rates.*table1' bench nosuch
refuses 'unknown system' 'systems acustic.*acoustic' bench --systems acustic
refuses 'unknown medium' 'media rugged.*rough' bench media --media rugged \
    --out none
# own WHAT PATTERN SED: the user's file, changed so, is refused by name
own() {
    sed "$3" models/own.cfg >models/wrong.cfg
    refuses "bench media, $1" "$2.*(models/wrong.cfg:[0-9]*)" bench media \
        --media models/wrong.cfg --out none
}
own 'sources' 'sources = .*must be left out' \
    '/^system/a sources = ({type="point"; position=[1.0,2.0]; frequency=1.0;});'
own 'absorbing side' 'boundary.x2 = .*must be periodic or walls' \
    's/"rigid"/"absorbing"/'
own 'odd cells' 'grid.cells = \[24, 11\]: .*even' 's/\[24, 12\]; u/[24, 11]; u/'
own 'random data' 'initial.type = "random".*same on all grids' \
    's/"gaussian"/"random"/'
own 'no data' 'initial.type = "zero".*nothing moves' 's/"gaussian"/"zero"/'
own 'advection' 'system = "advection".*acoustic and wave' \
    's/"acoustic"/"advection"/'
refuses 'bench media, two of one name' 'two media have the name own' \
    bench media --media models/own.cfg,models/own.cfg --out none
refuses 'unknown variant' 'variants fast.*monolithic' bench --variants fast
refuses 'order 9' 'orders 9.*1..8' bench --orders 9
refuses 'odd order of fd' 'orders 3.*2, 4 .. 16' bench absorbing --orders 3 \
    --quiet --out none
refuses 'CSV and JSON' 'choose one' bench --csv --json
refuses 'tune with a negative time' 'at least 0' tune --seconds -1 --orders 1

# ---- tune ----
cat >run.cfg <<'CFG'
system = "advection";
grid = { cells = [64]; order = 1; };
time = { end = 0.05; };
initial = { type = "gaussian"; };
output = { directory = "run"; };
CFG
chosen="device.select=$select device.backend=${HTWAVE_BACKEND:-auto}"
chosen="$chosen device.cache=tuned"
# shellcheck disable=SC2086
timeout 300 "$htwave" tune run.cfg $chosen --seconds 2 --json >tune.json \
    2>message.txt
code=$?
judge "tune: exit code $code" [ $code = 0 ]
judge 'tune: JSON' valid_json tune.json
file=$(ls tuned/tuning-*.txt)
# words for people
# shellcheck disable=SC2086
timeout 300 "$htwave" tune run.cfg $chosen device.cache=words \
    --quiet --seconds 1 >words.txt \
    2>message.txt
judge 'tune: the class in words' grep -q \
    '^advection, 1-D, N = 1, single precision, Taylor with .* stages, ' words.txt
judge 'tune: a head with units' grep -q 'half-steps/s$' words.txt
judge 'tune: where it is kept, and who takes it' \
    [ "$(grep -c -e '^Kept in words/tuning-.*:$' -e '^runs of .* take' \
    words.txt)" = 2 ]
timeout 300 "$htwave" tune --device "$select" --quiet --systems advection \
    --dims 1 --orders 1 --precisions single --cache none --seconds 1 \
    >words.txt 2>message.txt
judge 'tune --cache none: nothing is kept' grep -q '^Not kept: ' words.txt
best=$(sed -n 's/.*], "variant": "\([a-z0-9-]*\)".*/\1/p' tune.json)
judge "tune: its file names the best, $best" grep -q ": $best block=" "$file"

# runs WHAT TUNED NOTES [OPTION]: a run says "(tuned)" or not, and so many
# notes about the file
runs() {
    what=$1 tuned=$2 notes=$3
    shift 3
    # shellcheck disable=SC2086
    timeout 120 "$htwave" run run.cfg $chosen "$@" --json >answer.txt \
        2>message.txt
    code=$?
    got=$(grep -c "tuning file .*tuning-.*is ignored" message.txt)
    if [ $code = 0 ] && grep -q "\"tuned\": $tuned" answer.txt &&
        [ "$got" = "$notes" ]; then
        pass "$what: tuned $tuned, $got note(s) about the file"
    else
        sed 's/^/    | /' message.txt
        fail "$what: exit code $code, $got notes, not tuned $tuned, $notes"
    fi
}
runs 'stored result' true 0
runs 'device.tune = never' false 0 device.tune=never
runs 'other order' false 0 grid.order=2
runs 'nothing open' false 0 device.variant=monolithic device.layout=tensor
cp "$file" good
head -c 200 good >"$file"
runs 'truncated file' false 1
sed 's/rate=/rate=1/' good >"$file"
runs 'changed file' false 1
sed 's/^driver .*/driver 0.0/' good >"$file"
runs 'other driver' false 1
rm "$file" && mkdir "$file"
runs 'a directory in its place' false 1
rmdir "$file"
: >plain
runs 'a file as cache' false 0 device.cache=plain
runs 'device.tune = always' true 0 device.tune=always device.variant=monolithic
judge 'always: a new file' [ -s "$file" ]
judge 'nothing but results is left in the cache' \
    [ "$(ls tuned | grep -vc '\.bin$')" = 1 ]

end config/bench
