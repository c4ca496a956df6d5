#!/bin/sh
# Commands by several ranks: files and answers as by one rank, printed once; the
# summary has the data of the ranks.
set -u
. "${0%/*}/common.sh"
have_device || no_ranks 'no device is here'
cd "$scratch" || exit 1

cat >plane.cfg <<CFG
system = "acoustic";
grid = { cells = [6, 6, 9]; order = 2; };
time = { end = 0.5; scheme = "taylor"; };
medium = { type = "expression"; c = "1 + 0.1*sin(2*pi*x3)"; };
initial = { type = "gaussian"; width = 0.2; };
output = { directory = "out"; every = 0.2; coefficients = true;
           pictures = $drawn; picture = { every = 0.2; }; };
CFG

# answers WHAT N ARGUMENT...: answer.txt and message.txt of N ranks of htwave
answers() {
    title=$1 count=$2
    shift 2
    ranks "$count" "$htwave" "$@" >answer.txt 2>message.txt
    code=$?
    if [ $code = 0 ]; then
        pass "$title by $count: exit code $code"
    else
        sed 's/^/    | /' message.txt
        fail "$title by $count: exit code $code, not 0"
    fi
}

"$htwave" run plane.cfg --quiet "$device" output.directory=alone
judge "run alone: exit code $?" [ -e alone/summary.json ]
judge 'run alone: no group of ranks in the summary' \
    [ "$(grep -c '"parallel"' alone/summary.json)" = 0 ]

# answer_of N OVERRIDE...: N ranks leave the same files as one, and answer once
answer_of() {
    count=$1
    shift
    rm -rf out
    answers "run $*" "$count" run plane.cfg --json "$device" "$@"
    judge "run by $count: one JSON object" valid_json answer.txt
    judge "run by $count: summary.json is the answer" \
        cmp -s answer.txt out/summary.json
    judge "run by $count: one banner" \
        [ "$(grep -c '^htwave ' message.txt)" = 1 ]
    judge "run by $count: the ranks are reported" \
        grep -q "$count ranks on" message.txt
    wrong=$(differ alone out)
    judge "run by $count: files that differ: ${wrong:-none}" [ -z "$wrong" ]
    missing=
    for key in ranks devices machines planes halo_depth halo_precision \
        transport exchanges_per_step messages_per_step bytes_per_step step_s \
        interior_s boundary_s ghosts_s pack_s exposed_s exposed_worst_s; do
        grep -q "\"$key\": " answer.txt || missing="$missing $key"
    done
    judge "run by $count: lacks no key:$missing" [ -z "$missing" ]
}
answer_of 3 parallel.halo_depth=2
answer_of 2

# A half step needs planes of one side only: a message from each of two ranks,
# and one more from each before the first.
bound=$(awk -v n="$(number answer.txt steps)" 'BEGIN { print 4 + 2 / n + 1e-5 }')
messages=$(number answer.txt messages_per_step)
judge "messages per step by 2: $messages (bound $bound)" \
    below "$messages" "$bound"

# ---- starts, media and sums by slabs of 2 and 3 planes ----
cat >start.cfg <<'CFG'
system = "acoustic";
grid = { cells = [5, 4, 11]; upper = [1.0, 1.2, 2.2]; order = 1; };
time = { end = 0.5; scheme = "leapfrog"; };
boundary = { x1 = "rigid"; x3 = ["rigid", "free"]; };
initial = { type = "standing"; modes = [1, 1, 2]; };
output = { directory = "out"; pictures = false; coefficients = true; };
device = { selfcheck = false; tune = "never"; };
CFG
# alike TITLE OVERRIDE...: all values by 5 ranks, and sums but for rounding
alike() {
    title=$1
    shift
    rm -rf many one
    "$htwave" run start.cfg --json --quiet "$device" output.directory=one "$@" >one.txt
    answers "$title" 5 run start.cfg --json "$device" output.directory=many "$@"
    "$htwave" compare one many --json >compare.txt
    judge "$title by 5: differs by $(number compare.txt max_abs) (bound 0)" \
        [ "$(number compare.txt max_abs)" = 0 ]
    for key in energy_initial error_l2_relative; do
        judge "$title by 5: $key $(number answer.txt $key), alone $(number one.txt $key)" \
            awk -v a="$(number one.txt $key)" -v b="$(number answer.txt $key)" \
            'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a == b || d <= 1e-6 * a) }'
    done
}
alike 'standing waves between walls'
alike 'a start by half a step back' 'initial={type="gaussian";width=0.3;}'
alike 'random data' initial.type=random time.scheme=taylor
cp one/fields_000000.h5 start.h5
python3 -c 'import struct
for i in range(23 * 23): f = struct.pack("<f", 1 + i * i % 97 * 3e-3); open("c.f32", "ab").write(f)'
alike 'a medium and data of files' initial.type=file initial.file=start.h5 \
    time.scheme=taylor 'medium={type="file";c="c.f32";shape=[23,23];
    axes=["x3","x1"];spacing=[0.1,0.05];}'

# ---- continuing in the directory that is read ----
cp out/fields_000001.h5 wanted.h5
answers 'continuing in place' 2 run plane.cfg "$device" initial.type=file \
    initial.file=out/fields_000001.h5 output.every=0.0
judge 'continuing in place: the file stays' cmp -s wanted.h5 out/fields_000001.h5
judge "continuing in place: $(cd out && echo fields_*.h5)" \
    [ "$(cd out && echo fields_*.h5)" = \
    'fields_000001.h5 fields_000002.h5' ]
judge "continuing in place: reported once" [ "$(grep -c \
    'earlier run to out/run-001' message.txt)" = 1 ]

# ---- converge, check ----
columns() { # FILE: cells, steps and errors to 4 digits
    sed 's/^ *[0-9]*  //' "$1" | awk '/x/ { print $1, $3, $5, $7, $8 }'
}
sed -i -e 's/gaussian"; width = 0.2/plane"/' -e '/medium/d' plane.cfg
"$htwave" converge plane.cfg --quiet "$device" 'grid.cells=[4,4,4]' \
    --cells 4,8 >answer.txt
columns answer.txt >alone.txt
answers converge 3 converge plane.cfg --quiet "$device" 'grid.cells=[4,4,4]' \
    --cells 4,8
columns answer.txt >three.txt
judge "converge by 3: errors and orders as alone: $(tr '\n' ';' <three.txt)" \
    cmp -s alone.txt three.txt
judge 'converge: two rows' [ "$(wc -l <three.txt)" = 2 ]
rm -rf out
answers check 3 check plane.cfg --json "$device"
judge 'check by 3: one JSON object' valid_json answer.txt
judge 'check by 3: planes of each rank' \
    grep -q '"planes": \[3, 3, 3\]' answer.txt
judge 'check leaves nothing' [ ! -e out ]
answers 'auto beside slabs that fd does not fit' 3 check plane.cfg --json "$device" time.scheme=auto \
    initial.type=gaussian medium.type=expression 'medium.c="1+0.1*x1"' grid.order=2
judge 'auto: what thin slabs can take' grep -q '"scheme": "taylor"' answer.txt
answers version 2 --version
judge 'version: printed once' [ "$(grep -c '^htwave ' answer.txt)" = 1 ]

end mpi/commands
