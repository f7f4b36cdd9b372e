# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Our own programs of verbs, by the stock libraries, on a verbs device: what
verbs promise, and a hostile program."""

import os
import random
import re

from common import serving
from labkit.base import BUILD
from rdma import device
from runner import Skipped, StepFailed

CONFORM = os.path.join(BUILD, "verbsconform")
FUZZ = os.path.join(BUILD, "verbsfuzz")
# Of each kind of test one, in a few seconds.
SOME = ("connect.simple connect.crowd disconnect.near data.segments "
        "data.inline queue.order flush.traffic local.key receive.none "
        "access.read_rights domain.write dereg.write cq.solicited "
        "process.killed")


def needed(program):
    if not os.path.exists(program):
        raise Skipped(f"no {os.path.basename(program)}: it is built where "
                      "libibverbs-dev and librdmacm-dev are")


def promised(session, net, kind, tests="", limit=600):
    """Each end on a machine of its own; the codes of errors are those of RoCE
    where the device is ours."""
    needed(CONFORM)
    one = session.lab.nodes[0]
    codes = "--codes " if kind == "via" else ""
    with device(session, kind, net), \
            serving(session, f"{CONFORM} --server", ready="serving"):
        result = session.run(
            one, f"{CONFORM} -v {codes}--timeout-scale {session.slow} --host "
            f"10.{net}.0.2 10.{net}.0.1,10.{net}.0.2 {tests}",
            limit * session.slow, status=None)
    found = re.search(r"(\d+) passed, (\d+) failed", result.out)
    failed = re.findall(r"^FAILED ([\w.]+)", result.out, re.M)
    if result.rc or not found or failed:
        raise StepFailed(f"failed: {', '.join(failed) or result.all[-200:]}")
    session.check.note(f"{found.group(1)} tests")


def hostile(session, net, kind, calls, seed=None):
    """Queues in shared memory and calls of uverbs that no library makes,
    beside an honest program, on one machine; nothing is left of it."""
    needed(FUZZ)
    seed = random.getrandbits(32) if seed is None else seed
    with device(session, kind, net):
        result = session.run(session.lab.nodes[0],
                             f"{FUZZ} {seed} {calls} 10.{net}.0.1",
                             (120 + calls // 10) * session.slow)
    found = re.search(r"(\d+) calls in (\d+) rounds", result.out)
    if not found:
        raise StepFailed("the program does not tell what it did")
    session.check.note(f"{found.group(1)} calls, seed {seed}")
