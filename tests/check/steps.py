# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is tested: on this machine, and in guests (each takes a Session)."""

import os
import re
import shlex

from again import again
from balance import unpinned
from labkit.base import BUILD, ROOT
from runner import Skipped, StepFailed

CONFORM = os.path.join(BUILD, "viaconform")
STRESS = os.path.join(BUILD, "viatest stress")
TOOLS = os.path.join(BUILD, "tools")
CATASTROPHIC = os.path.join(ROOT, "tests/check/catastrophic.py")
BEYOND = os.path.join(ROOT, "tests/check/beyond.py")


# On this machine

LONG = 3600  # seconds, for what takes a minute or two


def build_user(check):
    check.build_user()


def build_modules(check, name):
    check.build_modules(name)


def fuzz(check, runs):
    """libFuzzer on the parser of frames; the seed is in the log."""
    check.host(["make", "-s", "fuzz", f"FUZZ_RUNS={runs}"], LONG)


SANITIZERS = {
    # The library has a fence that gcc's TSan does not know; clang's does.
    "tsan": ["CC=clang", "SAN=thread", "CFLAGS=-O1 -g"],
    "asan": ["SAN=address,undefined",
             "CFLAGS=-O1 -g -fno-sanitize-recover=all"],
}


def build_sanitized(check, name):
    """The library and the suite; other programs gain nothing by it."""
    check.host(["make", "-s", "-j2", "lib", f"build/{name}/viaconform",
                f"B=build/{name}", *SANITIZERS[name]], LONG)


# In guests

def mac(net, node):
    """The hardware address of a node (the first is 0) on a wire."""
    return f"52:54:00:00:{net:02x}:{node + 1:02x}"


def peer(net):
    """That of node 2."""
    return mac(net, 1)


def scale(session):
    return 4 if session.lab.slow else 1


def counts(text):
    """Passed, failed tests and asserts of CUnit's summary."""
    found = dict(re.findall(r"^\s+(tests|asserts)\s+((?:\S+\s*)+)$", text,
                            re.M))
    if "tests" not in found:
        raise StepFailed("no summary: the program died")
    total, ran, passed, failed = map(int, found["tests"].split()[:4])
    return total, ran, passed, failed


def judge(session, result, where):
    total, ran, passed, failed = counts(result.out)
    session.check.write(f"{where}: {passed} of {ran} passed\n")
    if failed or result.rc or not ran:
        first = re.search(r"^\s+(?:1\.|Test: )\s*(.*)$", result.out, re.M)
        raise StepFailed(f"{where}: {failed} of {total} conformance tests "
                         f"failed, status {result.rc}"
                         + (f": {first.group(1)}" if first else ""))


def conform(session, arguments, where, nic, two=False, program=CONFORM,
            before="", patience=1):
    """Run the suite on node 1, keep its results if the check wants them."""
    node = session.lab.nodes[0]
    path = "/tmp/results"
    result = session.run(node, f"{before}{program} --results {path} "
                         f"--timeout-scale {patience * scale(session)} "
                         f"{arguments}",
                         400 * scale(session), status=None)
    whole = not {"-g", "--levels"} & set(arguments.split())
    if session.check.results and program == CONFORM and whole:
        text = node.sh(f"cat {path}").out
        session.check.keep(session, nic, two, text)
    judge(session, result, where)


def conform_lo(session):
    conform(session, "-d via_lo", "via_lo", "via_lo")


def conform_one(session, net):
    """Both ends on one machine, on the NIC of wire `net`."""
    nic = session.nic_name(net)
    conform(session, f"-d via_eth{net}", f"{nic}, one machine", nic)


