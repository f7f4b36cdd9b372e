# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Trains of frames (devices/ether/train.c) between interfaces of one machine:
whole where nothing but the two sees them, frames where something wants frames,
and every byte right."""

import os

from common import GUEST, STRESS, TOOLS, jobs, numbers, serving
from death import linked
from regress import pair
from runner import Skipped, StepFailed

WATCH = os.path.join(GUEST, "watch.py")
COUNTS = ("tx_frames", "tx_trains", "tx_zerocopy", "rx_trains", "answers",
          "retransmits", "retransmits_timed")


def counted(node):
    """Of the sender's frames; and of what came whole: to the receiver, and to
    the sender, which are answers to its reads."""
    here, there = (numbers(node.sh(f"{TOOLS}/viastat -d via_{dev}").out)
                   for dev in ("va", "vb"))
    here["answers"] = here["rx_trains"]
    here["rx_trains"] = there["rx_trains"]
    return [here[name] for name in COUNTS]


def stress(session, there, messages, options=""):
    """What these messages have made of COUNTS."""
    node = session.lab.nodes[0]
    was = counted(node)
    with serving(session, f"{STRESS} -d via_vb --server", node=0):
        session.run(node, f"{STRESS} -d via_va --messages {messages} "
                    f"{options} {there}", 300 * session.slow)
    did = dict(zip(COUNTS, (now - before for now, before
                            in zip(counted(node), was))))
    session.check.write(f"{options or 'sends and writes'}: {did}\n")
    return did


def need(holds, what, did):
    if not holds:
        raise StepFailed(f"{what}: {did}")


def whole(session, there, messages, what, options=""):
    """They leave as trains, and come so."""
    did = stress(session, there, messages, options)
    need(did["tx_trains"] and did["rx_trains"] == did["tx_trains"] and
         bool(did["answers"]) == ("--reads" in options), what, did)
    # From the program's pages, unless they are its own again too early.
    copied = did["tx_trains"] - did["tx_zerocopy"]
    need(not did["tx_zerocopy"] if "unreliable" in options else not copied,
         f"copies, {what}", did)


def frames(session, there, messages, what):
    """None leaves."""
    did = stress(session, there, messages)
    need(not did["tx_trains"], what, did)


def singles(session, messages, size=65536):
    """Packets that are no train, of so many messages.  How many trains there
    are depends on the window, and so on the host."""
    node = session.lab.nodes[0]

    def count():
        sent = node.sh("cat /sys/class/net/va/statistics/tx_packets").out
        return int(sent) - counted(node)[COUNTS.index("tx_trains")]

    was = count()
    session.run(node, f"{TOOLS}/vipl_bw --exact -t 1 -d via_va --peer-dev via_vb "
                f"-l rd -s {size} -n {messages}", 300 * session.slow)
    did = count() - was
    session.check.write(f"{messages} messages of {size} bytes: {did} single "
                        "frames\n")
    return did


def whole_messages(session, messages):
    """A train between the two may have what a message has, and IP's could not:
    unless an administrator has said less, and a frame is left of each.  One
    of 1 MiB is 719 frames, in trains wherever pages end."""
    node = session.lab.nodes[0]
    did = singles(session, messages // 10, 1 << 20)
    need(did < messages, "much of 1 MiB goes as single frames", did)
    did = singles(session, messages)
    need(did < messages // 4, "no frame is left of a message", did)
    node.sh("ip link set va gso_max_size 65000")
    did = singles(session, messages)
    need(did > messages // 2, "a frame is left of each message", did)
    node.sh("ip link set va gso_max_size 65536")


def feature(node, dev, on):
    node.sh(f"ethtool -K {dev} tx-sctp-segmentation {'on' if on else 'off'}")


def direct(session, messages):
    """A pair of veth and nothing else."""
    node = session.lab.nodes[0]
    with linked(session, "veth", "va", "vb"):
        there = node.sh("cat /sys/class/net/vb/address").out.strip()
        for options in ("", "--level rr --reads", "--level unreliable"):
            whole(session, there, messages, "at first", options)
        whole_messages(session, messages)
        with jobs(session, node.spawn(f"python3 {WATCH} va all 1")) as (job,):
            job.expect("^watching$", 60 * session.slow)
            frames(session, there, messages, "beside a packet socket")
        feature(node, "va", False)
        frames(session, there, messages, "without the feature")
        feature(node, "va", True)
        node.sh("ip link set va gso_max_size 20000")
        whole(session, there, messages, "of 20,000 bytes")
        for dev in ("va", "vb"):
            node.sh(f"ip link set {dev} gso_max_size 65536 && "
                    f"ip link set {dev} mtu 9000")
        whole(session, there, messages, "with an MTU of 9,000")


# At the bridge's port to the receiver: what is done, and what must come of it.
BEHIND = {
    "a bridge": ("true", lambda did: did["rx_trains"] == did["tx_trains"]),
    "a port that takes frames": (
        "ethtool -K ub tx-sctp-segmentation off",
        lambda did: not did["rx_trains"]),
    # Those of less than the burst pass.
    "a port that limits the rate": (
        "tc qdisc replace dev ub root tbf rate 2gbit burst 4kb latency 40ms",
        lambda did: did["rx_trains"] < did["tx_trains"]),
    "a port that loses 1 %": (
        "tc qdisc replace dev ub root netem loss 1% limit 10000",
        lambda did: did["rx_trains"] and did["retransmits"]),
}
AGAIN = ("tc qdisc del dev ub root 2>/dev/null; "
         "ethtool -K ub tx-sctp-segmentation on")


def bridged(session, messages):
    """Through a bridge: the stack makes frames of them where it must."""
    node = session.lab.nodes[0]
    node.sh("modprobe -qa sch_tbf sch_netem; true")
    with pair(session) as bridge:
        if not bridge:
            raise Skipped("this kernel has no bridges")
        there = node.sh("cat /sys/class/net/vb/address").out.strip()
        for what, (begin, holds) in BEHIND.items():
            if "qdisc" in begin and session.lab.debug:
                session.check.note(f"not behind {what}: "
                                   "this kernel has no such qdisc")
                continue
            node.sh(begin)
            did = stress(session, there, messages)
            need(did["tx_trains"] and holds(did) and not did["tx_zerocopy"],
                 f"behind {what}", did)
            node.sh(AGAIN)
