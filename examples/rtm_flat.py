"""Reverse-time migration of a flat layer: python3 rtm_flat.py [key=value ...], in a new folder. Runs
htwave data (params/migrate.cfg, with the layer) and htwave gradient (without it), finds the layer in
the gradient and draws it by tools/image.py. HTWAVE names the program.

    misfit 0.0126
    layer at 0.8988 to 0.9008 km    (0.9 in the model)
"""
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
htwave("gradient", "migrate.cfg", "--quiet", "medium.type=file", "medium.c=smooth.f32",
       f"medium.shape=[{SHAPE[1]}, {SHAPE[0]}]", f"medium.spacing=[{H}, {H}]",
       f"medium.origin=[{H / 2}, {H / 2}]")
with h5py.File("out/migrate/gradient.h5") as file:
    print(f"misfit {file['misfit'][...].sum():.4f}")
    image = -file["gradient/c"][:, 70:130]  # below the middle shots

FINE = 32  # per sample, by Fourier interpolation
spectrum = np.fft.rfft(image, axis=0)
fine = np.fft.irfft(spectrum, FINE * SHAPE[0], axis=0)
depths = (fine.argmax(axis=0) / FINE + 0.5) * H
print(f"layer at {depths.min():.4f} to {depths.max():.4f} km")
try:
    import matplotlib  # noqa: F401
except ImportError:
    sys.exit()
subprocess.run([sys.executable, HOME / "tools" / "image.py", "out/migrate/gradient.h5", "--negative",
                "--illumination", "--laplacian", "--down", "--out", "."], check=True)
