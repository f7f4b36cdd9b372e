# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""via(8) and the netlink family behind it: each command as root, as a user and
in namespaces; messages that the tool would not send; removal meanwhile."""

import contextlib
import json
import os
import re

from balance import balanced
from common import CONFORM, GUEST, TOOLS, jobs, mac, peer, serving
from death import IN_SPACE, linked
from lab import MODULES
from labkit.base import VIA
from runner import StepFailed

RAW = f"python3 {GUEST}/netlink.py"
USER = "setpriv --reuid 4711 --regid 4711 --clear-groups"
# Root of namespaces of its own: it has no rights where they were made.
OWNER = "unshare --user --net --map-root-user"
OTHER = "52:54:00:00:00:63"


def expect(node, command, status=0, says=""):
    """A command's status, and what it says, on whichever stream."""
    result = node.run(command, 60)
    if result.rc != status or says not in result.all:
        raise StepFailed(f"'{command}': status {result.rc}, not {status}: "
                         f"{result.all.strip()} (wanted: {says})")
    return result


def shown(node, words):
    """What via -j says."""
    return json.loads(expect(node, f"{VIA} -j {words}").out)


def dev(node):
    """Attaching, and what is shown of it."""
    nics = {nic["nic"]: nic for nic in shown(node, "dev")}
    nic = nics["via_eth0"]
    if nic["ifname"] != "eth0" or nic["address"] != mac(0, node.index) or \
            nic["driver"] != "via_netdev" or nic["peers"] != "all" or \
            nics["via_lo"]["type"] != "loopback":
        raise StepFailed(f"via dev show: {nics}")
    if shown(node, "dev show eth0") != [nic]:
        raise StepFailed("one NIC is shown in another way")
    expect(node, f"{VIA} dev detach eth0")
    expect(node, f"{VIA} dev show eth0", 1, "via dev attach eth0")
    expect(node, f"{VIA} de a eth0")
    expect(node, f"{VIA} dev attach eth0", 1, "VI NIC is via_eth0")
    # By whatever name the interface has now.
    node.sh("ip link set eth0 down; ip link set eth0 name lan9")
    expect(node, f"{VIA} dev attach lan9", 1, "VI NIC is via_eth0")
    node.sh("ip link set lan9 name eth0; ip link set eth0 up")
    expect(node, f"{VIA} dev attach lo", 1, "cannot be a VI NIC")
    expect(node, f"{VIA} dev attach nosuch0", 1, "no such interface")
    expect(node, f"{VIA} dev attach eth0 driver via_none", 1, "module via_none")
    expect(node, f"{VIA} dev detach via_lo", 1, "its driver's")
    expect(node, f"{VIA} dev detach nosuch0", 1, "no VI NIC nosuch0")


def peers(node):
    """Hosts and keys."""
    key = "/tmp/via.key"
    expect(node, f"{VIA} peer deny eth0 {OTHER}", 1, "no list of hosts")
    expect(node, f"{VIA} peer allow eth0 {OTHER} {peer(0)}", 0, "no others")
    expect(node, f"{VIA} peer allow eth0 01:00:5e:00:00:01", 1, "one host")
    expect(node, f"{VIA} peer deny eth0 {OTHER} 52:54:00:00:00:64", 1,
           "not on the list")
    expect(node, f"(umask 077; {VIA} peer genkey >{key})")
    expect(node, f"{VIA} peer key eth0 {OTHER} {key}")
    if shown(node, "peer show eth0") != [
            {"nic": "via_eth0", "address": peer(0), "key": False},
            {"nic": "via_eth0", "address": OTHER, "key": True}]:
        raise StepFailed("the list is not what was made of it: " +
                         expect(node, f"{VIA} peer").out)
    # As it was, by another way; and no more of it.
    expect(node, f"{VIA} peer key eth0 {OTHER} - <{key}")
    expect(node, f"{VIA} peer key eth0 {OTHER} none")
    for bad in ("head -c 63 {0}", "cat {0} {0}", "echo x", "true"):
        expect(node, f"{bad.format(key)} | {VIA} peer key eth0 {OTHER} -", 1,
               "no key")
    expect(node, f"{VIA} peer deny eth0 {OTHER}")
    expect(node, f"{VIA} peer deny eth0 all")
    if shown(node, "dev show eth0")[0]["peers"] != 0:
        raise StepFailed("an empty list is none")
    expect(node, f"{VIA} peer allow eth0 all")
    expect(node, f"{VIA} peer", 0, "via_eth0 all")
    expect(node, f"{VIA} peer allow via_lo {OTHER}", 1, "no other host")
    # More than fits into a message, all in one list; and no more than that.
    many = [f"52:54:01:{i >> 8:02x}:{i & 255:02x}:01" for i in range(4097)]
    conf = "[interface eth0]\nallow = none\n"
    node.sh(f"printf '{conf}' >/tmp/many; for i in $(seq 0 4095); do printf "
            "'allow = 52:54:01:%02x:%02x:01\\n' $((i >> 8)) $((i & 255)); "
            "done >>/tmp/many", 60)
    expect(node, f"{VIA} apply /tmp/many")
    if {p["address"] for p in shown(node, "peer")} != set(many[:4096]):
        raise StepFailed("4,096 hosts are not on the list")
    expect(node, f"{VIA} peer allow eth0 {many[4096]}", 1, "more hosts")
    expect(node, f"{VIA} peer allow eth0 all")


