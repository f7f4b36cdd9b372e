# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""SCSI over RDMA (SRP): the kernel's target (LIO) and its initiator, on a
verbs device."""

import contextlib
import os

from common import complaining
from labkit.base import ROOT
from labkit.iscsi import LIO, SEEN
from rdma import LIMIT, device, disk_of
from rdma_files import mebibytes, on_a_disk

TARGET = os.path.join(ROOT, "tools/demo/srp-target")


@contextlib.contextmanager
def served(session, dev, amount):
    """A disk of node 2 for others: its path there, and its names."""
    two = session.lab.nodes[1]
    with disk_of(two, "a disk", mebibytes(amount)) as disk:
        names = session.run(two, f"{TARGET} {disk} {dev}").out
        try:
            yield disk, names.strip()
        finally:
            two.run(f"{TARGET} --end", 60)
    two.sh(f"modprobe -r ib_srpt {LIO} null_blk && "
           "! grep -E '^(ib_srpt|target_core_mod) ' /proc/modules", 60)


@contextlib.contextmanager
def added(session, dev, net, names):
    """Node 1 has that disk meanwhile: the name here.  The one before it, whose
    end nothing tells, is there for a moment longer than its disk."""
    one = session.lab.nodes[0]
    add = f"echo {names},dest=10.{net}.0.2:5555 " \
        f">/sys/class/infiniband_srp/srp-{dev}-1/add_target"
    session.run(one, f"until why=$({{ {add}; }} 2>&1); do case $why in "
                "*'File exists'*) sleep 0.2 ;; *) echo $why; exit 1 ;; "
                "esac; done", LIMIT * session.slow)
    try:
        session.wait_until(one, SEEN, "no disk appears")
        yield "/dev/" + one.sh(SEEN).out.split()[-1]
    finally:
        session.run(one, "echo 1 >/sys/class/srp_remote_ports/*/delete",
                    LIMIT * session.slow, status=None)
    session.wait_until(one, f"! {SEEN}", "the disk outlives its end")


SHARE = """
cd /sys/kernel/config/target/srpt/0x*/0x*
echo 0 >enable; echo 1 >attrib/use_srq; echo 1 >enable
rdma resource show srq | grep @
"""
# The target gives back a cache that queue pairs with shared receives do not have,
# since 6.12 and in what Debian has of that in 6.1.
NO_CACHE = "srpt_cache_put|Call Trace:"


def files(session, net, kind, amount, shared=False):
    """See on_a_disk(); `shared`: the target's queue pairs share their
    receives."""
    one, two = session.lab.nodes
    allowed = complaining(NO_CACHE, two) if shared else contextlib.nullcontext()
    with allowed, device(session, kind, net, pooled=True) as dev:
        with served(session, dev, amount) as (disk, names):
            if shared:
                two.sh(SHARE.replace("@", dev), 60)
            one.sh("modprobe -a ib_srp sd_mod ext4", 60)
            on_a_disk(session, kind, net, amount, disk,
                      lambda: added(session, dev, net, names))
            one.sh("modprobe -r ib_srp", 60)
