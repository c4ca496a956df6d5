# What the scripts beside it share; read with ".", so it is no program.
# Sets: build, scratch (removed at the end). Ends the script when no launcher is
# here or it starts no 5 ranks (it may refuse more than there are cores, or to
# work for root).

build=${HTWAVE_BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0

pass() { echo "pass $*"; passed=$((passed + 1)); }
fail() { echo "FAIL $*"; failed=$((failed + 1)); }
skip() { echo "skip $*"; skipped=$((skipped + 1)); }

# judge WHAT COMMAND...: passes when the command succeeds
judge() {
    what=$1
    shift
    if "$@"; then pass "$what"; else fail "$what"; fi
}

end() {
    echo "$1: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}

# ranks N COMMAND...: by mpiexec, at most 60 s
ranks() {
    count=$1
    shift
    timeout -k 5 60 mpiexec -n "$count" "$@"
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
