# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Talking to the agent of a guest: jobs and their results."""

import os
import re
import select
import signal
import socket
import struct
import threading
import time

from .base import LabError
from .patience import SLOWEST

RUN, INPUT, KILL, HELLO, OUT, ERR, EXIT = 1, 2, 3, 16, 17, 18, 19
GRACE = 15  # seconds that a killed job gets before the node counts as hung
# What all tasks of the guest wait for, into its log.
TASKS = "echo t >/proc/sysrq-trigger && sleep 1 && dmesg"


class Result:
    """What a finished command left: rc (minus the signal), out, err, all."""

    def __init__(self, command, rc, out, err, everything, seconds):
        self.command, self.rc, self.seconds = command, rc, seconds
        self.out, self.err, self.all = out, err, everything

    def __repr__(self):
        return f"Result(rc={self.rc}, out={self.out!r}, err={self.err!r})"


class Job:
    """One command on one node; made by Node.spawn()."""

    def __init__(self, link, number, command, deadline):
        self.link, self.number, self.command = link, number, command
        self.deadline = deadline
        self.started, self.begun = time.monotonic(), link.clock()
        self.seconds = None
        self.rc = None
        self.expired = False
        self.lost = None
        self.parts = []  # (which stream, bytes)
        self.partial = b""

    def text(self, *streams):
        return b"".join(d for s, d in self.parts if s in streams).decode(
            errors="replace")

    @property
    def out(self):
        return self.text(OUT)

    @property
    def err(self):
        return self.text(ERR)

    @property
    def all(self):
        return self.text(OUT, ERR)

    @property
    def done(self):
        return self.rc is not None or self.lost is not None

    def result(self):
        """The Result, or the LabError that the end of the job deserves."""
        where = f"{self.link.name}: '{self.command}'"
        if self.lost:
            raise LabError(f"{where}: {self.lost}")
        if self.expired:
            raise LabError(f"{where} was killed after {self.deadline} s, see "
                           f"{self.link.log_path}")
        return Result(self.command, self.rc, self.out, self.err, self.all,
                      self.seconds)

    def wait(self, timeout=None):
        """Wait for the end; LabError after `timeout` s, or when the deadline
        has killed it.  Both go by the lab's clock."""
        limit = timeout
        if limit is None and self.deadline:
            left = self.begun + self.deadline - self.link.clock()
            if not self.link.wait_for(lambda: self.done, left):
                self.kill()
                self.expired = True
            limit = GRACE
        if not self.link.wait_for(lambda: self.done, limit):
            if self.expired:
                self.link.show_tasks()
            raise LabError(f"{self.link.name}: '{self.command}' has not ended "
                           f"after {time.monotonic() - self.started:.0f} s, "
                           f"see {self.link.log_path}")
        return self.result()

    def expect(self, pattern, timeout=30):
        """Wait until the output so far matches; returns the match."""
        found = []

        def look():
            match = re.search(pattern, self.all, re.M)
            if match:
                found.append(match)
            return match or self.done

        self.link.wait_for(look, timeout)
        if not found:
            raise LabError(f"{self.link.name}: '{self.command}' did not print "
                           f"'{pattern}' within {timeout} s, see "
                           f"{self.link.log_path}")
        return found[0]

    def kill(self, number=signal.SIGKILL):
        """Send a signal to the job's process group (SIGKILL)."""
        if not self.done:
            self.link.send(self.number, KILL, struct.pack("=I", number))

    def input(self, data):
        """Bytes for standard input (spawn(stdin=True)); b"" ends it."""
        self.link.send(self.number, INPUT,
                       data.encode() if isinstance(data, str) else data)


