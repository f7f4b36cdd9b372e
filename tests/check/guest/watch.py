#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A packet socket that says when it has seen so many frames of VIA come in.

    watch.py INTERFACE all|own AMOUNT

all: of every type, bound to the interface; own: of VIA's type, bound to none.
"""

import socket
import sys

ETH_P_ALL = 3
ETH_P_VIA = 0x88b5
OUTGOING = 4


def main():
    name, kind, amount = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(
            ETH_P_ALL if kind == "all" else ETH_P_VIA)) as sock:
        if kind == "all":
            sock.bind((name, 0))
        print("watching", flush=True)
        while True:
            _, (at, protocol, packet, *_) = sock.recvfrom(2048)
            if at == name and protocol == ETH_P_VIA and packet != OUTGOING:
                amount -= 1
                if not amount:
                    print("seen", flush=True)


if __name__ == "__main__":
    main()
