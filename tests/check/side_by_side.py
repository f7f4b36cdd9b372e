#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The jobs that make check runs side by side: each step is counted once, a
failure and the end of a process are told, and a signal ends them all."""

import contextlib
import io
import multiprocessing
import os
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
FOLDER = tempfile.TemporaryDirectory()
os.environ["CHECK_LOGS"] = FOLDER.name

import paths  # noqa: E402

paths.find()

import lanes  # noqa: E402
from labkit.base import LabError  # noqa: E402
from runner import Check, Skipped, StepFailed  # noqa: E402

ALARM = 120


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
    assert "first ... ok (0.0 s; as told)\n" in out.getvalue(), out.getvalue()
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
            check.step("hangs", time.sleep, ALARM)
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


def main():
    signal.alarm(ALARM)
    for test in (every_end, two_at_once, interrupted):
        test()
        print(f"{test.__name__}: ok")


if __name__ == "__main__":
    main()
