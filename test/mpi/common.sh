# What the scripts beside it share; read with ".", so it is no program. Beside
# what test/config/common.sh sets: device (here any OpenCL or CUDA device, since
# the reference knows no ranks), launch.
. "$(dirname "$0")/../config/common.sh"
device=device.select=${HTWAVE_DEVICE:-auto}

# Ranks may share cores and belong to root, as launchers other than MPICH's
# must be told.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1

# need_ranks NAME: ends the script unless ranks can be started here
need_ranks() {
    launch=$(command -v mpiexec) || {
        skip "$1: no mpiexec here"
        end "$1"
        exit
    }
}

seconds() { # since the epoch, with fractions
    date +%s.%N
}
since() { # BEGIN
    awk -v a="$1" -v b="$(seconds)" 'BEGIN { printf "%.1f", b - a }'
}
