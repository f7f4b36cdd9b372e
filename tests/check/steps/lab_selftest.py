# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The lab's test of itself: what the switch promises, and what a guest does.

The switch is driven over its own sockets, as QEMU does it, so that these
steps need no guest and take no time.
"""

import functools
import json
import lzma
import os
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from labkit import image, patience, running
from labkit.base import BUILD, ROOT, LabError, ensure_tools
from runner import StepFailed

LAB = os.path.join(ROOT, "tools/lab/lab")
PATIENCE = 100  # seconds, for what takes a few milliseconds
NODE = [bytes((0x52, 0x54, 0, 0, 0, n)) for n in range(1, 10)]


def expect(condition, text):
    if not condition:
        raise StepFailed(text)


class Late(Exception):
    """It took longer than it should, here and now."""


def in_time(condition, text):
    if not condition:
        raise Late(text)


def unhurried(function):
    """What is late each time is late; once may be other work of the host."""
    @functools.wraps(function)
    def tries(*args):
        for number in range(10):
            try:
                return function(*args)
            except Late as error:
                why = error
        raise StepFailed(f"{number + 1} times: {why}")
    return tries


class Bench:
    """A switch with a socket in each port."""

    def __init__(self, ports=2, **settings):
        self.folder = tempfile.TemporaryDirectory(prefix="mvia-")
        prefix = os.path.join(self.folder.name, "s")
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "lab/switch"), prefix, str(ports),
             *(f"{k}={v}" for k, v in settings.items())],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        expect(self.process.stdout.readline() == "ready\n",
               "the switch did not start")
        self.control = self.connect(f"{prefix}.control")
        self.ports = [self.connect(f"{prefix}.{i}") for i in range(ports)]
        self.buffers = [b""] * ports
        # Accepting is asynchronous: every port must have answered once.
        for i in range(ports):
            self.send(i, [self.frame(i, 15, b"hello")])
        self.drained(ports * (ports - 1))

    @staticmethod
    def connect(path):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(path)
        return sock

    @staticmethod
    def frame(source, target, payload, kind=0x88b5):
        """To node `target`, or broadcast where that is 15."""
        mac = b"\xff" * 6 if target == 15 else NODE[target]
        return mac + NODE[source] + struct.pack(">H", kind) + payload

    def send(self, port, frames):
        self.ports[port].sendall(b"".join(
            struct.pack(">I", len(f)) + f for f in frames))

    def ask(self, line):
        self.control.sendall(line.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            data = self.control.recv(65536)
            expect(data, "the switch died")
            answer += data
        return answer.decode().strip()

    def stats(self):
        return json.loads(self.ask("stats"))

    def settled(self, frames):
        """Wait until the switch has taken in `frames`; its counters."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            stats = self.stats()
            if stats["in_frames"] >= frames:
                return stats
        raise StepFailed(f"the switch took {stats['in_frames']} of {frames} "
                         "frames")

    def drained(self, frames):
        """Read `frames` frames from all ports together."""
        got = [[] for _ in self.ports]
        end = time.monotonic() + PATIENCE
        while sum(map(len, got)) < frames and time.monotonic() < end:
            ready, _, _ = select.select(self.ports, [], [], 0.5)
            for port in ready:
                i = self.ports.index(port)
                got[i] += self.receive(i, port)
        return got

    def receive(self, number, port):
        # The sockets themselves block: another thread may be sending.
        try:
            self.buffers[number] += port.recv(1 << 20, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        frames, data, at = [], self.buffers[number], 0
        while len(data) - at >= 4:
            length = struct.unpack_from(">I", data, at)[0]
            if len(data) - at < 4 + length:
                break
            frames.append(data[at + 4:at + 4 + length])
            at += 4 + length
        self.buffers[number] = data[at:]
        return frames

    def numbers(self, count, expected, target=1, size=60, **more):
        """Send `count` numbered frames 0 -> target; the numbers that came."""
        pad = b"\0" * size
        frames = [self.frame(0, target, struct.pack(">I", i) + pad, **more)
                  for i in range(count)]
        # The wire holds back senders while its other end does not read.
        sender = threading.Thread(target=self.send, args=(0, frames))
        sender.start()
        got = self.drained(expected)[target]
        sender.join(PATIENCE)
        return [struct.unpack_from(">I", f, 14)[0] for f in got]

    def close(self):
        self.process.terminate()
        self.process.wait(5)
        self.process.stdout.close()
        for sock in (self.control, *self.ports):
            sock.close()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def clean_wire():
    """Everything arrives, once, in order, whatever the sizes."""
    with Bench() as bench:
        for size in (0, 60, 1400, 9000):
            got = bench.numbers(3000, 3000, size=size)
            expect(got == list(range(3000)),
                   f"{len(got)} of 3000 frames of {size} bytes, or not in "
                   "order")
        stats = bench.stats()
        expect(stats["out_frames"] == stats["in_frames"], f"{stats}")


def learning():
    """A known address gets its frames alone; the unknown goes to all."""
    with Bench(ports=4) as bench:
        bench.send(0, [bench.frame(0, 2, b"x" * 46)])
        got = bench.drained(1)
        expect([len(g) for g in got] == [0, 0, 1, 0], "not only to its port")
        bench.send(0, [bench.frame(0, 7, b"x" * 46)])
        got = bench.drained(3)
        expect([len(g) for g in got] == [0, 1, 1, 1], "not to all others")
        bench.ask("set cut=2")
        bench.send(0, [bench.frame(0, 15, b"x" * 46)])
        got = bench.drained(2)
        expect([len(g) for g in got] == [0, 1, 0, 1], "cut port not cut")


def fate(seed, **settings):
    """What arrives of 4000 frames on a bad wire; and the counters."""
    with Bench() as bench:
        words = " ".join(f"{k}={v}" for k, v in settings.items())
        expect(bench.ask(f"set {words} seed={seed}") == "ok", "set refused")
        pad = b"\0" * 60
        bench.send(0, [bench.frame(0, 1, struct.pack(">I", i) + pad)
                       for i in range(4000)])
        stats = bench.settled(4002)
        arrive = 4000 - stats["lost"] - stats["corrupted"] + \
            stats["duplicated"]
        got = bench.drained(arrive)[1]
        return [f[14:] for f in got], stats


def bad_wire():
    """Loss, duplication, corruption and reordering at the asked rate, the
    same for the same seed, other for another."""
    bad = dict(loss=0.05, dup=0.02, corrupt=0.01, slip=0.01, reorder=0.03)
    first, stats = fate(7, **bad)
    again, _ = fate(7, **bad)
    other, _ = fate(8, **bad)
    expect(sorted(first) == sorted(again), "the same seed, another fate")
    expect(first != other, "another seed, the same fate")
    for key, share in (("lost", .05), ("duplicated", .02), ("slipped", .01),
                       ("corrupted", .01), ("reordered", .03)):
        expect(share / 2 < stats[key] / 4000 < share * 2,
               f"{key}: {stats[key]} of 4000, asked for {share:.0%}")
    order = [struct.unpack_from(">I", f)[0] for f in first]
    expect(order != sorted(order), "nothing was reordered")
    flipped = sum(f[4:] != b"\0" * 60 for f in first)
    expect(flipped > 0, "no corruption slipped past")


def runs(numbers, count):
    """Lengths of the gaps between the numbers that came."""
    came = [-1, *numbers, count]
    return [b - a - 1 for a, b in zip(came, came[1:]) if b - a > 1]


def bursts():
    """A loss takes so many frames in a row, no more and no fewer."""
    with Bench() as bench:
        bench.ask("set loss=0.002 burst=20 seed=3")
        frames = 8000
        pad = b"\0" * 60
        bench.send(0, [bench.frame(0, 1, struct.pack(">I", i) + pad)
                       for i in range(frames)])
        lost = bench.settled(frames + 2)["lost"]
        got = [struct.unpack_from(">I", f, 14)[0]
               for f in bench.drained(frames - lost)[1]]
        expect(len(got) == frames - lost, f"{len(got)} came, {lost} lost")
        gaps = runs(got, frames)
        expect(4 <= len(gaps) <= 40, f"{len(gaps)} bursts in {frames} frames")
        # Two may follow each other at once; the last may be cut short.
        expect(all(g % 20 == 0 for g in gaps[:-1]), f"bursts of {gaps}")
        bench.ask("set loss=0 burst=1")
        expect(bench.numbers(100, 100) == list(range(100)), "it goes on")


@unhurried
def far_reordering():
    """A frame comes up to 1,000 later, and none is kept for ever."""
    with Bench() as bench:
        bench.ask("set reorder=0.05 gap=1000 hold=10s seed=5")
        frames = [bench.frame(0, 1, struct.pack(">I", i) + b"\0" * 60)
                  for i in range(6000)]
        bench.send(0, frames)
        held = bench.settled(6002)["reordered"]
        expect(200 < held < 400, f"{held} of 6000 were held back")
        got = [struct.unpack_from(">I", f, 14)[0]
               for f in bench.drained(6000 - held)[1]]
        best, far = 0, 0
        for number in got:
            far, best = max(far, best - number), max(best, number)
        expect(900 < far <= 1000 + held, f"the farthest came {far} late")
        waiting = 6000 - len(got)
        expect(0 < waiting < 200, f"{waiting} are still held back")
    with Bench() as bench:
        # Nothing follows that they could come behind: time lets go of them.
        bench.ask("set reorder=1 gap=1000 hold=100ms")
        start = time.monotonic()
        got = bench.numbers(200, 200)
        seconds = time.monotonic() - start
        expect(sorted(got) == list(range(200)), f"{len(got)} of 200 came")
        expect(0.09 < seconds, f"200 frames were held {seconds:.2f} s")
        in_time(seconds < 1, f"200 frames were held {seconds:.2f} s")


def tails():
    """Every second frame of some lengths is lost, each way by itself."""
    with Bench() as bench:
        bench.ask("set least=300 most=900 each=2")
        for source in (0, 1):
            bench.send(source, [bench.frame(source, 1 - source, bytes([i]) *
                                            (size - 14))
                                for i, size in enumerate(
                                    (60, 299, 300, 400, 901, 900, 1514, 600))])
        lost = bench.settled(18)["lost"]
        got = bench.drained(12)
        expect(lost == 4, f"{lost} were lost")
        for frames in got:
            came = [f[14] for f in frames]
            expect(came == [0, 1, 3, 4, 6, 7], f"{came} came")
        bench.ask("set least=0 most=0 each=0")
        expect(bench.numbers(10, 10) == list(range(10)), "it goes on")


def one_way():
    """A deaf port gets nothing, a mute one gives nothing."""
    with Bench(ports=3) as bench:
        for word, whom in (("deaf", 1), ("mute", 0)):
            bench.ask(f"set {word}={whom}")
            before = bench.stats()["cut_drops"]
            bench.send(0, [bench.frame(0, 1, b"x" * 46)])
            # The other way it is still a wire.
            bench.send(1, [bench.frame(1, 0, b"y" * 46)])
            got = bench.drained(1)
            expect([len(g) for g in got] == [1, 0, 0],
                   f"{word}: {[len(g) for g in got]} came")
            expect(bench.stats()["cut_drops"] == before + 1,
                   f"{word}: not counted")
            bench.ask(f"set {word}=none")
        expect(bench.numbers(10, 10) == list(range(10)), "it stays so")


@unhurried
def forgetful():
    """A switch that forgets gives to all what it knew whom to give to."""
    with Bench(ports=4) as bench:
        bench.ask("set forget=1ns")
        bench.send(0, [bench.frame(0, 2, b"x" * 46)])
        got = bench.drained(3)
        expect([len(g) for g in got] == [0, 1, 1, 1], "it has not forgotten")
        bench.ask("set forget=100ms")
        begin = time.monotonic()
        bench.send(2, [bench.frame(2, 0, b"x" * 46)])
        bench.drained(3)
        bench.send(0, [bench.frame(0, 2, b"x" * 46)])
        got = bench.drained(1)
        in_time(time.monotonic() - begin < 0.1, "forgotten meanwhile")
        expect([len(g) for g in got] == [0, 0, 1, 0], "it has learnt nothing")
        time.sleep(0.15)
        bench.send(0, [bench.frame(0, 2, b"x" * 46)])
        got = bench.drained(3)
        expect([len(g) for g in got] == [0, 1, 1, 1], "it remembers for ever")


def only_one_type():
    """Frames of another EtherType do not suffer."""
    with Bench() as bench:
        bench.ask("set loss=1 only=88b5")
        expect(bench.numbers(100, 100, kind=0x0800) == list(range(100)),
               "IP frames suffered")
        bench.numbers(100, 0)
        stats = bench.settled(302 - 100)
        expect(stats["lost"] == 100, f"lost {stats['lost']} of 100")


@unhurried
def slow_wire():
    """The rate holds, the queue is bounded, delay does not reorder."""
    with Bench() as bench:
        bench.ask("set rate=10M")
        start = time.monotonic()
        got = bench.numbers(250, 250, size=976)
        seconds = time.monotonic() - start
        expect(got == list(range(250)), "a slow wire lost or reordered")
        expect(0.19 < seconds, f"250 kB at 10 Mb/s took {seconds:.2f} s")
        in_time(seconds < 0.5, f"250 kB at 10 Mb/s took {seconds:.2f} s")
        bench.ask("set queue=64")
        before = bench.stats()["queue_drops"]
        got = bench.numbers(250, 64, size=976)
        drops = bench.stats()["queue_drops"] - before
        expect(64 <= len(got), f"{len(got)} came through a queue of 64")
        # Each millisecond in which they are not sent makes room for one.
        in_time(len(got) <= 70 and drops >= 180,
                f"{len(got)} came through a queue of 64, {drops} dropped")
    # Frames may still wait in that queue, more than were read.
    with Bench() as bench:
        bench.ask("set delay=20ms jitter=10ms")
        start = time.monotonic()
        got = bench.numbers(500, 500)
        seconds = time.monotonic() - start
        expect(got == list(range(500)), "jitter reordered")
        expect(0.02 <= seconds, f"20 ms of delay took {seconds:.3f} s")
        in_time(seconds < 0.3, f"20 ms of delay took {seconds:.3f} s")


@unhurried
def nobody_reads():
    """A guest that reads nothing does not stop the others for long."""
    with Bench(ports=3) as bench:
        bench.send(0, [bench.frame(0, 1, b"x" * 8000)] * 2000)
        start = time.monotonic()
        bench.send(0, [bench.frame(0, 2, b"x" * 46)])
        ready, _, _ = select.select([bench.ports[2]], [], [], PATIENCE)
        expect(ready, "a stuck port blocked another")
        in_time(time.monotonic() - start < 5, "blocked for seconds")


def recording():
    """The pcap holds what was delivered."""
    with Bench() as bench:
        path = os.path.join(bench.folder.name, "x.pcap")
        expect(bench.ask(f"pcap {path}") == "ok", "pcap refused")
        bench.numbers(50, 50)
        expect(bench.ask("pcap") == "ok", "pcap does not end")
        with open(path, "rb") as file:
            data = file.read()
        expect(len(data) == 24 + 50 * (16 + 14 + 64), f"{len(data)} bytes")


def bad_settings():
    """Nonsense is refused and changes nothing."""
    with Bench() as bench:
        for line in ("set loss=2", "set loss", "set delay=5parsecs",
                     "set hope=1", "dance", "set loss=0.5 rate=x"):
            expect(bench.ask(line).startswith("error "), f"'{line}' accepted")
        expect(bench.numbers(200, 200) == list(range(200)),
               "a refused setting took hold")


def kernel_log_watch():
    """The watcher finds what matters, and nothing in a healthy boot."""
    from labkit.klog import BAD, FINE
    for line in ("WARNING: CPU: 0 PID: 1 at x", "BUG: KASAN: slab-out",
                 "INFO: task x:1 blocked for more than 120 seconds.",
                 "UBSAN: shift", "rcu: INFO: rcu_sched self-detected stall",
                 "WARNING: possible circular locking dependency detected",
                 "kmemleak: 2 new suspected memory leaks", "Call Trace:",
                 "refcount_t: underflow; use-after-free.",
                 "workqueue: work func link_work [via_native] enqueued on "
                 "deprecated workqueue. Use system_{percpu|dfl}_wq instead.",
                 "DMA-API: e1000 0000:00:03.0: device driver frees"):
        expect(BAD.search(line) and not FINE.search(line), f"missed: {line}")
    for line in ("via_ka: loading out-of-tree module taints kernel.",
                 "clocksource: timekeeping watchdog on CPU0",
                 "DMA-API: preallocated 65536 debug entries"):
        expect(not BAD.search(line) or FINE.search(line), f"cried: {line}")


def lab_command(*words, status=0):
    """What `lab` prints."""
    done = subprocess.run([LAB, *words], text=True, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE, timeout=PATIENCE)
    expect(done.returncode == status, f"lab {' '.join(words)} ended with "
           f"status {done.returncode}: {done.stdout}")
    return done.stdout


def wire_from_outside():
    """`lab wire` changes and shows the wires of a lab that runs, and says
    what is wrong with a setting."""
    with Bench() as bench, running.announced("run", bench.folder.name, 1):
        os.rename(f"{bench.folder.name}/s.control",
                  f"{bench.folder.name}/w0.control")

        def wire(*words, **more):
            return lab_command("wire", "--lab", str(os.getpid()), *words,
                               **more)

        wire("loss=1,delay=1500us", "cut=0,1")
        shown = wire("show")
        for word in ("loss=1 ", "delay=1500us ", "cut=0,1 ", "rate=0 "):
            expect(word in shown, f"no '{word}' in {shown}")
        expect(shown == wire("0", "show"), "its only wire is another one")
        wire("loss=0", "delay=0", "cut=none")
        expect(bench.numbers(50, 50) == list(range(50)), "it changed nothing")
        expect("port 0: in_frames=51" in wire("show"), wire("show"))
        for words, why in ((("hope=1",), "no setting 'hope'"),
                           (("loss=2",), "0 to 1"), (("1", "show"), "no wire"),
                           (("loss",), "KEY=VALUE"), (("pcap", "x"), "which")):
            said = wire(*words, status=1)
            expect(why in said, f"lab wire {' '.join(words)}: {said}")
        expect("loss=0 " in wire("show"), "a refused setting took hold")
    expect("process 1" in lab_command("wire", "--lab", "1", "show", status=1),
           "a lab where none is")


def bad_options():
    """What cannot be is said before anything boots."""
    for words, why in ((("--native", "--nic", "vmxnet3"), "no native driver"),
                       (("--boot-limit", "soon"), "number of seconds"),
                       (("--wire", "loss"), "KEY=VALUE")):
        said = lab_command("run", *words, "--", "true", status=1)
        expect(why in said, f"lab run {' '.join(words)}: {said}")


@unhurried
def boot_patience():
    """Time without a processor does not count, a word on the console begins
    the count anew, and there is an end to it."""
    with tempfile.NamedTemporaryFile() as console:
        starved = patience.Patience(
            0.3, console.name, lambda begin=time.monotonic():
            time.monotonic() - begin)
        silent = patience.Patience(0.3, console.name, lambda: 0)
        telling = patience.Patience(0.3, console.name, lambda: 0)
        for _ in range(4):
            time.sleep(0.1)
            console.write(b"a word\n")
            console.flush()
            in_time(not telling.over(), "what grows is given up")
        in_time(not starved.over(), "the host's other work counts")
        silent.size = os.path.getsize(console.name)
        expect(silent.over(), "silence does not count")
        starved.begin -= patience.CAP * 0.3
        expect(starved.over(), "it has no end")
        expect(not silent.asleep(), "its CPUs are not known")
        for busy, sleeps in ((lambda: 0, True), (time.monotonic, False)):
            booting = patience.Patience(0.3, console.name, lambda: 0, busy)
            time.sleep(0.1)
            booting.over()
            expect(booting.asleep() == sleeps, f"asleep: {not sleeps}")
    # And what it goes by: two that want one processor, a second long.
    burn = ("import os, time; os.sched_setaffinity(0, [min("
            "os.sched_getaffinity(0))]); end = time.monotonic() + 1\n"
            "while time.monotonic() < end: pass")
    jobs = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(2)]
    time.sleep(0.9)
    seconds = patience.waited([job.pid for job in jobs])
    for job in jobs:
        job.wait()
    in_time(seconds > 0.2 or not os.path.exists("/proc/self/schedstat"),
            f"two on one processor waited {seconds:.2f} s")


