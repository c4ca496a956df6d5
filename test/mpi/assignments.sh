#!/bin/sh
# Who shares a device and who takes which, of 1, 2 and 4 ranks.
set -u
. "${0%/*}/common.sh"

judged_by_ranks assignments 1 2 4
end mpi/assignments
