#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Part providers: shm beside a UNIX-domain socket pair and pipes, ofi:tcp
beside TCP and libfabric's own fi_pingpong; two processes of this machine, no
virtual machine.  Interleaved rounds, and medians of them."""

import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

from local import SIZE, Failed, Local

NIC = "local"
OFI = "ofi:tcp"
PINGPONG = "fi_pingpong"
RDM = "tcp;ofi_rxm"
LOCALHOST = "localhost"
TRIES = 5       # the least of so many is an end of a ping-pong

# `run` gives a figure of that many messages.
Contender = collections.namedtuple("Contender", "bench path wait run")


def via_lat(local, device, block):
    return lambda n: local.via_lat(device, LOCALHOST, n, block)


def via_bw(local, device, block):
    return lambda n: local.via_bw(device, LOCALHOST, n, block)


def sock_lat(local, proto, block):
    return lambda n: local.sock_lat(proto, n, block)


def sock_bw(local, proto, block):
    return lambda n: local.sock_bw(proto, n, block)


def beside(local, path, device, protos):
    """A device and what it stands beside, polling and sleeping."""
    for block, wait in ((False, "poll"), (True, "block")):
        yield Contender("lat", path, wait, via_lat(local, device, block))
        for proto in protos:
            yield Contender("lat", proto, wait, sock_lat(local, proto, block))
    for block, wait in ((False, "poll"), (True, "block")):
        yield Contender("bw", path, wait, via_bw(local, device, block))
        for proto in protos:
            yield Contender("bw", proto, wait, sock_bw(local, proto, block))


def pingpong(local):
    """Its average has some milliseconds of connecting in it: long runs."""
    def lat(iters):
        return local.fi_pingpong(RDM, 4, iters)[0]

    def bw(iters):
        return local.fi_pingpong(RDM, SIZE, iters)[1]

    return [Contender("lat", PINGPONG, "poll", lat),
            Contender("bw", PINGPONG, "poll", bw)]


def contenders(local, with_pingpong=True):
    """Those that can run here, and what cannot and why."""
    found, without = [], []
    if local.plugin("shm"):
        found += beside(local, "shm", "shm:0", ("unix", "pipe"))
    else:
        without.append("shm: its plug-in is not built")
    if local.plugin("ofi"):
        found += beside(local, OFI, OFI, ("tcp",))
    else:
        without.append(f"{OFI}: its plug-in is not built (apt-get install "
                       "libfabric-dev, then make)")
    if with_pingpong and local.plugin("ofi"):
        if shutil.which(PINGPONG):
            found += pingpong(local)
        else:
            without.append(f"{PINGPONG}: apt-get install libfabric-bin")
    return found, without


MESSAGES = 20000  # of a run; quick ones have a part


def iterations(one, messages):
    """Some tens of milliseconds each: fewer of the long ones."""
    if one.bench == "bw":
        return messages // (1 if one.path == PINGPONG else 2)
    return messages // (10 if one.wait == "block" else 1)


def rounds(found, count, messages, tell, failures, seconds=None):
    """{contender: its figures}; load comes and goes, so all take turns.  None
    begins a round after that many seconds."""
    values = collections.defaultdict(list)
    begin = time.monotonic()
    for number in range(count):
        if number and seconds and time.monotonic() - begin > seconds:
            break
        tell(number)
        for one in found:
            try:
                values[one].append(one.run(iterations(one, messages)))
            except Failed as error:
                failures.append(f"{one.bench}, {one.path}, {one.wait}: "
                                f"{error}")
    return values


def standing(one, values):
    """The median; of fi_pingpong, which tells averages alone, the best."""
    if one.path != PINGPONG:
        return statistics.median(values)
    return min(values) if one.bench == "lat" else max(values)


# Instructions that one end may execute for a message that it sends and one
# that it receives, 4 bytes, polling: posts, completions and progress.
PATH_BAR = 400
BAR_COMPILER = 12  # of gcc, that of the bar
OTHERS = 1.03  # times as many are right in another compiler's code


def path_bar(library):
    """The bar of a library, by the compiler that it names."""
    with open(library, "rb") as file:
        found = re.findall(rb"GCC: \([^)]*\) (\d+)\.", file.read())
    own = found and all(int(major) == BAR_COMPILER for major in found)
    return PATH_BAR if own else PATH_BAR * OTHERS


def count_path(local):
    """Figures of bench_path: one by one, so load does not matter."""
    command = [os.path.join(local.build, "tests/bench/bench_path"),
               f"shm:{1000 + os.getpid() % 9000}"]
    try:
        run = subprocess.run(command, env=local.env, text=True, timeout=150,
                             capture_output=True)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"bench_path: {error}")
    if run.returncode:
        raise Failed(f"bench_path: {(run.stderr or run.stdout).strip()}")
    return [json.loads(line) for line in run.stdout.splitlines()
            if line.startswith("{")]


def add_path(book, local, failures):
    if not local.plugin("shm"):
        return
    try:
        for figure in count_path(local):
            path = figure["path"]
            figure["path"] = "shm" if path == "end" else f"shm {path}"
            book.add(**figure, nic=NIC)
    except Failed as error:
        failures.append(str(error))


def part_providers(book, build, quick):
    local = Local(os.path.abspath(build))
    found, without = contenders(local)
    failures = list(without)
    add_path(book, local, failures)
    if local.alone:
        failures.append("two processors are needed: this process may use one")
    values = rounds(found, 3 if quick else 7, MESSAGES // (4 if quick else 1),
                    lambda n: print(f"# round {n + 1}", flush=True), failures)
    for one, figures in values.items():
        lat = one.bench == "lat"
        book.add(bench=one.bench, path=one.path, nic=NIC, wait=one.wait,
                 level="rd" if one.path in ("shm", OFI) else "-",
                 size=4 if lat else SIZE, unit="ns" if lat else "mbps",
                 value=standing(one, figures) * (1000 if lat else 1))
    ratios(book)
    for line in failures:
        print(f"# FAILED {line}", flush=True)
    return failures


def ratios(book):
    """Those that have bars."""
    for bench, path, other, wait in (
            ("lat", "shm", "unix", "poll"), ("lat", "shm", "unix", "block"),
            ("lat", "shm", "pipe", "poll"), ("lat", "shm", "pipe", "block"),
            ("bw", "shm", "unix", "block"), ("bw", "shm", "pipe", "block"),
            ("lat", OFI, "tcp", "poll"), ("lat", OFI, "tcp", "block"),
            ("lat", OFI, PINGPONG, "poll"), ("bw", OFI, PINGPONG, "poll")):
        like = dict(bench=bench, nic=NIC, wait=wait)
        book.ratio(dict(path=path, **like), dict(path=other, **like))
    # Whatever way suits each: sockets that poll are slow at bulk.
    best = {p: max((book.get(bench="bw", path=p, nic=NIC, wait=w) or 0, w)
                   for w in ("poll", "block")) for p in ("shm", "unix")}
    if all(value for value, _ in best.values()):
        book.add(bench="bw", path="shm/unix", nic=NIC, level="-", wait="best",
                 size=SIZE, unit="ratio",
                 value=best["shm"][0] / best["unix"][0])


def main():
    """The bar of instructions alone, for make test."""
    here = os.path.dirname(os.path.realpath(__file__))
    local = Local(os.path.join(here, "../../build"))
    if os.uname().machine != "x86_64":
        print(f"instructions are counted on x86_64 only: not on "
              f"{os.uname().machine}")
        return 77
    bar = path_bar(os.path.join(local.build, "libvipl.so.1"))
    total = bar + 1
    # What goes by the clock is done more often on a busy machine, and only adds.
    for _ in range(TRIES):
        try:
            figures = {f["path"]: f["value"] for f in count_path(local)}
        except Failed as error:
            print(error)
            return 77 if "cannot be traced" in str(error) else 1
        for path, value in figures.items():
            print(f"{path}: {value:.1f}")
        total = min(total, figures["end"])
        if total <= bar:
            break
    print(f"an end of a ping-pong: {total:.1f} instructions, at most "
          f"{bar:.0f}")
    return total > bar


if __name__ == "__main__":
    sys.exit(main())
