# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""via_udp: frames that are one packet on their way between namespaces (trains,
docs/howto/udp.md), and what sees, splits, drops or forges such packets:

    namespace a            namespace b
    10.75.0.1 va ------- vb 10.75.0.2
    fd75::1                   fd75::2
    via_udp0                 via_udp1
"""

import contextlib
import json
import os
import re

from common import GUEST, STRESS, TOOLS, jobs, numbers, serving
from runner import StepFailed
from udp import IP6, attach, loaded, need

ENDS = {"IPv4": ("10.75.0.1", "10.75.0.2"), "IPv6": ("fd75::1", "fd75::2")}
SIZES = 50000, 9000, 20001
FORGE = os.path.join(GUEST, "joined.py")
DATAGRAMS = 200
USUAL_US = 5000   # without a timeout, ten times of what it takes


@contextlib.contextmanager
def pair(session, family):
    """Two namespaces of node 1, and a NIC in each."""
    node = session.lab.nodes[0]
    with loaded(session, node):
        try:
            node.sh("set -e; modprobe veth; for s in a b; do ip netns add $s; "
                    f"ip netns exec $s {IP6}; ip -n $s link set lo up; done; "
                    "ip -n a link add va type veth peer name vb netns b; "
                    "for e in 'a va 1' 'b vb 2'; do set -- $e; "
                    "ip -n $1 addr add 10.75.0.$3/24 dev $2; "
                    "ip -n $1 addr add fd75::$3/64 dev $2 nodad; "
                    "ip -n $1 link set $2 up; done")
            for i, space in enumerate("ab"):
                attach(node, ENDS[family][i], f"via_udp{i}", space)
            yield node
        finally:
            node.sh("for s in a b; do ip netns del $s; done; "
                    "while test -e /dev/via_udp0 -o -e /dev/via_udp1; do "
                    "sleep 0.1; done", 60)


def counted(node, family):
    """Of a's NIC the frames sent in trains, of b's those received so and all,
    and the datagrams that b's UDP has delivered and found damaged."""
    sent = numbers(node.sh(f"ip netns exec a {TOOLS}/viastat -d via_udp0").out)
    got = numbers(node.sh(f"ip netns exec b {TOOLS}/viastat -d via_udp1").out)
    if family == "IPv4":
        names, values = [
            line.split() for line in node.sh(
                "ip netns exec b grep ^Udp: /proc/net/snmp").out.splitlines()]
        udp = dict(zip(names[1:], map(int, values[1:])))
    else:
        udp = numbers(node.sh("ip netns exec b sed -n s/^Udp6//p "
                              "/proc/net/snmp6").out)
    return {"sent": sent["wire_tx_joined"], "taken": got["wire_rx_joined"],
            "frames": got["rx_frames"], "bytes": got["rx_bytes"],
            "trains": got["rx_trains"], "sent_trains": sent["tx_trains"],
            "thrown": sum(v for k, v in got.items() if re.search(
                "drop|bad|malformed|unknown|version", k)),
            "datagrams": udp["InDatagrams"], "damaged": udp["InCsumErrors"]}


@contextlib.contextmanager
def counting(session, node, family):
    """What has been counted within the block, once that is over."""
    was, change = counted(node, family), {}
    yield change
    change.update((k, v - was[k]) for k, v in counted(node, family).items())
    session.check.write(str(change))


def stress(session, node, family, size, options="", messages=1500):
    """Messages of sizes up to that, each byte checked: what was counted."""
    with counting(session, node, family) as change:
        with serving(session, f"ip netns exec b {STRESS} -d via_udp1 --server",
                     0):
            session.run(node, f"ip netns exec a {STRESS} -d via_udp0 --level "
                        f"rd --messages {messages} --max-size {size} --seed "
                        f"{size} {options} {ENDS[family][1]}", 300)
    return change


def expect(change, what, **want):
    """Of what was counted: True: some, False: none."""
    wrong = {k: change[k] for k, some in want.items()
             if (change[k] > 0) != some}
    if wrong:
        raise StepFailed(f"{what}: {wrong} of {change}")


