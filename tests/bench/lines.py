#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Part lines: cache lines that move between processors, per message: four pairs of VIs,
each with both ends on a processor of its own, over one pair of veth in one guest.
Nothing that they do is of more than one processor, so a line that moves is one too many.

Then two pairs on two processors, without the plugin, beside each of them alone: a ratio
of times, for a quiet host with two processors.

A plugin in QEMU (lines.c) counts each store to a line that another processor has
written last.  Two runs with different numbers of messages are compared, so setting up
cancels out; the kernel's own ticks do not quite.
"""

import argparse
import bisect
import collections
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools/lab")]

import exact  # noqa: E402
import peers  # noqa: E402
import snapshot  # noqa: E402
from lab import Lab, LabError  # noqa: E402

CPUS = 4
NIC = f"veth, {CPUS} pairs"
VIA = f"--exact -d via_{peers.VETH[0]} --peer-dev via_{peers.VETH[1]} {exact.PEER}"
# What runs, and its messages of an iteration.
PATHS = {
    ("lat", "poll"): (f"tools/vipl_lat {VIA} -l rd", 2),
    ("lat", "block"): (f"tools/vipl_lat {VIA} -l rd -e", 2),
    ("bulk", "poll"): (f"tools/vipl_bw {VIA} -s 65536 -l rd -t 8", 1),
    ("bulk", "block"): (f"tools/vipl_bw {VIA} -s 65536 -l rd -e", 1),
}
SIZE = {"lat": 4, "bulk": 65536}
FEW = 200
# Pairs at once: what a run tells of the time that a message takes, its messages, rounds.
TIMES = {"lat": ("half_rtt_ns", 100000), "bulk": ("ns_per_byte", 20000)}
ROUNDS = 5
# A guest under the plugin takes that many times what silicon takes: a delay of 100 us
# is over after each message of 4 bytes, where it is over after some dozens.
SLOWER = 100
MANY = {"lat": 24000, "bulk": 8000}


def pair(cpu):
    """Both ends on the processor, and a port that no other pair has: servers that wait
    at one port take each other's clients."""
    return f"--cpus {cpu},{cpu} -p 100{cpu}"


class Guest:
    """One guest with a processor for each pair."""

    def __init__(self, lab, build, slower=SLOWER, quick=False):
        self.lab, self.node, self.build = lab, lab.nodes[0], build
        self.slower, self.part = slower, 10 if quick else 1
        self.path = os.path.join(build, "lines.out")

    def setup(self):
        self.lab.insmod(self.node)
        self.node.sh(f"echo {self.slower} > /sys/module/via_ether/parameters/time_scale; "
                     "ip netns add peer")
        peers.setup_veth(self)

    def run(self, command, n):
        """On each processor at once."""
        self.node.sh(
            f"for c in $(seq 0 {CPUS - 1}); do {self.build}/{command} {pair('$c')} "
            f"-n {n} & jobs=\"$jobs $!\"; done; "
            "for j in $jobs; do wait $j || exit; done", 900)

    def moves(self, bench, wait):
        """Counter of (line, address of the instruction), of a message."""
        command, per = PATHS[bench, wait]
        self.run(command, FEW)
        shots = [snapshot.take(self.path)]
        many = MANY[bench] // self.part + FEW
        for n in FEW, many:
            self.run(command, n)
            shots.append(snapshot.take(self.path))
        counts = shots[2] - shots[1]
        counts.subtract(shots[1] - shots[0])
        messages = (many - FEW) * per * CPUS
        return {key: n / messages for key, n in counts.items() if n > 0}


