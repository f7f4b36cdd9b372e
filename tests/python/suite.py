#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The package vipl, on the device in VIPL_TEST_DEVICE: what run.py starts."""

import array
import asyncio
import importlib.metadata
import mmap
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import layout
import vipl
import vipl.aio
from vipl import core

DEVICE = os.environ.get("VIPL_TEST_DEVICE", "shm:0")
HOST = "localhost"
PATIENCE = 20


class Pair(unittest.TestCase):
    """Two NICs of this process, a VI of each, connected."""

    def setUp(self):
        self.a, self.b = vipl.Nic(DEVICE), vipl.Nic(DEVICE)
        self.addCleanup(self.a.close)
        self.addCleanup(self.b.close)

    def pair(self, disc="pair", before=None, **attributes):
        here, there = self.a.vi(**attributes), self.b.vi(**attributes)
        if before:
            before(here, there)
        server = threading.Thread(target=lambda: self.a.wait(
            disc, PATIENCE).accept(here))
        server.start()
        there.connect(HOST, disc, PATIENCE)
        server.join()
        return here, there

    def test_message(self):
        buffer, other = bytearray(100), bytearray(b"x" * 40)
        region, sent = self.a.register(buffer), self.b.register(other)
        here, there = self.pair(before=lambda h, _: h.post_recv(region, 10))
        self.assertEqual(here.state, "connected")
        self.assertIsNone(here.recv_done())
        there.post_send(sent, 4, 30, immediate=7)
        self.assertEqual(there.send_wait(PATIENCE).length, 30)
        got = here.recv_wait(PATIENCE)
        self.assertEqual((got.length, got.immediate), (30, 7))
        # It is in the buffer itself.
        self.assertEqual(buffer[10:41], b"x" * 30 + b"\0")
        self.assertEqual(bytes(got.view), b"x" * 30)
        got.view[0] = 65
        self.assertEqual(buffer[10], 65)

    def test_buffers(self):
        for buffer in (bytearray(64), array.array("d", [0.0] * 9),
                       mmap.mmap(-1, 8192), memoryview(bytearray(100))[3:90]):
            with self.a.register(buffer) as region:
                self.assertEqual(len(region), memoryview(buffer).nbytes)
        with self.assertRaises((BufferError, ValueError, TypeError)):
            self.a.register(b"bytes cannot be written")
        resized = bytearray(10)
        region = self.a.register(resized)
        with self.assertRaises(BufferError):
            resized.extend(b"more")
        region.close()
        resized.extend(b"more")

    def test_rdma(self):
        target = array.array("I", [0] * 100)
        region = self.a.register(target, rdma_write=True)
        source = self.b.register(array.array("I", range(100)))
        here, there = self.pair(rdma_write=True,
                                before=lambda h, _: h.post_recv())
        there.post_write(region.address, region.handle, source, immediate=9)
        there.send_wait(PATIENCE)
        got = here.recv_wait(PATIENCE)
        self.assertEqual((got.length, got.immediate), (400, 9))
        self.assertEqual(list(target), list(range(100)))

    def test_refused(self):
        """RDMA into what is not open: an exception with the status."""
        region = self.a.register(bytearray(64))
        source = self.b.register(bytearray(64))
        # The level at which a write completes in the peer's memory.
        here, there = self.pair(rdma_write=True,
                                reliability=vipl.RELIABLE_RECEPTION)
        there.post_write(region.address, region.handle, source)
        with self.assertRaises(vipl.DescriptorError) as caught:
            there.send_wait(PATIENCE)
        self.assertIn("protection error", str(caught.exception))
        self.assertFalse(caught.exception.flushed)

    def test_order(self):
        """Many in flight, in order, each descriptor used again."""
        slots = self.a.register(bytearray(16 * 8))
        out = self.b.register(bytearray(16 * 8))
        here, there = self.pair(before=lambda h, _: [
            h.post_recv(slots, i * 8, 8) for i in range(16)], depth=16)
        with self.assertRaises(vipl.Error):
            here.post_recv()
        for i in range(200):
            at = i % 16 * 8
            out.view[at:at + 8] = i.to_bytes(8, "little")
            there.post_send(out, at, 8)
            got = here.recv_wait(PATIENCE)
            self.assertEqual(int.from_bytes(got.view, "little"), i)
            here.post_recv(slots, got.offset, 8)
            there.send_wait(PATIENCE)

    def test_errors(self):
        vi = self.a.vi()
        with self.assertRaises(vipl.NoMatch):
            vi.connect(HOST, "none waits here", 1)
        self.assertTrue(issubclass(vipl.NoMatch, ConnectionRefusedError))
        # One try of a millisecond, in which an answer need not come.
        with self.assertRaises((vipl.NoMatch, vipl.Timeout)):
            vi.connect(HOST, "none waits here", 0)
        with self.assertRaises(TimeoutError):
            self.a.wait("none comes", 0.02)
        with self.assertRaises(vipl.Timeout):
            vi.post_recv()
            vi.recv_wait(0.02)
        with self.assertRaisesRegex(
                vipl.Error, "name not found: unknown host '.*/etc/vip_hosts"):
            vi.connect("no.such.host", "x")
        with self.assertRaisesRegex(vipl.Error, "VipPostSend: invalid state"):
            vi.post_send()
        with self.assertRaises(ValueError):
            vi.post_recv(self.a.register(bytearray(8)), 4, 5)
        os.environ["VIPL_QUIET"] = "1"
        self.addCleanup(os.environ.pop, "VIPL_QUIET")
        with self.assertRaisesRegex(vipl.Error, "invalid parameter"):
            vipl.Nic("none:0")

    def test_rejected(self):
        server = threading.Thread(target=lambda: self.a.wait(
            "no", PATIENCE).reject())
        server.start()
        with self.assertRaises(vipl.Rejected):
            self.b.vi().connect(HOST, "no", PATIENCE)
        server.join()

    def test_tags(self):
        ptag = self.a.ptag()
        region = self.a.register(bytearray(64))
        ours = self.b.register(bytearray(64))
        here = self.a.vi(ptag=ptag)
        there = self.b.vi()
        here.post_recv(region)
        server = threading.Thread(target=lambda: self.a.wait(
            "tag", PATIENCE).accept(here))
        server.start()
        there.connect(HOST, "tag", PATIENCE)
        server.join()
        there.post_send(ours)
        with self.assertRaises(vipl.DescriptorError):
            here.recv_wait(PATIENCE)

    def test_peer(self):
        here, there = self.a.vi(), self.b.vi()
        other = threading.Thread(target=here.peer, args=(
            HOST, "one", "two", PATIENCE))
        other.start()
        there.peer(HOST, "two", "one", PATIENCE)
        other.join()
        self.assertEqual((here.state, there.state), ("connected",) * 2)

    def test_cq(self):
        queue = self.a.cq(8)
        region = self.a.register(bytearray(64))
        here, there = self.a.vi(recv_cq=queue), self.b.vi()
        here.post_recv(region)
        server = threading.Thread(target=lambda: self.a.wait(
            "cq", PATIENCE).accept(here))
        server.start()
        there.connect(HOST, "cq", PATIENCE)
        server.join()
        self.assertIsNone(queue.done())
        there.post_send()
        self.assertEqual(queue.wait(PATIENCE), (here, True))
        self.assertEqual(here.recv_done().length, 0)
        there.send_wait(PATIENCE)

    def test_lost(self):
        """The end of the peer: flushed, told by a handler."""
        told = threading.Event()
        self.a.on_error(lambda text, _: text == "connection lost" and
                        told.set())
        here, there = self.pair(before=lambda h, _: h.post_recv())
        there.disconnect()
        with self.assertRaises(vipl.DescriptorError) as caught:
            here.recv_wait(PATIENCE)
        self.assertTrue(caught.exception.flushed)
        self.assertTrue(told.wait(PATIENCE))
        self.assertEqual(here.state, "error")
        here.close()

    def test_closed(self):
        vi, buffer = self.a.vi(), bytearray(8)
        region = self.a.register(buffer)
        self.a.close()
        for use in (vi.post_recv, lambda: vi.state,
                    lambda: self.a.wait("x", 0),
                    lambda: vi.post_recv(region)):
            self.assertRaises(ValueError, use)
        buffer.append(1)  # it is its owner's again
        vi.close()
        self.a.close()


