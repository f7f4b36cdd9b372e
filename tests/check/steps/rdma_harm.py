# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A verbs device in trouble: links, devices and peers that go under load,
frames that get lost, and thousands of connections."""

import re

from common import jobs, serving
from rdma import connected, device, fio, needed, serve_again, served
from rdma_own import CONFORM
from rdma_own import needed as built
from runner import StepFailed

RECONNECT = 60  # seconds: nvme tries every 10
TROUBLES = ["the target's device", "the host's device", "the target's link"]


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
    return fio(disk, 16, "--allow_file_create=0 --verify_backlog=64",
               f"--time_based --runtime={seconds}")


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


def trouble(session, net, disk, how):
    """What happens to which node, and what ends it."""
    one, two = session.lab.nodes
    if how == "the target's device":
        two.sh("rdma link del via0", 60)
        yield
        two.sh(f"rdma link add via0 type via netdev eth{net}")
        # nvmet has ended its listener with the device.
        serve_again(two, net, disk)
    elif how == "the host's device":
        one.sh("rdma link del via0", 60)
        yield
        one.sh(f"rdma link add via0 type via netdev eth{net}")
    elif how == "the target's link":
        two.sh(f"ip link set eth{net} down")
        yield
        two.sh(f"ip link set eth{net} up")
    else:
        raise StepFailed(f"no trouble is called {how}")


def until_enough(command):
    """Again and again, until it fails or there is a file /tmp/enough."""
    return ("rm -f /tmp/enough; until test -e /tmp/enough; do "
            f"{command} || exit; done")


def writes_more(session, node, net, job, frames):
    """Wait until fio has sent so many and some: how many.  The disk's own
    figures are none: it is one of several paths."""
    path, now = f"/sys/class/net/eth{net}/statistics/tx_packets", 0

    def more():
        nonlocal now
        now = int(node.sh(f"cat {path}").out)
        return job.done or now > frames + 1000

    job.link.wait_for(more, RECONNECT * session.slow)
    if job.done:
        raise StepFailed(f"fio ended: {job.all.strip()[-200:]}")
    if now <= frames + 1000:
        raise StepFailed(f"fio stands still after {now} frames")
    return now


def gone(session, net, how):
    """Something goes while NVMe writes, and comes back: the host connects
    again by itself, or by `nvme connect` where it had nothing left; the disk
    is written and verified afterwards."""
    needed("nvme", "fio")
    one = session.lab.nodes[0]
    with device(session, "via", net, pooled=True):
        with served(session, "via", net, "a disk") as (target, where):
            with connected(session, where) as here, \
                    jobs(session, one.spawn(load(here, 600))) as (job,):
                begun = writes_more(session, one, net, job, 0)
                for _ in trouble(session, net, target, how):
                    one.run("sleep 3")
                if how == "the host's device":
                    job.link.wait_for(lambda: job.done, 30 * session.slow)
                    if not job.done:
                        raise StepFailed("fio outlives its disk")
                else:
                    writes_more(session, one, net, job, begun + 2000)
            session.wait_until(one, f"nvme connect {where}",
                               "the target takes no connection", RECONNECT)
            session.wait_until(one, "ls /dev/nvme*n1", "no disk appears")
            one.sh("nvme disconnect -n mvia", 60)
            with connected(session, where) as here:
                session.run(one, load(here, 3), 120 * session.slow)
        one.sh("modprobe -r nvme_rdma")


def connects(session, net, amount):
    """So many connections one after the other leave nothing in either
    kernel's memory: compared between the halves, so that pools are full."""
    needed("ucmatose")
    one, two = session.lab.nodes
    rounds, found = amount // 100, []
    with device(session, "via", net):
        with serving(session, "while ucmatose -C 100 -S 64; do :; done", 1):
            for half in range(2):
                session.run(one, f"n=0; i=0; while test $n -lt {rounds // 2}; "
                            "do i=$((i + 1)); test $i -lt 10000 || exit 1; "
                            f"ucmatose -s 10.{net}.0.2 -C 100 -S 64 "
                            ">/dev/null && n=$((n + 1)) || sleep 0.2; done",
                            (60 + amount // 5) * session.slow)
                found.append([kept(node) for node in (one, two)])
    for node, before, after in zip((one, two), *found):
        if after - before > amount * 64:
            raise StepFailed(f"{node.name}: {after - before} bytes more of "
                             f"slab after {amount // 2} connections")
        session.check.note(f"{node.name} {after - before} bytes of slab more")


def kept(node):
    """Bytes of slab that cannot be reclaimed."""
    text = node.sh("sync; echo 3 >/proc/sys/vm/drop_caches; sleep 2; "
                   "cat /proc/meminfo").out
    return int(re.search(r"^SUnreclaim: +(\d+)", text, re.M).group(1)) << 10
