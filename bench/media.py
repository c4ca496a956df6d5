#!/usr/bin/env python3
"""Error over cost of finite differences and Hermite methods in three media.

Or in those of your input files: a Gaussian pulse of width 1.5 in a periodic box
of sides 32, to time 14, in units of length
    uniform   c = 2,
    smooth    c = 1.5 + 0.5 sin(pi x1/4) sin(pi x2/4) sin(pi x3/4),
    rough     random blocks, c from 1 to 2.5, sides of 0.5 to 4.
--media FILE.cfg takes medium, box, data and time of an input file and measures
on multiples of its grid.cells, in which points count then. The error is that of
p (wave: u) at the nodes of the unit grid, relative l2, against finite differences
on a fine grid. That reference's error is estimated from its difference to that
of half as many points: a third of it where media may jump, else a 15th.

The cost is steps times cells times the device seconds of a step of a cell on the
finest grid of a method. On a CPU the least of three runs counts. All methods run
on their first grid, then on their second one, so that the time limit leaves out
the finest grids. Writes media.csv, media.md, pictures and the input files. Needs
numpy and h5py.
"""
import math
import re
import tempfile
import time
from pathlib import Path

from laboratory import PLAIN, Grew, Laboratory, Refused, integers, say, \
    table, words

SIDE, PARTS, BEYOND = 32, 4, 2  # units; samples per unit, and beyond the box
BUILT_IN = ("uniform", "smooth", "rough")
QUARTERS = (1, 2, 4, 8, 12, 16, 24, 32)  # of the unit grid: coarse to fine
ERRORS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5)
# What a user's file may say otherwise for runs of its own: other grids need
# other steps, and all methods are to be at their best.
USUAL = {"time.cfl": 0.9, "time.step": 0, "time.stages": "auto",
         "time.dispersion": "auto", "medium.fit": "auto", "receivers": "()",
         "device.variant": "auto", "device.layout": "auto",
         "device.cells_per_group": 0, "device.planes_per_group": 0, **PLAIN}


# ---- the media ----

def random_numbers(seed, count):
    """In [0, 1): SplitMix64, the same on all machines."""
    import numpy as np

    z = np.uint64(seed) + (np.arange(1, count + 1, dtype=np.uint64)
                           * np.uint64(0x9e3779b97f4a7c15))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0 ** -53


def rough_samples(dims):
    """Blocks three deep in the mean, continued beyond a periodic box."""
    import numpy as np

    n = SIDE * PARTS
    c = np.ones((n,) * dims, "<f4")
    count = int(3 * n ** dims / (2.25 * PARTS) ** dims)
    for at in random_numbers(11, 8 * count).reshape(count, 8):
        size = np.rint(np.clip(PARTS * (0.5 + 3.5 * at[:dims]), 1, n)).astype(int)
        first = (n * at[3:3 + dims]).astype(int)
        c[np.ix_(*((f + np.arange(s)) % n for f, s in
                   zip(first[::-1], size[::-1])))] = 1 + 1.5 * at[6]
    return np.pad(c, BEYOND, mode="wrap")


def write_built_in(folder, name, dims):
    """Faces of blocks lie on a lattice that grids of whole parts miss, and the
    pulse between nodes."""
    lower = [0.137, 0.418, 0.271][:dims]
    law = {"uniform": "c = 2.0;",
           "smooth": 'type = "expression"; c = "1.5 + 0.5*%s";' % "*".join(
               f"sin(pi/4*x{k + 1})" for k in range(dims)),
           "rough": 'type = "file"; c = "media-rough.f32";\n    shape = %s; '
           "spacing = %s; origin = %s;" % (
               [SIDE * PARTS + 2 * BEYOND] * dims, [1 / PARTS] * dims,
               [(0.5 - BEYOND) / PARTS] * dims)}
    if name == "rough":
        rough_samples(dims).tofile(folder / "media-rough.f32")
    path = folder / f"media-{name}.cfg"
    path.write_text(f"""# Written by media.py.
system = "acoustic";
grid = {{ lower = {lower}; upper = {[round(x + SIDE, 3) for x in lower]}; }};
time = {{ end = 14.0; }};
medium = {{ {law[name]} }};
initial = {{ type = "gaussian"; width = 1.5; centre = {[16.31, 15.77, 16.12][:dims]}; }};
output = {{ snapshots = false; pictures = false; }};
""")
    return path


