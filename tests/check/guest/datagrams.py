#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Datagrams of random bytes, half of them with the wire's version in front.

    datagrams.py HOST PORT AMOUNT SEED
"""

import random
import socket
import sys
import time

VERSION = 2


def main():
    host, port, amount, seed = sys.argv[1], *map(int, sys.argv[2:])
    dice = random.Random(seed)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    answers = 0
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect((host, port))
        sock.setblocking(False)
        for i in range(amount):
            data = bytearray(dice.randbytes(dice.choice((
                dice.randrange(64), dice.randrange(128),
                dice.randrange(1400)))))
            if data and dice.random() < 0.5:
                data[0] = VERSION
            try:
                sock.send(data)
            except (BlockingIOError, ConnectionRefusedError):
                pass
            if i % 64 == 63:
                time.sleep(0.001)
            try:
                sock.recv(65536)
                answers += 1
            except (BlockingIOError, ConnectionRefusedError):
                pass
    # Frames are answered at the NIC's port, never at the sender's.
    if answers:
        sys.exit(f"{answers} answers")


main()
