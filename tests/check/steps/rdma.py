# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs and kernel modules that use RDMA cards, as Debian has them, on a
verbs device of via_rdma; beside it the same on rdma_rxe and over TCP.

What goes over VIA is proved by counters: so many bytes in VIA frames, and next
to none by IP, as rsockets and others fall back to TCP unseen.
"""

import collections
import contextlib
import json
import os
import re
import shutil

from common import TOOLS, serving
from labkit.base import ROOT, LabError
from runner import Skipped, StepFailed

PRELOAD = "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"
TARGET = os.path.join(ROOT, "tools/demo/nvme-target")
VIA = f"{TOOLS}/via"
# Octets that a node has sent by IP so far.
BY_IP = ("awk '/^IpExt/ { if (!n) { for (i = 1; i <= NF; i++) "
         "if ($i == \"OutOctets\") n = i } else print $n }' /proc/net/netstat")
# What may go by IP beside the data: a test's own words, ARP is none.
TALK = 30000
LIMIT = 60  # seconds of a program, longer on a slow kernel

# server, client: commands, in which {peer} is node 2 and {dev} the verbs
# device.  listens: "cm" where rdma_cm listens, else the TCP port.  payload:
# bytes that cross the wire at least.  tell: what of the client's words is told.
Program = collections.namedtuple(
    "Program", "server client listens payload tell unit env",
    defaults=(None, "", ""))


def perftest(name, size, count, tell, unit, words="-R", listens="cm"):
    command = f"{name} {words} -F -d {{dev}} -s {size} -n {count}"
    return Program(command, command + " {peer}", listens, size * count, tell,
                   unit)


# The last rows of perftest: bytes, iterations, and the figures.
LATENCY = r"^ *\d+ +\d+ +[\d.]+ +[\d.]+ +([\d.]+)"
BANDWIDTH = r"^ *\d+ +\d+ +[\d.]+ +([\d.]+) "
# ofi_rxm's completion queue has room for 256 peers where it is told no other
# number, which is more than rdma_rxe has for one.
UNIVERSE = "FI_UNIVERSE_SIZE=8 "
PROGRAMS = {
    "rping": Program("rping -s -a {peer} -C 50 -V -S 4096",
                     "rping -c -a {peer} -C 50 -V -S 4096", "cm", 400000),
    "ucmatose": Program("ucmatose -C 100 -S 2000",
                        "ucmatose -s {peer} -C 100 -S 2000", "cm", 400000),
    "ib_send_lat": perftest("ib_send_lat", 256, 1000, LATENCY, "us"),
    "ib_send_bw": perftest("ib_send_bw", 65536, 200, BANDWIDTH, "MB/s"),
    "ib_write_bw": perftest("ib_write_bw", 65536, 200, BANDWIDTH, "MB/s"),
    "ib_write_bw, 8 MiB": perftest("ib_write_bw", 8 << 20, 5, BANDWIDTH,
                                   "MB/s"),
    "ib_read_bw": perftest("ib_read_bw", 65536, 200, BANDWIDTH, "MB/s"),
    "qperf": Program("qperf", "qperf -cm 1 {peer} -t 2 rc_lat rc_bw", 19765,
                     500000, r"rc_lat:\s+latency += +([\d.]+ \w+)"),
    "rstream, 4 KiB": Program(
        "rstream -S 4096 -I 4 -C 50 -T v",
        "rstream -s {peer} -S 4096 -I 4 -C 50 -T v", "cm", 1600000),
    "rstream, 64 KiB": Program(
        "rstream -S 65536 -I 4 -C 20 -T v",
        "rstream -s {peer} -S 65536 -I 4 -C 20 -T v", "cm", 10000000),
    "iperf": Program("iperf -s", "iperf -c {peer} -n 4M", "cm", 4000000,
                     r"([\d.]+ [KMG]bits/sec)", "", f"LD_PRELOAD={PRELOAD} "),
    "fi_pingpong": Program(
        "fi_pingpong -p 'verbs;ofi_rxm' -d {dev} -e rdm -c -I 30 -S 65536",
        "fi_pingpong -p 'verbs;ofi_rxm' -d {dev} -e rdm -c -I 30 -S 65536 "
        "{peer}", 47592, 3500000, None, "", UNIVERSE),
}
# The same over TCP, where the program has it.
OVER_TCP = {
    "qperf": Program("qperf", "qperf {peer} -t 2 tcp_lat tcp_bw", 19765,
                     0, r"tcp_lat:\s+latency += +([\d.]+ \w+)"),
    "rstream, 4 KiB": Program(
        "rstream -S 4096 -I 4 -C 50 -T s -T v",
        "rstream -s {peer} -S 4096 -I 4 -C 50 -T s -T v", 7471, 0),
    "rstream, 64 KiB": Program(
        "rstream -S 65536 -I 4 -C 20 -T s -T v",
        "rstream -s {peer} -S 65536 -I 4 -C 20 -T s -T v", 7471, 0),
    "iperf": Program("iperf -s", "iperf -c {peer} -n 4M", 5001, 0,
                     r"([\d.]+ [KMG]bits/sec)"),
    "fi_pingpong": Program(
        "fi_pingpong -p 'tcp;ofi_rxm' -e rdm -c -I 30 -S 65536",
        "fi_pingpong -p 'tcp;ofi_rxm' -e rdm -c -I 30 -S 65536 {peer}",
        47592, 0),
}


def needed(*programs):
    for name in programs:
        if not shutil.which(name):
            raise Skipped(f"no {name}: tools/lab/setup.sh rdma")


# The device

def objects(node, dev, pooled):
    """Of the verbs device: {kind: how many}.  The kernel keeps completion
    queues that its own users have given back, until the device goes."""
    rows = [row for row in json.loads(node.sh("rdma -j resource").out or "[]")
            if row.get("ifname") == dev]
    return {k: v for row in rows for k, v in row.items() if
            k in ("pd", "qp", "cm_id", "mr", "ctx", "srq") or
            k == "cq" and not pooled}


def nothing_left(session, node, dev, idle, pooled):
    """What users had of the device is gone, at the latest after a while."""
    left = {}

    def same():
        nonlocal left
        left = {k: v for k, v in objects(node, dev, pooled).items()
                if v != idle.get(k)}
        return not left

    if not node.link.wait_for(same, 20 * session.slow):
        session.check.write(node.run("rdma resource show qp; rdma resource "
                                     "show cm_id; rdma resource show mr").out)
        raise StepFailed(f"{node.name}: {dev} still has "
                         f"{', '.join(f'{v} {k}' for k, v in left.items())}")


@contextlib.contextmanager
def device(session, kind, net, pooled=False):
    """The verbs device of both nodes meanwhile, its name; nothing of it is
    left afterwards.  Over TCP there is none."""
    if kind == "tcp":
        yield None
        return
    lab, dev, idle = session.lab, f"{kind}0", {}
    try:
        for node in lab.nodes:
            lab.verbs(node, f"eth{net}", kind)
            idle[node] = objects(node, dev, pooled)
        yield dev
        for node in lab.nodes:
            nothing_left(session, node, dev, idle[node], pooled)
    except BaseException:
        with contextlib.suppress(LabError):
            for node in lab.nodes:
                node.run("dmesg | tail -n 20")
                node.run(f"rdma link del {dev}; rmmod via_rdma", 20)
        raise
    for node in lab.nodes:
        lab.no_verbs(node, kind)
        if node.run(f"rdma link show | grep -w {dev}").rc == 0:
            raise StepFailed(f"{node.name}: {dev} outlives its deletion")


def sent(session, net):
    """Bytes that both nodes have sent so far: in VIA frames, by IP."""
    via = ip = 0
    for node in session.lab.nodes:
        text = node.sh(f"{TOOLS}/viastat -d via_eth{net}").out
        via += int(re.search(r"^ *tx_bytes +(\d+)$", text, re.M).group(1))
        ip += int(node.sh(BY_IP).out)
    return via, ip


@contextlib.contextmanager
def carried(session, kind, net, payload):
    """So many bytes go by VIA meanwhile, and next to none by IP."""
    if kind != "via":
        yield
        return
    before = sent(session, net)
    yield
    via, ip = (b - a for a, b in zip(before, sent(session, net)))
    session.check.note(f"{via} bytes by VIA, {ip} by IP")
    if via < payload:
        raise StepFailed(f"{via} bytes went in VIA frames, the data are "
                         f"{payload}")
    if ip > TALK:
        raise StepFailed(f"{ip} bytes went by IP")


# Programs

def listening(session, node, listens, job):
    """Wait until the server does."""
    check = "rdma resource show cm_id | grep -q LISTEN" if listens == "cm" \
        else f"ss -Hltn sport = :{listens} | grep -q ."
    if not node.link.wait_for(
            lambda: job.done or node.run(check).rc == 0, 30 * session.slow) \
            or job.done:
        raise StepFailed("the server does not listen: "
                         f"{job.all.strip()[-200:]}")


def between(session, net, what, dev):
    """A program between the nodes: the result of its client."""
    one, two = session.lab.nodes
    words = {"peer": f"10.{net}.0.2", "dev": dev, "net": net}
    with serving(session, what.env + what.server.format(**words),
                 ends=True) as job:
        listening(session, two, what.listens, job)
        result = session.run(one, what.env + what.client.format(**words),
                             LIMIT * session.slow)
        # Most servers end with their client, and tell what they found.
        job.link.wait_for(lambda: job.done, 2)
        if job.done and job.rc:
            raise StepFailed(f"the server ended with status {job.rc}: "
                             f"{job.all.strip()[-200:]}")
    if re.search(r"mismatch|data error|verify fail|verification failed",
                 result.all + job.all, re.I):
        raise StepFailed("other data than were sent")
    return result


def run(session, net, what, dev, kind):
    """A program between the nodes, and what its client tells."""
    with carried(session, kind, net, what.payload):
        result = between(session, net, what, dev)
    if what.tell:
        found = re.findall(what.tell, result.all, re.M)
        if not found:
            raise StepFailed("the client tells no figure")
        session.check.note(f"{found[-1]} {what.unit}".strip())


def needed_by(name):
    """The program that a row is called after."""
    needed(re.match(r"\w+", name).group())


def program(session, net, name, kind):
    """A program of Debian's between the nodes."""
    needed_by(name)
    with device(session, kind, net) as dev:
        run(session, net, (OVER_TCP if kind == "tcp" else PROGRAMS)[name],
            dev, kind)


