#!/bin/sh
# tools/plot.py on tables whose plots are known, and on what it must refuse. That
# it takes what htwave writes is tested with bench and bench scaling.
set -u
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$scratch" || exit 1
export MPLCONFIGDIR="$scratch"

if ! python3 -c 'import matplotlib' 2>/dev/null; then
    skip 'plots: no python3 with matplotlib is here'
    end config/plot
    exit
fi

# ---- numbers ----
python3 - "$plot" "$here/bench/accuracy_h100.csv" >answer.txt 2>&1 <<'PY'
import importlib.util, io, csv, sys
spec = importlib.util.spec_from_file_location("plot", sys.argv[1])
plot = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(plot)

def judge(name, good, *shown):
    print("pass" if good else "FAIL", name, *shown)

# cheapest first; neither a dearer nor a worse point
found = plot.front([(3, 0.1, 2), (1, 1.0, 1), (2, 2.0, 1), (4, 0.1, 1)])
judge("front:", found == [(1, 1.0, 1), (3, 0.1, 2)], found)

columns = plot.SCALING
def row(kind, planes, ranks, ms, **more):
    values = dict.fromkeys(columns, "1")
    values.update(kind=kind, planes=str(planes), ranks=str(ranks), ms=str(ms),
                  **more)
    return values

# weak: the same time is 100 %; strong: half of it; the last row counts
rows = [row("weak", 8, 1, 9), row("weak", 8, 1, 4), row("weak", 16, 2, 5),
        row("weak", 32, 4, 8), row("weak", 16, 2, 4), row("strong", 8, 1, 4),
        row("strong", 8, 2, 4), row("weak", 18, 2, 1), row("weak", 16, 2, 8,
                                                           depth="2")]
lines = list(plot.efficiencies(rows).values())
judge("efficiencies:", lines == [{1: 100, 2: 100, 4: 50}, {1: 100, 2: 50},
                                 {1: 100, 2: 50}], lines)

# README: 3.1e-7 s of acoustic, Taylor, N = 4 for 1e-2, between its points
figures = plot.draw(sys.argv[2])
judge("figures:", sorted(figures) == ["accuracy", "accuracy_acoustic_taylor",
                                      "accuracy_wave_leapfrog"],
      sorted(figures))
ax = figures["accuracy_acoustic_taylor"].axes[0]
names = [line.get_label() for line in ax.lines]
judge("lines:", names[:7] == [f"N = {n}" for n in range(1, 8)]
      and len(names) == 11, names)
x, y = ax.lines[3].get_data()
judge("from large errors to small ones, at rising cost:", len(x) > 5
      and list(x) == sorted(x, reverse=True) and list(y) == sorted(y),
      len(x), "points")
around = [(b, c) for a, b, c in zip(x, x[1:], zip(y, y[1:])) if a >= 0.01 > b]
judge("cost of 1e-2:", len(around) == 1
      and around[0][1][0] <= 3.2e-7 and around[0][1][1] >= 3.0e-7, around)
PY
cat answer.txt
passed=$((passed + $(grep -c '^pass ' answer.txt)))
failed=$((failed + $(grep -c '^FAIL ' answer.txt)))
judge 'numbers: 6 of 6 are judged' [ "$(grep -c '^pass ' answer.txt)" = 6 ]

# ---- files ----
plots 'accuracy' "$here/bench/accuracy_h100.csv" accuracy.png \
    accuracy_acoustic_taylor.png accuracy_wave_leapfrog.png
"$plot" "$here/bench/accuracy_h100.csv" --out vector --format svg >names.txt
judge "SVG: $(tr '\n' ' ' <names.txt)" grep -q '<svg' vector/accuracy.svg
judge '--help' [ "$("$plot" --help | grep -c -e 'bench.csv' -e '--out')" -ge 2 ]

# refused WHAT PATTERN FILE
refused() {
    "$plot" "$3" --out none >answer.txt 2>message.txt
    code=$?
    judge "$1: $(cat message.txt)" [ $code = 1 -a ! -e none \
        -a "$(grep -c "^plot.py: $3: .*$2" message.txt)" = 1 \
        -a "$(wc -l <message.txt)" = 1 ]
}
refused 'no file' 'No such file' nosuch.csv
echo 'a,b,c' >other.csv
refused 'other columns' 'has not the columns' other.csv
cut -d, -f1-9 "$here/bench/accuracy_h100.csv" >cut.csv
refused 'a column less' 'column .* of accuracy.csv is missing' cut.csv
head -n 1 "$here/bench/accuracy_h100.csv" >empty.csv
refused 'no rows' 'no rows' empty.csv
{ cat empty.csv; echo 'wave,leapfrog,3'; } >short.csv
refused 'a row cut short' 'row 1 has not 12 fields' short.csv
{ cat empty.csv; echo 'wave,leapfrog,3,single,v,d,4,many,1,1,3,x'; } >word.csv
refused 'a word for a number' 'many' word.csv
head -c 4000 "$htwave" >binary.csv
refused 'no text' '' binary.csv
end config/plot