def limits(node):
    """Of users, and their old values again."""
    old = {limit["limit"]: limit["value"] for limit in shown(node, "limit")}
    if sorted(old) != ["cq_pages", "handles", "pages", "queries", "vi",
                       "vi_pages", "waiters"]:
        raise StepFailed(f"limits are {old}")
    for name, value in old.items():
        expect(node, f"{VIA} limit set {name} 77")
        if shown(node, f"limit show {name}") != [{"limit": name,
                                                  "value": 77}]:
            raise StepFailed(f"the limit {name} is not 77")
        expect(node, f"{VIA} limit set {name} {value}")
    expect(node, f"{VIA} limit set nosuch 1", 1, "no such limit")
    expect(node, f"{VIA} limit show nosuch", 1, "no limit")


def words(node):
    """Command lines that are wrong, and those that ask for help."""
    for wrong in ("", "x", "d", "dev x", "dev attach", "dev attach eth0 x y",
                  "dev detach", "dev show a b", "peer allow eth0",
                  "peer allow eth0 x", "peer key eth0", "limit set vi",
                  "limit set vi -1", "limit set vi 1x", "driver",
                  "driver native", "monitor x", "apply a b", "apply dev",
                  "--nosuch", "-n"):
        expect(node, f"{VIA} {wrong}", 2)
    expect(node, f"{VIA} --version", 0, "via ")
    expect(node, f"{VIA} --help", 0, "via OBJECT help")
    expect(node, f"{VIA} dev help", 0, "via dev attach")
    expect(node, f"{VIA} -n nosuch dev", 1, "network namespace")


def apply(node):
    """Files: what is wrong in a section harms that one only."""
    conf = "[limits]\nvi = 1999\n[interface nosuch0]\nallow = none\n" \
        "[interface eth0]\nallow = {}\n"
    old = shown(node, "limit show vi")[0]["value"]

    def written(text, status, says=""):
        text = text.replace("\n", "\\n")
        node.sh(f"printf '{text}' >/tmp/via.conf")
        return expect(node, f"{VIA} apply /tmp/via.conf", status, says)

    expect(node, f"{VIA} dev detach eth0")
    written(conf.format(OTHER), 0, "no interface nosuch0 here")
    if [p["address"] for p in shown(node, "peer show eth0")] != [OTHER] or \
            shown(node, "limit show vi")[0]["value"] != 1999:
        raise StepFailed("not all of the file is done")
    # One interface, as when it appears.
    expect(node, f"{VIA} peer allow eth0 all; {VIA} apply /tmp/via.conf dev "
           f"eth1 && {VIA} peer show eth0", 0, "via_eth0 all")
    expect(node, f"{VIA} apply /tmp/via.conf dev eth0 && {VIA} peer", 0, OTHER)
    written("[interface eth0]\nfoo = 1\n[limits]\nvi = 7\n", 2, ":2:")
    written(conf.format("x"), 2, "via.conf:6:")
    for wrong in ("vi = 1\n", "[limits\n", "[interface]\n", "[x]\n",
                  "[limits]\nvi = x\n", "[interface eth0]\ndriver = x\n",
                  "[interface eth0]\nrdma = maybe\n",
                  "[address 192.0.2.1]\nrdma\n",
                  "[interface eth0]\nallow = all\nallow = none\n",
                  "[interface eth0]\nallow\n"):
        written(wrong, 2, "via.conf:")
    if [p["address"] for p in shown(node, "peer show eth0")] != [OTHER]:
        raise StepFailed("a section with a mistake was done")
    written("[interface eth0]\nallow = all\n[limits]\nnosuch = 1\n", 2,
            "no such limit")
    expect(node, f"{VIA} apply /tmp/nosuch", 1)
    expect(node, f"{VIA} limit set vi {old}; {VIA} peer", 0, "via_eth0 all")


