# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant, one at a time.  The tests have to notice each.

layer.py says what a mutant is.  They are by layers: of the library, of the
agent, of the Ethernet class, of the verbs device; and the defects that there
once were, taken back.
"""

import agent
import class_
import defects
import library
import verbs_device

# The order in which they are built and run.
MUTANTS = library.MUTANTS + agent.MUTANTS + class_.MUTANTS + \
    verbs_device.MUTANTS + defects.MUTANTS
# Those that make check-full plants.
GUEST = [m for m in MUTANTS if m.guest]


def named(names):
    """Those of these names, in their order; ValueError: there is none."""
    unknown = set(names) - {m.name for m in MUTANTS}
    if unknown:
        raise ValueError(f"no such mutant: {', '.join(sorted(unknown))}")
    return [m for m in MUTANTS if m.name in names]
