# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Hostile programs, and allocations that fail: each step takes its amount (and
its seed, where there are dice) and returns what it did."""

import os
import random
import re

from again import again
from balance import balanced
from common import mac, peer, serving, small
from labkit import klog
from labkit.base import BUILD
from runner import Skipped, StepFailed
from transfer import stress

FUZZER = os.path.join(BUILD, "viatest fuzz")
FAULTS = os.path.join(BUILD, "viatest fault")
GROUP = 4242  # stands for group via: its members need not be known by name
INJECT = "/sys/kernel/debug"


def dice():
    return random.getrandbits(32)


def found(pattern, text):
    match = re.search(pattern, text)
    if not match:
        raise StepFailed(f"no '{pattern}' in what the program says")
    return [int(x) for x in match.groups()]


def fuzzed(result):
    calls, taken, messages = found(
        r"(\d+) calls, (\d+) of them taken, (\d+) messages compared",
        result.out)
    return {"calls": calls, "taken": taken, "messages": messages}


def hostile(session, device, calls, seed=None, options=""):
    """Any call with any argument by an unprivileged member of the group; a
    process beside it is not disturbed."""
    node = session.lab.nodes[0]
    seed = dice() if seed is None else seed
    node.sh(f"chgrp {GROUP} /dev/{device} && chmod 660 /dev/{device}")
    result = session.run(node, f"{FUZZER} -d {device} -n {calls} -s {seed} "
                         f"-u {GROUP} {options}", 120 + calls // 1000)
    balanced(session, [node])
    return fuzzed(result)


def drawn(session, seed, run):
    """What run(seed) did, of the first seed with which that is enough: it
    gives what it did, and why that is too little, or None."""
    seed = dice() if seed is None else seed
    did = []

    def once():
        done, why = run(seed + len(did))
        did.append(done)
        return why

    again(session, once)
    return did[-1]


def guided(session, device, calls, seed=None):
    """The same by programs of calls that KCOV guides."""
    node = session.lab.nodes[0]
    if node.run(f"test -e {INJECT}/kcov").rc:
        raise Skipped("a kernel without KCOV")
    return drawn(session, seed, lambda n: guided_by(session, device, calls, n))


def guided_by(session, device, calls, seed):
    node = session.lab.nodes[0]
    result = session.run(node, f"{FUZZER} -d {device} -n {calls} -s {seed} "
                         "--guided", 120 + calls // 100)
    balanced(session, [node])
    programs, kept, places, edges = [int(x) for x in re.findall(
        r"(\d+) programs, (\d+) kept, (\d+) places and (\d+) edges",
        result.out)[-1]]
    did = {**fuzzed(result), "programs": programs, "kept": kept,
           "places": places, "edges": edges}
    return did, f"{places} places of the modules reached: it is not guided" \
        if not kept or places < 500 else None


def racing(device, rounds, seed, options=""):
    return f"{FUZZER} -d {device} -n {rounds} -s {seed} --race {options}"


def raced(result):
    """What came of the calls that raced: where few attempts have an end,
    little was tested."""
    names = ("rounds", "calls", "connected", "refused", "late", "early",
             "destroyed", "accepted")
    counts = re.findall(", ".join(rf"(\d+) {name}" for name in names),
                        result.out)
    if not counts:
        raise StepFailed("the races tell no counts")
    did = dict(zip(names, map(int, counts[-1])))
    ends = did["connected"] + did["refused"] + did["late"] + did["accepted"]
    return did, f"{ends} attempts have an end, of {did['rounds']} rounds" \
        if ends < did["rounds"] / 32 else None


def attempts(session, device, rounds, seed=None):
    """Threads race on one VI's attempts to connect; both ends are here."""
    node = session.lab.nodes[0]
    node.sh(f"chgrp {GROUP} /dev/{device} && chmod 660 /dev/{device}")

    def race(seed):
        result = session.run(node, racing(device, rounds, seed,
                                          f"-u {GROUP}"), 120 + 3 * rounds)
        balanced(session, [node])
        return raced(result)

    return drawn(session, seed, race)


def attempts_wire(session, net, rounds, seed=None):
    """The same with another host's requests and answers."""
    device = f"via_eth{net}"

    def race(seed):
        partner = f"{FUZZER} -d {device} -s {seed} -H {mac(net, 0)} " \
            "--race-partner"
        with serving(session, partner) as job:
            job.expect("^ready$", 60)
            result = session.run(session.lab.nodes[0], racing(
                device, rounds, seed, f"-H {peer(net)}"),
                120 + 3 * rounds)
        balanced(session)
        return raced(result)

    return drawn(session, seed, race)


def churned(session, times, seed=None):
    """A NIC comes and goes beside calls of its dead handles."""
    node = session.lab.nodes[0]
    seed = dice() if seed is None else seed
    node.sh("modprobe -q veth; true")
    result = session.run(node, f"{FUZZER} -d via_lo -n {times} -s {seed} "
                         "--churn", 120 + 10 * times)
    balanced(session, [node])
    times, = found(r"(\d+) churns, .*: ok", result.out)
    return {"churns": times, **fuzzed(result)}


def memory_kinds(session, device):
    """Every kind of memory: carries a message, or is refused."""
    node = session.lab.nodes[0]
    node.sh("modprobe -q fuse; echo 8 >/proc/sys/vm/nr_hugepages")
    try:
        result = session.run(node, f"{FUZZER} -d {device} --memory", 120)
    finally:
        node.sh("echo 0 >/proc/sys/vm/nr_hugepages")
    balanced(session, [node])
    kinds, _ = found(r"(\d+) kinds of memory, (\d+) wrong", result.out)
    return {"kinds": kinds, "not here": result.out.count("not here")}


