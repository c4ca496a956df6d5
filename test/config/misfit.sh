#!/bin/sh
# htwave gradient, its side of the data: misfits against differences, observed data from HDF5 and
# SEG-Y, weights, and what is refused.
set -u
. "${0%/*}/common.sh"
cd "$scratch" || exit 1

cat >pair.cfg <<CFG
system = "acoustic";
grid = { cells = [32, 24]; upper = [3.2, 2.4]; order = 8; };
time = { end = 3.0; step = 0.03; scheme = "fd"; };
boundary = { x1 = "rigid"; x2 = ["free", "rigid"]; };
medium = { type = "layers"; axis = "x2"; interfaces = [0.83, 1.45]; c = [1.0, 1.5, 1.2]; };
sources = ( { position = [0.9, 0.5]; frequency = 0.7; },
            { position = [2.1, 0.4]; frequency = 0.7; } );
receivers = ( { name = "line"; type = "line"; from = [0.3, 0.4]; to = [2.8, 0.3]; count = 6;
                every = 0.05; } );
output = { directory = "out"; pictures = false; snapshots = false; traces = ["segy"]; };
device = { precision = "double"; };
CFG
layers='medium.c=[1.05,1.4,1.3]'
listed='shots=({sources=[1];},{sources=[2];})'
"$htwave" data pair.cfg --quiet "$device" "$layers" >said.txt 2>&1
judge "data of two shots $(cat said.txt)" [ -e obs/shot-2.h5 ]

# gradient DIRECTORY KEY=VALUE.., of $input, by $program
input=pair.cfg program=$htwave
gradient() {
    directory=$1
    shift
    "$program" gradient "$input" --anew --json --quiet "$device" output.directory="$directory" "$@" \
        >"$directory.json" 2>said.txt || sed 's/^/    | /' said.txt
}

# ---- misfits by the second number of c or so: errors fall as the square of the change ----
larger='medium.c=[1.0,1.5002,1.2]'
smaller='medium.c=[1.0,1.4998,1.2]'
differences() { # WHAT KEY=VALUE..
    what=$1
    shift
    gradient whole "$@"
    program=$numbers
    gradient more "$@" "$larger"
    gradient less "$@" "$smaller"
    program=$htwave
    slope=$(sed 's/.*"values": *\[\([^]]*\)\].*/\1/' whole.json)
    error=$(echo "$(number more.json misfit) $(number less.json misfit) $slope" | tr , ' ' |
        awk '{ q = ($1 - $2) / 4e-4; most = 0
               for (i = 3; i <= 5; i++) { v = $i < 0 ? -$i : $i; if (v > most) most = v }
               print (q > $4 ? q - $4 : $4 - q) / most }')
    judge "$what: differences of the misfit are off by $error (bound 1e-6)" below "$error" 1e-6
}
for misfit in l2 correlation envelope given; do
    differences $misfit gradient.misfit=$misfit
done

# ---- observed data and weights ----
cat >weights.py <<'PY'
import h5py, numpy as np
for shot in 1, 2:
    with h5py.File(f"w-{shot}.h5", "w") as file:
        file["line/p"] = np.linspace(0.2, 1, 6)[:, None] * (np.arange(61) > 20)
    with h5py.File(f"one-{shot}.h5", "w") as file:
        file["line/p"] = np.ones(6)
    np.save(f"one-{shot}.npy", np.ones(6))
PY
same() { # WHAT BOUND: as whole
    error=$(echo "$(number whole.json misfit) $(number other.json misfit)" |
        awk '{ print ($1 > $2 ? $1 - $2 : $2 - $1) / $1 }')
    judge "$1: misfit differs by $error (bound $2)" below "$error" "$2"
}
gradient whole
"$htwave" run pair.cfg --quiet "$device" "$layers" "$listed" output.directory=all >said.txt 2>&1
judge "SEG-Y of all shots $(cat said.txt)" [ -e all/shots_line_p.sgy ]
both=all/shots_line_p.sgy
gradient other "shots=({sources=[1];data=\"$both\";},{sources=[2];data=\"$both\";})"
same 'data of both shots from one SEG-Y file' 1e-6
if have_modules h5py; then
    python3 weights.py
    gradient other 'gradient.weights=one-*.h5'
    same 'weights of 1' 0
    gradient other 'gradient.weights=one-*.npy'
    same 'weights of 1 of .npy' 0
    differences weights 'gradient.weights=w-*.h5'
