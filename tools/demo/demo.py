#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""make demo: two virtual machines, one wire, VIA beside UDP and TCP.

Boots two machines with Debian's stock kernel, loads the modules, opens VIs
through libvipl and measures, all on this machine and in about a minute, and
how busy this machine was meanwhile: a round with too much of that is not to be
believed, and no part of the medians.  The last line is for programs,
where it is one line:

  demo: nic=<model> half-rtt-us via=<a> udp=<b> tcp=<c> bandwidth-mbps via=<d>
        tcp=<e> sleeping-us via=<f> believed=<rounds of all>
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(ROOT, "tools/lab"))

import judge  # noqa: E402
from lab import Lab, LabError  # noqa: E402
from labkit import kernels, offloads  # noqa: E402
from labkit.base import BUILD  # noqa: E402

PEER = "52:54:00:00:00:02"
IN_UDP = ("via_udp0", "10.0.0.2")
DEVICE = "via_eth0"
SOCK = os.path.join(BUILD, "tests/bench/sock_lat")


def tool(name):
    return os.path.join(BUILD, "tools", name)


def explain(text):
    print(f"\n{text}", flush=True)


def build(kernel):
    """Everything that the guests run, for their kernel."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    log = os.path.join(BUILD, "demo-build.log")
    os.makedirs(BUILD, exist_ok=True)
    jobs = f"-j{min(os.cpu_count() or 1, 4)}"
    with open(log, "w") as file:
        failed = any(subprocess.run(
            command, env=env, stdout=file, stderr=subprocess.STDOUT).returncode
            for command in (kernel.make("-s", jobs, "modules"),
                            ["make", "-s", "-C", ROOT, jobs, "user"]))
    if failed:
        with open(log) as file:
            sys.stderr.write("".join(file.readlines()[-15:]))
        raise LabError(f"the build failed, see {log}")


def show(node, command):
    """Run a command, showing it and what it prints."""
    print(f"  {node.name}# {os.path.basename(command.split()[0])} "
          f"{' '.join(command.split()[1:])}", flush=True)
    for line in node.sh(command, 60).out.splitlines():
        print(f"    {line}", flush=True)


def measure(lab, server, client, timeout=120):
    """The client's output while the server serves on node 2."""
    n1, n2 = lab.nodes
    job = n2.spawn(server, timeout)
    if server.startswith("iperf3"):
        job.expect("listening")
    result = n1.run(client, timeout)
    if result.rc:
        job.kill()
    done = job.wait()
    for node, r in ((n1, result), (n2, done)):
        if r.rc:
            last = (r.all.strip().splitlines() or ["no output"])[-1]
            raise LabError(f"{node.name}: '{r.command}' failed: {last}")
    return result.out


def figure(text, name):
    rows = [json.loads(line) for line in text.splitlines()
            if line.startswith("{")]
    if not rows:
        raise LabError(f"no figures in: {text.strip()[:200]}")
    return rows[-1][name]


def latency_via(lab, device=DEVICE, peer=PEER, options=""):
    out = measure(lab, f"{tool('vipl_lat')} -d {device}",
                  f"{tool('vipl_lat')} -d {device} -s 4 -n 2000 {options} "
                  f"--json - {peer}")
    return figure(out, "t_typical")


def latency_socket(lab, proto):
    out = measure(lab, SOCK, f"{SOCK} 10.0.0.2 --proto {proto} -n 2000 "
                  "--json -")
    return figure(out, "t_typical")


def bandwidth_via(lab, device=DEVICE, peer=PEER):
    out = measure(lab, f"{tool('vipl_bw')} -d {device} -e",
                  f"{tool('vipl_bw')} -d {device} -e -s 65536 -n 1000 --json - "
                  f"{peer}")
    return figure(out, "bw_average_mbps")


def bandwidth_tcp(lab):
    out = measure(lab, "iperf3 -s -1 --forceflush",
                  "iperf3 -c 10.0.0.2 -t 2 -J")
    return json.loads(out)["end"]["sum_received"]["bits_per_second"] / 1e6


CONTENDERS = (
    ("VIA", "half round trip, 4 bytes", "us", "lat", latency_via),
    ("VIA", "the same, ends that sleep", "us", "sleep",
     lambda lab: latency_via(lab, options="-e")),
    ("VIA in UDP", "half round trip, 4 bytes", "us", "lat",
     lambda lab: latency_via(lab, *IN_UDP)),
    ("UDP", "half round trip, 4 bytes", "us", "lat",
     lambda lab: latency_socket(lab, "udp")),
    ("TCP", "half round trip, 4 bytes", "us", "lat",
     lambda lab: latency_socket(lab, "tcp")),
    ("VIA", "bandwidth, 64 KiB messages", "Mb/s", "bw", bandwidth_via),
    ("VIA in UDP", "bandwidth, 64 KiB messages", "Mb/s", "bw",
     lambda lab: bandwidth_via(lab, *IN_UDP)),
    ("TCP", "bandwidth, iperf3", "Mb/s", "bw", bandwidth_tcp),
)


