#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A tree of files: tree.py make FOLDER COUNT SEED writes one and prints its
bytes; tree.py sum FOLDER prints a checksum of names, modes and contents."""

import hashlib
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

IN_A_FOLDER, FOLDERS = 50, 10
AT_ONCE = 8  # files that are read
# Bytes of a file up to these; most files are small, as in trees of sources.
SIZES = (0, 100, 1000, 1000, 2000, 4096, 4097, 10000)
LARGE, EVERY = 3000000, 1000


def make(folder, count, seed):
    dice, written = random.Random(seed), 0
    for number in range(count):
        if number % IN_A_FOLDER == 0:
            where = os.path.join(
                folder, f"d{number // (FOLDERS * IN_A_FOLDER)}",
                f"d{number // IN_A_FOLDER}")
            os.makedirs(where)
            os.symlink(f"f{number}", os.path.join(where, "first"))
        size = dice.randint(LARGE // 3, LARGE) if number % EVERY == 7 else \
            dice.randint(0, dice.choice(SIZES))
        path = os.path.join(where, f"f{number}")
        with open(path, "wb") as file:
            file.write(dice.randbytes(size))
        os.chmod(path, dice.choice((0o644, 0o600, 0o755, 0o444)))
        written += size
    return written


def part(folder, path):
    """Of a file or a link, what the sum is of."""
    mode = os.lstat(path).st_mode
    if os.path.islink(path):
        found = os.readlink(path).encode()
    else:
        with open(path, "rb") as file:
            found = file.read()
    name = os.path.relpath(path, folder)
    return f"{name} {mode:o} {len(found)}\n".encode() + found


def total(folder):
    paths = sorted(os.path.join(where, name)
                   for where, _, files in os.walk(folder) for name in files)
    state = hashlib.sha256()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for found in pool.map(lambda path: part(folder, path), paths):
            state.update(found)
    return state.hexdigest()


if sys.argv[1] == "make":
    print(make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
else:
    print(total(sys.argv[2]))
