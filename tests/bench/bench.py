#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""make bench: measure in the lab, write BUILD/bench.jsonl, print the table.

Parts: exact  instructions over the NIC, beside UDP and TCP (tulip, i82559er)
       udp    instructions in UDP/IP, by via_udp (tulip)
       lo     instructions over via_lo, beside a UNIX-domain socket pair
       micro  single calls and memory
       peers  bulk over links that segment and join for TCP (e1000, veth)
              and over one that does not (tulip): VIA, VIA in UDP/IP, TCP
       objects  a VI's making, connection, end and memory; connections of
              100 processes at once; a page's registration, by the kind of page;
              a message on each of 1,000 VIs
       hostile  instructions of each kind of hostile frame
       keys   latency and bulk with authenticators, with checksums, without
       native through our own drivers, on each NIC model, beside the
              stock ones: instructions, and bandwidth between two machines
       wire   two machines: VIA, UDP, TCP and rdma_rxe, interleaved rounds
       sizes  by size, 4 bytes to 64 KiB: instructions of a message, latency
              and bandwidth between two machines; for make plots
       providers  shm and ofi:tcp on this machine itself, beside UNIX-domain
              socket pairs, pipes, TCP and fi_pingpong; wants two idle
              processors
       lines  cache lines that move between processors, per message: four pairs of
              VIs on a processor each, over veth
       dsm    programs over memory that two machines share: instructions of the
              busier one, beside one machine and beside a page server of sockets
       shm    shm on this machine itself beside libfabric's provider shm and
              UCX (posix, cma): latency, rates, streams, 8 processes to one,
              and MPI's calls by via;ofi_rxm; wants two idle processors
       patterns  how programs exchange messages (think time, clients in turn,
              one thread with both ends, RDMA Write, bursts, a lost last
              frame): VIA beside UDP, TCP and RC on rdma_rxe, tulip
       verbs  programs of RDMA verbs by the stock libraries: via_rdma beside
              rdma_rxe, instructions (e1000, tulip)
       nvme, nfs, iscsi  a disk or file of another machine by NVMe over
              fabrics, NFS 4.2 or iSCSI: via_rdma beside TCP, instructions
              (e1000, nvme also tulip)
       mpi    fi_pingpong and Open MPI over via;ofi_rxm between two machines,
              beside verbs;ofi_rxm, tcp;ofi_rxm and Open MPI's TCP;
              instructions of 8 bytes
Each part ends with what of its instructions is better and worse than in the
last run that was recorded (--record).
Ends with status 1 when something could not be measured or a bar is missed.
"""

import argparse
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools/lab")]

import disks  # noqa: E402
import exact  # noqa: E402
import figures  # noqa: E402
import lines  # noqa: E402
import mpi  # noqa: E402
import patterns  # noqa: E402
import peers  # noqa: E402
import providers  # noqa: E402
import record  # noqa: E402
import shared  # noqa: E402
import shm  # noqa: E402
import sizes  # noqa: E402
import verbs  # noqa: E402
import wire  # noqa: E402
from lab import Lab, LabError  # noqa: E402
from labkit import kernels  # noqa: E402

PARTS = ("exact", "udp", "peers", "lo", "micro", "objects", "hostile", "keys",
         "native", "wire", "sizes", "lines", "dsm", "providers", "shm", "patterns",
         "verbs", *disks.PARTS, "mpi")
EXACT_PARTS = {"exact": exact.part_exact, "lo": exact.part_lo,
               "micro": exact.part_micro, "hostile": exact.part_hostile, "keys": exact.part_keys,
               "native": exact.part_native, "udp": exact.part_udp,
               "peers": peers.part_peers, "objects": exact.part_objects}
COUNTED = {*EXACT_PARTS, "sizes", "patterns", "verbs", *disks.PARTS}
LOCAL = {"providers", "shm"}     # they need no guest
WIRE_NICS = ["e1000", "virtio-net"]


def build(args, parts):
    """Modules for the lab's kernel where that runs, and programs, where not
    up to date."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    command = ["make", "-s", "-C", ROOT,
               f"B={os.path.relpath(args.build, ROOT)}"]
    if LOCAL.issuperset(parts):
        command += ["local", "bench-shm"]
    else:
        modules = kernels.kernel(args.kernel).make("-s", command[-1],
                                                   "modules")
        if subprocess.run(modules, env=env, stdout=sys.stderr).returncode:
            sys.exit("bench: the build failed")
        command += ["tools", "bench-programs"] if args.counted else ["user"]
    if subprocess.run(command, env=env, stdout=sys.stderr).returncode:
        sys.exit("bench: the build failed")


