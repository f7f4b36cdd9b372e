# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""VI NICs in UDP/IP, docs/howto/udp.md: between two machines, and through a router
between two namespaces:

    namespace a            namespace r             namespace b
    10.70.1.1 ---- va  ra 10.70.1.254  10.70.2.254 rb  vb ---- 10.70.2.1
    fd70:1::1             fd70:1::254  fd70:2::254             fd70:2::1
    via_udp0                                               via_udp1
"""

import contextlib
import re

import badnet
from balance import balanced
from common import CONFORM, GUEST, STRESS, TOOLS, jobs, numbers, serving, stop
from conform import conform
from labkit.base import VIA
from runner import StepFailed

IP6 = ("sysctl -q -w net.ipv6.conf.all.disable_ipv6=0 "
       "net.ipv6.conf.default.disable_ipv6=0")
NEAR = {"IPv4": "10.71.0.{}", "IPv6": "fd71::{}"}
FAR = {"IPv4": ("10.70.1.1", "10.70.2.1"), "IPv6": ("fd70:1::1", "fd70:2::1")}
TIMEOUT = 20


@contextlib.contextmanager
def loaded(session, *nodes):
    """via_udp on these nodes; it can be removed at the end, or this fails."""
    for node in nodes:
        session.lab.udp(node)
    try:
        yield
    finally:
        for node in nodes:
            node.sh("rmmod via_udp", 60)
    balanced(session)


def attach(node, address, name, space=None):
    via = f"{VIA} -n {space}" if space else VIA
    node.sh(f"{via} dev attach {address} && test -c /dev/{name}")


@contextlib.contextmanager
def machines(session, family, net):
    """via_udp0 on both of them."""
    bits = 24 if family == "IPv4" else 64
    with loaded(session, *session.lab.nodes):
        for i, node in enumerate(session.lab.nodes[:2], 1):
            address = NEAR[family].format(i)
            node.sh(f"{IP6} net.ipv6.conf.eth{net}.disable_ipv6=0; "
                    f"ip addr add {address}/{bits} dev eth{net}"
                    + " nodad" * (family == "IPv6"))
            attach(node, address, "via_udp0")
        yield NEAR[family].format(2)
        for i, node in enumerate(session.lab.nodes[:2], 1):
            node.sh(f"{VIA} dev detach via_udp0; "
                    f"ip addr del {NEAR[family].format(i)}/{bits} "
                    f"dev eth{net}")


def conform_udp(session, family, net, pattern):
    """The suite between two machines."""
    with machines(session, family, net) as peer:
        with serving(session, f"{CONFORM} -d via_udp0 --server"):
            conform(session, f"-d via_udp0 -g '{pattern}' {peer}",
                    f"via_udp, {family}", "via_udp", two=True)


def bad(session, family, net, messages):
    """A wire that does everything at once."""
    with machines(session, family, net) as peer:
        with serving(session, f"{STRESS} -d via_udp0 --server"):
            settings, _ = badnet.CONDITIONS["everything at once"]
            with session.bad_wire(net, **settings, seed=7):
                result = session.run(
                    session.lab.nodes[0],
                    f"{STRESS} -d via_udp0 --level rd --reads --may-break "
                    f"--messages {messages} --max-size 20000 --seed 7 {peer}",
                    580)
            return badnet.verdict(result.out)


ROUTED = (
    "for s in a r b; do ip netns add $s; ip netns exec $s " + IP6 + "; "
    "ip -n $s link set lo up; done; "
    "ip -n r link add ra type veth peer name va netns a; "
    "ip -n r link add rb type veth peer name vb netns b; "
    "for e in 'a va 1.1 1::1' 'r ra 1.254 1::254' 'r rb 2.254 2::254' "
    "'b vb 2.1 2::1'; do set -- $e; ip -n $1 addr add 10.70.$3/24 dev $2; "
    "ip -n $1 addr add fd70:$4/64 dev $2 nodad; ip -n $1 link set $2 up; done; "
    "ip netns exec r sysctl -q -w net.ipv4.ip_forward=1 "
    "net.ipv6.conf.all.forwarding=1; "
    "for e in 'a 1' 'b 2'; do set -- $e; "
    "ip -n $1 route add default via 10.70.$2.254; "
    "ip -n $1 -6 route add default via fd70:$2::254; done")


@contextlib.contextmanager
def routed(session, family, listed=True):
    """The three namespaces of node 1, and a NIC in each of a and b."""
    node = session.lab.nodes[0]
    with loaded(session, node):
        try:
            node.sh("set -e; " + ROUTED)
            for i, space in enumerate("ab"):
                attach(node, FAR[family][i], f"via_udp{i}", space)
                if listed:
                    node.sh(f"{VIA} -n {space} peer allow via_udp{i} "
                            f"{'10.70.0.0/16' if family == 'IPv4' else 'fd70::/16'}")
            yield node
        finally:
            # NICs go with their namespaces, by and by.
            node.sh("for s in a b r; do ip netns del $s; done; "
                    "while test -e /dev/via_udp0 -o -e /dev/via_udp1; do "
                    "sleep 0.1; done", 60)


def ping(node, family, size=56, count=3):
    """viaping from a to the responder in b: its result."""
    return node.run(f"ip netns exec a {TOOLS}/viaping -d via_udp0 -i 0.1 "
                    f"-c {count} -s {size} {FAR[family][1]}", 60)


def responding(session, node, space="b", device="via_udp1"):
    """viaping's responder meanwhile, from when it is there."""
    return serving(session, f"ip netns exec {space} {TOOLS}/viaping -l -d "
                   f"{device}", session.lab.nodes.index(node), "answering")


