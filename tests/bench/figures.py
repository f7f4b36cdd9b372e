# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The figures of a benchmark run, the bars they are held to, and the table."""

import fnmatch
import itertools
import json
import statistics

import disks
import exact
import lines
import mpi
import patterns
import providers
import record
import shared
import shm
import verbs
from labkit import offloads

FIELDS = ("bench", "path", "nic", "level", "wait", "size", "unit", "value")


class Book:
    """All figures so far; each goes to the file as it comes."""

    def __init__(self, path, **run):
        """`run` is what the record says of the whole run, in its first
        line."""
        self.figures, self.run, self.told = [], run, 0
        self.recorded = record.load()[0]
        self.file = open(path, "w", buffering=1)
        if run:
            self.file.write(json.dumps({"run": run}) + "\n")

    def add(self, **figure):
        assert set(figure) == set(FIELDS), figure
        figure["value"] = round(float(figure["value"]), 3)
        self.figures.append(figure)
        self.file.write(json.dumps({k: figure[k] for k in FIELDS}) + "\n")

    def close(self):
        self.file.close()

    def ends(self, part):
        """Print what of this part is better and worse than what is recorded."""
        new, self.told = self.figures[self.told:], len(self.figures)
        if self.run.get("quick"):
            print(f"# part {part}: --quick is not compared with a record")
        elif any(map(record.comparable, new)):
            print("\n".join(record.table(part, new, self.recorded,
                                         self.run["machine"])), flush=True)

    def get(self, **wanted):
        """The value of the newest figure like this, or None: UDP and TCP on
        one NIC are measured in several parts."""
        found = [f["value"] for f in self.figures
                 if all(f[k] == v for k, v in wanted.items())]
        return found[-1] if found else None

    def medians(self, rounds):
        """Add the medians of [{key: value}], keys being (field, value)s."""
        keys = dict.fromkeys(k for r in rounds for k in r)
        for key in keys:
            values = [r[key] for r in rounds if key in r]
            self.add(**dict(key), value=statistics.median(values))

    def ratio(self, over, under):
        """Add over / under as a figure of its own, named after both.

        What it is about (level, wait) is VIA's side of it.
        """
        a, b = self.get(**over), self.get(**under)
        if a is None or not b:
            return
        via = over if over["path"].startswith("via") else under
        like = next(f for f in self.figures
                    if all(f[k] == v for k, v in via.items()))
        self.add(**{**like, "path": f"{over['path']}/{under['path']}",
                    "unit": "ratio", "value": a / b})


class Bar:
    """A limit on one figure; `what` selects it, the path by a pattern."""

    def __init__(self, number, limit, at_least=False, stretch=None, note="",
                 where_measured=False, **what):
        self.number, self.limit, self.at_least = number, limit, at_least
        self.stretch, self.note, self.what = stretch, note, what
        self.where_measured = where_measured    # no figure is no miss

    def is_of(self, figure):
        """TCP's name has its offloads in it: "tcp (*)" is with any."""
        return all(fnmatch.fnmatchcase(figure[k], v) if k == "path" else
                   figure[k] == v for k, v in self.what.items())

    def judge(self, value):
        if value is None:
            return "MISSING"
        good = value >= self.limit if self.at_least else value <= self.limit
        return "PASS" if good else "FAIL"

    def text(self):
        sign = ">=" if self.at_least else "<="
        stretch = f" (stretch {self.stretch:,})" if self.stretch else ""
        return f"bar {self.number}: {sign} {self.limit:,}{stretch}" + \
            (f", {self.note}" if self.note else "")


def lat(path, nic, wait, unit, **more):
    return dict(bench="lat", path=path, nic=nic, wait=wait, size=4,
                unit=unit, **more)


def exact_bars():
    via = dict(level="rd")
    yield Bar(2, 6300, stretch=5000,
              **lat("via_netdev", "tulip", "poll", "instructions", **via))
    yield Bar(2, 11000,
              **lat("via_netdev", "tulip", "block", "instructions", **via))
    # Blocking, as TCP does: that is what bulk transfer is for.
    yield Bar(4, 3.1, bench="bulk", path="via_netdev", nic="tulip", level="rd",
              wait="block", size=65536)
    yield from kept_bars("via_netdev", 5941, 10290, 2.83, 3)


