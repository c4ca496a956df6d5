#!/usr/bin/env python3
"""Largest stable CFL numbers of the Hermite-Taylor half step, for
src/num/stability_table.h and src/num/stability_pair.h (docs/developers/method.md 5).

With u = U exp(i theta.x/h) on both grids, primary->dual and dual->primary are
the same matrix S(theta, cfl, q). A cfl is stable when at every smaller one,
too, the spectral radius of S is at most 1 + TOLERANCE for all theta.

Sampling, in rounds, each of which moves all points: corners, symmetry lines,
planes and the inside of the cube of angles; per point the limit found so far
and smaller cfl, a spacing apart and shifted at random; where one is unstable
the limit goes down in steps of STEP until the point is stable. Then points
around the worst ones, and random ratios of cfl among the axes (waves: of h;
advection: of velocities), since the limit is for the largest.

    stability.py --out results.txt [--kinds advection,wave,pair] [--dims 1..2]
                 [--order 1..8] [--rounds R] [--seconds S per order]
                 [--least Q]
    stability.py --table results.txt > src/num/stability_table.h
    stability.py --pair-table results.txt > src/num/stability_pair.h
    stability.py --check        growth against eigenvalues from LAPACK

Lines are added to results.txt as they come, one per entry: kind dims order
stages limit passes points samples; a run begins at what the file holds. The
tables of the repository took 15 minutes of an H100: two runs of all orders with
different --seed, in several processes side by side; their files were joined.
Stages below 2N+1 are left out in 3-D from N = 3 on unless --least says more.
"""
import argparse
import math
import sys
import textwrap
import time

import numpy as np

import stability_symbol as symbol
from stability_symbol import LOW_SIZE, SECTOR_SIZE, TOLERANCE, Problem, xp

SMALLEST = 0.05
MARGIN = 0.01
# Where no pass over all angles was completed.
UNFINISHED_MARGIN = 0.03
STEP = 0.0025
MAX_ORDER = 8
KINDS = ("advection", "wave", "pair")


# ---- samples ----

# A sign per axis: 0, p = pi, t, s, r = running, m = -t; plus lines first.
FAMILIES = {
    1: ("p", "t"),
    2: ("p0", "pp", "t0", "tp", "tt", "tm", "ts"),
    3: ("p00", "pp0", "ppp", "t00", "tp0", "tpp", "tt0", "ttp", "ttt",
        "tm0", "tmp", "ttm", "ts0", "tsp", "tts", "tsr"),
}


def free_angles(family):
    return len(set(family) & set("tsr"))


def angles(family, count, rng, signed):
    """Points of a family: evenly spaced along lines, an additive recurrence
    (no lattice lines) in planes and inside, all shifted at random."""
    free = free_angles(family)
    if free == 0:
        count = 1
    n = np.arange(count)[:, None]
    root = {0: 1, 1: 1, 2: 1.32471795724, 3: 1.2207440846}[free]
    if free <= 1:
        x = (n + rng.random()) / count
    else:
        x = (n * root ** -np.arange(1.0, free + 1) + rng.random(free)) % 1
    theta = np.zeros((count, len(family)))
    for k, letter in enumerate(family):
        if letter == "p":
            theta[:, k] = math.pi
        elif letter in "tm":
            theta[:, k] = math.pi * x[:, 0] * (1 if letter == "t" else -1)
        elif letter in "sr":
            theta[:, k] = math.pi * x[:, "tsr".index(letter)]
            if signed:
                theta[:, k] = 2 * theta[:, k] - math.pi
    return theta


