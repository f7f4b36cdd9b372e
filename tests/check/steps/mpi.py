# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs of MPI, as Debian has them, over VIA: each first over TCP, each with
its own check; and what goes wrong with machines and limits."""

import os
import re
import shutil
import subprocess
import time

from common import jobs
from fabric import MPI, by_via, job_command, programs, sent, shells
from labkit.base import ROOT
from runner import Skipped, StepFailed

FOLDER = "/tmp/mpi"
LIB = "/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests"
HPCC = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
# LAMMPS's melt, smaller than its examples have it.
MELT = r"""units lj\natom_style atomic\nlattice fcc 0.8442
region box block 0 6 0 6 0 6\ncreate_box 1 box\ncreate_atoms 1 box
mass 1 1.0\nvelocity all create 3.0 87287\npair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5\nneighbor 0.3 bin
neigh_modify every 20 delay 0 check no\nfix 1 all nve\nthermo 50\nrun 200\n
"""


def ring(text):
    if not re.search(r"time for \d+ loops = ", text):
        raise StepFailed("mpi4py.bench says nothing")


def netpipe(text):
    if not re.search(r"^ *\d+: +65539 bytes .* Mbps", text, re.M):
        raise StepFailed("NPopenmpi did not come to 64 KiB")


def hpcc(text):
    if text.count("PASSED") < 5 or "Success=1" not in text or \
            re.search(r"FAILED|Failed residual.*[1-9]", text):
        raise StepFailed("hpcc: not all has passed")


def blacs(text):
    """Its last test is of MPI_Abort: the job fails by design."""
    rows = re.findall(r"TESTS; .* (\d+) FAILED", text)
    if len(rows) < 20 or any(int(n) for n in rows) or \
            "final auxiliary test" not in text:
        raise StepFailed(f"BLACS: {len(rows)} families, {sum(map(int, rows))} "
                         "failures")


def scalapack(text):
    if "END OF TESTS" not in text or re.search(r"FAILED", text) or \
            not re.search(r"[1-9]\d* tests completed and passed", text):
        raise StepFailed("ScaLAPACK: not all has passed")


def melt(text):
    """The numbers, which are to be those of TCP."""
    rows = re.findall(r"^ +\d+ +[\d.]+ +-[\d.]+ .*$", text, re.M)
    if len(rows) != 5 or "Loop time" not in text:
        raise StepFailed("LAMMPS did not come to the end")
    return rows


# name: (file that it needs, preparation, ranks, command, judge, status)
PROGRAMS = {
    "mpi4py": ("/usr/lib/python3/dist-packages/mpi4py", "true", 2,
               "/usr/bin/python3 -m mpi4py.bench ringtest -n 10000 -l 5",
               ring, 0),
    "NPopenmpi": ("/usr/bin/NPopenmpi", "true", 2,
                  "NPopenmpi -n 10 -l 1 -u 65536 -o np.out", netpipe, 0),
    "hpcc": ("/usr/bin/hpcc",
             f"sed 's/^1000  *Ns/200 Ns/' {HPCC} >hpccinf.txt", 4,
             "hpcc", hpcc, 0),
    "BLACS": (f"{LIB}/xCbtest", "cp /usr/share/scalapack/BLACS/*.dat .", 4,
              f"{LIB}/xCbtest", blacs, None),
    "ScaLAPACK LU": (f"{LIB}/xdlu", "cp /usr/share/scalapack/*.dat .", 4,
                     f"{LIB}/xdlu", scalapack, 0),
    "ScaLAPACK QR": (f"{LIB}/xdqr", "cp /usr/share/scalapack/*.dat .", 4,
                     f"{LIB}/xdqr", scalapack, 0),
    "LAMMPS": ("/usr/bin/lmp", f"printf '{MELT}' >melt.in", 4,
               "lmp -in melt.in -log none", melt, 0),
}


def needed(path):
    if not os.path.exists(path) and subprocess.run(
            [os.path.join(ROOT, "tools/lab/setup.sh"), "mpi-full"],
            check=False).returncode:
        raise Skipped(f"no {path}: tools/lab/setup.sh mpi-full")


def program(session, net, name):
    """The program over TCP, then over VIA and by nothing else."""
    path, prepare, ranks, command, judge, status = PROGRAMS[name]
    needed(path)
    one, said, times = session.lab.nodes[0], [], []
    with shells(session):
        for provider in ("tcp;ofi_rxm", "via;ofi_rxm"):
            for node in session.lab.nodes:
                node.sh(f"rm -rf {FOLDER}; mkdir -p {FOLDER} && "
                        f"cd {FOLDER} && {prepare}")
            before, begin = sent(session, net), time.monotonic()
            result = session.run(one, job_command(
                session, net, provider, ranks, command,
                f"--wdir {FOLDER}"), 500 * session.slow, status=status)
            times.append(time.monotonic() - begin)
            text = result.all + one.run(f"cat {FOLDER}/hpccoutf.txt").out
            said.append(judge(text))
        by_via(session, net, before, 3)
    if said[0] != said[1]:
        raise StepFailed("other numbers than over TCP")
    return {"seconds over tcp": round(times[0], 1),
            "over via": round(times[1], 1)}


LIMITED = ("setpriv --inh-caps=-ipc_lock --bounding-set=-ipc_lock "
           "prlimit --memlock=8388608")


def memlock(session, net):
    """8 ranks with 8 MiB of locked memory each: a message that tells what to
    do; with smaller buffers, as it says, the job runs or says so again."""
    programs()
    if not shutil.which("prlimit"):
        raise Skipped("no prlimit")
    one, told = session.lab.nodes[0], "locked-memory limit"
    with shells(session):
        session.run(one, job_command(session, net, "tcp;ofi_rxm", 8,
                                     f"{LIMITED} {MPI} 1024"),
                    200 * session.slow)
        for more in ("", "-x FI_OFI_RXM_BUFFER_SIZE=2048 "
                         "-x FI_OFI_RXM_MSG_RX_SIZE=16"):
            result = session.run(one, job_command(
                session, net, "via;ofi_rxm", 8, f"{LIMITED} {MPI} 1024",
                more), 200 * session.slow, status=None)
            if result.rc and told not in result.all:
                raise StepFailed("a job without memory does not say so")
            if not more and not result.rc:
                raise StepFailed("the limit was none")


def at_work(session, net):
    """A job that goes on until something ends it.  mpirun asks its daemons
    for a sign of life more often than each five minutes."""
    return session.lab.nodes[0].spawn(job_command(
        session, net, "via;ofi_rxm", 2, f"{MPI} forever",
        "--mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2"), 400)


def unplugged(session, net):
    """The cable is out for two seconds: the job waits, and goes on."""
    programs()
    wire = session.lab.wire(net)
    with shells(session), jobs(session, at_work(session, net)) as (job,):
        job.expect("at work", 60 * session.slow)
        with session.bad_wire(net, loss=1):
            time.sleep(2)
        start = wire.stats()["in_frames"]
        if not job.link.wait_for(
                lambda: job.done or
                wire.stats()["in_frames"] > start + 500, 60 * session.slow):
            raise StepFailed("the job does not go on")
        if job.done:
            raise StepFailed("the job ended: " + job.all.strip()[-200:])


def reset(session, net):
    """Node 2 dies without a word: the job ends on node 1."""
    programs()
    two = session.lab.nodes[1]
    with jobs(session, *(n.spawn("busybox nc -ll -p 5000 -e /bin/sh")
                         for n in session.lab.nodes)) as made:
        job = at_work(session, net)
        made.append(job)
        job.expect("at work", 60 * session.slow)
        two.reset()
        session.prepare(two)
        if not job.link.wait_for(lambda: job.done, 120 * session.slow):
            raise StepFailed("the job does not end")
        if not job.rc or "Segmentation" in job.all:
            raise StepFailed("mpirun does not say what has happened")
