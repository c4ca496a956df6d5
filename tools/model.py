#!/usr/bin/env python3
"""Draws the model of a run, from the model.h5 of htwave check --model DIR.

    medium_NAME   a slice of a parameter of the medium, with sources (discs) and
                  receivers (triangles): open where they are before or behind it

Prints the least and the largest value of each. Needs h5py and matplotlib.
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from plot import COLOURS, Refused, sheet, write  # noqa: E402
from snapshots import (Grid, Slice, add_plane_options, datasets,  # noqa: E402
                       draw_marks, need, open_file, set_axes, shape)


def count(file, name):
    number = len(file[name]) if name in file else 0
    return f"{number} {name[:-1]}{'s' * (number != 1)}"


def figure_of(file, cut, args):
    title = f"{cut.name}{cut.place()}"
    below = f"{count(file, 'sources')}, {count(file, 'receivers')}"
    if not cut.up:
        figure, (ax,) = sheet(title, below)
        ax.plot(cut.x[0], cut.values, color=COLOURS[0])
        ax.set_xlabel(cut.grid.label("x1"))
        ax.set_ylabel(cut.grid.label(cut.name))
        draw_marks(ax, file, cut)
        return figure
    height = min(max(9 * 0.75 * shape(cut), 2.5), 9.0) + 1
    figure, (ax,) = sheet(title, below, height=height)
    image = ax.imshow(cut.values, cmap="viridis", origin="lower",
                      extent=cut.extent(), interpolation="nearest")
    draw_marks(ax, file, cut)
    set_axes(ax, cut, args)
    figure.colorbar(image, ax=ax, label=cut.grid.label(cut.name))
    return figure


def draw(file, args):
    """Yields (name, figure)."""
    grid = Grid(file)
    known = datasets(file, grid.dims)
    if args.parameter and args.parameter not in known:
        raise Refused(f"has no {args.parameter}: it has {', '.join(known)}")
    for name in [args.parameter] if args.parameter else known:
        cut = Slice(file, grid, name, args.axis, args.at)
        print(f"{name}{cut.place()}: {cut.values.min():.6g} to "
              f"{cut.values.max():.6g}{grid.unit(name)}; "
              f"{count(file, 'sources')}, {count(file, 'receivers')}")
        yield f"medium_{name}", figure_of(file, cut, args)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="model.h5")
    parser.add_argument("--parameter", metavar="NAME",
                        help="of the medium, such as c (default: all)")
    add_plane_options(parser)
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="of the pictures (default: that of the file)")
    parser.add_argument("--format", choices=("png", "pdf", "svg"),
                        default="png")
    args = parser.parse_args()
    need("model.py", "h5py", "matplotlib")
    folder = args.out or args.file.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open_file(args.file) as file:
            for name, figure in draw(file, args):
                write(figure, folder / f"{name}.{args.format}")
    except (Refused, OSError, ValueError) as error:
        sys.exit(f"model.py: {args.file}: {error}")


if __name__ == "__main__":
    main()
