#!/bin/sh
# Finite differences by several ranks: the same files as by one, traces and maps among
# them, bit for bit, whatever the system, sides and plane waves; what slabs cannot do is refused.
# Depths of halos, terms and other sources of acoustics are those of fd_slabs.
set -u
. "${0%/*}/common.sh"
have_device || no_ranks 'no device is here'
cd "$scratch" || exit 1

cat >sea.cfg <<CFG
system = "acoustic";
grid = { cells = [13, 11, 37]; upper = [1.3, 1.1, 3.7]; order = 4; };
time = { end = 0.2; scheme = "fd"; };
boundary = { x1 = ["rigid", "free"]; x3 = ["rigid", "free"]; };
medium = { type = "layers"; interfaces = [0.83, 2.111];
           c = [1.0, 2.5, 1.2]; rho = [1.0, 2.0, 0.7]; };
initial = { type = "gaussian"; centre = [0.6, 0.5, 1.0]; width = 0.2; };
receivers = (
    { name = "line"; type = "line"; from = [0.03, 0.41, 0.0]; to = [1.27, 0.52, 3.7];
      count = 38; fields = ["p", "p_x1", "p_x3"]; every = 0.013; start = 0.1; },
    { name = "nodes"; type = "line"; from = [0.2, 0.1, 0.0]; to = [0.2, 0.1, 3.7]; count = 38; } );
output = { directory = "out"; every = 0.1; pictures = false;
    maps = ( { what = ["minimum", "time"]; frequencies = [0.5]; every = "step"; stride = 2; },
             { name = "section"; from = [0.0, 0.4, 1.0]; to = [1.3, 0.4, 2.2]; } ); };
device = { selfcheck = false; tune = "never"; };
CFG

cat >solid.cfg <<CFG
system = "elastic";
grid = { cells = [17, 16, 37]; upper = [1.7, 1.6, 3.7]; order = 4; };
time = { end = 0.16; scheme = "fd"; };
boundary = { x1 = "absorbing"; x2 = "absorbing"; x3 = "absorbing"; };
absorbing = { cells = 6.0; };
medium = { type = "layers"; interfaces = [0.83, 2.111];
           vp = [1.0, 2.5, 1.2]; vs = [0.5, 1.2, 0.6]; rho = [1.0, 2.0, 0.7]; };
initial = { type = "gaussian"; field = "s11"; centre = [0.6, 0.5, 1.0]; width = 0.2; };
output = { directory = "out"; every = 0.08; pictures = false; };
device = { selfcheck = false; tune = "never"; variant = "fd-plain"; };
CFG

input=sea.cfg
same 'walls, density' 3
# Rounded messages change the values, by as much as they round.
rm -rf out
ranks 2 "$htwave" run sea.cfg --quiet "$device" parallel.halo_precision=half >said.txt 2>&1
"$htwave" compare alone/fields_000002.h5 out/fields_000002.h5 --eps 1 --json >compare.txt
largest=$(number compare.txt max_abs)
judge "messages in half: differ by $largest (0 to 2e-2)" \
    awk -v x="$largest" 'BEGIN { exit !(x > 0 && x < 2e-2) }'
input=solid.cfg
# By the variant that is chosen; others by the plain one, which compiles in half of the time.
same 'attenuation, free sides, layers, sources near them' 3 \
    device.variant=auto medium.qp=30.0 'medium.qs=[20.0,50.0,30.0]' initial.type=zero \
    time.end=0.08 output.every=0.04 \
    'medium.vs=[0.5,0.0,0.6]' 'boundary={x2=["free","roller"];x3="free";}' \
    'sources=({kind="explosion";position=[0.81,0.3,0.2];frequency=0.8;},
              {kind="force";direction=[1.0,1.0,2.0];position=[0.81,0.8,1.2];frequency=0.8;},
              {kind="force";direction=[1.0,1.0,2.0];position=[0.81,0.8,3.7];frequency=0.8;})'
same 'free sides, a sponge, deep halos' 2 absorbing.type=sponge parallel.halo_depth=3 \
    'boundary={x1="periodic";x2=["free","absorbing"];x3=["free","roller"];}'
# Faces oblique to the grid, at the borders of slabs and at the edges of the box.
ball='step(0.4-(x1-0.2)^2-(x2-0.2)^2-(x3-1.25)^2)'
pole='step(0.2-(x1-0.3*x3)^2-(x2-0.2)^2)'
losses="medium.qp=30.0 medium.qs=15+9*$ball"
# shellcheck disable=SC2086 # two words
same "a solid in a solid $losses" 3 'grid.cells=[8,7,25]' boundary.x1=roller \
    boundary.x2=periodic boundary.x3=antisymmetric medium.type=expression medium.fit=box \
    "medium.vp=1+1.2*($ball+$pole)" "medium.vs=0.5+0.7*($ball+$pole)" medium.rho=1.0 $losses
