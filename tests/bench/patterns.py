# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Patterns in which programs exchange messages, by via_patterns: VIA over
via_netdev and our own driver beside UDP, TCP and RC on rdma_rxe."""

import json

import exact
import wire
from labkit.base import LabError

TOOL = "tests/bench/via_patterns"
NIC = "tulip"
# Units of the figures of a run, and the fields of its JSON.
UNITS = {"p50-us": "p50", "p99-us": "p99", "max-us": "max",
         "over-1ms": "over_1ms"}
LOSS = dict(least=300, most=900, each=2, delay="50us")
NO_LOSS = dict(least=0, most=0, each=0, delay=0)


class Case:
    """A pattern with its options; a quarter of its rounds for --quick."""

    def __init__(self, label, rounds, options="", names=None):
        self.label, self.rounds, self.options = label, rounds, options
        # Contenders (path, level) that it says nothing of.
        self.not_for = names or ()
        self.pattern = label.split(",")[0]

    def command(self, quick):
        rounds = max(self.rounds // 4, 3) if quick else self.rounds
        return f"{TOOL} -P {self.pattern} -n {rounds} {self.options} --json"


UNRELIABLE = (("via", "unreliable"),)


def cases():
    yield Case("request", 500)
    for us, rounds in ((50, 500), (500, 300), (5000, 100)):
        yield Case(f"request, client {us} us", rounds, f"--think {us}")
        yield Case(f"request, server {us} us", rounds,
                   f"--think-server {us}")
    yield Case("idle", 10)
    for clients in (1, 2, 8):
        yield Case(f"turn, {clients}", 400, f"-c {clients}")
    yield Case("write", 300, names=UNRELIABLE)
    yield Case("write-send", 300, names=UNRELIABLE)
    yield Case("burst", 50)
    yield Case("fanout", 200)
    # A datagram that is lost is lost.
    yield Case("tail", 40, names=(*UNRELIABLE, ("udp", "-")))


class Contender:
    """One of those who run: its name in the book, and the options."""

    def __init__(self, path, level, options):
        self.path, self.level, self.options = path, level, options
        self.kind = (path if path in ("udp", "tcp", "rc") else "via", level)


def over_ip():
    return [Contender(p, "-", f"--proto {p}") for p in ("udp", "tcp")]


def over_via(path, options, levels=("rd", "unreliable")):
    return [Contender(path, level, f"{options} -l {level}")
            for level in levels]


def add(book, label, contender, wait, row, nic=NIC):
    for unit, field in UNITS.items():
        book.add(bench=label, path=contender.path, nic=nic,
                 level=contender.level, wait=wait, size=row["bytes"],
                 unit=unit, value=row[field])


# One guest that counts instructions

def run_case(runner, case, contender, wait, where):
    flag = "-e" if wait == "block" else ""
    for row in runner.run(f"{case.command(runner.quick)} {flag} "
                          f"{contender.options} --exact {where}".strip()):
        label = f"exact {case.label}"
        add(runner.book, label, contender, wait, row)
        if case.pattern == "both" and wait == "poll":
            # Nothing sleeps, so all of the time is instructions.
            runner.book.add(bench=label, path=contender.path, nic=NIC,
                            level=contender.level, wait=wait,
                            size=row["bytes"], unit="instructions",
                            value=row["mean"] * 1000)


def exact_via(runner, path):
    """A driver's share: one thread with both ends, and the rest blocking:
    with one CPU two programs that poll would measure the scheduler."""
    peer = f"{exact.PEER} 10.0.0.2"
    via = over_via(path, "-d via_eth0 --peer-dev via_eth1")
    for contender in via:
        run_case(runner, Case("both", 300), contender, "poll", peer)
    for case in cases():
        if case.pattern == "tail":
            continue  # no wire here that loses
        for contender in via:
            if contender.kind not in case.not_for:
                run_case(runner, case, contender, "block", peer)


def part_exact(runner):
    """via_lo, via_netdev and IP, then our own driver on the same cards."""
    peer = f"{exact.PEER} 10.0.0.2"
    for contender in over_via("via_lo", "-d via_lo"):
        run_case(runner, Case("both", 300), contender, "poll", "")
    exact_via(runner, "via_netdev")
    for contender in over_ip():
        run_case(runner, Case("both", 300), contender, "poll", peer)
        for case in cases():
            if case.pattern != "tail":
                run_case(runner, case, contender, "block", peer)
    runner.go_native()
    exact_via(runner, exact.NATIVE[NIC])


# Two machines

class Two(wire.Pair):
    """eth0 has the stock driver: via_netdev, IP, soft-RoCE; eth1 has ours.
    The server's options come from the client, so one server serves all."""

    def setup(self, quick):
        self.quick = quick
        for node in self.lab.nodes:
            self.lab.insmod(node)
            self.lab.attach(node, "eth0")
            node.sh(wire.RXE.format(nics="0"))
            self.lab.native(node, "eth1")
        self.begin()

    def begin(self):
        self.job = self.lab.nodes[1].spawn(f"{self.build}/{TOOL} --persist")

    def end(self):
        self.job.kill()
        self.job.wait()

    def row(self, case, contender, wait):
        """What a run found; None after a failure, which is noted."""
        flag = "-e" if wait == "block" else ""
        command = " ".join(f"{case.command(self.quick)} {contender.options} "
                           f"{flag} 10.0.0.2".split())
        try:
            done = self.lab.nodes[0].run(f"{self.build}/{command}", 120)
            if not done.rc:
                return json.loads(done.out)
            last = (done.all.strip().splitlines() or ["no output"])[-1]
        except LabError as error:
            last = str(error)
        self.failures.append(f"{command}: {last}")
        print(f"# FAILED {self.failures[-1]}", flush=True)
        # A server of datagrams may still wait for what no client sends.
        self.end()
        self.begin()
        return None


