# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every session and every step of make check, make check-full and make soak.

BOOTS are the sessions, in order: the plans that boot it, its title, its
columns and its settings.  ROWS are the steps, in the order in which each
session has those that are in its columns; run/rows.py tells how to read a row.
"""

import itertools

import badnet
import checksum
import configure
import conform
import containers
import crowd
import death
import dsm
import early
import every
import fabric
import flooded
import frames
import host
import hostile
import keys
import lab_selftest
import lab_warm
import lesson
import mixed
import mpi
import native
import native_harm
import native_ip
import pinned
import plugins
import polling
import queues
import rdma
import rdma_beside
import rdma_box
import rdma_harm
import rdma_iser
import rdma_mixed
import rdma_nfs
import rdma_own
import rdma_paths
import rdma_roce
import rdma_srp
import rdma_veth
import registers
import regress
import rights
import samples
import scale
import selftest
import signed
import system
import tables
import tracing
import trains
import transfer
import udp
import udp_shape
import udp_trains
import wires
from labkit.initrd import NATIVE as NATIVE_NICS
from rows import EACH, LAST, boot, here, row, seed, some, stock

KERNELS = ["6.1", "6.12", "7.3", "debug-6.1"]
NICS = "e1000 tulip virtio-net"
# Debian's tulip driver itself trips DMA-API debugging, so not in that kernel.
DEBUG_NICS = "e1000 e1000e i82559er rtl8139 virtio-net"
ALL_NICS = "e1000 e1000e tulip i82559er rtl8139 virtio-net"


def slow(kernel):
    return kernel.startswith("debug")


# Sessions

PLAIN = "{kernel}, {cpus}"
BY_DRIVER = "{kernel}, {cpus}, native {nic}"
BESIDE = BY_DRIVER + " beside the stock driver"
BEHIND = BY_DRIVER + " behind an IOMMU"
ASLEEP = BY_DRIVER + " asleep"
PREEMPTED = dict(mem=1024, append="preempt=full slub_debug=FZPU")
PREEMPT = dict(append="preempt=full")
NATIVE = dict(native=True)
MIXED = dict(native=True, mixed=True)
IOMMU = dict(native=True, iommu=True)
# The sessions of `make check` but for the preempted one, which has its
# mitigations, as all of check-full have.
UNMITIGATED = dict(mitigations=False)
NINE = dict(nodes=9, mem=256)

HOST = [
    here("check", "check", alone=True),
    here("full", "full", "check", alone=True), here("soak", "soak"),
]
# Two are side by side, in this order.  Guests of two CPUs are for races: where
# more CPUs run than this machine has processors, they wait for each other's
# locks, so sessions of such guests have one of single CPUs beside them.
CHECK = [
    # In the debug kernel e1000 gets its native driver at the end.
    boot("check", PLAIN, "debug", "debug-6.1", 2, "e1000 virtio-net"),
    here("check", "installed"), here("full", "full_installed", "installed"),
    boot("check", PLAIN, "stock", "6.1", 1, NICS, **UNMITIGATED),
    boot("check", "{kernel}, preempted", "preempted raced", "6.1", 2, "e1000",
         **PREEMPTED),
    boot("check", BY_DRIVER, "native_newer", "6.12", 2, "e1000", **NATIVE,
         **UNMITIGATED),
    boot("check", BY_DRIVER, "native", "6.1", 1, "tulip", **NATIVE,
         **UNMITIGATED),
    boot("check", PLAIN, "newer", "6.12", 1, NICS, **UNMITIGATED),
    # Here e1000 gets its native driver at the end, too.
    boot("check", PLAIN, "newest", "7.3", 1, "e1000 virtio-net",
         **UNMITIGATED),
    # All of each chip's is in make check-full.  QEMU 10, which has igb, ends
    # now and then at a boot with two CPUs, in an assertion.
    boot("check", BESIDE, "mixed", "6.1", 1, "i82559er rtl8139 igb", **MIXED,
         **UNMITIGATED),
    here("check", "tools"), here("full", "full_tools", "tools"),
    boot("full", PLAIN + ", 4 GiB", "large", "6.1", 2, "e1000",
         mem=4096),
    boot("full", "lab guests", "lab_guests", "6.1", 1, "e1000 tulip",
         modules=False),
]


def full_sessions():
    """Every NIC with every kernel, on one CPU and on two."""
    for kernel in KERNELS:
        for cpus in (1, 2):
            # libfabric takes memory for each NIC handle.
            yield boot("full", PLAIN, "all_debug " * slow(kernel) + "all",
                       kernel, cpus, DEBUG_NICS if slow(kernel) else ALL_NICS,
                       **({} if slow(kernel) else dict(mem=1024)))
        yield boot("full", "{kernel}, preempted",
                   "preempted_full_debug " * slow(kernel) +
                   "preempted_full preempted raced", kernel, 2, "e1000",
                   **PREEMPTED)
    for nic, kernel in itertools.product(NATIVE_NICS, KERNELS):
        for cpus in (1, 2):
            yield boot("full", BY_DRIVER, "native_long " *
                       (kernel == "6.1" and cpus == 2) + "native_full",
                       kernel, cpus, nic, **NATIVE)
        yield boot("full", ASLEEP, "native_asleep", kernel, 1, nic,
                   asleep=True, **NATIVE)
        # Debian's tulip misuses the DMA API, which is told there.
        if nic != "tulip" or not slow(kernel):
            yield boot("full", BESIDE, "mixed_full mixed", kernel, 2, nic,
                       **MIXED)
        yield boot("full", BEHIND, "iommu_full iommu", kernel, 2, nic, **IOMMU)
    # What stands beside VIA has guests of its own.
    for kernel in ("6.1", "6.12", "7.3"):
        yield boot("full", "verbs, {kernel}", "verbs_siw " *
                   (kernel == "6.1") + "verbs", kernel, 1, "e1000", mem=768)
        yield boot("full", "verbs, two NICs, {kernel}", "verbs_paths", kernel,
                   1, "e1000 virtio-net", mem=768)
        yield boot("full", "verbs of rdma_rxe, {kernel}", "rxe", kernel, 1,
                   "e1000", mem=768, modules=False, control=True)
    yield boot("full", "verbs, {kernel}", "verbs_harm", "debug-6.1", 2,
               "e1000", mem=1024)
    yield boot("full", "arm64 beside amd64", "arm64", "6.1", 1, "virtio-net",
               arm64=("node1",))
    yield boot("full", "locked down", "locked", "6.1", 1, "virtio-net",
               nodes=1, modules=False, append="lockdown=integrity")
    yield boot("full", "4 receive queues", "queues", "6.1", 4, "igb")
    yield boot("full", "9 nodes", "crowd", "6.1", 1, "e1000", **NINE)
    yield boot("full", "MPI", "jobs", "6.1", 2, "virtio-net", mem=1536)
    yield boot("full", "MPI, 4 nodes", "four", "6.1", 1, "virtio-net",
               nodes=4, mem=768)


# Of what all sessions have measured.
LAST_OF_ALL = [here("full", "planted_full", alone=True),
               here("full", "results", alone=True)]
SOAK = [
    boot("soak", "hostile programs, " + PLAIN, "programs", "6.1", 2, "e1000"),
    boot("soak", "hostile programs, " + PLAIN, "programs_newer",
         "6.12", 4, "virtio-net"),
    boot("soak", "hostile programs, " + PLAIN, "programs_debug",
         "debug-6.1", 2, "virtio-net"),
    *(boot("soak", f"racing attempts, {PLAIN}, preempt=full", "preempt", "6.1",
           cpus, "virtio-net", **PREEMPT) for cpus in (2, 4)),
    boot("soak", "races, " + PLAIN, "races", "kcsan-6.1", 4, "virtio-net"),
    boot("soak", "verbs, {kernel}", "verbs_races", "kcsan-6.1", 4, "e1000",
         mem=1536),
    boot("soak", "verbs, {kernel}", "verbs_hour", "6.1", 2, "e1000",
         mem=1024),
    boot("soak", "hostile wire, " + PLAIN, "wire", "6.1", 2,
         "virtio-net e1000"),
    boot("soak", "hostile wire, " + PLAIN, "wire_debug", "debug-6.1",
         2, "virtio-net"),
    boot("soak", "bad networks, " + PLAIN, "networks", "6.1", 2, "virtio-net"),
    boot("soak", "death, " + PLAIN, "death", "6.1", 2, "virtio-net e1000"),
    boot("soak", "death, " + PLAIN, "death_debug", "debug-6.1", 2,
         "virtio-net e1000"),
    boot("soak", "very much, " + PLAIN, "much", "6.1", 2, "virtio-net"),
    boot("soak", "asleep, " + PLAIN, "asleep", "6.1", 2, "e1000", asleep=True),
    boot("soak", "overload, {kernel}, 9 nodes", "crowd", "6.1", 1, "e1000",
         **NINE),
    *(boot("soak", "{kernel}, preempted",
           "preempted_soak_debug " * slow(kernel) +
           "preempted_soak preempted", kernel, 2, "e1000", nodes=1,
           **PREEMPTED) for kernel in KERNELS),
]
for _kernel, _nic in (("6.1", "e1000"), ("debug-6.1", "e1000"),
                      ("6.1", "tulip"), ("6.1", "i82559er")):
    SOAK += [
        # viatest frames learns from the frames that pass on its machine, and
        # our drivers do not show them: the stock one is there.
        boot("soak", "hostile wire, {kernel}, native {nic}",
             "native_wire_debug" if slow(_kernel) else "native_wire", _kernel,
             2, _nic, **MIXED),
        boot("soak", "death, " + BY_DRIVER, "native_death",
             _kernel, 2, _nic, **NATIVE),
        boot("soak", "asleep, {kernel}, native {nic}", "native_asleep",
             _kernel, 2, _nic, asleep=True, **NATIVE),
    ]
BOOTS = [*HOST, *CHECK, *full_sessions(), *LAST_OF_ALL, *SOAK]

# Amounts that several rows have

LO = "via_lo"
BOTH = [LO, "via_eth0"]
ALL_CONDITIONS = [(name,) for name in badnet.CONDITIONS]
# Of each kind one, and quick ones.
CONDITIONS = [(name,) for name in (
    "loss 5 %", "bursts of 10", "reordering, gap 1000", "everything at once",
    "a switch that forgets")]


def first(stride):
    """Of the allocations of which one of so many fails."""
    return lambda _: 1 + hostile.dice() % stride


def provoked(amount, slower=4):
    """Five times as much in make check-full; in a slow kernel a part."""
    return {"preempted": amount, "preempted_full": 5 * amount,
            "preempted_full_debug": 5 * amount // slower,
            "preempted_soak": some(20, each=amount),
            "preempted_soak_debug": some(20, each=amount // slower)}


# Steps on this machine.
ON_HOST = [
    row("build: library, tools, tests", host.build_user, at="check soak"),
    row(None, host.tests, at="check"),
    row(None, host.long_tests, at="full"),
    row("build: modules for {kernel}", host.build_modules, "kernel",
        check=KERNELS, soak=[*KERNELS, "kcsan-6.1"]),
    row("build: for arm64", host.build_arm64, at="full"),
    row("libfabric's own tests, shm", host.fabtests, at="full"),
    row("bench: part {part}", host.bench, "part", full=["lines", "dsm"]),
    row("build: for TSan", host.build_sanitized, "name",
        check=None, full="tsan"),
    row("build: for ASan and UBSan", host.build_sanitized, "name",
        check=None, full="asan"),
    # It leaves packages for the next row; "user" is Debian 13's in make check.
    row("bare machine: {what}", host.bare, "what",
        installed=["packages", "install"],
        full_installed=["user", "packages", "install", "modules"]),
    row("packages: {what}", host.packages, "what",
        installed=["debian", "licences"],
        full_installed=["debian", "rpm", "licences", "compilers", "trixie"]),
    row("bare machine: {what} (Debian 13)", host.bare_trixie, "what",
        installed="user", full_installed=["user", "packages", "install"]),
    row("container image: make demo-local", host.image, at="full_installed"),
    row("packages: DKMS on {name}", host.dkms, "name",
        installed=None, full_installed=["6.1", "6.12", "7.3"]),
    row(None, system.steps, at="installed"),
    row("Debian: the tutorial, word by word", lesson.guest,
        at="full_installed"),
    row("{runs:,} frames through the parser", host.fuzz, "runs",
        tools=2000000, full_tools=10000000),
    *(row(f"lab: {step.__name__.replace('_', ' ')}", lab_selftest.built(step),
          at="full_tools" if step in lab_selftest.LONG_STEPS else "tools")
      for step in lab_selftest.HOST_STEPS),
    row("lab: up, reload, down", lab_warm.run, at="tools"),
    *(row(step.__name__.replace("_", " "), step, at="lab_guests")
      for step in lab_selftest.GUEST_STEPS),
    row("mutation: all mutants apply", host.all_apply, at="tools"),
    row("mutation: the simulator finds the defects of old", host.simulated,
        "which", tools=None, full_tools="--defects"),
    row("mutation: what the simulator finds", host.simulated,
        at="planted_full"),
    row(None, host.mutations, needs="mutation: build", at="planted_full"),
    row("tables of conformance", tables.write, at="results"),
]

# On one machine or two, with every NIC that QEMU has.
IN_GUESTS = [
    row("every module loads", every.load, at="newest all"),
    row("conformance via_lo", conform.conform_lo,
        at="stock newest all arm64"),
    row("old programs, in 64 and 32 bits", samples.run, at="stock all"),
    # A debug kernel takes minutes for three levels: it has one, the other two
    # are on stock kernels and in the simulator.
    row("conformance {nic}, one machine", conform.conform_one,
        "net levels without",
        debug=(1, "rr", conform.PATIENT), all=(EACH, None, None)),
    row("conformance {nic}, two machines", conform.conform_wire, "net",
        newer=0, all=EACH, races=0, arm64=0),
    row("conformance {pattern}, {nic}, two machines", conform.conform_wire,
        "net pattern", stock=(2, conform.BRIEF),
        newest=(1, "send*,rdma*,connect*")),
    row("conformance ofi:tcp, {nic}, two machines", plugins.conform_tcp,
        "net groups", all=(EACH, None), all_debug=None),
    row("conformance ofi:verbs, {nic}, two machines", plugins.conform_verbs,
        "net groups", stock=(2, plugins.APART), all=(EACH, None),
        all_debug=None),
    row("conformance shm, unprivileged, ptrace_scope {scope}",
        plugins.conform_shm, "scope groups",
        all=[(0, None), (1, plugins.READS), (2, plugins.READS)]),
    # No way back from 3 but a boot.
    row("conformance shm, unprivileged, ptrace_scope {scope}",
        plugins.conform_shm, "scope groups", needs=LAST,
        all=(3, plugins.READS)),
    row("conformance via_udp, {family}, {nic}, two machines",
        udp.conform_udp, "family net pattern",
        stock=("IPv4", 2, "send*,connect*,compat*,nic*"),
        newer=("IPv6", 0, "rdma*,read*"),
        newest=[("IPv4", 1, "send*,connect*"), ("IPv6", 1, "rdma*")],
        all=[("IPv4", EACH, "*"), ("IPv6", EACH, "*")]),
    row("frames before the stack, {nic}", early.raw, "net", newest=0,
        all=(0,), all_debug=None),
    row("trains between interfaces, {messages} messages", trains.direct,
        "messages", newest=300, all=10000, all_debug=1000),
    row("trains behind a bridge, {messages} messages", trains.bridged,
        "messages", stock=300, all=10000, all_debug=1000),
    row("via_udp: datagrams before the stack, {family}, {nic}",
        early.datagrams, "net family", stock=(0, "IPv4"),
        all=[(0, "IPv4"), (0, "IPv6")]),
    row("via_udp: trains, {family}, {messages} messages", udp_trains.whole,
        "family messages", stock=("IPv4", 300),
        all=[("IPv4", 1500), ("IPv6", 1500)]),
    row("via_udp: trains, lossy and shaped, {family}", udp_trains.shaped, "family",
        stock="IPv4", all=["IPv4", "IPv6"], all_debug=None),
    row("via_udp: trains and what is behind, {family}", udp_trains.stepping,
        "family", stock="IPv4", all=["IPv4", "IPv6"]),
    row("via_udp: trains and taps, {family}", udp_trains.tapped, "family",
        stock="IPv4", all=["IPv4", "IPv6"]),
    row("via_udp: forged datagrams, {family}", udp_trains.forged, "family",
        stock="IPv4", all=["IPv4", "IPv6"]),
    row("via_udp: trains in TCP's shape, {nic}, {messages} messages",
        udp_shape.whole, "net pattern messages", stock=(0, "send*", 400),
        all=[(0, "*", 3000)], all_debug=None),
    row("receive queues: datagrams in several, raw frames in one",
        queues.spread, "net", queues=(0,)),
    row("via_udp: an end of trains in TCP's shape, {nic}", udp_shape.ended, "net",
        stock=0, all=(0,)),
    row("via_udp: bad network, {family}, {nic}", udp.bad,
        "family net messages",
        all=[("IPv4", EACH, 300), ("IPv6", EACH, 300)], all_debug=None),
    row("via_udp: routed, {family}", udp.suite_routed, "family pattern",
        all=[("IPv4", "*"), ("IPv6", "*")]),
    row("via_udp: strangers, {family}", udp.strangers, "family",
        stock="IPv4", all=["IPv4", "IPv6"]),
    row("via_udp: hosts with a key", udp.keys, at="all"),
    row("via_udp: behind a translator", udp.translated, at="all"),
    row("via_udp: a path becomes narrower, {family}", udp.narrow, "family",
        all=["IPv4", "IPv6"]),
    row("via_udp: a path drops long datagrams, {family}", udp.black, "family",
        newer="IPv4", all=["IPv4", "IPv6"]),
    row("via_udp: {names[0]} and others", udp.kinds, "names",
        stock=(("WireGuard", "VRF"),),
        all=(tuple(udp.KINDS),), all_debug=None),
    row("via_udp: commands, files and names", udp.configured,
        at="stock all"),
    row("via_udp: {amount} datagrams of garbage, {family}", udp.garbage,
        "family amount",
        all=[("IPv4", 50000), ("IPv6", 50000)],
        all_debug=("IPv6", 5000)),
    row("via_udp: addresses and namespaces go", udp.gone, at="stock all"),
    row("via_udp: an interface goes down", udp.down, at="stock all"),
    row("shared memory, {nic}", dsm.shared, "net", stock=2, all=EACH),
    row("shared memory: nodes by ssh, {nic}", dsm.by_ssh, "net", stock=2,
        all=2),
    row("shared memory: a node dies, {nic}", dsm.ended, "net", stock=2,
        all=EACH),
    row("libfabric: every call, {nic}", fabric.calls, "net", stock=2,
        all=EACH),
    row("libfabric: fi_pingpong, {nic}", fabric.pingpong, "net", stock=2,
        all=EACH),
    row("libfabric's own tests, {types}, {nic}", fabric.fabtests, "net types",
        jobs=[(0, types) for types in ("functional", "short,multinode")]),
    row("MPI, {ranks} ranks, messages to {most}, {nic}", fabric.mpi,
        "net ranks most", stock=(2, 2, 65536), all=(EACH, 4, 4194304),
        all_debug=None),
    row("MPI, 1 % loss, {nic}", fabric.mpi_lossy, "net", all=EACH,
        all_debug=None),
    row("MPI, a rank killed, {nic}", fabric.mpi_killed, "net", all=EACH,
        all_debug=None),
    row("MPI, {ranks} ranks, messages to {most}, {nic}", fabric.mpi,
        "net ranks most", four=(0, 4, 4194304)),
    row("MPI, {name}, {nic}", mpi.program, "net name",
        jobs=[(0, name) for name in mpi.PROGRAMS], four=(0, "LAMMPS")),
    row("MPI, 8 ranks, 8 MiB of locked memory, {nic}", mpi.memlock, "net",
        jobs=0),
    row("MPI, the cable is out, {nic}", mpi.unplugged, "net", jobs=0),
    row("MPI, a node is reset, {nic}", mpi.reset, "net", jobs=0),
    row("verbs: a device comes and goes, {nic}", rdma.comes_and_goes,
        "net rounds", stock=(0, 1), verbs=(0, 5)),
    row("verbs: siw beside it, {nic}", rdma_beside.siw, "net", verbs_siw=0),
    row("verbs: mvia.conf, {nic}", configure.verbs, "net", stock=0),
    row("verbs: {name} over {kind}, {nic}", rdma.program, "net name kind",
        stock=[(0, ["rping", "ib_write_bw"], "via")],
        verbs=[(0, list(rdma.PROGRAMS), "via"),
               (0, list(rdma.OVER_TCP), "tcp")],
        rxe=(0, list(rdma.PROGRAMS), "rxe")),
    row("verbs: what they promise, {nic}", rdma_own.promised,
        "net kind tests", stock=(0, "via", rdma_own.SOME),
        verbs=(0, "via", ""),
        verbs_harm=(0, "via", "process.foreign process.meet "
                    "process.killed_many event.*"),
        verbs_races=(0, "via", "connect.* flush.* process.* event.* srq.* "
                     "queue.*")),
    row("verbs: what they promise by UDP, {family}, {nic}",
        rdma_own.promised_udp, "net family tests",
        verbs=[(0, "IPv4", rdma_own.SOME), (0, "IPv6", rdma_own.SOME)]),
    row("verbs: {name} without rdma_cm, {nic}", rdma_roce.program, "net name",
        stock=(0, "ibv_rc_pingpong"), verbs=(0, list(rdma_roce.PROGRAMS))),
    row("verbs: both kinds of device on one NIC, {nic}", rdma_roce.beside,
        "net", verbs=0),
    row("verbs: what they promise without rdma_cm, {nic}",
        rdma_roce.promised, "net tests", verbs=(0, ""),
        verbs_harm=(0, rdma_roce.SOME)),
    row("verbs: what they promise without rdma_cm by UDP, {nic}",
        rdma_roce.promised_udp, "net tests", verbs=(0, rdma_roce.SOME)),
    row("verbs: a hostile program, {calls} calls, {nic}", rdma_own.hostile,
        "net kind calls", stock=(0, "via", 2000), verbs=(0, "via", 20000),
        verbs_harm=(0, "via", 20000), verbs_races=(0, "via", 20000)),
    row("verbs: a hostile program without rdma_cm, {calls} calls, {nic}",
        rdma_own.hostile, "net kind calls", verbs=(0, "via_roce", 20000),
        verbs_harm=(0, "via_roce", 20000), verbs_races=(0, "via_roce", 20000)),
    row("verbs: a control group's limit, {nic}", rdma_box.limited, "net",
        verbs=0),
    row("verbs: network namespaces, {nic}", rdma_box.namespaces, "net",
        verbs=0),
    row("verbs: counters of queue pairs, {nic}", rdma_box.counters, "net",
        newest=0, verbs=0),
    row("verbs: mixed storage for {seconds} s, {loss} lost, {nic}",
        rdma_mixed.mixed, "net seconds loss", verbs=(0, 60, 0.002),
        verbs_hour=(0, 3600, 0.002)),
    row("verbs: events of the device, {nic}", rdma_harm.events, "net",
        verbs=0),
    row("verbs: NVMe for {seconds} s, loss {loss:.0%}, {nic}",
        rdma_harm.lossy, "net seconds loss", verbs=(0, 10, 0.01),
        verbs_harm=(0, 1200, 0.01), verbs_races=(0, 300, 0.01)),
    row("verbs: {how} goes under load, {nic}", rdma_harm.gone, "net how",
        verbs=(0, rdma_harm.TROUBLES), verbs_harm=(0, rdma_harm.TROUBLES)),
    row("verbs: {amount} connections, {nic}", rdma_harm.connects,
        "net amount", verbs=(0, 1000), verbs_harm=(0, 10000),
        verbs_races=(0, 1000)),
    row("verbs: {what} by NVMe over {kind}, {depth} in flight, {nic}",
        rdma.nvme, "net kind what depth connects",
        stock=(0, "via", "a disk", 8, 1),
        verbs=(0, ["via", "tcp"], ["a disk", "a file"], 32, 5),
        rxe=(0, "rxe", ["a disk", "a file"], 32, 5)),
    row("verbs: {what} by NVMe over veth, {depth} in flight", rdma_veth.nvme,
        "what depth", verbs=(["a disk", "a file"], 32)),
    row("verbs: NVMe with shared receives, {depth} in flight, {nic}",
        rdma.nvme_shared, "net depth connects", verbs=(0, 32, 3)),
    row("verbs: {files} files by NFS over {kind}, {nic}", rdma_nfs.tree,
        "net kind files", stock=(0, "via", 40),
        verbs=[(0, "via", 20000), (0, "tcp", 1000)], rxe=(0, "rxe", 1000)),
    row("verbs: NFS over {kind}, its server starts {times} times, {nic}",
        rdma_nfs.restarted, "net kind times",
        verbs=(0, ["via", "tcp"], 3)),
    row("verbs: {amount} files on a disk by iSCSI over {kind}, {nic}",
        rdma_iser.files, "net kind amount", stock=(0, "via", 40),
        verbs=[(0, "via", 2000), (0, "tcp", 300)], rxe=(0, "rxe", 300)),
    row("verbs: {amount} files on a disk by SRP, {nic}", rdma_srp.files,
        "net kind amount", verbs=(0, "via", 2000)),
    row("verbs: {amount} files on a disk by SRP, shared receives, {nic}",
        rdma_srp.files, "net kind amount shared", verbs=(0, "via", 300, True)),
    row("verbs: a disk by {kind} over two paths, {how} goes",
        rdma_paths.paths, "kind how",
        verbs_paths=(list(rdma_paths.KINDS), rdma_paths.TROUBLES)),
    row("names by frames, {nic}", conform.names, "net",
        stock=2, newer=0, all=EACH),
    row("ends of programs, one machine", samples.ends_here, at="stock all"),
    row("ends of programs, {nic}", samples.ends_apart, "net",
        all=EACH),
    row("conformance under TSan", conform.conform_sanitized, "name",
        needs=("build: for TSan", stock), all="tsan"),
    row("conformance under ASan and UBSan", conform.conform_sanitized, "name",
        needs=("build: for ASan and UBSan", stock), all="asan"),
    row("{messages} messages, bad wire, {nic}", transfer.reliability,
        "net messages", stock=(2, 20000), all=(EACH, 100000),
        all_debug=(EACH, 20000), arm64=(0, 2000)),
    row("bad wire, 8 threads", transfer.reliability, "net messages options",
        races=(0, some(10000), "--threads 8 --level rr --reads")),
    row("checksums, {nic}", checksum.checksums, "net messages",
        all=(EACH, 20000),
        networks=(0, some(100000, 4000))),
    row("hosts with a key, {nic}", keys.transfers, "net messages",
        stock=(2, 1000), all=(EACH, 10000), all_debug=(EACH, 1000),
        networks=(0, some(100000, 4000))),
    # Time-outs are long in a debug kernel; make check-full has all of it.
    row("{messages} messages read back, bad wire, {nic}", transfer.reads,
        "net messages", stock=(0, 10000), debug=(1, 500),
        all=(EACH, 100000), all_debug=(EACH, 20000)),
    row("connections, 10 % loss, {nic}", conform.lossy_connections,
        "net patterns", all=(EACH, conform.LOSSY)),
    row("messages too long, {nic}", transfer.beyond, "net",
        stock=0, all=EACH),
    row("garbage frames, {nic}", transfer.garbage, "net", stock=0, all=EACH),
    row("kill -9 in transfers, {nic}", transfer.killed, "net rounds",
        stock=(0, 5), debug=(1, 3), all=(EACH, 10)),
    row("tools end well on a wire that loses, {nic}", transfer.farewells,
        "net runs", stock=(2, 24), all=(2, 40), all_debug=None),
    row("modules in use stay, {nic}", transfer.busy_modules, "net",
        stock=0, all=EACH),
    row("wire cut, {nic}", transfer.wire_cut, "net", stock=0, all=EACH),
    row("detached under load, {nic}", transfer.detached, "net",
        stock=0, all=EACH),
    # Every loss costs time, and a debug kernel has long time-outs.
    row("Unreliable on a wire that loses 2 %, {nic}", conform.lossy_unreliable,
        "net patterns", all=(0, (None,)),
        all_debug=(0, conform.LOST_MESSAGES)),
    row("TCP and VIA on a slow wire, {nic}", wires.sharing, "net",
        needs=stock, all=0, networks=0),
    row("slow wire, 1 % loss, {nic}", wires.lossy, "net cases",
        needs=stock, all=(0, wires.CASES), networks=(0, wires.CASES)),
    row("TCP and VIA in a queue that BQL stops, {nic}", wires.stopped, "net",
        needs=stock, all=0, networks=0),
    row("modules without a known key are refused", signed.locked_down,
        at="locked"),
    row("the same with sig_enforce", signed.enforced, needs=LAST, at="locked"),
    row("eight senders, one slow port", wires.overload, "net", crowd=0),
]

# Faults that were there once; they come first, the kernel is fresh.
PROVOKED = [
    row("the control page", regress.control, at="preempted"),
    row("a page that never comes, {on}", regress.page, "device",
        preempted=["via_eth0", LO]),
    row("detaching beside a throttled program", regress.throttled,
        "device detaches", preempted=("via_eth0", 1)),
    row("counters while the NIC goes", regress.stats, "detaches",
        **provoked(10)),
    row("answers while the NIC goes", regress.answers, "detaches",
        **provoked(10)),
    row("requests that are over before they are made", regress.overtaken,
        "seconds", **provoked(4, 1)),
    row("accepts at the last moment", regress.late, "accepts",
        **provoked(20)),
    row("peers that end each other", regress.peers, "seconds",
        **provoked(4, 1)),
    row("another ring beside changing heads", regress.resize, "resizes",
        preempted=40),
    row("{vis:,} VIs on one completion queue", regress.notices, "vis",
        preempted=1000, preempted_full=2000, preempted_full_debug=500, preempted_soak_debug=500),
    row("segments in flight", regress.segments, at="preempted"),
    # Their figures are about time: in an ordinary boot.
    row("detaching with 1,024 handles", regress.crowd, "device handles",
        needs=stock, stock=("via_eth0", 1024), all=("via_eth0", 1024),
        programs=("via_eth0", 1024)),
    row("VIs that come and go", regress.grace, "vis",
        needs=stock, stock=1000, all=1000, programs=1000),
    row("a VI in the place of another", regress.again, needs=stock,
        at="stock all programs"),
    row("handles that end in use", regress.others,
        at="stock programs programs_debug"),
]

# Hostile programs, and memory that runs out.
PROGRAMS = [
    row("{calls} hostile calls, {device}", hostile.hostile,
        "device calls seed", stock=(BOTH, 30000),
        programs=[(LO, some(3000000), seed()),
                  ("via_eth0", some(6000000), seed(1))],
        programs_newer=(BOTH, some(750000), seed(2)),
        programs_debug=(BOTH, some(50000), seed(3)),
        preempt=(LO, some(500000), seed(6)),
        races=(BOTH, some(60000), seed(4))),
    row("{calls} guided calls, {device}", hostile.guided, "device calls seed",
        debug=([LO, "via_eth1"], 1000), all_debug=([LO, "via_eth4"], 2000),
        programs_debug=(BOTH, some(100000), seed(3))),
    row("every kind of memory, {device}", hostile.memory_kinds, "device",
        stock=BOTH, debug="via_eth1", all_debug=[LO, "via_eth4"],
        programs=BOTH, programs_newer=BOTH, programs_debug=BOTH, preempt=LO,
        races=BOTH),
    row("every limit reached", hostile.limits,
        at="stock programs programs_debug"),
    row("quotas of users", rights.quotas, at="stock programs"),
    row("quotas of subordinate users", rights.subordinates,
        at="stock programs"),
    row("a program of the first release", mixed.program,
        at="stock newer all"),
    row("a library of another version", mixed.version, at="stock"),
    row("modules that lack calls", mixed.lacking, at="all"),
    row("hosts of another version of the wire", mixed.wire, at="all"),
    row("a library of the past, {commit}", mixed.library, "commit",
        check=None, all=mixed.COMMITS),
    row("modules of the past, {commit}", mixed.modules, "commit",
        check=None, all=mixed.COMMITS),
    row("library and modules before 1.0, {commit}", mixed.before, "commit",
        all=mixed.BEFORE),
    row("via: every command", configure.commands, at="stock all"),
    row("via: hosts stay with their interface", configure.kept,
        at="stock all"),
    row("via: counters", configure.counters, at="stock all"),
    # An emulated processor takes 20 s to compile a script.
    row("tracepoints, {nic}", tracing.tracepoints, "net scripts",
        stock=(2, ("via-latency.bt",)), all=0, all_debug=None),
    row("via: objects, {seconds} s of dumps", configure.objects, "seconds",
        stock=2, all=4, all_debug=20),
    row("via: modules that are loaded for it", configure.loading,
        at="stock all"),
    row("via: who may what", configure.rights, at="stock all"),
    row("via: faults of tools that were there once", configure.faults,
        at="stock all"),
    row("via: what a monitor tells", configure.events, at="stock all"),
    row("via: {count:,} messages that are wrong", configure.raw, "count seed",
        stock=(3000, 1), debug=(1000, 1), all=(20000, 1),
        all_debug=(20000, 1), programs=(some(5000), seed())),
    row("via: NICs that come and go meanwhile", configure.races, "rounds",
        debug=1, all=30, all_debug=30),
    row("containers: by hand", containers.by_hand, at="stock all"),
    row("containers: paths", containers.paths, "", stock=(), all=(),
        all_debug=None),
    row("containers: podman", containers.podman, "", all=(), all_debug=None),
    row("strangers, {nic}", rights.strangers, "net keyed", stock=(0, "send*"),
        all=(0, rights.KEYED), all_debug=None, wire=(1, rights.KEYED)),
    # In a kernel that is preemptible everywhere a call is left in the middle.
    row("{rounds} rounds of racing attempts, {device}", hostile.attempts,
        "device rounds seed", debug=(LO, 32), all_debug=(LO, 32),
        raced=(LO, 64), programs_debug=(BOTH, some(1500, 64), seed(3)),
        preempt=(BOTH, some(8000), seed()), races=(BOTH, some(1000), seed(4))),
    row("{rounds} rounds of racing attempts over a wire, {nic}",
        hostile.attempts_wire, "net rounds seed", raced=(0, 64),
        programs_debug=(0, some(1500, 64), seed(3)),
        preempt=(0, some(8000), seed()), races=(0, some(1000), seed(4))),
    row("a NIC comes and goes {times} times", hostile.churned, "times seed",
        all_debug=3, raced=10,
        programs_debug=(some(100, 8), seed(3)), preempt=(some(1500), seed()),
        races=(some(50), seed(4))),
    row("allocations fail, {nic}", hostile.faults, "device stride first",
        debug=("via_eth1", 16, first(16)), all_debug=("via_eth4", 8, first(8)),
        programs_debug=("via_eth0", 1, 1)),
    row("each allocation of a resized queue fails, {nic}", hostile.faults,
        "device stride first only", debug=("via_eth1", 1, 1, "resize-cq"),
        all_debug=("via_eth4", 1, 1, "resize-cq"),
        programs_debug=("via_eth0", 1, 1, "resize-cq")),
    # Each one takes two minutes of a soak.
    row("allocations fail, loading", hostile.load_faults, "stride first",
        all_debug=(320, first(8)),
        programs_debug=(lambda soak: 1 if soak.share >= 1 else 16, 1)),
    row("allocations fail in interrupts, {nic}", hostile.softirq_faults,
        "net messages", debug=(1, 700), all_debug=(4, 2000),
        programs_debug=(0, some(10000, 2000))),
]

# Hostile and bad wires.
WIRES = [
    row("{amount} frames thrown, {nic}", frames.frames, "net amount seed",
        stock=(2, 60000, 1), all=(2, 100000, 1), all_debug=(4, 6000, 1),
        wire=[(0, some(5000000), seed()), (1, some(5000000), seed(1))],
        wire_debug=(0, some(200000), seed(2)),
        native_wire=(0, some(300000), seed(5)),
        native_wire_debug=(0, some(100000), seed(5))),
    row("clients that are gone, {nic}", frames.gone_clients, "net count",
        stock=(2, 2), wire=(EACH, 5), wire_debug=(0, 2), native_death=(0, 2)),
    # The simulator does thousands of these in the time of one.
    row("bad network, {names[0]}, {nic}", badnet.conditions,
        "net messages seed names levels",
        stock=(2, 300, 1, ("everything at once",), ("rd",)),
        all=(2, 300, 1, CONDITIONS, ("rd",)), all_debug=None,
        wire_debug=(0, some(400, 400), seed(), ALL_CONDITIONS),
        networks=(0, some(3000, 1000), seed(), ALL_CONDITIONS)),
    row("a link that flaps, {nic}", badnet.flapping, "net flaps seed",
        needs=stock, stock=(2, 1, 1), all=(2, 2, 1),
        networks=(0, some(20), seed())),
    row("MTUs that change, {nic}", badnet.changing_mtu, "net changes seed",
        needs=stock, stock=(2, 2, 1), all=(2, 4, 1),
        networks=(0, some(20, each=2), seed())),
    row("MTUs that differ, {nic}", badnet.differing_mtu, "net messages seed",
        needs=stock, all=(2, 300, 1), networks=(0, 300, seed())),
    row("one-way wires, {nic}", badnet.one_way_wires, "net rounds ways",
        needs=stock, all=(2, 1, badnet.WAYS[:1]),
        networks=(0, 1, badnet.WAYS)),
    row("clients that are dead, {nic}", frames.dead_clients, "net count",
        needs=stock, all=(2, 1), networks=(0, 1)),
    row("{amount} connects, {loss:.0%} loss, {nic}", badnet.connects,
        "net amount loss seed", needs=stock, all=(2, 200, 0.1, 1),
        networks=(0, some(1000), [0.02, 0.1, 0.3], seed())),
    row("bits that flip past Ethernet", checksum.flipping,
        "net messages seed", networks=(0, some(3000, 1000), seed())),
]

# Death of processes, interfaces, namespaces, modules and machines; and very
# much of everything.
DEATH = [
    row("operations beside teardowns, via_lo", death.races,
        "rounds seed wire", programs_newer=(some(5), seed(), False),
        programs_debug=(some(1), seed(2), False),
        races=(some(1), seed(4), False)),
    row("operations beside teardowns", death.races, "rounds seed",
        all=(1, 32), all_debug=None, programs_newer=(some(5), seed(1)),
        programs_debug=(some(1), seed(3)), races=(some(1), seed(5))),
    row("receiver stopped for {seconds} s", death.held, "net seconds rounds",
        needs=stock, all=(2, 15, 1), death=(0, some(130), 1)),
    row("{count} kill -9, via_lo", death.kills, "net count seed at_once",
        stock=(None, 20, 21),
        all_debug=(None, 15, 23, 3), death=(None, some(480), seed()),
        death_debug=(None, some(40), seed(2), 3)),
    row("{count} kill -9 over a wire", death.kills, "net count seed at_once",
        stock=(2, 20, 22), death=(0, some(480), seed(1)),
        death_debug=(0, some(20), seed(3), 3), races=(0, some(40), seed()),
        native_death=(0, some(60), seed(4))),
    row("fork, vfork, exec with registered memory", death.processes,
        "net rounds", stock=(2, 1), all_debug=(None, 1),
        death=(0, some(10)), death_debug=(0, 1)),
    row("ip link del under VIs", death.links_deleted,
        "rounds kinds connections", debug=(1, ("what carries a vlan",), 2),
        all_debug=(1, ("what carries a vlan",), 2), death=some(5),
        death_debug=1),
    row("network namespaces deleted under VIs", death.spaces_deleted,
        "rounds connections", stock=(1, 2), all_debug=(1, 2), death=some(5),
        death_debug=1),
    row("a card moves between namespaces", death.card_moved, "net rounds",
        stock=2, death=(0, some(5)), death_debug=0),
    row("stock driver unbound under via_netdev", death.stock_unbound,
        "net rounds", stock=2, death=(0, some(5)), death_debug=0),
    row("modules come and go under openers", death.modules_loop, "rounds",
        stock=1, death=some(20)),
    row("node reset without goodbye", death.node_reset, "net rounds seed",
        death=(0, some(5), seed()), death_debug=(0, 1, seed())),
    row("{count:,} VIs at once", scale.many_vis, "net count rounds",
        stock=(2, 500, 1), all=(2, 1000, 1), all_debug=(None, 50, 1),
        much=(0, some(1000), 5)),
    row("{count:,} VIs at once, their owner killed", crowd.killed,
        "net count", large=(0, 50000)),
    row("regions by the thousand", scale.many_regions, "count processes vis",
        stock=(5000, 2, 100)),
    row("{count:,} regions", scale.many_regions, "count processes vis seed",
        much=(some(100000), 1, 0, seed())),
    row("{count:,} regions of four processes", scale.many_regions,
        "count processes vis seed", much=(some(100000), 4, 100, seed())),
    row("connects by the thousand", scale.many_connects,
        "net count", all=(2, 500), all_debug=None, much=(0, some(5000))),
    row("a memory group too small", scale.squeezed, "mib rounds",
        stock=32, much=(32, some(5))),
    row("a machine without memory", scale.hogged, "net seconds messages",
        much=(0, some(60), some(20000))),
    row("via_lo with small limits", conform.small_limits, at="stock all"),
    row("unplugged under load, {nic}", transfer.interface_gone, "net",
        needs=LAST, stock=1, debug=1, all=EACH, death=1, death_debug=1),
    row("suspend and resume", death.suspended, needs=LAST, at="asleep"),
]

# Our own drivers on the card: what each chip's may have wrong on each kernel,
# and what lies behind all of them.
CHIP = "native native_newer native_full"
BY_NATIVE = [
    row("IP", native_ip.ip_traffic, "mebibytes",
        native=2, native_full=8, native_long=1024),
    row("long frames", native_ip.jumbo, at=CHIP),
    row("conformance", conform.conform_wire, "net",
        native_full=0, mixed_full=0),
    row("conformance {pattern}", conform.conform_wire, "net pattern",
        iommu=(0, "rdma*"), mixed=(0, conform.BRIEF),
        native=(0, conform.BRIEF), native_newer=(0, conform.BRIEF),
        iommu_full=(0, ["send*", "rdma*", "read*", "memory*"])),
    row("conformance {pattern}, {nic}", conform.conform_wire, "net pattern",
        mixed=[(1, "send*,rdma*"), (2, "send*,rdma*")], mixed_full=None),
    row("polling: round trips", polling.round_trips, at=CHIP),
    row("polling: many at once", polling.many, at=CHIP),
    row("{messages} messages, bad wire", transfer.reliability, "net messages",
        native=(0, 20000), native_newer=(0, 5000), native_full=(0, 20000)),
    row("IP floods its rings", flooded.beside_ip, needs=flooded.has_pairs,
        at="native_full"),
    row("ethtool", native_ip.questions, at="native native_full"),
    row("address filters", native_ip.filters, at="native native_full"),
    row("interrupts", native_ip.quiet, at=CHIP),
    row("registers, in order", registers.sequences,
        at="native native_newer native_full mixed"),
    row("via selftest", selftest.cards, at="native native_full mixed"),
    row("cable pulled", native_harm.link_lost, at=CHIP),
    row("via-bind", native_ip.rebinding, at="native_full"),
    row("names by frames", conform.names, "net",
        native=0, native_full=0, mixed=0),
    row("TCP and VIA on a slow wire", wires.sharing, "net cases",
        native_full=(0, wires.SHARING[:1])),
    row("polling: the others on the NIC", polling.others, at="native_full"),
    row("polling: kill -9, down, unbind", polling.killed, "rounds",
        native=1, native_full=5),
    row("{messages} messages read back, bad wire", transfer.reads,
        "net messages", native=(0, 4000), native_full=(0, 4000)),
    row("garbage frames", transfer.garbage, "net", native=0, native_full=0),
    row("kill -9 in transfers", transfer.killed, "net rounds",
        native=(0, 1), native_full=(0, 5)),
    row("wire cut", transfer.wire_cut, "net", native=0, native_full=0),
    row("MTU, address, name, namespace", native_ip.configured, at="native_full"),
    row("down and up under load", native_harm.down_and_up, "rounds",
        native_full=5),
    row("unbound under load", native_harm.unbound, "rounds",
        native=1, native_full=5, native_death=some(3)),
    row("modules loaded again", native_harm.reloaded, "rounds",
        native=1, native_full=5, native_death=some(5)),
    row("killed, transmitter held", pinned.held, needs=pinned.can_hold,
        at="native_full iommu"),
    row("killed, transmitter stopped", pinned.cut_off, needs=pinned.can_hold,
        at="native_full iommu"),
    row("memory, interface down", pinned.down_with_memory,
        at="native_full iommu"),
    # What these leave is not known.
    row("everything at once", native_harm.churn, "seconds", needs=LAST,
        native=10, native_full=60, native_long=600,
        native_death=some(120)),
    # A slow kernel takes a minute for it: not in make check.
    row("pulled out under load", native_harm.vanished, needs=LAST,
        at="native native_full native_death"),
    row("unplugged under load", native_harm.unplugged, needs=LAST,
        at="native native_full"),
    # Where the stock driver had eth0 until then.
    row("native {nic}: conformance {pattern}",
        native.bound(conform.conform_wire), "net pattern", needs=LAST,
        newest=(0, "send*,rdma*")),
    row("native {nic}: {messages} messages, bad wire",
        native.bound(transfer.reliability), "net messages", needs=LAST,
        newest=(0, 5000), all_debug=(0, 600)),
    row("native e1000: everything at once", native.bound(native_harm.churn),
        "seconds", needs=LAST, debug=10),
    row("native e1000: unplugged under load",
        native.bound(native_harm.unplugged), needs=LAST, at="debug"),
    row("suspended and resumed", native_harm.suspended, needs=LAST,
        at="native_asleep"),
]
ROWS = [*ON_HOST, *IN_GUESTS, *PROVOKED, *PROGRAMS, *WIRES, *DEATH, *BY_NATIVE]
