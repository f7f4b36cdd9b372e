# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Native drivers: VIA and IP on one card, in sessions of their own."""

import contextlib
import re
import time

import polling
import steps
from labkit import initrd
from labkit.base import ROOT
from runner import Session, Skipped, StepFailed

BIND = f"{ROOT}/tools/via-bind"
STREAM = f"{ROOT}/tests/check/stream.py"
DRIVERS = {"tulip": "via_tulip", "e1000": "via_e1000", "e1000e": "via_e1000",
           "i82559er": "via_eepro100"}
# A read of what is not mapped is a fault there, and told.
IOMMU = ["-machine", "q35,kernel-irqchip=split", "-device", "intel-iommu"]
IP6 = ("sysctl -q -w net.ipv6.conf.all.disable_ipv6=0 "
       "net.ipv6.conf.default.disable_ipv6=0 "
       "net.ipv6.conf.eth0.disable_ipv6=0")


class NativeSession(Session):
    """Two nodes, one wire, the card bound to our driver on both, or on the
    first one only."""

    def __init__(self, check, title, nic, mixed=False, iommu=False,
                 **settings):
        self.driver, self.mixed = DRIVERS[nic], mixed
        words = [f"dma_debug_driver={self.driver}", "iomem=relaxed"]
        if iommu:
            words += ["intel_iommu=on", "iommu.strict=1"]
            settings["qemu_args"] = IOMMU
        super().__init__(check, title, attach=False, nodes=2, nics=[nic],
                         append=" ".join(words), **settings)

    def boot(self):
        super().boot()
        for node in self.ours():
            self.lab.insmod(node, modules=("via_native", self.driver))
            node.sh(f"{BIND} eth0 native", 200)
        if self.mixed:
            self.lab.attach(self.lab.nodes[1], "eth0")
        carrier(self)

    def ours(self):
        return self.lab.nodes[:1] if self.mixed else self.lab.nodes

    def survive(self):
        """Who knows which driver has the card now: boot afresh."""
        self.stop()

    def unload(self):
        if self.mixed:
            self.lab.detach(self.lab.nodes[1], "eth0")
        for node in self.ours():
            node.sh(f"rmmod {self.driver} via_native", 60)
        super().unload()


def wait_until(session, node, condition, what, limit=30):
    end = time.monotonic() + limit * steps.scale(session)
    while node.run(condition).rc:
        if time.monotonic() > end:
            raise StepFailed(f"{node.name}: {what}")
        time.sleep(0.1)


def carrier(session):
    for node in session.lab.nodes:
        wait_until(session, node, "grep -q 1 /sys/class/net/eth0/carrier",
                   "eth0 has no carrier")


def state(node):
    """What an interface has, in a form that compares."""
    text = node.sh("ip -o addr show dev eth0; ip route show table all dev "
                   "eth0; ip -6 route show table all dev eth0; "
                   "ip neigh show dev eth0 nud permanent; "
                   "cat /sys/class/net/eth0/mtu /sys/class/net/eth0/address")
    lines = [re.sub(r"^\d+: | (tentative|linkdown|dadfailed)\b", "", line)
             for line in text.out.splitlines()]
    return sorted(" ".join(line.split()) for line in lines)


