#!/usr/bin/env python3
"""What a wavelength costs: device seconds per cubic wavelength and period.

Over the error after 10 and 100 wavelengths, of every scheme, order and precision.
Plane waves run in three directions through periodic boxes of a uniform medium, on
grids that come ever closer to the coarsest one with a given error; what is shown
is measured, the worst of the directions. The cost is that of the cells by the rate
of the same kernels on a large box (htwave bench rates). Double precision runs
where single does not reach an error. On a CPU waves have two dimensions. Writes
accuracy.csv, accuracy.md and pictures.
"""
import concurrent.futures
import math
import os
import time

from laboratory import PLAIN, Laboratory, integers, say, table, words

LENGTHS = (10, 100)
TARGETS = [10.0 ** -n for n in range(2, 9)]
WAYS = {2: ((1, 0), (1, 1), (1, 2)), 3: ((1, 0, 0), (1, 1, 0), (1, 2, 2))}
PRECISIONS = ("single", "double")


def side_of(cells, norm, least):
    """(cells, wavelengths) of a side along which the wave varies: the fewest such
    that a wavelength has at most as many cells as wanted, at most 1 % fewer."""
    closest = 0, 1, least
    for turns in range(1, 25):
        count = math.floor(cells * norm * turns + 1e-9)
        share = count / (turns * norm * cells)
        if count >= least and share > closest[0]:
            closest = share, turns, count
        if closest[0] >= 0.99:
            break
    return closest[2], closest[1]


