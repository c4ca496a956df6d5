#!/bin/sh
# Other people's machines: another locale, no HOME, one core, another user, a path with spaces and
# letters beyond ASCII. The same run gives the same files, bit for bit.
set -u
. "${0%/*}/common.sh"
cd "$scratch" || exit 1
cat >run.cfg <<'INPUT'
system = "acoustic";
grid = { cells = [14, 12]; order = 3; };
time = { end = 0.2; };
initial = { type = "gaussian"; width = 0.2; };
receivers = ( { position = [0.31, 0.62]; every = 0.05; } );
output = { directory = "out"; every = 0.1; series = true; traces = ["csv"]; pictures = false; };
INPUT
kernels=$(device_option "${HTWAVE_DEVICE:-auto}")
run() { "$@" "$htwave" run run.cfg --quiet "$kernels"; }
run env || fail 'a run'
mv out whole

# same WHAT COMMAND...: the run by way of a command
same() {
    what=$1
    shift
    rm -rf out
    run "$@" >said 2>&1
    code=$?
    judge "$what: exit code $code $(cat said)" [ $code = 0 ]
    judge "$what: the same files $(differ whole out)" [ -z "$(differ whole out)" ]
}

same 'no HOME' env -u HOME -u XDG_CACHE_HOME
env -u HOME -u XDG_DATA_HOME "${plot%/*}/install-deps" --check >said 2>&1
judge "no HOME: what is missing here: $(cat said)" [ -z "$(grep 'not set' said)" ]
same 'a HOME that is not there' env -u XDG_CACHE_HOME HOME=/nonexistent
# A decimal comma, as in German.
if localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null; then
    same 'another locale' env LOCPATH="$PWD" LC_ALL=de_DE.UTF-8
else
    skip 'another locale: localedef cannot make it here'
fi
if command -v taskset >/dev/null; then
    same 'one core' taskset -c 0
else
    skip 'one core: no taskset here'
fi
mkdir "a path, ä" && cp "$htwave" run.cfg "a path, ä" && mv whole "a path, ä" && cd "a path, ä" || exit 1
htwave="$PWD/htwave"
same 'a path with spaces' env
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod -R a+rX "$scratch" && chmod a+rwx .
    # PoCL needs a folder that it can write
    same 'another user' setpriv --reuid=65534 --regid=65534 --clear-groups env -u HOME \
        -u XDG_CACHE_HOME POCL_CACHE_DIR="$PWD/cache"
else
    skip 'another user: only root can be one here'
fi
end places
