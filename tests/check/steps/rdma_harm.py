# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A verbs device in trouble: its link goes, and the device."""

from common import serving
from rdma_own import CONFORM
from rdma_own import needed as built
from runner import StepFailed


def events(session, net):
    """The port's events and the device's end, as a program is told them."""
    built(CONFORM)
    one, address = session.lab.nodes[0], f"10.{net}.0.1"
    session.lab.verbs(one, f"eth{net}")
    with serving(session, f"{CONFORM} --hold device {address},{address}", 0,
                 "held", ends=True) as job:
        for command, words in (
                (f"ip link set eth{net} down", "port error"),
                (f"ip link set eth{net} up", "port active"),
                ("rdma link del via0", "local catastrophic error")):
            one.sh(command)
            job.expect(f"^{words}$", 20 * session.slow)
        if job.wait().rc:
            raise StepFailed("the program did not end by itself")
    one.sh("rmmod via_rdma")
