# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What steps of native drivers share."""

import contextlib
import functools
import re
import time

from common import GUEST, TOOLS, jobs, peer, serving

STREAM = f"{GUEST}/stream.py"


def whole(session, sender, receiver, address, mebibytes):
    """A file over TCP arrives as it was."""
    limit = 200 + mebibytes
    with jobs(session, receiver.spawn(f"{STREAM} serve 5001",
                                      limit)) as (job,):
        job.expect("listening")
        session.run(sender, f"{STREAM} send {address} 5001 {mebibytes}",
                    limit)


def run_pair(session, tool, options):
    """A tool's client on node 1, its server on node 2."""
    with serving(session, f"{TOOLS}/{tool} -d via_eth0", ends=True):
        return session.run(session.lab.nodes[0], f"{TOOLS}/{tool} -d "
                           f"via_eth0 {options} {peer(0)}", 120)


def interrupts(node):
    """Those of eth0 so far, on all CPUs."""
    line = re.search(r"^.*\beth0$", node.sh("cat /proc/interrupts").out, re.M)
    return sum(int(n) for n in line.group().split()[1:] if n.isdigit())


@contextlib.contextmanager
def flood(session):
    """IP frames to node 2 from when what this gives is called."""
    with jobs(session) as made:
        def start():
            made.append(session.lab.nodes[0].spawn(
                "busybox ping -A -q 10.0.0.2 >/dev/null", 300))
            time.sleep(0.5)

        yield start


def bound(function):
    """The same in a session of stock drivers: eth0 is our own driver's from
    then on."""
    @functools.wraps(function)
    def step(session, *arguments):
        if not session.driver:
            for node in session.lab.nodes:
                session.lab.detach(node, "eth0")
            session.bind(0)
            session.carrier()
        return function(session, *arguments)

    return step
