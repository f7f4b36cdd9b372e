# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Running tests of the table, two at a time."""

import os
import re
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import listed

SKIPPED = 77
WIDTH = 2


class Outcome:
    """What came of a test: `why` it failed, `skipped` for which reason; `cpu`
    seconds that it took."""

    def __init__(self, name, log, seconds, why=None, skipped=None, cpu=0):
        self.name, self.log, self.seconds = name, log, seconds
        self.why, self.skipped, self.cpu = why, skipped, cpu

    def tail(self, count=20):
        """The end of what it printed."""
        try:
            with open(self.log, errors="replace") as file:
                return file.read().rstrip().split("\n")[-count:]
        except OSError:
            return []


def slug(name):
    """What a file of that step is called."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def empty(folder):
    """There, without logs of an older run."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(".log"):
            os.unlink(os.path.join(folder, name))


def environment():
    """Without what make has put there for its own children."""
    return {k: v for k, v in os.environ.items()
            if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "T", "K")}


class Runner:
    """Its processes end with it: stop() ends what runs."""

    def __init__(self):
        self.lock = threading.Lock()
        self.making = threading.Lock()
        self.made = {}  # targets: status of a make of them alone
        self.running = set()
        self.stopped = False

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                os.killpg(process.pid, signal.SIGKILL)

    def end(self, process, late):
        """Its time is up, if it still runs."""
        with self.lock:
            if process in self.running:
                late.set()
                os.killpg(process.pid, signal.SIGKILL)

    def command(self, words, log, minutes):
        """Of a command: its status, None where its time was up, and the CPU
        seconds of it and of what it has waited for."""
        with open(log, "a") as file:
            file.write(f"$ {' '.join(words)}\n")
            file.flush()
            with self.lock:
                if self.stopped:
                    return None, 0
                process = subprocess.Popen(
                    words, cwd=listed.ROOT, env=environment(),
                    stdin=subprocess.DEVNULL, stdout=file,
                    stderr=subprocess.STDOUT, start_new_session=True)
                self.running.add(process)
            late = threading.Event()
            timer = threading.Timer(minutes * 60, self.end, (process, late))
            timer.start()
            # Its number is its own until it is waited for.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            with self.lock:
                self.running.discard(process)
            timer.cancel()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return (None if late.is_set() or self.stopped else
                    process.returncode), used.ru_utime + used.ru_stime

    def build(self, tests, log):
        """All that they need by one make; an Outcome, or None where that is
        nothing."""
        targets = sorted({n for t in tests for n in t.needs
                          if not listed.missing(t.packages)})
        if not targets:
            return None
        begin = time.monotonic()
        open(log, "w").close()
        status, cpu = self.command(
            ["make", "-s", "-k", f"-j{WIDTH}", *targets], log, 15)
        return Outcome("build", log, time.monotonic() - begin,
                       why=f"make ended with status {status}" if status
                       else None, cpu=cpu)

    def lacks(self, test, log):
        """After a make that failed: whether this test's part did.  One make
        at a time, and once for each part."""
        with self.making:
            if test.needs and tuple(test.needs) not in self.made:
                self.made[tuple(test.needs)], _ = self.command(
                    ["make", "-s", *test.needs], log, 15)
            return test.needs and self.made[tuple(test.needs)] != 0

    def one(self, test, log, built=True):
        """The Outcome of one test."""
        open(log, "w").close()
        begin = time.monotonic()
        lost = listed.missing(test.packages)
        if lost:
            return Outcome(test.name, log, 0, skipped="needs a package: "
                           f"apt-get install {' '.join(lost)}")
        if not built and self.lacks(test, log):
            return Outcome(test.name, log, time.monotonic() - begin,
                           why="what it needs was not built")
        try:
            status, cpu = self.command(test.command, log, test.minutes)
        except OSError as error:
            return Outcome(test.name, log, 0, why=f"cannot run "
                           f"{test.command[0]}: {error.strerror}")
        outcome = Outcome(test.name, log, time.monotonic() - begin, cpu=cpu)
        if status is None:
            outcome.why = f"not over after {test.minutes:g} minutes"
        elif status == SKIPPED:
            outcome.skipped = outcome.tail(1)[0]
        elif status:
            outcome.why = f"'{' '.join(test.command)}' ended with status " \
                f"{status}"
        return outcome

    def all(self, tests, log_of, built=True, beside=lambda test: False):
        """Outcomes as they come; of those `beside` two more at a time."""
        with ThreadPoolExecutor(WIDTH) as pool, \
                ThreadPoolExecutor(WIDTH) as other:
            try:
                jobs = [(other if beside(t) else pool).submit(
                    self.one, t, log_of(t), built) for t in tests]
                for job in as_completed(jobs):
                    yield job.result()
            except BaseException:
                self.stop()
                raise