@unhurried
def lab_clock():
    """It stands still, or nearly, where there is no processor, and goes as
    the wall's where there is one."""
    starved = patience.Clock(lambda: ["starved"])
    idle = patience.Clock(lambda: ["idle"])
    begin, real = time.monotonic(), patience.waited
    patience.waited = lambda threads: \
        (time.monotonic() - begin) * (threads == ["starved"])
    try:
        clocks = (starved, idle)
        first = [clock.now() for clock in clocks]
        while time.monotonic() < begin + 1.2:
            time.sleep(0.1)
            now = [clock.now() - t for clock, t in zip(clocks, first)]
        passed = time.monotonic() - begin
        slow = [clock.slowness() for clock in clocks]
    finally:
        patience.waited = real
    in_time(now[0] < 0.5 * passed and now[1] > 0.5 * passed,
            f"{passed:.2f} s are {now[0]:.2f} starved, {now[1]:.2f} idle")
    in_time(slow[0] > 2 * slow[1], f"slowness {slow}")


SWITCH_STEPS = (clean_wire, learning, bad_wire, bursts, far_reordering,
                tails, one_way, forgetful, only_one_type, slow_wire,
                nobody_reads, recording, bad_settings, kernel_log_watch,
                wire_from_outside, bad_options, boot_patience, lab_clock)


