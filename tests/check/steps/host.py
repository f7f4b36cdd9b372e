# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Steps on this machine: builds, the parser of frames, planted defects."""

import os

import listed
import mutants
import mutation
import plant
from labkit import kernels
from labkit.base import ROOT

LONG = 3600  # seconds, for what takes a minute or two


def build_user(check):
    check.build_user()


def build_modules(check, name):
    check.build_modules(name)


def build_arm64(check):
    """By gcc, with no warning of W=1; clang does so in packages: compilers."""
    check.build_arm64()


def fuzz(check, runs):
    """libFuzzer on the parser of frames; the seed is in the log."""
    check.host(["make", "-s", "fuzz", f"FUZZ_RUNS={runs}"], LONG)


def fabtests(check):
    """libfabric's own tests, over via on shm beside tcp."""
    check.host([os.path.join(ROOT, "tests/fabric/fabtests.py")], LONG)


def bench(check, part):
    """It runs, and has a figure for each of its bars; whether these are met is for a
    machine that does nothing else."""
    check.host([os.path.join(ROOT, "tests/bench/bench.py"), "--only", part,
                "--quick", "--no-bars"], LONG)


SANITIZERS = {
    # The library has a fence that gcc's TSan does not know; clang's does.
    "tsan": ["CC=clang", "SAN=thread", "CFLAGS=-O1 -g"],
    "asan": ["SAN=address,undefined",
             "CFLAGS=-O1 -g -fno-sanitize-recover=all"],
}


def build_sanitized(check, name):
    """The library and the suite; other programs gain nothing by it."""
    check.host(["make", "-s", "-j2", "lib", f"build/{name}/viaconform",
                f"B=build/{name}", *SANITIZERS[name]], LONG)


def tests(check):
    """Those that make test has, and what is too long for it."""
    check.together(listed.daily(listed.tests()))


def long_tests(check):
    """What is too long for make check, too."""
    check.together([t for t in listed.tests()
                    if t.name in listed.LONGEST])


def all_apply(check):
    """Each says something about today's sources."""
    for mutant in mutants.MUTANTS:
        plant.plant(mutant)
    check.write(f"{len(mutants.MUTANTS)} mutants apply")
    if os.path.exists(os.path.join(ROOT, ".git")):
        check.host([os.path.join(ROOT, "tests/mutation/sim.py"), "--since",
                    "HEAD", "--list"], 60)


def simulated(check, *which):
    """Those that simulator and units are to find."""
    check.host([os.path.join(ROOT, "tests/mutation/sim.py"), *which], 7200)


def packages(check, what):
    """What users install: made, looked at, tried, removed."""
    check.host([os.path.join(ROOT, "tools/lab/setup.sh"), "package"], LONG)
    check.host([os.path.join(ROOT, "tests/packages/run"), what], LONG,
               skips=True)


def image(check):
    """The container image of packaging/Dockerfile, and its command."""
    check.host([os.path.join(ROOT, "tests/packages/container")], LONG,
               skips=True)


def bare(check, what, suite="bookworm"):
    """README's commands on a machine that has nothing else."""
    check.host([os.path.join(ROOT, "tests/bare/run"), what, suite], LONG,
               skips=True)


def bare_trixie(check, what):
    """The same on Debian 13."""
    bare(check, what, "trixie")


def dkms(check, name):
    """The modules as DKMS builds, signs and installs them."""
    check.host([os.path.join(ROOT, "tools/lab/setup.sh"), "package"], LONG)
    kernel = kernels.kernel(name)
    check.host([os.path.join(ROOT, "tests/packages/run"), "dkms",
                kernel.release, kernel.kdir, kernel.root or ""], LONG)


def mutations(check):
    """Those that a guest is to notice."""
    if check.wants("mutation"):
        mutation.run(check)
