#!/bin/sh
# The cache of compiled kernels: a damaged entry is compiled again and
# replaced, and two processes may share the cache. PoCL has a cache itself, which
# is turned off.
set -u
export POCL_KERNEL_CACHE=0
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
    end config/cache
    exit
fi
cat >small.cfg <<'CFG'
system = "advection";
grid = { cells = [16]; order = 1; };
time = { end = 0.1; };
initial = { type = "gaussian"; };
device = { cache = "cache"; };
CFG
chosen=device.backend=auto
[ -z "${HTWAVE_DEVICE:-}" ] || chosen=$device

# compiles WHAT true|false: whether the kernels come from the cache, and that
# they pass the self-check
compiles() {
    timeout 120 "$htwave" check small.cfg "$chosen" --json >answer.txt \
        2>message.txt
    code=$?
    if [ $code = 0 ] && grep -q "\"compile_cached\": $2" answer.txt &&
        below "$(number answer.txt selfcheck_ratio)" 1; then
        pass "$1: from the cache: $2, self-check" \
            "$(number answer.txt selfcheck_ratio) (bound 1)"
    else
        sed 's/^/    | /' message.txt answer.txt
        fail "$1: exit code $code, from the cache: not $2"
    fi
}

compiles 'empty cache' false
compiles 'filled cache' true
entry=$(ls cache/*.bin)
judge "one entry: $(echo "$entry" | wc -w)" [ "$(echo "$entry" | wc -w)" = 1 ]
size=$(wc -c <"$entry")

head -c $((size / 2)) "$entry" >half && mv half "$entry"
compiles 'truncated entry' false
compiles 'truncated entry, repaired' true

: >"$entry"
compiles 'empty entry' false
compiles 'empty entry, repaired' true

size=$(wc -c <"$entry")
printf 'damaged' |
    dd of="$entry" bs=1 seek=$((size - 40)) conv=notrunc 2>/dev/null
compiles 'damaged entry' false
compiles 'damaged entry, repaired' true

rm -rf cache
for n in 1 2; do
    timeout 120 "$htwave" check small.cfg "$chosen" --json \
        >answer.$n 2>message.$n &
    eval "child$n=$!"
done
wait "$child1"
first=$?
wait "$child2"
judge "two at once: exit codes $first and $?" [ $((first + $?)) = 0 ]
compiles 'after two at once' true
judge "nothing but the entry is left: $(ls cache | tr '\n' ' ')" \
    [ "$(ls cache | wc -l)" = 1 ]

mkdir readonly && : >readonly/cache
sed -i 's|"cache"|"readonly/cache"|' small.cfg
compiles 'a cache that cannot be written' false

end config/cache
