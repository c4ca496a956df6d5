#!/usr/bin/env python3
"""Errors and observed orders over a list of grids.

    converge.py FILE [key=value ...] --cells 4,6,8 [--order 1,2,3]

The same run on several grids and orders, and the order
log(e_1 / e_2) / log(h_1 / h_2) observed between one grid and the next. The
initial data must have a known solution at the end time. What is called rounding:
docs/developers/method.md, section 11. Writes converge.csv and converge.md.

--min-order X: exit code 4 when the last order observed is below X, or none is.
"""
import math
import sys

from laboratory import Laboratory, Refused, integers, say, split_keys, table

COLUMNS = ("grid_order", "cells", "steps", "error_l2_relative", "order",
           "rounding_bound", "rounding", "wall_s")
UNIT = {"single": 2.0**-24, "double": 2.0**-53}


def choose_cells(along, given):
    """Along x1: half to double of the file's."""
    if given:
        return given
    found = []
    for factor in (0.5, 0.75, 1, 1.5, 2):
        cells = math.floor(factor * along + 0.5)
        if cells >= 1 and cells not in found:
            found.append(cells)
    return found


def bound_of(report):
    """The largest error that rounding explains; differences have no polynomials."""
    n = 2 * report["steps"] + 1
    changes = n if report["scheme"] == "taylor" else n * math.sqrt(n)
    lost = 4.0**(0 if report["scheme"] == "fd" else report["order"]) / 16
    return 4 * UNIT[report["precision"]] * (changes + lost)


def make_row(report, before):
    error, cells = report.get("error_l2_relative"), report["cells"]
    if error is None:
        raise Refused("initial.type: its solution at time.end is not known: a plane wave, a "
                      "standing mode, an advected Gaussian, or initial.returns = true is needed")
    full = min(report["order"], 2 * report["stages"]) if report["scheme"] == "fd" \
        else 2 * report["order"] + 1
    row = {"grid_order": report["order"], "cells": " x ".join(map(str, cells)),
           "steps": report["steps"], "error_l2_relative": error, "order": None,
           "rounding_bound": bound_of(report), "wall_s": report["wall_s"], "along": cells[0],
           "single": report["precision"] == "single"}
    if before and error > 0 and before["along"] != row["along"]:
        row["order"] = math.log(before["error_l2_relative"] / error) / math.log(
            row["along"] / before["along"])
    row["rounding"] = error <= row["rounding_bound"] and row["order"] is not None \
        and row["order"] < 0.5 * full
    return row


def check(rows, wanted):
    """Why an order is not shown by the rows of one grid.order; None: it is. A row within the bound of
    rounding can show that the order is reached, not that it is missed."""
    name, first = f"grid.order = {rows[0]['grid_order']}", rows[0]
    for row in reversed(rows):
        if row["order"] is None or (row["error_l2_relative"] <= row["rounding_bound"]
                                    and row["order"] < wanted):
            continue
        return None if row["order"] >= wanted else \
            f"{name}: observed order {row['order']:.3f} on {row['along']} cells along x1 is " \
            f"below --min-order {wanted:g}"
    return f"{name}: --min-order {wanted:g} is not shown: no grid has an error above what " \
        f"rounding can be ({first['rounding_bound']:.2g} on {first['along']} cells along x1) " \
        "and another grid before it; take coarser grids" + \
        (' or device.precision = "double"' if first["single"] else "")


def measure(lab):
    args = lab.args
    lab.launch = ["mpiexec", "-n"]
    file, own = split_keys(args.input)
    of_file = lab.check({**own, "device.select": "none"}, file)["cells"]
    cells = choose_cells(of_file[0], args.cells)
    if args.min_order is not None and any(a == b for a, b in zip(cells, cells[1:] + cells[:1])):
        raise Refused("--min-order needs --cells with two numbers or more, other ones from one "
                      "grid to the next: an order is observed between two grids")
    rows, wrong = [], None
    for order in args.order or [None]:
        some = []
        for along in cells:
            keys = {"output.every": 0.0, "output.pictures": False, "output.snapshots": False,
                    **own, "grid.cells": [max(1, math.floor(n / of_file[0] * along + 0.5))
                                          for n in of_file]}
            if order:
                keys["grid.order"] = order
            if some:  # kernels depend on the order alone
                keys["device.selfcheck"] = False
            some.append(make_row(lab.run(keys, file, args.ranks), some[-1] if some else None))
            say(f"{len(rows) + len(some)} of {len(cells) * len(args.order or [None])} grids")
        rows += some
        if args.min_order is not None:
            wrong = wrong or check(some, args.min_order)
    lines = [[r["grid_order"], r["cells"], r["steps"], f"{r['error_l2_relative']:.4e}",
              "" if r["order"] is None else f"{r['order']:.2f}",
              "rounding" if r["rounding"] else ""] for r in rows]
    lab.write(rows, COLUMNS, table(["N", "cells", "steps", "error L2", "order", ""], lines),
              pictures=False)
    if wrong:
        say(f"converge.py: {wrong}")
        sys.exit(4)


if __name__ == "__main__":
    laboratory = Laboratory(__doc__, "converge", (86400, 86400))
    add = laboratory.parser.add_argument
    add("input", nargs="+", metavar="FILE [key=value ...]")
    add("--cells", type=integers, metavar="LIST",
        help="along x1; other axes in proportion (half to double of the file's)")
    add("--order", type=integers, metavar="LIST", help="grid.order (the file's)")
    add("--min-order", type=float, metavar="X")
    add("--ranks", type=int, default=1, metavar="N", help="by mpiexec")
    laboratory.main(measure)
