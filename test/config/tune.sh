#!/bin/sh
# The tuner and finite differences: kernels are timed, the best is stored, and a
# run of the same class takes it, a run of another order does not.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
    end config/tune
    exit
fi
cat >layers.cfg <<'CFG'
system = "acoustic";
grid = { cells = [96, 64]; upper = [9.6, 6.4]; order = 8; };
time = { end = 0.1; scheme = "fd"; };
medium = { type = "layers"; axis = "x2"; interfaces = [3.0]; c = [1.0, 2.0];
           rho = [1.0, 1.5]; };
initial = { type = "gaussian"; centre = [5.0, 3.0]; width = 0.8; };
device = { cache = "cache"; };
CFG
chosen=device.backend=auto
[ -z "${HTWAVE_DEVICE:-}" ] || chosen=$device

timeout 200 "$htwave" tune layers.cfg "$chosen" --json --quiet >best.json \
    2>said.txt
judge "tune: exit code 0" [ $? = 0 ]
[ -s said.txt ] && sed 's/^/    | /' said.txt
judge "an fd kernel is the best" grep -q '"variant": "fd-' best.json

# tuned WHAT YES|NO OVERRIDE...: whether a run takes stored kernels
tuned() {
    what=$1 want=$2
    shift 2
    timeout 100 "$htwave" check layers.cfg "$chosen" "$@" >check.txt 2>&1
    code=$? found=NO
    grep -q '^  kernels .*(tuned)$' check.txt && found=YES
    judge "$what: tuned $found, wanted $want, exit code $code" \
        [ "$found$code" = "${want}0" ]
}
tuned 'the same class' YES
tuned 'twice as many cells' YES grid.cells=[192,128]
tuned 'another order' NO grid.order=4
tuned 'one term' NO time.stages=1
tuned 'uniform density' NO medium.rho=[1.0,1.0]
tuned 'double precision' NO device.precision=double
tuned 'another variant by name' NO device.variant=fd-plain

end config/tune
