# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The process that keeps the guests of `lab up` and does what `lab exec`,
`lab reload` and `lab down` ask for."""

import contextlib
import json
import os
import select
import shlex
import socket
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from . import initrd, running, warm
from .base import ROOT, VIA, LabError
from .jobs import GRACE, OUT

OURS = (*dict.fromkeys(initrd.NATIVE.values()), "via_native", "via_netdev",
        "via_ether", "via_lo", "via_ka")
# A process may have a NIC open, which must not be taken from it unasked.
HOLDERS = ("find /proc/[0-9]*/fd -lname '/dev/via_*' 2>/dev/null | "
           "cut -d/ -f3 | sort -un | while read p; do "
           "echo \"$(cat /proc/$p/comm) (process $p)\"; done")


def unloading(native):
    """A command that lets go of all NICs and unloads what is loaded of ours;
    what the guest remembers of the host's files is forgotten."""
    lines = []
    if native:
        lines.append("for n in /sys/class/via/via_eth*; do [ -e $n ] || "
                     "continue; d=${n##*/via_}; if [ -e /sys/module/"
                     "via_native ]; then "
                     f"{ROOT}/tools/via-bind $d stock; fi; done")
    lines.append("for n in /sys/class/via/via_*; do n=${n##*/via_}; "
                 f"case $n in lo | \\*) ;; *) {VIA} dev detach $n;; "
                 "esac; done")
    lines.append(f"for m in {' '.join(OURS)}; do "
                 "if [ -e /sys/module/$m ]; then rmmod $m || exit 1; fi; done")
    lines.append("sync; echo 3 >/proc/sys/vm/drop_caches")
    return "; ".join(lines)


