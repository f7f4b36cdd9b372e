# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Arrows up, planted one by one in a copy of the sources: each is refused with
its two files."""

import os
import shutil
import tempfile

import floors

# What is appended to a file, and how the complaint begins.
PLANTS = (
    ("kernel/{last}", "void planted(void)\n{{\n\t{name}();\n}}\n",
     "kernel/{last} needs kernel/{first}, "),
    ("kernel/{last}", "static void *planted[] = {{ {name} }};\n",
     "kernel/{last} needs kernel/{first}, "),
    ("kernel/{header}", "static inline void planted(void)\n{{\n\t{name}();\n}}\n",
     "kernel/{last} needs kernel/{first}, "),
    ("kernel/{header}", "#define planted() {name}()\n",
     "kernel/{last} needs kernel/{first}, "),
    # No arrows: a comment, a string, a member, a static function of that name.
    ("kernel/{last}", "/* {name}() */\n", None),
    ("kernel/{last}", "static const char *planted = \"{name}\";\n", None),
    ("kernel/{last}", "int planted(struct x *x)\n{{\n\treturn x->{name};\n}}\n",
     None),
    ("kernel/{last}", "static void {name}(void)\n{{\n}}\nvoid planted(void)\n"
     "{{\n\t{name}();\n}}\n", None),
    ("kernel/{last}", "struct planted {{\n\tint x;\n}};\nvoid planted(void)\n{{\n"
     "}}\n", "kernel, core: a type and a function are named planted"),
    ("kernel/planted.c", "int planted;\n", "Kbuild: via_ka-y lacks kernel/planted.c"),
)


def append(root, path, text):
    with open(os.path.join(root, path), "a", encoding="utf-8") as file:
        file.write(text)


def plant(where, text, wanted, words):
    """Complaints about a copy with one plant that are not as wanted."""
    with tempfile.TemporaryDirectory() as root:
        for file, _, directories in floors.ORDERS:
            for d in (*directories, os.path.dirname(file)):
                if d and os.path.isdir(os.path.join(floors.ROOT, d)):
                    shutil.copytree(os.path.join(floors.ROOT, d),
                                    os.path.join(root, d), dirs_exist_ok=True)
        shutil.copy(os.path.join(floors.ROOT, "Kbuild"), root)
        where = where.format(**words)
        append(root, where, text.format(**words))
        if where.endswith(".h"):
            append(root, "kernel/" + words["last"],
                   "void uses(void)\n{\n\tplanted();\n}\n")
        bad, _ = floors.check(floors.Tree(root))
        found = [b for b in bad if wanted and
                 b.startswith(wanted.format(**words))]
    if len(bad) == (wanted is not None) == len(found):
        return []
    return [f"{where}: {text.format(**words)!r}: {bad or 'no complaint'}"]


def run():
    """0: each plant is refused as it should be."""
    tree = floors.Tree(floors.ROOT)
    bad, _ = floors.check(tree)
    order = tree.order("Kbuild", "via_ka-y")
    # The highest file that others can call, and the lowest with a header.
    first = next(p for p in order if any(
        n.startswith("via_") for n in tree.source(p).defines) and
        p != "kernel/main.c")
    last = next(p for p in reversed(order) if p.startswith("kernel/")
                and os.path.exists(os.path.join(tree.root, p[:-2] + ".h")))
    words = {
        "first": os.path.basename(first), "last": os.path.basename(last),
        "header": os.path.basename(last)[:-2] + ".h",
        "name": sorted(n for n in tree.source(first).defines
                       if n.startswith("via_"))[0],
    }
    for plan in PLANTS:
        bad += plant(*plan, words)
    print("\n".join(bad) or f"{len(PLANTS)} plants")
    return 1 if bad else 0
