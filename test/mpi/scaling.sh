#!/bin/sh
# htwave bench scaling alone and by several ranks: rows, files, what two ranks
# send by the account and by counting, the parts of a step, a comparison with a
# prediction; refusals before anything is measured, and interruptions.
set -u
. "$(dirname "$0")/../config/common.sh"
tests=$(cd "$(dirname "$0")" && pwd)
build=$(dirname "$htwave")
machine=$tests/../../params/machines/h200-nvlink.cfg
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
    end mpi/scaling
    exit
fi
export XDG_CACHE_HOME="$PWD/home"
tiny="--backend ${HTWAVE_BACKEND:-auto} --device ${HTWAVE_DEVICE:-cpu}"
tiny="$tiny --orders 1 --cells 8 --out out --quiet"

# column FILE NAME: values of a CSV file
column() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++)
        if ($i == name) c = i } NR > 1 && c { print $c }' "$1"
}

# cut_columns FILE NAME...: the same of several columns, side by side
cut_columns() {
    file=$1
    shift
    for name in "$@"; do column "$file" "$name" >"column.$name"; done
    # shellcheck disable=SC2046 # names of files
    paste -d ' ' $(printf 'column.%s ' "$@")
}

kernels() { # CACHE: those compiled
    find "$1/htwave" -name '*.bin' 2>/dev/null
}

# refused WHAT PATTERN CODE COMMAND...: one message, and nothing measured: in a
# cache that was empty there is not even a kernel
refused() {
    what=$1 pattern=$2 wanted=$3
    shift 3
    mkdir empty
    XDG_CACHE_HOME="$PWD/empty" timeout 60 "$@" >answer.txt 2>message.txt
    code=$?
    if [ $code = "$wanted" ] && grep -q -e "$pattern" message.txt &&
        [ "$(grep -c '^htwave: ' message.txt)" = 1 ] &&
        [ ! -s answer.txt ] && [ -z "$(kernels empty)" ]; then
        pass "$what: $(grep '^htwave: ' message.txt | cut -c1-150)"
    else
        sed 's/^/    | /' message.txt
        fail "$what: exit code $code, in the cache: $(kernels empty)"
    fi
    rm -rf empty
}

# shellcheck disable=SC2086 # the flags are words
timeout 120 "$htwave" bench scaling $tiny >table.txt 2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "one rank: exit code $code" [ $code = 0 ]
judge 'one rank: weak and strong' \
    [ "$(column out/scaling.csv kind | paste -s -d ' ' -)" = 'weak strong' ]
judge 'one rank: 100 % of itself' [ "$(grep -c ' 100.0% ' table.txt)" = 2 ]
worst=$(column out/scaling.csv verified | sort -g | tail -n 1)
judge "one rank: verified, worst ratio $worst (bound 1)" below "$worst" 1
judge 'one rank sends nothing' \
    [ "$(column out/scaling.csv messages | paste -s -d ' ' -)" = '0 0' ]
judge 'one rank has no boundary and packs nothing' \
    [ "$(cut_columns out/scaling.csv boundary_ms pack_ms | sort -u)" = '0 0' ]

# shellcheck disable=SC2086
timeout 60 "$htwave" bench scaling $tiny --show --json >answer.json
judge '--show: JSON' valid_json answer.json
judge '--show: two rows' \
    [ "$(grep -o '"efficiency": 1[,}]' answer.json | wc -l)" = 2 ]
timeout 60 "$htwave" bench scaling --show --out nothing 2>message.txt
code=$?
judge "nothing to show: $(cat message.txt)" [ $code = 2 -a ! -e nothing ]
timeout 60 "$htwave" bench rates scaling 2>message.txt
code=$?
judge "$(cat message.txt)" [ $code = 2 ]
refused 'unknown precision' 'halo-precision quarter' 2 \
    "$htwave" bench scaling --halo-precision quarter
refused 'depth 65' 'halo-depth 65.*1[.][.]64' 2 \
    "$htwave" bench scaling --halo-depth 65

# ---- what would be measured in vain ----
# shellcheck disable=SC2086
{
    refused 'halo deeper than a slab' 'halo-depth 17.*9 planes.*at most 16' 2 \
        "$htwave" bench scaling $tiny --halo-depth 17 --out deep
    judge 'halo deeper than a slab: nothing is left' [ ! -e deep ]
    : >plain
    refused 'a file in place of the directory' 'plain.*a file of this name' 1 \
        "$htwave" bench scaling $tiny --out plain
    mkdir other && echo other >other/scaling.csv
    refused 'a table with another head' 'other/scaling.csv.*first line' 2 \
        "$htwave" bench scaling $tiny --out other
    judge 'a table with another head: is left alone' \
        [ "$(cat other/scaling.csv)" = other ]
    refused 'no time' 'nothing/scaling.csv: no rows' 2 \
        "$htwave" bench scaling $tiny --seconds 0 --out nothing
}
help=$("$htwave" bench --help)
for words in 'auto (default), peer' '1..64 (default 1)' 'ignores --dims' \
    'After --seconds it begins'; do
    judge "bench --help: $words" [ -z "${help##*"$words"*}" ]
