#!/bin/sh
# Rounded messages (parallel.halo_precision) in short runs in double precision,
# against the same run with messages as they are, which in turn is that of one
# process, exactly.
#
# Model. An exchange changes a value that travels by at most u times itself
# (single, u = 2^-24), or u times the largest of its field and coefficient
# (half, u = 2^-11: a message is scaled by powers of two). A half step makes one
# plane of targets per cut from such values, each as a mean of both sides of
# its cell, so that an exchange changes no value by more than about u max|u|.
# `wave` by leapfrog keeps u at two times instead of u and u_t. A disturbance of
# one of them by e is one of u_t by e/(dt/2): what does not vary in space grows
# by e with every half step, so that n exchanges add (1 + 2 + .. + n) u max|u| at
# most. Waves that do not grow are in test/mpi/exchange.c. Roundings that differ
# in sign add up to much less (docs/scaling.md).
set -u
. "${0%/*}/common.sh"
have_device || {
    skip 'mpi/precision: no device is here'
    end mpi/precision
    exit
}
if "$htwave" devices --json | grep -q '"fp64": false'; then
    skip 'mpi/precision: a device here has no double precision'
    end mpi/precision
    exit
fi
cd "$scratch" || exit 1

# An oblique wave: all values of a plane differ.
cat >wave.cfg <<'CFG'
grid = { cells = [7, 5, 6]; upper = [1.4, 1.0, 1.2]; order = 1; };
time = { end = 1.4; scheme = "taylor"; };
initial = { type = "plane"; cycles = [1, 1, 1]; };
device = { precision = "double"; selfcheck = false; tune = "never"; };
CFG

# simulate NAME N OVERRIDE...: N ranks, or a process alone
simulate() {
    name=$1 count=$2
    shift 2
    set -- "$htwave" run wave.cfg --quiet "$device" \
        output.directory="$name" "$@"
    if [ "$count" = alone ]; then "$@"; else ranks "$count" "$@"; fi \
        >message.txt 2>&1
    code=$?
    [ $code = 0 ] && return
    sed 's/^/    | /' message.txt
    fail "$name: exit code $code"
}

largest() { # A B: difference over the largest value
    "$htwave" compare "$1" "$2" --json >compare.txt 2>message.txt
    number compare.txt max_relative | awk '{ printf "%.2e", $1 }'
}

exactly_same() { # WHAT A B
    figure=$(largest "$2" "$3")
    judge "$1: differs by $figure (bound 0)" below "$figure" 0
}

above() { # VALUE BOUND; an absent value is not above
    awk -v v="$1" -v b="$2" 'BEGIN { exit !(v != "" && v + 0 > b + 0) }'
}

# bound U: of the exchanges that the run "same" tells
bound() {
    awk -v p="$(number same/summary.json exchanges_per_step)" \
        -v s="$(number same/summary.json steps_done)" -v u="$1" \
        'BEGIN { n = int(p * s + 0.5); printf "%.2e", n * (n + 1) / 2 * u }'
}

set -- system=wave time.scheme=leapfrog 'output.fields=["u"]'
simulate alone alone "$@"
for precision in same single half; do
    simulate $precision 2 "$@" parallel.halo_precision=$precision
done
exactly_same "same against a process alone" alone same
single=$(bound 5.9604645e-8)
half=$(bound 4.8828125e-4)
figure=$(largest same single)
judge "single differs by $figure (more than 0)" above "$figure" 0
judge "single differs by $figure (bound $single)" below "$figure" "$single"
figure=$(largest same half)
judge "half differs by $figure (more than single may, $single)" above "$figure" "$single"
judge "half differs by $figure (bound $half)" below "$figure" "$half"

# In a run in single precision there is nothing left to round.
for precision in same single; do
    simulate $precision 2 system=acoustic device.precision=single \
        parallel.halo_precision=$precision
done
exactly_same "run in single precision: single against same" same single
simulate half 2 system=acoustic device.precision=single \
    parallel.halo_precision=half
figure=$(largest same half)
judge "run in single precision: half differs by $figure (more than 0)" \
    above "$figure" 0

end mpi/precision
