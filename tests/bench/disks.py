# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Disks and files of another machine, over via_rdma and over TCP: NVMe over
fabrics, NFS 4.2, iSCSI with LIO, all by Debian's kernel.

Both machines are one guest in exact mode, as in part verbs, and both transports
are in one boot of it, so what TCP is compared with has its offloads.  A disk
is null_blk, which stores nothing, a file lies in memory: what remains is the
way to it.
"""

import collections
import contextlib
import json
import os
import re

import exact
import verbs
from lab import LabError
from labkit import iscsi, nfs, offloads

NVME_TARGET = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                           "../../tools/demo/nvme-target")
HERE, THERE = "10.0.0.1", "10.0.0.2"
SMALL, LARGE = 4096, 131072
PLACES = 64     # of a disk that bench_disk uses
LIMIT = 240     # seconds of a run


def name_of(part, kind, depth):
    """What bench_disk calls it."""
    return f"{part} {kind} x{depth}"


@contextlib.contextmanager
def by_nvme(node, rdma):
    """The disk's name.  One queue: there is one processor."""
    transport = "rdma" if rdma else "tcp"
    node.sh(f"modprobe null_blk; modprobe nvme-{transport}; "
            f"{NVME_TARGET} /dev/nullb0 {THERE} 4420 {transport}")
    node.sh(f"nvme connect -t {transport} -a {THERE} -s 4420 -n mvia "
            f"--host-traddr {HERE} -i 1", 60)
    node.sh("until ls /dev/nvme*n1; do sleep 0.1; done", 60)
    yield node.sh("ls /dev/nvme*n1").out.split()[0]
    node.sh("nvme disconnect -n mvia", 60)
    node.sh(f"{NVME_TARGET} --end", 60)


@contextlib.contextmanager
def by_nfs(node, rdma):
    """The name of a file that is another machine's."""
    nfs.client(node)
    nfs.prepare(node, "10.0.0.0/24")
    daemons = [node.spawn(command) for command in nfs.DAEMONS]
    with nfs.served(node, rdma):
        node.sh(nfs.mount(THERE, rdma), 60)
        node.sh(f"dd if=/dev/zero of={nfs.HERE}/file bs={LARGE} "
                f"count={PLACES}", 60)
        yield f"{nfs.HERE}/file"
        node.sh(f"umount {nfs.HERE}", 60)
    for job in daemons:
        job.kill()
    nfs.end(node)


@contextlib.contextmanager
def by_iscsi(node, rdma):
    """The disk's name."""
    node.sh("modprobe null_blk")
    iscsi.initiator(node)
    daemon = node.spawn(iscsi.DAEMON)
    iscsi.serve(node, "/dev/nullb0", THERE, rdma)
    node.sh(iscsi.find(THERE), 60)
    node.sh(iscsi.login(THERE, rdma), 60)
    node.sh(f"until {iscsi.SEEN}; do sleep 0.1; done", 60)
    yield "/dev/" + node.sh(iscsi.SEEN).out.split()[-1]
    node.sh(iscsi.logout(THERE), 60)
    node.sh(f"{iscsi.TARGET} --end", 60)
    daemon.kill()


# Of each part: how it is attached, and what runs: bytes, in flight, how many.
PARTS = {
    "nvme": (by_nvme, ((SMALL, 1, 1000), (SMALL, 16, 3000), (LARGE, 1, 200),
                       (LARGE, 32, 600))),
    "nfs": (by_nfs, ((SMALL, 1, 1000), (SMALL, 8, 2000), (LARGE, 1, 200),
                     (LARGE, 8, 400))),
    "iscsi": (by_iscsi, ((SMALL, 1, 1000), (SMALL, 16, 3000), (LARGE, 1, 200),
                         (LARGE, 32, 600))),
}

# A network between the machines: its name, the guest's cards, our own driver for
# them, and whether TCP is measured: beside our driver it is the card's own
# driver that TCP is compared with.
Wire = collections.namedtuple("Wire", "nic model driver tcp via",
                              defaults=(None, True, True))