def rebinding(session):
    """via-bind there and back keeps all that the interface has."""
    node = session.lab.nodes[0]
    node.sh(f"{IP6} && ip link set eth0 mtu 1400 && "
            "ip addr add fd00:5::1/64 dev eth0 nodad && "
            "ip addr add 10.9.0.1/24 brd + dev eth0 label eth0:x && "
            "ip route add 192.168.7.0/24 via 10.0.0.2 dev eth0 table 77 && "
            "ip route add 192.168.8.0/24 via 10.0.0.2 metric 5 && "
            "ip -6 route add fd00:6::/64 via fd00:5::2 dev eth0 && "
            "ip neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 dev eth0")
    time.sleep(2)
    before = state(node)
    for mode in ("stock", "native"):
        node.sh(f"{BIND} eth0 {mode}", 200)
        carrier(session)
        end = time.monotonic() + 10 * steps.scale(session)
        while state(node) != before and time.monotonic() < end:
            time.sleep(0.2)
        now = state(node)
        if now != before:
            odd = sorted(set(now) ^ set(before))
            raise StepFailed(f"after '{mode}' the interface differs: {odd}")
    if node.run("echo eth0 >/sys/module/via_netdev/parameters/attach").rc == 0:
        raise StepFailed("via_netdev took an interface that is a VI NIC")
    for wrong in ("lo native", "eth9 stock", "eth0 both", ""):
        if node.run(f"{BIND} {wrong}").rc == 0:
            raise StepFailed(f"'via-bind {wrong}' was not refused")
    node.sh("ip link add link eth0 name up0 type macvlan 2>/dev/null || "
            "ip link add link eth0 name up0 type vlan id 9")
    refused = node.run(f"{BIND} eth0 stock")
    node.sh("ip link del up0; ip link set eth0 mtu 1500; "
            "ip addr del 10.9.0.1/24 dev eth0")
    if refused.rc == 0 or "up0" not in refused.all:
        raise StepFailed("via-bind took an interface that carries another: "
                         f"{refused.all.strip()}")


def serving(session, command, ready=None):
    return Serving(session, command, ready)


class Serving:
    """A command on node 2 that ends by itself, or at the end of the block."""

    def __init__(self, session, command, ready):
        self.session, self.ready = session, ready
        self.job = session.lab.nodes[1].spawn(command, 200)

    def __enter__(self):
        if self.ready:
            self.job.expect(self.ready)
        return self.job

    def __exit__(self, *_):
        self.job.kill()
        self.job.wait(30)
        self.session.write_job(self.job)


def ip_traffic(session):
    """ping, IPv6, TCP both ways, UDP, VLAN, a large file unharmed."""
    one, two = session.lab.nodes
    for node, address in ((one, "fd00:5::1"), (two, "fd00:5::2")):
        node.sh(f"{IP6}; ip addr add {address}/64 dev eth0 nodad; "
                "ip link set eth0 mtu 1500")
    time.sleep(2)
    for ping in ("ping -c 3", "ping -c 2 -s 1472", "ping -c 2 -s 20000"):
        session.run(one, f"busybox {ping} 10.0.0.2")
    session.run(one, "busybox ping6 -c 2 -s 3000 fd00:5::2")
    session.run(one, "busybox ping6 -c 2 -I eth0 ff02::1")
    for options in ("", "-R", "-u -b 30M -l 1400"):
        with serving(session, "iperf3 -s -1 --forceflush", "listening"):
            session.run(one, f"iperf3 -c 10.0.0.2 -t 2 {options}")
    whole(session, one, two, "10.0.0.2", 8 if session.lab.debug else 64)
    whole(session, two, one, "fd00:5::1", 4)
    tagged(session)


def whole(session, sender, receiver, address, mebibytes):
    """A file over TCP arrives as it was."""
    job = receiver.spawn(f"{STREAM} serve 5001", 200)
    try:
        job.expect("listening")
        session.run(sender, f"{STREAM} send {address} 5001 {mebibytes}", 200)
    finally:
        job.kill()
        job.wait(30)
        session.write_job(job)


def tagged(session):
    """Frames with a VLAN tag pass, full ones too."""
    one, two = session.lab.nodes
    for number, node in enumerate((one, two), 1):
        node.sh("modprobe 8021q; ip link add link eth0 name eth0.7 type vlan "
                f"id 7 && ip addr add 10.70.0.{number}/24 dev eth0.7 && "
                "ip link set eth0.7 up")
    try:
        session.run(one, "busybox ping -c 3 -s 1472 10.70.0.2")
        whole(session, one, two, "10.70.0.2", 4)
        whole(session, two, one, "10.70.0.1", 4)
    finally:
        for node in (one, two):
            node.sh("ip link del eth0.7")


