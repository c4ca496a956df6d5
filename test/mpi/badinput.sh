#!/bin/sh
# Wrong input under a launcher: whatever the number of ranks that find it, one
# message, the exit code alone would give, soon, and nothing left behind.
set -u
. "${0%/*}/common.sh"
cd "$scratch" || exit 1

cat >a.cfg <<'CFG'
system = "acoustic";
grid = { cells = [6, 6, 8]; order = 1; };
time = { end = 0.1; };
initial = { type = "gaussian"; width = 0.2; };
output = { directory = "out"; };
CFG
sed 's/order = 1/order = 2/' a.cfg >b.cfg

limit=30 # seconds; cores may be shared with other tests

# One line in all, "htwave: ...", which holds every pattern. PoCL's compiler
# counts its warnings on standard error.
check_message() { # PATTERN...
    lines=$(grep -cv '^[0-9]* warnings* generated[.]$' message.txt)
    [ "$lines" = 1 ] || { echo "    $lines lines"; return 1; }
    for pattern in 'htwave: ' "$@"; do
        grep -qF -e "$pattern" message.txt ||
            { echo "    no \"$pattern\""; return 1; }
    done
}

# judge_refusal WHAT CODE "PATTERN|PATTERN": of answer.txt, message.txt, $got
judge_refusal() {
    what=$1 code=$2 patterns=$3 good=1
    [ "$got" = "$code" ] || { good=0; echo "    exit code $got, not $code"; }
    old=$IFS
    IFS='|'
    # shellcheck disable=SC2086 # split at bars
    check_message $patterns || good=0
    IFS=$old
    [ ! -s answer.txt ] || { good=0; echo "    an answer as well"; }
    [ ! -e out ] || { good=0; echo "    left: $(ls out)"; }
    below "$took" $limit || { good=0; echo "    took $took s, limit $limit"; }
    if [ $good = 1 ]; then
        pass "$what, $took s: $(sed -n 's/^htwave: //p' message.txt |
            cut -c1-150)"
    else
        sed 's/^/    | /' message.txt
        fail "$what"
    fi
}

# mpiexec's arguments, from -n on; sets got and took
start() {
    rm -rf out
    begin=$(now)
    timeout -k 5 120 mpiexec "$@" >answer.txt 2>message.txt
    got=$?
    took=$(since "$begin")
}

# refused WHAT CODE "PATTERN|PATTERN" ARGUMENT...: three ranks of htwave
refused() {
    name=$1 wanted=$2 words=$3
    shift 3
    start -n 3 "$htwave" "$@"
    judge_refusal "$name" "$wanted" "$words"
}

# over WHAT "PATTERN|PATTERN" OVERRIDE...
over() {
    name=$1 words=$2
    shift 2
    refused "$name" 2 "$words|command line" run a.cfg --quiet "$device" "$@"
}

# differ WHAT CODE "PATTERN|PATTERN" PROGRAM2 ARGUMENT... -- ARGUMENT...: rank 0
# runs htwave with the arguments behind --, ranks 1 and 2 PROGRAM2 with those
# before it
differ() {
    name=$1 wanted=$2 words=$3 program=$4
    shift 4
    set -- "$@" : -n 2 "$program" # what stands before -- goes behind it
    while [ "$1" != -- ]; do
        set -- "$@" "$1"
        shift
    done
    shift
    start -n 1 "$htwave" "$@"
    judge_refusal "$name" "$wanted" "$words"
}

# ---- what every rank finds ----
over 'unknown key' 'time.ennd|did you mean time.end' time.ennd=1.0
over 'weights, which are gone' 'parallel.weights|no longer there|equal slabs' \
    parallel.weights=measured
over 'a transport that is gone' 'parallel.transport|no longer there|staged' \
    parallel.transport=shared
over 'halo of no half step' 'parallel.halo_depth = 0|1..64' \
    parallel.halo_depth=0
over 'more ranks than planes' 'grid.cells|3 ranks for 2 planes' \
    'grid.cells=[6,6,2]'
over 'two dimensions' 'grid.cells|only grids with x3' 'grid.cells=[6,6]'
over 'halo deeper than a slab' 'parallel.halo_depth = 9|at most 4' \
    parallel.halo_depth=9
over 'the reference' 'device.backend = "oracle"|3 ranks' device.backend=oracle
over 'NaN by expression' 'medium.c|sqrt' time.scheme=taylor medium.type=expression \
    'medium.c="sqrt(x3 - 0.5)"'
if have_device; then
    over 'unknown output field' 'output.fields|p, v1, v2' 'output.fields=["q"]'
    # 256 bytes for each of 5.6e9 nodes; below 2^31 of them per rank, which
    # some kernels refuse for their own reasons.
    # Of a CPU the ranks are told that they share it; GPUs may be several.
    all='|for the 3 ranks'
    [ "${HTWAVE_DEVICE:-cpu}" = cpu ] || all=
    over 'larger than memory' "grid.cells|needs$all|has" \
        'grid.cells=[2000,2000,1400]'
else
    skip 'output fields, memory: no device is here'
fi
refused 'missing file' 2 'nosuch.cfg|No such file' run nosuch.cfg
refused 'unknown command' 2 'rnu|nearest is run' rnu a.cfg
refused 'work for one process' 2 'describe|without mpiexec' describe
refused 'work for one device' 2 'tune|without mpiexec' tune a.cfg
refused 'no known solution' 2 'initial.type|not known' converge a.cfg \
    "$device" --cells 4 --quiet

# ---- ranks that differ ----
differ 'another input' 2 'rank 1|order = 2|order = 1' "$htwave" \
    run b.cfg --quiet -- run a.cfg --quiet
differ 'another override' 2 'rank 1|end = 0.2' "$htwave" \
    run a.cfg --quiet time.end=0.2 -- run a.cfg --quiet
differ 'another command' 2 'rank 1|"check"|"run"' "$htwave" \
    check a.cfg --quiet -- run a.cfg --quiet
differ 'other flags' 2 'rank 1|flags' "$htwave" \
    run a.cfg --quiet --json -- run a.cfg --quiet
differ 'an input that some ranks lack' 2 'rank 1|nosuch.cfg' "$htwave" \
    run nosuch.cfg --quiet -- run a.cfg --quiet
if have_device; then
    differ 'a rank without a device' 1 'rank 1|no device matches' env \
        OCL_ICD_VENDORS=/nonexistent CUDA_VISIBLE_DEVICES= "$htwave" \
        run a.cfg --quiet -- run a.cfg --quiet
fi
cp "$htwave" other && printf x >>other
differ 'another program' 2 'rank 1 (version|rank 2 (version|same file' ./other \
    run a.cfg --quiet -- run a.cfg --quiet

end mpi/badinput