# In guests

def commands(session):
    """Status, output, deadline, several at once."""
    n0, n1 = session.lab.nodes
    result = n0.run("echo out; echo err >&2; exit 7")
    expect((result.rc, result.out, result.err) == (7, "out\n", "err\n"),
           f"{result}")
    expect(n0.run("kill -9 $$").rc == -9, "a signal's status is lost")
    job = n0.spawn("cat", 60, stdin=True)
    job.input("hello\n")
    job.expect("hello")
    job.input(b"")
    expect(job.wait().rc == 0, "cat does not end with its input")
    try:
        n1.run("sleep 100", timeout=0.5)
    except LabError as why:
        expect("killed after 0.5 s" in str(why), f"{why}")
    else:
        raise StepFailed("no deadline")
    jobs = [n.spawn(f"echo {i}", 30) for i in range(20) for n in (n0, n1)]
    expect([j.wait().out for j in jobs] ==
           [f"{i}\n" for i in range(20) for _ in (n0, n1)], "jobs mixed up")
    big = n0.sh("head -c 3000000 /dev/zero | tr '\\0' x").out
    expect(len(big) == 3000000, f"{len(big)} of 3000000 bytes of output")


def names_and_wires(session):
    """Each NIC is where it should be and reaches its neighbour."""
    for i in range(len(session.lab.nics)):
        session.run(session.lab.nodes[0],
                    f"busybox ping -c 1 -W 5 10.{i}.0.2 && "
                    f"grep -q 52:54:00:00:0{i}:01 "
                    f"/sys/class/net/eth{i}/address && "
                    f"getent hosts node2-eth{i}")


