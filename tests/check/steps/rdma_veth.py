# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A disk of a machine for itself, over a pair of veth: trains between the two
ends consist of the pages of the kernel's own users."""

import contextlib

from common import TOOLS, numbers
from labkit import cable
from labkit.base import VIA
from rdma import (LIMIT, TARGET, connected, disk_of, fio, needed, nothing_left,
                  objects, sum_of)
from runner import StepFailed

HERE, THERE = "10.9.0.1", "10.9.0.2"
CABLE = f"""{cable.join(("va", HERE), ("vb", THERE))}
{VIA} dev attach va; {VIA} dev attach vb
"""


@contextlib.contextmanager
def cabled(session):
    """Node 1 with a device of verbs at each end of a pair of veth."""
    one = session.lab.nodes[0]
    try:
        one.sh("modprobe -a veth iw_cm ib_uverbs rdma_ucm && "
               "ip link add va type veth peer name vb", 60)
        one.sh(CABLE, 60)
        session.lab.insmod(one, modules=("via_rdma",))
        one.sh("rdma link add viaa type via netdev va; "
               "rdma link add viab type via netdev vb")
        idle = objects(one, "viaa", True)
        yield one
        nothing_left(session, one, "viaa", idle, True)
    finally:
        one.run(f"rmmod via_rdma; {cable.PART} ip link del va", 30)
    if not one.link.wait_for(
            lambda: one.run("test -e /dev/via_va -o -e /dev/via_vb").rc, 30):
        raise StepFailed("a VI NIC outlives its interface")


def shared(node):
    """Trains that shared pages, of both ends."""
    return sum(numbers(node.sh(f"{TOOLS}/viastat -d via_{dev}").out)
               ["tx_zerocopy"] for dev in ("va", "vb"))


def one_disk(session, node, disk, depth):
    """Written and verified with so many requests in flight, read again; the
    bytes are those of the disk itself."""
    node.sh(f"{TARGET} {disk} {THERE} 4420 rdma")
    try:
        with connected(session, f"-t rdma -a {THERE} -s 4420 -n mvia "
                                f"--host-traddr {HERE}") as here:
            session.run(node, fio(here, depth, "--do_verify=1"),
                        2 * LIMIT * session.slow)
            found = sum_of(session, node, here)
    finally:
        node.run(f"{TARGET} --end 4420", 30)
    if found != sum_of(session, node, disk):
        raise StepFailed("the disk itself has other bytes")


def nvme(session, what, depth):
    """A disk of the machine; its bytes went without a copy."""
    needed("nvme", "fio")
    with cabled(session) as node:
        was = shared(node)
        with disk_of(node, what) as disk:
            one_disk(session, node, disk, depth)
        did = shared(node) - was
        node.sh("modprobe -r nvme_rdma nvmet_rdma nvmet null_blk")
    session.check.note(f"{did} trains of shared pages")
    if not did:
        raise StepFailed("no train shared a page")
