#!/bin/sh
# What a run does to its directory: one run at a time; outputs of earlier runs
# are moved to run-NNN, files that the run reads stay, files of others are not
# touched; what killed runs left unfinished is removed.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

cat >a.cfg <<CFG
system = "acoustic";
grid = { cells = [8, 6]; order = 1; };
time = { end = 0.4; scheme = "taylor"; };
initial = { type = "gaussian"; width = 0.2; };
output = { directory = "out"; every = 0.1; pictures = $drawn;
    picture = { every = 0.2; }; };
device = { backend = "oracle"; };
CFG

# simulates WHAT CODE ARGUMENT...: message.txt
simulates() {
    what=$1 wanted=$2
    shift 2
    timeout 120 "$htwave" run "$@" 2>message.txt
    code=$?
    if [ $code = "$wanted" ]; then
        pass "$what: exit code $code"
    else
        sed 's/^/    | /' message.txt
        fail "$what: exit code $code, not $wanted"
    fi
}

said() { # WHAT TEXT: a line of message.txt
    judge "$1: $(grep -F -e "$2" message.txt)" grep -qF -e "$2" message.txt
}

# holds DIRECTORY NAME...: these and no others
holds() {
    directory=$1
    shift
    printf '%s\n' "$@" | sort >expected.txt
    ls -A "$directory" | sort >found.txt
    diff expected.txt found.txt | sed 's/^/    | /'
    judge "$directory holds $*" cmp -s expected.txt found.txt
}

plain='fields.xdmf input.cfg summary.json'
first=8 second=6
if $drawn; then
    plain="$plain wave_0000.png wave_0001.png wave_0002.png"
    first=11 second=8
fi
five='fields_000000.h5 fields_000001.h5 fields_000002.h5 fields_000003.h5
    fields_000004.h5'

# ---- earlier runs ----
simulates 'first run' 0 a.cfg --quiet
# shellcheck disable=SC2086 # the names are words
holds out $plain $five
cp out/fields_000004.h5 first.h5
# Of the user: not outputs by their names.
for name in notes.txt fields_mine.h5 fields_000001.h5.bak wave_1.png; do
    echo mine >out/$name
done
simulates 'second run' 0 a.cfg time.end=0.2
said 'second run' "moved $first files of an earlier run to out/run-001"
# shellcheck disable=SC2086
holds out/run-001 $plain $five
judge 'the snapshot of the first run is what it was' \
    cmp -s first.h5 out/run-001/fields_000004.h5
judge 'files of others are what they were' [ "$(cat out/notes.txt \
    out/fields_mine.h5 out/fields_000001.h5.bak out/wave_1.png | sort -u)" = mine ]
simulates 'third run' 0 a.cfg
said 'third run' "moved $second files of an earlier run to out/run-002"
# shellcheck disable=SC2086
holds out $plain $five run-001 run-002 notes.txt fields_mine.h5 \
    fields_000001.h5.bak wave_1.png

# ---- refused before anything is written ----
ls -lA out >before.txt
simulates 'refused run' 2 a.cfg initial.field=q
simulates 'run without a device' 2 a.cfg device.select=nonexistent \
    device.backend=auto
ls -lA out >after.txt
judge 'refused runs move nothing' cmp -s before.txt after.txt

# ---- files that are read ----
cp out/fields_000002.h5 wanted.h5
simulates 'continuing in place' 0 a.cfg initial.type=file \
    initial.file=out/fields_000002.h5
said 'continuing in place' 'snapshots begin with number 3'
judge 'the file that is read is what it was' \
    cmp -s wanted.h5 out/fields_000002.h5
judge 'the earlier run has it, too' cmp -s wanted.h5 out/run-003/fields_000002.h5
judge "new snapshots have higher numbers: $(cd out && echo fields_??????.h5)" \
    [ ! -e out/fields_000001.h5 -a -e out/fields_000003.h5 -a \
    -e out/fields_000007.h5 -a ! -e out/fields_000008.h5 ]
judge 'the list for ParaView names them' [ "$(grep -c \
    'fields_00000[3-7].h5:/p<' out/fields.xdmf)" = 5 ]
"$htwave" compare wanted.h5 out/fields_000003.h5 >answer.txt
judge "the run went on from it: $(cut -c1-60 answer.txt)" \
    "$htwave" compare wanted.h5 out/fields_000003.h5 --eps 1e-6

simulates 'its own input' 0 out/input.cfg
judge 'its own input stays and is that of the earlier run, too' \
    cmp -s out/input.cfg out/run-004/input.cfg
