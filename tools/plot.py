#!/usr/bin/env python3
"""Draws what htwave bench has measured, from its CSV files.

    bench.csv     rates: roofline, bars, limit; the other cases: theirs
    accuracy.csv  cost of a wavelength over its error: accuracy, accuracy_*
    media.csv     error over cost in each medium: media_*
    absorbing.csv rates in layers over the domain's size and the layers'
                  thickness: absorbing_*
    scaling.csv   efficiency over ranks: scaling

What a file holds is known by its columns. Needs matplotlib.
"""
import argparse
import csv
import math
import os
import sys
from pathlib import Path

# Told apart by people of all kinds of colour vision: after M. Okabe and K. Ito,
# Color Universal Design (2008), the yellow darkened for lines.
COLOURS = (
    "#0072b2 #d55e00 #009e73 #cc79a7 #56b4e9 #e69f00 #5a3c96 #968214 "
    "#784632 #3c3c41 #c8283c #6ebe3c"
).split()
GREY, DARK = "#78787d", "#3c3c41"
MARKS = "oDs^vPX*"


class Refused(Exception):
    """A file that cannot be drawn; the text says why."""


def number(text):
    """NaN where a field is empty."""
    return float(text) if text else math.nan


def groups(rows, name):
    """{name(row): rows}, in the order of the first of each."""
    found = {}
    for row in rows:
        found.setdefault(name(row), []).append(row)
    return found


# Red is above 0, white 0: the table of src/io/plot.c.
SIGNED = ((1, 66, 155), (2, 94, 195), (41, 125, 228), (85, 155, 248), (123, 177, 255),
          (157, 196, 255), (189, 215, 255), (218, 233, 254), (246, 246, 246), (254, 226, 215),
          (255, 204, 184), (253, 181, 153), (246, 154, 123), (233, 124, 93), (211, 89, 65),
          (179, 52, 42), (141, 19, 26))


def signed_map():
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "signed", [[part / 255 for part in colour] for colour in SIGNED])


def sheet(title, subtitle, width=9.0, height=5.6, panels=1, across=1,
          above=0):
    """A figure with its axes, one below or beside the other; above: room for a
    panel's own title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(panels, across, squeeze=False, sharey=across > 1).flatten()
    axes[0].set_title(title, loc="left", weight="bold", pad=20 + above)
    axes[0].annotate(subtitle, (0, 1), (0, 6 + above), xycoords="axes fraction",
                     textcoords="offset points", size="small", color=GREY)
    for ax in axes:
        ax.grid(color="#e1e1e4")
        ax.set_axisbelow(True)
    return figure, axes


def legend(ax):
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False,
                  fontsize="small")


def log_ticks(axis):
    """Numbers at 1, 2 and 5, also where there is no power of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def whole_ticks(axis):
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def colour(index):
    return COLOURS[index % len(COLOURS)]


# ---- bench.csv ----

BENCH = """case system scheme dimensions order stages variant kernels precision
    medium layout cells_per_group ms cell_half_steps_per_s fma_per_cell bytes_per_cell
    gflops gbytes_per_s limit_fraction largest_cfl limit_gflops
    limit_gbytes_per_s device backend driver version""".split()


def differences(row):
    return row["scheme"] == "fd"


def problem(row):
    rest = "{medium}, terms in time {stages}" if differences(row) else "{layout} layout"
    return ("{system}, {scheme}, {dimensions}-D, {precision}, " + rest).format(**row)


def order_name(row):
    return ("order " if differences(row) else "N = ") + row["order"]


def kernels_of(row):
    leapfrog = " leapfrog" if row["scheme"] == "leapfrog" else ""
    dims = "" if row["dimensions"] == "3" else f" {row['dimensions']}-D"
    return "{system}{}{} {kernels} {precision} {layout}".format(
        leapfrog, dims, **row)


def order_of(row):
    leapfrog = " leapfrog" if row["scheme"] == "leapfrog" else ""
    dims = "" if row["dimensions"] == "3" else f" {row['dimensions']}-D"
    return "{system}{}{} {kernels} {precision} {}".format(
        leapfrog, dims, order_name(row), **row)


