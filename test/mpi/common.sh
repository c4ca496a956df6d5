# What the scripts beside it share; read with ".", so it is no program. Beside
# what test/config/common.sh and launcher.sh set: build; device, which is any
# that is here, since the serial reference knows no ranks.

. "${0%/*}/../config/common.sh"
. "${0%/*}/launcher.sh"
build=${HTWAVE_BUILD:-build}
device=$(device_option "${HTWAVE_DEVICE:-auto}")

now() { # seconds
    date +%s.%N
}
since() { # BEGIN, as now prints it
    awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'
}

# judged_by_ranks PROGRAM N...: rank 0 of a test program prints its checks;
# messages go elsewhere, for the launcher may mix them with lines of checks
judged_by_ranks() {
    program=$1
    shift
    for n in "$@"; do
        ranks "$n" "$build/test/mpi/$program" >"$scratch/out" \
            2>"$scratch/said"
        code=$?
        relay "$scratch/out"
        [ $code = 0 ] || sed 's/^/    | /' "$scratch/said"
        judge "$n ranks: exit code $code" [ $code = 0 ]
    done
}

# same TITLE RANKS OVERRIDE...: what a run of $input by so many ranks ("2 5") writes is what one
# process does, bit for bit
same() {
    title=$1 counts=$2
    shift 2
    rm -rf alone
    "$htwave" run "$input" --quiet "$device" output.directory=alone "$@" >said.txt 2>&1
    judge "$title: alone, exit code $? $(cat said.txt)" [ -e alone/summary.json ]
    for n in $counts; do
        rm -rf out
        ranks "$n" "$htwave" run "$input" --quiet "$device" "$@" >said.txt 2>&1
        code=$?
        wrong=$(differ alone out)
        judge "$title by $n: exit code $code, files that differ: ${wrong:-none}" \
            [ "$code$wrong" = 0 ]
        [ $code = 0 ] || sed 's/^/    | /' said.txt
    done
}
