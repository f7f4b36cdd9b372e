# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""By the size of a message: instructions of a message in one machine, latency
and bandwidth between two; VIA beside UDP, TCP and soft-RoCE.  What docs/plots
is made of."""

import exact
from wire import Pair, key

# A card that segments and joins for TCP, with its stock driver.
NIC, EXACT_NIC = "e1000", "e1000"
SIZES = tuple(4 ** n for n in range(1, 9))      # 4 B to 64 KiB
UDP_LARGEST = 65000     # of sock_lat


def part_exact(runner):
    """Half a round trip, in instructions of both ends together."""
    lat, sock = f"tools/vipl_lat {exact.VIA}", \
        f"tests/bench/sock_lat {exact.SOCK} 10.0.0.2"
    for size in SIZES:
        print(f"# sizes, exact mode, {size} bytes", flush=True)
        runner.lat("via_netdev", "poll", f"{lat} -s {size}", "rd")
        runner.lat("via_netdev", "block", f"{lat} -s {size} -e", "rd")
        if size <= UDP_LARGEST:
            runner.lat("udp", "block", f"{sock} --proto udp -s {size}")
        runner.lat("tcp", "block", f"{sock} --proto tcp -s {size}")


# Between two machines all of them sleep: polling burns the host's processors
# that the emulated wire needs.

def latencies(pair, size, n):
    """Microseconds of half a round trip, by (path, level)."""
    via, ip = "-d via_eth0", "10.0.0.2"
    yield ("via_netdev", "rd"), pair.ours(
        "tools/vipl_lat", via,
        f"{via} 52:54:00:00:00:02 -s {size} -n {n} -e", "t_typical")
    for proto in ("udp", "tcp"):
        if proto == "tcp" or size <= UDP_LARGEST:
            yield (proto, "-"), pair.ours(
                "tests/bench/sock_lat", "",
                f"{ip} --proto {proto} -s {size} -n {n}", "t_typical")
    yield ("rxe", "-"), pair.perftest("ib_send_lat", 0, size, n, 4, "-e")


def bandwidths(pair, size, n):
    """Megabits a second."""
    yield ("via_netdev", "rd"), pair.via(0, size=size, n=n)
    yield ("tcp", "-"), pair.tcp(0, size, n)
    # perftest's MB are 2^20 bytes.
    rxe = pair.perftest("ib_send_bw", 0, size, n, 3, "-e")
    yield ("rxe", "-"), rxe and rxe * 8 * 1.048576


def messages(size):
    """Of a bandwidth run: enough of small ones, not too many large ones."""
    return max(1000, min(5000, (8 << 20) // size))


def one_round(pair):
    found = {}
    for size in SIZES:
        for bench, unit, factor, values in (
                ("lat", "ns", 1000, latencies(pair, size, 300)),
                ("bw", "mbps", 1, bandwidths(pair, size, messages(size)))):
            for (path, level), value in values:
                if value is not None:
                    found[key(bench, path, NIC, level, "block", size,
                              unit)] = value * factor
    return found


def part_wire(book, lab, build, quick):
    """Medians of rounds; returns the failures."""
    pair = Pair(lab, build)
    pair.setup([NIC])
    rounds = []
    for number in range(3 if quick else 7):
        print(f"# sizes, round {number + 1}, {NIC}", flush=True)
        rounds.append(one_round(pair))
    book.medians(rounds)
    return pair.failures
