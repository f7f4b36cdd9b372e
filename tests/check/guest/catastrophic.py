#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Waits for VIP_ERROR_CATASTROPHIC: catastrophic.py libvipl.so.1 NIC

By dlopen, as programs in other languages do it.  Says "ready" once a handler
is registered; exits with 0 when that has been called as it should be.
"""

import ctypes
import sys
import threading

CATASTROPHIC = 10
RESOURCE_NIC = 0


class ErrorDescriptor(ctypes.Structure):
    _fields_ = [("nic", ctypes.c_void_p), ("vi", ctypes.c_void_p),
                ("cq", ctypes.c_void_p), ("desc", ctypes.c_void_p),
                ("opcode", ctypes.c_ulong), ("resource", ctypes.c_int),
                ("code", ctypes.c_int)]


HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p,
                           ctypes.POINTER(ErrorDescriptor))


def main(library, device):
    lib = ctypes.CDLL(library)
    nic = ctypes.c_void_p()
    seen = []
    come = threading.Event()

    @HANDLER
    def handler(_, error):
        e = error.contents
        seen.append((e.code, e.resource, e.nic == nic.value,
                     e.vi, e.cq, e.desc))
        come.set()

    if lib.VipOpenNic(device.encode(), ctypes.byref(nic)):
        return "cannot open"
    if lib.VipErrorCallback(nic, None, handler):
        return "cannot register"
    print("ready", flush=True)
    if not come.wait(150):
        return "no error was reported"
    if seen != [(CATASTROPHIC, RESOURCE_NIC, True, None, None, None)]:
        return f"not that error: {seen}"
    return lib.VipCloseNic(nic)


sys.exit(main(*sys.argv[1:]))
