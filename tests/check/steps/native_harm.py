# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Native drivers: interfaces that go and come under load."""

import time

import native
from again import again
from balance import unpinned
from common import CONFORM, TOOLS, jobs, peer, serving
from conform import conform_wire
from labkit import initrd
from runner import Skipped, StepFailed
from session import BIND
from transfer import broken, flow, interface_gone


def link_lost(session):
    """The cable is pulled, and put back before patience ends: both IP and VIA
    go on where they were."""
    if session.lab.nics[0] in ("tulip", "i82559er"):
        raise Skipped("this model has no cable to pull")
    again(session, lambda: cable_pulled(session))
    session.run(session.lab.nodes[0], "busybox ping -c 2 10.0.0.2")


PATIENCE = 4  # seconds, half of those after which a connection breaks


def cable_pulled(session):
    """What is amiss; nothing is where we have been too slow."""
    two = session.lab.nodes[1]
    with flow(session, 0, "-D 10 -e") as pair:
        begin = time.monotonic()
        two.monitor("set_link nic0 off")
        session.wait_until(two, "grep -q 0 /sys/class/net/eth0/carrier",
                           "eth0 has not noticed")
        two.monitor("set_link nic0 on")
        session.carrier()
        seconds = time.monotonic() - begin
        for job in pair:
            if job.wait(120).rc:
                why = f"{job.link.name}: the transfer broke in {seconds:.1f} s"
                if seconds < PATIENCE:
                    raise StepFailed(why)
                return why
    return None


def down_and_up(session, rounds):
    """The interface goes down in a transfer, and comes back."""
    two = session.lab.nodes[1]
    for _ in range(rounds):
        broken(session, 0, lambda: two.sh("ip link set eth0 down"))
        two.sh("ip link set eth0 up")
        session.carrier()
    conform_wire(session, 0, "connect.accepted")


def unbound(session, rounds):
    """The driver is taken off the card in a transfer, and comes back."""
    two = session.lab.nodes[1]
    for _ in range(rounds):
        with native.flood(session) as start:
            def take():
                start()
                two.sh(f"{BIND} eth0 stock", 200)

            broken(session, 0, take)
        two.sh(f"{BIND} eth0 native", 200)
        session.carrier()
    conform_wire(session, 0, "connect.accepted")


def reloaded(session, rounds):
    """rmmod is refused in use; else the module comes and goes under IP."""
    one, two = session.lab.nodes
    used = f"grep -q '^{session.driver} [0-9]* [1-9]' /proc/modules"
    with serving(session, f"{CONFORM} -d via_eth0 --server") as job:
        job.link.wait_for(lambda: job.done or two.run(used).rc == 0, 30)
        for name in (session.driver, "via_native", "via_ether"):
            if two.run(f"rmmod {name}").rc == 0:
                raise StepFailed(f"{name} was removed while in use")
    with native.flood(session) as start:
        start()
        for _ in range(rounds):
            two.sh(f"rmmod {session.driver}", 60)
            session.lab.insmod(two, modules=(session.driver,))
            two.sh("ip addr add 10.0.0.2/24 dev eth0; ip link set eth0 up")
            session.carrier()
    session.run(one, "busybox ping -c 2 10.0.0.2")
    conform_wire(session, 0, "connect.accepted")


def vanished(session):
    """The card does not answer any more, as one pulled out of its slot.
    Programs are told at once; then the card goes, and a new one comes."""
    one, two = session.lab.nodes
    path = two.sh("readlink -f /sys/class/net/eth0/device").out.strip()

    def command(value):
        """To the card's command register, at once: between two halves an
        interrupt that is asserted may be for ever, on one CPU."""
        return f"printf '{value}' | dd of={path}/config bs=2 seek=2 " \
            "conv=notrunc 2>/dev/null"

    def pull():
        start()
        # Memory, I/O, bus mastering, interrupts off.
        two.sh(command("\\000\\004"))

    with native.flood(session) as start:
        broken(session, 0, pull)
    # Up again it has addresses of rings that are gone, and frames to put
    # there; switched on again, too.
    one.sh(f"ip neigh replace 10.0.0.2 lladdr {peer(0)} nud permanent "
           "dev eth0")
    with jobs(session, one.spawn(
            "busybox ping -i 0.005 -s 1400 10.0.0.2 >/dev/null", 200)):
        for line in ("ip link set eth0 down", "ip link set eth0 up; true",
                     "ethtool -S eth0", "sleep 1", command("\\003\\004"),
                     "sleep 1", "ip link set eth0 down; ip link set eth0 up",
                     "sleep 1"):
            two.sh(line, 60)
    one.sh("ip neigh del 10.0.0.2 dev eth0")
    replug(session)