done

. "$tests/launcher.sh"
# shellcheck disable=SC2086
{
    refused 'two ranks: halo deeper than a slab' 'halo-depth 17.*at most 16' 2 \
        mpiexec -n 2 "$htwave" bench scaling $tiny --halo-depth 17 --out deep
    refused 'two ranks: a table with another head' 'other/scaling.csv' 2 \
        mpiexec -n 2 "$htwave" bench scaling $tiny --out other
}
for depth in 1 2; do
    # shellcheck disable=SC2086
    ranks 2 "$htwave" bench scaling $tiny \
        --halo-depth $depth >table.txt 2>message.txt
    code=$?
    sed 's/^/    | /' message.txt
    judge "two ranks, depth $depth: exit code $code" [ $code = 0 ]
done
judge 'two ranks: the table begins once' [ "$(grep -c '^kind' table.txt)" = 1 ]
plots 'two ranks: plot' out/scaling.csv scaling.png
judge 'two ranks: six rows' [ "$(column out/scaling.csv kind | wc -l)" = 6 ]
# a plane has 8 x 8 nodes of 4 fields of 8 coefficients of 4 bytes: down and up
# each step, in either way of doing it
sent=$(column out/scaling.csv bytes | sed 1,2d | sort -u)
judge "two ranks: $sent bytes per step and rank (16384)" [ "$sent" = 16384 ]
sent=$(column out/scaling.csv messages | sed 1,2d | sort -u)
judge "two ranks: $sent messages per step and rank (2)" [ "$sent" = 2 ]
judge 'two ranks: a transport' \
    [ "$(column out/scaling.csv transport | sed 1,2d | grep -vc none)" = 4 ]
judge 'two ranks: beside dG' grep -q 'nodal dG of degree 3: 10 messages' \
    table.txt
judge 'two ranks: an efficiency in every row' [ "$(grep -c '%' table.txt)" = 6 ]
# Kernels, packing included, stand in one queue of a device: their times and
# what is left of a step, which is exposed, make up the step.
cut_columns out/scaling.csv ms interior_ms boundary_ms pack_ms exposed_ms |
    sed 1,2d >parts.txt
