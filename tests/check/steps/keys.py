# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Two hosts with a key in common: their frames have authenticators, and what a
wire copies or changes is dropped by them."""

import contextlib
import time

from common import counters, mac
from conform import conform_wire
from runner import StepFailed
from transfer import stress

KEY = "c4b2097d5e13a68f" * 4
# Bits flip past Ethernet's check, and frames come twice.
WIRE = dict(loss=0.005, dup=0.02, reorder=0.02, slip=0.005, seed=13)
DROPPED = ("drop_auth", "drop_replay")
# Seconds between two of an unanswered DISCONNECT: a quarter of dead_ms.
REPEAT = 2


def quiet(session, net):
    """Connections of steps before have ended on both nodes: a DISCONNECT that
    a bad wire has lost is sent four times more, without an authenticator, and
    a host that has a key by then drops it."""
    sent, end = None, time.monotonic() + 60 * session.slow
    while True:
        now = totals(session, net, "tx_frames")
        if now == sent:
            return
        if time.monotonic() > end:
            raise StepFailed("hosts without connections send frames")
        sent = now
        time.sleep((REPEAT + 0.5) * session.slow)


@contextlib.contextmanager
def keyed(session, net):
    """Each node has that key for the other one meanwhile."""
    lab = session.lab
    quiet(session, net)
    try:
        for i, node in enumerate(lab.nodes):
            lab.peers(node, f"eth{net}", {mac(net, 1 - i): KEY})
        yield
    finally:
        for node in lab.nodes:
            lab.peers(node, f"eth{net}", None)


def totals(session, net, *names):
    """Of these counters, of both nodes together."""
    nodes = [counters(session, node, net) for node in session.lab.nodes]
    return {name: sum(count[name] for count in nodes) for name in names}


def calm(session, net):
    """On a good wire no authenticator is wrong, once there is a session."""
    conform_wire(session, net, "connect.accepted")
    before = totals(session, net, "sessions", *DROPPED)
    if not before["sessions"]:
        raise StepFailed("hosts with a key have no session")
    conform_wire(session, net, "connect*,p2p*")
    after = totals(session, net, *DROPPED)
    if any(after[name] != before[name] for name in DROPPED):
        raise StepFailed(f"authenticators were wrong on a good wire: {after}, "
                         f"before: {before}")
    return after


def transfers(session, net, messages):
    """Every byte right over a wire that flips bits and copies frames; and
    without the key as before."""
    wire = session.lab.wire(net)
    with keyed(session, net):
        before, start = calm(session, net), wire.stats()
        with session.bad_wire(net, **WIRE):
            # As often as it takes: how many frames carry the messages is the
            # hosts' affair, and each is spoiled by chance.
            for _ in range(5):
                stress(session, net, f"--messages {messages} --reads", 600)
                did = wire.stats()
                if all(did[name] - start[name] >= 10
                       for name in ("slipped", "duplicated")):
                    break
        after, did = totals(session, net, *DROPPED), wire.stats()
    wrong, old = (after[name] - before[name] for name in DROPPED)
    flipped, copied = (did[name] - start[name]
                       for name in ("slipped", "duplicated"))
    session.check.write(f"{flipped} frames with a bit flipped, {wrong} dropped"
                        f"; {copied} copies, {old} dropped")
    # In the padding it is none, in version, type or length found before.
    if flipped < 10 or wrong < flipped // 2 or copied < 10 or \
            old < copied // 2:
        raise StepFailed(f"{flipped} frames were spoiled, {wrong} dropped; "
                         f"{copied} copied, {old} dropped")
    conform_wire(session, net, "connect.accepted")
    return {"messages": messages, "dropped": wrong + old}
