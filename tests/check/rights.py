# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Who may have how much, and who may talk to whom."""

import os

import steps
from labkit.base import ROOT
from runner import StepFailed

PARAMETERS = "/sys/module/via_ka/parameters"
GREEDY = os.path.join(ROOT, "tests/check/greedy.py")


def quotas(session, device="via_lo"):
    """A user that wants everything gets its share, again and again; root is
    not asked; nothing stays charged."""
    node = session.lab.nodes[0]
    limits = {"max_user_handles": 5, "max_user_vi": 7, "max_user_pages": 9}
    old = {name: node.sh(f"cat {PARAMETERS}/{name}").out.strip()
           for name in limits}
    node.sh(f"chmod 666 /dev/{device}")
    try:
        for name, value in limits.items():
            node.sh(f"echo {value} >{PARAMETERS}/{name}")
        words = f"{GREEDY} /dev/{device}"
        shares = " ".join(map(str, limits.values()))
        for _ in range(2):
            session.run(node, "setpriv --reuid 4711 --regid 4711 "
                        f"--clear-groups python3 {words} {shares}")
        session.run(node, f"python3 {words} 20 20 20")
    finally:
        node.sh(f"chmod 660 /dev/{device}; " + "; ".join(
            f"echo {value} >{PARAMETERS}/{name}"
            for name, value in old.items()))


def strangers(session, net):
    """Who is not on the list of peers is not heard, and not spoken to."""
    one, two = session.lab.nodes
    device = f"via_eth{net}"
    peers = f"/sys/class/via/{device}/peers"
    ours = one.sh(f"cat /sys/class/net/eth{net}/address").out.strip()
    test = f"{steps.CONFORM} -d {device} -g connect.accepted {steps.peer(net)}"
    for wrong in ("52:54:00:00:00", "01:00:5e:00:00:01", f"{ours}x",
                  f"{ours},{ours}"):
        if two.run(f"echo '{wrong}' >{peers}").rc == 0:
            raise StepFailed(f"'{wrong}' was taken for an address")
    server = two.spawn(f"{steps.TOOLS}/vipl_bw -d {device}", 200)
    client = one.spawn(f"{steps.TOOLS}/vipl_bw -d {device} -D 60 -e "
                       f"{steps.peer(net)}", 200)
    try:
        steps.flowing(session, net, client)
        two.sh(f"echo 52:54:00:00:00:99 >{peers}")
        # What was under way ends at once, on both sides.
        for job in (client, server):
            if not job.wait(20).rc:
                raise StepFailed(f"{job.link.name}: a stranger was served")
        before = steps.counters(session, two, net)["drop_peer"]
        with steps.Server(session, f"{steps.CONFORM} -d {device} --server"):
            if one.run(f"timeout 10 {test}").rc == 0:
                raise StepFailed("a stranger was let in")
            if steps.counters(session, two, net)["drop_peer"] <= before:
                raise StepFailed("drop_peer counts nothing")
            two.sh(f"echo '{ours} 52:54:00:00:00:99' >{peers}")
            if two.sh(f"cat {peers}").out.split()[0] != ours:
                raise StepFailed("the list is not what was written")
            session.run(one, test, 60)
    finally:
        two.sh(f"echo >{peers}")
        for job in (client, server):
            job.kill()
            session.write_job(job)
    steps.conform_wire(session, net, "connect.accepted")
