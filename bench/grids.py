#!/usr/bin/env python3
"""Which scheme, order and grid carry the waves of a run with a given error.

    grids.py FILE [key=value ...] --error 1e-3 [--wavelengths W]

The frequency is initial.frequency, else the highest of the sources, else that of
the initial wave; W is time.end times the frequency unless it is given. Grids follow
from the schemes' own plane waves along an axis and an edge: of Hermite methods, in
uniform media, as htwave expects them; of finite differences by their dispersion, at
the least and the largest speed. The scheme and rounding take 0.7 of the error each.

Of all orders those with the least work at the device's limits are planned as runs
of the file and timed on a small grid. What cannot run with the file is shown as
refused. Writes grids.csv and grids.md.
"""
import concurrent.futures
import math
import os
import shlex

from laboratory import NO_DEVICE, Failure, Laboratory, Refused, split_keys, table, value

PART = 0.7  # of the error
MOST = 100  # cells per wavelength
COLUMNS = ("scheme", "order", "terms", "precision", "cells_per_wavelength", "cells",
           "cfl", "expected_error", "steps", "memory_bytes", "expected_s", "refused")


# ---- finite differences ----

def symbol(order, staggered):
    """(omega h/c)^2 of the operator of waves along an axis: by second differences, or by staggered
    first ones twice, which stand where the density varies."""
    r = order // 2
    if not staggered:
        return lambda theta: sum(
            2 * math.factorial(k - 1)**2 / math.factorial(2 * k)
            * (2 * math.sin(theta / 2))**(2 * k) for k in range(1, r + 1))
    weights = [(-1)**j / (2 * j + 1)**2 * 2 * math.prod(
        (2 * m - 1) / (2 * m) for m in range(1, r + 1)) * math.prod(
            (2 * m + 1) / (2 * m) for m in range(1, r)) * math.prod(
                (r - m) / (r + m) for m in range(1, j + 1)) for j in range(r)]
    return lambda theta: sum(
        2 * w * math.sin((j + 0.5) * theta) for j, w in enumerate(weights))**2


def fd_grid(order, terms, dims, wavelengths, error, part=0.9, staggered=False,
            undispersed=False, contrast=1, most=math.inf):
    """(cells per wavelength where waves are slowest, cfl of the fastest, error) with the fewest
    updates, cells^(d+1)/cfl; part: of the largest stable step; most: cfl."""
    square = symbol(order, staggered)

    def worst(squares, cfl):
        shifts = []
        for speed, theta, values in squares:
            for value in values:
                x = (cfl * speed / contrast)**2 * value
                sine = x / 4 - (x * x / 48 if terms > 1 else 0)
                if not 0 <= sine <= 1:
                    return math.inf
                turned = math.sqrt(x) if undispersed else 2 * math.asin(math.sqrt(sine))
                phase = 2 * math.pi * wavelengths * abs(
                    turned / (theta * cfl * speed / contrast) - 1)
                shifts.append(2 * math.sin(min(phase, math.pi) / 2))
        return max(shifts)

    largest = min(most, part * math.sqrt((12 if terms > 1 else 4) / (dims * square(math.pi))))
    best, found = math.inf, (0, 0, 0)
    for i in range(400):
        cells = 2.1 * 1.01**i
        if cells > MOST or cells**(dims + 1) / largest >= best:
            break
        squares = [(s, 2 * math.pi / (cells * s), [
            axes * square(2 * math.pi / (cells * s) / math.sqrt(axes))
            for axes in range(1, dims + 1)]) for s in {1, contrast}]
        if worst(squares, 1e-4) > 2 * error:  # of a step without an error in time
            continue
        for cfl in (largest * 0.97**k for k in range(300)):
            if cells**(dims + 1) / cfl >= best:
                break
            now = worst(squares, cfl)
            if now <= error:
                best, found = cells**(dims + 1) / cfl, (cells, cfl, now)
                break
    return found


# ---- methods ----

