#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The jobs that make check runs side by side: each step is counted once, a
failure and the end of a process are told, and a signal ends them all; and
what is told of the processors at the end."""

import contextlib
import io
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
FOLDER = tempfile.TemporaryDirectory()
os.environ["CHECK_LOGS"] = FOLDER.name

import paths  # noqa: E402

paths.find()

import atonce  # noqa: E402
import cpu  # noqa: E402
import lanes  # noqa: E402
from labkit.base import LabError  # noqa: E402
from runner import LAST, Check, Skipped, StepFailed  # noqa: E402

ALARM = 120


def hang():
    """Until a signal's handler ends it, which Python runs between two sleeps: one
    that comes just before a sleep would wait for its end."""
    while True:
        time.sleep(0.1)


def fail():
    raise StepFailed("it does not fit")


def skip():
    raise Skipped("not here")


def mixed(check):
    check.step("first", lambda: check.note("as told"))
    check.step("second", fail)
    check.step("third", skip)


def without_lab(_):
    raise LabError("no kernel")


def killed(check):
    check.step("before", lambda: None)
    os.kill(os.getpid(), signal.SIGKILL)


def wrong(_):
    return {}["no such step"]


def every_end():
    """What each kind of job leaves in the counts and on the terminal."""
    check, out = Check(), io.StringIO()
    with contextlib.redirect_stdout(out):
        lanes.run(check, [("mixed", mixed), ("lab", without_lab),
                          ("killed", killed), ("wrong", wrong)], 2)
    assert (check.passed, check.failed, check.skipped) == (2, 4, 1), \
        (check.passed, check.failed, check.skipped)
    why = {name: text for name, text, _ in check.failures}
    assert why["second"] == "it does not fit", why
    assert why["lab"] == "no kernel", why
    assert "-9" in why["killed"], why
    with open(next(log for name, _, log in check.failures
                   if name == "wrong")) as log:
        assert "no such step" in log.read()
    assert re.search(r"first \.\.\. ok \(\d+\.\d s; as told\)\n",
                     out.getvalue()), out.getvalue()
    logs = [outcome.log for outcome in check.outcomes]
    assert len(set(logs)) == len(logs) == 7, logs


def two_at_once():
    """Three jobs that wait half a second take one second, not more than two at
    a time."""
    now, most = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)

    def job(check):
        with now:
            now.value += 1
            most.value = max(most.value, now.value)
        check.step("waits", time.sleep, 0.5)
        with now:
            now.value -= 1

    check = Check()
    with contextlib.redirect_stdout(io.StringIO()):
        lanes.run(check, [(str(n), job) for n in range(3)], 2)
    assert (check.passed, most.value) == (3, 2), (check.passed, most.value)


def interrupted():
    """What jobs have to clean up is done before the parent goes on."""
    cleaned = multiprocessing.Value("i", 0)

    def job(check):
        try:
            check.step("hangs", hang)
        finally:
            time.sleep(0.2)
            with cleaned:
                cleaned.value += 1

    def told(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGUSR1, told)
    parent = os.getpid()

    def signals(_):
        time.sleep(0.5)
        os.kill(parent, signal.SIGUSR1)
        time.sleep(ALARM)

    with contextlib.redirect_stdout(io.StringIO()), \
            contextlib.suppress(KeyboardInterrupt):
        lanes.run(Check(), [("hangs", job), ("signals", signals)], 2)
        raise AssertionError("it was not interrupted")
    assert cleaned.value == 1, cleaned.value


SPIN = """
import os, sys, time
if os.fork():
    os._exit(0)  # the rest is an orphan
