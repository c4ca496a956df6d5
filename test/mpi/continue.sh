#!/bin/sh
# Checkpoints of ranks: as many ranks go on, or others, bit for bit.
set -u
. "${0%/*}/common.sh"
. "${0%/*}/../kills.sh"
cd "$scratch" || exit 1
cat >base.cfg <<'INPUT'
system = "acoustic";
grid = { cells = [10, 14, 36]; order = 4; };
time = { end = 0.3; scheme = "fd"; };
boundary = { x1 = "rigid"; x2 = "absorbing"; x3 = ["absorbing", "rigid"]; };
absorbing = { cells = [0, 0, 6, 6, 7, 0]; };
initial = { type = "gaussian"; width = 0.2; };
receivers = ( { position = [0.31, 0.52, 0.53]; every = 0.013; } );
output = { every = 0.1; pictures = false; checkpoint = { every = 0.12; }; };
device = { selfcheck = false; tune = "never"; };
INPUT

# goes_on CASE RANKS KEY=VALUE...: a run of 3 ranks that goes on by so many
goes_on() {
    case=$1 ranks=$2
    shift 2
    if [ ! -e "$case" ]; then
        ranks 3 "$htwave" run base.cfg --quiet output.directory="$case" "$@" >said 2>&1 ||
            { fail "$case: $(cat said)"; return; }
    fi
    rm -rf part
    cp -r "$case" part
    ranks "$ranks" "$htwave" continue part --quiet >said 2>&1 || fail "$case: $(cat said)"
    wrong=$(differ "$case" part)
    judge "$case: $ranks ranks go on bit for bit $wrong" [ -z "$wrong" ]
}

for n in 3 1; do
    goes_on differences $n "$device" medium.type=expression \
        medium.c='1+0.3*sin(6*x1)*cos(5*x3)'
    [ -n "${HTWAVE_COVER:-}${HTWAVE_DEVICE:-}" ] || continue
    goes_on hermite $n "$device" time.scheme=taylor device.variant=vector grid.order=1 \
        grid.cells=[8,12,24] absorbing.cells=3
    goes_on solid $n "$device" system=elastic \
        boundary.x1=roller boundary.x3='["free","absorbing"]' absorbing.cells=6 \
        receivers.1.fields='["v1"]'
done
goes_on terms 1 "$device" system=elastic time.stages=2 boundary.x1=roller boundary.x2=periodic \
    boundary.x3='["free","roller"]' receivers.1.fields='["v1"]'
kills=1
[ "${HTWAVE_COVER:-}" != all ] || kills=100
killed $kills 'mpiexec -n 3' "$device" time.end=0.6 output.checkpoint.every=0.05
end continue
