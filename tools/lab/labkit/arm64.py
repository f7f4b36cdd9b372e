# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A guest of another machine: arm64, always emulated.

Its root is the folder that its kernel was unpacked to, and build/arm64 is
there what build is for other nodes; so what steps run on a node, they run on
it.  TCG executes the loads and stores of each of its CPUs in the order in which
x86 keeps them: a barrier that is missing shows on a real arm64 only.
"""

import os

from . import accel, initrd
from .base import BUILD, codename
from .node import Node

OUT = os.path.join(BUILD, "arm64")
TOOLS = "aarch64-linux-gnu-"
CC = TOOLS + ("gcc-12" if codename() == "bookworm" else "gcc-14")
COMMON = ("console=ttyAMA0 loglevel=5 panic=0 net.ifnames=0 "
          "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60 "
          f"ipv6.disable_ipv6=1 printk.time=1 {accel.FIXED}")


def user(kernel, *targets):
    """The words of make that build programs for it."""
    top = os.path.dirname(os.path.dirname(kernel.image))
    libraries = os.path.join(top, "usr/lib/aarch64-linux-gnu")
    return ["B=build/arm64", f"CC={CC}", "WERROR=1",
            f"CPPFLAGS=-idirafter {top}/usr/include",
            f"LDFLAGS=-L{libraries} -Wl,-rpath-link,{libraries}", *targets]


def modules(kernel):
    """And those that build the modules."""
    return ["modules", "B=build/arm64", f"KDIR={kernel.kdir}",
            f"KFLAGS=W=1 KCFLAGS=-Werror ARCH=arm64 CROSS_COMPILE={TOOLS}"]


class Arm64Node(Node):
    """Node with QEMU's "virt" machine.  Its NICs are virtio-net."""

    def __init__(self, lab, index, kernel):
        super().__init__(lab, index, kernel)
        self.initrd = initrd.build(kernel, os.path.join(OUT, "lab/agent"),
                                   os.path.join(self.top, "bin/busybox"))

    @property
    def top(self):
        return os.path.dirname(os.path.dirname(self.kernel.image))

    def common(self):
        return (f"{COMMON} lab.tree=build "
                f"lab.modules={self.kernel.modules[len(self.top):]}")

    def command(self):
        lab = self.lab
        return ["qemu-system-aarch64", "-name",
                f"mvia-{self.name},debug-threads=on", "-nodefaults",
                "-no-user-config", "-display", "none",
                "-machine", "virt,gic-version=3",
                # Signing pointers by the rules takes half of the time.
                "-cpu", "max,pauth-impdef=on", "-accel", "tcg,thread=multi",
                "-smp", str(lab.cpus), "-m", str(lab.mem),
                "-kernel", self.kernel.image, "-initrd", self.initrd,
                "-append", self.kernel_arguments(),
                *self.channels(),
                *self.share(self.top, "host"), *self.share(OUT, "build"),
                *self.nic_arguments(), *lab.qemu_args]
