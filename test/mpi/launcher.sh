# Starts ranks; read with ".", after test/config/common.sh, so it is no program.
# Ends the script when no launcher is here, it starts no 5 ranks (it may refuse
# more than there are cores, or to work for root), or MPI finds no way between
# them here (MPICH wants 8 MiB or so in /dev/shm).

# ranks N COMMAND...: by mpiexec, at most 120 s; a hang is a failure
ranks() {
    count=$1
    shift
    timeout -k 5 120 mpiexec -n "$count" "$@"
}

# apart N COMMAND...: the same; $scratch/out gets what the ranks print, one after
# the other, since a launcher may mix lines of ranks, and then what it says itself
apart() {
    count=$1
    shift
    rm -rf "$scratch/apart"
    mkdir "$scratch/apart"
    # shellcheck disable=SC2016 # for the shell of each rank
    ranks "$count" sh -c 'out=$0/$$; exec "$@" >"$out" 2>&1' \
        "$scratch/apart" "$@" >"$scratch/launcher" 2>&1
    set -- $?
    cat "$scratch/apart"/* "$scratch/launcher" >"$scratch/out"
    return "$1"
}

no_ranks() { # WHY
    skip "$1"
    end "mpi/$(basename "$0" .sh)"
    exit
}

command -v mpiexec >/dev/null || no_ranks 'mpiexec is not here'
# Seen on a busy machine: a launcher that fails once and then starts them.
start_ranks() {
    for _ in 1 2 3; do
        ranks 5 true >"$scratch/launcher" 2>&1 && return
        sleep 1
    done
    no_ranks "mpiexec does not start 5 ranks: $(head -n 1 "$scratch/launcher")"
}
# For all scripts of a call of tools/check the first one asks: each time takes 0.5 s of CPU time.
known=${htwave%/*}/ranks-start
if [ -z "$(find "$known" -mmin -15 2>/dev/null)" ]; then
    start_ranks
    if ranks 5 "$htwave" --version 2>&1 | grep -q 'Fatal error in .*Init'; then
        no_ranks 'MPI does not start between 5 ranks'
    fi
    : >"$known"
fi
