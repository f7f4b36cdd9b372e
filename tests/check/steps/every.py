# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""All modules that Kbuild names."""

import os
import re

from labkit.base import ROOT
from runner import StepFailed


def every():
    with open(os.path.join(ROOT, "Kbuild")) as file:
        return re.findall(r"^obj-m \+= (\w+)\.o$", file.read(), re.M)


def load(session):
    """All are in the kernel at one time; those that were not before go
    again."""
    lab, node = session.lab, session.lab.nodes[0]
    new = [name for name in every()
           if node.run(f"test -e /sys/module/{name}").rc]
    node.sh("modprobe -a udp_tunnel ip6_udp_tunnel iw_cm ib_uverbs")
    lab.insmod(node, modules=new)
    there = node.sh("ls /sys/module").out.split()
    lost = set(every()) - set(there)
    if lost:
        raise StepFailed(f"not loaded: {', '.join(sorted(lost))}")
    session.check.write(f"{len(every())} modules are loaded: "
                        f"{' '.join(every())}")
    lab.rmmod(node, modules=new)
