# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Builds of the tree with a defect planted, each in a folder of its own."""

import filecmp
import hashlib
import os
import shutil
import subprocess
import tempfile

import layer
from labkit.base import BUILD, ROOT

WORK = os.path.join(BUILD, "mutation")
SOURCE = os.path.join(WORK, "source")
OUT = os.path.join(SOURCE, "build")
PARTS = ("Makefile", "VERSION", "Kbuild", "include", "core", "kernel",
         "devices", "verbs", "vipl", "providers", "tests/unit", "tests/sim/kernel",
         "tools/lacks.sh", "tools/needs.sh")
MODULES = ("via_ka", "via_lo", "via_ether", "via_netdev")
VERBS = "via_rdma"
BUILT = (*MODULES, VERBS)
# Seconds: a minute, but other work may have the processors.
BUILD_LIMIT = 3600
LIBRARY = "libvipl.so.1"
OBJECTS = os.path.join(WORK, "objects")


class Stale(Exception):
    """A mutant that says nothing about today's sources."""


def plant(mutant):
    """The text of the mutant's file, before and after."""
    path = os.path.join(ROOT, mutant.path)
    with open(path) as file:
        text = before = file.read()
    for edit in mutant.edits:
        text, places = layer.change(text, edit)
        if places != 1:
            raise Stale(f"mutant {mutant.name} is stale: {mutant.path} has "
                        f"{places} places for {edit!r}")
    return before, text


def copy_tree():
    """The sources of today; what is unchanged keeps its time, and its build."""
    for part in PARTS:
        os.makedirs(os.path.dirname(os.path.join(SOURCE, part)), exist_ok=True)
    subprocess.run(["cp", "-au", "--parents", *PARTS, SOURCE], cwd=ROOT,
                   check=True)
    # cp -u does not bring back what a run that was killed left mutated.
    for folder, _, names in os.walk(SOURCE):
        if folder.startswith(OUT):
            continue
        for name in names:
            path = os.path.join(folder, name)
            origin = os.path.join(ROOT, os.path.relpath(path, SOURCE))
            if not os.path.exists(origin):
                os.unlink(path)
            elif not filecmp.cmp(path, origin, shallow=False):
                shutil.copyfile(origin, path)


