# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Verbs devices and containers: what a control group may have of a device, and
network namespaces, shared and exclusive."""

import contextlib

from common import control_group, serving, within
from configure import expect
from labkit.base import VIA
from rdma import LIMIT, PROGRAMS, device, needed
from runner import StepFailed

FEW = "hca_handle=2 hca_object=2"
ALL = "hca_handle=max hca_object=max"
SHORT = "-C 5 -V -S 4096"
HOST, BOX = "10.9.0.1", "10.9.0.2"
INSIDE = "ip netns exec box"


def limited(session, net):
    """A control group has as many objects of a device as it may."""
    needed("rping")
    one, limit = session.lab.nodes[0], LIMIT * session.slow
    command = PROGRAMS["rping"].client.format(peer=f"10.{net}.0.2")
    with device(session, "via", net) as dev, \
            control_group(session, "rdma") as group:
        one.sh(f"echo {dev} {FEW} >{group}/rdma.max")
        with serving(session, PROGRAMS["rping"].server.format(
                peer=f"10.{net}.0.2")):
            if not session.run(one, within(group, command), limit,
                               status=None).rc:
                raise StepFailed("rping needs more than two objects")
            one.sh(f"echo {dev} {ALL} >{group}/rdma.max")
            session.run(one, within(group, command), limit)
        left = one.sh(f"cat {group}/rdma.current").out.strip()
        if left != f"{dev} hca_handle=0 hca_object=0":
            raise StepFailed(f"charged to nobody: {left}")


@contextlib.contextmanager
def boxed(session):
    """A network namespace with a VI NIC of its own, and one of the host's at
    the other end of its cable; each has a verbs device."""
    one = session.lab.nodes[0]
    one.sh("modprobe veth; modprobe -a iw_cm ib_uverbs rdma_ucm; "
           "ip netns add box; ip link add va type veth peer name vb netns box;"
           f" ip addr add {HOST}/24 dev va; ip link set va up; "
           f"ip -n box addr add {BOX}/24 dev vb; ip -n box link set vb up; "
           f"{VIA} dev attach va; {VIA} -n box dev attach vb")
    session.lab.insmod(one, modules=("via_rdma",))
    try:
        one.sh("rdma link add viaa type via netdev va; "
               f"{INSIDE} rdma link add viab type via netdev vb")
        yield one
    finally:
        one.run("rmmod via_rdma; ip netns del box; ip link del va", 30)
    if not one.link.wait_for(
            lambda: one.run("test -e /dev/via_va -o -e /dev/via_vb").rc, 30):
        raise StepFailed("a VI NIC outlives its interface")


def ping(session, node, server, client, address):
    """rping from one namespace to the other."""
    with serving(session, f"{server} rping -s -a {address} {SHORT}",
                 node=0, ends=True):
        session.wait_until(node, f"{server} rdma resource show cm_id | "
                           "grep LISTEN",
                           "rping does not listen")
        session.run(node, f"{client} rping -c -a {address} {SHORT}",
                    LIMIT * session.slow)


def namespaces(session, net):
    """A device is its interface's: shared, it is seen everywhere, and serves
    its own namespace; exclusive, it is where it was moved to."""
    del net
    needed("rping")
    with boxed(session) as node:
        for where in ("", INSIDE):
            expect(node, f"{where} rdma link show viab/1", 0, "ACTIVE")
        ping(session, node, INSIDE, "", BOX)
        ping(session, node, "", INSIDE, HOST)
        expect(node, f"rping -s -a {BOX} {SHORT}", 255)
    node.sh("rdma system set netns exclusive")
    try:
        with boxed(session) as node:
            node.sh("rdma dev set viab netns box")
            expect(node, f"{INSIDE} rdma link show viab/1", 0, "vb")
            for where, dev in (("", "viab"), (INSIDE, "viaa")):
                if not node.run(f"{where} rdma link show {dev}/1").rc:
                    raise StepFailed(f"{dev} is seen elsewhere")
            ping(session, node, INSIDE, "", BOX)
            ping(session, node, "", INSIDE, HOST)
    finally:
        node.sh("rdma system set netns shared")
