# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The labs that `lab run` and `lab shell` keep, for other terminals.

Each has a file in build/lab/running, named by the process that keeps it.
"""

import contextlib
import json
import os

from .base import BUILD, LabError

FOLDER = os.path.join(BUILD, "lab/running")


@contextlib.contextmanager
def announced(kind, rundir, wires):
    """In this block others find the lab: a "run" or a "shell"."""
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, str(os.getpid()))
    with open(path + ".new", "w") as file:
        json.dump({"kind": kind, "rundir": rundir, "wires": wires}, file)
    os.rename(path + ".new", path)
    try:
        yield
    finally:
        os.unlink(path)


def read(name):
    """What a file says, or None where its lab has ended."""
    try:
        with open(os.path.join(FOLDER, name)) as file:
            found = json.load(file)
        os.stat(f"/proc/{name}")
    except (OSError, ValueError):
        return None
    return {"pid": int(name), **found} if os.path.isdir(found["rundir"]) \
        else None


def labs(kind=None):
    """All that run now, the oldest first."""
    try:
        names = [n for n in os.listdir(FOLDER) if n.isdigit()]
    except FileNotFoundError:
        return []
    names.sort(key=lambda n: os.path.getmtime(os.path.join(FOLDER, n)))
    return [lab for lab in map(read, names)
            if lab and kind in (None, lab["kind"])]


def the_lab(pid=None):
    """The one of that process, or the only one."""
    found = [lab for lab in labs() if pid in (None, lab["pid"])]
    if len(found) == 1:
        return found[0]
    if pid is not None:
        raise LabError(f"no lab is kept by process {pid}")
    if not found:
        raise LabError("no lab is running: start one with 'lab shell' or "
                       "'lab run'")
    listed = ", ".join(f"{lab['pid']} ({lab['kind']})" for lab in found)
    raise LabError(f"{len(found)} labs are running: choose with --lab PID, "
                   f"of {listed}")
