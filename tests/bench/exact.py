# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Parts in exact mode: one guest, one CPU, a nanosecond is an instruction."""

import json
import os

from lab import Lab
from labkit import offloads
from labkit.base import LabError
from labkit.initrd import NATIVE
from labkit.node import NO_STRINGS

PEER = "--peer-netns peer"
VIA = f"--exact -d via_eth0 --peer-dev via_eth1 {PEER}"
UDP = f"--exact -d via_udp0 --peer-dev via_udp1 {PEER}"
SOCK = f"--exact {PEER}"
# The 82574L's model coalesces interrupts for 128 us whatever is asked, and
# exact mode counts that.  (So it does of igb's stock driver, which asks for it:
# IP beside that one passes easily.)
NATIVE_EXACT = ("tulip", "e1000", "i82559er", "rtl8139", "igb")


def guest(args, nic, **more):
    """The lab of these parts."""
    return Lab(nodes=1, nics=[nic], exact=True, kernel=args.kernel, mem=1024,
               erms=args.erms, **more)


def bind_native(lab, driver):
    """Both cards to our own driver, the second one in its namespace again."""
    node = lab.nodes[0]
    bind = os.path.join(os.path.dirname(__file__), "../../tools/via-bind")
    lab.insmod(node, modules=("via_native", driver))
    node.sh(f"ip -n peer link set eth1 netns 1 && {bind} eth0 native && "
            f"{bind} eth1 native && ip link set eth1 netns peer")


def machine(args):
    """What the record of a run calls it."""
    return f"exact mode, {'with ERMS and FSRM' if args.erms else NO_STRINGS}"


# Messages of 64 KiB of a bulk run, and of the one before it.
BULK, BULK_WARM = 1000, 200


