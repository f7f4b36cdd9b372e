#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""seeds.py FOLDER: a well-formed frame of each type, to begin with."""

import os
import struct
import sys

DATA = (0x01, 0x02, 0x03, 0x04)
ACKS = (0x08, 0x09, 0x0a, 0x0b, 0x12, 0x13, 0x14, 0x15, 0x16)
CONNS = (0x10, 0x11, 0x17, 0x18)
NAMES = (0x20, 0x21)
HEAD = 212			# VIA_WIRE_HDR_MAX


SEALED = 0x08


def wire(kind, length=0):
    """Frames that are of no connection are sealed."""
    return struct.pack(">BBBBHHIII", 1, kind, SEALED if kind > 0x0a else 0,
                       0, 3, length, 0x1234, 7, 9)


def body(kind):
    if kind in DATA:
        length = 0 if kind == 0x03 else 16
        out = wire(kind, length) + struct.pack(">III", 16, 0, 0)
        if kind in (0x02, 0x03):
            out += struct.pack(">QI", 0x7f0000001000, 0x101)
        return out + b"x" * length
    if kind in ACKS:
        return wire(kind) + struct.pack(">IQ", 0, 5)
    if kind in CONNS:
        address = bytes([6, 4, 0, 0]) + b"\x52\x54\0\0\0\1\0\0" + \
            b"disc".ljust(64, b"\0")
        return wire(kind) + struct.pack(">HHIIIIIIII", 1, 64, 5, 6, 1500, 2,
                                        32768, 0, 1000, 1) + address * 2
    return wire(kind) + struct.pack(">IB3x64s", 77, 5, b"node2")


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for kind in DATA + ACKS + CONNS + NAMES:
        frame = body(kind)
        extra = max(0, len(frame) - HEAD)
        with open(os.path.join(sys.argv[1], f"{kind:02x}"), "wb") as file:
            file.write(struct.pack("<H", extra) + frame.ljust(HEAD, b"\0"))


if __name__ == "__main__":
    main()