def jumbo(session):
    """Long frames, for VIA too; back to short ones in a transfer."""
    one, two = session.lab.nodes
    if one.run("ip link set eth0 mtu 9000").rc:
        raise Skipped("the chip knows no longer frames")
    two.sh("ip link set eth0 mtu 9000")
    carrier(session)
    for size in (8972, 20000):
        session.run(one, f"busybox ping -c 2 -s {size} 10.0.0.2")
    steps.conform_wire(session, 0, "send*")
    whole(session, one, two, "10.0.0.2", 16)
    before = session.lab.wire(0).stats()
    run_pair(session, "vipl_bw", "-s 65536 -n 200 -e")
    after = session.lab.wire(0).stats()
    mean = (after["in_bytes"] - before["in_bytes"]) / (
        after["in_frames"] - before["in_frames"])
    session.check.write(f"VIA: {mean:.0f} bytes a frame")
    if mean < 2000:
        raise StepFailed(f"VI frames have {mean:.0f} bytes with an MTU of "
                         "9000")
    steps.broken(session, 0, lambda: two.sh("ip link set eth0 mtu 1500"),
                 30 * steps.scale(session))
    one.sh("ip link set eth0 mtu 1500")
    carrier(session)
    steps.conform_wire(session, 0, "connect*")


def run_pair(session, tool, options):
    """A tool's client on node 1, its server on node 2."""
    with serving(session, f"{steps.TOOLS}/{tool} -d via_eth0"):
        return session.run(session.lab.nodes[0], f"{steps.TOOLS}/{tool} -d "
                           f"via_eth0 {options} {steps.peer(0)}", 120)


def interrupts(node):
    """Those of eth0 so far, on all CPUs."""
    line = re.search(r"^.*\beth0$", node.sh("cat /proc/interrupts").out, re.M)
    return sum(int(n) for n in line.group().split()[1:] if n.isdigit())


def counters(node):
    """ethtool -S as a dictionary; viastat must agree with it on frames."""
    text = node.sh("ethtool -S eth0").out
    return {name: int(value) for name, value in
            re.findall(r"^\s+(\w+): (\d+)$", text, re.M)}


def quiet(session):
    """Sending needs no interrupt per frame."""
    one = session.lab.nodes[0]
    before, frames = interrupts(one), counters(one)
    run_pair(session, "vipl_bw", "-l unreliable -s 65536 -n 300 -e")
    after, now = interrupts(one), counters(one)
    sent = now["tx_vi_frames"] - frames["tx_vi_frames"]
    heard = now["rx_vi_frames"] - frames["rx_vi_frames"] + \
        now["rx_ip_frames"] - frames["rx_ip_frames"]
    own = after - before - heard
    session.check.write(f"{sent} frames sent, {heard} received, "
                        f"{after - before} interrupts")
    if sent < 10000:
        raise StepFailed(f"{sent} frames were sent only")
    # Each frame received may bring one; the others are of sending.
    if own * 32 >= sent:
        raise StepFailed(f"{own} interrupts for {sent} frames sent")
    text = session.run(one, f"{steps.TOOLS}/viastat -d via_eth0 || "
                       f"{steps.TOOLS}/viastat via_eth0").out
    if "wire_tx_full" not in text:
        raise StepFailed("viastat does not show the card's counters")


def link_lost(session):
    """The cable is pulled, and put back before patience ends: both IP and VIA
    go on where they were."""
    one, two = session.lab.nodes
    if session.lab.nics[0] in ("tulip", "i82559er"):
        raise Skipped("this model has no cable to pull")
    server = two.spawn(f"{steps.TOOLS}/vipl_bw -d via_eth0", 200)
    client = one.spawn(f"{steps.TOOLS}/vipl_bw -d via_eth0 -D 10 -e "
                       f"{steps.peer(0)}", 200)
    try:
        steps.flowing(session, 0, client)
        two.monitor("set_link nic0 off")
        wait_until(session, two, "grep -q 0 /sys/class/net/eth0/carrier",
                   "eth0 has not noticed")
        two.monitor("set_link nic0 on")
        carrier(session)
        for job in (client, server):
            if job.wait(120).rc:
                raise StepFailed(f"{job.link.name}: the transfer broke")
    finally:
        for job in (client, server):
            job.kill()
            session.write_job(job)
    session.run(one, "busybox ping -c 2 10.0.0.2")


