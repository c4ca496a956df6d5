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
from response import print_errors, traces
from scipy.special import j0

GROUND, SQUARE, SOURCE, PEAK = 1.18, 4.0, 1.5, 0.8


def exact(distance, height, time):
    near, far = abs(height - SOURCE), height + SOURCE - 2 * GROUND
    k = np.linspace(0, 30 / near, 60001)[1:]
    waves = j0(np.outer(distance, k)) * k**3 * (k[1] - k[0]) / (4 * np.pi)

    def solution(w):
        u, v = np.sqrt(k**2 - w**2), np.sqrt(k**2 - SQUARE * w**2)
        mirror = (SQUARE * u - v) / (SQUARE * u + v)
        return waves @ ((np.exp(-u * near) + mirror * np.exp(-u * far)) / u) / (1j * w)

    return traces(time, PEAK, len(distance), solution)


with h5py.File(sys.argv[1]) as file:
    group = file["air"]
    position = group["position"][:]
    # of the dipole and its images in two planes of symmetry
    wave = 4 * exact(position[:, 0], position[0, 2], group["time"][:])
    print_errors(group["E3"][:], wave)
