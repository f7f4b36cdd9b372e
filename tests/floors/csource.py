# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a C source defines for others, and which names it uses.

The sources are read, not compiled: the order of floors can be checked without
a kernel's headers, libfabric or a build, and code that one compiler leaves out
counts too.  The reader knows functions, variables, inline functions and macros
of this tree's style.  `floors.py --objects` compares it with nm.
"""

import functools
import re
from collections import namedtuple

# defines: names that others can use; declares: variables without a value, or
# functions declared by the name of their type; own: static ones; uses: the rest
# that is named in code; bodies: {inline function or macro: the names in it}.
Source = namedtuple("Source", "defines declares own uses bodies")

GAP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                 re.S)
TOKEN = re.compile(r"[A-Za-z_]\w*|->|\.\.\.|[^\s\w]|\d[\w.]*")
NAME = re.compile(r"[A-Za-z_]\w*$")
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?(.*)$", re.M)
# DEFINE_MUTEX(name), DEFINE_PER_CPU(type, name): the last word is the name.
MAKERS = re.compile(r"DEFINE_\w+$|LIST_HEAD$|DECLARE_\w+$")
# Words before a name that is a tag or a label, not a function.
TAGS = {"struct", "union", "enum", "goto"}


def strip(text):
    """The text without comments, with empty strings, and with long lines."""
    text = GAP.sub(lambda m: " " if m[0][0] == "/" else '""', text)
    return text.replace("\\\n", " ")


def names(tokens):
    """Names that tokens use: no members, tags or labels."""
    found = set()
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else ""
        if NAME.match(token) and before not in TAGS | {".", "->"}:
            found.add(token)
    return found


def chunks(tokens):
    """Declarations at the outermost level: (tokens before "{" or "=", rest)."""
    head, body, depth, round_ = [], [], 0, 0
    inside = False
    for i, token in enumerate(tokens):
        (body if inside else head).append(token)
        if token in "([":
            round_ += 1
        elif token in ")]":
            round_ -= 1
        elif token == "=" and not inside and not round_:
            inside = True
        elif token == "{":
            depth += 1
            inside = True
        elif token == "}":
            depth -= 1
            following = tokens[i + 1] if i + 1 < len(tokens) else ""
            # A function ends here, a type or a table with its semicolon.
            if not depth and not is_type(head) and "=" not in head and \
                    following not in (";", ","):
                yield head, body
                head, body, inside = [], [], False
        if token == ";" and not depth and not round_:
            yield head, body
            head, body, inside = [], [], False


def is_type(head):
    """The declaration of a type: typedef, or a tag with its members."""
    words = [t for t in head if t not in ("{", "static", "const")]
    return "typedef" in head or bool(words) and words[0] in TAGS and \
        "(" not in head and len(words) <= 2


def declared(head):
    """The names that a declaration is about, and whether it is a function."""
    if head and MAKERS.match(next((t for t in head if t not in (
            "static", "const", "extern")), "")):
        inner = [t for t in head[:head.index(")")] if NAME.match(t)]
        return inner[-1:], False
    plain = re.sub(r"\b__attribute__ \( \(.*?\) \)|"
                   r"\b__(acquires|releases|must_hold|printf|aligned|section) "
                   r"\( [^()]* \)", " ", " ".join(head)).split()
    found = []
    for i, token in enumerate(plain):
        if token == "(" and i and NAME.match(plain[i - 1]) and not found:
            return [plain[i - 1]], True
        if token in ("=", "[", ";", ",") and i:
            # An attribute may follow the name: x __ro_after_init = {
            at = i - 1 - plain[i - 1].startswith("__")
            if NAME.match(plain[at]):
                found.append(plain[at])
    return found, False


@functools.lru_cache(maxsize=None)
def read(text):
    """The Source of a text, which nobody changes: a copy of a tree has most."""
    text = strip(text)
    defines, declares, own, uses, bodies = set(), set(), set(), set(), {}
    for name, _, body in DEFINE.findall(text):
        bodies[name] = names(TOKEN.findall(body))
    text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)
    text = text.replace('extern "" {', "")
    for head, body in chunks(TOKEN.findall(text)):
        found, function = declared(head)
        if not found or is_type(head) or "typedef" in head:
            # A table whose type has no name: static struct { ... } x[] = ...
            if "static" in head and "=" in body:
                uses |= names(body[body.index("="):])
            continue
        if function and "{" not in head:        # a prototype, or a macro's call
            if found[0].isupper():
                uses |= names(head + body)
            continue
        if "extern" in head and not body:
            continue
        (own if "static" in head else defines if body else
         declares).update(found)
        if "inline" in head or "__always_inline" in head:
            bodies.update((name, names(body)) for name in found)
        uses |= names(body)
    return Source(defines, declares, own, uses - own - defines, bodies)
