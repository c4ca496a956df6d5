#!/usr/bin/env python3
"""What absorbing layers cost: a cube of a uniform medium, layers on all sides.

As in Figures 7, 9 and 11 of Toivanen et al. (2011): cubes of growing size with layers of
10 cells, then of one size with layers of growing thickness; by finite differences and
the Taylor scheme. Layers are added to the cube: effective rates count its cells, as in
the paper, and the same cube between rigid walls is the measure.

Each thickness is verified on a small cube: the layers must take a pulse away; exit
code 1 otherwise. What is timed has no tiny numbers, which slow a CPU down. Writes
absorbing.csv, absorbing.md and pictures.
"""
import math

from laboratory import PLAIN, Laboratory, Refused, integers, say, table, words

SMALL, USUAL = 10, 10  # cells of the cube that is verified; of a layer
THICKNESS = (4, 8, 12, 16, 24)
# Cells along the axes of cubes, as many in all in fewer dimensions; one of them
# has all thicknesses.
DOMAINS = {("taylor", False): (8, 12, 16), ("fd", False): (16, 32, 48),
           ("taylor", True): (32, 64, 96, 128),
           ("fd", True): (64, 128, 192, 256, 384)}
FIXED = 2
# Between walls all energy stays; without the layer of one side a sixth of it
# would, in three dimensions: a tenth of that.
MOST_LEFT = 1 / 60


class Method:
    def __init__(self, lab, scheme, order):
        self.lab, self.scheme, self.order = lab, scheme, order
        self.left = {}  # of a thickness: energy left, None: refused

    def __str__(self):
        return f"{self.scheme}, {'order' if self.scheme == 'fd' else 'N ='} " \
            f"{self.order}"

    def run(self, inside, layer, keys):
        dims = self.lab.args.dims
        given = {"system": "acoustic", "grid.order": self.order,
                 "grid.cells": [inside] * dims, "grid.upper": [float(inside)] * dims,
                 "time.scheme": self.scheme,
                 "device.precision": self.lab.args.precision}
        if self.scheme == "fd":
            given["time.stages"] = 1  # as layers have
        for k in range(dims):
            given[f"boundary.x{k + 1}"] = "absorbing" if layer else "rigid"
        if layer:
            given["absorbing.cells"] = layer
        return self.lab.run({**PLAIN, **given, **keys})

    def square(self, middle):
        """Of the distance from the middle."""
        return "(" + "+".join(f"(x{k + 1}-{middle})^2" for k in range(
            self.lab.args.dims)) + ")"

    # ---- verification ----

    def verify(self, layer):
        """The energy of a pulse that is left when it would have come back to the
        middle."""
        dims, way = self.lab.args.dims, SMALL / 2 + layer
        r2 = self.square(SMALL / 2)
        try:
            found = self.run(SMALL, layer, {
                "initial.type": "expression",  # of the mean 0, two cells wide
                "initial.values.p": f"exp(-{r2}/4.5)*(1-{r2}/{2.25 * dims})",
                "time.end": 2 * way, "output.every": way,
                "device.selfcheck": True})
        except Refused as why:
            say(f"absorbing, {self}: {why}")
            return None
        left = 1 + found.get("conserved_energy_drift", found.get("energy_drift"))
        if not left <= MOST_LEFT:
            say(f"absorbing, {self}, {layer} cells: {left:.2g} of the energy stays "
                f"(at most {MOST_LEFT:.2g})")
            self.lab.wrong = True
        return left

    # ---- time ----

    def step_seconds(self, inside, layer):
        """On a CPU, which may have other work, the least of three runs."""
        few, step = 4, 0.2  # stable in all of them
        r2 = self.square(inside / 2)
        keys = {"initial.type": "expression", "time.step": step,
                "initial.values.p": f"1e-3+exp(-32*{r2}/{max(inside, 16) ** 2})",
                "time.end": few * step}
        each = self.run(inside, layer, keys)["kernel_s"] / few
        enough = 0.02 if self.lab.args.quick else 0.1 if self.lab.gpu else 0.3
        steps = min(max(math.ceil(enough / each), 7), 200)
        again = 1 if self.lab.gpu or self.lab.args.quick else 3
        found = [self.run(inside, layer, {**keys, "time.end": steps * step})
                 for _ in range(again)]
        return min(f["kernel_s"] for f in found) / steps, \
            found[0].get("absorbing_bytes")

    def rows(self, sweep, inside, layer, walls):
        """walls: seconds of a step between walls; None: is measured first."""
        lab, found = self.lab, []
        if layer not in self.left:
            self.left[layer] = self.verify(layer)
        for cells in ([] if walls else [0]) + ([] if self.left[layer] is None else [layer]):
            if lab.over():
                break
            try:
                seconds, size = self.step_seconds(inside, cells)
            except Refused as why:
                say(f"absorbing, {inside} cells, layers of {cells}: {why}")
                continue
            walls = walls if cells else seconds
            all_cells = (inside + 2 * cells) ** lab.args.dims
            found.append({
                "sweep": sweep, "scheme": self.scheme, "order": self.order,
                "sides": "layers" if cells else "walls",
                "precision": lab.args.precision, "dimensions": lab.args.dims,
                "domain": inside, "layer": cells,
                "ms": 1e3 * seconds, "cells_per_s": all_cells / seconds,
                "effective_cells_per_s": inside ** lab.args.dims / seconds,
                "time_ratio": seconds / walls if walls else None,
                "cells_ratio": all_cells / inside ** lab.args.dims,
                "layer_bytes": size or 0,
                "energy_left": self.left[layer] if cells else None,
                "device": lab.device, "backend": lab.backend})
        return found

    def domains(self):
        if self.lab.args.cells:
            return [self.lab.args.cells]
        return [8 * round(base ** (3 / self.lab.args.dims) / 8)
                for base in DOMAINS[self.scheme, self.lab.gpu]]

    def measure(self, rows):
        domains = self.domains()
        fixed = domains[min(FIXED, len(domains) - 1)]
        for inside in domains:
            rows += self.rows("domain", inside, USUAL, None)
        walls = [r["ms"] / 1e3 for r in rows if r["sides"] == "walls"
                 and (r["scheme"], r["order"], r["domain"])
                 == (self.scheme, self.order, fixed)]
        for layer in THICKNESS[1:2] if self.lab.args.quick else THICKNESS:
            if walls:
                rows += self.rows("thickness", fixed, layer, walls[0])