def save(node):
    """What via save prints, via apply makes again: a list, an empty one, none,
    a key whose file /etc/mvia names, and one whose file nothing names."""
    key = f"allow = {OTHER} key /tmp/via.key\n"

    def conf(lines):
        node.run("cat >/etc/mvia/eth0.conf <<'END'\n[interface eth0]\n"
                 f"{lines}END")
        expect(node, f"{VIA} apply")

    def saved():
        return expect(node, f"{VIA} save | tee /tmp/saved").out

    node.sh("mkdir -p /etc/mvia; umask 077; "
            f"{VIA} peer genkey >/tmp/via.key")
    before = saved()
    for lines in (f"allow = none\nallow = {peer(0)}\n{key}",
                  "allow = none\n", "allow = all\n"):
        conf(lines)
        if f"[interface eth0]\n{lines}" not in saved():
            raise StepFailed(f"not saved as it was applied: {saved()}")
        expect(node, f"{VIA} limit set vi 7; {VIA} dev detach eth0; "
               f"{VIA} apply /tmp/saved && {VIA} save | diff /tmp/saved -")
    conf(key)
    expect(node, f"rm /etc/mvia/eth0.conf; {VIA} save", 1,
           "keeps the key")
    conf("allow = all\n")
    expect(node, "rm /etc/mvia/eth0.conf")
    if saved() != before:
        raise StepFailed(f"not as it was: {before}")


def verbs(session, net):
    """`rdma = yes` and `rdma = no` in a file: without the module, twice, beside
    devices that rdma(8) made, in UDP/IP, and what via dev show tells of each."""
    node, name = session.lab.nodes[0], f"eth{net}"
    nic, other = f"via_{name}", f"eth{net + 1}"

    def written(rdma, status=0, says="", section=f"interface {name}"):
        node.sh(f"printf '[{section}]\\nrdma = {rdma}\\n' >/tmp/rdma.conf")
        expect(node, f"{VIA} apply /tmp/rdma.conf", status, says)

    def is_named(wanted, dev=name):
        got = shown(node, f"dev show {dev}")[0].get("verbs")
        text = expect(node, f"{VIA} dev show {dev}").out.split(" verbs ")[1:]
        if got != wanted or [word.strip() for word in text] != \
                ([wanted] if wanted else []):
            raise StepFailed(f"the verbs device of {dev} is {got}, {text}, "
                             f"not {wanted}")

    def gone(dev):
        if not node.link.wait_for(lambda: node.run(
                f"rdma link show | grep -qw {dev}").rc, 20 * session.slow):
            raise StepFailed(f"{dev} is there without its VI NIC")

    written("yes", 1, "CONFIG_INFINIBAND")
    node.sh("modprobe -a iw_cm ib_uverbs rdma_ucm", 120)
    written("yes", 1, "CONFIG_INFINIBAND")
    session.lab.insmod(node, modules=("via_rdma",))
    written("yes")
    written("yes")
    is_named(nic)
    is_named(None, other)
    expect(node, "rdma link show", 0, f"link {nic}/1")
    # The section of another NIC leaves it; the end of its own does not.
    written("no", section=f"interface {other}")
    is_named(nic)
    expect(node, f"{VIA} dev detach {name}")
    gone(nic)
    written("yes")
    is_named(nic)
    written("no")
    written("no")
    is_named(None)
    # One that has another name is it as well; a name may be taken.
    node.sh(f"rdma link add via_{other} type via netdev {name}")
    is_named(f"via_{other}")
    written("yes")
    written("yes", 1, "has its name", f"interface {other}")
    written("no")
    is_named(None)
    session.lab.udp(node)
    node.sh(f"ip addr add 10.79.0.1/24 dev {name}; "
            f"ip addr add 10.79.0.2/24 dev {name}")
    written("yes", section="address 10.79.0.1")
    written("yes", section="address 10.79.0.1")
    is_named("via_udp0", "via_udp0")
    written("yes", 1, "of another VI NIC", "address 10.79.0.2")
    expect(node, f"{VIA} dev detach via_udp0; {VIA} dev detach via_udp1")
    gone("via_udp0")
    node.sh(f"ip addr del 10.79.0.1/24 dev {name}; "
            f"ip addr del 10.79.0.2/24 dev {name}; rmmod via_udp via_rdma", 60)
    balanced(session, [node])


