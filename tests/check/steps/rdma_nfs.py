# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Debian's NFS server and client, version 4.2, on a verbs device; beside it
the same over TCP."""

import contextlib
import os

from common import GUEST, jobs, serving
from labkit import unpacked
from rdma import LIMIT, carried, device, needed
from rdma_harm import writes_more
from runner import StepFailed

TREE = f"python3 {os.path.join(GUEST, 'tree.py')}"
EXPORT, HERE, COPY = "/srv/nfs", "/mnt/nfs", "/dev/shm/tree"
NFSD = "/proc/fs/nfsd"
# Seconds in which clients may take their state back after a restart: the
# least that nfsd allows.  Usual are 90.
GRACE = 10
OPTIONS = {"via": "proto=rdma,port=20049", "rxe": "proto=rdma,port=20049",
           "tcp": "proto=tcp"}
MEBIBYTES = 8  # of fio's file
LARGE = "--bssplit=4k/50:16k/20:128k/20:1m/10"


def start(node, kind):
    """nfsd, which listens to TCP and, where wanted, to RDMA."""
    node.sh("rpc.nfsd -N 3 4", 60)
    if kind != "tcp":
        node.sh(f"echo rdma 20049 >{NFSD}/portlist")


@contextlib.contextmanager
def exported(session, kind, net):
    """A folder in the memory of node 2, for others."""
    two = session.lab.nodes[1]
    unpacked.install(two, "nfs")
    two.sh("modprobe -a nfsd rpcrdma; "
           f"mkdir -p {EXPORT} /run/rpc_pipefs /var/lib/nfs/nfsdcld; "
           f"mount -t tmpfs -o size=60% tmpfs {EXPORT}; "
           f"mount -t nfsd nfsd {NFSD}; "
           "mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs", 120)
    # Requests of 1 MiB, which little memory would have it not take.
    two.sh(f"cp /usr/share/nfs-common/conffiles/nfs.conf /etc; cd {NFSD}; "
           f"echo {GRACE} >nfsv4leasetime; echo {GRACE} >nfsv4gracetime; "
           "echo 1048576 >max_block_size")
    two.sh(f"echo '{EXPORT} 10.{net}.0.0/24(rw,fsid=0,no_root_squash,insecure,"
           "no_subtree_check)' >/etc/exports; touch /var/lib/nfs/etab "
           "/var/lib/nfs/rmtab; exportfs -ra")
    try:
        with serving(session, "rpc.mountd -F -N 2 -N 3", ends=True), \
                serving(session, "nfsdcld -F", ends=True):
            session.wait_until(two, "test -e /var/lib/nfs/nfsdcld/main.sqlite",
                               "nfsdcld keeps no list of clients")
            start(two, kind)
            # No client had anything of it before.
            two.sh(f"grep Y {NFSD}/v4_end_grace || "
                   f"echo Y >{NFSD}/v4_end_grace")
            try:
                yield
            finally:
                two.run("rpc.nfsd 0; exportfs -ua", 60)
    finally:
        two.run(f"umount {EXPORT} {NFSD} /run/rpc_pipefs; "
                "rm -rf /var/lib/nfs/nfsdcld; modprobe -r nfsd rpcrdma", 60)
    # Nothing holds them any more.
    two.sh("! grep -E '^(nfsd|rpcrdma) ' /proc/modules")


@contextlib.contextmanager
def mounted(session, kind, net):
    """It is node 1's folder meanwhile."""
    one = session.lab.nodes[0]
    unpacked.install(one, "nfs")
    one.sh(f"mkdir -p {HERE}; modprobe -a nfs nfsv4 rpcrdma", 120)
    session.run(one, f"mount -t nfs -o vers=4.2,{OPTIONS[kind]} "
                f"10.{net}.0.2:/ {HERE}", LIMIT * session.slow)
    try:
        yield
    finally:
        session.run(one, f"umount {HERE}", LIMIT * session.slow, status=None)
    session.wait_until(one, f"! grep -w {HERE} /proc/mounts",
                       "the folder outlives its end")


def fio(*more):
    return " ".join((
        f"fio --name=verify --filename={HERE}/fio --size={MEBIBYTES}M "
        f"--rw=randwrite {LARGE} --ioengine=libaio --iodepth=16 --direct=1 "
        "--verify=crc32c --verify_fatal=1 --do_verify=1", *more))


def no_modules(node):
    """The client's go."""
    node.sh("modprobe -r nfsv4 nfs rpcrdma", 60)


def tree_sum(session, node, folder, files):
    return session.run(node, f"{TREE} sum {folder}",
                       (LIMIT + files // 20) * session.slow).out.strip()


def made(session, files):
    """A tree in the memory of node 1: its bytes and its checksum."""
    one = session.lab.nodes[0]
    size = int(session.run(one, f"rm -rf {COPY}; mkdir {COPY}; "
                           f"{TREE} make {COPY} {files} 7",
                           (LIMIT + files // 20) * session.slow).out)
    return size, tree_sum(session, one, COPY, files)


def tree(session, net, kind, files):
    """A tree is copied there, by eight programs, and read again by a new
    mount: names, modes and contents are the same at both ends; then fio, with
    large requests."""
    needed("fio")
    one, two = session.lab.nodes
    limit = (LIMIT + files // 20) * session.slow
    size, wanted = made(session, files)
    with device(session, kind, net, pooled=True):
        with carried(session, kind, net, 2 * (size + (MEBIBYTES << 20))), \
                exported(session, kind, net):
            with mounted(session, kind, net):
                session.run(one, f"mkdir {HERE}/tree; ls {COPY} | xargs -P 8 "
                            f"-I% cp -a {COPY}/% {HERE}/tree", limit)
            with mounted(session, kind, net):
                read = tree_sum(session, one, f"{HERE}/tree", files)
                session.run(one, fio(), 2 * LIMIT * session.slow)
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
    load = f"rm -f /tmp/enough; until test -e /tmp/enough; do {fio()} || " \
        "exit; done"
    with device(session, kind, net, pooled=True):
        with carried(session, kind, net, 2 * MEBIBYTES << 20), \
                exported(session, kind, net), mounted(session, kind, net):
            with jobs(session, one.spawn(load)) as (job,):
                frames = writes_more(session, one, net, job, 0)
                for _ in range(times):
                    two.sh("rpc.nfsd 0", 60)
                    one.run("sleep 1")
                    start(two, kind)
                    frames = writes_more(session, one, net, job,
                                         frames + 2000)
                one.sh("touch /tmp/enough")
                job.link.wait_for(lambda: job.done, 3 * LIMIT * session.slow)
                if not job.done or job.rc:
                    raise StepFailed(f"fio: {job.all.strip()[-200:]}")
        no_modules(one)
