#!/bin/sh
# Reads outputs of htwave in both precisions with tools of others: h5py and an
# XML parser, else h5dump. What neither can judge is skipped, not passed.
# usage: readback.sh [PROGRAM]   (the program built from test/io/output.c)
set -u
program=${1:-${HTWAVE_BUILD:-build}/test/io/output}
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

by_h5py() { # DIRECTORY
    python3 "$here/readback.py" "$1"
}

# v3 of snapshot 2: 2000 + 300 + node + 0.5, 48 nodes; the size of its values
# as XDMF tells it.
by_h5dump() { # DIRECTORY
    h5dump -d /v3 -y -w 1 "$1/fields_000002.h5" |
        awk '/^ *[0-9.]+,?$/ { sub(",", ""); if ($1 != 2300.5 + n++) bad++ }
             END { good = n == 48 && !bad
                   print (good ? "pass" : "FAIL") " h5dump reads " n + 0 \
                       " values of 48, wrong: " bad + 0
                   exit !good }' || return 1
    bits=$(h5dump -H -d /v3 "$1/fields_000002.h5" |
        sed -n 's/.*H5T_IEEE_F\([0-9]*\)LE.*/\1/p')
    told=$(grep 'fields_000002.h5:/v3' "$1/fields.xdmf" |
        sed 's/.* Precision="\([0-9]*\)".*/\1/')
    if [ "$bits" = $((8 * ${told:-0})) ]; then
        echo "pass fields.xdmf tells $told bytes, h5dump $bits bits"
    else
        echo "FAIL fields.xdmf tells $told bytes, h5dump $bits bits"
        return 1
    fi
}

if command -v python3 >/dev/null && python3 -c 'import h5py' 2>/dev/null; then
    tool=h5py
elif command -v h5dump >/dev/null; then
    tool=h5dump
    echo 'skip no h5py: shapes, times and coefficients are not read back'
else
    echo 'skip neither h5py nor h5dump is here'
    exit 0
fi
for precision in single double; do
    "$program" "$scratch/$precision" $precision || exit 2
    if [ $tool = h5py ]; then
        by_h5py "$scratch/$precision" || failed=1
    else
        by_h5dump "$scratch/$precision" || failed=1
    fi
done
exit $failed
