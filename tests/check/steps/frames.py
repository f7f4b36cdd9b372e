# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Frames thrown at a live node, at full rate, while connections go on.

Node 2 throws, node 1 is the target.  Connections for the discriminator
"sacrifice" may be broken by their own cookies, since nothing authenticates a
frame; all others must not notice, have every byte right, and be as fast to
make afterwards as before.
"""

import itertools
import json
import re
import time

from again import again
from balance import alive, settled, unpinned
from common import STRESS, counters, jobs, mac, serving, stop
from labkit.base import BUILD
from runner import StepFailed

FRAMES = f"{BUILD}/viatest frames"
TARGET, THROWER = 0, 1

# Classes of frames, and the counter that shows that they were thrown away.
DROPPED = {"version": "drop_version", "type": "drop_type",
           "lengths": "drop_length", "fields": "drop_field",
           "no_vi": "drop_no_vi", "cookie": "drop_cookie",
           "group": "drop_type"}
# Counters of what is answered, or taken, instead.
MOVED = {"requests": "requests_in", "peers": "requests_in",
         "resets": "resets_in", "names": "name_queries_in"}
# And what a part of them brings about: answers are few, and some need luck.
SOME = {"version": ("versions_in", "versions_out"),
        "requests": ("requests_unproven",), "no_vi": ("resets_out",)}
# Most that the kernel's memory may have grown after everything is over.
GROWTH_KB = 16384


def slab(node):
    """Kilobytes of the kernel's own memory."""
    text = node.sh("cat /proc/meminfo").out
    return sum(int(v) for k, v in re.findall(r"(\w+):\s+(\d+) kB", text)
               if k in ("Slab", "VmallocUsed", "Percpu"))


class Thrower:
    """viatest frames on its node; it begins when it has seen two protected
    connections being made, and one that may be broken."""

    def __init__(self, session, net, frames, seed, seconds):
        self.session = session
        self.job = session.lab.nodes[THROWER].spawn(
            f"{FRAMES} --frames {frames} --seed {seed} --wait 2 --seconds "
            f"{seconds} eth{net} {mac(net, TARGET)}", seconds + 90)
        self.job.expect("ready")

    def end(self):
        """What of each class was thrown, how many, how many a second."""
        result = self.job.wait()
        thrown = re.search(r"^viatest frames: (\{.*\})$", result.out, re.M)
        total = re.search(r"seed \d+, (\d+) frames in [\d.]+ s, (\d+) a "
                          "second", result.out)
        if not thrown or not total:
            raise StepFailed("viatest frames has not said what it has thrown: "
                             + result.all.strip()[-200:])
        shouted = re.search(r"(\d+) answers to everybody", result.out)
        if int(shouted.group(1)):
            raise StepFailed(f"{shouted.group(1)} frames with a source that "
                             "is no host's were answered to everybody")
        return (json.loads(thrown.group(1)), int(total.group(1)),
                int(total.group(2)))


def received(node, net):
    """Frames that the card's driver has taken in."""
    return int(node.sh(f"cat /sys/class/net/eth{net}/statistics/rx_packets")
               .out)


def moved(before, after, thrown, taken):
    """Every class of frames must show in its counter.  A card whose guest has
    no processor loses frames: those it has `taken` are what there was."""
    seen = after["rx_frames"] - before["rx_frames"]
    total = sum(thrown.values())
    if seen < min(total, taken) * 0.8:
        raise StepFailed(f"of {total} frames thrown and {taken} taken in "
                         f"the target saw {seen}")
    share = min(1, seen / total)
    # The whole of a class is not in one counter alone, but most is.
    least = [(class_, counter, 1 / 8)
             for class_, counter in {**DROPPED, **MOVED}.items()]
    least += [(class_, counter, 1 / 2000)
              for class_, names in SOME.items() for counter in names]
    for class_, counter, part in least:
        count = after.get(counter, 0) - before.get(counter, 0)
        came = thrown.get(class_, 0) * share
        if came > 2000 and count < came * part:
            raise StepFailed(f"{came:.0f} frames of class {class_}, "
                             f"but {counter} has moved by {count}")
    return seen


def connections(session, net, messages, seconds):
    """Protected ones, both ways, and one after the other to be broken."""
    nodes, device = session.lab.nodes, f"{STRESS} -d via_eth{net}"
    protected = [
        nodes[TARGET].spawn(f"{device} --reads --max-size 8192 --messages "
                            f"{messages} {mac(net, THROWER)}", seconds),
        nodes[THROWER].spawn(f"{device} --level rr --reads --disc other "
                             f"--max-size 8192 --messages {messages} "
                             f"{mac(net, TARGET)}", seconds)]
    victim = nodes[THROWER].spawn(
        f"{device} --disc sacrifice --sacrifice {seconds} --patience 2000 "
        f"--reads --max-size 4096 {mac(net, TARGET)}", seconds + 60)
    return protected, victim


