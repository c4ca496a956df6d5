#!/bin/sh
# The gradient by samples of a medium in slabs against one process by 2 and 5
# ranks, of acoustics and of elastic solids (test/mpi/fit_transpose.c).
set -u
. "${0%/*}/common.sh"
judged_by_ranks fit_transpose 2 5
end mpi/fit_transpose
