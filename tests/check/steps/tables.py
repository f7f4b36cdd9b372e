# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""build/conformance/tables.md, out of what runs of viaconform have left: a
file for each run, as make check-full writes them."""

import glob
import json
import os

LEVELS = {"unreliable": "U", "rd": "D", "rr": "R"}
SUITES = ("early", "functional", "full")


class Run:
    """One run of the suite: where, when, and a verdict for each test."""

    def __init__(self, path):
        with open(path) as file:
            where, head, *tests, end = map(json.loads, file)
        self.kernel, self.nic = where["kernel_name"], where["nic"]
        self.machines = where["machines"]
        self.release, self.cpus = head["kernel"], head["cpus"]
        self.date, self.end, self.tests = head["date"], end, tests
        if end.get("ran") != len(tests):
            raise ValueError(f"{path}: {len(tests)} tests, not "
                             f"{end.get('ran')}")

    def column(self):
        return self.nic, self.machines

    def failed(self):
        return sum(not t["passed"] for t in self.tests)

    def name(self):
        return f"{self.kernel}, {self.cpus} CPU{'s' * (self.cpus > 1)}"


def load(folder):
    runs = [Run(p) for p in sorted(glob.glob(os.path.join(folder,
                                                          "*.jsonl")))]
    if not runs:
        raise ValueError(f"no results in {folder}: make check-full")
    return runs


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def header(cells):
    return row(cells) + row(["---"] * len(cells))


def run_table(runs):
    text = header(["kernel", "CPUs", "NIC", "machines", "tests", "failed",
                   "seconds", "date"])
    for r in sorted(runs, key=lambda r: (r.kernel, r.cpus, r.nic,
                                         r.machines)):
        text += row([f"{r.kernel} ({r.release})", str(r.cpus), r.nic,
                     ("one", "two")[r.machines - 1], str(r.end["ran"]),
                     str(r.failed()), f"{r.end['ms'] / 1000:.1f}",
                     r.date])
    return text


def cell(group, runs):
    """What a group did in all runs of a column: the levels at which it
    passed in each, and where it failed."""
    seen, bad = {}, {}
    for run in runs:
        for test in run.tests:
            if test["group"] != group:
                continue
            level = LEVELS.get(test["level"], "ok")
            seen.setdefault(level, 0)
            if not test["passed"]:
                bad.setdefault(level, []).append(run.name())
    if not seen:
        return "-"
    parts = [level for level in seen if level not in bad]
    parts += [f"**{level} failed: {'; '.join(names)}**"
              for level, names in bad.items()]
    return " ".join(parts)


def group_table(runs):
    columns = sorted({r.column() for r in runs},
                     key=lambda c: (c[0] != "via_lo", c))
    groups = {}
    for run in runs:
        for test in run.tests:
            groups.setdefault(test["group"], test)
    text = header(["group", "section", "suite"] + [
        nic if nic == "via_lo" else f"{nic} {'×2' if two == 2 else '×1'}"
        for nic, two in columns])
    for name, test in groups.items():
        text += row([f"`{name}`", test["section"], test["suite"]] + [
            cell(name, [r for r in runs if r.column() == c])
            for c in columns])
    return text, groups


def generate(runs):
    text, groups = group_table(runs)
    count = [sum(SUITES.index(t["suite"]) <= n for t in groups.values())
             for n in range(3)]
    failed = sum(r.failed() for r in runs)
    tests = sum(r.end["ran"] for r in runs)
    result = (f"\n## Runs\n\n{len(runs)} runs, {tests} tests, "
              f"{failed or 'none'} failed.\n\n{run_table(runs)}\n## Groups\n\n"
              f"{count[0]} Early Adopter, {count[1]} Functional, {count[2]} "
              "Full, each with those before it.  ×1 is both ends on one "
              "machine, ×2 on two.\nU, D, R: passed at Unreliable, Reliable "
              "Delivery, Reliable Reception in every run of the\ncolumn; ok: "
              "passed in every run, and does not depend on the level; -: not "
              "run.\n\n")
    return result + text


def write(check):
    """Out of what the runs of the suite have left in a folder."""
    text = generate(load(check.results))
    with open(os.path.join(check.results, "tables.md"), "w") as file:
        file.write(text)
