# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Providers that need no module of ours, in guests: ofi over TCP and over
soft-RoCE between two machines; shm as a user without rights, whatever Yama
lets processes see of each other."""

import contextlib
import os
import re

from common import CONFORM, serving
from conform import conform, judge
from labkit.base import BUILD, ROOT
from runner import Skipped, StepFailed

FOLDER = os.path.join(BUILD, "providers")
# What depends on how a process reads another's memory.
READS = "send.*,rdma*,read.*"
# What differs most between one host and two; make check-full has all of it.
APART = "connect,accept,send,order"


def excepted(device):
    """Groups that the table of docs/notes/conformance.md excepts for a device."""
    with open(os.path.join(ROOT, "docs/notes/conformance.md")) as file:
        rows = re.findall(r"^\| `([\w.]+)` \| ([\w:]+): ", file.read(), re.M)
    name = device.split(",")[0]
    return [group for group, provider in rows
            if name == provider or name.startswith(f"{provider}:")]


def plugins(session, name):
    """The words before a command that finds them."""
    if not os.path.exists(os.path.join(FOLDER, f"{name}.so")):
        raise Skipped(f"plug-in {name} is not built: its packages are missing")
    return f"VIPL_PROVIDERS={FOLDER} "


def conform_apart(session, device, net, groups, before, patience=1):
    """Between two nodes, by IP addresses on the wire `net`."""
    only = f"-g '{groups}' --levels rd " if groups else ""
    if excepted(device):
        only += f"--except {','.join(excepted(device))} "
    nic = f"{device.partition(',')[0]} over {session.nic_name(net)}"
    with serving(session, f"{before}{CONFORM} -d {device} --server"):
        conform(session, f"-d {device} {only}10.{net}.0.2",
                f"{nic}, two machines", nic, two=True, before=before,
                patience=patience)


def conform_tcp(session, net, groups):
    conform_apart(session, f"ofi:tcp,eth{net}", net, groups,
                  plugins(session, "ofi"))


# Connections of libfabric's are made by the RDMA connection manager.
RXE = ("modprobe crc32_generic; modprobe rdma_rxe && "
       "modprobe rdma_ucm && {{ rdma link show rxe{net}/1 || "
       "rdma link add rxe{net} type rxe netdev eth{net}; }}")
NO_RXE = "rdma link delete rxe{net}; modprobe -r rdma_ucm; modprobe -r rdma_rxe"


@contextlib.contextmanager
def soft_roce(session, net):
    """An RDMA device on each node's NIC of that wire meanwhile."""
    try:
        for node in session.lab.nodes:
            node.sh(RXE.format(net=net))
        yield
    finally:
        for node in session.lab.nodes:
            node.run(NO_RXE.format(net=net))


# Where libfabric sees no device, there is nothing for us to see.
SEEN = "fi_info -p 'verbs;ofi_rxm' -t FI_EP_RDM"


def conform_verbs(session, net, groups):
    """libfabric makes queues for 256 peers, which soft-RoCE refuses: the
    provider asks for fewer there.  An emulated processor takes long for
    soft-RoCE's checksums."""
    before = plugins(session, "ofi")
    with soft_roce(session, net):
        for node in session.lab.nodes:
            if node.run(SEEN, 30).rc:
                raise StepFailed(f"libfabric sees no rxe{net}: {SEEN}")
        conform_apart(session, f"ofi:verbs,eth{net}", net, groups, before,
                      patience=4)


YAMA = "/proc/sys/kernel/yama/ptrace_scope"
# What the user can read: our folder may be closed to it.
COPY = "/tmp/plugins"
USER = ("setpriv --reuid 4711 --regid 4711 --clear-groups "
        "--no-new-privs --bounding-set=-all")


def conform_shm(session, scope, groups):
    """Both ends on one machine, as a user that no group and no right belongs
    to.  A scope of 3 stays until the next boot."""
    node = session.lab.nodes[0]
    plugins(session, "shm")
    if node.run(f"test -e {YAMA}").rc:
        raise Skipped("this kernel has no Yama")
    old = node.sh(f"cat {YAMA}").out.strip()
    if old == "3" and scope != 3:
        raise Skipped("this boot forbids ptrace for good")
    node.sh(f"mkdir -p {COPY} && cp {CONFORM} {BUILD}/libvipl.so.1 "
            f"{FOLDER}/shm.so {COPY}/ && chmod -R a+rX {COPY} && "
            f"echo {scope} >{YAMA}")
    try:
        only = f"-g '{groups}' " if groups else ""
        result = session.run(
            node, f"env -C /tmp VIPL_PROVIDERS={COPY} HOME=/tmp {USER} "
            f"{COPY}/viaconform -d shm:0 {only}--timeout-scale "
            f"{session.slow}", 400 * session.slow, status=None)
    finally:
        if scope != 3:
            node.sh(f"echo {old} >{YAMA}")
    judge(session, result, f"shm, ptrace_scope {scope}")
