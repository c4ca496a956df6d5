#!/bin/sh
# Outputs of several ranks: test/io/slabs.c writes the same run with 1, 2, 3 and
# 5 of them, and all files must be those of a process without MPI. Then writes
# that fail on one of three ranks, or on all: all ranks learn the same, and no
# file is left behind.
set -u
. "${0%/*}/common.sh"
program=$build/test/io/slabs

"$program" "$scratch/alone" || fail "the run of a process alone"
for n in 1 2 3 5; do
    judge "$n ranks write their run" ranks $n "$program" "$scratch/$n"
    "$program" compare "$scratch/alone" "$scratch/$n" |
        sed "s|$scratch/|ranks |" >"$scratch/out"
    relay "$scratch/out"
done

# A second run in the same directory, and one beside another that goes on.
judge "2 ranks write into the same directory" ranks 2 "$program" "$scratch/2"
judge "the files of their first run are in run-001" \
    cmp -s "$scratch/2/x1/run-001/fields_000001.h5" \
    "$scratch/alone/x1/fields_000001.h5"
echo 'grid = { cells = [4]; };' >"$scratch/long.cfg"
"$htwave" run "$scratch/long.cfg" --quiet device.backend=oracle time.end=1e6 \
    output.directory="$scratch/busy/x1" 2>/dev/null &
child=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -e "$scratch/busy/x1/input.cfg" ] && break
    sleep 0.5
done
apart 3 "$program" "$scratch/busy"
code=$?
said=$(grep -c ": process $child on [^ ]* is writing to it" "$scratch/out")
judge "a directory in use: $said of 3 ranks refuse it" [ "$said" = 3 ]
judge "exit code $code (expected 2)" [ $code = 2 ]
kill $child
wait $child

# fails WHAT CODE MESSAGE FILES ARGUMENT...: each of three ranks says MESSAGE
# once, the exit code is CODE, so many files are left.
fails() {
    what=$1 expected=$2 message=$3 files=$4
    shift 4
    apart 3 "$program" "$scratch/failed" "$@"
    code=$?
    said=$(grep -c ": $message\$" "$scratch/out")
    lines=$(grep -c '' "$scratch/out")
    left=$(find "$scratch/failed" -type f | wc -l)
    judge "$what: $said of 3 ranks in $lines lines: $message" \
        [ "$said" = 3 -a "$lines" = 3 ]
    judge "exit code $code (expected $expected)" [ $code = "$expected" ]
    judge "files left: $left (expected $files)" [ "$left" = "$files" ]
    rm -rf "$scratch/failed"
}
file=$scratch/failed/x1/fields_000000.h5
large="File too large"
fails "no room" 1 "rank 0: cannot write $file: $large" 1 full -1
for rank in 1 2; do
    fails "no room for rank $rank" 1 \
        "rank $rank: cannot write dataset p of $file: $large" 1 full $rank
done
fails "no directory any more" 1 "rank 0: cannot create a file for $file: .*" \
    0 gone
mkdir "$scratch/failed" && : >"$scratch/failed/x1"
fails "a file in its place" 2 "rank 0: output.directory = .*" 1
end mpi/output