WIRES = {
    "nvme": (Wire("e1000", "e1000"), Wire("tulip", "tulip"),
             Wire("veth", "tulip"), Wire("igb", "igb", via=False),
             Wire("e1000", "e1000", "via_e1000", False),
             Wire("igb", "igb", "via_igb", False)),
    "nfs": (Wire("e1000", "e1000"),),
    "iscsi": (Wire("e1000", "e1000"),),
}


def path_of(wire):
    """What VIA is called there."""
    return verbs.VIA + (f"/{wire.driver}" if wire.driver else "")


def setup(lab, wire):
    """Its VI NICs with devices of verbs; their names."""
    if wire.driver:
        verbs.setup_native(lab, wire.driver)
    elif wire.nic == "veth":
        verbs.setup_veth(lab)
        return ("v0", "v1")
    else:
        verbs.setup(lab, verbs.VIA)
    return ("eth0", "eth1")


def by_via(node, args, nics):
    """Bytes that these have sent in VIA frames."""
    text = "".join(node.sh(f"{args.build}/tools/viastat -d via_{nic}").out
                   for nic in nics)
    return sum(map(int, re.findall(r"^ *tx_bytes +(\d+)$", text, re.M)))


def runs(book, node, args, part, wire, nics, path, disk):
    """Each once to warm up, then for its figure; returns what failed."""
    failures = []
    for size, depth, count in PARTS[part][1]:
        count = count // 5 if args.quick else count
        for kind in ("read", "write"):
            command = (f"timeout {LIMIT} {args.build}/tests/bench/bench_disk "
                       f"{part} {disk} {kind} {size} {depth} ")
            before = by_via(node, args, nics)
            node.run(command + str(count // 5), LIMIT + 60)
            done = node.run(command + str(count), LIMIT + 60)
            sent = by_via(node, args, nics) - before
            if done.rc or (sent > count * size) != path.startswith(verbs.VIA):
                last = (done.all.strip().splitlines() or ["no output"])[-1]
                failures.append(f"{wire.nic}, {path}: "
                                f"{name_of(part, kind, depth)}: {last}")
                print(f"# FAILED {failures[-1]}", flush=True)
                continue
            row = json.loads(done.out)
            unit = "instructions" if row["unit"] == "ns" else row["unit"]
            book.add(nic=wire.nic, **{**row, "path": path, "unit": unit})
    return failures


def boot(book, args, part, wire, tcp):
    """Both transports in one boot; returns what failed.  tcp: what TCP is
    called on each NIC."""
    print(f"# {part}, exact mode, {wire.nic}"
          f"{', ' + wire.driver if wire.driver else ''}", flush=True)
    failures, paths = [], []
    attached = PARTS[part][0]
    with exact.guest(args, wire.model) as lab:
        node = lab.nodes[0]
        nics = setup(lab, wire)
        if wire.tcp:
            tcp[wire.nic] = offloads.tcp(node, nics[0])
            paths += [tcp[wire.nic]]
        if wire.via:
            paths += [path_of(wire)]
        for path in paths:
            with attached(node, path.startswith(verbs.VIA)) as disk:
                failures += runs(book, node, args, part, wire, nics, path,
                                 disk)
    return failures


def part_disks(book, args, part):
    """Returns the failures."""
    failures, tcp = [], {}
    for wire in WIRES[part]:
        try:
            failures += boot(book, args, part, wire, tcp)
        except LabError as error:
            failures.append(f"{part}, {wire.nic}: {error}")
            print(f"# FAILED {failures[-1]}", flush=True)
        for size, depth, _ in PARTS[part][1]:
            for kind in ("read", "write"):
                like = dict(bench=name_of(part, kind, depth), nic=wire.nic,
                            size=size)
                book.ratio(dict(path=path_of(wire), **like),
                           dict(path=tcp.get(wire.nic), **like))
    return failures
