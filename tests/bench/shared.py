# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Part dsm: programs over shared memory of two machines, by libviadsm and by a page
server of sockets: instructions that each machine executes, counted by a plugin in
QEMU (insns.c).

A node alone computes the result and computes it again to compare, so half of its
instructions are the program's.  Node 0 of two compares, too.  Two runs with different
numbers of rounds are compared, so that starting cancels out. Ticks of the guests' clocks
do not: of ROUNDS rounds in turn the least counts.

A fault of two machines is a time, beside an RDMA Read's in the same run of dsmbars,
without the plugin.
"""

import contextlib
import os
import re
import subprocess

import snapshot
from lab import Lab
from labkit.base import LabError, ROOT

NIC = "e1000"
HOSTS = "10.0.0.1,10.0.0.2"
RSH = os.path.join(ROOT, "tests/dsm/rsh")
SHELLS = "busybox nc -ll -p 5000 -e /bin/sh"
# Of each program the arguments of a small and of a large run.
PROGRAMS = {"sor": ("1024 2", "1024 22"), "lu": ("128", "512")}
ROUNDS = 3
FAULT_BAR = 1.3
VIA, SOCKETS = "libviadsm", "page server"


class Pair:
    """Two guests, each with the count of all that its processor has done."""

    def __init__(self, lab, build):
        self.lab, self.build = lab, build
        self.one, self.two = lab.nodes
        self.paths = [f"{build}/insns.out.{node.qemu.pid}" for node in lab.nodes]

    def setup(self):
        for i, node in enumerate(self.lab.nodes, 1):
            self.lab.insmod(node)
            node.sh(f"ip addr replace 10.0.0.{i}/24 dev eth0")
            self.lab.attach(node, "eth0")

    def total(self):
        return [sum(snapshot.take(path).values()) for path in self.paths]

    def alone(self, name, words):
        self.one.sh(f"{self.build}/tests/bench/{name}-pages {words}", 600)

    def over_via(self, name, words):
        return self.one.sh(f"{self.build}/tools/viadsm -n 2 -m 32 -d via_eth0 -H {HOSTS} "
                           f"-a {RSH} {self.build}/dsm/{name} {words}", 600)

    def bars(self):
        """A fault's time in RDMA Reads of the same run."""
        said = self.over_via("dsmbars", f"0 {FAULT_BAR}").all
        print("\n".join(f"#   {line}" for line in said.splitlines()), flush=True)
        return float(re.search(r"^a fault: .*, ([0-9.]+) RDMA Reads", said, re.M)[1])

    def over_sockets(self, name, words):
        command = (f"PAGES_HOST=10.0.0.1 PAGES_NODE={{}} "
                   f"{self.build}/tests/bench/{name}-pages {words}")
        other = self.two.spawn(command.format(1), 600)
        self.one.sh(command.format(0), 600)
        if other.wait().rc:
            raise LabError(f"{name}: node 1 of the page server failed")

    def cost(self, run, name):
        """Instructions of both machines for the rounds between two runs."""
        few, many = PROGRAMS[name]
        run(name, few)
        shots = [self.total()]
        for words in few, many:
            run(name, words)
            shots.append(self.total())
        return [(c - b) - (b - a) for a, b, c in zip(*shots)]


@contextlib.contextmanager
def shells(lab):
    """viadsm starts the nodes of the other machine by them."""
    jobs = [node.spawn(SHELLS) for node in lab.nodes]
    try:
        yield
    finally:
        for job in jobs:
            job.kill()
            job.wait()


@contextlib.contextmanager
def machines(args, qemu_args=()):
    with Lab(nodes=2, nics=[NIC], kernel=args.kernel, boot_limit=300,
             qemu_args=qemu_args) as lab:
        pair = Pair(lab, args.build)
        pair.setup()
        with shells(lab):
            yield pair


def measure(pair, book, name, rounds):
    least = {}

    def note(path, value):
        least[path] = min(least.get(path, value), value)

    for _ in range(rounds):
        note("alone", pair.cost(pair.alone, name)[0] / 2)
        for path, run in (VIA, pair.over_via), (SOCKETS, pair.over_sockets):
            zero, one = pair.cost(run, name)
            note(f"{path}, node 0", zero)
            note(f"{path}, node 1", one)
    alone = least["alone"]

    def book_it(path, unit, value):
        book.add(bench="dsm", path=f"{name}, {path}", nic=NIC, level="-", wait="-",
                 size=2, unit=unit, value=value)

    book_it("alone", "instructions", alone)
    busier = {path: max(least[f"{path}, node 0"] - alone,
                        least[f"{path}, node 1"]) for path in (VIA, SOCKETS)}
    for path, value in busier.items():
        book_it(path, "instructions", value)
        book_it(f"{path}/alone", "ratio", value / alone)
    book_it(f"{VIA}/{SOCKETS}", "ratio", busier[VIA] / busier[SOCKETS])


def part_dsm(book, args):
    """Failures."""
    build = args.build
    subprocess.run(["make", "-s", "-C", ROOT, "insns",
                    f"B={os.path.relpath(build, ROOT)}"], check=True)
    plugin = f"{build}/tests/bench/insns.so,pid={build}/insns.out"
    print(f"# two machines, {NIC}", flush=True)
    try:
        with machines(args, ["-plugin", plugin]) as pair:
            for name in PROGRAMS:
                measure(pair, book, name, 1 if args.quick else ROUNDS)
        with machines(args) as pair:
            book.add(bench="dsm", path="a fault/RDMA Read", nic=NIC, level="-",
                     wait="-", size=2, unit="ratio", value=pair.bars())
    except LabError as error:
        print(f"# FAILED dsm: {error}", flush=True)
        return [f"dsm: {error}"]
    return []
