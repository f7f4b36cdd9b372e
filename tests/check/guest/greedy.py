#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""greedy.py NODE [--together] WHAT=MOST...: ask for as much as there is of
each of these, and a little more; ends with status 0 if that is what was given.

    handles, vis, whole, grown, pages, rings, waiters, requests, queries

--together: each is asked for by several processes of subordinate users, whose
namespaces are one user's, and that is what they get together."""

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import struct
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

PAGE = 4096
MORE = 3


def call(number, size, way=3):
    return way << 30 | size << 16 | 0xb1 << 8 | number


HELLO = call(0x00, 176)
MEM_REGISTER = call(0x12, 32)
VI_CREATE = call(0x20, 48)
VI_GROW = call(0x25, 16)
CQ_CREATE = call(0x30, 24)
CQ_RESIZE = call(0x32, 32)
CONN_WAIT = call(0x40, 200)
CONN_REQUEST = call(0x43, 184, 1)
CONN_RESULT = call(0x44, 24)
NAME_QUERY = call(0x50, 104)
PREPARE, COMMIT, ABANDON = 0, 1, 2
NOWAIT = 1
RELIABLE_DELIVERY = 2
ERROR_RESOURCE, NO_MATCH = 3, 14
SECOND = 10**9
FOREVER = 2**64 - 1
RING = 65536  # entries: the page before them is no matter


def opened(path):
    fd = os.open(path, os.O_RDWR)
    return fd, mmap.mmap(fd, PAGE, mmap.MAP_SHARED, mmap.PROT_READ)


def given(fd, request, want):
    """What came of it, or None: as much as there is was given before."""
    arg = bytearray(want)
    verdict = fcntl.ioctl(fd, request, arg)
    if verdict not in (0, ERROR_RESOURCE):
        raise SystemExit(f"request {request:#x}: {verdict}")
    return None if verdict else arg


# Each returns how many it was given, and what must be kept meanwhile.

def handles(path, most):
    got = []
    for _ in range(most + MORE):
        try:
            got.append(os.open(path, os.O_RDWR))
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
    return len(got), [os.fdopen(fd) for fd in got]


def asked(path, request, wants):
    """Through one handle."""
    fd, page = opened(path)
    got = sum(given(fd, request, want) is not None for want in wants)
    return got, [os.fdopen(fd), page]


FEW = 16  # slots of each queue
WANT_VI = struct.pack("=IIII12xI16x", RELIABLE_DELIVERY, 0, 4096, 0, FEW)


def vi(fd):
    arg = given(fd, VI_CREATE, WANT_VI)
    return arg and struct.unpack_from("=I", arg, 24)[0]


def vis(path, most):
    return asked(path, VI_CREATE, [WANT_VI] * (most + MORE))


def whole(path, most):
    """VIs with the longest rings at once, as a library of before asks."""
    want = struct.pack("=IIII32x", RELIABLE_DELIVERY, 0, 4096, 0)
    return asked(path, VI_CREATE, [want] * (most + MORE))


