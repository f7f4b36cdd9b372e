#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Spelling, words and lengths of Markdown and man pages; behind make lint.

codespell checks them against its own dictionary and against words.txt.
Habits are counted over all files, code left out, and have a limit each.
Lines of Markdown have fewer than 100 characters, README.md at most 140 lines:
docs/contribute/style.md has the rules.  Options: --list prints each place of
the habits.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(HERE)
# name, pattern, highest number of places in all files together
HABITS = (
    ("a clause with 'what' in the place of a noun",
     r"\bwhat\s+(?:is|has|was|are|they|it|makes|comes|goes|stands|one|the|"
     r"a)\b", 25),
    ("a thing that tells, knows, hears or believes",
     r"\b(?:tells|told|knows|hears|believed?)\b", 25),
    ("words of this house: 'in vain', a look, a bound, a way",
     r"\bin\s+vain\b|\b(?:a|the|each|last|second|empty)\s+looks?\b(?!-)|"
     r"\blook(?:s|ed)\s+at\b|\bbounded\b|\bout\s+of\s+bounds\b|"
     r"\b(?:no|the|this|without)\s+bound\b|\bthe\s+way\s+of\b", 0),
)
# Characters of a line of Markdown that is neither code nor of a table, and
# lines of the README.
WIDTH, README = 99, 140
# Lines marked as right, and code spans.
SKIP = r"^.*codespell:ignore.*$|`[^`]+`"


def files():
    """All Markdown and man pages, without what is built."""
    found = glob.glob("*.md") + glob.glob("docs/man/*.[1-9]")
    for top in ("docs", "examples", "tests", "bindings", "fabric", "tools"):
        found += glob.glob(f"{top}/**/*.md", recursive=True)
    return sorted(set(found))


def prose(name, text):
    """The text with code blocks and code spans blank, line for line."""
    block, span = ((r"^ *```.*?^ *```", r"`[^`]+`") if name.endswith(".md")
                   else (r"^\.(?:nf|EX)$.*?^\.(?:fi|EE)$", r"^\.\\\".*?$"))
    ignored = r"^[^\n]*codespell:ignore[^\n]*$"
    for pattern in (block, span, ignored):
        text = re.sub(pattern, lambda m: "\n" * m.group().count("\n"), text,
                      flags=re.S | re.M)
    return text


def places(pattern, texts):
    """(file, line, words) of each place in {file: text}."""
    for name, text in texts.items():
        for match in re.finditer(pattern, text, re.I):
            yield name, text.count("\n", 0, match.start()) + 1, match.group()


def habits(texts, shown):
    """Whether each habit stays within its limit."""
    good = True
    for name, pattern, limit in HABITS:
        found = list(places(pattern, texts))
        if shown or len(found) > limit:
            for file, line, words in found:
                print(f"{file}:{line}: {' '.join(words.split())}")
        if shown or len(found) > limit:
            print(f"words: {len(found)} of at most {limit}: {name}")
        good = good and len(found) <= limit
    return good


def lengths(texts):
    """Whether lines of Markdown stay within WIDTH, and the README in README.
    A line of a table may be longer, and one whose last word, an address or a
    link, begins within WIDTH."""
    good = True
    for name, text in texts.items():
        if not name.endswith(".md"):
            continue
        code = False
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("```"):
                code = not code
            start = len(line.rpartition(" ")[0])
            link = "](" in line[start:] or "://" in line[start:]
            if code or len(line) <= WIDTH or line.lstrip().startswith("|") \
                    or link and start < WIDTH:
                continue
            print(f"{name}:{number}: {len(line)} characters of {WIDTH}")
            good = False
        if name == "README.md" and len(lines) > README:
            print(f"{name}: {len(lines)} lines of at most {README}")
            good = False
    return good


def spelling(names):
    """Whether codespell is installed, and finds nothing."""
    if not shutil.which("codespell"):
        print("words: no codespell: apt-get install codespell")
        return False
    done = subprocess.run(
        ["codespell", "--builtin", "clear", "--dictionary", "-",
         "--dictionary", os.path.join(HERE, "words.txt"), "--ignore-words",
         os.path.join(HERE, "words-right.txt"), "--ignore-regex", SKIP,
         *names])
    return done.returncode == 0


def main():
    os.chdir(ROOT)
    names = files()
    texts = {}
    for name in names:
        with open(name, encoding="utf-8") as file:
            texts[name] = file.read()
    good = lengths(texts)
    texts = {name: prose(name, text) for name, text in texts.items()}
    good = habits(texts, "--list" in sys.argv[1:]) and good
    return 0 if spelling(names) and good else 1


if __name__ == "__main__":
    sys.exit(main())
