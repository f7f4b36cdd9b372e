#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hostile.py DEVICE: bytes that no link says, on every TCP port of a process
that serves; it serves others meanwhile and afterwards, and does not grow.

The ports are those of link (the directory, and the NIC's own); the endpoint of
libfabric has one, too, and what comes there is libfabric's to refuse.
"""

import glob
import os
import random
import re
import socket
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
CONFORM = os.path.join(BUILD, "viaconform")
MAGIC = 0x4c495601
ROUNDS = 150
MOST_KIB = 16384  # that the server may grow by


def family(pid):
    """The process and those that it has started."""
    found = [pid]
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path) as file:
            for child in file.read().split():
                found += family(int(child))
    return found


def listening(pid):
    """[(family, port)] of the TCP sockets on which they listen."""
    inodes = set()
    for one in family(pid):
        for path in glob.glob(f"/proc/{one}/fd/*"):
            try:
                inodes |= set(re.findall(r"socket:\[(\d+)\]",
                                         os.readlink(path)))
            except OSError:
                pass
    found = []
    for name, kind in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        with open(f"/proc/{pid}/net/{name}") as file:
            for line in file.read().splitlines()[1:]:
                words = line.split()
                if words[3] == "0A" and words[9] in inodes:
                    found.append((kind, int(words[1].split(":")[1], 16)))
    return found


def rss(pid):
    """KiB of memory of all of them."""
    total = 0
    for one in family(pid):
        with open(f"/proc/{one}/status") as file:
            total += int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))
    return total


def frame(dice, kind=None, lie=False):
    """One that looks like link's, with anything inside."""
    body = dice.randbytes(48)
    if dice.random() < 0.7:
        lengths = [dice.choice((0, 1, 24, 64, 112, 512, 65535))
                   for _ in range(3)]
        body = body[:32] + struct.pack("=HHH", *lengths) + bytes(10)
        body += dice.randbytes(sum(lengths) % 800)
    length = dice.choice((0, 1, 65535, len(body) - 1)) if lie else len(body)
    return struct.pack("=IHH", MAGIC, dice.randrange(20) if kind is None
                       else kind, length) + body


def attack(dice, address):
    """One connection; the other end may close it at any time."""
    with socket.socket(address[0]) as s:
        s.settimeout(0.2)
        try:
            s.connect((address[1], address[2]))
            for _ in range(dice.randrange(1, 6)):
                s.sendall(dice.choice((
                    lambda: dice.randbytes(dice.randrange(1, 5000)),
                    lambda: frame(dice), lambda: frame(dice, lie=True),
                    lambda: frame(dice)[:dice.randrange(60)],
                    lambda: frame(dice, dice.randrange(1, 14)),
                    lambda: b"GET / HTTP/1.0\r\n\r\n"))())
            if dice.random() < 0.3:
                s.recv(1000)
            if dice.random() < 0.3:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             struct.pack("ii", 1, 0))
        except OSError:
            pass


def crowd(address, count=200):
    """Connections that say nothing."""
    made = []
    for _ in range(count):
        s = socket.socket(address[0])
        s.setblocking(False)
        s.connect_ex((address[1], address[2]))
        made.append(s)
    return made


def client(device, host):
    return subprocess.run([CONFORM, "-d", device, "-g", "send", host],
                          capture_output=True, text=True, timeout=120)


def judge(device, host, server, when):
    done = client(device, host)
    if done.returncode or server.poll() is not None:
        print(done.stdout[-2000:], done.stderr[-2000:])
        sys.exit(f"hostile: {when}, a client fails ({done.returncode}), the "
                 f"server's status is {server.poll()}")


def main():
    device = sys.argv[1]
    os.environ.setdefault("VIPL_PROVIDERS", os.path.join(BUILD, "providers"))
    host = device.partition(",")[2] or "127.0.0.1"
    seed = int(os.environ.get("SEED", "1"))
    dice = random.Random(seed)
    server = subprocess.Popen([CONFORM, "-d", device, "--server"],
                              stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 30
        while not (ports := listening(server.pid)):
            if time.monotonic() > end or server.poll() is not None:
                sys.exit("hostile: the server has no port")
            time.sleep(0.05)
        judge(device, host, server, "before")
        # libfabric's own comes and goes with endpoints; link's stay.
        ports = [(f, host.strip("[]"), p) for f, p in ports]
        before = rss(server.pid)
        for number in range(ROUNDS):
            for address in ports:
                attack(dice, address)
            if number == ROUNDS // 2:
                judge(device, host, server, "under garbage")
        silent = [s for a in ports for s in crowd(a)]
        judge(device, host, server, "beside silent connections")
        for s in silent:
            s.close()
        judge(device, host, server, "afterwards")
        grown = rss(server.pid) - before
        print(f"hostile: {ROUNDS} connections to each of {len(ports)} ports, "
              f"seed {seed}; the server grew by {grown} KiB")
        if grown > MOST_KIB:
            sys.exit(f"hostile: more than {MOST_KIB} KiB")
    finally:
        server.kill()
        server.wait()


main()
