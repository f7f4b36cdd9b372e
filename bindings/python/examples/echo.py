#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""An echo server with asyncio, for examples/client.c: a task for each client,
one thread, woken by the completion queue's descriptor.

	echo.py DEVICE [COUNT]		until COUNT clients have left
"""

import asyncio
import sys

import vipl.aio

MAX = 1024


async def serve(nic, request):
    with nic.vi(max_transfer=MAX) as vi:
        # A question may come while the answer before it still goes out.
        room = [nic.register(bytearray(MAX)) for _ in range(2)]
        heard = vi.post_recv(room[0])
        await request.accept(vi)
        answers = 0
        try:
            while True:
                question = await heard
                room.reverse()
                heard = vi.post_recv(room[0])
                await vi.post_send(question.region, 0, question.length)
                answers += 1
        except vipl.DescriptorError as error:
            if not error.flushed:
                raise
        print(f"a client has left after {answers} answers")
    for region in room:
        region.close()


async def main(device, count=0):
    async with vipl.aio.Nic(device) as nic:
        tasks = set()
        async for request in nic.listen("echo"):
            tasks.add(asyncio.create_task(serve(nic, request)))
            if len(tasks) == int(count):
                break
        await asyncio.gather(*tasks)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: echo.py DEVICE [COUNT]")
    asyncio.run(main(*sys.argv[1:]))