def commands(session):
    """Every command, as root."""
    node = session.lab.nodes[0]
    for what in (dev, peers, limits, words, apply, save):
        what(node)
    balanced(session, [node])


def rights(session):
    """As a user, in a network namespace, and by its owner: who may what."""
    node, eth0 = session.lab.nodes[0], f"{VIA} dev show eth0"
    denied = "Operation not permitted"
    expect(node, f"{USER} {eth0}", 0, "via_eth0")
    expect(node, f"{USER} {VIA} limit", 0, "handles")
    changes = ("dev detach eth0", f"peer allow eth0 {OTHER}", "peer show eth0",
               "peer deny eth0 all", "limit set vi 1")
    for words_ in changes:
        expect(node, f"{USER} {VIA} {words_}", 1, denied)
    expect(node, f"timeout 5 {USER} {VIA} monitor peer", 1, denied)
    # What is in another network namespace is not there.
    expect(node, f"{OWNER} {eth0}", 1, "no VI NIC")
    expect(node, f"{OWNER} {VIA} limit set vi 1", 1, "not permitted")
    expect(node, f"{OWNER} {VIA} dev attach lo", 1, "not permitted")
    with linked(session, "veth", "va"):
        node.sh("mkfifo /tmp/go 2>/dev/null; rm -f /tmp/pid; "
                f"({OWNER} sh -c 'echo $$ >/tmp/pid; read go </tmp/go; "
                f"{VIA} dev && {VIA} peer deny vb all && "
                f"{VIA} peer allow vb {OTHER} && {VIA} peer show vb && "
                f"! {VIA} dev attach lo && ! {VIA} peer allow va {OTHER} && "
                f"{VIA} dev detach vb && ! {VIA} dev attach vb && echo good' "
                ">/tmp/owner 2>&1 &) ; until [ -s /tmp/pid ]; do sleep 0.1; "
                "done; ip link set vb netns $(cat /tmp/pid)")
        # Host's root makes it a VI NIC there.
        node.sh(f"nsenter --net=/proc/$(cat /tmp/pid)/ns/net {VIA} dev attach "
                "vb && echo go >/tmp/go")
        if not node.link.wait_for(lambda: node.run(
                "grep -qx good /tmp/owner").rc == 0, 60):
            raise StepFailed("the owner of a namespace: " +
                             node.run("cat /tmp/owner").out)
    balanced(session, [node])


def kept(session):
    """The list of hosts and a key stand whatever makes another NIC object: an
    address, a bridge's port, a namespace; a stranger is refused throughout."""
    node, key = session.lab.nodes[0], "/tmp/kept.key"

    def listed(name):
        expect(node, f"{VIA} peer allow {name} {OTHER} && "
               f"{VIA} peer key {name} {OTHER} {key}")

    def stands(name, after):
        got = shown(node, f"peer show {name}")
        if got != [{"nic": name, "address": OTHER, "key": True}]:
            raise StepFailed(f"after {after} the hosts of {name} are {got}")

    expect(node, f"rm -f /tmp/kept; (umask 077; {VIA} peer genkey >{key}); "
           "modprobe -qa bridge dummy; ip netns add kept")
    with linked(session, "veth", "va", "vb"):
        listed("via_va")
        old = shown(node, "dev show va")[0]["address"]
        with jobs(session, node.spawn(
                f"until [ -e /tmp/kept ]; do {VIA} peer show via_va 2>&1 | "
                "grep -w all && echo open; done; echo watched")) as (watch,):
            for address in ("52:54:00:00:00:77", old):
                expect(node, f"ip link set va address {address}")
                stands("via_va", "another hardware address")
            expect(node, "ip link set va netns kept")
            expect(node, f"ip netns exec kept {VIA} peer", 0, "via_va none")
            expect(node, "ip -n kept link set va netns 1; ip link set va up")
            stands("via_va", "a move to a namespace and back")
            expect(node, f"{VIA} dev detach va && {VIA} dev attach va")
            stands("via_va", "detaching and attaching")
            node.sh("touch /tmp/kept")
            if watch.wait(60).rc or "open" in watch.all:
                raise StepFailed("for a moment all were admitted: " + watch.all)
        with serving(session, f"{TOOLS}/viaping -l -d via_va", 0):
            expect(node, f"{TOOLS}/viaping -c 1 -d via_vb {old}", 1)
        if not shown(node, "stat via_va")[0]["drop_peer"]:
            raise StepFailed("nothing of a stranger was refused")
        # What udev's rule does, and what undoes the list.
        node.sh(f"printf '[interface va]\\nallow = {OTHER}\\n' >/tmp/via.conf")
        expect(node, f"{VIA} peer allow va all && ip link set va address "
               f"52:54:00:00:00:77 && {VIA} peer show va", 0, "via_va all")
        expect(node, f"{VIA} apply /tmp/via.conf dev via_va && "
               f"{VIA} peer show va", 0, OTHER)
    try:
        expect(node, "ip link add br0 type bridge && ip link set br0 up && "
               f"{VIA} dev attach br0")
        listed("via_br0")
        expect(node, "ip link add dv address 02:00:00:00:00:05 type dummy && "
               "ip link set dv up && ip link set dv master br0 && "
               "grep -q 02:00:00:00:00:05 /sys/class/net/br0/address")
        stands("via_br0", "a port that joined")
    finally:
        node.run("ip link del dv; ip link del br0; ip netns del kept")
    balanced(session, [node])


