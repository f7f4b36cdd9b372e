# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Receive queues of a card: via_udp's VIs are spread over them by their source
ports, raw frames come in one."""

import re

from common import TOOLS, chip_counters, peer, serving
from runner import StepFailed
from udp import machines

VIS = 16
FRAMES = 50     # of a queue that is in use
SCALE = "/sys/module/via_ether/parameters/time_scale"
BW = f"{TOOLS}/vipl_bw -e -q {VIS} -n 20 -s 16384"


def used(session, command):
    """Queues of node 1's card in which frames come while this runs on it."""
    one = session.lab.nodes[0]
    before = chip_counters(one)
    session.run(one, command, 300)
    after = chip_counters(one)
    grown = {name: after[name] - before[name] for name in after
             if re.fullmatch(r"rx_queue_\d+_packets", name)}
    session.check.write(f"{command}: {grown}\n")
    return [name for name, n in grown.items() if n >= FRAMES]


def spread(session, net):
    """Datagrams by their ports, if the card is to look at those; frames of
    via_netdev not."""
    for node in session.lab.nodes:
        # Interrupts of processors that share one are late.
        node.sh(f"echo 20 > {SCALE}; ethtool -L eth{net} combined 4")
    with machines(session, "IPv4", net) as address:
        queues = []
        with serving(session, f"{TOOLS}/vipl_bw -d via_udp0 --persist"):
            for fields in "sd", "sdfn":
                for node in session.lab.nodes:
                    node.sh(f"ethtool -N eth{net} rx-flow-hash udp4 {fields}")
                queues.append(used(session, f"{BW} -d via_udp0 {address}"))
        if len(queues[0]) != 1 or len(queues[1]) < 3:
            raise StepFailed(f"queues by address: {queues[0]}, by port: {queues[1]}")
    with serving(session, f"{TOOLS}/vipl_bw -d via_eth{net} --persist"):
        raw = used(session, f"{BW} -d via_eth{net} {peer(net)}")
    if len(raw) != 1:
        raise StepFailed(f"queues of raw frames: {raw}")
