#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Messages: whether each in docs/howto/troubleshooting.md is one that the sources
have (a line of a ```text block fits the format of a string there), whether those
of the lists and of the tools fit 80 columns, are used, and are all that the
sources print, and whether docs/reference/errors.md has them.  --write writes
that page."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
PAGE = "docs/howto/troubleshooting.md"
SOURCES = ("vipl", "providers/*", "tools", "tools/*", "core", "kernel",
           "devices", "devices/*", "verbs")
# A list, what precedes its lines, the columns that a reason at the end of a
# fault has, where it is used, and the calls there that print.
LISTS = (
    ("vipl/messages.h", "vipl: ", 8, ("vipl", "providers/ka", "tools/common",
                                      "tools/via"),
     r"vipl_msg|vipl_note|vipl_reason|vipl_conf_warn|ka_host->msg"),
    ("providers/messages.h", "vipl: ", 42,
     ("providers/engine", "providers/link", "providers/shm", "providers/ofi"),
     r"(?:shm_host|ofi_host|eng_host)->msg|conf\.msg|link_tell"),
    ("tools/via/messages.h", "via: ", 44, ("tools/via",),
     r"warn_msg|die|usage_error|mistake"),
)
# What else precedes a message by the beginning of its name.
BEFORE = {"MSG_LINE_": "/etc/mvia/mvia.conf:12: ", "MSG_OFI_": "ofi:tcp: "}
# Tools without a list: their messages are where they are printed.
CALLS = re.compile(r'\b(?:warn_msg|die|die_usage)\(((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
SHELL = re.compile(r'\bdie "((?:[^"\\]|\\.)*)"')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
JOINED = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
SPEC = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j)?[a-zA-Z]")
ERRORS = "docs/reference/errors.md"
MACRO = re.compile(r"^#define (MSG_\w+)\s+((?:.*\\\n)*.*)", re.M)
COLUMNS = 80
# What a conversion usually becomes, for the width of a line.
WIDTH = {"s": 8, "u": 4, "d": 4, "lu": 8, "llu": 6, "zu": 3, "p": 14,
         "ld": 4, "lx": 4, "x": 3, "c": 1, "f": 4}
PLACE = {"s": "NAME", "p": "ADDRESS"}
HEAD = """# Error messages

Each message is the fault and, below it, the remedy. NAME, NUMBER and ADDRESS stand for the
parts that differ; messages are in the order of the alphabet. By symptom:
[troubleshooting](../howto/troubleshooting.md).
"""
SECTIONS = {
    "vipl/messages.h": """## Library

Each line begins with `vipl:` on standard error, unless `VIPL_LOG=none` is set;
[VipExtLastError(3)](../man/VipExtLastError.3) returns both to the program. `via` has some of
them, too, without the kernel agent.
""",
    "providers/messages.h": """## Plug-ins

The messages of [shm](../man/vipl_shm.7) and [ofi](../howto/ofi.md) begin with `vipl:`, too.
""",
    "tools/via/messages.h": """## via

Each line begins with `via:` on standard error. The status of [via(8)](../man/via.8) is 2 for a
wrong command line, which the line `via: see via help` follows, and 1 for the others.
""",
}
TOOLS = """## Other tools

Messages of `viainfo`, `viaping`, `viastat`, `vipl_lat`, `vipl_bw` and `via-bind`, behind the
tool's name.
"""
KERNEL = (
    ("## Kernel: answers\n\n"
     "Why the kernel refuses what `via` asks for: the end of the first line of "
     "via's message.\n", 44, re.compile(
         r"\bNL_SET_ERR_MSG\w*\(.*?\);|"
         r"\[VIA_REFUSE_\w+\] =\s*\"[^\"]*\"", re.S)),
    ("## Kernel: log\n\n"
     "Lines of `dmesg`, behind the module's or the card's name.\n",
     COLUMNS, re.compile(
         r"\b(?:pr|dev|netdev|ibdev)_(?:err|warn|notice|info)"
         r"(?:_ratelimited|_once)?\(.*?\);\n", re.S)),
)
# Of a line, so much is the format's own text.
SHARE, LEAST = 0.4, 12


def formats():
    """Every string with words in it, and how much of it is text."""
    for folder in SOURCES:
        for path in glob.glob(os.path.join(ROOT, folder, "*.c")):
            with open(path) as file:
                for match in JOINED.finditer(file.read()):
                    text = "".join(LITERAL.findall(match.group()))
                    yield from patterns(text.replace('\\"', '"').split("\\n"))
    for text in all_listed().values():
        yield from patterns(text.split("\n"))


def patterns(lines_):
    """(pattern, how much of it is text) of lines that have words."""
    for line in map(str.strip, lines_):
        parts = SPEC.split(line.replace("%%", "%"))
        size = sum(map(len, parts))
        if " " in line and size >= LEAST:
            yield re.compile(".*?".join(map(re.escape, parts))), size


def read(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


def listed(path):
    """{name: text} of a list; a macro may be a part of others."""
    macros = dict(MACRO.findall(read(path)))
    every = {n: t for p, *_ in LISTS for n, t in MACRO.findall(read(p))}

    def text(name):
        return "".join(
            text(word) if word else literal.replace('\\"', '"').replace(
                "\\n", "\n")
            for word, literal in re.findall(
                r'\b(MSG_\w+)|"((?:[^"\\\n]|\\.)*)"', every[name]))
    return {name: text(name) for name in macros}


def all_listed():
    return {n: t for path, *_ in LISTS for n, t in listed(path).items()}


def sources(folders, ext=".c"):
    """(path, text) of each file."""
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "*" + ext))):
            with open(path) as file:
                yield os.path.relpath(path, ROOT), file.read()


def of_tools():
    """(path, text) of each message of tools without a list."""
    for path, source in sources(("tools", "tools/common")):
        for call in CALLS.findall(source):
            text = "".join(LITERAL.findall(call)).replace('\\"', '"')
            if text != "%s":
                yield path, text.replace("\\n", "\n")
    for text in SHELL.findall(read("tools/via-bind")):
        yield "tools/via-bind", re.sub(r"\$\w+|\$\{[^}]*\}", "%s", text)


def placed(line):
    """A line as the reference has it."""
    line = line.replace("/dev/%s", "/dev/via_eth0")
    return SPEC.sub(lambda m: PLACE.get(m.group()[-1], "NUMBER"), line)


def of_kernel(pattern):
    """(path, text) of each message of the kernel's."""
    for path, source in sources(("kernel", "devices", "devices/*", "verbs")):
        for call in pattern.findall(source):
            text = JOINED.search(call)
            if text:
                yield path, "".join(LITERAL.findall(text.group())).replace(
                    '\\"', '"').removesuffix("\\n")


def entry(text):
    """A message as the page has it, and its place there."""
    fault, _, remedy = placed(text).partition("\n")
    key = re.sub(r"^(?:'?NAME'?|NUMBER|/dev/via_eth0)[ :,.]*", "", fault)
    return key.lower(), f"\n```text\n{fault}\n{remedy}{remedy and chr(10)}```\n"


def of_list(path):
    """The messages of a list; what others are made of is no message."""
    source = read(path)
    for name, text in listed(path).items():
        if len(re.findall(rf"\b{name}\b", source)) > 1 or name in REMEDIES:
            continue
        if text.endswith("\n%s"):
            remedy = "as root: " + ", or ".join(
                listed(path)[r].removeprefix("as root: ").replace(
                    "%s", "INTERFACE")
                for r in REMEDIES if r.startswith("MSG_AS_ROOT"))
            if "provider" in text:
                remedy = listed(path)["MSG_OTHER_PLUGINS"]
            text = text[:-2] + remedy
        # /etc/mvia/mvia.conf:12
        yield re.sub(r"^/\S+:\d+", "NAME:NUMBER", before(name, text)) + text


def before(name, text):
    """What the program puts before it."""
    part = next((b for n, b in BEFORE.items() if name.startswith(n)), "")
    return "" if text.startswith("ofi:%") else part


def reference():
    """The page of all messages."""
    page = HEAD
    for path, text in SECTIONS.items():
        page += "\n" + text + "".join(
            e for _, e in sorted(set(map(entry, of_list(path)))))
    for head, _, pattern in KERNEL:
        page += "\n" + head + "".join(
            e for _, e in sorted({entry(t) for _, t in of_kernel(pattern)}))
    return page + "\n" + TOOLS + "".join(
        e for _, e in sorted({entry(t) for _, t in of_tools()}))


# Second lines that are chosen when the program runs.
REMEDIES = ("MSG_AS_ROOT_MODULES", "MSG_AS_ROOT_ATTACH", "MSG_LOAD_LO",
            "MSG_ATTACH_UDP", "MSG_TOOLS_RELEASE", "MSG_OTHER_PLUGINS")


def too_wide(where, text, prefix, reason=8):
    """The lines of a message that a terminal would break."""
    for line in text.split("\n"):
        last = re.search(r": %s$", line) and reason != 8
        shown = SPEC.sub(lambda m: "x" * WIDTH[re.sub(
            r"[-+ #0-9.*%]", "", m.group())], line)
        wide = len(prefix) + len(shown) + (reason - WIDTH["s"] if last else 0)
        if wide > COLUMNS:
            yield f"{where}: {wide} columns: {line}"


def faults_of_list(path, prefix, reason, folders, calls):
    """What is wrong with one list."""
    used = "".join(read(p) for p, *_ in LISTS).replace("#define ", "#define_")
    for name, source in sources(folders):
        used += source
        for call in re.findall(
                rf'\b(?:{calls})\((?:f, |l, |s, \w+, |s->\w+, |'
                r'\w+->\w+, )*("[^"]*")', source):
            if call not in ('"%s"', '""') and not name.startswith(
                    "tools/common/"):
                yield f"{name}: {call} is not in {path}"
    for name, text in listed(path).items():
        if not re.search(rf"\b{name}\b", used):
            yield f"{path}: {name} is not used"
        if text.count("\n") > 1:
            yield f"{path}: {name} has more than two lines"
        fault, newline, remedy = text.partition("\n")
        yield from too_wide(f"{path}: {name}", before(name, text) + fault,
                            prefix, reason)
        if newline:
            yield from too_wide(f"{path}: {name}", remedy, prefix)


def faults():
    """What is wrong with all of them."""
    names = [n for path, *_ in LISTS for n in listed(path)]
    yield from (f"{n} is in two lists" for n in sorted(set(names))
                if names.count(n) > 1)
    for one in LISTS:
        yield from faults_of_list(*one)
    for path, text in of_tools():
        yield from too_wide(path, text, "vipl_lat: ")
    for _, columns, pattern in KERNEL:
        for path, text in of_kernel(pattern):
            yield from too_wide(path, text, " " * (COLUMNS - columns))
    try:
        same = read(ERRORS) == reference()
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
    quoted = list(lines(read(PAGE)))
    bad = [f"{PAGE}:{n}: no source has the message: {line}"
           for n, line in quoted if not known(line, found)]
    bad += faults()
    # The check itself: what no source says is reported, and what is too wide.
    if known("no VI NIC for the moment, and this is said by none", found):
        bad.append("messages: a line that no source has passes")
    if not list(too_wide("", "%s " * 9, "")):
        bad.append("messages: a line of 81 columns passes")
    print(*bad, f"messages: {len(quoted)} quoted, {len(bad)} not there",
          sep="\n")
    return 1 if bad or len(quoted) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
