#!/bin/sh
# The communicator by mpiexec: what test/unit/comm.c judges, on 1 to 5 ranks;
# then failures of one rank, of which all must learn within 2 s, and a rank that
# is killed.
set -u
. "${0%/*}/common.sh"
program=$build/test/unit/comm

for n in 1 2 3 5; do
    ranks $n "$program" >"$scratch/out" 2>&1
    code=$?
    relay "$scratch/out"
    judge "$n ranks end with exit code $code (expected 0)" [ $code = 0 ]
done

# Each rank has printed "rank R: T s: CODE: MESSAGE", all but R and T the same.
one_failure() { # N WHERE EXPECTED
    ranks "$1" "$program" "$2" >"$scratch/out" 2>&1
    code=$?
    result=$(awk -v n="$1" -v expected="$3" '
        /^rank [0-9]+: / {
            count++
            if ($3 + 0 > slowest) slowest = $3 + 0
            sub(/^rank [0-9]+: [0-9.]+ s: [0-9]+: /, "")
            if ($0 != expected) wrong = $0
            next
        }
        { wrong = $0 }
        END { printf "%d of %d ranks, %.2f s (bound 2)%s\n", count, n, slowest,
              wrong != "" ? ", not so: " wrong : ""
              exit !(count == n && slowest <= 2 && wrong == "") }' \
        "$scratch/out")
    judge "a failure, others in $2: \"$3\": $result" [ $? = 0 ]
    judge "exit code $code (expected 7)" [ $code = 7 ]
}
for where in sum wait send agree; do
    one_failure 5 $where "rank 4: device of rank 4 lost"
done
one_failure 2 wait "rank 1: device of rank 1 lost"
one_failure 5 late "rank 0: no memory"

start=$(date +%s)
ranks 3 "$program" kill >"$scratch/out" 2>&1
code=$?
seconds=$(($(date +%s) - start))
judge "one of 3 ranks killed: all end after $seconds s (bound 5)" \
    [ $seconds -le 5 ]
judge "exit code $code (expected: not 0, not 124)" \
    [ $code != 0 -a $code != 124 ]
end mpi/comm
