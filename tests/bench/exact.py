# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Parts in exact mode: one guest, one CPU, a nanosecond is an instruction."""

import json

PEER = "--peer-netns peer"
VIA = f"--exact -d via_eth0 --peer-dev via_eth1 {PEER}"
SOCK = f"--exact {PEER}"


class Exact:
    """Runs programs on the exact node and books what they print."""

    def __init__(self, book, lab, build, nic, quick):
        self.book, self.lab, self.nic, self.quick = book, lab, nic, quick
        self.node, self.build = lab.nodes[0], build
        self.failures = []

    def setup(self):
        self.lab.insmod(self.node)
        self.lab.attach(self.node, "eth0")
        self.node.sh("nsenter --net=/var/run/netns/peer sh -c 'echo eth1 "
                     ">/sys/module/via_netdev/parameters/attach' && "
                     "test -c /dev/via_eth1")

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
        for row in self.run(f"{command} -s 65536 -n {self.count(400)} "
                            "--json -"):
            self.book.add(bench="bulk", path=path, nic=nic or self.nic,
                          level=level, wait=wait, size=row["bytes"],
                          unit="instr-per-byte", value=row["ns_per_byte"])

    def micro(self, nic, command):
        for row in self.run(f"tests/bench/{command}"):
            if row["unit"] == "ns":
                row["unit"] = "instructions"
            self.book.add(nic=nic, **row)


def part_exact(exact):
    """Latency and instructions a byte over the NIC, with references."""
    for level in ("rd", "unreliable"):
        for wait, flag in (("poll", ""), ("block", "-e")):
            exact.lat("via_netdev", wait,
                      f"tools/vipl_lat {VIA} -l {level} {flag}", level)
    exact.lat("udp-spin", "poll",
              f"tests/bench/sock_lat {SOCK} 10.0.0.2 --spin")
    for proto in ("udp", "tcp"):
        exact.lat(proto, "block",
                  f"tests/bench/sock_lat {SOCK} 10.0.0.2 --proto {proto}")
    exact.bulk("via_netdev", "poll", f"tools/vipl_bw {VIA} -t 8", "rd")
    exact.bulk("via_netdev", "block", f"tools/vipl_bw {VIA} -e", "rd")
    exact.bulk("tcp", "block",
               f"tests/bench/sock_lat {SOCK} 10.0.0.2 --proto tcp --bw")


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


def part_micro(exact):
    """The cost of single calls, and memory."""
    exact.micro("-", "bench_trap /dev/via_lo")
    exact.micro("lo", "bench_post via_lo")
    exact.micro(exact.nic, "bench_post via_eth0")
    exact.micro("lo", "bench_conn via_lo")
    exact.micro(exact.nic, "bench_conn via_eth0 via_eth1 peer")
    exact.micro("lo", "bench_reg via_lo")
    exact.micro(exact.nic, "bench_reg via_eth0")
