#!/bin/sh
# Runs every kernel under Oclgrind, an OpenCL simulator that checks each memory
# access, each barrier and, pair by pair, accesses that race. Whatever it
# reports is a failure. The cases are those of test/kernel/small.c,
# test/kernel/packer.c and, of small sizes, test/kernel/fd.c.
#
# Oclgrind is then shown the same kernels with an error planted through the
# compiler's options, so that silence is known to mean something.
#
# The device's small memory makes the two-kernel variants keep one plane of
# interpolants at a time.
set -u
. "${0%/*}/config/common.sh"
folder=${HTWAVE_BUILD:-build}/test/kernel

simulate() { # program, further compiler options, argument of the program...
    program=$folder/$1 options="-DHT_RESTRICT= $2"
    shift 2
    rm -f "$scratch/log"
    HTWAVE_DEVICE=oclgrind oclgrind --data-races --uniform-writes \
        --max-errors 5000 --global-mem-size 131072 \
        --build-options "$options" --log "$scratch/log" \
        "$program" "$@" >"$scratch/out" 2>&1
}

planted() { # what, compiler option, what Oclgrind should say
    simulate small "$2" "monolithic advection taylor 2D"
    found=$(grep -c "$3" "$scratch/log" 2>/dev/null)
    if [ "${found:-0}" -gt 0 ]; then
        pass "$1 is reported: $found times \"$3\" (bound: above 0)"
    else
        fail "$1 is not reported; Oclgrind says:"
        head -n 20 "$scratch/log" "$scratch/out"
    fi
}

command -v oclgrind >/dev/null || {
    skip 'oclgrind is not here'
    end oclgrind
    exit
}

for cases in small packer 'fd small'; do
    name=${cases%% *}
    # shellcheck disable=SC2086 # no argument where there is none
    simulate "$name" "" ${cases#"$name"}
    code=$?
    relay "$scratch/out"
    grep -q '^ok # skip no device' "$scratch/out" &&
        fail "Oclgrind's device is not found"
    judge "$name ends with exit code $code (expected 0)" [ $code = 0 ]
    lines=$(grep -c . "$scratch/log" 2>/dev/null)
    if [ -r "$scratch/log" ] && [ "$lines" = 0 ]; then
        pass "Oclgrind reports $lines lines of $name (bound 0)"
    else
        fail "Oclgrind reports ${lines:-no log} lines of $name (bound 0):"
        grep -h . "$scratch/log" | head -n 60
    fi
done

planted "a missing barrier" "-Dbarrier(x)=" "data race at local memory"
planted "a barrier for half of the work-items" \
    "-Dbarrier(x)=if(get_local_id(0)%2)barrier(x)" "divergence"
planted "a row too far" "-Dget_group_id(x)=(get_group_id(x)+9*((x)==1))" \
    "Invalid write"
planted "a row too low" "-Dget_group_id(x)=(get_group_id(x)-9*((x)==1))" \
    "Invalid read"
end oclgrind
