# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Transfers between two nodes: over a bad wire, beside garbage, and what ends
them."""

import contextlib

from balance import unpinned
from common import (CONFORM, GUEST, STRESS, TOOLS, changes, drops, flowing,
                    jobs, mac, peer, serving)
from conform import conform_wire
from labkit.base import BUILD
from runner import StepFailed


def stress(session, net, arguments, timeout=300):
    with serving(session, f"{STRESS} -d via_eth{net} --server"):
        return session.run(session.lab.nodes[0],
                           f"{STRESS} -d via_eth{net} {arguments} {peer(net)}",
                           timeout)


BAD_WIRE = dict(loss=0.01, dup=0.01, reorder=0.02, corrupt=0.002, seed=11)


def reliability(session, net, messages, options=""):
    """All messages arrive, whole, once, in order, over a bad wire."""
    before = session.lab.wire(net).stats()
    with session.bad_wire(net, **BAD_WIRE) as wire:
        stress(session, net, f"--messages {messages} {options}", 600)
    did = changes(before, wire.stats())
    session.check.write(f"the wire: {did}")
    if not (did["lost"] and did["duplicated"] and did["reordered"]):
        raise StepFailed(f"the wire was not bad: {did}")


def reads(session, net, messages):
    """The same with Reliable Reception, each RDMA Write read back."""
    reliability(session, net, messages, "--level rr --reads")


def killed(session, net, rounds):
    """kill -9 in the middle of transfers: the peer hears of it, and nothing
    stays pinned on either side."""
    stress(session, net, f"--kill {rounds}")
    unpinned(session)


def garbage(session, net):
    """Malformed frames are counted and dropped; transfers go on."""
    node = session.lab.nodes[1]
    before = drops(session, node, net)
    stress(session, net, f"--messages 2000 --garbage eth{net}")
    after = drops(session, node, net)
    if after <= before:
        raise StepFailed("no garbage was counted")


def farewells(session, net, runs):
    """The last message of a tool arrives before its VI is disconnected."""
    command = f"{TOOLS}/vipl_lat -d via_eth{net}"
    with session.bad_wire(net, loss=0.25, seed=3) as wire:
        before = wire.stats()
        for _ in range(runs):
            with serving(session, command) as server:
                session.run(session.lab.nodes[0],
                            f"{command} -n 2 {peer(net)}", 100)
                if server.wait(60) is None or server.rc:
                    raise StepFailed("the server has not ended well")
        lost = changes(before, wire.stats())["lost"]
    if lost < runs:
        raise StepFailed(f"{lost} frames were lost: it tests nothing")


def busy_modules(session, net):
    """rmmod of a module in use is refused, without an effect."""
    node = session.lab.nodes[1]
    with serving(session, f"{CONFORM} -d via_eth{net} --server") as job:
        job.link.wait_for(lambda: job.done or session.lab.nodes[1].run(
            "grep -q '^via_netdev [0-9]* [1-9]' /proc/modules").rc == 0, 30)
        for name in ("via_netdev", "via_ether", "via_ka"):
            if node.run(f"rmmod {name}").rc == 0:
                raise StepFailed(f"{name} was removed while in use")
        session.run(session.lab.nodes[0], f"{CONFORM} -d via_eth{net} -g "
                    f"send --timeout-scale {session.slow} {peer(net)}", 200)


@contextlib.contextmanager
def flow(session, net, options):
    """vipl_bw's client on node 1 and its server on node 2, frames flowing."""
    one, two = session.lab.nodes
    tool = f"{TOOLS}/vipl_bw -d via_eth{net}"
    with jobs(session, two.spawn(tool, 200), one.spawn(
            f"{tool} {options} {peer(net)}", 200)) as (server, client):
        flowing(session, net, client)
        yield client, server


def broken(session, net, breaker, limit=30):
    """Both ends of a transfer notice that `breaker` has cut it."""
    limit *= session.slow
    with flow(session, net, "-D 120") as pair:
        breaker()
        for job in pair:
            if not job.link.wait_for(lambda j=job: j.done, limit):
                raise StepFailed(f"{job.link.name} has not noticed after "
                                 f"{limit} s: {job.command}")
            if job.rc == 0:
                raise StepFailed(f"{job.link.name} noticed nothing: "
                                 f"{job.command}")
    unpinned(session)


def wire_cut(session, net):
    """A dead peer is found: the connection breaks on both sides."""
    with session.bad_wire(net) as wire:
        broken(session, net, lambda: wire.set(cut="0"))


def interface_gone(session, net):
    """Unplugging the NIC under load: VIs in error, no warning, node gone."""
    node = session.lab.nodes[1]
    broken(session, net, lambda: node.monitor(f"device_del nic{net}"))
    if not node.link.wait_for(
            lambda: node.run(f"test -e /dev/via_eth{net}").rc != 0, 20):
        raise StepFailed(f"/dev/via_eth{net} outlives its interface")
    session.gone.add(net)


def detached(session, net):
    """The same by detaching it; it can be attached again."""
    node = session.lab.nodes[1]
    with jobs(session, node.spawn(
            f"{GUEST}/catastrophic.py {BUILD}/libvipl.so.1 via_eth{net}",
            200)) as (watcher,):
        watcher.expect("^ready$", 60)
        broken(session, net, lambda: session.lab.detach(node, f"eth{net}"))
        # It has seen nothing of the connection, only that the NIC went.
        if not watcher.link.wait_for(lambda: watcher.done,
                                     30 * session.slow) or watcher.rc:
            raise StepFailed("no VIP_ERROR_CATASTROPHIC: "
                             f"{watcher.all.strip()[-200:]}")
    session.lab.attach(node, f"eth{net}")
    conform_wire(session, net, "connect*")


def beyond(session, net):
    """Frames of messages longer than MaxTransferSize reach no memory, however
    long the receives are; those of the longest that there may be do."""
    one, two = session.lab.nodes
    program = f"{GUEST}/beyond.py"
    with jobs(session, one.spawn(f"{program} serve {BUILD}/libvipl.so.1 "
                                 f"via_eth{net}", 100)) as (server,):
        address, handle = server.expect(r"^ready (\d+) (\d+)$").groups()
        session.run(two, f"{program} forge eth{net} {mac(net, 0)} {address} "
                    f"{handle}", 60)
        came = server.expect(r"^came (.*)\nwritten (.*)$").groups()
    # DONE, RECEIVE; and LENGTH_ERROR.
    if came != ("0x10001:4096 0x10009:0 0x10001:4096", "1024 0"):
        raise StepFailed(f"what came and what was written: {came}")
