# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Under fire: the steps of hostile programs, hostile wires and dying machines,
with amounts; slices of each for the plan, all of each for the soak."""

import badnet
import checksum
import death
import frames
import hostile
import rights
import scale


def nic_of(session, net):
    return session.settings["nics"][net]


def programs(session, devices, calls, guided=0, seed=None):
    """Whoever is in group via may call anything."""
    for device in devices:
        if calls:
            session.step(f"{calls} hostile calls, {device}", hostile.hostile,
                         device, calls, seed)
        if guided:
            session.step(f"{guided} guided calls, {device}", hostile.guided,
                         device, guided, seed)
        session.step(f"every kind of memory, {device}", hostile.memory_kinds,
                     device)


def racing(session, devices, rounds, net=None, churns=0, seed=None):
    """Calls that meet where none has looked for the other."""
    for device in devices:
        session.step(f"{rounds} rounds of racing attempts, {device}",
                     hostile.attempts, device, rounds, seed)
    if net is not None:
        session.step(f"{rounds} rounds of racing attempts over a wire, "
                     f"{nic_of(session, net)}", hostile.attempts_wire, net,
                     rounds, seed)
    if churns:
        session.step(f"a NIC comes and goes {churns} times", hostile.churned,
                     churns, seed)


def failing(session, net, stride, loading, messages=2000):
    """Memory runs out: one allocation of so many, in turn."""
    nic = nic_of(session, net)
    first = 1 + hostile.dice() % stride
    session.step(f"allocations fail, {nic}", hostile.faults,
                 f"via_eth{net}", stride, first)
    session.step(f"each allocation of a resized queue fails, {nic}",
                 hostile.faults, f"via_eth{net}", 1, 1, "resize-cq")
    session.step("allocations fail, loading", hostile.load_faults, loading,
                 first)
    session.step(f"allocations fail in interrupts, {nic}",
                 hostile.softirq_faults, net, messages)


def thrown(session, net, amount, gone=2, seed=1):
    """Whoever is on the wire may send any frame."""
    nic = nic_of(session, net)
    session.step(f"{amount} frames thrown, {nic}", frames.frames, net, amount,
                 seed)
    if gone:
        session.step(f"clients that are gone, {nic}", frames.gone_clients,
                     net, gone)


def networks(session, net, messages, names=None, levels=badnet.LEVELS, seed=1):
    nic = nic_of(session, net)
    for name in names or badnet.CONDITIONS:
        session.step(f"bad network, {name}, {nic}", badnet.conditions, net,
                     messages, seed, [name], levels)


def changing_links(session, net, times, seed=1):
    """What the stack tells the NIC module of."""
    nic = nic_of(session, net)
    session.step(f"a link that flaps, {nic}", badnet.flapping, net, times,
                 seed)
    session.step(f"MTUs that change, {nic}", badnet.changing_mtu, net,
                 2 * times, seed)


def changing_networks(session, net, times, connects, ways=badnet.WAYS,
                      losses=(0.1,), seed=1):
    nic = nic_of(session, net)
    changing_links(session, net, times, seed)
    session.step(f"MTUs that differ, {nic}", badnet.differing_mtu, net, 300,
                 seed)
    session.step(f"one-way wires, {nic}", badnet.one_way_wires, net, 1, ways)
    session.step(f"clients that are dead, {nic}", frames.dead_clients, net, 1)
    for loss in losses:
        session.step(f"{connects} connects, {loss:.0%} loss, {nic}",
                     badnet.connects, net, connects, loss, seed)


# Of each kind one, and quick ones.
NETWORKS = ("loss 5 %", "bursts of 10", "reordering, gap 1000",
            "everything at once", "a switch that forgets")


def bad_networks(session):
    """What the simulator does thousands of times in the time of one of these:
    not in make check."""
    networks(session, 2, 300, NETWORKS, ("rd",))
    changing_networks(session, 2, 2, 200, badnet.WAYS[:1])
    session.step("operations beside teardowns", death.races, 1, 32)
    session.step("receiver stopped for 15 s", death.held, 2, 15, 1)


def stock_slice(session):
    """e1000 and virtio-net are there, as 0 and 2; nothing is unplugged yet."""
    programs(session, ("via_lo", "via_eth0"), 100000)
    session.step("every limit reached", hostile.limits)
    session.step("quotas of users", rights.quotas)
    session.step("quotas of subordinate users", rights.subordinates)
    session.step("strangers, e1000", rights.strangers, 0)
    session.step("checksums, e1000", checksum.checksums, 0, 8000)
    thrown(session, 2, 200000)
    networks(session, 2, 300, ("everything at once",), ("rd",))
    changing_links(session, 2, 1)
    session.step("20 kill -9, via_lo", death.kills, None, 20, 21)
    session.step("20 kill -9 over a wire", death.kills, 2, 20, 22)
    session.step("fork, vfork, exec with registered memory", death.processes,
                 2, 1)
    spaces(session)
    session.step("a card moves between namespaces", death.card_moved, 2)
    session.step("stock driver unbound under via_netdev", death.stock_unbound,
                 2)
    session.step("modules come and go under openers", death.modules_loop, 2)
    session.step("1,000 VIs at once", scale.many_vis, 2, 1000, 1)
    session.step("regions by the thousand", scale.many_regions, 20000, 2, 100)
    session.step("connects by the thousand", scale.many_connects, 2, 500)
    session.step("a memory group too small", scale.squeezed, 32)


def preempted_slice(session):
    """Where the kernel can be left in the middle of a call."""
    racing(session, ("via_lo",), 64, 0, churns=10)


def spaces(session):
    session.step("network namespaces deleted under VIs", death.spaces_deleted,
                 1, 2)


def debug_slice(session, net):
    programs(session, ("via_lo", f"via_eth{net}"), 0, guided=2000)
    racing(session, ("via_lo",), 32, churns=3)
    failing(session, net, 8, 320)
    thrown(session, net, 6000, gone=0)
    session.step("15 kill -9, via_lo", death.kills, None, 15, 23, 3)
    session.step("fork, vfork, exec with registered memory", death.processes,
                 None, 1)
    session.step("ip link del under VIs", death.links_deleted, 1,
                 ("what carries a vlan",), 2)
    session.step("50 VIs at once", scale.many_vis, None, 50, 1)
