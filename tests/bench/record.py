# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The last run that was recorded, and what is better and worse since.

recorded.jsonl has figures that are the same on every host: counted instructions
and memory.  Its figures come from runs without --quick, which bench.py --record
puts there; the first line of each such run comes before its figures.
"""

import json
import os

PATH = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                    "recorded.jsonl")
KEY = ("bench", "path", "nic", "level", "wait", "size", "unit")
# Of these more is worse.
UNITS = ("instructions", "instr-per-byte", "bytes")
# Exact figures repeat within 0.3 %.
SAME = 0.005


def key(figure):
    return tuple(figure[k] for k in KEY)


def comparable(figure):
    return figure["unit"] in UNITS


def load(path=PATH):
    """({key: (value, the run that it is of)}, [run])."""
    values, runs = {}, []
    if not os.path.exists(path):
        return values, runs
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "run" in row:
                runs.append(row["run"])
            else:
                values[key(row)] = (row["value"], runs[-1])
    return values, runs


def save(figures, run, path=PATH):
    """These figures in place of those of the same name."""
    values, _ = load(path)
    values.update((key(f), (f["value"], run)) for f in figures
                  if comparable(f))
    runs = []
    for _, of in values.values():
        if of not in runs:
            runs.append(of)
    with open(path + ".new", "w", encoding="utf-8") as file:
        for run in runs:
            file.write(json.dumps({"run": run}) + "\n")
            for name, (value, of) in values.items():
                if of == run:
                    file.write(json.dumps({**dict(zip(KEY, name)),
                                           "value": value}) + "\n")
    os.rename(path + ".new", path)


def changes(figures, recorded, machine):
    """(rows, how many are the same): a row is (change, figure, old value, run),
    the worst first.  What another kind of machine counted is another thing."""
    rows, same = [], 0
    newest = {key(f): f for f in figures if comparable(f)}
    for name, figure in newest.items():
        old, run = recorded.get(name, (None, None))
        if not old or run["machine"] != machine:
            continue
        change = figure["value"] / old - 1
        if abs(change) <= SAME:
            same += 1
        else:
            rows.append((change, figure, old, run))
    return sorted(rows, key=lambda row: -row[0]), same


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.3f}"


def table(part, figures, recorded, machine):
    """The lines that end a part."""
    rows, same = changes(figures, recorded, machine)
    if not rows and not same:
        return [f"# part {part}: nothing of it was recorded before"]
    lines = [f"# part {part}, beside the last recorded run: "
             f"{sum(r[0] > 0 for r in rows)} worse, "
             f"{sum(r[0] < 0 for r in rows)} better, {same} within "
             f"{SAME:.1%}"]
    for change, figure, old, run in rows:
        name = " ".join(str(figure[k]) for k in KEY if figure[k] != "-")
        lines.append(f"#   {'worse' if change > 0 else 'better'} "
                     f"{change:+7.1%}  {number(figure['value']):>12}  "
                     f"{number(old):>12} of {run['date']} {run['commit']}  "
                     f"{name}")
    return lines