def comes_and_goes(session, net, rounds):
    """The device by Debian's rdma, as its own tools and ours see it."""
    needed("ibv_devinfo")
    for _ in range(rounds):
        with device(session, "via", net) as dev:
            for node in session.lab.nodes:
                for command, word in (
                        ("rdma link show", f"{dev}/1 state ACTIVE"),
                        ("ibv_devices", dev),
                        (f"ibv_devinfo -d {dev}", "PORT_ACTIVE"),
                        (f"{VIA} dev show", dev)):
                    if word not in session.run(node, command).out:
                        raise StepFailed(f"{command} does not tell {word}")
    for node in session.lab.nodes:
        if node.run("lsmod | grep -w via_rdma").rc == 0:
            raise StepFailed("via_rdma is still loaded")


# NVMe over fabrics

# Newer kernels take the name of the folder, 6.1 takes this one anyhow.
DISK = "/sys/kernel/config/nullb/nullb0"
MEBIBYTES = 24


@contextlib.contextmanager
def disk_of(node, what, mebibytes=MEBIBYTES):
    """A disk in the memory of a node, empty, meanwhile: its path."""
    if what == "a file":
        path, remove = "/dev/shm/disk", "rm -f /dev/shm/disk"
        node.sh(f"{remove}; truncate -s {mebibytes}M {path}")
    else:
        path, remove = "/dev/nullb0", f"echo 0 >{DISK}/power; rmdir {DISK}"
        node.sh("modprobe configfs; modprobe null_blk nr_devices=0; "
                "mount -t configfs configfs /sys/kernel/config 2>/dev/null; "
                f"mkdir {DISK} && cd {DISK} && echo {mebibytes} >size && "
                "echo 1 >memory_backed && echo 1 >power")
    try:
        yield path
    finally:
        node.run(remove)


