#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Where the instructions of one message go, function by function, and how often
each is entered.

Runs a benchmark in exact mode with two message counts; the difference between
the two, divided by the difference of the counts, is what one message costs.
What the guest does between the runs (its idling, the lab's agent) does not
quite cancel out, and shows as a few instructions here or there.
"""

import argparse
import bisect
import collections
import contextlib
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools/lab")]

import disks  # noqa: E402
import exact  # noqa: E402
import peers  # noqa: E402
import snapshot  # noqa: E402
import verbs  # noqa: E402
from lab import LabError  # noqa: E402
from labkit.initrd import NATIVE  # noqa: E402

WIRE = f"tools/vipl_lat {exact.VIA}"
PATHS = {
    "rd": f"{WIRE} -l rd",
    "rd-block": f"{WIRE} -l rd -e",
    "unreliable": f"{WIRE} -l unreliable",
    "unreliable-block": f"{WIRE} -l unreliable -e",
    "bulk": f"tools/vipl_bw {exact.VIA} -s 65536 -l rd -t 8",
    "bulk-block": f"tools/vipl_bw {exact.VIA} -s 65536 -l rd -e",
    "udp-spin": f"tests/bench/sock_lat {exact.SOCK} 10.0.0.2 --spin",
    "udp": f"tests/bench/sock_lat {exact.SOCK} 10.0.0.2 --proto udp",
    "tcp-bw": f"tests/bench/sock_lat {exact.SOCK} 10.0.0.2 --proto tcp --bw "
              "-s 65536",
    "via-udp": f"tools/vipl_lat {exact.UDP} -l rd",
    "via-udp-block": f"tools/vipl_lat {exact.UDP} -l rd -e",
    "via-udp-bulk": f"tools/vipl_bw {exact.UDP} -s 65536 -l rd -t 8",
    "via-udp-bulk-block": f"tools/vipl_bw {exact.UDP} -s 65536 -l rd -e",
    "lo": "tools/vipl_lat --exact -d via_lo -l rd",
    "connect": "tests/bench/bench_conn via_eth0 via_eth1 peer",
    "connect-lo": "tests/bench/bench_conn via_lo",
    "lo-block": "tools/vipl_lat --exact -d via_lo -l rd -e",
    "verbs": "verbsmeasure --json lat",
    "verbs-block": "verbsmeasure --json -e lat",
    "verbs-bulk": "verbsmeasure --json -s 65536 write",
    # A disk or file of another machine: see --disk.
    **{f"{part}{over}": "tests/bench/bench_disk"
       for part in disks.PARTS for over in ("", "-tcp")},
}
# On a host with other work, with fewer the guest's idling in between shows.
FEW, MANY = 400, 30400
# A connection is made and ended in each round.
MANY_CONNECT = 3400
PIE = 0x555555554000		# of a program, with norandmaps


def program_symbols(binary):
    out = []
    done = subprocess.run(["nm", "-C", binary], check=True, text=True,
                          capture_output=True)
    for line in done.stdout.splitlines():
        address, _, rest = line.partition(" ")
        if address and rest[0] in "tTwW":
            out.append((int(address, 16) + PIE, rest[2:],
                        os.path.basename(binary)))
    end = max(out)[0] + 4096
    return out + [(end, "(libraries)", "")]


def symbols(node, binary):
    """Sorted (address, name, module) of the running kernel and a program."""
    return sorted(program_symbols(binary) + snapshot.kernel_symbols(node))


def by_function(counts, table):
    """Counts per function, as (name, module), and those of its first
    instruction."""
    starts = [entry[0] for entry in table]
    out, calls = collections.Counter(), collections.Counter()
    for address, count in counts.items():
        i = bisect.bisect_right(starts, address) - 1
        name = table[i][1:] if i >= 0 else ("?", "")
        out[name] += count
        if address == starts[i]:
            calls[name] += count
    return out, calls


def is_disk(path):
    return path.startswith(tuple(disks.PARTS))


def many_of(path):
    few = path.startswith(("connect", "verbs")) or is_disk(path)
    return MANY_CONNECT if few else MANY


def verbs_runner(lab, args):
    """run() of a path of verbs, its devices made."""
    verbs.setup(lab, verbs.VIA)

    def run(command, limit=600):
        program, _, words = command.partition(" ")
        words, _, count = words.rpartition(" -n ")
        lab.nodes[0].sh(f"{args.build}/{program} -n {count} {words} "
                        "10.0.0.1 10.0.0.2", limit)

    return run


@contextlib.contextmanager
def disk_runner(lab, args):
    """run() of a disk's path, which is attached meanwhile."""
    part, _, over = args.path.partition("-")
    disks.setup(lab, disks.Wire(
        "veth" if args.veth else args.nic, args.nic,
        NATIVE[args.nic] if args.native else None))
    with disks.PARTS[part][0](lab.nodes[0], not over) as disk:
        def run(command, limit=600):
            program, _, count = command.partition(" -n ")
            lab.nodes[0].sh(f"{args.build}/{program} {part} {disk} "
                            f"{args.disk} {count}", limit)

        yield run


def over_veth(runner, command):
    """The same over a pair of veth."""
    peers.setup_veth(runner)
    for nic, veth in zip(peers.NICS, peers.VETH):
        command = command.replace(f"via_{nic}", f"via_{veth}").replace(
            nic, veth)
    return command


def measure(args, command):
    path = os.path.join(args.build, "insns.out")
    binary = os.path.join(args.build, command.split()[0])
    plugin = os.path.join(args.build, "tests/bench/insns.so")
    with contextlib.ExitStack() as stack:
        lab = stack.enter_context(
            exact.guest(args, args.nic, append="norandmaps",
                        qemu_args=["-plugin", f"{plugin},out={path}"]))
        runner = exact.Exact(None, lab, args.build, args.nic, False)
        run = runner.run
        if args.path.startswith("verbs"):
            run = verbs_runner(lab, args)
        elif is_disk(args.path):
            run = stack.enter_context(disk_runner(lab, args))
        else:
            runner.setup()
            if args.native:
                runner.go_native()
            if args.veth:
                command = over_veth(runner, command)
        if args.path.startswith("via-udp"):
            link = peers.VETH if args.veth else peers.NICS
            exact.attach_udp(runner, *link[2:], shape=args.shape)
        run(f"{command} -n {FEW}")
        shots = [snapshot.take(path)]
        for n in (FEW, many_of(args.path)):
            run(f"{command} -n {n}", 1800)
            shots.append(snapshot.take(path))
        if runner.failures:
            raise LabError(runner.failures[0])
        few, many = shots[1] - shots[0], shots[2] - shots[1]
        many.subtract(few)
        return by_function(many, symbols(lab.nodes[0], binary))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", choices=PATHS, help="what to run")
    parser.add_argument("--nic", default="tulip")
    parser.add_argument("--native", action="store_true",
                        help="with our own driver for the NIC")
    parser.add_argument("--veth", action="store_true",
                        help="over a pair of veth of the guest")
    parser.add_argument("--shape", default="udp", choices=("udp", "tcp"),
                        help="of trains of via_udp")
    parser.add_argument("--disk", default="read 131072 8",
                        help="with a disk or file: what, bytes, in flight")
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--erms", action="store_true",
                        help="the guest's processor keeps ERMS and FSRM")
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    args = parser.parse_args()
    args.build = os.path.realpath(args.build)
    subprocess.run(["make", "-s", "-C", ROOT, "insns"], check=True,
                   stdout=sys.stderr)
    try:
        functions, calls = measure(args, PATHS[args.path])
    except LabError as error:
        sys.exit(f"profile: {error}")
    # A round trip is two messages; of bulk, each message counts, both ends.
    bulk = "bulk" in args.path or args.path.endswith("-bw")
    connect = args.path.startswith("connect")
    disk = is_disk(args.path)
    per = (many_of(args.path) - FEW) * (1 if bulk or connect or disk else 2)
    print(f"# {args.path}, {'veth' if args.veth else args.nic}: instructions of one "
          + ("connection, made and ended, both ends" if connect else
             f"request, {args.disk}, both ends" if disk else
             "message, 64 KiB, both ends" if bulk else "message, one way"))
    print(f"{sum(functions.values()) / per:9.1f}    calls  in all")
    for (name, module), count in functions.most_common(args.lines):
        often = calls[name, module] / per
        print(f"{count / per:9.1f} {often:8.2f}  {name}"
              f"{' [' + module + ']' if module else ''}")


if __name__ == "__main__":
    main()
