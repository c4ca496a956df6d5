#!/bin/sh
# The parts of the method that depend on slabs, by 2 and 5 ranks against a
# process without a launcher: time step, medium and fields are the same bit by
# bit, sums up to rounding; a failure of one rank is reported once, by all.
set -u

. "${0%/*}/common.sh"
plan=$build/test/mpi/plan

# Sums of doubles in another order: some hundred terms of one sign, twice.
differ() { # FILE FILE: the largest relative difference of lines "sum"
    paste -d ' ' "$1" "$2" | awk '
        { if ($2 != $6 || $3 != $7 || NF != 8) d = 1
          a = $4 < 0 ? -$4 : $4; e = $4 - $8; e = e < 0 ? -e : e
          if (!(e <= d * a)) d = e / (a > 0 ? a : 1) }
        END { print (NR > 0 ? d + 0 : 1) }'
}

"$plan" >"$scratch/alone" || fail "without a launcher: $plan fails"
grep '^same' "$scratch/alone" >"$scratch/same"
grep '^sum' "$scratch/alone" >"$scratch/sum"
lines=$(wc -l <"$scratch/same")
sums=$(wc -l <"$scratch/sum")
judge "alone: $lines lines and $sums sums to compare with" \
    [ "$lines" -ge 100 -a "$sums" -ge 50 ]

few=
[ "${HTWAVE_COVER:-}" != all ] || few=2
for n in $few 5; do
    ranks "$n" "$plan" >"$scratch/out" 2>"$scratch/err"
    judge "$n ranks: the program ends well" [ $? = 0 ]
    grep -v '^same \|^sum ' "$scratch/out" >"$scratch/judged"
    relay "$scratch/judged"
    judge "$n ranks: $ran checks of its own (expected 6 or more)" [ "$ran" -ge 6 ]
    grep '^same' "$scratch/out" >"$scratch/same.$n"
    grep '^sum' "$scratch/out" >"$scratch/sum.$n"
    judge "$n ranks: $lines lines on plans, media, fields and maxima are equal" \
        cmp -s "$scratch/same" "$scratch/same.$n"
    diff "$scratch/same" "$scratch/same.$n" | head -4
    worst=$(differ "$scratch/sum" "$scratch/sum.$n")
    judge "$n ranks: $sums sums differ by $worst of them (bound 1e-13)" \
        awk -v w="$worst" 'BEGIN { exit !(w != "" && w + 0 <= 1e-13) }'
done

# told WHAT CODE TEXT: each rank has the same message, which holds the text
told() { # RANKS ARGUMENT TEXT
    apart "$1" "$plan" "$2"
    sed -n 's/^rank [0-9]* is told //p' "$scratch/out" | sort | uniq -c \
        >"$scratch/told"
    judge "$2, $1 ranks: $(head -1 "$scratch/told" | cut -c1-150)" \
        grep -q "^ *$1 .*$3" "$scratch/told"
    [ "$(wc -l <"$scratch/told")" = 1 ] ||
        fail "$2, $1 ranks: several messages: $(cat "$scratch/told")"
}

# Plane 7 of 11 has it; the dual cells of plane 6 end there.
told 5 refuse "1: rank 2: medium.c = .*gives c = -1 at (.*, 1.4)"
told 3 refuse "1: rank 1: medium.c = .*gives c = -1 at (.*, 1.4)"
told 3 missing "1: rank 2: initial.file = .*does not exist"
told 2 flat "1: grid.cells = .*: 2 ranks, but only grids with x3"
told 2 thin "1: parallel.halo_depth = 64: needs slabs of 32 planes"
told 12 thin "1: grid.cells = .*: 12 ranks for 11 planes"

end mpi/plan