def one_round(pair, contenders, waits):
    found = {}
    for case in cases():
        losing = case.pattern == "tail"
        for wires in pair.lab.wires:
            wires.set(**(LOSS if losing else NO_LOSS))
        for wait in waits:
            for contender in contenders:
                if contender.kind in case.not_for:
                    continue
                row = pair.row(case, contender, wait)
                if not row:
                    continue
                for unit, field in UNITS.items():
                    found[wire.key(case.label, contender.path, NIC,
                                   contender.level, wait, row["bytes"],
                                   unit)] = row[field]
    for wires in pair.lab.wires:
        wires.set(**NO_LOSS)
    return found


def part_wire(book, lab, build, quick):
    """Medians of interleaved rounds; returns the failures."""
    pair = Two(lab, build)
    pair.setup(quick)
    contenders = [*over_via("via_netdev", "-d via_eth0"),
                  *over_via(exact.NATIVE[NIC], "-d via_eth1"),
                  *over_ip(), Contender("rc", "-", "--proto rc -d rxe0")]
    rounds = []
    for number in range(1 if quick else 3):
        print(f"# round {number + 1}", flush=True)
        # Polling burns the host CPUs that the emulated wire needs: once.
        poll = number == 0 and not quick
        rounds.append(one_round(pair, contenders,
                                ("block", "poll") if poll else ("block",)))
    pair.end()
    book.medians(rounds)
    return pair.failures


# What was found

def group(figure):
    return tuple(figure[k] for k in ("bench", "nic", "wait", "size"))


def note(mine, tcp, udp):
    """What of a row is worse than IP's of the same pattern."""
    found = []
    others = [o["p50-us"] for o in (tcp, udp) if o and o["p50-us"]]
    if others:
        found.append(f"{mine['p50-us'] / min(others):.2f} of IP's median")
    if tcp and mine["over-1ms"] > tcp["over-1ms"] + 0.01:
        found.append("a mode above 1 ms that TCP does not have")
    return ", ".join(found)


def groups_of(book):
    """{group: {(path, level): {unit: value}}}"""
    groups = {}
    for figure in book.figures:
        if figure["unit"] in UNITS:
            rows = groups.setdefault(group(figure), {})
            who = (figure["path"], figure["level"])
            rows.setdefault(who, {})[figure["unit"]] = figure["value"]
    return groups


def compare(book):
    """Add the median of Reliable Delivery over the better one of IP's."""
    for (bench, nic, wait, size), rows in groups_of(book).items():
        others = [rows[w]["p50-us"] for w in (("tcp", "-"), ("udp", "-"))
                  if w in rows and rows[w]["p50-us"]]
        for path in ("via_netdev", exact.NATIVE[NIC]):
            mine = rows.get((path, "rd"))
            if mine and others:
                book.add(bench=bench, path=f"{path}/ip", nic=nic, level="rd",
                         wait=wait, size=size, unit="ratio",
                         value=mine["p50-us"] / min(others))


def compared():
    """(bench, path) of what compare() adds, blocking."""
    for case in cases():
        for path in ("via_netdev", exact.NATIVE[NIC]):
            yield case.label, f"{path}/ip"
            if case.pattern != "tail":
                yield f"exact {case.label}", f"{path}/ip"


def print_table(book):
    """A row for each contender of a pattern; nothing without patterns."""
    groups = groups_of(book)
    if not groups:
        return
    print(f"{'pattern':32}{'path':12}{'level':12}{'wait':6}{'bytes':>6}"
          + "".join(f"{u:>12}" for u in UNITS))
    for (bench, _, wait, size), rows in groups.items():
        for (path, level), row in rows.items():
            text = "" if path in ("udp", "tcp", "rc") else note(
                row, rows.get(("tcp", "-")), rows.get(("udp", "-")))
            values = "".join(
                f"{row[u]:12.1%}" if u == "over-1ms" else f"{row[u]:12,.1f}"
                for u in UNITS)
            print(f"{bench:32}{path:12}{level:12}{wait:6}{size:6}{values}  "
                  f"{text}".rstrip())
    print()
