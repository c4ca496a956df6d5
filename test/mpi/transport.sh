#!/bin/sh
# Messages that do not arrive unchanged: a library between htwave and MPI
# changes those by FAKE_BAD. By default the next transport is used, and the
# result is that of one process; a transport that was asked for is refused.
set -u
. "${0%/*}/common.sh"
have_device || {
    skip 'mpi/transport: no device is here'
    end mpi/transport
    exit
}
cd "$scratch" || exit 1
command -v mpicc >/dev/null || command -v cc >/dev/null || {
    skip 'no compiler here'
    end mpi/transport
    exit
}

# Shared memory is changed where a rank writes, when it says that all is there.
cat >change.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static char *shared;
static int bad(const char *way) {
    const char *ways = getenv("FAKE_BAD");
    return ways && strstr(ways, way) != NULL;
}
int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info,
                            MPI_Comm comm, void *base, MPI_Win *win) {
    int code =
        PMPI_Win_allocate_shared(size, unit, info, comm, base, win);
    shared = *(char **)base;
    return code;
}
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request) {
    if (tag <= 1 && count > 0 && bad("staged")) ((char *)data)[100] ^= 1;
    if (tag <= 1 && count == 0 && shared && bad("shared"))
        memset(shared, 77, 1 << 10);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}
C
flags=$(pkg-config --cflags mpich 2>/dev/null || pkg-config --cflags mpi)
# shellcheck disable=SC2086 # the flags are words
cc -w -shared -fPIC $flags -o change.so change.c || {
    skip 'no MPI to compile with'
    end mpi/transport
    exit
}
cat >run.cfg <<'CFG'
system = "acoustic";
grid = { cells = [6, 6, 7]; order = 2; };
time = { end = 0.3; };
initial = { type = "gaussian"; width = 0.2; };
device = { precision = "double"; selfcheck = false; tune = "never"; };
CFG

# by RANKS BAD WISH: runs; sets code; its output is in out.BAD.WISH
by() {
    out="out.$2.$3"
    timeout -k 5 120 mpiexec -n "$1" env FAKE_BAD="$2" \
        LD_PRELOAD="$PWD/change.so" "$htwave" run run.cfg --json \
        "$device" parallel.transport="$3" output.directory="$out" \
        >answer.txt 2>message.txt
    code=$?
    grep "arrive" message.txt | sed "s/^/    | /"
}
took() { # WHAT WAY
    judge "$1: by $2" grep -q "\"transport\": \"$2\"" answer.txt
    judge "$1: the result of sound messages" \
        cmp -s "$out/$last" "out.none.auto/$last"
}
noted() { # TIMES
    [ "$(grep -c 'do not arrive unchanged' message.txt)" = "$1" ]
}

by 2 none auto
last=$(cd "$out" && ls fields_*.h5 | tail -n 1)
judge "sound messages: exit code $code" [ $code = 0 ]
judge 'sound messages: no note' noted 0
# On GPUs that reach each other both of the transports tried here are further ones.
way=$(sed -n 's/.*"transport": "\([a-z]*\)".*/\1/p' answer.txt)
if [ "$way" = shared ]; then
    by 2 shared auto
    judge "changed in shared memory: exit code $code" [ $code = 0 ]
    judge 'changed in shared memory: one note' noted 1
    took 'changed in shared memory' staged
    by 3 shared,staged auto
    judge "no way is sound: exit code $code, no output" \
        [ $code != 0 -a ! -e "$out/summary.json" ]
fi
for wish in shared staged; do
    by 2 $wish $wish
    judge "$wish, asked for and changed: exit code $code, one message" \
        [ $code != 0 -a "$(grep -c '^htwave: ' message.txt)" = 1 ]
    judge "$wish, asked for and changed: it names the way" \
        grep -q "parallel.transport = \"$wish\"" message.txt
done
end mpi/transport
