#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""make demo-rdma: a disk of one machine used by another, over VIA, soft-RoCE
and TCP.

Boots two virtual machines with Debian's stock kernel on one wire.  The second
has a disk in its memory and serves it by the kernel's own NVMe target; the
first connects to it as Debian does, `nvme connect`, and reads with fio: over
TCP, over the kernel's rdma_rxe (soft-RoCE) and over VIA.  rdma_rxe has machines
of its own, as it breaks now and then; then its figures are "-".  The last line
is for programs:

  demo-rdma: nvme-4k-us tcp=<a> rxe=<b> via=<c> bandwidth-mbps tcp=<d> rxe=<e> via=<f>
"""

import json
import os
import re
import statistics
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(ROOT, "tools/lab"))

import judge  # noqa: E402
from demo import build, command, explain, show, tool  # noqa: E402
from lab import Lab, LabError  # noqa: E402
from labkit import kernels, offloads  # noqa: E402

TARGET = os.path.join(HERE, "nvme-target")
# Newer kernels take the name of the folder, 6.1 takes this one anyhow.
NULLB = "/sys/kernel/config/nullb/nullb0"
DISK = "/dev/nullb0"
MEBIBYTES = 64
WHO = {"tcp": "TCP", "rxe": "soft-RoCE", "via": "VIA"}
SECONDS = 4  # of each figure
READ = ("fio --name=demo --rw={rw} --bs={bs} --iodepth={depth} "
        f"--ioengine=libaio --direct=1 --time_based --runtime={SECONDS} "
        "--output-format=json --filename=")


def disk(node):
    """In its memory, filled, so that what is read is there."""
    node.sh("modprobe configfs; modprobe null_blk nr_devices=0; "
            "mount -t configfs configfs /sys/kernel/config 2>/dev/null; "
            f"mkdir {NULLB} && cd {NULLB} && echo {MEBIBYTES} >size && "
            "echo 1 >memory_backed && echo 1 >power")
    node.sh(f"dd if=/dev/urandom of={DISK} bs=1M count={MEBIBYTES}", 120)


def sent(node):
    """Bytes in VIA frames so far."""
    text = node.sh(f"{tool('viastat')} -d via_eth0").out
    return int(re.search(r"^ *tx_bytes +(\d+)$", text, re.M).group(1))


def fio(node, name, **words):
    text = node.sh(READ.format(**words) + name, 60).out
    return json.loads(text[text.index("{"):])["jobs"][0]["read"]


def figures(lab, kind):
    """Reads over that transport, which the machines have: us, Mb/s."""
    one, two = lab.nodes
    transport = "tcp" if kind == "tcp" else "rdma"
    two.sh(f"{TARGET} {DISK} 10.0.0.2 4420 {transport}")
    # nvme looks for its class in sysfs before it asks for a module.
    one.sh(f"modprobe nvme-{transport}")
    one.sh(f"nvme connect -t {transport} -a 10.0.0.2 -s 4420 -n mvia", 30)
    one.sh("until ls /dev/nvme*n1; do sleep 0.1; done", 20)
    name = one.sh("ls /dev/nvme*n1").out.split()[0]
    small = fio(one, name, rw="randread", bs="4k", depth=1)
    large = fio(one, name, rw="read", bs="128k", depth=8)
    one.sh("nvme disconnect -n mvia", 30)
    two.sh(f"{TARGET} --end")
    return (small["clat_ns"]["percentile"]["50.000000"] / 1000,
            large["bw_bytes"] * 8 / 1e6)


def told(kind, found, share):
    """The same, and whether it is to be believed."""
    doubts = judge.doubts(share)
    print(f"    {WHO[kind]:10} 4 KiB read {found[0]:8.0f} us     "
          f"128 KiB reads, 8 in flight {found[1]:7.1f} Mb/s", flush=True)
    for why in doubts:
        print(f"    NOT TO BE BELIEVED: {why}", flush=True)
    return found, not doubts


def measure(lab, kind):
    """The same with a verbs device, where there is one."""
    before = judge.sample()
    if kind == "tcp":
        found = figures(lab, kind)
    else:
        for node in lab.nodes:
            lab.verbs(node, "eth0", kind)
        bytes_before = sent(lab.nodes[1]) if kind == "via" else 0
        found = figures(lab, kind)
        # The disk's bytes come from node 2, and in VIA frames.
        if kind == "via" and sent(lab.nodes[1]) - bytes_before < \
                found[1] * 1e6 / 8 * SECONDS * 0.9:
            raise LabError("what was read did not come in VIA frames")
        for node in lab.nodes:
            lab.no_verbs(node, kind)
    return told(kind, found, judge.share(before, judge.sample()))


def medians(made):
    """Of [(figures, whether to be believed)]."""
    good = [found for found, believed in made if believed]
    return tuple(map(statistics.median,
                     zip(*(good or [found for found, _ in made]))))


def rounds(lab, kinds, amount):
    """{kind: (us, Mb/s)}: medians of interleaved rounds, of those that are to
    be believed where there are any."""
    made = {kind: [] for kind in kinds}
    for number in range(amount):
        print(f"  round {number + 1} of {amount}", flush=True)
        for kind in kinds:
            made[kind].append(measure(lab, kind))
    return {kind: medians(found) for kind, found in made.items()}


def machines(args):
    return Lab(nodes=2, nics=[args.nic], kernel=args.kernel, mem=768)


def soft_roce(args):
    """Its medians, or none where it broke, which is told."""
    lab = machines(args)
    try:
        lab.start()
        disk(lab.nodes[1])
        found = rounds(lab, ("rxe",), args.rounds)
        lab.check()
        return found
    except LabError as why:
        print(f"    soft-RoCE broke: {why}", flush=True)
        return {}
    finally:
        lab.stop()


def as_text(found, column):
    return " ".join(f"{kind}={found[kind][column]:.1f}" if kind in found
                    else f"{kind}=-" for kind in WHO)


def demo(args):
    begin = time.monotonic()
    explain(f"1. Debian's kernel {args.kernel}, and our modules for it")
    kernel = kernels.kernel(args.kernel)
    build(kernel)
    print(f"  built for {kernel.release}", flush=True)
    lab = machines(args)
    lab.module_path("via_rdma")
    with lab:
        explain(f"2. Two virtual machines, each with a NIC {args.nic}, on one "
                f"wire; node2 has a disk of {MEBIBYTES} MiB in its memory")
        one, two = lab.nodes
        disk(two)
        for node in lab.nodes:
            lab.insmod(node)
            lab.attach(node, "eth0")
        explain("3. A verbs device on eth0, made by Debian's rdma and seen "
                "by its programs")
        for node in lab.nodes:
            lab.verbs(node, "eth0")
        show(one, "rdma link show")
        show(one, "ibv_devices")
        for node in lab.nodes:
            lab.no_verbs(node)
        explain("4. node1 uses the disk of node2: over TCP and over VIA, same "
                "machines, same NIC")
        print(f"  What it does for TCP: {offloads.of(one, 'eth0')}",
              flush=True)
        found = rounds(lab, ("tcp", "via"), args.rounds)
        logs = lab.logdir
    explain("5. The same over soft-RoCE, in fresh machines")
    found |= soft_roce(args)
    explain("Medians: " + "; ".join(
        f"{WHO[kind]}: 4 KiB in {found[kind][0]:.0f} us, "
        f"{found[kind][1]:.0f} Mb/s" for kind in WHO if kind in found) +
        f".\nLogs and consoles: {os.path.relpath(logs)}; "
        f"{time.monotonic() - begin:.0f} s in all.")
    print(f"demo-rdma: nvme-4k-us {as_text(found, 0)} "
          f"bandwidth-mbps {as_text(found, 1)}", flush=True)


if __name__ == "__main__":
    sys.exit(command(demo, "demo-rdma", __doc__, "--rounds", 3,
                     nic="e1000"))
