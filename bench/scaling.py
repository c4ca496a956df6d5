#!/usr/bin/env python3
"""Weak and strong scaling: steps timed on each number of ranks of --ranks.

Weak scaling has a cube of --cells per rank (by default as large as --gib allows),
strong scaling one such cube for all ranks; periodic, a uniform medium, random data.
Each is the median of three runs of htwave, verified against the reference first.
ms is the wall time of a step on the slowest rank; interior, boundary and pack are
device times, means over the ranks; exposed is the rest: waits and launches. Rows
are added to DIR/scaling.csv as soon as they are measured; the table shows all of
the file. Efficiencies compare with the last row of one rank of the same problem;
those of ranks that share a device mean nothing.

--machine FILE puts the model of docs/scaling.md (htwave check --machine) beside
the rows, each at the rate of its own one-rank row. Writes scaling.csv, scaling.md
and a picture.
"""
import csv
import math
import shlex
from pathlib import Path

from laboratory import HERE, PLAIN, Laboratory, Refused, integers, say, table, \
    words

# What rows that are compared share, beside planes and kind.
ALIKE = """system scheme order stages precision variant layout side device
    backend""".split()
COLUMNS = """kind system scheme order stages precision variant layout side planes
    ranks depth halo transport ms interior_ms boundary_ms pack_ms exposed_ms
    messages bytes verified device backend driver version""".split()
NUMBERS = """order stages side planes ranks depth ms interior_ms boundary_ms
    pack_ms exposed_ms messages bytes verified""".split()


