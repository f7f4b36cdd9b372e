# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A disk of the other machine by two paths, each a verbs device on a NIC of
its own: Debian's multipath-tools above iSER, and NVMe's own multipath.  One
link goes at a time, and comes back."""

import collections
import contextlib

import rdma_iser
from common import jobs
from labkit import iscsi, multipath
from rdma import (LIMIT, TARGET, carried, connected, device, needed,
                  nothing_left, objects, served, sum_of)
from rdma_mixed import ROUND, SIZE, goes_on, load, rounds
from runner import StepFailed

NETS = (0, 1)
SECOND = "via1"
TROUBLES = ["the host's interface", "the target's cable"]
LIVE = 90  # seconds until a path is given up, or back: nvme tries every 10

# Of node 1, its name on node 2; commands that count the paths that work, and
# that tell of them.
Disk = collections.namedtuple("Disk", "here there live show")


@contextlib.contextmanager
def devices(session):
    """Of both NICs of both nodes: via0 and via1."""
    nodes = session.lab.nodes
    with device(session, "via", NETS[0], pooled=True):
        for node in nodes:
            node.sh(f"rdma link add {SECOND} type via netdev eth{NETS[1]}")
        idle = {node: objects(node, SECOND, True) for node in nodes}
        yield
        for node in nodes:
            nothing_left(session, node, SECOND, idle[node], True)
            node.sh(f"rdma link del {SECOND}")


@contextlib.contextmanager
def by_iser(session):
    """The disk meanwhile, by multipath-tools."""
    one, limit = session.lab.nodes[0], LIMIT * session.slow
    with rdma_iser.served(session, "via", 0, *NETS) as there, \
            rdma_iser.initiator(session):
        multipath.prepare(one)
        with jobs(session, *map(one.spawn, multipath.DAEMONS)):
            session.run(one, iscsi.find(f"10.{NETS[0]}.0.2"), limit)
            for command in multipath.LOGIN:
                session.run(one, command, limit)
            try:
                yield Disk(multipath.DISK, there, multipath.LIVE,
                           "multipath -ll; iscsiadm -m session -P 1")
            finally:
                for command in multipath.LOGOUT:
                    session.run(one, command, limit, status=None)
            session.wait_until(one, f"! {iscsi.SEEN}",
                               "the disk outlives its end")
        multipath.end(one)


@contextlib.contextmanager
def by_nvme(session):
    """The same by the kernel alone, both paths in turn."""
    one, two = session.lab.nodes
    with served(session, "via", NETS[0], "a disk") as (there, where):
        address, port = f"10.{NETS[1]}.0.2", 4421
        two.sh(f"{TARGET} {there} {address} {port}")
        try:
            with connected(session, where) as here:
                session.run(one, f"nvme connect -t rdma -a {address} "
                            f"-s {port} -n mvia", LIMIT * session.slow)
                one.sh("echo round-robin >"
                       "/sys/class/nvme-subsystem/nvme-subsys0/iopolicy")
                yield Disk(here, there,
                           "grep -lx live /sys/class/nvme/nvme*/state | wc -l",
                           "nvme list-subsys")
        finally:
            two.run(f"{TARGET} --end {port}", 60)
    one.sh("modprobe -r nvme_rdma")


KINDS = {"iSER": by_iser, "NVMe": by_nvme}


def live(session, disk, amount):
    """Wait until it is there, by so many paths that work.  Its name may come
    later than they do, and fio would make a file of it."""
    one = session.lab.nodes[0]
    try:
        session.wait_until(
            one, f'test -b {disk.here} && test "$({disk.live})" = {amount}',
            f"the disk has not {amount} paths", LIVE)
    except StepFailed:
        session.run(one, f"{disk.show}; dmesg | tail -n 40", status=None)
        raise


def trouble(session, net, how):
    """One path goes, and is back after that."""
    one, two = session.lab.nodes
    if how == "the host's interface":
        one.sh(f"ip link set eth{net} down")
        yield
        one.sh(f"ip link set eth{net} up")
    else:
        two.monitor(f"set_link nic{net} off")
        yield
        two.monitor(f"set_link nic{net} on")


def by_both(session, running):
    """It goes on, on both wires: a round writes SIZE and reads it."""
    def moved():
        return [session.lab.wire(net).stats()["in_bytes"] for net in NETS]

    before = moved()
    goes_on(session, running, rounds(running))
    found = [b - a for a, b in zip(before, moved())]
    session.check.write(f"{found} bytes on the wires of two paths")
    if min(found) < SIZE << 20 >> 2:
        raise StepFailed(f"only {found} bytes on the wires of two paths")


def written(session, disk, how):
    """Rounds of writes that are verified, with each path gone in turn: none
    of them hears of it."""
    one = session.lab.nodes[0]
    live(session, disk, len(NETS))
    with jobs(session, one.spawn(load(0, disk.here))) as running:
        by_both(session, running)
        for net in NETS:
            for _ in trouble(session, net, how):
                live(session, disk, len(NETS) - 1)
                goes_on(session, running, rounds(running))
            live(session, disk, len(NETS))
            by_both(session, running)
        one.sh("touch /tmp/enough")
        job = running[0]
        job.link.wait_for(lambda: job.done, ROUND * session.slow)
        if job.rc != 0:
            raise StepFailed(f"fio: {job.all.strip()[-400:]}")
    session.check.note(f"{rounds(running)[0]} rounds of {SIZE} MiB")


def paths(session, kind, how):
    """A disk that stays whole and at work while one of its two paths goes;
    both ends have the same bytes."""
    needed("nvme", "fio")
    payload = SIZE << 20
    with devices(session), carried(session, "via", NETS[0], payload), \
            carried(session, "via", NETS[1], payload), \
            KINDS[kind](session) as disk:
        written(session, disk, how)
        session.run(session.lab.nodes[0], disk.show)
        ends = (sum_of(session, session.lab.nodes[0], disk.here),
                sum_of(session, session.lab.nodes[1], disk.there))
        if ends[0] != ends[1]:
            raise StepFailed("the disk has other bytes on the other node")
