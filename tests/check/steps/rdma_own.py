# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Our own programs of verbs, by the stock libraries, on a verbs device: what
verbs promise, and a hostile program."""

import contextlib
import os
import random
import re

import udp
from common import serving
from labkit.base import BUILD
from rdma import device
from runner import Skipped, StepFailed

CONFORM = os.path.join(BUILD, "verbsconform")
FUZZ = os.path.join(BUILD, "verbsfuzz")
# Of each kind of test one, in a few seconds.
SOME = ("connect.simple connect.crowd disconnect.near data.segments "
        "data.inline data.counters queue.order flush.traffic local.key "
        "receive.none access.read_rights domain.write dereg.write cq.solicited "
        "srq.order srq.limit srq.flush process.killed refuse.early "
        "refuse.crowd")


def needed(program):
    if not os.path.exists(program):
        raise Skipped(f"no {os.path.basename(program)}: it is built where "
                      "libibverbs-dev and librdmacm-dev are")


@contextlib.contextmanager
def by_six(session, net):
    """Addresses of IPv6 on both nodes meanwhile: those of nodes 1 and 2."""
    found = [f"fd72::{i}" for i in (1, 2)]
    for node, address in zip(session.lab.nodes, found):
        node.sh(f"{udp.IP6} net.ipv6.conf.eth{net}.disable_ipv6=0; "
                f"ip addr add {address}/64 dev eth{net} nodad")
    yield found
    for node, address in zip(session.lab.nodes, found):
        node.sh(f"ip addr del {address}/64 dev eth{net}")


def suite(session, net, words, limit=600):
    """verbsconform, each end on a machine of its own; its devices are there."""
    with serving(session, f"{CONFORM} --server", ready="serving"):
        result = session.run(
            session.lab.nodes[0],
            f"{CONFORM} -v --timeout-scale {session.slow} --host 10.{net}.0.2 "
            f"{words}", limit * session.slow, status=None)
    found = re.search(r"(\d+) passed, (\d+) failed", result.out)
    failed = re.findall(r"^FAILED ([\w.]+)", result.out, re.M)
    if result.rc or not found or failed:
        raise StepFailed(f"failed: {', '.join(failed) or result.all[-200:]}")
    session.check.note(f"{found.group(1)} tests")


def promised(session, net, kind, tests=""):
    """The codes of errors are those of RoCE where the device is ours."""
    needed(CONFORM)
    codes = "--codes " if kind == "via" else ""
    with device(session, kind, net), by_six(session, net) as six:
        suite(session, net, f"{codes}--six {','.join(six)} 10.{net}.0.1,"
              f"10.{net}.0.2 {tests}")


def promised_udp(session, net, family, tests):
    """The same with VIA in UDP."""
    needed(CONFORM)
    near = ",".join(udp.NEAR[family].format(i) for i in (1, 2))
    with udp.machines(session, family, net), device(session, "via_udp", net):
        suite(session, net, f"--codes {near} {tests}")


def hostile(session, net, kind, calls, seed=None):
    """Queues in shared memory and calls of uverbs that no library makes,
    beside an honest program, on one machine; nothing is left of it."""
    needed(FUZZ)
    seed = random.getrandbits(32) if seed is None else seed
    with device(session, kind, net) as dev:
        where = f"{dev}#0" if kind == "via_roce" else f"10.{net}.0.1"
        result = session.run(session.lab.nodes[0],
                             f"{FUZZ} {seed} {calls} '{where}'",
                             (120 + calls // 10) * session.slow)
    found = re.search(r"(\d+) calls in (\d+) rounds", result.out)
    if not found:
        raise StepFailed("the program does not tell what it did")
    session.check.note(f"{found.group(1)} calls, seed {seed}")
