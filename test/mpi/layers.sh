#!/bin/sh
# Absorbing layers of Hermite methods in slabs against one process by 2 and 5
# ranks (test/mpi/layers.c).
set -u
. "${0%/*}/common.sh"
judged_by_ranks layers 2 5
end mpi/layers