def questions(session):
    """What ethtool asks is answered, and what it sets holds."""
    one = session.lab.nodes[0]
    said = session.run(one, "ethtool -i eth0 && ethtool eth0 && ethtool -g "
                       "eth0 && ethtool -k eth0 && ethtool -S eth0").out
    for wanted in (f"driver: {session.driver}", "Speed: 100", "Duplex: Full",
                   "Link detected: yes", "RX:", "scatter-gather: on",
                   "tx_ip_frames: "):
        if wanted not in said:
            raise StepFailed(f"ethtool does not say '{wanted}'")
    if session.driver == "via_e1000":
        session.run(one, "ethtool -C eth0 rx-usecs 500 && ethtool -c eth0 | "
                    "grep -q 'rx-usecs:.*500' && busybox ping -c 2 10.0.0.2 "
                    "&& ethtool -C eth0 rx-usecs 0 && "
                    "! ethtool -C eth0 rx-usecs 100000")
        for word in ("tso off", "rx off", "tso on rx on"):
            session.run(one, f"ethtool -K eth0 {word}")
            whole(session, one, session.lab.nodes[1], "10.0.0.2", 2)


GROUPS = """
import socket, struct, sys, time
mine = socket.inet_aton("10.0.0.{host}")
groups = ["239.7.%d.1" % i for i in range({count})]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if {host} == 2:
    socks = []
    for i in range(0, len(groups), 15):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("", 5007))
        for g in groups[i:i + 15]:
            s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                         socket.inet_aton(g) + mine)
        socks.append(s)
    print("joined", flush=True)
    seen, s = set(), socks[0]
    s.settimeout(20)
    while len(seen) < len(groups):
        seen.add(s.recv(100).decode())
else:
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, mine)
    for _ in range(3):
        for g in groups:
            s.sendto(g.encode(), (g, 5007))
        time.sleep(0.2)
"""


def filters(session):
    """Few groups, more than the chip's filter holds, few again; promiscuous
    mode, an address beside ours."""
    one, two = session.lab.nodes
    for count in (3, 40, 3):
        program = {host: "/usr/bin/python3 -c '" + GROUPS.format(
            host=host, count=count) + "'" for host in (1, 2)}
        with serving(session, program[2], "joined") as job:
            session.run(one, program[1])
            if job.wait(40).rc:
                raise StepFailed(f"of {count} multicast groups not all were "
                                 "heard")
    two.sh("ip link set eth0 promisc on")
    try:
        steps.conform_wire(session, 0, "send*")
    finally:
        two.sh("ip link set eth0 promisc off")
    if two.run("ip link add link eth0 name second type macvlan && "
               "ip addr add 10.77.0.2/24 dev second && "
               "ip link set second up").rc:
        return
    one.sh("ip addr add 10.77.0.1/24 dev eth0")
    try:
        session.run(one, "busybox ping -c 3 10.77.0.2")
    finally:
        two.sh("ip link del second")
        one.sh("ip addr del 10.77.0.1/24 dev eth0")


def side_by_side(session):
    """TCP and VIA at once: neither starves."""
    one = session.lab.nodes[0]
    with serving(session, "iperf3 -s -1 --forceflush", "listening"), \
            serving(session, f"{steps.TOOLS}/vipl_bw -d via_eth0"):
        via = one.spawn(f"{steps.TOOLS}/vipl_bw -d via_eth0 -D 6 -e "
                        f"{steps.peer(0)}", 120)
        tcp = session.run(one, "iperf3 -c 10.0.0.2 -t 4 -f m")
        result = via.wait(120)
        session.write_job(via)
    if result.rc:
        raise StepFailed(f"vipl_bw ended with status {result.rc}")
    mbps = float(re.search(r"([\d.]+) Mbits/sec\s+receiver", tcp.out).group(1))
    ours = float(result.out.split("\n")[-2].split()[3])
    session.check.write(f"TCP {mbps} Mb/s, VIA {ours} Mb/s")
    if mbps < ours / 20 or ours < mbps / 20:
        raise StepFailed(f"one starves: TCP {mbps} Mb/s, VIA {ours} Mb/s")


