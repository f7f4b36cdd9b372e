#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""greedy.py NODE HANDLES VIS PAGES: ask for as much as there is of each of
them, and a little more; ends with status 0 if that is what was given."""

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import struct
import sys

PAGE = 4096
MORE = 3
MEM_REGISTER = 0xc020b112
VI_CREATE = 0xc030b120
RELIABLE_DELIVERY = 2
ERROR_RESOURCE = 3


def opened(path):
    fd = os.open(path, os.O_RDWR)
    return fd, mmap.mmap(fd, PAGE, mmap.MAP_SHARED, mmap.PROT_READ)


def handles(path, most):
    got = []
    for _ in range(most + MORE):
        try:
            got.append(os.open(path, os.O_RDWR))
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
    for fd in got:
        os.close(fd)
    return len(got)


def asked(path, request, wants):
    """How many of these were given, through one handle."""
    fd, _page = opened(path)
    got = 0
    for want in wants:
        verdict = fcntl.ioctl(fd, request, bytearray(want))
        if verdict not in (0, ERROR_RESOURCE):
            raise SystemExit(f"request {request:#x}: {verdict}")
        got += not verdict
    os.close(fd)
    return got


def vis(path, most):
    want = struct.pack("=IIIIIIIIQQ", RELIABLE_DELIVERY, 0, 4096, 0, 0, 0, 0,
                       0, 0, 0)
    return asked(path, VI_CREATE, [want] * (most + MORE))


def pages(path, most):
    memory = mmap.mmap(-1, (most + MORE) * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return asked(path, MEM_REGISTER, [
        struct.pack("=QQIIII", start + i * PAGE, PAGE, 0, 0, 0, 0)
        for i in range(most + MORE)])


def main():
    path, limits = sys.argv[1], list(map(int, sys.argv[2:5]))
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    exempt = os.geteuid() == 0
    for what, most in zip((handles, vis, pages), limits):
        got = what(path, most)
        print(f"{what.__name__}: {got} of {most + MORE}")
        if got != most + MORE * exempt:
            sys.exit(f"{what.__name__}: {got} were given, not {most}")


if __name__ == "__main__":
    main()