def counters(session):
    """Files of counters, via stat and viastat; of VIs; in a namespace; with
    traffic; and read without an end while the NIC comes and goes."""
    node, folder = session.lab.nodes[0], "/sys/class/via/via_eth0/statistics"
    with serving(session, f"{TOOLS}/viaping -l -d via_eth0"):
        session.run(node, f"{TOOLS}/viaping -c 20 -i 0.1 -d via_eth0 "
                    f"{peer(0)}", 60)
        with jobs(session, node.spawn(
                f"{TOOLS}/viaping -i 0.1 -d via_eth0 {peer(0)}")) as (job,):
            job.expect("seq=3 ", 60 * session.slow)
            _, *vis = shown(node, "stat -v eth0")
            text = expect(node, f"{TOOLS}/viastat -v -d via_eth0").out
        if len(vis) != 1 or not vis[0]["recv_descs"] or \
                f"via_eth0 vi {vis[0]['vi']}\n" not in text:
            raise StepFailed(f"counters of VIs: {vis}, {text}")
    was, = json.loads(node.sh(f"{TOOLS}/viastat -j -d via_eth0").out)
    stat = shown(node, "stat eth0")[0]
    files = dict(line.rsplit("/", 1)[1].split(":") for line in
                 node.sh(f"{USER} grep -H . {folder}/*").out.split())
    if not was["requests_out"] or set(files) != set(was) - {"nic", "ifname"} or \
            set(stat) != set(was):
        raise StepFailed(f"counters: {was}; files {files}; via stat {stat}")
    # Heartbeats may come between the readings.
    for name, value in files.items():
        if not was[name] <= int(value) <= was[name] + 100 or \
                not was[name] <= stat[name] <= was[name] + 100:
            raise StepFailed(f"{name} is {was[name]}, {value} in its file, "
                             f"{stat[name]} to via stat")
    # What moves them, and what does not.
    calm = shown(node, "stat via_lo")[0]
    session.run(node, f"{CONFORM} -d via_lo -g 'protection*'", 60)
    moved = {name: value - calm[name] for name, value in
             shown(node, "stat via_lo")[0].items() if name in calm and
             isinstance(value, int)}
    if not moved["connects"] or not moved["protection_errors"] or \
            moved["desc_errors"] < moved["protection_errors"] or \
            not was["connects"] or \
            was["retransmits_timed"] > was["retransmits"]:
        raise StepFailed(f"counters: {was}; of errors {moved}")
    text = expect(node, f"{VIA} stat --prometheus", 0, "via_vis{").out
    if 'via_requests_out_total{nic="via_eth0",interface="eth0"}' not in text:
        raise StepFailed(f"no counter of via_eth0: {text}")
    rates = json.loads(expect(node, f"{VIA} stat -j -i 1 -c 1 eth0").out)
    if not 0.9 < rates["seconds"] < 30 or set(rates) != set(stat) | {"seconds"}:
        raise StepFailed(f"rates: {rates}")
    # Another network namespace: the names, and no more.
    expect(node, f"unshare --net cat {folder}/traps", 1, "No such device")
    expect(node, f"unshare --net {VIA} stat via_eth0", 1, "another network")
    if "via_eth0" in expect(node, f"unshare --net {VIA} stat", 0,
                            "via_lo").all:
        raise StepFailed("counters of another network namespace are shown")
    with jobs(session, node.spawn(f"while :; do cat {folder}/* >/dev/null "
                                  "2>&1; done")):
        for _ in range(8):
            expect(node, f"{VIA} dev detach eth0 && {VIA} dev attach eth0")
    balanced(session, [node])


