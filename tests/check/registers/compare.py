# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A trace of what a driver did to a chip's registers, and what it has to do.

A file of expectations is a table of regions (name, QEMU's name, bytes) and of
registers (name, region, offset), and for each action a list, in order:

	w REG [VALUE/MASK]	this is written
	r REG [VALUE/MASK]	this is read
	! w REG [VALUE/MASK]	from here on it is not done, until a line
	. w REG [VALUE/MASK]	says that it is: it is expected, and may follow

What else is done between is not looked at.  Words behind a tab say why."""

import collections
import re

Access = collections.namedtuple("Access", "op reg value")
Line = collections.namedtuple("Line", "how op reg value mask text")

TRACED = re.compile(r"memory_region_ops_(read|write) .*addr (0x[0-9a-f]+) "
                    r"value (0x[0-9a-f]+) .*name '([^']*)'")


class Expected:
    """What a file has."""

    def __init__(self, path):
        self.regions, self.registers, self.actions = {}, {}, {}
        lines = None
        with open(path) as file:
            for text in file:
                words = text.partition("#")[0].split("\t")[0].split()
                if not words:
                    continue
                if words[0] == "region":
                    self.regions[words[2]] = (words[1], int(words[3], 0))
                elif words[0] == "reg":
                    self.registers[words[2], int(words[3], 0)] = words[1]
                elif words[0].endswith(":"):
                    lines = self.actions[words[0][:-1]] = []
                else:
                    lines.append(self.line(words, text.strip()))

    def line(self, words, text):
        how = words.pop(0) if words[0] in "!." else ""
        op, reg, number = (words + ["0/0"])[:3]
        if reg not in self.registers.values() or op not in ("r", "w"):
            raise ValueError(f"what is '{text}'?")
        value, mask = (int(part, 0) for part in number.split("/"))
        return Line(how, op, reg, value, mask, text)

    def accesses(self, trace):
        """Those of a trace that are to registers of the table."""
        for op, addr, value, name in TRACED.findall(trace):
            region, size = self.regions.get(name, (None, 1))
            reg = self.registers.get((region, int(addr, 0) % size))
            if reg:
                yield Access(op[0], reg, int(value, 0))


def fits(line, access):
    return (line.op, line.reg, line.value) == (
        access.op, access.reg, access.value & line.mask)


def amiss(lines, accesses):
    """The first line that was not done in its turn, or None."""
    never, left = [], iter(accesses)
    for line in lines:
        if line.how == "!":
            never.append(line)
            continue
        if line.how == ".":
            never = [n for n in never if n.reg != line.reg or
                     n.value & line.mask != line.value & n.mask]
        for access in left:
            if fits(line, access):
                break
            for early in never:
                if fits(early, access):
                    return f"{early.text}: done before {line.text}"
        else:
            return f"{line.text}: not done in its turn"
    return None