def configured(session):
    """Another MTU, address, name and namespace."""
    one = session.lab.nodes[0]
    for node in session.lab.nodes:
        node.sh("ip link set eth0 mtu 900")
    steps.conform_wire(session, 0, "send*")
    session.run(one, "busybox ping -c 2 -s 3000 10.0.0.2")
    for node in session.lab.nodes:
        node.sh("ip link set eth0 mtu 1500")
    one.sh("ip link set eth0 down && ip link set eth0 address "
           "52:54:00:00:77:01 && ip link set eth0 up && test -c /dev/via_eth0")
    carrier(session)
    steps.conform_wire(session, 0, "connect*")
    one.sh("ip link set eth0 down && ip link set eth0 address "
           "52:54:00:00:00:01 name wire0 && test -c /dev/via_wire0 && "
           "test ! -e /dev/via_eth0 && ip link set wire0 name eth0 && "
           "test -c /dev/via_eth0")
    one.sh("ip netns add elsewhere && ip link set eth0 netns elsewhere && "
           "ip -n elsewhere link set eth0 up && sleep 0.5 && "
           "ip netns exec elsewhere ls /dev/via_eth0 && "
           "ip -n elsewhere link set eth0 netns 1 && "
           "ip netns del elsewhere && "
           "ip addr add 10.0.0.1/24 dev eth0 && ip link set eth0 up")
    carrier(session)
    steps.conform_wire(session, 0, "connect*")


def down_and_up(session, rounds):
    """The interface goes down in a transfer, and comes back."""
    two = session.lab.nodes[1]
    for _ in range(rounds):
        steps.broken(session, 0, lambda: two.sh("ip link set eth0 down"),
                     30 * steps.scale(session))
        two.sh("ip link set eth0 up")
        carrier(session)
    steps.conform_wire(session, 0, "connect*")


@contextlib.contextmanager
def flood(session):
    """IP frames to node 2 from when what this gives is called."""
    jobs = []

    def start():
        jobs.append(session.lab.nodes[0].spawn(
            "busybox ping -A -q 10.0.0.2 >/dev/null", 300))
        time.sleep(0.5)

    try:
        yield start
    finally:
        for job in jobs:
            job.kill()
            job.wait(30)


def unbound(session, rounds):
    """The driver is taken off the card in a transfer, and comes back."""
    two = session.lab.nodes[1]
    for _ in range(rounds):
        with flood(session) as start:
            def take():
                start()
                two.sh(f"{BIND} eth0 stock", 200)

            steps.broken(session, 0, take, 30 * steps.scale(session))
        two.sh(f"{BIND} eth0 native", 200)
        carrier(session)
    steps.conform_wire(session, 0, "connect*")


def reloaded(session, rounds):
    """rmmod is refused in use; else the module comes and goes under IP."""
    one, two = session.lab.nodes
    used = f"grep -q '^{session.driver} [0-9]* [1-9]' /proc/modules"
    with steps.Server(session, f"{steps.CONFORM} -d via_eth0 --server") as job:
        job.link.wait_for(lambda: job.done or two.run(used).rc == 0, 30)
        for name in (session.driver, "via_native", "via_ether"):
            if two.run(f"rmmod {name}").rc == 0:
                raise StepFailed(f"{name} was removed while in use")
    with flood(session) as start:
        start()
        for _ in range(rounds):
            two.sh(f"rmmod {session.driver}", 60)
            session.lab.insmod(two, modules=(session.driver,))
            two.sh("ip addr add 10.0.0.2/24 dev eth0; ip link set eth0 up")
            carrier(session)
    session.run(one, "busybox ping -c 2 10.0.0.2")
    steps.conform_wire(session, 0, "connect*")


