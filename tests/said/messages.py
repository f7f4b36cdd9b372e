#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Whether each message in docs/howto/troubleshooting.md is one that the sources
have: a line of a ```text block fits the format of a string there."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
PAGE = "docs/howto/troubleshooting.md"
SOURCES = ("vipl", "providers/*", "tools", "tools/*", "kernel", "devices",
           "devices/*", "verbs")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
JOINED = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
SPEC = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j)?[a-zA-Z]")
# Of a line, so much is the format's own text.
SHARE, LEAST = 0.4, 12


def formats():
    """Every string with words in it, and how much of it is text."""
    for folder in SOURCES:
        for path in glob.glob(os.path.join(ROOT, folder, "*.c")):
            with open(path) as file:
                for match in JOINED.finditer(file.read()):
                    text = "".join(LITERAL.findall(match.group()))
                    text = text.replace('\\"', '"').replace("\\n", "").strip()
                    parts = SPEC.split(text.replace("%%", "%"))
                    if " " in text and sum(map(len, parts)) >= LEAST:
                        yield (re.compile(".*?".join(map(re.escape, parts))),
                               sum(map(len, parts)))


def known(line, found):
    """Whether a string of the sources is in the line, as most of it."""
    return any(size >= SHARE * len(line) and pattern.search(line)
               for pattern, size in found)


def lines(page):
    """(number, line) of the messages."""
    inside = False
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("```"):
            inside = line == "```text"
        elif inside:
            yield number, line


def main():
    found = list(formats())
    with open(os.path.join(ROOT, PAGE)) as file:
        quoted = list(lines(file.read()))
    bad = [f"{PAGE}:{n}: no source has the message: {line}"
           for n, line in quoted if not known(line, found)]
    # The check itself: what no source says is told.
    if known("no VI NIC for the moment, and this is said by none", found):
        bad.append("messages: a line that no source has passes")
    print(*bad, f"messages: {len(quoted)} quoted, {len(bad)} not there",
          sep="\n")
    return 1 if bad or len(quoted) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
