#!/bin/sh
# tools/check itself, on items made for it: what counts as passed, failed and
# skipped, and that nothing that breaks off or hangs passes.
set -u
. "${0%/*}/common.sh"
mkdir -p "$scratch/b/test/made"

# finds ITEM CODE COUNTS TEXT: an item of the shell commands on standard input,
# the exit code, the last line, and a line of the report
finds() {
    { echo '#!/bin/sh'; cat; } >"$scratch/b/test/made/$1"
    chmod +x "$scratch/b/test/made/$1"
    HTWAVE_LIMIT=2 tools/check "$scratch/b:made/$1" >"$scratch/out" 2>&1
    code=$?
    last=$(tail -n 1 "$scratch/out")
    judge "$1: exit code $code (expected $2), $last" \
        [ "$code $last" = "$2 $3" ]
    judge "$1: the report has \"$4\"" grep -q -e "$4" "$scratch/out"
}

finds good 0 '1 passed, 0 failed, 1 skipped' 'Result: PASS' <<'END'
echo 'ok - a: 1 (bound 2)'; echo 'noise'; echo 'ok # skip b'; echo 1..2
END
finds bad 1 '1 passed, 1 failed, 0 skipped' 'not ok - b: 3 (bound 2)' <<'END'
echo 'ok - a'; echo 'not ok - b: 3 (bound 2)'; echo 1..2; exit 1
END
finds lying 1 '1 passed, 1 failed, 0 skipped' 'not ok - b' <<'END'
echo 'ok - a'; echo 'not ok - b'; echo 1..2; exit 0
END
finds code 1 '1 passed, 1 failed, 0 skipped' 'returned 1' <<'END'
echo 'ok - a'; echo 1..1; exit 1
END
finds broken-off 1 '1 passed, 1 failed, 0 skipped' 'No plan found' <<'END'
echo 'ok - a'
END
finds too-few 1 '1 passed, 1 failed, 0 skipped' 'planned 2 tests but ran 1' <<'END'
echo 'ok - a'; echo 1..2
END
finds silent 1 '0 passed, 1 failed, 0 skipped' 'No plan found' </dev/null
finds nothing 1 '0 passed, 1 failed, 0 skipped' 'not ok - judged nothing' <<'END'
echo 1..0
END
finds signal 1 '1 passed, 1 failed, 0 skipped' 'ended by signal 11' <<'END'
echo 'ok - a'; echo 1..1; kill -SEGV $$
END
finds sanitizer 1 '1 passed, 1 failed, 0 skipped' 'exit code 99' <<'END'
echo 'ok - a'; echo 1..1; exit 99
END
finds hang 1 '1 passed, 1 failed, 0 skipped' 'stopped after 2 s' <<'END'
echo 'ok - a'; echo 1..1; sleep 600
END
finds skipped 0 '0 passed, 0 failed, 1 skipped' 'Result: PASS' <<'END'
echo 'ok # skip no device'; echo 1..1
END
export HTWAVE_REQUIRE='other/* made/*'
finds required 1 '0 passed, 1 failed, 1 skipped' 'HTWAVE_REQUIRE has it' <<'END'
echo 'ok # skip no device'; echo 1..1
END
tools/check "$scratch/b:made/absent" >"$scratch/out" 2>&1
judge "an item that is absent: exit code $?, $(tail -n 1 "$scratch/out")" \
    [ "$(tail -n 1 "$scratch/out")" = '0 passed, 1 failed, 0 skipped' ]
end config/check