HOLDER = f"python3 {GUEST}/objects.py"
NOBODY = "unshare --net"  # but root, who sees no interface of ours


def whose(node, pids, before="", nic=""):
    """What `via res' tells, as numbers of objects of each kind and pid; other
    programs' are left out."""
    count = {}
    for o in json.loads(expect(node, f"{before} {VIA} -j res all {nic}").out):
        if "pid" not in o or o["pid"] in pids:
            key = o["res"], o.get("pid")
            count[key] = count.get(key, 0) + 1
    return count


def told(node, job):
    """All that is told of the program that objects.py is."""
    word = dict(w.split("=") for w in job.all.split() if "=" in w)
    pid, server, client = (int(word[w]) for w in ("pid", "server", "client"))
    said = [o for o in shown(node, "res all") if o.get("pid") == pid]

    def one(kind, **wanted):
        found = [o for o in said if o["res"] == kind and
                 wanted.items() <= o.items()]
        if len(found) != 1:
            raise StepFailed(f"{len(found)} of {kind} {wanted}: {said}")

    own = shown(node, "dev show eth0")[0]["address"]
    one("vi", vi=server, nic="via_eth0", state="connected", level="delivery",
        peer=own, send_posted=0, send_in_flight=0, recv_posted=5, send_cq=1,
        ptag=1, uid=0, comm="python3")
    one("vi", vi=client, state="connected", recv_posted=0, ptag=0)
    one("vi", state="idle")
    one("mr", length=8193, pages=3, rights="write", ptag=1)
    one("cq", cq=1, entries=64, used=3, queues=1)
    one("conn", state="waiting", local="1b5b324a00")
    one("conn", state="request", local="unanswered".encode().hex(), peer=own,
        remote="")
    one("conn", state="listening", local="kept".encode().hex(), backlog=5,
        kept=1)
    one("conn", state="request", local="kept".encode().hex())
    one("conn", state="pending", remote="unanswered".encode().hex())
    one("conn", state="peer-to-peer", local="one".encode().hex(),
        remote="two".encode().hex())
    one("conn", state="connected", vi=client, local="own".encode().hex())
    one("conn", state="connected", vi=server, remote="own".encode().hex())
    text = expect(node, f"{VIA} res conn eth0").out
    for line in (' state waiting local 0x1b5b324a00 uid 0 pid ',
                 f' local "own" peer {own} remote "hold" uid 0 pid '):
        if line not in text:
            raise StepFailed(f"no '{line}' in {text}")
    return pid


def objects(session, seconds):
    """Objects are told with their process, to those that may see them: to a
    user its own, to root of a namespace those of its own NICs; and are dumped
    while they come and go."""
    node = session.lab.nodes[0]
    kinds = {"vi": 6, "mr": 1, "cq": 1, "conn": 9}
    with serving(session, f"{HOLDER} /dev/via_eth0 hold 0", 0, "held") as root:
        node.sh("chmod 666 /dev/via_lo")
        with serving(session, f"{HOLDER} /dev/via_lo hold 4711", 0,
                     "held") as user:
            node.sh("chmod 660 /dev/via_lo")
            pids = {told(node, root), int(user.all.split("pid=")[1].split()[0])}
            of = {p: {(k, p): n for k, n in kinds.items()} for p in pids}
            roots, users = (of[p] for p in sorted(
                pids, key=lambda p: f"pid={p} " not in root.all))
            hidden = {(k, None): n for k, n in kinds.items()}
            for before, nic, wanted in (
                    ("", "", roots | users), ("", "via_lo", users),
                    ("", "eth0", roots), (USER, "", users),
                    (USER, "via_eth0", {}), (NOBODY, "", users), (OWNER, "", {}),
                    ("unshare --pid --fork", "via_lo", hidden),
                    ("setpriv --reuid 4712 --clear-groups", "", {})):
                got = whose(node, pids, before, nic)
                if got != wanted:
                    raise StepFailed(f"'{before} via res all {nic}' tells "
                                     f"{got}, not {wanted}")
            expect(node, f"{NOBODY} {VIA} res vi via_eth0", 1, "no VI NIC")
            screen = expect(
                node, "TERM=xterm script -qec 'stty rows 24 cols 80; "
                f"{VIA} top -c 1' /dev/null </dev/null", 0, "python3").out
            shown_ = re.search(r"(\d+) NICs, (\d+) VIs", screen)
            if not shown_ or int(shown_.group(2)) < 2 * kinds["vi"] or \
                    "idle" not in screen:
                raise StepFailed(f"via top shows {screen}")
    with jobs(session, node.spawn(f"{RAW} dumps via_eth0 {seconds}"),
              node.spawn(f"{HOLDER} /dev/via_eth0 churn {seconds}"),
              node.spawn(f"{HOLDER} /dev/via_lo churn {seconds}")) as many:
        for job in many:
            if job.wait(seconds + 120) is None or job.rc:
                raise StepFailed(f"dumps beside objects: {job.all}")
        if " objects=0" in many[0].all:
            raise StepFailed("no dump had an object: they test nothing")
    balanced(session, [node])
    return {"seconds": seconds}


