#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""VIPL over ofi:tcp beside libfabric alone (fi_pingpong), both on this host,
in turns: one way of 4 bytes, and 64 KiB.

speed.py [ROUNDS].  Both ends of both spin, and other work of the host gets in
their way: runs are short, and the best of each kind counts.  The bars are 1.3
times the latency, 0.8 times the bandwidth of fi_pingpong in the same run;
status 1 where one is missed.
"""

import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
TOOLS = os.path.join(ROOT, "build/tools")
DEVICE = "ofi:tcp,127.0.0.1"
PINGPONG = ["fi_pingpong", "-p", "tcp;ofi_rxm", "-e", "rdm"]


def both(server, client, wait):
    """The output of the client."""
    one = subprocess.Popen(server, stdout=subprocess.DEVNULL)
    time.sleep(wait)
    try:
        done = subprocess.run(client, capture_output=True, text=True,
                              timeout=60)
        if done.returncode:
            sys.exit(f"speed: {' '.join(client)}: {done.stderr[-300:]}")
        one.wait(20)
        return done.stdout
    finally:
        one.kill()
        one.wait()


def pingpong(size, count):
    """Microseconds of one transfer."""
    command = PINGPONG + ["-S", str(size), "-I", str(count)]
    text = both(command, command + ["127.0.0.1"], 1)
    return float(text.split("\n")[1].split()[6])


def vipl(tool, size, count, column):
    command = [os.path.join(TOOLS, tool), "-d", DEVICE, "-l", "unreliable"]
    text = both(command, command + ["-s", str(size), "-n", str(count),
                                    "127.0.0.1"], 0.3)
    line = [x for x in text.split("\n") if re.match(r"\s*\d", x)][-1]
    return float(line.split()[column])


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    if not shutil.which("fi_pingpong"):
        print("no fi_pingpong: apt-get install libfabric-bin")
        sys.exit(77)
    os.environ.setdefault("VIPL_PROVIDERS",
                          os.path.join(ROOT, "build/providers"))
    figures = {name: [] for name in ("fi4", "via4", "fi64k", "via64k")}
    for _ in range(rounds):
        figures["fi4"].append(pingpong(4, 400))
        figures["via4"].append(vipl("vipl_lat", 4, 400, 5))
        # Both bytes per microsecond: MB/s.
        figures["fi64k"].append(65536 / pingpong(65536, 200))
        figures["via64k"].append(vipl("vipl_bw", 65536, 400, 3) / 8)
    best = {k: (max if "64k" in k else min)(v) for k, v in figures.items()}
    late = best["via4"] / best["fi4"]
    wide = best["via64k"] / best["fi64k"]
    print(f"4 bytes one way: fi_pingpong {best['fi4']:.2f} us, VIPL "
          f"{best['via4']:.2f} us: {late:.2f} times (1.3 at most)")
    print(f"64 KiB: fi_pingpong {best['fi64k']:.0f} MB/s, VIPL "
          f"{best['via64k']:.0f} MB/s: {wide:.2f} times (0.8 at least)")
    sys.exit(late > 1.3 or wide < 0.8)


main()
