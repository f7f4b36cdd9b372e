#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Objects of one program, for `via res'.

    objects.py NODE hold UID        some of each kind, as that user, until killed
    objects.py NODE churn SECONDS   some of each kind, which come and go
"""

import contextlib
import ctypes
import fcntl
import mmap
import os
import struct
import sys
import threading
import time

import greedy
from greedy import (CONN_REQUEST, CONN_RESULT, CONN_WAIT, CQ_CREATE, FOREVER,
                    HELLO, MEM_REGISTER, NOWAIT, PAGE, VI_CREATE, call,
                    opened, wait_for)

PTAG_CREATE = call(0x10, 8)
VI_DESTROY, CQ_DESTROY = call(0x21, 8, 1), call(0x31, 8, 1)
MEM_DEREGISTER = call(0x13, 16, 1)
CONN_ACCEPT = call(0x41, 8, 1)
CONN_LISTEN = call(0x47, 92, 1)
PEER_REQUEST = call(0x46, 184, 1)
NOT_DONE, NO_MATCH, RDMA_WRITE = 1, 14, 1
VI_RECV_TAIL, CQ_HEAD = 192, 64
SILENT = b"\x1b[2J\0"


def done(fd, request, want):
    """What came of a call that is to succeed."""
    got = greedy.given(fd, request, want)
    if got is None:
        raise SystemExit(f"call {request:#x}: there is no more")
    return got


class Handle:
    def __init__(self, path):
        self.fd, self.page = opened(path)
        hello = bytearray(struct.pack("=I172x", 1))
        fcntl.ioctl(self.fd, HELLO, hello)
        self.host = bytes(hello[72:88])
        self.length, = struct.unpack_from("=I", hello, 88)
        self.memory = mmap.mmap(-1, 4 * PAGE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def ptag(self):
        return struct.unpack_from("=I", done(self.fd, PTAG_CREATE,
                                             bytes(8)))[0]

    def vi(self, level=2, ptag=0, send_cq=0, recv_cq=0):
        """(id, where it is mapped, bytes)"""
        return struct.unpack_from("=I4xQQ", done(self.fd, VI_CREATE, struct.pack(
            "=IIIIII24x", level, ptag, 4096, 0, send_cq, recv_cq)), 24)

    def cq(self, entries):
        """(id, where it is mapped, bytes)"""
        return struct.unpack_from("=IQQ", done(
            self.fd, CQ_CREATE, struct.pack("=I28x", entries)[:24]), 4)

    def region(self, length, ptag=0, rights=0):
        return struct.unpack_from("=I", done(self.fd, MEM_REGISTER, struct.pack(
            "=QQIIII", self.start, length, ptag, rights, 0, 0)), 24)[0]

    def wait(self, disc, seconds=120):
        """The request, in a thread of its own: as a list."""
        got = []

        def sleep():
            arg = bytearray(wait_for(disc, seconds))
            # The handle may end meanwhile.
            with contextlib.suppress(OSError):
                if not fcntl.ioctl(self.fd, CONN_WAIT, arg):
                    got.append(struct.unpack_from("=I", arg, 4)[0])
        threading.Thread(target=sleep, daemon=True).start()
        return got

    def address(self, disc):
        return struct.pack("=HH16s64s", self.length, len(disc), self.host, disc)

    def request(self, vi, own, disc, how=CONN_REQUEST):
        fcntl.ioctl(self.fd, how, struct.pack("=IIQ", vi, 0, FOREVER) +
                    self.address(own) + self.address(disc))

    def verdict(self, vi):
        return fcntl.ioctl(self.fd, CONN_RESULT,
                           bytearray(struct.pack("=II16x", vi, NOWAIT)))

    def asked(self, vi, own, disc):
        """A request of that VI, which has found a waiter: its number."""
        got = self.wait(disc)
        while True:
            self.request(vi, own, disc)
            time.sleep(0.05)
            if self.verdict(vi) != NO_MATCH:
                break
        while not got:
            time.sleep(0.01)
        return got[0]


def hold(path, uid):
    os.setresuid(uid, uid, uid)
    h = Handle(path)
    tag, (cq, at, size) = h.ptag(), h.cq(64)
    ring = mmap.mmap(h.fd, size, mmap.MAP_SHARED, offset=at)
    # As if three entries were there that are not collected.
    struct.pack_into("=I", ring, CQ_HEAD, 2**32 - 3)
    h.region(2 * PAGE + 1, tag, RDMA_WRITE)
    server, at, size = h.vi(ptag=tag, send_cq=cq)
    area = mmap.mmap(h.fd, size, mmap.MAP_SHARED, offset=at)
    client, other, peer, _ = (h.vi()[0] for _ in range(4))
    request = h.asked(client, b"own", b"hold")
    fcntl.ioctl(h.fd, CONN_ACCEPT, struct.pack("=II", request, server))
    while h.verdict(client) == NOT_DONE:
        time.sleep(0.01)
    struct.pack_into("=I", area, VI_RECV_TAIL, 5)
    h.asked(other, b"", b"unanswered")
    h.request(peer, b"one", b"two", PEER_REQUEST)
    h.wait(SILENT)
    # One is kept, of five at most.
    fcntl.ioctl(h.fd, CONN_LISTEN, struct.pack("=II", 5, 0) +
                h.address(b"kept"))
    h.request(h.vi()[0], b"", b"kept")
    time.sleep(0.3)
    print(f"held pid={os.getpid()} server={server} client={client}",
          flush=True)
    time.sleep(3600)


def churn(path, seconds):
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        h = Handle(path)
        rounds += 1
        for _ in range(3):
            cq, vi = h.cq(16)[0], h.vi()[0]
            vis = [h.vi(send_cq=cq)[0] for _ in range(3)]
            regions = [h.region(PAGE * n, 0, RDMA_WRITE) for n in (1, 2, 3)]
            h.request(vi, b"x", b"nobody")
            h.wait(b"somebody", 1)
            fcntl.ioctl(h.fd, CONN_LISTEN, struct.pack("=II", 2, 0) +
                        h.address(b"x" + bytes([os.getpid() % 256])))
            for region in regions:
                fcntl.ioctl(h.fd, MEM_DEREGISTER, struct.pack(
                    "=QII", h.start, region, 0))
            for vi in vis:
                fcntl.ioctl(h.fd, VI_DESTROY, struct.pack("=II", vi, 0))
            fcntl.ioctl(h.fd, CQ_DESTROY, struct.pack("=II", cq, 0))
        # Those that wait leave with it.
        h.page.close()
        os.close(h.fd)
    print(f"rounds={rounds}")


if __name__ == "__main__":
    {"hold": hold, "churn": churn}[sys.argv[2]](sys.argv[1], int(sys.argv[3]))
    os._exit(sys.stdout.flush() or 0)
