#!/usr/bin/env python3
"""Weak and strong scaling: steps timed on each number of ranks of --ranks.

Weak scaling has a cube of --cells per rank (by default as large as --gib allows),
strong scaling one such cube for all ranks; periodic, a uniform medium, random data.
Each is the median of three runs of htwave, verified against the reference first.
ms is the wall time of a step on the slowest rank; interior, boundary and pack are
device times, means over the ranks; exposed is the rest: waits and launches. Rows
are added to DIR/scaling.csv as soon as they are measured; the table shows all of
the file. Efficiencies compare with the last row of one rank of the same problem;
those of ranks that share a device mean nothing.

--machine M puts the model of docs/developers/scaling.md beside the rows, each at the rate of
its own one-rank row. Writes scaling.csv, scaling.md and a picture.

--model FILE [key=value ...] measures nothing and needs no device: it predicts strong
and weak scaling of the run that FILE describes on --machine, by default
params/machines/h200-nvlink.cfg, and writes model.json.
"""
import csv
import difflib
import json
import math
import re
import shlex
from pathlib import Path

from laboratory import HERE, NO_DEVICE, PLAIN, Laboratory, Refused, integers, \
    say, table, words

# What rows that are compared share, beside planes and kind.
ALIKE = """system scheme order stages precision variant layout side device
    backend""".split()
DEFAULT = HERE.parent / "params/machines/h200-nvlink.cfg"
COLUMNS = """kind system scheme order stages precision variant layout side planes
    ranks depth halo transport ms interior_ms boundary_ms pack_ms exposed_ms
    messages bytes verified device backend driver version""".split()
NUMBERS = """order stages side planes ranks depth ms interior_ms boundary_ms
    pack_ms exposed_ms messages bytes verified""".split()


