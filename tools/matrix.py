#!/usr/bin/env python3
"""Tables of docs/drivers.md from results of `htwave selftest --out FILE`.

    tools/matrix.py test/matrix/*.json
"""
import json
import os
import re
import sys


def worst(rows, precision):
    values = [row["worst_ratio"] for row in rows if row["precision"] == precision
              and row["result"] == "passed"]
    return "%.2g" % max(values) if values else "-"


def main():
    reasons, before = [], None
    print("| results | device, driver | keys | passed | failed | not possible | "
          "worst, single | double | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        name = os.path.splitext(os.path.basename(path))[0]
        keys = ", ".join("`%s`" % key for key in result["keys"])
        for device in result["devices"]:
            rows = device["rows"]
            of = {state: [row for row in rows if row["result"] == state]
                  for state in ("passed", "failed", "not possible")}
            which = ", ".join(device[part] for part in ("name", "platform", "driver"))
            print("| %s | %s | %s | %d | %d | %d | %s | %s | %.0f |" % (
                name, which if which != before else "the same", keys,
                len(of["passed"]), len(of["failed"]), len(of["not possible"]),
                worst(rows, "single"), worst(rows, "double"), device["seconds"]))
            before, seen = which, {}
            for row in of["failed"] + of["not possible"]:
                why = row["why"].splitlines()[0].replace("|", "/")
                why = re.sub(r"order \d+", "order N", why.replace(device["name"], "the device"))
                why = re.sub(r"groups of \d+ work", "groups of more work", why)
                why = re.sub(r"needs [\d.]+ KiB", "needs more", why)
                seen.setdefault((row["result"], why), []).append(
                    "%s, %s" % (row["problem"], row["variant"]))
            for (state, why), cases in seen.items():
                more = ", and %d more" % (len(cases) - 1) if len(cases) > 1 else ""
                reasons.append("| %s | %s | %s%s | %s |" % (name, state, cases[0], more, why))
    if reasons:
        print("\n| results | | rows | why |\n|---|---|---|---|")
        print("\n".join(reasons))


if __name__ == "__main__":
    main()
