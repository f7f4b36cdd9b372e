# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Trees of files that go to the other node, by NFS or on a disk of it."""

import os

from common import GUEST
from rdma import LIMIT, carried, fio, needed, sum_of
from runner import StepFailed

TREE = f"python3 {os.path.join(GUEST, 'tree.py')}"
COPY, MOUNTED = "/dev/shm/tree", "/mnt/disk"


def mebibytes(files):
    """Of a disk that so many files are copied to, beside fio's."""
    return 32 + files // 30


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


def on_a_disk(session, kind, net, amount, disk, attached):
    """Node 2's disk, written and verified by node 1; then a file system: a
    tree is copied there, and read again after another login, `attached`; the
    bytes of both ends are the same."""
    needed("fio", "mkfs.ext4")
    one, two = session.lab.nodes
    size, wanted = made(session, amount)
    limit = (LIMIT + amount // 20) * session.slow
    with carried(session, kind, net, 2 * size):
        with attached() as here:
            session.run(one, fio(here, 32, "--do_verify=1",
                                 mebibytes=min(16, 4 + amount // 100)),
                        2 * LIMIT * session.slow)
            session.run(one, f"mkfs.ext4 -q {here} && mkdir -p {MOUNTED} && "
                        f"mount {here} {MOUNTED}", limit)
            session.run(one, f"cp -a {COPY} {MOUNTED}/tree && umount {MOUNTED}",
                        limit)
        with attached() as here:
            session.run(one, f"mount -r {here} {MOUNTED}", limit)
            found = tree_sum(session, one, f"{MOUNTED}/tree", amount)
            session.run(one, f"umount {MOUNTED} && fsck.ext4 -fn {here}", limit)
            ends = (sum_of(session, one, here), sum_of(session, two, disk))
    one.sh(f"rm -r {COPY}")
    if found != wanted:
        raise StepFailed("the tree has changed")
    if ends[0] != ends[1]:
        raise StepFailed("the disk has other bytes on the other node")
    session.check.note(f"{amount} files, {size} bytes")
