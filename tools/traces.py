#!/usr/bin/env python3
"""Draws what the receivers of htwave run have recorded, from traces.h5.

    traces_GROUP_FIELD    curves over time, one above the other
    gather_GROUP_FIELD    all traces side by side as a grey picture, time down;
                          of a plane a panel for each of up to six of its lines
    wiggle_GROUP_FIELD    the same as curves, filled to the right
    spectrum_GROUP_FIELD  amplitude over frequency, to where there is energy: the
                          traces' mean and largest; ends are tapered over 5 %

Prints, for each, the largest value with its receiver and time. With --minus the
differences from another run's traces of the same receivers and times, such as
those on a finer grid: drawn instead, and printed relative to the other's, as
root mean square over all traces and as largest value. With --modes the decaying
oscillations of which each trace consists after a time, in a band of frequencies: frequency,
Q = pi frequency/rate of decay of the amplitude, and amplitude at that time. Needs h5py and
matplotlib.
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from plot import COLOURS, DARK, GREY, Refused, legend, sheet, write  # noqa: E402
from snapshots import need, open_file, text  # noqa: E402

FEW = 12  # traces that are drawn as curves
MOST_WIGGLES, MOST_LINES = 120, 6  # that are drawn side by side
TAPER = 0.05  # of a trace, at both ends
FLOOR = 1e-4  # of the largest amplitude: there is no energy below


UNITS = {}  # names of the user's units, of the file that is drawn


def label(name, quantity=None):
    unit = UNITS.get(quantity or name)
    return f"{name} ({unit})" if unit else name


def read(path):
    """[(group, field, time, position, data[receiver, sample])]"""
    import h5py
    import numpy as np

    with open_file(path) as file:
        for key, value in file.attrs.items():
            if key.startswith("unit_"):
                UNITS[key[5:]] = text(value)
        ended = text(file.attrs.get("ended", "end"))
        if ended == "killed":
            print("note: the run was killed, or goes on: traces so far")
        elif ended != "end":
            print(f"note: the run ended at time {float(file.attrs['end_time']):.6g}"
                  f" ({ended}): traces end there")
        groups = {name: group for name, group in file.items()
                  if isinstance(group, h5py.Group) and "time" in group}
        if not groups:
            raise Refused("holds no traces of receivers")
        for name, group in groups.items():
            time, position = group["time"][:], group["position"][:]
            # none of a run that was killed before the first block
            done = np.count_nonzero(np.isfinite(time))
            for field in group:
                if field not in ("time", "position") and done > 0:
                    yield (name, field, time[:done], position,
                           group[field][:, :done].astype(float))


def lines_of(position):
    """Receivers of each line of a plane, slices; one slice of all others."""
    import numpy as np

    steps = np.diff(position, axis=0)
    size = abs(position).max() or 1.0
    breaks = np.flatnonzero((abs(np.diff(steps, axis=0)) > 1e-6 * size).any(axis=1))
    count = breaks[0] + 2 if len(breaks) else len(position)
    rest = np.arange(1, len(position)) % count != 0  # within a line
    if (count < 2 or len(position) % count
            or (abs(steps[rest] - steps[0]) > 1e-6 * size).any()):
        return [slice(None)]
    return [slice(i, i + count) for i in range(0, len(position), count)]


def across_of(position):
    """Where receivers are drawn, and what that is: a coordinate, the distance along their line, or
    their numbers."""
    import numpy as np

    moves = [k for k in range(position.shape[1]) if np.ptp(position[:, k]) > 0]
    if len(moves) == 1:
        along, name = position[:, moves[0]], f"x{moves[0] + 1}"
    else:
        steps = np.linalg.norm(np.diff(position, axis=0), axis=1)
        along, name = np.concatenate([[0.0], np.cumsum(steps)]), "distance along the line"
    step = np.diff(along)
    if len(along) < 2 or (step > 0).all() or (step < 0).all():
        return along, label(name, "length")
    return np.arange(1, len(position) + 1.0), "receiver"


def strongest(data, clip):
    """--clip, or the 99th percentile of the magnitudes."""
    import numpy as np

    return clip or np.percentile(abs(data), 99) or abs(data).max() or 1.0


def place(x):
    return "(" + ", ".join(f"{value:.4g}" for value in x) + ")"


def largest(time, position, data):
    """One line: the largest value, its receiver and time."""
    import numpy as np

    receiver, sample = np.unravel_index(np.abs(data).argmax(), data.shape)
    return (f"largest {data[receiver, sample]:.6g} at receiver "
            f"{receiver + 1} {place(position[receiver])}, "
            f"time {time[sample]:.6g}")


def traces(title, time, position, data, clip):
    figure, (ax,) = sheet(title, "largest value of each trace at the right",
                          height=1.5 + 0.7 * min(len(data), FEW))
    shown = range(0, len(data), -(-len(data) // FEW))
    for row, i in enumerate(shown):
        size = abs(data[i]).max() or 1.0
        ax.plot(time, -row + 0.45 * data[i] / size, lw=1,
                color=COLOURS[row % len(COLOURS)])
        ax.annotate(f"{size:.3g}", (1, -row), (4, 0), color=GREY, size="small",
                    xycoords=("axes fraction", "data"),
                    textcoords="offset points", va="center")
    ax.set_yticks([-row for row in range(len(shown))],
                  [f"{i + 1} {place(position[i])}" for i in shown])
    ax.set_xlabel(label("time"))
    return figure


def edges(values):
    """Borders of cells around values."""
    import numpy as np

    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middle[0]], middle,
                           [2 * values[-1] - middle[-1]]])


def gather(title, time, position, data, clip):
    lines = lines_of(position)
    shown = lines[::-(-len(lines) // MOST_LINES)]
    size = strongest(data, clip)
    figure, axes = sheet(title, f"black below {-size:.3g}, white above {size:.3g}"
                         + f"; {len(shown)} of {len(lines)} lines" * (len(lines) > 1),
                         width=9.0 if len(shown) == 1 else 3 * len(shown) + 1,
                         height=7, across=len(shown))
    for ax, line in zip(axes, shown):
        across, name = across_of(position[line])
        ax.grid(False)
        ax.pcolormesh(edges(across), edges(time), data[line].T, cmap="gray", vmin=-size,
                      vmax=size, rasterized=True)
        ax.set_ylim(time[-1], time[0])
        ax.set_xlabel(name + f"\nfrom {place(position[line][0])}" * (len(lines) > 1))
    axes[0].set_ylabel(label("time"))
    return figure


def wiggle(title, time, position, data, clip):
    step = -(-len(data) // MOST_WIGGLES)
    size = strongest(data, clip)
    figure, (ax,) = sheet(title, f"one trace to the next: {size:.3g}", height=7)
    for i in range(0, len(data), step):
        curve = i + 1 + step * (data[i] / size).clip(-1.5, 1.5)
        ax.plot(curve, time, color=DARK, lw=0.6)
        ax.fill_betweenx(time, i + 1, curve, where=curve > i + 1, color=DARK,
                         lw=0, interpolate=True)
    ax.set_ylim(time[-1], time[0])
    ax.set_xlabel("receiver")
    ax.set_ylabel(label("time"))
    return figure


def spectrum(title, time, position, data, clip):
    import numpy as np

    interval = (time[-1] - time[0]) / (len(time) - 1)
    ends = np.minimum(np.arange(len(time)) + 0.5, np.arange(len(time))[::-1] + 0.5)
    taper = np.sin(np.pi / 2 * (ends / (TAPER * len(time))).clip(0, 1)) ** 2
    amplitude = abs(np.fft.rfft(data * taper, axis=1)) * interval
    largest = amplitude.max(axis=0)
    top = largest.max() or 1.0
    amplitude = amplitude.clip(1e-9 * top)
    frequency = np.fft.rfftfreq(len(time), interval)
    figure, (ax,) = sheet(title, f"{len(time)} samples, {interval:.4g} apart")
    ax.plot(frequency, amplitude.mean(axis=0), color=COLOURS[0], label="mean")
    ax.plot(frequency, largest.clip(1e-9 * top), color=COLOURS[1], label="largest")
    there = frequency[np.flatnonzero(largest >= FLOOR * top)]
    ax.set_yscale("log")
    ax.set_ylim(FLOOR * top, 2 * top)
    ax.set_xlim(0, min(1.05 * (there[-1] if len(there) else frequency[-1]), frequency[-1]) or 1)
    ax.set_xlabel("frequency"
                  + (f" (1/{UNITS['time']})" if "time" in UNITS else ""))
    ax.set_ylabel("amplitude x time")
    legend(ax)
    return figure


KINDS = {"traces": traces, "gather": gather, "wiggle": wiggle,
         "spectrum": spectrum}


def kinds_for(position, samples):
    """What is drawn unless --kind says it."""
    shown = (["traces"] if len(position) <= FEW
             else ["gather"] + ["wiggle"] * (len(lines_of(position)) == 1))
    return shown + ["spectrum"] if samples > 1 else shown


def subtract(group, field, time, position, data, others):
    """The difference from the other file's traces; prints how large it is."""
    import numpy as np

    other = others.get((group, field))
    if other is None:
        raise Refused(f"--minus: the other file has no {group}: {field}")
    its_time, its_position, its_data = other
    if (its_data.shape != data.shape or abs(its_time - time).max() > 1e-9 *
            max(abs(time[-1]), 1e-300) or not np.allclose(
                its_position, position, rtol=1e-9, atol=1e-12)):
        raise Refused(f"--minus: {group}: {field} has other times or "
                      "positions in the other file")
    rest = data - its_data
    size, most = np.sqrt((its_data ** 2).mean()), abs(its_data).max()
    if not most > 0:
        raise Refused(f"--minus: {group}: {field} is 0 in the other file")
    mean, worst = np.sqrt((rest ** 2).mean()) / size, abs(rest).max() / most
    print(f"{group}: {field}: differs by {mean:.3g} (root mean square), "
          f"{worst:.3g} (largest)")
    return rest


