#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A lesson: two programs add up an array, by messages and by RDMA.

	lesson.py shm:0			offers an array to be filled
	lesson.py shm:0 localhost	fills it

Run the first one in the background, then the second one.
"""

import array
import struct
import sys

import vipl

COUNT = 1000
GRANT = struct.Struct("<QII")  # address, handle, bytes


def target(device):
    # 1. A NIC is opened by its name, a VI is one end of a connection. The peer
    #    may write into memory only if the VI and the region say so.
    with vipl.Nic(device) as nic, nic.vi(rdma_write=True) as vi:
        # 2. What the NIC works on is registered, where it is: the array's own
        #    bytes, not a copy.
        numbers = array.array("d", bytes(8 * COUNT))
        region = nic.register(numbers, rdma_write=True)
        letter = nic.register(bytearray(GRANT.size))

        # 3. A receive is posted before the message can come; this one is for
        #    the immediate data of an RDMA Write, which need no room.
        vi.post_recv()
        nic.wait("lesson").accept(vi)

        # 4. The peer is told where the array is, and by which handle.
        GRANT.pack_into(letter.view, 0, region.address, region.handle,
                        len(region))
        vi.post_send(letter)
        vi.send_wait()

        # 5. Its completion says that the bytes are there. None of our code ran
        #    to put them there.
        done = vi.recv_wait()
        print(f"{done.length} bytes came, {done.immediate} numbers, "
              f"sum {sum(numbers):g}")


def writer(device, host):
    with vipl.Nic(device) as nic, nic.vi(rdma_write=True) as vi:
        letter = nic.register(bytearray(GRANT.size))
        vi.post_recv(letter)
        # 6. The client asks until the server waits there.
        vi.connect(host, "lesson", timeout=20)
        address, handle, size = GRANT.unpack(vi.recv_wait().view)

        # 7. One RDMA Write, from this array into that one; the number in the
        #    immediate data completes the receive of step 3.
        numbers = array.array("d", range(size // 8))
        vi.post_write(address, handle, nic.register(numbers),
                      immediate=len(numbers))
        vi.send_wait()
        print(f"{len(numbers)} numbers written, sum {sum(numbers):g}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: lesson.py DEVICE [HOST]")
    try:
        (target if len(sys.argv) == 2 else writer)(*sys.argv[1:])
    except vipl.Error as error:
        sys.exit(f"lesson: {error}")
