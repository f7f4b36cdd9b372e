# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checksums of ours: agreed upon at connect, and what they are for, a wire
that flips bits which the Ethernet's frame check does not find."""

import contextlib

import badnet
from common import counters
from conform import conform_wire
from runner import StepFailed
from transfer import stress

POLICY = "/sys/module/via_ether/parameters/checksum"
SLIP = 0.005


@contextlib.contextmanager
def policy(session, *on):
    """Which nodes ask for checksums meanwhile."""
    try:
        for node, word in zip(session.lab.nodes, on):
            node.sh(f"echo {'Y' if word else 'N'} >{POLICY}")
        yield
    finally:
        for node in session.lab.nodes:
            node.sh(f"echo N >{POLICY}")


def wrong(session, net):
    """Frames that both have found spoiled by their checksum."""
    return sum(counters(session, node, net)["drop_checksum"]
               for node in session.lab.nodes)


def agreed(session, net, groups="send*,p2p*"):
    """Either end's wish is enough; without one there are none."""
    for on in ((True, False), (False, True)):
        with policy(session, *on):
            conform_wire(session, net, groups)
        if wrong(session, net):
            raise StepFailed("a checksum was wrong on a good wire")


def caught(session, net, messages, options=""):
    """Bits flip on the wire; every byte that arrives is right."""
    wire = session.lab.wire(net)
    before, bad = wire.stats()["slipped"], wrong(session, net)
    with policy(session, True, False), \
            session.bad_wire(net, slip=SLIP, seed=11):
        # As often as it takes: each frame is spoiled by chance.
        for _ in range(5):
            stress(session, net, f"--messages {messages} {options}", 600)
            if wire.stats()["slipped"] - before >= 10:
                break
    flipped = wire.stats()["slipped"] - before
    dropped = wrong(session, net) - bad
    session.check.write(f"{flipped} frames with a bit flipped, {dropped} "
                        "found by their checksum")
    # In the padding, in version, type or length it is found otherwise.
    if flipped < 10 or dropped < flipped // 2:
        raise StepFailed(f"{flipped} frames were spoiled, {dropped} found")
    return {"messages": messages, "flipped": flipped, "found": dropped}


def flipping(session, net, messages, seed):
    """With checksums a spoiled frame is a lost one, and no more than that."""
    with policy(session, True, True):
        return badnet.conditions(session, net, messages, seed,
                                 table=badnet.SLIP)


def checksums(session, net, messages):
    agreed(session, net)
    done = caught(session, net, messages)
    caught(session, net, messages // 4, "--level rr --reads")
    return done
