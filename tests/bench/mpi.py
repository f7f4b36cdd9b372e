#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Part mpi: via;ofi_rxm beside verbs;ofi_rxm (on VIA's verbs device) and
tcp;ofi_rxm, by fi_pingpong and by Open MPI, and beside Open MPI's own TCP,
between two machines; and the instructions of a message of 8 bytes in each
library, on this one."""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools/lab"))

from labkit.base import MPIRUN  # noqa: E402

RSH = os.path.join(ROOT, "tests/fabric/rsh")
SHELLS = "busybox nc -ll -p 5000 -e /bin/sh"
MIB = 1 << 20
# Networks of the part: NIC model, whether our own driver runs it (TCP runs on
# the stock one, beside), and how the table calls it.
NETS = (("e1000", False, "e1000"), ("virtio-net", False, "virtio-net"),
        ("e1000", True, "via_e1000"))
NICS = [model for model, *_ in NETS]
VIA, VERBS = "via;ofi_rxm", "verbs;ofi_rxm"
TCP, BTL = "tcp;ofi_rxm", "btl tcp"
# What libvia-fi.so itself may execute at an end for a message each way.
PATH_BAR = 1500


def environment(build, nic):
    return {"FI_PROVIDER_PATH": os.path.join(build, "fabric"),
            "VIPL_PROVIDERS": os.path.join(build, "providers"),
            "LD_LIBRARY_PATH": build, "FI_VIA_DEVICES": nic}


class Job:
    """Programs of libfabric and MPI on both nodes."""

    def __init__(self, lab, build):
        self.lab, self.build = lab, build
        self.failures = []

    def setup(self):
        for node in self.lab.nodes:
            self.lab.insmod(node)
            for net, (_, native, _) in enumerate(NETS):
                (self.lab.native if native else self.lab.attach)(
                    node, f"eth{net}")
            # One device is enough: the first net's.
            self.lab.verbs(node, "eth0")
            node.spawn(SHELLS)

    def fail(self, what, done):
        last = (done.all.strip().splitlines() or ["no output"])[-1]
        self.failures.append(f"{what}: {last}")
        print(f"# FAILED {self.failures[-1]}", flush=True)

    def env(self, net, transport):
        env = {"FI_TCP_IFACE": f"eth{net}"}
        if transport == VERBS:
            # Else ofi_rxm asks for completions of 256 peers.
            return {**env, "FI_VERBS_IFACE": f"eth{net}",
                    "FI_UNIVERSE_SIZE": "8"}
        return {**env, **environment(self.build, f"via_eth{net}")}

    def before(self, net, transport):
        return "env " + " ".join(
            f"{k}={v}" for k, v in self.env(net, transport).items())

    def pingpong(self, net, provider, size, rounds):
        """(half a round trip in us, Mb/s): averages, so long runs."""
        domain = "-d via0 " * (provider == VERBS)
        command = (f"{self.before(net, provider)} fi_pingpong -p '{provider}' "
                   f"{domain}-e rdm -S {size} -I {rounds}")
        node, server = self.lab.nodes
        job = server.spawn(command, 180)
        done = node.run(f"sleep 1; {command} 10.{net}.0.2", 180)
        if done.rc:
            job.kill()
        job.wait()
        words = (done.out.strip().splitlines() or [""])[-1].split()
        if done.rc or len(words) != 8:
            self.fail(f"fi_pingpong {provider}, {size}", done)
            return None
        return float(words[6]), float(words[5]) * 8

    def mpi(self, net, transport, size, rounds):
        """Half a round trip in us, the median."""
        if transport == BTL:
            flags = ("--mca pml ob1 --mca btl tcp,self "
                     f"--mca btl_tcp_if_include eth{net}")
        else:
            flags = ("--mca pml cm --mca mtl ofi "
                     f"--mca mtl_ofi_provider_include '{transport}'")
        done = self.lab.nodes[0].run(
            f"{self.before(net, transport)} {MPIRUN} --allow-run-as-root -n 2 "
            f"--host 10.{net}.0.1,10.{net}.0.2 --mca plm_rsh_agent {RSH} "
            f"--mca oob_tcp_if_include eth{net} {flags} "
            f"{' '.join('-x ' + k for k in self.env(net, transport))} "
            f"{self.build}/viampi time {size} {rounds}", 180)
        match = re.search(r"bytes, ([\d.]+) us", done.out)
        if not match:
            self.fail(f"MPI {transport}, {size}", done)
            return None
        return float(match.group(1))


def key(bench, path, nic, size, unit):
    return (("bench", bench), ("path", path), ("nic", nic), ("level", "-"),
            ("wait", "poll"), ("size", size), ("unit", unit))


def one_round(job, net, quick):
    """All contenders in turn: {key: value}."""
    _, native, nic = NETS[net]
    over = (VIA,) if native else (VIA, VERBS, TCP) if not net else (VIA, TCP)
    # Averages with some 200 ms of connecting in them.
    small, large = (2000, 20) if quick else (5000, 60)
    found = {}
    for provider in over:
        got = job.pingpong(net, provider, 64, small)
        if got:
            found[key("lat", provider, nic, 64, "ns")] = got[0] * 1000
        got = job.pingpong(net, provider, MIB, large)
        if got:
            found[key("bw", provider, nic, MIB, "mbps")] = got[1]
    for transport in over if native else over + (BTL,):
        for size, rounds in ((8, small), (64, small), (MIB, large)):
            got = job.mpi(net, transport, size, rounds)
            if got:
                found[key("mpi", transport, nic, size, "ns")] = got * 1000
    return found


def part_mpi(book, lab, build, quick):
    """Interleaved rounds over each NIC; returns the failures."""
    job = Job(lab, build)
    job.setup()
    lab.spread()
    rounds = []
    for number in range(1 if quick else 5):
        for net, (*_, nic) in enumerate(NETS):
            print(f"# round {number + 1}, {nic}", flush=True)
            rounds.append(one_round(job, net, quick))
    book.medians(rounds)
    for model, _, nic in NETS:
        for bench, size, others in (("lat", 64, (TCP,)),
                                    ("mpi", 64, (TCP, BTL)),
                                    ("mpi", MIB, (TCP, BTL))):
            for other in others:
                book.ratio(dict(bench=bench, size=size, path=other, nic=model),
                           dict(bench=bench, size=size, path=VIA, nic=nic))
            if nic == NETS[0][2]:
                book.ratio(dict(bench=bench, size=size, path=VERBS, nic=nic),
                           dict(bench=bench, size=size, path=VIA, nic=nic))
        book.ratio(dict(bench="bw", size=MIB, path=VIA, nic=nic),
                   dict(bench="bw", size=MIB, path=TCP, nic=model))
    return job.failures


def count(build):
    """Figures of bench_fab: (status, those, what it says)."""
    done = subprocess.run([os.path.join(build, "tests/bench/bench_fab")],
                          env={**os.environ, **environment(
                              build, f"shm:{1000 + os.getpid() % 9000}")},
                          text=True, timeout=290, capture_output=True)
    return done.returncode, [json.loads(line)
                             for line in done.stdout.splitlines()
                             if line.startswith("{")], done.stdout + done.stderr


def part_count(book, build):
    status, figures, text = count(build)
    if status:
        return [f"bench_fab: {text.strip()}"]
    for figure in figures:
        book.add(**figure, nic="local")
    return []


def main():
    """The bar of instructions alone, for make test."""
    build = os.path.join(ROOT, "build")
    if os.uname().machine != "x86_64":
        print("instructions are counted on x86_64 only")
        return 77
    status, figures, text = count(build)
    print(text.strip())
    if status:
        return status
    own = {f["path"]: f["value"] for f in figures}["mpi: libvia-fi"]
    print(f"libvia-fi.so, an end: {own:.1f} instructions, at most {PATH_BAR}")
    return own >= PATH_BAR


if __name__ == "__main__":
    sys.exit(main())
