#!/bin/sh
# The transports of messages, without kernels: on the device that is here, and from
# GPU to GPU by a driver made for it (test/fake_cuda.c), also one that loses what
# it copies between them.
set -u
. "${0%/*}/common.sh"
. "${0%/*}/../fake_cuda.sh"
have_device || no_ranks 'no device is here'

# carries WISH WAYS [lose]: by 2 and 3 ranks; WAYS "" is a refusal
carries() {
    for n in 2 3; do
        ranks $n "$build/test/mpi/links" "$1" ${3:+"$3"} >"$scratch/out" \
            2>"$scratch/err"
        code=$?
        relay "$scratch/out"
        grep -a '^note: ' "$scratch/err" | sed 's/^/    | /'
        got=$(sed -n 's/^ways //p' "$scratch/out")
        judge "$n ranks, \"$1\": by \"$got\", exit code $code" \
            [ "$got" = "$2" -a $((code == 0)) = $((${#2} > 0)) ]
    done
}
noted() { # WHAT
    judge "$1: a note says so" grep -q \
        'messages by "peer" do not arrive unchanged; "staged" is used' \
        "$scratch/err"
}

export HTWAVE_DEVICE="${HTWAVE_DEVICE:-cpu}"
[ "$HTWAVE_DEVICE" != cpu ] || carries auto 'staged staged'
carries staged 'staged staged'

need_fake_cuda mpi/links
export LD_LIBRARY_PATH="$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FAKE_GPUS=abc FAKE_FOLDER="$fake/memory"
export HTWAVE_DEVICE=gpu HTWAVE_BACKEND=cuda
mkdir "$FAKE_FOLDER"
carries auto 'peer peer'
carries peer 'peer peer'
carries peer 'peer peer' lose
carries staged 'staged staged'
export FAKE_LOST=1
carries auto 'staged staged'
noted 'lost between GPUs'
carries peer ''
judge "lost, by a way that was asked for: $(grep '^refused' "$scratch/out")" \
    grep -q 'refused: .*"peer" do not arrive.*parallel.transport = "peer"' \
    "$scratch/out"
judge "memory is freed when nobody has it open: $(ls "$FAKE_FOLDER")" \
    [ -z "$(ls "$FAKE_FOLDER")" ]
end mpi/links
