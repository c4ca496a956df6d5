"""Reverse-time migration of a flat layer: python3 rtm_flat.py [key=value ...], in a new folder. Runs
htwave data (params/migrate.cfg, with the layer) and htwave gradient (without it), finds the layer in
the gradient and in the cross-correlation of the waves, and draws both by tools/image.py. HTWAVE names
the program.

    gradient: misfit 0.0126, layer at 0.8988 to 0.9008 km    (0.9 in the model)
    cross: misfit 0.0126, layer at 0.8984 to 0.9008 km
"""
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

HOME = Path(__file__).resolve().parent.parent
H, SHAPE = 0.0125, (120, 200)  # samples at the middles of cells, [x2, x1]


def htwave(*words):
    subprocess.run([os.environ.get("HTWAVE", "htwave"), *words, *sys.argv[1:]], check=True)


shutil.copy(HOME / "params" / "migrate.cfg", ".")
htwave("data", "migrate.cfg", "--quiet")
np.full(SHAPE, 2.0, "<f4").tofile("smooth.f32")
FINE = 32  # per sample, by Fourier interpolation
for kind, sign in ("gradient", -1), ("cross", 1):
    path = f"out/{kind}/gradient.h5"
    htwave("gradient", "migrate.cfg", "--quiet", "medium.type=file", "medium.c=smooth.f32",
           f"medium.shape=[{SHAPE[1]}, {SHAPE[0]}]", f"medium.spacing=[{H}, {H}]",
           f"medium.origin=[{H / 2}, {H / 2}]", f"gradient.image={kind}",
           f"output.directory=out/{kind}")
    with h5py.File(path) as file:
        misfit = file["misfit"][...].sum()
        spectrum = np.fft.rfft(sign * file[f"{kind}/c"][:, 70:130], axis=0)  # the middle shots
    fine = np.fft.irfft(spectrum, FINE * SHAPE[0], axis=0)
    depths = (fine.argmax(axis=0) / FINE + 0.5) * H
    print(f"{kind}: misfit {misfit:.4f}, layer at {depths.min():.4f} to {depths.max():.4f} km")
    if importlib.util.find_spec("matplotlib"):
        subprocess.run([sys.executable, HOME / "tools" / "image.py", path, "--illumination",
                        "--laplacian", "--down", "--out", ".",
                        *(["--negative"] if sign < 0 else [])], check=True)
