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

# BAR; register that has the enabling bit, its format, that bit; register to
# kick, its format, what is written there (None: what is there).
CHIPS = {"via_tulip": (1, (6 * 8, "I", 1 << 13), (1 * 8, "I", 1)),
         "via_e1000": (0, (0x400, "I", 1 << 1), (0x3818, "I", None)),
         "via_igb": (0, (0x400, "I", 1 << 1), (0x3818, "I", None)),
         "via_8139cp": (1, (0xe0, "H", 1 << 0), (0xd9, "B", 1 << 6))}


class Card:
    """Its transmitter is stopped by a bit in a register."""

    def __init__(self, registers, driver):
        self.bytes = memoryview(registers)
        _, self.control, self.kick = CHIPS[driver]

    def prepare(self):
        pass

    def register(self, at, form):
        """Where it is in a view of the registers in its width: one access,
        where a slice would be copied by bytes."""
        view = self.bytes.cast(form)
        return view, at // view.itemsize

    def enable(self, on):
        at, form, bit = self.control
        view, i = self.register(at, form)
        view[i] = view[i] | bit if on else view[i] & ~bit

    def stop(self):
        self.enable(False)

    def go(self):
        self.enable(True)
        at, form, value = self.kick
        view, i = self.register(at, form)
        view[i] = view[i] if value is None else value


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