@contextlib.contextmanager
def served(session, kind, net, what):
    """A disk of node 2 for others, its path there and the port."""
    two, port = session.lab.nodes[1], 4420
    transport = "tcp" if kind == "tcp" else "rdma"
    with disk_of(two, what) as disk:
        two.sh(f"{TARGET} {disk} 10.{net}.0.2 {port} {transport}")
        try:
            yield disk, f"-t {transport} -a 10.{net}.0.2 -s {port} -n mvia"
        finally:
            two.run(f"{TARGET} --end {port}", 30)
    # Nothing holds them any more.
    two.sh(f"modprobe -r nvmet_{transport} nvmet null_blk")


def serve_again(two, net, disk):
    """A disk that is served by NVMe over RDMA ends and is served again."""
    two.sh(f"{TARGET} --end 4420", 60)
    two.sh(f"{TARGET} {disk} 10.{net}.0.2 4420 rdma")


@contextlib.contextmanager
def connected(session, where):
    """Node 1 has that disk meanwhile: its name here."""
    one = session.lab.nodes[0]
    # nvme looks for its class in sysfs before it asks for a module.
    one.sh(f"modprobe nvme-{where.split()[1]}")
    session.run(one, f"nvme connect {where}", 30 * session.slow)
    try:
        session.wait_until(one, "ls /dev/nvme*n1", "no disk appears")
        yield one.sh("ls /dev/nvme*n1").out.split()[0]
    finally:
        session.run(one, "nvme disconnect -n mvia", 30 * session.slow,
                    status=None)
    session.wait_until(one, "! ls /dev/nvme*n1", "the disk outlives its end")


