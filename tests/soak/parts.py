# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a soak is made of.  Each part is a session: a lab with its kernel, its
NICs and its CPUs; the amounts are those of a whole soak."""

import badnet
import checksum
import death
import fire
import frames
import hostile
import native
import native_harm
import regress
import rights
import scale
import steps
import wires
from runner import Session


class Recorded(Session):
    """A session whose steps' counts are remembered."""

    def step(self, name, function, *args):
        def recorded(session, *words):
            did = function(session, *words)
            if isinstance(did, dict):
                session.check.counts = did

        return super().step(name, recorded, *args)


class RecordedNative(Recorded, native.NativeSession):
    """The same with our own driver on the card."""


def some(amount, share, least=1):
    """`least`: so that what is to happen by chance does happen."""
    return max(least, int(amount * share))


def programs(session, share, seed):
    """Ten million calls with those of the other parts."""
    fire.programs(session, ("via_lo",), some(3000000, share), seed=seed)
    fire.programs(session, ("via_eth0",), some(6000000, share), seed=seed + 1)
    session.step("every limit reached", hostile.limits)
    session.step("quotas of users", rights.quotas)
    session.step("quotas of subordinate users", rights.subordinates)
    regress.quick(session, 0)


def paired(session, share, seed):
    session.step("operations beside teardowns, via_lo", death.races,
                 some(5, share), seed, False)
    session.step("operations beside teardowns", death.races, some(5, share),
                 seed + 1)


def programs_four(session, share, seed):
    paired(session, share, seed)
    fire.programs(session, ("via_lo", "via_eth0"), some(750000, share),
                  seed=seed + 2)


def programs_debug(session, share, seed):
    fire.programs(session, ("via_lo", "via_eth0"), some(50000, share),
                  guided=some(100000, share), seed=seed + 3)
    # Each one; loading takes two minutes of it.
    fire.failing(session, 0, 1, 1 if share >= 1 else 16,
                 some(10000, share, 2000))
    paired(session, share / 5, seed + 2)
    fire.racing(session, ("via_lo", "via_eth0"), some(1500, share, 64), 0,
                some(100, share, 8), seed + 3)
    session.step("every limit reached", hostile.limits)


def meetings(session, share, seed):
    """In a kernel that is preemptible everywhere."""
    fire.racing(session, ("via_lo", "via_eth0"), some(8000, share), 0,
                some(1500, share), seed)
    fire.programs(session, ("via_lo",), some(500000, share), seed=seed + 6)


def races(session, share, seed):
    """Every operation beside every teardown, with data races looked for."""
    fire.racing(session, ("via_lo", "via_eth0"), some(1000, share), 0,
                some(50, share), seed + 4)
    fire.programs(session, ("via_lo", "via_eth0"), some(60000, share),
                  seed=seed + 4)
    paired(session, share / 5, seed + 4)
    session.step("conformance, two machines", steps.conform_wire, 0)
    session.step("kill -9 over a wire", death.kills, 0, some(40, share), seed)
    session.step("bad wire, 8 threads", steps.reliability, 0,
                 some(10000, share), "--threads 8 --level rr --reads")


def wire(session, share, seed):
    """Ten million frames with those of the other parts."""
    fire.thrown(session, 0, some(5000000, share), gone=5, seed=seed)
    fire.thrown(session, 1, some(5000000, share), gone=5, seed=seed + 1)
    session.step("strangers, e1000", rights.strangers, 1)


def wire_debug(session, share, seed):
    fire.thrown(session, 0, some(200000, share), seed=seed + 2)
    fire.networks(session, 0, some(400, share, 400), seed=seed)


def networks(session, share, seed):
    fire.networks(session, 0, some(3000, share, 1000), seed=seed)
    fire.changing_networks(session, 0, some(20, share), some(1000, share),
                           losses=(0.02, 0.1, 0.3), seed=seed)
    session.step("slow wire, 1 % loss", wires.lossy, 0, wires.CASES)
    session.step("TCP and VIA on a slow wire", wires.sharing, 0)
    session.step("checksums, virtio-net", checksum.checksums, 0,
                 some(100000, share, 4000))
    session.step("bits that flip past Ethernet", flipping, 0,
                 some(3000, share, 1000), seed)


def flipping(session, net, messages, seed):
    """With checksums a spoiled frame is a lost one, and no more than that."""
    checksum.policy(session, (True, True))
    try:
        return badnet.conditions(session, net, messages, seed,
                                 table=badnet.SLIP)
    finally:
        checksum.policy(session, (False, False))


def unplugged(session, net):
    if session.step("unplugged under load", steps.interface_gone, net):
        session.gone.add(net)


def dying(session, share, seed):
    kills = some(480, share)
    session.step(f"{kills} kill -9, via_lo", death.kills, None, kills, seed)
    session.step(f"{kills} kill -9 over a wire", death.kills, 0, kills,
                 seed + 1)
    session.step("fork, vfork, exec with registered memory", death.processes,
                 0, some(10, share))
    session.step("ip link del under VIs", death.links_deleted, some(5, share))
    session.step("network namespaces deleted under VIs", death.spaces_deleted,
                 some(5, share))
    session.step("a card moves between namespaces", death.card_moved, 0,
                 some(5, share))
    session.step("stock driver unbound under via_netdev", death.stock_unbound,
                 0, some(5, share))
    session.step("modules come and go under openers", death.modules_loop,
                 some(20, share))
    session.step("receiver stopped for minutes", death.held, 0,
                 some(130, share), 1)
    session.step("node reset without goodbye", death.node_reset, 0,
                 some(5, share), seed)
    unplugged(session, 1)


