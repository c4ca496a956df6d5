#!/bin/sh
# Gradients in slabs against one process by 2 and 3 ranks (test/mpi/gradients.c).
set -u
. "${0%/*}/common.sh"
judged_by_ranks gradients 2 3
end mpi/gradients