def raw(session, count, seed):
    """Messages that are wrong, one by one, and many random ones."""
    node = session.lab.nodes[0]
    session.run(node, f"{RAW} wrong via_eth0", 60 * session.slow)
    result = session.run(node, f"{RAW} random via_eth0 {count} {seed}",
                         300 * session.slow)
    expect(node, f"{VIA} peer allow eth0 all")
    if "taken=0 " in result.out:
        raise StepFailed("no random message was taken: they test nothing")
    balanced(session, [node])


def listening(node, monitor):
    """A monitor tells what happens: it is asked for by a NIC that goes."""
    def told():
        node.sh("ip link add vm type dummy && "
                f"{VIA} dev attach vm && ip link del vm")
        return "via_vm" in monitor.all

    node.sh("modprobe -q dummy")
    if not monitor.link.wait_for(told, 60):
        raise StepFailed(f"a monitor does not listen: {monitor.all}")


def races(session, rounds):
    """NICs come and go, and so does their module, while lists are dumped and
    changed and a monitor listens."""
    lab, node = session.lab, session.lab.nodes[0]
    command = f"{RAW} dumps via_va {600 * session.slow}"
    change = f"while :; do {VIA} peer allow va {OTHER}; {VIA} peer deny va " \
        "all; done >/dev/null 2>&1"
    with linked(session, "veth", "va"), \
            jobs(session, node.spawn(f"timeout 600 {VIA} monitor"),
                 node.spawn(command), node.spawn(change)) as (monitor, *_):
        listening(node, monitor)
        for _ in range(rounds):
            expect(node, f"{VIA} dev detach va")
            expect(node, f"{VIA} dev attach va")
        node.sh("ip link del va")
        if not monitor.link.wait_for(
                lambda: monitor.all.count("detached via_va") > rounds, 60):
            raise StepFailed(f"the monitor has missed some: {monitor.all}")
    with jobs(session, node.spawn(f"timeout 600 {VIA} monitor")) as (monitor,):
        listening(node, monitor)
        lab.rmmod(node)
        if monitor.done:
            raise StepFailed("the monitor ended with the module")
        expect(node, f"{VIA} dev show eth0", 1, "not installed")
        lab.insmod(node)
        lab.attach(node, *session.cards())
    return {"attached": rounds}


STALE = ("options via_netdev attach=nosuch0", "options via_ka max_user_vi=5",
         "options via_ether peers=x")


@contextlib.contextmanager
def installed(session):
    """Our modules where modprobe finds them, and no others, which are many;
    none of ours is loaded.  The beginning of a command that may load them."""
    lab, node, root = session.lab, session.lab.nodes[0], "/tmp/root"
    folder = f"{root}/lib/modules/{lab.kernel.release}"
    lab.rmmod(node)
    try:
        node.sh(f"mkdir -p {folder} && cp " + " ".join(
            lab.module_path(name) for name in MODULES) + f" {folder}/ && "
            f"depmod -b {root} {lab.kernel.release}")
        yield f"export MODPROBE_OPTIONS='-d {root}';"
    finally:
        node.run(f"rmmod {' '.join(reversed(MODULES))}; rm -rf {root}")
        session.prepare(node)


