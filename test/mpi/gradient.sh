#!/bin/sh
# htwave gradient as a whole: against differences of the misfit, by ranks and groups of them, with
# the forward field in all ways, after a call that was killed.
set -u
. "${0%/*}/common.sh"
have_device || no_ranks 'no device is here'
cd "$scratch" || exit 1

cat >shots.cfg <<CFG
system = "acoustic";
grid = { cells = [11, 9, 23]; upper = [1.1, 0.9, 2.3]; order = 8; };
time = { end = 2.0; step = 0.02; scheme = "fd"; };
boundary = { x1 = ["rigid", "free"]; x2 = "periodic"; };
medium = { type = "layers"; interfaces = [0.83, 1.45];
           c = [1.0, 2.0, 1.2]; rho = [1.0, 1.5, 0.7]; };
sources = ( { position = [0.4, 0.33, 0.4]; frequency = 0.6; },
            { position = [0.7, 0.5, 1.9]; frequency = 0.6; amplitude = 2.0; },
            { position = [0.6, 0.2, 1.2]; frequency = 0.5; kind = "force";
              direction = [0.3, 0.5, 0.8]; } );
receivers = ( { type = "line"; from = [0.3, 0.4, 0.5]; to = [0.8, 0.3, 2.0]; count = 6;
                fields = ["p", "v3"]; every = 0.05; } );
gradient = { parameters = ["c", "rho"]; };
output = { directory = "out"; pictures = false; };
device = { precision = "double"; selfcheck = false; tune = "never"; };
CFG

"$htwave" data shots.cfg --quiet "$device" 'medium.c=[1.05,1.9,1.3]' >said.txt 2>&1
judge "data of three shots" [ -e obs/shot-3.h5 ]

# gradient DIRECTORY KEY=VALUE..
gradient() {
    directory=$1
    shift
    "$htwave" gradient shots.cfg --json --quiet "$device" output.directory="$directory" "$@" \
        >"$directory.json" 2>said.txt || sed 's/^/    | /' said.txt
}
gradient whole
judge "gradient: misfit $(number whole.json misfit)" [ -e whole/gradient.h5 ]
judge 'its JSON' valid_json whole.json

# The second number of c: the error falls as the square of the change.
values() { # PARAMETER
    sed 's/.*"parameter": *"'"$1"'"[^[]*"values": *\[\([^]]*\)\].*/\1/' whole.json
}
differences() { # PARAMETER KEY LOWER UPPER CHANGE
    gradient more "$2=$4"
    gradient less "$2=$3"
    error=$(echo "$(number more.json misfit) $(number less.json misfit) $(values "$1")" | tr , ' ' |
        awk -v h="$5" '{ q = ($1 - $2) / (2 * h); print (q > $4 ? q - $4 : $4 - q) / ($4 > 0 ? $4 : -$4) }')
    judge "$1: differences of the misfit over +-$5 differ by $error (bound 1e-6)" below "$error" 1e-6
}
differences c medium.c '[1.0,1.9998,1.2]' '[1.0,2.0002,1.2]' 0.0002

# equals NAME EPS [TO]: the gradient of TO, else that of the whole
equals() {
    "$htwave" compare "${3:-whole}/gradient.h5" "$1/gradient.h5" --eps "$2" >said.txt 2>&1
    judge "$1: $(tail -1 said.txt)" [ $? = 0 ]
}
for field in checkpoint reverse; do
    gradient $field gradient.field=$field gradient.memory=1.6e7
    equals $field 1e-12
done

# Twelve samples, half of which are known.
floats() { # COUNT BYTES
    # shellcheck disable=SC2059 # the format is the data
    for _ in $(seq "$1"); do printf "$2"; done
}
floats 12 '\000\000\200\077' >ones.f32
(floats 6 '\000\000\200\077' && floats 6 '\000\000\000\100') >rho.f32
(floats 6 '\000\000\000\000' && floats 6 '\000\000\200\077') >mask.f32
for mask in ones mask; do
    gradient $mask medium.type=file medium.c=ones.f32 medium.rho=rho.f32 'medium.shape=[2,2,3]' \
        'medium.spacing=[0.5,0.4,0.8]' 'gradient.parameters=["c"]' gradient.mask=$mask.f32
    sed 's/.*"values": *\[\([^]]*\)\].*/\1/' $mask.json | tr -d ' ' | tr , '\n' >$mask.txt
