# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""libfabric's provider via, and MPI on it, between two machines."""

import os
import re
import shutil
import subprocess

from common import TOOLS, jobs, serving
from labkit.base import BUILD, MPIRUN, ROOT
from runner import Skipped, StepFailed

CALLS = os.path.join(BUILD, "viafab")
MPI = os.path.join(BUILD, "viampi")
FABTESTS = os.path.join(ROOT, "tests/fabric/fabtests.py")
RSH = os.path.join(ROOT, "tests/fabric/rsh")
# On the nodes without sshd: what tests/fabric/rsh talks to.
SHELLS = "busybox nc -ll -p 5000 -e /bin/sh"
SENT = ("awk '/^IpExt/ { if (!n) { for (i = 1; i <= NF; i++) "
        "if ($i == \"OutOctets\") n = i } else print $n }' /proc/net/netstat")


def around(net):
    """The words before a command that finds the provider, and its NIC."""
    if not os.path.exists(os.path.join(BUILD, "fabric/libvia-fi.so")):
        raise Skipped("the provider is not built: libfabric-dev is missing")
    return (f"env FI_PROVIDER_PATH={BUILD}/fabric LD_LIBRARY_PATH={BUILD} "
            f"FI_VIA_DEVICES=via_eth{net} FI_TCP_IFACE=eth{net} ")


def calls(session, net):
    """Both ends on one machine, by its own address."""
    session.run(session.lab.nodes[0], around(net) + CALLS,
                120 * session.slow)


def pingpong(session, net):
    """Messages, and datagrams of ofi_rxm, each byte checked."""
    node = session.lab.nodes[0]
    for provider, kind in (("via", "msg"), ("via;ofi_rxm", "rdm")):
        command = f"{around(net)}fi_pingpong -p '{provider}' -e {kind} -c -I 20"
        with serving(session, command, ends=True):
            session.run(node, f"sleep 2; {command} 10.{net}.0.2",
                        90 * session.slow)


def fabtests(session, net, types):
    """libfabric's own tests between the machines, but for one that registers
    3 GiB."""
    subprocess.run([FABTESTS, "--build"], check=True)
    with shells(session):
        session.run(session.lab.nodes[0],
                    f"{around(net)}{FABTESTS} --types {types} --without "
                    f"fi_rdm_atomic 10.{net}.0.1 10.{net}.0.2",
                    2400 * session.slow)


def programs():
    """mpirun, and the test for it."""
    if not shutil.which("mpicc") and subprocess.run(
            [os.path.join(ROOT, "tools/lab/setup.sh"), "mpi"],
            check=False).returncode:
        raise Skipped("no mpicc: tools/lab/setup.sh mpi")
    subprocess.run(["make", "-s", "-C", ROOT, "viampi"], check=True)


def sent(session, net):
    """Bytes by IP and by VIA of node 1, so far."""
    node = session.lab.nodes[0]
    text = node.sh(f"{TOOLS}/viastat -d via_eth{net}").out
    via = re.search(r"^ *tx_bytes +(\d+)$", text, re.M)
    return int(node.sh(SENT).out), int(via.group(1))


def job_command(session, net, provider, ranks, program, more=""):
    """mpirun, on all nodes; `more` are further options of its."""
    env = around(net)
    names = re.findall(r"(\w+)=", env)
    hosts = ",".join(f"10.{net}.0.{i + 1}:{ranks}"
                     for i in range(len(session.lab.nodes)))
    return (f"{env}{MPIRUN} --allow-run-as-root --oversubscribe -n {ranks} "
            f"--host {hosts} --map-by node "
            f"--mca plm_rsh_agent {RSH} --mca oob_tcp_if_include eth{net} "
            "--mca pml cm --mca mtl ofi --mca osc pt2pt "
            f"--mca mtl_ofi_provider_include '{provider}' "
            f"{' '.join('-x ' + name for name in names)} {more} {program}")


def mpirun(session, net, provider, ranks, most, status=0):
    return session.run(session.lab.nodes[0],
                       job_command(session, net, provider, ranks,
                                   f"{MPI} {most}"),
                       200 * session.slow, status=status)


def shells(session):
    return jobs(session, *(node.spawn(SHELLS) for node in session.lab.nodes))


def mpi(session, net, ranks, most):
    """First over TCP: what fails there, too, is not ours.  Then over VIA,
    and by nothing else."""
    programs()
    with shells(session):
        mpirun(session, net, "tcp;ofi_rxm", ranks, most)
        ip, via = sent(session, net)
        mpirun(session, net, "via;ofi_rxm", ranks, most)
        by_via(session, net, (ip, via))


def by_via(session, net, before, times=10):
    """Node 1 has sent by VIA since then, and next to nothing by IP: mpirun
    itself talks by TCP, some tens of kilobytes."""
    ip, via = (new - old for new, old in zip(sent(session, net), before))
    session.check.write(f"MPI: {via} bytes by VIA, {ip} by IP\n")
    if via < times * ip or ip > 500000:
        raise StepFailed(f"{via} bytes went by VIA, {ip} by IP")


def mpi_lossy(session, net):
    """One frame of a hundred is lost, each way."""
    programs()
    with shells(session), session.bad_wire(net, loss=0.01):
        mpirun(session, net, "via;ofi_rxm", 2, 65536)


def mpi_killed(session, net):
    """A rank is killed: the job ends, and says why."""
    programs()
    with shells(session):
        result = mpirun(session, net, "via;ofi_rxm", 3, "die", status=None)
    if "on signal 9" not in result.all or "Segmentation" in result.all:
        raise StepFailed("mpirun did not end with the killed rank")
