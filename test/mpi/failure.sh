#!/bin/sh
# A rank that is killed takes the others with it, soon, and leaves complete
# files only; a signal to all interrupts the run in good order; a full disk is
# one message, and so is a state that is not finite, and a file that would not be.
set -u
. "${0%/*}/common.sh"
have_device || no_ranks 'no device is here'
cd "$scratch" || exit 1

cat >long.cfg <<'CFG'
system = "acoustic";
grid = { cells = [6, 6, 8]; order = 1; };
time = { end = 1e5; };
initial = { type = "gaussian"; width = 0.2; };
output = { directory = "out"; every = 1e4; pictures = false; };
device = { selfcheck = false; tune = "never"; };
CFG

# Tells its process number, which stays when it becomes htwave, in a file named
# after the rank, where the launcher tells that.
cat >rank.sh <<'SH'
#!/bin/sh
echo $$ >pid.${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$$}}
exec "$@"
SH
chmod +x rank.sh

alive() { # prints the ranks that are still there
    for file in pid.*; do
        kill -0 "$(cat "$file")" 2>/dev/null && printf '%s ' "$(cat "$file")"
    done
}

# begin ARGUMENT...: three ranks of a run, until they step
begin() {
    rm -rf out pid.*
    timeout -k 5 200 mpiexec -n 3 ./rank.sh "$htwave" run long.cfg --quiet \
        "$device" "$@" >answer.txt 2>message.txt &
    launcher=$!
    for _ in $(seq 600); do
        [ -e out/fields_000000.h5 ] && break
        sleep 0.1
    done
    sleep 0.3
    judge "$title: three ranks step" [ "$(alive | wc -w)" = 3 ]
}

# Until all ranks are gone, for at most 20 s; sets took and code
await_end() {
    start=$(now)
    for _ in $(seq 200); do
        [ -z "$(alive)" ] && break
        sleep 0.1
    done
    took=$(since "$start")
    judge "$title: all gone after $took s (bound 5)" below "$took" 5
    wait $launcher
    code=$?
}

# Every file of the output reads, and there are none under temporary names.
judge_files() {
    strange=$(ls -A out | grep -Ev \
        '^([.]htwave[.]lock|input[.]cfg|summary[.]json|fields[.]xdmf|fields_[0-9]+[.]h5|wave_[0-9]+[.]png)$')
    judge "$title: only complete files: $(ls out | tr '\n' ' ')" \
        [ -z "$strange" ]
    for file in out/fields_*.h5; do
        "$htwave" compare "$file" "$file" >/dev/null 2>&1
        judge "$title: $file reads" [ $? = 0 ]
    done
}

# ---- a rank is killed ----
for victim in 1 3; do
    title="rank $victim of 3 killed"
    begin
    # shellcheck disable=SC2046 # a list of numbers
    set -- $(alive)
    eval kill -KILL "\${$victim}"
    await_end
    judge "$title: exit code $code" [ $code != 0 ]
    judge_files
done

# ---- interrupted ----
title='SIGTERM to all'
begin output.pictures=true
# shellcheck disable=SC2046 # a list of numbers
kill -TERM $(alive)
await_end
judge "$title: exit code $code" [ $code = 1 ]
judge "$title: one message: $(cat message.txt)" \
    [ "$(grep -c '^htwave: interrupted at step' message.txt)" = 1 ]
judge "$title: in the summary" \
    grep -q '"interrupted": true' out/summary.json
judge "$title: the last state is written" \
    [ -e out/fields_000001.h5 ]
judge "$title: and drawn" [ $drawn = false -o -e out/wave_0000.png ]
judge_files

# ---- one rank is interrupted ----
title='SIGTERM to one rank'
begin
# shellcheck disable=SC2046 # a list of numbers
set -- $(alive)
kill -TERM "$2"
await_end
judge "$title: exit code $code" [ $code = 1 ]
judge "$title: in the summary" grep -q '"interrupted": true' out/summary.json
judge_files

# ---- one rank stops, without an end ----
title='SIGSTOP to rank 1 of 3'
begin parallel.patience=1.5
kill -STOP "$(cat pid.1)"
sleep 3
await_end
judge "$title: exit code $code" [ $code = 1 ]
judge "$title: named in one message: $(tail -c 300 message.txt | tr '\n' ' ')" \
    [ "$(grep -c 'htwave:' message.txt)$(grep -c \
    '^htwave: rank 1 does not answer, and rank 0 has waited 1.5 s (parallel.patience)' message.txt)" = 11 ]
judge_files

# ---- rank 0 may write no more than 4 KiB, while it runs ----
title='disk full on rank 0'
if [ -z "$(command -v prlimit)" ]; then
    skip "$title: no prlimit here"
else
    begin output.every=100.0
    prlimit --pid "$(cat pid.0 2>/dev/null || alive | cut -d' ' -f1)" \
        --fsize=4096
    # it meets the limit at its next output
    for _ in $(seq 600); do
        [ "$(alive | wc -w)" = 3 ] || break
        sleep 0.1
    done
    await_end
    judge "$title: exit code $code" [ $code = 1 ]
    judge "$title: one message: $(grep '^htwave: ' message.txt)" \
        [ "$(grep -c '^htwave: .*out/' message.txt)" = 1 ]
    judge "$title: no rank is left" [ -z "$(alive)" ]
    judge_files
fi

# ---- the numbers overflow, first in the slab of the last rank, where the medium jumps ----
# The first look is at a twentieth of the end; growth is refused where one by the clock comes before.
title='not finite'
rm -rf out
POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable ranks 3 "$htwave" run long.cfg --quiet "$device" \
    'grid={cells=[2,2,3];order=3;}' time.end=20.0 time.scheme=taylor output.every=20.0 \
    initial.type=random 'medium={type="expression";c="1+30*step(x3-0.6)";}' 2>message.txt
code=$?
judge "$title: three ranks end with exit code $code (3)" [ $code = 3 ]
judge "$title: one message: $(cut -c 1-60 message.txt)" \
    [ "$(grep -c '' message.txt)$(grep -c \
    -e '^htwave: p is not finite at ' -e '^htwave: the energy has grown ' message.txt)" = 11 ]
judge_files

title='values of one slab beyond single precision'
rm -rf out
ranks 3 "$htwave" run long.cfg --quiet "$device" grid.cells=[8,8,12] initial.type=zero \
    'sources=({position=[0.5,0.5,0.83];frequency=1.0;amplitude=6e37;})' \
    time.scheme=taylor time.end=1.2 output.every=1.2 2>message.txt
code=$?
judge "$title: exit code $code: $(tail -n 1 message.txt)" [ "$code $(grep -c \
    '^htwave: rank 2: cannot write dataset v3 of out/fields_000001.h5: ' message.txt)" = '1 1' ]
judge_files

end mpi/failure
