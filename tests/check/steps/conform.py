# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The suite in guests: on one machine, between two, over bad wires, with
sanitizers and with small limits; and names."""

import os
import re
import shlex

from again import again
from common import CONFORM, TOOLS, peer, serving, small
from labkit.base import BUILD
from runner import Skipped, StepFailed


# What a chip's driver may have wrong; make check-full has all of the suite.
BRIEF = "send*,rdma*,read*,connect*,disconnect*"
# Groups that wait for time-outs or compare texts: a debug kernel takes minutes
# for them.  The simulator has their code under ASan and UBSan.
PATIENT = "accept*,p2p*,discover*,names*,mgmt*,format*"


def counts(text):
    """Passed, failed tests and asserts of CUnit's summary."""
    found = dict(re.findall(r"^\s+(tests|asserts)\s+((?:\S+\s*)+)$", text,
                            re.M))
    if "tests" not in found:
        raise StepFailed("no summary: the program died")
    total, ran, passed, failed = map(int, found["tests"].split()[:4])
    return total, ran, passed, failed


def judge(session, result, where):
    total, ran, passed, failed = counts(result.out)
    session.check.write(f"{where}: {passed} of {ran} passed\n")
    if failed or result.rc or not ran:
        first = re.search(r"^\s+(?:1\.|Test: )\s*(.*)$", result.out, re.M)
        raise StepFailed(f"{where}: {failed} of {total} conformance tests "
                         f"failed, status {result.rc}"
                         + (f": {first.group(1)}" if first else ""))


def conform(session, arguments, where, nic, two=False, program=CONFORM,
            before="", patience=1):
    """Run the suite on node 1, keep its results if the check wants them."""
    node = session.lab.nodes[0]
    path = "/tmp/results"
    result = session.run(node, f"{before}{program} --results {path} "
                         f"--timeout-scale {patience * session.slow} "
                         f"{arguments}",
                         400 * patience * session.slow, status=None)
    whole = not {"-g", "--levels", "--except"} & set(arguments.split())
    if session.check.results and program == CONFORM and whole:
        text = node.sh(f"cat {path}").out
        session.check.keep(session, nic, two, text)
    judge(session, result, where)


def conform_lo(session):
    conform(session, "-d via_lo", "via_lo", "via_lo")


def conform_one(session, net, levels=None, without=None):
    """Both ends on one machine, on the NIC of wire `net`."""
    nic = session.nic_name(net)
    only = f" --levels {levels}" if levels else ""
    if without:
        only += f" --except '{without}'"
    conform(session, f"-d via_eth{net}{only}", f"{nic}, one machine", nic)


def conform_sanitized(session, name, pattern=None):
    """The same on via_lo, library and suite under a sanitizer, which says in
    files what it has found: most processes end without a status."""
    node = session.lab.nodes[0]
    folder = os.path.join(BUILD, name)
    options = "log_path=/tmp/sanitizer:detect_leaks=0:die_after_fork=0"
    if session.lab.debug:
        raise Skipped("a sanitized program is slow enough on a stock kernel")
    if "__tsan_init" not in node.sh(f"nm -D {folder}/libvipl.so.1").out and \
            name == "tsan":
        raise StepFailed("the library is not built with TSan")
    node.sh("rm -f /tmp/sanitizer*")
    only = f" -g {shlex.quote(pattern)}" if pattern else ""
    conform(session, "-d via_lo" + only, f"via_lo, {name}", "via_lo",
            program=os.path.join(folder, "viaconform"),
            before=f"TSAN_OPTIONS={options} ASAN_OPTIONS={options} "
            f"UBSAN_OPTIONS={options} ")
    found = node.run("cat /tmp/sanitizer*").out
    session.check.write(found)
    first = re.search(r"^.*(?:WARNING: ThreadSanitizer|ERROR: \w+Sanitizer|"
                      r"runtime error).*$", found, re.M)
    if first:
        raise StepFailed(f"{name}: {first.group(0)}")


def small_limits(session):
    """What VipQueryNic tells holds, where via_ka is loaded with less."""
    with small(session):
        result = session.run(session.lab.nodes[0], f"{CONFORM} -d via_lo -g "
                             f"limits --timeout-scale {session.slow}", 120,
                             status=None)
    judge(session, result, "via_lo with small limits")


def conform_wire(session, net, pattern=None, patience=1, levels=None):
    """Between two nodes over via_netdev, on the NIC of wire `net`."""
    only = f"-g '{pattern}' " if pattern else ""
    if levels:
        only += f"--levels {levels} "
    nic = session.nic_name(net)
    with serving(session, f"{CONFORM} -d via_eth{net} --server"):
        conform(session, f"-d via_eth{net} {only}{peer(net)}",
                f"{nic}, two machines", nic, two=True, patience=patience)


LOSSY = ("p2p*", "states.race*", "connect*", "accept*", "disconnect*")
# Groups that send the most of what an unreliable level may lose.
LOST_MESSAGES = ("send*,queue*,rdma.*,order*",)


def lossy(session, net, patterns, loss, **options):
    """These groups while the wire loses a part of the frames; again where it
    has lost few."""
    def once():
        for pattern in patterns:
            conform_wire(session, net, pattern, **options)
        lost = wire.stats()["lost"] - before
        session.check.write(f"the wire lost {lost} frames")
        return f"the wire lost {lost} frames only" \
            if lost < 20 * len(patterns) else None

    with session.bad_wire(net, loss=loss, seed=7) as wire:
        before = wire.stats()["lost"]
        again(session, once)


def lossy_connections(session, net, patterns):
    """Connecting and leaving, both ways, while a tenth of the frames is lost:
    the two ends always agree on what came of it."""
    lossy(session, net, patterns, 0.1, patience=4)


def lossy_unreliable(session, net, patterns):
    """A lost message is no error at Unreliable: all else still holds."""
    lossy(session, net, patterns, 0.02, patience=2, levels="unreliable")


# No file that could know the peer; the resolver looks into files only.
NO_FILES = ("mount --bind /dev/null /etc/hosts && "
            "mount --bind /dev/null /etc/vip_hosts && "
            "echo hosts: files >/tmp/nsswitch && "
            "mount --bind /tmp/nsswitch /etc/nsswitch.conf")


def names(session, net):
    """The peer is found by its name, with frames of ours alone.  Questions
    end after a fifth of a second, which a peer may be without a processor."""
    ping = f"{TOOLS}/viaping -d via_eth{net}"

    def find(name):
        result = session.run(
            session.lab.nodes[0], f"unshare -m sh -c '{NO_FILES} && "
            f"{ping} -c 1 {name}'", 60, status=None)
        return f"{name}: {result.all.strip()[-200:]}" if result.rc else None

    with serving(session, f"{ping} -l"):
        for name in ("node2", "NODE2.example.org"):
            again(session, lambda n=name: find(n))
