"""Checks a run written by test/io/output.c DIR; called by readback.sh."""
import os
import sys
import xml.etree.ElementTree as xml
from math import prod

import h5py

directory = sys.argv[1]
results = [0, 0]
precisions = set()


def check(ok, text):
    results[not ok] += 1
    print("ok -" if ok else "not ok -", text)


def expected(snapshot, field, node):
    return 1000.0 * snapshot + 100.0 * field + node + 0.5


tree = xml.parse(os.path.join(directory, "fields.xdmf"))
snapshots = tree.findall("./Domain/Grid/Grid")
check(len(snapshots) == 3, f"fields.xdmf lists {len(snapshots)} snapshots of 3")
# staggered: a grid of each place
grids = [(index, grid) for index, snapshot in enumerate(snapshots)
         for grid in snapshot.findall("Grid")]
check(len(grids) == 6, f"{len(grids)} grids of 6, of p and v3")
for index, grid in grids:
    time = float(grid.find("Time").get("Value"))
    mesh = [int(n) for n in grid.find("Topology").get("Dimensions").split()]
    for attribute in grid.findall("Attribute"):
        item = attribute.find("DataItem")
        name, dataset = item.text.split(":")
        with h5py.File(os.path.join(directory, name), "r") as file:
            data = file[dataset]
            shape = [int(n) for n in item.get("Dimensions").split()]
            same = shape == mesh and prod(mesh) == data.size
            same = same and list(data.shape) == mesh[-data.ndim:]
            precisions.add(int(item.get("Precision")))
            same = same and data.dtype.itemsize == int(item.get("Precision"))
            same = same and file.attrs["time"] == time == 0.25 * index
            same = same and file.attrs["step"] == 10 * index
            field = {"/p": 0, "/v3": 3}[dataset]
            worst = max(abs(v - expected(index, field, n))
                        for n, v in enumerate(data[...].ravel()))
            coefs = file[dataset + "_coefficients"]
            for i, block in enumerate(coefs):
                worst = max(worst, max(
                    abs(v - 10000.0 * i - expected(index, field, n))
                    for n, v in enumerate(block.ravel())))
        check(same, f"{name}{dataset}: shape {shape}, type and time as listed")
        check(worst == 0.0, f"{name}{dataset}: values off by {worst}")
check(precisions == {8 if directory.endswith("double") else 4},
      f"bytes of a value: {precisions}")
print(f"1..{sum(results)}")
sys.exit(1 if results[1] else 0)
