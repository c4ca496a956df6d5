#!/bin/sh
# htwave check --machine: tables and JSON of predictions, what the model promises
# of any machine, and machine files that are refused with file and line.
set -u
. "$(dirname "$0")/common.sh"
machines=$(cd "$(dirname "$0")/../../params/machines" && pwd)
cd "$scratch" || exit 1

cat >cube.cfg <<'CFG'
system = "acoustic";
grid = { cells = [64, 64, 96]; order = 2; };
time = { end = 0.5; scheme = "taylor"; };
CFG

# answers WHAT CODE ARGUMENT...: answer.txt and message.txt
answers() {
    what=$1 wanted=$2
    shift 2
    timeout 60 "$htwave" "$@" >answer.txt 2>message.txt
    code=$?
    if [ $code = "$wanted" ]; then
        pass "$what: exit code $code"
    else
        sed 's/^/    | /' message.txt
        fail "$what: exit code $code, not $wanted"
    fi
}

# column KIND KEY: values of the rows of a table of answer.txt, JSON
column() {
    sed 's/.*"'"$1"'": \[\([^]]*\)\].*/\1/; s/}, /}\n/g' answer.txt |
        sed -n 's/.*"'"$2"'": \([^,}]*\).*/\1/p'
}

for machine in "$machines"/*.cfg; do
    name=$(basename "$machine")
    answers "$name" 0 check cube.cfg --machine "$machine"
    judge "$name: strong and weak" [ "$(grep -c 'scaling' answer.txt)" = 2 ]
    judge "$name: 4096 GPUs" grep -q '^ *4096 ' answer.txt
    judge "$name: 6 more than planes" grep -q '^ *6 more: slabs' answer.txt
    judge "$name: beside dG" grep -q 'nodal dG method of degree 5' answer.txt
    answers "$name: JSON" 0 check cube.cfg --machine "$machine" --json
    judge "$name: valid JSON" valid_json answer.txt
    rows=$(column weak gpus | wc -l)
    judge "$name: $rows rows of weak scaling" [ "$rows" = 13 ]
    rows=$(column strong gpus | wc -l)
    judge "$name: $rows rows of strong scaling" [ "$rows" = 7 ]
    for kind in weak strong; do
        first=$(column $kind efficiency | head -n 1)
        judge "$name: $kind efficiency of one GPU is $first" [ "$first" = 1 ]
        most=$(column $kind efficiency | sort -g | tail -n 1)
        judge "$name: $kind efficiency at most $most (bound 1)" \
            below "$most" 1
    done
    off=$(for key in interior_s boundary_s pack_s exposed_s step_s; do
        column weak $key | paste -s -d ' ' -
    done | awk '{ for (i = 1; i <= NF; i++) s[i] += NR < 5 ? $i : -$i }
        END { for (i in s) { d = s[i] < 0 ? -s[i] : s[i]
            if (d > m) m = d }; print m + 0 }')
    judge "$name: parts add up to the step, off by $off s (bound 1e-9)" \
        below "$off" 1e-9
    column strong interior_s >falling.txt
    judge "$name: the interior takes no longer with more GPUs" \
        sort -g -r -c falling.txt
done

one=$machines/h200-nvlink.cfg
answers 'rate given' 0 check cube.cfg --machine "$one" --rate 1e9 --gpus 1 --json
# 2 * 64 * 64 * 96 / 1e9 s and two launches of 5 us
step=$(column strong step_s)
judge "rate given: a step takes $step s" \
    awk -v s="$step" 'BEGIN { d = s - 7.96432e-4; exit !(d * d < 1e-20) }'
answers 'halo of 4' 0 check cube.cfg --machine "$one" --json --gpus 4 \
    parallel.halo_depth=4
judge 'halo of 4: one message each step' \
    [ "$(number answer.txt per_step)" = 1 ]

# close VALUE WANTED: to nine digits; an absent value is not
close() {
    awk -v v="$1" -v w="$2" 'BEGIN { d = v - w; if (d < 0) d = -d
        exit !(v != "" && d <= 1e-9 * w) }'
}
answers 'no steps' 0 check cube.cfg --machine "$one" time.end=0.0
judge 'no steps: none of dG for one' \
    grep -q 'would send 10, [0-9.]* .iB$' answer.txt
answers 'no steps: JSON' 0 check cube.cfg --machine "$one" time.end=0.0 --json
judge 'no steps: no key for them' [ -z "$(number answer.txt dg_steps_for_one)" ]

# ---- by hand ----

cat >plain.cfg <<'CFG'
name = "plain";
device = { memory = 1000.0; copy = 4.0; single = 1.0; double = 1.0;
    launch = 0.0; boundary = 1.0; per_node = 4; };
links = { bandwidth = 1.0; latency = 0.0; staged = false; };
host = { copy = 1.0; };
network = { bandwidth = 1.0; latency = 0.0; staged = false; };
CFG
sed 's/64, 64, 96/10, 10, 20/; s/order = 2/order = 1/' cube.cfg >small.cfg

# At 1e8 cell half-steps/s one rank takes 40 us for 2 x 20 planes, 1 us each. Two
# ranks with 10 planes: a half step has 9 us of interior, 1 of boundary; 100 nodes x
# 8 coefficients x 4 fields x 4 bytes = 12 800 bytes leave and as many come, read and
# written: 51 200 / 4e9 = 12.8 us; 12.8 us of travel, of which 9 are hidden. Weak: 19
# of 20 planes hide it all.
answers 'by hand' 0 check small.cfg --machine plain.cfg --rate 1e8 --gpus 2 --json
step=$(column strong step_s)
judge "by hand: strong, $step s" close "$step" 5.32e-05
exposed=$(column strong exposed_s)
judge "by hand: exposed $exposed s, not 7.6e-06" close "$exposed" 7.6e-06
step=$(column weak step_s)
judge "by hand: weak, $step s" close "$step" 6.56e-05
judge "by hand: rate $(number answer.txt rate)" \
    close "$(number answer.txt rate)" 1e8
judge 'by hand: the rate is given' grep -q '"rate_from": "given"' answer.txt
answers 'no rate' 0 check small.cfg --machine plain.cfg --gpus 2 --json
judge 'no rate: a fraction of its limits' \
    grep -q '"rate_from": "a fraction of its limits"' answer.txt

# ---- a large varying medium ----

cat >large.cfg <<'CFG'
system = "acoustic";
grid = { cells = [1024, 1024, 4096]; upper = [1.0, 1.0, 4.0]; order = 1; };
medium = { type = "expression"; c = "1 + x3 + 0*x1*x2"; };
time = { end = 0.5; step = 0.0001; scheme = "taylor"; };
CFG
# Every node of it would take an hour. c is largest at the last dual node, half
# a cell below x3 = 4: c dt / h = 0.512 - 0.0512 / 1024; dG has 0.4065.
answers 'large medium' 0 check large.cfg --machine "$one" --gpus 64
judge 'large medium: sampled' grep -q "from 1 of 4[0-9]* of its nodes" answer.txt
answers 'large medium: JSON' 0 check large.cfg --machine "$one" --gpus 64 --json
part=$(number answer.txt medium_sampled)
judge "large medium: part $part of the nodes" below "$part" 3e-4
steps=$(number answer.txt dg_steps_for_one)
judge "large medium: $steps steps of dG for one" \
    awk -v s="$steps" 'BEGIN { d = s * 0.4065 - 0.51195
        exit !(d * d < 1e-4 * 1e-4) }'
answers 'small medium' 0 check large.cfg 'grid.cells=[32,32,128]' \
    --machine "$one" --gpus 64
judge 'small medium: every node' \
    [ "$(grep -c 'of its nodes' answer.txt)" = 0 ]

# ---- what is refused ----

# refuses WHAT PATTERN ARGUMENT...
refuses() {
    what=$1 pattern=$2
    shift 2
    timeout 60 "$htwave" check cube.cfg "$@" >answer.txt 2>message.txt
    code=$?
    if [ $code = 2 ] && grep -q -e "$pattern" message.txt &&
        [ "$(wc -l <message.txt)" = 1 ] && [ ! -s answer.txt ]; then
        pass "$what: $(cut -c1-120 message.txt)"
    else
        sed 's/^/    | /' message.txt
        fail "$what: exit code $code"
    fi
}
# broken WHAT PATTERN SED: a machine file changed by it is refused
broken() {
    sed "$3" "$one" >broken.cfg
    refuses "$1" "$2" --machine broken.cfg
}
line=$(grep -n 'copy = 4284' "$one" | cut -d: -f1)
broken 'unknown key' \
    "device.kopy: .* mean device.copy? (broken.cfg:$line)" 's/ copy = 4/ kopy = 4/'
broken 'unknown group' 'netwerk.*mean.*network\|netwerk: unknown' \
    's/^network/netwerk/'
broken 'a string for a number' \
    "device.copy = \"fast\": must be a number (broken.cfg:$line)" \
    's/copy = 4284.0/copy = "fast"/'
broken 'a negative rate' "device.copy = -1.0: must be > 0 (broken.cfg:$line)" \
    's/copy = 4284.0/copy = -1.0/'
broken 'fraction above 1' 'device.fraction = 1.5: must be > 0 and <= 1' \
    's/fraction = 0.35/fraction = 1.5/'
broken 'half a device' 'per_node = 2.5: must be an integer' \
    's/per_node = 4/per_node = 2.5/'
broken 'neither device nor node' 'network.per = "rack": must be one of' \
    's/per = "device"/per = "rack"/'
broken 'a list' 'links.latency = .*must be a number' \
    's/latency = 10.0/latency = [1.0, 2.0]/'
broken 'a missing key' 'host.copy: not set (broken.cfg)' '/^host/d'
broken 'wrong syntax' 'broken.cfg:' 's/^links = {/links = /'
refuses 'no file' 'none.cfg' --machine none.cfg
refuses 'GPUs that are none' 'gpus 0,4: must be integers 1' --machine "$one" \
    --gpus 0,4
refuses 'rate 0' 'rate 0: must be above 0' --machine "$one" --rate 0
refuses 'flags of a machine' 'gpus: needs --machine' --gpus 4
refuses 'two dimensions' 'grid.cells = .*three dimensions' --machine "$one" \
    'grid.cells=[8,8]'
# Before the medium is looked at, whose values here would be refused.
sed -i -e 's/"acoustic";/&\nmedium = { type = "expression"; c = "x1-2"; };/' cube.cfg
refuses 'bad medium' 'medium.c = .*gives c = -2' --machine "$one"
refuses 'GPUs before the medium' 'gpus 0: must be' --machine "$one" --gpus 0
refuses 'rate before the medium' 'rate 0: must be' --machine "$one" --rate 0
refuses 'two dimensions before the medium' 'three dimensions' --machine "$one" \
    'grid.cells=[8,8]'

end config/machine