def need(result, answered, what):
    if (result.rc == 0) != answered:
        raise StepFailed(f"{what}: status {result.rc}: "
                         f"{result.all.strip()[-300:]}")


def strangers(session, family):
    """Of a host beyond a router nothing is answered, until it is named; and a
    packet filter is obeyed."""
    drop = "ip netns exec b {} -{} INPUT -p udp --dport 13879 -j DROP".format
    tables = "iptables" if family == "IPv4" else "ip6tables"
    with routed(session, family, listed=False) as node:
        with responding(session, node):
            need(ping(node, family), False, "a stranger is answered")
            for i, space in enumerate("ab"):
                node.sh(f"{VIA} -n {space} peer allow via_udp{i} "
                        f"{FAR[family][1 - i]}")
            need(ping(node, family), True, "a host that is named is not")
            node.sh(drop(tables, "I"))
            need(ping(node, family), False, "a filter is not obeyed")
            node.sh(drop(tables, "D"))
            need(ping(node, family), True, "a filter that was removed")
            node.sh(f"{VIA} -n b peer deny via_udp1 {FAR[family][0]}")
            need(ping(node, family), False, "a host that is denied")


# A router that tells neither of the families that a packet was too big.
MUTE = {"IPv4": "ip netns exec r iptables -A OUTPUT -p icmp -j DROP",
        "IPv6": "ip netns exec r ip6tables -A OUTPUT -p icmpv6 --icmpv6-type "
        "packet-too-big -j DROP"}


def narrow(session, family, mtu=1300, mute=False):
    """A path that becomes narrower breaks no connection, whether a router says
    so or not; what is sent from then on fits."""
    lat = f"{TOOLS}/vipl_lat -l rd -e -d"
    stat = f"ip netns exec a {TOOLS}/viastat -d via_udp0"
    with routed(session, family) as node:
        with jobs(session, node.spawn(f"ip netns exec b {lat} via_udp1"),
                  node.spawn(f"sleep 1; ip netns exec a {lat} via_udp0 "
                             f"-s 30000 -D 9 {FAR[family][1]}")) as pair:
            while numbers(node.sh(stat).out).get("tx_frames", 0) < 500:
                pass
            node.sh((MUTE[family] + "; ") * mute +
                    f"ip -n r link set rb mtu {mtu}; "
                    f"ip -n b link set vb mtu {mtu}")
            for job in pair:
                job.wait(60)
                if job.rc:
                    raise StepFailed(f"status {job.rc}: {job.command}")
        with responding(session, node):
            # The way may have become narrow as the other two ended.
            need(ping(node, family, 30000, 20), True, "a narrow path")
        stats = numbers(node.sh(stat).out)
        sign = "wire_tx_black_hole" if mute else "wire_rx_errors"
        if not stats.get(sign):
            raise StepFailed(f"{sign} is 0: {stats}")


