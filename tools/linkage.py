#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Functions of product code that are not static although only the file that
has them uses them.  Declarations are no uses, tests are.  Status 1 if there
are any.
"""

import collections
import glob
import re
import subprocess
import sys

PRODUCT = ("core/", "kernel/", "devices/", "verbs/", "vipl/", "providers/",
           "fabric/", "tools/")
# Called by name from outside: by programs, loaders, the kernel and the linker.
OUTSIDE = re.compile(r"main$|Vip[A-Z]|vipl_provider_init$|fi_prov_ini$")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*")', re.S)
EXPORT = re.compile(r"\bEXPORT_SYMBOL(?:_GPL)?\((\w+)\)")


def tree():
    return [file for file in glob.glob("**/*.[ch]", recursive=True)
            if not file.startswith("build")]


def tags(files):
    """Name, file, whether it is static, and kind of each C function."""
    done = subprocess.run(
        ["ctags", "-x", "--kinds-C=fp", "-L", "-",
         "--_xformat=%N %F %{file}- %K"], check=True, capture_output=True,
        text=True, input="\n".join(files))
    for line in done.stdout.splitlines():
        name, file, static, kind = line.split()
        yield name, file, static.startswith("file"), kind


def main():
    files = tree()
    words, outside = {}, set()
    for file in files:
        with open(file) as source:
            text = COMMENT.sub(lambda m: m[1] or " ", source.read())
        words[file] = collections.Counter(re.findall(r"\w+", text))
        outside.update(EXPORT.findall(text))

    homes, declared = {}, collections.Counter()
    for name, file, static, kind in tags(files):
        if kind == "prototype":
            declared[name, file] += 1
        elif not static and file.endswith(".c") and file.startswith(PRODUCT):
            homes.setdefault(name, set()).add(file)

    users = collections.defaultdict(set)
    for file, count in words.items():
        for name in homes.keys() & count.keys():
            if count[name] > declared[name, file]:
                users[name].add(file)
    bad = [(min(where), name) for name, where in homes.items()
           if not users[name] - where and name not in outside
           and not OUTSIDE.match(name)]
    for file, name in sorted(bad):
        print(f"{file}: {name}() is used by this file alone: static")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
