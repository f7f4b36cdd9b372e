# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The kernel in an image, unpacked once by this machine.

An emulated processor takes 4.5 s to unpack what xz has compressed, as Debian
12's kernel is: more than half of a guest's boot.  QEMU starts an ELF file that
has an entry for it (PVH) as well.
"""

import lzma
import os
import shutil
import struct

from .base import locked

# The header of Documentation/x86/boot.rst: offsets in the image.
SECTORS, MAGIC, VERSION, PAYLOAD = 0x1f1, 0x202, 0x206, 0x248
SECTOR = 512
HEAD = 1 << 16  # bytes, in which the payload begins
XZ = b"\xfd7zXZ\0"
# XEN_ELFNOTE_PHYS32_ENTRY: lengths of name and address, type, name.
ENTRIES = [struct.pack("<III", 4, size, 18) + b"Xen\0" for size in (4, 8)]


def payload(data):
    """What the image unpacks when it starts, or nothing."""
    if data[MAGIC:MAGIC + 4] != b"HdrS" or \
            struct.unpack_from("<H", data, VERSION)[0] < 0x208:
        return b""
    start, length = struct.unpack_from("<II", data, PAYLOAD)
    start += (data[SECTORS] + 1) * SECTOR
    return data[start:start + length]


def unpacked(data):
    """The ELF file in an image, or None: xz has not made it, or QEMU finds no
    entry in it."""
    packed = payload(data)
    if not packed.startswith(XZ):
        return None
    try:
        elf = lzma.LZMADecompressor().decompress(packed)
    except lzma.LZMAError:
        return None
    return elf if any(entry in elf for entry in ENTRIES) else None


def is_made_of(found, path):
    """Is this ELF file that image's?  It has its time."""
    try:
        return os.stat(found).st_mtime == os.stat(path).st_mtime
    except OSError:
        return False


def plain(path):
    """The file that QEMU starts for an image of the cache: beside it the ELF
    file, else the image."""
    found = f"{path}.elf"
    if is_made_of(found, path):
        return found
    with open(path, "rb") as file:
        data = file.read(HEAD)
        # Other compressors' kernels start as they are, and no guest waits.
        if not payload(data).startswith(XZ):
            return path
        data += file.read()
    with locked("image", "unpacking a kernel"):
        if is_made_of(found, path):
            return found
        elf = unpacked(data)
        if not elf:
            return path
        with open(f"{found}.new", "wb") as file:
            file.write(elf)
        shutil.copystat(path, f"{found}.new")
        os.rename(f"{found}.new", found)
    return found
