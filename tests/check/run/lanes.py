# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Jobs of a plan side by side, each in a process of its own.

A job is a session's steps, or some of this machine's.  Guests wait for timers
and for each other a third of the time: with two labs at once the processors
have work meanwhile.
"""

import multiprocessing
import os
import signal
import sys
import traceback
from multiprocessing.connection import wait

import atonce
from labkit.base import LabError, die_with_parent

FORK = multiprocessing.get_context("fork")


class Lane:
    """A job that runs, and the pipe through which its steps come."""

    def __init__(self, check, title, job):
        self.title = title
        self.steps, child = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=work,
                                    args=(check, title, job, child))
        self.process.start()
        child.close()
        self.over = False  # its last word has come

    def take(self, check):
        """What it says next; False where it has nothing more to say."""
        try:
            said = self.steps.recv()
        except EOFError:
            self.process.join()
            if not self.over:
                check.record(atonce.Outcome(
                    self.title, check.log_path(self.title), 0,
                    why="its process ended with status "
                    f"{self.process.exitcode}"))
            return False
        if said is None:
            self.over = True
        else:
            check.record(*said)
        return True

    def stop(self):
        """Its lab ends with its session; a second signal does nothing."""
        self.process.terminate()
        self.process.join()


def ended(number, _):
    """The first signal ends the job, and no other one ends its clean-up."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def work(check, title, job, pipe):
    """In the child: the job, its steps told to the parent."""
    die_with_parent()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, ended)
    check.tell = pipe.send
    try:
        job(check)
    except LabError as why:
        check.record(atonce.Outcome(title, check.log_path(title), 0, str(why)))
    except Exception:  # a bug of the plan
        path = check.log_path(title)
        with open(path, "w") as log:
            traceback.print_exc(file=log)
        check.record(atonce.Outcome(title, path, 0, "the plan has a bug"))
    pipe.send(None)
    sys.stdout.flush()
    os._exit(0)


def run(check, jobs, width):
    """All of them, (title, job) each, in this order, so many at once."""
    jobs, lanes = list(jobs), []
    print(f"{len(jobs)} sessions, {width} side by side; a step's line comes "
          "when the step is over", flush=True)
    try:
        while jobs or lanes:
            while jobs and len(lanes) < width:
                lanes.append(Lane(check, *jobs.pop(0)))
            for ready in wait([lane.steps for lane in lanes]):
                lane = next(x for x in lanes if x.steps is ready)
                if not lane.take(check):
                    lanes.remove(lane)
    finally:
        for lane in lanes:
            lane.stop()
