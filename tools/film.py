#!/usr/bin/env python3
"""Makes a film of a run, from its pictures or its snapshots.

    film.py out                       film.gif from out/wave_NNNN.png
    film.py out --slice top           from out/wave_top_NNNN.png
    film.py out --snapshots           from out/fields_NNNNNN.h5, with one range
                                      of colours; options as of snapshots.py
    film.py out --out shot.mp4        an MP4, by ffmpeg

Pictures have one range of colours where the run had output.picture.range or
output.picture.scale = "run". Needs pillow (GIF) or ffmpeg (MP4), for snapshots
h5py and matplotlib.
"""
import argparse
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from plot import Refused  # noqa: E402
from snapshots import (add_slice_options, common_range, figure_of,  # noqa: E402
                       need, read_slice, title_of)


def numbered(folder, before, after):
    """Files before + digits + after, by number."""
    found = {}
    for path in folder.glob(f"{before}*{after}"):
        digits = path.name[len(before):len(path.name) - len(after)]
        if digits.isdigit():
            found[int(digits)] = path
    return [found[number] for number in sorted(found)]


def pictures(folder, name):
    from PIL import Image

    before = f"wave_{name}_" if name else "wave_"
    paths = numbered(folder, before, ".png")
    if not paths:
        raise Refused(f"has no pictures {before}NNNN.png")
    for path in paths:
        with Image.open(path) as image:
            yield image.convert("RGB")


def snapshots(folder, args):
    from PIL import Image

    paths = numbered(folder, "fields_", ".h5")
    if not paths:
        raise Refused("has no snapshots fields_NNNNNN.h5")
    size = common_range(paths, args)
    for path in paths:
        cut = read_slice(path, args)
        page = io.BytesIO()
        figure_of(cut, title_of(cut), size, args).savefig(page, dpi=100)
        yield Image.open(page).convert("RGB")


def write_gif(frames, rate, path):
    """One table of colours for all frames, so that colours do not flicker."""
    from PIL import Image

    table = frames[-1].quantize(256)
    for frame in frames[::max(1, len(frames) // 4)]:
        both = Image.new("RGB", (frame.width, 2 * frame.height))
        both.paste(table.convert("RGB").resize(frame.size), (0, 0))
        both.paste(frame, (0, frame.height))
        table = both.quantize(256)
    pages = [frame.quantize(palette=table, dither=Image.Dither.NONE)
             for frame in frames]
    pages[0].save(path, format="GIF", save_all=True, append_images=pages[1:],
                  duration=round(1000 / rate), loop=0)


def write_mp4(frames, rate, path):
    program = shutil.which("ffmpeg")
    if not program:
        raise Refused("an MP4 needs ffmpeg, which is not here: take "
                      "--out film.gif")
    width, height = (side // 2 * 2 for side in frames[0].size)
    command = [program, "-y", "-loglevel", "error", "-f", "rawvideo",
               "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(rate),
               "-i", "-", "-pix_fmt", "yuv420p", "-f", "mp4", str(path)]
    data = b"".join(frame.crop((0, 0, width, height)).tobytes()
                    for frame in frames)
    done = subprocess.run(command, input=data, capture_output=True,
                          check=False)
    if done.returncode:
        raise Refused("ffmpeg: " + done.stderr.decode().strip()
                      .splitlines()[-1])


WRITERS = {".gif": write_gif, ".mp4": write_mp4}


def write(frames, rate, path):
    """Complete or not at all."""
    beside = path.with_name(f"{path.name}.tmp.{os.getpid()}")
    try:
        WRITERS[path.suffix](frames, rate, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    print(f"{path}: {len(frames)} pictures, {frames[0].width} x "
          f"{frames[0].height}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR",
                        help="output.directory of the run")
    parser.add_argument("--slice", default="", metavar="NAME",
                        help="of output.picture.slices")
    parser.add_argument("--snapshots", action="store_true",
                        help="draw the snapshots instead")
    add_slice_options(parser)
    parser.add_argument("--rate", type=float, default=10,
                        help="pictures per second (default 10)")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help=".gif or .mp4 (default: DIR/film.gif)")
    args = parser.parse_args()
    path = args.out or args.folder / "film.gif"
    need("film.py", "PIL",
         *(("h5py", "matplotlib") if args.snapshots else ()))
    try:
        if path.suffix not in WRITERS:
            raise Refused(f"{path}: a film is .gif or .mp4")
        if not 0 < args.rate <= 50:
            raise Refused(f"--rate {args.rate:g}: must be above 0 and at most "
                          "50")
        frames = list(snapshots(args.folder, args) if args.snapshots
                      else pictures(args.folder, args.slice))
        path.parent.mkdir(parents=True, exist_ok=True)
        write(frames, args.rate, path)
    except (Refused, OSError, ValueError) as error:
        sys.exit(f"film.py: {args.folder}: {error}")


if __name__ == "__main__":
    main()
