#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Datagrams for via_udp that are no frames, and what sees datagrams.

    joined.py wrong FROM TO AMOUNT    with a wrong checksum
    joined.py none FROM TO AMOUNT     with none
    joined.py joined FROM TO AMOUNT   in packets that the kernel is to split
    joined.py trains FROM TO AMOUNT   likewise: frames one behind the other, of
                                      connections that are not there
    joined.py read TO                 a raw socket that gets those for TO
    joined.py tap INTERFACE           counts bytes in received packets, until
    joined.py end TO                  this one comes
"""

import random
import socket
import struct
import sys

PORT, END, FLOW = 13879, 13880, 50000
UDP_SEGMENT = 103
ETH_P = {0x0800: 20, 0x86dd: 40}
OUTGOING, ETH_P_ALL = 4, 3
SO_RCVBUFFORCE = 33
SIZES = 1, 7, 31, 32, 39, 40, 41, 48, 100, 552, 1399, 1400
SEGMENTS = 64
# Bytes of SEND's, of WRITE's and of READ_DATA's.
HEADERS = {1: 40, 2: 56, 4: 40}


def family_of(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def total(data):
    """The sum of the Internet checksum."""
    data += b"\0" * (len(data) % 2)
    out = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while out >> 16:
        out = (out & 0xffff) + (out >> 16)
    return out


def damaged(source, target, payload, check):
    """A datagram whose checksum is wrong, or 0."""
    ends = b"".join(socket.inet_pton(family_of(h), h) for h in (source, target))
    length = 8 + len(payload)
    head = struct.pack("!HHHH", FLOW, PORT, length, 0)
    right = 0xffff - total(ends + struct.pack("!II", length, 17) + head +
                           payload)
    wrong = (right ^ 0x5a5a) or 1
    return head[:6] + struct.pack("!H", wrong if check else 0) + payload


def raw(source, target, amount, check):
    dice = random.Random(amount)
    with socket.socket(family_of(target), socket.SOCK_RAW, 17) as sock:
        sock.bind((source, 0))
        for _ in range(amount):
            payload = b"\2" + dice.randbytes(dice.randrange(1200))
            sock.sendto(damaged(source, target, payload, check), (target, 0))
    print("sent", amount)


def noise(dice, size, length):
    """Bytes that are no frames."""
    return b"\2" + dice.randbytes(length - 1)


def frames(dice, size, length):
    """Frames of a message; in most of them something is wrong."""
    kind, vi = dice.choice((1, 2, 4)), dice.randrange(1, 9)
    cookie, seq = dice.getrandbits(64), dice.getrandbits(32)
    head = HEADERS[kind]
    rdma = dice.randbytes(12) + bytes(4) if kind == 2 else b""
    count = -(-length // size)
    payload = length - count * head
    if size <= head or payload < 1:
        return noise(dice, size, length)
    message = dice.choice((payload, payload, payload - 1, payload + 9, 2**31))
    data, offset = bytearray(), 0
    for k in range(count):
        more = min(size, length - len(data)) - head
        data += struct.pack("!BBBBIQIIIIHHI", 2, kind, 0, 0, vi, cookie,
                            (seq + k) % 2**32, 0, message, offset,
                            max(more, 0), 0, 0) + rdma
        data += bytes(max(more, 0))
        offset += more
    for _ in range(dice.randrange(3)):
        at = dice.randrange(count) * size + dice.randrange(head)
        if at < length:
            data[at] ^= 1 << dice.randrange(8)
    return bytes(data[:length])


def joined(source, target, amount, make):
    dice = random.Random(amount)
    sent = 0
    with socket.socket(family_of(target), socket.SOCK_DGRAM) as sock:
        sock.bind((source, 0))
        for i in range(amount):
            size = SIZES[i % len(SIZES)]
            most = min(SEGMENTS, 60000 // size)
            # The last one is as long, or shorter.
            length = dice.randrange(size, most * size + 1)
            sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
            sock.sendto(make(dice, size, length), (target, PORT))
            sent += -(-length // size)
    print("sent", sent)


def read(target):
    with socket.socket(family_of(target), socket.SOCK_RAW, 17) as sock:
        print("reading", flush=True)
        while True:
            sock.recv(65536)


def tap(name):
    seen = 0
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                       socket.htons(ETH_P_ALL)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        sock.bind((name, 0))
        print("tapping", flush=True)
        while True:
            data, (_, protocol, packet, *_) = sock.recvfrom(70000)
            ip = ETH_P.get(protocol)
            if packet == OUTGOING or not ip or data[14 + (
                    9 if ip == 20 else 6)] != socket.IPPROTO_UDP:
                continue
            _, port, length = struct.unpack_from("!HHH", data, 14 + ip)
            if port == END:
                print("seen", seen, "bytes", flush=True)
            elif port == PORT:
                seen += length - 8


def end(target):
    with socket.socket(family_of(target), socket.SOCK_DGRAM) as sock:
        sock.sendto(b"end", (target, END))


def main():
    what, *words = sys.argv[1:]
    if what in ("wrong", "none"):
        raw(words[0], words[1], int(words[2]), what == "wrong")
    elif what in ("joined", "trains"):
        joined(words[0], words[1], int(words[2]),
               noise if what == "joined" else frames)
    else:
        {"read": read, "tap": tap, "end": end}[what](*words)


main()
