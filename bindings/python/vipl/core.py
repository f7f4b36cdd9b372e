# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""NICs, memory, VIs, completion queues and connections.

Each object is a context manager and has close(); closing a NIC closes what it
has.  Calls that wait let other threads run.  Times are seconds, None is no
limit.
"""

import collections
import mmap
import time

from . import errors
from ._ffi import ffi, lib
from .errors import check

UNRELIABLE, RELIABLE_DELIVERY, RELIABLE_RECEPTION = 1, 2, 4
RDMA_WRITE, RDMA_READ, IMMEDIATE, QFENCE = 1, 2, 4, 8
STATUS_IMMEDIATE = 0x80000
# VipExtQueryFeatures
CQ_FD, NIC_FD, NONBLOCKING, LISTEN, PRIVATE, MEMLOCK, ONE_SIDED, REMOTE = (
    1 << bit for bit in range(8))
INFINITE = 0xffffffff
DESCRIPTOR = 64


def milliseconds(seconds):
    """As the library takes times."""
    if seconds is None:
        return INFINITE
    return max(0, min(int(seconds * 1000 + 0.999), INFINITE - 1))


class Tries:
    """To connect, each within a `with`: NoMatch is raised when the time is over,
    also where the last try was too short for another answer."""

    def __init__(self, timeout):
        self.end = None if timeout is None else time.monotonic() + timeout
        self.refused = None

    def left(self):
        """Milliseconds for the next one."""
        return milliseconds(None if self.end is None else
                            max(self.end - time.monotonic(), 0.001))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if isinstance(error, errors.Timeout) and self.refused:
            raise self.refused from None
        if not isinstance(error, errors.NoMatch):
            return False
        self.refused = error
        return self.end is None or time.monotonic() <= self.end


def call(name, *args):
    """A call of the library that either succeeds or raises."""
    check(name, getattr(lib, name)(*args))


class Object:
    """What is closed once, by itself or with its NIC."""

    closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        name = ffi.string(self.nic.attributes.Name).decode()
        where = "" if self.nic is self else f" of {name}"
        what = "closed" if self.closed else self.about()
        return f"<vipl.{type(self).__name__}{where}: {what}>"

    def about(self):
        """In a few words, for repr()."""
        return f"{self.handle}"

    def close(self):
        """Destroys it; once more does nothing."""
        if self.closed:
            return
        self.destroy()
        self.gone()

    def gone(self):
        """Its handle is no more."""
        self.closed = True
        self.nic.owned.pop(id(self), None)

    def live(self):
        """ValueError where it is closed."""
        if self.closed:
            raise ValueError(f"{type(self).__name__} is closed")


class Address:
    """Of a host, with a discriminator."""

    def __init__(self, nic, host=None, disc=b""):
        self.nic = nic
        self.c = ffi.new("VIP_NET_ADDRESS *")
        if host is None:
            n = nic.attributes.NicAddressLen
            self.c.HostAddressLen = n
            ffi.memmove(self.c.HostAddress, nic.attributes.LocalNicAddress, n)
        elif host is not False:
            name = ffi.new("char[]", host.encode())
            code = lib.VipNSGetHostByName(nic.handle, name, self.c, 0)
            check(f"host {host}", code)
        disc = disc.encode() if isinstance(disc, str) else bytes(disc)
        start = self.c.HostAddressLen
        if start + len(disc) > 252:
            raise ValueError("too long for an address")
        self.c.DiscriminatorLen = len(disc)
        ffi.buffer(self.c.HostAddress)[start:start + len(disc)] = disc

    @property
    def discriminator(self):
        """The bytes behind the host's address."""
        start = self.c.HostAddressLen
        return ffi.buffer(self.c.HostAddress)[
            start:start + self.c.DiscriminatorLen]

    def __str__(self):
        text = ffi.new("char[256]")
        call("VipExtFormatAddress", self.nic.handle, self.c, text, 256)
        return ffi.string(text).decode()


