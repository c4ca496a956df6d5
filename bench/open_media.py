#!/usr/bin/env python3
"""Long runs beside absorbing sides: 60 rough media, 20 with slow or fast layers.

    python3 bench/open_media.py build/htwave [--steps 1e5] [--jobs 8] [KEY=VALUE ...]
    python3 bench/open_media.py build/htwave --solids [--blobs]: elastic waves, order 8, 12 cells; with
        blobs of fluid, which reach into the layers

Sources, random data or pulses that reach into the layers, orders 2 to 16, 6 to
12 cells; ten runs take ten times as many steps, in single precision. A run is
right if it ends with 0 and the largest p in its last quarter is at most half as
much again as in the quarter after its first tenth, or after its source: what is
trapped in a rough medium varies by some tenths. Needs numpy.
"""
import argparse
import concurrent.futures
import csv
import os
import subprocess
import tempfile

import numpy as np

ORDERS = [2, 4, 6, 8, 8, 8, 12, 16]
SOLID_SIDES = ['"absorbing"', '["roller","absorbing"]', '["free","absorbing"]', '"periodic"']
SIDES = ['"absorbing"', '"rigid"', '["free","absorbing"]', '"periodic"']


def rough(rng, shape, low, high):
    """Blocks of 1 to 9 points, values from low to high."""
    out = np.ones(shape)
    for _ in range(120):
        (h, w), y, x = rng.integers(1, 10, 2), rng.integers(shape[0]), rng.integers(shape[1])
        out[y:y + h, x:x + w] = np.exp(rng.uniform(np.log(low), np.log(high)))
    return out


def layered(shape, i):
    """A slow or fast layer along x2, along x1, near a side, or two that cross."""
    out, s, w = np.ones(shape), [.5, .6, .7, .85, 2.][i % 5], [3, 7, 14][i % 3]
    middle, across = shape[1] // 2, shape[0] // 2
    if i % 4 in (0, 3): out[:, middle - w // 2:middle + w // 2 + 1] = s
    if i % 4 == 1: out[across - w // 2:across + w // 2 + 1, :] = s
    if i % 4 == 2: out[:, 11:11 + w] = s
    if i % 4 == 3: out[shape[0] // 3:shape[0] // 3 + w, :] = 1 / s
    return out


def solid(rng, i, shape, blobs):
    """vp/vs of 1.7 to 5; every fourth has layers along x2 or x1."""
    vp = rough(rng, shape, .5, 2.) if i % 4 < 3 else layered(shape, i)
    vs = vp / [3., 1.7, 2., 5.][i % 4]
    if blobs: vs[rough(rng, shape, .01, 1.) < .1] = 0
    return {"vp": vp, "vs": vs, "rho": rough(rng, shape, .5, 2.) if i % 2 else np.ones(shape)}


def run_solid(i, arguments, folder):
    rng, (n1, n2) = np.random.default_rng(i), [(64, 50), (56, 48), (70, 44)][i % 3]
    fields = solid(rng, i, (n2 + 1, n1 + 1), arguments.blobs)
    for name, values in fields.items():
        values.astype("<f4").tofile(os.path.join(folder, f"{name}{i}.f32"))
    end, side = arguments.steps * .35 / fields["vp"].max(), SOLID_SIDES[i // 4 % 4]
    return judge(i, arguments, folder, end, end / 10, ["largest_v1", "largest_v2"], f"""
system="elastic"; grid={{cells=[{n1},{n2}];upper=[{n1}.0,{n2}.0];order=8;}};
time={{scheme="fd";end={end};}}; boundary={{x1="absorbing";x2={side};}}; absorbing={{cells=12;place="inside";}};
medium={{type="file";vp="vp{i}.f32";vs="vs{i}.f32";rho="rho{i}.f32";shape=[{n1 + 1},{n2 + 1}];spacing=[1.0,1.0];}};
initial={{type="expression";values={{v1="exp(-((x1-{n1 / 2 + .3})^2+(x2-{n2 / 2})^2)/4)";}};}};
device={{precision="{"double" if i % 3 == 2 else "single"}";}};
""")


def judge(i, arguments, folder, end, start, names, text):
    """Runs an input: the largest of some columns early, from `start` on, and late."""
    out, path = os.path.join(folder, f"out{i}"), os.path.join(folder, f"{i}.cfg")
    with open(path, "w") as file:
        file.write(text + f"""
output={{directory="{out}";snapshots=false;pictures=false;series=true;every={end / 20};}};
""")
    done = subprocess.run([arguments.htwave, "run", path, *arguments.keys], capture_output=True, text=True)
    if done.returncode: return i, False, done.stderr.strip().splitlines()[-1]
    rows = [(float(r["time"]), max(float(r[n]) for n in names)) for r in csv.DictReader(open(os.path.join(out, "series.csv")))]
    late = [p for t, p in rows if t >= start]
    early, last = max(late[:len(late) // 4 + 1]), max(late[-(len(late) // 4) - 1:])
    return i, np.isfinite(late).all() and last <= 1.5 * early, f"largest {names[0]} {early:.3g} early, {last:.3g} at the end"


def run(i, arguments, folder):
    rng, order = np.random.default_rng(i), ORDERS[i % 8]
    n1, n2 = [(96, 64), (70, 51), (64, 64), (83, 60)][i % 4]
    contrast, shape = [2., 3., 4.][i % 3], (n2 + 1, n1 + 1)
    c = rough(rng, shape, contrast ** -.5, contrast ** .5) if i < 60 else layered(shape, i - 60)
    rho = rough(rng, shape, .5, 2.) if i % 2 else np.ones(shape)
    for name, values in (("c", c), ("rho", rho)):
        values.astype("<f4").tofile(os.path.join(folder, f"{name}{i}.f32"))
    steps = arguments.steps * (10 if i % 8 == 3 else 1)
    end, frequency = steps * .45 / c.max(), c.min() / (12 if order > 4 else 20)
    source = i % 4 == 2
    data = ('sources=({position=[%r,%r];frequency=%r;})' % (n1 / 2 + .3, n2 / 2 + .1, float(frequency)) if source
            else 'initial={type="gaussian";centre=[6.0,20.0];width=3.0;}' if i % 6 == 3 else 'initial={type="random";}')
    start = max(end / 10, 4 / frequency if source else 0)
    return judge(i, arguments, folder, end, start, ["largest_p"], f"""
system="acoustic"; grid={{cells=[{n1},{n2}];upper=[{n1}.0,{n2}.0];order={order};}};
time={{scheme="fd";end={end};}}; boundary={{x1="absorbing";x2={SIDES[i % 4]};}};
absorbing={{cells={[8, 8, 10, 12, 6 if order > 4 else 8][i % 5]};place="inside";}};
medium={{type="file";c="c{i}.f32";rho="rho{i}.f32";shape=[{n1 + 1},{n2 + 1}];spacing=[1.0,1.0];}};
{data};
device={{precision="{"single" if i % 8 in (0, 3, 5, 6) else "double"}";}};
""")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("htwave")
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--solids", action="store_true")
    parser.add_argument("--blobs", action="store_true")
    parser.add_argument("--steps", type=float, default=1e5)
    parser.add_argument("--jobs", type=int, default=8)
    arguments = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda i: (run_solid if arguments.solids else run)(i, arguments, folder), range(80)))
    for i, good, text in results: print(i, "ok" if good else "WRONG", text)
    print(sum(good for _, good, _ in results), "of 80")


if __name__ == "__main__":
    main()
