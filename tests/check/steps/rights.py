# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Quotas of users, and the list of peers of a NIC."""

import contextlib

from again import again
from balance import balanced
from common import CONFORM, GUEST, TOOLS, counters, mac, peer, serving
from conform import conform_wire
from labkit.base import VIA
from runner import StepFailed
from transfer import flow

GREEDY = f"{GUEST}/greedy.py"


RING_PAGES = 65536 * 8 // 4096 + 1  # of a queue as greedy.py makes it
# Of each quota what is allowed, and the words for greedy.py.
QUOTAS = {
    "handles": (5, "handles=5"),
    "vi": (12, "vis=12"),
    "vi_pages": (11, "grown=5"),
    "pages": (9, "pages=9"),
    "cq_pages": (4 * RING_PAGES + 60, "rings=4"),
    "waiters": (6, "waiters=6 requests=6"),
    "queries": (2, "queries=2"),
}
# By subordinate users together; those that ask for names take turns.
SHARED = "handles=5 vis=12 grown=5 pages=9 rings=4 waiters=6"


@contextlib.contextmanager
def limited(session, devices, limits):
    """Anybody may open the nodes; these quotas hold meanwhile."""
    node = session.lab.nodes[0]
    old = {name: node.sh(f"{VIA} limit show {name}").out.split()[1]
           for name in limits}
    nodes = " ".join(f"/dev/{device}" for device in devices)
    node.sh(f"chmod 666 {nodes}")
    try:
        for name, value in limits.items():
            node.sh(f"{VIA} limit set {name} {value}")
        yield
    finally:
        node.sh(f"chmod 660 {nodes}; " + "; ".join(
            f"{VIA} limit set {name} {value}" for name, value in old.items()))


def quotas(session, device="via_lo", wire="via_eth0"):
    """A user that wants everything gets its share, again and again; root is
    not asked; nothing stays charged.  Questions for names take time on a wire
    only."""
    node = session.lab.nodes[0]
    words = [word for _, word in QUOTAS.values()]
    calls = (f"/dev/{device} {' '.join(words[:-1])}",
             f"/dev/{wire} {words[-1]}")
    with limited(session, (device, wire),
                 {name: value for name, (value, _) in QUOTAS.items()}):
        # Its text by stdin: the user may not be able to read our folder.
        for _ in range(2):
            for call in calls:
                session.run(node, "setpriv --reuid 4711 --regid 4711 "
                            f"--clear-groups python3 - {call} <{GREEDY}")
        for call in calls:
            session.run(node, f"python3 {GREEDY} {call}")
    balanced(session, [node])


def subordinates(session, device="via_lo"):
    """Users of a namespace share what the namespace's owner may have."""
    node = session.lab.nodes[0]
    with limited(session, (device,),
                 {name: value for name, (value, _) in QUOTAS.items()}):
        for _ in range(2):
            session.run(node, f"python3 {GREEDY} /dev/{device} --together "
                        f"{SHARED}")
    balanced(session, [node])


def listed(node, net):
    """The list of hosts of a NIC, as the tool shows it."""
    return node.sh(f"{VIA} peer show eth{net}").out.split()


def strangers(session, net, groups):
    """Who is not on the list of peers is not heard, and not spoken to."""
    lab, (one, two) = session.lab, session.lab.nodes
    device = f"via_eth{net}"
    ours = one.sh(f"cat /sys/class/net/eth{net}/address").out.strip()
    test = f"{CONFORM} -d {device} -g connect.accepted {peer(net)}"
    other, key = "52:54:00:00:00:99", "9d3ac1760e5bf248" * 4
    try:
        with flow(session, net, "-D 60 -e") as pair:
            lab.peers(two, f"eth{net}", {other: None})
            # What was under way ends at once, on both sides.
            for job in pair:
                if not job.wait(20).rc:
                    raise StepFailed(f"{job.link.name}: a stranger was served")
        before = counters(session, two, net)["drop_peer"]
        with serving(session, f"{CONFORM} -d {device} --server"):
            def refused():
                if one.run(f"timeout 3 {test}").rc == 0:
                    raise StepFailed("a stranger was let in")
                if counters(session, two, net)["drop_peer"] <= before:
                    return "drop_peer counts nothing"

            # It may take three seconds to say its first word.
            again(session, refused)
            two.sh(f"{VIA} peer allow eth{net} {ours}")
            if listed(two, net) != [device, other, device, ours]:
                raise StepFailed("the list is not what was made of it")
            lab.peers(two, f"eth{net}", {ours: key})
            if listed(two, net) != [device, ours, "key", "set"]:
                raise StepFailed("a key is not set, or it is shown")
            if one.run(f"timeout 3 {test}").rc == 0:
                raise StepFailed("a host without the key was let in")
            lab.peers(one, f"eth{net}", {peer(net): key})
            session.run(one, test, 60)
        keyed(session, net, groups)
    finally:
        for node in (one, two):
            lab.peers(node, f"eth{net}", None)
    conform_wire(session, net, "connect.accepted")


# Of connect* and p2p* "hosts with a key" has its own.
KEYED = "accept*,send*,rdma*,read*"


def keyed(session, net, groups):
    """Hosts with one key connect, and all frames between the two have a tag.
    With two keys, or one on one side, they do not; a change ends at once what
    stands, at both ends."""
    nodes, device = session.lab.nodes, f"via_eth{net}"
    test = f"{CONFORM} -d {device} -g connect.accepted {peer(net)}"
    ping = f"{TOOLS}/viaping -c 3 -i 0.1 -d {device} {peer(net)}"

    def keys(*digits):
        for i, digit in enumerate(digits):
            session.lab.peers(nodes[i], f"eth{net}",
                              {mac(net, 1 - i): digit * 64 or None})

    for digits in ("1", ""), ("", "1"), ("1", "2"):
        keys(*digits)
        before = counters(session, nodes[1], net)
        with serving(session, f"{CONFORM} -d {device} --server"):
            if nodes[0].run(f"timeout 3 {test}").rc == 0:
                raise StepFailed(f"keys '{digits[0]}' and '{digits[1]}' "
                                 "connect")
        after = counters(session, nodes[1], net)
        if after["requests_unproven"] == before["requests_unproven"]:
            raise StepFailed("a request gets no CHALLENGE")
        if digits == ("1", "2") and \
                after["drop_auth"] == before["drop_auth"]:
            raise StepFailed("drop_auth counts no wrong tag")
    keys("3", "3")
    conform_wire(session, net, groups)
    with serving(session, f"{TOOLS}/viaping -l -d {device}"):
        session.run(nodes[0], ping, 30)
    after = [counters(session, node, net) for node in nodes]
    if not all(n["sessions"] for n in after):
        raise StepFailed("no session has begun")
    for digits, ends in (("3", "3"), False), (("3", "4"), True):
        keys("3", "3")
        # A change must come before the end, on a busy host, too.
        with flow(session, net, f"-D {60 if ends else 3} -e") as pair:
            keys(*digits)
            for job in pair:
                if bool(job.wait(60).rc) != ends:
                    raise StepFailed(f"{job.link.name}: keys {digits}: "
                                     f"status {job.rc}")
