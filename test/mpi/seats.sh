#!/bin/sh
# Who shares a device and who takes which, of 1, 2 and 4 ranks.
set -u
. "${0%/*}/common.sh"

for n in 1 2 4; do
    ranks $n "$build/test/mpi/seats" >"$scratch/out" 2>&1
    code=$?
    cat "$scratch/out"
    failed=$((failed + $(grep -ac '^FAIL ' "$scratch/out")))
    judge "$n ranks: exit code $code" [ $code = 0 ]
done
end mpi/seats
