#!/bin/sh
# Sources and receivers of Hermite methods by several ranks: the same state, all derivatives,
# and traces as by one rank, bit for bit: on the border of two slabs, in a corner of walls,
# in a line through all slabs, through the periodic seam; planes beyond a slab
# that several half steps compute.
set -u
. "${0%/*}/common.sh"
have_device || no_ranks 'no device is here'
cd "$scratch" || exit 1

# Slabs of 3 ranks have 5 planes of cells: borders at 5 and 10.
cat >shots.cfg <<CFG
system = "acoustic";
grid = { cells = [7, 6, 15]; upper = [7.0, 6.0, 15.0]; order = 1; };
time = { end = 6.0; scheme = "taylor"; };
boundary = { x1 = ["rigid", "free"]; x3 = ["free", "rigid"]; };
medium = { c = 1.0; rho = 1.3; };
sources = (
    { position = [3.2, 2.9, 10.0]; frequency = 0.1; signal = "burst";
      cycles = 1.0; },
    { type = "line"; from = [0.3, 0.2, 0.1]; to = [5.3, 4.2, 14.9]; count = 6;
      frequency = 0.15; signal = "burst"; cycles = 1.0; },
    { kind = "force"; direction = [1.0, -2.0, 0.5]; position = [6.8, 1.0, 12.4];
      frequency = 0.2; signal = "burst"; cycles = 1.0; },
    { type = "volume"; width = 1.1; position = [2.8, 5.8, 8.7]; frequency = 0.1;
      signal = "burst"; cycles = 1.0; } );
receivers = ( { type = "line"; from = [0.2, 2.41, 0.0]; to = [6.7, 3.2, 15.0]; count = 16; },
              { type = "line"; from = [2.0, 1.0, 0.0]; to = [2.0, 1.0, 15.0]; count = 16;
                every = 0.13; } );
output = { directory = "out"; pictures = false; coefficients = true; };
device = { selfcheck = false; tune = "never"; };
CFG
sed -e 's/"acoustic"/"wave"/' -e 's/ rho = 1.3;//' \
    -e 's/kind = "force"; direction = [^;]*;//' shots.cfg >wave.cfg
sed -e 's/x1 = .*; x3/x3/' -e 's/\["free", "rigid"\]/"rigid"/' \
    -e 's/^sources = (/&{ type = "plane"; axis = "x1"; at = 2.3; frequency = 0.1; \
        signal = "burst"; cycles = 1.0; }, { type = "plane"; axis = "x3"; at = \
        8.9; frequency = 0.2; signal = "burst"; cycles = 1.0; },/' \
    shots.cfg \
    >plane.cfg
input=shots.cfg
same 'Taylor, deep halos, double' 3 parallel.halo_depth=3 device.precision=double
same 'leapfrog, deep halos, periodic' 2 time.scheme=leapfrog \
    parallel.halo_depth=4 'boundary.x3=["periodic","periodic"]' \
    'sources.1.position=[3.2,2.9,14.99]'
input=plane.cfg
same 'planes across and along the slabs' 3 time.scheme=leapfrog
input=wave.cfg
same 'leapfrog of u' 3 time.scheme=leapfrog

# Sources do act.
"$htwave" compare alone out --json >compare.txt
largest=$(number compare.txt largest)
judge "the largest value is $largest (above 1e-3)" below 1e-3 "$largest"
end mpi/sources
