#!/bin/sh
# htwave selftest: a row passes, or is not possible on a device made smaller; compilers' options make
# it wrong, or end the process of the device: it is then named as failed, and the rest goes on.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

if ! have_device; then
    skip 'no device is here'
    end config/selftest
    exit
fi
# One device: PoCL's, whose compiler takes planted faults, else the first that matches.
first() { "$htwave" devices | awk '/^[0-9]+:/ { n = $1 + 0 } $0 ~ of { print n; exit }' of="$1"; }
where=${HTWAVE_DEVICE:-cpu} pocl=$(first 'Portable Computing')
case $where in
cpu) where=${pocl:-cpu} ;;
gpu) where=$(first ', GPU,') ;;
esac

# selftest WHAT CODE LAST ARGUMENT...: exit code, and the last line of its text
selftest() {
    what=$1 wanted=$2 last=$3
    shift 3
    timeout 100 "$htwave" selftest --device "$where" --quiet "$@" >table.txt 2>said.txt
    code=$? line=$(tail -n 1 table.txt)
    [ "$code$line" = "$wanted$last" ] || sed 's/^/    | /' table.txt said.txt
    judge "$what: exit code $code, \"$line\"" [ "$code$line" = "$wanted$last" ]
}
row='acoustic 1-D, order 2, walls, fd-plain'

selftest 'a row passes' 0 '1 passed, 0 failed, 0 not possible here' --only "$row, single" \
    --out kept.json
judge "kept.json: $(number kept.json worst_ratio) of the bound" \
    below "$(number kept.json worst_ratio)" 1
judge 'kept.json: valid' valid_json kept.json
selftest 'no double precision' 0 '1 passed, 0 failed, 1 not possible here' --only "$row" \
    device.limits.fp64=false
judge "the reason: $(grep -o "not possible: .*" table.txt | cut -c -60)" \
    grep -q 'double not possible: device.precision' table.txt
selftest 'no local memory' 0 '0 passed, 0 failed, 1 not possible here' \
    --only 'walls, monolithic, single' --quick device.limits.local_memory=0
echo 'grid = { cells = [12, 10]; order = 4; }; time = { scheme = "leapfrog"; end = 0.1; };' >small.cfg
"$htwave" run small.cfg --quiet device.select="$where" device.limits.group=4 output.directory=few &&
    "$htwave" run small.cfg --quiet device.select="$where" output.directory=many
judge "groups of 4 begin a run of leapfrog: $("$htwave" compare few many --eps 2e-5)" \
    "$htwave" compare few many --quiet --eps 2e-5

# Options of PoCL alone: some work-items leave out loops; `if` traps.
if ! $addresses && [ "$where" = "$pocl" ]; then
    export POCL_CACHE_DIR="$scratch"
    planted() { # WHAT OPTION WHY
        export POCL_EXTRA_BUILD_FLAGS="-cl-opt-disable $2"
        selftest "$1" 1 '0 passed, 1 failed, 0 not possible here' --only "$row, single"
        judge "$1: $(grep -o 'failed: .*' table.txt)" grep -q "fd-plain .*failed: $3" table.txt
    }
    planted 'a wrong kernel' '-Dfor(...)=for(__VA_ARGS__)if(get_local_id(0)%7!=3)' \
        'self-check: variant fd-plain .* differs from the reference'
    planted 'a kernel that traps' '-Dif(...)=if(__builtin_trap(),__VA_ARGS__)' \
        'the driver ended the process'
else
    skip 'planted faults: of PoCL alone, and not with address checks'
fi

refused() { # WHAT CODE TEXT ARGUMENT...
    what=$1 wanted=$2 text=$3
    shift 3
    timeout 20 "$htwave" selftest "$@" >table.txt 2>said.txt
    code=$?
    judge "$what: exit code $code, $(cat said.txt)" \
        [ "$code$(grep -c "$text" said.txt)" = "${wanted}1" ]
}
refused 'a key of a run' 2 'grid.order=3: selftest has problems of its own' grid.order=3
refused 'a key that it chooses' 2 'device.variant=vector: selftest' device.variant=vector
refused 'a device as a key' 2 'chooses: backend select .*--device' device.select=H100
refused 'an unknown key' 2 'did you mean device.limits.group' device.limits.groups=3
refused 'a wrong limit' 2 'device.limits.group = -1: must be' device.limits.group=-1
refused 'no such row' 2 'only nosuch: no row has this in its name' --quick --only nosuch --device "$where"
refused 'no place for --out' 1 'cannot create a file for gone/a.json' --out gone/a.json
mkdir folder
refused 'a folder as --out' 2 'out folder: is a directory' --out folder
refused 'no such device' 1 'no device matches --device nowhere' --device nowhere
end config/selftest
