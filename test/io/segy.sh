#!/bin/sh
# SEG-Y files read by the readers of others, segyio and ObsPy, as far as they are here: positions,
# numbers of shots and traces, times, values are those of traces.h5.
set -u
. "${0%/*}/../config/common.sh"
program=${0%/*}/segy.py
case $program in /*) ;; *) program=$PWD/$program ;; esac
cd "$scratch" || exit 1
cat >a.cfg <<'CFG'
system = "acoustic";
grid = { cells = [20, 16, 18]; lower = [430.0, 5210.0, 0.0]; upper = [432.0, 5211.6, 1.8]; };
time = { end = 0.5; scheme = "fd"; };
sources = ( { position = [430.63217, 5210.77128, 0.7]; frequency = 1.5; } );
receivers = ( { name = "cable"; type = "line"; from = [430.2, 5210.3, 0.41]; to = [431.7, 5211.4, 0.41];
                count = 5; fields = ["p", "p_x3"]; every = 0.004; start = 0.1; } );
output = { directory = "out"; pictures = false; snapshots = false; traces = ["segy"];
           units = { length = "km"; time = "s"; }; };
CFG
judge 'a run writes SEG-Y' "$htwave" run a.cfg --quiet "$device"
for reader in segyio obspy; do
    if python3 -c "import h5py, $reader" 2>/dev/null; then
        python3 "$program" $reader out >"$scratch/said" 2>&1
        relay "$scratch/said"
    else
        skip "no h5py or $reader"
    fi
done
end io/segy
