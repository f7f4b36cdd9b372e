# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Faults that were there once, each provoked anew.  The kernel may be
preempted anywhere and looks after its allocations in most of these: a boot of
their own.  Amounts are arguments; each function returns what it did."""

import contextlib
import os

import scale
from balance import balanced
from common import control_group, within
from labkit.base import BUILD
from rights import limited
from runner import Skipped

REGRESS = os.path.join(BUILD, "viatest regress")
PATIENCE = 10000  # ms


def did(session, result):
    """What the program has told; nothing is left behind."""
    balanced(session)
    return {name: int(value) if value == int(value) else value
            for name, value in scale.numbers(result.out).items()}


def run(session, mode, device, words="", timeout=120):
    """That mode on node 1."""
    # What is wrong waits for ever; a host with other work does not.
    patience = PATIENCE * session.slow
    result = session.run(session.lab.nodes[0],
                         f"{REGRESS} {mode} -d {device} -l {patience} {words}",
                         timeout * session.slow)
    return did(session, result)


@contextlib.contextmanager
def pair(session):
    """via_va and via_vb of one machine, on one wire, which the program can
    cut where that is a bridge."""
    node = session.lab.nodes[0]
    node.sh("modprobe -qa veth bridge; ip link add va type veth peer name ua "
            "&& ip link add vb type veth peer name ub")
    bridged = not node.run("ip link add br0 type bridge").rc
    try:
        if bridged:
            node.sh("ip link set ua master br0 && ip link set ub master br0 "
                    "&& ip link set br0 up")
        else:
            node.sh("ip link del va && ip link del vb && "
                    "ip link add va type veth peer name vb")
        node.sh("for i in va vb ua ub; do ip link set $i up; done "
                "2>/dev/null; true")
        session.lab.attach(node, "va", "vb")
        yield bridged
    finally:
        node.run("for i in va vb br0; do ip link del $i; done 2>/dev/null")


def peers(session, seconds):
    """Two VIs of two handles look for each other and end each other."""
    return run(session, "peers", "via_lo", f"-s {seconds}")


def stats(session, detaches, device="via_eth0"):
    """Counters are asked for while the NIC goes."""
    return run(session, "stats", device, f"-n {detaches}", 300)


def answers(session, detaches):
    """Requests are answered by the end of a handle while the NIC goes."""
    with pair(session):
        return run(session, "answers", "via_va", f"-n {detaches} -p via_vb",
                   300)


def crowd(session, device, handles):
    """A NIC goes, with many handles open: as fast as with one."""
    return run(session, "crowd", device, f"-n {handles}", 300)


def page(session, device):
    """Memory that never comes is being registered: nothing else waits."""
    session.lab.nodes[0].sh("modprobe -q fuse; test -c /dev/fuse")
    return run(session, "page", device)


def throttled(session, device, detaches):
    """The same by a process that gets a hundredth of a CPU."""
    with control_group(session, "cpu") as folder:
        return run(session, "throttled", device,
                   f"-n {detaches} -g {folder}", 200)


def control(session):
    """The control page is its owner's alone."""
    return run(session, "control", "via_lo")


def overtaken(session, seconds):
    """A request on this host is over before it is made."""
    return run(session, "overtaken", "via_lo", f"-s {seconds}")


def late(session, accepts):
    """A request from the wire is accepted by a VI that is idle again."""
    with pair(session):
        return run(session, "late", "via_va", f"-n {accepts} -p via_vb", 200)


def notices(session, vis):
    """A completion queue's trap is as short with many VIs as with a few."""
    return run(session, "notices", "via_lo", f"-n {vis}", 300)


def segments(session):
    """What is in flight is charged to the program that has posted it."""
    node = session.lab.nodes[0]
    with control_group(session, "memory") as folder, pair(session) as bridged:
        if not bridged:
            raise Skipped("this kernel has no bridges")
        result = session.run(node, within(
            folder, f"{REGRESS} segments -d via_va -p via_vb -g {folder}"),
            120)
        return did(session, result)


def resize(session, resizes, seconds=20):
    """A completion queue gets another ring, whatever its program does."""
    return run(session, "resize", "via_lo", f"-n {resizes} -s {seconds}")


def grace(session, vis):
    """VIs come and go, and no other CPU is interrupted for it."""
    with limited(session, ("via_lo",), {}):
        return run(session, "grace", "via_lo", f"-n {vis}")


def others(session, handles=320, vis=64):
    """Handles of one user end, all in use: other users make VIs and exit."""
    with limited(session, ("via_lo",), {"vi": vis}):
        return run(session, "others", "via_lo", f"-n {handles}", 200)


def again(session, vis=7):
    """One that is destroyed makes room at once."""
    with limited(session, ("via_lo",), {"vi": vis}):
        return run(session, "again", "via_lo", f"-n {vis}")
