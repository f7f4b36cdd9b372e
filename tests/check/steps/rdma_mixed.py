# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""NVMe, NFS and iSER at the same time on one verbs device, while frames get
lost, the link flaps and servers start again."""

import contextlib
import time

import rdma_iser
import rdma_nfs
from common import jobs
from labkit import nfs
from labkit.nfs import HERE
from rdma import connected, device, fio, needed, serve_again, served
from rdma_harm import until_enough
from runner import StepFailed

NFS_FILE = f"{HERE}/fio"
SIZE = 6  # MiB of each, written and read again in a round
LIO = "/sys/kernel/config/target/iscsi/*/tpgt_1/enable"
ROUND = 120  # seconds, of a round that a trouble falls into


def load(number, disk):
    """Rounds of writes that are verified, each told, until it is enough."""
    told = f"/tmp/fio{number}"
    once = fio(disk, 8, "--do_verify=1", mebibytes=SIZE)
    return until_enough(f"{{ {{ {once} >{told} 2>&1 || "
                        f"{{ tail -n 40 {told}; false; }}; }} && "
                        "echo round; }")


@contextlib.contextmanager
def disks(session, net):
    """NVMe's, NFS's file and iSER's, as node 1 names them, and NVMe's as node
    2 does."""
    with contextlib.ExitStack() as held:
        # Both targets take null_blk's for their own: NVMe has a file.
        disk, where = held.enter_context(served(session, "via", net, "a file"))
        by_nvme = held.enter_context(connected(session, where))
        held.enter_context(rdma_nfs.exported(session, "via", net))
        held.enter_context(rdma_nfs.mounted(session, "via", net))
        held.enter_context(rdma_iser.served(session, "via", 0, net))
        held.enter_context(rdma_iser.initiator(session))
        by_iser = held.enter_context(
            rdma_iser.logged_in(session, "via", net))
        yield (by_nvme, NFS_FILE, by_iser), disk


def troubles(two, net, disk):
    """What happens to the server, in turn: each is over when it returns."""
    def link():
        two.sh(f"ip link set eth{net} down")
        two.run("sleep 1")
        two.sh(f"ip link set eth{net} up")

    def by_iser():
        two.sh(f"echo 0 >$(echo {LIO}); sleep 1; echo 1 >$(echo {LIO})", 60)

    while True:
        yield from (link, lambda: nfs.restart(two, True),
                    lambda: serve_again(two, net, disk), by_iser)


def rounds(running):
    return [job.out.count("round") for job in running]


def goes_on(session, running, last):
    """Wait until each has done one more than these, begun and ended."""
    def more():
        return any(job.done for job in running) or all(
            now >= was + 2 for now, was in zip(rounds(running), last))

    session.lab.nodes[0].link.wait_for(more, ROUND * session.slow)
    for job in running:
        if job.done:
            raise StepFailed(f"{job.command}: {job.all.strip()[-400:]}")
    if not more():
        raise StepFailed(f"rounds of each: {last} before, {rounds(running)} "
                         "now")


def mixed(session, net, seconds, loss):
    """No request fails, and no byte is wrong; each goes on after each
    trouble."""
    needed("nvme", "fio")
    one, two = session.lab.nodes
    with device(session, "via", net, pooled=True):
        with disks(session, net) as (names, disk), \
                session.bad_wire(net, loss=loss, seed=5) as wire, \
                jobs(session, *(one.spawn(load(*numbered))
                                for numbered in enumerate(names))) as running:
            end, count = time.monotonic() + seconds, 0
            for trouble in troubles(two, net, disk):
                last = rounds(running)
                trouble()
                count += 1
                goes_on(session, running, last)
                if time.monotonic() > end and count >= 4:
                    break
            one.sh("touch /tmp/enough")
            one.link.wait_for(lambda: all(job.done for job in running),
                              ROUND * session.slow)
            failed = [job for job in running if job.rc != 0]
            lost = wire.stats()["lost"]
        one.sh("modprobe -r nvme_rdma")
        rdma_nfs.no_modules(one)
    if failed or not lost:
        raise StepFailed(f"{[job.all[-200:] for job in failed]}, {lost} "
                         "frames lost")
    done = {"troubles": count, f"rounds of {SIZE} MiB": sum(rounds(running)),
            "frames lost": lost}
    session.check.note(", ".join(f"{n} {what}" for what, n in done.items()))
    return done
