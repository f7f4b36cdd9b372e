#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""stall.py INTERFACE stop|go
   stall.py INTERFACE hold PROGRAM

Stop a card's transmitter behind its driver's back, as pause frames or a dead
wire would, or let it go on with what is in the ring.  "hold" stops it, kills
PROGRAM, waits for a third of a second, prints how many pages are pinned then,
and lets it go on.  Needs iomem=relaxed on the kernel's command line."""

import mmap
import os
import signal
import sys
import time

import detour

# BAR, register that has the enabling bit, that bit, register to kick.
CHIPS = {"via_tulip": (1, 6 * 8, 1 << 13, 1 * 8),
         "via_e1000": (0, 0x400, 1 << 1, 0x3818)}


class Card:
    """Its transmitter is stopped by a bit in a register."""

    def __init__(self, registers, driver):
        self.driver = driver
        _, self.control, self.enable, self.kick = CHIPS[driver]
        # One access of 32 bits each: a slice would be copied by bytes.
        self.words = memoryview(registers).cast("I")

    def prepare(self):
        pass

    def stop(self):
        self.words[self.control // 4] &= ~self.enable & 0xffffffff

    def go(self):
        self.words[self.control // 4] |= self.enable
        tail = self.words[self.kick // 4]
        self.words[self.kick // 4] = 1 if self.driver == "via_tulip" else tail


def card_of(interface):
    device = os.path.realpath(f"/sys/class/net/{interface}/device")
    driver = os.path.basename(os.path.realpath(f"{device}/driver"))
    bar = CHIPS[driver][0] if driver in CHIPS else 0
    with open(f"{device}/resource{bar}", "r+b", buffering=0) as file:
        registers = mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size)
    if driver == "via_eepro100":
        return detour.Detour(registers)
    return Card(registers, driver)


def named(program):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as file:
                if file.read().strip() == program:
                    yield int(pid)
        except OSError:
            pass


def pinned():
    with open("/proc/sys/vm/stat_refresh", "w") as file:
        file.write("1\n")
    with open("/proc/vmstat") as file:
        counts = dict(line.split() for line in file)
    return int(counts["nr_foll_pin_acquired"]) - \
        int(counts["nr_foll_pin_released"])


def hold(card, program):
    card.prepare()
    pids = list(named(program))
    card.stop()
    time.sleep(0.1)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.3)
    print(f"pinned: {pinned()}")
    card.go()


def main():
    what = sys.argv[2:]
    if what not in (["stop"], ["go"]) and what[:1] != ["hold"] or \
            len(sys.argv) > 4:
        sys.exit(__doc__)
    card = card_of(sys.argv[1])
    if what[0] == "hold":
        hold(card, what[1])
    elif what[0] == "stop":
        card.prepare()
        card.stop()
    else:
        card.go()


if __name__ == "__main__":
    main()