def vanished(session):
    """The card does not answer any more, as one pulled out of its slot.
    Programs are told at once; then the card goes, and a new one comes."""
    two = session.lab.nodes[1]
    path = two.sh("readlink -f /sys/class/net/eth0/device").out.strip()

    def pull():
        start()
        # The command register: memory, I/O, bus mastering, interrupts off.
        two.sh("printf '\\000\\004' | dd of=" + path + "/config bs=1 seek=4 "
               "conv=notrunc 2>/dev/null")

    with flood(session) as start:
        steps.broken(session, 0, pull, 30 * steps.scale(session))
    for command in ("ip link set eth0 down", "ip link set eth0 up; true",
                    "ethtool -S eth0"):
        two.sh(command, 60)
    replug(session)


def replug(session, gone=False):
    """Out and in again, as far as the bus is concerned."""
    two = session.lab.nodes[1]
    if not gone:
        two.monitor("device_del nic0")
    wait_until(session, two, "! test -e /dev/via_eth0 && "
               "! test -e /sys/class/net/eth0", "the card does not go")
    _, device, _ = initrd.nic_model(session.lab.nics[0])
    two.monitor(f"device_add {device},netdev=n0,id=nic0,"
                f"mac={steps.peer(0)},romfile=")
    wait_until(session, two, "test -e /sys/class/net/eth0", "no new card")
    two.sh(f"{BIND} eth0 native; ip addr add 10.0.0.2/24 dev eth0; "
           "ip link set eth0 up", 200)
    carrier(session)
    steps.conform_wire(session, 0, "connect*")


def unplugged(session):
    """Unplugged in a transfer, as a user would; a new card comes."""
    steps.interface_gone(session, 0)
    replug(session, gone=True)


def churn(session, seconds):
    """IP and VIA while node 2's interface goes through all it can."""
    one, two = session.lab.nodes
    mtus = [1500, 600, 1400] + \
        [9000, 3000] * (session.driver == "via_e1000")
    changes = [("down and up", "ip link set eth0 down; ip link set eth0 up")]
    changes += [(f"MTU {mtu}", f"ip link set eth0 mtu {mtu}") for mtu in mtus]
    changes += [("promiscuous", "ip link set eth0 promisc on; sleep 0.3; "
                 "ip link set eth0 promisc off"),
                ("stock driver", f"{BIND} eth0 stock && {BIND} eth0 native")]
    serve = ("while :; do " + STREAM + " serve 5001 1000; sleep 0.1; done",
             f"while :; do {steps.TOOLS}/vipl_bw -d via_eth0; sleep 0.1; done")
    load = (f"while :; do timeout 5 {STREAM} send 10.0.0.2 5001 8; sleep 0.1; "
            "done", f"while :; do timeout 5 {steps.TOOLS}/vipl_bw -d via_eth0 "
            f"-D 2 {steps.peer(0)}; sleep 0.1; done",
            "busybox ping -A -q 10.0.0.2 >/dev/null")
    jobs = [two.spawn(c, seconds + 200) for c in serve] + \
        [one.spawn(c, seconds + 200) for c in load]
    end, rounds = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < end:
            for _, command in changes:
                two.sh(command, 200)
                time.sleep(0.5)
                if time.monotonic() > end:
                    break
            rounds += 1
    finally:
        for job in jobs:
            job.kill()
            job.wait(30)
            session.write_job(job)
    session.check.write(f"{rounds} rounds of {len(changes)} changes")
    two.sh("ip link set eth0 mtu 1500")
    carrier(session)
    session.run(one, "busybox ping -c 2 10.0.0.2")
    steps.conform_wire(session, 0, "connect*")
    for node in session.lab.nodes:
        pins = session.lab.pins(node)
        if pins:
            raise StepFailed(f"{node.name}: {pins} pages stay pinned")