class Link:
    """The connection to one guest's agent, with a thread that reads it."""

    def __init__(self, name, path, log_path, health, clock=time.monotonic):
        self.name, self.path, self.log_path = name, path, log_path
        self.clock = clock  # by which patience goes
        self.health = health  # raises LabError when the guest is dead
        self.haste = 1  # how much faster than ours the guest's clock may run
        self.log = open(log_path, "a", buffering=1, errors="replace")
        self.changed = threading.Condition()
        self.jobs = {}
        self.next = 1
        self.release = None
        self.socket = None
        self.reader = None
        self.shown = False  # what the tasks of a hung guest wait for
        self.echo = None  # called with each line of output
        self.wlock = threading.Lock()

    def connect(self, limit=120):
        end = time.monotonic() + limit
        while True:
            sock = socket.socket(socket.AF_UNIX)
            try:
                sock.connect(self.path)
                break
            except OSError:
                sock.close()
                self.health()
                if time.monotonic() > end:
                    raise LabError(f"{self.name}: QEMU offers no {self.path}")
                time.sleep(0.02)
        self.release = None
        self.socket = sock
        self.reader = threading.Thread(target=self.read, args=(sock,),
                                       daemon=True)
        self.reader.start()

    def close(self, why="the node was stopped"):
        sock, self.socket = self.socket, None
        if sock:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self.reader.join(5)
            sock.close()
        with self.changed:
            for job in self.jobs.values():
                if not job.done:
                    job.lost = why
            self.changed.notify_all()

    def send(self, job, kind, data=b""):
        sock = self.socket
        if not sock:
            raise LabError(f"{self.name} is not running")
        try:
            with self.wlock:
                sock.sendall(struct.pack("=III", 8 + len(data), job, kind)
                             + data)
        except OSError as error:
            self.health()
            raise LabError(f"{self.name}: its agent is gone: {error}")

    def read(self, sock):
        buffer = b""
        while True:
            try:
                data = sock.recv(1 << 18)
            except OSError:
                data = b""
            if not data:
                return
            buffer += data
            at = 0
            while len(buffer) - at >= 12:
                length, number, kind = struct.unpack_from("=III", buffer, at)
                if len(buffer) - at < length + 4:
                    break
                self.frame(number, kind, buffer[at + 12:at + 4 + length])
                at += length + 4
            buffer = buffer[at:]

    def frame(self, number, kind, data):
        with self.changed:
            job = self.jobs.get(number)
            if kind == HELLO:
                self.release = data.decode()
            elif job and kind in (OUT, ERR):
                job.parts.append((kind, data))
                self.write_lines(job, data)
            elif job and kind == EXIT:
                status, expired = struct.unpack("=II", data)
                job.expired = job.expired or bool(expired)
                job.seconds = time.monotonic() - job.started
                job.rc = os.waitstatus_to_exitcode(status)
                self.write_lines(job, b"\n" if job.partial else b"")
                self.log.write(f"[{number}] ended, status {job.rc}, "
                               f"{job.seconds:.1f} s\n")
            self.changed.notify_all()

    def write_lines(self, job, data):
        *lines, job.partial = (job.partial + data).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace").rstrip("\r")
            self.log.write(f"[{job.number}] {text}\n")
            if self.echo:
                self.echo(job, text)

    def wait_for(self, condition, limit):
        """True once condition() holds; the guest's death is a LabError.  The
        limit is in seconds of the lab's clock."""
        end = None if limit is None else self.clock() + limit
        with self.changed:
            while not condition():
                left = 0.5 if end is None else end - self.clock()
                if left <= 0:
                    return False
                if not self.changed.wait(min(left, 0.5)):
                    self.health()
        return True

    def start(self, command, deadline, stdin=False):
        with self.changed:
            number, self.next = self.next, self.next + 1
            job = self.jobs[number] = Job(self, number, command, deadline)
            self.log.write(f"[{number}] $ {command}\n")
        # Job.wait() kills it in time; the agent knows no clock but its own.
        limit = min(max(1, int(deadline * 1000 * SLOWEST * self.haste)),
                    2**31 - 1) if deadline else 0
        self.send(number, RUN, struct.pack("=II", limit, int(stdin))
                  + command.encode())
        return job

    def show_tasks(self):
        """A job outlives SIGKILL: the log says where the guest's tasks are,
        once, and as far as the guest can say it."""
        if self.shown:
            return
        self.shown = True
        job = self.start(TASKS, GRACE)
        self.wait_for(lambda: job.done, GRACE)


def bridge(sock, infile, outfile, quit_byte=0x1d):
    """Join a terminal in raw mode to a socket until Ctrl-] or its end."""
    while True:
        ready, _, _ = select.select([sock, infile], [], [])
        if sock in ready:
            data = sock.recv(65536)
            if not data:
                return
            os.write(outfile, data)
        if infile in ready:
            data = os.read(infile, 4096)
            if not data or quit_byte in data:
                return
            sock.sendall(data)