def kept_bars(path, poll, block, bulk_poll, bulk_block):
    """Three percent over what a message took with version 1 of the wire; two
    over what a byte takes today."""
    for wait, message, byte in (("poll", poll, bulk_poll),
                                ("block", block, bulk_block)):
        yield Bar(1, round(message * 1.03), level="rd",
                  **lat(path, "tulip", wait, "instructions"))
        yield Bar(1, byte, bench="bulk", path=path, nic="tulip", level="rd",
                  wait=wait, size=65536)


def udp_bars():
    """The way of UDP sockets costs as much without VIA."""
    rd = dict(level="rd")
    yield Bar(4, 9300, **lat("via_udp", "tulip", "poll", "instructions", **rd))
    yield Bar(4, 14000, **lat("via_udp", "tulip", "block", "instructions",
                              **rd))
    bulk = dict(bench="bulk", path="via_udp", nic="tulip", **rd)
    yield Bar(4, 4.8, wait="poll", **bulk)
    yield Bar(4, 5, wait="block", **bulk)


# TCP's instructions a byte as multiples of VIA's that polls, 64 KiB: above 1 where
# VIA takes fewer.  Where the link segments and joins for TCP it takes fewer
# itself, and the bar keeps what there is.
PEERS = {"tulip": ("no offloads", 2.2, 1.35),
         "e1000": ("TSO, GRO", 1.15, 0.72),
         "veth": ("TSO", 2.2, 0.85)}


def peers_bars():
    for nic, (helped, raw, in_udp) in PEERS.items():
        for path, limit in (("via_netdev", raw), ("via_udp", in_udp)):
            yield Bar(4, limit, at_least=True, bench="bulk", nic=nic,
                      path=f"tcp ({helped})/{path}", wait="poll", unit="ratio")
    # Where both sleep, as TCP's do.
    for nic, limit in (("e1000", 1.05), ("veth", 1.6)):
        yield Bar(4, limit, at_least=True, bench="bulk", nic=nic, wait="block",
                  path=f"tcp ({PEERS[nic][0]})/via_netdev", unit="ratio")


def objects_bars():
    """A little more than what they take today."""
    for nic, connect, disconnect in (("lo", 19600, 5900),
                                     ("tulip", 50500, 28800)):
        yield Bar(6, connect, bench="connect", path="connect", nic=nic)
        yield Bar(6, disconnect, bench="connect", path="disconnect", nic=nic)
        yield Bar(6, 30000, bench="object", path="create", nic=nic)
        yield Bar(6, 17000, bench="object", path="destroy", nic=nic)
        yield Bar(6, 24 << 10, bench="memory", path="idle-vi", nic=nic)
        yield Bar(6, 1800 if nic == "lo" else 12500, bench="many", nic=nic,
                  path="VIs in turn")
        yield Bar(6, 22500 if nic == "lo" else 42000, bench="object", nic=nic,
                  path="killed")
        for kind, most in (("4 KiB", 247), ("transparent", 25),
                           ("hugetlb", 27)):
            yield Bar(6, most, bench="object", nic=nic, size=16 << 20,
                      path=f"register a page, {kind}")


def dsm_bars():
    """Half of the work, and some for sharing; ahead of sockets."""
    yield Bar(6, shared.FAULT_BAR, bench="dsm", path="a fault/RDMA Read")
    for name in shared.PROGRAMS:
        yield Bar(6, 0.62, bench="dsm", path=f"{name}, {shared.VIA}/alone")
        yield Bar(6, 1, bench="dsm",
                  path=f"{name}, {shared.VIA}/{shared.SOCKETS}")


def lines_bars():
    """What pairs on processors of their own have to share."""
    for bench, wait in lines.PATHS:
        yield Bar(6, 1, bench="lines", path=f"via_netdev, {bench}", wait=wait)
    for bench in lines.SIZE:
        yield Bar(6, 1.8, at_least=True, bench="pairs",
                  path=f"via_netdev, {bench}, 2 pairs/1")


