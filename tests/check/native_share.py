# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Native drivers: IP and VIA on one card, and what they cost it."""

import re

import native
import steps
from runner import StepFailed

def side_by_side(session):
    """TCP and VIA at once: neither starves."""
    one = session.lab.nodes[0]
    with native.Serving(session, "iperf3 -s -1 --forceflush", "listening"), \
            native.Serving(session, f"{steps.TOOLS}/vipl_bw -d via_eth0"):
        via = one.spawn(f"{steps.TOOLS}/vipl_bw -d via_eth0 -D 6 -e "
                        f"{steps.peer(0)}", 120)
        tcp = session.run(one, "iperf3 -c 10.0.0.2 -t 4 -f m")
        result = via.wait(120)
        session.write_job(via)
    if result.rc:
        raise StepFailed(f"vipl_bw ended with status {result.rc}")
    mbps = float(re.search(r"([\d.]+) Mbits/sec\s+receiver", tcp.out).group(1))
    ours = float(result.out.split("\n")[-2].split()[3])
    session.check.write(f"TCP {mbps} Mb/s, VIA {ours} Mb/s")
    if mbps < ours / 20 or ours < mbps / 20:
        raise StepFailed(f"one starves: TCP {mbps} Mb/s, VIA {ours} Mb/s")


def quiet(session):
    """Sending needs no interrupt per frame."""
    one = session.lab.nodes[0]
    before, frames = native.interrupts(one), native.counters(one)
    native.run_pair(session, "vipl_bw", "-l unreliable -s 65536 -n 300 -e")
    after, now = native.interrupts(one), native.counters(one)
    sent = now["tx_vi_frames"] - frames["tx_vi_frames"]
    heard = now["rx_vi_frames"] - frames["rx_vi_frames"] + \
        now["rx_ip_frames"] - frames["rx_ip_frames"]
    own = after - before - heard
    session.check.write(f"{sent} frames sent, {heard} received, "
                        f"{after - before} interrupts")
    if sent < 10000:
        raise StepFailed(f"{sent} frames were sent only")
    # Each frame received may bring one; the others are of sending.
    if own * 32 >= sent:
        raise StepFailed(f"{own} interrupts for {sent} frames sent")
    text = session.run(one, f"{steps.TOOLS}/viastat -d via_eth0 || "
                       f"{steps.TOOLS}/viastat via_eth0").out
    if "wire_tx_full" not in text:
        raise StepFailed("viastat does not show the card's counters")
