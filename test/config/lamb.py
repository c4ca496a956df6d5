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
from response import print_errors, traces

VP, VS, RHO, PEAK, SOURCE = 1.7, 1.0, 2.0, 5.0, 0.5
COUNT = 3  # of receivers


def exact(distance, time):
    dk = 2 * np.pi / 24.0
    k = dk * (np.arange(5000) + 0.5)
    waves = np.cos(np.outer(distance, k)) * np.exp(-36 * (k / k[-1]) ** 8) * dk / np.pi

    def solution(w):
        square = (w / VS) ** 2
        a = np.sqrt(k**2 - (w / VP) ** 2)
        b = np.sqrt(k**2 - square)
        rayleigh = (2 * k**2 - square) ** 2 - 4 * k**2 * a * b
        return waves @ (1j * w * square * a / (RHO * VS**2 * rayleigh))

    return traces(time, PEAK, len(distance), solution)


with h5py.File(sys.argv[1]) as file:
    group = file["ground"]
    some = np.linspace(0, len(group["v2"]) - 1, COUNT).astype(int)
    wave = exact(group["position"][:][some, 0] - SOURCE, group["time"][:])
    print_errors(group["v2"][:][some], wave)
