# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What documents may name though it is not in this tree, and why."""

# Commands of others: the Debian package that has each.  The package is one of
# tools/lab/packages, or of these, which every Debian 12 has or whose use the
# document explains.
COMMANDS = {
    "apt-get": "apt", "adduser": "adduser", "cd": "bash", "echo": "bash",
    "ulimit": "bash", "cp": "coreutils", "od": "coreutils",
    "sha256sum": "coreutils", "tr": "coreutils", "umask": "bash",
    "cc": "gcc", "ethtool": "ethtool", "ip": "iproute2",
    "dkms": "dkms", "dpkg": "dpkg", "dpkg-buildpackage": "dpkg-dev",
    "mokutil": "mokutil", "reuse": "reuse",
    "kexec": "kexec-tools", "insmod": "kmod", "modinfo": "kmod",
    "modprobe": "kmod", "netem": "iproute2", "ping": "iputils-ping",
    "pkg-config": "pkg-config", "systemctl": "systemd",
    "systemd-run": "systemd", "tcpdump": "tcpdump",
}
PACKAGES = {
    "apt": "Debian's own", "adduser": "Debian's own", "bash": "Debian's own",
    "coreutils": "Debian's own", "dpkg": "Debian's own",
    "mokutil": "named for machines with Secure Boot",
    "systemd": "Debian's own",
    "iputils-ping": "Debian's own",
    "build-essential": "installed by the line that names it",
    "kexec-tools": "named as something to try on a real machine",
    "tcpdump": "named as an example of a packet socket",
}
# Names as they stand in the text.
NAMES = {
    "init_on_alloc": "a word of the kernel's command line",
    "pcie_aspm=off": "a word of the kernel's command line",
    "pm_test": "a file of the kernel's, /sys/power/pm_test",
    "crc32c()": "the kernel's",
    "dma_need_sync()": "the kernel's",
    "dma_rmb()": "the kernel's",
    "noun.group": "stands for any group",
    "network-online.target": "systemd's",
    "-icount": "QEMU's",
    "-icount shift=0,sleep=off": "QEMU's",
    "ip-netns.8": "iproute2's man page",
    "getrlimit.2": "Linux's man page",
    "ethtool.8": "its own man page",
    "modprobe.8": "kmod's man page",
    "scp.1": "OpenSSH's man page",
    "W": "kbuild's, make W=1",
    "vipl/provider.h": "as providers include what is installed",
    "lib/vipl": "a folder of the system, below the prefix",
    "VIPL_HELLO_SPEED": "of the example, a provider called hello",
}
# Stand for something of the reader's.
PLACEHOLDERS = ("mychip",)
