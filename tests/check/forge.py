#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The parts of make check that .github/workflows/check.yml runs are all of it: each part
has steps, and each step of `make check --list` is in a part or in `make test`."""

import os
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import check  # noqa: E402
import choose  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
WORKFLOW = ".github/workflows/check.yml"


def lines(*command):
    """What a command prints, without the line of numbers at its end."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          check=True).stdout.splitlines()


def parts():
    """The commands of the matrix."""
    with open(os.path.join(ROOT, WORKFLOW), encoding="utf-8") as file:
        return re.findall(r"^ +- (make .*)$", file.read(), re.M)


def steps(command):
    """The steps of a part of make check; None: it is another."""
    words = shlex.split(command)
    if words[1] != "check":
        return None
    name, _, value = words[2].partition("=")
    if name == "K":
        try:
            return set(check.only("check", [value]))
        except choose.Unclear:
            return set()
    words = shlex.split(value)
    if set(words[::2]) != {"-k"}:
        raise SystemExit(f"{WORKFLOW}: {command}: options other than -k")
    return set(check.listed("check", words[1::2]).names)


def main():
    left, bad = set(check.listed("check").names), []
    whole = len(left)
    if "make test" in parts():
        left -= set(t.partition("  (needs")[0] for t in lines(
            os.path.join(ROOT, "tests/test/test.py"), "--", "list"))
    for part in parts():
        found = steps(part)
        if found is None:
            continue
        if not found:
            bad.append(f"{part}: no step of make check")
        left -= found
    bad += [f"{name}: in no part" for name in sorted(left)]
    for why in bad:
        print(f"{WORKFLOW}: {why}")
    if len(parts()) < 10:
        bad.append("few")
        print(f"{WORKFLOW}: only {len(parts())} parts are found")
    print(f"forge: {whole} steps in {len(parts())} parts")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
