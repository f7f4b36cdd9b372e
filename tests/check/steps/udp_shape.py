# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""via_udp: trains in TCP's shape (docs/howto/udp.md) between two machines whose
cards split and join TCP's packets: what carries them, and what ends them."""

import contextlib
import time

from common import CONFORM, STRESS, TOOLS, numbers, serving
from conform import conform
from labkit.base import VIA
from runner import StepFailed
from udp import NEAR, loaded, told

FILTER = ("modprobe -qa ip_tables iptable_filter; iptables-legacy -{} INPUT -p tcp "
          "--dport 13879 -j DROP")
BOUND = ("python3 -c 'import socket; s = socket.socket(); "
         "s.bind((\"{}\", 13879)); s.listen()'")


def attach(session, shapes):
    """A fresh NIC on each machine."""
    for i, node in enumerate(session.lab.nodes[:2], 1):
        node.sh(f"test ! -e /dev/via_udp0 || {VIA} dev detach via_udp0; "
                f"{VIA} dev attach {NEAR['IPv4'].format(i)} shape "
                f"{shapes[i - 1]} && test -c /dev/via_udp0")


@contextlib.contextmanager
def machines(session, net):
    with loaded(session, *session.lab.nodes[:2]):
        for i, node in enumerate(session.lab.nodes[:2], 1):
            node.sh(f"ip addr add {NEAR['IPv4'].format(i)}/24 dev eth{net}")
        try:
            yield session.lab.nodes[:2], NEAR["IPv4"].format(2)
        finally:
            for i, node in enumerate(session.lab.nodes[:2], 1):
                node.sh(f"tc qdisc del dev eth{net} root 2>/dev/null; "
                        f"test ! -e /dev/via_udp0 || {VIA} dev detach via_udp0; "
                        f"ip addr del {NEAR['IPv4'].format(i)}/24 dev eth{net}")


def counted(session):
    one, two = (numbers(node.sh(f"{TOOLS}/viastat -d via_udp0").out)
                for node in session.lab.nodes[:2])
    return {"sent": one["wire_tx_shaped"], "taken": two["wire_rx_shaped"],
            "ended": one["wire_shape_ended"], "trains": two["rx_trains"],
            "bad": two["wire_rx_misshaped"]}


def stress(session, peer, what, sent, shapes=("tcp", "tcp"), during=None,
           messages=400):
    """Messages to fresh NICs, each byte checked; `during`: between two halves."""
    attach(session, shapes)
    with serving(session, f"{STRESS} -d via_udp0 --server"):
        for seed in range(2 if during else 1):
            if seed:
                during()
            session.run(session.lab.nodes[0], f"{STRESS} -d via_udp0 --level rd "
                        f"--reads --messages {messages} --max-size 65536 --seed "
                        f"{seed + 1} {peer}", 300)
    got = counted(session)
    session.check.write(f"{what}: {got}\n")
    if (got["sent"] > 0) != sent or got["bad"]:
        raise StepFailed(f"{what}: {got}")
    return got


def whole(session, net, pattern, messages):
    """The suite, and conditions that take trains apart or lose them."""
    dev = f"eth{net}"
    with machines(session, net) as (nodes, peer):
        attach(session, ("tcp", "tcp"))
        told(nodes[0], f"{VIA} dev show via_udp0", 0, "shape tcp")
        with serving(session, f"{CONFORM} -d via_udp0 --server"):
            conform(session, f"-d via_udp0 -g '{pattern}' {peer}",
                    "via_udp, TCP's shape", "via_udp", two=True)
        got = stress(session, peer, "plain", True, messages=messages)
        if got["taken"] != got["sent"] or not got["trains"] or got["ended"]:
            raise StepFailed(f"not all were taken: {got}")
        nodes[0].sh("modprobe -qa sch_netem sch_tbf")
        for kind in "netem loss 1%", "tbf rate 200mbit burst 16k latency 50ms":
            nodes[0].sh(f"tc qdisc replace dev {dev} root {kind}")
            # A probe that is lost is repeated after a second.
            stress(session, peer, kind, True, messages=messages,
                   during=lambda: time.sleep(1.5))
            nodes[0].sh(f"tc qdisc del dev {dev} root")
        for node, feature, sent in (nodes[0], "tso", False), \
                (nodes[1], "gro", True):
            node.sh(f"ethtool -K {dev} {feature} off")
            got = stress(session, peer, f"{feature} off", sent)
            node.sh(f"ethtool -K {dev} {feature} on")
            if got["taken"] != got["sent"]:
                raise StepFailed(f"{feature} off: {got}")
        # The link is down for some time.  Few messages have more than one such frame.
        for node in nodes:
            node.sh(f"ip link set {dev} mtu 9000")
        got = stress(session, peer, "MTU 9000", True, during=lambda: time.sleep(1.5),
                     messages=max(messages, 1500))
        for node in nodes:
            node.sh(f"ip link set {dev} mtu 1500")
        if got["taken"] != got["sent"] or not got["trains"]:
            raise StepFailed(f"MTU 9000: {got}")


def ended(session, net):
    """What does not take trains gets datagrams, and all messages arrive."""
    with machines(session, net) as (nodes, peer):
        def drop():
            nodes[1].sh(FILTER.format("A"))

        got = stress(session, peer, "the other host has not asked for it", False,
                     ("tcp", "udp"))
        stress(session, peer, "nor has this one", False, ("udp", "tcp"))
        try:
            got = stress(session, peer, "a rule that appears", True, during=drop)
            if not got["ended"]:
                raise StepFailed(f"a rule of INPUT has ended nothing: {got}")
            stress(session, peer, "a rule that is there", False)
        finally:
            nodes[1].sh(FILTER.format("D") + "; rmmod iptable_filter")
        nodes[1].sh(f"{VIA} dev detach via_udp0")
        here = NEAR["IPv4"].format(2)
        told(nodes[1], f"{VIA} dev attach {here} shape round", 2, "no shape")
        nodes[1].sh(f"{VIA} dev attach {here} shape tcp")
        told(nodes[1], BOUND.format(here), 1, "in use")
        nodes[1].sh(f"{VIA} dev detach via_udp0")
        with serving(session, BOUND.format(here).replace(
                "s.listen()", "s.listen(); print(\"bound\", flush=True); s.accept()"),
                1, "bound"):
            told(nodes[1], f"{VIA} dev attach {here} shape tcp", 1, "in use")
