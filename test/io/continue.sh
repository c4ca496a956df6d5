#!/bin/sh
# Runs that go on from a checkpoint: each file is that of a run that was not interrupted, bit for
# bit, from the last checkpoint and from the one before; after kill -9 at any moment, and after a
# signal. Then what is refused.
set -u
. "${0%/*}/../config/common.sh"
. "${0%/*}/../kills.sh"
here=$PWD/${0%/*}
cd "$scratch" || exit 1
cat >base.cfg <<'INPUT'
system = "acoustic";
grid = { cells = [20, 14]; order = 2; };
time = { end = 0.4; };
initial = { type = "gaussian"; width = 0.12; };
output = { every = 0.11; series = true; pictures = false; checkpoint = { every = 0.13; }; };
INPUT

# continued CASE DEVICE KEY=VALUE...: a run, and copies of it that go on from its checkpoints
continued() {
    case=$1 where=$2
    shift 2
    ! $twice || [ "$where" = "$kernels" ] || return
    rm -rf whole part
    "$htwave" run base.cfg "$where" --quiet output.directory=whole "$@" >said 2>&1 ||
        { fail "$case: $(cat said)"; return; }
    for last in checkpoint.h5 checkpoint-1.h5; do
        rm -rf part
        cp -r whole part
        [ $last = checkpoint.h5 ] || rm part/checkpoint.h5
        wrong=
        "$htwave" continue part --quiet >said 2>&1 || wrong=$(cat said)
        wrong="$wrong$(differ whole part)"
        judge "$case: goes on from $last $wrong" [ -z "$wrong" ]
    done
}

kernels=$(device_option "${HTWAVE_DEVICE:-auto}")
maps='output.maps=({what=["maximum","time","rms"];frequencies=[2.0];start=0.1;every=0.05})'
! $addresses || kernels=$device maps='output.maps=()' # which are kept by kernels
numbers=$device # the reference stores the same: nothing is compiled for it
# What make check has with address checks, too, is left to these.
twice=true
! $addresses && [ -z "${HTWAVE_COVER:-}${HTWAVE_DEVICE:-}" ] || twice=false
[ "${HTWAVE_COVER:-}" != all ] || numbers=$kernels
fd='time.scheme=fd grid.order=8 device.variant=fd-plain'
rho='medium.type=expression medium.c=1+0.3*sin(6*x1)*cos(5*x2) medium.rho=1+0.5*x1'
source='initial.type=zero sources=({position=[0.43,0.52];frequency=2.0})'
receiver='receivers=({position=[0.31,0.62];every=0.013;fields=["v1","p"]})'
solid='system=elastic time.scheme=fd grid.order=4 medium.vp=2 medium.vs=1.1'
light='system=maxwell_tm time.scheme=fd grid.order=4 medium.eps=2 medium.sigma=0.4'
# shellcheck disable=SC2086 # lists of keys
{
    continued "the reference" device.backend=oracle time.scheme=leapfrog
    continued "layers of Hermite methods" "$kernels" time.scheme=taylor device.variant=vector \
        boundary.x1='"absorbing"' absorbing.cells=3 time.end=0.5
    continued "leapfrog" "$kernels" time.scheme=leapfrog device.variant=propagator $source \
        $receiver sources.1.tolerance=0.1 receivers.1.fields='["p"]'
    continued "differences with layers" "$numbers" $fd $rho $source $receiver \
        boundary.x1='"absorbing"' absorbing.cells=6 grid.cells=[40,28]
    continued "differences with a mean" "$kernels" $fd boundary.x1='["rigid","rigid"]' \
        initial.type=expression 'initial.values={p="3+cos(5*x1)"}' time.end=1.2 \
        "$maps"
    continued "dispersion removed" "$numbers" $fd $source time.stages=1 grid.cells=[40,28] \
        boundary.x1='"absorbing"' absorbing.cells=6 receivers='({position=[0.31,0.62];every=0.013})'
    continued "solids that lose energy, with layers and a free side" "$numbers" $solid \
        grid.cells=[28,24] $source sources.1.kind=force sources.1.direction=[0.3,0.9] \
        boundary.x1='"absorbing"' boundary.x2='["roller","free"]' absorbing.cells=6 \
        medium.qp=60 medium.qs=40 medium.q_frequency=2 \
        receivers='({position=[0.31,0.62];every=0.013;fields=["v1","s12"]})'
    continued "light in a medium that remembers" "$numbers" $light grid.cells=[28,24] $source \
        sources.1.kind=dipole sources.1.direction=[0,0,1] boundary.x2='"absorbing"' \
        absorbing.cells=6 medium.debye_eps=0.5 medium.debye_tau=0.2
}

# ---- killed, wherever it is ----

again="$fd grid.cells=[96,72] time.end=0.9 output.checkpoint.every=0.02 output.every=0.05"
again="$again $receiver receivers.1.fields=[\"p\"]"
kills=3
! $addresses || kills=1
[ -z "${HTWAVE_DEVICE:-}" ] || kills=20
[ "${HTWAVE_COVER:-}" != all ] || kills=100
# shellcheck disable=SC2086
killed $kills '' "$kernels" $again

# What follows is the same with the reference, with address checks.
if $twice; then
    end continue
    exit
fi

# A signal: the last step is stored, and the message says how to go on.
for signal in TERM USR1; do
    [ $signal = TERM ] || [ "${HTWAVE_COVER:-}" = all ] || continue
    [ -z "${HTWAVE_DEVICE:-}" ] || continue # a GPU ends first
    rm -rf part
    # shellcheck disable=SC2086
    "$htwave" run base.cfg "$kernels" --quiet output.directory=part $again \
        output.checkpoint.every=0.3 >said 2>&1 &
    child=$!
    for _ in $(seq 1000); do [ ! -e part/fields_000001.h5 ] || break; sleep 0.01; done
    kill -$signal $child
    wait $child
    code=$?
    judge "SIG$signal ends it with exit code $code: $(cat said)" \
        [ $code = 1 -a -e part/checkpoint.h5 ]
    judge "it says how to go on" grep -q 'htwave continue part' said
    "$htwave" continue part --quiet output.checkpoint.every=0.02 >said 2>&1 || cat said
    wrong=$(differ whole part | grep -v series.csv)
    judge "it goes on after SIG$signal $wrong" [ -z "$wrong" ]
done

# ---- what may change, and what may not ----

sed -i 's/order = 2/order = 1/' base.cfg # as quick as it can be
rm -rf whole
"$htwave" run base.cfg --quiet output.directory=whole "$kernels" || fail "a run"
longer() {
    cp -r whole longer
    "$htwave" continue longer --quiet time.end=0.8 output.every=0.2 &&
        "$htwave" run base.cfg --quiet output.directory=other time.end=0.8 "$kernels" &&
        "$htwave" compare longer other --eps 1e-6 --quiet >said
}
longer && code=0 || code=$?
judge "a later end: $(cat said)" [ $code = 0 ]
refused() { # MESSAGE KEY=VALUE...
    message=$1
    shift
    "$htwave" continue part --quiet "$@" >said 2>&1
    code=$?
    judge "exit code $code (expected 2): $(tail -n 1 said)" [ $code = 2 ]
    judge "it says: $message" grep -q "$message" said
}
rm -rf part
cp -r whole part
refused 'medium.c = 2.0: not so in the run of part/checkpoint.h5' medium.c=2
refused 'device.precision = "double": not so' device.precision=double
refused 'time.end = 0.1: must lie behind the checkpoint' time.end=0.1
refused 'grid.cells = \[20, 15\]: not so' grid.cells=[20,15]
refused 'output.directory = "yy": a run goes on in part' output.directory=yy
refused 'output.maps.1.name = "": not so in the run of part/checkpoint.h5' \
    'output.maps=({what=["rms"];})'
refused 'output.fields = \["v1"\]: with these outputs a run steps .* v1' output.fields='["v1"]'
# What a map holds is from before: its keys stay.
if ! $addresses; then # maps are kept by kernels
    rm -rf part
    "$htwave" run base.cfg --quiet output.directory=part "$kernels" "$maps" || fail "a run"
    for value in start=0.2 every=0.1 'what=["rms"]' 'to=[0.5,0.5]' frequencies=3.0 'name="x"'; do
        refused "output.maps.1.${value%%=*} = .*not so in the run of" "output.maps.1.$value"
    done
    refused 'the run of part/checkpoint.h5 has output.maps.1.name = "", which' 'output.maps=()'
fi
echo '0.3 0.4' >places.txt
rm -rf whole
"$htwave" run base.cfg --quiet output.directory=whole "$kernels" \
    'receivers=({type="file";file="places.txt";every=0.05})' || fail "a run"
rm -rf part
cp -r whole part
"$htwave" continue part --quiet || fail "a run"
judge "a file that is read is the same: $(differ whole part)" [ -z "$(differ whole part)" ]
echo '0.3 0.5' >places.txt
refused 'contents of receivers.1.file = [0-9a-f]*: not so in the run of part/checkpoint.h5'
echo '0.3 0.4' >places.txt
if have_modules h5py; then
    rm -rf part
    cp -r whole part
    rm part/checkpoint-1.h5
    python3 "$here/other_order.py" whole/checkpoint.h5 part/checkpoint.h5
    "$htwave" continue part --quiet >said 2>&1 || cat said
    judge "from a machine of the other byte order: $(differ whole part)" \
        [ -z "$(differ whole part)" ]
else
    skip "no h5py: the other byte order"
fi
rm -rf part
cp -r whole part
printf x | dd of=part/checkpoint.h5 bs=1 seek=3000 conv=notrunc 2>/dev/null
"$htwave" continue part --quiet >said 2>&1
judge "a damaged checkpoint: $(cat said)" grep -q 'part/checkpoint.h5 is damaged' said
judge "it went on from the one before" [ -z "$(differ whole part)" ]
rm part/checkpoint*
refused 'part has no checkpoint'
end continue
