# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Registered memory that a card's DMA reads: it stays until the frames that
name it have left, whatever becomes of the program and of the card."""

import re

import native
import steps
from again import again
from labkit.base import ROOT
from runner import StepFailed

STALL = f"{ROOT}/tests/check/stall.py"


def counted(node, command, name):
    found = re.search(rf"\b{name}:?\s+(\d+)", node.sh(command).out)
    if not found:
        raise StepFailed(f"{node.name}: '{command}' tells no {name}")
    return int(found[1])


def resets(node):
    return counted(node, "ethtool -S eth0", "resets")


def by_dma(node):
    return counted(node, f"{steps.TOOLS}/viastat -d via_eth0",
                   "tx_dma_frames")


def broken_by_dma(session, breaker):
    """The sender of a transfer by DMA is killed."""
    one = session.lab.nodes[0]
    before = by_dma(one)
    steps.broken(session, 0, breaker, 60 * steps.scale(session))
    if by_dma(one) == before:
        raise StepFailed("no frame went by DMA")


def held(session):
    """The sender dies while the transmitter does not move for a while: nothing
    is freed before it has sent what it has, and then all is."""
    one = session.lab.nodes[0]

    def kill():
        if not counted(one, f"{STALL} eth0 hold vipl_bw", "pinned"):
            raise StepFailed("memory was given back under DMA")

    def once():
        before = resets(one)
        broken_by_dma(session, kill)
        # A third of a second, unless the guest had no processor.
        return "the chip was reset for nothing" if resets(one) != before \
            else None

    again(session, once)


def cut_off(session):
    """It stops for good: the chip is cut off within seconds, started anew, and
    reads nothing of what was in its ring."""
    one = session.lab.nodes[0]
    before = resets(one)

    def kill():
        one.sh(f"{STALL} eth0 stop; sleep 0.2; pkill -9 -x vipl_bw")
        native.wait_until(session, one,
                          f"test $(ethtool -S eth0 | sed -n 's/ *resets: "
                          f"*//p') -gt {before}", "the chip was not reset")
        one.sh(f"{STALL} eth0 go")

    broken_by_dma(session, kill)
    native.carrier(session)
    steps.conform_wire(session, 0, "connect*")


def down_with_memory(session):
    """An interface that is down keeps no memory pinned."""
    one = session.lab.nodes[0]

    def once():
        before = resets(one)
        steps.broken(session, 0, lambda: one.sh("ip link set eth0 down"),
                     30 * steps.scale(session))
        one.sh("ip link set eth0 up")
        native.carrier(session)
        return "the chip was reset for nothing" if resets(one) != before \
            else None

    again(session, once)


def all_steps(session):
    debug = session.settings["kernel"].startswith("debug")
    # What an 8255x wants to be stopped: see detour.py.
    if session.driver != "via_eepro100" or not (session.iommu or debug):
        session.step("killed, transmitter held", held)
        session.step("killed, transmitter stopped", cut_off)
    session.step("memory, interface down", down_with_memory)
