#!/bin/sh
# Slabs against one process by 2, 3 and 5 ranks, which share a device and
# compiled programs: every variant (test/mpi/slabs.c), and the exchange of
# planes (test/mpi/exchange.c).
set -u
. "${0%/*}/common.sh"

run() { # N PROGRAM
    timeout -k 5 240 mpiexec -n "$1" "$build/test/mpi/$2" "$scratch/cache" \
        >"$scratch/out" 2>&1
    code=$?
    relay "$scratch/out"
    judge "$2 by $1 ranks ends with exit code $code (expected 0)" [ $code = 0 ]
    [ $code = 0 ] || tail -n 20 "$scratch/out"
}

mkdir "$scratch/cache"
for n in 2 3 5; do
    run $n slabs
    [ $n != 3 ] || run $n exchange
done
end mpi/slabs