def conform_sanitized(session, name, pattern=None):
    """The same on via_lo, library and suite under a sanitizer, which says in
    files what it has found: most processes end without a status."""
    node = session.lab.nodes[0]
    folder = os.path.join(BUILD, name)
    options = "log_path=/tmp/sanitizer:detect_leaks=0:die_after_fork=0"
    if session.lab.debug:
        raise Skipped("a sanitized program is slow enough on a stock kernel")
    if "__tsan_init" not in node.sh(f"nm -D {folder}/libvipl.so.1").out and \
            name == "tsan":
        raise StepFailed("the library is not built with TSan")
    node.sh("rm -f /tmp/sanitizer*")
    only = f" -g {shlex.quote(pattern)}" if pattern else ""
    conform(session, "-d via_lo" + only, f"via_lo, {name}", "via_lo",
            program=os.path.join(folder, "viaconform"),
            before=f"TSAN_OPTIONS={options} ASAN_OPTIONS={options} "
            f"UBSAN_OPTIONS={options} ")
    found = node.run("cat /tmp/sanitizer*").out
    session.check.write(found)
    first = re.search(r"^.*(?:WARNING: ThreadSanitizer|ERROR: \w+Sanitizer|"
                      r"runtime error).*$", found, re.M)
    if first:
        raise StepFailed(f"{name}: {first.group(0)}")


# Small enough that a test reaches every edge, and each is another number.
SMALL = ("max_vi=16 max_cq=6 max_cq_entries=64 max_ptags=7 max_regions=9 "
         "max_register=12288000 max_block=4096000")


def small_limits(session):
    """What VipQueryNic tells holds, where via_ka is loaded with less."""
    lab, node = session.lab, session.lab.nodes[0]
    lab.rmmod(node)
    lab.insmod(node, {"via_ka": SMALL}, ("via_ka", "via_lo"))
    try:
        result = session.run(node, f"{CONFORM} -d via_lo -g limits "
                             f"--timeout-scale {scale(session)}", 120,
                             status=None)
    finally:
        lab.rmmod(node, ("via_ka", "via_lo"))
        lab.insmod(node)
        for net in range(len(lab.nics)):
            lab.attach(node, f"eth{net}")
    judge(session, result, "via_lo with small limits")


class Server:
    """A program that serves on a node while a step runs; it must live."""

    def __init__(self, session, command, node=1):
        self.session = session
        self.job = session.lab.nodes[node].spawn(command)

    def __enter__(self):
        return self.job

    def __exit__(self, kind, *_):
        died = self.job.done
        self.job.kill()
        self.job.wait(30)
        self.session.write_job(self.job)
        if died and kind is None and self.job.rc:
            raise StepFailed(f"the server ended with status {self.job.rc}")


def conform_wire(session, net, pattern=None, patience=1, levels=None):
    """Between two nodes over via_netdev, on the NIC of wire `net`."""
    only = f"-g '{pattern}' " if pattern else ""
    if levels:
        only += f"--levels {levels} "
    nic = session.nic_name(net)
    with Server(session, f"{CONFORM} -d via_eth{net} --server"):
        conform(session, f"-d via_eth{net} {only}{peer(net)}",
                f"{nic}, two machines", nic, two=True, patience=patience)


LOSSY = ("p2p*", "states.race*", "connect*", "accept*", "disconnect*")


# Groups that send the most of what an unreliable level may lose.
LOST_MESSAGES = ("send*,queue*,rdma.*,order*",)


def lossy(session, net, patterns, loss, **options):
    """These groups while the wire loses a part of the frames; again where it
    has lost few."""
    wire = session.lab.wire(net)
    before = wire.stats()["lost"]

    def once():
        for pattern in patterns:
            conform_wire(session, net, pattern, **options)
        lost = wire.stats()["lost"] - before
        session.check.write(f"the wire lost {lost} frames")
        return f"the wire lost {lost} frames only" \
            if lost < 20 * len(patterns) else None

    wire.set(loss=loss, seed=7)
    try:
        again(session, once)
    finally:
        wire.set(loss=0)


def lossy_connections(session, net, patterns):
    """Connecting and leaving, both ways, while a tenth of the frames is lost:
    the two ends always agree on what came of it."""
    lossy(session, net, patterns, 0.1, patience=4)


def lossy_unreliable(session, net, patterns):
    """A lost message is no error at Unreliable: all else still holds."""
    lossy(session, net, patterns, 0.02, patience=2, levels="unreliable")


