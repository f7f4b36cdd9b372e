#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""make demo-mpi: Open MPI, as Debian has it, over VIA between two machines.

Boots two virtual machines, makes eth0 of each a VI NIC, and runs a program of
MPI on both: messages, collectives and one-sided communication, with every byte
checked.  The last line is for programs:

  demo-mpi: ranks=<n> via-bytes=<a> ip-bytes=<b>
"""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(ROOT, "tools/lab"))

from demo import build, command, explain, show, tool  # noqa: E402
from lab import Lab  # noqa: E402
from labkit import kernels  # noqa: E402
from labkit.base import BUILD, MPIRUN  # noqa: E402

PROGRAM = os.path.join(BUILD, "viampi")
# In place of sshd, which these machines have not.
SHELLS = "busybox nc -ll -p 5000 -e /bin/sh"
RSH = os.path.join(ROOT, "tests/fabric/rsh")
ENV = {"FI_PROVIDER_PATH": os.path.join(BUILD, "fabric"),
       "LD_LIBRARY_PATH": BUILD}


def sent(node):
    """Bytes by VIA and by IP, so far."""
    text = node.sh(f"{tool('viastat')} -d via_eth0").out
    names, values = [line.split() for line in
                     node.sh("grep ^IpExt /proc/net/netstat").out.splitlines()]
    return (int(re.search(r"^ *tx_bytes +(\d+)$", text, re.M).group(1)),
            int(values[names.index("OutOctets")]))


def demo(args):
    kernel = kernels.kernel(args.kernel)
    explain("1. Modules, library, the provider of libfabric; a program of MPI")
    build(kernel)
    subprocess.run(["make", "-s", "-C", ROOT, "viampi"], check=True)
    env = " ".join(f"{name}={value}" for name, value in ENV.items())
    with Lab(nodes=2, nics=[args.nic], kernel=args.kernel) as lab:
        explain("2. Two virtual machines; eth0 of each becomes a VI NIC")
        for node in lab.nodes:
            lab.insmod(node)
            lab.attach(node, "eth0")
            node.spawn(SHELLS)
        show(lab.nodes[0], f"env {env} fi_info -p via -t FI_EP_MSG")
        explain(f"3. A job of {args.ranks} ranks")
        before = sent(lab.nodes[0])
        show(lab.nodes[0],
             f"env {env} {MPIRUN} --allow-run-as-root --oversubscribe "
             f"-n {args.ranks} --host 10.0.0.1:8,10.0.0.2:8 --map-by node "
             f"--mca plm_rsh_agent {RSH} --mca pml cm --mca mtl ofi "
             "--mca osc pt2pt --mca mtl_ofi_provider_include 'via;ofi_rxm' "
             f"{' '.join('-x ' + name for name in ENV)} {PROGRAM} 65536")
        via, ip = (new - old for new, old in
                   zip(sent(lab.nodes[0]), before))
        explain(f"node1 sent {via} bytes by VIA and {ip} by IP: those are "
                "mpirun's own.")
    print(f"demo-mpi: ranks={args.ranks} via-bytes={via} ip-bytes={ip}",
          flush=True)


if __name__ == "__main__":
    sys.exit(command(demo, "demo-mpi", __doc__, "--ranks", 2))
