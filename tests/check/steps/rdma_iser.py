# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The kernel's iSCSI target (LIO) and Debian's open-iscsi, over RDMA (iSER) on
a verbs device; beside it the same over TCP."""

import contextlib
import os

from common import serving
from labkit import unpacked
from labkit.base import ROOT
from rdma import (DISK, LIMIT, carried, device, disk_of, fio, needed,
                  sum_of)
from rdma_nfs import COPY, made, tree_sum
from runner import StepFailed

TARGET = os.path.join(ROOT, "tools/demo/iser-target")
HERE = "/mnt/iser"
MEBIBYTES = 96
# The disk's name; an error while there is none.
SEEN = "ls /sys/class/scsi_disk/*/device/block"
# LIO loads all its kinds of disks.
LIO = "target_core_iblock target_core_file target_core_pscsi target_core_user"


@contextlib.contextmanager
def served(session, kind, net):
    """A disk of node 2 for others: its path there."""
    two = session.lab.nodes[1]
    disk = disk_of(two, "a disk", MEBIBYTES)
    two.sh(f"{TARGET} {disk} 10.{net}.0.2 3260 "
           f"{'tcp' if kind == 'tcp' else 'iser'}", 60)
    try:
        yield disk
    finally:
        two.run(f"{TARGET} --end; echo 0 >{DISK}/power; rmdir {DISK}", 60)
    two.sh(f"modprobe -r ib_isert iscsi_target_mod {LIO} null_blk && "
           "! grep -E '^(ib_isert|target_core_mod) ' /proc/modules", 60)


@contextlib.contextmanager
def initiator(session):
    """Node 1 has Debian's open-iscsi, as it is after its installation."""
    one = session.lab.nodes[0]
    unpacked.install(one, "iscsi")
    one.sh("mkdir -p /run/lock/iscsi; rm -rf /etc/iscsi/nodes "
           "/etc/iscsi/send_targets; echo InitiatorName=$(iscsi-iname) "
           ">/etc/iscsi/initiatorname.iscsi; "
           "modprobe -a ib_iser iscsi_tcp sd_mod ext4", 60)
    with serving(session, "iscsid -f", 0, ends=True):
        yield
    one.sh("modprobe -r ib_iser iscsi_tcp", 60)


@contextlib.contextmanager
def logged_in(session, kind, net):
    """Node 1 finds the target and has its disk meanwhile: the name here.  It
    looks for it over TCP: over RDMA open-iscsi 2.1.8 now and then forgets an
    answer that comes early, with rdma_rxe as well."""
    one, limit = session.lab.nodes[0], LIMIT * session.slow
    transport = "tcp" if kind == "tcp" else "iser"
    portal = f"-p 10.{net}.0.2"
    found = session.run(one, f"iscsiadm -m discovery -t st {portal}",
                        limit).out
    if ":mvia" not in found:
        raise StepFailed(f"no target is found: {found}")
    session.run(one, f"iscsiadm -m node {portal} -o update "
                f"-n iface.transport_name -v {transport}")
    session.run(one, f"iscsiadm -m node {portal} --login", limit)
    try:
        session.wait_until(one, SEEN, "no disk appears")
        told = session.run(one, "iscsiadm -m session").out
        if told.split(":")[0] != transport:
            raise StepFailed(f"the session is of another kind: {told}")
        yield "/dev/" + one.sh(SEEN).out.split()[-1]
    finally:
        session.run(one, f"iscsiadm -m node {portal} --logout", limit,
                    status=None)
    session.wait_until(one, f"! {SEEN}", "the disk outlives its end")


def files(session, net, kind, amount):
    """By iSCSI: see on_a_disk()."""
    with device(session, kind, net, pooled=True), \
            served(session, kind, net) as disk, initiator(session):
        on_a_disk(session, kind, net, amount, disk,
                  lambda: logged_in(session, kind, net))


def on_a_disk(session, kind, net, amount, disk, attached):
    """Node 2's disk, written and verified by node 1; then a file system: a
    tree is copied there, and read again after another login, `attached`; the
    bytes of both ends are the same."""
    needed("fio", "mkfs.ext4")
    one, two = session.lab.nodes
    size, wanted = made(session, amount)
    limit = (LIMIT + amount // 20) * session.slow
    with carried(session, kind, net, 2 * size):
        with attached() as here:
            session.run(one, fio(here, 32, "--do_verify=1"),
                        2 * LIMIT * session.slow)
            session.run(one, f"mkfs.ext4 -q {here} && mkdir -p {HERE} && "
                        f"mount {here} {HERE}", limit)
            session.run(one, f"cp -a {COPY} {HERE}/tree && umount {HERE}",
                        limit)
        with attached() as here:
            session.run(one, f"mount -r {here} {HERE}", limit)
            found = tree_sum(session, one, f"{HERE}/tree", amount)
            session.run(one, f"umount {HERE} && fsck.ext4 -fn {here}", limit)
            ends = (sum_of(session, one, here), sum_of(session, two, disk))
    one.sh(f"rm -r {COPY}")
    if found != wanted:
        raise StepFailed("the tree has changed")
    if ends[0] != ends[1]:
        raise StepFailed("the disk has other bytes on the other node")
    session.check.note(f"{amount} files, {size} bytes")