def native_bars():
    yield from kept_bars("via_tulip", 3147, 7860, 1, 1.01)
    for wait, limit in (("poll", 3500), ("block", 8000)):
        yield Bar(2, limit, stretch=2500 if wait == "poll" else None,
                  level="rd", **lat("via_tulip", "tulip", wait,
                                    "instructions"))
    for nic in exact.NATIVE_EXACT:
        driver = exact.NATIVE[nic]
        for wait in ("poll", "block"):
            yield Bar(4, 2.5, bench="bulk", path=driver, nic=nic, level="rd",
                      wait=wait, size=65536)
        # IP through our driver beside IP through the kernel's.
        for bench, path in (("lat", "udp-spin"), ("lat", "udp"),
                            ("lat", "tcp")):
            yield Bar(4, 1.1, bench=bench, path=f"{path}@{driver}/{path}",
                      unit="ratio")
        yield Bar(4, 1.1, bench="bulk", path=f"tcp@{driver} (*)/tcp (*)",
                  unit="ratio")
    yield Bar(2, 4500, level="rd", **lat("via_eepro100", "i82559er", "poll",
                                         "instructions"))
    yield Bar(2, 4000, level="rd", **lat("via_8139cp", "rtl8139", "poll",
                                         "instructions"))
    yield Bar(2, 4000, level="rd", **lat("via_igb", "igb", "poll",
                                         "instructions"))
    yield Bar(4, 1.5, bench="bulk", path="via_8139cp", nic="rtl8139",
              level="rd", wait="poll", size=65536)
    for driver in sorted(set(exact.NATIVE.values())):
        for path in (driver, f"tcp@{driver} (*)"):
            yield Bar(4, 1, at_least=True, bench="bw", path=f"{path}/tcp (*)",
                      unit="ratio")


def micro_bars():
    yield Bar(3, 120, bench="post", path="VipPostRecv", nic="lo")
    for call in ("VipRecvDone", "VipSendDone", "VipCQDone"):
        yield Bar(3, 60, bench="poll", path=call, nic="lo")
    yield Bar(3, 1.05, bench="trap", path="trap/getppid", unit="ratio")
    yield Bar(6, 192 * 1024, bench="memory", path="idle-vi")
    yield Bar(6, 16, bench="memory", path="page")
    yield Bar(6, 512 + 16, bench="memory", path="region-of-a-page")


def lo_bars():
    yield Bar(5, 1, at_least=True, bench="lat", path="unix/via_lo",
              unit="ratio", wait="poll")
    yield Bar(5, 1, at_least=True, bench="lat", path="unix/via_lo",
              unit="ratio", wait="block")
    yield Bar(5, 1, at_least=True, bench="bulk", path="unix/via_lo",
              unit="ratio")


def wire_bars():
    yield Bar(4, 1, at_least=True, bench="lat",
              path="tcp@wireguard/via_udp@wireguard", nic="e1000", unit="ratio")
    yield Bar(4, 1, at_least=True, bench="bw", path="via_udp/tcp (TSO, GRO)",
              nic="e1000", unit="ratio")
    for nic, helped in offloads.STOCK.items():
        tcp = f"tcp ({helped})"
        yield Bar(4, 1, at_least=True, bench="lat", path="udp/via_udp",
                  nic=nic, unit="ratio")
        yield Bar(4, 1, at_least=True, bench="lat", path="udp/via_netdev",
                  nic=nic, unit="ratio")
        yield Bar(4, 1.7, at_least=True, bench="lat", path="rxe/via_netdev",
                  nic=nic, unit="ratio")
        yield Bar(4, 1.3, bench="lat", path="ofi:verbs/rxe", nic=nic,
                  unit="ratio")
        yield Bar(4, 1, at_least=True, bench="bw", path=f"via_netdev/{tcp}",
                  nic=nic, unit="ratio", wait="block")
        yield Bar(4, 3, at_least=True, bench="bw", path="via_netdev/rxe",
                  nic=nic, unit="ratio", wait="block")