SLEEP = """
exec >/dev/console 2>&1
echo devices >/sys/power/pm_test
echo mem >/sys/power/state && echo woke up
bb=/dev/shm/busybox
until grep -q 1 /sys/class/net/eth0/carrier; do $bb sleep 1; done
$bb ping -c 3 -W 10 10.0.0.1 && echo the peer answers
"""


def suspended(session):
    """Devices sleep and wake up.  The root file system of node 2 does not
    survive that: it is the last step, and runs from memory."""
    two = session.lab.nodes[1]
    two.sh("cp /bin/busybox /dev/shm/busybox")
    two.spawn(f"/dev/shm/busybox sh -c '{SLEEP}'")
    end = time.monotonic() + 60 * steps.scale(session)
    text = ""
    while "the peer answers" not in text:
        if time.monotonic() > end:
            session.check.write(text[-3000:])
            raise StepFailed("no word from node2 after its sleep")
        time.sleep(0.5)
        with open(two.console, errors="replace") as console:
            text = console.read()


def title(kernel, cpus, what):
    return f"{kernel}, {cpus} CPU{'s' * (cpus > 1)}, {what}"


def in_session(check, kernel, cpus, nic, messages, rounds, scripts=True):
    """`scripts`: also what is slow where each process is, and is no driver's
    work."""
    session = NativeSession(check, title(kernel, cpus, f"native {nic}"), nic,
                            kernel=kernel, cpus=cpus)
    try:
        if scripts:
            session.step("via-bind", rebinding)
        session.step("ethtool", questions)
        session.step("IP", ip_traffic)
        session.step("long frames", jumbo)
        session.step("address filters", filters)
        session.step("conformance", steps.conform_wire, 0)
        session.step("names by frames", steps.names, 0)
        session.step("TCP and VIA at once", side_by_side)
        session.step("interrupts", quiet)
        polling.all_steps(session, rounds)
        session.step(f"{messages} messages, bad wire", steps.reliability, 0,
                     messages)
        session.step(f"{messages // 5} messages read back, bad wire",
                     steps.reads, 0, messages // 5)
        session.step("garbage frames", steps.garbage, 0)
        session.step("kill -9 in transfers", steps.killed, 0, rounds)
        session.step("wire cut", steps.wire_cut, 0)
        session.step("cable pulled", link_lost)
        session.step("MTU, address, name, namespace", configured)
        session.step("down and up under load", down_and_up, rounds)
        session.step("unbound under load", unbound, rounds)
        session.step("modules loaded again", reloaded, rounds)
        session.step("everything at once", churn, 60)
        session.step("pulled out under load", vanished)
        session.step("unplugged under load", unplugged)
    finally:
        session.end()


def mixed(check, kernel, cpus, nic):
    """Our driver on one machine, the stock one and via_netdev on the other."""
    session = NativeSession(check, title(kernel, cpus, f"native {nic} beside "
                                         "the stock driver"), nic, mixed=True,
                            kernel=kernel, cpus=cpus)
    try:
        session.step("conformance", steps.conform_wire, 0)
        session.step("names by frames", steps.names, 0)
    finally:
        session.end()


def sleeping(check, kernel, nic):
    session = NativeSession(check, title(kernel, 1, f"native {nic} asleep"),
                            nic, kernel=kernel, cpus=1)
    try:
        session.step("suspended and resumed", suspended)
    finally:
        session.stop()


def short(check):
    in_session(check, "6.1", 2, "tulip", 20000, 3)
    in_session(check, "6.12", 2, "e1000", 20000, 3)
    in_session(check, "debug-6.1", 2, "e1000", 3000, 2, scripts=False)
    mixed(check, "6.1", 1, "e1000")
    sleeping(check, "6.1", "e1000")


def full(check):
    for nic in DRIVERS:
        sleeping(check, "debug-6.1", nic)
        sleeping(check, "6.12", nic)
        for kernel in ("6.1", "6.12", "debug-6.1"):
            for cpus in (1, 2):
                in_session(check, kernel, cpus, nic, 20000, 5)
            if nic != "tulip" or kernel != "debug-6.1":
                mixed(check, kernel, 2, nic)
