# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""docs/notes/defects.md: what finds each defect of old when it is brought back."""

import os

import mutants

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__)))), "docs/notes/defects.md")
HEAD = """# Defects that there once were, brought back

Each fix of a defect that docs/notes/reliability.md or a review of the agent names
is taken back in a copy of the sources (`tests/mutation/defects.txt`), and the
simulator runs its scenarios until one fails.  This table says which one does,
and after how many schedules; a schedule takes about a millisecond.
`tests/mutation/sim.py --write` writes it, `make mutation-sim` compares.

| defect | effect | schedules | found by |
|---|---|---|---|
"""
ELSEWHERE = """
Not found by the simulator:

| defect | what finds it, or why nothing can |
|---|---|
"""

# By `on` of a mutant.
GUEST = {"fault": "`viatest fault`, in a guest", "lo": "`viaconform`, in a guest",
         "wire": "`viaconform`, in guests", "unit": "a unit test",
         "regress": "`viatest regress`, in a guest", "sim": "open"}


def text(found, survivors):
    """The whole file."""
    old = [m for m in mutants.MUTANTS if m.defect]
    lines = [HEAD]
    for m in old:
        if m.name in found:
            schedules, by = found[m.name]
            by = by.replace("|", "\\|")
            scenario, _, said = by.partition(": ")
            lines.append(f"| `{m.name}` | {m.why} | {schedules or ''} | "
                         f"`{scenario}`: {said} |\n" if said else
                         f"| `{m.name}` | {m.why} | {schedules or ''} | "
                         f"{scenario} |\n")
    rest = [m for m in old if m.name not in found]
    if rest:
        lines.append(ELSEWHERE)
        lines += [f"| `{m.name}` | {survivors.get(m.name, GUEST[m.on])} |\n"
                  for m in rest]
    return "".join(lines)


def write(found, survivors):
    """Bring the file up to date."""
    with open(PATH, "w") as file:
        file.write(text(found, survivors))
