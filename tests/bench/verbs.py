# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs of verbs by the stock libraries: via_rdma beside rdma_rxe.

Both NICs of the exact node are in its first namespace, where rxe has its
sockets; what goes from one address to the other goes over the wire.  Each
device has a boot of its own, and rxe a limit: it stalls by itself, and then
there is no figure to compare with.
"""

import json

import exact
from lab import LabError
from labkit import cable

NICS = ("e1000", "tulip")
VIA, RXE = "via_rdma", "rxe"
LIMIT = 240     # seconds of a run
MODULES = ("via_ka", "via_ether", "via_netdev")

# What is run, and what its figure is called.
RUNS = (("verbs lat", "poll", "lat", 2000),
        ("verbs lat", "block", "-e lat", 2000),
        *((f"verbs {op}", "poll", f"-s 65536 {op}", 500)
          for op in ("send", "write", "read")))


def one_wire(node, near, far):
    """What goes from one of these to the other's address crosses the wire."""
    node.sh(f"ip -n peer link set {far} netns 1")
    node.sh(cable.join((near, "10.0.0.1"), (far, "10.0.0.2")))


def setup(lab, path):
    """Devices of verbs on both NICs."""
    node = lab.nodes[0]
    one_wire(node, "eth0", "eth1")
    if path == VIA:
        lab.insmod(node, modules=MODULES)
        lab.attach(node, "eth0", "eth1")
        via_devices(lab, "eth0", "eth1")
        return
    node.sh("modprobe -a rdma_ucm ib_uverbs crc32_generic crc32-pclmul; "
            "modprobe rdma_rxe")
    for number in range(2):
        node.sh(f"rdma link add rxe{number} type rxe netdev eth{number}")


def via_devices(lab, *nics):
    """On VI NICs, which are there."""
    node = lab.nodes[0]
    node.sh("modprobe -a rdma_ucm ib_uverbs")
    lab.insmod(node, modules=(VIA,))
    for number, nic in enumerate(nics):
        node.sh(f"rdma link add via{number} type via netdev {nic}")


def setup_native(lab, driver):
    """The same with our own driver for both cards."""
    node = lab.nodes[0]
    lab.insmod(node, modules=("via_ka", "via_ether"))
    exact.bind_native(lab, driver)
    one_wire(node, "eth0", "eth1")
    node.sh("until grep -q 1 /sys/class/net/eth0/carrier && "
            "grep -q 1 /sys/class/net/eth1/carrier; do sleep 0.1; done")
    via_devices(lab, "eth0", "eth1")


def setup_veth(lab):
    """On a pair of veth."""
    node = lab.nodes[0]
    node.sh("modprobe veth; ip link add v0 type veth peer name v1 netns peer")
    one_wire(node, "v0", "v1")
    lab.insmod(node, modules=MODULES)
    lab.attach(node, "v0", "v1")
    via_devices(lab, "v0", "v1")


def one(book, lab, args, nic, path, run):
    """One figure; a text where there is none."""
    bench, wait, options, count = run
    count = count // 5 if args.quick else count
    command = (f"{args.build}/verbsmeasure --json -n {count} {options} "
               "10.0.0.1 10.0.0.2")
    done = lab.nodes[0].run(f"timeout {LIMIT} {command}", LIMIT + 60)
    if done.rc:
        last = (done.all.strip().splitlines() or ["no output"])[-1]
        return f"{nic}, {path}: {options}: {last}"
    row = json.loads(done.out)
    book.add(bench=bench, path=path, nic=nic, level="-", wait=wait,
             size=row["bytes"],
             unit="instructions" if bench == "verbs lat" else "instr-per-byte",
             value=row["ns"] if bench == "verbs lat" else row["ns_per_byte"])
    return None


def boot(book, args, nic, path):
    """All runs of a device in one boot; returns what failed."""
    failures = []
    print(f"# verbs, exact mode, {nic}: {path}", flush=True)
    try:
        with exact.guest(args, nic) as lab:
            setup(lab, path)
            for run in RUNS:
                failed = one(book, lab, args, nic, path, run)
                if failed:
                    failures.append(failed)
                    print(f"# FAILED {failed}", flush=True)
    except LabError as error:
        failures.append(f"verbs, {nic}, {path}: {error}")
        print(f"# FAILED {failures[-1]}", flush=True)
    return failures


def part_verbs(book, args):
    """Returns the failures: rxe's are told, and are none of ours."""
    failures = []
    for nic in NICS:
        boot(book, args, nic, RXE)
        failures += boot(book, args, nic, VIA)
        for bench, wait, _, _ in RUNS:
            like = dict(bench=bench, nic=nic, wait=wait)
            book.ratio(dict(path=VIA, **like), dict(path=RXE, **like))
    return failures