def modes_of(time, values, start, low, high):
    """[(frequency, Q, amplitude)] of values from the time on: by the matrix pencil (Hua and
    Sarkar, 1990, IEEE Trans. Acoust. Speech Signal Process. 38(5), 814-824)."""
    import numpy as np

    stride = int(1 / (4 * high * (time[1] - time[0])) + 1e-9)
    if stride < 1:
        raise Refused(f"samples are too far apart for a frequency of {high:g}: 4 per period at least")
    y = values[np.searchsorted(time, start)::stride]
    step, half = stride * (time[1] - time[0]), len(y) // 2
    if half < 8 or not np.any(y):
        raise Refused(f"{len(y)} samples from {start:g} on, {step:g} apart: too few for modes")
    columns = np.lib.stride_tricks.sliding_window_view(y, half)
    _, size, rows = np.linalg.svd(columns, full_matrices=False)
    rows = rows[size > 1e-6 * size[0]]  # what single precision holds
    z = np.linalg.eigvals(rows[:, 1:] @ np.linalg.pinv(rows[:, :-1]))
    z = z[z != 0]
    power = np.vander(z, len(y), increasing=True).T
    amplitude = 2 * np.abs(np.linalg.lstsq(power, y.astype(complex), rcond=None)[0])
    frequency, rate = np.angle(z) / (2 * np.pi * step), -np.log(np.abs(z)) / step
    keep = (frequency >= low) & (frequency <= high) & (amplitude > 1e-3 * amplitude.max())
    return sorted((f, np.pi * f / g, a) for f, g, a in
                  zip(frequency[keep], rate[keep], amplitude[keep]))