def warning_is_seen(session):
    """A kernel warning fails the run and names node and log."""
    lab = session.lab
    node = lab.nodes[1]
    before = len(node.klog.scan())
    node.sh("echo 'WARNING: a test of the lab' >/dev/kmsg")
    node.link.wait_for(lambda: len(node.klog.scan()) > before, 10)
    try:
        lab.check()
    except LabError as why:
        expect("node2" in str(why) and node.console in str(why), f"{why}")
    else:
        raise StepFailed("it was not noticed")
    finally:
        del node.klog.bad[before:]


def clock(session):
    """A second of a guest is one of ours, whatever was going on at boot."""
    node = session.lab.nodes[0]

    def both():
        before = time.monotonic()
        guest = int(node.sh("cut -d' ' -f1 /proc/uptime | tr -d .").out)
        return before, time.monotonic(), guest / 100

    first = both()
    time.sleep(2)
    last = both()
    # It was read somewhere between; an interrupt more than that may be late.
    seconds = last[2] - first[2]
    least, most = last[0] - first[1], last[1] - first[0]
    expect(0.8 * least < seconds < 1.25 * most, f"{seconds:.2f} s of the "
           f"guest's are {least:.2f} to {most:.2f} s of ours")


def reset_and_return(session):
    """A node whose reset button is pulled comes back; its jobs are lost."""
    node = session.lab.nodes[1]
    node.sh("touch /run/before")
    job = node.spawn("sleep 1000")
    node.reset()
    try:
        job.wait(60)
    except LabError as why:
        expect("reset" in str(why), f"{why}")
    expect(node.run("test -e /run/before").rc == 1, "it did not boot again")


