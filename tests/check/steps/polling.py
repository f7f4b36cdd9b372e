# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs that spin take a native NIC's frames themselves."""

import contextlib
import re
import statistics
import time

import native
from again import again
from balance import unpinned
from common import TOOLS, counters, flowing, jobs, peer, serving
from conform import conform_wire
from runner import StepFailed
from session import BIND

LAT = f"{TOOLS}/vipl_lat -d via_eth0"
MODE = "/sys/module/via_native/parameters/polling"


def polled(session, node):
    """Frames that programs have taken out of the ring."""
    return counters(session, node, 0)["wire_rx_polled"]


ROUNDS = 500


def round_trips(session):
    """A ping-pong of two programs that spin: hardly an interrupt.

    A virtual CPU that its host does not run for a while looks like a program
    that does not spin any more: the least interrupts of a few runs count, and
    the frames of all."""
    nodes, frames = session.lab.nodes, [0, 0]

    def once():
        before = [(native.interrupts(n), polled(session, n)) for n in nodes]
        with serving(session, LAT, ends=True):
            session.run(nodes[0], f"{LAT} -n {ROUNDS} {peer(0)}", 120)
        seen = [(native.interrupts(n) - irqs, polled(session, n) - frames)
                for n, (irqs, frames) in zip(nodes, before)]
        for i, (_, more) in enumerate(seen):
            frames[i] += more
        why = f"{ROUNDS} messages: (interrupts, polled frames) of both: {seen}"
        session.check.write(why)
        # Some come while NAPI's own poll runs, which slow kernels do for long.
        return why if any(irqs > ROUNDS / 16 for irqs, _ in seen) or \
            min(frames) < ROUNDS / 10 else None

    again(session, once, 12)


def round_trip(session, what):
    """What a ping takes, in ms.  Between two of them is time enough that a
    frame that is not looked for would be late."""
    out = session.run(session.lab.nodes[0],
                      "busybox ping -c 15 -i 0.2 -W 20 10.0.0.2").out
    times = [float(t) for t in re.findall(r"time=([\d.]+) ms", out)]
    if len(times) < 15:
        raise StepFailed(f"{what}: of 15 pings {len(times)} came back")
    typical = statistics.median(times)
    session.check.write(f"{what}: pings take {typical} ms")
    return typical


def pings(session, what, most_ms):
    """Some go round, in about that time; else what they take."""
    typical = round_trip(session, what)
    return f"{what}: pings take {typical} ms, not {most_ms}" \
        if typical > most_ms else None


@contextlib.contextmanager
def spinning(session):
    """A ping-pong of programs that spin."""
    one, two = session.lab.nodes
    with jobs(session, two.spawn(LAT, 200), one.spawn(
            f"{LAT} -D 100 {peer(0)}", 200)) as (_, client):
        flowing(session, 0, client)
        yield


def by_interrupts(session):
    """What a ping takes beside such programs without polling mode: virtual
    CPUs wait for each other where their host has fewer."""
    nodes = session.lab.nodes
    for node in nodes:
        node.sh(f"echo 0 >{MODE}")
    try:
        with spinning(session):
            before = [polled(session, node) for node in nodes]
            typical = round_trip(session, "by interrupts")
            if [polled(session, node) for node in nodes] != before:
                raise StepFailed("polling=0 does not end polling")
            return typical
    finally:
        for node in nodes:
            node.sh(f"echo 1 >{MODE}")


def blocked(session, what, most_ms):
    """A program that sleeps hears in time, too."""
    with serving(session, f"{LAT} -p 777 -e", ends=True):
        out = session.run(session.lab.nodes[0],
                          f"{LAT} -p 777 -e -n 300 {peer(0)}", 60).out
    # bytes iterations t_min t_max t_typical ...
    typical = float(out.strip().splitlines()[-1].split()[4]) / 1000
    session.check.write(f"{what}: a sleeper hears after {typical} ms")
    return f"{what}: a sleeper hears after {typical} ms, not {most_ms}" \
        if typical > most_ms else None


def others(session):
    """Beside a program that polls, when it is stopped in the middle of that,
    and when it is gone, frames reach IP and sleeping programs."""
    again(session, lambda: beside(session))


def beside(session):
    """What is late, by what it takes without polling just before."""
    one, two = session.lab.nodes
    # A frame that is not looked for waits for the next ping, 200 ms.
    most = 2 * by_interrupts(session) + 20 * session.slow
    start = polled(session, one)
    with spinning(session):
        why = pings(session, "polling", most) or \
            blocked(session, "polling", most)
        if why or polled(session, one) < start + 100:
            return why or "no program polls"
        for node in (one, two):
            node.sh("kill -STOP $(busybox pidof vipl_lat)")
        why = pings(session, "stopped", most) or \
            blocked(session, "stopped", most)
    return why or pings(session, "gone", most) or \
        blocked(session, "gone", most)


def many(session):
    """Several processes and threads spin on one NIC, one of them blocks in
    between; all get what is theirs."""
    one, two = session.lab.nodes
    bw = f"{TOOLS}/vipl_bw -d via_eth0 -p 703"
    tools = [f"{LAT} -p 701", f"{LAT} -p 702", bw]
    amounts = ["-n 1000", "-n 1000", "-n 500 -s 20000"]
    servers = [two.spawn(tool, 200) for tool in tools]
    clients = [one.spawn(f"{tool} {amount} {peer(0)}", 200)
               for tool, amount in zip(tools, amounts)]
    with jobs(session, *clients, *servers) as made:
        for job in made:
            if job.wait(150).rc:
                raise StepFailed(f"{job.command} failed: {job.all[-300:]}")


def killed(session, rounds):
    """kill -9 of programs that poll, and the interface goes down, or the
    driver is taken off, at the same time."""
    one, two = session.lab.nodes
    ways = (("ip link set eth0 down", "ip link set eth0 up"),
            (f"{BIND} eth0 stock", f"{BIND} eth0 native"))
    for i in range(2 * rounds):
        down, up = ways[i % 2]
        with spinning(session):
            # Alternately the spinning program dies first, or the NIC does;
            # whom the NIC took along is not there to be killed.
            kill = "kill -9 $(busybox pidof vipl_lat)"
            two.sh(f"{kill}; {down}" if i & 2 else f"{down}; {kill} || true",
                   60)
            time.sleep(0.2)
            one.sh(f"({kill}); true")
        two.sh(up, 60)
        session.carrier()
    session.run(one, "busybox ping -c 2 10.0.0.2")
    conform_wire(session, 0, "connect*")
    unpinned(session)