def fd_grid(order, terms, dims, wavelengths, error):
    """(cells per wavelength, cfl) with the fewest updates, by dispersion."""
    def square(theta, axes):
        """(omega h/c)^2 of the operator for a wave of so many equal parts."""
        s = (2 * math.sin(theta / math.sqrt(axes) / 2)) ** 2
        return axes * sum(2 * math.factorial(k - 1) ** 2 / math.factorial(2 * k)
                          * s ** k for k in range(1, order // 2 + 1))

    def worst(theta, cfl):
        shifts = []
        for axes in range(1, dims + 1):
            x = cfl ** 2 * square(theta, axes)
            sine = x / 4 - (x * x / 48 if terms > 1 else 0)
            if not 0 <= sine <= 1:
                return math.inf
            turned = 2 * math.asin(math.sqrt(sine))
            phase = 2 * math.pi * wavelengths * abs(turned / (theta * cfl) - 1)
            shifts.append(2 * math.sin(min(phase, math.pi) / 2))
        return max(shifts)

    largest = 0.9 * math.sqrt((12 if terms > 1 else 4) / (
        dims * square(math.pi, 1)))
    best, found = math.inf, (0, 0)
    for i in range(400):
        cells = 2.1 * 1.01 ** i
        theta = 2 * math.pi / cells
        if cells ** (dims + 1) / largest >= best:
            break
        if worst(theta, 1e-4) > 2 * error:
            continue
        for cfl in (largest * 0.97 ** k for k in range(300)):
            if cells ** (dims + 1) / cfl >= best:
                break
            if worst(theta, cfl) <= error:
                best, found = cells ** (dims + 1) / cfl, (cells, cfl)
                break
    return found


class Method:
    """A scheme and order in both precisions; rates: {precision: row of bench}."""

    def __init__(self, lab, rates):
        self.lab, self.rates = lab, rates
        row = next(iter(rates.values()))
        self.system, self.scheme, self.order = \
            row["system"], row["scheme"], row["order"]
        self.fd = self.scheme == "fd"
        self.terms = row["stages"] if self.fd else 0
        self.keys = {"system": self.system, "grid.order": self.order,
                     "time.scheme": self.scheme,
                     "time.stages": self.terms or "full"}
        self.grids, self.cut, self.pool = [], False, None

    def family(self):
        return f"fd, {self.terms} term{'s' * (self.terms > 1)}" if self.fd \
            else f"{self.system}, {self.scheme}"

    def __str__(self):
        return f"{self.family()}, {'order' if self.fd else 'N ='} {self.order}"

    def cfl(self):
        """The default of a run; exact in binary, so that all grids have the same
        programs, which contain the step."""
        plan = self.lab.check({**self.keys, "grid.cells": [64], "grid.upper": [64.0],
                               "time.end": 57.6, "initial.type": "zero"})
        return math.floor(plan["cfl"] * 128) / 128

    # ---- runs ----

    def run(self, precision, cells, cfl, length, way):
        """None: would take too long on the device."""
        least = self.order // 2 + 1 if self.fd else 3
        norm = math.sqrt(sum(k * k for k in way))
        side, turns = side_of(cells, norm, least)
        points = side / (turns * norm)
        sides = [side if k else least for k in way]
        steps = math.ceil(length * points / cfl)
        rate = self.rates[precision]["cell_half_steps_per_s"]
        patience = 1 if self.lab.gpu else 0.5
        if 2 * steps * max(4e-6, math.prod(sides) / rate) > patience:
            return None
        found = self.lab.run({
            **PLAIN, **self.keys, "device.precision": precision,
            "initial.type": "plane", "initial.cycles": [turns * k for k in way],
            "grid.cells": sides, "grid.upper": [float(n) for n in sides],
            "time.step": cfl, "time.end": cfl * steps})
        error = found.get("error_l2_relative", math.inf)
        return {"direction": "(" + ",".join(map(str, way)) + ")", "error": error,
                "cells_per_wavelength": points,
                "expected_error": found.get("expected_error")}

    def grid(self, precision, cells, cfl, length):
        """A grid's runs; its error is that of the worst direction, of those that
        do not take too long. None: all do."""
        for grid in self.grids:
            if (grid["precision"], grid["grid"], grid["length"]) \
                    == (precision, cells, length) and grid["cfl"] == cfl:
                return grid
        runs = list(self.pool.map(
            lambda way: self.run(precision, cells, cfl, length, way),
            WAYS[self.lab.args.dims]))
        runs = runs[:runs.index(None)] if None in runs else runs
        if not runs:
            return None
        row, updates = self.rates[precision], 2 * cells ** 4 / cfl
        self.grids.append({
            "precision": precision, "grid": cells, "cfl": cfl, "length": length,
            "runs": runs, "error": max(r["error"] for r in runs),
            "seconds": updates / row["cell_half_steps_per_s"],
            "joules": updates * (row.get("joules_per_half_step") or math.nan)
            / row["side"] ** 3,
            "bytes": updates * row["bytes_per_cell"]})
        return self.grids[-1]

    def reach_fd(self, precision, length, error):
        """The cheapest grid by dispersion, and somewhat finer ones. Errors of
        rounding do not fall with finer grids."""
        cells, cfl = fd_grid(self.order, self.terms, 3, length, error)
        for _ in range(4 if cells else 0):
            grid = self.grid(precision, cells, cfl, length)
            if grid is None or not error < grid["error"] < 3 * error:
                return grid is not None and grid["error"] <= error
            cells *= 1.04
        return False

    def reach_hermite(self, precision, length, error):
        """Between grids that reach the error and coarser ones that do not, to 4 %,
        guessed by the order of the scheme."""
        cfl, order = self.step, 2 * self.order + 1
        known = {g["grid"]: g["error"] for g in self.grids
                 if (g["precision"], g["length"]) == (precision, length)}
        cells = 2.0
        for _ in range(10):
            good = [c for c, e in known.items() if e <= error]
            high = min(good, default=math.inf)
            low = max((c for c in known if c < high and known[c] > error), default=0)
            if high < math.inf and (high < 1.04 * low or high <= 1.25):
                break
            near = high if high < math.inf and not (
                low and known[low] / error < error / known[high]) else low
            if near:
                cells = near * (known[near] / error) ** (1 / order)
                cells = min(max(cells, 1.02 * low, high / 1.7 if high < math.inf
                                else 1.05 * low), high / 1.02 if high < math.inf
                            else 1.7 * low)
            cells = max(round(cells, 3), 1.25)
            if cells in known:
                break
            grid = self.grid(precision, cells, cfl, length)
            if grid is None:
                break
            finer = [e for c, e in known.items() if c < cells / 1.3]
            known[cells] = grid["error"]
            if grid["error"] > error and finer and min(finer) <= grid["error"]:
                break  # rounding
        return min(known.values(), default=math.inf) <= error

    def measure(self, until):
        began = time.monotonic()
        reach = self.reach_fd if self.fd else self.reach_hermite
        self.step = None if self.fd else self.cfl()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as self.pool:
            quick = self.lab.args.quick
            for length in LENGTHS[:1] if quick else reversed(LENGTHS):
                left = TARGETS[:1] if quick else list(TARGETS)
                for precision in self.rates:
                    while left and not self.cut:
                        self.cut = time.monotonic() > until
                        if self.cut or not reach(precision, length, left[0]):
                            break
                        left.pop(0)
        least = min((g["error"] for g in self.grids), default=math.inf)
        say(f"{self}: {len(self.grids)} grids, least error {least:.2e}, "
            f"{time.monotonic() - began:.1f} s"
            + ", no time left" * self.cut)

    def cheapest(self, length, error):
        return min((g for g in self.grids if g["length"] == length
                    and g["error"] <= error), key=lambda g: g["seconds"],
                   default=None)


# ---- methods ----

def methods_of(lab):
    """Rates of the kernels that runs use. Finite differences step one field of
    either system: once."""
    args, found = lab.args, {}
    flags = ["--dims", "3", "--variants", "auto", "--gib", "1", "--precisions",
             args.precisions, "--seconds", str(args.seconds / 4),
             *(["--cells", "12"] if args.quick else [])]
    rows = []
    orders = args.orders or ([2, 3, 4, 5, 6, 7] if lab.gpu else [2, 3, 4])
    hermite = [s for s in args.schemes if s != "fd"]
    if hermite and min(orders) <= 8:
        rows += lab.rates(*flags, "--systems", args.systems, "--schemes",
                          ",".join(hermite), "--orders",
                          ",".join(str(n) for n in orders if n <= 8))
    orders = [n for n in args.orders or (4, 8, 16) if n % 2 == 0]
    if "fd" in args.schemes and orders:
        for terms in ("1", "2"):
            rows += lab.rates(
                *flags, "--systems", args.systems.split(",")[0], "--schemes", "fd",
                "--stages", terms, "--orders", ",".join(map(str, orders)),
                *(["--cells", "512"] if lab.gpu else []))
    for row in rows:
        if row.get("ms") and row["medium"] == "uniform":
            key = row["system"], row["scheme"], row["order"], \
                row["stages"] if row["scheme"] == "fd" else 0
            found.setdefault(key, {})[row["precision"]] = row
    return [Method(lab, {p: rates[p] for p in PRECISIONS if p in rates})
            for rates in found.values()]


# ---- results ----

def cell(best, every):
    if best is None:
        return "-"
    method, grid = best
    star = "\\*" if grid["precision"] == "single" else ""
    order = "" if every else f", {'order ' if method.fd else 'N = '}{method.order}"
    return f"{grid['seconds']:.2g}{star}{order}, {grid['grid']:.3g}"


def best_of(methods, length, error):
    found = [(m, m.cheapest(length, error)) for m in methods]
    return min((f for f in found if f[1]), key=lambda f: f[1]["seconds"],
               default=None)


def cheapest_text(best):
    if best is None:
        return "-"
    joules = best[1]["joules"]
    return "; ".join([str(best[0])] + [f"{joules:.2g} J"] * math.isfinite(joules)
                     + [f"{best[1]['bytes']:.2g} B"])


def tables(lab, methods):
    ways = ["(" + ",".join(map(str, w)) + ")" for w in WAYS[lab.args.dims]]
    text = f"{lab.device}: device seconds per cubic wavelength and period, order " \
        "and cells per wavelength for a relative error. Runs of plane waves in " \
        f"{lab.args.dims}-D along {ways[0]}, {ways[1]} and {ways[2]}, the worst " \
        "of them; the rates are those of large boxes in 3-D. \\* in single " \
        "precision; - not reached, or by runs that would take too long.\n\n"
    for every in (False, True):
        names = list(dict.fromkeys(str(m) if every else m.family()
                                   for m in methods))
        for length in reversed(LENGTHS):
            rows = [[name, *(cell(best_of(
                [m for m in methods if name in (str(m), m.family())],
                length, error), every) for error in TARGETS)] for name in names]
            if not every:
                rows.append(["cheapest", *(cheapest_text(best_of(
                    methods, length, error)) for error in TARGETS)])
            head = ["each order" if every else "scheme"]
            text += f"After {length} wavelengths:\n\n" + table(
                head + [f"1e-{n}" for n in range(2, 9)], rows) + "\n"
    return text


SECONDS = "seconds_per_cubic_wavelength_and_period"
COLUMNS = f"""method scheme order terms precision variant wavelengths direction
    cells_per_wavelength grid cfl error expected_error {SECONDS}
    {SECONDS.replace('seconds', 'joules')} {SECONDS.replace('seconds', 'bytes')}
    dimensions device""".split()


def measure(lab):
    args = lab.args
    args.dims = 3 if lab.gpu else 2
    if args.quick:
        args.systems, args.schemes, args.orders = "wave", ["leapfrog", "fd"], [4]
        args.precisions = "single"
    methods = methods_of(lab)
    end = lab.began + args.seconds
    try:
        for i, method in enumerate(methods):
            now = time.monotonic()
            method.measure(now + max(end - now, 0) / (len(methods) - i))
            lab.left_out += method.cut
    except KeyboardInterrupt:
        say("interrupted: what was found so far:")
    rows = [{"method": m.system, "scheme": m.scheme, "order": m.order,
             "terms": m.terms, "variant": m.rates[g["precision"]]["variant"],
             "wavelengths": g["length"], "dimensions": args.dims,
             "device": lab.device, SECONDS: g["seconds"],
             SECONDS.replace("seconds", "joules"): g["joules"],
             SECONDS.replace("seconds", "bytes"): g["bytes"], **g, **r}
            for m in methods for g in m.grids for r in g["runs"]]
    lab.write(rows, COLUMNS, tables(lab, methods))


if __name__ == "__main__":
    laboratory = Laboratory(__doc__, "accuracy", (300, 600))
    add = laboratory.parser.add_argument
    add("--systems", default="acoustic,wave", metavar="LIST")
    add("--schemes", type=words, default=["taylor", "leapfrog", "fd"],
        metavar="LIST")
    add("--orders", type=integers, metavar="LIST", help="N of Hermite methods, and "
        "orders in space of fd, each as far as a scheme has them")
    add("--precisions", default="single,double", metavar="LIST")
    laboratory.main(measure)
