#!/usr/bin/env python3
"""Figures of Vargas, Chan, Hagstrom and Warburton (2016) on any device.

    interpolation  naive against rolled interpolation (figures 1 and 2)
    stages         stages against performance (figures 3 and 4)
    roofline       single kernels under the device's limits (figure 5)
    q              fewer stages and smaller steps against all stages
    table1         seconds of 200 steps on 150^3 cells beside those of table 1;
                   on CPUs from smaller grids

All by htwave bench rates, which verifies each kernel. Writes figures.csv,
figures.md and pictures.
"""
import csv

from laboratory import Laboratory, integers, plot, table

# Variants of one kernel that sum a series.
SERIES = ("monolithic", "vector")
CASES = ("interpolation", "stages", "roofline", "q", "table1")
PAPER = [["GTX 980, monolithic", 2.09, 13.77, 36.17],
         ["GTX 980, two kernels", 2.42, 13.77, 37.23]]


def rates(lab, case, keep, order, *flags):
    """Rows of bench rates that are kept, as the CSV has them."""
    args = lab.args
    common = ["--systems", args.systems, "--schemes", "taylor", "--dims",
              args.dims, "--orders", str(order),
              *(["--cells", str(args.cells)] if args.cells else [])]
    if lab.over():
        return []
    lab.rates(*common, *flags)
    with open(args.out / "bench.csv", newline="", encoding="utf-8") as file:
        return [{**row, "case": case} for row in csv.DictReader(file)
                if row["ms"] and keep(row)]


def interpolation(lab, order):
    def keep(row):
        return "interpolation" in row["kernels"]

    some = ["--variants", "two-naive,two-rolled"] if lab.args.quick else []
    found = rates(lab, "interpolation", keep, order, "--each", *some)
    for cells in (2,) if lab.args.quick else (1, 2, 4, 8, 16):
        found += rates(lab, "interpolation", keep, order, "--each",
                       "--variants", "two-rolled", "--group", str(cells))
    return found


def roofline(lab, order):
    def keep(row):
        if row["kernels"] == "evolution":
            return row["variant"] == "two-rolled"
        return row["kernels"] not in ("two-naive", "two-rolled", "gemm")

    return rates(lab, "roofline", keep, order, "--each")


def stage_counts(lab, case, order, variants, fewest, keep):
    """Up to six numbers of stages from the fewest to all."""
    flags = ["--each", "--variants", ",".join(variants)]
    found = rates(lab, case, keep, order, *flags)
    full = max((int(row["stages"]) for row in found), default=fewest)
    steps = 1 if lab.args.quick else 5
    for count in sorted({fewest + (full - fewest) * k // steps
                         for k in range(steps)} - {full}):
        found += rates(lab, case, keep, order, *flags, "--stages", str(count))
    return found


def stages(lab, order):
    return stage_counts(lab, "stages", order, (*SERIES, "two-rolled"), 2,
                        lambda row: row["variant"] in SERIES
                        or row["kernels"] == "evolution")


def q(lab, order):
    return stage_counts(lab, "q", order, SERIES, 2 * order + 1,
                        lambda row: float(row["largest_cfl"] or 0) > 0)


def table1(lab, order):
    args = lab.args
    side = args.cells or (150 if lab.gpu else 0)
    small = ("--cells", "8", "--variants", "monolithic,two-rolled")
    return rates(lab, "table1", lambda row: True, order, "--precisions", "single",
                 "--systems", "advection", "--dims", "3",
                 *(small if args.quick else ("--cells", str(side))))


def paper(rows):
    """Seconds of table 1: the fastest layout of each variant, scaled to 150^3 cells."""
    found = {}
    for row in rows:
        if row["case"] == "table1":
            seconds = 0.4 * float(row["ms"]) * (150 / int(row["side"])) ** 3
            best = found.setdefault(row["variant"], {})
            order = int(row["order"])
            best[order] = min(seconds, best.get(order, seconds))
    return found and "\nadvection, 150^3 cells, 200 steps, single precision: " \
        "seconds\n\n" + table(["", "N = 1", "2", "3"], [
            [name, *(f"{best[n]:.3g}" if n in best else "-" for n in (1, 2, 3))]
            for name, best in found.items()] + PAPER) or ""


def line(row):
    crossing = f"{plot.crossing_ns(row):.4g}" if row["case"] == "q" else ""
    return [row["case"], row["system"], row["kernels"], row["precision"],
            row["order"], row["stages"], row["cells_per_group"],
            *(f"{float(row[c]):.4g}" for c in (
                "ms", "cell_half_steps_per_s", "gflops", "gbytes_per_s")),
            f"{100 * float(row['limit_fraction']):.2g}", crossing]


def measure(lab):
    args, rows = lab.args, []
    if args.quick:
        args.dims, args.orders, args.cells = "1", [1], 64
    for case in args.case or CASES:
        for order in args.orders:
            rows += globals()[case](lab, order)
    lab.write(rows, list(rows[0]) if rows else [], table(
        ["case", "system", "kernels", "prec.", "N", "stages", "cells per group",
         "ms", "cells/s", "GFLOP/s", "GB/s", "% limit", "ns to cross"],
        map(line, rows)) + paper(rows))


if __name__ == "__main__":
    laboratory = Laboratory(__doc__, "figures", (240, 1200))
    add = laboratory.parser.add_argument
    add("case", nargs="*", choices=[*CASES, []], help="all by default")
    add("--systems", default="advection", metavar="LIST")
    add("--dims", default="3", metavar="LIST")
    add("--orders", type=integers, default=[1, 2, 3], metavar="LIST")
    add("--cells", type=int, help="along each axis")
    laboratory.main(measure)