class Keeper:
    """Of one lab that has started."""

    def __init__(self, lab, native, load):
        self.lab, self.native, self.load = lab, native, load
        self.seen = {}  # node: bad lines on its console, told so far
        self.ending = threading.Event()
        self.lock = threading.Lock()  # held while modules are changed
        self.socket = None

    def listen(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.path.join(self.lab.rundir, "keeper"))
        self.socket.listen(16)
        self.socket.settimeout(0.5)

    def serve(self):
        """Until `lab down`, or a signal."""
        while not self.ending.is_set():
            try:
                sock, _ = self.socket.accept()
            except TimeoutError:
                continue
            sock.settimeout(None)
            threading.Thread(target=self.answer, args=(sock,),
                             daemon=True).start()

    def answer(self, sock):
        """One command's connection."""
        with sock, contextlib.suppress(OSError):
            try:
                with sock.makefile("rb") as file:
                    words = json.loads(file.readline())
                status = getattr(self, f"do_{words.pop('do')}")(sock, **words)
                warm.send(sock, warm.DONE, str(status or 0))
            except LabError as why:
                warm.send(sock, warm.FAILED, str(why))
            except OSError:
                raise
            except Exception as why:  # a bug of ours is told, not kept
                traceback.print_exc()
                warm.send(sock, warm.FAILED, f"{type(why).__name__}: {why}, "
                          f"see {warm.LOG}")

    def node(self, number):
        if not 1 <= number <= len(self.lab.nodes):
            raise LabError(f"there is no node {number}: the lab has "
                           f"{len(self.lab.nodes)}")
        return self.lab.nodes[number - 1]

    def complaints(self, sock):
        """Tell what the kernels have complained of since the last time."""
        for node in self.lab.nodes:
            bad = list(node.klog.scan())
            new, self.seen[node] = bad[self.seen.get(node, 0):], len(bad)
            if new:
                warm.send(sock, warm.NOTE, f"{node.name}'s kernel complained: "
                          f"{new[0]} ({len(new)} such lines), see "
                          f"{node.console}")

    def do_exec(self, sock, node, command, timeout):
        link = self.node(node).link
        job = self.node(node).spawn(command, timeout)
        sent, end = 0, time.monotonic() + timeout + GRACE
        try:
            while True:
                ended = job.done
                for stream, data in job.parts[sent:]:
                    warm.send(sock, warm.OUT if stream == OUT else warm.ERR,
                              data)
                    sent += 1
                if ended:
                    break
                if select.select([sock], [], [], 0)[0]:
                    raise ConnectionResetError("the command is gone")
                if time.monotonic() > end:
                    raise LabError(f"node{node} does not answer: 'lab down' "
                                   f"and 'lab up', see {link.log_path}")
                link.wait_for(lambda: job.done or len(job.parts) > sent, 0.5)
            self.complaints(sock)
            rc = job.result().rc
            return rc if rc >= 0 else 128 - rc
        finally:
            if not job.done:
                job.kill()
            link.jobs.pop(job.number, None)

    def do_status(self, sock):
        for node in self.lab.nodes:
            try:
                node.health()
                up = node.run("cut -d' ' -f1 /proc/uptime; ls /sys/class/via "
                              "2>/dev/null | tr '\\n' ' '", 30).out.split()
                text = f"up {float(up[0]):.0f} s, VI NICs: " + \
                    (" ".join(up[1:]) or "none")
            except LabError as why:
                text = str(why)
            warm.send(sock, warm.OUT, f"{node.name}: {text}; console "
                      f"{node.console}\n")
        self.complaints(sock)

    def do_down(self, sock):
        self.complaints(sock)
        self.ending.set()

    def do_reload(self, sock):
        with self.lock, ThreadPoolExecutor() as pool:
            nodes = self.lab.nodes
            held = [f"{node.name}: {', '.join(said.split(chr(10)))}"
                    for node, said in zip(nodes, pool.map(
                        lambda n: n.sh(HOLDERS).out.strip(), nodes)) if said]
            if held:
                raise LabError("a VI NIC is open, nothing was reloaded; end "
                               f"this first: {'; '.join(held)}")
            list(pool.map(self.renew, nodes))
        for node in nodes:
            self.same_programs(sock, node)
        self.complaints(sock)

    def renew(self, node):
        node.sh(unloading(self.native), 120)
        self.load(self.lab, self.native, [node])
        self.same_modules(node)

    def same_modules(self, node):
        """The modules that run are those that were built."""
        said = node.sh("cd /sys/module; for m in " + " ".join(OURS) + "; do "
                       "[ ! -e $m ] || echo $m $(od -An -v -tx1 "
                       "$m/notes/.note.gnu.build-id); done").out
        for line in said.splitlines():
            name, _, note = line.partition(" ")
            with open(self.lab.module_path(name), "rb") as file:
                if bytes.fromhex(note) not in file.read():
                    raise LabError(f"{node.name} does not run the {name} that "
                                   "was built: lab down, lab up")

    def same_programs(self, sock, node):
        """A program that still runs keeps the old file."""
        here = warm.programs()
        said = node.run("stat -L -c '%n %s %Y' " + shlex.join(here)).out
        there = {name: (int(size), int(when)) for name, size, when in
                 (line.rsplit(" ", 2) for line in said.splitlines())}
        old = [os.path.relpath(path, ROOT) for path, about in here.items()
               if there.get(path) != about]
        if old:
            warm.send(sock, warm.NOTE, f"{node.name} has the old "
                      f"{', '.join(old)}: a process there uses it")


def detach_from_terminal():
    """Of its own session, with the log for its words."""
    os.setsid()
    log = os.open(warm.LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    null = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, null), (1, log), (2, log)):
        os.dup2(source, target)
    os.close(log)
    os.close(null)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)


def keep(lab, native, load, ready):
    """In a child of `lab up`: boot, load, tell `ready`, serve to the end."""
    os.chdir("/")
    detach_from_terminal()
    try:
        lab.start()
        load(lab, native)
        keeper = Keeper(lab, native, load)
        keeper.listen()
        with running.announced("up", lab.rundir, len(lab.wires)):
            warm.write_state(
                pid=os.getpid(), rundir=lab.rundir, nodes=len(lab.nodes),
                nics=lab.nics, cpus=lab.cpus, started=time.time(),
                logdir=lab.logdir, kernel=lab.kernel.name,
                release=lab.kernel.release, kdir=lab.kernel.kdir,
                root=lab.kernel.root)
            os.write(ready, b"ready\n")
            os.close(ready)
            ready = None
            keeper.serve()
    except LabError as why:
        print(f"lab: {why}", file=sys.stderr)
        if ready is not None:
            os.write(ready, f"{why}\n".encode())
    finally:
        lab.stop()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(warm.STATE)
