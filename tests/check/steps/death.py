# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Death: of processes, interfaces, namespaces, modules and machines.  Who is
left is told in bounded time and serves the next; nothing stays behind.
Amounts and seeds are arguments; each function returns what it did."""

import contextlib
import signal
import time

import native_harm
import scale
from balance import balanced
from common import STRESS, TOOLS, device_of, flowing, jobs, peer
from conform import conform_wire
from runner import Skipped, StepFailed
from transfer import broken, stress


def served(session, net, mode, words, timeout):
    """That mode of viatest scale on node 1, its server on node 2 (or there
    too, on via_lo); all balanced afterwards."""
    with scale.served(session, "serve", net, "") as server:
        result = session.run(session.lab.nodes[0], scale.client(
            session, mode, net, words), timeout)
        if server.done:
            raise StepFailed("the server has ended")
    balanced(session)
    return scale.numbers(result.out)


def kills(session, net, count, seed=1, at_once=4):
    """kill -9 at moments that are drawn, of processes that send, receive,
    connect, accept, wait, register, make and unmake, in one thread or four.
    The server must hear of each, and serve."""
    found = served(session, net, "kill", f"-n {count} -t {at_once} -S {seed}",
                   120 + count)
    if found["kills"] != count:
        raise StepFailed(f"{found['kills']:.0f} of {count} were killed")
    return {"kills": count, "served meanwhile": int(found["served"]),
            "told after ms at most": found["told_ms"],
            "kills per second": found["kills_per_s"]}


def processes(session, net, rounds):
    """fork, vfork and exec with registered memory under DMA and copies."""
    found = served(session, net, "process", f"-n {rounds}", 60 * rounds + 120)
    return {"rounds": rounds, "processes": int(found["processes"])}


# What makes two interfaces that talk to each other, and what takes one away.
LINKS = {
    "veth": ("ip link add va type veth peer name vb", "ip link del va"),
    "macvlan": ("ip link add va link {under} type macvlan mode bridge && "
                "ip link add vb link {under} type macvlan mode bridge",
                "ip link del va"),
    "vlan": ("ip link add ua type veth peer name ub && "
             "ip link set ua up && ip link set ub up && "
             "ip link add va link ua type vlan id 5 && "
             "ip link add vb link ub type vlan id 5",
             "ip link del va"),
    "what carries a vlan": ("ip link add ua type veth peer name ub && "
                            "ip link set ua up && ip link set ub up && "
                            "ip link add va link ua type vlan id 5 && "
                            "ip link add vb link ub type vlan id 5",
                            "ip link del ua"),
}
LEFT = "for i in va vb ua; do ip link del $i 2>/dev/null; done; true"


@contextlib.contextmanager
def linked(session, kind, *attached):
    """Two interfaces va and vb of node 1, up, these of them VI NICs; none
    outlives its interface."""
    node = session.lab.nodes[0]
    node.sh("modprobe -qa veth macvlan 8021q; " +
            LINKS[kind][0].format(under="eth0") +
            " && ip link set va up && ip link set vb up")
    try:
        session.lab.attach(node, *attached)
        yield
    finally:
        node.run(LEFT)
    if node.run("ls /dev/via_va /dev/via_vb 2>/dev/null").out:
        raise StepFailed(f"a NIC on a {kind} outlives it")


def torn(session, connections, breaker, words=""):
    """Connections between via_va and via_vb, until the breaker; both ends of
    each are told, and all goes."""
    node = session.lab.nodes[0]
    command = scale.command(session, "pair", "via_va",
                            f"-D via_vb -n {connections} {words}")
    with jobs(session, node.spawn(command, 300 * session.slow)) as (job,):
        job.expect("^flowing$", 60 * session.slow)
        breaker()
        if job.wait(scale.limit(session) / 1000 + 30).rc:
            raise StepFailed("not all were told: " + job.all.strip()[-200:])


def links_deleted(session, rounds=1, kinds=tuple(LINKS), connections=4):
    """`ip link del` of an interface that is a VI NIC with traffic on it."""
    node = session.lab.nodes[0]
    for number in range(rounds):
        for kind in kinds:
            session.check.write(f"{kind}, round {number}")
            with linked(session, kind, "va", "vb"):
                torn(session, connections,
                     lambda k=kind: node.sh(LINKS[k][1]), f"-s {number % 2}")
    balanced(session)
    return {"links deleted": rounds * len(kinds)}


def races(session, rounds, seed=1, wire=True):
    """Every operation beside every teardown: on via_lo, or between two
    interfaces of this machine, one of which goes down and is detached, too."""
    words = f"-n {rounds} -S {seed}" + " -D via_vb" * wire
    with linked(session, "veth", "va", "vb") if wire else \
            contextlib.nullcontext():
        result = session.run(
            session.lab.nodes[0], "VIPL_QUIET=1 " + scale.command(
                session, "races", "via_va" if wire else "via_lo", words),
            120 + 300 * rounds)
    balanced(session)
    return {"races": int(scale.numbers(result.out)["races"])}


IN_SPACE = "ip netns exec dead"


def spaces_deleted(session, rounds=1, connections=4):
    """A network namespace goes with a VI NIC in it that is in use from
    outside; and one into which the NIC is moved while in use."""
    node = session.lab.nodes[0]
    for number in range(rounds):
        for moved in (False, True):
            node.sh("ip netns add dead")
            try:
                with linked(session, "veth", "va", *["vb"] * moved):
                    if moved:
                        torn(session, connections, lambda: node.sh(
                            "ip link set vb netns dead"))
                        node.sh(f"{IN_SPACE} ip link set vb up")
                    else:
                        node.sh("ip link set vb netns dead && "
                                f"{IN_SPACE} ip link set vb up && {IN_SPACE} "
                                f"{TOOLS}/via dev attach vb")
                    # Where it was moved to it is a VI NIC again.
                    torn(session, connections, lambda: node.sh(
                        "ip netns del dead"), f"-N dead -s {number % 2}")
            finally:
                node.run("ip netns del dead 2>/dev/null")
    balanced(session)
    return {"namespaces deleted": 2 * rounds, "moves": rounds}


def address(net, node):
    return f"ip addr add 10.{net}.0.{node.index + 1}/24 dev eth{net} " \
        f"2>/dev/null; ip link set eth{net} up"


def carrier(node, net):
    """Up, with a carrier and a VI NIC."""
    if not node.link.wait_for(lambda: node.run(
            f"test -c /dev/via_eth{net} && "
            f"grep -q 1 /sys/class/net/eth{net}/carrier").rc == 0, 60):
        raise StepFailed(f"{node.name}: eth{net} does not come back")


def card_moved(session, net, rounds=1):
    """A card goes to another namespace in a transfer, and comes home when
    that is deleted: a VI NIC at each place."""
    two = session.lab.nodes[1]
    for _ in range(rounds):
        two.sh("ip netns add dead")
        broken(session, net, lambda: two.sh(
            f"ip link set eth{net} netns dead"))
        two.sh(f"{IN_SPACE} test -c /dev/via_eth{net} && ip netns del dead")
        if not two.link.wait_for(lambda: two.run(
                f"test -e /sys/class/net/eth{net}").rc == 0, 60):
            raise StepFailed(f"eth{net} does not come home")
        two.sh(address(net, two))
        carrier(two, net)
    conform_wire(session, net, "connect*")
    balanced(session)
    return {"moves": 2 * rounds}


def stock_unbound(session, net, rounds=1):
    """Its own driver lets go of a card under via_netdev, in a transfer, and
    takes it again."""
    two = session.lab.nodes[1]
    found = two.sh(f"cd /sys/class/net/eth{net}/device; basename $(pwd -P); "
                   "readlink -f driver").out.split()
    card, driver = found[0], found[1]
    for _ in range(rounds):
        broken(session, net,
               lambda: two.sh(f"echo {card} >{driver}/unbind", 60))
        if two.run(f"test -e /dev/via_eth{net}").rc == 0:
            raise StepFailed("the VI NIC outlives its driver")
        two.sh(f"echo {card} >{driver}/bind", 60)
        if not two.link.wait_for(lambda: two.run(
                f"test -e /sys/class/net/eth{net}").rc == 0, 60):
            raise StepFailed(f"eth{net} does not come back")
        two.sh(address(net, two))
        session.lab.attach(two, f"eth{net}")
        carrier(two, net)
    conform_wire(session, net, "connect*")
    balanced(session)
    return {"unbinds": rounds}


OPENERS = ("while :; do {tools}/viainfo; {scale} regions -d via_lo -n 8 -t 1; "
           "done >/dev/null 2>&1")


def modules_loop(session, rounds):
    """All modules come and go while programs try to open what they find."""
    two = session.lab.nodes[1]
    names = " ".join(reversed(("via_ka", "via_lo", "via_ether",
                               "via_netdev")))
    command = OPENERS.format(tools=TOOLS, scale=scale.SCALE)
    refused = 0
    with jobs(session, *(two.spawn(command, rounds * 60 + 200)
                         for _ in range(2))):
        for _ in range(rounds):
            out = two.sh("n=0; until ! grep -q ^via_ /proc/modules; do "
                         f"rmmod {names} 2>/dev/null; n=$((n+1)); "
                         "[ $n -lt 1000 ] || exit 1; done; echo tries $n",
                         200).out
            refused += int(scale.numbers(out)["tries"]) - 1
            session.lab.insmod(two)
            session.lab.attach(two, *session.cards(session.gone))
    balanced(session)
    return {"loads": rounds, "refused in use": refused}


def held(session, net, seconds, rounds=2):
    """SIGSTOP of a receiver for as long: what it has posted is filled and
    acknowledged, the connection lives, and all goes on with SIGCONT.  Only a
    message for which none is posted breaks it."""
    one, two = session.lab.nodes
    limit = rounds * (seconds + 60) + 120
    receive = scale.command(session, "held", device_of(net),
                            f"-n {rounds} -s 1")
    send = scale.client(session, "held-send", net, f"-n {rounds} -s 2")
    with jobs(session, two.spawn(receive, limit),
              one.spawn(send, limit)) as (receiver, sender):
        for number in range(rounds):
            receiver.expect(f"^posted {number}$", 60)
            receiver.kill(signal.SIGSTOP)
            sender.expect(f"^sent {number}$", 60)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                if sender.done and number + 1 < rounds:
                    raise StepFailed("the sender has ended: "
                                     + sender.all.strip()[-200:])
                time.sleep(0.5)
            receiver.kill(signal.SIGCONT)
        for job in (sender, receiver):
            if job.wait(60 * session.slow).rc:
                raise StepFailed(f"{job.link.name}: status {job.rc}: "
                                 + job.all.strip()[-200:])
        sender.expect("^broken by one too many$", 1)
        receiver.expect(" wrong 0$", 1)
    balanced(session)
    return {"stops": rounds, "seconds stopped": rounds * seconds}


def node_reset(session, net, rounds=1, seed=1):
    """Node 2 dies without a word, in transfers and in the middle of connects,
    and comes back under its old address while the old connections still send.
    Node 1 is told, and the next transfer has no frame of the old ones."""
    if session.gone:
        raise Skipped("a card is gone")
    told = max(one_reset(session, net, seed + number, 1 + 0.2 * (number % 5))
               for number in range(rounds))
    conform_wire(session, net, "connect*")
    balanced(session)
    return {"resets": rounds, "told after s at most": round(told, 1)}


def one_reset(session, net, seed, pause):
    """After how many seconds node 1 was told."""
    one, two = session.lab.nodes
    device = f"{STRESS} -d {device_of(net)}"
    with jobs(session, two.spawn(f"{device} --server"), two.spawn(
            scale.command(session, "serve-connects", device_of(net),
                          "-n 100000 -t 2"))) as made:
        made[1].expect("^ready$", 60)
        made.append(one.spawn(f"{device} --messages 10000000 --threads 4 "
                              f"--seed {seed} {peer(net)}", 600))
        flowing(session, net, made[2])
        made.append(one.spawn(scale.client(
            session, "connects", net, "-n 100000 -t 2 -l 8000"), 600))
        time.sleep(pause)
        begin = time.monotonic()
        two.reset()
        session.prepare(two)
        # The new life begins at once, old frames or not.
        stress(session, net, "--messages 2000 --threads 2 "
               f"--seed {seed + 1000}", 300)
        for job in made[2:]:
            if not job.link.wait_for(lambda j=job: j.done,
                                     scale.limit(session) / 1000 + 30):
                raise StepFailed("node1 was not told: " + job.command)
            if not job.rc:
                raise StepFailed("node1 noticed nothing: " + job.command)
        return max(job.started + job.seconds - begin for job in made[2:])


def suspended(session):
    """Sleep with open and connected VIs, under via_netdev and the card's own
    driver.  The root file system does not survive: the last step."""
    one, two = session.lab.nodes
    tool = f"{TOOLS}/vipl_bw -d via_eth0"
    two.spawn(tool, 200)
    client = one.spawn(f"{tool} -D 20 {peer(0)}", 200)
    flowing(session, 0, client)
    native_harm.suspended(session)
    # It slept for seconds only; either the transfer goes on or is broken.
    if not client.link.wait_for(lambda: client.done, 60):
        raise StepFailed("the transfer neither ends nor breaks")
    session.write_job(client)
    return {"suspends": 1}
