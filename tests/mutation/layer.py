# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a mutant is.

`name` names it, `path` is its file, `edits` are (old, new) texts of which each
old one stands in that file exactly once, `why` says why a user would care.

`on` is where a test sees it: "lo" is viaconform on via_lo, "wire" viaconform
between two nodes, "unit" a program of build/unit, "regress" viatest regress, "fault"
viatest fault, "verbs" verbsconform on the verbs device of a NIC, "roce" on one
without rdma_cm, "sim" only what has the agent and the class in its hands.  `first` names
the groups (the unit program, the mode of viatest regress) that should see it, and is a
guess where `guest` is not set.

`guest`: make check-full plants it, in a guest or below a unit test.
`defect`: the defect of old that it brings back, and where that is written.
`sim`: what has to happen for it to show, of SIM, in any order.
"""

from collections import namedtuple

Mutant = namedtuple("Mutant", "name path on first why edits guest defect sim")
VERBS = ("verbs", "roce")
PLANTED = ("lo", "wire", *VERBS, "unit")
WHERE = (*PLANTED, "regress", "fault", "sim")

SIM = {
    "alloc": "an allocation fails",
    "backlog": "more is posted than the window or the NIC takes",
    "beside": "two threads, or a thread and a frame, meet at one moment",
    "corrupt": "bits of a frame flip",
    "dup": "frames come twice",
    "end": "a handle, a VI or a connection ends in the middle of it",
    "frags": "frames come in several pieces, or go as fragments",
    "gone": "the NIC is unregistered",
    "hostile": "a program or a peer does what none of ours would",
    "jump": "no CPU runs for a while",
    "ledger": "what is left is counted at the end",
    "kernel": "a consumer in the kernel owns VIs",
    "large": "more frames are in flight than a VI has room for",
    "loss": "frames are lost",
    "many": "a limit is reached",
    "mark": "the network marks frames",
    "memory": "an access of the kernel's to freed or foreign memory is seen",
    "order": "stores of one CPU are seen late by another",
    "p2p": "VIs look for one another, peer to peer",
    "poll": "the NIC can be polled",
    "reorder": "frames overtake one another",
    "rights": "several users, or user namespaces",
    "share": "VIs to one peer wait for one another",
    "signal": "a signal ends a wait",
    "time": "time passes",
    "train": "frames of a message are sent as one",
}


class Layer(list):
    """The mutants of one layer."""

    def guest(self, name, path, on, first, why, *edits, **more):
        """One that has been seen to be noticed."""
        self.plant(name, path, on, first, why, *edits, guest=True, **more)

    def plant(self, name, path, on, first, why, *edits, guest=False,
              defect="", sim=""):
        if on not in WHERE or set(sim.split()) - set(SIM):
            raise ValueError(f"mutant {name}: {on}, {sim}")
        if guest and on not in PLANTED:
            raise ValueError(f"mutant {name}: no guest notices it")
        self.append(Mutant(name, path, on, tuple(first.split()), why, edits,
                           guest, defect, tuple(sim.split())))