def about(args, parts):
    """What the record says of the run."""
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always",
                           "--dirty"], check=False, text=True,
                          capture_output=True)
    return dict(date=time.strftime("%Y-%m-%d"),
                commit=done.stdout.strip() or "none",
                kernel=args.kernel if LOCAL.issuperset(parts) else
                kernels.kernel(args.kernel).release,
                machine=exact.machine(args), quick=args.quick)


def run_exact(book, nic, parts, args):
    print(f"# exact mode, {nic}: {', '.join(parts)}", flush=True)
    failures = []
    try:
        with exact.guest(args, nic) as lab:
            runner = exact.Exact(book, lab, args.build, nic, args.quick)
            failures = runner.failures
            runner.setup()
            for part in parts:
                EXACT_PARTS[part](runner)
                book.ends(f"{part}, {nic}")
    except LabError as error:
        failures.append(f"{nic}: {error}")
        print(f"# FAILED {failures[-1]}", flush=True)
    return failures


def run_wire(book, args):
    print(f"# two machines: {', '.join(WIRE_NICS)}", flush=True)
    try:
        with Lab(nodes=2, nics=WIRE_NICS, kernel=args.kernel) as lab:
            return wire.part_wire(book, lab, args.build, WIRE_NICS,
                                  args.quick)
    except LabError as error:
        print(f"# FAILED two machines: {error}", flush=True)
        return [f"two machines: {error}"]


def run_sizes(book, args):
    """One guest that counts instructions, then two machines."""
    print(f"# sizes, exact mode, {sizes.EXACT_NIC}", flush=True)
    failures = []
    try:
        with exact.guest(args, sizes.EXACT_NIC) as lab:
            runner = exact.Exact(book, lab, args.build, sizes.EXACT_NIC,
                                 args.quick)
            failures = runner.failures
            runner.setup()
            sizes.part_exact(runner)
        if args.counted:
            return failures
        print(f"# sizes, two machines, {sizes.NIC}", flush=True)
        with Lab(nodes=2, nics=[sizes.NIC], kernel=args.kernel) as lab:
            failures += sizes.part_wire(book, lab, args.build, args.quick)
    except LabError as error:
        failures.append(f"sizes: {error}")
        print(f"# FAILED {failures[-1]}", flush=True)
    return failures


def run_mpi(book, args):
    print(f"# MPI, two machines: {', '.join(mpi.NICS)}", flush=True)
    failures = mpi.part_count(book, args.build)
    if subprocess.run([os.path.join(ROOT, "tools/lab/setup.sh"), "mpi"],
                      check=False).returncode:
        return failures + ["Open MPI: tools/lab/setup.sh mpi"]
    subprocess.run(["make", "-s", "-C", ROOT, "viampi",
                    f"B={os.path.relpath(args.build, ROOT)}"], check=True)
    try:
        with Lab(nodes=2, nics=mpi.NICS, kernel=args.kernel,
                 mem=1024) as lab:
            failures += mpi.part_mpi(book, lab, args.build, args.quick)
    except LabError as error:
        failures.append(f"MPI: {error}")
        print(f"# FAILED {failures[-1]}", flush=True)
    return failures


def run_native(book, nic, args):
    print(f"# two machines: {nic} with its stock driver, and with ours",
          flush=True)
    try:
        with Lab(nodes=2, nics=[nic] * 2, kernel=args.kernel) as lab:
            return wire.part_native(book, lab, args.build, nic,
                                    exact.NATIVE[nic], args.quick)
    except LabError as error:
        print(f"# FAILED native {nic}: {error}", flush=True)
        return [f"native {nic}: {error}"]