class Search:
    """Limits of one order, by stages, and what they were found from."""

    def __init__(self, kind, dims, order, bounds, deadline):
        self.problem = Problem(kind, dims, order)
        self.rng = np.random.default_rng(0)
        self.limit = dict(bounds)
        self.worst = {}
        self.passes = self.points = self.samples = 0
        self.deadline = deadline

    def growth(self, problem, family, theta, jobs):
        """jobs: (point, stages, cfl) -> growth; None when the time is up"""
        per = 3 if problem.kind == "advection" else 1
        batch = max(1, int(xp.room / (problem.size ** 2 * per)))
        out = []
        for at in range(0, len(jobs), batch):
            if time.time() > self.deadline:
                return None
            part = jobs[at:at + batch]
            i = np.array([j[0] for j in part])
            q = np.array([j[1] for j in part])
            c = np.array([j[2] for j in part])
            out.append(problem.growth(family, theta[i], c, q))
            self.samples += len(part)
        return np.concatenate(out) if out else np.zeros(0)

    def levels(self, limit, spacing):
        low = np.arange(limit - spacing * (1 - self.rng.random()), SMALLEST,
                        -spacing)
        return np.concatenate([[limit], low])

    def scan(self, problem, family, theta, spacing, reach=1.0, only=None):
        """Lowers limits until no sample of these points is unstable; reach:
        how far below the limit is looked; only: with so many stages."""
        jobs = []
        for q, limit in self.limit.items():
            if limit < SMALLEST or only not in (None, q):
                continue
            for i in range(len(theta)):
                for c in self.levels(limit, spacing):
                    if c > limit - reach:
                        jobs.append((i, q, c))
        growth = self.growth(problem, family, theta, jobs)
        if growth is None:
            return False
        self.points += len(theta)
        pending = {}
        for (i, q, c), g in zip(jobs, growth):
            if not g <= problem.tolerance:
                low = pending.setdefault(q, {})
                low[i] = min(c, low.get(i, 2))
        for q, low in pending.items():
            i = min(low, key=low.get)
            if low[i] < self.limit[q] - 0.03:
                print(f"  q={q} {family}: unstable at {low[i]:.4f} "
                      f"(limit so far {self.limit[q]:.4f}), theta = "
                      f"{theta[i]}, ratio = {problem.ratio}", flush=True)
            self.limit[q] = low[i] - STEP
            self.worst[q] = (theta[i], problem)
        return self.descend(problem, family, theta, pending)

    def descend(self, problem, family, theta, pending):
        """The points found unstable, at the limits that came of it."""
        fine = 8 if problem.size > LOW_SIZE else 16
        step = STEP * 16 / fine
        while pending:
            jobs = []
            for q, low in pending.items():
                for i in sorted(low, key=low.get)[:12]:
                    jobs += [(i, q, self.limit[q] - step * n)
                             for n in range(fine)
                             if self.limit[q] - step * n >= SMALLEST]
            growth = self.growth(problem, family, theta, jobs)
            if growth is None:
                return False
            found = {}
            for (i, q, c), g in zip(jobs, growth):
                if not g <= problem.tolerance and c < found.get(q, (2, 0))[0]:
                    found[q] = (c, i)
            for q, (c, i) in found.items():
                self.limit[q] = c - step
                self.worst[q] = (theta[i], problem)
            pending = {q: pending[q] for q in found
                       if self.limit[q] >= SMALLEST}
        return True

    def refine(self, spacing):
        """Points around the worst ones, ever nearer."""
        for reach in (0.15, 0.05, 0.015):
            for q in list(self.worst):
                theta, problem = self.worst[q]
                if self.limit[q] < SMALLEST:
                    continue
                count = 16 if problem.size < LOW_SIZE else 6
                near = theta + reach * self.rng.uniform(
                    -1, 1, (count, problem.dims))
                # on lines and planes the worst ones lie on, too
                near[:count // 2] = np.where(
                    (theta == 0) | (theta == math.pi), theta,
                    near[:count // 2])
                if not self.scan(problem, "tsr"[:problem.dims], near, spacing,
                                 0.06, q):
                    return False
        return True

    def round(self, number):
        """One pass over all families; False: out of time."""
        problem = self.problem
        size, dims = problem.size, problem.dims
        points, spacing = effort(problem)
        signed = problem.kind == "advection"
        for family in FAMILIES[dims]:
            free = free_angles(family)
            if ("m" in family and not signed) or (free == 0 and number):
                continue
            count = points[free]
            if size >= SECTOR_SIZE and not signed:  # cheap: small blocks
                count *= 2 ** (family.count("0") + family.count("p"))
            if not self.part(problem, family, count, signed, spacing):
                return False
        self.passes += 1
        return self.refine(spacing) and (dims == 1 or
                                         self.ratios(signed, spacing))

    def part(self, problem, family, count, signed, spacing):
        theta = angles(family, count, self.rng, signed)
        # first few points, so that later ones start from low limits
        theta = theta[self.rng.permutation(len(theta))]
        at, chunk = 0, 2
        while at < len(theta):
            if not self.scan(problem, family, theta[at:at + chunk], spacing):
                return False
            at += chunk
            chunk = min(4 * chunk, 256)
        return True

    def ratios(self, signed, spacing):
        size, dims = self.problem.size, self.problem.dims
        points, _ = effort(self.problem)
        count = 12 if size < 100 else 6 if size < LOW_SIZE else 1
        before = dict(self.limit)
        for n in range(count):
            ratio = self.rng.random(dims)
            if n % 3 == 0:
                ratio = np.round(4 * ratio) / 4
            ratio[self.rng.integers(dims)] = 1
            other = Problem(self.problem.kind, dims, self.problem.order,
                            tuple(float(r) for r in ratio))
            for family in FAMILIES[dims]:
                free = free_angles(family)
                if free == 0 or ("m" in family and not signed):
                    continue
                some = max(2, points[free] // 8)
                if not self.part(other, family, some, signed, 2 * spacing):
                    return False
        fall = {q: before[q] - limit for q, limit in self.limit.items()}
        q = max(fall, key=fall.get)
        print(f"  unequal ratios lowered limits by at most {fall[q]:.4f} "
              f"(q={q})")
        return True


def effort(problem):
    """Points of a corner, line, plane and inside; spacing of cfl."""
    size = problem.size
    if problem.dims == 1:
        return (1, 400), 0.01
    if size < 60:
        points, spacing = (192, 320, 512), 0.02
    elif size < 130:
        points, spacing = (96, 192, 256), 0.03
    elif size < 300:
        points, spacing = (48, 96, 128), 0.04
    elif size < 600:
        points, spacing = (20, 32, 40), 0.08
    elif size < 1000:
        points, spacing = (12, 12, 12), 0.15
    else:
        points, spacing = (6, 6, 4), 0.25
    if problem.kind == "pair":  # one number of stages only
        points = [6 * n for n in points]
    elif problem.kind == "advection" and problem.dims == 3:
        points = [n // 3 for n in points]  # many more families and angles
    return (1, *points), spacing


# ---- results ----

def read_results(path):
    """{(kind, dims, order, stages): limit}; later lines of a file count"""
    out = {}
    try:
        with open(path, encoding="ascii") as file:
            for line in file:
                word = line.split()
                if len(word) >= 5 and word[0] in KINDS:
                    key = (word[0],) + tuple(int(w) for w in word[1:4])
                    old = out.get(key, (1, 0, 0, 0))
                    count = [int(w) for w in word[5:8]]
                    out[key] = (min(float(word[4]), old[0]),) + tuple(
                        a + b for a, b in zip(old[1:], count))
    except FileNotFoundError:
        pass
    return out


def full_stages(kind, dims, order):
    return 2 * dims * order + 1 if kind == "pair" else dims * (2 * order + 1)


def bound_from_below(known, kind, dims, order, stages):
    """Fewer dimensions bound the limit: waves along an axis."""
    bound = 1.0
    for d in range(1, dims):
        if kind == "pair":
            stages = full_stages(kind, d, order)
        elif stages >= full_stages(kind, d, order):
            continue
        found = known.get((kind, d, order, stages))
        if found:
            bound = min(bound, found[0])
    return bound


def compute(args):
    for kind in args.kinds.split(","):
        for dims in span(args.dims):
            for order in span(args.order):
                known = read_results(args.out)
                full = full_stages(kind, dims, order)
                low = args.least if args.least > 0 else 2 * order + 1
                stages = [full] if kind == "pair" else range(
                    1 if dims < 3 or order <= 2 else low, full)
                bounds = {}
                for q in stages:
                    key = (kind, dims, order, q)
                    bound = bound_from_below(known, *key)
                    bounds[q] = min(bound, known.get(key, (1.0,))[0])
                begin = time.time()
                s = Search(kind, dims, order, bounds, begin + args.seconds)
                for number in range(args.rounds):
                    s.rng = np.random.default_rng(
                        [args.seed, number, KINDS.index(kind), dims, order])
                    if not s.round(number):
                        break
                write_results(args.out, kind, dims, order, s)
                took = time.time() - begin
                print(f"{kind} {dims}-D N={order}: {s.passes} passes, "
                      f"{s.points} points, {s.samples} samples, {took:.1f} s, "
                      f"{s.samples / took:.0f}/s", flush=True)
                del s
                xp.tidy()
    return 0


def write_results(path, kind, dims, order, search):
    with open(path, "a", encoding="ascii") as out:
        for q, limit in sorted(search.limit.items()):
            limit = limit if limit >= SMALLEST else 0
            out.write(f"{kind} {dims} {order} {q} {limit:.4f} "
                      f"{search.passes} {search.points} {search.samples}\n")


def span(text):
    a, _, b = text.partition("..")
    return range(int(a), int(b or a) + 1)


def percent(known, kind, dims, order, stages):
    """In hundredths, the margin taken off; 0: unstable or not sampled."""
    if kind != "pair" and stages >= full_stages(kind, dims, order):
        return 100
    found = known.get((kind, dims, order, stages))
    if not found:
        return 0
    limit = min(found[0], bound_from_below(known, kind, dims, order, stages))
    margin = MARGIN if found[1] else UNFINISHED_MARGIN
    value = math.floor(100 * (limit - margin) + 1e-6)
    return value if value >= 100 * SMALLEST else 0


HEAD = """/* Generated by tools/stability.py %s: do not edit.
%s */
#pragma once

/* clang-format off */
"""
TAIL = "/* clang-format on */\n"
WIDTH = 98


def sampled(known, kinds):
    """Comment lines: what the numbers were found from."""
    lines = [" * Sampled, for N = 1, 2, ..: passes over all angles, points"
             " (angles and ratios of\n * axes), symbols; without a whole pass"
             " 0.03 instead of 0.01 is taken off.\n"]
    for kind in kinds:
        for d in range(1, 4):
            orders = []
            for n in range(1, MAX_ORDER + 1):
                found = [v for k, v in known.items() if k[:3] == (kind, d, n)]
                if found:
                    orders.append(f"{min(v[1] for v in found)} "
                                  f"{max(v[2] for v in found)} "
                                  f"{max(v[3] for v in found)}")
            lines.append(textwrap.fill(
                f"{kind} {d}-D: " + ", ".join(orders), WIDTH,
                initial_indent=" *   ", subsequent_indent=" *     ") + "\n")
    return "".join(lines)


def print_table(path):
    known = read_results(path)
    about = (" * Largest stable CFL numbers in hundredths, margin taken off,\n"
             " * [kind][dims-1][order-1][stages-1]; 0: unstable or not sampled."
             "\n" + sampled(known, KINDS[:2]))
    text = HEAD % ("--table", about)
    text += ("static const unsigned char ht_stability_percent[2][3][8][50] = "
             "{\n")
    for kind in KINDS[:2]:
        text += f"    /* {kind} */\n    {{\n"
        for d in range(1, 4):
            text += f"     {{ /* {d}-D, N = 1, 2, .. */\n"
            for n in range(1, MAX_ORDER + 1):
                row = [percent(known, kind, d, n, q)
                       for q in range(1, full_stages(kind, d, n))]
                text += textwrap.fill(
                    "{" + ", ".join(str(v) for v in row) + "},", WIDTH,
                    initial_indent=" " * 8, subsequent_indent=" " * 9) + "\n"
            text += "     },\n"
        text += "    },\n"
    sys.stdout.write(text + "};\n" + TAIL)
    return 0


def print_pair_table(path):
    known = read_results(path)
    about = (" * Largest stable CFL numbers of the pair u_t = v, v_t = c^2 lap "
             "u with full\n * stages, in hundredths, margin taken off, "
             "[dims-1][order-1]; 0: not sampled.\n"
             + sampled(known, KINDS[2:]))
    text = HEAD % ("--pair-table", about)
    text += "static const unsigned char ht_stability_pair[3][8] = {\n"
    for d in range(1, 4):
        row = [str(percent(known, "pair", d, n, full_stages("pair", d, n)))
               for n in range(1, MAX_ORDER + 1)]
        text += "    {" + ", ".join(row) + "},\n"
    sys.stdout.write(text + "};\n" + TAIL)
    return 0


# ---- check ----

def check():
    """Growth from squaring against eigenvalues from LAPACK; blocks against
    whole matrices."""
    worst = bad = total = 0
    rng = np.random.default_rng(1)
    for kind, dims, order in [("advection", 1, 3), ("advection", 2, 2),
                              ("wave", 1, 4), ("wave", 2, 2), ("wave", 3, 1),
                              ("advection", 3, 1), ("pair", 2, 1),
                              ("wave", 3, 2)]:
        problem = Problem(kind, dims, order)
        for family in FAMILIES[dims]:
            theta = angles(family, 6, rng, kind == "advection")
            n = len(theta)
            q = (rng.integers(2 * order, problem.full + 1, n)
                 if kind != "pair" else np.full(n, problem.full))
            cfl = rng.uniform(0.3, 1, n)
            s = xp.get(problem.symbol(theta, cfl, q))
            exact = np.log(np.abs(np.linalg.eigvals(s)).max(axis=1))
            for size in (1, 10 ** 6):
                symbol.SECTOR_SIZE = size
                found = problem.growth(family, theta, cfl, q)
                total += n
                bad += int(((found > TOLERANCE) != (exact > TOLERANCE)).sum())
                grown = exact > TOLERANCE
                worst = max([worst] + list(
                    np.abs(found / np.maximum(exact, TOLERANCE) - 1)[grown]))
    print(f"{bad} of {total} samples differ from LAPACK's eigenvalues in being "
          f"stable; growth where unstable differs by up to {worst:.0%}")
    return int(bad > 0 or worst > 0.5)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--out", default="results.txt")
    p.add_argument("--kinds", default="advection,wave")
    p.add_argument("--dims", default="1..2")
    p.add_argument("--order", default="1..8")
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--least", type=int, default=0,
                   help="fewest stages in 3-D from order 3 on; 2N+1")
    p.add_argument("--table")
    p.add_argument("--pair-table")
    p.add_argument("--check", action="store_true")
    args = p.parse_args()
    if args.check:
        return check()
    if args.table:
        return print_table(args.table)
    if args.pair_table:
        return print_pair_table(args.pair_table)
    return compute(args)


if __name__ == "__main__":
    sys.exit(main())
