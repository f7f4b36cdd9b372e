# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One guest: its QEMU, its agent, its console."""

import json
import os
import shlex
import socket
import subprocess
import threading
import time

from . import accel, image, initrd, qemu
from .base import LabError, ROOT, die_with_parent, prefer, say
from .jobs import Link
from .klog import KernelLog
from .patience import REMEDY, Patience, ran, waited

COMMON = ("console=ttyS0 loglevel=5 panic=0 rcupdate.rcu_cpu_stall_timeout=120 "
          "watchdog_thresh=60 net.ifnames=0 ipv6.disable_ipv6=1 "
          "random.trust_cpu=on tsc=reliable no_timer_check nokaslr acpi=noirq "
          "printk.time=1")

# Exact mode counts instructions, and `rep movsb` is one for each byte while
# `rep movsq` is one for eight.  A kernel on a processor with ERMS or FSRM copies
# to and from programs by the first: to the counter, eight times the copy that
# it is.  Figures without them compare one copy with another.
NO_STRINGS = "clearcpuid=erms,fsrm"


class Monitor:
    """QEMU's machine protocol."""

    def __init__(self, path, health, limit=120):
        end = time.monotonic() + limit
        self.lock = threading.Lock()
        while True:
            self.socket = socket.socket(socket.AF_UNIX)
            try:
                self.socket.connect(path)
                break
            except OSError:
                self.socket.close()
                health()
                if time.monotonic() > end:
                    raise LabError(f"QEMU offers no monitor at {path}")
                time.sleep(0.02)
        self.socket.settimeout(60)
        self.file = self.socket.makefile("r")
        self.file.readline()  # the greeting
        self.call("qmp_capabilities")

    def call(self, command, **arguments):
        request = {"execute": command}
        if arguments:
            request["arguments"] = arguments
        with self.lock:
            try:
                self.socket.sendall(json.dumps(request).encode() + b"\n")
                while True:
                    line = self.file.readline()
                    if not line:
                        raise LabError(f"QEMU ended during '{command}'")
                    answer = json.loads(line)
                    if "return" in answer:
                        return answer["return"]
                    if "error" in answer:
                        raise LabError(f"QEMU's monitor: {command}: "
                                       f"{answer['error'].get('desc')}")
            except OSError as error:
                raise LabError(f"QEMU's monitor: {command}: {error}")

    def close(self):
        self.file.close()
        self.socket.close()