else
    skip 'no h5py'
fi

# Of a uniform medium runs take leapfrog by themselves.
gradient whole 'medium.c=[1.2,1.2,1.2]'
gradient other 'medium.c=[1.2,1.2,1.2]' time.scheme=auto grid.order=0
same 'a uniform medium without a scheme' 0

# ---- refused: WHAT PATTERNS COMMAND KEY=VALUE.. ----
refused() {
    what=$1 patterns=$2 command=$3
    shift 3
    "$htwave" "$command" "$input" --quiet "$device" output.directory=no "$@" \
        >answer.txt 2>message.txt
    code=$?
    missing=$(lacking message.txt "$patterns")
    [ -z "$missing" ] || sed 's/^/    | /' message.txt
    judge "$what is refused:$missing exit code $code" [ "$code$missing" = "${wanted_code:-2}" ]
    judge "$what: no directory" [ ! -e no ]
}
refused 'another misfit' 'gradient.misfit = "l3"|l2, correlation, envelope, given' \
    gradient gradient.misfit=l3
refused 'another field' 'gradient.field|auto, reverse, checkpoint, store' \
    gradient gradient.field=back
refused 'a masked image' 'gradient.mask|gradient.image = "cross"' gradient gradient.image=cross \
    gradient.mask=mask.f32
refused 'forces on a line, by a density' 'sources.1.type|forces at one place' gradient \
    'gradient.parameters=["rho"]' 'medium.rho=[1.0,1.2,1.0]' 'sources=({type="line";kind="force";
    direction=[1.0,0.0];from=[0.9,0.5];to=[1.2,0.5];count=3;frequency=0.7;},{position=[2.1,0.4];frequency=0.7;})'
refused 'negative memory' 'gradient.memory = -1' gradient gradient.memory=-1.0
refused 'what is no parameter' 'gradient.parameters|"vp"' gradient 'gradient.parameters=["vp"]'
refused 'a step of the model' 'time.step' gradient time.step=0.0
refused 'data that are not there' 'shot-7.h5 does not exist|htwave data FILE' gradient 'shots=({sources=[1];data="obs/shot-7.h5";})'
mv obs kept
refused 'data of sources that are not there' 'shots.1.data|shot-1.h5 does not exist' gradient
mv kept obs
refused 'other samples' 'shot-1.h5 has 61 samples 0.05 apart|tools/resample.py --every 0.04' \
    gradient \
    receivers.1.every=0.04
refused 'a longer run' 'has 61 samples|record 71' gradient time.end=3.5
refused 'other receivers' 'line/position|6 x 2 numbers, not 5 x 2' gradient receivers.1.count=5
refused 'moved receivers' 'receiver 1 of "line"|(0.3, 0.4), not at (0.31, 0.4)' gradient \
    'receivers.1.from=[0.31,0.4]'
refused 'a moved source' 'shots.1.data|source 1 of "sources"|other sources' gradient \
    'sources.1.position=[0.91,0.5]'
refused 'another source' 'sources/position|1 x 2 numbers, not 2 x 2' gradient \
    'shots=({sources=[1,2];data="obs/shot-1.h5";})'
refused 'another field of receivers' 'no line/v1' gradient 'receivers.1.fields=["p","v1"]'
refused 'weights that are not there' 'gradient.weights = "none-*.h5"|none-1.h5' gradient \
    'gradient.weights=none-*.h5'
if have_modules h5py; then
    echo wrong >one-2.h5
    refused 'wrong weights of the last shot' 'shot 2 of 2|one-2.h5' gradient \
        'gradient.weights=one-*.h5'
fi
wanted_code=1
for field in store checkpoint; do
    refused "too little memory for $field" 'gradient.memory|take more of it|"reverse"' gradient \
        gradient.field=$field gradient.memory=100.0
