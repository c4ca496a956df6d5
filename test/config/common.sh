# What the scripts beside it share; read with ".", so it is no program.
# Sets: htwave, scratch (removed at the end), device (the option that chooses
# what computes: the serial reference unless HTWAVE_DEVICE asks for a device, of
# the back end HTWAVE_BACKEND or any).

export LC_ALL=C # numbers have points
htwave=${HTWAVE_BUILD:-build}/htwave
case $htwave in
/*) ;;
*) htwave=$PWD/$htwave ;;
esac
# The same, or one without address checks, for a run that differs in numbers alone from another one.
numbers=$htwave
[ ! -x "${HTWAVE_NUMBERS:-}" ] || numbers=$PWD/$HTWAVE_NUMBERS
export OPENBLAS_NUM_THREADS=1 # threads of numpy would only wait
scratch=$(mktemp -d)
scripts= # process of test/scripts.py
trap '[ -z "$scripts" ] || kill "$scripts" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0
# Whether addresses are checked: long sums of numbers are for other builds.
addresses=false
case ${HTWAVE_BUILD:-} in */asan) addresses=true ;; esac
# Whether this htwave draws pictures: true or false.
drawn=true
"$htwave" --version 2>/dev/null | grep -q 'cairo [0-9]' || drawn=false
# The plots of CSV files.
plot=$(cd "$(dirname "$0")/../.." && pwd)/tools/plot.py

device_option() { # WHICH
    echo "device = { select = \"$1\"; backend = \"${HTWAVE_BACKEND:-auto}\"; }"
}
device=device.backend=oracle
[ -z "${HTWAVE_DEVICE:-}" ] || device=$(device_option "$HTWAVE_DEVICE")

# Lines of TAP, as test/test.h prints them.
pass() { echo "ok - $*"; passed=$((passed + 1)); }
fail() { echo "not ok - $*"; failed=$((failed + 1)); }
skip() { echo "ok # skip $*"; skipped=$((skipped + 1)); }

# judge WHAT COMMAND...: passes when the command succeeds
judge() {
    what=$1
    shift
    if "$@"; then pass "$what"; else fail "$what"; fi
}

# wanted CASE: HTWAVE_CASE, a pattern of its name, chooses cases of a long script
# shellcheck disable=SC2254 # a pattern
wanted() { case $1 in ${HTWAVE_CASE:-*}) ;; *) false ;; esac; }

# relay FILE: the output of a test program counts as the script's, except for
# the plan, which must exist: the script prints its own plan.
relay() {
    grep -av '^1\.\.' "$1"
    ran=$(grep -ac '^ok \|^not ok ' "$1")
    bad=$(grep -ac '^not ok ' "$1")
    none=$(grep -ac '^ok # skip ' "$1")
    passed=$((passed + ran - bad - none))
    failed=$((failed + bad)) skipped=$((skipped + none))
    grep -aqx "1\.\.$ran" "$1" || fail "it broke off after $ran lines"
}

# end NAME: the plan, and the counts for people
end() {
    [ $((passed + failed + skipped)) -gt 0 ] || fail "$1 judged nothing"
    echo "# $1: $passed passed, $failed failed, $skipped skipped"
    echo "1..$((passed + failed + skipped))"
    [ "$failed" = 0 ]
}

# The number of a key in a JSON object on one line.
number() { # FILE KEY
    sed -n 's/.*"'"$2"'": *\([-+0-9.eE]*\).*/\1/p' "$1"
}

below() { # VALUE BOUND; what is no number is not below
    awk -v v="$1" -v b="$2" 'BEGIN { exit !(v ~ /^[-+]?[.0-9]/ && v + 0 <= b + 0) }'
}

# lacking FILE "PATTERN|PATTERN": those that it does not hold; for a substitution
lacking() {
    IFS='|'
    for pattern in $2; do
        grep -qF -e "$pattern" "$1" || printf ' %s' "$pattern"
    done
}

# differ A B: names of the files of a run's directory A that are others in B, or not there, and of
# those of B alone
differ() {
    for file in "$1"/*; do
        name=${file##*/}
        case $name in summary.json | input.cfg | checkpoint*) continue ;; esac
        cmp -s "$file" "$2/$name" || echo "$name"
    done
    for file in "$2"/*; do [ -e "$1/${file##*/}" ] || echo "${file##*/}"; done
}

valid_json() { # FILE
    if command -v python3 >/dev/null; then
        python3 -m json.tool "$1" >/dev/null
    else
        grep -q '^{.*}$' "$1"
    fi
}

# have_modules NAME...: Python has them; they are not loaded, which takes up to a second
have_modules() {
    python3 -c 'import sys, importlib.util as u
sys.exit(None in map(u.find_spec, sys.argv[1:]))' "$@" 2>/dev/null
}

# forked OUT ERR COMMAND...: a script of Python, whose modules are here, with its output and errors in
# files; its exit code
forked() {
    if [ -z "$scripts" ]; then
        mkfifo "$scratch/requests" "$scratch/answers"
        MPLBACKEND=Agg MPLCONFIGDIR="$scratch" PYTHONDONTWRITEBYTECODE=1 \
            python3 "${plot%/*}/../test/scripts.py" "$scratch/requests" "$scratch/answers" &
        scripts=$!
    fi
    printf '%s\0' "$PWD" "$@" >"$scratch/request"
    echo "$scratch/request" >"$scratch/requests"
    read -r ended <"$scratch/answers"
    return "$ended"
}

# plots WHAT FILE...: the script draws a CSV file as these pictures
plots() {
    what=$1 file=$2
    shift 2
    if ! have_modules matplotlib; then
        skip "$what: no python3 with matplotlib is here"
        return
    fi
    rm -rf plots
    if ! forked plots.txt plots.txt "$plot" "$file" --out plots; then
        sed 's/^/    | /' plots.txt
        fail "$what: exit code not 0"
        return
    fi
    (cd plots && ls) >found.txt
    printf '%s\n' "$@" | sort >wanted.txt
    judge "$what: $(tr '\n' ' ' <found.txt)" cmp -s wanted.txt found.txt
}

# A device is here.
have_device() {
    "$htwave" devices --json 2>/dev/null | grep -q '"index"'
}

# Receivers, one and a line, of a run of finite differences.
line_input() {
    cat <<'CFG'
system = "acoustic";
grid = { cells = [20, 16]; upper = [2.0, 1.6]; };
time = { end = 0.5; scheme = "fd"; };
initial = { centre = [1.0, 0.8]; width = 0.2; };
receivers = (
    { position = [0.51, 0.3]; },
    { name = "line"; type = "line"; from = [0.1, 0.1]; to = [1.9, 0.1];
      count = 7; every = 0.01; }
);
output = { directory = "out"; pictures = false; snapshots = false; };
CFG
}
