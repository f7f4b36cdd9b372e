# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Two machines on one wire: VIA beside UDP, TCP and soft-RoCE."""

import json
import os
import re

from labkit import offloads
from labkit.base import LabError

# Connections of libfabric's are made by the RDMA connection manager. The lab's
# processor is emulated, and so are carry-less multiplications: soft-RoCE's
# checksum is faster without crc32-pclmul.
RXE = ("modprobe crc32_generic; modprobe rdma_rxe && modprobe rdma_ucm && "
       "for i in {nics}; do rdma link add rxe$i type rxe netdev eth$i; done")


WIREGUARD = 9  # its network: 10.9.0.0/24

# Messages of 64 KiB, and of the run before them, which does not count.
BULK, BULK_WARM = 1000, 200


class Pair:
    """Two nodes, of which the second one serves."""

    def __init__(self, lab, build):
        self.lab, self.build = lab, build
        self.failures = []

    def setup(self, nics):
        for node in self.lab.nodes:
            self.lab.insmod(node)
            self.lab.attach(node, *(f"eth{i}" for i in range(len(nics))))
            node.sh(RXE.format(nics=" ".join(map(str, range(len(nics))))))

    def setup_udp(self, nics):
        """via_udp0 and so on over the NICs, the next one across WireGuard on
        the first of them."""
        public = []
        for i, node in enumerate(self.lab.nodes, 1):
            self.lab.udp(node)
            public.append(node.sh(
                "modprobe wireguard && ip link add wg0 type wireguard && "
                "umask 077 && wg genkey >/tmp/wg && wg pubkey </tmp/wg"
                ).out.strip())
        for i, node in enumerate(self.lab.nodes, 1):
            node.sh("wg set wg0 private-key /tmp/wg listen-port 51820 peer "
                    f"{public[2 - i]} endpoint 10.0.0.{3 - i}:51820 "
                    f"allowed-ips 10.9.0.0/24 && ip addr add 10.9.0.{i}/24 "
                    "dev wg0 && ip link set wg0 up")
            for net in (*range(len(nics)), WIREGUARD):
                node.sh(f"{self.build}/tools/via dev attach 10.{net}.0.{i}")

    def run(self, server, client, ready=None, timeout=120):
        """The client's output; None after a failure, which is noted."""
        client_node, server_node = self.lab.nodes
        job = server_node.spawn(server, timeout)
        if ready:
            job.expect(ready)
        try:
            done = client_node.run(client, timeout)
        except LabError:
            job.kill()
            job.wait()
            raise
        if done.rc:
            job.kill()
        job.wait()
        if done.rc:
            last = (done.all.strip().splitlines() or ["no output"])[-1]
            self.failures.append(f"{client}: {last}")
            print(f"# FAILED {self.failures[-1]}", flush=True)
            return None
        return done.out

    def ours(self, tool, server, client, field):
        tool = f"VIPL_PROVIDERS={self.build}/providers {self.build}/{tool}"
        out = self.run(f"{tool} {server}", f"{tool} {client} --json -")
        rows = [json.loads(line) for line in (out or "").splitlines()
                if line.startswith("{")]
        return rows[0][field] if rows else None

    def perftest(self, tool, net, size, iters, column, flag="", tries=3):
        """A column of its line.  Where it sleeps it misses a notice of its CQ
        now and then (one run of forty), and waits for ever: then again."""
        flags = f"-d rxe{net} -x 1 -F -s {size} -n {iters} {flag}".strip()
        try:
            out = self.run(f"stdbuf -oL {tool} {flags}",
                           f"{tool} {flags} 10.{net}.0.2",
                           "Waiting for client", 30 if flag else 120)
        except LabError as why:
            if not flag or not tries:
                raise
            print(f"# again: {why}", flush=True)
            return self.perftest(tool, net, size, iters, column, flag,
                                 tries - 1)
        match = re.search(rf"^ *{size}\s+\d+\s.*$", out or "", re.M)
        return float(match.group().split()[column]) if match else None

    def bw(self, tool, server, client, n=BULK):
        """Megabits a second, after a run that does not count: the first
        messages of a connection are slower, TCP's most."""
        for count in (BULK_WARM, n):
            found = self.ours(tool, server, f"{client} -n {count}",
                              "bw_average_mbps")
        return found

    def tcp(self, net, size=65536, n=BULK):
        return self.bw("tests/bench/sock_lat", "", f"10.{net}.0.2 --proto tcp "
                       f"--bw -s {size}", n)

    def tcp_name(self, net, name="tcp"):
        """With the offloads that it has over that NIC."""
        return offloads.tcp(self.lab.nodes[0], f"eth{net}", name)

    def via(self, net, flag="-e", size=65536, n=BULK):
        """Reliable Delivery, usually blocking: polling burns the host CPUs that
        the emulated wire needs."""
        device = f"-d via_eth{net}"
        return self.bw("tools/vipl_bw", device, f"{device} "
                       f"52:54:00:00:{net:02x}:02 {flag} -s {size}", n)