def device_of(row):
    return "{device}, {backend}, driver {driver}, htwave {version}".format(
        **row)


def intensity(row):
    moved = number(row["bytes_per_cell"])
    return 2 * number(row["fma_per_cell"]) / moved if moved else math.nan


def crossing_ns(row):
    """Device time for a cell to be crossed, at the largest stable step."""
    return 2e9 / (number(row["largest_cfl"])
                  * number(row["cell_half_steps_per_s"]))


def group_cells(row):
    naive = row["kernels"].startswith("naive")
    return 1 if naive else number(row["cells_per_group"])


def draw_lines(rows, title, x, y, x_label, y_label):
    """A line per order of a kernel, along x."""
    figure, (ax,) = sheet(title, device_of(rows[0]))
    for index, (name, group) in enumerate(groups(rows, order_of).items()):
        double = group[0]["precision"] == "double"
        group.sort(key=x)
        ax.plot([x(r) for r in group], [y(r) for r in group],
                MARKS[index % len(MARKS)] + ("--" if double else "-"),
                color=colour(index), label=name,
                fillstyle="none" if double else "full")
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    legend(ax)
    return figure, ax


def draw_roofline(rows, title):
    """Points under the device's measured limits."""
    kernels = list(groups(rows, lambda r: r["kernels"]))
    systems = list(groups(rows, lambda r: (r["system"], r["scheme"])))
    figure, (ax,) = sheet(title, device_of(rows[0]), width=11)
    low = min(intensity(r) for r in rows) / 2
    high = max(intensity(r) for r in rows) * 2
    for precision, group in groups(rows, lambda r: r["precision"]).items():
        flat = number(group[0]["limit_gflops"])
        slope = number(group[0]["limit_gbytes_per_s"])
        corner = flat / slope
        x = [min(low, corner / 2), corner, max(high, 2 * corner)]
        ax.plot(x, [slope * x[0], flat, flat], color=GREY,
                linestyle="--" if precision == "double" else "-",
                label=f"measured limit, {precision}")
    for name, group in groups(rows, kernels_of).items():
        double = group[0]["precision"] == "double"
        mark = MARKS[systems.index((group[0]["system"], group[0]["scheme"]))
                     % len(MARKS)]
        x = [intensity(r) for r in group]
        y = [number(r["gflops"]) for r in group]
        ax.plot(x, y, mark + ("--" if double else "-"), label=name,
                color=colour(kernels.index(group[0]["kernels"])),
                fillstyle="none" if double else "full")
        for row, *place in zip(group, x, y):
            ax.annotate(order_name(row), place, (4, 4),
                        textcoords="offset points", size="x-small")
    ax.set_xscale("log")
    ax.set_yscale("log")
    log_ticks(ax.xaxis)
    log_ticks(ax.yaxis)
    ax.set_xlabel("FLOP per byte, by the variants' own minimal counts")
    ax.set_ylabel("GFLOP/s")
    legend(ax)
    return figure


