"""Compares the map of params/array.cfg with Rayleigh's sum over 64 elements of a bowl whose places
and delays are computed anew: errors along the axis, of the peak, of its place and its time."""
import sys

import h5py
import numpy as np

ELEMENTS, HALF, RADIUS, SPEED, FREQUENCY, CYCLES = 64, 30.0, 60.0, 1.5, 0.1, 5
CENTRE, FOCUS = np.array([52.5, 52.5, 24.0]), np.array([52.5, 52.5, 64.0])

share = (np.arange(ELEMENTS) + 0.5) / ELEMENTS
height = (RADIUS - np.sqrt(RADIUS**2 - HALF**2)) * share
off = np.sqrt(RADIUS**2 - (RADIUS - height) ** 2)
turn = np.pi * (3 - np.sqrt(5)) * np.arange(ELEMENTS)
place = CENTRE + np.stack([off * np.cos(turn), off * np.sin(turn), height], 1)
way = np.linalg.norm(place - FOCUS, axis=1)
delay = (way.max() - way) / SPEED


def rate(t):
    """Of the burst."""
    w = 2 * np.pi * FREQUENCY
    slope = sum(a * b * w * np.cos(b * w * t)
                for a, b in ((0.5, 1), (-0.25, 1 + 1 / CYCLES), (-0.25, 1 - 1 / CYCLES)))
    return np.where((t > 0) & (t < CYCLES / FREQUENCY), slope, 0)


with h5py.File(sys.argv[1]) as file:
    lower, h = file.attrs["lower"], file.attrs["spacing"]
    middle = [round((52.5 - lower[k]) / h[k]) for k in (0, 1)]
    largest = file["maximum"][:, middle[1], middle[0]]
    time = file["time"][:, middle[1], middle[0]]
t = np.arange(0, 110, 0.02)
exact, when = [], []
for k in range(len(largest)):
    r = np.linalg.norm(place - [52.5, 52.5, lower[2] + k * h[2]], axis=1)
    p = sum(rate(t - d - s / SPEED) / (4 * np.pi * s) for d, s in zip(delay, r))
    exact.append(p.max())
    when.append(t[np.abs(p).argmax()])
exact = np.array(exact)
top, found = exact.argmax(), largest.argmax()
print("axis", np.abs(largest / exact - 1).max())
print("peak", abs(largest.max() / exact.max() - 1))
print("place", abs(int(top) - int(found)))
print("time", abs(time[found] - when[found]) * FREQUENCY)
