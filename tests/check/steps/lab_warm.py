# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A lab that stays up, by its commands: up, exec, reload, status, down."""

import os
import subprocess
import time

from labkit.base import ROOT, LabError
from runner import LOGS, StepFailed

LAB = os.path.join(ROOT, "tools/lab/lab")
FOLDER = os.path.join(LOGS, "lab-up")
PROBE = os.path.join(LOGS, "lab-up.probe")
WORD = "/sys/module/via_ether/parameters/checksum"


class Commands:
    """Of a lab of this step's own, whatever else is up in this tree."""

    def __init__(self, check):
        self.check = check
        self.environ = {**os.environ, "MVIA_LAB_UP": FOLDER}

    def __call__(self, *words, status=0, says=""):
        """What a command prints; its status and a part of that are known."""
        begin = time.monotonic()
        done = subprocess.run([LAB, *words], env=self.environ, text=True,
                              stdin=subprocess.DEVNULL, timeout=1200,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.check.write(f"$ lab {' '.join(words)}\n{done.stdout}"
                         f"status {done.returncode}, "
                         f"{time.monotonic() - begin:.1f} s")
        if done.returncode != status or says not in done.stdout:
            raise StepFailed(f"lab {' '.join(words)}: status "
                             f"{done.returncode}, wanted {status} and "
                             f"'{says}': {done.stdout.strip()}")
        return done.stdout

    def holding(self):
        """A command that has a VI NIC open on node 2."""
        job = subprocess.Popen(
            [LAB, "exec", "2", "--", "exec 3</dev/via_lo; echo open; "
             "sleep 100"], env=self.environ, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        if job.stdout.readline() != "open\n":
            raise StepFailed("a command's output comes late, or never")
        return job


def probe(word):
    with open(PROBE, "w") as file:
        file.write(word)


def refusals(lab):
    """What is said where no lab is up."""
    lab("exec", "1", "--", "true", status=125, says="'lab up' starts one")
    lab("reload", status=1, says="'lab up' starts one")
    lab("status", status=1, says="no lab is up")
    lab("down", status=1, says="no lab is up")
    lab("up", "--kernel", "5.10", status=2, says="invalid choice: '5.10'")


def executions(lab):
    """Output, status, no input, words as they are, no such node."""
    lab("exec", "2", "--", "echo out; echo err >&2; exit 7", status=7,
        says="out\n")
    lab("exec", "1", "--", "kill -9 $$", status=137)
    lab("exec", "1", "--", "cat")
    lab("exec", "1", "--", "echo", "a  b", "$HOME", says="a  b $HOME\n")
    lab("exec", "-t", "0.5", "1", "--", "sleep", "60", status=125,
        says="killed after 0.5 s")
    lab("exec", "3", "--", "true", status=125, says="there is no node 3")
    lab("exec", "1", "--", "viainfo -d via_eth0", says="via_eth0")


def reloading(lab):
    """Modules are loaded anew and files are today's; not while a NIC is
    open."""
    lab("exec", "1", "--", "cat", PROBE, says="before")
    probe("after it")
    job = lab.holding()
    try:
        lab("exec", "2", "--", f"echo 1 >{WORD}")
        lab("reload", status=1, says="nothing was reloaded")
    finally:
        # The command in the guest ends with the one that asked for it.
        job.terminate()
        job.wait(300)
        job.stdout.close()
    lab("exec", "2", "--", "cat", WORD, says="Y\n")
    lab("exec", "2", "--", "until [ -z \"$(pgrep -x sleep)\" ]; do "
        "sleep 0.1; done")
    lab("reload", says="loaded in 2 nodes")
    lab("exec", "2", "--", "cat", WORD, says="N\n")
    lab("exec", "1", "--", "cat", PROBE, says="after it")
    lab("exec", "2", "--", "viainfo -d via_eth0", says="via_eth0")


def run(check):
    """All of it, in half a minute."""
    lab = Commands(check)
    if os.path.exists(os.path.join(FOLDER, "state.json")):
        lab("down")  # of a run that was killed
    refusals(lab)
    probe("before")
    try:
        lab("up", "-n", "2", says="up: 2 nodes")
        lab("up", status=1, says="a lab is up already")
        lab("status", says="node2: up")
        executions(lab)
        reloading(lab)
        lab("exec", "1", "--", "echo 'WARNING: a test' >/dev/kmsg; sleep 1",
            says="node1's kernel complained")
    finally:
        try:
            lab("down")
        except (StepFailed, subprocess.TimeoutExpired, LabError):
            check.write("lab down failed")
    lab("status", status=1, says="no lab is up")