def draw_bars(rows, title, label, value, log, by=None):
    """Bars of the kernels, grouped by order, a panel per kind of problem; by: what has a bar,
    instead of kernels of one device."""
    def place(row):
        return problem(row), row["order"], row["kernels"]

    # of the rows of one place the first has the size that is chosen
    chosen = {key: group[0] for key, group in groups(rows, place).items()}

    def name(row):
        if by is not None:
            return by(row)
        if row is chosen[place(row)]:
            return row["kernels"]
        return f"{row['kernels']}, cells {row['cells_per_group']}"

    panels, names = groups(rows, problem), list(groups(rows, name))
    below = "the fastest kernels" if by is not None else device_of(rows[0])
    figure, axes = sheet(title, below, width=10,
                         height=1.2 + 2.4 * len(panels), panels=len(panels), above=14)
    width = 0.84 / len(names)
    for ax, (panel, group) in zip(axes, panels.items()):
        orders = {r["order"]: order_name(r) for r in sorted(group, key=lambda r: int(r["order"]))}
        for index, bar in enumerate(names):
            found = {r["order"]: value(r) for r in group if name(r) == bar}
            shift = (index - (len(names) - 1) / 2) * width
            ax.bar([i + shift for i, n in enumerate(orders) if n in found],
                   [found[n] for n in orders if n in found], width,
                   color=colour(index), label=bar)
        ax.annotate(panel, (1, 1), (0, 6), xycoords="axes fraction",
                    textcoords="offset points", size="small", ha="right")
        ax.set_xlim(-0.5, len(orders) - 0.5)
        ax.set_xticks(range(len(orders)), orders.values())
        ax.set_ylabel(label)
        ax.grid(visible=False, axis="x")
    values = [value(r) for r in rows]
    for ax in axes:
        if log:  # from a power of ten, so that bars have a foot
            ax.set_yscale("log")
            ax.set_ylim(10 ** math.floor(math.log10(min(values))),
                        1.3 * max(values))
        else:
            ax.set_ylim(0, 1.08 * max(values))
    legend(axes[0])
    return figure


def draw_devices(rows):
    """The fastest kernels of each device beside those of others."""
    def kind(row):
        return device_of(row), *(row[c] for c in "system scheme dimensions order precision".split())

    best = [max(group, key=lambda r: number(r["cell_half_steps_per_s"]))
            for group in groups(rows, kind).values()]
    for row in best:
        row["layout"] = "best"
    return draw_bars(best, "Devices", "cell half-steps/s",
                     lambda r: number(r["cell_half_steps_per_s"]), True, device_of)


def draw_rates(rows):
    devices = groups(rows, device_of)
    if len(devices) > 1:
        figures = {f"{name}_{index}": figure for index, group in enumerate(devices.values(), 1)
                   for name, figure in draw_rates(group).items()}
        return figures | {"devices": draw_devices(rows)}
    return {
        "roofline": draw_roofline(rows, "Roofline"),
        "bars": draw_bars(rows, "Rates", "cell half-steps/s",
                          lambda r: number(r["cell_half_steps_per_s"]), True),
        "limit": draw_bars(rows, "Part of the device's limit", "%",
                           lambda r: 100 * number(r["limit_fraction"]), False),
    }


def draw_kernels(rows):
    return {"roofline_kernels": draw_roofline(rows,
                                              "Roofline of the single kernels")}


def draw_interpolation(rows):
    figure, ax = draw_lines(
        rows, "Interpolation: memory traffic against cells per group",
        group_cells, lambda r: number(r["gbytes_per_s"]), "cells per group",
        "GB/s, each value counted once")
    cells = sorted({group_cells(r) for r in rows})
    ax.set_xscale("log", base=2)
    ax.set_xticks(cells, [f"{n:g}" for n in cells])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    bars = draw_bars(rows, "Interpolation", "cell half-steps/s",
                     lambda r: number(r["cell_half_steps_per_s"]), True)
    return {"interpolation_groups": figure, "interpolation": bars}


def draw_stages(rows):
    figures = {}
    for name, column, label in (("stages", "gflops", "GFLOP/s"),
                                ("stages_bandwidth", "gbytes_per_s", "GB/s")):
        figures[name], ax = draw_lines(
            rows, "Taylor stages against performance",
            lambda r: number(r["stages"]),
            lambda r, column=column: number(r[column]), "stages", label)
        whole_ticks(ax.xaxis)
        ax.set_ylim(bottom=0)
    return figures


def draw_q(rows):
    figure, ax = draw_lines(
        rows, "Fewer stages: device time for a cell to be crossed, at the "
        "largest stable step", lambda r: number(r["stages"]), crossing_ns,
        "stages", "ns per cell")
    ax.set_yscale("log")
    log_ticks(ax.yaxis)
    whole_ticks(ax.xaxis)
    return {"q": figure}


CASES = {"rates": draw_rates, "roofline": draw_kernels,
         "interpolation": draw_interpolation, "stages": draw_stages,
         "q": draw_q}