# ---- results ----

def size_of(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.{0 if unit == 'B' else 1}f} {unit}"
        count /= 1024


def table_of(lab, rows):
    first, dims = rows[0], lab.args.dims
    head = f"**{Method(lab, first['scheme'], first['order'])}**, {dims}-D, " \
        f"{lab.args.precision} precision, {lab.device}: growing " \
        f"{first['sweep']}\n\n"
    return head + table(
        ["cells inside", "layer", "ms per step", "Mcells/s",
         "effective", "time over walls", "cells over walls", "of layers",
         "energy left"],
        [[f"{r['domain']}^{dims}", r["layer"],
          f"{r['ms']:.4g}", f"{r['cells_per_s'] / 1e6:.4g}",
          f"{r['effective_cells_per_s'] / 1e6:.4g}",
          *([""] * 4 if not r["layer"] else [
              f"{r['time_ratio']:.3g}" if r["time_ratio"] else "",
              f"{r['cells_ratio']:.3g}", size_of(r["layer_bytes"]),
              f"{r['energy_left']:.1e}"])] for r in rows])


COLUMNS = """sweep scheme order sides precision dimensions domain layer ms
    cells_per_s effective_cells_per_s time_ratio cells_ratio layer_bytes
    energy_left device backend""".split()


def measure(lab):
    args, rows, tables = lab.args, [], {}
    if args.quick:
        args.dims, args.orders, args.cells, args.schemes = 1, [2], 64, ["fd"]
    args.dims = args.dims or (3 if lab.gpu else 2)
    try:
        for scheme, usual in (("fd", [8]), ("taylor", [2, 3])):
            for order in args.orders or usual:
                if scheme in args.schemes:
                    Method(lab, scheme, order).measure(rows)
    except KeyboardInterrupt:
        say("interrupted: what was found so far:")
    for row in rows:
        tables.setdefault((row["scheme"], row["order"], row["sweep"]),
                          []).append(row)
    lab.write(rows, COLUMNS, "\n".join(table_of(lab, t) for t in tables.values()))


if __name__ == "__main__":
    laboratory = Laboratory(__doc__, "absorbing", (60, 600))
    add = laboratory.parser.add_argument
    add("--dims", type=int, choices=(1, 2, 3), help="2 on a CPU, 3 on a GPU")
    add("--cells", type=int, help="of the cube along an axis")
    add("--orders", type=integers, metavar="LIST",
        help="grid.order (fd: 8; taylor: 2,3)")
    add("--schemes", type=words, default=["fd", "taylor"], metavar="LIST")
    add("--precision", choices=("single", "double"), default="single")
    laboratory.main(measure)
