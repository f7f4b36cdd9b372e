# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which steps run where: the short plan of make check, and the full one."""

import checksum
import fire
import lab_selftest
import listed
import native_plan
import planted
import regress
import samples
import steps
import table
import wires
from runner import Session

NICS = ["e1000", "tulip", "virtio-net"]
# Debian's tulip driver itself trips DMA-API debugging, so not in that kernel.
DEBUG_NICS = ["e1000", "e1000e", "i82559er", "rtl8139", "virtio-net"]
ALL_NICS = ["e1000", "e1000e", "tulip", "i82559er", "rtl8139", "virtio-net"]
KERNELS = ["6.1", "6.12", "debug-6.1"]


def on_host(check, full_plan=False):
    check.step("build: library, tools, tests", steps.build_user, check)
    check.together(listed.tests())
    for kernel in KERNELS:
        check.step(f"build: modules for {kernel}", steps.build_modules, check,
                   kernel)
    check.step("build: for TSan", steps.build_sanitized, check, "tsan")
    if full_plan:
        check.step("build: for ASan and UBSan", steps.build_sanitized, check,
                   "asan")
    frames = 10000000 if full_plan else 2000000
    check.step(f"{frames:,} frames through the parser", steps.fuzz, check,
               frames)


def conformance(session, one, two):
    """On via_lo, and on these nets with one machine and with two."""
    nics = session.settings["nics"]
    session.step("conformance via_lo", steps.conform_lo)
    session.step("old programs, in 64 and 32 bits", samples.run)
    for net in one:
        session.step(f"conformance {nics[net]}, one machine",
                     steps.conform_one, net)
    for net in two:
        session.step(f"conformance {nics[net]}, two machines",
                     steps.conform_wire, net)
        session.step(f"names by frames, {session.settings['nics'][net]}",
                     steps.names, net)


def ends(session, nets):
    """What programs without an error handler say of them."""
    session.step("ends of programs, one machine", samples.ends_here)
    for net in nets:
        session.step(f"ends of programs, {session.settings['nics'][net]}",
                     samples.ends_apart, net)


def reliability(session, nets, messages):
    for net in nets:
        session.step(f"{messages} messages, bad wire, "
                     f"{session.settings['nics'][net]}",
                     steps.reliability, net, messages)


def reads(session, nets, messages):
    for net in nets:
        session.step(f"{messages} messages read back, bad wire, "
                     f"{session.settings['nics'][net]}",
                     steps.reads, net, messages)


def lossy(session, nets):
    for net in nets:
        session.step("connections, 10 % loss, "
                     f"{session.settings['nics'][net]}",
                     steps.lossy_connections, net, steps.LOSSY)


def robustness(session, nets, kills):
    for net in nets:
        nic = session.settings["nics"][net]
        session.step(f"messages too long, {nic}", steps.beyond, net)
        session.step(f"garbage frames, {nic}", steps.garbage, net)
        session.step(f"kill -9 in transfers, {nic}", steps.killed, net, kills)
        session.step(f"modules in use stay, {nic}", steps.busy_modules, net)
        session.step(f"wire cut, {nic}", steps.wire_cut, net)
        session.step(f"detached under load, {nic}", steps.detached, net)


def unreliable(session, net, patterns):
    session.step("Unreliable on a wire that loses 2 %, "
                 f"{session.settings['nics'][net]}",
                 steps.lossy_unreliable, net, patterns)


def unplugging(session, nets):
    """Comes last: these NICs are gone afterwards."""
    for net in nets:
        if session.step("unplugged under load, "
                        f"{session.settings['nics'][net]}",
                        steps.interface_gone, net):
            session.gone.add(net)


def slow_wire(session, nets, all_cases=False):
    """The wire is the bottleneck: shares, and losses."""
    for net in nets:
        nic = session.settings["nics"][net]
        session.step(f"TCP and VIA on a slow wire, {nic}", wires.sharing, net)
        session.step(f"slow wire, 1 % loss, {nic}", wires.lossy, net,
                     wires.CASES if all_cases else wires.CASES[:2])


def crowd(check):
    """Nine machines, eight of which send to one."""
    session = Session(check, "9 nodes", nodes=9, nics=["e1000"], kernel="6.1",
                      cpus=1, mem=256)
    try:
        session.step("eight senders, one slow port", wires.overload, 0)
    finally:
        session.end()


def in_session(check, kernel, cpus, nics, body):
    session = Session(check, f"{kernel}, {cpus} CPU{'s' * (cpus > 1)}",
                      nodes=2, nics=nics, kernel=kernel, cpus=cpus)
    try:
        body(session)
    finally:
        session.end()


def short(check):
    on_host(check)
    lab_selftest.run(check)
    planted.short(check)

    def stock(session):
        # Tulip's is by its own driver, among the native ones.
        conformance(session, [], [2])
        ends(session, [0])
        session.step("threads under TSan", steps.conform_sanitized, "tsan",
                     "threads,notify,wait,cqvi,disconnect")
        reliability(session, [2], 30000)
        reads(session, [0], 10000)
        robustness(session, [0], 10)
        fire.stock_slice(session)
        regress.quick(session, 0)
        session.step("via_lo with small limits", steps.small_limits)
        unplugging(session, [1])

    def newer(session):
        conformance(session, [], [0])

    def debug(session):
        # The other NIC is via_e1000's, among the native drivers.
        conformance(session, [1], [])
        session.step("names by frames, e1000", steps.names, 0)
        # Time-outs are long here; make check-full has all of it.
        reads(session, [1], 1000)
        session.step("kill -9 in transfers, virtio-net", steps.killed, 1, 5)
        fire.debug_slice(session, 1)
        unplugging(session, [0])

    in_session(check, "6.1", 2, NICS, stock)
    in_session(check, "6.12", 1, NICS, newer)
    in_session(check, "debug-6.1", 2, ["e1000", "virtio-net"], debug)
    regress.apart(check, more=fire.preempted_slice)
    native_plan.short(check)


def full(check):
    on_host(check, full_plan=True)
    lab_selftest.run(check)
    planted.full(check)

    def everything(session):
        nets = range(len(session.settings["nics"]))
        debug = session.settings["kernel"].startswith("debug")
        conformance(session, nets, nets)
        ends(session, nets)
        if not debug:
            session.step("conformance under TSan", steps.conform_sanitized,
                         "tsan")
            session.step("conformance under ASan and UBSan",
                         steps.conform_sanitized, "asan")
        reliability(session, nets, 20000 if debug else 100000)
        for net in nets:
            session.step(f"checksums, {session.settings['nics'][net]}",
                         checksum.checksums, net, 20000)
        reads(session, nets, 20000 if debug else 100000)
        lossy(session, nets)
        robustness(session, nets, 10)
        # Every loss costs time, and a debug kernel has long time-outs.
        unreliable(session, 0, steps.LOST_MESSAGES if debug else (None,))
        if not debug:
            slow_wire(session, nets[:1], all_cases=True)
            fire.bad_networks(session)
            regress.quick(session, 0)
        if debug:
            fire.debug_slice(session, len(nets) - 1)
            fire.spaces(session)
        session.step("via_lo with small limits", steps.small_limits)
        unplugging(session, nets)

    for kernel in KERNELS:
        nics = DEBUG_NICS if kernel.startswith("debug") else ALL_NICS
        for cpus in (1, 2):
            in_session(check, kernel, cpus, nics, everything)
        regress.apart(check, kernel, 5, more=fire.preempted_slice)
    native_plan.full(check)
    crowd(check)
    check.step("table of docs/conformance.md", table.write, check.results,
               table.DOCUMENT)
