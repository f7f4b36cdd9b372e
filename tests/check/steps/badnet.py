# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Bad networks.  The rule of the reliable levels: every byte right and in
order, or both ends' programs are told in bounded time that the connection is
lost.  Each step takes its amount and its seed, and returns what it counted.
"""

import random
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from again import again
from common import STRESS, changes, jobs, peer, serving
from runner import StepFailed

# What the wire does, and whether a connection may be lost by it.
CONDITIONS = {
    "loss 0.1 %": (dict(loss=0.001), False),
    "loss 1 %": (dict(loss=0.01), False),
    "loss 5 %": (dict(loss=0.05), False),
    "loss 10 %": (dict(loss=0.1), False),
    "loss 30 %": (dict(loss=0.3), True),
    "bursts of 2": (dict(loss=0.01, burst=2), False),
    "bursts of 10": (dict(loss=0.005, burst=10), False),
    "bursts of 50": (dict(loss=0.001, burst=50), True),
    "duplication 10 %": (dict(dup=0.1), False),
    "reordering, gap 3": (dict(reorder=0.05), False),
    "reordering, gap 100": (dict(reorder=0.02, gap=100, hold="50ms"), False),
    "reordering, gap 1000": (dict(reorder=0.01, gap=1000, hold="500ms"),
                             False),
    "delay and jitter": (dict(delay="10ms", jitter="10ms"), False),
    "everything at once": (dict(loss=0.02, burst=3, dup=0.05, reorder=0.05,
                                gap=50, hold="20ms", corrupt=0.01,
                                delay="1ms", jitter="1ms"), True),
    "a switch that forgets": (dict(forget="2ms"), False),
}
# Bits that flip and pass Ethernet's check: for wires with a check of ours.
SLIP = {"slip": (dict(slip=0.001), False)}

# What a condition must have done to the frames, by the switch's counters.
SIGNS = {"loss": "lost", "dup": "duplicated", "reorder": "reordered",
         "corrupt": "corrupted", "slip": "slipped"}
LEVELS = ("rd", "rr")
# How a wire dies in one direction, and whether there is traffic.
WAYS = (("deaf", False), ("mute", True), ("deaf", True), ("mute", False))
DEAD = 8  # seconds of silence until a connection breaks, docs/reference/wire.md


def verdict(text):
    """What a run of viatest stress --may-break has counted."""
    passed = re.search(r"^(\d+) passed, (\d+) failed", text, re.M)
    lost = re.search(r"(\d+) connections were lost, the server knew of each "
                     r"(\d+) ms", text)
    if not passed or not lost:
        raise StepFailed("viatest stress has not said what came of it")
    return {"messages": int(passed.group(1)), "lost": int(lost.group(1)),
            "told_ms": int(lost.group(2))}


def command(net, level, messages, seed, options=""):
    return (f"{STRESS} -d via_eth{net} --level {level} --reads --may-break "
            f"--messages {messages} --max-size 20000 --seed {seed} {options} "
            f"{peer(net)}")


def one(session, total, net, name, level, messages, seed, table):
    """One condition at one level; the server is there.  Where no connection
    may be lost, one that a guest without a processor has lost is looked at
    again."""
    def once():
        counted, lost = under(session, net, name, level, messages, seed,
                              table)
        total.update(counted)
        return lost and f"{name}, {level}: {lost} connections were lost"

    again(session, once, 3)


def under(session, net, name, level, messages, seed, table):
    """What that was, and how many were lost that may not be."""
    settings, may_break = table[name]
    before, begin = session.lab.wire(net).stats(), time.monotonic()
    with session.bad_wire(net, **settings, seed=seed) as wire:
        result = session.run(session.lab.nodes[0],
                             command(net, level, messages, seed), 580)
    did = changes(before, wire.stats())
    counted = verdict(result.out)
    session.check.write(f"{name}, {level}: {counted} in "
                        f"{time.monotonic() - begin:.1f} s; the wire: {did}")
    for key, sign in SIGNS.items():
        if settings.get(key) and not did[sign]:
            raise StepFailed(f"{name}: the wire was good: {did}")
    counted.pop("told_ms")
    return ({**counted, "frames": did["in_frames"]},
            0 if may_break else counted["lost"])


def conditions(session, net, messages, seed, names=None, levels=LEVELS,
               table=None):
    """Sends, RDMA Writes and reads under each condition at each level."""
    total, table = Counter(), table or CONDITIONS
    session.check.write(f"seed {seed}")
    with serving(session, f"{STRESS} -d via_eth{net} --server"):
        for name in names or table:
            for level in levels:
                one(session, total, net, name, level, messages, seed, table)
                seed += 1
                total["runs"] += 1
    return total


def meddle(job, times, act):
    """Does something to the network, again and again, beside a job."""
    did = 0
    while did < times and not job.done:
        act(did)
        did += 1
    return did


def meddled(session, net, messages, times, seed, act, calm, level="rd"):
    """A transfer while act(i) is done up to `times` times."""
    wire = session.lab.wire(net)
    session.check.write(f"seed {seed}")
    with serving(session, f"{STRESS} -d via_eth{net} --server"), \
            ThreadPoolExecutor() as pool, \
            jobs(session, session.lab.nodes[0].spawn(
                command(net, level, messages, seed), 580)) as (job,):
        try:
            before = wire.stats()["in_frames"]
            job.link.wait_for(lambda: job.done or wire.stats()["in_frames"] >
                              before + 100, 60)
            did = pool.submit(meddle, job, times, act).result(560)
        finally:
            calm()
        result = job.wait()
    if result.rc:
        raise StepFailed(f"'{result.command}' ended with status {result.rc}")
    counted = verdict(result.out)
    session.check.write(f"{counted}, {did} times meddled with")
    if not did:
        raise StepFailed("it was over before anything was done to it")
    return {"messages": counted["messages"], "lost": counted["lost"],
            "meddled": did}


def flapping(session, net, flaps, seed, messages=None):
    """A link that goes for 0.2 to 3 s, again and again."""
    dice = random.Random(seed)

    def flap(_):
        wire.set(cut="1")
        time.sleep(dice.uniform(0.2, 3))
        wire.set(cut="none")
        time.sleep(dice.uniform(0.1, 1))

    with session.bad_wire(net) as wire:
        return meddled(session, net, messages or 4000 * flaps, flaps, seed,
                       flap, lambda: wire.set(cut="none"))


def changing_mtu(session, net, changes, seed, messages=None,
                 sizes=(576, 1000, 1400, 1500)):
    """The interfaces' MTUs differ, and go up and down meanwhile."""
    dice, nodes = random.Random(seed), session.lab.nodes

    def change(_):
        dice.choice(nodes).sh(f"ip link set eth{net} mtu "
                              f"{dice.choice(sizes)}")
        time.sleep(dice.uniform(0, 0.5))

    def calm():
        for node in nodes:
            node.sh(f"ip link set eth{net} mtu 1500")

    return meddled(session, net, messages or 3000 * changes, changes, seed,
                   change, calm)