def draw_bench(rows):
    figures = {}
    measured = [r for r in rows if r["ms"]]
    if not measured:
        refuse("no row is measured")
    for case, group in groups(measured, lambda r: r["case"]).items():
        if case in CASES:
            figures.update(CASES[case](group))
        else:
            print(f"no plot of the case {case}", file=sys.stderr)
    return figures


# ---- accuracy.csv ----

SECONDS = "seconds_per_cubic_wavelength_and_period"
ACCURACY = f"""method scheme order terms precision wavelengths direction
    cells_per_wavelength grid cfl error expected_error {SECONDS} dimensions
    device""".split()


def accuracy_name(row):
    if row["scheme"] == "fd":
        return f"fd, {row['terms']} term{'s' if row['terms'] != '1' else ''}"
    return f"{row['method']} {row['scheme']}"


def points(rows):
    """(seconds, error of the worst direction, order) of every grid."""
    def grid(row):
        return tuple(row[c] for c in ("method", "scheme", "order", "terms",
                                      "precision", "grid", "cfl"))

    return [(number(g[0][SECONDS]), max(number(r["error"]) for r in g),
             int(g[0]["order"])) for g in groups(rows, grid).values()]


def front(found):
    """The points that no other one beats in both, from the cheapest on."""
    best = []
    for point in sorted(found):
        if not best or point[1] < best[-1][1]:
            best.append(point)
    return best


def draw_front(ax, rows, name, orders=False, **style):
    """A line without points that are hardly better than the one before;
    orders: N, or the order in space, where it changes."""
    line = []
    for point in front(points(rows)):
        if not line or point[1] <= 0.8 * line[-1][1]:
            line.append(point)
    ax.plot([p[1] for p in line], [p[0] for p in line], label=name, **style)
    word = "" if rows[0]["scheme"] == "fd" else "N="
    for before, point in zip([None] + line, line):
        if orders and (before is None or before[2] != point[2]):
            ax.annotate(f"{word}{point[2]}", (point[1], point[0]), (4, 4),
                        textcoords="offset points", size="x-small",
                        color=style["color"])


def accuracy_sheet(title, rows, draw_lines):
    """A panel for each distance; draw_lines(ax, rows) draws those of one."""
    distances = groups(rows, lambda r: int(r["wavelengths"]))
    figure, axes = sheet(
        title, "{device}, single or double precision; errors of {dimensions}-D "
        "runs".format(**rows[0]), height=4.8 * len(distances),
        panels=len(distances))
    for ax, (distance, group) in zip(axes, sorted(distances.items())):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(1e-9, 1)
        ax.set_xlabel(f"relative error after {distance} wavelengths")
        ax.set_ylabel("device seconds per\ncubic wavelength and period")
        draw_lines(ax, group)
    legend(axes[0])
    return figure


def draw_accuracy(rows):
    """All schemes, each by its best order; then each with a line per order."""
    names = list(groups(rows, accuracy_name))

    def draw_schemes(ax, found):
        for name, group in groups(found, accuracy_name).items():
            index = names.index(name)
            draw_front(ax, group, name, orders=True, color=colour(index),
                       marker=MARKS[index % len(MARKS)],
                       linestyle="--" if group[0]["scheme"] == "fd" else "-")

    def draw_orders(ax, found):
        orders = groups(found, lambda r: int(r["order"]))
        for index, (order, group) in enumerate(sorted(orders.items())):
            word = "order" if group[0]["scheme"] == "fd" else "N ="
            draw_front(ax, group, f"{word} {order}", marker="o",
                       color=colour(index))

    figures = {"accuracy": accuracy_sheet(
        "What a wavelength costs, each by its best order", rows, draw_schemes)}
    for name, group in groups(rows, accuracy_name).items():
        file = "accuracy_" + name.replace(",", "").replace(" ", "_")
        figures[file] = accuracy_sheet(f"What a wavelength costs: {name}",
                                       group, draw_orders)
    return figures


# ---- media.csv ----

MEDIA = """medium method order terms fit precision points_per_unit error seconds
    dimensions device""".split()


