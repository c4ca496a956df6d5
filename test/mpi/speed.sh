#!/bin/sh
# Slabs by measured speeds, of 1, 2 and 3 ranks that share a device.
set -u
. "${0%/*}/common.sh"

for n in 1 2 3; do
    ranks $n "$build/test/mpi/speed" >"$scratch/out" 2>&1
    code=$?
    cat "$scratch/out"
    failed=$((failed + $(grep -ac '^FAIL ' "$scratch/out")))
    judge "$n ranks: exit code $code" [ $code = 0 ]
done
end mpi/speed
