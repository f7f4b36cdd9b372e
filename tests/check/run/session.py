# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sessions: steps that share one boot of a lab."""

import contextlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import atonce
from lab import Lab, LabError
from labkit.base import ROOT
from labkit.initrd import NATIVE
from runner import LOGS, Skipped, StepFailed

BIND = f"{ROOT}/tools/via-bind"
# A wire that does nothing to frames.
GOOD = dict(loss=0, burst=1, dup=0, reorder=0, gap=3, hold="2ms", corrupt=0,
            slip=0, delay=0, jitter=0, rate=0, queue=0, forget=0, cut="none",
            deaf="none", mute="none")
# Two processors of QEMU's TCG, one of which runs the breakpoint that the other
# has taken out already: one boot of some hundred, on a busy host.
PATCHING = "Oops: int3"


class Session:
    """Steps in one lab.  It boots with the first step that is wanted; after
    a crash or a hang the next step gets a fresh boot."""

    def __init__(self, check, title, modules=True, attach=True, **settings):
        self.check, self.title = check, title
        self.modules, self.attach, self.settings = modules, attach, settings
        self.lab = None
        self.used = False
        self.seen = {}  # node: bad lines on its console so far
        self.gone = set()  # NICs that a step has unplugged on node 2
        self.bound = {}  # NICs that are our own driver's: net: its name

    @property
    def slow(self):
        """How many times as long things may take on this kernel."""
        return 4 if self.lab.slow else 1

    @property
    def driver(self):
        """Our own one that has eth0, None if the stock one has it."""
        return self.bound.get(0)

    def nic_name(self, net):
        """Of the NIC of that wire, where results are told."""
        return self.settings["nics"][net]

    def ours(self):
        """Nodes whose NICs our own drivers have, where any has."""
        return self.lab.nodes

    def boot(self):
        settings = dict(self.settings)
        self.check.build_user()
        if self.modules:
            self.check.build_modules(settings.get("kernel", "6.1"))
        if "arm64" in settings:
            self.check.build_arm64()
        self.start(settings)
        for node in self.lab.nodes:
            self.check.write(f"{node.name} up after {node.boot_seconds:.1f} s")
            if self.modules:
                self.prepare(node)
        self.lab.check()

    def start(self, settings):
        """The guests; again, and told, where one has died as it patched its
        own text, with nothing of ours in it."""
        for again in (False, True):
            logdir = os.path.join(LOGS, atonce.slug(self.title) +
                                  time.strftime("-%H%M%S"))
            self.lab = Lab(logdir=logdir, **settings)
            self.check.write(f"booting: {settings}; consoles in {logdir}")
            try:
                return self.lab.start()
            except LabError as why:
                if again or not any(PATCHING in line for node in self.lab.nodes
                                    for line in node.klog.scan()):
                    raise
                self.check.write(str(why))
                self.check.note("booted again: the emulated processor did "
                                "not see the kernel patch its own text")
                self.lab.stop()

    def prepare(self, node, params=None):
        """All modules, with parameters as Lab.insmod() has them, and all cards
        attached."""
        self.lab.insmod(node, params)
        if self.attach:
            self.lab.attach(node, *self.cards())

    def bind(self, net):
        """The NIC of that wire is our own driver's from now on."""
        driver = NATIVE[self.settings["nics"][net]]
        new = [] if self.bound else ["via_native"]
        if driver not in self.bound.values():
            new.append(driver)
        for node in self.ours():
            self.lab.insmod(node, modules=new)
            node.sh(f"{BIND} eth{net} native", 200)
        self.bound[net] = driver

    def carrier(self):
        for node in self.lab.nodes:
            for net in self.bound:
                self.wait_until(
                    node, f"grep -q 1 /sys/class/net/eth{net}/carrier",
                    f"eth{net} has no carrier")

    def cards(self, gone=()):
        return [f"eth{i}" for i in range(len(self.lab.nics)) if i not in gone]

    def stop(self):
        self.gone.clear()
        self.seen.clear()
        self.bound.clear()
        if self.lab:
            self.lab.stop()
            self.lab = None

    def ready(self):
        if not self.lab:
            try:
                self.boot()
            except BaseException:
                self.stop()
                raise

    def step(self, name, function, *args):
        """function(session, *args) with self.lab up; the consoles must stay
        clean while it runs."""
        full = f"{self.title}: {name}"
        if not self.check.wanted(full):
            return True
        if not self.lab and not self.check.listing:
            if not self.check.step(f"{self.title}: boot", self.ready):
                return False
        self.used = True

        def body():
            self.ready()
            try:
                did = function(self, *args)
            except (LabError, StepFailed):
                self.complaints()
                raise
            self.check.counts = did if isinstance(did, dict) else {}
            self.complaints()

        passed = self.check.step(full, body)
        if not passed and self.lab:
            self.survive()
        return passed

    def complaints(self):
        """Fails on what the consoles say since the last look."""
        for node in self.lab.nodes:
            bad = node.klog.scan()
            new, self.seen[node] = bad[self.seen.get(node, 0):], len(bad)
            if new:
                self.check.write("\n".join(new))
                raise StepFailed(f"{node.name}'s kernel complained: {new[0]}; "
                                 f"see {node.console}")

    def survive(self):
        """After a failure: is the lab still fit for the next step?"""
        if self.bound:
            # It is not known which driver has the card: boot afresh.
            self.stop()
            return
        try:
            if self.lab.debug and any(self.seen.values()):
                # The lock checker is off after its first find.
                self.stop()
                return
            for node in self.lab.nodes:
                busy = [j for j in node.link.jobs.values() if not j.done]
                for job in busy:
                    job.kill()
                for job in busy:
                    job.wait(20)
                node.sh("true", 20)
            self.lab.wire(0).set(**GOOD)
        except (LabError, IndexError):
            self.stop()

    def end(self):
        """The closing steps, then the power goes off.  Where it was
        interrupted they say nothing, and the user wants to go."""
        interrupted = sys.exc_info()[0] is not None
        if not interrupted and (self.lab or self.check.listing):
            if self.used:
                self.check.step(f"{self.title}: no page stays pinned",
                                self.nothing_pinned)
                if self.modules:
                    self.check.step(f"{self.title}: idle modules unload",
                                    self.unload)
                    self.check.step(f"{self.title}: nothing leaked",
                                    self.nothing_leaked)
        self.stop()

    def nothing_pinned(self):
        for node in self.lab.nodes:
            self.lab.leaks(node, memory=False)
        self.complaints()

    def nothing_leaked(self):
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.lab.leaks, self.lab.nodes))
        self.complaints()

    def unload(self):
        for node in self.lab.nodes:
            native = set(self.bound if node in self.ours() else ())
            if self.attach or node not in self.ours():
                self.lab.detach(node, *self.cards(
                    native | (set() if node is self.lab.nodes[0] else
                              self.gone)))
            if native:
                node.sh(f"rmmod {' '.join(set(self.bound.values()))} "
                        "via_native", 60)
            self.lab.rmmod(node)
        # The consoles speak up late: a command each lets them finish.
        for node in self.lab.nodes:
            node.sh("true")
        self.complaints()

    # For the steps

    def write_job(self, job):
        self.check.write(f"{job.link.name}$ {job.command}\n{job.all}")

    def run(self, node, command, timeout=120, status=0):
        """Run a command on a node; its status must be `status`."""
        job = node.spawn(command, timeout)
        try:
            result = job.wait()
        finally:
            self.write_job(job)
        if status is not None and result.rc != status:
            lines = [x for x in result.all.splitlines() if x.strip()]
            last = lines[-1] if lines else "no output"
            raise StepFailed(f"{node.name}: '{command}' ended with status "
                             f"{result.rc}: {last}")
        return result

    @contextlib.contextmanager
    def bad_wire(self, net, **settings):
        """A wire, with these settings until the end of the block."""
        wire = self.lab.wire(net)
        try:
            if settings:
                wire.set(**settings)
            yield wire
        finally:
            wire.set(**GOOD)

    def wait_until(self, node, condition, what, limit=30):
        """A command of the node's is to end with status 0 by then."""
        clock = self.lab.clock.now
        end = clock() + limit * self.slow
        while node.run(condition).rc:
            if clock() > end:
                raise StepFailed(f"{node.name}: {what}")
            time.sleep(0.1)


