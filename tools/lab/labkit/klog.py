# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Watching a node's console for what no kernel should say."""

import re

# Any of these fails a run.  Taint and clocksource lines are warnings by level
# only and match nothing here.
BAD = re.compile(
    r"WARNING: |BUG: |Oops|KASAN:|KCSAN:|UBSAN:|KFENCE:|ODEBUG:|Call Trace|"
    r"possible circular|inconsistent lock state|suspicious RCU|"
    r"possible recursive|refcount_t: |DMA-API: |DMAR: \[DMA|ref_tracker: |"
    r"kmemleak: \d+ new|blocked for more than|detected stall|"
    r"self-detected stall|soft lockup|hard LOCKUP|Kernel panic|"
    r"general protection|corruption|nobody cared|"
    r"unregister_netdevice: waiting|NETDEV WATCHDOG|transmit queue \d+ "
    r"timed out|lab init: |Out of memory|page allocation failure|"
    # Told once for each boot, of interfaces that will go.
    r"work func \S+ \[via_\w+\] enqueued on deprecated")
FINE = re.compile(
    r"DMA-API: (preallocated|debugging enabled)|"
    r"ODEBUG: selftest passed|"
    # Data races of the kernel's own, by the functions they are in.
    r"BUG: KCSAN: data-race in (?!.*\[via_)")
# Debian's own drivers, not ours: the whole report is passed over.
NOT_OURS = re.compile(r"DMA-API: tulip \S+ device driver failed to check map")
END = re.compile(r"---\[ end trace")
# After these the guest will not answer any more.
DEADLY = re.compile(
    r"Kernel panic|Oops: |BUG: unable to handle|general protection fault|"
    r"BUG: kernel NULL|lab init: ")


class KernelLog:
    """The console of one node, read as it grows."""

    def __init__(self, path):
        self.path = path
        self.offset = 0
        self.rest = ""
        self.bad = []
        self.dead = None
        self.allowed = []
        self.passing = False

    def allow(self, pattern):
        """Lines that a test provokes on purpose."""
        self.allowed.append(re.compile(pattern))

    def scan(self):
        """Reads what is new; returns all bad lines so far."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                data = file.read()
        except FileNotFoundError:
            return self.bad
        self.offset += len(data)
        text = self.rest + data.decode(errors="replace")
        *lines, self.rest = text.split("\n")
        for line in lines:
            self.line(line.rstrip())
        return self.bad

    def line(self, line):
        if NOT_OURS.search(line):
            self.passing = True
        if END.search(line):
            self.passing = False
        if self.passing:
            return
        if not BAD.search(line) or FINE.search(line):
            return
        if any(p.search(line) for p in self.allowed):
            return
        self.bad.append(line)
        if not self.dead and DEADLY.search(line):
            self.dead = line

    def tail(self, count=15):
        try:
            with open(self.path, "rb") as file:
                lines = file.read().decode(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        return "\n".join(lines[-count:])
