#!/usr/bin/env python3
"""Growth of the Hermite-Taylor step in one dimension where the medium varies.

The step of p and v on 24 periodic cells, full stages, the medium constant per
node (harmonic means over cells, as medium.degree = 0), as a dense matrix:
spectral radius - 1 is the growth of amplitudes per step. Needs numpy; takes
half a minute. The table of docs/developers/method.md, section 5, has its numbers.
"""
from math import comb

import numpy as np

CELLS, POINTS, CFL = 24, 64, 0.9
random = np.random.default_rng(7)


def hermite(order):
    """Coefficients of the interpolant from the data at both ends."""
    size = 2 * order + 2
    matrix = np.zeros((size, size))
    for side, x in enumerate((-0.5, 0.5)):
        for i in range(order + 1):
            for j in range(i, size):
                matrix[side * (order + 1) + i, j] = comb(j, i) * x ** (j - i)
    return np.linalg.inv(matrix)


def half_step(order, medium, dt, to_dual):
    """medium: K and 1/rho at the target nodes."""
    m, n = order + 1, 2 * order + 2
    h, derivative = hermite(order), np.diag(np.arange(1.0, n), 1)
    out = np.zeros((2 * CELLS * m, 2 * CELLS * m))
    for c in range(CELLS):
        ends = (c, (c + 1) % CELLS) if to_dual else ((c - 1) % CELLS, c)
        step = np.zeros((2 * n, 2 * n))
        step[:n, n:] = -medium[0][c] * derivative
        step[n:, :n] = -medium[1][c] * derivative
        series = power = np.eye(2 * n)
        for k in range(1, n):
            power = power @ step * (dt / 2) / k
            series = series + power
        interpolate = np.zeros((2 * n, 2 * CELLS * m))
        for field in range(2):
            for side, end in enumerate(ends):
                at = (2 * end + field) * m
                interpolate[field * n : (field + 1) * n, at : at + m] = h[
                    :, side * m : (side + 1) * m
                ]
        result = series @ interpolate
        for field in range(2):
            at = (2 * c + field) * m
            out[at : at + m] = result[field * n : field * n + m]
    return out


def means(speed, density, offset):
    """K and 1/rho: harmonic means over the cells about nodes."""
    part = (np.arange(POINTS) + 0.5) / POINTS - 0.5
    x = (np.arange(CELLS)[:, None] + offset + part) % CELLS
    c, rho = speed(x), density(x)
    return 1 / np.mean(1 / (rho * c * c), 1), 1 / np.mean(rho, 1)


def growth(order, speed, density):
    dual, primary = means(speed, density, 0.5), means(speed, density, 0)
    fastest = max(np.sqrt((m[0] * m[1]).max()) for m in (dual, primary))
    dt = CFL / fastest
    back = half_step(order, primary, dt, False)
    step = back @ half_step(order, dual, dt, True)
    return abs(np.linalg.eigvals(step)).max() - 1


def layers():
    """0.5 to 12 cells thick, c 1..4, rho 1..3."""
    ends = [0]
    while ends[-1] < CELLS:
        ends.append(ends[-1] + random.uniform(0.5, 12))
    c, rho = random.uniform(1, 4, len(ends)), random.uniform(1, 3, len(ends))
    ends = np.array(ends[1:])
    return (
        lambda x: c[np.searchsorted(ends, x) % len(c)],
        lambda x: rho[np.searchsorted(ends, x) % len(rho)],
    )


def one_layer():
    a, b = sorted(random.uniform(0, CELLS, 2))
    rho = random.uniform(1, 3)
    return (
        lambda x: np.where((x > a) & (x < b), 4.0, 1.0),
        lambda x: np.where((x > a) & (x < b), rho, 1.0),
    )


def main():
    many = [layers() for _ in range(150)], [one_layer() for _ in range(150)]
    for order, count in ((1, 300), (2, 60), (3, 60), (4, 30)):
        media = many[0][: count // 2] + many[1][: count // 2]
        found = np.array([growth(order, *m) for m in media])
        print(
            f"jumps, N = {order}: {(found > 1e-7).sum()} of {count} grow, "
            f"largest {found.max():.2g}, median {np.median(found):.2g}",
            flush=True,
        )
    for order in (1, 2, 3, 4):
        value = growth(
            order,
            lambda x: 1 + 0.5 * np.sin(2 * np.pi * x / CELLS),
            lambda x: 1 + 0.3 * np.cos(2 * np.pi * x / CELLS),
        )
        print(f"c = 1 + sin/2, N = {order}: {value:.2g}")


if __name__ == "__main__":
    main()
