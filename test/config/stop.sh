#!/bin/sh
# Signals end every command with exit code 1, a message and no file half-written:
# a run and bench with what they have, others at once.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1
export XDG_CACHE_HOME="$PWD/home"

cat >plane.cfg <<'CFG'
system = "acoustic";
grid = { cells = [8, 6]; order = 2; };
time = { end = 1e5; };
initial = { type = "plane"; cycles = [1, 0]; };
output = { directory = "out"; every = 0.0; picture = { every = 0.0; }; };
CFG

# Whether process $1 has a handler for SIGINT.
listens() {
    mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
    [ $((0x${mask:-0} & 2)) != 0 ]
}

# ends SIGNAL SECONDS PATTERN ARGUMENT...: the signal comes SECONDS after it is
# listened to and the file $await is there
await=plane.cfg
ends() {
    signal=$1 seconds=$2 pattern=$3
    shift 3
    "$htwave" "$@" >answer.txt 2>message.txt &
    child=$!
    for _ in $(seq 300); do
        [ -e "$await" ] && break
        sleep 0.1
    done
    for _ in $(seq 500); do
        listens $child && break
        sleep 0.01
    done
    sleep "$seconds"
    if ! kill -"$signal" $child 2>/dev/null; then
        wait $child
        sed 's/^/    | /' message.txt
        fail "$1, SIG$signal: ended before it, exit code $?"
        return
    fi
    before=$(date +%s)
    case $signal in # these may come again, as SIGXCPU does every second
    XCPU | USR1 | HUP) kill -"$signal" $child 2>/dev/null ;;
    esac
    (
        sleep 25
        kill -KILL $child
    ) 2>/dev/null &
    guard=$!
    wait $child
    code=$?
    kill $guard 2>/dev/null
    took=$(($(date +%s) - before))
    if [ $code = 1 ] && grep -q "^htwave: $pattern" message.txt &&
        [ $took -le 20 ]; then
        pass "$1, SIG$signal: exit code 1 after $took s: $(tail -n 1 message.txt)"
    else
        sed 's/^/    | /' message.txt
        fail "$1, SIG$signal: exit code $code, not 1, after $took s"
    fi
    left=$(find . -name '*.tmp.*')
    [ -z "$left" ] || fail "$1, SIG$signal: left $left"
}

for signal in INT TERM HUP USR1 XCPU; do
    rm -rf out
    await=out/input.cfg
    ends $signal 0.1 'interrupted at step' run plane.cfg "$device" --quiet
    await=plane.cfg
    judge "run, SIG$signal: the state is written" \
        [ -e out/summary.json -a -e out/fields_000000.h5 ]
    ends $signal 0.1 interrupted converge plane.cfg device.backend=oracle \
        --quiet
done
rm -rf out

# What the parent has ignored stays so: nohup
(
    trap '' HUP
    exec "$htwave" converge plane.cfg device.backend=oracle --quiet
) 2>message.txt &
child=$!
sleep 0.5
kill -HUP $child
sleep 0.5
judge 'an ignored SIGHUP does not end it' kill -0 $child
kill -TERM $child 2>/dev/null
wait $child
judge "SIGTERM then does: exit code $?" grep -q '^htwave: interrupted' message.txt

# A large medium, so that the plan takes a while
ends INT 0.5 interrupted check plane.cfg "$device" --quiet \
    'grid.cells=[3000,3000]' time.scheme=taylor medium.type=expression \
    'medium.c=1+0.1*sin(6*x1)*exp(cos(6*x2))' medium.degree=3

if have_device; then
    select=${HTWAVE_DEVICE:-cpu}
    # PoCL is open then, whose compiler takes this signal.
    ends USR1 1 interrupted tune --device "$select" --quiet --orders 3,4,5
    ends INT 1 interrupted bench --device "$select" --quiet --out bench
    judge 'bench: bench.json has what was measured' valid_json bench/bench.json
    ends INT 0 interrupted devices --measure
else
    skip 'tune, bench, devices: no device is here'
fi
judge 'no core file, no output' [ -z "$(find . -name 'core*' -o -name out)" ]

end config/stop
