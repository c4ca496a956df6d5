#!/bin/sh
# Calls that fail, one in each run (test/faults.c): the program ends with one message and its exit
# code, or with a warning; no file is half-written or lost, the outputs of the run before are there,
# and where there is a checkpoint the run goes on from it to the same files.
#
# Some calls of each kind; HTWAVE_COVER=all: each of them; HTWAVE_PART=K/N: of these N parts the
# K-th one.
set -u
. "${0%/*}/common.sh"
faulty=${htwave%/*}/test/htwave-faults
cd "$scratch" || exit 1
[ -x "$faulty" ] || { skip "no program with faults"; end faults; exit; }
export HTWAVE_FAULT_COUNT="$scratch/count"
cat >run.cfg <<'INPUT'
system = "acoustic";
grid = { cells = [12, 10]; order = 4; };
time = { end = 0.5; scheme = "fd"; };
initial = { type = "gaussian"; width = 0.2; };
receivers = ( { position = [0.31, 0.62]; every = 0.05; } );
output = { every = 0.2; series = true; traces = ["csv"]; checkpoint = { every = 0.2; };
           picture = { pixels = 64; }; };
INPUT
launch= part=${HTWAVE_PART:-1/1}
run() { # HTWAVE KEY=VALUE...: into `out`
    program=$1
    shift
    $launch "$program" run run.cfg --quiet output.directory=out "$@"
}

# What is wrong after a run that ended with a code; it is said in `said`.
wrong_with() { # CODE
    lines=$(grep -c '^htwave: ' said)
    [ "$1" -le 4 ] || echo "exit code $1"
    [ "$1" = 0 -o "$lines" = 1 ] || echo "$lines messages"
    find out -name '*.tmp.*' 2>/dev/null
    # of the run before: moved, or still there
    for file in earlier/*; do
        name=${file##*/}
        cmp -s "$file" "out/run-001/$name" || cmp -s "$file" "out/$name" || echo "lost: $name"
    done
    grep -q '^warning' said || [ "$1" != 0 ] || differ whole out | grep -v run-001
}

# A checkpoint of this run: one of the run before is in run-001.
stored() {
    [ -e out/run-001 ] && [ -e out/checkpoint.h5 -o -e out/checkpoint-1.h5 ]
}

wrong_after() {
    "$htwave" continue out --quiet >said 2>&1 || { echo "continue:"; cat said; }
    differ whole out | grep -v run-001
}

# sweep WHAT KINDS EACH KEY=VALUE...: each EACH-th call of these kinds
sweep() {
    what=$1 kinds=$2 each=$3
    shift 3
    wanted "$what" || return
    [ "${HTWAVE_COVER:-}" != all ] || each=1
    n=$((1 + each * (${part%/*} - 1))) each=$((each * ${part#*/}))
    rm -rf whole earlier
    run "$htwave" "$@" time.end=0.3 >said 2>&1 && mv out earlier || fail "$what: $(cat said)"
    run "$htwave" "$@" >said 2>&1 && mv out whole || fail "$what: $(cat said)"
    cp -r earlier out
    HTWAVE_FAULT_KINDS=$kinds run "$faulty" "$@" >said 2>&1 || fail "$what: $(cat said)"
    all=$(cat count) tried=0 bad=0 went=0 died=0
    while [ $n -le "$all" ]; do
        rm -rf out
        cp -r earlier out
        HTWAVE_FAULT_KINDS=$kinds HTWAVE_FAULT=$n run "$faulty" "$@" >said 2>&1
        code=$?
        [ $code = 0 ] || died=$((died + 1))
        wrong=$(wrong_with $code)
        if [ $code != 0 ] && stored; then
            went=$((went + 1))
            wrong=$wrong$(wrong_after)
        fi
        tried=$((tried + 1))
        if [ -n "$wrong" ]; then
            bad=$((bad + 1))
            echo "# call $n of $what: $wrong"
            sed 's/^/#   /' said
        fi
        n=$((n + each))
    done
    rm -rf out
    judge "$what: $tried of $all calls fail, $died end the run, $went go on; $bad are wrong" \
        [ $bad = 0 -a $died -gt 0 ]
}

sweep "memory" a 97 device.backend=oracle
sweep "files" f 23 device.backend=oracle
sweep "HDF5" h 101 device.backend=oracle output.pictures=false
kernels=$(device_option "${HTWAVE_DEVICE:-auto}")
if [ "${HTWAVE_COVER:-}" = all ]; then
    sweep "OpenCL" c 1 "$kernels" output.pictures=false
    if command -v mpiexec >/dev/null; then
        launch='timeout -k 5 120 mpiexec -n 3' HTWAVE_FAULT_RANK=1
        export HTWAVE_FAULT_RANK
        sweep "MPI" m 1 "$kernels" output.pictures=false grid.cells=[8,6,24] \
            'receivers=({position=[0.31,0.62,0.5];every=0.05})'
    fi
fi
end faults
