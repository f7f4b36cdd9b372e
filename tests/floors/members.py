#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""No structure has more than 40 members: what has more is of several parts, by
lock and purpose.

Universal ctags reads the members.  Those of a structure inside that has a name
are its own; those of one without a name count for the outer one.  Structures that
had more when this test was made are in tests/floors/members.above with their
number: it may only shrink, and a line is removed with the last member too many.

    members.py             check
    members.py --list      the largest ones
"""

import argparse
import collections
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MOST = 40
PARTS = ("core", "kernel", "devices", "verbs", "vipl", "providers", "fabric",
         "tools", "include")
ABOVE = "tests/floors/members.above"
# Words of the kernel's that ctags would take for a member, or that hide one.
WORDS = ("__aligned+", "____cacheline_aligned", "____cacheline_aligned_in_smp",
         "__rcu", "__percpu", "__iomem", "__packed", "__counted_by+")
BITMAP = "DECLARE_BITMAP(name,bits)=unsigned long name[bits]"


def sources(root):
    return sorted(os.path.relpath(p, root) for part in PARTS
                  for p in glob.glob(os.path.join(root, part, "**/*.[ch]"),
                                     recursive=True))


def tags(root):
    """(file, member, what it is, the structure that it is in)"""
    done = subprocess.run(
        ["ctags", "--kinds-C=m", "--languages=C", "--langmap=C:.c.h",
         "--fields=st", "-D", BITMAP, *(f"-I{w}" for w in WORDS), "-f", "-",
         "-L", "-"],
        cwd=root, input="\n".join(sources(root)), check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in done.stdout.splitlines():
        name, file, _, *fields = line.split("\t")
        fields = dict(f.split(":", 1) for f in fields if ":" in f)
        of = fields.get("struct") or fields.get("union")
        if of:
            yield file, name, fields.get("typeref", ""), of


def count(root):
    """{(file, structure): members}"""
    found = list(tags(root))
    # What a member with a name is of is a structure of its own.
    named = {(file, typeref.split(":", 1)[1].rstrip(" *")) for
             file, _, typeref, _ in found if ":" in typeref}
    counts = collections.Counter()
    for file, _, _, of in found:
        while "::__anon" in of and (file, of) not in named:
            of = of.rsplit("::", 1)[0]
        counts[file, of] += 1
    return counts


def above(root):
    """{(file, structure): members that it had}"""
    try:
        with open(os.path.join(root, ABOVE), encoding="utf-8") as file:
            rows = [line.split("#")[0].split() for line in file]
    except FileNotFoundError:
        return {}
    return {(row[0], row[1]): int(row[2]) for row in rows if row}


def check(root, counts):
    """Complaints."""
    listed = above(root)
    if not counts:
        return ["no structure is found"]
    bad = [f"{file}: struct {of} has {n} members, {MOST} are allowed"
           for (file, of), n in sorted(counts.items())
           if n > MOST and (file, of) not in listed]
    for (file, of), was in listed.items():
        n = counts[file, of]
        if n > was:
            bad.append(f"{file}: struct {of} has {n} members, and had {was}")
        elif n <= MOST:
            bad.append(f"{ABOVE}: remove the line of {of}: it has {n}")
        elif n < was:
            bad.append(f"{ABOVE}: {of} has {n} members now, not {was}")
    return bad


def structure(members):
    return "struct planted {\n" + "".join(f"\t{m}\n" for m in members) + "};\n"


def ints(n):
    return [f"int m{i};" for i in range(n)]


# (members of a structure, lines of the list, what the complaint begins with)
PLANTS = (
    (ints(40), "", None),
    (ints(41), "", "kernel/a.h: struct planted has 41 members, 40 are"),
    (ints(38) + ["int a, *b, c[2];"], "", "kernel/a.h: struct planted has 41 "),
    (ints(39) + ["void (*f)(int a, int b);", "unsigned int bit:1;"], "",
     "kernel/a.h: struct planted has 41 "),
    (ints(39) + ["struct x __rcu *p;", "u8 q[] ____cacheline_aligned;"], "",
     "kernel/a.h: struct planted has 41 "),
    (ints(40) + ["DECLARE_BITMAP(map, 64);"], "",
     "kernel/a.h: struct planted has 41 "),
    (ints(39) + ["union {\n\t\tint u;\n\t\tint w;\n\t};"], "",
     "kernel/a.h: struct planted has 41 "),
    (ints(39) + ["struct {\n\t\tint u;\n\t\tint w;\n\t} part;"], "", None),
    (ints(41), "kernel/a.h planted 41\n", None),
    (ints(42), "kernel/a.h planted 41\n",
     "kernel/a.h: struct planted has 42 members, and had 41"),
    (ints(41), "kernel/a.h planted 42\n",
     ABOVE + ": planted has 41 members now, not 42"),
    (ints(40), "kernel/a.h planted 41\n",
     ABOVE + ": remove the line of planted"),
)


def plant(members, listed, wanted):
    """Complaints that are not as wanted, of a tree with this one structure."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in (("kernel/a.h", structure(members)), (ABOVE, listed)):
            os.makedirs(os.path.join(root, os.path.dirname(path)),
                        exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write(text)
        bad = check(root, count(root))
    if len(bad) == (wanted is not None) and all(b.startswith(wanted)
                                                for b in bad):
        return []
    return [f"{members[-1]!r} {listed!r}: {bad or 'no complaint'}"]


def selftest():
    bad = [b for p in PLANTS for b in plant(*p)]
    print("\n".join(bad + [f"{len(PLANTS)} structures planted"]))
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--selftest", action="store_true")
    args = parser.parse_args()
    if args.selftest:
        return selftest()
    counts = count(ROOT)
    if args.list:
        for (file, of), n in counts.most_common(20):
            print(f"{n:4} {of} {file}")
        return 0
    bad = check(ROOT, counts)
    print("\n".join(bad + [f"{len(counts)} structures, of at most "
                           f"{max(counts.values(), default=0)} members"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
