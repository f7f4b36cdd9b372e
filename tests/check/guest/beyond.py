#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Messages longer than MaxTransferSize, which no honest sender sends.

    beyond.py serve libvipl.so.1 NIC     a VI with long receives, and a region
    beyond.py forge IFACE MAC ADDR HANDLE    frames to it, made by hand

The server prints the region's address and handle, then what comes: of a send
its status and length, and what has changed in the region at the end.
"""

import ctypes
import os
import socket
import struct
import sys
import time

MAX, LONG, UNRELIABLE = 4096, 65536, 1
DISC = b"beyond"
OWN = bytes.fromhex("020000000077")
SEND, WRITE, REQUEST, CHALLENGE, REFUSE, ACCEPT, CONFIRM = (
    1, 2, 16, 17, 19, 20, 21)
SUM, PIECE = 8, 1024


class Vi(ctypes.Structure):
    _fields_ = [("level", ctypes.c_ushort), ("size", ctypes.c_ulong),
                ("qos", ctypes.c_void_p), ("ptag", ctypes.c_void_p),
                ("write", ctypes.c_int), ("read", ctypes.c_int)]


class Region(ctypes.Structure):
    _fields_ = [("ptag", ctypes.c_void_p), ("write", ctypes.c_int),
                ("read", ctypes.c_int)]


def good(code):
    if code:
        sys.exit(f"a call returned {code}")


class Server:
    def __init__(self, library, device):
        self.lib = ctypes.CDLL(library)
        self.nic, self.vi = ctypes.c_void_p(), ctypes.c_void_p()
        good(self.lib.VipOpenNic(device.encode(), ctypes.byref(self.nic)))
        self.room = ctypes.create_string_buffer(3 * LONG)
        self.at = -(-ctypes.addressof(self.room) // LONG) * LONG
        self.handle = ctypes.c_uint32()
        good(self.lib.VipRegisterMem(
            self.nic, ctypes.c_void_p(self.at), ctypes.c_ulong(2 * LONG),
            ctypes.byref(Region(None, 1, 0)), ctypes.byref(self.handle)))
        good(self.lib.VipCreateVi(
            self.nic, ctypes.byref(Vi(UNRELIABLE, MAX, None, None, 1, 0)),
            None, None, ctypes.byref(self.vi)))

    def post(self, i):
        """A receive of as much as there is room for."""
        d = struct.pack("<QIHHIIIIQII", 0, 0, 1, 0, 0, 0, LONG - 4096, 0,
                        self.at + LONG, self.handle.value, LONG - 4096)
        ctypes.memmove(self.at + 64 * i, d, len(d))
        good(self.lib.VipPostRecv(self.vi, ctypes.c_void_p(self.at + 64 * i),
                                  self.handle))

    def accept(self):
        local = struct.pack("<HH", 0, len(DISC)) + DISC
        remote, theirs = ctypes.create_string_buffer(128), Vi()
        conn = ctypes.c_void_p()
        good(self.lib.VipConnectWait(
            self.nic, local, ctypes.c_ulong(60000), remote,
            ctypes.byref(theirs), ctypes.byref(conn)))
        good(self.lib.VipConnectAccept(conn, self.vi))

    def receive(self):
        out = ctypes.c_void_p()
        self.lib.VipRecvWait(self.vi, ctypes.c_ulong(30000),
                             ctypes.byref(out))
        if not out:
            sys.exit("nothing comes")
        length, status = struct.unpack(
            "<II", ctypes.string_at(out.value + 24, 8))
        return f"{status:#x}:{length}"


def serve(library, device):
    s = Server(library, device)
    for i in range(3):
        s.post(i)
    target = s.at + 4096
    print("ready", target, s.handle.value, flush=True)
    s.accept()
    print("came", *[s.receive() for _ in range(3)])
    # RDMA Writes are done when the send behind them is.
    print("written", *[ctypes.string_at(target + k * PIECE, PIECE).count(b"w")
                       for k in range(2)], flush=True)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Forger:
    def __init__(self, iface, mac):
        self.mac = bytes.fromhex(mac.replace(":", ""))
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(0x88b5))
        self.sock.bind((iface, 0x88b5))
        # Frames to an address that is not the interface's own.
        self.sock.setsockopt(263, 1, struct.pack(
            "iHH8s", socket.if_nametoindex(iface), 1, 0, b""))
        self.sock.settimeout(20)
        self.vi = self.cookie = self.proof = 0
        self.seq = 1000

    def frame(self, kind, body, dst=0, cookie=0):
        """With a checksum where it is of no connection."""
        w = struct.pack(">BBBBIQ", 2, kind, SUM if kind > 9 else 0, 0, dst,
                        cookie or self.cookie) + body
        crc = struct.pack(">I", crc32c(w)) if kind > 9 else b""
        self.sock.send(self.mac + OWN + b"\x88\xb5" + w + crc)

    def request(self, cookie):
        """The answer; one cookie has one answer, however often it asks."""
        def address(host, disc):
            return struct.pack(">BBH20s64s", 6, len(disc), 0, host, disc)

        hello = struct.pack(">QQIIQ", 1, self.proof, 64, 1500, 0)
        self.frame(REQUEST, hello + struct.pack(
            ">IIQIIIIII", 7, 0, cookie, self.seq, UNRELIABLE, MAX, 0, 20000,
            0) + address(OWN, b"") + address(self.mac, DISC), dst=7,
            cookie=cookie)
        while True:
            f = self.sock.recv(2048)
            if f[:6] == OWN and f[15] == CHALLENGE:
                self.proof, = struct.unpack(">Q", f[38:46])
                return self.request(cookie)
            if f[:6] == OWN and f[15] in (ACCEPT, REFUSE):
                return f

    def connect(self):
        cookie = 1
        # The server may not be waiting yet.
        while (f := self.request(cookie))[15] == REFUSE:
            cookie += 1
            time.sleep(0.1)
        self.vi, _, self.cookie = struct.unpack(">IIQ", f[62:78])
        self.frame(CONFIRM, struct.pack(">IIQ", self.vi, 0, 0))

    def data(self, kind, length, off, payload, rdma=b""):
        self.frame(kind, struct.pack(">IIIIHHI", self.seq, 0, length, off,
                                     len(payload), 0, 0) + rdma + payload,
                   dst=self.vi)
        self.seq += 1

    def send(self, length):
        """All of a message, or, beyond the limit, its first frame."""
        for off in range(0, MAX if length <= MAX else PIECE, PIECE):
            self.data(SEND, length, off, b"s" * PIECE)

    def write(self, addr, handle, length):
        self.data(WRITE, length, 0, b"w" * PIECE,
                  struct.pack(">QII", addr, handle, 0))


def forge(iface, mac, addr, handle):
    f = Forger(iface, mac)
    addr, handle = int(addr), int(handle)
    f.connect()
    f.send(MAX)
    f.send(MAX + 1)
    f.write(addr, handle, MAX)
    f.write(addr + PIECE, handle, MAX + 1)
    f.send(MAX)


if __name__ == "__main__":
    {"serve": serve, "forge": forge}[sys.argv[1]](*sys.argv[2:])
    os._exit(0)
