# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A wire that is the bottleneck: shares, losses, and more senders than fit.

The wires here are much slower than the machines, and judged by ratios within
one run, again with a slower wire where they are not as they should be: where
other work of the host takes the processors away, the wire is not the
bottleneck.  Where none is slow enough nothing can be said; that is a step
which is skipped, with its reason.
"""

import json

from common import TOOLS, mac
from runner import Skipped, StepFailed

QUEUE = 64
RATE = 16  # Mb/s: small, since the host may have other work
SLOW_RATE = 8  # for long round trips on a loaded host
PORT_RATE = 40  # Mb/s: of a port to which nine machines are connected
DEPTH = 4  # messages in flight, so that little is left to drain at the end
OFF = dict(rate=0, queue=0, loss=0)


class Flow:
    """vipl_bw from one node to another, or iperf3; goodput in Mb/s."""

    def __init__(self, session, server, client, to, start):
        self.session = session
        self.jobs = [session.lab.nodes[to].spawn(server, 150)]
        self.client = (client, start)

    def start(self):
        client, node = self.client
        self.jobs.append(self.session.lab.nodes[node].spawn(client, 150))
        return self

    def end(self):
        """Wait for both ends; the goodput."""
        result = self.jobs[1].wait()
        rate = self.goodput(result.out)
        # Its last words may get lost on the wire, and it is alone then.
        if rate is None:
            raise StepFailed(f"'{result.command}' ended with status "
                             f"{result.rc}: {result.all.strip()[-200:]}")
        self.jobs[0].wait()
        return rate

    def kill(self):
        for job in self.jobs:
            job.kill()
            job.wait(30)
            self.session.write_job(job)


class Via(Flow):
    """VIA, Reliable Delivery unless told otherwise."""

    def __init__(self, session, net, seconds, start=0, to=1, port=18516,
                 size=65536, level="rd"):
        bw = f"{TOOLS}/vipl_bw -d via_eth{net} -e -p {port}"
        # As many bytes in flight, whatever the size.
        depth = min(DEPTH * 65536 // size, 128)
        super().__init__(session, bw, f"{bw} -s {size} -l {level} -t {depth} "
                         f"-D {seconds} --json - {mac(net, to)}", to, start)

    @staticmethod
    def goodput(text):
        lines = [x for x in text.splitlines() if x.startswith("{")]
        return json.loads(lines[0])["bw_average_mbps"] if lines else None


class Tcp(Flow):
    def __init__(self, session, net, seconds, start=0, to=1):
        super().__init__(session, "iperf3 -s -1 --forceflush",
                         f"iperf3 -c 10.{net}.0.{to + 1} -t {seconds} -J",
                         to, start)
        self.jobs[0].expect("listening")

    @staticmethod
    def goodput(text):
        end = json.loads(text)["end"] if text.startswith("{") else {}
        if "sum_received" not in end:
            return None
        return end["sum_received"]["bits_per_second"] / 1e6


def together(*flows):
    """Run flows at the same time; the goodput of each."""
    try:
        for flow in flows:
            flow.start()
        return [flow.end() for flow in flows]
    except BaseException:
        for flow in flows:
            flow.kill()
        raise


class Free(Exception):
    """It was not the wire that limited them."""


def busy(total, rate=RATE):
    if total < 0.6 * rate:
        raise Free(f"{total:.1f} of {rate} Mb/s were used: it is not "
                   "the wire that limits here")


SLOWER = (1, 1, 2, 2, 4)  # the wires of the attempts


def limited(session, measure, rate):
    """measure(rate) tells what is amiss on a wire of that rate, or None; one
    attempt in which all is well is enough, and a failure takes three."""
    told, free = [], None
    for slower in SLOWER:
        try:
            why = measure(rate / slower)
        except Free as error:
            free = error
            session.check.write(str(error))
            continue
        if not why:
            return
        session.check.write(why)
        told.append(why)
    if len(told) < 3:
        raise Skipped(f"the host is too busy: {free}")
    raise StepFailed(f"{len(told)} times of {len(told)}: {told[-1]}")


def show(what, rates):
    return f"{what}: {' '.join(f'{r:.2f}' for r in rates)} Mb/s"


# VIs, and seconds in which their shares even out.
SHARING = ((1, 24), (4, 12))


def sharing(session, net, cases=SHARING):
    """TCP and VIA on one slow wire: neither has less than a third."""
    wire = session.lab.wire(net)

    def shares(count, seconds, rate):
        wire.set(rate=f"{rate:g}M", queue=QUEUE)
        flows = [Tcp(session, net, seconds)] + [
            Via(session, net, seconds, port=18516 + i)
            for i in range(count)]
        tcp, *via = together(*flows)
        session.check.write(show(f"{rate:g} Mb/s, TCP", [tcp]))
        session.check.write(show("VIA", via))
        total = tcp + sum(via)
        busy(total, rate)
        return f"{count} VIs have {sum(via):.1f} Mb/s, TCP {tcp:.1f}: one " \
            "has less than a third" if not 1 / 3 <= tcp / total <= 2 / 3 \
            else None

    try:
        for count, seconds in cases:
            limited(session, lambda rate, c=count, s=seconds:
                    shares(c, s, rate), RATE)
    finally:
        wire.set(**OFF)


CASES = (("rd", 65536), ("rr", 4096), ("rd", 4096), ("rr", 65536))


def lossy(session, net, cases, seconds=3):
    """Goodput while one frame of a hundred is lost: 70 % of that without.
    What else the host does only lowers both: the better of two runs counts."""
    wire = session.lab.wire(net)

    def compare(level, size, rate):
        rates, lost = {0: [], 0.01: []}, {0: 0, 0.01: 0}
        wire.set(rate=f"{rate:g}M", queue=QUEUE, seed=5)
        for loss in (0, 0.01, 0, 0.01):
            before = wire.stats()["lost"]
            wire.set(loss=loss)
            rates[loss] += together(Via(session, net, seconds, size=size,
                                        level=level))
            lost[loss] += wire.stats()["lost"] - before
        session.check.write(show(f"{rate:g} Mb/s, {level} {size}", rates[0]))
        session.check.write(show("with 1 % loss", rates[0.01]))
        session.check.write(f"frames lost: {lost}")
        good, bad = max(rates[0]), max(rates[0.01])
        busy(good, rate)
        if lost[0]:
            raise StepFailed(f"the wire lost {lost} frames")
        if lost[0.01] < 5:
            raise Free(f"the wire lost {lost} frames")
        return f"{level}, {size} bytes: {good:.1f} Mb/s, {bad:.1f} where " \
            "1 % is lost" if bad < 0.7 * good else None

    try:
        for level, size in cases:
            limited(session, lambda rate, v=level, s=size:
                    compare(v, s, rate), SLOW_RATE)
    finally:
        wire.set(**OFF)


def overload(session, net, seconds=16):
    """All nodes send to the first one, through a port with a short queue."""
    wire = session.lab.wire(net)
    senders = range(1, len(session.lab.nodes))

    def crowded(rate):
        wire.set(rate=f"{rate:g}M", queue=QUEUE)
        alone = together(Via(session, net, seconds // 2, start=1, to=0))[0]
        busy(alone, rate)
        before = wire.stats()["queue_drops"]
        rates = together(*(Via(session, net, seconds, start=i, to=0,
                               port=18516 + i) for i in senders))
        drops = wire.stats()["queue_drops"] - before
        session.check.write(show(f"{rate:g} Mb/s, alone", [alone]))
        session.check.write(show("together", rates) + f", {drops} drops")
        if not drops:
            raise Free("the queue has dropped nothing: no overload")
        if sum(rates) < 0.8 * alone:
            return f"{len(rates)} senders: {sum(rates):.1f} Mb/s, one: " \
                f"{alone:.1f}"
        return f"shares from {min(rates):.2f} to {max(rates):.2f} Mb/s" \
            if max(rates) > 2 * min(rates) else None

    try:
        limited(session, crowded, PORT_RATE)
    finally:
        wire.set(**OFF)