GUEST_STEPS = (commands, names_and_wires, clock, warning_is_seen,
               reset_and_return)


# Of the command: node 1 pings until the wire is cut, and then says so.
UNTIL_CUT = ("1: readlink /sys/class/net/eth0/device/driver; "
             "test -c /dev/via_eth0 && viainfo -d via_eth0; echo up; "
             "while busybox ping -c 1 -W 2 10.0.0.2 >/dev/null; do "
             "sleep 0.1; done; echo cut")


def native_by_command():
    """`lab run --native`: our driver, the address, the VI NIC; its wire is
    cut from outside."""
    job = subprocess.Popen(
        [LAB, "run", "-n", "2", "--nic", "tulip", "--native", "-t", "60",
         "--boot-limit", "150", "--", UNTIL_CUT], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = []
    try:
        for line in job.stdout:
            said.append(line)
            if line == "up\n":
                lab_command("wire", "--lab", str(job.pid), "0", "cut=1")
        expect(job.wait(PATIENCE) == 0, f"status {job.returncode}: {said}")
    finally:
        job.terminate()
        job.wait(60)
        job.stdout.close()
    text = "".join(said)
    expect("drivers/via_tulip\n" in text, f"not our driver: {text}")
    expect(re.search(r"via_eth0", text) and "cut\n" in text,
           f"no VI NIC, or no cut: {text}")


def boot_limit_is_told():
    """A guest that has no time to boot: the error says how to give it more."""
    said = lab_command("run", "--boot-limit", "0.01", "--", "true", status=1)
    # On a busy host the limit of the whole boot comes first.
    expect(("did not boot: no word on its console for 0.01 s" in said or
            "did not boot: it has had" in said) and
           patience.VARIABLE in said, said)


def image_of(packed, version=0x20f):
    """A boot image with one sector of set-up, whose payload comes at 64."""
    data = bytearray(1024 + 64) + packed + b"size"
    data[image.SECTORS] = 1
    data[image.MAGIC:image.MAGIC + 6] = b"HdrS" + struct.pack("<H", version)
    struct.pack_into("<II", data, image.PAYLOAD, 64, len(packed) + 4)
    return bytes(data)


def image_is_unpacked():
    """The ELF file of an image that xz made and QEMU can start, made anew for
    another image of that name; else the image."""
    elf = b"\x7fELF" + image.ENTRIES[1] + bytes(9)
    packed = lzma.compress(elf, check=lzma.CHECK_CRC32)
    expect(image.unpacked(image_of(packed)) == elf, "not what was packed")
    for what, data in (
            ("no image", b""), ("an old one", image_of(packed, 0x207)),
            ("not of xz", image_of(elf)),
            ("cut off", image_of(packed)[:1024 + 64 + 40]),
            ("damaged", image_of(packed[:20] + b"?" + packed[21:])),
            ("no entry", image_of(lzma.compress(b"\x7fELF" + bytes(9))))):
        expect(image.unpacked(data) is None, f"{what}: unpacked")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vmlinuz")
        for number, content in enumerate((elf, elf + b"new")):
            with open(path, "wb") as file:
                file.write(image_of(lzma.compress(content)))
            os.utime(path, (number, number))
            for _ in range(2):
                with open(image.plain(path), "rb") as file:
                    expect(file.read() == content, "another kernel's")
        with open(path, "wb") as file:
            file.write(image_of(elf))
        expect(image.plain(path) == path, "of another image")


def built(function):
    """The same as a step: with the switch and the agent as they are today."""
    @functools.wraps(function)
    def step(_):
        ensure_tools()
        function()
    return step


HOST_STEPS = (*SWITCH_STEPS, native_by_command, boot_limit_is_told,
              image_is_unpacked)
LONG_STEPS = (native_by_command,)
