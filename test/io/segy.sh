#!/bin/sh
# SEG-Y files read by the readers of others, segyio and ObsPy, as far as they are here: positions,
# numbers of shots and traces, times, values are those of traces.h5.
set -u
. "${0%/*}/../config/common.sh"
program=$(cd "${0%/*}" && pwd)/segy.py
tools=${plot%/*}
cd "$scratch" || exit 1
cat >a.cfg <<'CFG'
system = "acoustic";
grid = { cells = [20, 16, 18]; lower = [430.0, 5210.0, 0.0]; upper = [432.0, 5211.6, 1.8]; };
time = { end = 2.0; scheme = "fd"; };
sources = ( { position = [430.63217, 5210.77128, 0.7]; frequency = 1.5; delay = 1.0; } );
receivers = ( { name = "cable"; type = "line"; from = [430.2, 5210.3, 0.41];
                to = [431.7, 5211.4, 0.41]; count = 5; fields = ["p", "p_x3"];
                every = 0.004; start = 0.1; } );
output = { directory = "out"; pictures = false; snapshots = false; traces = ["segy"];
           units = { length = "km"; time = "s"; }; };
CFG
# The second: x3 is depth, and the interval is of no whole microseconds.
judge 'a run writes SEG-Y' "$htwave" run a.cfg --quiet "$device"
judge 'a run writes SEG-Y with depths' "$htwave" run a.cfg --quiet "$device" \
    'boundary.x3=["free","rigid"]' receivers.1.every=0.0040003 output.directory=down \
    'boundary.x1="absorbing"' 2>message.txt
judge "an interval that is not whole: $(cat message.txt)" \
    grep -q 'one of 4000.3: by the file.s 4000 .* off by 0.0355' message.txt
for reader in segyio obspy; do
    if have_modules h5py "$reader"; then
        for folder in out down; do
            python3 "$program" $reader $folder >"$scratch/said" 2>&1
            relay "$scratch/said"
        done
    else
        skip "no h5py or $reader"
    fi
done

# ---- tools/resample.py: from HDF5 and SEG-Y, against samples of the run itself ----
cat >near.py <<'PY'
import sys, h5py, numpy as np
a, b = (h5py.File(f)["cable/p"][:, :-30] for f in sys.argv[1:])  # ends have no samples beyond
worst = abs(a - b).max() / abs(a).max()
print(f"{a.shape[1]} samples, off by {worst:.1e}")
sys.exit(not worst < 1e-5)
PY
cat >b.cfg <<'CFG'
system = "acoustic";
grid = { cells = [80, 40]; lower = [0.0, 0.0]; upper = [4.0, 2.0]; };
time = { end = 1.5; scheme = "fd"; };
medium = { c = 2.0; };
sources = ( { position = [0.6, 0.7]; frequency = 2.0; } );
receivers = ( { name = "cable"; type = "line"; from = [0.2, 0.3]; to = [2.7, 0.41]; count = 5;
                every = 0.004; } );
output = { directory = "b"; pictures = false; snapshots = false; traces = ["segy"]; };
CFG
other='--every 0.0137 --start 0.05 --samples 106'
if have_modules h5py scipy segyio; then
    "$htwave" run b.cfg --quiet "$device"
    "$htwave" run b.cfg --quiet "$device" receivers.1.every=0.0137 receivers.1.start=0.05 \
        output.directory=c 'output.traces=[]'
    # shellcheck disable=SC2086 # words
    for file in traces.h5 traces_cable_p.sgy; do
        python3 "$tools/resample.py" b/$file 'r*.h5' --name cable/p $other >/dev/null
        said=$(python3 near.py c/traces.h5 r1.h5 2>&1)
        judge "resample.py $file: $said" [ $? = 0 ]
        rm r1.h5
    done
else
    skip 'no h5py, scipy or segyio'
fi
end io/segy
