# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A lab that stays up between commands: what is known of it, and the words
between the commands and the process that keeps its guests (labkit.keeper).

build/lab-up (or MVIA_LAB_UP) holds a lock for as long as the keeper lives, a
description of the lab, and the keeper's log.
"""

import fcntl
import glob
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

from . import kernels
from .base import BUILD, ROOT, LabError, say

FOLDER = os.environ.get("MVIA_LAB_UP") or os.path.join(BUILD, "lab-up")
STATE = os.path.join(FOLDER, "state.json")
LOG = os.path.join(FOLDER, "log")
# From the keeper: bytes for either output, a remark, how it ended, an error.
OUT, ERR, NOTE, DONE, FAILED = 1, 2, 3, 4, 5
HEAD = struct.Struct("=BI")


def boot_id():
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def lock():
    """The lock as an open file, or None where a keeper holds it."""
    os.makedirs(FOLDER, exist_ok=True)
    file = open(os.path.join(FOLDER, "lock"), "a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def alive():
    held = lock() if os.path.isdir(FOLDER) else True
    if held not in (None, True):
        held.close()
    return held is None


def state():
    """What the keeper has written about its lab, {} where there is none."""
    try:
        with open(STATE) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def write_state(**words):
    with open(f"{STATE}.new", "w") as file:
        json.dump({**words, "boot_id": boot_id()}, file, indent=1)
    os.rename(f"{STATE}.new", STATE)


def describe(lab):
    """One line about a lab that is up."""
    return (f"{lab['nodes']} node{'s' * (lab['nodes'] > 1)}, "
            f"{','.join(lab['nics'])}, kernel {lab['kernel']}, "
            f"{lab['cpus']} CPU{'s' * (lab['cpus'] > 1)} each, since "
            f"{time.strftime('%H:%M', time.localtime(lab['started']))}, "
            f"kept by process {lab['pid']}")


def stale(old):
    """Why a lab that has left a description is not there any more."""
    why = f"its process {old['pid']} has ended" \
        if old["boot_id"] == boot_id() else "this machine was booted since"
    began = time.strftime("%d %b %H:%M", time.localtime(old["started"]))
    return f"the one of {began} is gone ({why}), see {LOG}"


def forget(old):
    """Remove what a lab without a keeper has left."""
    prefix = os.path.join(tempfile.gettempdir(), "mvia-")
    if old["rundir"].startswith(prefix):
        shutil.rmtree(old["rundir"], ignore_errors=True)
    if os.path.exists(STATE):
        os.unlink(STATE)


def the_lab():
    """The description of the lab that is up."""
    found = state()
    if alive():
        # The description comes last: a keeper without one is booting.
        if found:
            return found
        raise LabError("a lab is still booting in this tree: wait for 'lab "
                       "up' to say that it is up")
    if found:
        raise LabError(f"no lab is up: {stale(found)}; 'lab up' starts one")
    raise LabError("no lab is up in this tree: 'lab up' starts one")


def build(kernel):
    """Modules for a kernel and all programs, as make does it."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    begin = time.monotonic()
    modules = kernels.Kernel(None, kernel["release"], None, kernel["kdir"],
                             None, kernel["root"])
    for command in (modules.make("-s", "-j2", "modules"),
                    ["make", "-s", "-j2", "-C", ROOT, "user"]):
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                              stdout=sys.stderr)
        if done.returncode:
            raise LabError("it does not build, see above")
    say(f"built for {kernel['release']} in {time.monotonic() - begin:.1f} s")


def programs():
    """{path: (size, second of the last change)} of what guests run, but for
    the modules."""
    found = {}
    for pattern in ("*.so*", "via*", "tools/*", "samples/*"):
        for path in glob.glob(os.path.join(BUILD, pattern)):
            about = os.stat(path)
            if os.path.isfile(path):
                found[path] = (about.st_size, int(about.st_mtime))
    return found


# Between a command and the keeper

def send(sock, kind, data=b""):
    if isinstance(data, str):
        data = data.encode(errors="replace")
    sock.sendall(HEAD.pack(kind, len(data)) + data)


def whole(file, count):
    data = file.read(count)
    if len(data) < count:
        raise LabError(f"the lab ended in the middle of it, see {LOG}")
    return data


def request(lab, **words):
    """Have the keeper do something; print what it says; the status."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(os.path.join(lab["rundir"], "keeper"))
        sock.sendall(json.dumps(words).encode() + b"\n")
    except OSError as error:
        raise LabError(f"the lab's process {lab['pid']} does not answer: "
                       f"{error}; see {LOG}")
    with sock, sock.makefile("rb") as file:
        while True:
            kind, length = HEAD.unpack(whole(file, HEAD.size))
            data = whole(file, length)
            if kind in (OUT, ERR):
                stream = sys.stdout if kind == OUT else sys.stderr
                stream.buffer.write(data)
                stream.flush()
            elif kind == NOTE:
                say(data.decode())
            elif kind == FAILED:
                raise LabError(data.decode())
            else:
                return int(data)
