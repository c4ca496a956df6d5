#!/bin/sh
# Finite differences in slabs against one process by 2 and 5 ranks: depths
# of halos, terms, walls, media, steps back (test/mpi/fd_slabs.c).
set -u
. "${0%/*}/common.sh"
judged_by_ranks fd_slabs 2 5
end mpi/fd_slabs