def loading(session):
    """modprobe and via load what there is, whatever /etc/modprobe.d has still
    of parameters that are none any more."""
    node, stale = session.lab.nodes[0], "/etc/modprobe.d/via-stale.conf"
    loaded = "test -d /sys/module/via_"
    with installed(session) as env:
        # Limits come first in a file, and at boot: before any NIC is there.
        node.sh("printf '[limits]\nvi = 1998\n[interface eth0]\n' "
                ">/tmp/limits.conf")
        expect(node, f"{env} {VIA} apply /tmp/limits.conf")
        if shown(node, "limit show vi")[0]["value"] != 1998 or \
                not shown(node, "dev show eth0"):
            raise StepFailed("not all is applied without modules")
        expect(node, f"{VIA} dev detach eth0; rmmod via_netdev via_ether "
               "via_ka")
        node.sh(f"mkdir -p {os.path.dirname(stale)}; printf '%s\\n' " +
                " ".join(f"'{line}'" for line in STALE) + f" >{stale}")
        try:
            expect(node, f"{env} dmesg -C; modprobe via_netdev")
        finally:
            node.sh(f"rm {stale}")
        expect(node, f"{loaded}netdev && {VIA} dev attach eth0")
        told = node.sh("dmesg").out
        for line in STALE:
            _, module, word = line.split()
            name = word.partition("=")[0]
            if f"{module}: unknown parameter '{name}' ignored" not in told:
                raise StepFailed(f"{name} of {module} is not told: {told}")
        expect(node, f"{VIA} limit show vi", 0, "vi 2048")
        expect(node, f"{VIA} dev detach eth0")


def events(session):
    """What a monitor tells of a host that connects, and of one that may not."""
    one, two = session.lab.nodes
    ping = f"{TOOLS}/viaping -c 2 -i 0.1 -d via_eth0 {peer(0)}"
    with jobs(session, two.spawn(f"timeout 300 {VIA} -j monitor")) as \
            (monitor,), serving(session, f"{TOOLS}/viaping -l -d via_eth0"):
        listening(two, monitor)
        session.run(one, ping, 60)
        expect(two, f"{VIA} peer deny eth0 all")
        try:
            if one.run(f"timeout 20 {ping}").rc == 0:
                raise StepFailed("an empty list allows a host")
        finally:
            two.sh(f"{VIA} peer allow eth0 all")

        def told():
            return [json.loads(line)["event"]
                    for line in monitor.all.splitlines() if line[:1] == "{"]

        if not monitor.link.wait_for(
                lambda: {"peer-up", "peer-down", "peer-denied"} <=
                set(told()), 30):
            raise StepFailed(f"the monitor tells {told()}")


def faults(session):
    """Faults of the tools that were there once."""
    node = session.lab.nodes[0]
    node.sh("ip netns add dead")
    try:
        with linked(session, "veth", "va"):
            node.sh("ip link set vb netns dead && "
                    f"{IN_SPACE} ip link set vb up && "
                    f"{IN_SPACE} {VIA} dev attach vb")
            # One NIC of another namespace hid all others.
            for space, has, not_ in (("", "via_eth0", "via_vb"),
                                     (IN_SPACE, "via_vb", "via_eth0")):
                out = expect(node, f"{space} {TOOLS}/viastat").out
                if has not in out or not_ in out:
                    raise StepFailed(f"viastat {space}: {out}")
            expect(node, f"{TOOLS}/viastat -d via_vb", 1,
                   "another network namespace")
            # Which is no reason to attach it.
            expect(node, f"{TOOLS}/viaping -l -d via_vb", 1,
                   "another network namespace")
            said = node.run(f"{TOOLS}/viaping -l -d via_vb").all
            if "dev attach" in said:
                raise StepFailed(f"what is attached is to be: {said}")
            # Its end is told, once it comes.
            with jobs(session, node.spawn(
                    f"{TOOLS}/viaping -l -d via_va")) as (job,):
                job.expect("answering", 60 * session.slow)
                expect(node, f"{VIA} dev detach va")
                if job.wait(60) is None or "has gone" not in job.all:
                    raise StepFailed("viaping -l ends with: " + job.all)
    finally:
        node.run("ip netns del dead")
    user = "chmod 666 /dev/via_lo; ulimit -l {}; " + USER
    said = expect(node, f"({user.format(0)} {TOOLS}/viaping -l -d via_lo)", 1,
                  "ulimit").all
    if "answering" in said:
        raise StepFailed("viaping -l answers without memory")
    with serving(session, f"({user.format(128)} {TOOLS}/viaping -l -d via_lo)",
                 node=0, ready="answering"):
        expect(node, f"({user.format(128)} {TOOLS}/viaping -c 1 -d via_lo "
               "02:00:00:00:00:01)", 0, "1 received")
    node.sh("chmod 660 /dev/via_lo")
    expect(node, f"{TOOLS}/viaping -c 1 -d via_eth0 10.0.0.77", 1,
           "network of via_eth0 has 10.0.0.77")
    balanced(session, [node])