def grown(path, most):
    """Longer rings of queues, two pages each."""
    fd, page = opened(path)
    owners = [vi(fd) for _ in range((most + MORE + 1) // 2)]
    got = sum(given(fd, VI_GROW, struct.pack("=IIII", owner, recv, 4 * FEW, 0))
              is not None for owner in owners if owner for recv in (0, 1))
    return got, [os.fdopen(fd), page]


def pages(path, most):
    memory = mmap.mmap(-1, (most + MORE) * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    got, kept = asked(path, MEM_REGISTER, [
        struct.pack("=QQIIII", start + i * PAGE, PAGE, 0, 0, 0, 0)
        for i in range(most + MORE)])
    return got, kept + [memory]


def resize(fd, ring, step, entries=0):
    return given(fd, CQ_RESIZE, struct.pack("=IIII16x", ring, step, entries,
                                            0))


def queues(path, most):
    """Completion queues."""
    fd, page = opened(path)
    got = []
    for _ in range(most + MORE):
        arg = given(fd, CQ_CREATE, struct.pack("=I20x", RING))
        if arg is not None:
            got.append(struct.unpack_from("=I", arg, 4)[0])
    return fd, page, got


def rings(path, most):
    """Another ring for a queue in use counts as well, and until the old one
    is gone."""
    fd, page, got = queues(path, most)
    full = len(got) < most + MORE
    if full and got and resize(fd, got[0], PREPARE, RING) is not None:
        raise SystemExit("a resize is given what a queue is not")
    if got and resize(fd, got[0], PREPARE, 1) is not None:
        resize(fd, got[0], COMMIT)
        if resize(fd, got[0], PREPARE, RING) is None:
            raise SystemExit("a smaller ring makes no room")
        resize(fd, got[0], ABANDON)
        if resize(fd, got[0], PREPARE, RING) is None:
            raise SystemExit("a ring that is abandoned makes no room")
    return len(got), [os.fdopen(fd), page]


def rings_only(path, most):
    """Without a resize: the room that it makes is another user's as well."""
    fd, page, got = queues(path, most)
    return len(got), [os.fdopen(fd), page]


def wait_for(disc, seconds=120):
    return struct.pack("=IIQHH16s64s100x", 0, 0, seconds * SECOND, 0, len(disc),
                       b"", disc)


def waiters(path, most):
    """A signal ends the call, and leaves the waiter."""
    fd, page = opened(path)
    signal.signal(signal.SIGALRM, lambda *_: None)
    got = 0
    for _ in range(most + MORE):
        # Again where it comes before the call.
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        try:
            given(fd, CONN_WAIT, wait_for(b"nobody"))
        except InterruptedError:
            got += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    return got, [os.fdopen(fd), page]


def requests(path, most):
    """A request that was matched has the waiter's place until answered: the
    waiter does not."""
    fd, page = opened(path)
    hello = bytearray(struct.pack("=I172x", 1))
    fcntl.ioctl(fd, HELLO, hello)
    host = bytes(hello[72:88])
    length, = struct.unpack_from("=I", hello, 88)
    got = 0
    pool = ThreadPoolExecutor(1)
    for _ in range(most + MORE):
        waiter = pool.submit(given, fd, CONN_WAIT, wait_for(b"silent"))
        client = vi(fd)
        want = struct.pack("=IIQHH16s64sHH16s64s", client, 0, FOREVER, 0, 1, b"",
                           b"c", length, 6, host, b"silent")
        while not waiter.done():
            result = bytearray(struct.pack("=II16x", client, NOWAIT))
            fcntl.ioctl(fd, CONN_REQUEST, want)
            if fcntl.ioctl(fd, CONN_RESULT, result) != NO_MATCH:
                break
            time.sleep(0.002)
        got += waiter.result() is not None
    return got, [os.fdopen(fd), page]


def at_once(path, number):
    """How many of so many questions are put."""
    fd, page = opened(path)
    room = ctypes.create_string_buffer(88)
    want = struct.pack("=72s16sIIQ", b"nobody", b"", 0, 1,
                       ctypes.addressof(room))
    start = threading.Barrier(number)

    def ask(_):
        start.wait()
        return given(fd, NAME_QUERY, want) is not None

    with ThreadPoolExecutor(number) as pool:
        got = sum(pool.map(ask, range(number)))
    page.close()
    os.close(fd)
    return got


def queries(path, most):
    """They take a fifth of a second; on a busy machine they may come one
    after the other, and seldom do so often."""
    got = most + MORE
    # Root is given more each time.
    for _ in range(40 if os.geteuid() else 5):
        got = min(got, at_once(path, most + MORE))
        if got <= most:
            break
    return got, []


ALL = {f.__name__: f for f in (handles, vis, whole, grown, pages, rings,
                               waiters, requests, queries)}
TOGETHER = {**ALL, "rings": rings_only}


# Users that are one user's

USER, SUBORDINATE, USERS = 4711, 100000, 4
FAILED = -1


def unshare():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000):  # CLONE_NEWUSER
        raise OSError(ctypes.get_errno(), "unshare")


def become(user):
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def worker(number, what, path, most, told, end):
    """Says how many it was given, and keeps them; or that it failed."""
    try:
        become(number)
        if number == USERS - 1:
            unshare()
        got, kept = what(path, most)
    except BaseException as error:
        traceback.print_exc()
        os.write(told, struct.pack("=i", FAILED))
        raise SystemExit(1) from error
    os.write(told, struct.pack("=i", got))
    os.read(end, 1)
    del kept


def namespace(what, path, most, told, end):
    os.setgroups([])
    become(USER)
    unshare()
    os.write(told, b"1234")
    os.read(end, 1)
    for number in range(USERS):
        if not os.fork():
            try:
                worker(number, what, path, most, told, end)
            finally:
                os._exit(0)
    for _ in range(USERS):
        os.wait()


def together(what, path, most):
    """How many were given to all of them."""
    told, told_in = os.pipe()
    end_out, end = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(told)
            os.close(end)
            namespace(what, path, most, told_in, end_out)
        finally:
            os._exit(0)
    os.close(told_in)
    os.close(end_out)
    os.read(told, 4)
    for name in ("uid", "gid"):
        with open(f"/proc/{child}/{name}_map", "w") as file:
            file.write(f"0 {SUBORDINATE} {USERS}\n")
    os.write(end, b"1")
    counts = []
    while len(counts) < USERS:
        data = os.read(told, 4)
        if not data:
            break
        counts += struct.unpack("=i", data)
    os.close(end)
    os.waitpid(child, 0)
    if len(counts) < USERS or FAILED in counts:
        raise SystemExit(f"{what.__name__}: a user failed, see above")
    print(f"{what.__name__}: {counts} were given to users of one")
    return sum(counts)


def main():
    path, words = sys.argv[1], sys.argv[2:]
    shared = words[0] == "--together"
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    exempt = os.geteuid() == 0 and not shared
    for word in words[shared:]:
        name, most = word.split("=")
        what, most = (TOGETHER if shared else ALL)[name], int(most)
        got = together(what, path, most) if shared else what(path, most)[0]
        print(f"{name}: {got}, {most} are allowed")
        if got != most + MORE * exempt:
            sys.exit(f"{name}: {got} were given, not {most}")


if __name__ == "__main__":
    main()
