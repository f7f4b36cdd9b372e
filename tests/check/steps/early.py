# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Frames are taken before the stack where nothing in it would see them, and
whatever would see them sees each."""

import os
import re

from common import GUEST, TOOLS, jobs, numbers, peer, serving
from runner import StepFailed
from udp import machines

PINGS = 20
FIRST = 8     # frames that IP may route while a connection is made, at most
WATCH = os.path.join(GUEST, "watch.py")

# What sees frames that come in: begin, end, and what prints how many it saw.
TC = "tc -s filter show dev {dev} ingress"
RULES = {
    "tc": ("modprobe -qa sch_ingress cls_matchall act_gact; "
           "tc qdisc add dev {dev} clsact && "
           "tc filter add dev {dev} ingress matchall action ok",
           "tc qdisc del dev {dev} clsact", TC),
    "a device above": ("ip link add mv0 link {dev} type macvlan && "
                       "ip link set mv0 up", "ip link del mv0", None),
    "steering": ("echo 1 >/sys/class/net/{dev}/queues/rx-0/rps_cpus",
                 "echo 0 >/sys/class/net/{dev}/queues/rx-0/rps_cpus", None),
}
FILTER = "iptables-legacy -t raw -{} PREROUTING -p udp --dport 13879 -j ACCEPT"
FILTERS = {
    "a packet filter": (
        FILTER.format("A"),
        FILTER.format("D") + " && rmmod iptable_raw",
        "iptables-legacy -t raw -nvxL PREROUTING | "
        "awk '/13879/ {{ print \"Sent 0 bytes\", $1, \"pkt\" }}'"),
}


def responding(session, device):
    """viaping's responder on the other machine."""
    return serving(session, f"{TOOLS}/viaping -l -d {device}", 1, "answering")


def early(session, device, there):
    """(frames received, of them before the stack) of so many pings."""
    node = session.lab.nodes[0]

    def now():
        found = numbers(node.sh(f"{TOOLS}/viastat -d {device}").out)
        return found["rx_frames"], found["wire_rx_early"]

    was = now()
    session.run(node, f"{TOOLS}/viaping -c {PINGS} -i 0.05 -d {device} "
                f"{there}", 60 * session.slow)
    got = [after - before for before, after in zip(was, now())]
    session.check.write(f"{device}: {got[0]} frames, {got[1]} early\n")
    if got[0] < PINGS:
        raise StepFailed(f"{got[0]} frames for {PINGS} answers")
    return got


def unseen(session, device, there, when, routed=0):
    """Nothing would see them: all are taken early, but for those that IP
    routes for a host without a connection."""
    frames, before = early(session, device, there)
    if not frames - routed <= before <= frames:
        raise StepFailed(f"{when}: {before} of {frames} frames before the "
                         "stack")


def seen(session, device, there, dev, what, rule):
    """A rule sees them all, and none is taken early."""
    node = session.lab.nodes[0]
    begin, end, count = (part and part.format(dev=dev) for part in rule)
    node.sh(begin, 60)
    try:
        frames, before = early(session, device, there)
        if before:
            raise StepFailed(f"{what}: {before} of {frames} frames before "
                             "the stack")
        if count:
            said = node.sh(count).out
            found = re.search(r"Sent \d+ bytes (\d+) pkt", said)
            if not found or int(found.group(1)) < frames:
                raise StepFailed(f"{what} saw less than {frames}: {said}")
    finally:
        node.sh(end, 60)


def tapped(session, device, there, dev, kind):
    """A packet socket sees them all."""
    node = session.lab.nodes[0]
    with jobs(session, node.spawn(
            f"python3 {WATCH} {dev} {kind} {PINGS}")) as (job,):
        job.expect("^watching$", 60 * session.slow)
        frames, before = early(session, device, there)
        if before:
            raise StepFailed(f"a socket ({kind}): {before} of {frames} frames "
                             "before the stack")
        job.expect("^seen$", 20 * session.slow)


def raw(session, net):
    """Frames of Ethernet: via_netdev."""
    device, dev, there = f"via_eth{net}", f"eth{net}", peer(net)
    with responding(session, device):
        unseen(session, device, there, "at first")
        for what, rule in RULES.items():
            seen(session, device, there, dev, what, rule)
        for kind in ("all", "own"):
            tapped(session, device, there, dev, kind)
        unseen(session, device, there, "at last")


def datagrams(session, net, family):
    """Datagrams: via_udp."""
    with machines(session, family, net) as there:
        with responding(session, "via_udp0"):
            unseen(session, "via_udp0", there, "at first", FIRST)
            rules = RULES | (FILTERS if family == "IPv4" else {})
            for what, rule in rules.items():
                seen(session, "via_udp0", there, f"eth{net}", what, rule)
            unseen(session, "via_udp0", there, "at last", FIRST)
