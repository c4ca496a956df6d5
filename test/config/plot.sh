#!/bin/sh
# tools/plot.py on tables whose plots are known, and on what it must refuse. That
# it takes what htwave and bench/*.py write is tested with these.
set -u
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$scratch" || exit 1
export MPLCONFIGDIR="$scratch"

# What other scripts take from plot.py is there, whatever they need besides.
names=$(sed -n 's/^from plot import \([^#]*\).*/\1/p' "$here"/tools/*.py |
    tr -s ', ' '\n' | sort -u | tr '\n' ' ')
# shellcheck disable=SC2086 # the names are words
judge "plot.py has what scripts take: $names" python3 -B -c 'import sys
sys.path.insert(0, sys.argv[1])
import plot
sys.exit(len(sys.argv) < 5 or not all(hasattr(plot, n) for n in sys.argv[2:]))
' "$here/tools" $names

if ! have_modules matplotlib; then
    skip 'plots: no python3 with matplotlib is here'
    end config/plot
    exit
fi

# ---- numbers ----
python3 - "$plot" "$here/bench/accuracy.csv" >answer.txt 2>&1 <<'PY'
import importlib.util, io, csv, sys
spec = importlib.util.spec_from_file_location("plot", sys.argv[1])
plot = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(plot)

def judge(name, good, *shown):
    print("ok -" if good else "not ok -", name, *shown)

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

# kernels of finite differences: a panel per medium and number of terms
rows = [dict.fromkeys(plot.BENCH, "8") | {"scheme": "fd", "medium": m, "stages": s, "kernels": k}
        for m in ("uniform", "density") for s in "12" for k in ("a", "b")]
bars = [[c.get_label() for c in ax.containers]
        for ax in plot.draw_bars(rows, "", "", lambda r: 1.0, True).axes]
judge("bars:", bars == [["a", "b"]] * 4, bars)

figures = plot.draw(sys.argv[2])
judge("figures:", {"accuracy", "accuracy_acoustic_taylor",
                   "accuracy_wave_leapfrog"} <= set(figures), sorted(figures))
judge("panels:", all(len(f.axes) == 2 for f in figures.values()))
# after 100 wavelengths, the least cost of 1e-2 among the grids of a scheme, of
# the file and of its line
worst = {}
with open(sys.argv[2], newline="") as file:
    for r in csv.DictReader(file):
        if (r["scheme"], r["wavelengths"]) == ("leapfrog", "100"):
            s = float(r[plot.SECONDS])
            worst[s] = max(worst.get(s, 0), float(r["error"]))
least = min(s for s, error in worst.items() if error <= 1e-2)
ax = figures["accuracy"].axes[1]
names = [line.get_label() for line in ax.lines]
x, y = ax.lines[names.index("wave leapfrog")].get_data()
judge("from large errors to small ones, at rising cost:", len(x) > 3
      and list(x) == sorted(x, reverse=True) and list(y) == sorted(y),
      len(x), "points")
drawn = min(c for a, c in zip(x, y) if a <= 1e-2)
judge("cost of 1e-2:", 1 <= drawn / least < 1.3, least, drawn)
print("1..7")
PY
relay answer.txt

# ---- files, of the fewest rows: each takes a second ----
mkdir few
sed -n '1p; /^wave,fd,/p' "$here/bench/accuracy.csv" >few/accuracy.csv
plots 'accuracy' few/accuracy.csv accuracy.png accuracy_fd_1_term.png accuracy_fd_2_terms.png
forked names.txt message.txt "$plot" few/accuracy.csv --out vector --format svg
judge "SVG: $(tr '\n' ' ' <names.txt)" grep -q '<svg' vector/accuracy.svg
judge '--help' [ "$("$plot" --help | grep -c -e 'bench.csv' -e '--out')" -ge 2 ]

# refused WHAT PATTERN FILE
refused() {
    forked answer.txt message.txt "$plot" "$3" --out none
    code=$?
    judge "$1: $(cat message.txt)" [ $code = 1 -a ! -e none \
        -a "$(grep -c "^plot.py: $3: .*$2" message.txt)" = 1 \
        -a "$(wc -l <message.txt)" = 1 ]
}
refused 'no file' 'No such file' nosuch.csv
echo 'a,b,c' >other.csv
refused 'other columns' 'has not the columns' other.csv
cut -d, -f1-13 "$here/bench/accuracy.csv" >cut.csv
refused 'a column less' 'column .* of accuracy.csv is missing' cut.csv
head -n 1 "$here/bench/accuracy.csv" >empty.csv
refused 'no rows' 'no rows' empty.csv
{ cat empty.csv; echo 'wave,leapfrog,3'; } >short.csv
refused 'a row cut short' 'row 1 has not 18 fields' short.csv
{ cat empty.csv
    echo 'wave,leapfrog,3,0,single,v,100,d,4,4,1,many,1,1,3,1,3,x'; } >word.csv
refused 'a word for a number' 'many' word.csv
head -c 4000 "$htwave" >binary.csv
refused 'no text' '' binary.csv
end config/plot
