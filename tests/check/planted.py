# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The steps of tests/mutation: some in make check, all in make check-full."""

import os
import sys

from labkit.base import ROOT

sys.path.append(os.path.join(ROOT, "tests/mutation"))

import mutants  # noqa: E402
import mutation  # noqa: E402
import plant  # noqa: E402


def all_apply(check):
    """Each says something about today's sources."""
    for mutant in mutants.MUTANTS:
        plant.plant(mutant)
    check.write(f"{len(mutants.MUTANTS)} mutants apply")


def simulated(check, *which):
    """Those that simulator and units are to find."""
    check.host([os.path.join(ROOT, "tests/mutation/sim.py"), *which], 7200)


def short(check):
    check.step("mutation: all mutants apply", all_apply, check)
    check.step("mutation: the simulator finds the defects of old", simulated,
               check, "--defects")


def full(check):
    check.step("mutation: what the simulator finds", simulated, check)
    if check.wants("mutation"):
        mutation.run(check)