class Nic(Object):
    """A NIC by its name: "shm:0", "ofi:tcp", "via_eth0"."""

    def __init__(self, device=""):
        handle = ffi.new("void **")
        check(f"VipOpenNic {device}",
              lib.VipOpenNic(device.encode(), handle))
        self.nic, self.handle, self.handler = self, handle[0], None
        self.owned = {}  # what must stay as long as the NIC may use it
        self.attributes = ffi.new("VIP_NIC_ATTRIBUTES *")
        call("VipQueryNic", self.handle, self.attributes)
        features = ffi.new("uint64_t *")
        call("VipExtQueryFeatures", self.handle, features)
        self.features = features[0]

    def about(self):
        """Its name, and how many objects it has."""
        return (f"{ffi.string(self.attributes.Name).decode()}, "
                f"{len(self.owned)} objects")

    def destroy(self):
        """Everything that it has ends with it."""
        call("VipCloseNic", self.handle)
        for other in list(self.owned.values()):
            other.gone()

    def on_error(self, handler):
        """handler(text, code) is called in a thread of the library; None
        prints lines, as at first."""
        def called(_, error):
            handler(ffi.string(lib.VipExtErrorText(error.ErrorCode)).decode(),
                    error.ErrorCode)

        new = handler and ffi.callback(
            "void(void *, VIP_ERROR_DESCRIPTOR *)", called)
        call("VipErrorCallback", self.handle, ffi.NULL, new or ffi.NULL)
        self.handler = new  # the old one is not called any more

    def ptag(self):
        """A Ptag: memory and VIs of one tag belong together."""
        return Ptag(self)

    def register(self, buffer, **rights):
        """A MemoryRegion of the buffer; rdma_write=True and rdma_read=True
        let the peer's RDMA in."""
        return MemoryRegion(self, buffer, **rights)

    def cq(self, entries=256):
        """A CQ with room for so many completions."""
        return CQ(self, entries)

    def vi(self, **attributes):
        """A VI: see there for the attributes."""
        return VI(self, **attributes)

    def wait(self, disc, timeout=None):
        """The next connection request for a discriminator."""
        self.live()
        return Request.next(self, Address(self, disc=disc), timeout)


class Ptag(Object):
    """A protection tag."""

    def __init__(self, nic):
        handle = ffi.new("void **")
        call("VipCreatePtag", nic.handle, handle)
        self.nic, self.handle = nic, handle[0]
        nic.owned[id(self)] = self

    def destroy(self):
        """No VI and no region may have it any more."""
        call("VipDestroyPtag", self.nic.handle, self.handle)


def tag(ptag):
    """The handle of a Ptag; None is the default one."""
    return ptag.handle if ptag else ffi.NULL


class MemoryRegion(Object):
    """A writable buffer - bytearray, mmap, array, numpy's - registered where
    it is, without a copy; it cannot be resized until this is closed."""

    def __init__(self, nic, buffer, ptag=None, rdma_write=False,
                 rdma_read=False):
        self.nic, self.buffer = nic, buffer
        self.c = ffi.from_buffer("char[]", buffer, require_writable=True)
        self.view = memoryview(buffer).cast("B")
        self.address = int(ffi.cast("uintptr_t", self.c))
        attr = ffi.new("VIP_MEM_ATTRIBUTES *",
                       (tag(ptag), rdma_write, rdma_read))
        handle = ffi.new("VIP_MEM_HANDLE *")
        try:
            call("VipRegisterMem", nic.handle, self.c, len(self.view), attr,
                 handle)
        except errors.Error:
            self.release()
            raise
        self.handle = handle[0]
        nic.owned[id(self)] = self

    def __len__(self):
        return len(self.view)

    def about(self):
        """Where it is, what its peer names."""
        return (f"{len(self)} bytes at {self.address:#x}, "
                f"handle {self.handle:#x}")

    def destroy(self):
        """No descriptor may use it any more."""
        call("VipDeregisterMem", self.nic.handle, self.c, self.handle)

    def gone(self):
        """Its handle is no more, and the buffer is free."""
        super().gone()
        self.release()

    def release(self):
        """The buffer is its owner's again; a view that is still used keeps
        it as it is."""
        try:
            self.view.release()
        except BufferError:
            pass
        ffi.release(self.c)


class CQ(Object):
    """A completion queue."""

    def __init__(self, nic, entries=256):
        handle = ffi.new("void **")
        call("VipCreateCQ", nic.handle, entries, handle)
        self.nic, self.handle, self.vis = nic, handle[0], {}
        nic.owned[id(self)] = self

    def about(self):
        """How many VIs complete into it."""
        return f"{len(self.vis)} VIs"

    def destroy(self):
        """No VI may have it any more."""
        call("VipDestroyCQ", self.handle)

    def resize(self, entries):
        """Room for so many completions from now on."""
        call("VipResizeCQ", self.handle, entries)

    def _next(self, name, *args):
        """(VI, whether its receive queue); None where nothing is to be had.
        Notices of VIs that are closed mean nothing."""
        vi, recv = ffi.new("void **"), ffi.new("VIP_BOOLEAN *")
        while True:
            self.live()
            code = getattr(lib, name)(self.handle, *args, vi, recv)
            if code == errors.NOT_DONE:
                return None
            check(name, code)
            if vi[0] in self.vis:
                return self.vis[vi[0]], bool(recv[0])

    def done(self):
        """(VI, whether of its receive queue), or None where there is none."""
        return self._next("VipCQDone")

    def wait(self, timeout=None):
        """The same, when there is one."""
        return self._next("VipCQWait", milliseconds(timeout))

    def fileno(self):
        """A descriptor that poll() and select() wait for, once arm() was
        called."""
        fd = ffi.new("int *")
        call("VipExtCQGetFd", self.handle, fd)
        return fd[0]

    def arm(self):
        """The next completion makes fileno() readable."""
        call("VipExtCQArm", self.handle)


