# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Whether figures of a round are to be believed.

Ends that poll measure the machine as much as the network: where their
processors are taken away, each loss is a whole time slice.  So a round also
measures what this machine did: time that its host took from it (steal), time
that programs other than the demo's had, and how many wanted to run.
"""

import collections
import os

STEAL = 0.05   # of the processors' time: more is too much
OTHERS = 0.15
# An end that sleeps is woken, which costs more than to poll: the other way
# round, by that factor, only where an end that polls lost its processor.
TURNED = 1.5

Sample = collections.namedtuple("Sample", "total busy steal own load")
Share = collections.namedtuple("Share", "steal others load")


def cpu_line(text):
    """(all, busy, stolen) ticks of /proc/stat; guests are in user time."""
    ticks = [int(word) for word in text.split("\n", 1)[0].split()[1:9]]
    user, nice, system, idle, iowait, irq, softirq, steal = \
        ticks + [0] * (8 - len(ticks))
    busy = user + nice + system + irq + softirq
    return busy + idle + iowait + steal, busy, steal


def own_ticks(stats, root):
    """Ticks of a process and of those below it, by texts of /proc/PID/stat."""
    parents, ticks = {}, {}
    for text in stats:
        pid, rest = text.split(" ", 1)[0], text.rpartition(")")[2].split()
        parents[int(pid)] = int(rest[1])
        # Its own, and those of children that have ended.
        ticks[int(pid)] = sum(map(int, rest[11:15]))
    below, new = set(), {root}
    while new:
        below |= new
        new = {pid for pid, parent in parents.items()
               if parent in below and pid not in below}
    return sum(ticks.get(pid, 0) for pid in below)


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:  # the process has ended
        return ""


def sample():
    """Of this machine and this process, now."""
    stats = filter(None, (read(f"/proc/{pid}/stat")
                          for pid in os.listdir("/proc") if pid.isdigit()))
    return Sample(*cpu_line(read("/proc/stat")),
                  own_ticks(stats, os.getpid()), os.getloadavg()[0])


def share(before, after):
    """What became of the processors' time between two samples."""
    total = max(after.total - before.total, 1)
    others = (after.busy - before.busy) - (after.own - before.own)
    return Share((after.steal - before.steal) / total,
                 max(others, 0) / total, after.load)


def doubts(share, polling=None, sleeping=None):
    """Why figures of a round are not to be believed: [] where they are."""
    found = []
    if share.steal > STEAL:
        found.append(f"this machine's host took {share.steal:.0%} of its "
                     "processors' time")
    if share.others > OTHERS:
        found.append(f"other programs had {share.others:.0%} of the "
                     "processors' time")
    if polling and sleeping and polling > TURNED * sleeping:
        found.append("ends that poll are slower than ends that sleep: they "
                     "lost their processors")
    return found
