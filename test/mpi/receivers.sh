#!/bin/sh
# Receivers by several ranks: the same traces as by one, bit for bit, with
# positions on the borders of slabs and between them; the run has the bits of
# one without receivers.
set -u
. "${0%/*}/common.sh"
have_device || no_ranks 'no device is here'
cd "$scratch" || exit 1

# Slabs of 5 ranks are 9 planes or more; nodes along x3 are 0.1 apart.
cat >sea.cfg <<CFG
system = "acoustic";
grid = { cells = [9, 8, 45]; upper = [0.9, 0.8, 4.5]; order = 4; };
time = { end = 0.4; scheme = "fd"; };
boundary = { x1 = ["rigid", "free"]; x3 = ["free", "rigid"]; };
medium = { type = "layers"; interfaces = [0.83, 2.111];
           c = [1.0, 2.5, 1.2]; rho = [1.0, 2.0, 0.7]; };
initial = { type = "gaussian"; centre = [0.6, 0.5, 2.2]; width = 0.4; };
receivers = (
    { name = "line"; type = "line"; from = [0.03, 0.41, 0.0];
      to = [0.87, 0.52, 4.5]; count = 46;
      fields = ["p", "p_x1", "p_x3"]; every = 0.013; start = 0.1; },
    { name = "nodes"; type = "line"; from = [0.2, 0.1, 0.0];
      to = [0.2, 0.1, 4.5]; count = 46; },
    { position = [0.45, 0.444, 0.9]; } );
output = { directory = "out"; pictures = false;
    maps = ( { what = ["minimum", "time"]; frequencies = [0.5]; every = "step"; stride = 2; },
             { name = "section"; from = [0.0, 0.4, 1.0]; to = [0.9, 0.4, 2.2]; } ); };
device = { selfcheck = false; tune = "never"; };
CFG

input=sea.cfg
same 'finite differences' 5
same 'deep halos, one term' 3 parallel.halo_depth=2 time.stages=1
same 'periodic, with a source' 3 'boundary.x3=["periodic","periodic"]' \
    'sources=({position=[0.41,0.333,1.8];frequency=0.4;})'
same 'Taylor' 5 time.scheme=taylor grid.order=1 medium.type=constant \
    medium.c=1 medium.rho=1
sed 's/acoustic/wave/; s/rho = .*; };/};/; s/"p/"u/g' sea.cfg >string.cfg
input=string.cfg
same 'leapfrog, both grids' 2 time.scheme=leapfrog grid.order=1 \
    medium.type=constant medium.c=1
input=sea.cfg

# The state is only read.
rm -rf with without
ranks 3 "$htwave" run sea.cfg --quiet "$device" output.directory=with
ranks 3 "$htwave" run sea.cfg --quiet "$device" output.directory=without 'receivers=()'
wrong=$(differ with without)
judge "with and without receivers the files that differ: $wrong" [ "$wrong" = traces.h5 ]
end mpi/receivers