def measure_round(lab):
    """{(who, what): figure}, and why they are not to be believed."""
    found = {}
    before = judge.sample()
    for who, what, unit, kind, function in CONTENDERS:
        value = found[who, kind] = function(lab)
        print(f"    {who:10}  {what:28} {value:8.1f} {unit}", flush=True)
    share = judge.share(before, judge.sample())
    print(f"    this machine: {share.steal:.0%} stolen, {share.others:.0%} for "
          f"other programs, load {share.load:.1f}", flush=True)
    doubts = judge.doubts(share, found["VIA", "lat"], found["VIA", "sleep"])
    for why in doubts:
        print(f"    NOT TO BE BELIEVED: {why}", flush=True)
    return found, doubts


def measure_all(lab, rounds):
    """({(who, what): median}, how many rounds that is of); rounds are
    interleaved, as load comes and goes."""
    made = []
    for number in range(rounds):
        print(f"  round {number + 1} of {rounds}", flush=True)
        made.append(measure_round(lab))
    good = [found for found, doubts in made if not doubts]
    taken = good or [found for found, doubts in made]
    return {key: statistics.median(found[key] for found in taken)
            for key in taken[0]}, len(good)


def demo(args):
    begin = time.monotonic()
    explain(f"1. Debian's kernel {args.kernel}, and our modules and programs "
            "for it")
    kernel = kernels.kernel(args.kernel)
    print(f"  kernel {kernel.release}, from the cache; nothing of it is "
          "installed here", flush=True)
    build(kernel)
    print(f"  built in {os.path.relpath(BUILD)}", flush=True)

    explain(f"2. Two virtual machines, each with a {args.nic}, on one wire")
    with Lab(nodes=2, nics=[args.nic], kernel=args.kernel) as lab:
        slowest = max(n.boot_seconds for n in lab.nodes)
        print(f"  node1 and node2 are up after {slowest:.1f} s, on "
              f"{'KVM' if lab.accel == 'kvm' else 'emulated CPUs'}",
              flush=True)
        explain("3. Load the kernel agent, the Ethernet class and via_netdev, "
                "and make eth0 a VI NIC; via_udp at its address, too")
        for node in lab.nodes:
            lab.insmod(node)
            lab.attach(node, "eth0")
            lab.udp(node)
            address = f"10.0.0.{lab.nodes.index(node) + 1}"
            node.sh(f"{BUILD}/tools/via dev attach {address}")
        show(lab.nodes[0], f"{tool('viainfo')}")
        explain("4. Is the other one there? Over VIs, without an IP packet")
        responder = lab.nodes[1].spawn(f"{tool('viaping')} -l -d {DEVICE}")
        responder.expect("answering", 20)
        show(lab.nodes[0], f"{tool('viaping')} -c 3 -i 0.1 -d {DEVICE} node2")
        responder.kill()
        explain("5. VIA (Reliable Delivery) beside UDP and TCP, same "
                "machines, same NIC")
        print("  What it does for TCP: "
              f"{offloads.of(lab.nodes[0], 'eth0')}", flush=True)
        median, good = measure_all(lab, args.rounds)
        logs = lab.logdir
    via, udp, tcp = (median[who, "lat"] for who in ("VIA", "UDP", "TCP"))
    bw, tcp_bw = median["VIA", "bw"], median["TCP", "bw"]
    in_udp, in_udp_bw = (median["VIA in UDP", what] for what in ("lat", "bw"))
    if not good:
        explain("NO ROUND IS TO BE BELIEVED: this machine was too busy.  "
                "The medians are of all of them.")
    asleep = median["VIA", "sleep"]
    explain(f"Medians of {good or args.rounds} round"
            f"{'s' * ((good or args.rounds) != 1)}: a message takes {via:.0f} us "
            f"with VIA ({asleep:.0f} for ends that sleep), {in_udp:.0f} with "
            f"VIA in UDP, {udp:.0f} with UDP, {tcp:.0f} with TCP;\n"
            f"VIA moves {bw:.0f} Mb/s, in UDP {in_udp_bw:.0f}, "
            f"TCP {tcp_bw:.0f}.  No kernel "
            "complained.\n"
            f"Logs and consoles: {os.path.relpath(logs)}; "
            f"{time.monotonic() - begin:.0f} s in all.")
    print(f"demo: nic={args.nic} half-rtt-us via={via:.1f} udp={udp:.1f} "
          f"tcp={tcp:.1f} bandwidth-mbps via={bw:.1f} tcp={tcp_bw:.1f} "
          f"sleeping-us via={asleep:.1f} believed={good}/{args.rounds}",
          flush=True)


def command(demo, name, description, amount, default, nic="virtio-net"):
    """The command line of a demo: its status."""
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nic", default=nic,
                        help=f"NIC model ({nic}; tools/lab/lab models)")
    parser.add_argument("--kernel", default="6.1", choices=kernels.NAMES)
    parser.add_argument(amount, type=int, default=default)
    args = parser.parse_args()
    try:
        demo(args)
    except LabError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(command(demo, "demo", __doc__, "--rounds", 3))
