#!/bin/sh
# Gradients in slabs against one process by 3 ranks (test/mpi/gradients.c).
set -u
. "${0%/*}/common.sh"
judged_by_ranks gradients 3
end mpi/gradients