def fio(disk, depth, *more, mebibytes=MEBIBYTES - 8):
    """The command: random writes of several sizes, with checksums."""
    return " ".join((
        f"fio --name=verify --filename={disk} --size={mebibytes}M "
        "--rw=randwrite --bssplit=4k/50:16k/20:128k/30 --ioengine=libaio "
        f"--iodepth={depth} --direct=1 --verify=crc32c --verify_fatal=1",
        *more))


def sum_of(session, node, disk):
    """Of all its bytes, past its cache."""
    return session.run(node, f"dd if={disk} bs=128k iflag=direct | sha256sum"
                       if "/shm/" not in disk else
                       f"dd if={disk} bs=128k | sha256sum").out.split()[0]


def nvme(session, net, kind, what, depth, connects, shared=False):
    """A disk of node 2 used by node 1: written and verified with so many
    requests in flight, and read again after each reconnect; the bytes of both
    ends are the same.  shared: its target has shared receive queues."""
    needed("nvme", "fio")
    one, two = session.lab.nodes
    with device(session, kind, net, pooled=True) as dev:
        if shared:
            two.sh("modprobe nvmet_rdma use_srq=1 srq_size=256", 60)
        with carried(session, kind, net, 2 * (MEBIBYTES - 8) << 20), \
                served(session, kind, net, what) as (disk, where):
            for number in range(connects):
                with connected(session, where) as here:
                    if shared and not objects(two, dev, True).get("srq"):
                        raise StepFailed("the target shares no receives")
                    session.run(one, fio(
                        here, depth, "--randseed=7 --do_verify=1",
                        "--verify_only=1" if number else ""),
                        2 * LIMIT * session.slow)
                    if number == connects - 1:
                        found = sum_of(session, one, here)
            if found != sum_of(session, two, disk):
                raise StepFailed("the disk has other bytes on the other node")
        one.sh(f"modprobe -r nvme_{'tcp' if kind == 'tcp' else 'rdma'}")


def nvme_shared(session, net, depth, connects):
    """The same with a target whose queues share their receives."""
    nvme(session, net, "via", "a disk", depth, connects, True)
