# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which QEMU a node runs on: the machine's own or, for a NIC model that this
one has not, that of bookworm-backports.

The other one is never installed: it is unpacked below the cache, with those
libraries that the machine lacks, and only nodes with such a NIC run it.
"""

import json
import os
import re
import shutil

from .base import (CACHE, LabError, codename, locked, logged, output_of,
                   say)
from .kernels import download, private_apt

# NIC models that Debian 12's own QEMU, 7.2, has not; and those of two slots.
NEWER = ("igb",) if codename() == "bookworm" else ()
WIDE = ("igb",)
OWN = "qemu-system-x86_64"
SUITE = "bookworm-backports"
# What a node takes of it, and no more.
PACKAGES = ("qemu-system-x86", "qemu-system-common", "qemu-system-data",
            "seabios", "ipxe-qemu")
FIRMWARE = ("usr/share/qemu", "usr/share/seabios", "usr/lib/ipxe/qemu")

# NICs behind an IOMMU: a read of what is not mapped is a fault there, and told.
IOMMU = ("-machine", "q35,kernel-irqchip=split", "-device", "intel-iommu")
IOMMU_WORDS = "intel_iommu=on iommu.strict=1"


def wanted(apt):
    """[name=version], of PACKAGES and of libraries that are missing here or
    too old."""
    if not apt.field(PACKAGES[0], "Version", "-t", SUITE):
        raise LabError(f"apt finds none, see {apt.log}")
    text = output_of(["apt-get", *apt.options, "-s", "-t", SUITE,
                      "--no-install-recommends", "install", *PACKAGES])
    new = dict(re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+)", text, re.M))
    for name in PACKAGES:
        if name not in new:  # the machine has this very one
            new[name] = apt.field(name, "Version", "-t", SUITE)
    return [f"{name}={version}" for name, version in new.items()
            if name in PACKAGES or name.startswith("lib")]


def fetch(folder, log):
    apt = private_apt(log, "apt-qemu", ("bookworm", SUITE))
    say(f"reading the package lists of {SUITE} (private copy)")
    apt.get("update")
    packages = wanted(apt)
    say(f"fetching QEMU from {SUITE}: the machine's own lacks "
        f"{', '.join(NEWER)}")
    shutil.rmtree(folder, ignore_errors=True)
    for deb in download(apt, folder, packages).values():
        logged(["dpkg-deb", "-x", deb, folder], log, "unpacking QEMU")
    shutil.rmtree(os.path.join(folder, "debs"))


def program(folder):
    """Its first words, which find firmware and libraries in the folder."""
    libraries = os.path.join(folder, "usr/lib/x86_64-linux-gnu")
    words = ["env", f"LD_LIBRARY_PATH={libraries}",
             os.path.join(folder, "usr/bin", OWN)]
    for path in FIRMWARE:
        words += ["-L", os.path.join(folder, path)]
    return words


def newer():
    """The words of the newer QEMU, from the cache or else fetched."""
    folder = os.path.join(CACHE, "qemu-10")
    info = os.path.join(folder, "info")
    if os.path.exists(info):
        return program(folder)
    with locked("qemu-10", f"QEMU from {SUITE}"):
        if not os.path.exists(info):
            log = os.path.join(CACHE, "qemu-10.log")
            open(log, "w").close()
            try:
                fetch(folder, log)
                version = output_of([*program(folder), "--version"])
            except LabError as why:
                raise LabError(f"no QEMU with {', '.join(NEWER)}, which is "
                               f"fetched from {SUITE}: {why}")
            say(version.splitlines()[0])
            with open(info, "w") as file:
                json.dump({"version": version.splitlines()[0]}, file)
    return program(folder)


def slot(model, net):
    """Where the NIC of a wire lies on the bus, as a property of its device.

    An igb reserves its virtual functions' places: two slots, from the 16th
    behind its own on.  So each has another two."""
    return f",addr={8 + 2 * net:#x}" if model in WIDE else ""


def command(models):
    """The first words of a node's command, for its NIC models."""
    return newer() if set(models) & set(NEWER) else [OWN]
