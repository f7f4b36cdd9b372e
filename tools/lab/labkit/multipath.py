# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Debian's multipath-tools in guests."""

from . import unpacked

# Beside the kernel: udev tells multipathd of disks.
DAEMONS = ("/lib/systemd/systemd-udevd", "multipathd -d")
# As docs/howto/verbs.md has it.
SETTINGS = """defaults {
    find_multipaths yes
    user_friendly_names yes
    path_grouping_policy multibus
}"""
LOGIN = ("iscsiadm -m node -o update -n iface.transport_name -v iser",
         "iscsiadm -m node -o update "
         "-n node.session.timeo.replacement_timeout -v 5",
         "iscsiadm -m node --login")
LOGOUT = ("multipath -F", "iscsiadm -m node --logout")
DISK = "/dev/mapper/mpatha"
# The number of paths that work.
LIVE = "multipath -ll | grep -c 'active ready *running'"


def prepare(node):
    """multipath-tools as they are after their installation, with SETTINGS;
    DAEMONS are the caller's."""
    unpacked.install(node, "multipath")
    node.sh("modprobe -a dm-multipath scsi_dh_alua && "
            f"echo '{SETTINGS}' >/etc/multipath.conf", 60)


def end(node):
    """No disk is left that had several paths; the daemons have ended."""
    node.sh("modprobe -r dm-service-time dm-multipath", 60)
