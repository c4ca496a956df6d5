#!/bin/sh
# CUDA's devices on any machine: the back end against a driver made for it
# (test/fake_cuda.c).
set -u
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../fake_cuda.sh"
need_fake_cuda config/cuda
cd "$scratch" || exit 1

of_cuda() { # KEY: its values of the CUDA devices
    "$htwave" devices --json | tr '{' '\n' | grep '"backend": "cuda"' |
        sed -n 's/.*"'"$1"'": "*\([^",}]*\).*/\1/p' | tr '\n' ' '
}
without() { # WHAT TEXT: no devices for a reason
    answer=$("$htwave" devices | sed -n 's/^no cuda: //p')
    case $answer in
    *"$2"*) pass "$1: $answer" ;;
    *) fail "$1: \"$answer\", not \"$2\"" ;;
    esac
}

export LD_LIBRARY_PATH="$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FAKE_GPUS=ab FAKE_FOLDER="$fake"
judge "the back end asks for $(echo "$fake_names" | wc -l) functions" \
    [ "$(echo "$fake_names" | wc -l)" -gt 30 ]
judge "two devices: $(of_cuda name)" [ "$(of_cuda name)" = 'Fake a Fake b ' ]
judge "their identities: $(of_cuda id)" [ "$(of_cuda id)" = \
    '61616161616161616161616161616161 62626262626262626262626262626262 ' ]
judge "their memory: $(of_cuda memory_bytes)" \
    [ "$(of_cuda memory_bytes)" = '8589934592 8589934593 ' ]
FAKE_GPUS='' without 'no device' 'code 100'
FAKE_CODE=803 without 'a driver that fails' 'as the fake was told (code 803)'
fake_cuda -DFAKE_OLD
judge "an old driver knows places on the bus: $(of_cuda id)" \
    [ "$(of_cuda id)" = '00000000:10:00.0 00000000:11:00.0 ' ]
fake_cuda -DFAKE_WITHOUT=cuMemcpy2DAsync
without 'a function less' 'too old: it has no function cuMemcpy2DAsync'

fake_cuda
# Recorded launches as graphs: what unit/sequence judges, with exact times.
sequence=$(dirname "$htwave")/test/unit/sequence
if [ -x "$sequence" ]; then
    HTWAVE_BACKEND=cuda HTWAVE_DEVICE=gpu "$sequence" >answer.txt 2>&1
    code=$?
    sed 's/^/    | /' answer.txt
    judge "sequences of launches as graphs: exit code $code" \
        [ $code = 0 -a "$(grep -c 'off by' answer.txt)" = 5 ]
    FAKE_GRAPH=7 HTWAVE_BACKEND=cuda HTWAVE_DEVICE=gpu "$sequence" \
        >answer.txt 2>&1
    judge 'a graph that cannot be made is an error' \
        grep -q 'sequence of kernels: as the fake was told (code 7)' answer.txt
else
    skip 'unit/sequence is not built'
fi
cat >run.cfg <<'CFG'
system = "acoustic";
grid = { cells = [8, 8, 8]; order = 1; };
time = { end = 0.05; scheme = "taylor"; };
initial = { type = "gaussian"; };
device = { select = "gpu"; backend = "cuda"; };
CFG
FAKE_QUEUE=2 "$htwave" run run.cfg output.directory=out >answer.txt \
    2>message.txt
code=$?
sed 's/^/    | /' message.txt
judge "a device that cannot be opened: exit code $code, one line, no output" \
    [ $code -gt 0 -a $code -lt 4 -a "$(wc -l <message.txt)" = 1 -a ! -e out ]
judge 'it says whose word that is' \
    grep -q 'queues: as the fake was told (code 2)' message.txt

# placed WHAT RANKS COMMAND...: in what check says of a grid that is too large,
# so many ranks have the device of rank 0, which is the first
placed() {
    what=$1 expected=$2
    shift 2
    timeout -k 5 60 "$@" >answer.txt 2>&1
    got=$(sed -n 's/.*needs .* of memory\(.*, Fake a has 8.0 GiB\).*/\1/p' \
        answer.txt)
    want=", Fake a has 8.0 GiB"
    [ "$expected" = 1 ] || want=" for the $expected ranks that use it$want"
    sed 's/^/    | /' answer.txt
    judge "$what: $expected use the first" \
        [ "$got" = "$want" -a "$(wc -l <answer.txt)" = 1 ]
}
if ! timeout 60 mpiexec -n 4 true >/dev/null 2>&1; then
    skip 'mpiexec does not start 4 ranks'
    end config/cuda
    exit
fi
sed 's/cells = .*order/cells = [1024, 1024, 1024]; order/' run.cfg >big.cfg
placed 'two devices for four ranks' 2 mpiexec -n 4 "$htwave" check big.cfg
FAKE_GPUS=aa placed 'a device that is listed twice' 4 \
    mpiexec -n 4 "$htwave" check big.cfg
placed 'one device for each, all of number 0' 1 \
    mpiexec -n 1 env FAKE_GPUS=a "$htwave" check big.cfg : \
    -n 1 env FAKE_GPUS=b "$htwave" check big.cfg
placed 'two sets of devices, in turn' 1 \
    mpiexec -n 1 env FAKE_GPUS=ab "$htwave" check big.cfg : \
    -n 1 env FAKE_GPUS=cd "$htwave" check big.cfg : \
    -n 1 env FAKE_GPUS=ab "$htwave" check big.cfg : \
    -n 1 env FAKE_GPUS=cd "$htwave" check big.cfg

end config/cuda
