# What the scripts beside it share; read with ".", so it is no program. Beside
# what test/config/common.sh sets: build; device, which is any that is here,
# since the serial reference knows no ranks. Ends the script when no launcher is
# here or it starts no 5 ranks (it may refuse more than there are cores, or to
# work for root).

. "${0%/*}/../config/common.sh"
build=${HTWAVE_BUILD:-build}
device=device.select=${HTWAVE_DEVICE:-auto}

# ranks N COMMAND...: by mpiexec, at most 60 s
ranks() {
    count=$1
    shift
    timeout -k 5 60 mpiexec -n "$count" "$@"
}

now() { # seconds
    date +%s.%N
}
since() { # BEGIN, as now prints it
    awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'
}

if ! command -v mpiexec >/dev/null; then
    skip "mpiexec is not here"
    end "$(basename "$0" .sh)"
    exit
elif ! ranks 5 true >/dev/null 2>&1; then
    skip "mpiexec does not start 5 ranks"
    end "$(basename "$0" .sh)"
    exit
fi
