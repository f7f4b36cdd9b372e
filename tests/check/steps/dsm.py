# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Memory that the processes of two machines share."""

import contextlib
import os

from common import TOOLS, serving
from fabric import shells
from labkit import ssh
from labkit.base import BUILD, ROOT
from runner import StepFailed

RSH = os.path.join(ROOT, "tests/dsm/rsh")
TOLD = os.path.join(ROOT, "tests/dsm/told")
RULES = ("counter", "writers", "threads", "touch")
# A program of another size than by default, and what it is given.
PROGRAMS = ("sor 128 3", "lu 128", "tasks 64", "molecules 128 2")


def nodes(session, net, words, status=0, more=""):
    """What a node on each machine prints; each ends with this status."""
    hosts = f"10.{net}.0.1,10.{net}.0.2"
    command = (f"{TOOLS}/viadsm -n 2 -m 4 -d via_eth{net} -H {hosts} -a {RSH} "
               f"{more} {TOLD} {BUILD}/dsm/{words}")
    said = session.run(session.lab.nodes[0], command, 60 * session.slow).all
    if said.splitlines().count(f"status {status}") < (1 if status else 2):
        raise StepFailed(f"{words}: not all nodes ended with status {status}: "
                         f"{said.strip().splitlines()[-1:]}")
    return said


def shared(session, net):
    """Rules and programs, then again on a wire that loses."""
    with shells(session):
        for words in (*(f"dsmnodes {w}" for w in RULES), *PROGRAMS):
            nodes(session, net, words)
        nodes(session, net, "dsmnodes writers", more="--fetch ask")
        nodes(session, net, "dsmnodes counter", more="--faults mprotect")
        with session.bad_wire(net, loss=0.01):
            nodes(session, net, "dsmnodes writers")


def by_ssh(session, net):
    """viadsm starts nodes as it does without options, and ends them."""
    ssh.install(session.lab.nodes)
    command = (f"{TOOLS}/viadsm -n 2 -m 4 -d via_eth{net} "
               f"-H 10.{net}.0.1,10.{net}.0.2 ")
    one, two = session.lab.nodes
    with contextlib.ExitStack() as stack:
        for node in 0, 1:
            stack.enter_context(serving(session, ssh.DAEMON, node, ssh.READY))
        session.run(one, f"{command} {BUILD}/dsm/dsmnodes counter",
                    60 * session.slow)
        words = session.run(one, f"{command} printf '<%s>' 'a  b' '$HOME' \\;",
                            60 * session.slow).out
        if words.count("<a  b><$HOME><;>") != 2:
            raise StepFailed(f"words do not arrive as they are: {words}")
        # The status is that of the node whose end is seen first.
        said = session.run(one, f"! {command} {BUILD}/dsm/dsmnodes dies",
                           60 * session.slow).all
        for text in "node 1 is gone", "node 1 ended by signal 9":
            if text not in said:
                raise StepFailed(f"viadsm does not say: {text}")
        session.run(one, f"timeout -s INT 3 {command} sleep 600",
                    60 * session.slow, 124)
        for node in one, two:
            session.run(node, "sleep 1; ! pgrep -x sleep", 30)


def ended(session, net):
    """A node that dies ends the other one; memory that cannot be locked."""
    with shells(session):
        if "node 1 is gone: " not in nodes(session, net, "dsmnodes dies", 2):
            raise StepFailed("the other node does not say who is gone")
    limited(session)


def limited(session):
    """Two nodes of one machine that may lock 4 MiB: what 16 MiB need."""
    def lock(kib, more, status):
        return session.run(
            session.lab.nodes[0],
            f"sh -c 'ulimit -l {kib}; exec setpriv --bounding-set -all "
            f"{TOOLS}/viadsm -m 16 -d via_lo {more} {BUILD}/dsm/sor 64 1'",
            60 * session.slow, status).all

    if "are more than this process may lock: 4096 KiB" not in lock(4096, "", 2):
        raise StepFailed("the limit of locked memory is not told")
    lock(4096, "--fetch ask", 0)
    said = lock(64, "--fetch ask", 2)
    if "are more than this process may lock: 64 KiB" not in said:
        raise StepFailed("the limit of messages' memory is not told")