class Problem:
    """A system and scheme on a cube, for one rank or more."""

    def __init__(self, lab, system, scheme, order, precision):
        args = self.args = lab.args
        self.lab, self.fd = lab, scheme == "fd"
        self.keys = {"system": system, "time.scheme": scheme, "grid.order": order,
                     "time.stages": args.stages or (2 if self.fd else "full"),
                     "device.precision": precision, "initial.type": "random"}
        self.halo = {"parallel.halo_depth": args.halo_depth,
                     "parallel.halo_precision": args.halo_precision,
                     "parallel.transport": args.transport}
        self.side = args.cells or self.choose_side()

    def grid(self, planes):
        return {"grid.cells": [self.side, self.side, planes],
                "grid.upper": [float(self.side), float(self.side), float(planes)]}

    def choose_side(self):
        """Of the largest cube whose state --gib holds."""
        self.side = 32
        plan = self.lab.check({**self.keys, **self.grid(32), "time.end": 1.0})
        side = 32 * (self.args.gib * 2 ** 30 / plan["memory_bytes"]) ** (1 / 3)
        most = 1024 if self.lab.gpu else 128 if self.fd else 24
        return max(4, int(min(side, most)) // 8 * 8)

    def run(self, planes, ranks, steps, dt=0, **more):
        halo = self.halo if ranks > 1 else {}
        return self.lab.run({**PLAIN, **self.keys, **self.grid(planes), **halo,
                             "time.step": dt, "time.end": steps * (dt or 0.4),
                             **more}, ranks=ranks, command="run")

    def measure(self, kind, ranks):
        planes = self.side * ranks if kind == "weak" else self.side
        first = self.run(planes, ranks, 4, **{"device.selfcheck": True})
        dt, each = first["dt"], first["step_s"] / first["steps"]
        enough = 0.05 if self.args.quick else 0.4 if self.lab.gpu else 0.6
        depth = self.args.halo_depth  # whole cycles only
        steps = depth * max(math.ceil(enough / each / depth), 8)
        found = sorted((self.run(planes, ranks, steps, dt) for _ in range(3)),
                       key=lambda f: f["step_s"])
        return self.row(kind, ranks, planes, found[1], first)

    def row(self, kind, ranks, planes, found, first):
        def sent(name):
            """By a rank in a step; both runs exchange beside their steps, too."""
            few, many = (f.get("parallel", {}).get(name, 0) * f["steps"]
                         for f in (first, found))
            return (many - few) / (found["steps"] - first["steps"]) / ranks

        parts = found.get("parallel", {
            "step_worst_s": found["step_s"], "interior_s": found["kernel_s"]})
        per = 1e3 / found["steps"]
        row = {"kind": kind, "order": found["order"], "stages": found["stages"],
               "side": self.side, "planes": planes, "ranks": ranks,
               "depth": self.args.halo_depth, "halo": self.args.halo_precision,
               "transport": parts.get("transport", "none"),
               "ms": per * parts["step_worst_s"],
               "verified": first.get("selfcheck_ratio", 0),
               "messages": sent("messages_per_step"),
               "bytes": sent("bytes_per_step"),
               "version": self.lab.version}
        for name in ("interior", "boundary", "pack"):
            row[f"{name}_ms"] = per * parts.get(f"{name}_s", 0)
        row["exposed_ms"] = max(0, row["ms"] - row["interior_ms"]
                                - row["boundary_ms"] - row["pack_ms"])
        for name in ("system", "scheme", "precision", "variant", "layout",
                     "device", "backend", "driver"):
            row[name] = found[name]
        return row


# ---- the file ----

def read(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise Refused(f"{path}: the first line is not that of a table of "
                          "scaling of this version")
        try:
            return [{k: float(v) if k in NUMBERS else v for k, v in row.items()}
                    for row in rows]
        except (TypeError, ValueError):
            raise Refused(f"{path}:{rows.line_num}: a number is missing or "
                          "broken") from None


def rate(row):
    """Cell half-steps per second of all ranks."""
    return 2e3 * row["side"] ** 2 * row["planes"] / row["ms"]


def alone(rows, of):
    """The last row of one rank of the same problem, or None."""
    planes = of["planes"] / (of["ranks"] if of["kind"] == "weak" else 1)
    found = [r for r in rows if r["ranks"] == 1 and r["kind"] == of["kind"]
             and r["planes"] == planes and all(r[k] == of[k] for k in ALIKE)]
    return found[-1] if found else None


# ---- tables ----

def number(value):
    return f"{value:.4g}"


def cells(row):
    return f"{row['side']:.0f}^2 x {row['planes']:.0f}"


def order(row):
    if row["scheme"] != "fd":
        return f"N = {row['order']:.0f}"
    return f"order {row['order']:.0f}, {row['stages']:.0f} term" \
        + "s" * (row["stages"] > 1)


def measured_table(rows):
    def line(row):
        one = alone(rows, row)
        share = rate(row) / row["ranks"] / rate(one) if one else None
        return [row["kind"], row["system"], row["scheme"], row["precision"],
                f"{row['order']:.0f}", f"{row['ranks']:.0f}", cells(row),
                f"{row['depth']:.0f}", row["transport"],
                *(number(row[f"{n}ms"]) for n in (
                    "", "interior_", "boundary_", "pack_", "exposed_")),
                f"{100 * share:.1f}%" if share else "-",
                f"{row['messages']:.3g}", number(row["bytes"])]

    return table("kind|system|scheme|prec.|order|ranks|cells|depth|by|ms/step|"
                 "interior|boundary|pack|exposed|eff.|messages|bytes/step".split(
                     "|"), map(line, rows))


# ---- machines ----

RULES = {"> 0": lambda x: x > 0, ">= 0": lambda x: x >= 0, ">= 1": lambda x: x >= 1,
         "> 0 and <= 1": lambda x: 0 < x <= 1,
         "an integer >= 1": lambda x: x >= 1 and x == int(x)}
WORDS = {"a string": str, "true or false": bool, '"device" or "node"': str}
# Rule, unit, default: None where the key must be given.
MACHINE = {
    "name": ("a string", 1, None),
    "device.memory": ("> 0", 1e9, None), "device.copy": ("> 0", 1e9, None),
    # two operations per multiply-add
    "device.single": ("> 0", 0.5e12, None), "device.double": ("> 0", 0.5e12, None),
    "device.rate": (">= 0", 1, 0), "device.fraction": ("> 0 and <= 1", 1, 0.35),
    "device.launch": (">= 0", 1e-6, 0), "device.boundary": (">= 1", 1, 1),
    "device.per_node": ("an integer >= 1", 1, None),
    "links.bandwidth": ("> 0", 1e9, None), "links.latency": (">= 0", 1e-6, None),
    "links.staged": ("true or false", 1, False),
    "network.bandwidth": ("> 0", 1e9, None), "network.latency": (">= 0", 1e-6, None),
    "network.staged": ("true or false", 1, True),
    "network.per": ('"device" or "node"', 1, "device"),
    "host.copy": ("> 0", 1e9, None)}
SETTING = re.compile(r'''\s*(?:(\w+)\s*[=:]\s*(\{|"[^"]*"|[^\s;,{}"]+)|\}|;|,)''')


def settings(path):
    """Line, key and text of each value of a file of libconfig's form."""
    text, at, group = path.read_text(encoding="utf-8"), 0, ""
    text = re.sub(r"(#|//).*", "", text).rstrip()
    while at < len(text):
        found = SETTING.match(text, at)
        line = text.count("\n", 0, found.end() if found
                          else len(text) - len(text[at:].lstrip())) + 1
        if not found:
            raise Refused(f"wrong syntax ({path}:{line})")
        at, (name, given) = found.end(), found.groups()
        if given == "{":
            group = f"{name}."
        elif name:
            yield line, group + name, given
        elif found[0].strip() == "}":
            group = ""


def read_machine(path):
    """Values in SI units by their keys."""
    machine = {key: row[2] and row[1] * row[2] for key, row in MACHINE.items()}
    for line, key, given in settings(path):
        def refuse(why, key=key, line=line):
            raise Refused(f"{key}{why} ({path}:{line})")
        if key not in MACHINE:
            near = difflib.get_close_matches(key, MACHINE, 1)
            refuse(": unknown key" + (f"; did you mean {near[0]}?" if near else ""))
        rule, unit, _ = MACHINE[key]
        try:
            value = {"true": True, "false": False}[given] if rule == "true or false" \
                else json.loads(given)
            good = isinstance(value, WORDS[rule]) if rule in WORDS \
                else RULES[rule](float(given))
        except (KeyError, ValueError):
            good = False
        if not good or key == "network.per" and value not in ("device", "node"):
            refuse(f" = {given}: must be {rule}")
        machine[key] = value if rule in WORDS else unit * value
    for key, value in machine.items():
        if value is None:
            raise Refused(f"{key}: not set ({path})")
    return machine


# ---- the model of docs/developers/scaling.md, section 3 ----

def travel(machine, sent, most, nodes):
    """Seconds of an exchange: sent in all, most to one side. Only the first and the
    last slab of a node use the network; those between send twice over links."""
    def over(link, size):
        staged = 2 * size / machine["host.copy"] if machine[f"{link}.staged"] else 0
        return machine[f"{link}.latency"] + size / machine[f"{link}.bandwidth"] \
            + staged

    per_node = machine["device.per_node"]
    links = over("links", sent if not nodes or per_node > 2 else most)
    if not nodes:
        return links
    together = machine["network.per"] == "node" or per_node == 1
    network = over("network", sent if together else most)
    return max(network, links) if per_node > 1 else network


def step(slab, machine, second, planes, ranks):
    """Parts of a step of the slowest slab; second: of a plane in a half step."""
    depth, launch = slab["depth"], machine["device.launch"]
    plane = second * 2 / slab["passes"]  # in a pass
    if ranks == 1:
        parts = {"interior_s": slab["passes"] * (planes * plane + launch),
                 "boundary_s": 0, "pack_s": 0, "transfer_s": 0, "exposed_s": 0}
        return {**parts, "step_s": parts["interior_s"]}
    exchanges, reach = slab["passes"] / depth, slab["planes_per_pass"]
    sides = round(slab["messages_per_step"] / exchanges)
    sent = slab["bytes_per_step"] / exchanges
    leaving = min(depth * reach, planes)
    twice = reach * depth * (depth - 1) / 2
    transfer = travel(machine, sent, slab["longest_bytes"],
                      ranks > machine["device.per_node"])
    interior = depth * planes - leaving + twice
    launches = depth - (planes == leaving)  # the last pass may have no interior
    ends = sides if planes > math.ceil(depth * reach / 2) else 1
    parts = {
        "interior_s": interior * plane + launches * launch,
        "boundary_s": leaving * plane * machine["device.boundary"] + ends * launch,
        "pack_s": 4 * sent / machine["device.copy"] + 2 * sides * launch,
        "exposed_s": max(0, transfer - (planes - leaving) * plane)}
    parts["step_s"] = sum(parts.values())
    parts["transfer_s"] = transfer
    return {name: exchanges * s for name, s in parts.items()}


def expected_rate(plan, machine):
    """Cell half-steps per second of a device, and where the number is from."""
    if machine["device.rate"] > 0:
        return machine["device.rate"], "the machine's"
    least = max(plan["slab"]["least_bytes"] / machine["device.copy"],
                plan["slab"]["least_fma"] / machine[f"device.{plan['precision']}"])
    return machine["device.fraction"] / least, "a fraction of its limits"


def predict(plan, machine, speed, kind, ranks):
    """A row for that many ranks; None: slabs would be thinner than halos need."""
    slab, (nx, ny, nz) = plan["slab"], plan["cells"]
    planes = nz if kind == "weak" else -(-nz // ranks)
    least = slab["planes_least"] if ranks > 1 else 1
    if (nz if kind == "weak" else nz // ranks) < least:
        return None
    here = step(slab, machine, nx * ny / speed, planes, ranks)
    one = step(slab, machine, nx * ny / speed, nz, 1)
    memory = plan["memory_bytes"] / nz * planes
    if ranks > 1:  # planes beyond the slab, one message out and two in per side
        depth = slab["depth"]
        beyond = 2 * slab["planes_least"] if slab["planes_per_pass"] > 1 \
            else (depth + 1) // 2 + depth / 2
        memory += beyond * plan["memory_bytes"] / nz + 6 * slab["longest_bytes"]
    parts = {"interior": "interior_s", "boundary": "boundary_s", "packing": "pack_s",
             "network" if ranks > machine["device.per_node"] else "links": "exposed_s"}
    return {"gpus": ranks, "planes": planes, "memory_bytes": memory,
            "fits": memory <= machine["device.memory"], **here,
            "efficiency": one["step_s"] / here["step_s"]
            / (ranks if kind == "strong" else 1),
            "limit": max(parts, key=lambda part: here[parts[part]])}


# Fields in first order in three dimensions, and the largest stable c dt/h of nodal dG
# in one, of N = 1 to 8 (docs/developers/scaling.md, section 2).
FIELDS = {"advection": 1, "acoustic": 4, "wave": 4, "maxwell": 6, "elastic": 9}
DG_STEP = [0.4065, 0.2002, 0.1214, 0.0825, 0.0602, 0.0461, 0.0366, 0.0299]


def messages(plan):
    """What a slab sends per step, and one of a nodal dG method of the same degree."""
    slab, size = plan["slab"], plan["order"]
    sent = {"per_step": slab["messages_per_step"],
            "bytes_per_step": slab["bytes_per_step"]}
    if plan["scheme"] != "fd" and plan["system"] in FIELDS:
        word = {"single": 4, "half": 2}.get(
            slab["halo_precision"], 8 if plan["precision"] == "double" else 4)
        sent["dg_per_step"] = 10
        sent["dg_bytes_per_step"] = 10 * plan["cells"][0] * plan["cells"][1] \
            * (2 * size + 2) ** 2 * FIELDS[plan["system"]] * word
        if plan.get("cfl"):
            sent["dg_steps_for_one"] = plan["cfl"] / DG_STEP[size - 1]
    return sent


def model(lab, row):
    """The plan of a row's problem on one rank."""
    planes = row["planes"] / (row["ranks"] if row["kind"] == "weak" else 1)
    return lab.check({
        **NO_DEVICE, "system": row["system"], "time.scheme": row["scheme"],
        "grid.order": int(row["order"]), "time.stages": int(row["stages"]),
        "device.precision": row["precision"], "initial.type": "random",
        "time.end": 90.0,
        "grid.cells": [int(row["side"]), int(row["side"]), int(planes)],
        "grid.upper": [row["side"], row["side"], planes],
        "parallel.halo_depth": int(row["depth"]),
        "parallel.halo_precision": row["halo"]})


def sent_text(plan):
    sent, size = messages(plan), plan["order"]
    text = f"{plan['system']}, {plan['scheme']}, {order(plan)}, {plan['precision']}, " \
        f"{plan['cells'][0]} x {plan['cells'][1]} cells, depth " \
        f"{plan['slab']['depth']}: a slab sends " \
        f"{sent['per_step']:.3g} messages of {number(sent['bytes_per_step'])} " \
        "bytes in all per step, counted"
    if "dg_per_step" in sent:
        text += f"; a nodal dG method of degree {2 * size + 1:.0f} " \
            f"{sent['dg_per_step']:.0f} messages, " \
            f"{number(sent['dg_bytes_per_step'])} bytes per step"
    if "dg_steps_for_one" in sent:
        times = sent["dg_bytes_per_step"] * sent["dg_steps_for_one"] \
            / sent["bytes_per_step"]
        text += f", and {sent['dg_steps_for_one']:.3g} steps for one: " \
            f"{times:.3g} times the bytes"
    return text + "\n"


def predict_file(lab):
    """Tables of a file's run on numbers of devices; the rows go to model.json."""
    args = lab.args
    keys = dict(word.split("=", 1) for word in args.keys if "=" in word)
    machine = read_machine(args.machine or DEFAULT)
    plan = lab.check(keys, args.model)
    if "slab" not in plan:
        raise Refused("grid.cells: only grids of three dimensions are divided into slabs")
    speed, source = (args.rate, "given") if args.rate else expected_rate(plan, machine)
    found = {"machine": machine["name"], "system": plan["system"], "rate": speed,
             "rate_from": source, "messages": messages(plan)}
    text = f"{machine['name']}, {machine['device.per_node']:.0f} GPUs per node; " \
        f"{number(speed)} cell half-steps/s per GPU: {source}\n"
    for kind in ("strong", "weak"):
        rows = [predict(plan, machine, speed, kind, n) for n in args.gpus]
        found[kind] = [r for r in rows if r]
        text += f"\n{kind} scaling\n\n" + table(
            "GPUs planes GiB ms/step interior boundary pack exposed eff. limit".split(),
            [[r["gpus"], r["planes"], number(r["memory_bytes"] / 2 ** 30),
              *(number(1e3 * r[f"{part}_s"]) for part in
                ("step", "interior", "boundary", "pack", "exposed")),
              f"{100 * r['efficiency']:.1f}%",
              r["limit"] + ("" if r["fits"] else ", does not fit")]
             for r in found[kind]])
        if None in rows:
            text += f"{rows.count(None)} more: slabs would be thinner than " \
                f"{plan['slab']['planes_least']} planes\n"
    (args.out / "model.json").write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(text + "\n" + sent_text(plan), end="")


def model_texts(lab, rows):
    """The messages of each kind of slab; with --machine the model's times."""
    texts, lines = [], []
    for row in rows:
        if row["ranks"] == 1 and not lab.args.machine:
            continue
        one = alone(rows, row)
        plan = model(lab, row)
        if row["ranks"] > 1:
            texts.append(sent_text(plan))
        machine = read_machine(lab.args.machine or DEFAULT)
        speed = rate(one) if one else expected_rate(plan, machine)[0]
        here = predict(plan, machine, speed, row["kind"], int(row["ranks"]))
        if here:
            lines.append([row["kind"], f"{row['ranks']:.0f}", cells(row),
                          f"{row['depth']:.0f}", number(row["ms"]),
                          number(1e3 * here["step_s"]),
                          f"{row['ms'] / 1e3 / here['step_s']:.3f}",
                          number(row["exposed_ms"]),
                          number(1e3 * here["exposed_s"]),
                          "" if one else "the machine's rate"])
    text = "".join(dict.fromkeys(texts))
    if lab.args.machine:
        text += "\nmeasured beside the prediction at the rate of one rank, " \
            "ms/step:\n\n" + table(
                ["kind", "ranks", "cells", "depth", "measured", "predicted",
                 "ratio", "exposed", "predicted", ""], lines)
    return text


# ---- the case ----

def measure_all(lab, rows):
    args = lab.args
    usual = {"fd": [8]}
    for scheme in args.schemes:
        for size in args.orders or usual.get(scheme, [3]):
            for precision in args.precisions:
                problem = Problem(lab, args.system, scheme, size, precision)
                for ranks in args.ranks:
                    for kind in ("weak", "strong"):
                        if ranks == 1 and kind == "strong":
                            rows.append({**rows[-1], "kind": kind})
                        elif not lab.over():
                            rows.append(problem.measure(kind, ranks))
                        else:
                            break
                        lab.write(rows, COLUMNS, None)


def measure(lab):
    args = lab.args
    if args.model:
        predict_file(lab)
        return
    if args.quick:
        args.cells, args.ranks, args.orders = 8, args.ranks[:2], [1]
    lab.launch = shlex.split(args.launch)
    rows = read(args.out / "scaling.csv")
    if args.show and not rows:
        raise Refused(f"{args.out / 'scaling.csv'}: no rows of scaling")
    try:
        if not args.show:
            measure_all(lab, rows)
    except KeyboardInterrupt:
        say("interrupted: what was found so far:")
    if rows:
        lab.write(rows, COLUMNS, measured_table(rows) + "\n"
                  + model_texts(lab, rows))


if __name__ == "__main__":
    laboratory = Laboratory(__doc__, "scaling", (60, 600))
    add = laboratory.parser.add_argument
    add("--ranks", type=integers, default=[1, 2], metavar="LIST",
        help="numbers of ranks (1,2)")
    add("--launch", default="mpiexec -n", metavar="WORDS",
        help="what stands before the number of ranks and htwave (%(default)s)")
    add("--system", default="acoustic")
    add("--schemes", type=words, default=["taylor"], metavar="LIST")
    add("--orders", type=integers, metavar="LIST", help="(3; fd: 8)")
    add("--stages", type=int, help="of the series (all); terms of fd (2)")
    add("--precisions", type=words, default=["single"], metavar="LIST")
    add("--cells", type=int, help="along each axis of a rank's cube")
    add("--gib", type=float, default=6, help="largest state of a rank (6)")
    add("--halo-depth", type=int, default=1, help="half steps per exchange")
    add("--halo-precision", default="same", choices=("same", "single", "half"))
    add("--transport", default="auto", help="as parallel.transport")
    add("--machine", type=Path, metavar="M", help="model beside the rows")
    add("--model", type=Path, metavar="FILE", help="predict the scaling of this run")
    add("keys", nargs="*", metavar="key=value", help="of --model's FILE")
    add("--gpus", type=integers, default=[2 ** n for n in range(13)], metavar="LIST",
        help="for --model (1,2,4,..4096)")
    add("--rate", type=float, help="cell half-steps/s of a GPU (the machine's)")
    add("--show", action="store_true", help="only show what DIR holds")
    laboratory.main(measure)
