# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Very much of everything, and where memory is short.  Amounts are
arguments; each function returns what it did."""

import os
import re

from balance import balanced
from common import (STRESS, complaining, control_group, device_of, jobs, peer,
                    serving, within)
from conform import conform_wire
from labkit.base import BUILD
from runner import StepFailed
from transfer import stress

SCALE = os.path.join(BUILD, "viatest scale")


def limit(session):
    """ms until an answer is too late."""
    return 90000 * session.slow


def command(session, mode, device, words):
    return f"{SCALE} {mode} -d {device} -l {limit(session)} {words}"


def numbers(text):
    """{"name": number} of what a program has told; sums where it repeats."""
    found = {}
    for name, value in re.findall(r"(\b[a-z]\w*) (-?\d+(?:\.\d+)?)\b", text):
        found[name] = found.get(name, 0) + float(value)
    return found


def served(session, mode, net, words):
    """A server of viatest scale on node 2, or, on via_lo, on node 1: it ends
    by itself, or is ended."""
    return serving(session, command(session, mode, device_of(net), words),
                   0 if net is None else 1, "^ready$")


def client(session, mode, net, words):
    """The command of its client."""
    return command(session, mode, device_of(net), words) + (
        "" if net is None else f" {peer(net)}")


GROWS = 4  # the status where nothing but time is amiss
ATTEMPTS = 5


def steady(session, attempt):
    """What attempt() has told.  An operation that takes longer where there is
    much does so each time it is looked at; one that met other work of the
    host does not."""
    always = None
    for _ in range(ATTEMPTS):
        result = attempt()
        balanced(session)
        grown = dict(re.findall(r"(\w+) (grows: [^;\n]*)",
                                result.all if result.rc else ""))
        always = grown if always is None else {
            k: v for k, v in grown.items() if k in always}
        if not always:
            return numbers(result.out)
    raise StepFailed(f"{ATTEMPTS} times of {ATTEMPTS}: " + "; ".join(
        f"{k} {v}" for k, v in always.items()))


def run(session, words, timeout):
    """A program whose operations may be found to grow."""
    result = session.run(session.lab.nodes[0], words, timeout, status=None)
    if result.rc not in (0, GROWS):
        raise StepFailed(f"'{words}' ended with status {result.rc}: "
                         f"{result.all.strip()[-200:]}")
    return result


def between(session, net, modes, words, timeout, more=""):
    """A server on node 2 and its client on node 1, both to their ends; via_lo
    (net None): both on node 1."""
    with served(session, modes[0], net, words) as server:
        result = run(session, client(session, modes[1], net, words + more),
                     timeout)
        if server.wait(60 * session.slow).rc:
            raise StepFailed("the server failed: "
                             f"{server.all.strip()[-200:]}")
    return result


def many_vis(session, net, count, rounds=3):
    """All open, all connected, messages on all of them at once.  What earlier
    steps have left in the caches of files is given back before: with little
    memory each VI waits for its share of that."""
    for node in session.lab.nodes:
        node.sh("sync; echo 3 >/proc/sys/vm/drop_caches", 120)
    found = steady(session, lambda: between(
        session, net, ("serve-vis", "vis"), f"-n {count} -t 8 -c 7", 600,
        f" -s {rounds}"))
    return {"vis": count, "messages": int(found["messages"]),
            "connects": count}


def many_connects(session, net, count, threads=4):
    """By request and as peers; the time of one must not grow."""
    steady(session, lambda: between(
        session, net, ("serve-connects", "connects"),
        f"-n {count} -t {threads}", 900))
    return {"connects": 2 * count, "disconnects": 2 * count}


def many_regions(session, count, processes=1, vis=0, seed=1):
    """Regions of this many, in as many processes; max_regions is 131,072 of a
    handle and RLIMIT_MEMLOCK none of root's, so nothing is raised."""
    steady(session, lambda: run(
        session, command(session, "regions", "via_lo", f"-n {count} "
                         f"-t {processes} -v {vis} -S {seed}"), 900))
    return {"registrations": count + count // 2}


# Memory that is short

def killing(*nodes):
    """The kernel's killer may speak here: its list of calls is no defect,
    while any BUG or WARNING stays one."""
    return complaining("Call Trace:|Out of memory: Killed", *nodes)


def squeeze(session, folder, mib, rounds):
    """One program with so much memory: whether it was killed."""
    node = session.lab.nodes[0]
    node.sh(f"echo {mib}M >{folder}/memory.max")
    program = command(session, "squeeze", "via_lo", f"-n {rounds}")
    with killing(node):
        result = session.run(node, within(folder, program), 600, status=None)
    if result.rc not in (0, 137, -9):
        raise StepFailed(f"with {mib} MiB: status {result.rc}: "
                         f"{result.all.strip()[-200:]}")
    return result.rc != 0


def squeezed(session, mib, rounds=1):
    """A group with too little memory: an error, or the death of that program
    alone; a transfer beside it is not disturbed."""
    node = session.lab.nodes[0]
    with control_group(session, "memory") as folder, jobs(session, node.spawn(
            f"{STRESS} -d via_lo --messages 3000", 600)) as (beside,):
        node.sh(f"echo 1 >{folder}/memory.oom.group")
        killed = sum(squeeze(session, folder, size, rounds)
                     for size in (mib, mib // 2, mib // 4))
        if beside.wait(600).rc:
            raise StepFailed("the transfer beside it was disturbed: "
                             f"{beside.all.strip()[-200:]}")
        balanced(session)
    return {"squeezed": 3 * rounds, "killed for memory": killed}


HOG = """
import mmap, os, sys, time
open("/proc/self/oom_score_adj", "w").write("1000")
end, held = time.monotonic() + float(sys.argv[1]), []
while time.monotonic() < end:
    piece = mmap.mmap(-1, 1 << 22, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, 1 << 22, 4096):
        piece[at] = 1
    held.append(piece)
"""


def hogged(session, net, seconds, messages):
    """A process eats all memory, again and again, while transfers run: every
    byte stays right."""
    two = session.lab.nodes[1]
    two.sh(f"cat >/tmp/hog.py <<'EOF'\n{HOG}\nEOF")
    # Not the machine's own: they must not be killed.
    two.sh("echo -1000 >/proc/1/oom_score_adj")
    hog = two.spawn(f"end=$(($(date +%s)+{seconds})); n=0; "
                    "while [ $(date +%s) -lt $end ]; do "
                    f"python3 /tmp/hog.py {seconds} 2>/dev/null; "
                    "n=$((n+1)); done; echo killed $n", seconds + 300)
    with jobs(session, hog), killing(two):
        stress(session, net, f"--messages {messages} --threads 4", 900)
        hog.wait(seconds + 300)
    times = int(numbers(hog.out).get("killed", 0))
    if not times:
        raise StepFailed("memory was never short")
    conform_wire(session, net, "connect*")
    balanced(session)
    return {"messages": messages, "hogs killed": times}
