#!/usr/bin/env python3
"""Far field of what scatters light, from receivers on the faces of a box around it.

Reads traces.h5 of a run of maxwell or maxwell_tm with a plane wave from outside: groups of
receivers of E and H, type line (2-D, four) or plane (3-D, six) along the axes, which close a box
around that of the wave, where the field is the scattered one. Prints for each frequency the
scattering width (2-D: the power into an angle over that which comes, limit 2 pi r |Es|^2/|Ei|^2)
or the radar cross section (3-D: limit 4 pi r^2 |Es|^2/|Ei|^2) forwards, at a right angle and
backwards, and draws farfield: it over the angle from the direction in which the wave travels; in
3-D turned
towards the polarisation, and towards the direction across it.

    farfield.py out/mie/traces.h5 --signal ricker:0.8 --frequency 0.6,0.8,1.0 --cylinder 0.5,4

With --cylinder or --sphere RADIUS,EPS or RADIUS,conductor (2-D or 3-D, alone in the medium, at 0)
the same from the exact series [Bowman, Senior, Uslenghi, Electromagnetic and Acoustic Scattering by
Simple Shapes, 1969], and the error, as root mean square over all angles. Needs numpy, h5py,
matplotlib, for the series scipy.
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from plot import Refused, colour, legend, sheet, write  # noqa: E402
from snapshots import need  # noqa: E402
from traces import read  # noqa: E402

ANGLES = 361  # 0 to 360 degrees


def numbers(text):
    return [float(word) for word in text.split(",")]


def spectrum(signal, frequency):
    """|S(f)| of KIND:FREQUENCY as in sources.N.signal, or of a file with columns t and s."""
    import numpy as np

    kind, _, peak = signal.partition(":")
    if kind in ("ricker", "gaussian") and peak:
        z = frequency / float(peak)
        factor = 2 * z**2 if kind == "ricker" else 1
        return factor * np.exp(-(z**2)) / (np.sqrt(np.pi) * float(peak))
    t, s = np.loadtxt(signal, unpack=True)
    return abs(np.trapezoid(s * np.exp(2j * np.pi * frequency * t), t))


def along(x):
    """Places on a line and weights of an integral over them, of order 4 (Gregory)."""
    import numpy as np

    place = np.unique(np.round(x, 12))
    if len(place) < 6 or np.ptp(np.diff(place)) > 1e-6 * np.ptp(place):
        raise Refused("a face needs six receivers or more, equally apart, along each axis")
    weight = np.full(len(place), place[1] - place[0])
    for end in (slice(None), slice(None, None, -1)):
        weight[end][:3] *= [3 / 8, 7 / 6, 23 / 24]
    return np.interp(x, place, weight)


def face(position):
    """The axis normal to a group, and the weights of its receivers."""
    import numpy as np

    size = np.ptp(position, axis=0)
    flat = [k for k in range(len(size)) if size[k] <= 1e-9 * size.max()]
    if len(flat) != 1:
        raise Refused("groups must be faces of a box along the axes")
    weight = np.ones(len(position))
    for k in set(range(len(size))) - set(flat):
        weight = weight * along(position[:, k])
    return flat[0], weight


def surface(path, names, frequency):
    """Positions, weights with normals, E and H [frequency, receiver, component] of all faces."""
    import numpy as np

    groups, left = {}, 0
    for name, field, time, position, data in read(path):
        if names and name not in names:
            continue
        if field[0] not in "EH" or not field[1:].isdigit():
            raise Refused(f"{name} has {field}: name groups of E and H alone by --groups")
        turn = np.exp(2j * np.pi * np.outer(frequency, time)) * (time[1] - time[0])
        left = max(left, abs(data[:, -1]).max() / (abs(data).max() or 1))
        groups.setdefault(name, (position, {}))[1][field] = turn @ data.T
    if left > 0.01:
        print(f"note: waves have not died out, {left:.2g} of the largest value are left at the end")
    found = {}
    for position, fields in groups.values():
        axis, weight = face(position)
        values = np.zeros((2, len(frequency), len(position), 3), complex)
        for field, value in fields.items():
            values["EH".index(field[0]), :, :, int(field[1]) - 1] = value
        found.setdefault(axis, []).append((position[0, axis], position, weight, values))
    if not found or any(len(found.get(k, ())) != 2 for k in range(position.shape[1])):
        raise Refused("needs two groups of receivers, lower and upper, normal to each axis")
    parts = []
    for axis, pair in found.items():
        for sign, (_, position, weight, values) in zip((-1, 1), sorted(pair, key=lambda p: p[0])):
            normal = np.zeros((len(position), 3))
            normal[:, axis] = sign * weight
            parts.append((np.pad(position, ((0, 0), (0, 3 - position.shape[1]))), normal, values))
    return (position.shape[1], np.concatenate([p[0] for p in parts]),
            np.concatenate([p[1] for p in parts]), np.concatenate([p[2] for p in parts], axis=2))


def cross_section(dims, x, normal, values, k, eta, towards):
    """Of one frequency in some directions, of |S| = 1: currents n x H and -n x E radiate."""
    import numpy as np

    phase = np.exp(-1j * k * towards @ x.T)
    electric = eta * phase @ np.cross(normal, values[1])
    magnetic = -phase @ np.cross(normal, values[0])
    electric = electric - towards * (electric * towards).sum(axis=1, keepdims=True)
    far = electric + np.cross(magnetic, towards)
    return (k / 4 if dims == 2 else k**2 / (4 * np.pi)) * (abs(far) ** 2).sum(axis=1)


def series(k, eps, mu, given, magnetic, angle):
    """Of a cylinder; magnetic: the wave of H along it, else of E."""
    import numpy as np
    from scipy import special

    radius, conductor = given[0] * k, given[1] is None
    n = np.arange(-int(radius * 3 + 20), int(radius * 3 + 21))
    J, dJ = special.jv(n, radius), special.jvp(n, radius)
    H, dH = special.hankel1(n, radius), special.h1vp(n, radius)
    if conductor:
        a = -dJ / dH if magnetic else -J / H
    else:
        m = np.sqrt(given[1] / eps)
        ratio = m / (given[1] / eps) if magnetic else m
        I, dI = special.jv(n, m * radius), special.jvp(n, m * radius)
        a = -(dJ * I - ratio * J * dI) / (dH * I - ratio * H * dI)
    return 4 / k * abs((a * np.exp(1j * np.outer(angle, n))).sum(axis=1)) ** 2


def sphere(k, eps, given, across, angle):
    """Of a sphere, in the plane of the polarisation or across it."""
    import numpy as np
    from scipy import special

    x, conductor = given[0] * k, given[1] is None
    n = np.arange(1, int(x + 4 * x ** (1 / 3) + 8))
    m = 1 if conductor else np.sqrt(given[1] / eps)

    def wave(z, function):
        value = function(n, z)
        return z * value, value + z * function(n, z, derivative=True)

    J, dJ = wave(x, special.spherical_jn)
    Y, dY = wave(x, special.spherical_yn)
    H, dH = J + 1j * Y, dJ + 1j * dY
    I, dI = wave(m * x, special.spherical_jn)
    a, b = ((dJ / dH, J / H) if conductor else
            ((p * I * dJ - q * J * dI) / (p * I * dH - q * H * dI) for p, q in ((m, 1), (1, m))))
    mu, total = np.cos(angle), 0
    before, pi = 0 * mu, 1 + 0 * mu
    for i in n:
        tau = i * mu * pi - (i + 1) * before
        even, odd = (pi, tau) if across else (tau, pi)
        total = total + (2 * i + 1) / (i * (i + 1)) * (a[i - 1] * even + b[i - 1] * odd)
        before, pi = pi, ((2 * i + 1) * mu * pi - (i + 1) * before) / i
    return 4 * np.pi / k**2 * abs(total) ** 2


def planes(dims, direction, polarisation):
    """(name, directions) from that of the wave on."""
    import numpy as np

    angle = np.linspace(0, 2 * np.pi, ANGLES)
    n = np.pad(np.array(direction, float), (0, 3 - len(direction)))
    n /= np.linalg.norm(n)
    if dims == 2:
        across = {"": np.array([-n[1], n[0], 0])}
    else:
        if polarisation is None:
            raise Refused("three dimensions need --polarisation")
        p = np.array(polarisation) - n * (n @ polarisation)
        p /= np.linalg.norm(p)
        across = {"towards the polarisation": p, "across it": np.cross(n, p)}
    for name, t in across.items():
        yield name, angle, np.outer(np.cos(angle), n) + np.outer(np.sin(angle), t)


def draw(args):
    import numpy as np

    frequency = np.array(args.frequency)
    dims, x, normal, values = surface(args.file, args.groups, frequency)
    what = "scattering width" if dims == 2 else "radar cross section"
    magnetic = abs(values[1, :, :, 2]).max() > 0
    given = None
    if args.cylinder or args.sphere:
        if bool(args.sphere) == (dims == 2):
            raise Refused("a cylinder is for two dimensions, a sphere for three")
        radius, eps = (args.cylinder or args.sphere).split(",")
        given = float(radius), None if eps == "conductor" else float(eps)
    speed = 1 / np.sqrt(args.eps * args.mu)
    figure, (ax,) = sheet(what[0].upper() + what[1:], str(args.file))
    for i, f in enumerate(frequency):
        k = 2 * np.pi * f / speed
        power = (args.amplitude * spectrum(args.signal, f)) ** 2
        for name, angle, towards in planes(dims, args.direction, args.polarisation):
            got = cross_section(dims, x, normal, values[:, i], k, np.sqrt(args.mu / args.eps),
                                towards) / power
            label = f"{f:g} {name}".strip()
            line = (f"frequency {label}: {what} {got[0]:.4g} forwards, {got[90]:.4g} at a right "
                    f"angle, {got[180]:.4g} backwards")
            tint = colour(i if dims == 2 else 2 * i + (name == "across it"))
            ax.plot(np.degrees(angle), got, color=tint, label=label)
            if given:
                exact = (series(k, args.eps, args.mu, given, magnetic, angle) if dims == 2 else
                         sphere(k, args.eps, given, name == "across it", angle))
                error = np.sqrt(((got - exact) ** 2)[1:].mean() / (exact**2)[1:].mean())
                line += (f"; exact {exact[0]:.4g}, {exact[90]:.4g}, {exact[180]:.4g}: "
                         f"error {error:.2g}")
                ax.plot(np.degrees(angle)[::6], exact[::6], ".", color=tint)
            print(line)
    ax.set_yscale("log")
    ax.set_xlim(0, 360)
    ax.set_xlabel("angle from the direction of the wave (degrees)")
    ax.set_ylabel(what + (", dots: exact" if given else ""))
    legend(ax)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="traces.h5")
    parser.add_argument("--frequency", type=numbers, required=True, metavar="F,..")
    parser.add_argument("--signal", required=True, metavar="KIND:FREQUENCY",
                        help="of the plane wave: ricker or gaussian, or a file with t and s")
    parser.add_argument("--amplitude", type=float, default=1.0, help="of the plane wave")
    parser.add_argument("--direction", type=numbers, default=[1.0, 0.0], metavar="X,Y[,Z]",
                        help="of the plane wave (default: along x1)")
    parser.add_argument("--polarisation", type=numbers, metavar="X,Y,Z",
                        help="of the plane wave, in three dimensions")
    parser.add_argument("--eps", type=float, default=1.0, help="of the medium at the receivers")
    parser.add_argument("--mu", type=float, default=1.0, help="the same")
    parser.add_argument("--groups", type=lambda text: text.split(","), metavar="NAME,..",
                        help="of receivers (default: all)")
    parser.add_argument("--cylinder", metavar="RADIUS,EPS", help="compare with the exact series")
    parser.add_argument("--sphere", metavar="RADIUS,EPS", help="the same in three dimensions")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="of the picture (default: that of the file)")
    parser.add_argument("--format", choices=("png", "pdf", "svg"), default="png")
    args = parser.parse_args()
    exact = bool(args.cylinder or args.sphere)
    need("farfield.py", "numpy", "h5py", "matplotlib", *["scipy"] * exact)
    folder = args.out or args.file.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write(draw(args), folder / f"farfield.{args.format}")
    except (Refused, OSError, ValueError) as error:
        sys.exit(f"farfield.py: {args.file}: {error}")


if __name__ == "__main__":
    main()