for case in '2 ["free","roller"]' '1 ["antisymmetric","antisymmetric"]'; do
    same 'two terms in time, a solid in a solid' 2 'grid.cells=[8,7,25]' \
        time.stages=2 parallel.halo_depth="${case% *}" boundary.x1=roller \
        boundary.x2=periodic boundary.x3="${case#* }" medium.type=expression medium.fit=box \
        "medium.vp=1+1.2*($ball+$pole)" "medium.vs=0.5+0.7*($ball+$pole)" medium.rho=1.0
done
sed -e 's/"elastic"/"maxwell"/; s/vp = .*/};/; s/type = "layers".*//' solid.cfg >light.cfg
input=light.cfg
# Too large for each rank to fit all of it.
same 'a dielectric, deep halos' 2 'grid.cells=[20,15,25]' parallel.halo_depth=2 grid.order=2 \
    initial.field=E2 boundary.x1=electric boundary.x2=periodic boundary.x3=periodic \
    medium.type=expression medium.fit=box "medium.eps=1+3*$ball" "medium.mu=1+$pole"
same 'plane waves of E over the borders of slabs' 3 initial.type=zero time.end=0.6 \
    'sources=({type="plane wave";from=[0.4,0.4,0.9];to=[0.9,0.8,2.9];direction=[1.0,0.4,-0.7];
        polarisation=[0.0,1.0,0.0];frequency=0.8;},
       {type="plane wave";from=[0.0,0.0,0.7];to=[1.7,1.6,3.1];direction=[0.0,0.0,1.0];
        polarisation=[1.0,0.0,0.0];frequency=0.8;})' \
    boundary.x1=electric boundary.x2=periodic boundary.x3=electric output.every=0.3
input=sea.cfg
# Plane waves over the borders of slabs.
same 'a plane wave in a box, density beyond it' 2 initial.type=zero time.end=0.6 output.every=0.3 \
    'medium.interfaces=[0.2,3.6]' 'medium.c=[1.2,1.0,1.1]' 'medium.rho=[2.0,1.0,1.5]' \
    'sources=({type="plane wave";from=[0.35,0.35,0.9];to=[0.85,0.75,2.9];
        direction=[1.0,0.4,-0.7];frequency=0.8;})'

# time.scheme = "auto": every number of ranks chooses the same scheme, and bounds the step by the
# same number. What the fit cut is counted once each, whoever has it.
sed -e 's/ order = 4;//' -e 's/ scheme = "fd";//' sea.cfg >auto.cfg
facts() { # ANSWER: scheme, why, order and step
    sed 's/.*"scheme": \("[^"]*"\), "scheme_chosen_by": \("[^"]*"\), "order": \([0-9]*\).*"dt": \([^,]*\),.*/\1 \2 \3 \4/' "$1"
}
"$htwave" check auto.cfg "$device" --json --quiet >alone.json 2>said.txt
ranks 3 "$htwave" check auto.cfg "$device" --json --quiet >ranks.json 2>said.txt
judge "layers: $(facts alone.json)" \
    grep -q '"scheme": "fd", "scheme_chosen_by": "auto: the medium varies"' alone.json
judge "layers by 3: $(facts ranks.json)" [ "$(facts ranks.json)" = "$(facts alone.json)" ]
cut=$(number alone.json cut_values)
judge "the fit cut $cut of $(number alone.json fitted_values) values" [ "${cut:-0}" -gt 0 ]
for key in cut_values fitted_values; do
    judge "$key by 3 ranks: $(number ranks.json $key)" \
        [ "$(number alone.json $key)" = "$(number ranks.json $key)" ]
done

refused() { # TITLE TEXT N OVERRIDE...
    title=$1 text=$2 count=$3
    shift 3
    ranks "$count" "$htwave" run sea.cfg --quiet "$device" "$@" >said.txt 2>&1
    judge "$title is refused" grep -q "$text" said.txt
}
refused 'a halo deeper than a slab' \
    'halo_depth = 3: needs slabs of 21 planes, but the thinnest of 2 ranks has 18: at most 2' \
    2 parallel.halo_depth=3 grid.order=8
refused 'a memory of the medium in deep halos' 'halo_depth.*a memory' 2 \
    parallel.halo_depth=2 medium.q=30.0 grid.order=4
refused 'a plane wave whose box one rank finds at a jump' \
    'sources.1 .*varies at the surface' 2 \
    'sources=({type="plane wave";from=[0.35,0.35,0.35];to=[0.85,0.75,2.5];
        direction=[1.0,0.4,-0.7];frequency=0.5;})' grid.order=2 \
    'medium.interfaces=[0.83,2.9]' 'medium.c=[1,1,2]' 'medium.rho=[1,1,1]'
# Ranks refuse together, with one message.
ranks 2 "$htwave" run auto.cfg --quiet "$device" grid.order=4 >said.txt 2>&1
judge 'an order that auto cannot place: one message' \
    [ "$(grep -c 'grid.order = 4: the medium varies' said.txt)" = 1 ]
end mpi/differences
