# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The table of the tests that need no virtual machine and no root."""

import collections
import contextlib
import fnmatch
import glob
import os
import re
import shlex
import shutil

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))

# needs: targets of make; packages: Debian's, that the command is nothing
# without; minutes: then it is killed.
Test = collections.namedtuple("Test", "name command minutes needs packages")


def multilib():
    """As this machine's Debian names it; tools/lab/packages has both."""
    with contextlib.suppress(OSError), open("/etc/os-release") as file:
        if re.search(r'^VERSION_ID="?12"?$', file.read(), re.M):
            return "gcc-12-multilib"
    return "gcc-14-multilib"


# Package: a command that it has, or files.
PACKAGES = {
    "make": "make", "gcc": "gcc", "clang": "clang", "mandoc": "mandoc",
    "codespell": "codespell", "cmark-gfm": "cmark-gfm",
    "git": "git", "libc6-dev": "/usr/include/stdlib.h",
    "libcunit1-dev": "/usr/include/CUnit/CUnit.h",
    "libmnl-dev": "/usr/include/libmnl/libmnl.h",
    multilib(): "/usr/lib/gcc/x86_64-linux-gnu/*/32/libgcc.a",
    "libfabric-dev": "/usr/include/rdma/fabric.h",
    "libfabric-bin": "fi_pingpong", "openmpi-bin": "mpirun",
    "libopenmpi-dev": "mpicc",
    "linux-headers-amd64": "/usr/src/linux-headers-*-amd64",
    "pahole": "pahole", "pkg-config": "pkg-config", "universal-ctags": "ctags",
    "python3-cffi": "/usr/lib/python3/dist-packages/cffi/__init__.py",
    "python3-matplotlib":
        "/usr/lib/python3/dist-packages/matplotlib/__init__.py",
}
# Without these there is no test at all.
ALWAYS = ("make", "gcc", "libc6-dev")
# And what targets of make take, by patterns; tools/needs.sh has the same.
TARGETS = {"user": ["libmnl-dev", "libcunit1-dev"], "tools": ["libmnl-dev"],
           "sim": ["clang"], "build/viasim": ["clang"],
           "build/unit/*": ["libcunit1-dev"], "build/unit/*-clang": ["clang"],
           "build/viaconform*": ["libcunit1-dev"],
           "modules": ["linux-headers-amd64"]}
SIM_SECONDS = 0.5
UNIT_PACKAGES = {"header": [multilib()], "suite": ["libcunit1-dev"],
                 "ofi": ["libfabric-dev"],
                 "install": ["pkg-config", "libmnl-dev", "libfabric-dev"],
                 "exports": ["pkg-config"], "stability": ["pahole"]}
FROM_BUILT = ("exports", "providers", "suite")  # tests/unit/built.sh


class Wrong(Exception):
    """A line of a table that says nothing, or no such test."""


def missing(packages):
    """Those of the packages that are not there."""
    def there(what):
        return glob.glob(what) if what.startswith("/") else shutil.which(what)

    return [p for p in packages if not there(PACKAGES.get(p, p))]


def taken(packages, needs):
    """Packages of a command, and those that its targets of make take."""
    more = [p for pattern, names in TARGETS.items() for p in names
            if fnmatch.filter(needs, pattern)]
    return list(dict.fromkeys([*packages, *more]))


def units():
    """Programs with CUnit, by each compiler, and scripts."""
    base = os.path.join(ROOT, "tests/unit")
    for name in sorted(os.listdir(base)):
        folder = os.path.join(base, name)
        if glob.glob(os.path.join(folder, "test_*.c")):
            for compiler in ("", "clang"):
                path = f"build/unit/{name}{'-' * bool(compiler)}{compiler}"
                yield Test(f"unit {name}{', ' * bool(compiler)}{compiler}",
                           [path], 10, [path],
                           taken(UNIT_PACKAGES.get(name, []), [path]))
        elif os.access(os.path.join(folder, "run"), os.X_OK):
            yield Test(f"unit {name}", [f"tests/unit/{name}/run"], 20,
                       ["lib"] if name in FROM_BUILT else [],
                       UNIT_PACKAGES.get(name, []))


