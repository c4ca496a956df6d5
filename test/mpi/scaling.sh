#!/bin/sh
# bench/scaling.py by one and two ranks: rows, what two ranks send by the account
# and by counting, the parts of a step, the model beside them, refusals; and a run
# on two machines.
set -u
. "$(dirname "$0")/../config/common.sh"
tests=$(cd "$(dirname "$0")" && pwd)
root=$tests/../..
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
    end mpi/scaling
    exit
fi
export XDG_CACHE_HOME="$PWD/home" HTWAVE="$htwave"
. "$tests/launcher.sh"

# scaling ARGUMENT...
scaling() {
    timeout 300 python3 "$root/bench/scaling.py" --quick --out out \
        --backend "${HTWAVE_BACKEND:-auto}" --device "${HTWAVE_DEVICE:-cpu}" \
        "$@" >table.txt 2>message.txt
    code=$?
}

# cut_columns NAME...: columns of out/scaling.csv, side by side
cut_columns() {
    awk -F, -v names="$*" 'NR == 1 { n = split(names, name, " ")
        for (i = 1; i <= NF; i++) c[$i] = i; next }
        { for (i = 1; i <= n; i++) printf "%s%s", $c[name[i]],
            i < n ? " " : "\n" }' out/scaling.csv
}

if have_modules numpy; then
    scaling --machine "$root/params/machines/h200-nvlink.cfg"
    [ $code = 0 ] || sed 's/^/    | /' message.txt
    judge "scaling.py: exit code $code" [ $code = 0 ]
    rows=$(cut_columns kind ranks | paste -s -d ',' -)
    judge "scaling.py: rows $rows" \
        [ "$rows" = 'weak 1,strong 1,weak 2,strong 2' ]
    worst=$(cut_columns verified | sort -g | tail -n 1)
    judge "scaling.py: verified, worst ratio $worst (bound 1)" below "$worst" 1
    # a plane has 8 x 8 nodes of 4 fields of 8 coefficients of 4 bytes: down and up
    # each step
    sent=$(cut_columns messages bytes | paste -s -d ',' -)
    judge "scaling.py: messages and bytes per step and rank $sent" \
        [ "$sent" = '0 0,0 0,2 16384,2 16384' ]
    judge 'scaling.py: counted, too, beside dG' grep -q \
        'sends 2 messages of 1.638e+04 bytes .* degree 3 10 messages' table.txt
    judge 'scaling.py: an efficiency in every row' \
        [ "$(grep -c '%' table.txt)" = 4 ]
    judge 'scaling.py: the model beside every row' \
        [ "$(grep -c '^| [a-z]* | [12] |.* | [0-9.]* | [0-9.]* |  |$' table.txt)" = 4 ]
    off=$(cut_columns ms interior_ms boundary_ms pack_ms exposed_ms | sed 1,2d |
        awk '{ d = ($2 + $3 + $4 + $5) / $1 - 1; if (d < 0) d = -d
            if (!($2 > 0 && $3 > 0 && $4 > 0)) d = 1; if (d > m) m = d }
            END { print m + 0 }')
    judge "scaling.py: the parts make up the step but for $off (bound 1e-5)" \
        below "$off" 1e-5
    plots 'scaling.py: plot' out/scaling.csv scaling.png
    scaling --ranks 2 --halo-depth 17
    judge "halo deeper than a slab: $(tail -n 1 message.txt)" [ $code = 2 ]
    echo other >out/scaling.csv
    scaling --show
    judge "another table: $(cat message.txt)" \
        [ "$code $(cat out/scaling.csv)" = '2 other' ]
else
    skip 'no numpy is here'
fi
ranks 2 "$htwave" bench rates --orders 1 >table.txt 2>message.txt
judge "two ranks: $(head -n 1 message.txt)" grep -q 'bench runs in one process' message.txt
"$htwave" bench scaling 2>message.txt
judge "bench scaling: $(cat message.txt)" grep -q "others are scripts in bench/" message.txt

# ---- two machines, which MPICH makes of one ----
cat >ring.cfg <<'CFG'
system = "acoustic";
grid = { cells = [4, 4, 8]; order = 1; };
time = { end = 0.2; };
initial = { type = "gaussian"; width = 0.2; };
output = { directory = "ring"; snapshots = false; pictures = false; };
device = { selfcheck = false; tune = "never"; };
CFG
MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1
export MPIR_CVAR_NUM_CLIQUES MPIR_CVAR_CLIQUES_BY_BLOCK
ranks 4 "$htwave" run ring.cfg --json \
    "$(device_option "${HTWAVE_DEVICE:-cpu}")" >answer.json 2>message.txt
if grep -q '"machines": 2' answer.json; then
    by=$(sed -n 's/.*"transport": "\([^"]*\)".*/\1/p' answer.json)
    # within a machine GPUs may send by "peer", then by both
    judge "two machines: in the JSON, $by" [ "${by#peer + }" = staged ]
    judge 'two machines: in the summary, too' \
        grep -q "exchange  $by: " message.txt
else
    skip 'two machines: this MPI makes no two of one'
fi

end mpi/scaling
