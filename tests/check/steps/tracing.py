# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tracepoints of the modules, docs/howto/tracing.md: each event and its fields, and
the scripts for bpftrace."""

import contextlib
import os
import re
import signal

from common import TOOLS, jobs, mac, peer, serving
from labkit.base import ROOT
from runner import StepFailed

TRACING = "/sys/kernel/tracing"
BPF = os.path.join(ROOT, "tools/bpf")
PINGS = 20
# What pings and a short transfer over this wire provoke: each kind of event.
WIRE = dict(loss=0.04, dup=0.3, seed=5)
HOST = r"mac={host} ip=::"
NUMBER = r"[1-9]\d*"
RULE = "(overtaken|probe|timeout)"
EVENTS = {
    "via_post": r"nic={nic} vi=\d+ queue=send index=\d+ op=send length=56 "
                r"segs=1 status=0x0$",
    "via_doorbell": r"nic={nic} vi=\d+ queue=send state=connected$",
    "via_complete": r"nic={nic} vi=\d+ queue=receive index=\d+ op=receive "
                    r"length=56 status=0x10000$",
    "via_connect": r"nic={nic} vi=\d+ attempt=\d+ role=client local=0 " +
                   HOST + "$",
    "via_verdict": r"nic={nic} vi=\d+ attempt=\d+ verdict=success$",
    "via_frame_sent": r"nic={nic} " + HOST + r" vi=\d+ type=SEND "
                      r"flags=0x\w+ seq=\d+ ack=\d+ len=96$",
    "via_frame_received": r"nic={nic} " + HOST + r" vi=\d+ type=SEND "
                          r"flags=0x\w+ seq=\d+ ack=\d+ len=96$",
    "via_retransmit": r"nic={nic} " + HOST + r" vi=\d+ seq=\d+ len=\d+ "
                      r"rule=" + RULE + r" timeouts=\d+ rto_us=" +
                      NUMBER + "$",
    # One that comes late, behind an answer of the host, is old.
    "via_drop": r"nic={nic} cause=drop_(duplicate|old)$",
    "via_window": r"nic={nic} " + HOST + f" before={NUMBER} cwnd={NUMBER} "
                  f"ssthresh={NUMBER} granted=\\d+ why=(grew|loss|undone)$",
}
# Of each script, its arguments, when it is ready, and what it says of that.
SCRIPTS = {
    "via-latency.bt": ("{nic}", "^Sends of VIs",
                       r"@us\[{nic}, \d+\]:.*@{{3,}}"),
    "via-retransmits.bt": ("", "^Frames that are sent again",
                           r"@frames\[{nic}, {HOST}, " + RULE + r"\]: "
                           + NUMBER),
    # Of 1 ms: under emulation each one is slow.
    "via-connects.bt": ("1", "^NIC",
                        r"{nic} +\d+ +\d+ +0 +\d+ +\d+\n.*@us\[{nic}\]:"),
}


def traffic(session, net):
    """Pings, and messages in a row, over a wire that loses some."""
    nic = f"via_eth{net}"
    node = session.lab.nodes[0]
    with session.bad_wire(net, **WIRE):
        with serving(session, f"{TOOLS}/viaping -l -d {nic}"):
            # Some may be lost.
            node.run(f"{TOOLS}/viaping -c {PINGS} -i 0.05 -d {nic} "
                     f"{peer(net)}", 60)
        with serving(session, f"{TOOLS}/vipl_bw -d {nic}", ends=True):
            session.run(node, f"{TOOLS}/vipl_bw -d {nic} -n 200 -s 8000 "
                        f"{peer(net)}", 100)


@contextlib.contextmanager
def tracing(node):
    node.sh(f"mountpoint -q {TRACING} || mount -t tracefs none {TRACING}; "
            f"echo 8192 >{TRACING}/buffer_size_kb; echo >{TRACING}/trace; "
            f"echo 1 >{TRACING}/events/via/enable")
    try:
        yield
    finally:
        node.sh(f"echo 0 >{TRACING}/events/via/enable; echo >{TRACING}/trace; "
                f"echo 64 >{TRACING}/buffer_size_kb")


def each_event(session, net):
    """Each one is seen with fields that fit, and none tells an address of
    memory."""
    node = session.lab.nodes[0]
    with tracing(node):
        traffic(session, net)
        node.sh(f"cat {TRACING}/trace >/tmp/via.trace")
    text = node.sh("cat /tmp/via.trace", 60).out
    seen = re.findall(r"^.*?: (via_\w+): (.*)$", text, re.M)
    listed = set(node.sh(f"ls {TRACING}/events/via").out.split())
    if listed - {"enable", "filter"} != set(EVENTS):
        raise StepFailed(f"events are {sorted(listed)}")
    if re.search("0x[0-9a-f]{9}|[(][a-z]*ptr|ffff[0-9a-f]{12}", text):
        raise StepFailed("an event tells an address")
    for name, fields in EVENTS.items():
        fields = fields.format(nic=f"via_eth{net}", host=peer(net))
        of = [said for found, said in seen if found == name]
        fits = [said for said in of if re.match(fields, said)]
        session.check.write(f"{name}: {len(of)}, {len(fits)} as wanted, "
                            f"{(fits or of or ['none'])[0]}")
        if not fits:
            raise StepFailed(f"no {name} with {fields}")
    posts = {re.search("vi=.*index=\\d+", said).group() for name, said in seen
             if name == "via_post" and "queue=send" in said}
    ends = {re.search("vi=.*index=\\d+", said).group() for name, said in seen
            if name == "via_complete" and "queue=send" in said}
    if not posts or not posts <= ends:
        raise StepFailed(f"taken and not complete: {sorted(posts - ends)}")


def scripts(session, net, names):
    """These at once, beside the same traffic."""
    node = session.lab.nodes[0]
    chosen = {name: SCRIPTS[name] for name in names}
    words = dict(nic=f"via_eth{net}", HOST=mac(net, 1).upper())
    with jobs(session) as running:
        for name, (argument, ready, _) in chosen.items():
            running.append(node.spawn(
                f"exec bpftrace {BPF}/{name} {argument.format(**words)}", 200))
        for job, (_, ready, _) in zip(running, chosen.values()):
            job.expect(ready, 100)
        traffic(session, net)
        for job in running:
            job.kill(signal.SIGINT)
        for job in running:
            job.wait(60)
    for job, (name, (_, _, wanted)) in zip(running, chosen.items()):
        wanted = wanted.format(**words)
        if job.rc or not re.search(wanted, job.out, re.S):
            raise StepFailed(f"{name}: status {job.rc}, no {wanted} in: "
                             f"{job.all.strip()[-400:]}")


def tracepoints(session, net, names=tuple(SCRIPTS)):
    """Events first, then what reads them."""
    each_event(session, net)
    scripts(session, net, names)