# The first words in quotes of a macro of capitals; scenarios.py compares them with
# what build/viasim has.
SCENARIO = r'^[A-Z_]+\([^";]*"([a-z0-9-]+)"'


def sims():
    """Scenarios of tests/sim, as their sources name them: each so many
    seeds as it asks for, within some seconds."""
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/sim/s_*.c"))):
        with open(path) as file:
            text = file.read()
        for name in re.findall(SCENARIO, text, re.M):
            yield Test(f"sim {name}", [
                "build/viasim", f"--seconds={SIM_SECONDS}",
                f"--out=build/sim/failed-{name}", name], 10,
                ["build/viasim"], taken([], ["build/viasim"]))


def line(text, where):
    """A Test from a line of a tests.list."""
    parts = [part.strip() for part in text.split("|", 3)]
    try:
        name, minutes, needs, command = parts
        words = shlex.split(command)
        packages = []
        while words[0].startswith("["):
            packages.append(words.pop(0).strip("[]"))
        return Test(name, words, float(minutes), needs.split(),
                    taken(packages, needs.split()))
    except (ValueError, IndexError):
        raise Wrong(f"{where}: not 'name | minutes | targets | command': "
                    f"{text.strip()}")


def tests():
    """All of them, in order."""
    found = [*units(), *sims()]
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/*/tests.list"))):
        with open(path) as file:
            for number, text in enumerate(file, 1):
                if text.strip() and not text.startswith("#"):
                    found.append(line(text, f"{os.path.relpath(path, ROOT)}:"
                                      f"{number}"))
    twice = [n for n, count in collections.Counter(
        t.name for t in found).items() if count > 1]
    if twice:
        raise Wrong(f"there are two tests named '{twice[0]}'")
    return found


# Whole bars, of which others are a slice, and what takes a build of its own:
# not in `make test' as a whole.
LONG = ("sim day", "sim incast",
        "shm: under ASan and UBSan", "shm: the suite, two programs")
# And in make check-full alone; shm is the engine under sanitizers, too.
LONGEST = ("engine: under ASan and UBSan", "engine: under TSan",
           "ofi: under ASan and UBSan", "ofi: under TSan",
           "ofi: the suite, two programs", "ofi: the suite, IPv6",
           "ofi: hostile bytes", "fabric: under ASan and UBSan",
           "wrong names in documents are told",
           "ofi: processes that fork, exit, die", "shm: under TSan",
           # A seventh of it is "sim day", and 8,000 messages are "thousands".
           "sim week", "sim million",
           # By gcc in make check; clang's warnings are of make lint.
           "unit engine, clang", "unit vipl, clang", "unit shm, clang",
           "unit link, clang")


def shortness(test):
    """A key that has the long ones first, and no other order."""
    return test.name not in LONG and "under " not in test.name


def waits(test):
    """Of those that need a processor all the time, it is none: suites wait for
    their time-outs, and for their peers."""
    return not test.name.startswith(("unit ", "sim ", "sim,")) and \
        "under " not in test.name


def quick(found):
    return [t for t in found if t.name not in LONG + LONGEST]


def daily(found):
    return [t for t in found if t.name not in LONGEST]


def matching(found, word):
    """Tests whose name contains the word, or matches it as a pattern."""
    word = word.lower()
    chosen = [t for t in found if word in t.name.lower() or
              fnmatch.fnmatch(t.name.lower(), word)]
    if chosen:
        return chosen
    parts = [p for p in re.split(r"\W+", word) if len(p) > 2]
    near = [t.name for t in found
            if any(p[:4] in t.name.lower() for p in parts)]
    raise Wrong(f"no test's name has '{word}' in it; " + (
        f"near: {'; '.join(near)}" if near else "make test T=list names all"))
