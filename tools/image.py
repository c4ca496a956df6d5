#!/usr/bin/env python3
"""Draws a gradient, or a migrated image, from gradient.h5.

    gradient_NAME   by a parameter of the medium, on the samples of its file
    cross_NAME      the image of gradient.image = "cross" on these

    --illumination  divided by illumination + 0.01 of its largest value
    --laplacian     then the negative Laplacian, which takes the smooth part
                    of an image away that waves leave on their way
    --negative      the other sign: the direction in which misfits fall
    --save FILE.h5  what is drawn, whole, in the order of the model file, as
                    dataset NAME

Prints misfit, shots, and the largest value of each slice and its place. Needs
h5py, numpy and matplotlib.
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from plot import Refused, write  # noqa: E402
from snapshots import (Grid, Slice, add_plane_options, figure_of,  # noqa: E402
                       need, open_file, text)

WATER = 1e-2  # of the largest illumination


class Samples(Grid):
    """Where the samples of the model file are."""

    def __init__(self, file):
        found = [kind for kind in ("gradient", "cross") if kind in file]
        if not found or "misfit" not in file:
            raise Refused("is no gradient: it has no gradient/NAME or misfit")
        self.kind = found[0]
        super().__init__(file)
        if "model_axes" not in file.attrs:
            raise Refused("its gradients are by numbers: "
                          + ", ".join(f"{name} {item[...].reshape(-1)}"
                                      for name, item
                                      in file[self.kind].items()))
        axes = text(file.attrs["model_axes"]).split()
        self.named = [int(axis[1]) - 1 for axis in axes]  # fastest first
        count = max(self.named) + 1
        self.lower, self.spacing = [0.0] * count, [1.0] * count
        for j, k in enumerate(self.named):
            self.lower[k] = file.attrs["model_origin"].reshape(-1)[j]
            self.spacing[k] = file.attrs["model_spacing"].reshape(-1)[j]

    def turned(self, values):
        """[x3][x2][x1] from the order of the file."""
        order = self.named[::-1]
        values = values.transpose([order.index(k)
                                   for k in sorted(order, reverse=True)])
        for k in range(self.dims):
            if k not in order:
                values = values[(slice(None),) * (self.dims - 1 - k) + (None,)]
        return values

    def back(self, values):
        """The order of the file from [x3][x2][x1]."""
        drop = tuple(self.dims - 1 - k for k in range(self.dims)
                     if k not in self.named)
        values = values.squeeze(drop) if drop else values
        left = sorted(self.named, reverse=True)
        return values.transpose([left.index(k) for k in self.named[::-1]])


def laplacian(values, spacing):
    """By second differences, as if the end values went on."""
    import numpy as np

    out = np.zeros_like(values)
    for axis in range(values.ndim):
        if values.shape[axis] > 1:
            wide = np.pad(values, [(int(k == axis),) * 2
                                   for k in range(values.ndim)], mode="edge")
            h = spacing[values.ndim - 1 - axis]
            out += np.diff(wide, 2, axis) / h ** 2
    return out


def image(file, grid, name, args):
    """What is drawn of a parameter, and what was done to it, in words."""
    values, done = grid.turned(file[grid.kind][name][...]), []
    if args.illumination:
        if f"illumination/{name}" not in file:
            raise Refused(f"has no illumination/{name}")
        light = grid.turned(file["illumination"][name][...])
        values = values / (light + (WATER * light.max() or 1.0))
        done.append("by illumination")
    if args.laplacian:
        values = -laplacian(values, grid.spacing)
        done.append("negative Laplacian")
    if args.negative:
        values = -values
        done.append("negative")
    return values, ", ".join([name] + done)


def choose(file, kind, name):
    known = list(file[kind])
    if name and name not in known:
        raise Refused(f"has no {kind}/{name}: it has {', '.join(known)}")
    return [name] if name else known


def draw(file, args):
    """Yields (kind, name, figure, values)."""
    grid = Samples(file)
    args.parameter = None  # of the model that is drawn: its own choice
    misfit = file["misfit"][...]
    print(f"misfit {misfit.sum():.6g}, {misfit.size} shots")
    for name in choose(file, grid.kind, args.gradient):
        values, title = image(file, grid, name, args)
        cut = Slice({title: values}, grid, title, args.axis, args.at)
        print(f"{title}{cut.place()}: largest {cut.largest()}")
        size = args.range or abs(cut.values).max() or 1.0
        by = "gradient by" if grid.kind == "gradient" else "image on"
        yield (grid.kind, name,
               figure_of(cut, f"{by} {title}{cut.place()}", size, args),
               grid.back(values))


def save(path, images):
    import h5py

    with h5py.File(path, "w") as file:
        for name, values in images.items():
            file[name] = values
    print(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="gradient.h5")
    parser.add_argument("--gradient", metavar="NAME",
                        help="by this parameter (default: all)")
    for name in ("illumination", "laplacian", "negative"):
        parser.add_argument(f"--{name}", action="store_true")
    add_plane_options(parser)
    parser.add_argument("--range", type=float, metavar="VALUE",
                        help="colours span -VALUE to VALUE (default: the "
                             "largest value of the slice)")
    parser.add_argument("--model", type=Path, metavar="model.h5",
                        help="of htwave check --model: draw the medium, "
                             "sources and receivers, too")
    parser.add_argument("--save", type=Path, metavar="FILE.h5")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="of the pictures (default: that of the file)")
    parser.add_argument("--format", choices=("png", "pdf", "svg"),
                        default="png")
    args = parser.parse_args()
    need("image.py", "h5py", "numpy", "matplotlib")
    folder, images = args.out or args.file.parent, {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open_file(args.file) as file:
            for kind, name, figure, values in draw(file, args):
                write(figure, folder / f"{kind}_{name}.{args.format}")
                images[name] = values
        if args.save:
            save(args.save, images)
    except (Refused, OSError, ValueError) as error:
        sys.exit(f"image.py: {args.file}: {error}")


if __name__ == "__main__":
    main()
