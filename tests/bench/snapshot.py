# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Counts of a plugin in QEMU (plugin.h: insns.c, lines.c): PATH.want asks for them."""

import collections
import os
import time

from labkit.base import LabError


def kernel_symbols(node):
    """(address, name, module) of the functions of the running kernel."""
    out = []
    for line in node.sh("cat /proc/kallsyms").out.splitlines():
        address, kind, name, *module = line.split()
        if kind in "tTwW" and not name.startswith("."):
            out.append((int(address, 16), name, (module or [""])[0].strip("[]")))
    return out


def take(path):
    """Counter of all numbers of a row but its last, the count: one alone is the key
    itself, more are a tuple."""
    with open(f"{path}.want", "w"):
        pass
    for _ in range(600):
        if not os.path.exists(f"{path}.want"):
            break
        time.sleep(0.05)
    else:
        raise LabError("the plugin in QEMU does not answer")
    counts = collections.Counter()
    with open(path) as rows:
        for row in rows:
            *key, count = row.split()
            key = tuple(int(word, 16) for word in key)
            counts[key if len(key) > 1 else key[0]] = int(count)
    return counts
