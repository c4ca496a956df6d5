"""A wave through a slow disc: python3 disc.py [key=value ...] prints the largest values of five traces
and draws traces and a snapshot into disc.png, where matplotlib is.

    uniform: 2.054 2.186 2.219 2.186 2.054
    disc: 1.206 2.588 4.261 2.588 1.206
"""
import sys

import numpy as np

import htwave

CONFIG = {
    "system": "acoustic",
    "grid": {"cells": [60, 50], "upper": [0.6, 0.5]},
    "time": {"end": 1.0, "scheme": "fd", "step": 0.004},
    "boundary": {"x1": "absorbing", "x2": "absorbing"},
    "medium": {"spacing": [0.01, 0.01], "origin": [0.005, 0.005]},
    "sources": [{"position": [0.15, 0.25], "frequency": 6.0}],
    "receivers": [{"type": "line", "from": [0.45, 0.1], "to": [0.45, 0.4], "count": 5,
                   "every": 0.01}],
    "device": {"precision": "double"},
}

uniform = np.ones((50, 60))  # [x2, x1]
x2, x1 = np.indices(uniform.shape)
disc = np.where(np.hypot(x1 - 29.5, x2 - 24.5) < 10, 0.7, uniform)
snapshots = []
with htwave.Model(CONFIG, *sys.argv[1:], c=uniform) as model:
    for name, c in (("uniform", uniform), ("disc", disc)):
        model.set(c=c)
        traces = model.forward(snapshots=snapshots.append, every=0.6)
        print(name + ":", *(f"{most:.3f}" for most in np.abs(traces).max(axis=1)))
    times = model.receivers()[0].times

try:
    import matplotlib
except ImportError:
    sys.exit()
matplotlib.use("Agg")
import matplotlib.pyplot as plt

wave = snapshots[-2]  # the last is that of the end
_, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
most = np.abs(wave.values).max()
left.imshow(wave.values, cmap="RdBu_r", vmin=-most, vmax=most, origin="lower", extent=[0, 0.6, 0, 0.5])
left.set_title(f"{wave.field} at time {wave.time:.2f}")
right.plot(times, traces.T + 3 * np.arange(5))
right.set_title("traces behind the disc")
plt.savefig("disc.png")