def hostile_bars():
    for kind in exact.HOSTILE:
        for vis in exact.HOSTILE_VIS:
            limit = exact.HOSTILE_SEEN.get(kind, 1500)
            yield Bar(3, limit, bench="hostile", path=kind, size=vis)
    yield Bar(3, 100, bench="hostile", path="more for many VIs")


def patterns_bars():
    for path in ("via_netdev", exact.NATIVE[patterns.NIC]):
        yield Bar(2, 15000, bench="exact both", path=path, level="rd",
                  wait="poll", unit="instructions")
    for bench, path in patterns.compared():
        yield Bar(2, 1, bench=bench, path=path, level="rd", wait="block",
                  unit="ratio")


def verbs_bars():
    """Beside rxe wherever that one comes to its end."""
    like = dict(path=verbs.VIA, nic="e1000")
    yield Bar(9, 9700, bench="verbs lat", wait="poll", unit="instructions",
              **like)
    yield Bar(9, 15000, bench="verbs lat", wait="block", unit="instructions",
              **like)
    yield Bar(9, 3.2, bench="verbs write", wait="poll", unit="instr-per-byte",
              **like)
    for nic in verbs.NICS:
        for bench, wait, _, _ in verbs.RUNS:
            yield Bar(9, 0.4 if bench == "verbs lat" else 0.3, bench=bench,
                      path=f"{verbs.VIA}/{verbs.RXE}", nic=nic, wait=wait,
                      unit="ratio", where_measured=True)


def disk_bars(part, nic, *limits, path=verbs.VIA):
    """Beside TCP: bytes, in flight, what, most."""
    for size, depth, kind, limit in limits:
        yield Bar(9, limit, bench=disks.name_of(part, kind, depth), size=size,
                  nic=nic, path=f"{path}/tcp (*)", wait="block", unit="ratio")


def nvme_bars():
    """With one in flight bulk on e1000, which segments and joins for TCP, is
    told without a bar."""
    small, large = disks.SMALL, disks.LARGE
    yield from disk_bars("nvme", "e1000", (small, 1, "read", 0.86),
                         (small, 1, "write", 0.7), (small, 16, "read", 1),
                         (small, 16, "write", 1), (large, 32, "read", 1.08),
                         (large, 32, "write", 1.2))
    yield from disk_bars("nvme", "tulip", *(
        (large, depth, kind, 0.6) for depth, kind in
        itertools.product((1, 32), ("read", "write"))))
    for kind in ("read", "write"):
        yield from disk_bars("nvme", "veth", (large, 32, kind, 1))
        for driver in ("via_e1000", "via_igb"):
            yield from disk_bars("nvme", driver.removeprefix("via_"),
                                 (large, 32, kind, 0.6),
                                 path=f"{verbs.VIA}/{driver}")


def nfs_bars():
    small, large = disks.SMALL, disks.LARGE
    for kind in ("read", "write"):
        yield from disk_bars("nfs", "e1000", (small, 1, kind, 0.95),
                             (small, 8, kind, 1.1), (large, 1, kind, 1),
                             (large, 8, kind, 1))


def iscsi_bars():
    for kind in ("read", "write"):
        yield from disk_bars("iscsi", "e1000", (disks.SMALL, 1, kind, 0.85))


def mpi_bars():
    for model, _, nic in mpi.NETS:
        like = dict(at_least=True, nic=nic, unit="ratio")
        for bench, other in (("lat", mpi.TCP), ("mpi", mpi.TCP),
                             ("mpi", mpi.BTL)):
            yield Bar(8, 1.3, bench=bench, path=f"{other}/{mpi.VIA}", size=64,
                      **like)
        yield Bar(8, 1, bench="bw", path=f"{mpi.VIA}/{mpi.TCP}",
                  size=mpi.MIB, note=f"TCP has {offloads.STOCK[model]}",
                  **like)
    yield Bar(8, mpi.PATH_BAR, bench="insns", path="mpi: libvia-fi")


