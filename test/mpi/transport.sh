#!/bin/sh
# Messages that do not arrive unchanged: a library between htwave and MPI
# changes those by FAKE_BAD, and the run is refused. (Peers that lose what they
# copy are in links.sh, where the next transport is used.)
set -u
. "${0%/*}/common.sh"
have_device || no_ranks 'no device is here'
cd "$scratch" || exit 1
command -v mpicc >/dev/null || command -v cc >/dev/null || {
    skip 'no compiler here'
    end mpi/transport
    exit
}

cat >change.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static int bad(const char *way) {
    const char *ways = getenv("FAKE_BAD");
    return ways && strstr(ways, way) != NULL;
}
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request) {
    if (tag <= 1 && count > 0 && bad("staged")) ((char *)data)[100] ^= 1;
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
noted() { # TIMES
    [ "$(grep -c 'do not arrive unchanged' message.txt)" = "$1" ]
}

by 2 none auto
judge "sound messages: exit code $code" [ $code = 0 ]
judge 'sound messages: no note' noted 0
by 2 staged staged
judge "staged, asked for and changed: exit code $code, one message, no output" \
    [ $code != 0 -a "$(grep -c '^htwave: ' message.txt)" = 1 -a \
    ! -e "$out/summary.json" ]
judge 'staged, asked for and changed: it names the way' \
    grep -q 'parallel.transport = "staged"' message.txt
end mpi/transport
