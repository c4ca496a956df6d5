"""What the scripts of this folder share: runs of htwave, tables, CSV, pictures."""
import argparse
import csv
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "tools"))
import plot  # noqa: E402

# Runs whose times are compared: nothing is written or searched beside them.
PLAIN = {"device.tune": "never", "device.selfcheck": False,
         "output.snapshots": False, "output.pictures": False,
         "output.series": False}

# A name that no device has: plans, but times nothing.
NO_DEVICE = {"device.select": "none"}


class Failure(Exception):
    """htwave has failed; the text is its message."""


class Refused(Failure):
    """htwave has refused the input."""


class Grew(Failure):
    """The solution is not finite."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def integers(text):
    return [int(word) for word in text.split(",")]


def words(text):
    return text.split(",")


def find_program():
    for path in (os.environ.get("HTWAVE"), HERE.parent / "build/htwave",
                 HERE.parents[2] / "bin/htwave", shutil.which("htwave")):
        if path and os.access(path, os.X_OK):
            return str(path)
    return "htwave"


def value(given):
    """A value as the command line of htwave takes it."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, (list, tuple)):
        return "[" + ",".join(map(value, given)) + "]"
    return repr(given) if isinstance(given, float) else str(given)


class Laboratory:
    """The flags that all scripts have, and what is done by them."""

    def __init__(self, description, name, seconds):
        """seconds: the time limit on a CPU and on a GPU."""
        self.name, self.seconds, self.launch = name, seconds, []
        self.parser = argparse.ArgumentParser(
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter)
        flag = self.parser.add_argument
        flag("--program", default=find_program(), help="htwave (%(default)s)")
        flag("--device", default="auto", help="as device.select")
        flag("--backend", default="auto", help="as device.backend")
        flag("--out", type=Path, default=Path("bench-out"), metavar="DIR",
             help="of the results (%(default)s)")
        flag("--seconds", type=float, help="after these no measurement begins"
             " (%d on a CPU, %d on a GPU)" % seconds)
        flag("--quick", action="store_true",
             help="a small case of some seconds: does it work?")

    def start(self):
        """Reads the command line and asks for the device."""
        args = self.args = self.parser.parse_intermixed_args()
        self.empty = tempfile.NamedTemporaryFile(suffix=".cfg")
        self.began, self.left_out, self.wrong = time.monotonic(), 0, False
        self.keys = {"device.select": args.device,
                     "device.backend": args.backend}
        args.out.mkdir(parents=True, exist_ok=True)
        if getattr(args, "model", None):  # counts alone, without a device
            self.keys = NO_DEVICE
            return args
        plan = self.check({"grid.cells": [8], "initial.type": "zero"})
        if "device" not in plan:
            raise Failure(plan.get("no_device", "no device"))
        self.device, self.backend = plan["device"], plan["backend"]
        self.version = self.call(["--version", "--json"])["version"]
        found = self.call(["devices", "--json"])["devices"]
        mine = [d for d in found if d["name"] == self.device
                and d["backend"] == self.backend]
        self.gpu, self.fp64 = mine[0]["gpu"], mine[0]["fp64"]
        if args.seconds is None:
            args.seconds = self.seconds[self.gpu]
        return args

    # ---- htwave ----

    def call(self, command, ranks=1):
        """The JSON that a command prints."""
        before = [*self.launch, str(ranks)] if ranks > 1 else []
        done = subprocess.run([*before, self.args.program, *command],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            why = done.stderr.strip().split("\n")[-1]
            kind = {2: Refused, 3: Grew}.get(done.returncode, Failure)
            raise kind(why.removeprefix("htwave: ").removeprefix("error: "))
        return json.loads(done.stdout)

    def run(self, keys, file=None, ranks=1, command="run", flags=()):
        """The report of a run of a file; None: of keys alone."""
        file = file or self.empty.name
        with tempfile.TemporaryDirectory() as folder:
            keys = {"output.directory": folder, **self.keys, **keys}
            given = [f"{key}={value(v)}" for key, v in keys.items()]
            return self.call([command, str(file), *given, "--json", "--quiet",
                              *flags], ranks)

    def check(self, keys, file=None, ranks=1, flags=()):
        return self.run({**PLAIN, **keys}, file, ranks, "check", flags)

    def rates(self, *flags):
        """Rows of htwave bench rates."""
        return self.call(["bench", "rates", "--json", "--quiet", "--device",
                          self.args.device, "--backend", self.args.backend,
                          "--out", str(self.args.out), *flags])["rows"]

    def over(self):
        """Whether no measurement may begin; counts it."""
        late = time.monotonic() - self.began > self.args.seconds
        self.left_out += late
        return late

    # ---- results ----

    def write(self, rows, columns, text=""):
        """Writes NAME.csv, and unless text is None its pictures and NAME.md,
        which is printed."""
        path = self.args.out / f"{self.name}.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, columns, lineterminator="\n")
            table.writeheader()
            for row in rows:
                table.writerow({c: plain(row.get(c)) for c in columns})
        if text is None:
            return
        path.with_suffix(".md").write_text(text, encoding="utf-8")
        print(text, end="")
        if rows:
            self.draw(path)

    def draw(self, path):
        try:
            for name, figure in plot.draw(path).items():
                plot.write(figure, self.args.out / f"{name}.png", quiet=True)
        except ImportError:
            say("no pictures: matplotlib is missing")
        except plot.Refused as why:
            say(f"no pictures: {why}")

    def main(self, measure):
        """Runs a script: measure() writes what is found, also when it stops."""
        try:
            self.start()
            measure(self)
            if self.left_out:
                say(f"note: {self.left_out} left out by the time limit "
                    f"(--seconds {self.args.seconds:g})")
            say(f"results in {self.args.out}")
        except (Failure, OSError) as why:
            say(f"{self.name}.py: {why}")
            sys.exit(2 if isinstance(why, Refused) else 1)
        except KeyboardInterrupt:
            sys.exit(f"{self.name}.py: interrupted")
        sys.exit(1 if self.wrong else 0)


def plain(number):
    """A field of a CSV file: nothing where a number is not known."""
    if number is None or isinstance(number, float) and not math.isfinite(number):
        return ""
    return f"{number:.6g}" if isinstance(number, float) else number


def table(head, rows):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)
