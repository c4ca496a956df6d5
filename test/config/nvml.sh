#!/bin/sh
# Energy of NVIDIA devices, on any machine: src/device/nvml.c against a library
# made here that has NVML's functions; and without one.
set -u
. "$(dirname "$0")/common.sh"
source=$PWD
cd "$scratch" || exit 1

if [ ! -f "$source/src/device/nvml.c" ] || ! command -v cc >/dev/null; then
    skip 'no compiler or sources here'
    end config/nvml
    exit
fi
mkdir library
cat >fake.c <<'C'
#include <string.h>
static unsigned long long counter = 1000; /* millijoules; the device too */
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = COUNT; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = &counter;
    return index != 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
    *device = &counter;
    return strcmp(bus, "00000000:1b:00.0") != 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void *device,
                                        unsigned long long *energy) {
    *energy = (counter += 500);
    return device != &counter;
}
C
cat >ask.c <<'C'
#include <stdio.h>
#include "nvidia.h"
static void ask(const char *bus) {
    struct ht_nvml *n = ht_nvml_open(bus);
    double first = ht_nvml_joules(n);
    printf("%g %g\n", first, ht_nvml_joules(n) - first);
    ht_nvml_close(n);
}
int main(void) {
    ask("00000000:1b:00.0");
    ask("00000000:02:00.0");
    ask("");
    return 0;
}
C
cc -D_POSIX_C_SOURCE=200809L -I"$source/src/device" -I"$source/include" -o ask ask.c \
    "$source/src/device/nvml.c" -ldl || fail 'does not compile'
answer() { LD_LIBRARY_PATH=$PWD/library ./ask | tr '\n' ','; }

[ -n "$(ldconfig -p 2>/dev/null | grep libnvidia-ml)" ] ||
    judge "no library: $(answer)" [ "$(answer)" = '-1 0,-1 0,-1 0,' ]
for count in 1 2; do
    cc -shared -fPIC -DCOUNT=$count -o library/libnvidia-ml.so.1 fake.c
    # the first question at opening, 0.5 J each
    case $count in
    1) want='2 0.5,-1 0,2 0.5,' ;;
    2) want='2 0.5,-1 0,-1 0,' ;;
    esac
    judge "$count device(s); by address, wrong address, none: $(answer)" \
        [ "$(answer)" = "$want" ]
done
end config/nvml
