# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""via selftest, and ethtool -t, on cards of QEMU."""

import json

from common import TOOLS, peer, serving
from labkit.base import VIA
from registers import beside
from runner import StepFailed

# What a model does not have, and the test tells: this e1000 does not delay
# interrupts (its option "mitigation" is off), that i82559er has no loopback,
# without which nothing else can be tested.
LACKS = {
    "e1000": {"coalescing"},
    "i82559er": {"loopback", "rings_wrap", "transmit_ring_full",
                 "receive_ring_full", "interrupt"},
}
CARD = ("link", "dma_addresses", "loopback", "rings_wrap",
        "transmit_ring_full", "receive_ring_full", "interrupt")


def report(session, node, arguments, lacks):
    """It says of each test what it should, and so does its status."""
    result = node.run(f"{VIA} -j selftest {arguments}", 120 * session.slow)
    session.check.write(result.all)
    try:
        said, = json.loads(result.out)
    except ValueError:
        raise StepFailed(f"no report: {result.all}")
    bad = {k for k, v in said.items()
           if isinstance(v, str) and v.startswith(("failed", "not run"))}
    if bad != lacks:
        raise StepFailed(f"of {arguments} failed: {sorted(bad)}, and that "
                         f"should be {sorted(lacks)}")
    missing = set(CARD) - set(said)
    if missing:
        raise StepFailed(f"not tested: {sorted(missing)}")
    if result.rc != bool(lacks) or said["failed"] + said["not_run"] != \
            len(bad):
        raise StepFailed(f"status {result.rc}, and {said['failed']} failed")
    return said


def cards(session):
    """The session's card, with VIA and a peer; with the cable out; down."""
    one = session.lab.nodes[0]
    model = session.lab.nics[0].split(",")[0]
    lacks = LACKS.get(model, set())
    with serving(session, f"{TOOLS}/viaping -l -d via_eth0", ready=None,
                 ends=True):
        said = report(session, one, f"eth0 {peer(0)}", lacks)
    if said["driver"] != session.driver or \
            not any(k.startswith("via_to") for k in said):
        raise StepFailed(f"the report lacks what it is of: {said}")
    session.carrier()
    if model == "e1000":
        one.monitor("set_link nic0 off")
        session.wait_until(one, "grep -q 0 /sys/class/net/eth0/carrier",
                           "eth0 has not noticed")
        wrong = one.run("ethtool -t eth0 online")
        one.monitor("set_link nic0 on")
        if "FAIL" not in wrong.out:
            raise StepFailed(f"a cable that is out is not told: {wrong.all}")
        session.carrier()
        with beside(session, one, "e1000e") as name:
            report(session, one, name, set())
    one.sh("ip link set eth0 down")
    report(session, one, "eth0", lacks | {"link"})
    one.sh("ip link set eth0 up")
    session.carrier()
    session.run(one, "busybox ping -c 2 10.0.0.2")