def lacks(units):
    """What make says of a copy that misses a source of those unit tests or
    of the library; nothing is right."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cp", "-a", "--parents", *PARTS, folder], cwd=ROOT,
                       check=True)
        done = subprocess.run(
            ["make", "-s", "-n", "-C", folder, "lib",
             *(f"build/unit/{name}" for name in sorted(units))],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            check=False)
    return done.stderr.strip()


def digest(kernel, mutant=None):
    """Of all that a build is made of: the same digest, the same build."""
    state = hashlib.sha256(repr((kernel, mutant)).encode())
    with open(os.path.join(ROOT, "Makefile"), "rb") as file:
        state.update(file.read())
    for part in PARTS:
        for folder, folders, names in os.walk(os.path.join(ROOT, part)):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                state.update(path.encode())
                with open(path, "rb") as file:
                    state.update(file.read())
    with open(os.path.join(BUILD, "viaconform"), "rb") as file:
        state.update(file.read())
    return state.hexdigest()


def built(name, key):
    """Has this very build been made before?"""
    try:
        with open(os.path.join(WORK, name, "digest")) as file:
            return file.read() == key
    except OSError:
        return False


def seal(name, key):
    with open(os.path.join(WORK, name, "digest"), "w") as file:
        file.write(key)


class Planter:
    """Builds mutants; check.host() runs commands, kernel names the headers."""

    def __init__(self, check, kernel):
        self.check, self.kernel = check, kernel

    def make(self, *goals):
        self.check.host(["make", "-s", "-j2", "-C", SOURCE, *goals,
                         f"KDIR={self.kernel.kdir}"], BUILD_LIMIT)

    def product(self, mutant):
        """What to make for a mutant, and the files that come of it."""
        if mutant.on == "unit":
            goal = f"build/unit/{mutant.first[0]}"
            return goal, {mutant.first[0]: os.path.join(SOURCE, goal)}
        if mutant.path.startswith(("vipl/", "providers/")):
            return "lib", {LIBRARY: os.path.join(OUT, LIBRARY)}
        folder = os.path.join(OUT, "modules", self.kernel.release)
        return "modules", {f"{m}.ko": os.path.join(folder, f"{m}.ko")
                           for m in BUILT}

    def control(self, mutants):
        """The build without a defect: what the mutants are compared with."""
        key = digest(self.kernel, mutants)
        if built("control", key):
            return
        shutil.rmtree(os.path.join(WORK, "control"), ignore_errors=True)
        copy_tree()
        goals = {self.product(m)[0] for m in mutants}
        self.make(*sorted(goals | {"lib", "modules"}))
        self.keep("control", {f"{m}.ko": os.path.join(
            OUT, "modules", self.kernel.release, f"{m}.ko") for m in BUILT})
        self.keep("control", {LIBRARY: os.path.join(OUT, LIBRARY)})
        for m in mutants:
            if m.on == "unit":
                self.keep("control", self.product(m)[1])
        self.program("control")
        seal("control", key)

    def keep(self, name, files):
        folder = os.path.join(WORK, name)
        os.makedirs(folder, exist_ok=True)
        for to, path in files.items():
            shutil.copy2(path, os.path.join(folder, to))

    def program(self, name):
        """viaconform finds its library beside itself."""
        shutil.copy2(os.path.join(BUILD, "viaconform"),
                     os.path.join(WORK, name, "viaconform"))

    def build(self, mutant):
        """Build one mutant; raises Stale where nothing comes of it."""
        before, after = plant(mutant)
        target = os.path.join(SOURCE, mutant.path)
        goal, files = self.product(mutant)
        key = digest(self.kernel, mutant)
        if built(mutant.name, key):
            return
        shutil.rmtree(os.path.join(WORK, mutant.name), ignore_errors=True)
        try:
            with open(target, "w") as file:
                file.write(after)
            self.make(goal)
            control = os.path.join(WORK, "control")
            changed = {n: p for n, p in files.items() if not filecmp.cmp(
                p, os.path.join(control, n), shallow=False)}
            if not changed:
                raise Stale(f"mutant {mutant.name} changes nothing in the "
                            "build")
            for name in os.listdir(control):
                self.keep(mutant.name, {name: os.path.join(control, name)})
            self.keep(mutant.name, changed)
            seal(mutant.name, key)
        finally:
            with open(target, "w") as file:
                file.write(before)


class Compiler:
    """Compiles what a mutant of the modules changes, object by object."""

    def __init__(self, kdir, folder=OBJECTS):
        self.kdir, self.folder = kdir, folder
        self.codes = {}

    def copy(self):
        """The sources of today, as kbuild wants them: beside the objects."""
        os.makedirs(self.folder, exist_ok=True)
        subprocess.run(["cp", "-au", "--parents", "Kbuild", "VERSION", "core",
                        "kernel", "devices", "verbs", "include", self.folder], cwd=ROOT,
                       check=True)
        for top in ("core", "kernel", "devices", "verbs", "include"):
            for where, _, names in os.walk(os.path.join(ROOT, top)):
                for name in names:
                    path = os.path.join(where, name)
                    copy = os.path.join(self.folder,
                                        os.path.relpath(path, ROOT))
                    if not filecmp.cmp(path, copy, shallow=False):
                        shutil.copyfile(path, copy)

    def objects(self, path):
        """Those to compile for a file: of a header, all of its modules'."""
        if path.endswith(".c"):
            return [path[:-1] + "o"]
        if path.startswith("verbs"):
            tops = ("verbs",)
        else:
            tops = ("devices/ether", "devices/ether/proto")
            if not path.startswith("devices"):
                tops += ("kernel",)
        return [os.path.join(top, name[:-1] + "o") for top in tops
                for name in sorted(os.listdir(os.path.join(ROOT, top)))
                if name.endswith(".c")]

    def make(self, path):
        """What the compiler says; nothing is right."""
        done = subprocess.run(
            ["make", "-s", "-C", self.kdir, f"M={self.folder}",
             *self.objects(path)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode or "warning:" in done.stdout:
            return done.stdout.strip() or f"make: status {done.returncode}"
        return ""

    def code(self, path):
        """Of an object, without what tells lines from one another."""
        name = os.path.join(self.folder, self.objects(path)[0])
        subprocess.run(["objcopy", "--strip-debug", name, name + ".bare"],
                       check=True)
        with open(name + ".bare", "rb") as file:
            return hashlib.sha256(file.read()).digest()

    def control(self, path):
        """The same of the file as it is."""
        if path not in self.codes:
            said = self.make(path)
            if said:
                raise Stale(f"{path} does not compile by itself: {said}")
            self.codes[path] = self.code(path)
        return self.codes[path]

    def compile(self, mutant):
        """What is wrong with a mutant; nothing: it compiles, to other code."""
        before, after = plant(mutant)
        target = os.path.join(self.folder, mutant.path)
        alone = mutant.path.endswith(".c")
        old = self.control(mutant.path) if alone else None
        try:
            with open(target, "w") as file:
                file.write(after)
            said = self.make(mutant.path)
            if not said and alone and self.code(mutant.path) == old:
                said = "the code is the same"
            return said
        finally:
            with open(target, "w") as file:
                file.write(before)
