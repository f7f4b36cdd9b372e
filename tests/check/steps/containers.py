# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""docs/howto/containers.md: its commands as they stand there, and what it says of
them."""

import contextlib
import os
import re

from balance import balanced
from common import GUEST, TOOLS, mac, peer, serving
from configure import expect
from labkit.base import ROOT, VIA
from runner import Skipped, StepFailed

PAGE = os.path.join(ROOT, "docs/howto/containers.md")
GREEDY = f"{GUEST}/greedy.py"
RINGS_KB = 180  # of a VI with its longest rings, at least
VIS = 64


def commands(title):
    """The blocks of commands in a section of the page."""
    with open(PAGE) as file:
        sections = re.split(r"^## (.*)\n", file.read(), flags=re.M)
    text = sections[sections.index(title) + 1]
    found = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    if not found:
        raise StepFailed(f"{PAGE}: no commands in '{title}'")
    return found


def run(session, node, text, seconds=60):
    """A block, as a script."""
    node.sh(f"cat >/tmp/block <<'EOBLOCK'\n{text}EOBLOCK\n")
    return session.run(node, "sh -e /tmp/block", seconds * session.slow)


@contextlib.contextmanager
def boxed(session):
    """A network namespace "box" with a VI NIC, and a server for it."""
    node, two = session.lab.nodes
    # As if it were installed, also for what has another root.
    node.sh("modprobe macvlan; mkdir -p /run/netns; "
            f"cp {VIA} {TOOLS}/viaping /usr/local/bin/")
    try:
        for block in commands("A VI NIC of its own"):
            run(session, node, block)
        with serving(session, f"{TOOLS}/viaping -l -d via_eth0",
                     ready="answering"):
            yield node
    finally:
        node.run("ip netns del box; rmdir /sys/fs/cgroup/box; "
                 "rm -rf /run/box /usr/local/bin/via /usr/local/bin/viaping")
    if not node.link.wait_for(
            lambda: node.run("test -e /dev/via_mv0").rc != 0, 30):
        raise StepFailed("the VI NIC outlives its namespace")


def in_box(command, program="/run/box/start"):
    return "sh -c 'echo $$ >/sys/fs/cgroup/box/cgroup.procs; exec ip netns " \
        "exec box unshare --mount --pid --ipc --uts --fork --mount-proc " \
        f"{program} {command}'"


def by_hand(session):
    with boxed(session) as node:
        setup, ping = commands("By hand")
        run(session, node, setup)
        said = run(session, node, ping).out
        if "3 received" not in said:
            raise StepFailed(f"no answers: {said}")
        # What the page says of it.
        expect(node, in_box("ls /dev"), 0, "via_mv0")
        for device, says in (("via_eth0", "no interface eth0"),
                             ("via_lo", "missing")):
            expect(node, in_box(f"{TOOLS}/viaping -c 1 -d {device} {peer(0)}"),
                   1, says)
        expect(node, f"ip netns exec box {TOOLS}/viaping -c 1 -d via_eth0 "
               f"{peer(0)}", 1, "another network namespace")
        expect(node, f"{TOOLS}/viaping -c 1 -d via_mv0 {peer(0)}", 1,
               "another network namespace")
        expect(node, f"{VIA} -n box dev", 0, "via_mv0")
        expect(node, in_box("ls /sys/class/via"), 0, "via_eth0")
        limits(node)
        with serving(session, f"ip netns exec box {TOOLS}/viaping -l -d "
                     "via_mv0", node=0, ready="answering"):
            address = node.sh("ip -n box link show mv0").out.split(
                "link/ether ")[1].split()[0]
            if address == mac(0, 0):
                raise StepFailed("the container has the host's address")
            expect(session.lab.nodes[1], f"{TOOLS}/viaping -c 1 -d via_eth0 "
                   f"{address}", 0, "1 received")
            # The host's own NIC reaches it as well: mode bridge.
        end, = commands("Removing the container")
        run(session, node, end)
    balanced(session, [node])


def limits(node):
    """Of memory that is pinned, of a user, of the control group."""
    expect(node, in_box(f"sh -c \"ulimit -l 0; {TOOLS}/viaping -l -d "
                        "via_mv0\""), 1, "ulimit")
    peak = "/sys/fs/cgroup/box/memory.peak"
    old = node.sh(f"{VIA} limit show vi").out.split()[1]
    expect(node, f"{VIA} limit set vi {VIS}")
    try:
        expect(node, in_box(f"python3 {GREEDY} /dev/via_mv0 whole={VIS}"))
    finally:
        expect(node, f"{VIA} limit set vi {old}")
    if node.run(f"test -e {peak}").rc:
        return
    charged = int(node.sh(f"cat {peak}").out)
    if not VIS * RINGS_KB << 10 < charged < 64 << 20:
        raise StepFailed(f"{VIS} VIs, and {charged} bytes are charged")


# What the loader and libc open: of any program.
OTHERS = re.compile(r"/(lib|usr/lib|proc)/|/dev/(null|urandom)$|/etc/"
                    r"(ld\.so\.|nsswitch|resolv|host\.conf|hosts$|services|"
                    r"gai\.conf|localtime|passwd|group)|/run/|/var/run/")


def paths(session):
    """What a program opens is in the table of the page."""
    node = session.lab.nodes[0]
    if node.run("command -v strace").rc:
        raise Skipped("strace is missing: tools/lab/setup.sh container")
    with open(PAGE) as file:
        table = re.search(r"^```text\n(/dev/.*?)^```$", file.read(),
                          re.M | re.S).group(1)
    rules = [re.escape(line.split()[0].rstrip("/")).replace(r"\*\*", ".*")
             .replace(r"\*", "[^/]*") for line in table.splitlines()]
    used, bad = set(), set()
    with serving(session, f"{TOOLS}/viaping -l -d via_eth0",
                 ready="answering"):
        for device, status in (("via_eth0", 0), ("VINIC", 0), ("via_x", 1)):
            text = node.run(
                "strace -f -qq -e trace=%file -o /tmp/opened "
                f"{TOOLS}/viaping -c 1 -d {device} node2; echo status $?; "
                "cat /tmp/opened", 120 * session.slow).out
            if f"status {status}" not in text:
                raise StepFailed(f"viaping -d {device}: {text[:300]}")
            for path in re.findall(r'\d+ +(?!exec|read)\w+\([^"]*"(/[^"]*)"',
                                   text):
                rule = next((r for r in rules if re.fullmatch(r + "/?", path)),
                            None)
                used.add(rule)
                if not rule and not OTHERS.match(path) and \
                        not path.startswith(ROOT):
                    bad.add(path)
    if bad:
        raise StepFailed(f"not in the table: {' '.join(sorted(bad))}")
    if len(used - {None}) < 5:
        raise StepFailed(f"only {used} is used: nothing was seen")


def podman(session):
    node = session.lab.nodes[0]
    if node.run("command -v podman crun").rc:
        raise Skipped("podman is missing: tools/lab/setup.sh container")
    with boxed(session) as node:
        block, = commands("podman")
        said = run(session, node, block, 120).out
        if "3 received" not in said:
            raise StepFailed(f"no answers: {said}")
    balanced(session, [node])
