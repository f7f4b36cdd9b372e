# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Latency and bandwidth by the size of a message, between two machines: VIA
beside UDP, TCP and soft-RoCE.  What docs/plots is made of."""

from wire import Pair, key

NIC = "e1000"
SIZES = tuple(4 ** n for n in range(1, 9))      # 4 B to 64 KiB
UDP_LARGEST = 65000    # of sock_lat


def latencies(pair, size, n):
    """Microseconds of half a round trip, by (path, level, wait)."""
    via, mac = "-d via_eth0", "52:54:00:00:00:02"
    ip, sock = "10.0.0.2", "tests/bench/sock_lat"
    for wait, flag in (("poll", ""), ("block", "-e")):
        yield ("via_netdev", "rd", wait), pair.ours(
            "tools/vipl_lat", via, f"{via} {mac} -s {size} -n {n} {flag}",
            "t_typical")
    for proto in ("udp", "tcp"):
        if proto == "tcp" or size <= UDP_LARGEST:
            yield (proto, "-", "block"), pair.ours(
                sock, "", f"{ip} --proto {proto} -s {size} -n {n}",
                "t_typical")
    yield ("rxe", "-", "poll"), pair.perftest("ib_send_lat", 0, size, n, 4)


def bandwidths(pair, size, n):
    """Megabits a second: blocking, as polling burns the host's processors
    that the emulated wire needs."""
    via, mac = "-d via_eth0", "52:54:00:00:00:02"
    yield ("via_netdev", "rd", "block"), pair.ours(
        "tools/vipl_bw", via, f"{via} {mac} -s {size} -n {n} -e",
        "bw_average_mbps")
    yield ("tcp", "-", "block"), pair.ours(
        "tests/bench/sock_lat", "", f"10.0.0.2 --proto tcp --bw -s {size} "
        f"-n {n}", "bw_average_mbps")
    # perftest's MB are 2^20 bytes.
    rxe = pair.perftest("ib_send_bw", 0, size, max(n // 4, 50), 3, "-e")
    yield ("rxe", "-", "block"), rxe and rxe * 8 * 1.048576


def messages(size, quick):
    """Of a bandwidth run: less of large ones, enough of small ones."""
    return max(100, min(2000, (8 << 20) // size)) // (2 if quick else 1)


def one_round(pair, quick):
    found = {}
    for size in SIZES:
        for bench, unit, factor, values in (
                ("lat", "ns", 1000, latencies(pair, size,
                                              200 if quick else 500)),
                ("bw", "mbps", 1, bandwidths(pair, size,
                                             messages(size, quick)))):
            for (path, level, wait), value in values:
                if value is not None:
                    found[key(bench, path, NIC, level, wait, size,
                              unit)] = value * factor
    return found


def part_sizes(book, lab, build, quick):
    """Medians of rounds; returns the failures."""
    pair = Pair(lab, build)
    pair.setup([NIC])
    rounds = []
    for number in range(3 if quick else 5):
        print(f"# sizes, round {number + 1}, {NIC}", flush=True)
        rounds.append(one_round(pair, quick))
    book.medians(rounds)
    return pair.failures