class Method:
    """A scheme, order and precision: its grid, and as a run of the file."""

    def __init__(self, search, scheme, order, terms=0):
        self.search, self.scheme, self.order, self.terms = search, scheme, order, terms
        self.cells = self.cfl = self.error = 0
        self.rows = []

    def family(self):
        return self.scheme, self.terms

    def __str__(self):
        return f"fd {self.order}, {self.terms} term{'s' * (self.terms > 1)}" \
            if self.terms else f"{self.scheme}, N = {self.order}"

    def wave(self, cells, axes, precision="double"):
        """The expected error, and cfl, of a wave along an axis, or an edge, in a box of a hundred."""
        s, turns = self.search, 100
        side = round(turns * cells * math.sqrt(axes))
        try:
            plan = s.lab.check({
                **NO_DEVICE, "system": s.plan["system"], "grid.order": self.order,
                "grid.cells": [side] * axes, "grid.upper": [float(side)] * axes,
                "time.scheme": self.scheme, "time.stages": "full", "initial.type": "plane",
                "initial.cycles": [turns] * axes, "device.precision": precision,
                "time.end": s.wavelengths * side / (turns * math.sqrt(axes) * s.speed)})
        except Refused:  # the grid carries no such waves
            return math.inf, 0
        return plan.get("expected_error", math.inf), plan["cfl"]

    def at(self, cells):
        """The worse of both directions: where nothing is damped, near a zero along an axis, waves
        along edges err more."""
        ways = 1 if self.scheme == "taylor" else min(self.search.dims, 2)
        errors = [self.wave(cells, axes) for axes in range(1, ways + 1)]
        self.cfl = errors[0][1]
        return max(e for e, _ in errors)

    def find_hermite(self, error):
        """The coarsest grid, to 2 %, that reaches the error, as do somewhat finer ones."""
        low, high = 1.25, 1.25
        while high <= MOST and max(self.at(high), self.at(1.2 * high)) > error / 4:
            low, high = high, 1.5 * high
        if high > MOST:
            return
        low = max(1.25, low / 1.5)
        while high > 1.02 * low:
            middle = math.sqrt(low * high)
            if self.at(middle) <= error:
                high = middle
            else:
                low = middle
        for _ in range(20):
            if max(self.at(high * 1.03), self.at(high * 1.06)) <= error:
                break
            high *= 1.06
        self.cells, self.error = high, self.at(high)

    def find(self):
        s, error = self.search, PART * self.search.error
        if self.terms:
            self.cells, self.cfl, self.error = fd_grid(
                self.order, self.terms, s.dims, s.wavelengths, error, 0.95, s.staggered,
                self.terms == 1 and s.removed, s.contrast, 1)
        else:
            self.find_hermite(error)
        for precision in ("single", "double") if self.cells else ():
            self.add(precision)
        return self.rows

    def rounding(self, precision):
        """The model of runs: src/plan/expect.c."""
        if self.terms:
            unit = 2.0**-24 if precision == "single" else 2.0**-53
            return 5 * unit * math.sqrt(max(self.search.wavelengths, 1) * self.cells
                                        * self.search.contrast / self.cfl)
        if precision == "double":
            return 0
        whole, exact = (self.wave(self.cells, 1, p)[0] for p in ("single", "double"))
        return 3 * math.sqrt(max(whole**2 - exact**2, 0))

    def keys(self, precision):
        s = self.search
        least = self.order + 1 if self.terms else 3
        cells = [max(least, math.ceil(x * self.cells / s.length - 1e-9)) for x in s.box]
        step = {"time.cfl": float(f"{self.cfl:.3g}")} if self.terms else {}
        return {"grid.cells": cells, "grid.order": self.order, "time.scheme": self.scheme,
                "time.stages": self.terms or "full", **step, "device.precision": precision}

    def add(self, precision):
        s, rounding = self.search, self.rounding(precision)
        if precision == "double" and not s.lab.fp64 or rounding > PART * s.error:
            return
        keys = self.keys(precision)
        plan = s.lab.check({**NO_DEVICE, **keys, "system": s.plan["system"], "initial.type": "zero",
                            "grid.cells": [self.order + 3] * s.dims})
        updates = 2 * self.cells**(s.dims + 1) * s.contrast / self.cfl
        self.rows.append({
            "method": self, "scheme": self.scheme, "order": self.order,
            "terms": self.terms or None, "precision": precision,
            "cells_per_wavelength": self.cells, "cfl": self.cfl,
            "cells": " x ".join(map(str, keys["grid.cells"])),
            "expected_error": math.hypot(self.error, rounding),
            "work": updates * max(plan["least_bytes"] / s.limits["copy_bytes_per_s"],
                                  plan["least_fma"] / s.limits[f"fma_{precision}_per_s"])})

    def time(self, row):
        """As a run of the file."""
        s = self.search
        try:
            plan = s.lab.check({**s.own, **self.keys(row["precision"])}, s.file)
            row.update({key: plan.get(key) for key in ("steps", "memory_bytes", "expected_s")})
        except Failure as why:
            row["refused"] = str(why)


