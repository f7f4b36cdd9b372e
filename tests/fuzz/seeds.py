#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""seeds.py FOLDER: a well-formed frame of each type, to begin with; and the same
with an authenticator."""

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
OTHERS = (0x00, 0x08, 0x11, 0x22, 0x23)
HEAD = 288			# VIA_WIRE_HDR_MAX
SUM, AUTH = 0x08, 0x10


def wire(kind, flags=0):
    """Frames that are of no connection have a checksum."""
    return struct.pack(">BBBBIQ", 2, kind, flags | (SUM if kind > 9 else 0),
                       0, 3 if kind <= 9 or kind in ASKS else 0,
                       0 if kind in NAMES else 0x1234)


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
    if kind == 0x11:
        return wire(kind) + hello()
    if kind == 0x22:
        entry = struct.pack(">IIQB7x", 3, 9, 0x1234, 2) + ranges
        return wire(kind) + struct.pack(">H6x", 2) + entry * 2
    return wire(kind) + struct.pack(">H6xQQQQ", 2, 1, 99, 7, 8)


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
    if kind in BEATS:
        return wire(kind) + struct.pack(">QQQII", 77, 1, 2, 3, 4)
    return wire(kind) + struct.pack(">IB3x64s", 77, 5, b"node2")


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for kind in DATA + ENDS + ANSWERS + CONNS + BEATS + NAMES + OTHERS:
        frame = body(kind)
        write(f"{kind:02x}", frame)
        flags = frame[2] & ~SUM | AUTH
        write(f"{kind:02x}-auth", frame[:2] + bytes([flags]) + frame[3:])


def write(name, frame):
    extra = max(0, len(frame) - HEAD)
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(struct.pack("<H", extra) + frame.ljust(HEAD, b"\0"))


if __name__ == "__main__":
    main()