done
wanted_code=2
gradient whole 'output.maps=({what=["maximum"];})'
judge "maps: $(cat said.txt)" grep -q 'warning: output.maps: .htwave gradient. makes none' said.txt
refused 'data into SEG-Y' 'shots.1.data|is read as data, not written' data \
    'shots=({sources=[1];data="a.sgy";})'
# ---- a solid ----
sed -e 's/acoustic/elastic/; s/"rigid"/"roller"/g' -e 's/ c = .*/ couplings = false; vp = [1.0, 1.5, 1.2]; vs = [0.5, 0.8, 0.6]; rho = [1.0, 1.3, 1.2]; };/' \
    -e 's/frequency = 0.7; },/frequency = 0.4; kind = "force"; direction = [0.6, 0.8]; },/; s/frequency = 0.7; } )/frequency = 0.4; kind = "explosion"; } )/' \
    -e 's/every = 0.05;/every = 0.05; fields = ["v1", "v2", "s11"];/; s/precision = "double"/precision = "double"; backend = "oracle"/' \
    pair.cfg >solid.cfg
input=solid.cfg
"$htwave" data solid.cfg --quiet "$device" 'medium.vs=[0.52,0.75,0.62]' >said.txt 2>&1
judge "data of a solid $(cat said.txt)" [ -e obs/shot-2.h5 ]
larger='medium.vs=[0.5,0.8002,0.6]'
smaller='medium.vs=[0.5,0.7998,0.6]'
differences 'solid, by vs' 'gradient.parameters=["vs"]'
larger='medium.rho=[1.0,1.3002,1.2]'
smaller='medium.rho=[1.0,1.2998,1.2]'
differences 'solid, by rho' 'gradient.parameters=["rho"]'
wanted_code=1
refused 'a solid and too little memory' 'gradient.memory|take more of it, fewer steps or cells' \
    gradient 'gradient.parameters=["vs"]' gradient.field=checkpoint gradient.memory=100.0
judge 'and no run backwards is named' [ "$(grep -c '"reverse"' message.txt)" = 0 ]
wanted_code=2
refused 'the run backwards of a solid' 'gradient.field|auto' gradient gradient.field=reverse
refused 'a solid with losses' 'medium.qp|must be 0' gradient medium.qp=50.0
# ---- light: all samples of a file of eps change at once, by little ----
cat >light.cfg <<CFG
system = "maxwell";
grid = { cells = [32, 24]; upper = [3.2, 2.4]; order = 8; };
time = { end = 3.0; step = 0.03; scheme = "fd"; };
boundary = { x1 = "electric"; x2 = ["electric", "magnetic"]; };
medium = { type = "file"; couplings = false; eps = "eps.h5"; axes = ["x2", "x1"];
           spacing = [0.11, 0.13]; };
sources = ( { position = [0.9, 0.5]; frequency = 0.5; kind = "dipole"; direction = [0.6, 0.8, 0.0]; },
            { position = [2.1, 0.4]; frequency = 0.5; kind = "magnetic"; direction = [0.0, 0.0, 1.0]; } );
receivers = ( { name = "line"; type = "line"; from = [0.3, 0.4]; to = [2.8, 0.3]; count = 6;
                every = 0.05; fields = ["E1", "H3"]; } );
gradient = { parameters = ["eps"]; };
output = { directory = "out"; pictures = false; snapshots = false; };
device = { precision = "double"; };
CFG
input=light.cfg
cat >eps.py <<'PY'
import h5py, json, numpy as np, sys
rng = np.random.default_rng(5)
x, y = np.meshgrid(0.13 * np.arange(26), 0.11 * np.arange(23), indexing="ij")
eps = 1.3 + 0.3 * np.sin(2 * x) * np.cos(3 * y) + 0.5 * (y > 1.3)
change, part = rng.uniform(-1, 1, eps.shape), 1e-4
if sys.argv[1] == "write":
    for name, by in ("eps", 0), ("more", part), ("less", -part), ("true", 0.2):
        with h5py.File(name + ".h5", "w") as file:
            file["data"] = eps + by * change
