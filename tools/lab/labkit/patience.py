# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""How long to wait for a guest, on a host with other work.

A limit in seconds of the wall clock says more about the host than about the
guest.  What counts here is time in which the guest could have run: seconds
that it waited for a processor of this machine do not count, and the count
begins anew with each word on its console.  CAP times the limit, by the wall
clock, is the end in any case.  A guest that has booted is waited for by the
lab's Clock, which leaves out the same.
"""

import os
import threading
import time

from .base import LabError

CAP = 20
SLOWEST = 6  # the most by which a lab's clock is slower than the wall's
VARIABLE = "MVIA_BOOT_LIMIT"
REMEDY = f"--boot-limit SECONDS or {VARIABLE}=SECONDS gives it longer"


def boot_limit(wanted, default):
    """Seconds: what is asked for, else what the variable says."""
    value = os.environ.get(VARIABLE) or None if wanted is None else wanted
    if value is None:
        return default
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise LabError(f"a boot limit is a number of seconds, not '{value}'")
    return seconds


def scheduled(threads, field):
    """Seconds that the kernel counts of these threads; 0 where it does not."""
    total = 0
    for thread in threads:
        try:
            with open(f"/proc/{thread}/schedstat") as file:
                total += int(file.read().split()[field])
        except (OSError, ValueError, IndexError):
            pass
    return total / 1e9


def ran(threads):
    """Seconds so far that these threads had a processor."""
    return scheduled(threads, 0)


def waited(threads):
    """Seconds so far that these threads were ready and had no processor."""
    return scheduled(threads, 1)


class Clock:
    """Seconds in which a lab could have run.  Its guests and its wires wait
    for each other, so what each of `threads()` waits for a processor counts:
    the sum, as far as it is not more than the time that has passed."""

    STEP = 0.05  # seconds, for which one look is enough

    def __init__(self, threads):
        self.threads = threads
        self.lock = threading.Lock()
        self.last = time.monotonic()
        self.own, self.lost = 0.0, {}
        self.looks = [(self.last, 0.0)]

    def now(self):
        with self.lock:
            now = time.monotonic()
            passed = now - self.last
            if passed < self.STEP:
                return self.own + passed / SLOWEST
            lost = {thread: waited([thread]) for thread in self.threads()}
            gone = sum(max(0, seconds - self.lost.get(thread, seconds))
                       for thread, seconds in lost.items())
            self.own += max(passed / SLOWEST, passed - gone)
            self.last, self.lost = now, lost
            if now - self.looks[-1][0] >= 1:
                self.looks = [*self.looks[-20:], (now, self.own)]
            return self.own

    def slowness(self):
        """How much slower than the wall's it has been lately: 1 to SLOWEST."""
        own = self.now()
        then, before = self.looks[0]
        return min(SLOWEST, max(1.0, (self.last - then) / (own - before))) \
            if own > before else 1.0


class Patience:
    """With one boot.  `waited` tells the seconds without a processor, `ran`
    those with one."""

    def __init__(self, limit, console, waited, ran=None):
        self.limit, self.console, self.waited = limit, console, waited
        self.ran = ran
        self.busy = ran() if ran else 0
        self.begin = self.last = time.monotonic()
        self.lost = waited()
        self.own = 0  # seconds that count
        self.size = self.console_size()

    def console_size(self):
        try:
            return os.path.getsize(self.console)
        except OSError:
            return 0

    def over(self):
        """To be asked often: whether the boot has had its time."""
        now, lost, size = time.monotonic(), self.waited(), self.console_size()
        # Two threads may have waited at once.
        self.own += max(0, now - self.last - (lost - self.lost))
        self.last, self.lost = now, lost
        if size != self.size:
            self.size, self.own = size, 0
            self.busy = self.ran() if self.ran else 0
        return self.own > self.limit or now - self.begin > CAP * self.limit

    def asleep(self):
        """Whether the guest's CPUs sleep in the middle of its boot, which has
        nothing to wait for: an interrupt was lost."""
        return self.ran is not None and self.own > self.limit / 4 and \
            self.ran() - self.busy < self.own / 10

    def why(self):
        total = self.last - self.begin
        if self.own <= self.limit:
            return f"it has had {total:.0f} s"
        return (f"no word on its console for {self.limit:g} s, those not "
                "counted in which it waited for a processor of this machine "
                f"({total:.0f} s in all)")
