# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The virtual-machine lab of mvia.

    with Lab(nodes=2, nics=["e1000", "tulip"], kernel="6.1") as lab:
        n0, n1 = lab.nodes
        print(n0.sh("uname -r").out)
        server = n1.spawn("iperf3 -s -1 --forceflush")
        server.expect("listening")
        n0.sh("iperf3 -c node2 -t 2")
        lab.wire(0).set(loss=0.05)

The i-th NIC of every node is eth<i>, on wire i, with the address
10.<i>.0.<node>/24; node1, node2... resolve to the addresses on wire 0.  The
host's root is the guest's, read-only under a layer in memory.  Leaving the
block fails (LabError) when a kernel said what no kernel should say.

In exact mode there is one guest with one CPU that advances its clock by one
nanosecond per instruction; its two NICs share a hub, and eth1 lives in the
network namespace "peer": 10.0.0.1 is eth0, 10.0.0.2 is eth1.  Its kernel
copies without `rep movsb` (labkit/node.py says why); erms=True brings it back.
"""

import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time

from labkit import accel, initrd, kernels, patience, qemu
from labkit.arm64 import Arm64Node
from labkit.base import BUILD, ROOT, VIA, LabError, ensure_tools
from labkit.node import Node
from labkit.wire import Wire

__all__ = ["Lab", "LabError"]

MODULES = ("via_ka", "via_lo", "via_ether", "via_netdev")
KEEP_LOGS = 30


def new_logdir():
    """build/lab/<time>-<pid>; the oldest beyond a few are removed."""
    base = os.path.join(BUILD, "lab/runs")
    os.makedirs(base, exist_ok=True)
    for old in sorted(os.listdir(base))[:-KEEP_LOGS]:
        shutil.rmtree(os.path.join(base, old), ignore_errors=True)
    name = f"{time.strftime('%m%d-%H%M%S')}-{os.getpid()}"
    path, count = os.path.join(base, name), 0
    while os.path.exists(path):
        count += 1
        path = os.path.join(base, f"{name}.{count}")
    os.makedirs(path)
    return path


def orderly_end():
    """SIGTERM unwinds as Ctrl-C does, so that nothing is left in /tmp."""
    if threading.current_thread() is threading.main_thread() and \
            signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class Lab:
    """Nodes, wires and their logs.

    nodes, nics, cpus, mem (MiB): the guests, all alike.
    kernel: "6.1", "6.12", "7.3", "debug-6.1" or "kcsan-6.1".
    wire: settings for all wires, see labkit.wire.Wire.
    exact: one guest that counts instructions.
    erms: in exact mode, the processor's ERMS and FSRM stay on.
    boot_limit: seconds that a booting guest may take, see labkit.patience.
    append: more words for the kernel's command line.
    iommu: NICs are behind one, which refuses what no driver has mapped.
    arm64: names of the nodes of that machine, with Debian's 6.1.
    mitigations: False: the kernel has none against speculation, which an
        emulated CPU does not do; retpolines are an eighth of what it runs.
    """

    def __init__(self, nodes=2, nics=("virtio-net",), kernel="6.1", cpus=1,
                 mem=None, wire=None, exact=False, logdir=None, append="",
                 accelerator=None, qemu_args=(), boot_limit=None,
                 arm64=(), erms=False, iommu=False, mitigations=True):
        if isinstance(nics, str):
            nics = [nics]
        if not 1 <= nodes <= 9:
            raise LabError("a lab has 1 to 9 nodes")
        if exact and cpus != 1:
            raise LabError("exact mode has one CPU")
        self.count, self.exact, self.cpus = 1 if exact else nodes, exact, cpus
        self.nics = list(nics)
        if exact:
            self.nics = [self.nics[0]] * 2
        for spec in self.nics:
            initrd.nic_model(spec)
        self.append, self.qemu_args = append, list(qemu_args)
        if iommu:
            self.append = f"{append} {qemu.IOMMU_WORDS}".strip()
            self.qemu_args += qemu.IOMMU
        self.erms = erms
        self.mitigations = mitigations and not exact
        self.kernel = kernels.kernel(kernel)
        self.arm64 = arm64
        self.foreign = kernels.kernel(kernels.ARM64) if arm64 else None
        # It is slow; and it looks for leaks.
        self.slow = kernel in kernels.FRAGMENTS or bool(arm64)
        self.debug = kernel.startswith("debug")
        self.mem = mem or (1024 if self.slow else 512)
        self.boot_limit = patience.boot_limit(boot_limit,
                                              300 if self.slow else 120)
        ensure_tools()
        self.initrd = initrd.build(self.kernel)
        self.accel = "tcg" if exact else accel.choose(
            accelerator, kernels.kernel("6.1"),
            initrd.build(kernels.kernel("6.1")))
        self.logdir = os.path.abspath(logdir) if logdir else new_logdir()
        os.makedirs(self.logdir, exist_ok=True)
        self.wire_settings = dict(wire or {})
        self.nodes, self.wires = [], []
        self.clock = patience.Clock(self.threads)
        self.rundir = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                self.check()
        finally:
            self.stop()

    def start(self):
        """Boot everything; returns when all agents answer."""
        orderly_end()
        self.rundir = tempfile.mkdtemp(prefix="mvia-")
        try:
            if not self.exact:
                for number in range(len(self.nics)):
                    self.wires.append(Wire(self, number, self.count,
                                           self.wire_settings))
            self.nodes = [self.node(i) for i in range(self.count)]
            for node in self.nodes:
                node.start()
            for node in self.nodes:
                node.ready()
            if self.exact:
                self.split_nics()
        except BaseException:
            self.stop()
            raise

    def node(self, index):
        """Of another kind in a lab of another kind."""
        if f"node{index + 1}" in self.arm64:
            return Arm64Node(self, index, self.foreign)
        return Node(self, index)

    def threads(self):
        """All that it needs to be run: wires, guests, their CPUs."""
        for wire in self.wires:
            yield wire.process.pid
        for node in self.nodes:
            if node.qemu:
                yield node.qemu.pid
                yield from node.threads

    def split_nics(self):
        """Exact mode: eth1 into a namespace, neighbours known (no ARP)."""
        self.nodes[0].sh(
            "ip netns add peer && ip link set eth1 netns peer && "
            "ip addr add 10.0.0.1/24 dev eth0 && ip link set eth0 up && "
            "ip -n peer addr add 10.0.0.2/24 dev eth1 && "
            "ip -n peer link set lo up && ip -n peer link set eth1 up && "
            "ip neigh add 10.0.0.2 lladdr 52:54:00:00:01:01 dev eth0 && "
            "ip -n peer neigh add 10.0.0.1 lladdr 52:54:00:00:00:01 dev eth1")

    def stop(self):
        """End all guests and wires; the logs stay."""
        for node in self.nodes:
            node.kill()
        for wire in self.wires:
            wire.stop()
        if self.rundir:
            shutil.rmtree(self.rundir, ignore_errors=True)
            self.rundir = None

    def wire(self, number=0):
        return self.wires[number]

    def check(self):
        """LabError when a console holds a warning; names node and log."""
        bad = []
        for node in self.nodes:
            lines = node.klog.scan()
            if lines:
                bad.append(f"{node.name}'s kernel complained: {lines[0]} "
                           f"({len(lines)} such lines), see {node.console}")
        if bad:
            raise LabError("; ".join(bad))

    # Our modules

    def module_path(self, name, node=None):
        """Of a module, as that node sees it; where it is missing, insmod
        says so."""
        kernel = node.kernel if node else self.kernel
        path = os.path.join(BUILD, "modules", kernel.release, f"{name}.ko")
        if kernel is not self.foreign and not os.path.exists(path):
            raise LabError(f"{path} is missing: run "
                           f"{shlex.join(kernel.make('modules'))}")
        return path

    def insmod(self, node, params=None, modules=MODULES):
        """Insert our modules; params: {"via_ka": "max_vi=16"}."""
        commands = [f"insmod {self.module_path(name, node)} "
                    f"{(params or {}).get(name, '')}".strip()
                    for name in modules]
        if not commands:
            return
        command = " && ".join(commands)
        if "via_ether" in modules:
            # Part of the kernel itself since 6.16; insmod tells what lacks.
            command = f"modprobe -q libcrc32c; {command}"
        node.sh(command, 120 * len(commands))

    def rmmod(self, node, modules=MODULES):
        node.sh("rmmod " + " ".join(reversed(modules)), 120)

    def udp(self, node):
        """via_udp, with the kernel's modules that it needs."""
        node.sh("modprobe -a udp_tunnel ip6_udp_tunnel")
        self.insmod(node, modules=("via_udp",))

    def attach(self, node, *interfaces):
        """Make interfaces VI NICs: /dev/via_<interface>."""
        if interfaces:
            node.sh(" && ".join(
                f"{VIA} dev attach {name} && test -c /dev/via_{name}"
                for name in interfaces), 60 * len(interfaces))

    def detach(self, node, *interfaces):
        for name in interfaces:
            node.sh(f"{VIA} dev detach {name}")

    def verbs(self, node, interface, kind="via"):
        """A verbs device on an interface: <kind>0, of via_rdma (each of
        its types) or of the kernel's rdma_rxe."""
        node.sh("modprobe -a iw_cm ib_uverbs rdma_ucm", 120)
        if kind.startswith("via"):
            self.insmod(node, modules=("via_rdma",))
        else:
            node.sh(f"modprobe rdma_{kind}", 120)
        node.sh(f"rdma link add {kind}0 type {kind} netdev {interface}")

    def no_verbs(self, node, kind="via"):
        """The device and its module go."""
        node.sh(f"rdma link del {kind}0")
        node.sh(f"rmmod {'rdma_rxe' if kind == 'rxe' else 'via_rdma'}")

    def peers(self, node, interface, hosts, netns=None):
        """The hosts that may talk to a VI NIC, {address: key or None} in one
        change; None: all."""
        via = f"{VIA} -n {netns}" if netns else VIA
        if hosts is None:
            node.sh(f"{via} peer allow {interface} all")
            return
        lines, keys = [f"[interface {interface}]", "allow = none"], []
        for i, (address, key) in enumerate(hosts.items()):
            lines.append(f"allow = {address}" + f" key /tmp/key{i}" * bool(key))
            if key:
                keys.append(f"echo {key} >/tmp/key{i}; ")
        text = "\\n".join(lines)
        node.sh(f"umask 077; {''.join(keys)}printf '{text}\\n' "
                f">/tmp/peers.conf; {via} apply /tmp/peers.conf")

    def spread(self):
        """For measurements: each CPU of a guest has one of this machine's, if
        there are enough; else two that spin may share one for a while."""
        threads = [t for node in self.nodes for t in node.threads]
        cpus = sorted(os.sched_getaffinity(0))
        if len(threads) <= len(cpus):
            for thread, cpu in zip(threads, cpus):
                os.sched_setaffinity(thread, {cpu})

    def native(self, node, *interfaces):
        """Our own drivers for these NICs, IP addresses and all, and so
        /dev/via_<interface>.  The modules above are there already."""
        drivers = [initrd.native_driver(self.nics[int(name[3:])])
                   for name in interfaces]
        self.insmod(node, modules=("via_native", *dict.fromkeys(drivers)))
        for name in interfaces:
            node.sh(f"{ROOT}/tools/via-bind {name} native && "
                    f"test -c /dev/via_{name}", 200)
        # Links come up by themselves, some only after seconds.
        for name in interfaces:
            node.sh("until grep -q 1 /sys/class/net/"
                    f"{name}/carrier; do sleep 0.1; done", 120)

    # What must be balanced at the end

    def pins(self, node):
        """Pages that are pinned now (the counters are per CPU: fold first)."""
        text = node.sh("echo 1 >/proc/sys/vm/stat_refresh; "
                       "grep nr_foll_pin /proc/vmstat").out
        value = {k: int(v) for k, v in re.findall(r"(\w+) (\d+)", text)}
        return (value["nr_foll_pin_acquired"] -
                value["nr_foll_pin_released"])

    def leaks(self, node, memory=True):
        """LabError on pages still pinned or, debug kernel, memory leaked."""
        pins = self.pins(node)
        if pins:
            raise LabError(f"{node.name}: {pins} pages are still pinned")
        if not self.debug or not memory:
            return
        # kmemleak reports only what is older than 5 s, and wants two looks.
        found = node.sh("f=/sys/kernel/debug/kmemleak; sleep 6; "
                        "echo scan >$f; echo scan >$f; cat $f", 300).out
        if found.strip():
            with open(os.path.join(self.logdir, f"{node.name}.kmemleak"),
                      "w") as file:
                file.write(found)
            raise LabError(f"{node.name}: kmemleak: "
                           f"{found.count('unreferenced object')} leaked "
                           f"objects, see {file.name}")