cp out/input.cfg own.cfg
ls -lA out >before.txt
simulates 'its own input, changed' 2 out/input.cfg grid.order=2
said 'its own input, changed' 'output.directory = "out": the run reads out/input.cfg'
cp wanted.h5 out/wave_0000.png
simulates 'reading what it would write' 2 a.cfg initial.type=file \
    initial.file=out/wave_0000.png
said 'reading what it would write' 'initial.file = "out/wave_0000.png"'
cmp -s own.cfg out/input.cfg && [ ! -e out/run-005 ]
judge 'nothing was changed for them' [ $? = 0 ]

# ---- what a killed run left ----
: >out/fields_000000.h5.tmp.999999999.0 # no process has this number
: >out/wave_0000.png.tmp.$$.0           # of a living one
: >out/paper.tmp.999999999.0            # of others
# One that has ended, and whose parent never asks.
sh -c 'true & echo $! >ended; exec sleep 20' &
parent=$!
while [ ! -s ended ]; do sleep 0.1; done
: >"out/fields_000001.h5.tmp.$(cat ended).0"
simulates 'run after a killed one' 0 a.cfg
said 'run after a killed one' 'removed 2 unfinished files of a killed run'
judge 'unfinished files' [ ! -e out/fields_000000.h5.tmp.999999999.0 -a \
    ! -e "out/fields_000001.h5.tmp.$(cat ended).0" -a \
    -e out/wave_0000.png.tmp.$$.0 -a -e out/paper.tmp.999999999.0 ]
kill $parent

# ---- two at once ----
"$htwave" run a.cfg --quiet time.end=1e5 \
    output.every=0.0 output.picture.every=0.0 output.directory=both \
    2>first.txt &
child=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e both/input.cfg ] && break
    sleep 0.5
done
cp both/input.cfg own.cfg
simulates 'second run at once' 2 a.cfg output.directory=both
said 'second run at once' "output.directory = \"both\": process $child on"
judge 'the first run keeps its files' cmp -s own.cfg both/input.cfg
holds both .htwave.lock input.cfg
kill -KILL $child
wait $child 2>/dev/null
simulates 'run where one was killed' 0 a.cfg output.directory=both
# shellcheck disable=SC2086
holds both $plain $five run-001

# ---- a run that was killed while it moved an earlier one's files ----
simulates 'an earlier run' 0 a.cfg output.directory=cut output.checkpoint.every=0.2 --quiet
mkdir cut/run-001.moving
mv cut/fields_00000[13].h5 cut/fields.xdmf cut/run-001.moving/
"$htwave" continue cut --quiet 2>message.txt
judge "it is not continued: exit code $?" [ $? = 1 ]
said 'it is not continued' 'cut/run-001.moving has a part of this run'
simulates 'the next run' 0 a.cfg output.directory=cut
said 'the next run' "moved $((first - 2)) files of an earlier run to cut/run-001"
# shellcheck disable=SC2086
holds cut/run-001 $plain $five checkpoint.h5

# ---- records of earlier runs ----
simulates 'an input to be changed' 0 a.cfg output.directory=edited --quiet
simulates 'its own input again' 0 edited/input.cfg --quiet
links=$(find edited/run-001/input.cfg -links 1)
judge 'the kept input is a copy' [ -n "$links" ]
sleep 0.02
sed 's/end = 0.4/end = 0.3/' edited/input.cfg >changed.cfg
cat changed.cfg >edited/input.cfg
simulates 'its own input, edited' 2 edited/input.cfg
said 'its own input, edited' 'input.cfg was changed after the run'
mkdir edited/run-202611221530
rm edited/input.cfg
simulates "somebody's folder run-202611221530" 0 a.cfg output.directory=edited
said "somebody's folder run-202611221530" 'to edited/run-002'
mkdir elsewhere
mv edited/fields_000001.h5 elsewhere/
ln -s ../elsewhere/fields_000001.h5 edited/
simulates 'an output that is a link' 0 a.cfg output.directory=edited --quiet
judge 'the link moved still leads there' [ -f edited/run-003/fields_000001.h5 ]

# ---- directories that cannot be written ----
# as_user COMMAND...: by one whom permissions bind
as_user() {
    if [ "$(id -u)" != 0 ]; then
        "$@"
    else
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    fi
}
chmod 755 . && chmod 644 a.cfg
mkdir closed && chmod 555 closed
if as_user test -x "$htwave" -a -r a.cfg 2>/dev/null &&
    ! as_user test -w closed; then
    as_user "$htwave" run a.cfg output.directory=closed \
        --quiet 2>message.txt
    judge "directory without write permission: exit code $?" [ $? = 2 ]
    said 'directory without write permission' \
        'output.directory = "closed": cannot write into directory closed'
    said 'directory without write permission' 'Permission denied'
else
    skip 'directory without write permission: nobody is bound by it here'
fi

end config/directory