def whole(session, family, messages):
    """Frames go and come in trains, and UDP counts each of them."""
    def sent(size):
        return stress(session, node, family, size, messages=messages)

    with pair(session, family) as node:
        for size in SIZES:
            change = sent(size)
            expect(change, f"{size} bytes", sent=True, taken=True,
                   trains=True, sent_trains=True)
            if change["datagrams"] != change["frames"]:
                raise StepFailed(f"{size} bytes: UDP counts otherwise than "
                                 f"the class: {change}")
            if change["taken"] != change["sent"]:
                raise StepFailed(f"{size} bytes: not all were taken whole: "
                                 f"{change}")
        mtu = "ip -n a link set va mtu {0}; ip -n b link set vb mtu {0}"
        node.sh(mtu.format(9000))
        expect(sent(SIZES[0]), "MTU 9000", sent=True, taken=True)
        # Trains of the class, but no datagrams for many.
        node.sh(mtu.format(1500))
        for feature in "tx-udp-segmentation", "gso", "tx":
            switch = f"ip netns exec a ethtool -K va {feature} "
            node.sh(switch + "off")
            expect(sent(SIZES[0]), f"{feature} off", sent=False, taken=False,
                   frames=True, trains=False, sent_trains=True)
            node.sh(switch + "on")
        node.sh("ip netns exec a ethtool -K va gso on")
        expect(sent(SIZES[0]), "all on", sent=True, taken=True)


def shaped(session, family):
    """Queueing disciplines that lose trains, or split them."""
    median = f"{TOOLS}/vipl_lat -l rd -e -d"
    qdisc = "ip netns exec a tc qdisc {} dev va root {}"
    with pair(session, family) as node:
        node.sh("modprobe -qa sch_netem sch_tbf; "
                + qdisc.format("replace", "netem loss 1%"))
        for _ in range(5):
            change = stress(session, node, family, SIZES[0], messages=3000)
            expect(change, "lossy", sent=True, taken=True)
            if change["taken"] < change["sent"]:
                break
        else:
            raise StepFailed(f"no train was lost: {change}")
        with serving(session, f"ip netns exec b {median} via_udp1", 0,
                     ends=True):
            said = session.run(
                node, f"ip netns exec a {median} via_udp0 -s {SIZES[0]} -n 400 "
                f"--json - {ENDS[family][1]}", 120).out
        session.check.write(said)
        usual = [json.loads(line)["p50"] for line in said.splitlines()
                 if line.startswith("{")][0]
        if usual > USUAL_US * session.slow:
            raise StepFailed(f"half of the messages take {usual} us")
        node.sh(qdisc.format("replace", "tbf rate 400mbit burst 3000 "
                             "limit 200000"))
        change = stress(session, node, family, SIZES[1])
        if change["taken"] >= change["sent"]:
            raise StepFailed(f"tbf has split no train: {change}")
        node.sh(qdisc.format("del", ""))
    return {"median_us": usual}


def tables(family, variant):
    return ("iptables-" if family == "IPv4" else "ip6tables-") + variant


def behind(session, node, family, what):
    """Something sees datagrams behind the hook: none is taken whole, and
    messages are right (as with a receiver that knows no trains)."""
    expect(stress(session, node, family, SIZES[2], messages=500), what,
           sent=True, taken=False, frames=True)


def obeyed(session, node, family):
    """A rule that drops."""
    there = ENDS[family][1]
    ping = (f"ip netns exec a {TOOLS}/viaping -d via_udp0 -i 0.1 -c 3 "
            f"-s 30000 {there}")
    rule = f"ip netns exec b {tables(family, 'nft')} -{{}} INPUT -p udp -j DROP"
    with serving(session, f"ip netns exec b {TOOLS}/viaping -l -d via_udp1", 0,
                 "answering"):
        need(node.run(ping, 60), True, "no rule")
        node.sh(rule.format("I"))
        need(node.run(ping, 60), False, "a rule that drops")
        node.sh(rule.format("D"))
        need(node.run(ping, 60), True, "a rule that is gone")