def media_name(row):
    name = f"{row['method']} {row['order']}"
    if row["terms"] != "0":
        name += f", {row['terms']} in time"
    return name if row["fit"] in ("", "auto") else f"{name}, {row['fit']}"


def draw_media(rows):
    figures = {}
    methods = list(groups(rows, media_name))
    for medium, of_medium in groups(rows, lambda r: r["medium"]).items():
        figure, (ax,) = sheet(
            f"Error over cost: {medium} medium",
            "{device}, {precision} precision, {dimensions}-D".format(
                **of_medium[0]))
        for name, group in groups(of_medium, media_name).items():
            index = methods.index(name)
            line = sorted((number(r["error"]), number(r["seconds"]))
                          for r in group)
            ax.plot([p[0] for p in line], [p[1] for p in line],
                    MARKS[index % len(MARKS)] + "-", label=name,
                    color=colour(index))
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("relative error of p")
        ax.set_ylabel("device seconds")
        legend(ax)
        figures[f"media_{medium}"] = figure
    return figures


# ---- absorbing.csv ----

ABSORBING = """sweep scheme order sides precision dimensions domain
    layer effective_cells_per_s device""".split()


def layers_name(row):
    order = "order" if row["scheme"] == "fd" else "N ="
    return f"{row['scheme']}, {order} {row['order']}"


def draw_absorbing_sweep(title, rows, x, label):
    """Lines of layers and of walls."""
    figure, (ax,) = sheet(
        title, "{device}, {precision} precision, {dimensions}-D; cells of "
        "layers do not count".format(**rows[0]))
    lines = groups(rows, lambda r: (layers_name(r), r["sides"]))
    names = list(groups(rows, lambda r: r["sides"]))
    methods = list(groups(rows, layers_name))
    for (method, name), group in lines.items():
        group.sort(key=lambda r: number(r[x]))
        ax.plot([number(r[x]) for r in group],
                [1e-6 * number(r["effective_cells_per_s"]) for r in group],
                MARKS[methods.index(method) % len(MARKS)]
                + ("--" if name == "walls" else "-"),
                color=GREY if name == "walls" else colour(names.index(name)),
                label=f"{method}, {name}")
    ax.set_yscale("log")
    log_ticks(ax.yaxis)
    ax.set_xlabel(label)
    ax.set_ylabel("effective Mcells/s")
    legend(ax)
    return figure


def draw_absorbing(rows):
    draws = {"domain": ("Layers of {layer} cells on all sides", "domain",
                        "cells of the domain along an axis"),
             "thickness": ("Layers on all sides of {domain} cells along an axis",
                           "layer", "cells of a layer")}
    figures = {}
    for (scheme, name), group in groups(
            rows, lambda r: (r["scheme"], r["sweep"])).items():
        title, x, label = draws[name]
        figures[f"absorbing_{name}_{scheme}"] = draw_absorbing_sweep(
            title.format(**group[-1]), group, x, label)
    return figures


# ---- scaling.csv ----

SCALING = """kind system scheme precision variant layout order stages side
    planes ranks depth halo transport ms device backend driver
    version""".split()


def weak(row):
    return row["kind"] == "weak"


def alike(row):
    """What rows that are compared share; of one rank depth does not matter."""
    share = number(row["planes"]) / (number(row["ranks"]) if weak(row) else 1)
    return share, *(row[c] for c in (
        "kind", "system", "scheme", "precision", "variant", "layout", "device",
        "backend", "order", "stages", "side"))


def rate(row):
    """Planes per second and rank."""
    return number(row["planes"]) / number(row["ms"]) / number(row["ranks"])


def efficiencies(rows):
    """{(alike, depth, halo): {ranks: % of one rank's rate}}; the last row of
    as many ranks counts."""
    alone = {alike(r): r for r in rows if number(r["ranks"]) == 1}
    lines = {}
    for row in rows:
        if number(row["ranks"]) == 1 or alike(row) not in alone:
            continue
        line = lines.setdefault((alike(row), row["depth"], row["halo"]),
                                {1: 100.0})
        line[int(number(row["ranks"]))] = \
            100 * rate(row) / rate(alone[alike(row)])
    return lines


