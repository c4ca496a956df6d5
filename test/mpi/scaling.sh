#!/bin/sh
# htwave bench scaling alone and by two ranks: rows, files, what two ranks send
# by the account and by counting, and a comparison with a prediction.
set -u
. "$(dirname "$0")/../config/common.sh"
tests=$(cd "$(dirname "$0")" && pwd)
machine=$tests/../../params/machines/h200-nvlink.cfg
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
    end mpi/scaling
    exit
fi
export XDG_CACHE_HOME="$PWD/home"
tiny="--device ${HTWAVE_DEVICE:-cpu} --orders 1 --cells 8 --out out --quiet"

# column FILE NAME: values of a CSV file
column() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++)
        if ($i == name) c = i } NR > 1 && c { print $c }' "$1"
}

# shellcheck disable=SC2086 # the flags are words
timeout 120 "$htwave" bench scaling $tiny >table.txt 2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "one rank: exit code $code" [ $code = 0 ]
judge 'one rank: weak and strong' \
    [ "$(column out/scaling.csv kind | paste -s -d ' ' -)" = 'weak strong' ]
judge 'one rank: no picture' [ ! -e out/scaling.png ]
judge 'one rank: 100 % of itself' [ "$(grep -c ' 100.0% ' table.txt)" = 2 ]
worst=$(column out/scaling.csv verified | sort -g | tail -n 1)
judge "one rank: verified, worst ratio $worst (bound 1)" below "$worst" 1
judge 'one rank sends nothing' \
    [ "$(column out/scaling.csv messages | paste -s -d ' ' -)" = '0 0' ]

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
timeout 60 "$htwave" bench scaling --halo-precision quarter 2>message.txt
code=$?
judge "$(cat message.txt)" [ $code = 2 ]

. "$tests/launcher.sh"
for depth in 1 2; do
    # shellcheck disable=SC2086
    ranks 2 "$htwave" bench scaling $tiny \
        --halo-depth $depth >table.txt 2>message.txt
    code=$?
    sed 's/^/    | /' message.txt
    judge "two ranks, depth $depth: exit code $code" [ $code = 0 ]
done
judge 'two ranks: the table begins once' [ "$(grep -c '^kind' table.txt)" = 1 ]
judge 'two ranks: picture' [ -s out/scaling.png ]
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
ranks 2 "$htwave" bench rates --orders 1 >table.txt 2>message.txt
code=$?
judge 'two ranks: other cases are refused' \
    [ $code != 0 -a "$(grep -c 'only scaling' message.txt)" -ge 1 ]

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

end mpi/scaling
