# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The same with asyncio: a NIC's completion queue and its connections wake the
loop by their descriptors, no thread waits.

	async with vipl.aio.Nic("shm:0") as nic:
		vi = nic.vi()
		heard = vi.post_recv(region)
		await vi.connect("localhost", "echo")
		await vi.post_send(region)
		print(bytes((await heard).view))

Posts return futures of a Completion; those of one queue come in order.
"""

import asyncio
import collections

from . import core, errors
from ._ffi import ffi, lib
from .core import call


class Nic(core.Nic):
    """For one event loop, that which runs when it is made."""

    def __init__(self, device="", entries=256):
        self.loop = asyncio.get_running_loop()
        super().__init__(device)
        need = core.CQ_FD | core.NIC_FD | core.NONBLOCKING
        if self.features & need != need:
            super().close()
            raise errors.NotSupported(f"asyncio on {device}",
                                      errors.NOT_SUPPORTED)
        self.queue = self.cq(entries)
        self.pending, self.listeners = {}, []
        self.cq_fd = self.queue.fileno()
        fd = ffi.new("int *")
        call("VipExtNicGetFd", self.handle, fd)
        self.nic_fd = fd[0]
        self.queue.arm()
        self.loop.add_reader(self.cq_fd, self._completions)
        self.loop.add_reader(self.nic_fd, self._connections)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    def destroy(self):
        """Futures that nothing has come for are cancelled."""
        self.loop.remove_reader(self.cq_fd)
        self.loop.remove_reader(self.nic_fd)
        for listener in self.listeners:
            if listener.waiter and not listener.waiter.done():
                listener.waiter.cancel()
        for future in self.pending.values():
            future.cancel()
        super().destroy()

    def vi(self, **attributes):
        """A VI whose completions wake the loop."""
        return VI(self, send_cq=self.queue, recv_cq=self.queue, **attributes)

    def listen(self, disc, backlog=16):
        """An asynchronous iterator of requests."""
        return Listener(self, core.Address(self, disc=disc), backlog)

    # Readability is taken back first: what comes later sets it again.
    def _completions(self):
        self.queue.arm()
        while not self.closed:
            notice = self.queue.done()
            if not notice:
                break
            vi, recv = notice
            vi.collect(recv)

    def _connections(self):
        call("VipExtNicClear", self.handle)
        for vi, future in list(self.pending.items()):
            code = lib.VipExtConnectDone(vi.handle, ffi.NULL, ffi.NULL,
                                         ffi.NULL)
            if code == errors.NOT_DONE:
                continue
            del self.pending[vi]
            if future.done():
                continue
            try:
                errors.check("connection", code)
                future.set_result(vi)
            except errors.Error as error:
                future.set_exception(error)
        for listener in self.listeners:
            if listener.waiter and not listener.waiter.done():
                listener.waiter.set_result(None)

    def verdict(self, vi):
        """A future of what VipExtConnectDone has."""
        self.pending[vi] = future = self.loop.create_future()
        self.loop.call_soon(self._look)
        return future

    def _look(self):
        if not self.closed:
            self._connections()


class Listener:
    """Requests for a discriminator, as they come."""

    def __init__(self, nic, local, backlog):
        self.nic, self.local, self.waiter = nic, local, None
        call("VipExtConnectListen", nic.handle, local.c, backlog)
        nic.listeners.append(self)

    def __aiter__(self):
        return self

    async def __anext__(self):
        while True:
            self.nic.live()
            self.waiter = self.nic.loop.create_future()
            try:
                return Request.next(self.nic, self.local, 0)
            except errors.Timeout:
                await self.waiter

    def close(self):
        """No more requests; those not taken are rejected."""
        self.nic.listeners.remove(self)
        call("VipExtConnectListen", self.nic.handle, self.local.c, 0)


class Request(core.Request):
    """A connection request: `remote`, the client's address."""

    async def accept(self, vi):
        """Connects that VI with the client's, and returns it."""
        call("VipExtConnectAccept", self.handle, vi.handle, ffi.NULL, 0)
        return await self.nic.verdict(vi)


class VI(core.VI):
    """Posts return futures; collecting is done by the NIC."""

    def __init__(self, nic, **attributes):
        self.futures = {False: collections.deque(), True: collections.deque()}
        super().__init__(nic, **attributes)

    def _post(self, name, *args):
        super()._post(name, *args)
        future = self.nic.loop.create_future()
        self.futures[name == "VipPostRecv"].append(future)
        return future

    def post_recv(self, region=None, offset=0, length=None):
        """Room for a message: a future of its Completion."""
        return self._post("VipPostRecv", region, offset, length)

    def post_send(self, region=None, offset=0, length=None, immediate=None):
        """A future of the Completion, when the message is sent."""
        return self._post("VipPostSend", region, offset, length, 0, immediate)

    def post_write(self, address, handle, region, offset=0, length=None,
                   immediate=None):
        """RDMA Write to the peer's address: a future of the Completion."""
        return self._post("VipPostSend", region, offset, length,
                          core.RDMA_WRITE, immediate, (address, handle, 0))

    def post_read(self, address, handle, region, offset=0, length=None):
        """RDMA Read from there: a future of the Completion."""
        return self._post("VipPostSend", region, offset, length,
                          core.RDMA_READ, None, (address, handle, 0))

    def collect(self, recv):
        """One completion of a queue, into its future."""
        try:
            found, error = (self.recv_done if recv else self.send_done)(), None
        except errors.DescriptorError as failed:
            found, error = None, failed
        if found is None and error is None:
            return
        future = self.futures[recv].popleft()
        if future.done():
            return  # cancelled: the descriptor is free nonetheless
        if error:
            future.set_exception(error)
            future.exception()  # a post that none awaits is no complaint
        else:
            future.set_result(found)

    def gone(self):
        """Its handle is no more; futures are cancelled."""
        super().gone()
        for futures in self.futures.values():
            for future in futures:
                future.cancel()

    async def connect(self, host, disc, timeout=5):
        """As of core.VI."""
        here = core.Address(self.nic)
        there = core.Address(self.nic, host, disc)
        tries = core.Tries(timeout)
        while True:
            call("VipExtConnectRequest", self.handle, here.c, there.c,
                 tries.left(), ffi.NULL, 0)
            with tries:
                return await self.nic.verdict(self)
            await asyncio.sleep(0.001)
