# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What documents may name though it is not in this tree, and why."""

# Commands of others: the Debian package that has each.  The package is one of
# tools/lab/packages, or of these, which every Debian 12 has or whose use the
# document explains.
COMMANDS = {
    "apt-get": "apt", "adduser": "adduser", "cd": "bash", "echo": "bash",
    "busybox": "busybox-static",
    "ulimit": "bash", "cp": "coreutils", "od": "coreutils",
    "sha256sum": "coreutils", "tr": "coreutils", "umask": "bash",
    "cc": "gcc", "ethtool": "ethtool", "ip": "iproute2",
    "dkms": "dkms", "dpkg": "dpkg", "dpkg-buildpackage": "dpkg-dev",
    "dpkg-scanpackages": "dpkg-dev",
    "mokutil": "mokutil", "reuse": "reuse",
    "podman": "podman", "mkdir": "coreutils", "chmod": "coreutils",
    "cat": "coreutils", "rm": "coreutils", "rmdir": "coreutils",
    "sh": "dash", "unshare": "util-linux", "setpriv": "util-linux",
    "mount": "mount",
    "kexec": "kexec-tools", "insmod": "kmod", "modinfo": "kmod",
    "modprobe": "kmod", "mpirun": "openmpi-bin", "netem": "iproute2", "ping": "iputils-ping",
    "pkg-config": "pkg-config", "systemctl": "systemd",
    "systemd-run": "systemd", "tcpdump": "tcpdump", "tc": "iproute2",
    "nvme": "nvme-cli", "rdma": "iproute2", "wg": "wireguard-tools",
}
PACKAGES = {
    "apt": "Debian's own", "adduser": "Debian's own", "bash": "Debian's own",
    "coreutils": "Debian's own", "dpkg": "Debian's own",
    "dash": "Debian's own", "mount": "Debian's own",
    "util-linux": "Debian's own",
    "mokutil": "named for machines with Secure Boot",
    "systemd": "Debian's own",
    "iputils-ping": "Debian's own",
    "build-essential": "installed by the line that names it",
    "kexec-tools": "named as something to try on a real machine",
    "tcpdump": "named as an example of a packet socket",
}
# Names as they stand in the text.
NAMES = {
    "pingpong.c": "written by the reader of docs/learn/tutorial.md",
    "twin.c": "written by the reader of docs/learn/tutorial.md",
    "init_on_alloc": "a word of the kernel's command line",
    "pcie_aspm=off": "a word of the kernel's command line",
    "pm_test": "a file of the kernel's, /sys/power/pm_test",
    "crc32c()": "the kernel's",
    "dma_need_sync()": "the kernel's",
    "dma_rmb()": "the kernel's",
    '_ws.expert.group == "Sequence"': "Wireshark's own field",
    "noun.group": "stands for any group",
    "libsiw": "a library of rdma-core's",
    "ibv_rc_pingpong": "a program of ibverbs-utils",
    "/dev/nvme0n1": "made by a line of the same block",
    "network-online.target": "systemd's",
    "-icount": "QEMU's",
    "/etc/dkms/framework.conf": "a file of package dkms",
    "/etc/wireguard/private.key": "made by a line of the same block",
    "/srv/mvia/mvia-1.0.0.dkms.tar.gz": "made by a line of the same block",
    "--mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2":
        "mpirun's",
    "--userns": "podman's", "--group-add": "podman's",
    "--device": "podman's", "--rootfs /:O": "podman's",
    "/sys/fs/cgroup/box/memory.max": "made by the lines before it",
    "-icount shift=0,sleep=off": "QEMU's",
    "ip-netns.8": "iproute2's man page",
    "rdma-link.8": "iproute2's man page",
    "rdma-statistic.8": "iproute2's man page",
    "rdma_cm.7": "librdmacm's man page",
    "ib_core": "a module of the kernel",
    "/sys/class/infiniband/NAME": "a folder of the kernel's RDMA core",
    "getrlimit.2": "Linux's man page",
    "siglongjmp.3": "Linux's man page",
    "longjmp.3": "Linux's man page",
    "ppoll.2": "Linux's man page",
    "ethtool.8": "its own man page",
    "modprobe.8": "kmod's man page",
    "scp.1": "OpenSSH's man page",
    "W": "kbuild's, make W=1",
    "vipl/provider.h": "as providers include what is installed",
    "lib/vipl": "a folder of the system, below the prefix",
    "share/mvia/bpf": "likewise",
    "VIPL_HELLO_SPEED": "of the example, a provider called hello",
}
# Stand for something of the reader's.
PLACEHOLDERS = ("mychip",)