def draw_scaling(rows):
    lines = efficiencies(rows)
    if not lines:
        refuse("no row of several ranks has one of one rank beside it")
    figure, (ax,) = sheet("Parallel efficiency", rows[-1]["device"])
    for index, ((like, depth, halo), line) in enumerate(lines.items()):
        row = next(r for r in rows if (alike(r), r["depth"], r["halo"])
                   == (like, depth, halo))
        order = "order" if row["scheme"] == "fd" else "N ="
        name = "{kind} {system} {scheme} {} {order} {precision}, " \
            "{side}² cells".format(order, **row)
        name += f", depth {depth}" if number(depth) > 1 else ""
        name += f", {halo} messages" if halo != "same" else ""
        ranks = sorted(line)
        ax.plot(ranks, [line[n] for n in ranks], "o-" if weak(row) else "o--",
                color=colour(index), label=name,
                fillstyle="full" if weak(row) else "none")
    counts = sorted({n for line in lines.values() for n in line})
    ax.set_xscale("log", base=2)
    ax.set_xticks(counts, [str(n) for n in counts])
    ax.minorticks_off()
    ax.set_ylim(0, max(110, 5 + max(max(v.values()) for v in lines.values())))
    ax.set_xlabel("ranks")
    ax.set_ylabel("% of one rank's rate, per rank")
    legend(ax)
    return {"scaling": figure}


# ---- files ----

KINDS = {"bench.csv": (BENCH, draw_bench),
         "accuracy.csv": (ACCURACY, draw_accuracy),
         "media.csv": (MEDIA, draw_media),
         "absorbing.csv": (ABSORBING, draw_absorbing),
         "scaling.csv": (SCALING, draw_scaling)}


def refuse(why):
    raise Refused(why)


def read(path):
    """The rows of a file and the function that draws them."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            rows, columns = list(table), table.fieldnames or []
    except UnicodeDecodeError:
        refuse("is no text: traces.py draws traces, snapshots.py snapshots and models")
    except (OSError, csv.Error) as error:
        raise Refused(getattr(error, "strerror", None) or str(error)) from None
    missing = {kind: [c for c in wanted if c not in columns]
               for kind, (wanted, _) in KINDS.items()}
    kind = min(missing, key=lambda k: len(missing[k]) / len(KINDS[k][0]))
    if len(missing[kind]) > len(KINDS[kind][0]) / 2:
        refuse("the first line has not the columns of "
               + ", ".join(list(KINDS)[:-1]) + " or " + list(KINDS)[-1])
    if missing[kind]:
        refuse(f"column {missing[kind][0]} of {kind} is missing")
    if not rows:
        refuse("no rows")
    for row in rows:
        if None in row or None in row.values():
            refuse(f"row {rows.index(row) + 1} has not {len(columns)} fields")
    return rows, KINDS[kind][1]


def draw(path):
    """{name: figure} of a file."""
    rows, draw_rows = read(path)
    try:
        return draw_rows(rows)
    except ValueError as error:
        raise Refused(str(error)) from None


def write(figure, path, quiet=False):
    """Complete or not at all."""
    beside = path.with_name(f"{path.name}.tmp.{os.getpid()}")
    try:
        figure.savefig(beside, format=path.suffix[1:], dpi=120)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    if not quiet:
        print(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="+", type=Path, metavar="FILE.csv")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="of the pictures (default: that of the file)")
    parser.add_argument("--format", choices=("png", "pdf", "svg"),
                        default="png")
    args = parser.parse_args()
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        sys.exit("plot.py needs matplotlib (Debian: python3-matplotlib; "
                 "pip install matplotlib)")
    for path in args.file:
        folder = args.out or path.parent
        try:
            figures = draw(path)
            folder.mkdir(parents=True, exist_ok=True)
            for name, figure in figures.items():
                write(figure, folder / f"{name}.{args.format}")
        except (Refused, OSError) as error:
            sys.exit(f"plot.py: {path}: {error}")


if __name__ == "__main__":
    main()