least=$(awk '{ for (i = 2; i < 5; i++) if (m == "" || $i < m) m = $i }
    END { print -m }' parts.txt)
judge "two ranks: interior, boundary and pack are above 0, least ${least#-} ms" \
    below "$least" -1e-9
off=$(awk '{ d = ($2 + $3 + $4 + $5) / $1 - 1; if (d < 0) d = -d
    if (d > m) m = d } END { print m + 0 }' parts.txt)
judge "two ranks: the parts make up the step but for $off of it (bound 1e-6)" \
    below "$off" 1e-6
off=$(cut_columns out/scaling.csv ms interior_ms exposed_ms | head -2 |
    awk '{ d = ($2 + $3) / $1 - 1; if (d < 0) d = -d; if (!($2 > 0)) d = 1
        if (d > m) m = d } END { print m + 0 }')
judge "one rank: so do interior and exposed, but for $off (bound 1e-6)" \
    below "$off" 1e-6
ranks 2 "$htwave" bench rates --orders 1 >table.txt 2>message.txt
code=$?
judge 'two ranks: other cases are refused' \
    [ $code != 0 -a "$(grep -c 'only .*scaling' message.txt)" -ge 1 ]

cat >cube.cfg <<'CFG'
system = "acoustic";
grid = { cells = [8, 8, 8]; order = 1; };
CFG
timeout 60 "$htwave" check cube.cfg --machine "$machine" \
    --measured out/scaling.csv --gpus 1,2 --json >answer.json
code=$?
judge "check --measured: exit code $code" [ $code = 0 ]
judge 'check --measured: JSON' valid_json answer.json
judge 'check --measured: six rows beside the prediction' \
    [ "$(grep -o 'predicted_step_s' answer.json | wc -l)" = 6 ]
judge 'check --measured: at the measured rate' \
    grep -q '"rate_from": "measured on one rank"' answer.json


# ---- finite differences ----
differences="--backend ${HTWAVE_BACKEND:-auto} --device ${HTWAVE_DEVICE:-cpu}"
differences="$differences --schemes fd --orders 4 --cells 8 --out fd --quiet"
for order in 3 18; do
    # shellcheck disable=SC2086
    refused "order $order" "orders $order" 2 \
        "$htwave" bench scaling $differences --orders $order
done
# shellcheck disable=SC2086
{
    refused 'slabs of fewer planes than 5 passes read' \
        'halo-depth 5.*10 planes.*at most 4' 2 \
        "$htwave" bench scaling $differences --halo-depth 5
    refused 'three terms' 'stages 3.*at most 2' 2 \
        "$htwave" bench scaling $differences --stages 3
    refused 'finite differences in other cases' 'schemes fd' 2 \
        "$htwave" bench rates --schemes fd
    "$htwave" bench scaling $differences >table.txt 2>message.txt
}
for depth in 1 2; do
    # shellcheck disable=SC2086
    ranks 2 "$htwave" bench scaling $differences --halo-depth $depth \
        >table.txt 2>message.txt
    code=$?
    sed 's/^/    | /' message.txt
    judge "fd, two ranks, depth $depth: exit code $code" [ $code = 0 ]
done
# 2 planes of u and of w, 8 x 8 points of 4 bytes, down and up; in messages of
# one array, or of 4 planes of u and those of d that are computed twice, none
sent=$(cut_columns fd/scaling.csv messages bytes depth | sed 1,2d | sort -u |
    paste -s -d ' ' -)
judge "fd, two ranks: messages, bytes and depth $sent" \
    [ "$sent" = '2 2048 2 4 2048 1' ]
judge 'fd: counted for the table, too' \
    [ "$(grep -c 'order 4, 2 terms.*messages of 2048 bytes in all per step, counted$' \
        table.txt)" = 2 ]
worst=$(column fd/scaling.csv verified | sort -g | tail -n 1)
judge "fd: verified, worst ratio $worst (bound 1)" below "$worst" 1
cat >square.cfg <<'CFG'
system = "acoustic";
grid = { cells = [16, 16, 16]; order = 4; };
time = { scheme = "fd"; };
medium = { type = "expression"; c = "1 + 0.1*sin(6.2831853*x1)"; };
CFG
timeout 60 "$htwave" check square.cfg --machine "$machine" \
    --measured fd/scaling.csv --gpus 1,2 --json >answer.json
code=$?
judge "fd, check --measured: exit code $code, $(grep -o predicted_step_s \
    answer.json | wc -l) rows" \
    [ "$code $(grep -c '"rate_from": "measured on one rank"' answer.json)" = '0 1' \
    -a "$(grep -o predicted_step_s answer.json | wc -l)" = 6 ]
timeout 60 "$htwave" check square.cfg --machine "$machine" --gpus 1,2 \
    --measured fd/scaling.csv medium.rho='1+0.1*sin(6.2831853*x1)' \
    >answer.txt 2>message.txt
judge "fd, a density that varies: $(grep -o 'density varies.*' message.txt)" \
    grep -q 'density varies' message.txt

# ---- rows that no measurement has ----
# spoiled WHAT PATTERN COLUMN VALUE: line 4, of two ranks, with another value
spoiled() {
    awk -F, -v OFS=, -v name="$3" -v value="$4" 'NR == 1 {
        for (i = 1; i <= NF; i++) if ($i == name) c = i }
        NR == 4 { $c = value } { print }' out/scaling.csv >spoiled.csv
    refused "$1" "spoiled.csv:4: $2" 2 "$htwave" check cube.cfg \
        --machine "$machine" --measured spoiled.csv --quiet
}
spoiled 'depth 999' 'depth = "999".*whole number, 1[.][.]64' depth 999
spoiled 'depth 0' 'depth = "0".*whole number, 1[.][.]64' depth 0
spoiled 'depth nan' 'depth = "nan".*whole number' depth nan
spoiled 'depth 1.5' 'depth = "1.5".*whole number' depth 1.5
spoiled 'depth of a thicker slab' 'planes = 16.*depth of 64' depth 64
spoiled 'ranks inf' 'ranks = "inf".*whole number' ranks inf
spoiled 'stages nan' 'stages = "nan".*whole number' stages nan
spoiled 'side of half a cell' 'side = "7.5".*whole number' side 7.5
spoiled 'time of 0' 'ms = 0: must be > 0' ms 0
spoiled 'time inf' 'ms = "inf".*at least 0' ms inf
spoiled 'unknown scheme' 'scheme = "euler".*time.scheme' scheme euler
spoiled 'N = 9' 'order = 9: N must be 1[.][.]8' order 9
spoiled 'an odd order' 'order = 1.*must be 2, 4 [.][.] 16' scheme fd
spoiled 'exposed nan' 'exposed_ms = "nan".*at least 0' exposed_ms nan