def run_patterns(book, args):
    """One guest that counts instructions, then two machines."""
    nic, failures = patterns.NIC, []
    print(f"# patterns, exact mode, {nic}", flush=True)
    try:
        with exact.guest(args, nic) as lab:
            runner = exact.Exact(book, lab, args.build, nic, args.quick)
            failures = runner.failures
            runner.setup()
            patterns.part_exact(runner)
        if args.counted:
            patterns.compare(book)
            return failures
        print(f"# patterns, two machines, {nic}", flush=True)
        with Lab(nodes=2, nics=[nic] * 2, kernel=args.kernel) as lab:
            failures += patterns.part_wire(book, lab, args.build, args.quick)
        patterns.compare(book)
    except LabError as error:
        failures.append(f"patterns: {error}")
        print(f"# FAILED {failures[-1]}", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="fewer messages and rounds, tulip only")
    parser.add_argument("--no-bars", action="store_true",
                        help="missed bars are no failure, missing figures are")
    parser.add_argument("--only", action="append", choices=PARTS,
                        help="this part (again for more)")
    parser.add_argument("--nic", choices=exact.NATIVE,
                        help="part native: with this NIC only")
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--erms", action="store_true",
                        help="exact mode: the guest's processor keeps ERMS and "
                        "FSRM; its kernel then copies by `rep movsb`, which "
                        "counts one instruction a byte")
    parser.add_argument("--counted", action="store_true",
                        help="what is counted in exact mode, which is the same "
                        "on any host: neither the other parts nor what parts "
                        "native, sizes and patterns time between two machines")
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--record", action="store_true",
                        help="what was counted is the last recorded run from "
                        "now on (tests/bench/recorded.jsonl)")
    args = parser.parse_args()
    if args.record and (args.quick or args.erms):
        parser.error("--record is for a run without --quick and --erms")
    parts = [p for p in PARTS if p in (args.only or PARTS) and
             (not args.counted or p in COUNTED)]
    if not parts:
        parser.error(f"nothing is counted in {', '.join(args.only)}")
    args.build = os.path.abspath(args.build)
    os.makedirs(args.build, exist_ok=True)
    build(args, parts)
    path = os.path.join(args.build, "bench.jsonl")
    book = figures.Book(path, **about(args, parts))

    failures = []
    exact_parts = [p for p in parts if p in EXACT_PARTS and
                   not (p == "native" and args.nic)]
    have_run = {"tulip"} if "native" in exact_parts else set()
    if exact_parts:
        failures += run_exact(book, "tulip", exact_parts, args)
    if "exact" in parts and not args.quick:
        failures += run_exact(book, "i82559er", ["exact"], args)
    if "peers" in parts:
        failures += run_exact(book, "e1000", ["peers"], args)
    if "native" in parts:
        for nic in [args.nic] if args.nic else exact.NATIVE:
            if nic in exact.NATIVE_EXACT and nic not in have_run:
                failures += run_exact(book, nic, ["native"], args)
            if not args.counted:
                failures += run_native(book, nic, args)
    if "wire" in parts:
        failures += run_wire(book, args)
    if "sizes" in parts:
        failures += run_sizes(book, args)
        book.ends("sizes")
    if "lines" in parts:
        failures += lines.part_lines(book, args)
    if "dsm" in parts:
        failures += shared.part_dsm(book, args)
    if "providers" in parts:
        failures += providers.part_providers(book, args.build, args.quick)
        book.ends("providers")
    if "shm" in parts:
        failures += shm.part_shm(book, args.build, args.quick)
        book.ends("shm")
    if "verbs" in parts:
        failures += verbs.part_verbs(book, args)
        book.ends("verbs")
    for part in disks.PARTS:
        if part in parts:
            failures += disks.part_disks(book, args, part)
            book.ends(part)
    if "mpi" in parts:
        failures += run_mpi(book, args)
        book.ends("mpi")
    if "patterns" in parts:
        failures += run_patterns(book, args)
        book.ends("patterns")

    print()
    missed, absent = figures.print_table(book, parts, args.counted, args.nic)
    for line in failures:
        print(f"FAILED {line}")
    if args.record and not failures:
        record.save(book.figures, book.run)
        print(f"bench: recorded in {record.PATH}")
    print(f"bench: {len(book.figures)} figures in {path}, {missed} bars "
          f"missed, {len(failures)} failures")
    return 1 if failures or (absent if args.no_bars else missed) else 0


if __name__ == "__main__":
    sys.exit(main())
