# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A wire that is the bottleneck: shares, losses, and more senders than fit.

The wires here are much slower than the machines, and judged by ratios within
one run, again with a slower wire where they are not as they should be: where
other work of the host takes the processors away, the wire is not the
bottleneck.  Where none is slow enough nothing can be said; that is a step
which is skipped, with its reason.
"""

import contextlib
import json
import typing

from common import TOOLS, counters, jobs, mac, serving
from runner import Skipped, StepFailed

QUEUE = 64
RATE = 16  # Mb/s: small, since the host may have other work
SLOW_RATE = 8  # for long round trips on a loaded host
PORT_RATE = 40  # Mb/s: of a port to which nine machines are connected
DEPTH = 4  # messages in flight, so that little is left to drain at the end


class Flow(typing.NamedTuple):
    """A transfer from one node to another; what its client says is given to
    goodput(): Mb/s, or None."""

    server: str
    client: str
    start: int
    to: int
    ready: str
    goodput: typing.Callable


def bw_goodput(text):
    lines = [x for x in text.splitlines() if x.startswith("{")]
    return json.loads(lines[0])["bw_average_mbps"] if lines else None


def via(net, seconds, start=0, to=1, port=18516, size=65536, level="rd"):
    """vipl_bw, with as many bytes in flight whatever the size."""
    bw = f"{TOOLS}/vipl_bw -d via_eth{net} -e -p {port}"
    depth = min(DEPTH * 65536 // size, 128)
    return Flow(bw, f"{bw} -s {size} -l {level} -t {depth} -D {seconds} "
                f"--json - {mac(net, to)}", start, to, "", bw_goodput)


def iperf_goodput(text):
    end = json.loads(text)["end"] if text.startswith("{") else {}
    if "sum_received" not in end:
        return None
    return end["sum_received"]["bits_per_second"] / 1e6


def tcp(net, seconds):
    return Flow("iperf3 -s -1 --forceflush",
                f"iperf3 -c 10.{net}.0.2 -t {seconds} -J", 0, 1, "listening",
                iperf_goodput)


def together(session, *flows):
    """Run flows at the same time, to both their ends; the goodput of each."""
    nodes, rates = session.lab.nodes, []
    with jobs(session) as made:
        for flow in flows:
            made.append(nodes[flow.to].spawn(flow.server, 150))
            if flow.ready:
                made[-1].expect(flow.ready)
        made += [nodes[flow.start].spawn(flow.client, 150) for flow in flows]
        for flow, client in zip(flows, made[len(flows):]):
            result = client.wait()
            rates.append(flow.goodput(result.out))
            # Its last words may get lost on the wire, and it is alone then.
            if rates[-1] is None:
                raise StepFailed(f"'{result.command}' ended with status "
                                 f"{result.rc}: {result.all.strip()[-200:]}")
        for server in made[:len(flows)]:
            server.wait()
    return rates


class Free(Exception):
    """It was not the wire that limited them."""


def busy(total, rate=RATE):
    if total < 0.6 * rate:
        raise Free(f"{total:.1f} of {rate} Mb/s were used: it is not "
                   "the wire that limits here")


SLOWER = (1, 1, 2, 2, 4)  # the wires of the attempts


def limited(session, net, measure, rate):
    """measure(rate) tells what is amiss on a wire of that rate, or None; one
    attempt in which all is well is enough, and a failure takes three."""
    told, free = [], None
    for slower in SLOWER:
        try:
            with session.bad_wire(net, rate=f"{rate / slower:g}M",
                                  queue=QUEUE):
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
    def shares(count, seconds, rate):
        by_tcp, *by_via = together(session, tcp(net, seconds), *(
            via(net, seconds, port=18516 + i) for i in range(count)))
        session.check.write(show(f"{rate:g} Mb/s, TCP", [by_tcp]))
        session.check.write(show("VIA", by_via))
        total = by_tcp + sum(by_via)
        busy(total, rate)
        return f"{count} VIs have {sum(by_via):.1f} Mb/s, TCP {by_tcp:.1f}: " \
            "one has less than a third" \
            if not 1 / 3 <= by_tcp / total <= 2 / 3 else None

    for count, seconds in cases:
        limited(session, net, lambda rate, c=count, s=seconds:
                shares(c, s, rate), RATE)


CASES = (("rd", 65536), ("rr", 4096), ("rd", 4096), ("rr", 65536))


def lossy(session, net, cases, seconds=3):
    """Goodput while one frame of a hundred is lost: 70 % of that without.
    What else the host does only lowers both: the better of two runs counts."""
    wire = session.lab.wire(net)

    def compare(level, size, rate):
        rates, lost = {0: [], 0.01: []}, {0: 0, 0.01: 0}
        wire.set(seed=5)
        for loss in (0, 0.01, 0, 0.01):
            before = wire.stats()["lost"]
            wire.set(loss=loss)
            rates[loss] += together(session, via(net, seconds, size=size,
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

    for level, size in cases:
        limited(session, net, lambda rate, v=level, s=size:
                compare(v, s, rate), SLOW_RATE)


@contextlib.contextmanager
def byte_limit(session, net, limit):
    """BQL of the first node's queue: so many bytes at most."""
    node = session.lab.nodes[0]
    path = f"/sys/class/net/eth{net}/queues/tx-0/byte_queue_limits"
    before = node.sh(f"cat {path}/limit_max").out.strip()
    node.sh(f"echo {limit} >{path}/limit_max")
    try:
        yield path
    finally:
        node.sh(f"echo {before} >{path}/limit_max")


