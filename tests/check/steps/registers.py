# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What native drivers do to registers, in the order that the chips want:
tests/check/registers has that, QEMU's trace what was done."""

import contextlib
import os
import sys
import time

from labkit import initrd
from labkit.base import ROOT
from runner import Skipped, StepFailed

EXPECTED = os.path.join(ROOT, "tests/check/registers")
sys.path.insert(0, EXPECTED)
from compare import Expected, amiss  # noqa: E402

FILES = {"e1000": "82540em", "e1000e": "82574l", "tulip": "21143",
         "i82559er": "82559er"}
EVENTS = ("memory_region_ops_read", "memory_region_ops_write")


@contextlib.contextmanager
def traced(node):
    """What the guest's devices see meanwhile, as a list of one text."""
    said = []
    with open(node.qemu_log, errors="replace") as log:
        log.seek(0, os.SEEK_END)
        for enable in (True, False):
            for event in EVENTS:
                node.qmp.call("trace-event-set-state", name=event,
                              enable=enable)
            if enable:
                try:
                    yield said
                except BaseException:
                    for event in EVENTS:
                        node.qmp.call("trace-event-set-state", name=event,
                                      enable=False)
                    raise
        said.append(log.read())


def compare(session, node, model, interface):
    """Down and up, against the file of the model."""
    expected = Expected(os.path.join(EXPECTED, FILES[model]))
    for action in ("down", "up"):
        with traced(node) as said:
            node.sh(f"ip link set {interface} {action}", 60 * session.slow)
        done = list(expected.accesses(said[0]))
        wrong = amiss(expected.actions[action], done)
        session.check.write(f"{model} {action}: {len(done)} accesses")
        if wrong:
            for access in done:
                session.check.write(f"{access.op} {access.reg} "
                                    f"{access.value:#x}")
            raise StepFailed(f"{model}, {action}: {wrong}")


def extra(node, model):
    """Another card, of another model of the same driver, without a wire: its
    interface's name."""
    device = initrd.nic_model(model)[1]
    before = node.sh("ls /sys/class/net").out.split()
    node.monitor(f"device_add {device},id=extra,romfile=")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        new = set(node.sh("ls /sys/class/net").out.split()) - set(before)
        if new:
            return new.pop()
        time.sleep(0.2)
    raise StepFailed(f"no interface of the new {model}")


@contextlib.contextmanager
def beside(session, node, model):
    """The same for the time of a block."""
    name = extra(node, model)
    try:
        node.sh(f"ip link set {name} up")
        session.wait_until(node, f"grep -q 1 /sys/class/net/{name}/carrier",
                           f"{name} has no carrier")
        yield name
    finally:
        node.monitor("device_del extra")
        session.wait_until(node, f"test ! -e /sys/class/net/{name}",
                           f"{name} does not go")


def sequences(session):
    """Of this session's card, and of the 82574 where that has the same
    driver: the other models leave out most of what differs there."""
    node, model = session.lab.nodes[0], session.lab.nics[0].split(",")[0]
    if model not in FILES:
        raise Skipped(f"there is no list for the {model}")
    compare(session, node, model, "eth0")
    session.carrier()
    if model == "e1000":
        with beside(session, node, "e1000e") as name:
            compare(session, node, "e1000e", name)