def black(session, family):
    """The router says nothing."""
    narrow(session, family, mute=True)


def suite_routed(session, family, pattern):
    """Groups of the suite over the router."""
    with routed(session, family) as node:
        with serving(session, f"ip netns exec b {CONFORM} -d via_udp1 "
                     "--server", 0):
            conform(session, f"-d via_udp0 -g '{pattern}' {FAR[family][1]}",
                    f"via_udp, {family}, routed", "via_udp",
                    before="ip netns exec a ")
        session.check.write(node.sh(
            f"ip netns exec a {TOOLS}/viastat -d via_udp0").out)


def gone(session):
    """Without its address a NIC loses its connections, and has them again with
    it; its namespace may go in use."""
    with routed(session, "IPv4") as node:
        with responding(session, node):
            with jobs(session, node.spawn(
                    f"ip netns exec a {TOOLS}/viaping -d via_udp0 -i 0.1 "
                    f"{FAR['IPv4'][1]}")) as (job,):
                job.expect("seq|bytes", 30)
                node.sh("ip -n a addr del 10.70.1.1/24 dev va")
                job.wait(30)
                if not job.rc:
                    raise StepFailed("a connection without an address stays")
            node.sh("ip -n a addr add 10.70.1.1/24 dev va; "
                    "ip -n a route add default via 10.70.1.254")
            need(ping(node, "IPv4"), True, "an address that is back")
            job = node.spawn(f"ip netns exec a {TOOLS}/viaping -d via_udp0 "
                             f"-i 0.1 {FAR['IPv4'][1]}")
            job.expect("seq|bytes", 30)
        stop(session, job)


def down(session):
    """An interface that goes down ends connections; up again it serves."""
    with routed(session, "IPv4") as node:
        with responding(session, node):
            for _ in range(2):
                job = node.spawn(f"ip netns exec a {TOOLS}/viaping -d via_udp0 "
                                 f"-i 0.01 -s 20000 {FAR['IPv4'][1]}")
                with jobs(session, job):
                    job.expect("seq|bytes", 30)
                    node.sh("ip -n a link set va down")
                    job.wait(30)
                    if not job.rc:
                        raise StepFailed("a connection of no interface stays")
                node.sh("ip -n a link set va up; "
                        "ip -n a route replace default via 10.70.1.254")
                need(ping(node, "IPv4"), True, "an interface that is back")


def translated(session):
    """Behind a translator of addresses no connection is made, and none is
    between the wrong ones."""
    nat = "ip netns exec r iptables -t nat -{} POSTROUTING -o rb -j MASQUERADE"
    with routed(session, "IPv4") as node:
        with responding(session, node):
            node.sh(nat.format("A"))
            need(ping(node, "IPv4"), False, "a translated address")
            node.sh(nat.format("D"))
            need(ping(node, "IPv4"), True, "no translator")


def keys(session, family="IPv6"):
    """Hosts with a key in common, and those without."""
    with routed(session, family) as node:
        key = "umask 077; via=" + VIA + "; $via peer genkey >/tmp/key; "
        for i, space in enumerate("ab"):
            node.sh(f"{key if not i else ''}{VIA} -n {space} peer key "
                    f"via_udp{i} {FAR[family][1 - i]} /tmp/key")
        with responding(session, node):
            need(ping(node, family), True, "a key in common")
            stats = numbers(node.sh(f"ip netns exec a {TOOLS}/viastat -d "
                                    "via_udp0").out)
            if not stats.get("sessions"):
                raise StepFailed(f"no session of a key: {stats}")
            node.sh(f"{VIA} -n a peer deny via_udp0 {FAR[family][1]}; "
                    f"{VIA} -n a peer allow via_udp0 {FAR[family][1]}")
            need(ping(node, family), False, "a host without the key")


