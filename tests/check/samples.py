# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs as others write them, in a guest: old C, by dlopen, 32 bits."""

import os

from labkit.base import BUILD
from runner import StepFailed

PROGRAMS = ("old10", "old095", "old10-static", "dl")


def commands(device):
    """The library under both of its names, and every build there is."""
    for build in (BUILD, os.path.join(BUILD, "m32")):
        folder = os.path.join(build, "samples")
        if build != BUILD and not os.path.isdir(folder):
            continue
        for name in PROGRAMS:
            yield (f"{folder}/{name} "
                   + (f"/tmp/vipl.so {device}" if name == "dl" else device),
                   f"cp -f {build}/libvipl.so.1 /tmp/vipl.so")


def run(session):
    """On the loopback NIC, and on a NIC connected to its own address."""
    devices = ["via_lo"] + ["via_eth0"] * bool(session.lab.nics)
    failed = []
    for device in devices:
        for command, before in commands(device):
            result = session.run(session.lab.nodes[0],
                                 f"{before} && {command}", 60, status=None)
            if result.rc:
                failed.append(f"{command}: status {result.rc}")
    if failed:
        raise StepFailed(f"{len(failed)} failed: {failed[0]}")
