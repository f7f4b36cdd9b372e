# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Debian's NFS server and client, version 4.2, on a verbs device; beside it
the same over TCP."""

import contextlib

from common import jobs, serving
from labkit import nfs
from labkit.nfs import EXPORT, HERE
from rdma import LIMIT, carried, device, needed
from rdma_files import COPY, made, tree_sum
from rdma_harm import until_enough, writes_more
from runner import StepFailed

MEBIBYTES = 8  # of fio's file
LARGE = "--bssplit=4k/50:16k/20:128k/20:1m/10"


@contextlib.contextmanager
def exported(session, kind, net):
    """A folder in the memory of node 2, for others."""
    two = session.lab.nodes[1]
    nfs.prepare(two, f"10.{net}.0.0/24")
    try:
        with contextlib.ExitStack() as daemons:
            for daemon in nfs.DAEMONS:
                daemons.enter_context(serving(session, daemon, ends=True))
            with nfs.served(two, kind != "tcp"):
                yield
    finally:
        nfs.end(two)
    # Nothing holds them any more.
    two.sh("! grep -E '^(nfsd|rpcrdma) ' /proc/modules")


@contextlib.contextmanager
def mounted(session, kind, net):
    """It is node 1's folder meanwhile."""
    one = session.lab.nodes[0]
    nfs.client(one)
    session.run(one, nfs.mount(f"10.{net}.0.2", kind != "tcp"),
                LIMIT * session.slow)
    try:
        yield
    finally:
        session.run(one, f"umount {HERE}", LIMIT * session.slow, status=None)
    session.wait_until(one, f"! grep -w {HERE} /proc/mounts",
                       "the folder outlives its end")


def fio(mebibytes=MEBIBYTES):
    return (f"fio --name=verify --filename={HERE}/fio --size={mebibytes}M "
            f"--rw=randwrite {LARGE} --ioengine=libaio --iodepth=16 "
            "--direct=1 --verify=crc32c --verify_fatal=1 --do_verify=1")


def no_modules(node):
    """The client's go."""
    node.sh("modprobe -r nfsv4 nfs rpcrdma", 60)


def tree(session, net, kind, files):
    """A tree is copied there, by eight programs, and read again by a new
    mount: names, modes and contents are the same at both ends; then fio, with
    large requests."""
    needed("fio")
    one, two = session.lab.nodes
    limit = (LIMIT + files // 20) * session.slow
    size, wanted = made(session, files)
    mebibytes = min(MEBIBYTES, 2 + files // 100)
    with device(session, kind, net, pooled=True):
        with carried(session, kind, net, 2 * (size + (mebibytes << 20))), \
                exported(session, kind, net):
            with mounted(session, kind, net):
                session.run(one, f"mkdir {HERE}/tree; ls {COPY} | xargs -P 8 "
                            f"-I% cp -a {COPY}/% {HERE}/tree", limit)
            with mounted(session, kind, net):
                read = tree_sum(session, one, f"{HERE}/tree", files)
                session.run(one, fio(mebibytes), 2 * LIMIT * session.slow)
            kept = tree_sum(session, two, f"{EXPORT}/tree", files)
        no_modules(one)
    one.sh(f"rm -r {COPY}")
    if kept != wanted:
        raise StepFailed("the server has another tree")
    if read != wanted:
        raise StepFailed("the client reads another tree than the server has")
    session.check.note(f"{files} files, {size} bytes")


def restarted(session, net, kind, times):
    """The server ends while fio writes and verifies, and starts again: so
    many times, and no request fails."""
    needed("fio")
    one, two = session.lab.nodes
    with device(session, kind, net, pooled=True):
        with carried(session, kind, net, 2 * MEBIBYTES << 20), \
                exported(session, kind, net), mounted(session, kind, net):
            with jobs(session, one.spawn(until_enough(fio()))) as (job,):
                frames = writes_more(session, one, net, job, 0)
                for _ in range(times):
                    nfs.restart(two, kind != "tcp")
                    frames = writes_more(session, one, net, job,
                                         frames + 2000)
                one.sh("touch /tmp/enough")
                job.link.wait_for(lambda: job.done, 3 * LIMIT * session.slow)
                if not job.done or job.rc:
                    raise StepFailed(f"fio: {job.all.strip()[-200:]}")
        no_modules(one)
