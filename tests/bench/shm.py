#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Part shm: VIPL's provider shm beside libfabric's provider shm and UCX (posix,
cma), processes of this machine.  The same loops over each library (bench_shm,
bench_shmfab, bench_shmucx: shmloop.h), and UCX's own ucx_perftest.  All take
turns; a round in which anything else ran on the two processors is repeated."""

import collections
import itertools
import json
import os
import resource
import shutil
import statistics
import sys
import time

from local import Failed, Local, last_line, listening

NIC = "local"
VIA, FAB = "via shm", "libfabric shm"
LOOP, PERFTEST = "ucx", "ucx_perftest"
UCX = (LOOP, PERFTEST)
# By itself ofi_rxm sends up to 128 KiB in pieces, which both ends copy.
RXM, RDMA = "via;ofi_rxm", "via;ofi_rxm (SAR_LIMIT 16384)"
SIZES = (4096, 9000, 16384, 65536, 262144, 1048576)
ENV = {"UCX_TLS": "posix,cma",
       # Else it names each receive that is posted as the program ends.
       "UCX_LOG_LEVEL": "error"}

ROUNDS = 5
LOAD = 0.04     # of the two processors' time: more of it is a busy round
AGAIN = 5       # busy rounds of a measurement that are repeated at most
SECONDS = 150   # after which no more rounds begin
TICK = 1 / os.sysconf("SC_CLK_TCK")

# What is measured: kind of bench_shm, bytes, round trips or messages of each
# client, whether it is MPI's calls, and runs of a round, of which the median
# counts: two buffers of 1 MiB fill a cache, the better or worse by the pages
# that a process is given.  Some 0.1 s in all.
Measure = collections.namedtuple("Measure", "kind size count mpi runs",
                                 defaults=(False, 1))
MEASURES = (Measure("lat", 4, 100000), Measure("rate", 8, 600000),
            Measure("stream", 4096, 150000), Measure("stream", 9000, 80000),
            Measure("stream", 16384, 60000), Measure("stream", 65536, 25000),
            Measure("stream", 262144, 2000, runs=3),
            Measure("stream", 1048576, 500, runs=5),
            Measure("lat", 65536, 15000), Measure("fanin", 8, 30000),
            Measure("lat", 4, 50000, True),
            Measure("stream", 65536, 20000, True))


class Runner:
    """One contender at a time."""

    def __init__(self, build):
        self.local = Local(os.path.abspath(build))
        self.local.env.update(ENV)
        # A NIC of its own: others may measure on this machine.
        self.device = f"shm:{1000 + os.getpid() % 9000}"
        self.fabric = {**self.local.env, "FI_VIA_DEVICES": self.device,
                       "FI_PROVIDER_PATH": os.path.join(self.local.build,
                                                        "fabric"),
                       "LD_LIBRARY_PATH": self.local.build}
        self.rdma = {**self.fabric, "FI_OFI_RXM_SAR_LIMIT": "16384"}

    def program(self, name):
        return os.path.join(self.local.build, "tests/bench", name)

    def loop(self, name, where, env=None):
        def run(measure):
            # The server is on the first processor, the clients on the other.
            local = self.local
            command = [self.program(name), measure.kind, where,
                       str(measure.size), str(measure.count),
                       *map(str, local.cpus)]
            keep, local.env = local.env, env or local.env
            try:
                return json.loads(last_line(local.finish(
                    local.start(command, 0))))["value"]
            finally:
                local.env = keep
        return run

    def perftest(self, measure):
        """Messages that may be in flight are those of the loops."""
        local = self.local
        local.port += 1
        lat = measure.kind == "lat"
        command = ["ucx_perftest", "-p", str(local.port)]
        out = local.pair(command, [
            *command, "-t", "tag_lat" if lat else "tag_bw", "-f", "-v", "-s",
            str(measure.size), "-n", str(measure.count), "-w",
            str(measure.count // 10), "-O",
            "1" if lat else "32" if measure.size > 200 << 10 else "128",
            "localhost"], lambda: listening(local.port))
        words = last_line(out).split(",")
        if len(words) != 8:
            raise Failed(f"ucx_perftest: {last_line(out)}")
        if lat:
            return float(words[1]) * 1000
        rate = float(words[7])
        return rate if measure.kind == "rate" else rate * measure.size * 8e-6

    def contenders(self):
        """({its path: what runs it}, what cannot run here and why); of UCX no
        figure is needed."""
        found, without, missing = {}, [], []
        if self.local.plugin("shm"):
            found[VIA] = self.loop("bench_shm", self.device)
        else:
            missing.append("shm: its plug-in is not built")
        if os.path.exists(self.program("bench_shmfab")):
            found[FAB] = self.loop("bench_shmfab", "shm")
            found[RXM] = self.loop("bench_shmfab", RXM, self.fabric)
            found[RDMA] = self.loop("bench_shmfab", RXM, self.rdma)
        else:
            missing.append(f"{FAB}: apt-get install libfabric-dev, then make")
        if os.path.exists(self.program("bench_shmucx")):
            found[LOOP] = self.loop("bench_shmucx", LOOP)
        else:
            without.append(f"{LOOP}: apt-get install libucx-dev, then make")
        if shutil.which(PERFTEST):
            found[PERFTEST] = self.perftest
        else:
            without.append(f"{PERFTEST}: apt-get install ucx-utils")
        return found, without, missing


def takes_part(path, measure):
    """MPI's calls are libfabric's; ucx_perftest has two processes."""
    if measure.mpi:
        return path in (RXM, FAB) or \
            (path == RDMA and measure.size > 16384)
    return path not in (RXM, RDMA) and (path != PERFTEST or measure.kind != "fanin")


def busy(cpus):
    """Seconds that these processors were taken from idle programs or from this
    machine so far."""
    total = 0
    with open("/proc/stat") as file:
        for line in file:
            name, *ticks = line.split()
            if name[:3] == "cpu" and name[3:] in {str(c) for c in cpus}:
                user, nice, system, _, _, irq, soft, steal = \
                    map(int, ticks[:8])
                total += user + nice + system + irq + soft + steal
    return total * TICK


def own():
    """Seconds of the processor that this process and its children took."""
    return sum(sum(resource.getrusage(who)[:2]) for who in
               (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Load:
    """What share of the processors others had, while this one was in use."""

    def __init__(self, cpus):
        self.cpus, self.share = set(cpus), 0

    def __enter__(self):
        self.before = (time.monotonic(), busy(self.cpus), own())
        return self

    def __exit__(self, *_):
        now = (time.monotonic(), busy(self.cpus), own())
        wall, taken, ours = (b - a for a, b in zip(self.before, now))
        self.share = max(0, taken - ours) / (wall * len(self.cpus))


def pick(rounds, count):
    """Of [(load, values)] those that count: the quiet ones, and where they are
    too few the least busy of the others; and how many of the latter."""
    quiet = [values for load, values in rounds if load <= LOAD][:count]
    rest = sorted((r for r in rounds if r[0] > LOAD), key=lambda r: r[0])
    rest = [values for _, values in rest][:count - len(quiet)]
    return quiet + rest, len(rest)


def one_round(found, measure, failures):
    values = collections.defaultdict(list)
    for path, run in measure.runs * [*found.items()]:
        if not takes_part(path, measure):
            continue
        try:
            value = run(measure)
        except (Failed, ValueError) as error:
            failures.append(f"{measure.kind}, {measure.size} bytes, {path}: "
                            f"{error}")
            print(f"# FAILED {failures[-1]}", flush=True)
            continue
        values[path].append(value)
    return {path: statistics.median(some) for path, some in values.items()}


def run_rounds(runner, found, count, failures):
    """{measure: [(load, {path: value})]}."""
    rounds = {measure: [] for measure in MEASURES}
    end = time.monotonic() + SECONDS
    for number in range(count + AGAIN):
        wanted = [measure for measure, done in rounds.items() if not done or
                  (sum(load <= LOAD for load, _ in done) < count and
                   time.monotonic() < end)]
        if wanted:
            print(f"# round {number + 1}", flush=True)
        for measure in wanted:
            with Load(runner.local.cpus) as load:
                values = one_round(found, measure, failures)
            rounds[measure].append((load.share, values))
    return rounds


def add(book, measure, rounds):
    """Medians, and the ratios of VIA's to the others."""
    bench = ("mpi " if measure.mpi else "") + measure.kind
    unit = {"lat": "ns", "stream": "mbps"}.get(measure.kind, "per-second")
    paths = dict.fromkeys(path for values in rounds for path in values)
    for path in paths:
        book.add(bench=bench, path=path, nic=NIC, wait="poll",
                 level="rd" if path == VIA else "-", size=measure.size,
                 unit=unit, value=statistics.median(
                     v[path] for v in rounds if path in v))
    like = dict(bench=bench, nic=NIC, size=measure.size)
    for via, other in itertools.product(paths, paths):
        if via.startswith("via") and not other.startswith("via"):
            book.ratio(dict(path=via, **like), dict(path=other, **like))


