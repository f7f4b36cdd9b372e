# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What every part of the lab shares: places, errors, small helpers."""

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(TOOLS))
BUILD = os.path.join(ROOT, "build")
VIA = os.path.join(BUILD, "tools/via")
CACHE = os.environ.get("MVIA_CACHE") or os.path.expanduser("~/.cache/mvia")
# Open MPI's, also where MPICH is beside it. By its name: a path would be
# another prefix for its daemons.
MPIRUN = "mpirun.openmpi" if shutil.which("mpirun.openmpi") else "mpirun"


class LabError(Exception):
    """Something went wrong; the text names the remedy or the log."""


def codename():
    """Of this machine's Debian."""
    try:
        with open("/etc/os-release") as file:
            found = re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M)
    except OSError:
        found = None
    return found.group(1) if found else "sid"


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def die_with_parent():
    """In a child before exec: no guest outlives the program that made it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def prefer(pid):
    """What carries frames goes before guests that spin, at once: a weight
    alone lets them finish their slice of milliseconds.  Threads that it makes
    do not inherit that.  False where we may not say so."""
    try:
        os.sched_setscheduler(pid, os.SCHED_RR | os.SCHED_RESET_ON_FORK,
                              os.sched_param(1))
        return True
    except OSError:
        pass
    try:
        os.setpriority(os.PRIO_PROCESS, pid, -10)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def locked(name, why):
    """Hold the cache's lock `name`, so two runs do not build one thing."""
    try:
        os.makedirs(CACHE, exist_ok=True)
        lock = open(os.path.join(CACHE, f"lock-{name}"), "w")
    except OSError as error:
        raise LabError(f"kernels are kept in {CACHE}: {error.strerror}; "
                       "MVIA_CACHE names another folder")
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run that is at {why}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def logged(command, log, what, **kwargs):
    """Run a command with its output in a log; a failure names the log."""
    with open(log, "ab") as file:
        file.write(f"$ {command}\n".encode())
        file.flush()
        done = subprocess.run(command, stdout=file, stderr=file,
                              stdin=subprocess.DEVNULL, **kwargs)
    if done.returncode:
        raise LabError(f"{what} failed, see {log}")


def output_of(command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.PIPE, **kwargs)
    if done.returncode:
        raise LabError(f"'{' '.join(command)}' failed: {done.stderr.strip()}")
    return done.stdout


def ensure_tools():
    """Build the switch and the agent where they are not up to date."""
    command = ["make", "-s", "-C", ROOT, "-f", "tools/lab/Makefile.inc",
               "B=build", "build/lab/switch", "build/lab/agent",
               "build/lab/tsc"]
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=env,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise LabError(f"cannot build the lab's tools:\n{done.stdout}")
