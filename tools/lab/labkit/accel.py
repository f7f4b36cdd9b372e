# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""KVM where it really boots a kernel, else multi-threaded emulation."""

import json
import os
import subprocess
import tempfile
import time

from .base import (BUILD, CACHE, LabError, die_with_parent, locked, output_of,
                   say)

# Without five levels of page tables: an emulator walks them at each miss of
# its TLB, and Linux 6.1 forgets at boot for a moment that its CPU has them: an
# interrupt then ends in KASAN.  Without ERMS and FSRM: `rep movsb` and `rep stosb`
# are a turn of the emulator for each byte, and where a processor has these Linux
# copies and clears by them.  A guest's boot takes a quarter less of the host.
TCG = ["-accel", "tcg,thread=multi", "-cpu", "max,la57=off,erms=off,fsrm=off"]
KVM = ["-accel", "kvm", "-cpu", "host,la57=off"]
FIXED = "norandmaps"
PROBE_SECONDS = 8


def machine():
    """What a probe's answer holds for: this boot of this machine."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return f"{os.uname().release} {file.read().strip()}"


def kvm_boots(kernel, initrd):
    """Whether the lab's guest reaches user space on KVM within seconds."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    path = os.path.join(CACHE, "kvm-probe")
    with locked("kvm-probe", "probing KVM"):
        try:
            with open(path) as file:
                known = json.load(file)
            if known["machine"] == machine():
                return known["boots"]
        except (OSError, ValueError, KeyError):
            pass
        boots = probe(kernel, initrd)
        say("KVM boots a guest here" if boots else
            "KVM boots no guest here, using emulation")
        with open(path, "w") as file:
            json.dump({"machine": machine(), "boots": boots}, file)
        return boots


def probe(kernel, initrd):
    with tempfile.TemporaryDirectory(prefix="mvia-probe-") as folder:
        console = os.path.join(folder, "console")
        qemu = subprocess.Popen(
            ["qemu-system-x86_64", "-nodefaults", "-no-user-config",
             "-display", "none", "-machine", "pc", *KVM, "-m", "256",
             "-kernel", kernel.image, "-initrd", initrd,
             "-append", "console=ttyS0 loglevel=5 panic=0",
             "-serial", f"file:{console}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
        end = time.monotonic() + PROBE_SECONDS
        try:
            while time.monotonic() < end and qemu.poll() is None:
                # Our init complains that it has no 9p share: it has booted.
                if os.path.exists(console):
                    with open(console, "rb") as file:
                        if b"lab init: cannot mount" in file.read():
                            return True
                time.sleep(0.1)
            return False
        finally:
            qemu.kill()
            qemu.wait()


def choose(wanted, kernel, initrd):
    """'kvm' or 'tcg'; `wanted` may force one."""
    wanted = wanted or os.environ.get("MVIA_ACCEL")
    if wanted not in (None, "", "auto", "kvm", "tcg"):
        raise LabError(f"no accelerator '{wanted}': there are kvm, tcg, auto")
    if wanted in ("kvm", "tcg"):
        return wanted
    return "kvm" if kvm_boots(kernel, initrd) else "tcg"


def arguments(name):
    return KVM if name == "kvm" else TCG


def words():
    """Of an emulated guest's kernel command line: how fast its time stamp
    counter is (tsc.c), and no random addresses of programs.  QEMU 7.2 looks its
    translated code up by virtual addresses, and translates libc and the dynamic
    linker anew for each program that begins elsewhere: 45 ms of the host for
    `true`, 12 without."""
    khz = output_of([os.path.join(BUILD, "lab/tsc")]).strip()
    return f"tsc_early_khz={khz} {FIXED}"
