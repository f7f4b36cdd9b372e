#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hostile.py DEVICE: bytes that no link says, on every TCP port of a process
that serves; it serves others meanwhile and afterwards, and does not grow.

Then one host says hello in due form, again and again, to a process that may
open few files: it becomes a bounded number of peers, and another host is served.

The port of link is the user's; the endpoint of libfabric has one, too, and what
comes there is libfabric's to refuse.
"""

import errno
import glob
import os
import random
import re
import resource
import socket
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
CONFORM = os.path.join(BUILD, "viaconform")
PING = os.path.join(BUILD, "tools/viaping")
MAGIC = 0x4c495602
ROUNDS = 150
MOST_KIB = 16384  # that the server may grow by
FILES = 256  # that the second server may open: 32 peers of a host
FROM_ONE = 32
ASK, ANSWER, HELLO, MET, REFUSE = 1, 3, 6, 7, 8
WAITS = b"viaping"  # what viaping -l waits for


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


def rss(pid, most=0):
    """KiB of memory of all of them: the least within two seconds, since NICs
    that a test of theirs has open come and go; on a busy machine they may take
    longer, so within 30 seconds while it is more than @most."""
    begin, least = time.monotonic(), rss_now(pid)
    while time.monotonic() - begin < (30 if most and least > most else 2):
        time.sleep(0.1)
        least = min(least, rss_now(pid))
    return least


def rss_now(pid):
    total = 0
    for one in family(pid):
        try:
            with open(f"/proc/{one}/status") as file:
                found = re.search(r"VmRSS:\s+(\d+)", file.read())
            total += int(found.group(1)) if found else 0
        except OSError:
            pass
    return total


def frame(dice, kind=None, lie=False):
    """One that looks like link's, with anything inside."""
    body = dice.randbytes(32)
    data = dice.randbytes(dice.choice((0, 1, 24, 64, 65, 512, 513, 800)))
    if dice.random() < 0.7:
        body = body[:24] + struct.pack("=II", dice.randrange(5), 0)
    length = dice.choice((0, 1, 512, 65535)) if lie else len(data)
    return struct.pack("=IHH", MAGIC, dice.randrange(20) if kind is None
                       else kind, length) + body + data


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
                    lambda: frame(dice, dice.randrange(1, 11)),
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


def stated(kind, address, port, scope=0):
    """An address as libfabric has it: AF_INET or AF_INET6."""
    if kind == socket.AF_INET6:
        return struct.pack("=H", kind) + struct.pack(">HI", port, 0) + \
            socket.inet_pton(kind, address) + struct.pack("=I", scope)
    return struct.pack("=H", kind) + struct.pack(">H", port) + \
        socket.inet_aton(address)


def greeting(dice, name, anywhere=0, length=16):
    """What a NIC says of itself, in its hello and in the answer to one."""
    data = struct.pack("=QIHHB7s24s", dice.getrandbits(64), 0, 64, length,
                       anywhere, b"", b"tcp;ofi_rxm")
    return data + struct.pack("=BB2s16s4s128s", 4, 0, b"mz",
                              socket.inet_aton("127.0.0.2"), b"", name)


def link_frame(kind, own, other=0, data=b""):
    return struct.pack("=IHHQQiIII", MAGIC, kind, len(data), own, other, 0, 1,
                       0, 0) + data


def greet(dice, address, source, name=None):
    """(socket, type and code of the answer). The hello is what a NIC would say;
    its libfabric is at a port where nothing is.
    """
    name = name or stated(socket.AF_INET, "127.0.0.2", 1)
    own = dice.getrandbits(64) | 1
    s = socket.socket(address[0])
    s.bind((source, 0))
    s.settimeout(2)
    try:
        s.connect((address[1], address[2]))
        s.sendall(link_frame(ASK, own, data=WAITS))
        answer = s.recv(1000)
        if len(answer) == 40 and answer[4] == ANSWER:
            other = struct.unpack("=Q", answer[8:16])[0]
            s.sendall(link_frame(HELLO, own, other, greeting(dice, name)))
            answer = s.recv(1000)
    except OSError:
        return s, 0, 0
    if len(answer) < 40:
        return s, 0, 0
    return (s, struct.unpack("=H", answer[4:6])[0],
            struct.unpack("=i", answer[24:28])[0])


def start(command, limit=None):
    """A server that listens."""
    def few():
        if limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                              preexec_fn=few)
    end = time.monotonic() + 30
    while not listening(server.pid):
        if time.monotonic() > end or server.poll() is not None:
            server.kill()
            server.wait()
            sys.exit("hostile: the server has no port")
        time.sleep(0.05)
    return server


def ping(device, host):
    done = subprocess.run([PING, "-c", "3", "-i", "0.1", "-d", device, host],
                          capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(f"hostile: a server with few files does not serve: "
                 f"{done.stdout[-500:]} {done.stderr[-500:]}")


def greetings(device, host, dice):
    server = start([PING, "-d", device, "-l"], FILES)
    ports = [(f, host, p) for f, p in listening(server.pid)]
    held, peers, refused = [], 0, 0
    try:
        ping(device, host)
        for address in ports:
            for _ in range(FILES):
                s, kind, code = greet(dice, address, "127.0.0.2")
                held.append(s)
                peers += kind == MET
                refused += (kind, code) == (REFUSE, -errno.ENOBUFS)
                # The other ports say nothing that is an answer.
                if kind not in (MET, REFUSE):
                    break
        print(f"hostile: {FILES} greetings of one host: {peers} peers, "
              f"{refused} refused")
        if peers != FROM_ONE or peers + refused != FILES:
            sys.exit(f"hostile: {FROM_ONE} peers of a host are right")
        ping(device, host)
    finally:
        for s in held:
            s.close()
        server.kill()
        server.wait()


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
    server = start([CONFORM, "-d", device, "--server"])
    ports = listening(server.pid)
    try:
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
        grown = rss(server.pid, before + MOST_KIB) - before
        print(f"hostile: {ROUNDS} connections to each of {len(ports)} ports, "
              f"seed {seed}; the server grew by {grown} KiB")
        if grown > MOST_KIB:
            sys.exit(f"hostile: more than {MOST_KIB} KiB")
    finally:
        server.kill()
        server.wait()
    if host == "127.0.0.1":
        greetings(device, host, dice)


if __name__ == "__main__":
    main()