def dying_debug(session, share, seed):
    session.step("40 kill -9, via_lo", death.kills, None, some(40, share),
                 seed + 2, 3)
    session.step("20 kill -9 over a wire", death.kills, 0, some(20, share),
                 seed + 3, 3)
    session.step("fork, vfork, exec with registered memory", death.processes,
                 0, 1)
    session.step("ip link del under VIs", death.links_deleted, 1)
    session.step("network namespaces deleted under VIs", death.spaces_deleted,
                 1)
    session.step("a card moves between namespaces", death.card_moved, 0, 1)
    session.step("stock driver unbound under via_netdev", death.stock_unbound,
                 0, 1)
    session.step("node reset without goodbye", death.node_reset, 0, 1, seed)
    unplugged(session, 1)


def much(session, share, seed):
    session.step("1,000 VIs at once", scale.many_vis, 0, some(1000, share), 5)
    session.step("100,000 regions", scale.many_regions, some(100000, share), 1,
                 0, seed)
    session.step("100,000 regions of four processes", scale.many_regions,
                 some(100000, share), 4, 100, seed)
    session.step("10,000 connects and disconnects", scale.many_connects, 0,
                 some(5000, share))
    session.step("a memory group too small", scale.squeezed, 32,
                 some(5, share))
    session.step("a machine without memory", scale.hogged, 0,
                 some(60, share), some(20000, share))


def native_dying(session, share, seed):
    session.step("everything at once", native_harm.churn, some(120, share))
    session.step(f"clients that are gone, {fire.nic_of(session, 0)}",
                 frames.gone_clients, 0, 2)
    session.step("kill -9 over a wire", death.kills, 0, some(60, share),
                 seed + 4)
    session.step("unbound under load", native_harm.unbound, some(3, share))
    session.step("modules loaded again", native_harm.reloaded, some(5, share))
    session.step("pulled out under load", native_harm.vanished)


def asleep(session, share, seed):
    """The root file system does not outlive it: nothing can be asked then."""
    session.step("suspend and resume", death.suspended)
    session.stop()


# What, kernel, CPUs, NICs, steps; and words for the kernel where there are any.
PREEMPT = "preempt=full"
PARTS = (
    ("hostile programs", "6.1", 2, ["e1000"], programs),
    ("hostile programs", "6.12", 4, ["virtio-net"], programs_four),
    ("hostile programs", "debug-6.1", 2, ["virtio-net"], programs_debug),
    ("racing attempts", "6.1", 2, ["virtio-net"], meetings, PREEMPT),
    ("racing attempts", "6.1", 4, ["virtio-net"], meetings, PREEMPT),
    ("races", "kcsan-6.1", 4, ["virtio-net"], races),
    ("hostile wire", "6.1", 2, ["virtio-net", "e1000"], wire),
    ("hostile wire", "debug-6.1", 2, ["virtio-net"], wire_debug),
    ("bad networks", "6.1", 2, ["virtio-net"], networks),
    ("death", "6.1", 2, ["virtio-net", "e1000"], dying),
    ("death", "debug-6.1", 2, ["virtio-net", "e1000"], dying_debug),
    ("very much", "6.1", 2, ["virtio-net"], much),
    ("asleep", "6.1", 2, ["e1000"], asleep),
)
# With an amount of frames for the first machine; the other one has the stock
# driver then, since what throws them learns from those that pass there, and
# ours does not show them.
NATIVE = (("6.1", "e1000", 300000), ("debug-6.1", "e1000", 100000),
          ("6.1", "tulip", 300000), ("6.1", "i82559er", 300000))


def run(soak, share, seed):
    soak.step("build: library, tools, tests", steps.build_user, soak)
    for kernel in sorted({part[1] for part in PARTS}):
        soak.step(f"build: modules for {kernel}", steps.build_modules, soak,
                  kernel)
    for what, kernel, cpus, nics, body, *words in PARTS:
        title = ", ".join((what, kernel, f"{cpus} CPUs", *words))
        session = Recorded(soak, title, nodes=2, nics=nics, kernel=kernel,
                           cpus=cpus, append=" ".join(words))
        try:
            body(session, share, seed)
        finally:
            session.end()
    session = Recorded(soak, "overload, 6.1, 9 nodes", nodes=9, nics=["e1000"],
                       kernel="6.1", cpus=1, mem=256)
    session.step("eight senders, one slow port", wires.overload, 0)
    session.end()
    for kernel in ("6.1", "6.12", "debug-6.1"):
        regress.apart(soak, kernel, some(20, share), Recorded)
    for kernel, nic, amount in NATIVE:
        session = RecordedNative(
            soak, f"hostile wire, {kernel}, native {nic}", nic, mixed=True,
            kernel=kernel, cpus=2)
        try:
            fire.thrown(session, 0, some(amount, share), gone=0, seed=seed + 5)
        finally:
            session.end()
        session = RecordedNative(
            soak, f"death, {kernel}, 2 CPUs, native {nic}", nic,
            kernel=kernel, cpus=2)
        try:
            native_dying(session, share, seed)
        finally:
            session.end()
        session = RecordedNative(soak, f"asleep, {kernel}, native {nic}", nic,
                                 kernel=kernel, cpus=2)
        session.step("suspend and resume", native_harm.suspended)
        session.stop()