# Between a's va and b's vb: commands, and the interfaces that have addresses.
WIREGUARD = (
    "modprobe wireguard; umask 077; "
    "for e in 'a va 1 2' 'b vb 2 1'; do set -- $e; "
    "ip -n $1 addr add 10.73.0.$3/24 dev $2; wg genkey >/tmp/wg.$1; "
    "wg pubkey </tmp/wg.$1 >/tmp/wg.$1.pub; "
    "ip -n $1 link add wg0 type wireguard; done; "
    "for e in 'a b 1 2' 'b a 2 1'; do set -- $e; "
    "ip netns exec $1 wg set wg0 private-key /tmp/wg.$1 listen-port 51820 "
    "peer $(cat /tmp/wg.$2.pub) endpoint 10.73.0.$4:51820 "
    "allowed-ips 10.72.0.0/24,fd72::/64; done")
KINDS = {
    "veth, MTU 1280": ("ip -n a link set va mtu 1280; "
                       "ip -n b link set vb mtu 1280", "va", "vb"),
    "veth, MTU 9000": ("ip -n a link set va mtu 9000; "
                       "ip -n b link set vb mtu 9000", "va", "vb"),
    "bridge": ("modprobe bridge; ip -n b link add br0 type bridge; "
               "ip -n b link set vb master br0", "va", "br0"),
    "VLAN": ("modprobe 8021q; ip -n a link add link va name va.5 type vlan "
             "id 5; ip -n b link add link vb name vb.5 type vlan id 5",
             "va.5", "vb.5"),
    "MACVLAN": ("modprobe macvlan; ip -n a link add link va name mva type "
                "macvlan mode bridge; ip -n b link add link vb name mvb type "
                "macvlan mode bridge", "mva", "mvb"),
    "VRF": ("modprobe vrf; ip -n a link add red type vrf table 10; "
            "ip -n a link set red up; ip -n a link set va master red",
            "va", "vb"),
    "WireGuard": (WIREGUARD, "wg0", "wg0"),
}


def on_kind(session, node, kind):
    """viaping between a and b, in both families."""
    commands, one, two = KINDS[kind]
    node.sh("set -e; ip netns add a; ip netns add b; for s in a b; do "
            f"ip netns exec $s {IP6}; ip -n $s link set lo up; done; "
            "ip -n a link add va type veth peer name vb netns b; " + commands +
            "; for l in va " + one + "; do ip -n a link set $l up; done; "
            "for l in vb " + two + "; do ip -n b link set $l up; done; "
            f"for e in 'a {one} 1' 'b {two} 2'; do set -- $e; "
            "ip -n $1 addr add 10.72.0.$3/24 dev $2; "
            "ip -n $1 addr add fd72::$3/64 dev $2 nodad; done")
    bound = " dev red" if kind == "VRF" else ""
    for i, address in enumerate(("10.72.0.{}", "fd72::{}")):
        attach(node, address.format(1) + bound, f"via_udp{2 * i}", "a")
        attach(node, address.format(2), f"via_udp{2 * i + 1}", "b")
        with responding(session, node, "b", f"via_udp{2 * i + 1}"):
            need(node.run(f"ip netns exec a {TOOLS}/viaping -d "
                          f"via_udp{2 * i} -i 0.1 -c 3 -s 30000 "
                          f"{address.format(2)}", 60), True,
                 f"{kind}, {address.format(2)}")


def kinds(session, names):
    """Over what carries IP in Linux."""
    node = session.lab.nodes[0]
    with loaded(session, node):
        node.sh("modprobe veth")
        for kind in names:
            session.check.write(kind)
            try:
                on_kind(session, node, kind)
            finally:
                node.sh("for s in a b; do ip netns del $s; done; "
                        "while ls /dev/via_udp*; do sleep 0.1; done", 60)


def told(node, command, rc, says):
    result = node.run(command, 60)
    if result.rc != rc or not re.search(says, result.all):
        raise StepFailed(f"{command}: status {result.rc}: {result.all}")