def stepping(session, family):
    """What would see datagrams behind the hook sees each."""
    here, there = ENDS[family]
    inside = "ip netns exec b "
    legacy = inside + tables(family, "legacy")
    rule = " -{} INPUT -p udp --dport 13879 -j ACCEPT"
    with pair(session, family) as node:
        node.sh("modprobe -qa iptable_filter ip6table_filter")
        node.sh(legacy + rule.format("I"))
        behind(session, node, family, "a rule of INPUT")
        # The table's hooks go with its module.
        node.sh(legacy + rule.format("D") +
                "; rmmod iptable_filter ip6table_filter")
        if node.run("modprobe -q xfrm_user").rc and session.lab.debug:
            session.check.note("not behind IPsec: this kernel has none")
        else:
            node.sh(f"{inside}ip xfrm policy add src {here} dst {there} dir "
                    "in action allow")
            behind(session, node, family, "IPsec")
            node.sh(f"{inside}ip xfrm policy flush")
        with serving(session, f"{inside}python3 {FORGE} read {there}", 0,
                     "reading"):
            behind(session, node, family, "a raw socket")
        expect(stress(session, node, family, SIZES[2], messages=500),
               "nothing", sent=True, taken=True)
        node.sh(inside + tables(family, "nft") + rule.format("I"))
        behind(session, node, family, "a rule of nft")
        obeyed(session, node, family)


def tapped(session, family):
    """A packet socket sees every byte, in the packets that the interface has."""
    there = ENDS[family][1]
    with pair(session, family) as node:
        with jobs(session, node.spawn(
                f"ip netns exec b python3 {FORGE} tap vb")) as (tap,):
            tap.expect("^tapping$", 60 * session.slow)
            with counting(session, node, family) as change:
                stress(session, node, family, SIZES[0])
                node.sh(f"ip netns exec a python3 {FORGE} end {there}")
            tap.expect(r"^seen \d+ bytes$", 60 * session.slow)
        seen = int(re.search(r"seen (\d+) bytes", tap.out).group(1))
        expect(change, "tapped", sent=True, taken=True)
        if seen != change["bytes"]:
            raise StepFailed(f"{seen} bytes were seen of {change}")


def forged(session, family):
    """Datagrams with wrong checksums, with none, and joined ones of all sizes
    that are no frames, or frames in a row of connections that are not there; a
    connection beside them stays."""
    here, there = ENDS[family]
    with pair(session, family) as node:
        with serving(session, f"ip netns exec b {TOOLS}/viaping -l -d "
                     "via_udp1", 0, "answering"), \
             jobs(session, node.spawn(
                 f"ip netns exec a {TOOLS}/viaping -d via_udp0 -i 0.2 -s "
                 f"20000 {there}")) as (job,):
            job.expect("seq|bytes", 30)
            for kind in "wrong", "none", "joined", "trains":
                with counting(session, node, family) as change:
                    said = node.sh(f"ip netns exec a python3 {FORGE} {kind} "
                                   f"{here} {there} {DATAGRAMS}", 120).out
                amount = int(re.search(r"sent (\d+)", said).group(1))
                # UDP over IPv6 takes none without.
                bad = amount if kind == "wrong" or (
                    kind, family) == ("none", "IPv6") else 0
                if change["damaged"] != bad:
                    raise StepFailed(f"{kind}: not {bad}: {change}")
                good = amount - bad
                # A train that is refused is counted as one frame.
                least = 1 if kind == "trains" else good
                if change["datagrams"] < good or change["frames"] < good or \
                        change["thrown"] < min(least, good) or \
                        change["thrown"] and not good:
                    raise StepFailed(f"{kind}: {good} of {amount} are for "
                                     f"the class: {change}")
                if kind in ("joined", "trains"):
                    expect(change, kind, taken=True)
                if kind == "trains":
                    expect(change, kind, trains=True)
            if job.done:
                raise StepFailed("the connection beside has ended")
