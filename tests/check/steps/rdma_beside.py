# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""siw, which via_rdma borrows the user ABI and the driver's number of, beside
a verbs device on the same interface.  Debian builds no siw: it is built here,
from Debian's source of 6.1."""

import os

from labkit import kernels
from labkit.base import BUILD
from rdma import PROGRAMS, between, carried, needed, sent
from runner import StepFailed

FOLDER = os.path.join(BUILD, "siw")
SOURCE = "drivers/infiniband/sw/siw"


def build(check):
    """The module; kept for the version of the source and of the headers."""
    kernel = kernels.kernel("6.1")
    version, archive = kernels.source()
    key, stamp = f"{version} {kernel.release}", os.path.join(FOLDER, "key")
    module = os.path.join(FOLDER, SOURCE, "siw.ko")
    if os.path.exists(stamp):
        with open(stamp) as file:
            if file.read() == key:
                return module
    os.makedirs(FOLDER, exist_ok=True)
    check.host(["tar", "xf", archive, "-C", FOLDER, "--strip-components=1",
                "--wildcards", f"*/{SOURCE}/*"], 3600)
    check.host(["make", "-C", kernel.kdir, "CONFIG_RDMA_SIW=m", "modules",
                f"M={os.path.join(FOLDER, SOURCE)}"], 3600)
    with open(stamp, "w") as file:
        file.write(key)
    return module


def there(session, *wanted):
    """These verbs devices are on both nodes, and no others."""
    for node in session.lab.nodes:
        found = {line.split()[1].split("/")[0]
                 for line in node.sh("rdma link show").out.splitlines()}
        if found != set(wanted):
            raise StepFailed(f"{node.name} has {sorted(found)}, not "
                             f"{sorted(wanted)}")


def change(session, *commands):
    """The same on both nodes."""
    for node in session.lab.nodes:
        for command in commands:
            node.sh(command, 60)


def ping(session, net, by_via):
    """rping, over the device that rdma_cm finds first: the older one."""
    if by_via:
        with carried(session, "via", net, 400000):
            between(session, net, PROGRAMS["rping"], None)
        return
    before = sent(session, net)
    between(session, net, PROGRAMS["rping"], None)
    via, ip = (b - a for a, b in zip(before, sent(session, net)))
    if ip < 400000:
        raise StepFailed(f"siw has sent {ip} bytes by IP, and {via} went by "
                         "VIA")


def siw(session, net):
    """Each comes and goes beside the other, both ways round, and both work."""
    needed("rping")
    module = build(session.check)
    via = f"rdma link add via0 type via netdev eth{net}"
    other = f"rdma link add siw0 type siw netdev eth{net}"
    change(session, "modprobe -a iw_cm ib_uverbs rdma_ucm libcrc32c",
           f"insmod {module}")
    for node in session.lab.nodes:
        session.lab.insmod(node, modules=("via_rdma",))
    change(session, via, other)
    there(session, "via0", "siw0")
    ping(session, net, True)
    change(session, "rdma link del siw0")
    there(session, "via0")
    ping(session, net, True)
    change(session, other, "rdma link del via0")
    there(session, "siw0")
    ping(session, net, False)
    change(session, via)
    there(session, "via0", "siw0")
    ping(session, net, False)
    change(session, "rdma link del siw0")
    there(session, "via0")
    ping(session, net, True)
    # siw's end unregisters all devices that have its number, so ours too.
    change(session, other, "rmmod siw")
    there(session)
    change(session, via)
    there(session, "via0")
    ping(session, net, True)
    change(session, "rdma link del via0", "rmmod via_rdma")
