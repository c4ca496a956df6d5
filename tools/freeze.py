#!/usr/bin/env python3
"""Results of short runs, kept and compared: a net under changes of structure.

    tools/freeze.py keep [FILE] [--only PART]    run, store values in FILE
    tools/freeze.py check [FILE] [--only PART]   run, compare with FILE

Each run stands in RUNS: system x scheme x dimension x sides x sources x ranks.
Values are compared bit for bit; where they differ, the largest difference is
printed beside the largest value, and counts as a failure above --bound.
FILE is .git/freeze.json without one: all working trees share it.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

import h5py
import json
import numpy as np

BUILD = os.environ.get("HTWAVE_BUILD", "build")
BASE = """
system = "acoustic";
grid = { cells = [20, 14]; order = 3; };
time = { end = 0.4; };
medium = { type = "constant"; };
initial = { type = "gaussian"; width = 0.12; };
output = { every = 0.2; };
"""
ONE = "grid.cells=[48]"
THREE = "grid.cells=[10,8,6]"
CUBE = "grid.cells=[48,40,36]"
FD = "time.scheme=fd grid.order=8"
TAYLOR = "time.scheme=taylor"
LEAP = "time.scheme=leapfrog"
NO_DATA = "initial.type=zero"
C = "medium.type=expression medium.c=1+0.3*sin(6*x1)*cos(5*x2)"
RHO = "medium.rho=1+0.5*x1"
SOURCE = 'sources=({position=[0.43,0.52,0.47];frequency=1.2})'
SOURCE2 = 'sources=({position=[0.43,0.52];frequency=4.0})'
COARSE = "sources.1.tolerance=0.1"
REC = 'receivers=({position=[0.31,0.62];every=0.013})'
REC3 = 'receivers=({position=[0.31,0.62,0.33];every=0.013})'
OPEN = 'boundary.x1="absorbing" absorbing.cells=6 absorbing.place=inside'
ROOM = 'boundary.x1=["rigid","free"] boundary.x2="rigid"'
ADV1 = f"{ONE} system=advection medium.velocity=[1.0]"
ADV3 = f"{THREE} system=advection medium.velocity=[1.0,0.5,0.3]"
PICTURE = "output.picture.every=0.2"


def variant(name):
    return "device.variant=" + name


RUNS = {
    "oracle-taylor": f"{TAYLOR} device.backend=oracle",
    "oracle-leap": f"{LEAP} device.backend=oracle",
    "oracle-fd": f"{FD} device.backend=oracle {C} {RHO} {OPEN}",
    "taylor-monolithic": f"{TAYLOR} {variant('monolithic')} {C}",
    "taylor-rolled": f"{TAYLOR} {variant('two-rolled')} {ROOM}",
    "taylor-naive": f"{TAYLOR} {variant('two-naive')} grid.order=2",
    "taylor-gemm": f"{TAYLOR} {variant('gemm')}",
    "taylor-vector": f"{TAYLOR} {variant('vector')} {C} {RHO} {REC} {PICTURE}",
    "taylor-vector-3": f"{TAYLOR} {variant('vector')} {THREE} grid.order=2",
    "taylor-propagator": f"{TAYLOR} {variant('propagator')} {ROOM}",
    "taylor-lanes": f"{TAYLOR} {variant('propagator-lanes')} {THREE} grid.order=1",
    "taylor-rolled-3": f"{TAYLOR} {variant('two-rolled')} {THREE} {REC3}",
    "taylor-double": f"{TAYLOR} {variant('propagator')} device.precision=double",
    "leap-vector": f"{LEAP} {variant('vector')} {ROOM}",
    "leap-propagator": f"{LEAP} {variant('propagator')} {THREE} {PICTURE}",
    "leap-source": f"{LEAP} {variant('propagator')} {SOURCE2} {COARSE} {NO_DATA} {REC}",
    "taylor-source": f"{TAYLOR} {variant('propagator')} {SOURCE2} {COARSE} {NO_DATA} {REC} {ROOM}",
    "taylor-layers": f"{TAYLOR} {variant('vector')} {OPEN} {C}",
    "taylor-sponge": f"{TAYLOR} {OPEN} absorbing.type=sponge",
    "wave-leap": f"system=wave {LEAP} {variant('propagator')} {REC}",
    "wave-taylor-3": f"system=wave {TAYLOR} {variant('vector')} {THREE} grid.order=2",
    "wave-fd": f"system=wave {FD} {C} {OPEN} {REC}",
    "advection-1": f"{ADV1} {variant('separable')}",
    "advection-3": f"{ADV3} {variant('separable')}",
    "fd-uniform": f"{FD} {REC} {PICTURE}",
    "fd-uniform-3": f"{FD} {THREE} grid.cells=[24,20,16]",
    "fd-march": f"{FD} {variant('fd-march')} {C}",
    "fd-plain-3": f"{FD} {variant('fd-plain')} {CUBE} {SOURCE} {NO_DATA} {REC3}",
    "fd-density": f"{FD} grid.cells=[140,98] {C} {RHO} {ROOM} {SOURCE2} {NO_DATA} {REC}",
    "fd-density-3": f"{FD} {THREE} grid.cells=[24,20,16] {C} {RHO} {OPEN} {REC3}",
    "fd-march-rho-3": f"{FD} {variant('fd-march')} {THREE} grid.cells=[24,20,16] {C} {RHO}",
    "fd-terms": f"{FD} time.stages=2 {C}",
    "fd-open-1": f"{FD} {ONE} {OPEN} medium.type=expression medium.c=1+0.3*x1",
    "fd-double": f"{FD} device.precision=double {C} {RHO} {OPEN}",
    "ranks-taylor": f"@3 {TAYLOR} {variant('vector')} {C} {THREE} {REC3}",
    "ranks-fd": f"@3 {FD} {C} {RHO} {OPEN} {SOURCE} {NO_DATA} {REC3} {CUBE}",
    "ranks-leap": f"@2 {LEAP} {variant('propagator')} {THREE}",
}


def values(path):
    """Arrays of one output file: {name: array}."""
    if path.suffix == ".h5":
        out = {}
        with h5py.File(path) as file:
            def visit(name, item):
                if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
                    out[name] = np.array(item)
            file.visititems(visit)
        return out
    if path.suffix == ".png":
        digest = hashlib.sha256(path.read_bytes()).digest()
        return {"picture": np.frombuffer(digest, dtype=np.uint8)}
    if path.name == "series.csv":
        rows = [line.split(",") for line in path.read_text().split("\n")
                if line[:1].isdigit()]
        return {"series": np.array(rows, dtype=float)}
    return {}


def run(name, keys):
    words = keys.split()
    command = [str(pathlib.Path(BUILD, "htwave").resolve()), "run", "base.cfg"]
    if words[0].startswith("@"):
        command = ["mpiexec", "-n", words.pop(0)[1:]] + command
    with tempfile.TemporaryDirectory() as where:
        pathlib.Path(where, "base.cfg").write_text(BASE)
        command += words + ["output.directory=out", "--quiet"]
        done = subprocess.run(command, cwd=where, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            print(f"{name}: exit code {done.returncode}\n{done.stderr}")
            return None
        found = {}
        for path in sorted(pathlib.Path(where, "out").rglob("*")):
            for key, array in values(path).items():
                found[f"{path.name}:{key}"] = array
        return found


def pack(array):
    return {"shape": list(array.shape), "type": array.dtype.str,
            "data": base64.b64encode(zlib.compress(array.tobytes())).decode()}


def unpack(item):
    data = zlib.decompress(base64.b64decode(item["data"]))
    return np.frombuffer(data, item["type"]).reshape(item["shape"])


def difference(old, new):
    if old.shape != new.shape:
        return np.inf
    if old.tobytes() == new.tobytes():
        return 0.0
    if old.dtype.kind != "f":
        return np.inf
    scale = np.nanmax(np.abs(old)) or 1
    if (np.isnan(old) != np.isnan(new)).any():
        return np.inf
    return float(np.nanmax(np.abs(old - new), initial=0) / scale)


def shared():
    git = subprocess.run(["git", "rev-parse", "--git-common-dir"],
                         capture_output=True, text=True, check=True).stdout
    return pathlib.Path(git.strip(), "freeze.json")


def judge(name, old, new, bound):
    bad = 0
    if new is None:
        return 1
    for key in sorted(set(old) | set(new)):
        if key not in old or key not in new:
            print(f"{name}: {key}: {'new' if key in new else 'missing'}")
            bad += key in old
            continue
        d = difference(unpack(old[key]), new[key])
        if d > 0:
            print(f"{name}: {key}: differs by {d:.3g} of its largest value")
        bad += d > bound
    return bad > 0


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("what", choices=["keep", "check"])
    parse.add_argument("file", nargs="?")
    parse.add_argument("--only", default="", help="runs whose name has this")
    parse.add_argument("--bound", type=float, default=0,
                       help="largest difference that is no failure")
    args = parse.parse_args()
    path, failed = pathlib.Path(args.file or shared()), 0
    if args.what == "check" and not path.exists():
        sys.exit(f"{path}: nothing was kept: keep the results of the program before")
    kept = json.loads(path.read_text()) if path.exists() else {}
    for name, keys in RUNS.items():
        if args.only not in name:
            continue
        found = run(name, keys)
        if args.what == "keep":
            failed += found is None
            if found is not None:
                kept[name] = {k: pack(v) for k, v in found.items()}
        elif name in kept:
            failed += judge(name, kept[name], found, args.bound)
    if args.what == "keep":
        path.write_text(json.dumps(kept, indent=0))
    print(f"{failed} of {len(RUNS)} failed")
    return failed > 0


sys.exit(main())