# No file that could know the peer; the resolver looks into files only.
NO_FILES = ("mount --bind /dev/null /etc/hosts && "
            "mount --bind /dev/null /etc/vip_hosts && "
            "echo hosts: files >/tmp/nsswitch && "
            "mount --bind /tmp/nsswitch /etc/nsswitch.conf")


def names(session, net):
    """The peer is found by its name, with frames of ours alone.  Questions
    end after a fifth of a second, which a peer may be without a processor."""
    ping = f"{TOOLS}/viaping -d via_eth{net}"

    def find(name):
        result = session.run(
            session.lab.nodes[0], f"unshare -m sh -c '{NO_FILES} && "
            f"{ping} -c 1 {name}'", 60, status=None)
        return f"{name}: {result.all.strip()[-200:]}" if result.rc else None

    with Server(session, f"{ping} -l"):
        for name in ("node2", "NODE2.example.org"):
            again(session, lambda n=name: find(n))


def stress(session, net, arguments, timeout=300):
    with Server(session, f"{STRESS} -d via_eth{net} --server"):
        return session.run(session.lab.nodes[0],
                           f"{STRESS} -d via_eth{net} {arguments} {peer(net)}",
                           timeout)


BAD_WIRE = dict(loss=0.01, dup=0.01, reorder=0.02, corrupt=0.002, seed=11)
GOOD_WIRE = dict(loss=0, dup=0, reorder=0, corrupt=0)


def reliability(session, net, messages, options=""):
    """All messages arrive, whole, once, in order, over a bad wire."""
    wire = session.lab.wire(net)
    before = wire.stats()
    wire.set(**BAD_WIRE)
    try:
        stress(session, net, f"--messages {messages} {options}", 600)
    finally:
        wire.set(**GOOD_WIRE)
    after = wire.stats()
    did = {k: after[k] - before[k] for k in
           ("in_frames", "lost", "duplicated", "reordered", "corrupted")}
    session.check.write(f"the wire: {did}")
    if not (did["lost"] and did["duplicated"] and did["reordered"]):
        raise StepFailed(f"the wire was not bad: {did}")


def reads(session, net, messages):
    """The same with Reliable Reception, each RDMA Write read back."""
    reliability(session, net, messages, "--level rr --reads")


def killed(session, net, rounds):
    """kill -9 in the middle of transfers: the peer hears of it, and nothing
    stays pinned on either side."""
    stress(session, net, f"--kill {rounds}")
    unpinned(session)


def counters(session, node, net):
    """Of a node's VI NIC, by viastat."""
    text = node.sh(f"{TOOLS}/viastat -d via_eth{net}").out
    session.check.write(text)
    return {k: int(v) for k, v in re.findall(r"(\w+)\s+(\d+)", text)}


def drops(session, node, net):
    """Frames that the class has thrown away, by viastat."""
    text = node.sh(f"{TOOLS}/viastat -d via_eth{net} 2>/dev/null || "
                   f"{TOOLS}/viastat via_eth{net}").out
    session.check.write(text)
    return sum(int(n) for n in re.findall(
        r"(?:drop|bad|malformed|unknown)\S*\s+(\d+)", text))


def garbage(session, net):
    """Malformed frames are counted and dropped; transfers go on."""
    node = session.lab.nodes[1]
    before = drops(session, node, net)
    stress(session, net, f"--messages 2000 --garbage eth{net}")
    after = drops(session, node, net)
    if after <= before:
        raise StepFailed("no garbage was counted")


def busy_modules(session, net):
    """rmmod of a module in use is refused, without an effect."""
    node = session.lab.nodes[1]
    with Server(session, f"{CONFORM} -d via_eth{net} --server") as job:
        job.link.wait_for(lambda: job.done or session.lab.nodes[1].run(
            "grep -q '^via_netdev [0-9]* [1-9]' /proc/modules").rc == 0, 30)
        for name in ("via_netdev", "via_ether", "via_ka"):
            if node.run(f"rmmod {name}").rc == 0:
                raise StepFailed(f"{name} was removed while in use")
        session.run(session.lab.nodes[0], f"{CONFORM} -d via_eth{net} -g "
                    f"send --timeout-scale {scale(session)} {peer(net)}", 200)