class Medium:
    """unit: cells of the unit grid; points: those per unit there."""

    def __init__(self, lab, word):
        self.file = word.endswith(".cfg")
        self.name = Path(word).stem if self.file else word
        self.jumps, self.uniform = self.file or word == "rough", word == "uniform"
        self.path, self.field, self.reference = word, "p", None
        if self.file:
            self.read(lab)
            return
        if word not in BUILT_IN:
            raise Refused(f"--media {word}: must be of {', '.join(BUILT_IN)}, "
                          "or an input file whose name ends in .cfg")
        dims = lab.args.dims or (3 if lab.gpu else 2)
        self.unit, self.points = [SIDE] * dims, 1
        self.path = write_built_in(lab.args.out, word, dims)

    def read(self, lab):
        plan = lab.check({}, self.path)
        for wrong, why in (
                ("sources" in plan, "sources: media.py compares runs from "
                 "initial data: must be left out"),
                ("absorbing" in plan, "boundary: absorbing layers are thick by "
                 "cells: must be periodic or walls"),
                (plan["system"] not in ("acoustic", "wave"),
                 "system: media.py takes acoustic and wave"),
                (any(n % 2 for n in plan["cells"]),
                 "grid.cells: must be even along every axis")):
            if wrong:
                raise Refused(f"{self.path}: {why}")
        self.unit, self.points = [n // 2 for n in plan["cells"]], 0.5
        self.field = "u" if plan["system"] == "wave" else "p"


# ---- one run ----

class Method:
    def __init__(self, scheme, order, terms=0, fit="", system=None):
        self.scheme, self.order, self.terms, self.fit = scheme, order, terms, fit
        self.keys = {"grid.order": order, "time.scheme": scheme}
        if system:
            self.keys["system"] = system
        if terms:
            self.keys["time.stages"] = terms
        if fit:
            self.keys["medium.fit"] = fit
        self.points, self.rate, self.joules = [], math.nan, math.nan
        self.finest = self.refused = self.grew = 0
        self.warned = False

    def __str__(self):
        if not self.terms:
            return f"{self.scheme}, N = {self.order}"
        return f"fd, order {self.order}, {self.terms} term" + \
            "s" * (self.terms > 1) + f", {self.fit}" * bool(self.fit)


def check_data(medium, text):
    """Refuses initial data that are others on each grid; text: resolved input."""
    kind = re.search(r'\ninitial = \{.*?\n    type = "(\w+)"', text, re.S)[1]
    why = {"zero": "nothing moves", "random": "such data differ on every grid",
           "file": "such data are those of one grid"}.get(kind)
    if why:
        raise Refused(f'{medium.path}: initial.type = "{kind}": {why}: media.py '
                      "needs data that are the same on all grids, as gaussian")


def run(lab, medium, method, quarters, more=()):
    """The report of a run and its values at the nodes of the unit grid."""
    import h5py

    field = "u" if method.keys.get("system") == "wave" else medium.field
    with tempfile.TemporaryDirectory(dir=lab.args.out) as folder:
        found = lab.run({
            **USUAL, "device.precision": lab.args.precision, **method.keys,
            "grid.cells": [n * quarters // 4 for n in medium.unit], **dict(more),
            "output.snapshots": True, "output.fields": [f'"{field}"'],
            "output.directory": folder}, medium.path)
        apart = (slice(None, None, max(quarters // 4, 1)),) * len(medium.unit)
        with h5py.File(Path(folder) / "fields_000000.h5") as file:
            found["values"] = file[field][apart].astype(float)
        check_data(medium, (Path(folder) / "input.cfg").read_text("utf-8"))
    found["updates"] = found["steps"] * math.prod(found["cells"])
    return found


def difference(coarse, fine, apart):
    """Relative, of values at nodes that are one of `apart` of the fine ones."""
    import numpy as np

    exact = fine[(slice(None, None, apart),) * fine.ndim]
    return float(np.sqrt(((coarse - exact) ** 2).sum() / (exact ** 2).sum()))


class Reference:
    """Known unless time is out. What ends within half a minute or so: of a file
    four times its cells, on a CPU three times."""

    def __init__(self, lab, medium):
        dims, gpu, jumps = len(medium.unit), lab.gpu, medium.jumps
        grid = (8 if gpu else 6) if medium.file else \
            (24 if jumps else 12) if dims < 3 else (8 if gpu else 4) * (1 + jumps)
        grid = 8 if lab.args.quick else grid
        self.order, self.points = (8 if jumps else 16), grid * medium.points
        self.precision = "double" if lab.fp64 else "single"
        method = Method("fd", self.order, 2,
                        system=None if medium.file else "acoustic")
        more = {"device.precision": self.precision,
                **({} if jumps else {"time.cfl": 0.3})}
        began, self.values = time.monotonic(), None
        if lab.over():
            return
        coarse = run(lab, medium, method, 2 * grid, more)["values"]
        self.values = run(lab, medium, method, 4 * grid, more)["values"]
        self.error = difference(coarse, self.values, 1) / (3 if jumps else 15)
        say(f"{medium.name} medium: reference of order {self.order} at "
            f"{self.points:g} {unit_of(medium)}, own error about "
            f"{self.error:.1e}, {time.monotonic() - began:.1f} s")


def unit_of(medium):
    return "times the file's cells" if medium.file else "points per unit"


# ---- curves ----

def methods_of(lab, medium):
    fd = None if medium.file else "acoustic"
    found = [Method("fd", order, terms, system=fd)
             for order in ((4, 8) if lab.args.quick else (4, 8, 16))
             for terms in ((2,) if lab.args.quick else (1, 2))]
    if medium.jumps:
        found += [Method("fd", 8, 2, fit, fd) for fit in ("box", "point")]
    for scheme in ("taylor", "leapfrog"):
        system = None if medium.file else \
            "wave" if scheme == "leapfrog" else "acoustic"
        # Programs for media that vary at N = 5 take long to compile.
        orders = lab.args.orders or [1, 2, 3] + [5] * medium.uniform
        found += [Method(scheme, order, system=system) for order in orders
                  if scheme in lab.args.schemes]
    return found


def grids_of(lab, medium, method):
    """Of a file finite differences go from 1/2 to 2 times its cells, Hermite
    methods from 1/8 to 1/2, N = 1 to 1."""
    small = len(medium.unit) > 2 and not lab.gpu
    least = (4 if medium.file else 8) if method.terms else \
        1 if medium.file else 2
    if method.terms:
        most = 12 if small else 16 if medium.file else 32
    elif medium.file:
        most = 8 if method.order < 2 else 4
    else:
        most = 16 if medium.uniform or method.order < 2 else 12
    most = min(most, 16) if lab.args.quick else most
    return [q for q in QUARTERS if least <= q <= most
            and all(n * q % 4 == 0 for n in medium.unit)]


def note_rate(method, found):
    """The least seconds so far; energy of a run that was long enough, since
    counters are updated every 0.1 s."""
    method.rate = min(method.rate, found["kernel_s"] / found["updates"])
    if found.get("joules") and found["kernel_s"] >= 0.5:
        method.joules = found["joules"] / found["updates"]


def add_grid(lab, medium, method, quarters, exact):
    try:
        found = run(lab, medium, method, quarters)
    except Grew:
        method.grew += 1
        return
    except Refused as why:
        if not method.refused:
            say(f"{medium.name} medium, {method}: refused: {why}")
        method.refused += 1
        return
    method.finest, method.rate, method.joules = quarters, math.inf, math.nan
    note_rate(method, found)
    method.warned |= found.get("energy_rise", 0) > 0.01
    method.points.append({"points": medium.points * quarters / 4,
                          "error": difference(found["values"], exact,
                                              max(4 // quarters, 1)),
                          "updates": found["updates"]})


def measure_medium(lab, medium):
    methods = medium.methods = methods_of(lab, medium)
    exact = medium.reference = Reference(lab, medium)
    for n in range(len(QUARTERS)):
        began, runs = time.monotonic(), 0
        for method in methods:
            grids = grids_of(lab, medium, method)
            if n < len(grids) and (exact.values is None or lab.over()):
                lab.left_out += exact.values is None
            elif n < len(grids):
                add_grid(lab, medium, method, grids[n], exact.values)
                runs += 1
        if runs:
            say(f"{medium.name} medium, grid {n + 1} of the methods: {runs} "
                f"runs, {time.monotonic() - began:.1f} s")
    for method in methods:
        repeat(lab, medium, method)


def repeat(lab, medium, method):
    """The finest grid again: other work disturbs long runs less."""
    if method.points and not lab.gpu and not lab.args.quick \
            and method.points[-1]["updates"] * method.rate < 5:
        for _ in range(2):
            if not lab.over():
                note_rate(method, run(lab, medium, method, method.finest))
    for point in method.points:
        point["seconds"] = point["updates"] * method.rate
        point["joules"] = point["updates"] * method.joules


# ---- the table ----

def seconds_for(points, error):
    """Least seconds for an error, between points that no other one beats."""
    front = []
    for point in sorted(points, key=lambda p: (p["seconds"], p["error"])):
        if not front or point["error"] < front[-1]["error"]:
            front.append(point)
    for a, b in zip([None, *front], front):
        if b["error"] <= error * (1 + 1e-9):
            if a is None:
                return b["seconds"]
            part = math.log(a["error"] / error) / math.log(a["error"] / b["error"])
            return a["seconds"] * (b["seconds"] / a["seconds"]) ** min(part, 1)
    return None


def end_of(method, known):
    """What a reader should know beside the numbers."""
    notes = []
    best = min(method.points, key=lambda p: p["error"], default=None)
    if best is None:
        notes.append("refused" if method.refused and not method.grew else "-")
    elif best["error"] >= known:
        notes.append(f"{best['error']:.1e}, {best['points']:.3g}")
    else:
        notes.append(f"below {known:.0e}, {best['points']:.3g}")
    for count, what in ((method.refused, "grid%s refused"),
                        (method.grew, "run%s ended by growth")):
        if count and (best or method.grew):
            notes.append(f"{count} {what % ('s' * (count > 1))}")
    if method.warned:
        notes.insert(1, "energy rose")
    return "; ".join(notes)


def table_of(lab, medium):
    """Errors near the reference's own say nothing."""
    r = medium.reference
    known = 2 * r.error
    errors = [e for e in ERRORS if e >= known]
    cells = f", {[2 * n for n in medium.unit]}" if medium.file else ""
    rows = [[method, *("-" if s is None else f"{s:.2g}" for s in (
        seconds_for(method.points, e) for e in errors)), end_of(method, known)]
        for method in medium.methods if method.points or method.refused
        or method.grew]
    return f"**{medium.name} medium**, {len(medium.unit)}-D, {lab.device}: " \
        f"seconds for a relative error of {medium.field} of (reference: order " \
        f"{r.order}, {r.points:g} {unit_of(medium)}{cells}, {r.precision}, own " \
        f"error about {r.error:.1e})\n\n" + table(
            ["method", *(f"{e:.0e}" for e in errors),
             f"least error, at {unit_of(medium)}"], rows)


COLUMNS = """medium method order terms fit precision points_per_unit error
    seconds joules dimensions device""".split()


def measure(lab):
    args = lab.args
    names = ["rough"] if args.quick and not args.media else \
        args.media or list(BUILT_IN)
    if args.quick:
        args.dims, args.orders = args.dims or 1, args.orders or [2]
    media = [Medium(lab, name) for name in names]
    twice = [m.name for m in media if [n.name for n in media].count(m.name) > 1]
    if twice:
        raise Refused(f"--media: two media have the name {twice[0]}")
    rows, tables = [], []
    try:
        for medium in media:
            measure_medium(lab, medium)
    except KeyboardInterrupt:
        say("interrupted: what was found so far:")
    for medium in media:
        if medium.reference and medium.reference.values is not None:
            tables.append(table_of(lab, medium))
            rows += [{"medium": medium.name, "method": m.scheme, "order": m.order,
                      "terms": m.terms, "fit": m.fit or "auto" * bool(m.terms),
                      "precision": args.precision, "points_per_unit": p["points"],
                      "dimensions": len(medium.unit), "device": lab.device, **p}
                     for m in medium.methods for p in m.points]
    lab.write(rows, COLUMNS, "\n".join(tables))


if __name__ == "__main__":
    laboratory = Laboratory(__doc__, "media", (240, 480))
    add = laboratory.parser.add_argument
    add("--media", type=words, metavar="LIST", help="of " + ", ".join(BUILT_IN)
        + " (default: these), FILE.cfg")
    add("--dims", type=int, choices=(1, 2, 3), help="of the built-in media")
    add("--orders", type=integers, metavar="LIST", help="N of Hermite methods")
    add("--schemes", type=words, default=["taylor", "leapfrog"], metavar="LIST",
        help="Hermite schemes (taylor,leapfrog)")
    add("--precision", choices=("single", "double"), default="single")
    laboratory.main(measure)
