# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs as others write them, in a guest: old C, by dlopen, 32 bits; and
what they say on standard error when they end."""

import contextlib
import os
import re

from common import jobs, mac
from labkit.base import BUILD
from runner import StepFailed

PROGRAMS = ("old10", "old095", "old10-static", "dl")
# Networks whose plug-in may be there; tests/samples/networks.py has more.
NETWORKS = {"shm:0": "shm", "ofi:tcp,lo": "ofi"}


def builds(device):
    """(folder, programs in it): every build there is, and that has the
    plug-in.  A static program can load none; there is no libfabric of 32 bits
    beside the other one."""
    plugin = NETWORKS.get(device)
    for build in (BUILD, os.path.join(BUILD, "m32")):
        if build != BUILD and not os.path.isdir(f"{build}/samples"):
            continue
        if not plugin:
            yield build, PROGRAMS
        elif os.path.exists(f"{build}/providers/{plugin}.so") and \
                (plugin != "ofi" or build == BUILD):
            yield build, [p for p in PROGRAMS if "static" not in p]


def commands(device):
    """The library under both of its names."""
    for build, programs in builds(device):
        for name in programs:
            yield (f"env VIPL_PROVIDERS={build}/providers "
                   f"{build}/samples/{name} "
                   + (f"/tmp/vipl.so {device}" if name == "dl" else device),
                   f"cp -f {build}/libvipl.so.1 /tmp/vipl.so")


def run(session):
    """On the loopback NIC, on a NIC connected to its own address, and without
    a NIC: the same programs."""
    devices = ["via_lo"] + ["via_eth0"] * bool(session.lab.nics)
    failed = []
    for device in [*devices, *NETWORKS]:
        for command, before in commands(device):
            result = session.run(session.lab.nodes[0],
                                 f"{before} && {command}", 60, status=None)
            if result.rc:
                failed.append(f"{command}: status {result.rc}")
            elif result.err:
                failed.append(f"{command}: says '{result.err.strip()}'")
    if failed:
        raise StepFailed(f"{len(failed)} failed: {failed[0]}")


ENDS = f"{BUILD}/samples/ends"
ORDERLY = ("disconnect", "destroy", "close", "exit", "kill")
LOSS = r"^vipl: {}: the connection of VI 0x[0-9a-f]+ to {} is lost$"
LAST = r"^vipl: \S+: descriptor 0x[0-9a-f]+ is misaligned"


class Ends:
    """Two programs without error handlers, connected; ends.c says more."""

    def __init__(self, session, device, nodes, hosts):
        self.session, self.device = session, device
        self.nodes, self.hosts = nodes, hosts

    @contextlib.contextmanager
    def connected(self, how):
        """Server and client."""
        command = f"env -u VIPL_QUIET {ENDS} {self.device}"
        with jobs(self.session, self.nodes[0].spawn(command, 100),
                  self.nodes[1].spawn(f"{command} {self.hosts[0]} {how}",
                                      100)) as pair:
            for job in pair:
                job.expect("^connected$")
            yield pair

    def said(self, job, losses, who):
        """All of it on standard error, when the last line is there."""
        job.expect(LAST, 30 * self.session.slow)
        lines = job.err.splitlines()
        lines = lines[:next(i for i, line in enumerate(lines)
                            if re.match(LAST, line))]
        wrong = [x for x in lines if not re.match(
            LOSS.format(self.device, self.hosts[who]), x)]
        if wrong or len(lines) != losses:
            raise StepFailed(f"{job.command}: {losses} losses, and it says: "
                             f"{lines}")

    def orderly(self, how):
        """The client ends by itself: nothing is said on either side."""
        with self.connected("stay" if how == "kill" else how) as (server,
                                                                  client):
            if how == "kill":
                client.kill()
            client.wait(30)
            self.said(server, 0, 1)
            if client.err or (client.rc and how != "kill"):
                raise StepFailed(f"{how}: the client ends with {client.rc} "
                                 f"and says '{client.err.strip()}'")

    def broken(self, how, breaker=None):
        """Both sides lose it: each says so, once."""
        with self.connected(how) as pair:
            if breaker:
                breaker()
            for i, job in enumerate(pair):
                self.said(job, 1, 1 - i)


def ends(session, device, nodes, hosts):
    both = Ends(session, device, nodes, hosts)
    for how in ORDERLY:
        both.orderly(how)
    both.broken("flood")
    return both


def ends_here(session):
    """On one machine."""
    node = session.lab.nodes[0]
    address = node.sh("cat /sys/class/via/via_lo/address").out.strip()
    ends(session, "via_lo", [node, node], [address] * 2)
    if session.lab.nics:
        ends(session, "via_eth0", [node, node], [mac(0, 0)] * 2)


def ends_apart(session, net):
    """Between two; the wire is cut as well."""
    both = ends(session, f"via_eth{net}", session.lab.nodes,
                [mac(net, 0), mac(net, 1)])
    with session.bad_wire(net) as wire:
        both.broken("stay", lambda: wire.set(cut="0"))