LIMIT = 4 * 1514
# As often as one shell can: the most bytes that the driver had.  The file shows
# the difference of two counters that move meanwhile: less than 0 is huge there.
PEAK = ("m=0; for i in $(seq 20000); do read n <{path}/inflight; "
        "test $n -gt $m -a $n -lt 2147483648 && m=$n; done; echo peak: $m")


def stopped(session, net, seconds=5):
    """Where BQL stops the queue VIA enters the queueing discipline: the driver
    has no more than the limit, no frame overtakes another, and neither TCP nor
    VIA starves."""
    one, two = session.lab.nodes[:2]

    def queued():
        return counters(session, one, net)["wire_tx_queued"]

    def late():
        return counters(session, two, net)["drop_old"]

    with byte_limit(session, net, LIMIT) as path:
        before, lost = queued(), late()
        look = one.spawn(PEAK.format(path=path), 150)
        rate, = together(session, via(net, seconds, level="unreliable"))
        peak = int(look.wait().out.split()[1])
        session.check.write(show("Unreliable alone", [rate]) +
                            f", at most {peak} bytes with the driver")
        if queued() - before < 100:
            raise StepFailed("few frames have entered the discipline")
        if late() != lost:
            raise StepFailed("frames have overtaken others")
        # One frame may begin where the limit is not reached yet.
        if peak > LIMIT + 2 * 1514:
            raise StepFailed(f"{peak} bytes with the driver, not {LIMIT}")
        before = queued()
        rates = together(session, tcp(net, seconds), via(net, seconds))
        session.check.write(show("TCP and VIA", rates))
        if queued() - before < 100:
            raise StepFailed("few frames have entered the discipline")
        if min(rates) < sum(rates) / 10:
            raise StepFailed(f"one starves: {rates}")
        # With frames in the discipline.
        together(session, *(via(net, 2, port=18516 + i) for i in range(4)))
    # Empty again: past the discipline.
    before = queued()
    with serving(session, f"{TOOLS}/viaping -l -d via_eth{net}"):
        one.sh(f"{TOOLS}/viaping -c 20 -i 0.01 -d via_eth{net} {mac(net, 1)}")
    if queued() > before + 10:
        raise StepFailed("frames still enter the discipline")


def overload(session, net, seconds=16):
    """All nodes send to the first one, through a port with a short queue."""
    wire = session.lab.wire(net)
    senders = range(1, len(session.lab.nodes))

    def crowded(rate):
        alone, = together(session, via(net, seconds // 2, start=1, to=0))
        busy(alone, rate)
        before = wire.stats()["queue_drops"]
        rates = together(session, *(via(net, seconds, start=i, to=0,
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

    limited(session, net, crowded, PORT_RATE)
