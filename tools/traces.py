#!/usr/bin/env python3
"""Draws what the receivers of htwave run have recorded, from traces.h5.

    traces_GROUP_FIELD    curves over time, one above the other
    gather_GROUP_FIELD    all traces side by side as a grey picture, time down
    wiggle_GROUP_FIELD    the same as curves, filled to the right
    spectrum_GROUP_FIELD  amplitude over frequency: the traces' mean and largest

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

FEW = 12  # traces that are drawn as curves, and wiggles side by side up to
MOST_WIGGLES = 120


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
        for name, group in file.items():
            if not isinstance(group, h5py.Group) or "time" not in group:
                raise Refused("holds no traces of receivers")
            time, position = group["time"][:], group["position"][:]
            # none of a run that was killed before the first block
            done = np.count_nonzero(np.isfinite(time))
            for field in group:
                if field not in ("time", "position") and done > 0:
                    yield (name, field, time[:done], position,
                           group[field][:, :done].astype(float))


def distances(position):
    """Along the line from receiver to receiver."""
    import numpy as np

    steps = np.linalg.norm(np.diff(position, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


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
    along = distances(position)
    size = clip or abs(data).max() or 1.0
    figure, (ax,) = sheet(title, f"black {-size:.3g}, white {size:.3g}",
                          height=7)
    ax.grid(False)
    rising = len(along) < 2 or (along[1:] > along[:-1]).all()
    across = along if rising else range(1, len(data) + 1)
    import numpy as np

    ax.pcolormesh(edges(np.asarray(across, float)), edges(time), data.T,
                  cmap="gray", vmin=-size, vmax=size, rasterized=True)
    ax.invert_yaxis()
    ax.set_xlabel(label("distance along the line", "length") if rising
                  else "receiver")
    ax.set_ylabel(label("time"))
    return figure


def wiggle(title, time, position, data, clip):
    step = -(-len(data) // MOST_WIGGLES)
    size = clip or abs(data).max() or 1.0
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
    amplitude = abs(np.fft.rfft(data, axis=1)) * interval
    amplitude = amplitude.clip(1e-9 * (amplitude.max() or 1.0))
    frequency = np.fft.rfftfreq(len(time), interval)
    figure, (ax,) = sheet(title, f"{len(time)} samples, {interval:.4g} apart")
    ax.plot(frequency, amplitude.mean(axis=0), color=COLOURS[0], label="mean")
    ax.plot(frequency, amplitude.max(axis=0), color=COLOURS[1],
            label="largest")
    top = amplitude.max() or 1.0
    ax.set_yscale("log")
    ax.set_ylim(1e-7 * top, 2 * top)
    ax.set_xlabel("frequency"
                  + (f" (1/{UNITS['time']})" if "time" in UNITS else ""))
    ax.set_ylabel("amplitude x time")
    legend(ax)
    return figure


KINDS = {"traces": traces, "gather": gather, "wiggle": wiggle,
         "spectrum": spectrum}


def kinds_for(count, samples):
    """What is drawn unless --kind says it."""
    shown = ["traces"] if count <= FEW else ["gather", "wiggle"]
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
    start, low, high = float(start), float(low), float(high)
    if not 0 <= low < high:
        raise ValueError
    return start, low, high


def draw(path, args):
    """Yields (name, figure)."""
    found = False
    others = {}
    if args.minus:
        others = {row[:2]: row[2:] for row in read(args.minus)}
    for group, field, time, position, data in read(path):
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
        for kind in args.kind or kinds_for(*data.shape):
            if kind == "spectrum" and len(time) < 2:
                raise Refused(f"{group} has one sample: no spectrum")
            name = "difference_" * bool(args.minus) + kind
            yield (f"{name}_{group}_{field}",
                   KINDS[kind](title, time, position, data, args.clip))
    if not found:
        raise Refused("has no such group and field")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="traces.h5")
    parser.add_argument("--group", help="of receivers (default: all)")
    parser.add_argument("--field", help="such as p or p_x1 (default: all)")
    parser.add_argument("--kind", action="append", choices=KINDS,
                        help="of picture (default: by the number of traces)")
    parser.add_argument("--clip", type=float, metavar="VALUE",
                        help="that is white, or one trace wide (default: the "
                             "largest)")
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
