#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""seeds.py FOLDER: frames to begin with, well-formed: one of each type, and
those between peers in several shapes; the same with an authenticator; and with
neither that nor a checksum, which only frames of a connection may be."""

import os
import struct
import sys

DATA = (0x01, 0x02, 0x03, 0x04)
ENDS = (0x09, 0x0a, 0x0b)
ANSWERS = (0x12, 0x13, 0x15, 0x16)
CONNS = (0x10, 0x14, 0x17, 0x18)
BEATS = (0x20, 0x21)
NAMES = (0x30, 0x31)
ASKS = (0x10, 0x11, 0x17)		# and CHALLENGE: the asker's VI
OTHERS = (0x00, 0x08, 0x11)
ACKS, LIST = 0x22, 0x23
HEAD = 288			# VIA_WIRE_HDR_MAX
SUM, AUTH = 0x08, 0x10
ALL = (1 << 64) - 1


def wire(kind, flags=0, cookie=0x1234):
    """Frames that are of no connection have a checksum."""
    return struct.pack(">BBBBIQ", 2, kind, flags | (SUM if kind > 9 else 0),
                       0, 3 if kind <= 9 or kind in ASKS else 0,
                       0 if kind in NAMES else cookie)


def data(kind):
    length = 0 if kind == 0x03 else 16
    out = wire(kind) + struct.pack(">IIIIHHI", 7, 9, 16, 0, length,
                                   7 if kind == 0x04 else 0, 0)
    if kind in (0x02, 0x03):
        out += struct.pack(">QII", 0x7f0000001000, 0x101, 0)
    return out + b"x" * length


def hello():
    return struct.pack(">QQIIQ", 77, 0, 64, 1500, 5)


def conn(kind):
    address = bytes([6, 4, 0, 0]) + b"\x52\x54\0\0\0\1".ljust(20, b"\0") + \
        b"disc".ljust(64, b"\0")
    asks = kind in (0x10, 0x17)
    return wire(kind) + hello() + struct.pack(
        ">IIQIIIIII", 3, 0 if asks else 3, 0x1234, 6, 2, 32768, 0, 1000,
        1) + address * 2


def other(kind):
    ranges = struct.pack(">HHHH", 0, 1, 3, 2)
    if kind == 0x00:
        return bytes([3, 0, 3, 2]) + wire(0x10)[:12]
    if kind == 0x08:
        return wire(kind, 0x40) + struct.pack(">IIBBHI", 9, 5, 2, 255, 64,
                                              0) + ranges
    return wire(kind) + hello()


def beat(kind, connections, proof=1, time=2, cookie=0x1234):
    """@cookie 0: the receiver's epoch is not known."""
    return wire(kind, cookie=cookie) + struct.pack(
        ">QQQII", 77, proof, time, connections, connections and 4)


def acks(ranges, cookie=0x1234):
    """An entry for each of @ranges, with so many."""
    return wire(ACKS, cookie=cookie) + struct.pack(">H6x", len(ranges)) + \
        b"".join(struct.pack(">IIQBB6x", 3 + i, 9 + i, 0x1234 + i, n, 6 * i) +
                 b"".join(struct.pack(">HH", 3 * j, 2) for j in range(n))
                 for i, n in enumerate(ranges))


def listing(low, high, cookies, cookie=0x1234):
    return wire(LIST, cookie=cookie) + struct.pack(
        f">H6xQQ{len(cookies)}Q", len(cookies), low, high, *cookies)


def between_peers():
    """Name and frame of each shape of HEARTBEAT, HEARTBEAT_ACK, ACKS and LIST."""
    for kind in BEATS:
        yield f"{kind:02x}", beat(kind, 3)
        yield f"{kind:02x}-none", beat(kind, 0)
        yield f"{kind:02x}-unknown", beat(kind, 1, 0, cookie=0)
        yield f"{kind:02x}-most", beat(kind, 0xffffffff, ALL, ALL, ALL)
    yield "22", acks([2, 2])
    yield "22-plain", acks([0])
    yield "22-entries", acks([0] * 10)
    yield "22-ranges", acks([32])
    yield "22-mixed", acks([0, 7, 0, 16, 1])
    yield "22-unknown", acks([1], 0)
    yield "23", listing(1, 99, [7, 8])
    yield "23-none", listing(1, ALL, [])
    yield "23-one", listing(7, 7, [7])
    yield "23-ends", listing(1, ALL, [1, ALL])
    yield "23-full", listing(1 << 40, ALL,
                             [(i + 1) << 58 for i in range(28)])
    yield "23-unknown", listing(1, 99, [98], 0)


def body(kind):
    if kind in DATA:
        return data(kind)
    if kind in CONNS:
        return conn(kind)
    if kind in OTHERS:
        return other(kind)
    if kind in ENDS:
        return wire(kind) + struct.pack(">IIII", 7, 9 if kind == 9 else 0, 0,
                                        3)
    if kind in ANSWERS:
        return wire(kind) + struct.pack(">IIQ", 3, kind == 0x13, 0)
    return wire(kind) + struct.pack(">IB3x64s", 77, 5, b"node2")


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for kind in DATA + ENDS + ANSWERS + CONNS + NAMES + OTHERS:
        write_all(f"{kind:02x}", body(kind))
    for name, frame in between_peers():
        write_all(name, frame)


def write_all(name, frame):
    write(name, frame)
    bare = frame[2] & ~SUM
    write(f"{name}-auth", frame[:2] + bytes([bare | AUTH]) + frame[3:])
    if bare != frame[2]:
        write(f"{name}-bare", frame[:2] + bytes([bare]) + frame[3:])


def write(name, frame):
    extra = max(0, len(frame) - HEAD)
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(struct.pack("<H", extra) + frame.ljust(HEAD, b"\0"))


if __name__ == "__main__":
    main()
