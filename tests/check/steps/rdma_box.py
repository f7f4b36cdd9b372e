# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Verbs devices in an administrator's hands: what a control group may have of
a device, network namespaces, shared and exclusive, and counters of queue
pairs."""

import contextlib
import re

from common import control_group, jobs, numbers, serving, within
from configure import expect
from labkit.base import VIA
from rdma import LIMIT, PROGRAMS, between, device, listening, needed
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


def bound(session, node, dev):
    """The queue pair of a program that runs is bound to a counter of its own, and
    left alone again: what it has sent meanwhile."""
    link, found = f"link {dev}/1", session.run(node, "rdma resource show qp").out
    number = re.search(rf"{link} lqpn (\d+) .*comm rping", found)
    if not number:
        raise StepFailed(f"no queue pair of the program: {found}")
    number = number.group(1)
    shown = f"rdma statistic qp show {link}"
    expect(node, f"rdma statistic qp bind {link} lqpn {number}")
    session.wait_until(node, f"{shown} | grep -q 'send_wrs [1-9]'",
                       "the counter of a queue pair does not count")
    text = session.run(node, shown).out
    if f"LQPN: <{number}>" not in text:
        raise StepFailed(f"other queue pairs are bound: {text}")
    counter = re.search(r"cntn (\d+)", text).group(1)
    expect(node, f"rdma statistic qp unbind {link} cntn {counter} "
           f"lqpn {number}")
    if node.sh(shown).out.strip():
        raise StepFailed("a counter without queue pairs is still there")
    return numbers(text)


def counters(session, net):
    """Of queue pairs, one picked by hand; the device's have all of them."""
    needed("rping", "ib_write_bw")
    one, two = session.lab.nodes
    rping = f"rping -a 10.{net}.0.2 -V -S 4096"

    with device(session, "via", net) as dev:
        def total():
            return numbers(one.sh(f"rdma statistic show link {dev}/1").out)

        before = total()
        between(session, net, PROGRAMS["ib_write_bw"], dev)
        size = PROGRAMS["ib_write_bw"].payload
        did = total()["send_bytes"] - before["send_bytes"]
        # What perftest tells its other end comes to less than that.
        if not size <= did <= size + 10000:
            raise StepFailed(f"{size} bytes count as {did}")
        with serving(session, f"{rping} -s", ends=True) as server, \
                jobs(session) as started:
            listening(session, two, "cm", server)
            job = one.spawn(f"{rping} -c")
            started.append(job)
            session.wait_until(one, "rdma resource show qp | grep -q rping",
                               "no queue pair")
            before = total()
            apart = bound(session, one, dev)
            left = total()
            # It has gone on, and its work is the device's again.
            session.wait_until(
                one, f"rdma statistic show link {dev}/1 | grep -qv "
                f"'send_wrs {left['send_wrs']} '", "the device does not count")
            if job.done:
                raise StepFailed("rping has ended")
        session.check.note(f"{apart['send_wrs']} requests apart")
        if left["send_bytes"] - before["send_bytes"] < apart["send_bytes"]:
            raise StepFailed(f"{apart} is lost: {before}, then {left}")
