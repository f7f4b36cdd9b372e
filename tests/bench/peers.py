# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Bulk over links that segment and join for TCP (e1000, veth), and over one that
does not (tulip): VIA, VIA in UDP/IP and TCP, in instructions."""

import exact
from labkit.offloads import tcp

# A pair of veth beside the NICs of a guest, its far end in the same namespace.
VETH = ("v0", "v1", "10.1.0.1", "10.1.0.2")
NICS = ("eth0", "eth1", "10.0.0.1", "10.0.0.2")


def setup_veth(runner):
    """A pair of veth, both ends VI NICs."""
    here, there, near, far = VETH
    runner.node.sh(
        "modprobe veth && "
        f"ip link add {here} type veth peer name {there} netns peer && "
        f"ip addr add {near}/24 dev {here} && ip link set {here} up && "
        f"ip -n peer addr add {far}/24 dev {there} && "
        f"ip -n peer link set {there} up && "
        f"ip neigh replace {far} lladdr $(ip netns exec peer cat "
        f"/sys/class/net/{there}/address) dev {here} && "
        f"ip -n peer neigh replace {near} lladdr $(cat "
        f"/sys/class/net/{here}/address) dev {there}")
    runner.lab.attach(runner.node, here)
    runner.node.sh(f"{runner.build}/tools/via -n peer dev attach {there} && "
                   f"test -c /dev/via_{there}")


def over(runner, nic, link):
    """VIA over frames and in UDP, UDP and TCP over one link of the guest."""
    here, there, near, far = link
    name = tcp(runner.node, here)
    print(f"# {nic}: {name}", flush=True)
    sock = f"tests/bench/sock_lat {exact.SOCK} {far}"
    for path, devices in (("via_netdev", (f"via_{here}", f"via_{there}")),
                          ("via_udp", exact.attach_udp(runner, near, far))):
        where = (f"--exact -d {devices[0]} --peer-dev {devices[1]} "
                 f"{exact.PEER}")
        runner.lat(path, "poll", f"tools/vipl_lat {where} -l rd", "rd", nic)
        runner.bulk(path, "poll", f"tools/vipl_bw {where} -t 8", "rd", nic)
        runner.bulk(path, "block", f"tools/vipl_bw {where} -e", "rd", nic)
    runner.lat("udp-spin", "poll", f"{sock} --spin", nic=nic)
    runner.lat(name, "block", f"{sock} --proto tcp", nic=nic)
    runner.bulk(name, "block", f"{sock} --proto tcp --bw", nic=nic)
    for path in ("via_netdev", "via_udp"):
        for wait in ("poll", "block"):
            runner.book.ratio(
                dict(bench="bulk", path=name, nic=nic),
                dict(bench="bulk", path=path, nic=nic, wait=wait))


def part_peers(runner):
    """Beside tulip, which does nothing for TCP, a pair of veth."""
    over(runner, runner.nic, NICS)
    if runner.nic == "tulip":
        setup_veth(runner)
        over(runner, "veth", VETH)
