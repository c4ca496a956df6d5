#!/bin/sh
# Shots by groups of ranks: bit for bit what one process writes, however the ranks
# are divided; a shot that cannot run ends all groups with its message.
set -u
. "${0%/*}/common.sh"
have_device || no_ranks 'no device is here'
root=$PWD
cd "$scratch" || exit 1

cat >shots.cfg <<'CFG'
system = "acoustic";
grid = { cells = [10, 9, 24]; upper = [10.0, 9.0, 24.0]; };
time = { end = 12.0; scheme = "fd"; };
medium = { type = "expression"; c = "1 + 0.02*x3"; rho = "1 + 0.01*x1"; };
boundary = { x1 = "rigid"; x2 = "rigid"; x3 = ["free", "rigid"]; };
sources = ( { position = [3.2, 2.1, 4.5]; frequency = 0.08; },
            { position = [6.2, 5.1, 9.0]; frequency = 0.08; } );
receivers = ( { type = "line"; from = [3.0, 3.0, 3.0]; to = [6.0, 5.0, 15.0]; count = 5;
                every = 0.5; } );
shots = ( { sources = [1]; }, { sources = [2]; }, { } );
output = { directory = "out"; pictures = false; traces = ["segy"]; units = { time = "ms"; }; };
device = { selfcheck = false; tune = "never"; };
CFG

# Files of all shots that differ.
others() {
    for file in shot-001/traces.h5 shot-002/traces.h5 shot-003/traces.h5 \
        shot-003/fields_000000.h5 shots_receivers-1_p.sgy; do
        cmp -s "alone/$file" "out/$file" || echo "$file"
    done
}

"$htwave" run shots.cfg --quiet "$device" output.directory=alone >said.txt 2>&1
judge "one process: exit code $? $(cat said.txt)" [ -e alone/summary.json ]
# ranks and groups; 0: by themselves
for case in '2 0' '3 1' '4 2'; do
    rm -rf out
    ranks "${case% *}" "$htwave" run shots.cfg --quiet "$device" "parallel.shots=${case#* }" \
        >said.txt 2>&1
    code=$?
    wrong=$(others)
    judge "ranks and groups $case: exit code $code, files that differ: ${wrong:-none}" \
        [ "$code$wrong" = 0 ]
    [ $code = 0 ] || sed 's/^/    | /' said.txt
done

rm -r out/shot-002 out/shot-003/finished
: >out/shot-002 # no folder
ranks 2 "$htwave" run shots.cfg --quiet "$device" >said.txt 2>&1
code=$?
judge "a shot of the other group that cannot run: exit code $code, $(tail -1 said.txt)" \
    [ "$code $(grep -c 'htwave: .*shot 2 of 3: ' said.txt)" = '2 1' ]
ranks 2 "$htwave" data shots.cfg --quiet "$device" >said.txt 2>&1
judge "data: exit code $? $(cat said.txt)" "$htwave" compare obs/shot-3.h5 alone/shot-003/traces.h5
ranks 3 "$htwave" check shots.cfg --quiet "$device" parallel.shots=2 >said.txt 2>&1
code=$?
judge "groups of unequal size: exit code $code, $(tail -1 said.txt)" \
    [ "$code $(grep -c 'parallel.shots = 2: 3 ranks are no multiple' said.txt)" = '2 1' ]
# A handle of the library is one process's: each rank takes its own shot.
cat >each.py <<'PY'
import os, sys
import htwave
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "-1")))
with htwave.Model("shots.cfg", *sys.argv[1:]) as model:
    for shot in (0, 1) if rank < 0 else (rank,):
        open(f"{'alone' if rank < 0 else 'rank'}-{shot}.txt", "w").write(str(model.forward(shot).tolist()))
PY
if have_modules numpy; then
    export HTWAVE_LIBRARY="$(dirname "$htwave")/libhtwave.so.0" PYTHONPATH="$root/python"
    python3 each.py "$device" >said.txt 2>&1 || sed 's/^/    | /' said.txt
    ranks 2 python3 each.py "$device" >said.txt 2>&1 || sed 's/^/    | /' said.txt
    judge 'the library under mpiexec: a shot by each rank' \
        sh -c 'cmp alone-0.txt rank-0.txt && cmp alone-1.txt rank-1.txt'
else
    skip 'Python: no python3 with numpy is here'
fi

end mpi/shots