class Problem:
    """A system and scheme on a cube, for one rank or more."""

    def __init__(self, lab, system, scheme, order, precision):
        args = self.args = lab.args
        self.lab, self.fd = lab, scheme == "fd"
        self.keys = {"system": system, "time.scheme": scheme, "grid.order": order,
                     "time.stages": args.stages or (2 if self.fd else "full"),
                     "device.precision": precision, "initial.type": "random"}
        self.halo = {"parallel.halo_depth": args.halo_depth,
                     "parallel.halo_precision": args.halo_precision,
                     "parallel.transport": args.transport}
        self.side = args.cells or self.choose_side()

    def grid(self, planes):
        return {"grid.cells": [self.side, self.side, planes],
                "grid.upper": [float(self.side), float(self.side), float(planes)]}

    def choose_side(self):
        """Of the largest cube whose state --gib holds."""
        self.side = 32
        plan = self.lab.check({**self.keys, **self.grid(32), "time.end": 1.0})
        side = 32 * (self.args.gib * 2 ** 30 / plan["memory_bytes"]) ** (1 / 3)
        most = 1024 if self.lab.gpu else 128 if self.fd else 24
        return max(4, int(min(side, most)) // 8 * 8)

    def run(self, planes, ranks, steps, dt=0, **more):
        halo = self.halo if ranks > 1 else {}
        return self.lab.run({**PLAIN, **self.keys, **self.grid(planes), **halo,
                             "time.step": dt, "time.end": steps * (dt or 0.4),
                             **more}, ranks=ranks, command="run")

    def measure(self, kind, ranks):
        planes = self.side * ranks if kind == "weak" else self.side
        first = self.run(planes, ranks, 4, **{"device.selfcheck": True})
        dt, each = first["dt"], first["step_s"] / first["steps"]
        enough = 0.05 if self.args.quick else 0.4 if self.lab.gpu else 0.6
        depth = self.args.halo_depth  # whole cycles only
        steps = depth * max(math.ceil(enough / each / depth), 8)
        found = sorted((self.run(planes, ranks, steps, dt) for _ in range(3)),
                       key=lambda f: f["step_s"])
        return self.row(kind, ranks, planes, found[1], first)

    def row(self, kind, ranks, planes, found, first):
        def sent(name):
            """By a rank in a step; both runs exchange beside their steps, too."""
            few, many = (f.get("parallel", {}).get(name, 0) * f["steps"]
                         for f in (first, found))
            return (many - few) / (found["steps"] - first["steps"]) / ranks

        parts = found.get("parallel", {
            "step_worst_s": found["step_s"], "interior_s": found["kernel_s"]})
        per = 1e3 / found["steps"]
        row = {"kind": kind, "order": found["order"], "stages": found["stages"],
               "side": self.side, "planes": planes, "ranks": ranks,
               "depth": self.args.halo_depth, "halo": self.args.halo_precision,
               "transport": parts.get("transport", "none"),
               "ms": per * parts["step_worst_s"],
               "verified": first.get("selfcheck_ratio", 0),
               "messages": sent("messages_per_step"),
               "bytes": sent("bytes_per_step"),
               "version": self.lab.version}
        for name in ("interior", "boundary", "pack"):
            row[f"{name}_ms"] = per * parts.get(f"{name}_s", 0)
        row["exposed_ms"] = max(0, row["ms"] - row["interior_ms"]
                                - row["boundary_ms"] - row["pack_ms"])
        for name in ("system", "scheme", "precision", "variant", "layout",
                     "device", "backend", "driver"):
            row[name] = found[name]
        return row


# ---- the file ----

def read(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise Refused(f"{path}: the first line is not that of a table of "
                          "scaling of this version")
        try:
            return [{k: float(v) if k in NUMBERS else v for k, v in row.items()}
                    for row in rows]
        except (TypeError, ValueError):
            raise Refused(f"{path}:{rows.line_num}: a number is missing or "
                          "broken") from None


def rate(row):
    """Cell half-steps per second of all ranks."""
    return 2e3 * row["side"] ** 2 * row["planes"] / row["ms"]


def alone(rows, of):
    """The last row of one rank of the same problem, or None."""
    planes = of["planes"] / (of["ranks"] if of["kind"] == "weak" else 1)
    found = [r for r in rows if r["ranks"] == 1 and r["kind"] == of["kind"]
             and r["planes"] == planes and all(r[k] == of[k] for k in ALIKE)]
    return found[-1] if found else None


# ---- tables ----

def number(value):
    return f"{value:.4g}"


def cells(row):
    return f"{row['side']:.0f}^2 x {row['planes']:.0f}"


def order(row):
    if row["scheme"] != "fd":
        return f"N = {row['order']:.0f}"
    return f"order {row['order']:.0f}, {row['stages']:.0f} term" \
        + "s" * (row["stages"] > 1)


def measured_table(rows):
    def line(row):
        one = alone(rows, row)
        share = rate(row) / row["ranks"] / rate(one) if one else None
        return [row["kind"], row["system"], row["scheme"], row["precision"],
                f"{row['order']:.0f}", f"{row['ranks']:.0f}", cells(row),
                f"{row['depth']:.0f}", row["transport"],
                *(number(row[f"{n}ms"]) for n in (
                    "", "interior_", "boundary_", "pack_", "exposed_")),
                f"{100 * share:.1f}%" if share else "-",
                f"{row['messages']:.3g}", number(row["bytes"])]

    return table("kind|system|scheme|prec.|order|ranks|cells|depth|by|ms/step|"
                 "interior|boundary|pack|exposed|eff.|messages|bytes/step".split(
                     "|"), map(line, rows))


def model(lab, row, one):
    """What htwave check --machine says of a row's problem."""
    planes = row["planes"] / (row["ranks"] if row["kind"] == "weak" else 1)
    stages = int(row["stages"])
    keys = {"system": row["system"], "time.scheme": row["scheme"],
            "grid.order": int(row["order"]), "time.stages": stages,
            "device.precision": row["precision"], "initial.type": "random",
            "time.end": 90.0,
            "grid.cells": [int(row["side"]), int(row["side"]), int(planes)],
            "grid.upper": [row["side"], row["side"], planes],
            "parallel.halo_depth": int(row["depth"]),
            "parallel.halo_precision": row["halo"]}
    machine = lab.args.machine or HERE.parent / "params/machines/h200-nvlink.cfg"
    flags = ["--machine", str(machine), "--gpus", f"{row['ranks']:.0f}"]
    if one:
        flags += ["--rate", repr(rate(one))]
    return lab.check(keys, flags=flags)


def sent_text(row, sent):
    text = f"{row['system']}, {row['scheme']}, {order(row)}, {row['precision']}, " \
        f"{row['side']:.0f}^2 cells, depth {row['depth']:.0f}: a slab sends " \
        f"{sent['per_step']:.3g} messages of {number(sent['bytes_per_step'])} " \
        "bytes in all per step, counted"
    if "dg_per_step" in sent:
        times = sent["dg_bytes_per_step"] * sent["dg_steps_for_one"] \
            / sent["bytes_per_step"]
        text += f"; a nodal dG method of degree {2 * row['order'] + 1:.0f} " \
            f"{sent['dg_per_step']:.0f} messages, " \
            f"{number(sent['dg_bytes_per_step'])} bytes per step, and " \
            f"{sent['dg_steps_for_one']:.3g} steps for one: {times:.3g} times " \
            "the bytes"
    return text + "\n"


def model_texts(lab, rows):
    """The messages of each kind of slab; with --machine the model's times."""
    texts, lines = [], []
    for row in rows:
        if row["ranks"] == 1 and not lab.args.machine:
            continue
        one = alone(rows, row)
        found = model(lab, row, one)
        if row["ranks"] > 1:
            texts.append(sent_text(row, found["messages"]))
        for here in found[row["kind"]]:
            lines.append([row["kind"], f"{row['ranks']:.0f}", cells(row),
                          f"{row['depth']:.0f}", number(row["ms"]),
                          number(1e3 * here["step_s"]),
                          f"{row['ms'] / 1e3 / here['step_s']:.3f}",
                          number(row["exposed_ms"]),
                          number(1e3 * here["exposed_s"]),
                          "" if one else "the machine's rate"])
    text = "".join(dict.fromkeys(texts))
    if lab.args.machine:
        text += "\nmeasured beside the prediction at the rate of one rank, " \
            "ms/step:\n\n" + table(
                ["kind", "ranks", "cells", "depth", "measured", "predicted",
                 "ratio", "exposed", "predicted", ""], lines)
    return text


# ---- the case ----

def measure_all(lab, rows):
    args = lab.args
    usual = {"fd": [8]}
    for scheme in args.schemes:
        for size in args.orders or usual.get(scheme, [3]):
            for precision in args.precisions:
                problem = Problem(lab, args.system, scheme, size, precision)
                for ranks in args.ranks:
                    for kind in ("weak", "strong"):
                        if ranks == 1 and kind == "strong":
                            rows.append({**rows[-1], "kind": kind})
                        elif not lab.over():
                            rows.append(problem.measure(kind, ranks))
                        else:
                            break
                        lab.write(rows, COLUMNS, None)


def measure(lab):
    args = lab.args
    if args.quick:
        args.cells, args.ranks, args.orders = 8, args.ranks[:2], [1]
    lab.launch = shlex.split(args.launch)
    rows = read(args.out / "scaling.csv")
    if args.show and not rows:
        raise Refused(f"{args.out / 'scaling.csv'}: no rows of scaling")
    try:
        if not args.show:
            measure_all(lab, rows)
    except KeyboardInterrupt:
        say("interrupted: what was found so far:")
    if rows:
        lab.write(rows, COLUMNS, measured_table(rows) + "\n"
                  + model_texts(lab, rows))


if __name__ == "__main__":
    laboratory = Laboratory(__doc__, "scaling", (60, 600))
    add = laboratory.parser.add_argument
    add("--ranks", type=integers, default=[1, 2], metavar="LIST",
        help="numbers of ranks (1,2)")
    add("--launch", default="mpiexec -n", metavar="WORDS",
        help="what stands before the number of ranks and htwave (%(default)s)")
    add("--system", default="acoustic")
    add("--schemes", type=words, default=["taylor"], metavar="LIST")
    add("--orders", type=integers, metavar="LIST", help="(3; fd: 8)")
    add("--stages", type=int, help="of the series (all); terms of fd (2)")
    add("--precisions", type=words, default=["single"], metavar="LIST")
    add("--cells", type=int, help="along each axis of a rank's cube")
    add("--gib", type=float, default=6, help="largest state of a rank (6)")
    add("--halo-depth", type=int, default=1, help="half steps per exchange")
    add("--halo-precision", default="same", choices=("same", "single", "half"))
    add("--transport", default="auto", help="as parallel.transport")
    add("--machine", type=Path, metavar="FILE", help="model beside the rows")
    add("--show", action="store_true", help="only show what DIR holds")
    laboratory.main(measure)