class Exact:
    """Runs programs on the exact node and books what they print."""

    def __init__(self, book, lab, build, nic, quick):
        self.book, self.lab, self.nic, self.quick = book, lab, nic, quick
        self.node, self.build = lab.nodes[0], build
        self.failures = []
        self.udp = {}   # of an address, the VI NICs of it and of its peer

    def check_copies(self):
        """LabError where the kernel's copies count by the byte and should
        not."""
        flags = self.node.sh("grep -m 1 ^flags /proc/cpuinfo").out.split()
        found = {"erms", "fsrm"}.intersection(flags)
        if found and not self.lab.erms:
            raise LabError(f"the guest's processor has {', '.join(found)} in "
                           f"spite of {NO_STRINGS}")

    def setup(self):
        self.check_copies()
        self.lab.insmod(self.node)
        self.lab.attach(self.node, "eth0")
        self.node.sh(f"{self.build}/tools/via -n peer dev attach eth1 && "
                     "test -c /dev/via_eth1")

    def go_native(self):
        """Both cards to our own driver, the second one in its namespace."""
        bind_native(self.lab, NATIVE[self.nic])
        self.node.sh(
            "ip -n peer addr add 10.0.0.2/24 dev eth1 && "
            "ip -n peer link set eth1 up && "
            "ip neigh replace 10.0.0.2 lladdr 52:54:00:00:01:01 dev eth0 && "
            "ip -n peer neigh replace 10.0.0.1 lladdr 52:54:00:00:00:01 "
            "dev eth1 && "
            "until grep -q 1 /sys/class/net/eth0/carrier && ip netns exec "
            "peer grep -q 1 /sys/class/net/eth1/carrier; do sleep 0.1; done")

    def run(self, command, timeout=300):
        """JSON objects of a command; a failure is noted, not the end."""
        done = self.node.run(f"{self.build}/{command}", timeout)
        if done.rc:
            last = (done.all.strip().splitlines() or ["no output"])[-1]
            self.failures.append(f"{self.nic}: {command}: {last}")
            print(f"# FAILED {self.failures[-1]}", flush=True)
            return []
        return [json.loads(line) for line in done.out.splitlines()
                if line.startswith("{")]

    def count(self, n):
        return max(n // 5, 20) if self.quick else n

    def lat(self, path, wait, command, level="-", nic=None):
        for row in self.run(f"{command} -n {self.count(2000)} --json -"):
            self.book.add(bench="lat", path=path, nic=nic or self.nic,
                          level=level, wait=wait, size=row["bytes"],
                          unit="instructions", value=row["half_rtt_ns"])

    def bulk(self, path, wait, command, level="-", nic=None):
        """64 KiB, after a run that does not count: the first messages of a
        connection are dearer, TCP's most.  So --quick has as many."""
        command = f"{command} -s 65536 --json -"
        self.run(f"{command} -n {BULK_WARM}")
        for row in self.run(f"{command} -n {BULK}"):
            self.book.add(bench="bulk", path=path, nic=nic or self.nic,
                          level=level, wait=wait, size=row["bytes"],
                          unit="instr-per-byte", value=row["ns_per_byte"])

    def micro(self, nic, command):
        for row in self.run(f"tests/bench/{command}"):
            if row["unit"] == "ns":
                row["unit"] = "instructions"
            self.book.add(nic=nic, **row)


def over_via(exact, path, where=VIA):
    for level in ("rd", "unreliable"):
        for wait, flag in (("poll", ""), ("block", "-e")):
            exact.lat(path, wait,
                      f"tools/vipl_lat {where} -l {level} {flag}", level)
    exact.bulk(path, "poll", f"tools/vipl_bw {where} -t 8", "rd")
    exact.bulk(path, "block", f"tools/vipl_bw {where} -e", "rd")


def over_ip(exact, driver=""):
    """Returns what TCP is called."""
    exact.lat(f"udp-spin{driver}", "poll",
              f"tests/bench/sock_lat {SOCK} 10.0.0.2 --spin")
    for proto in ("udp", "tcp"):
        exact.lat(f"{proto}{driver}", "block",
                  f"tests/bench/sock_lat {SOCK} 10.0.0.2 --proto {proto}")
    name = offloads.tcp(exact.node, "eth0", f"tcp{driver}")
    exact.bulk(name, "block",
               f"tests/bench/sock_lat {SOCK} 10.0.0.2 --proto tcp --bw")
    return name


def part_exact(exact):
    """Latency and instructions a byte over the NIC, with references."""
    over_via(exact, "via_netdev")
    over_ip(exact)


def part_native(exact):
    """The same through our own driver, IP beside the stock one.  Comes last:
    the cards change hands."""
    stock = offloads.tcp(exact.node, "eth0")
    if exact.book.get(bench="bulk", path=stock, nic=exact.nic) is None:
        over_ip(exact)
    exact.go_native()
    driver = NATIVE[exact.nic]
    over_via(exact, driver)
    ours = over_ip(exact, f"@{driver}")
    exact.book.ratio(dict(bench="bulk", path=ours, nic=exact.nic),
                     dict(bench="bulk", path=stock, nic=exact.nic))
    for bench, path, wait in (("lat", "udp-spin", "poll"),
                              ("lat", "udp", "block"), ("lat", "tcp", "block")):
        # Part sizes has others of the same name.
        like = dict(bench=bench, nic=exact.nic, wait=wait, size=4)
        exact.book.ratio(dict(path=f"{path}@{driver}", **like),
                         dict(path=path, **like))


def attach_udp(exact, near="10.0.0.1", far="10.0.0.2", shape="udp"):
    """VI NICs of two addresses, the second one in the namespace."""
    if not exact.udp:
        exact.lab.udp(exact.node)
    if near not in exact.udp:
        via, number = f"{exact.build}/tools/via", 2 * len(exact.udp)
        exact.node.sh(f"{via} dev attach {near} shape {shape} && "
                      f"{via} -n peer dev attach {far} shape {shape}")
        exact.udp[near] = (f"via_udp{number}", f"via_udp{number + 1}")
    return exact.udp[near]


def part_udp(exact):
    """In UDP/IP, over the stock driver and through the network stack."""
    attach_udp(exact)
    over_via(exact, "via_udp", UDP)


def part_lo(exact):
    """via_lo beside a UNIX-domain socket pair."""
    lo = "--exact -d via_lo"
    for bench, tool, sock in ((exact.lat, "vipl_lat", ""),
                              (exact.bulk, "vipl_bw", "--bw")):
        for wait, flag, spin in (("poll", "", "--spin"), ("block", "-e", "")):
            bench("via_lo", wait, f"tools/{tool} {lo} {flag}", "rd", "lo")
            bench("unix", wait, "tests/bench/sock_lat --exact --proto unix "
                  f"{sock} {spin}", "-", "lo")
            name = "lat" if bench == exact.lat else "bulk"
            exact.book.ratio(dict(bench=name, path="unix", wait=wait),
                             dict(bench=name, path="via_lo", wait=wait))


# What the target's list of peers has, and that of the host that throws, while
# frames of each set are thrown (tests/viatest/frames/cost.c).
TARGET, THROWER = "52:54:00:00:00:01", "52:54:00:00:01:01"
KEY = f"key={'9d3ac1760e5bf248' * 4}"
SETS = {"open": ("", ""), "list": (THROWER, ""),
        "key": (f"{THROWER} {KEY}", f"{TARGET} {KEY}")}
HOSTILE_VIS = (1, 1000)
# Kinds of tests/viatest/frames/cost.c; and what frames with the cookie of a
# connection and a wrong tag may cost: that is a hash of their bytes.
HOSTILE = ("version", "type", "length", "checksum", "no VI", "cookie",
           "source", "RESET, unknown host", "RESET, cookie", "RESET, numbers",
           "DISCONNECT, cookie", "DISCONNECT, numbers", "DISCONNECT_ACK",
           "REQUEST, no token", "PEER_REQUEST, no token", "CHALLENGE",
           "REFUSE", "CANCEL", "ACCEPT", "NAME_QUERY", "NAME_REPLY",
           "HEARTBEAT", "LIST", "AUTH, no key", "stranger, SEND",
           "stranger, REQUEST", "stranger, AUTH", "key, no AUTH",
           "key, cookie", "key, other cookie", "key, REQUEST", "key, replay",
           "seen: tag", "seen: tag, long")
HOSTILE_SEEN = {"seen: tag": 2500, "seen: tag, long": 30000}


def lists(exact, *texts):
    """The lists of peers of both NICs: a host with a key, or empty."""
    for net, text in enumerate(texts):
        words = text.replace(" key=", " ").split()
        hosts = {words[0]: (words + [None])[1]} if words else None
        exact.lab.peers(exact.node, f"eth{net}", hosts,
                        netns="peer" if net else None)


def part_keys(exact):
    """Latency and instructions a byte with authenticators in all frames."""
    lists(exact, *SETS["key"])
    exact.lat("via_netdev, key", "poll", f"tools/vipl_lat {VIA} -l rd", "rd")
    exact.bulk("via_netdev, key", "block", f"tools/vipl_bw {VIA} -e", "rd")
    lists(exact, "", "")
    exact.node.sh("echo 1 >/sys/module/via_ether/parameters/checksum")
    exact.lat("via_netdev, sum", "poll", f"tools/vipl_lat {VIA} -l rd", "rd")
    exact.bulk("via_netdev, sum", "block", f"tools/vipl_bw {VIA} -e", "rd")
    exact.node.sh("echo 0 >/sys/module/via_ether/parameters/checksum")
    exact.lat("via_netdev", "poll", f"tools/vipl_lat {VIA} -l rd", "rd")
    exact.bulk("via_netdev", "block", f"tools/vipl_bw {VIA} -e", "rd")


def part_hostile(exact):
    """Instructions of each kind of hostile frame, with few VIs and many."""
    cost = {vis: {} for vis in HOSTILE_VIS}
    for vis in HOSTILE_VIS:
        for name, texts in SETS.items():
            lists(exact, *texts)
            for row in exact.run(
                    f"viatest frames --cost {name} --vis {vis} --device "
                    f"via_eth0 --peer via_eth1 {PEER.replace('peer-', '')} "
                    "--count /sys/class/net/eth0/statistics/rx_packets eth1 "
                    f"{TARGET}", 600):
                row["unit"] = "instructions"
                cost[vis][row["path"]] = row["value"]
                exact.book.add(nic=exact.nic, **row)
    few, many = (cost[vis] for vis in HOSTILE_VIS)
    if few and many:
        exact.book.add(bench="hostile", path="more for many VIs",
                       nic=exact.nic, level="-", wait="-", size=0,
                       unit="instructions",
                       value=max(many[k] - few[k] for k in few if k in many))
    lists(exact, "", "")


# VIs that take turns, and huge pages for what is registered.
MANY_VIS, HUGE_PAGES = 1000, 8


def part_objects(exact):
    """What objects cost to make and to end, many VIs in turn, the end of many
    with their owner, and connections of 100 processes at once."""
    exact.node.sh(f"echo {HUGE_PAGES} >/proc/sys/vm/nr_hugepages")
    for nic, dev, peer in (("lo", "via_lo", ""),
                           (exact.nic, "via_eth0", "via_eth1 peer")):
        exact.micro(nic, f"bench_objects {dev}")
        exact.micro(nic, f"bench_conn {dev} {peer}".strip())
        exact.micro(nic, f"bench_reg {dev} vi")
        exact.micro(nic, f"bench_many {MANY_VIS} {dev} {peer}".strip())
        exact.micro(nic, f"bench_kill {MANY_VIS} {dev} {peer}".strip())
        exact.micro(nic, f"bench_crowd 100 10 {dev} {peer}".strip())
    exact.node.sh("echo 0 >/proc/sys/vm/nr_hugepages")


def part_micro(exact):
    """The cost of single calls, and memory."""
    exact.micro("-", "bench_trap /dev/via_lo")
    exact.micro("lo", "bench_post via_lo")
    exact.micro(exact.nic, "bench_post via_eth0")
    exact.micro("lo", "bench_conn via_lo")
    exact.micro(exact.nic, "bench_conn via_eth0 via_eth1 peer")
    exact.micro("lo", "bench_reg via_lo")
    exact.micro(exact.nic, "bench_reg via_eth0")