os.setsid()
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    pass
"""


def spin(seconds):
    """An orphan takes so many CPU seconds, until they are counted."""
    subprocess.run([sys.executable, "-c", SPIN, str(seconds)], check=True)
    end = time.monotonic() + ALARM
    while cpu.tree(os.getppid()) < seconds and time.monotonic() < end:
        time.sleep(0.05)


def summary(bar):
    """What a check with one step, of orphans that take a CPU second, tells at
    its end; the exit status."""
    def work():
        check = Check(bar=bar)
        check.top = os.getppid()
        check.step("spins", spin, 1)
        return check.finish()

    into, out = os.pipe()
    parent = os.fork()
    if not parent:
        os.dup2(out, 1)
        os.close(into)
        os._exit(cpu.whole(work))
    os.close(out)
    with open(into) as file:
        text = file.read()
    return text.splitlines(), os.waitstatus_to_exitcode(
        os.waitpid(parent, 0)[1])


def processors():
    """Orphans count, a bar that is exceeded is told in a line and fails
    nothing, and the last line is the verdict alone."""
    for bar, over in ((None, False), (3600, False), (0.5, True)):
        lines, status = summary(bar)
        used = next(re.match(r"(\d+) CPU seconds; the machine was busy for "
                             r"(\d+), and (\d+) were stolen$", line)
                    for line in lines if " CPU seconds; " in line)
        assert 1 <= int(used[1]) <= 60 and int(used[2]) >= 1, used[0]
        assert any(line.startswith("over the bar: ")
                   for line in lines) == over, lines
        assert (lines[-1], status) == ("1 passed, 0 failed", 0), lines


def sums():
    """A process that is waited for during a pass counts once: its parent was
    read before and it after, or it before and its parent after."""
    after = {1: (0, 2.0)}, set()
    for during in (({1: (0, 1.0)}, {7}), ({1: (0, 2.0), 7: (1, 1.0)}, set())):
        passes = iter((during, after, after))
        with mock.patch.object(cpu, "processes", lambda _: next(passes)):
            assert cpu.tree(1) == 2.0, during


def tables():
    """Beside the minutes of the slowest sessions and steps stands what they
    took of the processors."""
    check, out = Check(), io.StringIO()
    with contextlib.redirect_stdout(out):
        for number in range(12):
            check.record(atonce.Outcome(f"some: {number}", "0-log", 60,
                                        cpu=number * 7))
        check.shares()
    check.costs()
    with open(os.path.join(FOLDER.name, "costs.txt")) as file:
        costs = file.read().splitlines()
    assert costs[1:3] == ["   77.0    60.0  some: 11",
                          "   70.0    60.0  some: 10"], costs
    text = out.getvalue()
    for line in (r"^ +12\.0  100 +462  some \(12 steps\)$",
                 r"^ +1\.0 +8 +77  some: 11$"):
        assert re.search(line, text, re.M), text


def failures():
    """The last lines of a failed step's log stand beside its name."""
    check, out = Check(), io.StringIO()

    def breaks():
        check.write("".join(f"line {number}\n" for number in range(20)))
        raise StepFailed("too much")

    with contextlib.redirect_stdout(out):
        check.step("some: step", breaks)
        status = check.finish()
    lines = out.getvalue().splitlines()
    assert (lines[-1], status) == ("0 passed, 1 failed", 1), lines
    assert lines[-3 - LAST:-3] == [
        *(f"       | line {number}" for number in range(6, 20)),
        "       | FAILED: too much"], lines


def ends():
    """A signal that comes to the process above ends the work below."""
    for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        into, out = os.pipe()
        parent = os.fork()
        if not parent:
            def work():
                signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
                signal.signal(signal.SIGINT, lambda *_: os._exit(130))
                os.write(out, b".")
                hang()

            os._exit(cpu.whole(work))
        os.read(into, 1)
        os.kill(parent, number)
        ended = os.waitstatus_to_exitcode(os.waitpid(parent, 0)[1])
        assert ended == status, (number, ended)


def main():
    signal.alarm(ALARM)
    for test in (every_end, two_at_once, interrupted, processors, sums,
                 tables, failures, ends):
        test()
        print(f"{test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
