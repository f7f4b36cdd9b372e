# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One program with as many VIs as a NIC has, all connected and used; then it
is killed."""

import contextlib
import json
import re

from balance import LEDGER, alive, settled
from common import TOOLS, jobs, peer, serving
from runner import StepFailed
from scale import client, numbers, served

MOST = 65535  # VIs of a NIC
MACHINE = 2300  # MiB in use of a machine at most: 2 GB for VIs, the rest for others
# ms until nothing of the killed is left, and how many times as long a round trip
# may take meanwhile.  Two guests of two processors each share two, so the end of a
# VI takes three times as long as in exact mode (bench.py --only objects).
GONE, SLOWER = 40000, 5
# The kernel's own clock, as near to the signal as can be.
KILL = """
now() { read -r up rest </proc/uptime; echo "${up%%.*}${up#*.}0"; }
left() { awk '$1 == "vis" { print $2 - $3 }' @LEDGER@; }
was=$(now); kill -9 $(busybox pidof viatest)
while [ $(left) -gt @LEFT@ ]; do sleep 0.05; done
echo gone_ms $(($(now) - was))
"""


def kill(left):
    """The commands; so many VIs of the node are others'."""
    return KILL.replace("@LEDGER@", LEDGER).replace("@LEFT@", str(left))


@contextlib.contextmanager
def large(session):
    """NICs of both nodes have as many VIs as they can have meanwhile."""
    def load(params=None):
        for node in session.lab.nodes:
            session.lab.rmmod(node)
            session.prepare(node, params)

    load({"via_ka": f"max_vi={MOST}"})
    try:
        yield
    finally:
        load()


def used(node):
    """MiB of the machine."""
    kib = dict(re.findall(r"^(\w+): +(\d+) kB", node.sh(
        "cat /proc/meminfo").out, re.M))
    return (int(kib["MemTotal"]) - int(kib["MemAvailable"])) // 1024


def latency(session, net, seconds):
    """The command of another program, which tells a median."""
    return (f"{TOOLS}/vipl_lat -d via_eth{net} -e -D {seconds} --json - "
            f"{peer(net)}")


def median(job):
    result = job.wait(120)
    if result.rc:
        raise StepFailed(f"the program beside: {result.all.strip()[-200:]}")
    return json.loads(result.out.strip().splitlines()[-1])["p50"]


def killed(session, net, count, seconds=3):
    """All of them send and receive; all are gone soon after their owner, and
    a program beside it goes on meanwhile."""
    one, two = session.lab.nodes
    words = f"-n {count} -t 8 -c 16"
    with large(session):
        with served(session, "serve-vis", net, words) as server, \
                serving(session, f"{TOOLS}/vipl_lat -d via_eth{net} "
                                 "-e --persist"), \
                jobs(session, one.spawn(client(
                    session, "vis", net, words + " -s 1 -w"), 1800)) as (job,):
            job.expect("^waits$", 1800)
            mib = [used(node) for node in (one, two)]
            was = median(one.spawn(latency(session, net, seconds), 60))
            beside = one.spawn(latency(session, net, seconds), 60)
            gone = numbers(one.sh(kill(1), 120).out)["gone_ms"]
            now = median(beside)
            if server.wait(600).rc:
                raise StepFailed(f"the server: {server.all.strip()[-200:]}")
        for node in (one, two):
            settled(node, dict.fromkeys(alive(node), 0), 20)
    found = numbers(job.out)
    session.check.note(
        f"{count} VIs: {max(mib)} MiB of a machine in use, {gone:.0f} ms "
        f"until all were gone, a round trip beside {was} us, then {now}")
    if found.get("wrong") or max(mib) > MACHINE or gone > GONE or \
            now > SLOWER * was:
        raise StepFailed(f"{max(mib)} MiB of {MACHINE}, {gone:.0f} ms of "
                         f"{GONE}, {was} us and {now}")
    return {"messages": 2 * count, "connects": count}
