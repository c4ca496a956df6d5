#!/bin/sh
# A rank that is killed takes the others with it, soon, and leaves complete
# files only; a signal to all interrupts the run in good order; a full disk is
# one message.
set -u
. "${0%/*}/common.sh"
have_device || {
    skip 'mpi/failure: no device is here'
    end mpi/failure
    exit
}
cd "$scratch" || exit 1

cat >long.cfg <<'CFG'
system = "acoustic";
grid = { cells = [6, 6, 8]; order = 1; };
time = { end = 1e5; };
initial = { type = "gaussian"; width = 0.2; };
output = { directory = "out"; };
CFG

# Tells its process number, which stays when it becomes htwave.
cat >rank.sh <<'SH'
#!/bin/sh
echo $$ >pid.$$
exec "$@"
SH
chmod +x rank.sh

alive() { # prints the ranks that are still there
    for file in pid.*; do
        kill -0 "${file#pid.}" 2>/dev/null && printf '%s ' "${file#pid.}"
    done
}

# begin ARGUMENT...: three ranks of a run, until they step
begin() {
    rm -rf out pid.*
    timeout -k 5 200 mpiexec -n 3 ./rank.sh "$htwave" run long.cfg --quiet \
        "$device" "$@" >answer.txt 2>message.txt &
    launcher=$!
    for _ in $(seq 240); do
        [ -e out/fields_000000.h5 ] && break
        sleep 0.25
    done
    sleep 1
    judge "$what: three ranks step" [ "$(alive | wc -w)" = 3 ]
}

# Until all ranks are gone, for at most 20 s; sets took and code
await_end() {
    start=$(now)
    for _ in $(seq 200); do
        [ -z "$(alive)" ] && break
        sleep 0.1
    done
    took=$(since "$start")
    judge "$what: all gone after $took s (bound 5)" below "$took" 5
    wait $launcher
    code=$?
}

# Every file of the output reads, and there are none under temporary names.
judge_files() {
    strange=$(ls -A out | grep -Ev \
        '^(input[.]cfg|summary[.]json|fields[.]xdmf|fields_[0-9]+[.]h5|wave_[0-9]+[.]png)$')
    judge "$what: only complete files: $(ls out | tr '\n' ' ')" \
        [ -z "$strange" ]
    for file in out/fields_*.h5; do
        "$htwave" compare "$file" "$file" >/dev/null 2>&1
        judge "$what: $file reads" [ $? = 0 ]
    done
}

# ---- a rank is killed ----
for victim in 1 3; do
    what="rank $victim of 3 killed"
    begin
    # shellcheck disable=SC2046 # a list of numbers
    set -- $(alive)
    eval kill -KILL "\${$victim}"
    await_end
    judge "$what: exit code $code" [ $code != 0 ]
    judge_files
done

# ---- interrupted ----
for signal in INT TERM; do
    what="SIG$signal to all"
    begin
    # shellcheck disable=SC2046 # a list of numbers
    kill -$signal $(alive)
    await_end
    judge "$what: exit code $code" [ $code = 1 ]
    judge "$what: one message: $(cat message.txt)" \
        [ "$(grep -c '^htwave: interrupted at step' message.txt)" = 1 ]
    judge "$what: in the summary" \
        grep -q '"interrupted": true' out/summary.json
    judge "$what: the last state is written" [ -e out/fields_000001.h5 ]
    judge_files
done

# ---- one rank is interrupted ----
what='SIGTERM to one rank'
begin
# shellcheck disable=SC2046 # a list of numbers
set -- $(alive)
kill -TERM "$2"
await_end
judge "$what: exit code $code" [ $code = 1 ]
judge "$what: in the summary" grep -q '"interrupted": true' out/summary.json
judge_files

# ---- files of rank 0 may be of 1 MiB, the snapshot has 4 ----
cat >full.sh <<'SH'
#!/bin/sh
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-}}
[ "$rank" != 0 ] || ulimit -f 2048
exec "$@"
SH
chmod +x full.sh
what='disk full on rank 0'
rm -rf out
timeout -k 5 200 mpiexec -n 3 ./full.sh "$htwave" run long.cfg --quiet \
    "$device" 'grid.cells=[24,24,24]' time.end=0.02 output.coefficients=true \
    >answer.txt 2>message.txt
code=$?
judge "$what: exit code $code" [ $code = 1 ]
judge "$what: one message: $(grep '^htwave: ' message.txt)" \
    [ "$(grep -c '^htwave: ' message.txt)" = 1 ]
judge "$what: names the file" grep -q 'out/fields_000000.h5' message.txt
judge "$what: left only the input: $(ls -A out | tr '\n' ' ')" \
    [ "$(ls -A out)" = input.cfg ]

end mpi/failure
