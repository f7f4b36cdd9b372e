#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Calls go one way: a file needs only files below it.

The order of floors is the order of a module's objects in Kbuild, and of a
library's sources in its Makefile.inc: highest first.  A file that needs a
function or a variable of a file above it is an arrow up, and refused.

    floors.py              check
    floors.py --list       each arrow up, with its names
    floors.py --rings      for each list of sources: the files that need each other
    floors.py --objects    compare what is read with nm of the objects in build/

What must call up is handed in as a pointer when the object is made; a call
through a pointer is no arrow.  Inline functions and macros of headers count as
if they stood in the file that uses them.

A type and a function of the same directories have two names.
"""

import argparse
import glob
import os
import re
import sys
from collections import defaultdict

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

import csource  # noqa: E402

# A list of sources: the file that has it, its variable, directories whose .c
# files must all be in it.
ORDERS = (
    ("Kbuild", "via_ka-y", ("kernel", "core")),
    ("Kbuild", "via_ether-y", ("devices/ether", "devices/ether/proto")),
    ("vipl/Makefile.inc", "VIPL_SRC", ("vipl", "providers/ka")),
    ("providers/engine/Makefile.inc", "ENGINE_SRC", ("providers/engine", "core")),
    ("fabric/Makefile.inc", "FAB_SRC", ("fabric",)),
    ("dsm/Makefile.inc", "DSM_SRC", ("dsm",)),
)
# Directories without an order where names are checked, too.
OTHERS = (("providers/link",), ("providers/ofi",), ("providers/shm",), ("verbs",))


class Tree:
    """The sources below a directory."""

    def __init__(self, root):
        self.root = root
        self.sources = {}

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def source(self, path):
        """What csource.read() says of a file, once."""
        if path not in self.sources:
            self.sources[path] = csource.read(self.text(path))
        return self.sources[path]

    def files(self, directories, ending):
        return {os.path.relpath(p, self.root) for d in directories
                for p in glob.glob(os.path.join(self.root, d, "*" + ending))}

    def order(self, file, variable):
        """The sources of a list, highest first."""
        text = self.text(file).replace("\\\n", " ")
        found = re.search(rf"^{variable}\s*:?=\s*(.*)$", text, re.M)
        if not found:
            return []
        return [re.sub(r"\.o$", ".c", word) for word in found[1].split()]

    def bodies(self, directories):
        """Inline functions and macros of the headers there."""
        all_ = {}
        for path in sorted(self.files(directories, ".h")):
            all_.update(self.source(path).bodies)
        return all_


def expand(uses, bodies):
    """The names that are used, through inline functions and macros too."""
    seen, left = set(), list(uses)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += bodies.get(name, ())
    return seen


def needs(tree, order, directories):
    """{file: {file that it needs: names}}"""
    order = [p for p in order if os.path.exists(os.path.join(tree.root, p))]
    bodies = tree.bodies(directories)
    home = {name: path for path in order
            for name in tree.source(path).declares}
    home.update((name, path) for path in order
                for name in tree.source(path).defines)
    found = {path: defaultdict(set) for path in order}
    for path in order:
        source = tree.source(path)
        inner = {n: b for n, b in bodies.items() if n not in source.own}
        inner.update(source.bodies)
        for name in expand(source.uses, inner):
            if home.get(name, path) != path and name not in source.own:
                found[path][home[name]].add(name)
    return found


def arrows_up(order, found):
    """{(file, file above it that it needs): names}"""
    floor = {path: i for i, path in enumerate(order)}
    return {(path, other): names for path in found
            for other, names in found[path].items()
            if floor[other] < floor[path]}


def check_order(tree, file, variable, directories):
    """Complaints about a list of sources."""
    order = tree.order(file, variable)
    if not order:
        return [f"{file}: no list {variable}"]
    there = tree.files(directories, ".c")
    return [f"{file}: {variable} lacks {p}" for p in sorted(there - set(order))
            ] + [f"{file}: {variable} names {p}, which is not there"
                 for p in sorted(set(order) - there)]


def check_names(tree, directories):
    """Complaints about types and functions of one name."""
    text = "\n".join(csource.strip(tree.text(p)) for e in (".c", ".h")
                     for p in sorted(tree.files(directories, e)))
    types = set(re.findall(r"\b(?:struct|union|enum) (\w+) \{", text))
    functions = set(re.findall(r"^\w[^;{}()#=]*?\b(\w+)\([^;{}]*\)\s*\{", text,
                               re.M))
    return [f"{', '.join(directories)}: a type and a function are named {n}"
            for n in sorted(types & functions)]


def check(tree):
    """All complaints, and {list: number of its files}."""
    bad, counts = [], {}
    for file, variable, directories in ORDERS:
        bad += check_order(tree, file, variable, directories)
        bad += check_names(tree, directories)
        order = tree.order(file, variable)
        counts[variable] = len(order)
        found = arrows_up(order, needs(tree, order, directories))
        bad += [f"{a} needs {b}, which stands above it in {file}: "
                f"{', '.join(sorted(names))}"
                for (a, b), names in sorted(found.items())]
    for directories in OTHERS:
        bad += check_names(tree, directories)
    return bad, counts


def rings(found):
    """Sets of files that need each other (Tarjan's components)."""
    number, low, stack, out = {}, {}, [], []

    def visit(path):
        number[path] = low[path] = len(number)
        stack.append(path)
        for other in found[path]:
            if other not in number:
                visit(other)
            if other in stack:
                low[path] = min(low[path], low[other])
        if low[path] == number[path]:
            ring = stack[stack.index(path):]
            del stack[stack.index(path):]
            out.append(ring)

    for path in found:
        if path not in number:
            visit(path)
    return [sorted(ring) for ring in out if len(ring) > 1]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--rings", action="store_true")
    parser.add_argument("--objects", action="store_true")
    parser.add_argument("--selftest", action="store_true")
    args = parser.parse_args()
    tree = Tree(ROOT)
    if args.selftest:
        import selftest
        return selftest.run()
    if args.objects:
        import objects
        return objects.compare(tree)
    for file, variable, directories in ORDERS:
        order = tree.order(file, variable)
        found = needs(tree, order, directories)
        if args.rings:
            for ring in rings(found):
                print(f"{variable}: {len(ring)} of {len(order)}: "
                      f"{' '.join(ring)}")
        if args.list:
            for (a, b), names in sorted(arrows_up(order, found).items()):
                print(f"{a} -> {b}: {', '.join(sorted(names))}")
    if args.list or args.rings:
        return 0
    bad, counts = check(tree)
    print("\n".join(bad + [f"{v}: {n} files" for v, n in counts.items()]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
