#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Messages to the netlink family "via" that its tool would not send.

    netlink.py wrong NIC         each is refused with its error, and no other
    netlink.py random NIC N SEED N random ones: some are taken, none harms
    netlink.py dumps NIC SECONDS dumps, half of which are left unread
"""

import os
import random
import socket
import struct
import sys
import time
import errno

REQUEST, ACK, DUMP, NESTED = 1, 4, 0x300, 0x8000
ERROR, DONE, CTRL = 2, 3, 16
CMD = {name: i for i, name in enumerate(
    "UNSPEC NIC_GET NIC_NEW NIC_DEL ATTACH DETACH PEER_GET PEER_SET PEER_DEL "
    "PEER_EVENT LIMIT_GET LIMIT_SET RES_VI RES_MR RES_CQ RES_CONN".split())}
A = {name: i for i, name in enumerate(
    "UNSPEC PAD NIC IFINDEX TYPE ADDR DRIVER MTU VIS LISTED PEERS PEER ONLY "
    "EVENT LIMIT_NAME LIMIT_VALUE PORT NEAR HANDLE PID COMM UID VI STATE LEVEL "
    "PTAG RIGHTS SEND_POSTED SEND_IN_FLIGHT RECV_POSTED SEND_CQ RECV_CQ REMOTE "
    "LOCAL_DISC REMOTE_DISC MR LENGTH PAGES CQ ENTRIES USED QUEUES "
    "CONN".split())}
OBJECTS = [CMD[name] for name in ("RES_VI", "RES_MR", "RES_CQ", "RES_CONN")]
ADDR, KEY, NO_KEY, KEYED, PREFIX = 1, 2, 3, 4, 5
HOST = bytes.fromhex("525400000063")
SECRET = bytes.fromhex("9d3ac1760e5bf248") * 4


def attr(kind, data=b"", length=None):
    length = 4 + len(data) if length is None else length
    return struct.pack("=HH", length, kind) + data + b"\0" * (-len(data) % 4)


class Family:
    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.bind((0, 0))
        self.sock.settimeout(60)
        self.seq, self.id, self.refused = 0, CTRL, b""
        found = self.ask(3, attr(2, b"via\0"))[1]
        at = 20
        while at < len(found):
            size, kind = struct.unpack_from("=HH", found, at)
            if kind == 1:
                self.id = struct.unpack_from("=H", found, at + 4)[0]
            at += size + 3 & ~3

    def send(self, cmd, attrs=b"", flags=ACK, version=1, reserved=0):
        self.seq += 1
        body = struct.pack("=BBH", cmd, version, reserved) + attrs
        self.sock.send(struct.pack("=IHHII", 16 + len(body), self.id,
                                   REQUEST | flags, self.seq, 0) + body)

    def ask(self, *words, **more):
        """(errno or 0, the first answer)"""
        self.send(*words, **more)
        first = b""
        while True:
            data, at = self.sock.recv(1 << 17), 0
            while at < len(data):
                size, kind, _, seq, _ = struct.unpack_from("=IHHII", data, at)
                if seq == self.seq and kind in (ERROR, DONE):
                    code = struct.unpack_from("=i", data, at + 16)[0]
                    self.refused = data[at:at + size]
                    return -code, first
                if seq == self.seq:
                    first = first or data[at:at + size]
                at += size + 3 & ~3


def nest(kind, *attrs):
    return attr(kind | NESTED, b"".join(attrs))


def wrong(nic):
    name = attr(A["NIC"], nic.encode() + b"\0")
    index = attr(A["IFINDEX"], struct.pack("=I", 2))
    host = attr(ADDR, HOST)

    def peers(*attrs):
        return name + nest(A["PEERS"], nest(A["PEER"], *attrs))

    cases = [
        ("an unknown command", 99, b"", 0, "EOPNOTSUPP"),
        ("no command", 0, b"", 0, "EOPNOTSUPP"),
        ("an event as a command", CMD["PEER_EVENT"], b"", 0, "EOPNOTSUPP"),
        ("a dump of what has none", CMD["ATTACH"], b"", DUMP, "EOPNOTSUPP"),
        ("none of a dump", CMD["LIMIT_GET"], b"", 0, "EOPNOTSUPP"),
        ("a NIC by no name", CMD["NIC_GET"], b"", 0, "EINVAL"),
        ("a NIC by two", CMD["NIC_GET"], name + index, 0, "EINVAL"),
        ("no such NIC", CMD["NIC_GET"], attr(A["NIC"], b"via_none\0"), 0,
         "ENODEV"),
        ("a name without an end", CMD["NIC_GET"],
         attr(A["NIC"], nic.encode()), 0, "EINVAL"),
        ("a name that is too long", CMD["NIC_GET"],
         attr(A["NIC"], b"n" * 64 + b"\0"), 0, "EINVAL"),
        ("an empty name", CMD["NIC_GET"], attr(A["NIC"]), 0, "EINVAL"),
        ("an index of 0", CMD["NIC_GET"],
         attr(A["IFINDEX"], struct.pack("=I", 0)), 0, "ERANGE"),
        ("an index of 2 bytes", CMD["NIC_GET"],
         attr(A["IFINDEX"], b"\2\0"), 0, "EINVAL"),
        ("an index of 8 bytes", CMD["NIC_GET"],
         attr(A["IFINDEX"], bytes(8)), 0, "EINVAL"),
        ("an attribute of another command", CMD["NIC_GET"],
         name + attr(A["LIMIT_VALUE"], bytes(8)), 0, "EINVAL"),
        ("an attribute that is told only", CMD["NIC_GET"],
         name + attr(A["MTU"], bytes(4)), 0, "EINVAL"),
        ("an unknown attribute", CMD["NIC_GET"],
         name + attr(200, bytes(4)), 0, "EINVAL"),
        ("bytes behind the last one", CMD["NIC_GET"], name + b"\1\0", 0,
         "EINVAL"),
        ("a length beyond the message", CMD["NIC_GET"],
         attr(A["NIC"], b"via_lo\0", 400), 0, "EINVAL"),
        ("an attribute in a dump", CMD["LIMIT_GET"], name, DUMP, "EINVAL"),
        ("no interface", CMD["ATTACH"], b"", 0, "EINVAL"),
        ("no such interface", CMD["ATTACH"],
         attr(A["IFINDEX"], struct.pack("=I", 0x7ffffff0)), 0, "ENODEV"),
        ("a negative one", CMD["ATTACH"],
         attr(A["IFINDEX"], struct.pack("=i", -1)), 0, "ENODEV"),
        ("no such module", CMD["ATTACH"],
         index + attr(A["DRIVER"], b"via_none\0"), 0, "EPROTONOSUPPORT"),
        ("an address for an interface's module", CMD["ATTACH"],
         attr(A["ADDR"], b"\x7f\0\0\1") +
         attr(A["DRIVER"], b"via_netdev\0"), 0, "EINVAL"),
        ("an address of 17 bytes to attach", CMD["ATTACH"],
         attr(A["ADDR"], bytes(17)), 0, "ERANGE"),
        ("a port of 0", CMD["ATTACH"],
         attr(A["ADDR"], b"\x7f\0\0\1") + attr(A["PORT"], b"\0\0"), 0,
         "ERANGE"),
        ("what is told of a NIC", CMD["ATTACH"],
         index + attr(A["NEAR"]), 0, "EINVAL"),
        ("what is no attachment", CMD["DETACH"],
         attr(A["NIC"], b"via_lo\0"), 0, "EOPNOTSUPP"),
        ("no hosts", CMD["PEER_SET"], name, 0, "EINVAL"),
        ("hosts without a nest", CMD["PEER_SET"],
         name + attr(A["PEERS"], nest(A["PEER"], host)), 0, "EINVAL"),
        ("a host without a nest", CMD["PEER_SET"],
         name + nest(A["PEERS"], attr(A["PEER"], host)), 0, "EINVAL"),
        ("an empty host", CMD["PEER_SET"], peers(), 0, "EINVAL"),
        ("an address of 5 bytes", CMD["PEER_SET"],
         peers(attr(ADDR, HOST[:5])), 0, "EINVAL"),
        ("an address of 8 bytes", CMD["PEER_SET"],
         peers(attr(ADDR, HOST + b"\0\0")), 0, "EINVAL"),
        ("an address of 17 bytes", CMD["PEER_SET"],
         peers(attr(ADDR, HOST + bytes(11))), 0, "ERANGE"),
        ("a prefix on Ethernet", CMD["PEER_SET"],
         peers(host, attr(PREFIX, b"\x18")), 0, "EINVAL"),
        ("a prefix of 4 bytes", CMD["PEER_SET"],
         peers(host, attr(PREFIX, b"\x18\0\0\0")), 0, "EINVAL"),
        ("the address of all", CMD["PEER_SET"],
         peers(attr(ADDR, b"\xff" * 6)), 0, "EINVAL"),
        ("a key of 31 bytes", CMD["PEER_SET"],
         peers(host, attr(KEY, bytes(31))), 0, "ERANGE"),
        ("a key of 33 bytes", CMD["PEER_SET"],
         peers(host, attr(KEY, bytes(33))), 0, "ERANGE"),
        ("a key and none", CMD["PEER_SET"],
         peers(host, attr(KEY, bytes(32)), attr(NO_KEY)), 0, "EINVAL"),
        ("what is told of a host", CMD["PEER_SET"],
         peers(host, attr(KEYED)), 0, "EINVAL"),
        ("the same host twice", CMD["PEER_SET"], name + nest(
            A["PEERS"], nest(A["PEER"], host), nest(A["PEER"], host)), 0,
         "EINVAL"),
        ("hosts of a NIC without a wire", CMD["PEER_SET"],
         attr(A["NIC"], b"via_lo\0") +
         nest(A["PEERS"], nest(A["PEER"], host)), 0, "EOPNOTSUPP"),
        ("a host off no list", CMD["PEER_DEL"], peers(host), 0, "ENOENT"),
        ("the only ones to take off", CMD["PEER_DEL"],
         peers(host) + attr(A["ONLY"]), 0, "EINVAL"),
        ("hosts of no NIC", CMD["PEER_GET"], b"", DUMP, "EINVAL"),
        ("no such limit", CMD["LIMIT_SET"], attr(A["LIMIT_NAME"], b"x\0") +
         attr(A["LIMIT_VALUE"], bytes(8)), 0, "ENOENT"),
        ("a limit of 4 bytes", CMD["LIMIT_SET"],
         attr(A["LIMIT_NAME"], b"vi\0") + attr(A["LIMIT_VALUE"], bytes(4)), 0,
         "EINVAL"),
        ("a limit without a value", CMD["LIMIT_SET"],
         attr(A["LIMIT_NAME"], b"vi\0"), 0, "EINVAL"),
        ("objects of a NIC by two names", CMD["RES_MR"], name + index, DUMP,
         "EINVAL"),
        ("objects of no such NIC", CMD["RES_CQ"],
         attr(A["NIC"], b"via_none\0"), DUMP, "ENODEV"),
        ("objects of a process", CMD["RES_VI"],
         name + attr(A["PID"], bytes(4)), DUMP, "EINVAL"),
        ("objects by what is told of them", CMD["RES_CONN"],
         attr(A["LOCAL_DISC"], b"x"), DUMP, "EINVAL"),
        *(("an object without a dump", cmd, name, 0, "EOPNOTSUPP")
          for cmd in OBJECTS),
    ]
    family, bad = Family(), 0
    for what, cmd, attrs, flags, want in cases:
        got = family.ask(cmd, attrs, flags=flags or ACK)[0]
        if got != getattr(errno, want):
            print(f"{what}: {errno.errorcode.get(got, got)}, not {want}")
            bad += 1
    for what, more in (("a reserved field", {"reserved": 1}),):
        got = family.ask(CMD["LIMIT_SET"], name, **more)[0]
        if got != errno.EINVAL:
            print(f"{what}: {errno.errorcode.get(got, got)}")
            bad += 1
    # An answer has the refused message in it, and no key.
    secret = attr(KEY, SECRET)
    for what, attrs in (
            ("a prefix of 4 bytes", peers(host, secret, attr(PREFIX, SECRET[:4]))),
            ("no address", peers(secret)),
            ("an address of 5 bytes", peers(secret, attr(ADDR, HOST[:5]))),
            ("a key of 33 bytes", peers(host, attr(KEY, SECRET + b"\x9d"))),
            ("an unknown attribute", peers(host, secret) +
             attr(200, bytes(4))),
            ("no NIC", nest(A["PEERS"], nest(A["PEER"], host, secret))),
            ("bytes behind the last one", peers(host, secret) + b"\1\0"),
            ("another host's mistake", name + nest(
                A["PEERS"], nest(A["PEER"], attr(ADDR, HOST[:5])),
                nest(A["PEER"], host, secret)))):
        got = family.ask(CMD["PEER_SET"], attrs)[0]
        if not got or SECRET[:8] in family.refused or \
                len(family.refused) < 36 + len(attrs):
            print(f"a key beside {what}: {errno.errorcode.get(got, got)}, the "
                  f"answer: {family.refused.hex()}")
            bad += 1
    # And the right ones are taken.
    for cmd, attrs, flags in (
            (CMD["PEER_SET"], peers(host), ACK),
            (CMD["PEER_DEL"], peers(host), ACK),
            (CMD["PEER_DEL"], name, ACK),
            *((cmd, some, DUMP) for cmd in OBJECTS for some in (b"", name))):
        if family.ask(cmd, attrs, flags=flags)[0]:
            print(f"command {cmd} is refused")
            bad += 1
    print(f"wrong={len(cases) + 1} bad={bad}")
    return bad != 0


def some_attr(dice, nic, depth=0):
    """One that may be right, or not."""
    kind = dice.choice((*range(len(A) + 2), 255, 0x3fff))
    if dice.random() < .6:
        kind, data = dice.choice((
            (A["NIC"], nic.encode() + b"\0"),
            (A["IFINDEX"], struct.pack("=I", dice.choice((0, 1, 2, 99)))),
            (A["LIMIT_NAME"], b"waiters\0"),
            (A["LIMIT_VALUE"], struct.pack("=Q", 2048)),
            (A["ONLY"], b""),
            (ADDR, b"\x52\x54\0\0\0" + bytes([dice.randrange(256)])),
            (KEY, dice.randbytes(32)), (NO_KEY, b"")))
    else:
        data = dice.randbytes(dice.choice((0, 1, 2, 4, 6, 8, 32, 70)))
    if depth < 3 and dice.random() < .4:
        kind = dice.choice((A["PEERS"], A["PEER"], kind))
        kind |= NESTED * (dice.random() < .9)
        data = b"".join(some_attr(dice, nic, depth + 1)
                        for _ in range(dice.randrange(4)))
    lies = dice.random() < .05
    return attr(kind, data, dice.randrange(90) if lies else None)


def throw(nic, count, seed):
    dice, family, codes = random.Random(seed), Family(), {}
    commands = [c for n, c in CMD.items() if n not in ("ATTACH", "DETACH")]
    for _ in range(count):
        attrs = b"".join(some_attr(dice, nic)
                         for _ in range(dice.randrange(4)))
        cmd = dice.choice(commands)
        # Of lists some are made well, so that what is below is reached.
        if dice.random() < .5:
            cmd = dice.choice((CMD["PEER_SET"], CMD["PEER_DEL"]))
            attrs = attr(A["NIC"], nic.encode() + b"\0") + nest(
                A["PEERS"], *(nest(A["PEER"], some_attr(dice, nic, 9),
                                   attr(ADDR, b"\x52\x54\0\0\0" +
                                        bytes([dice.randrange(256)])))
                              for _ in range(dice.randrange(20))))
        code = family.ask(cmd, attrs, flags=dice.choice((ACK, ACK, DUMP)))[0]
        codes[code] = codes.get(code, 0) + 1
    print("random=" + str(count), "taken=" + str(codes.get(0, 0)),
          "errors=" + ",".join(errno.errorcode.get(c, str(c))
                               for c in sorted(codes) if c))
    return 0


def dumps(nic, seconds):
    """For so long, and on a busy host until the programs that make objects
    have begun."""
    end, done, objects = time.monotonic() + seconds, 0, 0
    name = attr(A["NIC"], nic.encode() + b"\0")
    left = []
    while time.monotonic() < end or \
            (not objects and time.monotonic() < end + 60):
        family = Family()
        for cmd, attrs in ((CMD["PEER_GET"], name), (CMD["NIC_GET"], b""),
                           (CMD["LIMIT_GET"], b""),
                           *((cmd, b"") for cmd in OBJECTS),
                           *((cmd, name) for cmd in OBJECTS)):
            told = family.ask(cmd, attrs, flags=DUMP)[1]
            objects += cmd in OBJECTS and told != b""
            done += 1
        family.send((*OBJECTS, CMD["PEER_GET"])[done % 5], name, flags=DUMP)
        left = [*left[-9:], family]
    print(f"dumps={done} objects={objects}")
    return 0


def main(mode, nic, *numbers):
    call = {"wrong": wrong, "random": throw, "dumps": dumps}[mode]
    sys.stdout.reconfigure(line_buffering=True)
    return call(nic, *map(int, numbers))


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]) or sys.stdout.flush() or 0)
