#!/bin/sh
# What rounded messages between slabs do to a long run in double precision: the
# table of docs/developers/scaling.md, section 6, as markdown.
#
#     bash bench/halo_precision.sh
#     RANKS=2 STEPS=1000 ORDERS="2 3" HTWAVE=build/htwave \
#         bash bench/halo_precision.sh
#
# A plane wave in a periodic box, oblique to all axes, on 7 x 9 x 8 cells of one
# size: with the same number of cells along all axes the wave would take few
# different values, whose roundings repeat or cancel. Told are, of p or u, whose
# amplitude is 1, the largest difference and the relative one in the L2 norm,
# and the runs' errors against the exact solution.
set -eu

htwave=${HTWAVE:-build/htwave}
ranks=${RANKS:-4}
steps=${STEPS:-10000}
orders=${ORDERS:-1 2 3 4}
cases=${CASES:-acoustic:taylor:p wave:leapfrog:u}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

cat >"$scratch/wave.cfg" <<'CFG'
grid = { cells = [7, 9, 8]; upper = [0.875, 1.125, 1.0]; };
initial = { type = "plane"; cycles = [1, 1, 1]; };
device = { precision = "double"; tune = "never"; };
CFG
# c dt = 0.9 h = 0.9/8; half a step less, since steps are rounded up
end=$(awk -v n="$steps" 'BEGIN { printf "%.6f", (n - 0.5) * 0.9 / 8 }')

number() { # FILE KEY
    sed -n 's/.*"'"$2"'": *\([-+0-9.eE]*\).*/\1/p' "$1"
}

short() { # FILE KEY
    number "$1" "$2" | awk '{ printf "%.1e", $1 }'
}

simulate() { # SYSTEM SCHEME FIELD N PRECISION
    mpiexec -n "$ranks" "$htwave" run "$scratch/wave.cfg" --quiet --json \
        system="$1" time.scheme="$2" output.fields="[\"$3\"]" grid.order="$4" \
        time.end="$end" parallel.halo_precision="$5" \
        output.directory="$scratch/$5" >"$scratch/$5.json"
}

against_same() { # PRECISION
    "$htwave" compare "$scratch/same" "$scratch/$1" --json --eps 2 \
        >"$scratch/compare.json"
    echo "$(short "$scratch/compare.json" max_abs) |" \
        "$(short "$scratch/compare.json" l2_relative)"
}

error() { # PRECISION
    short "$scratch/$1.json" error_l2_relative
}

echo "| | N | single: largest | L2 | half: largest | L2 |" \
    "error with same | single | half |"
echo "|---|---|---|---|---|---|---|---|---|"
for case in $cases; do
    IFS=: read -r system scheme field <<END
$case
END
    for n in $orders; do
        for precision in same single half; do
            echo "$system, $scheme, N = $n, $precision" >&2
            simulate "$system" "$scheme" "$field" "$n" $precision
        done
        taken=$(number "$scratch/half.json" steps)
        [ "$taken" = "$steps" ] || { echo "$taken steps" >&2; exit 1; }
        echo "| $system, $scheme | $n | $(against_same single) |" \
            "$(against_same half) | $(error same) | $(error single) |" \
            "$(error half) |"
    done
done
echo
echo "$ranks ranks on $(number "$scratch/half.json" devices) of" \
    "$(sed -n 's/.*"device": "\([^"]*\)".*/\1/p' "$scratch/half.json")," \
    "$steps steps"