class Completion:
    """What became of a descriptor: `length`, `immediate` or None, `status`;
    `view`: the bytes, in the region, not a copy of them."""

    def __init__(self, d, region, offset):
        self.length, self.status = d.CS.Length, d.CS.Status
        self.immediate = d.CS.ImmediateData \
            if self.status & STATUS_IMMEDIATE else None
        self.region, self.offset = region, offset

    def __repr__(self):
        return f"<vipl.Completion: {self.length} bytes, {self.text}>"

    @property
    def view(self):
        """The bytes that came, in the region, not a copy of them."""
        if self.region is None:
            return memoryview(b"")
        return self.region.view[self.offset:self.offset + self.length]

    @property
    def text(self):
        """The status in words."""
        return errors.status_text(self.status)


class VI(Object):
    """A virtual interface, with `depth` descriptors for its two queues."""

    def __init__(self, nic, reliability=RELIABLE_DELIVERY, max_transfer=65536,
                 ptag=None, rdma_write=False, rdma_read=False, send_cq=None,
                 recv_cq=None, depth=64):
        self.nic, self.cqs = nic, {q for q in (send_cq, recv_cq) if q}
        attr = ffi.new("VIP_VI_ATTRIBUTES *", (
            reliability, max_transfer, ffi.NULL, tag(ptag), rdma_write,
            rdma_read))
        handle = ffi.new("void **")
        # Pages of their own: aligned, and the tag is the VI's.
        self.descriptors = MemoryRegion(nic, mmap.mmap(-1, depth * DESCRIPTOR),
                                        ptag=ptag)
        try:
            call("VipCreateVi", nic.handle, attr, *(
                q.handle if q else ffi.NULL for q in (send_cq, recv_cq)),
                handle)
        except errors.Error:
            self.descriptors.close()
            raise
        self.handle = handle[0]
        base = ffi.cast("VIP_DESCRIPTOR *", self.descriptors.c)
        self.free = collections.deque(base + i for i in range(depth))
        self.posted = {}  # descriptor: (region, offset), which stay
        for queue in self.cqs:
            queue.vis[self.handle] = self
        nic.owned[id(self)] = self

    def __exit__(self, kind, *_):
        try:
            self.close()
        except errors.Error:
            # Receives of one that was never connected are still posted: the
            # NIC ends it. An error that is under way says more.
            if kind is None:
                raise

    def about(self):
        """Its state, and what is posted."""
        return f"{self.state}, {len(self.posted)} posted"

    def reserve(self, sends=0, receives=0):
        """Room for so many descriptors: posts do not fail for want of it."""
        call("VipExtReserve", self.handle, sends, receives)

    def destroy(self):
        """Its connection ends, too."""
        call("VipDisconnect", self.handle)  # nothing where it is idle
        call("VipDestroyVi", self.handle)
        self.descriptors.close()

    def gone(self):
        """Its handle is no more, in its completion queues neither."""
        super().gone()
        for queue in self.cqs:
            queue.vis.pop(self.handle, None)
        self.posted.clear()

    @property
    def state(self):
        """"idle", "connecting", "connected" or "error"."""
        self.live()
        state, attr = ffi.new("int *"), ffi.new("VIP_VI_ATTRIBUTES *")
        empty = ffi.new("VIP_BOOLEAN[2]")
        call("VipQueryVi", self.handle, state, attr, empty, empty + 1)
        return ffi.string(lib.VipExtStateText(state[0])).decode()

    # Connections

    def connect(self, host, disc, timeout=5):
        """Asks until a server waits there, for so long."""
        self.live()
        here, there = Address(self.nic), Address(self.nic, host, disc)
        theirs = ffi.new("VIP_VI_ATTRIBUTES *")
        tries = Tries(timeout)
        while True:
            with tries:
                return call("VipConnectRequest", self.handle, here.c, there.c,
                            tries.left(), theirs)
            time.sleep(0.001)

    def peer(self, host, mine, theirs, timeout=5):
        """The other one looks for `mine` and is called `theirs`."""
        self.live()
        attr = ffi.new("VIP_VI_ATTRIBUTES *")
        call("VipConnectPeerRequest", self.handle,
             Address(self.nic, disc=mine).c,
             Address(self.nic, host, theirs).c, milliseconds(timeout))
        call("VipConnectPeerWait", self.handle, attr)

    def disconnect(self):
        """Ends the connection; what was posted comes back flushed."""
        self.live()
        call("VipDisconnect", self.handle)

    # Posting

    def _post(self, name, region, offset, length, control=0, immediate=None,
              remote=None):
        self.live()
        if region is not None:
            region.live()
            if length is None:
                length = len(region) - offset
            if offset < 0 or length < 0 or offset + length > len(region):
                raise ValueError("not within the region")
        try:
            d = self.free.popleft()
        except IndexError:
            raise errors.Error(name, errors.ERROR_RESOURCE) from None
        ffi.memmove(d, b"\0" * DESCRIPTOR, DESCRIPTOR)
        segments = [remote] if remote else []
        if region is not None:
            segments.append((region.address + offset, region.handle, length))
        for i, segment in enumerate(segments):
            d.DS[i] = segment
        d.CS.SegCount, d.CS.Length = len(segments), length or 0
        d.CS.Control = control | (0 if immediate is None else IMMEDIATE)
        d.CS.ImmediateData = immediate or 0
        self.posted[d] = region, offset
        code = getattr(lib, name)(self.handle, d, self.descriptors.handle)
        if code != errors.SUCCESS:
            del self.posted[d]
            self.free.append(d)
            check(name, code)

    def post_recv(self, region=None, offset=0, length=None):
        """Room for a message; none takes one without data."""
        self._post("VipPostRecv", region, offset, length)

    def post_send(self, region=None, offset=0, length=None, immediate=None):
        """A message, which takes one posted receive of the peer."""
        self._post("VipPostSend", region, offset, length, 0, immediate)

    def post_write(self, address, handle, region, offset=0, length=None,
                   immediate=None):
        """RDMA Write to the peer's address, by the peer's handle."""
        self._post("VipPostSend", region, offset, length, RDMA_WRITE,
                   immediate, (address, handle, 0))

    def post_read(self, address, handle, region, offset=0, length=None):
        """RDMA Read from there."""
        self._post("VipPostSend", region, offset, length, RDMA_READ, None,
                   (address, handle, 0))

    # Collecting

    def _collect(self, name, *args):
        """A Completion, or None where there is none yet."""
        self.live()
        found = ffi.new("VIP_DESCRIPTOR **")
        code = getattr(lib, name)(self.handle, *args, found)
        if code == errors.NOT_DONE:
            return None
        d = found[0]
        if not d:
            check(name, code)
        completion = Completion(d, *self.posted.pop(d))
        self.free.append(d)
        if code != errors.SUCCESS:
            raise errors.DescriptorError(name, completion)
        return completion

    def send_done(self):
        """The next finished send or RDMA as a Completion, or None."""
        return self._collect("VipSendDone")

    def recv_done(self):
        """The next message as a Completion, or None."""
        return self._collect("VipRecvDone")

    def send_wait(self, timeout=None):
        """The same as send_done(), when there is one."""
        return self._collect("VipSendWait", milliseconds(timeout))

    def recv_wait(self, timeout=None):
        """The same as recv_done(), when there is one."""
        return self._collect("VipRecvWait", milliseconds(timeout))


class Request:
    """A connection request: `remote`, the client's address."""

    def __init__(self, nic, handle, remote):
        self.nic, self.handle, self.remote = nic, handle, remote

    def __repr__(self):
        return f"<vipl.{type(self).__name__} from {self.remote}>"

    @classmethod
    def next(cls, nic, local, timeout):
        """The next one for a local address."""
        remote, handle = Address(nic, False), ffi.new("void **")
        theirs = ffi.new("VIP_VI_ATTRIBUTES *")
        call("VipConnectWait", nic.handle, local.c, milliseconds(timeout),
             remote.c, theirs, handle)
        return cls(nic, handle[0], remote)

    def accept(self, vi):
        """Connects that VI with the client's, and returns it."""
        call("VipConnectAccept", self.handle, vi.handle)
        return vi

    def reject(self):
        """The client gets vipl.Rejected."""
        call("VipConnectReject", self.handle)