def attacked(session, net, frames, seed, messages):
    """All of it at once; the counters are looked at."""
    seconds = frames // 2000 + 60 * session.slow  # generously
    target = session.lab.nodes[TARGET]
    before, first = counters(session, target, net), received(target, net)
    thrower = Thrower(session, net, frames, seed, seconds)
    protected, victim = connections(session, net, messages, seconds + 60)
    try:
        thrown, total, rate = thrower.end()
        after = counters(session, target, net)
        taken = received(target, net) - first
        for job in protected:
            if job.wait().rc:
                for node in range(2):
                    counters(session, session.lab.nodes[node], net)
                raise StepFailed("a protected connection was disturbed: "
                                 + job.all.strip()[-200:])
    finally:
        stop(session, thrower.job, *protected, victim)
    seen = moved(before, after, thrown, taken)
    session.check.write(f"{rate} frames a second; the target saw {seen} "
                        f"of {total}")
    return {"frames": total, "rate": rate}


def frames(session, net, amount, seed, messages=None):
    """Frames of all classes at a node with connections of both kinds."""
    nodes = session.lab.nodes
    target = nodes[TARGET]
    device = f"{STRESS} -d via_eth{net}"
    session.check.write(f"seed {seed}")
    objects, memory = alive(target), slab(target)
    with serving(session, f"{device} --server", THROWER), \
            serving(session, f"{device} --server --disc other", TARGET), \
            serving(session, f"{device} --server --disc sacrifice", TARGET):
        # About as long as the frames take, which is what they shall meet.
        did = attacked(session, net, amount, seed,
                       messages or max(1000, amount // 40))
        after(session, net)
    settled(target, objects, 15 * session.slow)
    grown = slab(target) - memory
    session.check.write(f"memory of the kernel: {grown} kB more")
    if grown > GROWTH_KB and not session.lab.debug:
        raise StepFailed(f"the target's kernel has {grown} kB more than "
                         "before")
    unpinned(session)
    return did


def after(session, net):
    """New connections work, and soon."""
    begin = time.monotonic()
    session.run(session.lab.nodes[THROWER],
                f"{STRESS} -d via_eth{net} --disc other --messages 200 "
                f"--max-size 4096 {mac(net, TARGET)}", 60)
    seconds = time.monotonic() - begin
    session.check.write(f"a new connection and 200 messages: {seconds:.1f} s")


def forgotten(session, net, options, count, limit):
    """Clients that ask and are never heard of again, with all the time of
    the world: a program that accepts them is free for others soon."""
    device = f"{STRESS} -d via_eth{net} --disc sacrifice"
    with serving(session, f"{device} --server", TARGET):
        # It must be waiting when they come.
        session.run(session.lab.nodes[THROWER], f"{device} --connects 1 "
                    f"{mac(net, TARGET)}", 60)

        # Of an old request the answer may be remembered.
        seeds = itertools.count(1)

        def once():
            with jobs(session, session.lab.nodes[THROWER].spawn(
                    f"{FRAMES} --hang 1 --seed {next(seeds)} {options} "
                    f"eth{net} {mac(net, TARGET)}", 60)) as (job,):
                if options:
                    # It asks as this host does, which it has to see.
                    job.expect("ready")
                    session.run(session.lab.nodes[THROWER], f"{device} "
                                f"--connects 1 {mac(net, TARGET)}", 60)
                if job.wait().rc:
                    raise StepFailed("no server takes a request: "
                                     + job.all.strip()[-200:])
            result = session.run(
                session.lab.nodes[THROWER], f"{device} --connects 1 "
                f"{mac(net, TARGET)}", 90, status=None)
            took = re.search(r"most (\d+) ms", result.out)
            return "a client that was never heard of again kept others " \
                f"waiting for more than {limit} s" if result.rc or not took \
                or int(took.group(1)) > limit * 1000 else None

        for _ in range(count):
            again(session, once)
    return {"requests": count}


def gone_clients(session, net, count):
    """Their host is there, and knows nothing of them: it says so."""
    return forgotten(session, net, "--own", count, 1.5 * session.slow)


def dead_clients(session, net, count):
    """Their host is not there: silence is what tells."""
    return forgotten(session, net, "", count, 12 * session.slow)
