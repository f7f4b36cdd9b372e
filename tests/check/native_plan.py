# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Native drivers: which step runs where."""

import native
import native_harm
import native_ip
import pinned
import polling
import steps
import wires


def title(kernel, cpus, what):
    return f"{kernel}, {cpus} CPU{'s' * (cpus > 1)}, {what}"


def amounts(messages, rounds, churning, mebibytes):
    """How much of it: `messages` over a bad wire, `rounds` of what ends
    transfers, `churning` seconds of everything at once, `mebibytes` of a
    file; 0, for a slow kernel: neither IP alone nor the suite."""
    return {"messages": messages, "rounds": rounds, "churning": churning,
            "mebibytes": mebibytes}


def chip_steps(session, much):
    """What each chip's driver may have wrong, on each kernel."""
    if much["mebibytes"]:
        session.step("IP", native_ip.ip_traffic, much["mebibytes"])
        session.step("long frames", native_ip.jumbo)
        session.step("conformance", steps.conform_wire, 0)
        polling.chip_steps(session)
    session.step(f"{much['messages']} messages, bad wire", steps.reliability,
                 0, much["messages"])


def feature_steps(session):
    """The same, whatever the kernel."""
    session.step("ethtool", native_ip.questions)
    session.step("address filters", native_ip.filters)
    session.step("interrupts", native_ip.quiet)
    session.step("cable pulled", native_harm.link_lost)


def shared_steps(session, much):
    """What is not theirs, but lies behind them."""
    session.step("via-bind", native_ip.rebinding)
    session.step("names by frames", steps.names, 0)
    # In the short plan it is e1000's, through via_netdev.
    if much["rounds"] > 1:
        session.step("TCP and VIA on a slow wire", wires.sharing, 0,
                     wires.SHARING[:1])
    polling.shared_steps(session, much["rounds"])
    session.step(f"{much['messages'] // 5} messages read back, bad wire",
                 steps.reads, 0, much["messages"] // 5)
    session.step("garbage frames", steps.garbage, 0)
    session.step("kill -9 in transfers", steps.killed, 0, much["rounds"])
    session.step("wire cut", steps.wire_cut, 0)
    session.step("MTU, address, name, namespace", native_ip.configured)
    session.step("down and up under load", native_harm.down_and_up,
                 much["rounds"])
    session.step("unbound under load", native_harm.unbound, much["rounds"])
    session.step("modules loaded again", native_harm.reloaded, much["rounds"])


def harmful_steps(session, much):
    """They come last: what they leave is not known."""
    session.step("everything at once", native_harm.churn, much["churning"])
    # A slow kernel takes a minute for it: make check-full and make soak do.
    if much["mebibytes"]:
        session.step("pulled out under load", native_harm.vanished)
    session.step("unplugged under load", native_harm.unplugged)


def in_session(check, kernel, cpus, nic, much,
               parts=("feature", "shared", "memory", "harmful")):
    session = native.NativeSession(check,
                                   title(kernel, cpus, f"native {nic}"), nic,
                                   kernel=kernel, cpus=cpus)
    try:
        chip_steps(session, much)
        if "feature" in parts:
            feature_steps(session)
        if "shared" in parts:
            shared_steps(session, much)
        if "memory" in parts:
            pinned.all_steps(session)
        if "harmful" in parts:
            harmful_steps(session, much)
    finally:
        session.end()


def mixed(check, kernel, cpus, nic):
    """Our driver on one machine, the stock one and via_netdev on the other."""
    what = title(kernel, cpus, f"native {nic} beside the stock driver")
    session = native.NativeSession(check, what, nic, mixed=True,
                                   kernel=kernel, cpus=cpus)
    try:
        session.step("conformance", steps.conform_wire, 0)
        session.step("names by frames", steps.names, 0)
    finally:
        session.end()


def translated(check, kernel, nic, groups):
    """Memory behind an IOMMU that translates, and minds."""
    what = title(kernel, 2, f"native {nic} behind an IOMMU")
    session = native.NativeSession(check, what, nic, iommu=True, kernel=kernel,
                                   cpus=2)
    try:
        for group in groups:
            session.step(f"conformance {group[:-1]}", steps.conform_wire, 0,
                         group)
        pinned.all_steps(session)
    finally:
        session.end()


def sleeping(check, kernel, nic):
    session = native.NativeSession(check,
                                   title(kernel, 1, f"native {nic} asleep"),
                                   nic, kernel=kernel, cpus=1)
    try:
        session.step("suspended and resumed", native_harm.suspended)
    finally:
        session.stop()


def short(check):
    in_session(check, "6.1", 2, "tulip", amounts(20000, 1, 15, 16),
               parts=("feature", "shared", "harmful"))
    in_session(check, "6.12", 2, "e1000", amounts(5000, 1, 0, 16),
               parts=("feature",))
    in_session(check, "debug-6.1", 2, "e1000", amounts(2000, 1, 20, 0),
               parts=("harmful",))
    mixed(check, "6.1", 1, "i82559er")
    translated(check, "6.1", "tulip", ("rdma*",))
    sleeping(check, "6.1", "e1000")


def full(check):
    for nic in native.DRIVERS:
        for kernel in ("6.1", "6.12", "debug-6.1"):
            long = kernel == "6.1"
            in_session(check, kernel, 1, nic, amounts(20000, 5, 60, 8))
            in_session(check, kernel, 2, nic,
                       amounts(20000, 5, 600 if long else 60,
                               1024 if long else 8))
            sleeping(check, kernel, nic)
            # Debian's tulip misuses the DMA API, which is told there.
            if nic != "tulip" or kernel != "debug-6.1":
                mixed(check, kernel, 2, nic)
            translated(check, kernel, nic,
                       ("send*", "rdma*", "read*", "memory*"))
