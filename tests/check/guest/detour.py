# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Holding an 8255x's transmitter, which no register stops.

Its command unit is started at a block of our own, a "no operation" that
suspends and whose next is itself: there it turns round as often as the driver
resumes it.  To let it go on, the block's next is made the first one of the
driver's ring that is not done.  The ring is found in memory by its links, in
/proc/kcore, which our debug kernels do not have.  Nor does this work behind an
IOMMU, where the chip does not reach our block."""

import ctypes
import mmap
import os
import struct
import time

PATH = "/dev/shm/detour"  # stays when we end, as long as the chip is there
STATUS, COMMAND, POINTER = 1, 2, 4
START, RESUME = 0x10, 0x20
ACTIVE = 2                  # of the command unit's states
SUSPEND, DONE, WHAT = 0x4000, 0x8000, 7
BLOCKS, SIZE = 128, 128
PAGE, CHUNK = 4096, 1 << 20


class Memory:
    """What the kernel maps for good, by physical address."""

    def __init__(self):
        self.file = open("/proc/kcore", "rb", buffering=0)
        header = self.file.read(64)
        at, = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        self.runs = []
        for i in range(count):
            entry = os.pread(self.file.fileno(), size, at + i * size)
            kind, _, offset, _, where, length = \
                struct.unpack_from("<IIQQQQ", entry)
            if kind == 1 and where < 1 << 32:
                self.runs.append((where, length, offset))

    def read(self, where, size):
        for start, length, offset in self.runs:
            if start <= where and where + size <= start + length:
                return os.pread(self.file.fileno(), size,
                                offset + where - start)
        return b""

    def pages(self):
        """Each page's address and second word."""
        for start, length, offset in self.runs:
            for at in range(0, length & -PAGE, CHUNK):
                data = os.pread(self.file.fileno(),
                                min(CHUNK, (length & -PAGE) - at), offset + at)
                words = memoryview(data).cast("I")[1::PAGE // 4]
                for i, word in enumerate(words.tolist()):
                    yield start + at + i * PAGE, word


class Ring:
    """The driver's command blocks: status, command, next."""

    def __init__(self, memory, where):
        self.memory, self.where = memory, where

    def look(self):
        data = self.memory.read(self.where, BLOCKS * SIZE)
        return [struct.unpack_from("<HHI", data, i)
                for i in range(0, len(data), SIZE)]

    def is_one(self):
        return [link for _, _, link in self.look()] == \
            [self.block(i + 1) for i in range(BLOCKS)]

    def block(self, i):
        return self.where + i % BLOCKS * SIZE

    def first_left(self):
        """The address of the first block that is not done, and whether the
        driver has told the chip of it.  The last one it told of suspends."""
        for _ in range(100):
            blocks = self.look()
            ends = [i for i, b in enumerate(blocks) if b[1] & SUSPEND]
            if len(ends) == 1:
                break
        else:
            raise SystemExit(f"detour: {len(ends)} ends in the ring")
        i = ends[0]
        if blocks[i][0] & DONE:
            return self.block(i + 1), False
        while not blocks[i - 1][0] & DONE and blocks[i - 1][1] & WHAT:
            i -= 1
        return self.block(i), True


def find_ring():
    """Rings of before may lie about; the one in use is written to."""
    memory = Memory()
    rings = [Ring(memory, page) for page, word in memory.pages()
             if word == page + SIZE]
    rings = [ring for ring in rings if ring.is_one()]
    before = [ring.look() for ring in rings]
    end = time.monotonic() + 5
    while time.monotonic() < end:
        alive = [ring for ring, was in zip(rings, before)
                 if ring.look() != was]
        if alive:
            return alive[0]
        time.sleep(0.05)
    raise SystemExit(f"detour: {len(rings)} rings, none in use")


def open_block(flags):
    """Our block's page, and where the chip finds it.  Behind the block it
    remembers where the ring is."""
    with open(os.open(PATH, os.O_RDWR | flags, 0o600), "r+b") as file:
        file.truncate(PAGE)
        page = mmap.mmap(file.fileno(), PAGE)
    page[PAGE - 1] = 0		# let there be one
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        at = ctypes.addressof(ctypes.c_char.from_buffer(page)) // PAGE
        entry, = struct.unpack("<Q", os.pread(file.fileno(), 8, 8 * at))
    return page, (entry & (1 << 55) - 1) * PAGE


class Detour:
    def __init__(self, registers):
        self.registers = registers
        self.words = memoryview(registers).cast("I")
        self.ring = None

    def tell(self, command):
        while self.registers[COMMAND]:
            pass
        self.registers[COMMAND] = command

    def prepare(self):
        self.ring = find_ring()

    def stop(self):
        page, where = open_block(os.O_CREAT)
        struct.pack_into("<HHI", page, 0, 0, SUSPEND, where)
        struct.pack_into("<Q", page, SIZE, self.ring.where)
        self.words[POINTER // 4] = where
        self.tell(START)

    def go(self):
        page, where = open_block(0)
        # A chip that was reset meanwhile has been told other addresses.
        if self.words[POINTER // 4] == where:
            ring = Ring(Memory(), struct.unpack_from("<Q", page, SIZE)[0])
            following, told = ring.first_left()
            struct.pack_into("<HHI", page, 0, 0, 0 if told else SUSPEND,
                             following)
            self.tell(RESUME)
            # The emulated one runs some blocks at a time.
            while self.registers[0] >> 6 == ACTIVE:
                self.tell(RESUME)
        os.unlink(PATH)
