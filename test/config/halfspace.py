#!/usr/bin/env python3
"""Traces of params/halfspace.cfg against Sommerfeld's solution: relative errors in L2.

A vertical electric dipole p(t) at the height h over a dielectric half space of permittivity n^2
(A. Sommerfeld, Ann. Phys. 333, 1909, 665-736), at the height z and the distance r, of frequency w:

    E3 = p/(4 pi) int k^3/u J0(k r) (exp(-u |z - h|) + G exp(-u (z + h))) dk,
    u^2 = k^2 - w^2,   v^2 = k^2 - n^2 w^2,   G = (n^2 u - v)/(n^2 u + v),

with w below the real axis: the branch points are off the path.
"""
import sys

import h5py
import numpy as np
from scipy.special import j0

GROUND, SQUARE, SOURCE, PEAK = 1.18, 4.0, 1.5, 0.8


def exact(distance, height, time):
    step = time[1] - time[0]
    count = 4 * len(time)
    damping = np.log(1e4) / (count * step)
    t = step * np.arange(count)
    phase = (np.pi * PEAK * (t - 5 / (np.pi * PEAK))) ** 2
    current = np.fft.rfft((1 - 2 * phase) * np.exp(-phase - damping * t))
    omega = 2 * np.pi * np.fft.rfftfreq(count, step) - 1j * damping
    near, far = abs(height - SOURCE), height + SOURCE - 2 * GROUND
    k = np.linspace(0, 30 / near, 60001)[1:]
    waves = j0(np.outer(distance, k)) * k**3 * (k[1] - k[0]) / (4 * np.pi)
    out = np.zeros((len(distance), len(omega)), complex)
    for i in np.flatnonzero(omega.real < 2 * np.pi * 4 * PEAK):
        u = np.sqrt(k**2 - omega[i] ** 2)
        v = np.sqrt(k**2 - SQUARE * omega[i] ** 2)
        mirror = (SQUARE * u - v) / (SQUARE * u + v)
        moment = current[i] / (1j * omega[i])
        out[:, i] = moment * (waves @ ((np.exp(-u * near) + mirror * np.exp(-u * far)) / u))
    return (np.fft.irfft(out, count, axis=1) * np.exp(damping * t))[:, : len(time)]


with h5py.File(sys.argv[1]) as file:
    group = file["air"]
    given, time = group["E3"][:], group["time"][:]
    position = group["position"][:]
    wave = exact(position[:, 0], position[0, 2], time)
wave *= 4  # of the dipole and its images in two planes of symmetry
print(*(f"{e:.4g}" for e in np.linalg.norm(given - wave, axis=1) / np.linalg.norm(wave, axis=1)))