def configured(session):
    """Commands, a file, and names of the resolver."""
    node = session.lab.nodes[0]
    via = f"{VIA} -n a"
    with loaded(session, node):
        node.sh(f"ip netns add a; ip netns exec a {IP6}; "
                "ip -n a link set lo up; "
                "ip -n a addr add 10.74.0.1/24 dev lo; "
                "ip -n a addr add 10.74.0.2/24 dev lo; "
                "ip -n a addr add fd74::1/64 dev lo nodad; "
                "ip -n a addr add fd74::2/64 dev lo nodad; "
                "printf '10.74.0.2 udp4.test\nfd74::2 udp6.test\n' "
                ">>/etc/hosts")
        try:
            told(node, f"{via} dev attach 10.99.0.9", 1, "10.99.0.9")
            told(node, f"{via} dev attach 10.74.0.1 port x", 2, "no port")
            told(node, f"{via} dev attach 10.74.0.1 dev nosuch", 1, "nosuch")
            told(node, f"{via} dev attach 10.74.0.1", 0, "of its subnets")
            told(node, f"{via} dev attach 10.74.0.1", 1, "port")
            told(node, f"{via} dev attach 10.74.0.1 port 5001", 0, "")
            told(node, f"{via} dev show via_udp0", 0, "10.74.0.1.*peers near")
            told(node, f"{via} dev detach via_udp1", 0, "")
            conf = "[address 10.74.0.2]\nallow = 10.74.0.0/24\n" \
                "[address fd74::1]\nport = 5001\n" \
                "[address fd74::2]\nport = 5001\nallow = fd74::/16\n"
            node.sh(f"printf '{conf}' >/tmp/udp.conf")
            for _ in range(2):
                told(node, f"{via} apply /tmp/udp.conf", 0, "")
            told(node, f"{via} peer show via_udp1", 0, "10.74.0.0/24")
            told(node, f"{via} dev show", 0, "via_udp3: address fd74::2")
            for wrong in ("[address x]", "[address 10.74.0.2]\nport = 0",
                          "[address 10.74.0.2]\ndriver = native"):
                told(node, f"printf '{wrong}\n' >/tmp/udp.conf; "
                     f"{via} apply /tmp/udp.conf", 2, "udp.conf:")
            for name, one, two in (("udp4.test", 0, 1), ("udp6.test", 2, 3),
                                   ("fd74::2", 2, 3)):
                with responding(session, node, "a", f"via_udp{two}"):
                    need(node.run(f"ip netns exec a {TOOLS}/viaping -c 2 -i "
                                  f"0.1 -d via_udp{one} {name}", 60), True,
                         name)
            told(node, f"{via} dev detach via_udp1; "
                 f"{via} dev attach 10.74.0.2 port 5002 dev lo; "
                 f"{via} save >/tmp/saved && cat /tmp/saved", 0,
                 "10.74.0.2.\nport = 5002\ndev = lo\nallow = all\n")
            told(node, f"for i in 0 1 2 3; do {via} dev detach via_udp$i; "
                 f"done; {via} apply /tmp/saved && "
                 f"{via} save | diff /tmp/saved - && echo equal", 0, "equal")
        finally:
            node.sh("ip netns del a; sed -i /udp[46].test/d /etc/hosts; "
                    "while ls /dev/via_udp*; do sleep 0.1; done", 60)


def garbage(session, family, amount):
    """Datagrams that are no frames, from a host that may talk: none is
    answered with more than it has, and the NIC serves on."""
    with routed(session, family) as node:
        with responding(session, node):
            need(ping(node, family), True, "before")
            node.sh(f"ip netns exec a python3 {GUEST}/datagrams.py "
                    f"{FAR[family][1]} 13879 {amount} 7", 300)
            need(ping(node, family), True, "after")
        stats = numbers(node.sh(f"ip netns exec b {TOOLS}/viastat -d "
                                "via_udp1").out)
        session.check.write(str(stats))
        if sum(v for k, v in stats.items()
               if re.search("drop|bad|malformed|unknown|version", k)) < \
                amount / 2:
            raise StepFailed("the datagrams have not arrived")
