# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What documents name: commands, code spans, links, paths, calls, steps.

Each thing is a Named: its kind, its text and the line it stands in.
"""

import collections
import glob
import os
import re

# kind: "command", "span", "link", "path", "call", "variable", "group", "step",
# "page" (a man page), "option" (of the man page's own program), "section"
Named = collections.namedtuple("Named", "kind text file line")

TOPS = ("docs|tests|tools|core|kernel|devices|verbs|vipl|providers|fabric|dsm|"
        "include|examples|build")
PATH = re.compile(rf"(?<![\w/.~-])(?:{TOPS})/[\w./\[\]*-]*[\w\]*/]")
ABSOLUTE = re.compile(r"(?<![\w/.<)~])/(?:sys|dev|etc|proc)(?:/[\w.-]+)+")
CALL = re.compile(r"\bVip[A-Z]\w+|\bVIP_[A-Z][A-Z_]*[A-Z]\b")
VARIABLE = re.compile(r"\b(?:VIPL|MVIA|LAB|CHECK)_[A-Z_]+\b")
PROMPT = re.compile(r"^ *(?:\w*[#$]) (?=\S)")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
GROUP = re.compile(r"\b[a-z][a-z0-9]+\.[a-z][a-z_0-9]+\b")
SECTION = re.compile(r"(docs/[\w/]+\.md),\s+\"([^\"]+)\"")
# Files whose quoted words in tables are steps, and whose noun.group are
# groups of the conformance suite.
STEPS = ("docs/notes/reliability.md",)
GROUPS = ("docs/reference/compatibility.md",)
# Files whose lines are commands of make.
RECIPES = ("packaging/Dockerfile", ".github/workflows/check.yml")


def prose(text, file, line):
    """What is named in plain words."""
    for kind, pattern in (("path", PATH), ("path", ABSOLUTE), ("call", CALL),
                          ("variable", VARIABLE)):
        for match in pattern.finditer(text):
            yield Named(kind, match.group(),
                        file, line + text.count("\n", 0, match.start()))


def commands(text, file, line):
    """The commands of a line that a shell gets, and of what explains it."""
    text = re.sub(r"\s{3,}(?!#)", "  # ", text.strip())
    command, _, comment = text.partition(" # ")
    if command.strip():
        yield Named("command", command.strip(), file, line)
    yield from prose(comment, file, line)
    match = re.search(r"(?:tools/lab/lab|via-bind|make|modprobe) \S.*|"
                      r"^-[\w-]+", comment.strip())
    if match:
        yield Named("command" if match.group()[0] != "-" else "span",
                    match.group().rstrip(").,:"), file, line)


def block(lines, shell, file, first):
    """A code block: commands, unless it says that it is something else.
    Where there are prompts, what has none is output."""
    prompts = not shell or any(PROMPT.match(text) for text in lines)
    for number, text in enumerate(lines, first):
        if prompts and not PROMPT.match(text) or text.startswith("#include"):
            yield from prose(text, file, number)
        else:
            yield from commands(PROMPT.sub("", text), file, number)


def table_row(text, file, line):
    if file in STEPS and text.startswith("|"):
        for match in re.finditer(r'"([^"]+)"', text):
            yield Named("step", match.group(1), file, line)
    if file in GROUPS and text.startswith("|"):
        for match in GROUP.finditer(PATH.sub("", text)):
            if not match.group().endswith((".so", ".h", ".c")):
                yield Named("group", match.group(), file, line)


def paragraph(text, file, first):
    """Spans, links and plain words of text without code blocks."""
    def line(at):
        return first + text.count("\n", 0, at)

    for match in re.finditer(r"`([^`]+)`", text):
        yield Named("span", re.sub(r"\s+", " ", match.group(1)), file,
                    line(match.start()))
    for match in re.finditer(r"\]\(([^)\s]+)\)", text):
        yield Named("link", match.group(1), file, line(match.start()))
    for match in SECTION.finditer(text):
        yield Named("section", f"{match.group(1)}#{match.group(2)}", file,
                    line(match.start()))
    # "`x` of `via_ether`": the module, or the program, has it.
    for match in re.finditer(r"`(\w+)(?:=\w+)?`\s+of\s+`?(via\w+)`?", text):
        yield Named("owned", f"{match.group(2)} {match.group(1)}", file,
                    line(match.start()))
    plain = re.sub(r"`[^`]+`|\]\([^)]*\)",
                   lambda m: "\n" * m.group().count("\n") or " ", text)
    yield from prose(plain, file, first)
    for number, row in enumerate(text.split("\n"), first):
        yield from table_row(row, file, number)


def joined(lines):
    r"""Lines that end with \ and what goes on behind them, as one: an empty one
    stands in place of each of the latter."""
    for i in range(len(lines) - 1, 0, -1):
        if lines[i - 1].endswith(" \\"):
            lines[i - 1] = lines[i - 1][:-1] + lines[i].lstrip()
            lines[i] = ""
    return lines


def markdown(text, file):
    """Of README.md and docs/*.md.  A block behind ```text, ```c or the like
    is not for a shell."""
    rest, lines, start, kind = [], [], None, None
    for number, row in enumerate(text.split("\n"), 1):
        if row.lstrip().startswith("```"):
            if start is None:
                start, kind, lines = number + 1, row.strip()[3:], []
            else:
                yield from block(joined(lines), not kind, file, start)
                start = None
            row = ""
        elif start is not None:
            lines.append(row)
            row = ""
        rest.append(row)
    yield from paragraph("\n".join(rest), file, 1)


def plain(row):
    """A line of troff without macro, fonts and escapes."""
    if row.startswith((".", "'")):
        row = row.partition(" ")[2].replace('"', "")
    return re.sub(r"\\f[A-Z]|\\[&|^]", "", row).replace("\\-", "-")


def manual(text, file):
    """Of a man page.  Options of its own in all of a section 1 or 8."""
    own = file.endswith((".1", ".8"))
    for number, row in enumerate(text.split("\n"), 1):
        if row.startswith('.\\"') or row.startswith(".TH"):
            continue
        for match in re.finditer(r"([\w.-]+) \(([1-8])\)", plain(row)) \
                if row.startswith(".BR") else ():
            yield Named("page", f"{match.group(1)}.{match.group(2)}", file,
                        number)
        words = plain(row)
        if PROMPT.match(words):
            yield from commands(PROMPT.sub("", words), file, number)
            continue
        yield from prose(words, file, number)
        for match in OPTION.finditer(words) if own else ():
            yield Named("option", match.group(), file, number)


def make_head(text, file):
    """Of the comment at the Makefile's top."""
    for number, row in enumerate(text.split("\n"), 1):
        if not row.startswith("#"):
            return
        match = re.match(r"#   (make(?: [a-z-]+)?)(?= |$)", row)
        if match:
            yield Named("command", match.group(1), file, number)
        for match in re.finditer(
                r"\b([A-Z]+(?:_[A-Z]+)*)=|\b([A-Z_]+_ARGS)\b", row):
            yield Named("make variable", match.group(1) or match.group(2),
                        file, number)
        match = re.search(r"make ([a-z-]+)\b.*?\b([A-Z_]+=--[\w-]+|"
                          r"[KT]=(?:'[^']+'|\S+))", row)
        if match:
            yield Named("command", " ".join(("make", *match.groups())), file,
                        number)


def help_text(program, text):
    """Of what a program prints about itself."""
    file = f"{program} --help"
    for number, row in enumerate(text.split("\n"), 1):
        yield from prose(row, file, number)
        for match in re.finditer(
                r"(?:^|[(`'\"]|^  )((?:make|lab) [a-z][\w-]*)", row):
            yield Named("command", match.group(1), file, number)


def recipe(text, file):
    """Calls of make in files that run them: Dockerfile, workflow."""
    for number, row in enumerate(text.split("\n"), 1):
        match = re.match(r"(?:RUN |CMD | *- (?:run: )?)(\[?\"?make\b.*)", row)
        if match:
            yield Named("command", re.sub(r'^\[|"|,|\]$', "", match.group(1))
                        if row.startswith("CMD") else match.group(1), file,
                        number)


def documents(root):
    """All that the documents below a folder name."""
    names = ["README.md", "CONTRIBUTING.md"] + sorted(
        os.path.relpath(n, root) for n in glob.glob(
            os.path.join(root, "docs/**/*.md"), recursive=True))
    pages = sorted(os.path.join("docs/man", n)
                   for n in os.listdir(os.path.join(root, "docs/man")))
    for reader, files in ((markdown, names), (manual, pages),
                          (make_head, ["Makefile"]), (recipe, RECIPES)):
        for name in files:
            with open(os.path.join(root, name)) as file:
                yield from reader(file.read(), name)
