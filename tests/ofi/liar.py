#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""liar.py: ends that state an address which is not theirs, or leads nowhere,
and an end that has no file left as libfabric connects. Whatever a hello says the
process lives, that meeting fails, and others are served.

A server of this file's own answers the hello of a client, with each address of
the table in turn; then the same addresses are in hellos to a server.
"""

import os
import random
import resource
import select
import socket
import struct
import subprocess
import sys
import threading

import hostile

V4, V6 = socket.AF_INET, socket.AF_INET6
OWN, FAKE = "127.0.0.1", "127.0.0.2"
DEVICE = "ofi:tcp," + OWN
TIME = 30  # s, that a client may take
HOLD = 0.5  # s, that the server holds a control connection

TABLE = (
    ("of no host", hostile.stated(V4, "0.0.0.0", 5)),
    ("of all hosts", hostile.stated(V4, "255.255.255.255", 5)),
    ("of a group", hostile.stated(V4, "224.0.0.1", 5)),
    ("without a route", hostile.stated(V4, "192.0.2.1", 5)),
    ("the receiver's", hostile.stated(V4, OWN, 5)),
    ("without a port", hostile.stated(V4, FAKE, 0)),
    ("IPv6, without a route", hostile.stated(V6, "2001:db8::1", 5)),
    ("of a link, an interface that is not there",
     hostile.stated(V6, "fe80::1", 5, 4711)),
    ("of a link, no interface", hostile.stated(V6, "fe80::1", 5)),
    ("of no family", struct.pack("=H", 77) + bytes(14)),
)


def read_frame(s):
    """(type, body) or None."""
    def exactly(count):
        got = b""
        while len(got) < count:
            more = s.recv(count - len(got))
            if not more:
                raise OSError("the end")
            got += more
        return got
    try:
        _, kind, length = struct.unpack("=IHH", exactly(8))
        return kind, exactly(32 + length)
    except OSError:
        return None


class Server:
    """A link at FAKE, whose answers state what it is told to."""

    def __init__(self, port):
        self.dice = random.Random(1)
        self.name = b""
        self.answered = 0
        self.listener = socket.create_server((FAKE, port), backlog=50)
        self.port = port
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            s, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with s:
            while (frame := read_frame(s)):
                kind, body = frame
                own, = struct.unpack("=Q", body[:8])
                if kind == hostile.ASK:
                    s.sendall(hostile.link_frame(hostile.ANSWER, 99))
                elif kind == hostile.HELLO:
                    self.answered += 1
                    s.sendall(hostile.link_frame(
                        hostile.MET, 99, own,
                        data=hostile.greeting(self.dice, self.name)))
                    s.settimeout(HOLD)


def client(files=None, host=FAKE):
    def few():
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    return subprocess.run(
        [hostile.PING, "-c", "1", "-d", DEVICE, host], capture_output=True,
        text=True, timeout=TIME, check=False, preexec_fn=few)


def judge(done, what, fails=True):
    if done.returncode >= 0 and (done.returncode or not fails):
        return 0
    print(f"liar: {what}: a client's status is {done.returncode}: "
          f"{done.stdout[-300:]} {done.stderr[-300:]}")
    return 1


def clients(port):
    """Clients of a server that lies."""
    server, bad = Server(port), 0
    for what, server.name in TABLE:
        before = server.answered
        bad += judge(client(), f"an address {what}, in an answer")
        if server.answered == before:
            bad += 1
            print(f"liar: {what}: no hello came")
    print(f"liar: {len(TABLE)} addresses in answers")
    return bad


NO_FILE = "ofi: no file for a connection: too many open files: RLIMIT_NOFILE is"
# The port is the client's, too, and its own connection may come to itself, where it
# waits for a file: the kernel chooses by the client's port, which is another one
# each time.
TO_ITSELF = "ofi: what connects has to wait"
TRIES = 8


def servers():
    """Servers of clients that lie, or have few files."""
    server = hostile.start([hostile.PING, "-d", DEVICE, "-l"])
    dice, bad, tried = random.Random(2), 0, 0
    held = []
    try:
        hostile.ping(DEVICE, OWN)
        for family, port in hostile.listening(server.pid):
            for what, name in TABLE:
                s, kind, _ = hostile.greet(dice, (family, OWN, port), FAKE,
                                           name)
                held.append(s)
                # The port of libfabric, which says nothing.
                if not kind:
                    break
                tried += 1
                if kind != hostile.REFUSE:
                    bad += 1
                    print(f"liar: an address {what}, in a hello: {kind} is the "
                          f"answer, not {hostile.REFUSE}")
        print(f"liar: {tried} hellos")
        bad += tried < len(TABLE)
        if server.poll() is None:
            hostile.ping(DEVICE, OWN)
        # Some of these limits are reached as libfabric connects.
        said = 0
        for files in range(12, 40):
            for _ in range(TRIES):
                done = client(files, OWN)
                bad += judge(done, f"{files} files", False)
                if TO_ITSELF not in done.stderr:
                    break
            said += "does not answer (not reachable)" in done.stderr and \
                NO_FILE in done.stderr
            bad += "kernel" in done.stderr
        print(f"liar: clients of 12 to 39 files, {said} say that none is left "
              "for a connection")
        bad += not said
        if server.poll() is not None:
            print(f"liar: the server's status is {server.poll()}")
            return bad + 1
        hostile.ping(DEVICE, OWN)
    finally:
        for s in held:
            s.close()
        server.kill()
        server.wait()
    return bad


def without_files():
    """A server that has no file for one more client says so."""
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    # pylint: disable-next=consider-using-with
    server = subprocess.Popen([hostile.PING, "-d", DEVICE, "-l"],
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, preexec_fn=few)
    clients_of_it = []
    try:
        for _ in range(5):
            # pylint: disable-next=consider-using-with
            clients_of_it.append(subprocess.Popen(
                [hostile.PING, "-c", "100", "-d", DEVICE, OWN],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        ready, _, _ = select.select([server.stderr], [], [], TIME)
        line = server.stderr.readline().decode() if ready else ""
    finally:
        for one in clients_of_it + [server]:
            one.kill()
            one.wait()
    print(f"liar: a server without files: {line.strip()}")
    return "RLIMIT_NOFILE is 24" not in line


def main():
    port = int(os.environ.setdefault("VIPL_OFI_PORT", "27600"))
    os.environ.setdefault("VIPL_PROVIDERS",
                          os.path.join(hostile.BUILD, "providers"))
    sys.exit((clients(port) + servers() + without_files()) != 0)


main()
