#!/usr/bin/env python3
"""Traces of params/rayleigh.cfg against Lamb's solution: relative errors in L2.

The half space's response to a vertical line force s(t) on its surface, by wavenumber k
and frequency w (H. Lamb, Phil. Trans. R. Soc. A 203, 1904, 1-42),

    v2 = i w s a (w/vs)^2/(mu R),   R = (2 k^2 - (w/vs)^2)^2 - 4 k^2 a b,
    a^2 = k^2 - (w/vp)^2,   b^2 = k^2 - (w/vs)^2,

summed over k, with w below the real axis: periodic images have died.
"""
import sys

import h5py
import numpy as np

VP, VS, RHO, PEAK, SOURCE = 1.7, 1.0, 2.0, 5.0, 0.5
COUNT = 3  # of receivers


def exact(distance, time):
    step = time[1] - time[0]
    count = 4 * len(time)
    damping = np.log(1e4) / (count * step)
    t = step * np.arange(count)
    phase = (np.pi * PEAK * (t - 5 / (np.pi * PEAK))) ** 2
    source = np.fft.rfft((1 - 2 * phase) * np.exp(-phase - damping * t))
    omega = 2 * np.pi * np.fft.rfftfreq(count, step) - 1j * damping
    dk = 2 * np.pi / 24.0
    k = dk * (np.arange(5000) + 0.5)
    waves = np.cos(np.outer(distance, k)) * np.exp(-36 * (k / k[-1]) ** 8) * dk / np.pi
    out = np.zeros((len(distance), len(omega)), complex)
    for i in np.flatnonzero(omega.real < 2 * np.pi * 4 * PEAK):
        square = (omega[i] / VS) ** 2
        a = np.sqrt(k**2 - (omega[i] / VP) ** 2)
        b = np.sqrt(k**2 - square)
        rayleigh = (2 * k**2 - square) ** 2 - 4 * k**2 * a * b
        out[:, i] = waves @ (1j * omega[i] * source[i] * square * a / (RHO * VS**2 * rayleigh))
    return (np.fft.irfft(out, count, axis=1) * np.exp(damping * t))[:, : len(time)]


with h5py.File(sys.argv[1]) as file:
    group = file["ground"]
    some = np.linspace(0, len(group["v2"]) - 1, COUNT).astype(int)
    given, time = group["v2"][:][some], group["time"][:]
    wave = exact(group["position"][:][some, 0] - SOURCE, time)
print(*(f"{e:.4g}" for e in np.linalg.norm(given - wave, axis=1) / np.linalg.norm(wave, axis=1)))
