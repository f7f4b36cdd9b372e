# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Native drivers: a whole Linux network interface, VIA beside it."""

import re
import time

import native
from again import again
from common import TOOLS, chip_counters, counters, peer, serving
from conform import conform_wire
from runner import Skipped, StepFailed
from session import BIND
from transfer import broken

IP6 = ("sysctl -q -w net.ipv6.conf.all.disable_ipv6=0 "
       "net.ipv6.conf.default.disable_ipv6=0 "
       "net.ipv6.conf.eth0.disable_ipv6=0")


def state(node):
    """What an interface has, in a form that compares."""
    text = node.sh("ip -o addr show dev eth0; ip route show table all dev "
                   "eth0; ip -6 route show table all dev eth0; "
                   "ip neigh show dev eth0 nud permanent; "
                   "cat /sys/class/net/eth0/mtu /sys/class/net/eth0/address")
    lines = [re.sub(r"^\d+: | (tentative|linkdown|dadfailed)\b", "", line)
             for line in text.out.splitlines()]
    return sorted(" ".join(line.split()) for line in lines)


def rebinding(session):
    """via-bind there and back keeps all that the interface has."""
    node = session.lab.nodes[0]
    node.sh(f"{IP6} && ip link set eth0 mtu 1400 && "
            "ip addr add fd00:9::1/64 dev eth0 nodad && "
            "ip addr add 10.9.0.1/24 brd + dev eth0 label eth0:x && "
            "ip route add 192.168.7.0/24 via 10.0.0.2 dev eth0 table 77 && "
            "ip route add 192.168.8.0/24 via 10.0.0.2 metric 5 && "
            "ip -6 route add fd00:6::/64 via fd00:9::2 dev eth0 && "
            "ip neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 dev eth0")
    time.sleep(2)
    before = state(node)
    for mode in ("stock", "native"):
        node.sh(f"{BIND} eth0 {mode}", 200)
        session.carrier()
        clock = session.lab.clock.now
        end = clock() + 10 * session.slow
        while state(node) != before and clock() < end:
            time.sleep(0.2)
        now = state(node)
        if now != before:
            odd = sorted(set(now) ^ set(before))
            raise StepFailed(f"after '{mode}' the interface differs: {odd}")
    if node.run(f"{TOOLS}/via dev attach eth0").rc != 1:
        raise StepFailed("via_netdev took an interface that is a VI NIC")
    for wrong in ("lo native", "eth9 stock", "eth0 both", ""):
        if node.run(f"{BIND} {wrong}").rc == 0:
            raise StepFailed(f"'via-bind {wrong}' was not refused")
    node.sh("ip link add link eth0 name up0 type macvlan 2>/dev/null || "
            "ip link add link eth0 name up0 type vlan id 9")
    refused = node.run(f"{BIND} eth0 stock")
    node.sh("ip link del up0; ip link set eth0 mtu 1500; "
            "ip addr del 10.9.0.1/24 dev eth0")
    if refused.rc == 0 or "up0" not in refused.all:
        raise StepFailed("via-bind took an interface that carries another: "
                         f"{refused.all.strip()}")


def ip_traffic(session, mebibytes):
    """ping, IPv6, TCP both ways, UDP, VLAN, a large file unharmed."""
    one, two = session.lab.nodes
    for node, address in ((one, "fd00:5::1"), (two, "fd00:5::2")):
        node.sh(f"{IP6}; ip addr add {address}/64 dev eth0 nodad; "
                "ip link set eth0 mtu 1500")
    time.sleep(2)
    for ping in ("ping -c 3", "ping -c 2 -s 1472", "ping -c 2 -s 20000"):
        session.run(one, f"busybox {ping} 10.0.0.2")
    session.run(one, "busybox ping6 -c 2 -s 3000 fd00:5::2")
    session.run(one, "busybox ping6 -c 2 -I eth0 ff02::1")
    for options in ("", "-R", "-u -b 30M -l 1400"):
        with serving(session, "iperf3 -s -1 --forceflush",
                     ready="listening", ends=True):
            session.run(one, f"iperf3 -c 10.0.0.2 -t 2 {options}")
    native.whole(session, one, two, "10.0.0.2", mebibytes)
    native.whole(session, two, one, "fd00:5::1", 4)
    tagged(session)