def flowing(session, net, job):
    """Wait until the job has moved frames over a wire."""
    start = session.lab.wire(net).stats()["in_frames"]
    if not job.link.wait_for(
            lambda: job.done or
            session.lab.wire(net).stats()["in_frames"] > start + 200, 60):
        raise StepFailed("no frames are flowing")
    if job.done:
        raise StepFailed(f"ended before the test: {job.all.strip()[-200:]}")


def broken(session, net, breaker, limit):
    """Both ends of a transfer notice that `breaker` has cut it."""
    server = session.lab.nodes[1].spawn(f"{TOOLS}/vipl_bw -d via_eth{net}",
                                        200)
    client = session.lab.nodes[0].spawn(
        f"{TOOLS}/vipl_bw -d via_eth{net} -D 120 {peer(net)}", 200)
    jobs = (client, server)
    try:
        flowing(session, net, client)
        breaker()
        for job in jobs:
            if not job.link.wait_for(lambda j=job: j.done, limit):
                raise StepFailed(f"{job.link.name} has not noticed after "
                                 f"{limit} s: {job.command}")
            if job.rc == 0:
                raise StepFailed(f"{job.link.name} noticed nothing: "
                                 f"{job.command}")
    finally:
        for job in jobs:
            job.kill()
            session.write_job(job)
    unpinned(session)


def wire_cut(session, net):
    """A dead peer is found: the connection breaks on both sides."""
    wire = session.lab.wire(net)
    try:
        broken(session, net, lambda: wire.set(cut="0"), 30 * scale(session))
    finally:
        wire.set(cut="none")


def interface_gone(session, net):
    """Unplugging the NIC under load: VIs in error, no warning, node gone."""
    node = session.lab.nodes[1]
    broken(session, net, lambda: node.monitor(f"device_del nic{net}"),
           30 * scale(session))
    if not node.link.wait_for(
            lambda: node.run(f"test -e /dev/via_eth{net}").rc != 0, 20):
        raise StepFailed(f"/dev/via_eth{net} outlives its interface")


def detached(session, net):
    """The same by detaching it; it can be attached again."""
    node = session.lab.nodes[1]
    watcher = node.spawn(f"{CATASTROPHIC} {BUILD}/libvipl.so.1 via_eth{net}",
                         200)
    try:
        if not watcher.link.wait_for(
                lambda: watcher.done or "ready" in watcher.out, 60):
            raise StepFailed("the watcher does not start")
        broken(session, net, lambda: session.lab.detach(node, f"eth{net}"),
               30 * scale(session))
        # It has seen nothing of the connection, only that the NIC went.
        if not watcher.link.wait_for(lambda: watcher.done,
                                     30 * scale(session)) or watcher.rc:
            raise StepFailed("no VIP_ERROR_CATASTROPHIC: "
                             f"{watcher.all.strip()[-200:]}")
    finally:
        watcher.kill()
        session.write_job(watcher)
    session.lab.attach(node, f"eth{net}")
    conform_wire(session, net, "connect*")


def beyond(session, net):
    """Frames of messages longer than MaxTransferSize reach no memory, however
    long the receives are; those of the longest that there may be do."""
    server = session.lab.nodes[0].spawn(
        f"{BEYOND} serve {BUILD}/libvipl.so.1 via_eth{net}", 100)
    try:
        address, handle = server.expect(r"^ready (\d+) (\d+)$").groups()
        session.run(session.lab.nodes[1], f"{BEYOND} forge eth{net} "
                    f"{mac(net, 0)} {address} {handle}", 60)
        came = server.expect(r"^came (.*)\nwritten (.*)$").groups()
    finally:
        server.kill()
        session.write_job(server)
    # DONE, RECEIVE; and LENGTH_ERROR.
    if came != ("0x10001:4096 0x10009:0 0x10001:4096", "1024 0"):
        raise StepFailed(f"what came and what was written: {came}")


def need(path):
    if not os.path.exists(path):
        raise Skipped(f"{path} is not built")