else:
    with h5py.File("whole/gradient.h5") as file:
        by = file["gradient/eps"][:]
    chi = [json.load(open(name + ".json"))["misfit"] for name in ("more", "less")]
    error = abs((chi[0] - chi[1]) / (2 * part) - (by * change).sum())
    print(error / np.linalg.norm(by) / np.linalg.norm(change))
PY
if have_modules h5py; then
    python3 eps.py write
    "$htwave" data light.cfg --quiet "$device" medium.eps=true.h5 >said.txt 2>&1
    judge "data of light $(cat said.txt)" [ -e obs/shot-2.h5 ]
    gradient whole medium.eps=eps.h5
    program=$numbers
    for model in more less; do gradient $model medium.eps=$model.h5; done
    program=$htwave
    error=$(python3 eps.py judge)
    judge "light, by a file of eps: differences of the misfit are off by $error (bound 1e-6)" \
        below "$error" 1e-6
else
    skip 'no h5py'
fi

# ---- couplings at an oblique face, by samples of a file: errors fall as the square of the change --
cat >dipping.py <<'PY'
import sys, h5py, numpy as np
x, y = np.meshgrid(np.arange(33) * 0.1, np.arange(25) * 0.1)
below = y + 0.37 * x > 1.6
value = {"vp": 1.5 + 0.5 * below, "vs": 0.8 + 0.3 * below, "rho": 1 + 0.4 * below}
change = {"vp": 0.7 * below, "vs": -1.0 * below, "rho": 0.5 * below}
if sys.argv[1] == "write":
    for name, part in change.items():
        with h5py.File(f"dipping-{name}.h5", "w") as file:
            file["model"] = value[name] * (1 + float(sys.argv[2]) * part)
else:
    slope = g2 = d2 = 0
    with h5py.File("whole/gradient.h5") as file:
        for name, part in change.items():
            g, d = file["gradient/" + name][:], value[name] * part
            slope, g2, d2 = slope + (g * d).sum(), g2 + (g * g).sum(), d2 + (d * d).sum()
        acts = np.abs(file["gradient_nodes/C_s11_s12"][:]).max() > 0
    quotient = (float(sys.argv[3]) - float(sys.argv[4])) / (2 * float(sys.argv[2]))
    print(abs(quotient - slope) / np.sqrt(g2 * d2) if acts else "inf")
PY
sed -e 's/medium = .*/medium = { type = "file"; format = "hdf5"; dataset = "model"; vp = "dipping-vp.h5"; vs = "dipping-vs.h5"; rho = "dipping-rho.h5"; spacing = [0.1, 0.1]; axes = ["x1", "x2"]; };/; s/step = 0.03/step = 0.02/' \
    -e '/kind = "force"/s/},$/} );/; /kind = "explosion"/d' solid.cfg >dipping.cfg
input=dipping.cfg
dipping() { # CHANGE: sets error
    python3 dipping.py write "$1"
    gradient more 'gradient.parameters=["vp","vs","rho"]'
    python3 dipping.py write "-$1"
    gradient less 'gradient.parameters=["vp","vs","rho"]'
    error=$(python3 dipping.py judge "$1" "$(number more.json misfit)" "$(number less.json misfit)")
}
if have_modules h5py; then
    python3 dipping.py write 0.05
    rm -r obs
    "$htwave" data dipping.cfg --quiet "$device" >said.txt 2>&1
    judge "data of a dipping layer $(cat said.txt)" [ -e obs/shot-1.h5 ]
    python3 dipping.py write 0
    gradient whole 'gradient.parameters=["vp","vs","rho"]' gradient.nodes=true
    program=$numbers
    dipping 4e-4
    coarse=$error
    dipping 1e-4
    program=$htwave
    judge "couplings: differences of the misfit are off by $error (bound 1e-6)" below "$error" 1e-6
    judge "of changes four times as large by $coarse, 16 times that" \
        below "$(echo "$error $coarse" | awk '{ print $1 / $2 }')" 0.08
else
    skip 'no h5py'
fi
end config/misfit