class NativeSession(Session):
    """Two nodes, their cards bound to our drivers on both, or (mixed) on the
    first one only."""

    def __init__(self, check, title, nics, mixed=False, iommu=False,
                 **settings):
        self.mixed, self.iommu = mixed, iommu
        words = f"dma_debug_driver={NATIVE[nics[0]]} iomem=relaxed"
        super().__init__(check, title, attach=False, nics=nics, iommu=iommu,
                         append=words, **settings)

    @property
    def driver(self):
        return NATIVE[self.settings["nics"][0]]

    def nic_name(self, net):
        name = super().nic_name(net)
        name = f"{name} by {NATIVE[name]}"
        return name + " and stock" if self.mixed else name

    def boot(self):
        super().boot()
        for net in range(len(self.lab.nics)):
            self.bind(net)
        if self.mixed:
            self.lab.attach(self.lab.nodes[1], *self.cards())
        self.carrier()

    def ours(self):
        return self.lab.nodes[:1] if self.mixed else self.lab.nodes


class ControlSession(Session):
    """What only stands beside VIA, as the kernel's rdma_rxe, which stalls and
    oopses by itself: what is wrong there is told, and fails nothing."""

    def step(self, name, function, *args):
        def told(session, *given):
            try:
                counts = function(session, *given)
                super(ControlSession, self).complaints()
                return counts
            except (LabError, StepFailed) as why:
                # Nothing is known of the guests any more.
                self.stop()
                raise Skipped(f"told, not counted: {why}")

        return super().step(name, told, *args)

    def complaints(self):
        """After a step all are told."""

    def end(self):
        self.stop()
