#!/bin/sh
# Traces as scripts read them: of amplitudes at the ends of single precision, of a
# killed run, and the plots of tools/traces.py.
set -u
. "$(dirname "$0")/common.sh"
cd "$scratch" || exit 1

line_input >line.cfg

# Amplitudes whose squares single precision does not hold, and others near the
# end of its range: 2^-120 of data, 2^100 of a source.
single=$(device_option "${HTWAVE_DEVICE:-auto}")
compare() { # FACTOR: traces of two runs
    paste -d, one/traces_line.csv two/traces_line.csv |
        awk -F, -v f="$1" '/^[-0-9]/ { n = NF / 2
            for (i = 2; i <= n; i++) { d = $(n + i) / f - $i
                if (d < 0) d = -d
                if (d > worst) worst = d
                if ($i > most) most = $i } }
            END { print worst, most; exit !(most > 0 && worst < 1e-6 * most) }'
}
for scheme in taylor leapfrog fd source; do
    factor=7.52316384526264005e-37 key=initial.amplitude
    set -- time.scheme=$scheme
    [ $scheme != source ] || {
        factor=1.267650600228229e30 key=sources.1.amplitude
        set -- time.scheme=taylor initial.type=zero \
            'sources=({position=[1.0,0.8];frequency=3.0;})'
    }
    for run in one two; do
        amplitude=1.0 && [ $run = one ] || amplitude=$factor
        "$htwave" run line.cfg --quiet "$single" "$@" $key=$amplitude \
            'output.traces=["csv"]' output.directory=$run 2>>message.txt
    done
    worst=$(compare $factor)
    judge "$scheme, times $factor: traces off by, largest: $worst" [ $? = 0 ]
    rm -r one two
done

# Values that would be infinite in the file.
beyond() { # DATASET_OF_FILE ARGUMENT...
    dataset=$1
    shift
    "$htwave" run line.cfg --quiet "$single" time.scheme=taylor initial.type=zero 'receivers=({position=[1.0,0.8];})' \
        'sources=({position=[1.0,0.8];frequency=3.0;amplitude=1e38;})' "$@" 2>message.txt
    code=$?
    judge "beyond single precision: exit code $code: $(tail -n 1 message.txt)" \
        [ "$code $(grep -c "^htwave: cannot write dataset $dataset: it would hold" message.txt)" = '1 1' ]
    rm -r out
}
if ! $addresses && have_device; then # the reference computes in double precision
    beyond 'sources/signal of out/traces.h5' sources.1.amplitude=1e40
    beyond 'receivers-1/p of out/traces.h5'
    beyond 'p of out/fields_000000.h5' output.snapshots=true 'receivers=()'
    beyond 'maximum of out/map_map-1.h5' 'output.maps=({what=["maximum"];})' 'receivers=()'
    beyond 'receivers-1/p of SEG-Y' device.precision=double device.backend=oracle 'output.traces=["segy"]' \
        receivers.1.every=0.05
fi

# ---- a killed run, plots ----
# whole.py FILE END: its samples are those of the run before, and it says
# how it ended; the rest has no times. Of each group there are some.
cat >whole.py <<'PY'
import sys, h5py, numpy
with h5py.File(sys.argv[1]) as a, h5py.File("long.h5") as b:
    assert a.attrs["ended"].decode() == sys.argv[2], a.attrs["ended"]
    for name in set(b) - {"input.cfg", "sources"}:
        t, u = a[name]["time"][:], b[name]["time"][:]
        n = numpy.count_nonzero(numpy.isfinite(t))
        assert n > 100 and numpy.isfinite(t[:n]).all(), (name, n)
        n = min(n, len(u))
        assert (t[:n] == u[:n]).all(), name
        assert (a[name]["p"][:, :n] == b[name]["p"][:, :n]).all(), name
    print("samples", n)
PY
if have_modules h5py matplotlib; then
    "$htwave" run line.cfg --quiet "$device" time.end=5.0 time.step=0.01
    mv out/traces.h5 long.h5
    rm -rf out
    "$htwave" run line.cfg --quiet "$device" time.end=1e4 time.step=0.01 \
        'output.traces=["csv"]' 2>message.txt &
    child=$!
    for _ in $(seq 300); do
        [ -e out/traces.h5 ] && break
        sleep 0.1
    done
    sleep 0.5
    kill -KILL $child
    wait $child 2>/dev/null
    said=$(python3 whole.py out/traces.h5 killed)
    judge "a killed run leaves its traces: $said" [ -n "$said" ]
    "$htwave" run line.cfg --quiet "$device"
    said=$(python3 whole.py out/run-001/traces.h5 killed)
    judge "the next run moves them away: $said" [ -n "$said" ]
    forked answer.txt message.txt "$(dirname "$plot")/traces.py" \
        out/run-001/traces.h5 --out killed
    judge "traces.py: $(head -n 1 answer.txt)" \
        grep -q 'line: p: 7 traces of [0-9]* samples' answer.txt
    rm -rf out
    # ---- plots ----
    traces=$(dirname "$plot")/traces.py
    "$htwave" run line.cfg --quiet "$device" receivers.2.count=20
    forked answer.txt answer.txt "$traces" out/traces.h5 --out plots
    judge "traces.py: $(ls plots | tr '\n' ' ')" [ "$(ls plots | tr '\n' ' ')" = \
        'gather_line_p.png spectrum_line_p.png spectrum_receivers-1_p.png traces_receivers-1_p.png wiggle_line_p.png ' ]
    judge "it says: $(grep largest answer.txt | head -n 1)" \
        grep -q '^line: p: 20 traces of 51 samples, largest ' answer.txt
    for wrong in "out/traces.h5 --field q" out/none.h5; do
        # shellcheck disable=SC2086 # a file and its options
        forked answer.txt answer.txt "$traces" $wrong --out plots
        judge "traces.py $wrong: exit code $?, $(tail -n 1 answer.txt)" \
            grep -q '^traces.py: out/' answer.txt
    done
else
    skip 'a killed run, traces.py: no python3 with h5py and matplotlib is here'
fi

end config/traces