def key(bench, path, nic, level, wait, size, unit):
    return (("bench", bench), ("path", path), ("nic", nic), ("level", level),
            ("wait", wait), ("size", size), ("unit", unit))


def one_round(pair, net, nic, quick):
    """All contenders once, one after the other: {key: value}."""
    n = 300 if quick else 1000
    mac = f"52:54:00:00:{net:02x}:02"
    via, ip = f"-d via_eth{net}", f"10.{net}.0.2"
    sock = "tests/bench/sock_lat"
    found = {}

    def book(value, factor, *what):
        if value is not None:
            found[key(*what)] = value * factor

    for wait, flag in (("poll", ""), ("block", "-e")):
        book(pair.ours("tools/vipl_lat", via,
                       f"{via} {mac} -n {n} {flag}", "t_typical"), 1000,
             "lat", "via_netdev", nic, "rd", wait, 4, "ns")
    in_udp = f"-d via_udp{net}"
    for wait, flag in (("poll", ""), ("block", "-e")):
        book(pair.ours("tools/vipl_lat", in_udp,
                       f"{in_udp} {ip} -n {n} {flag}", "t_typical"), 1000,
             "lat", "via_udp", nic, "rd", wait, 4, "ns")
    book(pair.bw("tools/vipl_bw", in_udp, f"{in_udp} {ip} -e"), 1,
         "bw", "via_udp", nic, "rd", "block", 65536, "mbps")
    for proto in ("udp", "tcp"):
        book(pair.ours(sock, "", f"{ip} --proto {proto} -n {n}", "t_typical"),
             1000, "lat", proto, nic, "-", "block", 4, "ns")
    book(pair.perftest("ib_send_lat", net, 4, n, 4), 1000,
         "lat", "rxe", nic, "-", "poll", 4, "ns")
    verbs = f"-d ofi:verbs,eth{net}"
    book(pair.ours("tools/vipl_lat", verbs, f"{verbs} {ip} -n {n}",
                   "t_typical"), 1000,
         "lat", "ofi:verbs", nic, "rd", "poll", 4, "ns")
    for wait, flag in (("poll", ""), ("block", "-e")):
        book(pair.via(net, flag), 1,
             "bw", "via_netdev", nic, "rd", wait, 65536, "mbps")
    book(pair.tcp(net), 1,
         "bw", pair.tcp_name(net), nic, "-", "block", 65536, "mbps")
    # perftest's MB are 2^20 bytes.
    for wait, flag in (("poll", ""), ("block", "-e")):
        book(pair.perftest("ib_send_bw", net, 65536, 50 if quick else 100, 3,
                           flag), 8 * 1.048576,
             "bw", "rxe", nic, "-", wait, 65536, "mbps")
    return found


