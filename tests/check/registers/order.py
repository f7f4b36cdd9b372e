#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The comparison of register traces tells what is missing, what is in another
order, and what is done too early, for each line of each file here."""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

from compare import Access, Expected, amiss, fits  # noqa: E402


def traced(expected, accesses):
    """The text that QEMU would log of these, all else beside."""
    where = {reg: place for place, reg in expected.registers.items()}
    names = {region: name for name, (region, _) in expected.regions.items()}
    for op, reg, value in accesses:
        region, offset = where[reg]
        word = "write" if op == "w" else "read"
        yield (f"1@2.3:memory_region_ops_{word} cpu 0 mr 0x1 addr "
               f"{0xfeb00000 + offset:#x} value {value:#x} size 4 name "
               f"'{names[region]}'\n")
        yield ("1@2.3:memory_region_ops_write cpu 0 mr 0x2 addr 0x3f8 value "
               "0x41 size 1 name 'serial'\n")


def wrong(expected, lines, accesses):
    text = "".join(traced(expected, accesses))
    return amiss(lines, list(expected.accesses(text)))


def check(name, action, expected, lines):
    """How many cases; what is not as it should be is told."""
    done = [line for line in lines if line.how != "!"]
    good = [Access(line.op, line.reg, line.value) for line in done]
    cases = [("as it should be", good, False)]
    for i in range(len(good)):
        cases.append((f"without {done[i].text}", good[:i] + good[i + 1:],
                      True))
    for i in range(len(good) - 1):
        if fits(done[i], good[i + 1]) and fits(done[i + 1], good[i]):
            continue
        cases.append((f"{done[i + 1].text} first", good[:i] +
                      [good[i + 1], good[i]] + good[i + 2:], True))
    for at, line in enumerate(lines):
        if line.how == "!":
            i = sum(1 for before in lines[:at] if before.how != "!")
            cases.append((line.text, good[:i] + [
                Access(line.op, line.reg, line.value)] + good[i:], True))
    for what, accesses, fails in cases:
        said = wrong(expected, lines, accesses)
        if bool(said) != fails:
            sys.exit(f"{name}, {action}, {what}: {said}")
    return len(cases)


def main():
    cases = 0
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".py") or name.startswith((".", "_")):
            continue
        expected = Expected(os.path.join(HERE, name))
        for action, lines in expected.actions.items():
            cases += check(name, action, expected, lines)
    print(f"registers: {cases} cases")


main()
