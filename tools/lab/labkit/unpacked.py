# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Debian's packages that only guests have: servers that this machine is not
to run.

They are never installed: each set is unpacked below the cache, with those
libraries that the machine lacks, and a guest copies it to its own root, which
lies in its memory.
"""

import os
import re
import shlex
import shutil

from .base import CACHE, LabError, locked, logged, output_of, say
from .kernels import Apt, download

SETS = {
    "nfs": ("nfs-kernel-server", "nfs-common"),
    "iscsi": ("open-iscsi",),
    "ssh": ("openssh-server", "openssh-client"),
    # dmsetup and kpartx for their rules of udev.
    "multipath": ("multipath-tools", "dmsetup", "kpartx"),
}


def wanted(apt, names):
    """These, and libraries of theirs that are missing here, of Python, too."""
    text = output_of(["apt-get", *apt.options, "-s",
                      "--no-install-recommends", "install", *names])
    new = dict(re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+)", text, re.M))
    for name in names:
        if name not in new:  # the machine has this very one
            new[name] = apt.field(name, "Version")
    return [f"{name}={version}" for name, version in new.items()
            if name in names or name.startswith(("lib", "python3-"))]


def fetch(name, folder, log):
    apt = Apt(log=log)
    try:
        packages = wanted(apt, SETS[name])
    except LabError:
        # No package lists here: this refreshes them, as root.
        say("refreshing apt's package lists")
        apt.get("update")
        packages = wanted(apt, SETS[name])
    say(f"fetching {', '.join(SETS[name])} for guests, once")
    shutil.rmtree(folder, ignore_errors=True)
    for deb in download(apt, folder, packages).values():
        logged(["dpkg-deb", "-x", deb, os.path.join(folder, "root")], log,
               "unpacking packages")
    shutil.rmtree(os.path.join(folder, "debs"))
    with open(os.path.join(folder, "info"), "w") as file:
        file.write("\n".join(packages) + "\n")


def root(name):
    """The folder that holds a set, from the cache or else fetched."""
    folder = os.path.join(CACHE, f"guest-{name}")
    info = os.path.join(folder, "info")
    if not os.path.exists(info):
        with locked(f"guest-{name}", f"the packages of {name}"):
            if not os.path.exists(info):
                log = os.path.join(CACHE, f"guest-{name}.log")
                open(log, "w").close()
                fetch(name, folder, log)
    return os.path.join(folder, "root")


def install(node, name):
    """A guest has the set from now on; the links /bin, /lib and /sbin of its
    root stay links.  Its linker looks for new libraries."""
    node.sh(f"tar -C {shlex.quote(root(name))} -c . | "
            "tar -C / -x --keep-directory-symlink --no-overwrite-dir && "
            "ldconfig", 120)
