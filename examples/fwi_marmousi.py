"""Full-waveform inversion of the Marmousi model, coarse: 50 m, ten shots, Ricker wavelets of 2.2, then 4 Hz,
L-BFGS of SciPy, the gradient divided by the root of the illumination.

    python3 fwi_marmousi.py [marmousi_vp_1601x401.f32 [shots [gradients, of each band]]]

The file is not part of htwave: see params/marmousi2d.cfg. Observed traces are those of the model at 50 m; the
start is its smoothed slowness below the water. A gradient takes two cores 0.65 s per shot. Writes
fwi_marmousi.npz; ends of the bands, with 10 shots, and the model error at the start, 0.0982:

    2.2 Hz: misfit 0.0649, model error 0.0699, after 13 gradients
    4.0 Hz: misfit 0.1616, model error 0.0560, after 21
"""
import sys
import time

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.optimize import minimize

import htwave

NX, NZ, H = 200, 56, 0.05  # samples, km


def models(file):
    """The true one, the start, and where it may change."""
    fine = np.fromfile(file, "<f4").reshape(1601, 401).T[:, 100:].astype(float)  # [z, x] at 7.5 m
    true = boxes(fine, 0.0075)
    water = int(np.argmax((true > 1.6).mean(axis=1) > 0.5))
    start = true.copy()
    start[water:] = 1 / gaussian_filter(1 / true, 6)[water:]
    free = np.zeros(true.shape, bool)
    free[water:] = True
    return true, start, free


def boxes(fine, spacing):
    """Means of the squared slowness over boxes of the width H, as velocities."""
    edge = lambda n: np.rint(np.arange(n + 1) * H / spacing).astype(int)
    z, x = edge(NZ), edge(NX)
    sums = np.add.reduceat(np.add.reduceat(1 / fine[:z[-1], :x[-1]]**2, z[:-1], 0), x[:-1], 1)
    return 1 / np.sqrt(sums / np.outer(np.diff(z), np.diff(x)))


def config(frequency, shots):
    away = np.linspace(0.9, NX * H - 0.9, shots)
    return {
        "system": "acoustic",
        "grid": {"cells": [NX, NZ], "upper": [NX * H, NZ * H], "order": 8},
        "time": {"end": 4.5, "scheme": "fd", "stages": 1, "step": 0.005},
        "boundary": {"x1": "absorbing", "x2": ["free", "absorbing"]},
        "absorbing": {"place": "inside"},
        "medium": {"spacing": [H, H], "origin": [H / 2, H / 2]},
        "sources": [{"position": [x, 0.07], "frequency": frequency} for x in away],
        "receivers": [{"type": "line", "from": [0.6, 0.06], "to": [NX * H - 0.6, 0.06], "count": 96,
                       "every": 0.02}],
    }


def begin(model, c, free):
    """Misfit and gradient of c, the factors of what may change of it, and where that is."""
    data = [model.forward(i) for i in range(model.shots)]
    first, gradient = model.misfit(data, c=c)
    light = model.illumination("c")
    free = free & (gradient["c"] != 0)  # samples near absorbing layers are held fixed
    scale = 1 / np.sqrt(light / light[free].max() + 1e-3)[free]
    return data, first, gradient["c"][free] / first, scale, free


def invert(c, true, free, frequency, shots, most):
    """The model after so many gradients, from c, which changes where `free`."""
    began = time.time()
    with htwave.Model(config(frequency, shots), c=true) as model:
        data, first, gradient, scale, free = begin(model, c, free)
        base = c.copy()

        def at(x):
            trial = base.copy()
            trial[free] += scale * x
            return trial

        def function(x):
            chi, gradient = model.misfit(data, c=at(x))
            error = np.sqrt(np.mean((at(x) / true - 1)[free]**2))
            print(f"  {frequency} Hz: misfit {chi / first:.4f}, model error {error:.4f}, "
                  f"{time.time() - began:.0f} s", flush=True)
            return chi / first, gradient["c"][free] * scale / first

        # the first step of L-BFGS-B is as long as this makes it: 2 % of the speed
        unit = np.abs(gradient * scale**2).max() / 0.05
        found = minimize(lambda y: (lambda f, g: (f * unit, g))(*function(y)), np.zeros(free.sum()),
                         jac=True, method="L-BFGS-B", options={"maxfun": most - 1, "maxcor": 8})
    return at(found.x)


def run(words, invert, shots, gradients, name):
    """Both bands, by a function like `invert`; words of the command line come before the defaults."""
    shots = int(words[1]) if len(words) > 1 else shots
    true, start, free = models(words[0] if words else "marmousi_vp_1601x401.f32")
    c = start
    print(f"{shots} shots, {free.sum()} samples below the water")
    for frequency, most in zip((2.2, 4.0), [int(n) for n in words[2:]] or gradients):
        c = invert(c, true, free, frequency, shots, most)
    np.savez(name, true=true, start=start, c=c)


if __name__ == "__main__":
    run(sys.argv[1:], invert, 10, [13, 21], "fwi_marmousi.npz")
