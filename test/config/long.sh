#!/bin/sh
# Long runs of each scheme, system and side in both precisions: exit code 0, which a state that grew
# has not; what the scheme conserves has changed by rounding alone, or what absorbs has absorbed;
# memory does not grow. A million steps by night (HTWAVE_STEPS), else few of some cases.
#
# Rounding: each step changes the conserved energy by some roundings u of its terms, whose signs are
# as good as random: a factor times (steps)^(1/2) u.
set -u
. "${0%/*}/common.sh"
cd "$scratch" || exit 1
cat >base.cfg <<'INPUT'
system = "acoustic";
grid = { cells = [14, 12]; };
initial = { type = "gaussian"; width = 0.22; };
output = { snapshots = false; pictures = false; directory = "out"; };
INPUT
kernels=$(device_option "${HTWAVE_DEVICE:-auto}")
steps=10000 all=false
[ "${HTWAVE_COVER:-}" != all ] || all=true steps=1000000
steps=${HTWAVE_STEPS:-$steps}

megabytes() { # PROCESS; nothing when it has ended
    awk '/^VmRSS/ { print int($2 / 1000) }' "/proc/$1/status" 2>/dev/null
}

# watch PROCESS: megabytes in `early`, some seconds after the start, when compilers have ended, and
# in `late`
watch() {
    early=0 late=0 seconds=0
    while late_now=$(megabytes "$1") && [ -n "$late_now" ]; do
        [ $seconds != 8 ] || early=$late_now
        late=$late_now
        sleep 1
        seconds=$((seconds + 1))
    done
}

# ends_well CASE PRECISION LIMIT KEY=VALUE...: the change of energy is at most LIMIT times
# (steps)^(1/2) u; "lost": it has gone, but for the squares of some roundings of single values
# (1e-12: 300 u^2); "": neither is known
ends_well() {
    name="$1, $2" limit=$3 precision=$2
    shift 3
    set -- "$kernels" device.precision="$precision" "$@"
    rm -rf out
    rounding=6e-8
    [ "$precision" = single ] || rounding=1.1e-16
    dt=$("$htwave" check base.cfg --json time.end=1.0 "$@" 2>said |
        sed -n 's/.*"dt": *\([0-9.e-]*\).*/\1/p')
    end=$(awk "BEGIN { printf \"%.15g\", ${dt:-0} * ($steps - 0.5) }")
    "$htwave" run base.cfg --quiet time.end="$end" "$@" >said 2>&1 &
    watch $!
    wait $!
    code=$?
    judge "$name: exit code $code $(grep -v ^warning said)" [ $code = 0 ]
    # a leak of 8 bytes per step would be 8 MB
    [ $early = 0 ] || judge "$name: memory $early MB, $late MB" below $late $((early + 2))
    change=$(number out/summary.json conserved_energy_drift)
    case $limit in
    '') return ;;
    lost) value=$(awk "BEGIN { print 1 + ${change:-0} }") bound=1e-12 ;;
    *)
        value=${change#-}
        bound=$(awk "BEGIN { print $limit * sqrt($steps) * $rounding }")
        ;;
    esac
    judge "$name: energy changed by $change (at most $bound)" below "$value" "$bound"
}

long() { # CASE LIMIT KEY=VALUE...
    case=$1
    shift
    wanted "$case" || return
    ends_well "$case" single "$@"
    ! $all || ends_well "$case" double "$@"
}

fd='time.scheme=fd grid.order=4'
layer='absorbing.cells=6 grid.cells=[26,24]'
rock='medium.vp=2 medium.vs=1.1'
below='medium.type=expression medium.vp=1.5+2*step(x2-0.45) medium.vs=1.8*step(x2-0.45)'
# shellcheck disable=SC2086 # lists of keys
{
    long 'jumps of c and rho' 1 $fd medium.type=expression 'medium.c=1+2*step(x1-0.4)' \
        'medium.rho=1+9*step(x2-0.5)'
    long 'sea floor with a free side' 1 $fd system=elastic $below \
        'medium.rho=1+1.5*step(x2-0.45)' 'boundary.x2=["roller","free"]'
    if $all; then
        long 'uniform' 1 $fd
        long 'walls' 1 $fd 'boundary.x1="rigid"' 'boundary.x2=["free","rigid"]'
        long 'order 16' 1 time.scheme=fd grid.order=16 grid.cells=[24,20]
        long 'scalar waves' 1 $fd system=wave
        long 'layers' lost $fd medium.type=expression 'medium.c=1+0.5*step(x1-0.4)' \
            'boundary.x1="absorbing"' 'boundary.x2="absorbing"' $layer
        long 'sponge' lost $fd 'boundary.x1="absorbing"' absorbing.type=sponge absorbing.cells=4
        long 'solid' 1 $fd system=elastic $rock 'boundary.x2=["free","roller"]'
        long 'solid with layers' '' $fd system=elastic $rock \
            'boundary.x2=["absorbing","free"]' $layer
        long 'solid that loses energy' '' $fd system=elastic $rock medium.qp=60 medium.qs=40 \
            medium.q_frequency=2 'boundary.x2=["absorbing","free"]' $layer
        long 'light' 1 $fd system=maxwell_tm medium.type=expression \
            'medium.eps=1+8*step(x1-0.35)'
        long 'light in a medium that remembers' '' $fd system=maxwell_tm medium.eps=2 \
            medium.debye_eps=0.5 medium.debye_tau=0.2 'boundary.x1="absorbing"' $layer
        long 'leapfrog' '' time.scheme=leapfrog grid.order=3
        long 'leapfrog of scalar waves' '' time.scheme=leapfrog grid.order=3 system=wave
        long 'leapfrog of solids' '' time.scheme=leapfrog grid.order=2 system=elastic $rock
        long 'taylor' '' time.scheme=taylor grid.order=2
        long 'advection' '' system=advection grid.order=2 medium.velocity=[1.0,0.4]
        steps=$((steps / 20)) # slow
        long 'taylor with layers' '' time.scheme=taylor grid.order=2 'boundary.x1="absorbing"' \
            absorbing.cells=3
    fi
}
end long