# ---- a ring of two machines, which MPICH makes of one ----
cat >ring.cfg <<'CFG'
system = "acoustic";
grid = { cells = [4, 4, 8]; order = 1; };
time = { end = 0.2; };
initial = { type = "gaussian"; width = 0.2; };
output = { directory = "ring"; snapshots = false; };
CFG
MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1
export MPIR_CVAR_NUM_CLIQUES MPIR_CVAR_CLIQUES_BY_BLOCK
ranks 4 "$htwave" run ring.cfg --json \
    "$(device_option "${HTWAVE_DEVICE:-cpu}")" >answer.json 2>message.txt
if grep -q '"machines": 2' answer.json; then
    by=$(sed -n 's/.*"transport": "\([^"]*\)".*/\1/p' answer.json)
    judge "two machines: in the JSON both ways, $by" \
        [ "${by#* + }" = staged -a "${by% + *}" != staged ]
    judge 'two machines: in the summary, too' \
        grep -q "exchange  $by: " message.txt
    # shellcheck disable=SC2086
    ranks 4 "$htwave" bench scaling $tiny --out ring >table.txt 2>message.txt
    judge 'two machines: in both rows of scaling.csv' \
        [ "$(column ring/scaling.csv transport | grep -cxF "$by")" = 2 ]
    # a time ends below its heading
    lines=$(awk 'NR == 1 { e = index($0, "ms/step") + 6 }
        substr($0, e, 2) ~ /^[p0-9] $/ && NR <= 3 { n++ }
        END { print n }' table.txt)
    judge "two machines: columns of the table in line, $lines of 3 lines" \
        [ "$lines" = 3 ]
else
    skip 'two machines: this MPI makes no two of one'
fi
unset MPIR_CVAR_NUM_CLIQUES MPIR_CVAR_CLIQUES_BY_BLOCK

# ---- ranks that differ ----
ranks 3 "$build/test/mpi/unlike" "$PWD/unlike" >answer.txt 2>&1
code=$?
relay answer.txt
judge "unlike devices: exit code $code" [ $code = 0 ]

# ---- time, signals ----
many="--orders 1,2 --schemes taylor,leapfrog" # 8 measurements by two ranks
# shellcheck disable=SC2086
ranks 2 "$htwave" bench scaling $tiny --verbose $many --seconds 0.001 \
    --out short >table.txt 2>message.txt
code=$?
rows=$(column short/scaling.csv kind | wc -l)
# One at least; no machine does all of them in a millisecond.
left=$(sed -n 's/.*: \([0-9]*\) measurements* skipped: no time left.*/\1/p' message.txt)
judge "--seconds 0.001: exit code $code, $rows rows, $left skipped (8 in all)" \
    [ "$code $((rows + left))" = '0 8' -a "$rows" -ge 1 -a "$left" -ge 1 ]

# Tells its process number, which stays when it becomes htwave.
cat >rank.sh <<'SH'
#!/bin/sh
echo $$ >pid.${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$$}}
exec "$@"
SH
chmod +x rank.sh

# interrupted SIGNAL WHICH: two ranks get it, or rank 1 only, when the first row
# is there
interrupted() {
    rm -rf stopped pid.*
    # shellcheck disable=SC2086
    timeout -k 5 120 mpiexec -n 2 ./rank.sh "$htwave" bench scaling $tiny \
        $many --out stopped >table.txt 2>message.txt &
    launcher=$!
    for _ in $(seq 600); do
        [ -e stopped/scaling.csv ] && break
        sleep 0.1
    done
    # shellcheck disable=SC2046,SC2086 # numbers; names of files
    kill -"$1" $(cat $2)
    wait $launcher
    code=$?
    rows=$(column stopped/scaling.csv kind 2>/dev/null | wc -l)
    judge "SIG$1 to $2: exit code $code: $(grep '^htwave: ' message.txt)" \
        [ $code = 1 -a "$(grep -c '^htwave: .*interrupted: ' message.txt)" = 1 ]
    judge "SIG$1 to $2: $rows rows of 8 are kept" \
        [ "$rows" -ge 1 -a "$rows" -lt 8 ]
}
interrupted INT 'pid.0 pid.1'
interrupted TERM 'pid.1'

end mpi/scaling
