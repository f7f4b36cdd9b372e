#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Messages: whether each in docs/howto/troubleshooting.md is one that the sources
have (a line of a ```text block fits the format of a string there), whether those
of vipl/messages.h fit 80 columns, are used, and are all of the library's, and
whether docs/reference/errors.md is the list of them.  --write writes that page."""

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
LIST, ERRORS = "vipl/messages.h", "docs/reference/errors.md"
MACRO = re.compile(r"^#define (MSG_\w+)\s+((?:.*\\\n)*.*)", re.M)
COLUMNS, PREFIX = 80, "vipl: "
# What a conversion usually becomes, for the width of a line.
WIDTH = {"s": 8, "u": 4, "d": 4, "lu": 8, "llu": 6, "zu": 3, "p": 14,
         "lx": 4, "x": 3}
PLACE = {"s": "NAME", "p": "ADDRESS"}
HEAD = """# Error messages

Messages of the library, and of `via` without the kernel agent, A to Z: the fault and, below
it, the remedy. NAME, NUMBER and ADDRESS stand for the parts that differ. Each line begins with
`vipl:` on standard error, unless `VIPL_LOG=none` is set;
[VipExtLastError(3)](../man/VipExtLastError.3) returns both to the program. By symptom:
[troubleshooting](../howto/troubleshooting.md).
"""
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
    for text in listed().values():
        for line in text.split("\n"):
            parts = SPEC.split(line)
            if sum(map(len, parts)) >= LEAST:
                yield (re.compile(".*?".join(map(re.escape, parts))),
                       sum(map(len, parts)))


def listed():
    """{name: text} of the list; a macro may be a part of others."""
    with open(os.path.join(ROOT, LIST)) as file:
        macros = dict(MACRO.findall(file.read()))

    def text(name):
        return "".join(
            text(word) if word else literal.replace('\\"', '"').replace(
                "\\n", "\n")
            for word, literal in re.findall(
                r'\b(MSG_\w+)|"((?:[^"\\\n]|\\.)*)"', macros[name]))
    return {name: text(name) for name in macros}


def placed(line):
    """A line as the reference has it."""
    line = line.replace("/dev/%s", "/dev/via_eth0")
    return SPEC.sub(lambda m: PLACE.get(m.group()[-1], "NUMBER"), line)


def reference():
    """The page of all messages; what others are made of is no message."""
    with open(os.path.join(ROOT, LIST)) as file:
        source = file.read()
    entries = []
    for name, text in listed().items():
        if len(re.findall(rf"\b{name}\b", source)) > 1 or name in REMEDIES:
            continue
        fault, _, remedy = text.partition("\n")
        if remedy == "%s":
            remedy = "as root: " + ", or ".join(
                listed()[r].removeprefix("as root: ").replace("%s", "INTERFACE")
                for r in REMEDIES if r.startswith("MSG_AS_ROOT"))
            if "provider" in fault:
                remedy = listed()["MSG_PLUGINS"]
        entries.append((placed(fault), placed(remedy)))
    entries.sort(key=lambda e: re.sub(
        r"^(?:'?NAME'?|NUMBER|/dev/via_eth0)[ :,.]*", "", e[0]).lower())
    return HEAD + "".join(
        f"\n```text\n{fault}\n{remedy + chr(10) if remedy else ''}```\n"
        for fault, remedy in entries)


# Second lines that are chosen when the program runs.
REMEDIES = ("MSG_AS_ROOT_MODULES", "MSG_AS_ROOT_ATTACH", "MSG_LOAD_LO",
            "MSG_ATTACH_UDP", "MSG_TOOLS_RELEASE")


def faults_of_list():
    """What is wrong with the list itself."""
    used = ""
    for folder in ("vipl", "providers/ka", "tools/common", "tools/via"):
        for path in glob.glob(os.path.join(ROOT, folder, "*.c")):
            with open(path) as file:
                source = file.read()
            used += source
            for call in re.findall(
                    r'\b(?:vipl_msg|vipl_note|vipl_reason|vipl_conf_warn|'
                    r'ka_host->msg)\((?:f, )?("[^"]*")', source):
                if call != '"%s"':
                    yield f"{path}: {call} is not in {LIST}"
    with open(os.path.join(ROOT, LIST)) as file:
        used += file.read().replace("#define ", "#define_")
    for name, text in listed().items():
        if not re.search(rf"\b{name}\b", used):
            yield f"{LIST}: {name} is not used"
        if text.count("\n") > 1:
            yield f"{LIST}: {name} has more than two lines"
        for line in text.split("\n"):
            wide = len(PREFIX) + len(SPEC.sub(lambda m: "x" * WIDTH[
                re.sub(r"[-+ #0-9.*%]", "", m.group())], line))
            if wide > COLUMNS:
                yield f"{LIST}: {name}: {wide} columns: {line}"
    try:
        with open(os.path.join(ROOT, ERRORS)) as file:
            same = file.read() == reference()
    except FileNotFoundError:
        same = False
    if not same:
        yield f"{ERRORS} is not the list: tests/said/messages.py --write"


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
    if sys.argv[1:] == ["--write"]:
        with open(os.path.join(ROOT, ERRORS), "w") as file:
            file.write(reference())
    found = list(formats())
    with open(os.path.join(ROOT, PAGE)) as file:
        quoted = list(lines(file.read()))
    bad = [f"{PAGE}:{n}: no source has the message: {line}"
           for n, line in quoted if not known(line, found)]
    bad += faults_of_list()
    # The check itself: what no source says is told.
    if known("no VI NIC for the moment, and this is said by none", found):
        bad.append("messages: a line that no source has passes")
    print(*bad, f"messages: {len(quoted)} quoted, {len(bad)} not there",
          sep="\n")
    return 1 if bad or len(quoted) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
