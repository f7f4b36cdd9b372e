#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A TCP stream whose end tells whether every byte arrived.

    stream.py serve PORT [CONNECTIONS]
    stream.py send HOST PORT MIB
"""

import hashlib
import os
import socket
import sys

MIB = 1 << 20


def serve(port, connections):
    listener = socket.create_server(("", port), family=socket.AF_INET6,
                                    dualstack_ipv6=True)
    print("listening", flush=True)
    for _ in range(connections):
        link, _ = listener.accept()
        check = hashlib.sha256()
        wanted = int.from_bytes(receive(link, 8), "big")
        while wanted:
            data = link.recv(min(wanted, MIB))
            if not data:
                sys.exit(f"{wanted} bytes are missing")
            check.update(data)
            wanted -= len(data)
        link.sendall(check.digest())
        link.close()


def receive(link, count):
    data = b""
    while len(data) < count:
        more = link.recv(count - len(data))
        if not more:
            sys.exit("the connection ended early")
        data += more
    return data


def send(host, port, mebibytes):
    link = socket.create_connection((host, port), 60)
    check = hashlib.sha256()
    link.sendall((mebibytes * MIB).to_bytes(8, "big"))
    for _ in range(mebibytes):
        data = os.urandom(MIB)
        check.update(data)
        link.sendall(data)
    if receive(link, 32) != check.digest():
        sys.exit("the bytes that arrived are not those that were sent")
    print(f"{mebibytes} MiB arrived whole")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]), int((sys.argv[3:] or ["1"])[0]))
    else:
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
