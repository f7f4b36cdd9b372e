# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checksums of ours: agreed upon at connect, and what they are for, a wire
that flips bits which the Ethernet's frame check does not find."""

import badnet
from common import counters
from conform import conform_wire
from runner import StepFailed
from transfer import stress

POLICY = "/sys/module/via_ether/parameters/checksum"
SLIP = 0.005


def policy(session, on):
    """Who asks for checksums: node 1, node 2."""
    for node, word in zip(session.lab.nodes, on):
        node.sh(f"echo {'Y' if word else 'N'} >{POLICY}")


def agreed(session, net, groups="send*,p2p*"):
    """Either end's wish is enough; without one there are none."""
    one, two = session.lab.nodes
    for on in ((True, False), (False, True)):
        policy(session, on)
        try:
            conform_wire(session, net, groups)
        finally:
            policy(session, (False, False))
        for node in (one, two):
            if counters(session, node, net)["drop_checksum"]:
                raise StepFailed(f"{node.name}: a checksum was wrong on a "
                                 "good wire")


def caught(session, net, messages, options=""):
    """Bits flip on the wire; every byte that arrives is right."""
    wire = session.lab.wire(net)
    before = wire.stats()["slipped"]
    dropped = sum(counters(session, n, net)["drop_checksum"]
                  for n in session.lab.nodes)
    policy(session, (True, False))
    wire.set(slip=SLIP, seed=11)
    try:
        stress(session, net, f"--messages {messages} {options}", 600)
    finally:
        wire.set(slip=0)
        policy(session, (False, False))
    flipped = wire.stats()["slipped"] - before
    dropped = sum(counters(session, n, net)["drop_checksum"]
                  for n in session.lab.nodes) - dropped
    session.check.write(f"{flipped} frames with a bit flipped, {dropped} "
                        "found by their checksum")
    # In the padding, in version, type or length it is found otherwise.
    if flipped < 10 or dropped < flipped // 2:
        raise StepFailed(f"{flipped} frames were spoiled, {dropped} found")
    return {"messages": messages, "flipped": flipped, "found": dropped}


def flipping(session, net, messages, seed):
    """With checksums a spoiled frame is a lost one, and no more than that."""
    policy(session, (True, True))
    try:
        return badnet.conditions(session, net, messages, seed,
                                 table=badnet.SLIP)
    finally:
        policy(session, (False, False))


def checksums(session, net, messages):
    agreed(session, net)
    done = caught(session, net, messages)
    caught(session, net, messages // 4, "--level rr --reads")
    return done
