# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A disk of another machine by NVMe over fabrics: the kernel's host and target
over via_rdma and over TCP.

Both machines are one guest in exact mode, as in part verbs, and both transports
are in one boot of it, so what TCP is compared with has its offloads.  The disk
is null_blk, which stores nothing: what remains is the way to it.
"""

import json
import os

import exact
import verbs
from lab import LabError
from labkit import offloads

NICS = ("e1000", "tulip")
TARGET = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                      "../../tools/demo/nvme-target")
SMALL, LARGE = 4096, 131072
# Bytes, in flight, how many.
RUNS = ((SMALL, 1, 1000), (SMALL, 16, 3000), (LARGE, 1, 200),
        (LARGE, 32, 600))
LIMIT = 240     # seconds of a run


def name_of(kind, depth):
    """What bench_disk calls it."""
    return f"nvme {kind} x{depth}"


def connect(node, transport):
    """The disk's name here.  One queue: there is one processor."""
    node.sh(f"modprobe nvme-{transport}; "
            f"{TARGET} /dev/nullb0 10.0.0.2 4420 {transport}")
    node.sh(f"nvme connect -t {transport} -a 10.0.0.2 -s 4420 -n mvia "
            "--host-traddr 10.0.0.1 -i 1", 60)
    node.sh("until ls /dev/nvme*n1; do sleep 0.1; done", 60)
    return node.sh("ls /dev/nvme*n1").out.split()[0]


def disconnect(node):
    node.sh("nvme disconnect -n mvia", 60)
    node.sh(f"{TARGET} --end", 60)


def frames(node):
    """That the VI NICs of both ends have sent."""
    text = node.sh("cat /sys/class/net/eth0/statistics/tx_packets "
                   "/sys/class/net/eth1/statistics/tx_packets").out
    return sum(map(int, text.split()))


def runs(book, node, args, nic, path, disk):
    """Each once to warm up, then for its figure; returns what failed."""
    failures = []
    for size, depth, count in RUNS:
        for kind in ("read", "write"):
            command = (f"timeout {LIMIT} {args.build}/tests/bench/bench_disk "
                       f"{disk} {kind} {size} {depth} ")
            before = frames(node)
            node.run(command + str(count // 5), LIMIT + 60)
            done = node.run(command + str(count), LIMIT + 60)
            if done.rc or frames(node) - before < count * size // 1500:
                last = (done.all.strip().splitlines() or ["no output"])[-1]
                failures.append(f"{nic}, {path}: {name_of(kind, depth)}: "
                                f"{last}")
                print(f"# FAILED {failures[-1]}", flush=True)
                continue
            row = json.loads(done.out)
            unit = "instructions" if row["unit"] == "ns" else row["unit"]
            book.add(nic=nic, **{**row, "path": path, "unit": unit})
    return failures


def boot(book, args, nic):
    """Both transports in one boot; returns what failed."""
    print(f"# NVMe over fabrics, exact mode, {nic}", flush=True)
    failures = []
    with exact.guest(args, nic) as lab:
        node = lab.nodes[0]
        verbs.setup(lab, verbs.VIA)
        node.sh("modprobe null_blk")
        tcp = offloads.tcp(node, "eth0")
        for path, transport in ((tcp, "tcp"), (verbs.VIA, "rdma")):
            disk = connect(node, transport)
            failures += runs(book, node, args, nic, path, disk)
            disconnect(node)
    for size, depth, _ in RUNS:
        for kind in ("read", "write"):
            like = dict(bench=name_of(kind, depth), nic=nic, size=size)
            book.ratio(dict(path=verbs.VIA, **like), dict(path=tcp, **like))
    return failures


def part_nvme(book, args):
    """Returns the failures."""
    failures = []
    for nic in NICS:
        try:
            failures += boot(book, args, nic)
        except LabError as error:
            failures.append(f"nvme, {nic}: {error}")
            print(f"# FAILED {failures[-1]}", flush=True)
    return failures