class Search:
    """What a file asks for."""

    def __init__(self, lab):
        args = lab.args
        self.lab, self.error = lab, args.error
        self.file, own = split_keys(args.input)
        self.own = {**own, "device.variant": "auto"}
        if not 0 < args.error <= 0.5:
            raise Refused(f"--error {args.error:g}: must be above 0 and at most 0.5")
        self.plan = plan = lab.check({**self.own, **NO_DEVICE}, self.file)
        self.dims, self.slow = plan["dimensions"], plan["speed_least"]
        self.frequency = plan.get("frequency") or plan.get("sources_highest_frequency")
        if not self.frequency:
            raise Refused("initial.frequency is needed by --error: the highest frequency whose "
                          "waves must be right")
        self.wavelengths = args.wavelengths or plan["time_end"] * self.frequency
        if not self.slow or not self.wavelengths:
            raise Refused("nothing moves, or time.end gives no path; --wavelengths does")
        self.length = self.slow / self.frequency
        self.contrast = plan["speed_largest"] / self.slow
        self.uniform = plan["medium_degree"] < 0
        self.box = [n * h for n, h in zip(plan["cells"], plan["spacing"])]
        self.schemes = lab.call(["describe", plan["system"], "--json"])["schemes"]
        unit = lab.check({**NO_DEVICE, "system": plan["system"], "grid.cells": [8],
                          "initial.type": "zero"})
        self.speed = unit["speed_largest"]
        found = lab.call(["devices", "--measure", "--json"])["devices"]
        self.limits = next((d for d in found if d["name"] == lab.device), {
            "copy_bytes_per_s": 1e11, "fma_single_per_s": 5e11, "fma_double_per_s": 5e11})

    def attempt(self, keys):
        try:
            return self.lab.check({**self.own, **keys, **NO_DEVICE}, self.file)
        except Refused:
            return None

    def methods(self):
        """Those that the system has; Hermite methods, whose errors are known there, in uniform media."""
        one = self.attempt({"time.scheme": "fd", "time.stages": 1, "grid.order": 8})
        two = one and self.attempt({"time.scheme": "fd", "time.stages": 2, "grid.order": 8})
        found = []
        if one:
            self.staggered, self.removed = one["staggered"], one["dispersion_removed"]
            found += [Method(self, "fd", order, terms) for order in (4, 8, 16)
                      for terms in ((1, 2) if two else (1,))]
        for scheme in ("taylor", "leapfrog") if self.uniform else ():
            if scheme in self.schemes:
                found += [Method(self, scheme, order) for order in range(1, 9)]
        return [m for m in found if m.order in (3, 8)] if self.lab.args.quick else found


# ---- results ----

def choose(rows, shown):
    """The best of each family, then the next best."""
    rows = sorted(rows, key=lambda row: row["work"])
    best = list({row["method"].family(): row for row in reversed(rows)}.values())
    others = [row for row in rows if row not in best]
    return best + others[:max(0, shown - len(best))]


def line_of(row):
    def number(key, form):
        return form.format(row[key]) if row.get(key) is not None else "-"
    start = [str(row["method"]), row["precision"], f"{row['cells_per_wavelength']:.2f}", row["cells"]]
    if row.get("refused"):
        return start + ["refused: " + row["refused"], "", "", "", ""]
    return start + [f"{row['cfl']:.3g}", row["steps"], f"{row['expected_error']:.1e}",
                    number("memory_bytes", "{:.3g}"), number("expected_s", "{:.2g}")]


def measure(lab):
    search = Search(lab)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(Method.find, search.methods()))
    rows = choose(sum(found, []), 3 if lab.args.quick else 6)
    for row in rows:
        row["method"].time(row)
    rows.sort(key=lambda row: (bool(row.get("refused")), row.get("expected_s") or row["work"]))
    text = f"error {search.error:g} after {search.wavelengths:.4g} wavelengths of " \
        f"{search.length:.4g}, those of frequency {search.frequency:.4g}" + \
        " where waves are slowest" * (search.contrast > 1) + f"\ndevice {lab.device}\n\n"
    if not search.uniform:
        text += "The medium varies: finite differences alone, whose errors are known there; those " \
            "of jumps, of second order, are not included.\n\n"
    text += table(["scheme", "precision", "c/w", "cells", "cfl", "steps", "error", "bytes",
                   "seconds"], [line_of(row) for row in rows])
    text += "\nc/w: cells per wavelength; error: expected, with rounding; seconds: of the file's " \
        "steps, as timed here\n\n"
    if rows and not rows[0].get("refused"):
        best = rows[0]
        keys = best["method"].keys(best["precision"])
        text += shlex.join(["htwave", "run", *lab.args.input, *(
            f"{key}={value(given)}" for key, given in keys.items())]) + "\n"
    else:
        text += "no method reaches it\n"
    lab.write(rows, COLUMNS, text, pictures=False)


if __name__ == "__main__":
    laboratory = Laboratory(__doc__, "grids", (86400, 86400))
    add = laboratory.parser.add_argument
    add("input", nargs="+", metavar="FILE [key=value ...]")
    add("--error", type=float, required=True, metavar="E", help="relative, L2")
    add("--wavelengths", type=float, metavar="W", help="time.end times the frequency")
    laboratory.main(measure)