def tagged(session):
    """Frames with a VLAN tag pass, full ones too."""
    one, two = session.lab.nodes
    for number, node in enumerate((one, two), 1):
        node.sh("modprobe 8021q; ip link add link eth0 name eth0.7 type vlan "
                f"id 7 && ip addr add 10.70.0.{number}/24 dev eth0.7 && "
                "ip link set eth0.7 up")
    try:
        session.run(one, "busybox ping -c 3 -s 1472 10.70.0.2")
        native.whole(session, one, two, "10.70.0.2", 4)
        native.whole(session, two, one, "10.70.0.1", 4)
    finally:
        for node in (one, two):
            node.sh("ip link del eth0.7")


def jumbo(session):
    """Long frames, for VIA too; back to short ones in a transfer."""
    one, two = session.lab.nodes
    if one.run("ip link set eth0 mtu 9000").rc:
        raise Skipped("the chip knows no longer frames")
    two.sh("ip link set eth0 mtu 9000")
    session.carrier()
    for size in (8972, 20000):
        session.run(one, f"busybox ping -c 2 -s {size} 10.0.0.2")
    conform_wire(session, 0, "send*")
    native.whole(session, one, two, "10.0.0.2", 16)
    before = session.lab.wire(0).stats()
    native.run_pair(session, "vipl_bw", "-s 65536 -n 200 -e")
    after = session.lab.wire(0).stats()
    mean = (after["in_bytes"] - before["in_bytes"]) / (
        after["in_frames"] - before["in_frames"])
    session.check.write(f"VIA: {mean:.0f} bytes a frame")
    if mean < 2000:
        raise StepFailed(f"VI frames have {mean:.0f} bytes with an MTU of "
                         "9000")
    broken(session, 0, lambda: two.sh("ip link set eth0 mtu 1500"))
    one.sh("ip link set eth0 mtu 1500")
    session.carrier()
    conform_wire(session, 0, "connect.accepted")


def questions(session):
    """What ethtool asks is answered, and what it sets holds."""
    one = session.lab.nodes[0]
    said = session.run(one, "ethtool -i eth0 && ethtool eth0 && ethtool -g "
                       "eth0 && ethtool -k eth0 && ethtool -S eth0").out
    for wanted in (f"driver: {session.driver}", "Speed: 100", "Duplex: Full",
                   "Link detected: yes", "RX:", "scatter-gather: on",
                   "tx_ip_frames: "):
        if wanted not in said:
            raise StepFailed(f"ethtool does not say '{wanted}'")
    # The VI NIC's, by the names that viastat has; all of these have moved.
    with serving(session, f"{TOOLS}/viaping -l -d via_eth0"):
        session.run(one, f"{TOOLS}/viaping -c 5 -i 0.1 -d via_eth0 {peer(0)}",
                    60)
    told, via = chip_counters(one), counters(session, one, 0)
    missing = [name for name in via if f"via_{name}" not in told and
               name.replace("wire_", "") not in told]
    still = [name for name in ("via_rx_frames", "via_requests_out", "via_traps",
                               "via_send_bytes", "rx_vi_frames")
             if not told.get(name)]
    if missing or still:
        raise StepFailed(f"ethtool -S lacks {missing}, and is 0: {still}")
    if session.driver in ("via_e1000", "via_igb"):
        session.run(one, "ethtool -C eth0 rx-usecs 500 && ethtool -c eth0 | "
                    "grep -q 'rx-usecs:.*500' && busybox ping -c 2 10.0.0.2 "
                    "&& ethtool -C eth0 rx-usecs 0 && "
                    "! ethtool -C eth0 rx-usecs 100000")
        for word in ("tso off", "rx off", "tso on rx on"):
            session.run(one, f"ethtool -K eth0 {word}")
            native.whole(session, one, session.lab.nodes[1], "10.0.0.2", 2)


