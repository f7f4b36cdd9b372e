# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A Debian 12 with systemd: its disk, its initramfs, the guest that runs it.

The disk is made once and kept in the lab's cache, by what it is made of; a run
writes to a copy of its own that ends with it.
"""

import contextlib
import glob
import hashlib
import os
import subprocess
import time

from lab import Lab
from labkit import accel, image, initrd, kernels
from labkit.base import (BUILD, CACHE, TOOLS, LabError, locked, logged,
                         say)
from labkit.node import Node

HERE = os.path.dirname(os.path.realpath(__file__))
AGENT = os.path.join(BUILD, "lab/agent")
AGENT_SOURCE = os.path.join(TOOLS, "agent.c")
REPO = os.path.join(BUILD, "system/repository")
OWN = os.path.join(BUILD, "system/disk.ext4")
COMMON = ("console=ttyS0 loglevel=5 panic=0 watchdog_thresh=60 net.ifnames=0 "
          "random.trust_cpu=on tsc=reliable no_timer_check printk.time=1 "
          "root=/dev/vda rw systemd.show_status=no "
          "systemd.journald.forward_to_console=no")
# Interfaces are eth0 and eth1, as in README and in most virtual machines.
INIT = b"""#!/bin/sh
bb=/bin/busybox
$bb mount -t devtmpfs devtmpfs /dev
for m in $($bb cat /modules.load); do $bb insmod /modules/$m.ko; done
until [ -b /dev/vda ]; do $bb usleep 20000; done
$bb mount -t ext4 /dev/vda /root && $bb mount -o move /dev /root/dev &&
	exec $bb switch_root /root /sbin/init
echo "lab init: cannot start the system" >/dev/kmsg
while :; do $bb sleep 1000; done
"""


def key(kernel):
    state = hashlib.sha256(repr(kernel).encode())
    # The agent by its source: what is built knows its folder.
    for path in (os.path.join(HERE, "root"), AGENT_SOURCE):
        with open(path, "rb") as file:
            state.update(file.read())
    return state.hexdigest()[:16]


def disk(kernel):
    """The path of the disk, made if it is not there."""
    path = os.path.join(CACHE, f"system-{key(kernel)}.ext4")
    with locked("system", "making a Debian system"):
        if os.path.exists(path):
            return path
        kernels.need_root("making a Debian system")
        for old in glob.glob(os.path.join(CACHE, "system-*.ext4*")):
            os.unlink(old)
        kernels.setup_packages("system")
        log = os.path.join(CACHE, "system.log")
        open(log, "w").close()
        say(f"making a Debian 12 to install packages in, once (log: {log})")
        logged([os.path.join(HERE, "root"), path, kernel.release,
                kernel.modules, AGENT], log, "making a Debian system")
    return path


def archive(kernel, path):
    """An initramfs that finds the disk and starts systemd."""
    made = initrd.Archive()
    for folder in ("bin", "dev", "modules", "root"):
        made.add(folder, 0o040755)
    made.add("dev/console", 0o020600, device=(5, 1))
    made.file("bin/busybox", initrd.busybox())
    made.add("bin/sh", 0o120777, b"busybox")
    made.add("init", 0o100755, INIT)
    names = []
    for module in ("virtio_pci", "virtio_blk", "ext4", "crc32c_generic"):
        for file in initrd.insert_order(kernel, module) or []:
            name = os.path.basename(file)[:-3]
            if name not in names:
                names.append(name)
                made.file(f"modules/{name}.ko", file, 0o100644)
    made.add("modules.load", 0o100644, " ".join(names).encode())
    with open(path, "wb") as file:
        file.write(made.bytes())
    return path


class Machine(Node):
    """The guest with systemd; commands run in a service of its own."""

    def command(self):
        lab, prefix = self.lab, self.run_prefix
        words = COMMON
        if lab.accel == "tcg":
            words += f" {accel.words()} mitigations=off"
        device = "e1000,mitigation=off"
        return ["qemu-system-x86_64", "-name", "mvia-system,debug-threads=on",
                "-nodefaults", "-no-user-config", "-display", "none",
                "-machine", "pc,usb=off,vmport=off",
                *accel.arguments(lab.accel), "-smp", "1", "-m", "768",
                "-kernel", image.plain(lab.kernel.image),
                "-initrd", lab.system_initrd,
                "-append", words,
                "-no-reboot", "-drive",
                f"file={OWN},format=raw,if=virtio,cache=unsafe",
                "-chardev", f"file,id=console,path={self.console},append=on",
                "-serial", "chardev:console",
                "-qmp", f"unix:{prefix}.qmp,server=on,wait=off",
                "-device", "virtio-serial-pci,max_ports=2",
                "-chardev", f"socket,id=agent,path={prefix}.agent,"
                "server=on,wait=off",
                "-device", "virtserialport,chardev=agent,nr=1,name=agent",
                "-virtfs", f"local,path={REPO},mount_tag=mvia,"
                "security_model=none,readonly=on",
                *self.netdev(0), *self.netdev(1),
                "-device", f"{device},netdev=n0,id=nic0,romfile=,"
                "mac=52:54:00:00:00:01"]

    def restart(self):
        """systemctl reboot; returns when the agent answers again.  The guest
        ends with QEMU, and another QEMU boots: one that has emulated a system
        for minutes takes twice as long for a boot as a fresh one."""
        self.spawn("systemctl reboot").lost = "the node was booted again"
        patience = self.patience()
        while self.qemu.poll() is None:
            time.sleep(0.1)
            if patience.over():
                raise LabError(f"{self.name} does not end for its reboot, see "
                               f"{self.console}")
        if self.qemu.returncode:
            self.health()
        self.kill()
        self.start()
        self.ready()


class System(Lab):
    """node1 is the Debian, node2 a guest of the lab on the same wire."""

    def __init__(self, **settings):
        super().__init__(nodes=2, nics=["e1000", "e1000"], kernel="6.1",
                         boot_limit=240, mitigations=False, **settings)
        self.disk = disk(self.kernel)
        self.system_initrd = archive(
            self.kernel, os.path.join(self.logdir, "initrd"))

    def node(self, index):
        return Node(self, index) if index else Machine(self, index)

    def start(self):
        os.makedirs(os.path.dirname(OWN), exist_ok=True)
        subprocess.run(["cp", "--sparse=always", self.disk, OWN], check=True)
        super().start()

    def stop(self):
        super().stop()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(OWN)
