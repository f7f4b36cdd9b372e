# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Steps with names, times and logs."""

import fcntl
import fnmatch
import json
import multiprocessing
import os
import subprocess
import sys
import time
import traceback

import atonce
import cpu
import junit
import listed
from labkit import arm64, kernels
from labkit.base import BUILD, ROOT, LabError

LOGS = os.environ.get("CHECK_LOGS") or os.path.join(BUILD, "check")
SLOWEST = 10  # sessions and steps that are named at the end
LAST = 15  # lines of a failed step's log there, for a reader without the file
BAR = 3600  # CPU seconds that all of make check may take


class StepFailed(Exception):
    """What a step found wrong, in one line."""


class Skipped(Exception):
    """The step has nothing to test here; the text says why."""


def last_lines(path):
    """The end of a log, its lines cut where no terminal shows more."""
    try:
        with open(path, errors="replace") as file:
            lines = [line.rstrip()[:300] for line in file]
    except OSError:
        return []
    return [line for line in lines if line][-LAST:]


def head(log, name):
    """How a step's line begins: with its log's number."""
    return f"[{os.path.basename(log).partition('-')[0].lstrip('0'):>3}] " \
        f"{name} ... "


class Check:
    """Runs steps, prints progress, counts, keeps a log for each."""

    def __init__(self, patterns=(), listing=False, results=None, only=None,
                 memory=None, bar=None):
        self.patterns, self.listing = patterns, listing
        self.only = only  # names of steps, where not all are wanted
        self.results = results  # folder for those of the conformance suite
        self.memory = memory  # of what has passed before (memory.py)
        self.names = []  # of the steps, where they are listed
        self.needs = {}  # of some: the first words of a step before it
        self.outcomes = []
        self.built = set()
        self.notes = []  # of the step that runs
        self.counts = {}  # what it did
        self.passed = self.failed = self.skipped = 0
        self.numbers = multiprocessing.Value("i", 0)  # of logs, in all lanes
        self.tell = None  # in a lane: takes a step's outcome to the parent
        self.failures = []
        self.bar = bar  # CPU seconds for all steps
        self.top = os.getpid()  # whose CPU seconds are told at the end
        self.started = time.monotonic()
        self.machine = cpu.machine()
        self.log = None
        if not listing:
            atonce.empty(LOGS)

    def wanted(self, name):
        if self.only is not None and name not in self.only or \
                self.memory and self.memory.has(name):
            return False
        return not self.patterns or any(
            fnmatch.fnmatch(name, p) or p in name for p in self.patterns)

    def wants(self, session):
        """Whether some step of a session may be wanted."""
        return self.only is None or any(n.startswith(f"{session}: ")
                                        for n in self.only)

    def step(self, name, function, *args):
        """Run one step; True when it passed (or was not wanted)."""
        if not self.wanted(name):
            return True
        if self.listing:
            self.names.append(name)
            return True
        path = self.log_path(name)
        if not self.tell:
            print(head(path, name), end="", flush=True)
        before, begin = cpu.tree(os.getpid()), time.monotonic()
        self.notes, self.counts = [], {}
        with open(path, "w") as self.log:
            why, skipped = self.attempt(function, args)
            if why:
                self.log.write(f"\nFAILED: {why}\n")
        seconds = time.monotonic() - begin
        return self.record(atonce.Outcome(
            name, path, seconds, why, skipped,
            cpu.tree(os.getpid()) - before), self.notes, self.counts,
            begun=True)

    def log_path(self, name):
        """Of the next step."""
        with self.numbers:
            self.numbers.value += 1
            number = self.numbers.value
        return os.path.join(LOGS, f"{number:03}-{atonce.slug(name)}.log")

    def record(self, outcome, notes=(), counts=None, begun=False):
        """Count a step and end its line, which has `begun` where steps come
        one by one; True when it did not fail."""
        if self.tell:
            self.tell((outcome, notes, counts))
            return not outcome.why
        if not begun:
            print(head(outcome.log, outcome.name), end="")
        self.outcomes.append(outcome)
        if self.memory:
            self.memory.keep(outcome, counts or {})
        if outcome.skipped:
            self.skipped += 1
            print(f"skipped: {outcome.skipped}", flush=True)
        elif outcome.why:
            self.failed += 1
            self.failures.append((outcome.name, outcome.why, outcome.log))
            print(f"FAILED ({outcome.seconds:.1f} s)\n      {outcome.why}\n"
                  f"      log: {outcome.log}", flush=True)
        else:
            self.passed += 1
            said = "".join(f"; {note}" for note in notes)
            print(f"ok ({outcome.seconds:.1f} s{said})", flush=True)
        return not outcome.why

    def note(self, text):
        """Shown with the verdict of the step that runs."""
        self.notes.append(text)

    def together(self, tests):
        """Steps from the table of tests/test, two at a time, and two of those
        that wait most of their time: at the end none that is long, with nothing
        beside it."""
        tests = [t for t in sorted(tests, key=listed.shortness)
                 if self.wanted(t.name)]
        if self.listing:
            self.names += [t.name for t in tests]
        if self.listing or not tests:
            return
        runner = atonce.Runner()
        made = runner.build(tests, self.log_path("build: tests"))
        if made and not made.why:  # else it is told by what lacks it
            made.name = "build: tests"
            self.record(made)
        for outcome in runner.all(tests, lambda t: self.log_path(t.name),
                                  not (made and made.why),
                                  beside=listed.waits):
            self.record(outcome)

    def build(self, command):
        """By make, into the step's log; once, however often it is asked, and
        by one lane at a time."""
        self.build_by(["make", "-s", *command])

    def build_by(self, command):
        if tuple(command) not in self.built:
            with open(os.path.join(LOGS, ".build"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.host(command, 3600)
            self.built.add(tuple(command))

    def build_user(self):
        self.build(["-j2", "user"])

    def build_modules(self, name):
        self.build_by(kernels.kernel(name).make("-s", "-j2", "modules"))

    def build_arm64(self):
        """What a guest of that machine runs."""
        kernels.setup_packages("arm64")
        kernel = kernels.kernel(kernels.ARM64)
        self.build(["-j2", *arm64.modules(kernel)])
        self.build(["-j2", *arm64.user(
            kernel, "lib", "tools", "build/arm64/viaconform",
            "build/arm64/viatest", "build/arm64/lab/agent")])

    def attempt(self, function, args):
        """(why it failed, why it was skipped), None where not."""
        try:
            function(*args)
        except Skipped as why:
            return None, str(why)
        except (StepFailed, LabError) as why:
            return str(why), None
        except Exception as error:  # a bug of the test is a failure too
            traceback.print_exc(file=self.log)
            return f"{type(error).__name__}: {error}", None
        return None, None

    def keep(self, session, nic, two, text):
        """Results of a run of the suite, for the table."""
        os.makedirs(self.results, exist_ok=True)
        where = "two" if two else "one"
        kernel, cpus = session.settings["kernel"], session.settings["cpus"]
        name = f"{kernel}_{cpus}_{nic}_{where}.jsonl".replace(" ", "-")
        path = os.path.join(self.results, name)
        head = {"kernel_name": kernel, "nic": nic, "machines": 1 + two}
        with open(path, "w") as file:
            file.write(json.dumps(head) + "\n" + text)

    def write(self, text):
        self.log.write(text if text.endswith("\n") else text + "\n")
        self.log.flush()

    def last_line(self):
        with open(self.log.name) as file:
            return file.read().rstrip().split("\n")[-1]

    def host(self, command, timeout=600, skips=False):
        """A command on this machine, its output in the step's log.  One that
        skips ends with status 77, and its last line says why."""
        self.write(f"$ {' '.join(command)}")
        try:
            done = subprocess.run(command, cwd=ROOT, text=True,
                                  stdin=subprocess.DEVNULL,
                                  stdout=self.log, stderr=subprocess.STDOUT,
                                  timeout=timeout, env=atonce.environment())
        except subprocess.TimeoutExpired:
            raise StepFailed(f"'{' '.join(command)}' took over {timeout} s")
        except OSError as error:
            raise StepFailed(f"cannot run {command[0]}: {error.strerror}")
        if skips and done.returncode == atonce.SKIPPED:
            raise Skipped(self.last_line())
        if done.returncode:
            raise StepFailed(f"'{' '.join(command)}' ended with status "
                             f"{done.returncode}")

    def shares(self):
        """The slowest sessions and steps, where there are many."""
        whole = sum(o.seconds for o in self.outcomes)
        sessions = {}
        for outcome in self.outcomes:
            title = junit.session(outcome.name)
            seconds, used, steps = sessions.get(title, (0, 0, 0))
            sessions[title] = (seconds + outcome.seconds, used + outcome.cpu,
                               steps + 1)
        rows = [(seconds, used, f"{title} ({steps} step{'s' * (steps > 1)})")
                for title, (seconds, used, steps) in sessions.items()]
        for what, table in (("sessions", rows), ("steps", [
                (o.seconds, o.cpu, o.name) for o in self.outcomes])):
            print(f"minutes    %  CPU s  slowest {what}")
            for seconds, used, name in sorted(table, reverse=True)[:SLOWEST]:
                print(f"{seconds / 60:7.1f} {100 * seconds / whole:4.0f} "
                      f"{used:6.0f}  {name}")
            print()

    def costs(self):
        """CPU seconds of each step, dearest first, in a file."""
        with open(os.path.join(LOGS, "costs.txt"), "w") as file:
            file.write("# CPU s  wall s  step\n")
            for o in sorted(self.outcomes, key=lambda o: -o.cpu):
                file.write(f"{o.cpu:7.1f} {o.seconds:7.1f}  {o.name}\n")

    def processors(self):
        """What it took of them, beside what the whole machine did: where that
        is more, there was other work.  Time that is stolen counts in no CPU
        second, and what is over the bar fails no step."""
        used = cpu.tree(self.top)
        busy, stolen = (now - then for now, then in
                        zip(cpu.machine(), self.machine))
        print(f"{used:.0f} CPU seconds; the machine was busy for {busy:.0f}, "
              f"and {stolen:.0f} were stolen")
        if self.bar and used > self.bar:
            print(f"over the bar: {used - self.bar:.0f} CPU seconds more than "
                  f"{self.bar}")

    def finish(self):
        """The summary; the exit status."""
        if self.listing:
            print("\n".join(self.names))
            return 0
        seconds = time.monotonic() - self.started
        print()
        if len(self.outcomes) > SLOWEST:
            self.shares()
        for name, why, path in self.failures:
            print(f"FAILED {name}: {why}\n       log: {path}")
            for line in last_lines(path):
                print(f"       | {line}")
        junit.write(os.path.join(LOGS, "junit.xml"), os.path.basename(LOGS),
                    self.outcomes)
        self.costs()
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        count = len(self.outcomes)
        print(f"{count} step{'s' * (count != 1)} in "
              f"{seconds / 60:.1f} minutes{skipped}, "
              f"logs in {LOGS}")
        self.processors()
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.stdout.flush()
        return 1 if self.failed or not self.passed else 0
