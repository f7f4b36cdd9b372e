# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What steps in guests share: programs, addresses, servers, counters."""

import contextlib
import os
import re

from labkit.base import BUILD, ROOT, LabError
from runner import Skipped, StepFailed

CONFORM = os.path.join(BUILD, "viaconform")
STRESS = os.path.join(BUILD, "viatest stress")
TOOLS = os.path.join(BUILD, "tools")
GUEST = os.path.join(ROOT, "tests/check/guest")


def mac(net, node):
    """The hardware address of a node (the first is 0) on a wire."""
    return f"52:54:00:00:{net:02x}:{node + 1:02x}"


def peer(net):
    """That of node 2."""
    return mac(net, 1)


def device_of(net):
    return "via_lo" if net is None else f"via_eth{net}"


def stop(session, *jobs):
    """They end, and what they have said is in the log."""
    for job in jobs:
        if not job.done:
            job.kill()
    for job in jobs:
        if not job.done:
            job.wait(30)
        session.write_job(job)


@contextlib.contextmanager
def jobs(session, *made):
    """A list of these, to which more may be added: all end with the block."""
    made = list(made)
    try:
        yield made
    except BaseException:
        # The failure that is reported is this one, not one of stop().
        with contextlib.suppress(LabError):
            stop(session, *made)
        raise
    stop(session, *made)


@contextlib.contextmanager
def serving(session, command, node=1, ready=None, ends=False):
    """A program that serves on a node meanwhile, from when it says `ready`;
    it must live, or may end by itself."""
    with jobs(session, session.lab.nodes[node].spawn(command)) as (job,):
        if ready:
            job.expect(ready, 60 * session.slow)
        yield job
        died = job.done and job.rc
    if died and not ends:
        raise StepFailed(f"the server ended with status {died}")


def numbers(text):
    """{"name": number} of what viastat, ethtool -S or a program has said."""
    return {k: int(v) for k, v in re.findall(r"(\w+):?\s+(\d+)\b", text)}


def counters(session, node, net):
    """Of a node's VI NIC, by viastat."""
    text = node.sh(f"{TOOLS}/viastat -d via_eth{net}").out
    session.check.write(text)
    return numbers(text)


def chip_counters(node):
    """Of eth0's driver."""
    return numbers(node.sh("ethtool -S eth0").out)


def drops(session, node, net):
    """Frames that the class has thrown away."""
    return sum(v for k, v in counters(session, node, net).items()
               if re.search("drop|bad|malformed|unknown", k))


def changes(before, after):
    """What a wire has done in between, by its two stats()."""
    return {k: after[k] - before[k] for k in (
        "in_frames", "lost", "duplicated", "reordered", "corrupted",
        "slipped", "cut_drops")}


def flowing(session, net, job):
    """Wait until the job has moved frames over a wire."""
    start = session.lab.wire(net).stats()["in_frames"]
    if not job.link.wait_for(
            lambda: job.done or
            session.lab.wire(net).stats()["in_frames"] > start + 200, 60):
        raise StepFailed("no frames are flowing")
    if job.done:
        raise StepFailed(f"ended before the test: {job.all.strip()[-200:]}")


# Small enough that a test reaches every edge, and each is another number.
SMALL = ("max_vi=16 max_cq=6 max_cq_entries=64 max_ptags=7 max_regions=9 "
         "max_register=12288000 max_block=4096000")


@contextlib.contextmanager
def small(session):
    """Node 1's via_ka is loaded with these limits meanwhile."""
    lab, node = session.lab, session.lab.nodes[0]
    lab.rmmod(node)
    lab.insmod(node, {"via_ka": SMALL}, ("via_ka", "via_lo"))
    try:
        yield
    finally:
        lab.rmmod(node, ("via_ka", "via_lo"))
        session.prepare(node)


@contextlib.contextmanager
def complaining(pattern, *nodes):
    """Such lines of these nodes' kernels are no failure here."""
    pattern = re.compile(pattern)
    for node in nodes:
        node.klog.scan()
        node.klog.allowed.append(pattern)
    try:
        yield
    finally:
        for node in nodes:
            node.sh("true")
            node.klog.scan()
            node.klog.allowed.remove(pattern)


GROUP = "/sys/fs/cgroup/via"


@contextlib.contextmanager
def control_group(session, controller):
    """A control group of its own on node 1: its folder."""
    node = session.lab.nodes[0]
    if node.run(f"grep -qw {controller} "
                "/sys/fs/cgroup/cgroup.controllers").rc:
        raise Skipped(f"this kernel has no controller of {controller}")
    node.sh(f"echo +{controller} >/sys/fs/cgroup/cgroup.subtree_control; "
            f"mkdir -p {GROUP}")
    try:
        yield GROUP
    finally:
        node.run(f"rmdir {GROUP}")


def within(group, command):
    """The same command in a control group."""
    return f"sh -c 'echo $$ >{group}/cgroup.procs; exec {command}'"
