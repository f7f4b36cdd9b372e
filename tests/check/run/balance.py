# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""No object outlives the process that made it, and no page stays pinned."""

import re
import time

from runner import StepFailed

LEDGER = "/sys/module/via_ka/parameters/ledger"


def alive(node):
    """Objects of each kind that are there now."""
    return {kind: int(made) - int(gone) for kind, made, gone in
            re.findall(r"^(\w+) (\d+) (\d+)$", node.sh(f"cat {LEDGER}").out,
                       re.M)}


def unpinned(session, nodes=None):
    for node in nodes or session.lab.nodes:
        pins = session.lab.pins(node)
        if pins:
            raise StepFailed(f"{node.name}: {pins} pages stay pinned")


def settled(node, objects, seconds):
    """These objects, and no others, are there in so many seconds."""
    clock = node.link.clock
    end = clock() + seconds
    while True:
        now = alive(node)
        if now == objects:
            return
        if clock() > end:
            left = {kind: count - objects.get(kind, 0)
                    for kind, count in now.items()
                    if count != objects.get(kind, 0)}
            raise StepFailed(f"{node.name}: after {seconds} s are left: "
                             f"{left}")
        time.sleep(0.3)


def balanced(session, nodes=None):
    """A moment is allowed: the last file's end is a work item."""
    for node in nodes or session.lab.nodes:
        settled(node, dict.fromkeys(alive(node), 0), 20)
    unpinned(session, nodes)
