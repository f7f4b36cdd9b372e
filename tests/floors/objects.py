# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Is what csource.py reads what the compiler makes?

nm of the objects in build/ says which symbols each object defines and needs.
Every need that nm sees must have been read; reading may see more, such as code
that was optimised away.
"""

import glob
import os
import subprocess
from collections import defaultdict

import floors


def objects(tree, path):
    """The object of a source: of the simulator, or of a library."""
    build = os.environ.get("B", "build")
    stem = path[:-2] + ".o"
    places = [os.path.join(tree.root, build, where, stem)
              for where in ("sim", "obj")]
    places += sorted(glob.glob(os.path.join(tree.root, build, "kbuild/*", stem)))
    return [p for p in places if os.path.exists(p) and os.path.getmtime(p) >
            os.path.getmtime(os.path.join(tree.root, path))]


def symbols(path):
    """(defined, undefined) of an object."""
    defined, needed = set(), set()
    out = subprocess.run(["nm", "-g", path], capture_output=True, text=True,
                         check=True).stdout
    for line in out.splitlines():
        *_, kind, name = line.split()
        (needed if kind in "Uvw" else defined).add(name)
    return defined, needed


def compare(tree):
    """0: all that nm sees was read."""
    bad, count = [], 0
    for file, variable, directories in floors.ORDERS:
        order = tree.order(file, variable)
        read = floors.needs(tree, order, directories)
        home, wanted = {}, defaultdict(set)
        for path in order:
            for obj in objects(tree, path)[:1]:
                defined, needed = symbols(obj)
                home.update((name, path) for name in defined)
                wanted[path] = needed
        for path, names in wanted.items():
            # A tracepoint's symbols are made by its macros.
            names = {n for n in names if n in home and home[n] != path and
                     not n.startswith("__") and "trace" not in home[n]}
            count += len(names)
            bad += [f"{path}: nm sees {n} of {home[n]}, which was not read"
                    for n in sorted(names) if n not in read[path][home[n]]]
    print("\n".join(bad + [f"{count} symbols that objects need were read"]))
    if not count:
        print("no objects: make user sim")
        return 77
    return 1 if bad else 0
