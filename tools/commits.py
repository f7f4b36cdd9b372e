#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Whether commits are as CONTRIBUTING.md, "Commits", wants them.

commits.py [RANGE]: of that range; else those since these rules last changed,
or since the last tag if that is newer.  Status 1 if one is not.
"""

import collections
import os
import re
import subprocess
import sys

PREFIXES = ("agent", "ether", "drivers", "verbs", "vipl", "providers",
            "fabric", "tools", "lab", "sim", "tests", "check", "bench", "docs",
            "build")
SUBJECT, BODY, LINES = 80, 80, 500
PREFIX = re.compile(r"([a-z]+(?:, [a-z]+)*): \S")
FIXES = re.compile(r'[0-9a-f]{12,40} \("(.+)"\)$')


def git(*words, check=True):
    done = subprocess.run(("git",) + words, check=check, text=True,
                          errors="replace", capture_output=True)
    return done.stdout


def new_lines(commit):
    """Lines that it adds, without those that it takes away elsewhere."""
    lines = {"+": collections.Counter(), "-": collections.Counter()}
    for line in git("show", "-M", "-U0", "--format=", commit).splitlines():
        if line[:1] in lines and not line.startswith(("+++ ", "--- ")):
            lines[line[0]][line[1:].strip()] += 1
    return sum((lines["+"] - lines["-"]).values())


def complaints(commit):
    subject, _, body = git("show", "-s", "--format=%B",
                           commit).strip().partition("\n")
    revert = subject.startswith("Revert \"")
    found = PREFIX.match(subject)
    if not revert and not found:
        yield "the first line does not begin with a prefix"
    elif not revert:
        for word in found[1].split(", "):
            if word not in PREFIXES:
                yield f"{word} is none of the prefixes"
    if not revert and (len(subject) > SUBJECT or subject.endswith(".")):
        yield f"the first line is longer than {SUBJECT}, or has a full stop"
    if not body.strip():
        yield "no reason is given"
    elif body[:1] != "\n":
        yield "no empty line behind the first one"
    if any(len(line) > BODY and " " in line.strip() and
           not line.startswith("Fixes:") for line in body.splitlines()):
        yield f"a line is longer than {BODY}"
    for line in body.splitlines():
        if line.startswith("Fixes:"):
            found = FIXES.match(line[6:].strip())
            if not found:
                yield 'a line is not: Fixes: 12 digits ("first line")'
            elif git("show", "-s", "--format=%s", line.split()[1],
                     check=False).strip() != found[1]:
                yield f"Fixes: {line.split()[1]} is not that commit"
    lines = new_lines(commit)
    if lines > LINES:
        yield f"{lines} new lines: a commit has {LINES} at most"


def since():
    """Where the range begins: the newer one."""
    rules = git("log", "-1", "--format=%H", "--",
                os.path.relpath(__file__, git("rev-parse", "--show-toplevel")
                                .strip())).strip()
    tag = git("describe", "--tags", "--abbrev=0", check=False).strip()
    if tag and (not rules or not git("rev-list", "-1", f"{tag}..{rules}")):
        return tag
    return rules


def main(words):
    os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..")
             if not words else ".")
    start = None if words else since()
    if not words and not start:
        return 0
    bad = 0
    for commit in git("rev-list", "--reverse", "--no-merges",
                      words[0] if words else f"{start}..HEAD").split():
        for complaint in complaints(commit):
            print(f"{git('show', '-s', '--format=%h %s', commit).strip()}:\n"
                  f"\t{complaint}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