class Async(unittest.TestCase):
    def test_echo(self):
        """Server and clients in one loop."""
        async def serve(nic, request):
            with nic.vi() as vi:
                room = nic.register(bytearray(64))
                out = nic.register(bytearray(64))
                heard = vi.post_recv(room)
                await request.accept(vi)
                for _ in range(10):
                    got = await heard
                    out.view[:got.length] = got.view
                    heard = vi.post_recv(room)
                    await vi.post_send(out, 0, got.length)
                with self.assertRaises(vipl.DescriptorError):
                    await heard

        async def server(nic, count):
            tasks = []
            async for request in nic.listen("echo"):
                tasks.append(asyncio.create_task(serve(nic, request)))
                if len(tasks) == count:
                    return await asyncio.gather(*tasks)

        async def client(nic, number):
            with nic.vi() as vi:
                region = nic.register(bytearray(64))
                await vi.connect(HOST, "echo", PATIENCE)
                for i in range(10):
                    text = f"{number} {i}".encode()
                    answer = vi.post_recv(region, 32, 32)
                    region.view[:len(text)] = text
                    await vi.post_send(region, 0, len(text))
                    self.assertEqual(bytes((await answer).view), text)

        async def main():
            async with vipl.aio.Nic(DEVICE) as a, vipl.aio.Nic(DEVICE) as b:
                serving = asyncio.create_task(server(a, 5))
                await asyncio.gather(*(client(b, i) for i in range(5)))
                await serving

        asyncio.run(asyncio.wait_for(main(), 60))

    def test_refused(self):
        async def main():
            async with vipl.aio.Nic(DEVICE) as nic:
                with self.assertRaises(vipl.NoMatch):
                    await nic.vi().connect(HOST, "nothing", 1)

        asyncio.run(asyncio.wait_for(main(), 60))