def across_wireguard(pair, nic, device, quick):
    """Latency of via_udp and of TCP in one tunnel: {key: value}."""
    n, ip, found = 300 if quick else 1000, f"10.{WIREGUARD}.0.2", {}
    for path, level, value in (
            ("via_udp@wireguard", "rd", pair.ours(
                "tools/vipl_lat", f"-d {device}", f"-d {device} {ip} -n {n} -e",
                "t_typical")),
            ("tcp@wireguard", "-", pair.ours(
                "tests/bench/sock_lat", "", f"{ip} --proto tcp -n {n}",
                "t_typical"))):
        if value is not None:
            found[key("lat", path, nic, level, "block", 4, "ns")] = value * 1000
    return found


def part_wire(book, lab, build, nics, quick):
    """Interleaved rounds over each NIC; returns the failures."""
    pair = Pair(lab, build)
    pair.setup(nics)
    pair.setup_udp(nics)
    rounds = []
    for number in range(2 if quick else 5):
        for net, nic in enumerate(nics):
            print(f"# round {number + 1}, {nic}", flush=True)
            rounds.append(one_round(pair, net, nic, quick))
        rounds.append(across_wireguard(pair, nics[0], f"via_udp{len(nics)}",
                                       quick))
    book.medians(rounds)
    book.ratio(dict(bench="lat", path="tcp@wireguard", nic=nics[0]),
               dict(bench="lat", path="via_udp@wireguard", nic=nics[0]))
    for nic in nics:
        book.ratio(dict(bench="lat", path="udp", nic=nic),
                   dict(bench="lat", path="via_udp", nic=nic, wait="poll"))
        tcp = dict(bench="bw", path=pair.tcp_name(nics.index(nic)), nic=nic)
        book.ratio(dict(bench="bw", path="via_udp", nic=nic), tcp)
        for other in ("udp", "tcp", "rxe"):
            book.ratio(dict(bench="lat", path=other, nic=nic),
                       dict(bench="lat", path="via_netdev", nic=nic,
                            wait="poll"))
        book.ratio(dict(bench="lat", path="ofi:verbs", nic=nic),
                   dict(bench="lat", path="rxe", nic=nic))
        # Bandwidth blocking: polling burns the host CPUs that the emulated
        # wire needs.  perftest gets the way that suits it better.
        via = dict(bench="bw", path="via_netdev", nic=nic, wait="block")
        rxe = [(book.get(bench="bw", path="rxe", nic=nic, wait=w) or 0, w)
               for w in ("poll", "block")]
        book.ratio(via, tcp)
        book.ratio(via, dict(bench="bw", path="rxe", nic=nic,
                             wait=max(rxe)[1]))
    return pair.failures


def part_native(book, lab, build, nic, driver, quick):
    """Bandwidth on wire 0 through the stock driver, on wire 1 through ours;
    medians of interleaved rounds."""
    bind = os.path.join(os.path.dirname(__file__), "../../tools/via-bind")
    pair = Pair(lab, build)
    for node in lab.nodes:
        lab.insmod(node)
        lab.insmod(node, modules=("via_native", driver))
        node.sh(f"{bind} eth1 native && until grep -q 1 "
                "/sys/class/net/eth1/carrier; do sleep 0.1; done", 60)
    stock, ours = pair.tcp_name(0), pair.tcp_name(1, f"tcp@{driver}")
    rounds = []
    for number in range(2 if quick else 5):
        print(f"# round {number + 1}", flush=True)
        found = {}
        for path, level, value in (
                (stock, "-", pair.tcp(0)), (ours, "-", pair.tcp(1)),
                (driver, "rd", pair.via(1))):
            if value is not None:
                found[key("bw", path, nic, level, "block", 65536,
                          "mbps")] = value
        rounds.append(found)
    book.medians(rounds)
    for path in (ours, driver):
        book.ratio(dict(bench="bw", path=path, nic=nic),
                   dict(bench="bw", path=stock, nic=nic))
    return pair.failures
