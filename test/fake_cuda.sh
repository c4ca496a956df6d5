# A driver library for CUDA's devices on any machine and one of a compiler, for
# scripts; read with ".", after config/common.sh, in the folder of the Makefile.
# Sets fake, the folder of the libraries, for LD_LIBRARY_PATH.

fake=$scratch/fake_cuda
fake_source=$PWD/test/fake_cuda.c
fake_nvrtc=$PWD/test/fake_nvrtc.c
fake_names_in=$PWD/src/device/cuda.c

# fake_cuda [OPTION...]: makes them. Functions that it has not fail, under each of
# the names that versions of cuda.h give them; with -DFAKE_WITHOUT=NAME there is
# none of the name.
fake_cuda() {
    mkdir -p "$fake"
    without=$(echo "$*" | sed -n 's/.*-DFAKE_WITHOUT=\([A-Za-z0-9]*\).*/\1/p')
    fake_names=$(grep -o '\<X(cu[A-Za-z0-9]*)' "$fake_names_in" | sed 's/X(\(.*\))/\1/')
    for name in $fake_names cuEventElapsedTime cuGraphAddKernelNode; do
        [ "$name" != "$without" ] || continue
        for suffix in '' _v2 _v3; do
            grep -q "^int $name$suffix(" "$fake_source" ||
                echo "int $name$suffix(void) { return 999; }"
        done
    done >"$fake/rest.c"
    cc -std=c11 -shared -fPIC "$@" -o "$fake/libcuda.so.1" "$fake_source" \
        "$fake/rest.c" &&
        cc -std=c11 -shared -fPIC -o "$fake/libnvrtc.so.13" "$fake_nvrtc"
}

# Ends the script where the back end cannot be tried.
need_fake_cuda() { # NAME of the script
    if [ ! -f "$fake_names_in" ] || ! command -v cc >/dev/null; then
        why='no compiler or sources here'
    else
        fake_cuda || fail 'the library does not compile'
        why=$(LD_LIBRARY_PATH=$fake FAKE_GPUS=a "$htwave" devices |
            sed -n 's/^no cuda: //p')
    fi
    case $why in
    'no compiler'* | *'built without'* | *libnvrtc*)
        skip "$why"
        end "$1"
        exit
        ;;
    esac
}