class Help(unittest.TestCase):
    """What help(), repr() and pip say."""

    def public(self, module):
        """(its name, the thing) of what a module has for programs."""
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(
                    thing, "__module__", "") != module.__name__:
                continue
            yield name, thing
            if isinstance(thing, type):
                yield from ((f"{name}.{n}", t) for n, t in vars(thing).items()
                            if not n.startswith("_") and
                            (callable(t) or isinstance(t, property)))

    def test_docstrings(self):
        count = 0
        for module in vipl, vipl.core, vipl.aio, vipl.errors:
            self.assertTrue(module.__doc__)
            for name, thing in self.public(module):
                count += 1
                self.assertTrue(thing.__doc__, f"{module.__name__}.{name}")
        self.assertGreater(count, 80)

    def test_version(self):
        with open(os.environ["VIPL_TEST_VERSION"], encoding="ascii") as file:
            self.assertEqual(vipl.__version__, file.read().strip())
        self.assertEqual(importlib.metadata.version("vipl"), vipl.__version__)

    def test_repr(self):
        with vipl.Nic(DEVICE) as nic, nic.vi() as vi, nic.cq() as cq:
            region = nic.register(bytearray(100))
            name = DEVICE.partition(",")[0]
            self.assertRegex(repr(nic), f"^<vipl.Nic: {name}.*, 4 objects>$")
            self.assertRegex(repr(vi), f"^<vipl.VI of {name}.*: idle, 0 posted>$")
            self.assertRegex(repr(cq), ": 0 VIs>$")
            self.assertRegex(repr(region), ": 100 bytes at 0x.*, handle 0x")
            region.close()
            self.assertRegex(repr(region), ": closed>$")
        self.assertRegex(repr(nic), "^<vipl.Nic: closed>$")


class Header(unittest.TestCase):
    def test_layout(self):
        flags = subprocess.run(["pkg-config", "--cflags", "vipl"], text=True,
                               check=True, stdout=subprocess.PIPE)
        believed = layout.believed()
        self.assertGreater(len(believed), 60)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(believed, layout.real(
                believed, folder, flags.stdout.split()))

    def test_constants(self):
        self.assertEqual(core.milliseconds(None), 0xffffffff)
        self.assertEqual(core.milliseconds(0.0001), 1)
        self.assertEqual(core.milliseconds(0), 0)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
