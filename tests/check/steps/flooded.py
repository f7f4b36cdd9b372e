# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""VIA on rings of its own while IP floods the others.

Quiet rounds and flooded ones take turns, and medians are compared: where the
host has no processor for the guests for a while, both suffer.  The flood has a
rate that leaves them some, and is the kernel's own (pktgen), which takes little
to send it: what is measured is who waits for whom in the card and in its
driver, not how many instructions a flood takes."""

import contextlib
import json
import statistics

from again import again
from common import TOOLS, chip_counters, jobs, peer, serving
from runner import StepFailed

LAT = f"{TOOLS}/vipl_lat -d via_eth0 -e"
ROUNDS = 5
MESSAGES = 300
PERIOD = 2000  # us from one datagram of the flood to the next
MOST = 1.5
LEAST = 200  # datagrams in all
STRAY = 50  # of what is neither VIA's nor IP's: ARP, mostly

# To an address that the other host has not, so that it answers nothing.
FLOOD = """
modprobe pktgen
cd /proc/net/pktgen
echo rem_device_all >kpktgend_1
echo add_device eth0 >kpktgend_1
for word in 'count 0' 'delay {delay}' 'pkt_size 124' 'dst 10.0.0.99' \
            'dst_mac {to}' 'queue_map_min 1' 'queue_map_max 1'; do
    echo $word >eth0
done
"""
START = "echo start >/proc/net/pktgen/pgctrl"


def has_pairs(session):
    """A card with rings of their own for VIA and for IP, and a kernel with
    pktgen."""
    settings = session.settings
    return session.driver == "via_igb" and settings["cpus"] > 1 and \
        not settings["kernel"].startswith("debug")


@contextlib.contextmanager
def flood(session):
    """From node 1 to node 2, when its frames are there."""
    one, two = session.lab.nodes
    one.sh(FLOOD.format(delay=PERIOD * 1000, to=peer(0)))
    before = chip_counters(two)["rx_ip_frames"]
    with jobs(session, one.spawn(START, 300)):
        session.wait_until(two, "test $(ethtool -S eth0 | sed -n 's/ *"
                           "rx_ip_frames: *//p') -gt "
                           f"{before + 20}", "no flood is coming")
        yield


def latency(session):
    """A median, in microseconds, of messages of 4 bytes."""
    out = session.lab.nodes[0].sh(f"{LAT} -s 4 -n {MESSAGES} --json - "
                                  f"{peer(0)}", 120).out
    return json.loads(out.splitlines()[-1])["p50"]


def rounds(session):
    """(quiet, flooded, frames of each kind that came by VIA's rings and in
    all) of the flooded node."""
    two, quiet, flooded = session.lab.nodes[1], [], []
    seen = dict.fromkeys(("rx_queue_0_frames", "rx_vi_frames",
                          "rx_ip_frames"), 0)
    with serving(session, f"{LAT} --persist"):
        for _ in range(ROUNDS):
            quiet.append(latency(session))
            before = chip_counters(two)
            with flood(session):
                flooded.append(latency(session))
            after = chip_counters(two)
            for name in seen:
                seen[name] += after[name] - before[name]
    return quiet, flooded, seen


def measured(session):
    """What is amiss with the time, or None; StepFailed for the frames, whose
    way does not depend on time."""
    quiet, flooded, seen = rounds(session)
    ratio = statistics.median(flooded) / statistics.median(quiet)
    stray = seen["rx_queue_0_frames"] - seen["rx_vi_frames"]
    session.check.write(f"quiet {quiet}, flooded {flooded} us: {ratio:.2f}; "
                        f"{seen}")
    if stray > STRAY:
        raise StepFailed(f"{stray} frames that are not VIA's came by its "
                         "rings")
    if seen["rx_ip_frames"] < LEAST:
        return f"{seen['rx_ip_frames']} frames are no flood"
    return f"VIA takes {ratio:.2f} times as long under a flood of IP" \
        if ratio > MOST else None


def beside_ip(session):
    """VIA waits for no flood of IP."""
    again(session, lambda: measured(session))
