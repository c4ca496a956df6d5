#!/bin/sh
# Slabs by measured speeds, of 1, 2 and 3 ranks that share a device.
set -u
. "${0%/*}/common.sh"

judged_by_ranks speed 1 2 3
end mpi/speed