def limits(session):
    """Every limit is reached, and then all can be had again."""
    node = session.lab.nodes[0]
    with small(session):
        result = session.run(node, f"{FUZZER} -d via_lo --limits", 120)
        balanced(session, [node])
    return {"limits": result.out.count("usable again")}


def need_faults(node):
    if node.run(f"test -e {INJECT}/failslab").rc:
        raise Skipped("a kernel without fault injection")


def failed(result):
    """Allocations that were made to fail, and errors that came of it."""
    rows = re.findall(r"(\d+) allocations failed, \d+ copies; (\d+) errors",
                      result.out)
    return {"allocations": sum(int(a) for a, _ in rows),
            "errors": sum(int(e) for _, e in rows)}


def faults(session, device, stride=1, first=1, only=None):
    """Each allocation of each operation (or of one only) fails, in turn."""
    node = session.lab.nodes[0]
    need_faults(node)
    options = f"-d {device} -s {stride} -f {first}"
    if only:
        options += f" -o {only}"
    result = session.run(node, f"{FAULTS} {options}", 600)
    balanced(session, [node])
    return failed(result)


def complaint(text):
    """What a kernel log has that is not vmalloc()'s word on a fault that was
    injected into it, which the loader of modules does not suppress."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        expected = "Call Trace" in line and any(
            "vmalloc error" in x for x in lines[max(0, i - 4):i])
        if klog.BAD.search(line) and not klog.FINE.search(line) and \
                not expected:
            return line
    return None


class Aside:
    """The console keeps silent; what the kernel has said is looked at here."""

    def __init__(self, node):
        self.node = node

    def __enter__(self):
        self.level = self.node.sh("cat /proc/sys/kernel/printk").out.split()[0]
        self.node.sh("dmesg -C && dmesg -n 1")

    def __exit__(self, kind, *_):
        text = self.node.sh("dmesg").out
        self.node.sh(f"dmesg -n {self.level}")
        why = complaint(text)
        if why and kind is None:
            raise StepFailed(f"{self.node.name}'s kernel complained: {why}")


def load_faults(session, stride=1, first=1):
    """The same of loading the modules and of attaching the interfaces."""
    lab, node = session.lab, session.lab.nodes[0]
    need_faults(node)
    lab.rmmod(node)
    try:
        with Aside(node):
            did = fail_loading(session, node, f"-s {stride} -f {first}",
                               stride)
    finally:
        lab.rmmod(node)
        session.prepare(node)
    leaked(node)
    return did


def leaked(node):
    """What kmemleak finds, but the name that class_register() of Linux 6.1
    forgets where its kset_register() fails; then it is to forget that too."""
    text = node.sh(f"f={INJECT}/kmemleak; test -e $f || exit 0; sleep 6; "
                   "echo scan >$f; echo scan >$f; cat $f; echo clear >$f",
                   300).out
    ours = [x for x in text.split("unreferenced object")[1:]
            if not ("class_register+" in x and "kobject_set_name+" in x)]
    if ours:
        raise StepFailed(f"{node.name}: leaked: {ours[0]}")


def fail_loading(session, node, options, stride):
    lab = session.lab
    did = {"allocations": 0, "errors": 0}
    for name in ("via_ka", "via_lo", "via_ether", "via_netdev"):
        path = os.path.join(BUILD, "modules", lab.kernel.release,
                            f"{name}.ko")
        result = session.run(node, f"{FAULTS} {options} -m {path}", 300)
        last, refused = found(r"(\d+) allocations to load it, (\d+) "
                              "refused", result.out)
        did["allocations"] += last // stride
        did["errors"] += refused
        node.sh(f"insmod {path}")
    for net in range(len(lab.nics)):
        result = session.run(node, f"{FAULTS} {options} -a eth{net}", 300)
        last, refused = found(r"(\d+) allocations to attach it, (\d+) "
                              "refused", result.out)
        did["allocations"] += last // stride
        did["errors"] += refused
    return did


# Not those of kmemleak, which gives up for good when it gets no memory.
CACHES = "kmalloc-* skbuff_head_cache skbuff_fclone_cache skbuff_small_head"

SOFTIRQ = f"""
cd {INJECT}
for c in {CACHES}; do
    test ! -e /sys/kernel/slab/$c || echo 1 >/sys/kernel/slab/$c/failslab
done 2>/dev/null
echo Y >failslab/cache-filter
for f in failslab fail_page_alloc; do
    echo 0 >$f/verbose; echo N >$f/task-filter; echo Y >$f/ignore-gfp-wait
    echo 1 >$f/interval; echo 1000000000 >$f/times; echo $P >$f/probability
done
echo 0 >fail_page_alloc/min-order
"""
NO_SOFTIRQ = f"""
cd {INJECT}
for f in failslab fail_page_alloc; do
    echo 0 >$f/probability; cat $f/times
done
echo N >failslab/cache-filter
"""


def softirq_faults(session, net, messages, percent=2):
    """That share of the allocations that cannot wait (those of interrupts and
    timers, most of all) fails on both nodes while messages pass."""
    for node in session.lab.nodes:
        need_faults(node)
    counts = []

    def once():
        count = 0
        try:
            for node in session.lab.nodes:
                node.sh(f"P={percent}; {SOFTIRQ}")
            stress(session, net, f"--messages {messages}", 600)
        finally:
            for node in session.lab.nodes:
                rest = node.sh(NO_SOFTIRQ).out.split()
                count += sum(1000000000 - int(x) for x in rest)
        balanced(session)
        counts.append(count)
        return f"{sum(counts)} allocations failed only" \
            if sum(counts) < 10 else None

    again(session, once)
    return {"messages": messages * len(counts), "allocations": sum(counts)}
