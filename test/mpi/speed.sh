#!/bin/sh
# Slabs by measured speeds, of 1, 2 and 3 ranks that share a device.
set -u

speed=${HTWAVE_BUILD:-build}/test/mpi/speed
command -v mpiexec >/dev/null || {
    echo "skip mpiexec is not here"
    exit 0
}
code=0
for n in 1 2 3; do
    timeout -k 5 120 mpiexec -n "$n" "$speed" || {
        echo "FAIL $n ranks: exit code $?"
        code=1
    }
done
exit $code