def differing_mtu(session, net, messages, seed,
                  pairs=((1500, 576), (320, 1500), (1499, 1001))):
    """Peers whose MTUs differ before they connect."""
    total, wire = Counter(), session.lab.wire(net)
    try:
        for i, sizes in enumerate(pairs):
            for node, mtu in zip(session.lab.nodes, sizes):
                node.sh(f"ip link set eth{net} mtu {mtu}")

            def once(i=i, sizes=sizes):
                with serving(session, f"{STRESS} -d via_eth{net} --server"):
                    before = wire.stats()
                    result = session.run(
                        session.lab.nodes[0],
                        command(net, "rd", messages, seed + i), 300)
                    after = wire.stats()
                counted = verdict(result.out)
                frames = after["in_frames"] - before["in_frames"]
                mean = (after["in_bytes"] - before["in_bytes"]) / frames
                told = f"MTU {sizes}: {counted}, {mean:.0f} bytes a frame"
                session.check.write(told)
                if mean > min(sizes) + 14:
                    raise StepFailed(told)
                total.update(messages=counted["messages"], runs=1)
                return told if counted["lost"] else None

            again(session, once, 3)
    finally:
        for node in session.lab.nodes:
            node.sh(f"ip link set eth{net} mtu 1500")
    return total


def one_way(session, net, how, busy):
    """A wire that dies in one direction: both ends hear of it, and when."""
    one, two = session.lab.nodes
    limit = (DEAD + 4) * session.slow + 15
    # Theirs is a clock that goes on without a processor.
    what = (f"--messages 10000000 --patience {9 * limit * 1000:.0f}" if busy
            else f"--idle {9 * limit:.0f}")
    device = f"{STRESS} -d via_eth{net}"
    with jobs(session, two.spawn(f"{device} --server", 300), one.spawn(
            f"{device} {what} {peer(net)}", 300)) as (server, client), \
            session.bad_wire(net) as wire:
        start = wire.stats()["in_frames"]
        client.link.wait_for(
            lambda: client.done or (
                wire.stats()["in_frames"] > start + 500 if busy else
                "connected" in client.out), 60)
        if not busy:
            time.sleep(1.5)  # until heartbeats are all there is
        wire.set(**{how: "1"})
        times = told(session, limit, {
            "client": lambda: client.done, "server":
            lambda: "a connection was lost, told" in server.out})
    words = ", ".join(f"the {k} after {v:.1f} s" for k, v in times.items())
    said = f"{how}, {'busy' if busy else 'idle'}: {words or 'neither'} knew"
    session.check.write(said)
    if len(times) < 2:
        raise StepFailed(f"{said} in {limit:.0f} s")
    return times


def told(session, limit, ends):
    """When each of these became true, in s from now, within the limit."""
    clock = session.lab.clock.now
    begin, times = clock(), {}
    while clock() - begin < limit and len(times) < len(ends):
        for name, knows in ends.items():
            if knows():
                times.setdefault(name, clock() - begin)
        time.sleep(0.05)
    return times


def one_way_wires(session, net, rounds, ways=WAYS):
    """Each direction, with traffic and without."""
    worst = 0.0
    for _ in range(rounds):
        for how, busy in ways:
            times = one_way(session, net, how, busy)
            worst = max(worst, *times.values())
    session.check.write(f"all were told after {worst:.1f} s at most")
    return {"runs": len(ways) * rounds, "worst_ms": int(worst * 1000)}


def connects(session, net, amount, loss, seed, most=5):
    """Connecting while frames are lost: no attempt takes `most` seconds, in
    one of a few runs."""
    worst = []

    def once():
        result = session.run(
            session.lab.nodes[0], f"{STRESS} -d via_eth{net} --max-size "
            f"256 --connects {amount} {peer(net)}", 580)
        worst.append(int(re.search(r"most (\d+) ms", result.out).group(1)))
        return f"a connect took {worst[-1]} ms where {loss:.0%} of the " \
            "frames are lost" if worst[-1] > most * 1000 * session.slow \
            else None

    with session.bad_wire(net, loss=loss, seed=seed), \
            serving(session, f"{STRESS} -d via_eth{net} --server"):
        again(session, once)
    return {"connects": amount * len(worst), "worst_ms": worst[-1]}
