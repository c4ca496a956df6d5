#!/bin/sh
# The same run on two vendors' OpenCL drivers for CPUs gives the same bits: snapshots and traces of
# short runs of several systems and schemes. PoCL and Intel's runtime: docs/drivers.md.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

# Numbers of the devices by OpenCL that are no GPUs, one of each platform.
devices() {
    "$htwave" devices 2>/dev/null | awk -F', ' '/^[0-9]+: / { split($0, word, ":") }
        /^   opencl, no GPU, / && !seen[$3]++ { print word[1] }'
}
# shellcheck disable=SC2046 # the numbers are words
set -- $(devices)
if [ $# -lt 2 ]; then
    skip 'fewer than two OpenCL drivers for CPUs are here'
    end config/drivers
    exit
fi
one=$1 two=$2

same() { # WHAT KEYS...
    what=$1
    shift
    for device in $one $two; do
        timeout 300 "$htwave" run run.cfg "$@" device.select="$device" output.directory="on-$device" \
            >said.txt 2>&1 || { sed 's/^/    | /' said.txt; fail "$what: device $device"; return; }
    done
    count=0 other=
    for file in "on-$one"/fields_*.h5 "on-$one"/*.sgy; do
        count=$((count + 1))
        cmp -s "$file" "on-$two/${file#*/}" || other="$other ${file#*/}"
    done
    judge "$what: $count files are the same on both drivers$other" [ -z "$other" ] && [ $count -gt 2 ]
    rm -rf "on-$one" "on-$two"
}

cat >run.cfg <<'CFG'
grid = { cells = [24, 20, 18]; upper = [2.4, 2.0, 1.8]; };
boundary = { x1 = "periodic"; x2 = "periodic"; x3 = "periodic"; };
time = { end = 1.2; };
receivers = ( { position = [1.13, 0.71, 0.52]; every = 0.03; } );
output = { every = 0.4; pictures = false; traces = ["segy"]; };
device = { tune = "never"; };
CFG
point='sources=({position=[1.0,1.0,1.0];frequency=1.0;})'
same 'acoustics, finite differences' system=acoustic time.scheme=fd "$point" medium.type=expression \
    'medium.c="1.0+0.2*sin(x1)"' 'medium.rho="1.0+0.1*cos(x2)"' \
    'boundary={x1="rigid";x2="free";x3="absorbing";}'
same 'acoustics, Taylor' system=acoustic time.scheme=taylor 'initial={type="plane";cycles=[1,1,0];}'
same 'acoustics, leapfrog' system=acoustic time.scheme=leapfrog \
    'initial={type="plane";cycles=[0,1,1];}'
same 'light, leapfrog' system=maxwell time.scheme=leapfrog \
    'initial={type="plane";cycles=[1,0,0];}'
same 'solids, finite differences' system=elastic time.scheme=fd 'medium={vp=1.0;vs=0.6;rho=1.0;}' \
    'sources=({kind="explosion";position=[1.0,1.0,1.0];frequency=1.0;})' \
    'boundary.x3="absorbing"'
end config/drivers
