# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Registered memory that a card's DMA reads: it stays until the frames that
name it have left, whatever becomes of the program and of the card."""

from again import again
from common import GUEST, chip_counters, counters, numbers
from conform import conform_wire
from runner import StepFailed
from transfer import broken

STALL = f"{GUEST}/stall.py"


def resets(node):
    return chip_counters(node)["resets"]


def by_dma(session):
    return counters(session, session.lab.nodes[0], 0)["tx_dma_frames"]


def broken_by_dma(session, breaker):
    """The sender of a transfer by DMA is killed."""
    before = by_dma(session)
    broken(session, 0, breaker, 60)
    if by_dma(session) == before:
        raise StepFailed("no frame went by DMA")


def held(session):
    """The sender dies while the transmitter does not move for a while: nothing
    is freed before it has sent what it has, and then all is."""
    one = session.lab.nodes[0]

    def kill():
        if not numbers(one.sh(f"{STALL} eth0 hold vipl_bw").out)["pinned"]:
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
        session.wait_until(one,
                           f"test $(ethtool -S eth0 | sed -n 's/ *resets: "
                           f"*//p') -gt {before}", "the chip was not reset")
        one.sh(f"{STALL} eth0 go")

    broken_by_dma(session, kill)
    session.carrier()
    conform_wire(session, 0, "connect*")


def down_with_memory(session):
    """An interface that is down keeps no memory pinned."""
    one = session.lab.nodes[0]

    def once():
        before = resets(one)
        broken(session, 0, lambda: one.sh("ip link set eth0 down"))
        one.sh("ip link set eth0 up")
        session.carrier()
        return "the chip was reset for nothing" if resets(one) != before \
            else None

    again(session, once)


def can_hold(session):
    """Whether detour.py can do what an 8255x wants to be stopped."""
    debug = session.settings["kernel"].startswith("debug")
    return session.driver != "via_eepro100" or not (session.iommu or debug)
