# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The Virtual Interface Architecture for Python: messages and RDMA between
programs, from buffers of theirs without a copy.

	with vipl.Nic("shm:0") as nic, nic.vi() as vi:
		region = nic.register(bytearray(4096))
		vi.post_recv(region)
		nic.wait("hello").accept(vi)
		print(bytes(vi.recv_wait().view))

vipl.aio is the same for asyncio.
"""

from .core import (CQ, MemoryRegion, Nic, Ptag, RELIABLE_DELIVERY,
                   RELIABLE_RECEPTION, Request, UNRELIABLE, VI, Completion)
from .errors import (DescriptorError, Error, NoMatch, NotSupported, Rejected,
                     Timeout)

__version__ = "1.0.0"  # of mvia, as its file VERSION; a test compares

__all__ = [
    "CQ", "Completion", "DescriptorError", "Error", "MemoryRegion", "Nic",
    "NoMatch", "NotSupported", "Ptag", "RELIABLE_DELIVERY",
    "RELIABLE_RECEPTION", "Rejected", "Request", "Timeout", "UNRELIABLE", "VI",
]
