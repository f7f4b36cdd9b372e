# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The kernel's iSCSI target (LIO) and Debian's open-iscsi in guests."""

import os

from . import unpacked
from .base import ROOT

TARGET = os.path.join(ROOT, "tools/demo/iser-target")
# The initiator's program beside the kernel.
DAEMON = "iscsid -f"
# The disk's name; an error while there is none.
SEEN = "ls /sys/class/scsi_disk/*/device/block"
# LIO loads all its kinds of disks.
LIO = "target_core_iblock target_core_file target_core_pscsi target_core_user"


def transport(rdma):
    return "iser" if rdma else "tcp"


def serve(node, disk, address, rdma):
    node.sh(f"{TARGET} {disk} {address} 3260 {transport(rdma)}", 60)


def initiator(node):
    """open-iscsi as it is after its installation; DAEMON is the caller's."""
    unpacked.install(node, "iscsi")
    node.sh("mkdir -p /run/lock/iscsi; rm -rf /etc/iscsi/nodes "
            "/etc/iscsi/send_targets; echo InitiatorName=$(iscsi-iname) "
            ">/etc/iscsi/initiatorname.iscsi; "
            "modprobe -a ib_iser iscsi_tcp sd_mod", 60)


def find(address):
    """The command.  It looks over TCP: over RDMA open-iscsi 2.1.8 now and then
    forgets an answer that comes early, with rdma_rxe as well."""
    return f"iscsiadm -m discovery -t st -p {address}"


def login(address, rdma):
    """The command."""
    return (f"iscsiadm -m node -p {address} -o update "
            f"-n iface.transport_name -v {transport(rdma)} && "
            f"iscsiadm -m node -p {address} --login")


def logout(address):
    """The command."""
    return f"iscsiadm -m node -p {address} --logout"
