# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Steps with names, times and logs; sessions of steps that share one boot."""

import fnmatch
import json
import os
import re
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from lab import Lab, LabError
from labkit import kernels
from labkit.base import BUILD, ROOT

sys.path.append(os.path.join(ROOT, "tests/test"))

import atonce  # noqa: E402
import junit  # noqa: E402

LOGS = os.environ.get("CHECK_LOGS") or os.path.join(BUILD, "check")
SLOWEST = 10  # sessions and steps that are named at the end


class StepFailed(Exception):
    """What a step found wrong, in one line."""


class Skipped(Exception):
    """The step has nothing to test here; the text says why."""


class Check:
    """Runs steps, prints progress, counts, keeps a log for each."""

    def __init__(self, patterns=(), listing=False, results=None, only=None):
        self.patterns, self.listing = patterns, listing
        self.only = only  # names of steps, where not all are wanted
        self.results = results  # folder for those of the conformance suite
        self.names = []  # of the steps, where they are listed
        self.outcomes = []
        self.built = set()
        self.notes = []  # of the step that runs
        self.number = self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.started = time.monotonic()
        self.log = None
        if not listing:
            os.makedirs(LOGS, exist_ok=True)
            for name in os.listdir(LOGS):
                if name.endswith(".log"):
                    os.unlink(os.path.join(LOGS, name))

    def wanted(self, name):
        if self.only is not None and name not in self.only:
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
        print(f"[{self.number:3}] {name} ... ", end="", flush=True)
        begin = time.monotonic()
        self.notes = []
        with open(path, "w") as self.log:
            why, skipped = self.attempt(function, args)
            if why:
                self.log.write(f"\nFAILED: {why}\n")
        return self.record(atonce.Outcome(
            name, path, time.monotonic() - begin, why, skipped))

    def log_path(self, name):
        """Of the next step."""
        self.number += 1
        slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
        return os.path.join(LOGS, f"{self.number:03}-{slug}.log")

    def record(self, outcome):
        """Count a step and end its line; True when it did not fail."""
        self.outcomes.append(outcome)
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
            said = "".join(f"; {note}" for note in self.notes)
            print(f"ok ({outcome.seconds:.1f} s{said})", flush=True)
        return not outcome.why

    def note(self, text):
        """Shown with the verdict of the step that runs."""
        self.notes.append(text)

    def together(self, tests):
        """Steps from the table of tests/test, two at a time."""
        tests = [t for t in tests if self.wanted(t.name)]
        if self.listing:
            self.names += [t.name for t in tests]
        if self.listing or not tests:
            return
        numbers = {}
        runner = atonce.Runner()
        made = runner.build(tests, os.path.join(LOGS, "build-tests.log"))

        def log_of(test):
            path = self.log_path(test.name)
            numbers[test.name] = self.number
            return path

        for outcome in runner.all(tests, log_of,
                                  not (made and made.why)):
            print(f"[{numbers[outcome.name]:3}] {outcome.name} ... ", end="")
            self.record(outcome)

    def build(self, command):
        """By make, into the step's log; once, however often it is asked."""
        if tuple(command) not in self.built:
            self.host(["make", "-s", *command], 3600)
            self.built.add(tuple(command))

    def build_user(self):
        self.build(["-j2", "user"])

    def build_modules(self, name):
        self.build(["-j2", "modules", f"KDIR={kernels.kernel(name).kdir}"])

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

    def host(self, command, timeout=600, env=None):
        """A command on this machine, its output in the step's log."""
        self.write(f"$ {' '.join(command)}")
        environ = {k: v for k, v in os.environ.items()
                   if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        try:
            done = subprocess.run(command, cwd=ROOT, text=True,
                                  stdin=subprocess.DEVNULL,
                                  stdout=self.log, stderr=subprocess.STDOUT,
                                  timeout=timeout, env={**environ,
                                                        **(env or {})})
        except subprocess.TimeoutExpired:
            raise StepFailed(f"'{' '.join(command)}' took over {timeout} s")
        except OSError as error:
            raise StepFailed(f"cannot run {command[0]}: {error.strerror}")
        if done.returncode:
            raise StepFailed(f"'{' '.join(command)}' ended with status "
                             f"{done.returncode}")

    def shares(self):
        """The slowest sessions and steps, where there are many."""
        whole = sum(o.seconds for o in self.outcomes)
        sessions = {}
        for outcome in self.outcomes:
            title = junit.session(outcome.name)
            seconds, steps = sessions.get(title, (0, 0))
            sessions[title] = seconds + outcome.seconds, steps + 1
        rows = [(seconds, f"{title} ({steps} step{'s' * (steps > 1)})")
                for title, (seconds, steps) in sessions.items()]
        for what, table in (("sessions", rows), ("steps", [
                (o.seconds, o.name) for o in self.outcomes])):
            print(f"minutes    %  slowest {what}")
            for seconds, name in sorted(table, reverse=True)[:SLOWEST]:
                print(f"{seconds / 60:7.1f} {100 * seconds / whole:4.0f}  "
                      f"{name}")
            print()

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
        junit.write(os.path.join(LOGS, "junit.xml"), os.path.basename(LOGS),
                    self.outcomes)
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        count = len(self.outcomes)
        print(f"{count} step{'s' * (count != 1)} in "
              f"{seconds / 60:.1f} minutes{skipped}, "
              f"logs in {LOGS}")
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.stdout.flush()
        return 1 if self.failed or not self.passed else 0


class Session:
    """Steps in one lab.  It boots with the first step that is wanted; after
    a crash or a hang the next step gets a fresh boot."""

    def __init__(self, check, title, modules=True, attach=True, **settings):
        self.check, self.title = check, title
        self.modules, self.attach, self.settings = modules, attach, settings
        self.lab = None
        self.used = False
        self.seen = {}  # node: bad lines on its console so far
        self.gone = set()  # NICs that a step has unplugged on node 2

    def nic_name(self, net):
        """Of the NIC of that wire, where results are told."""
        return self.settings["nics"][net]

    def boot(self):
        settings = dict(self.settings)
        self.check.build_user()
        if self.modules:
            self.check.build_modules(settings.get("kernel", "6.1"))
        slug = re.sub(r"[^a-z0-9.]+", "-", self.title.lower()).strip("-")
        logdir = os.path.join(LOGS, f"{slug}-{time.strftime('%H%M%S')}")
        self.lab = Lab(logdir=logdir, **settings)
        self.check.write(f"booting: {settings}; consoles in {logdir}")
        self.lab.start()
        for node in self.lab.nodes:
            self.check.write(f"{node.name} up after {node.boot_seconds:.1f} s")
            if self.modules:
                self.lab.insmod(node)
                if self.attach:
                    self.lab.attach(node, *(
                        f"eth{i}" for i in range(len(self.lab.nics))))
        self.lab.check()

    def stop(self):
        self.gone.clear()
        self.seen.clear()
        if self.lab:
            self.lab.stop()
            self.lab = None

    def ready(self):
        if not self.lab:
            try:
                self.boot()
            except BaseException:
                self.stop()
                raise

    def step(self, name, function, *args):
        """function(session, *args) with self.lab up; the consoles must stay
        clean while it runs."""
        full = f"{self.title}: {name}"
        if not self.check.wanted(full):
            return True
        if not self.lab and not self.check.listing:
            if not self.check.step(f"{self.title}: boot", self.ready):
                return False
        self.used = True

        def body():
            self.ready()
            try:
                function(self, *args)
            except (LabError, StepFailed):
                self.complaints()
                raise
            self.complaints()

        passed = self.check.step(full, body)
        if not passed and self.lab:
            self.survive()
        return passed

    def complaints(self):
        """Fails on what the consoles say since the last look."""
        for node in self.lab.nodes:
            bad = node.klog.scan()
            new, self.seen[node] = bad[self.seen.get(node, 0):], len(bad)
            if new:
                self.check.write("\n".join(new))
                raise StepFailed(f"{node.name}'s kernel complained: {new[0]}; "
                                 f"see {node.console}")

    def survive(self):
        """After a failure: is the lab still fit for the next step?"""
        try:
            if self.lab.debug and any(self.seen.values()):
                # The lock checker is off after its first find.
                self.stop()
                return
            for node in self.lab.nodes:
                busy = [j for j in node.link.jobs.values() if not j.done]
                for job in busy:
                    job.kill()
                for job in busy:
                    job.wait(20)
                node.sh("true", 20)
            self.lab.wire(0).set(loss=0, dup=0, reorder=0, corrupt=0, slip=0,
                                 cut="none", delay=0, jitter=0, rate=0)
        except (LabError, IndexError):
            self.stop()

    def end(self):
        """The closing steps, then the power goes off.  Where it was
        interrupted they say nothing, and the user wants to go."""
        interrupted = sys.exc_info()[0] is not None
        if not interrupted and (self.lab or self.check.listing):
            if self.used:
                self.check.step(f"{self.title}: no page stays pinned",
                                self.nothing_pinned)
                if self.modules:
                    self.check.step(f"{self.title}: idle modules unload",
                                    self.unload)
                    self.check.step(f"{self.title}: nothing leaked",
                                    self.nothing_leaked)
        self.stop()

    def nothing_pinned(self):
        for node in self.lab.nodes:
            self.lab.leaks(node, memory=False)
        self.complaints()

    def nothing_leaked(self):
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.lab.leaks, self.lab.nodes))
        self.complaints()

    def unload(self):
        for node in self.lab.nodes:
            if self.attach:
                self.lab.detach(node, *(
                    f"eth{i}" for i in range(len(self.lab.nics))
                    if node is self.lab.nodes[0] or i not in self.gone))
            self.lab.rmmod(node)
        # The consoles speak up late: a command each lets them finish.
        for node in self.lab.nodes:
            node.sh("true")
        self.complaints()

    # For the steps

    def write_job(self, job):
        self.check.write(f"{job.link.name}$ {job.command}\n{job.all}")

    def run(self, node, command, timeout=120, status=0):
        """Run a command on a node; its status must be `status`."""
        job = node.spawn(command, timeout)
        try:
            result = job.wait()
        finally:
            self.write_job(job)
        if status is not None and result.rc != status:
            lines = [x for x in result.all.splitlines() if x.strip()]
            last = lines[-1] if lines else "no output"
            raise StepFailed(f"{node.name}: '{command}' ended with status "
                             f"{result.rc}: {last}")
        return result