class Pairs(Guest):
    """One guest with two processors and no plugin."""

    def rate(self, bench, cpus):
        """Of all pairs that run at once on these processors."""
        command, _ = PATHS[bench, "poll"]
        time, messages = TIMES[bench]
        messages //= self.part
        done = self.node.sh(
            "".join(f"{self.build}/{command} {pair(c)} -n {messages} --json - & "
                    for c in cpus) + "wait", 120)
        rows = [json.loads(line) for line in done.out.splitlines()
                if line.startswith("{")]
        if len(rows) != len(cpus):
            raise LabError(f"{len(rows)} of {len(cpus)} pairs told their time")
        return sum(1 / row[time] for row in rows)

    def gain(self, bench):
        """Two at once beside each alone: the best of all rounds, since an emulator
        with one thread to run has rounds of half the speed."""
        best = collections.Counter()
        for _ in range(max(ROUNDS // self.part, 1)):
            for cpus in (0,), (1,), (0, 1):
                best[cpus] = max(best[cpus], self.rate(bench, cpus))
        return 2 * best[0, 1] / (best[0,] + best[1,])


def part_pairs(book, args):
    print("# veth, 2 pairs on 2 processors", flush=True)
    with Lab(nodes=1, nics=[], kernel=args.kernel, cpus=2, mem=768) as lab:
        it = Pairs(lab, args.build, quick=args.quick)
        it.setup()
        for bench, size in SIZE.items():
            book.add(bench="pairs", path=f"via_netdev, {bench}, 2 pairs/1",
                     nic="veth", level="rd", wait="poll", size=size,
                     unit="ratio", value=it.gain(bench))


def guest(args):
    plugin = os.path.join(args.build, "tests/bench/lines.so")
    out = os.path.join(args.build, "lines.out")
    return Lab(nodes=1, nics=[], kernel=args.kernel, cpus=CPUS, mem=1024,
               boot_limit=300, append="norandmaps",
               qemu_args=["-plugin", f"{plugin},out={out}"])


def part_lines(book, args):
    """Failures; a figure for each path."""
    failures = []
    print(f"# {NIC}", flush=True)
    subprocess.run(["make", "-s", "-C", ROOT, "insns",
                    f"B={os.path.relpath(args.build, ROOT)}"], check=True)
    try:
        with guest(args) as lab:
            it = Guest(lab, args.build, quick=args.quick)
            it.setup()
            for bench, wait in PATHS:
                book.add(bench="lines", path=f"via_netdev, {bench}", nic=NIC,
                         level="rd", wait=wait, size=SIZE[bench], unit="lines",
                         value=sum(it.moves(bench, wait).values()))
        part_pairs(book, args)
    except LabError as error:
        failures.append(f"lines: {error}")
        print(f"# FAILED {failures[-1]}", flush=True)
    return failures


def name_of(table, starts, address):
    if address < 1 << 47:
        return "(program)"
    i = bisect.bisect_right(starts, address) - 1
    if i < 0:
        return "?"
    at, name, module = table[i]
    return f"{name}{f' [{module}]' * bool(module)}+{address - at:#x}"


def show(moves, table, most):
    """The lines that move most, and which instructions take them."""
    starts = [entry[0] for entry in table]
    lines = collections.defaultdict(dict)
    for (line, pc), n in moves.items():
        lines[line][pc] = n
    order = sorted(lines, key=lambda line: -sum(lines[line].values()))
    for line in order[:most]:
        print(f"{sum(lines[line].values()):9.3f}  line {line:#x}")
        for pc, n in sorted(lines[line].items(), key=lambda e: -e[1])[:8]:
            print(f"{n:18.3f}  {name_of(table, starts, pc)}")


def show_functions(moves, table, most):
    """Which functions take lines."""
    starts = [entry[0] for entry in table]
    sums = collections.Counter()
    for (_, pc), n in moves.items():
        sums[name_of(table, starts, pc).partition("+")[0]] += n
    for name, n in sums.most_common(most):
        print(f"{n:9.3f}  {name}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bench", choices=("lat", "bulk"))
    parser.add_argument("--block", action="store_true",
                        help="ends sleep instead of polling")
    parser.add_argument("--functions", action="store_true",
                        help="what takes the lines, in place of the lines")
    parser.add_argument("--slower", type=int, default=SLOWER, metavar="N",
                        help="VIA's times are N times longer (%(default)s)")
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--lines", type=int, default=20)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    args = parser.parse_args()
    args.build = os.path.realpath(args.build)
    subprocess.run(["make", "-s", "-C", ROOT, "insns"], check=True,
                   stdout=sys.stderr)
    try:
        with guest(args) as lab:
            it = Guest(lab, args.build, args.slower)
            it.setup()
            moves = it.moves(args.bench, "block" if args.block else "poll")
            print(f"# {args.bench}, {'block' if args.block else 'poll'}, {CPUS} "
                  "pairs: lines that moved, per message")
            print(f"{sum(moves.values()):9.3f}  in all")
            (show_functions if args.functions else show)(
                moves, sorted(snapshot.kernel_symbols(lab.nodes[0])), args.lines)
    except LabError as error:
        sys.exit(f"lines: {error}")


if __name__ == "__main__":
    main()
