# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs that connect queue pairs by their numbers, without rdma_cm, on a
verbs device with the addressing of RoCE."""

import rdma
import udp
from rdma import BANDWIDTH, LATENCY, Program, between, carried, device
from rdma_own import CONFORM, needed, suite
from runner import StepFailed

KIND = "via_roce"
PORT = 18515  # TCP, where both kinds of programs tell each other of themselves
# GID 0 is the MAC address: it needs no address of IP.
PINGPONG = "ibv_rc_pingpong -d {dev} -g 0 "
# As in rdma_own.SOME, with what there is by number alone.
SOME = ("number.early number.left number.again number.ended connect.simple "
        "data.segments queue.order flush.traffic access.read_rights "
        "cq.solicited srq.order process.killed")


def pingpong(words, size, count):
    command = PINGPONG + words
    return Program(command, command + " {peer}", PORT, 2 * size * count,
                   r"([\d.]+) usec/iter", "us an iteration")


def perftest(name, gid, size, count, tell, unit, words=""):
    return rdma.perftest(name, size, count, tell, unit, f"-x {gid} {words}",
                         PORT)


def uct(test, size, count, words=""):
    """UCX's own test of a transport.  Its protocols above it need datagrams
    of verbs to find each other, but for a client and its server, as below."""
    command = "ucx_perftest -f -d {dev}:1 -x rc_verbs " \
        f"-t {test} -s {size} -n {count} -w 10 {words}"
    return Program(command, command + " {peer}", 13337, size * count,
                   r"^ *\d+ +[\d.]+ +[\d.]+ +([\d.]+)", "us")


def io_demo(words, size, count):
    """UCX's client and server, which check what they get; how they connect,
    and nothing else, is by TCP."""
    command = "UCX_TLS=rc_verbs,tcp UCX_NET_DEVICES={dev}:1,eth{net} " \
        f"UCX_SOCKADDR_TLS_PRIORITY=tcp io_demo -q -d {size} -p 1337 {words}"
    return Program(command, f"{command} -i {count} -o read,write {{peer}}",
                   1337, size * count)


PROGRAMS = {
    "ibv_rc_pingpong": pingpong("-n 100", 4096, 100),
    "ibv_rc_pingpong, asleep": pingpong("-e -s 65536 -n 200", 65536, 200),
    "ib_send_lat": perftest("ib_send_lat", 0, 256, 1000, LATENCY, "us"),
    # By its address of IPv4.
    "ib_send_bw": perftest("ib_send_bw", 3, 65536, 200, BANDWIDTH, "MB/s"),
    "ib_send_bw, both ways": perftest("ib_send_bw", 0, 4096, 500, BANDWIDTH,
                                      "MB/s", "-b"),
    "ib_write_bw": perftest("ib_write_bw", 0, 65536, 200, BANDWIDTH, "MB/s"),
    "ib_write_bw, 8 QPs": perftest("ib_write_bw", 0, 65536, 50, BANDWIDTH,
                                   "MB/s", "-q 8"),
    "ib_read_bw": perftest("ib_read_bw", 0, 65536, 200, BANDWIDTH, "MB/s"),
    "ucx_perftest, messages": uct("am_lat", 64, 1000),
    "ucx_perftest, put": uct("put_bw", 65536, 200, "-D zcopy"),
    "ucx_perftest, get": uct("get", 65536, 200, "-D zcopy"),
    "io_demo": io_demo("", 4096, 200),
    "io_demo, long": io_demo("", 262144, 50),
}


def run(session, net, name, dev):
    """One of them between the nodes."""
    rdma.run(session, net, PROGRAMS[name], dev, "via")


def program(session, net, name):
    """A program of Debian's between the nodes."""
    rdma.needed_by(name)
    with device(session, KIND, net) as dev:
        run(session, net, name, dev)


def beside(session, net):
    """Both kinds of device on one VI NIC, of which each goes once."""
    with device(session, KIND, net) as dev:
        for node in session.lab.nodes:
            node.sh(f"rdma link add via0 type via netdev eth{net}")
        for _ in range(2):
            with carried(session, "via", net, 400000):
                between(session, net, rdma.PROGRAMS["rping"], None)
            run(session, net, "ibv_rc_pingpong", dev)
            for node in session.lab.nodes:
                node.sh(f"rdma link del {dev}; "
                        f"rdma link add {dev} type {KIND} netdev eth{net}")
        for node in session.lab.nodes:
            if node.run(f"rdma link add roce1 type {KIND} "
                        f"netdev eth{net}").rc == 0:
                raise StepFailed("a VI NIC has two such devices")
            node.sh("rdma link del via0")
        run(session, net, "ibv_rc_pingpong", dev)


def promised(session, net, tests=""):
    """What verbs promise, each end on a machine of its own."""
    needed(CONFORM)
    with device(session, KIND, net) as dev:
        suite(session, net, f"--codes {dev}#0 {tests}")


def promised_udp(session, net, tests):
    """The same with VIA in UDP, by the addresses of IPv4."""
    needed(CONFORM)
    with udp.machines(session, "IPv4", net), \
            device(session, f"{KIND}_udp", net) as dev:
        near = ",".join(f"{dev}#{udp.NEAR['IPv4'].format(i)}" for i in (1, 2))
        suite(session, net, f"--codes {near} {tests}")
