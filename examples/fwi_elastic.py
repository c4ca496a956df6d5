"""Full-waveform inversion for both speeds of a solid: explosions in a well and forces near the surface, receivers of
both velocities in another well and near the surface; Ricker wavelets of 2.5, then 4 Hz, L-BFGS of SciPy.

    python3 fwi_elastic.py [gradients, of each band]

The speeds of P and S waves have spots of their own, up to 12 % of the speeds, in a known background that grows with
depth, where the inversion starts; the density is known. Takes five minutes on two busy cores, a gradient of six
shots 5 to 15 s. Warns that layers absorb the longest waves in part: of data and models alike. Writes
fwi_elastic.npz; ends of the bands, and rms errors of vp and vs, at the start 0.0291 0.0264:

    2.5 Hz: misfit 0.0075, errors of vp, vs 0.0107 0.0080, after 14 gradients
    4.0 Hz: misfit 0.1853, errors of vp, vs 0.0070 0.0063, after 12
"""
import sys
import time

import numpy as np
from scipy.optimize import minimize

import htwave

gradients = [int(n) for n in sys.argv[1:]] or [14, 12]
NX, NZ, H = 120, 60, 0.02  # samples, km
z, x = np.meshgrid((np.arange(NZ) + 0.5) * H, (np.arange(NX) + 0.5) * H, indexing="ij")


def spots(*those):
    """1 + the sum of spots (x, z, radius, height)."""
    return 1 + sum(h * np.exp(-((x - a)**2 + (z - b)**2) / r**2) for a, b, r, h in those)


background = {"vp": 2.2 + 0.6 * z, "vs": 1.25 + 0.3 * z}
rho = 2.0 + 0.2 * z
true = {"vp": background["vp"] * spots((0.9, 0.45, 0.15, 0.12), (1.5, 0.75, 0.18, -0.10)),
        "vs": background["vs"] * spots((0.9, 0.8, 0.15, -0.10), (1.5, 0.45, 0.15, 0.12))}


def config(frequency):
    well = [{"kind": "explosion", "position": [0.34, b], "frequency": frequency} for b in (0.3, 0.6, 0.9)]
    ground = [{"kind": "force", "direction": [0.0, 1.0], "position": [a, 0.06], "frequency": frequency}
              for a in (0.8, 1.3, 1.8)]
    return {
        "system": "elastic",
        "grid": {"cells": [NX, NZ], "upper": [NX * H, NZ * H], "order": 8},
        "time": {"end": 2.2, "scheme": "fd", "step": 0.0035},
        "boundary": {"x1": "absorbing", "x2": ["free", "absorbing"]},
        "absorbing": {"place": "inside", "cells": 8, "mix": 0.0, "speed": 3.2},
        "medium": {"spacing": [H, H], "origin": [H / 2, H / 2], "couplings": False},
        "sources": well + ground,
        "receivers": [{"type": "line", "from": [2.06, 0.1], "to": [2.06, 0.94], "count": 22,
                       "every": 0.01, "fields": ["v1", "v2"]},
                      {"type": "line", "from": [0.3, 0.04], "to": [2.1, 0.04], "count": 46,
                       "every": 0.01, "fields": ["v1", "v2"]}],
    }


def errors(model, free):
    return ["%.4f" % np.sqrt(np.mean((model[name] / true[name] - 1)[free]**2)) for name in true]


def invert(start, frequency, most):
    """The speeds after so many gradients."""
    began = time.time()
    with htwave.Model(config(frequency), rho=rho, **true) as model:
        model.parameters = list(true)
        data = [model.forward(i) for i in range(model.shots)]
        first, gradient = model.misfit(data, **start)
        held = (gradient["vp"] == 0) | (gradient["vs"] == 0)  # near absorbing layers
        free = ~held & (x > 0.44) & (x < 1.96) & (z > 0.14)   # away from the wells and the surface
        light = model.illumination("vp")[free]
        scale = 1 / np.sqrt(light / light.max() + 0.01)

        def by_parts(gradient):
            return np.concatenate([gradient[name][free] * start[name][free] * scale for name in start])

        slope = by_parts(gradient)
        # L-BFGS-B begins with a step of length 1: 1 % of the speeds at 2.5 Hz where it is largest
        step = 0.16 / frequency**3 * np.linalg.norm(slope) / np.abs(slope * np.tile(scale, 2)).max()

        def at(y):
            trial = {name: v.copy() for name, v in start.items()}
            for part, name in zip(np.split(step * y, len(trial)), trial):
                trial[name][free] *= 1 + scale * part
            return trial

        def function(y):
            trial = at(y)
            chi, gradient = model.misfit(data, **trial)
            print(f"  {frequency} Hz: misfit {chi / first:.4f}, errors of vp, vs", *errors(trial, free),
                  f"{time.time() - began:.0f} s", flush=True)
            return chi / first, by_parts(gradient) * step / first

        found = minimize(function, np.zeros(slope.size), jac=True, method="L-BFGS-B",
                         options={"maxfun": most - 1, "maxcor": 8, "ftol": 0})
    return at(found.x)


speeds = background
for frequency, most in zip((2.5, 4.0), gradients):
    speeds = invert(speeds, frequency, most)
np.savez("fwi_elastic.npz", **{f"true_{k}": v for k, v in true.items()}, **speeds)
