#!/usr/bin/env python3
"""Draws slices of what htwave run has written, from fields_NNNNNN.h5.

    slice_FIELD_NNNNNN      a slice of the field at the snapshot's time
                            (one dimension: a curve)

Any slice of a snapshot: --axis and --at. With --model, the model.h5 of htwave
check --model DIR, the medium lies in grey under the wave, and sources (discs)
and receivers (triangles) are drawn in. Prints the largest value of each slice
and its place. Needs h5py and matplotlib.
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from plot import COLOURS, Refused, sheet, signed_map, write  # noqa: E402


def need(script, *modules):
    """Ends the script where a module is missing."""
    names = {"PIL": ("python3-pil", "pillow")}
    for module in modules:
        try:
            __import__(module)
        except ImportError:
            debian, pip = names.get(module, (f"python3-{module}", module))
            sys.exit(f"{script} needs {module} (Debian: {debian}; "
                     f"pip install {pip})")


def open_file(path):
    import h5py

    if not path.is_file():
        raise Refused("is a folder: name a file in it" if path.is_dir()
                      else "no such file")
    try:
        return h5py.File(path, "r")
    except OSError:
        raise Refused("is no HDF5 file") from None


class Grid:
    """What the attributes of a file say of its nodes."""

    def __init__(self, file):
        if "lower" not in file.attrs or "spacing" not in file.attrs:
            raise Refused("is no snapshot and no model")
        self.lower = file.attrs["lower"].reshape(-1)
        self.spacing = file.attrs["spacing"].reshape(-1)
        self.time = float(file.attrs.get("time", 0))
        self.down = text(file.attrs.get("down", ""))  # the axis of depth
        self.units = {key[5:]: text(value) for key, value
                      in file.attrs.items() if key.startswith("unit_")}

    @property
    def dims(self):
        return len(self.lower)

    def label(self, name):
        """Of an axis or a field: "x1 (km)"."""
        length = name in ("x1", "x2", "x3")
        unit = self.units.get("length" if length else name)
        return f"{name} ({unit})" if unit else name

    def unit(self, name):
        return " " + self.units[name] if name in self.units else ""


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def datasets(file, dims):
    """Nodal values: what has an extent per axis."""
    import h5py

    return [name for name, item in file.items()
            if isinstance(item, h5py.Dataset) and item.ndim == dims
            and name not in ("sources", "receivers")]


def choose(file, grid, name):
    known = datasets(file, grid.dims)
    if name is None and known:
        return "c" if "c" in known else "p" if "p" in known else known[0]
    if name not in known:
        raise Refused(f"has no {name or 'values'}"
                      + (f": it has {', '.join(known)}" if known else ""))
    return name


class Slice:
    """Values [up][across] with the coordinates of their nodes."""

    def __init__(self, file, grid, name, axis, at):
        import numpy as np

        normal = int(axis[1]) - 1 if grid.dims == 3 else None
        across, *up = [k for k in range(grid.dims) if k != normal]
        self.normal, self.across, self.up = normal, across, up
        self.grid, self.name = grid, name
        data = file[name]
        self.x = [grid.lower[k] + grid.spacing[k]
                  * np.arange(data.shape[grid.dims - 1 - k])
                  for k in range(grid.dims)]
        if normal is None:
            self.values = data[...].astype(float)
        else:
            middle = len(self.x[normal]) // 2
            self.index = middle if at is None else int(
                abs(self.x[normal] - at).argmin())
            where = [slice(None)] * 3
            where[2 - normal] = self.index
            self.values = data[tuple(where)].astype(float)

    def place(self):
        """", x3 = 0.5 km", or nothing."""
        if self.normal is None:
            return ""
        return (f", x{self.normal + 1} = "
                f"{self.x[self.normal][self.index]:.4g}"
                + self.grid.unit("length"))

    def extent(self):
        """For imshow: nodes are the middles of pixels."""
        sides = []
        for k in [self.across] + self.up:
            half = self.grid.spacing[k] / 2
            sides += [self.x[k][0] - half, self.x[k][-1] + half]
        return sides

    def largest(self):
        """The value and its place in words."""
        import numpy as np

        at = np.unravel_index(np.nanargmax(abs(self.values)),
                              self.values.shape)
        axes = self.up + [self.across]
        where = ", ".join(f"x{k + 1} = {self.x[k][i]:.4g}"
                          for k, i in reversed(list(zip(axes, at))))
        return f"{self.values[at]:.6g} at {where}"


def set_axes(ax, cut, args):
    up = f"x{cut.up[0] + 1}"
    ax.grid(False)
    ax.set_xlabel(cut.grid.label(f"x{cut.across + 1}"))
    ax.set_ylabel(cut.grid.label(up))
    ax.set_aspect("equal" if 0.2 < shape(cut) < 5 else "auto")
    if args.down or (up == cut.grid.down and not args.up):
        ax.invert_yaxis()


def shape(cut):
    """Height over width of the box."""
    left, right, low, high = cut.extent()
    return (high - low) / (right - left)


def draw_marks(ax, file, cut):
    """Sources and receivers, filled where they are in the slice; of those
    that would cover each other one."""
    import numpy as np

    apart = 0.02 * max(np.ptp(x) for x in cut.x) or 1.0
    for name, mark, colour, size in (("receivers", "v", "white", 22),
                                     ("sources", "o", "#e63c28", 26)):
        if name not in file:
            continue
        x = file[name][...]
        inside = x[:, 0] == x[:, 0]
        if cut.normal is not None:
            off = abs(x[:, cut.normal] - cut.x[cut.normal][cut.index])
            inside = off <= 0.5001 * cut.grid.spacing[cut.normal]
        for part, face in ((x[inside], colour), (x[~inside], "none")):
            place = part[:, [cut.across] + cut.up]
            _, first = np.unique((place / apart).round(), axis=0, return_index=True)
            height = place[first, 1] if cut.up else 0 * place[first, 0]
            ax.scatter(place[first, 0], height, s=size, marker=mark,
                       facecolor=face, edgecolor="black", linewidth=0.7,
                       zorder=3)


def draw_ground(ax, path, cut, args):
    """The medium at the nodes of a slice, 1 light to 0.72 dark, and its marks;
    of a curve these alone."""
    with open_file(path) as file:
        grid = Grid(file)
        name = choose(file, grid, args.parameter)
        at = None if cut.normal is None else cut.x[cut.normal][cut.index]
        ground = Slice(file, grid, name, args.axis, at)
        draw_marks(ax, file, cut)
    if not cut.up:
        return None
    at = [abs(ground.x[k][:, None] - cut.x[k]).argmin(axis=0)
          for k in cut.up + [cut.across]]
    low, high = ground.values.min(), ground.values.max()
    grey = 1 - 0.26 * (ground.values - low) / ((high - low) or 1.0)
    return grey[at[0]][:, at[1]]


def figure_of(cut, title, size, args):
    """The slice as a map, or a curve."""
    width = 9.0
    if not cut.up:
        figure, (ax,) = sheet(title, "")
        ax.plot(cut.x[0], cut.values, color=COLOURS[0])
        ax.set_ylim(-1.05 * size, 1.05 * size)
        ax.set_xlabel(cut.grid.label("x1"))
        ax.set_ylabel(cut.grid.label(cut.name))
        return figure
    height = min(max(width * 0.75 * shape(cut), 2.5), 9.0) + 1
    figure, (ax,) = sheet(title, f"colours to {size:.3g}", width, height)
    image = ax.imshow(cut.values, cmap=signed_map(), vmin=-size, vmax=size,
                      origin="lower", extent=cut.extent(), interpolation="bicubic")
    if args.model:  # the wave's colour times the medium's
        grey = draw_ground(ax, args.model, cut, args)
        ax.imshow(image.to_rgba(cut.values)[..., :3] * grey[..., None], origin="lower",
                  extent=cut.extent(), interpolation="bilinear")
    set_axes(ax, cut, args)
    figure.colorbar(image, ax=ax, label=cut.grid.label(cut.name))
    return figure


def read_slice(path, args):
    with open_file(path) as file:
        grid = Grid(file)
        return Slice(file, grid, choose(file, grid, args.field), args.axis,
                     args.at)


def title_of(cut):
    grid = cut.grid
    return (f"{cut.name} at t = {grid.time:.5g}{grid.unit('time')}"
            f"{cut.place()}")


def common_range(paths, args):
    """--range, or the largest value of all slices."""
    import numpy as np

    if args.range:
        return args.range
    return max(np.nanmax(abs(read_slice(path, args).values))
               for path in paths) or 1.0


def add_plane_options(parser):
    parser.add_argument("--axis", choices=("x1", "x2", "x3"), default="x3",
                        help="three dimensions: normal to the slice "
                             "(default x3)")
    parser.add_argument("--at", type=float, metavar="X",
                        help="of the slice along that axis (default: the "
                             "middle)")
    for way in ("down", "up"):
        parser.add_argument(f"--{way}", action="store_true",
                            help=f"draw the second axis {way}wards (default: as "
                                 "output.down of the run)")


def add_slice_options(parser):
    parser.add_argument("--field", metavar="NAME",
                        help="that is drawn (default: p, else the first)")
    add_plane_options(parser)
    parser.add_argument("--range", type=float, metavar="VALUE",
                        help="colours span -VALUE to VALUE (default: the "
                             "largest value of all slices)")
    parser.add_argument("--model", type=Path, metavar="model.h5",
                        help="draw the medium, sources and receivers of this "
                             "file, too")
    parser.add_argument("--parameter", metavar="NAME",
                        help="of the medium (default: c, else the first)")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="+", type=Path,
                        metavar="fields_NNNNNN.h5")
    add_slice_options(parser)
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="of the pictures (default: that of the file)")
    parser.add_argument("--format", choices=("png", "pdf", "svg"),
                        default="png")
    args = parser.parse_args()
    need("snapshots.py", "h5py", "matplotlib")
    path = args.model or args.file[0]
    try:
        open_file(path).close()
        for path in args.file:
            read_slice(path, args)
        size = common_range(args.file, args)
        for path in args.file:
            cut = read_slice(path, args)
            folder = args.out or path.parent
            folder.mkdir(parents=True, exist_ok=True)
            print(f"{path.name}: {title_of(cut)}: largest {cut.largest()}")
            number = path.stem.rsplit("_", 1)[-1]
            write(figure_of(cut, title_of(cut), size, args),
                  folder / f"slice_{cut.name}_{number}.{args.format}")
    except (Refused, OSError, ValueError) as error:
        sys.exit(f"snapshots.py: {path}: {error}")


if __name__ == "__main__":
    main()