def part_shm(book, build, quick):
    runner = Runner(build)
    found, without, failures = runner.contenders()
    if runner.local.alone:
        failures.append("two processors are needed: this process may use one")
    for line in [f"without {line}" for line in without] + \
            [f"FAILED {line}" for line in failures]:
        print(f"# {line}", flush=True)
    count = 2 if quick else ROUNDS
    rounds = run_rounds(runner, found, count, failures)
    thrown = loaded = 0
    for measure, done in rounds.items():
        taken, many = pick(done, count)
        add(book, measure, taken)
        thrown += len(done) - len(taken)
        loaded += many
    print(f"# shm: {thrown} rounds thrown away, in which others had more than "
          f"{LOAD:.0%} of the processors; {loaded} such ones count")
    return failures


def main():
    """Each loop over each library, few messages, for make test."""
    here = os.path.dirname(os.path.realpath(__file__))
    runner = Runner(os.path.join(here, "../../build"))
    found, without, failures = runner.contenders()
    for line in without + failures:
        print(f"without {line}")
    for measure in MEASURES:
        few = measure._replace(count=300, runs=1)
        values = one_round(found, few, failures)
        for path, value in values.items():
            if value <= 0:
                failures.append(path)
                print(f"{few}, {path}: {value}")
    print(f"{', '.join(found)}: {len(MEASURES)} loops, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
