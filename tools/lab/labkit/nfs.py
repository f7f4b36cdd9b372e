# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Debian's NFS server and client, version 4.2, in guests."""

import contextlib

from . import unpacked

EXPORT, HERE = "/srv/nfs", "/mnt/nfs"
NFSD = "/proc/fs/nfsd"
# Seconds in which clients may take their state back after a restart: the
# least that nfsd allows.  Usual are 90.
GRACE = 10
RDMA, TCP = "proto=rdma,port=20049", "proto=tcp"
# The server's programs beside the kernel's threads.
DAEMONS = ("rpc.mountd -F -N 2 -N 3", "nfsdcld -F")


def start(node, rdma):
    """nfsd, which listens to TCP and, where wanted, to RDMA."""
    node.sh("rpc.nfsd -N 3 4", 60)
    if rdma:
        node.sh(f"echo rdma 20049 >{NFSD}/portlist")


def restart(node, rdma):
    """Without it for a second."""
    node.sh("rpc.nfsd 0", 60)
    node.run("sleep 1")
    start(node, rdma)


def prepare(node, hosts):
    """A folder in the node's memory, for others."""
    unpacked.install(node, "nfs")
    node.sh("modprobe -a nfsd rpcrdma; "
            f"mkdir -p {EXPORT} /run/rpc_pipefs /var/lib/nfs/nfsdcld; "
            f"mount -t tmpfs -o size=60% tmpfs {EXPORT}; "
            f"mount -t nfsd nfsd {NFSD}; "
            "mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs", 120)
    # Requests of 1 MiB, which little memory would have it not take.
    node.sh(f"cp /usr/share/nfs-common/conffiles/nfs.conf /etc; cd {NFSD}; "
            f"echo {GRACE} >nfsv4leasetime; echo {GRACE} >nfsv4gracetime; "
            "echo 1048576 >max_block_size")
    node.sh(f"echo '{EXPORT} {hosts}(rw,fsid=0,no_root_squash,insecure,"
            "no_subtree_check)' >/etc/exports; touch /var/lib/nfs/etab "
            "/var/lib/nfs/rmtab; exportfs -ra")


def end(node):
    """Nothing of the server is left, its DAEMONS have ended."""
    node.run(f"umount {EXPORT} {NFSD} /run/rpc_pipefs; "
             "rm -rf /var/lib/nfs/nfsdcld; modprobe -r nfsd rpcrdma", 60)


@contextlib.contextmanager
def served(node, rdma):
    """The prepared folder is exported meanwhile; DAEMONS run."""
    node.sh("until test -e /var/lib/nfs/nfsdcld/main.sqlite; do "
            "sleep 0.1; done", 60)
    start(node, rdma)
    # No client had anything of it before.
    node.sh(f"grep Y {NFSD}/v4_end_grace || echo Y >{NFSD}/v4_end_grace")
    try:
        yield
    finally:
        node.run("rpc.nfsd 0; exportfs -ua", 60)


def client(node):
    unpacked.install(node, "nfs")
    node.sh(f"mkdir -p {HERE}; modprobe -a nfs nfsv4 rpcrdma", 120)


def mount(address, rdma):
    """The command."""
    return (f"mount -t nfs -o vers=4.2,{RDMA if rdma else TCP} {address}:/ "
            f"{HERE}")