def print_modes(title, time, position, data, band):
    for x, values in zip(position, data):
        print(f"{title}, modes at {tuple(float(f'{v:.4g}') for v in x)}:")
        for frequency, quality, amplitude in modes_of(time, values, *band):
            print(f"  frequency {frequency:.6g}, Q {quality:.4g}, amplitude {amplitude:.3g}")


def band_of(text):
    start, _, band = text.partition(":")
    low, _, high = band.partition(",")
    try:
        start, low, high = float(start), float(low), float(high)
    except ValueError:
        low = high = 0.0
    if not 0 <= low < high:
        raise argparse.ArgumentTypeError(f"{text}: must be TIME:LOW,HIGH, LOW below HIGH")
    return start, low, high


def above_zero(text):
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text}: must be above 0")
    return value


def draw(path, args):
    """Yields (name, figure)."""
    found, known = False, []
    others = {}
    if args.minus:
        others = {row[:2]: row[2:] for row in read(args.minus)}
    for group, field, time, position, data in read(path):
        known.append(f"{group}: {field}")
        if args.group not in (None, group) or args.field not in (None, field):
            continue
        found = True
        title = f"{group}: {field}"
        if args.minus:
            data = subtract(group, field, time, position, data, others)
            title += ", difference"
        print(f"{title}: {len(data)} trace{'s' * (len(data) > 1)} of {len(time)} samples, "
              f"{largest(time, position, data)}")
        if args.modes:
            print_modes(title, time, position, data, args.modes)
        for kind in args.kind or kinds_for(position, len(time)):
            if kind == "spectrum" and len(time) < 2:
                raise Refused(f"{group} has one sample: no spectrum")
            name = "difference_" * bool(args.minus) + kind
            yield (f"{name}_{group}_{field}",
                   KINDS[kind](title, time, position, data, args.clip))
    if not found:
        raise Refused("has no such group and field: it has " + ", ".join(known))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="traces.h5")
    parser.add_argument("--group", help="of receivers (default: all)")
    parser.add_argument("--field", help="such as p or p_x1 (default: all)")
    parser.add_argument("--kind", action="append", choices=KINDS,
                        help="of picture (default: by the number of traces)")
    parser.add_argument("--clip", type=above_zero, metavar="VALUE",
                        help="that is white, or one trace wide (default: the "
                             "99th percentile)")
    parser.add_argument("--minus", type=Path, metavar="traces.h5",
                        help="draw the differences from this file")
    parser.add_argument("--modes", type=band_of, metavar="TIME:LOW,HIGH",
                        help="print the modes after a time, of frequencies LOW to HIGH")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="of the pictures (default: that of the file)")
    parser.add_argument("--format", choices=("png", "pdf", "svg"),
                        default="png")
    args = parser.parse_args()
    need("traces.py", "h5py", "matplotlib")
    folder = args.out or args.file.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in draw(args.file, args):
            write(figure, folder / f"{name}.{args.format}")
    except (Refused, OSError) as error:
        sys.exit(f"traces.py: {args.file}: {error}")


if __name__ == "__main__":
    main()
