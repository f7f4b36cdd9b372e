# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What helps TCP: the offloads of its interface are a part of its name wherever
bulk is compared with it."""

import re

# Drivers that hand frames to the stack without joining them, whatever ethtool
# says: they do not call napi_gro_receive().  veth passes a long frame as it is.
NO_JOINING = ("tulip", "e100", "veth")

# Of the lab's NICs, with the stock driver: the wire of virtio-net takes no frame
# longer than its MTU, so that TCP cuts them there itself.
STOCK = {"e1000": "TSO, GRO", "virtio-net": "GRO"}


def named(features, driver):
    """"TSO, GRO" and so on, of the output of ethtool -k."""
    on = set(re.findall(r"(?m)^([a-z-]+): on\b", features))
    found = []
    if "tcp-segmentation-offload" in on:
        found.append("TSO")
    if "generic-receive-offload" in on and driver not in NO_JOINING:
        found.append("GRO")
    return ", ".join(found) or "no offloads"


def of(node, interface):
    """Those of an interface of a guest."""
    driver = node.sh("basename $(readlink /sys/class/net/"
                     f"{interface}/device/driver || echo veth)").out.strip()
    return named(node.sh(f"ethtool -k {interface}").out, driver)


def tcp(node, interface, name="tcp"):
    """What TCP is called that leaves by that interface of a guest."""
    return f"{name} ({of(node, interface)})"
