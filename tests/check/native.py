# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Native drivers under test: sessions of their own, and what steps share."""

import contextlib
import re
import time

import steps
from labkit.base import ROOT
from labkit.initrd import NATIVE as DRIVERS
from runner import Session, StepFailed

BIND = f"{ROOT}/tools/via-bind"
STREAM = f"{ROOT}/tests/check/stream.py"
# A read of what is not mapped is a fault there, and told.
IOMMU = ["-machine", "q35,kernel-irqchip=split", "-device", "intel-iommu"]


class NativeSession(Session):
    """Two nodes, one wire, the card bound to our driver on both, or on the
    first one only."""

    def __init__(self, check, title, nic, mixed=False, iommu=False,
                 **settings):
        self.driver, self.mixed, self.iommu = DRIVERS[nic], mixed, iommu
        words = [f"dma_debug_driver={self.driver}", "iomem=relaxed"]
        if iommu:
            words += ["intel_iommu=on", "iommu.strict=1"]
            settings["qemu_args"] = IOMMU
        super().__init__(check, title, attach=False, nodes=2, nics=[nic],
                         append=" ".join(words), **settings)

    def nic_name(self, net):
        name = f"{super().nic_name(net)} by {self.driver}"
        return name + " and stock" if self.mixed else name

    def boot(self):
        super().boot()
        for node in self.ours():
            self.lab.insmod(node, modules=("via_native", self.driver))
            node.sh(f"{BIND} eth0 native", 200)
        if self.mixed:
            self.lab.attach(self.lab.nodes[1], "eth0")
        carrier(self)

    def ours(self):
        return self.lab.nodes[:1] if self.mixed else self.lab.nodes

    def survive(self):
        """Who knows which driver has the card now: boot afresh."""
        self.stop()

    def unload(self):
        if self.mixed:
            self.lab.detach(self.lab.nodes[1], "eth0")
        for node in self.ours():
            node.sh(f"rmmod {self.driver} via_native", 60)
        super().unload()


def wait_until(session, node, condition, what, limit=30):
    clock = session.lab.clock.now
    end = clock() + limit * steps.scale(session)
    while node.run(condition).rc:
        if clock() > end:
            raise StepFailed(f"{node.name}: {what}")
        time.sleep(0.1)


def carrier(session):
    for node in session.lab.nodes:
        wait_until(session, node, "grep -q 1 /sys/class/net/eth0/carrier",
                   "eth0 has no carrier")


class Serving:
    """A command on node 2 that ends by itself, or at the end of the block."""

    def __init__(self, session, command, ready=None):
        self.session, self.ready = session, ready
        self.job = session.lab.nodes[1].spawn(command, 200)

    def __enter__(self):
        if self.ready:
            self.job.expect(self.ready)
        return self.job

    def __exit__(self, *_):
        self.job.kill()
        self.job.wait(30)
        self.session.write_job(self.job)


def whole(session, sender, receiver, address, mebibytes):
    """A file over TCP arrives as it was."""
    limit = 200 + mebibytes
    job = receiver.spawn(f"{STREAM} serve 5001", limit)
    try:
        job.expect("listening")
        session.run(sender, f"{STREAM} send {address} 5001 {mebibytes}",
                    limit)
    finally:
        job.kill()
        job.wait(30)
        session.write_job(job)


def run_pair(session, tool, options):
    """A tool's client on node 1, its server on node 2."""
    with Serving(session, f"{steps.TOOLS}/{tool} -d via_eth0"):
        return session.run(session.lab.nodes[0], f"{steps.TOOLS}/{tool} -d "
                           f"via_eth0 {options} {steps.peer(0)}", 120)


def interrupts(node):
    """Those of eth0 so far, on all CPUs."""
    line = re.search(r"^.*\beth0$", node.sh("cat /proc/interrupts").out, re.M)
    return sum(int(n) for n in line.group().split()[1:] if n.isdigit())


def counters(node):
    """ethtool -S as a dictionary; viastat must agree with it on frames."""
    text = node.sh("ethtool -S eth0").out
    return {name: int(value) for name, value in
            re.findall(r"^\s+(\w+): (\d+)$", text, re.M)}


@contextlib.contextmanager
def flood(session):
    """IP frames to node 2 from when what this gives is called."""
    jobs = []

    def start():
        jobs.append(session.lab.nodes[0].spawn(
            "busybox ping -A -q 10.0.0.2 >/dev/null", 300))
        time.sleep(0.5)

    try:
        yield start
    finally:
        for job in jobs:
            job.kill()
            job.wait(30)
