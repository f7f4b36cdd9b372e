# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The kernel's iSCSI target (LIO) and Debian's open-iscsi, over RDMA (iSER) on
a verbs device; beside it the same over TCP."""

import contextlib

from common import serving
from labkit import iscsi
from rdma import LIMIT, device, disk_of
from rdma_files import mebibytes, on_a_disk
from runner import StepFailed


@contextlib.contextmanager
def served(session, kind, amount, *nets):
    """A disk of node 2 for others, at its addresses there: its path."""
    two = session.lab.nodes[1]
    with disk_of(two, "a disk", mebibytes(amount)) as disk:
        iscsi.serve(two, disk, ",".join(f"10.{net}.0.2" for net in nets),
                    kind != "tcp")
        try:
            yield disk
        finally:
            two.run(f"{iscsi.TARGET} --end", 60)
    two.sh(f"modprobe -r ib_isert iscsi_target_mod {iscsi.LIO} null_blk && "
           "! grep -E '^(ib_isert|target_core_mod) ' /proc/modules", 60)


@contextlib.contextmanager
def initiator(session):
    """Node 1 has Debian's open-iscsi, as it is after its installation."""
    one = session.lab.nodes[0]
    iscsi.initiator(one)
    one.sh("modprobe ext4", 60)
    with serving(session, iscsi.DAEMON, 0, ends=True):
        yield
    one.sh("modprobe -r ib_iser iscsi_tcp", 60)


@contextlib.contextmanager
def logged_in(session, kind, net):
    """Node 1 finds the target and has its disk meanwhile: the name here."""
    one, limit = session.lab.nodes[0], LIMIT * session.slow
    address, rdma = f"10.{net}.0.2", kind != "tcp"
    found = session.run(one, iscsi.find(address), limit).out
    if ":mvia" not in found:
        raise StepFailed(f"no target is found: {found}")
    session.run(one, iscsi.login(address, rdma), limit)
    try:
        session.wait_until(one, iscsi.SEEN, "no disk appears")
        told = session.run(one, "iscsiadm -m session").out
        if told.split(":")[0] != iscsi.transport(rdma):
            raise StepFailed(f"the session is of another kind: {told}")
        yield "/dev/" + one.sh(iscsi.SEEN).out.split()[-1]
    finally:
        session.run(one, iscsi.logout(address), limit,
                    status=None)
    session.wait_until(one, f"! {iscsi.SEEN}", "the disk outlives its end")


def files(session, net, kind, amount):
    """By iSCSI: see on_a_disk()."""
    with device(session, kind, net, pooled=True), \
            served(session, kind, amount, net) as disk, initiator(session):
        on_a_disk(session, kind, net, amount, disk,
                  lambda: logged_in(session, kind, net))