class Node:
    """A guest.  Made by Lab; `index` counts from 0, names from node1."""

    def __init__(self, lab, index, kernel=None):
        self.lab, self.index = lab, index
        self.kernel = kernel or lab.kernel
        self.name = f"node{index + 1}"
        self.address = f"10.0.0.{index + 1}"
        self.log_path = os.path.join(lab.logdir, f"{self.name}.log")
        self.console = os.path.join(lab.logdir, f"{self.name}.console")
        self.run_prefix = os.path.join(lab.rundir, f"n{index + 1}")
        self.klog = KernelLog(self.console)
        self.link = Link(self.name, f"{self.run_prefix}.agent", self.log_path,
                         self.health, lab.clock.now)
        if lab.exact:
            # An idle guest leaps to its next timer: only our clock counts.
            self.link.haste = 1000
        self.qemu = None
        self.qmp = None
        self.plugs = []  # connections to wires, until QEMU has them
        self.threads = []  # one for each of its CPUs
        self.boot_seconds = None

    # Starting

    def common(self):
        """Of the kernel's command line, what its machine needs."""
        words = f"{COMMON} lab.modules={self.kernel.modules}"
        if not self.lab.exact and self.lab.accel == "tcg":
            words += f" {accel.words()}"
        return words

    def kernel_arguments(self):
        lab, opts = self.lab, [self.common()]
        models = [initrd.nic_model(s) for s in lab.nics]
        opts += [f"lab.node={self.index + 1}", f"lab.nodes={lab.count}",
                 f"lab.nics={','.join(m for m, _, _ in models)}",
                 f"lab.mods={','.join(dict.fromkeys(d for *_, d in models))}",
                 f"lab.cwd={ROOT}"]
        if lab.exact:
            opts.append("lab.exact=1")
            if not lab.erms:
                opts.append(NO_STRINGS)
        if not lab.mitigations:
            opts.append("mitigations=off")
        if lab.append:
            opts.append(lab.append)
        return " ".join(opts)

    def netdev(self, net):
        """A connection to that wire, which QEMU gets as a descriptor: so its
        main loop reads it.  A netdev "stream" is a source of GLib's, which
        wakes that loop once more for each frame."""
        plug = socket.socket(socket.AF_UNIX)
        self.plugs.append(plug)
        plug.connect(self.lab.wire(net).port_path(self.index))
        return ["-netdev", f"socket,id=n{net},fd={plug.fileno()}"]

    def nic_arguments(self):
        args = []
        for net, spec in enumerate(self.lab.nics):
            model, device, _ = initrd.nic_model(spec)
            mac = f"52:54:00:00:{net:02x}:{self.index + 1:02x}"
            if self.lab.exact:
                args += ["-netdev", f"hubport,id=n{net},hubid=0"]
            else:
                args += self.netdev(net)
            args += ["-device", f"{device},netdev=n{net},id=nic{net},"
                     f"mac={mac},romfile={qemu.slot(model, net)}"]
        return args

    def channels(self):
        """To the console, to QEMU and to the agent."""
        prefix = self.run_prefix
        return ["-chardev", f"file,id=console,path={self.console}",
                "-serial", "chardev:console",
                "-qmp", f"unix:{prefix}.qmp,server=on,wait=off",
                "-device", "virtio-serial-pci,max_ports=3",
                "-chardev", f"socket,id=agent,path={prefix}.agent,"
                "server=on,wait=off",
                "-device", "virtserialport,chardev=agent,nr=1,name=agent",
                "-chardev", f"socket,id=shell,path={prefix}.shell,"
                "server=on,wait=off",
                "-device", "virtserialport,chardev=shell,nr=2,name=shell"]

    @staticmethod
    def share(path, tag):
        """A folder of the host, to read."""
        return ["-virtfs", f"local,path={path},mount_tag={tag},"
                "security_model=none,readonly=on,multidevs=remap"]

    def command(self):
        lab = self.lab
        if lab.exact:
            # Figures are compared with those of this CPU, and of this boot.
            speed = ["-accel", "tcg,thread=single", "-cpu",
                     "max,la57=off" if lab.slow else "max",
                     "-icount", "shift=0,sleep=off"]
            kernel = self.kernel.image
        else:
            speed = accel.arguments(lab.accel)
            kernel = image.plain(self.kernel.image)
        models = [initrd.nic_model(spec)[0] for spec in lab.nics]
        return [*qemu.command(models), "-name",
                f"mvia-{self.name},debug-threads=on", "-nodefaults",
                "-no-user-config", "-display", "none", "-machine",
                "pc,usb=off,vmport=off", *speed,
                "-smp", str(lab.cpus), "-m", str(lab.mem),
                "-kernel", kernel, "-initrd", lab.initrd,
                "-append", self.kernel_arguments(), *self.channels(),
                *self.share("/", "host"), *self.nic_arguments(),
                *lab.qemu_args]

    def start(self):
        """Start QEMU; ready() waits for the guest."""
        self.started = time.monotonic()
        self.qemu_log = os.path.join(self.lab.logdir, f"{self.name}.qemu")
        command = self.command()
        with open(self.qemu_log, "w") as log:
            log.write(shlex.join(command) + "\n")
            log.flush()
            self.qemu = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent,
                pass_fds=[plug.fileno() for plug in self.plugs])
        while self.plugs:
            self.plugs.pop().close()
        self.qmp = Monitor(f"{self.run_prefix}.qmp", self.health)
        self.threads = [cpu["thread-id"] for cpu in
                        self.qmp.call("query-cpus-fast")]
        self.link.connect()

    def renice(self, value):
        """Of the guest's CPUs."""
        for thread in self.threads:
            try:
                os.setpriority(os.PRIO_PROCESS, thread, value)
            except OSError:
                pass

    def favour(self):
        """QEMU's own I/O before a guest that spins.  Where we may not raise
        that, the guest's CPUs step back, and whatever else this machine does
        is before them."""
        if self.lab.exact:
            return
        if not prefer(self.qemu.pid):
            self.renice(5)

    def patience(self, limit=None):
        """With a boot that begins now."""
        # The other CPUs wait for the first one until late in the boot.
        threads = [self.qemu.pid, self.threads[0]]
        return Patience(limit or self.lab.boot_limit, self.console,
                        lambda: waited(threads), lambda: ran(self.threads))

    def ready(self, limit=None):
        """Wait until the guest's agent answers."""
        patience, resets = self.patience(limit), 0
        while not self.link.wait_for(lambda: self.link.release, 0.5):
            over = patience.over()
            if patience.asleep() and not resets:
                say(f"{self.name} sleeps in the middle of its boot, see "
                    f"{self.console}: reset, once")
                resets += 1
                self.reset(wait=False)
                self.greet()
                patience = self.patience(limit)
            elif over:
                raise LabError(f"{self.name} did not boot: {patience.why()}, "
                               f"see {self.console}; {REMEDY}")
        self.boot_seconds = time.monotonic() - self.started
        self.favour()
        if self.link.release != self.kernel.release:
            raise LabError(f"{self.name} runs {self.link.release}, not "
                           f"{self.kernel.release}")

    def health(self):
        """LabError when QEMU has ended or the kernel is beyond talking."""
        if self.qemu and self.qemu.poll() is not None:
            with open(self.qemu_log) as log:
                said = log.read().splitlines()[1:] or ["no word"]
            raise LabError(f"{self.name}: QEMU ended with status "
                           f"{self.qemu.returncode}: {said[-1]}; see "
                           f"{self.qemu_log}")
        self.klog.scan()
        if self.klog.dead:
            raise LabError(f"{self.name}'s kernel died: {self.klog.dead}; see "
                           f"{self.console}")

    # Working

    def spawn(self, command, timeout=None, stdin=False):
        """Start a command; returns the Job.  `timeout` kills it, in s."""
        return self.link.start(command, timeout, stdin)

    def run(self, command, timeout=60):
        """Run a command to its end; LabError when it takes longer."""
        return self.spawn(command, timeout).wait()

    def sh(self, command, timeout=60):
        """run(), but a non-zero status is a LabError too."""
        result = self.run(command, timeout)
        if result.rc:
            last = (result.all.strip().splitlines() or [""])[-1]
            raise LabError(f"{self.name}: '{command}' ended with status "
                           f"{result.rc} ({last}), see {self.log_path}")
        return result

    def monitor(self, line):
        """A line for QEMU's human monitor, as "set_link nic0 off"."""
        text = self.qmp.call("human-monitor-command",
                             **{"command-line": line})
        if text.startswith(("Error", "unknown command")):
            raise LabError(f"{self.name}: monitor: {line}: {text.strip()}")
        return text

    # Ending

    def reset(self, wait=True):
        """Pull the reset button; the guest boots again, jobs are lost."""
        # It stands still meanwhile, so that nothing which it was about to
        # say comes out of the new connection, cut in two.
        self.qmp.call("stop")
        self.link.close("the node was reset")
        self.qmp.call("system_reset")
        self.qmp.call("query-status")
        self.started = time.monotonic()
        self.renice(0)
        self.link.connect()
        self.qmp.call("cont")
        if wait:
            self.greet()
            self.ready()

    def greet(self):
        """The agent's first word may be lost in a reset: ask for it."""
        patience = self.patience()
        while not patience.over():
            if self.link.wait_for(lambda: self.link.release, 4):
                return
            job = self.spawn("uname -r", 10)
            self.link.wait_for(lambda j=job: j.done or self.link.release, 4)
            if job.rc == 0:
                self.link.release = job.out.strip()

    def kill(self):
        """End the guest at once, as a power cut does."""
        if self.qemu and self.qemu.poll() is None:
            self.qemu.kill()
            self.qemu.wait()
        self.link.close("the node was killed")
        if self.qmp:
            self.qmp.close()
            self.qmp = None
        self.klog.scan()
        self.qemu = None