GROUPS = """
import socket, struct, sys, time
mine = socket.inet_aton("10.0.0.{host}")
groups = ["239.7.%d.1" % i for i in range({count})]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if {host} == 2:
    socks = []
    for i in range(0, len(groups), 15):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("", 5007))
        for g in groups[i:i + 15]:
            s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                         socket.inet_aton(g) + mine)
        socks.append(s)
    print("joined", flush=True)
    seen, s = set(), socks[0]
    s.settimeout(20)
    while len(seen) < len(groups):
        seen.add(s.recv(100).decode())
else:
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, mine)
    for _ in range(8):
        for g in groups:
            s.sendto(g.encode(), (g, 5007))
        time.sleep(0.2)
"""


def filters(session):
    """Few groups, more than the chip's filter holds, few again; promiscuous
    mode, an address beside ours."""
    one, two = session.lab.nodes
    for count in (3, 40, 3):
        program = {host: "/usr/bin/python3 -c '" + GROUPS.format(
            host=host, count=count) + "'" for host in (1, 2)}
        with serving(session, program[2], ready="joined",
                     ends=True) as job:
            session.run(one, program[1])
            if job.wait(40).rc:
                raise StepFailed(f"of {count} multicast groups not all were "
                                 "heard")
    two.sh("ip link set eth0 promisc on")
    try:
        conform_wire(session, 0, "send*")
    finally:
        two.sh("ip link set eth0 promisc off")
    if two.run("ip link add link eth0 name second type macvlan && "
               "ip addr add 10.77.0.2/24 dev second && "
               "ip link set second up").rc:
        return
    one.sh("ip addr add 10.77.0.1/24 dev eth0")
    try:
        session.run(one, "busybox ping -c 3 10.77.0.2")
    finally:
        two.sh("ip link del second")
        one.sh("ip addr del 10.77.0.1/24 dev eth0")


def configured(session):
    """Another MTU, address, name and namespace."""
    one = session.lab.nodes[0]
    for node in session.lab.nodes:
        node.sh("ip link set eth0 mtu 900")
    conform_wire(session, 0, "send*")
    session.run(one, "busybox ping -c 2 -s 3000 10.0.0.2")
    for node in session.lab.nodes:
        node.sh("ip link set eth0 mtu 1500")
    one.sh("ip link set eth0 down && ip link set eth0 address "
           "52:54:00:00:77:01 && ip link set eth0 up && test -c /dev/via_eth0")
    session.carrier()
    conform_wire(session, 0, "connect.accepted")
    one.sh("ip link set eth0 down && ip link set eth0 address "
           "52:54:00:00:00:01 name wire0 && test -c /dev/via_wire0 && "
           "test ! -e /dev/via_eth0 && ip link set wire0 name eth0 && "
           "test -c /dev/via_eth0")
    one.sh("ip netns add elsewhere && ip link set eth0 netns elsewhere && "
           "ip -n elsewhere link set eth0 up && sleep 0.5 && "
           "ip netns exec elsewhere ls /dev/via_eth0 && "
           "ip -n elsewhere link set eth0 netns 1 && "
           "ip netns del elsewhere && "
           "ip addr add 10.0.0.1/24 dev eth0 && ip link set eth0 up")
    session.carrier()
    conform_wire(session, 0, "connect.accepted")


def quiet(session):
    """Sending needs no interrupt per frame."""
    again(session, lambda: interrupted(session))
    text = session.run(session.lab.nodes[0],
                       f"{TOOLS}/viastat -d via_eth0").out
    if "wire_tx_full" not in text:
        raise StepFailed("viastat does not show the card's counters")


def interrupted(session):
    """Too often, in one run?"""
    one = session.lab.nodes[0]
    before, frames = native.interrupts(one), chip_counters(one)
    native.run_pair(session, "vipl_bw", "-l unreliable -s 65536 -n 300 -e")
    after, now = native.interrupts(one), chip_counters(one)
    sent = now["tx_vi_frames"] - frames["tx_vi_frames"]
    heard = now["rx_vi_frames"] - frames["rx_vi_frames"] + \
        now["rx_ip_frames"] - frames["rx_ip_frames"]
    own = after - before - heard
    session.check.write(f"{sent} frames sent, {heard} received, "
                        f"{after - before} interrupts")
    if sent < 10000:
        return f"{sent} frames were sent only"
    # Each frame received may bring one; the others are of sending.
    return f"{own} interrupts for {sent} frames sent" if own * 32 >= sent \
        else None