def providers_bars():
    """Both processes on idle processors of their own; instructions are
    counted."""
    yield Bar(7, providers.PATH_BAR, bench="insns", path="shm",
              nic=providers.NIC, unit="instructions")
    for path, wait, limit in (("shm/unix", "poll", 0.5),
                              ("shm/unix", "block", 1),
                              ("ofi:tcp/fi_pingpong", "poll", 1.3)):
        yield Bar(7, limit, bench="lat", path=path, nic=providers.NIC,
                  wait=wait, unit="ratio")
    yield Bar(7, 1, at_least=True, bench="bw", path="shm/unix",
              nic=providers.NIC, wait="best", unit="ratio")
    yield Bar(7, 0.8, at_least=True, bench="bw", path="ofi:tcp/fi_pingpong",
              nic=providers.NIC, unit="ratio")


def shm_bars():
    """Both ends on idle processors; without UCX what there is."""
    def bar(limit, bench, size, other, at_least=True, path=shm.VIA):
        return Bar(7, limit, at_least=at_least, bench=bench, size=size,
                   path=f"{path}/{other}", nic=shm.NIC, unit="ratio",
                   where_measured=other in shm.UCX)

    yield bar(0.6, "lat", 4, shm.FAB, at_least=False)
    yield bar(0.9, "lat", 4, shm.PERFTEST, at_least=False)
    yield bar(1, "rate", 8, shm.LOOP)
    for other in (shm.FAB, *shm.UCX):
        for size in shm.SIZES:
            yield bar(1, "stream", size, other)
    for other in (shm.FAB, shm.LOOP):
        yield bar(1, "fanin", 8, other)
    yield bar(1.25, "mpi lat", 4, shm.FAB, at_least=False, path=shm.RXM)
    yield bar(0.8, "mpi stream", 65536, shm.FAB, path=shm.RXM)


BARS = {"exact": exact_bars, "udp": udp_bars, "native": native_bars, "micro": micro_bars,
        "hostile": hostile_bars, "lo": lo_bars, "wire": wire_bars,
        "peers": peers_bars, "objects": objects_bars,
        "lines": lines_bars, "dsm": dsm_bars,
        "providers": providers_bars, "shm": shm_bars, "patterns": patterns_bars,
        "verbs": verbs_bars, "nvme": nvme_bars,
        "nfs": nfs_bars, "iscsi": iscsi_bars, "mpi": mpi_bars}


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.2f}"


def is_about(bar, nic):
    """Whether part native has what the bar limits when it runs on this NIC
    alone: the name of a ratio has the driver in it, and no NIC."""
    drivers = {word for n, word in exact.NATIVE.items() if n != nic}
    drivers.discard(exact.NATIVE[nic])
    return bar.what.get("nic", nic) == nic and \
        not any(word in bar.what["path"] for word in drivers)


def bars_of(parts, counted=False, nic=None):
    """The bars of these parts, or of what they count; of part native only
    those of one NIC, where it runs on no other."""
    timed = {"bw", *(case.label for case in patterns.cases())}
    return [b for p in parts if p in BARS for b in BARS[p]()
            if (not counted or b.what["bench"] not in timed) and
            (not nic or p != "native" or is_about(b, nic))]


def print_table(book, parts, counted=False, nic=None):
    """Figures with the bars beside them; returns how many bars are missed, and how
    many have no figure."""
    bars = bars_of(parts, counted, nic)
    rows, used, missed, absent = [], set(), 0, 0
    for figure in book.figures:
        notes = []
        for bar in bars:
            if bar.is_of(figure):
                verdict = bar.judge(figure["value"])
                missed += verdict != "PASS"
                used.add(bar)
                notes.append(f"{verdict} {bar.text()}")
        if figure["unit"] in patterns.UNITS:
            continue  # those have a table of their own
        rows.append([str(figure[k]) for k in FIELDS[:-2]] +
                    [number(figure["value"]), figure["unit"],
                     "; ".join(notes)])
    for bar in bars:
        if bar not in used and not bar.where_measured:
            absent += 1
            rows.append([str(bar.what.get(k, "-")) for k in FIELDS[:-2]] +
                        ["none", bar.what.get("unit", "-"),
                         f"MISSING {bar.text()}"])
    head = [*FIELDS[:-2], "value", "unit", "bars"]
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    patterns.print_table(book)
    for row in [head, *rows]:
        cells = [c.rjust(w) if i in (5, 6) else c.ljust(w)
                 for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    return missed + absent, absent
