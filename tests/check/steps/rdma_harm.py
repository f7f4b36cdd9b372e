# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A verbs device in trouble: its link and the device go, frames get lost."""

import re

from common import serving
from rdma import MEBIBYTES, connected, device, needed, served
from rdma_own import CONFORM
from rdma_own import needed as built
from runner import StepFailed


def events(session, net):
    """The port's events and the device's end, as a program is told them."""
    built(CONFORM)
    one, address = session.lab.nodes[0], f"10.{net}.0.1"
    session.lab.verbs(one, f"eth{net}")
    with serving(session, f"{CONFORM} --hold device {address},{address}", 0,
                 "held", ends=True) as job:
        for command, words in (
                (f"ip link set eth{net} down", "port error"),
                (f"ip link set eth{net} up", "port active"),
                ("rdma link del via0", "local catastrophic error")):
            one.sh(command)
            job.expect(f"^{words}$", 20 * session.slow)
        if job.wait().rc:
            raise StepFailed("the program did not end by itself")
    one.sh("rmmod via_rdma")


def load(disk, seconds):
    """Random writes with checksums, each read back, for so long."""
    return (f"fio --name=load --filename={disk} --size={MEBIBYTES - 8}M "
            "--rw=randwrite --bssplit=4k/50:16k/20:128k/30 --ioengine=libaio "
            "--iodepth=16 --direct=1 --verify=crc32c --verify_fatal=1 "
            f"--verify_backlog=64 --time_based --runtime={seconds}")


def lossy(session, net, seconds, loss):
    """NVMe where frames get lost: no request fails, no byte is wrong."""
    needed("nvme", "fio")
    one = session.lab.nodes[0]
    with device(session, "via", net, pooled=True):
        with served(session, "via", net, "a disk") as (_, where), \
                connected(session, where) as here, \
                session.bad_wire(net, loss=loss, seed=11) as wire:
            result = session.run(one, load(here, seconds),
                                 (4 * seconds + 240) * session.slow)
            lost = wire.stats()["lost"]
        one.sh("modprobe -r nvme_rdma")
    found = re.search(r"err= *(\d+)", result.all)
    if not found or found.group(1) != "0" or not lost:
        raise StepFailed(f"fio: {result.all[-200:]}; {lost} frames lost")
    session.check.note(f"{lost} frames lost")