done
judge "gradient.mask: $(grep -c '^-*0$' mask.txt) of $(wc -l <mask.txt) are 0, $(tail -n 6 mask.txt |
    diff - ones.txt | grep -c '^<') of the others differ" [ "$(head -n 6 mask.txt | tr -d - | sort -u)" = 0 -a \
    "$(tail -n 6 mask.txt)" = "$(tail -n 6 ones.txt)" -a "$(grep -c '^-*0$' ones.txt)" = 0 ]
"$htwave" compare ones/gradient.h5 mask/gradient.h5 >said.txt 2>&1
judge "in the file, too: $(tail -n 1 said.txt)" [ $? = 4 ]
gradient short gradient.mask=none.f32
judge "refused: $(tail -n 1 said.txt)" grep -q '^ *|* *htwave: gradient.mask = ' said.txt

# As groups of ranks, and as slabs.
for case in '3 3 out3' '4 2 both4'; do
    # shellcheck disable=SC2086 # three words
    set -- $case
    ranks "$1" "$htwave" gradient shots.cfg --quiet "$device" output.directory="$3" \
        parallel.shots="$2" >said.txt 2>&1 || sed 's/^/    | /' said.txt
    equals "$3" 0
done

# Killed after a shot, in one of 20 trials: the next ones take a tenth of a second each.
for _ in $(seq 20); do
    [ ! -e part/gradient.h5.part ] || break
    rm -rf part
    "$htwave" gradient shots.cfg --quiet "$device" output.directory=part >said.txt 2>&1 &
    while kill -0 $! 2>/dev/null && [ ! -e part/gradient.h5.part ]; do sleep 0.01; done
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
judge 'a call that was killed leaves what it has' [ -e part/gradient.h5.part -a ! -e part/gradient.h5 ]
"$htwave" gradient shots.cfg "$device" output.directory=part >said.txt 2>&1
judge "the next one goes on: $(grep 'goes on' said.txt)" grep -q 'goes on after shot [12]' said.txt
equals part 0
judge 'and leaves nothing else' [ ! -e part/gradient.h5.part ]

# Couplings at oblique faces, at a corner of four samples each; one of them is at the border of slabs.
(floats 3 '\000\000\200\077' && floats 3 '\000\000\000\100') >corners.f32
sed -e 's/"acoustic"/"maxwell"/; s/x1 = \["rigid", "free"\]/x1 = ["electric", "magnetic"]/' \
    -e 's/type = "layers".*/type = "file"; eps = "corners.f32"; mu = "corners.f32";/' \
    -e 's/ c = \[.*/ fit = "box"; shape = [2, 1, 3]; spacing = [0.5, 0.4, 0.8]; };/' \
    -e 's/frequency = 0.6; },/frequency = 0.75; kind = "dipole"; direction = [0.3, 0.5, 0.8]; } );/' \
    -e '/amplitude/,/direction = \[0.3, 0.5, 0.8\]; } );$/d' \
    -e 's/"p", "v3"/"E1", "E3", "H2"/; s/"c", "rho"\]/"eps", "mu"]; nodes = true/' \
    -e 's/end = 2.0/end = 1.4/' shots.cfg >light.cfg
rm -r obs
"$htwave" data light.cfg --quiet "$device" medium.scale=1.1 >said.txt 2>&1
judge "data of light $(cat said.txt)" [ -e obs/shot-1.h5 ]
"$htwave" gradient light.cfg "$device" output.directory=light >said.txt 2>&1
judge "the medium: $(grep medium said.txt)" grep -q 'coupled at oblique faces' said.txt
ranks 2 "$htwave" gradient light.cfg --quiet "$device" output.directory=couplings >said.txt 2>&1 ||
    sed 's/^/    | /' said.txt
equals couplings 0 light

end mpi/gradient
