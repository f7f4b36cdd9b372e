# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant, one at a time.  The tests have to notice each.

layer.py says what a mutant is and how it is written.  They are by layers: of the
library, of libviadsm, of the agent, of the Ethernet class, of the verbs device; and
the defects that there once were, taken back.
"""

from collections import Counter

import layer

# The order in which they are built and run.
LAYERS = ("library", "shared", "agent", "class", "verbs", "defects")
MUTANTS = [mutant for name in LAYERS for mutant in layer.table(name)]
# Those that make check-full plants.
GUEST = [m for m in MUTANTS if m.guest]
TWICE = [n for n, many in Counter(m.name for m in MUTANTS).items() if many > 1]
if TWICE:
    raise ValueError(f"more than one mutant: {', '.join(TWICE)}")


def named(names):
    """Those of these names, in their order; ValueError: there is none."""
    unknown = set(names) - {m.name for m in MUTANTS}
    if unknown:
        raise ValueError(f"no such mutant: {', '.join(sorted(unknown))}")
    return [m for m in MUTANTS if m.name in names]