def replug(session, gone=False):
    """Out and in again, as far as the bus is concerned."""
    two = session.lab.nodes[1]
    if not gone:
        two.monitor("device_del nic0")
    session.wait_until(two, "! test -e /dev/via_eth0 && "
                       "! test -e /sys/class/net/eth0", "the card does not go")
    # The guest lets go of the slot a little later.
    if not two.link.wait_for(
            lambda: 'id "nic0"' not in two.monitor("info qtree"), 30):
        raise StepFailed("node2: the slot is not let go of")
    _, device, _ = initrd.nic_model(session.lab.nics[0])
    two.monitor(f"device_add {device},netdev=n0,id=nic0,"
                f"mac={peer(0)},romfile=")
    session.wait_until(two, "test -e /sys/class/net/eth0",
                       "no new card")
    two.sh(f"{BIND} eth0 native; ip addr add 10.0.0.2/24 dev eth0; "
           "ip link set eth0 up", 200)
    session.carrier()
    conform_wire(session, 0, "connect.accepted")


def unplugged(session):
    """Unplugged in a transfer, as a user would; a new card comes."""
    interface_gone(session, 0)
    replug(session, gone=True)


def churn(session, seconds):
    """IP and VIA while node 2's interface goes through all it can."""
    one, two = session.lab.nodes
    mtus = [1500, 600, 1400] + \
        [9000, 3000] * (session.driver in ("via_e1000", "via_igb"))
    changes = [("down and up", "ip link set eth0 down; ip link set eth0 up")]
    changes += [(f"MTU {mtu}", f"ip link set eth0 mtu {mtu}") for mtu in mtus]
    changes += [("promiscuous", "ip link set eth0 promisc on; sleep 0.3; "
                 "ip link set eth0 promisc off"),
                ("stock driver", f"{BIND} eth0 stock && "
                 f"{BIND} eth0 native")]
    serve = (f"while :; do {native.STREAM} serve 5001 1000; sleep 0.1; done",
             f"while :; do {TOOLS}/vipl_bw -d via_eth0; sleep 0.1; done")
    load = (f"while :; do timeout 5 {native.STREAM} send 10.0.0.2 5001 8; "
            "sleep 0.1; done",
            f"while :; do timeout 5 {TOOLS}/vipl_bw -d via_eth0 -D 2 "
            f"{peer(0)}; sleep 0.1; done",
            "busybox ping -A -q 10.0.0.2 >/dev/null")
    end, rounds = time.monotonic() + seconds, 0
    with jobs(session, *(two.spawn(c, seconds + 200) for c in serve),
              *(one.spawn(c, seconds + 200) for c in load)):
        while time.monotonic() < end:
            for _, command in changes:
                two.sh(command, 200)
                time.sleep(0.5)
                if time.monotonic() > end:
                    break
            rounds += 1
    session.check.write(f"{rounds} rounds of {len(changes)} changes")
    two.sh("ip link set eth0 mtu 1500")
    session.carrier()
    session.run(one, "busybox ping -c 2 10.0.0.2")
    conform_wire(session, 0, "connect.accepted")
    unpinned(session)


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
    clock = session.lab.clock.now
    end = clock() + 60 * session.slow
    text = ""
    while "the peer answers" not in text:
        if clock() > end:
            session.check.write(text[-3000:])
            raise StepFailed("no word from node2 after its sleep")
        time.sleep(0.5)
        with open(two.console, errors="replace") as console:
            text = console.read()
