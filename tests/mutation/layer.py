# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a mutant is, and how the tables (*.txt) say it.

    credit-leaks devices/ether/proto/credit.c guest unit credit [share]: credit of a
        VI that ends is lost to the others
    defect: 4c76465: what was mended
    	drop_credit(p, c, c->mine{+ / 2+}); if (!p

A name, a file, who sees it, and why a user would care.  A line that begins with a
blank continues the one before.

A line that begins with a tab is a piece of the file with the change marked as
`git diff --word-diff` marks it: [-this goes-]{+this comes+}.  A blank stands for
any white space, also for the end of a line; a line of which nothing is left goes.
Whole lines may be a patch, with - and + before them:

    -	while (n--)
    +	n -= n > 1;
    +	while (n--)

A mutant may have several changes.  The old text of each must be in the file exactly
once: give more of the text around it until it is.

Behind the file: "lo" is viaconform on via_lo, "wire" viaconform between two nodes,
"unit" a program of build/unit, "regress" viatest regress, "fault" viatest fault,
"verbs" verbsconform on the verbs device of a NIC, "roce" on one without rdma_cm,
"sim" the simulator alone.  Then the groups (the unit program, the mode of viatest
regress) that should find it, a guess for mutants without "guest": make check-full
plants those with it, in a guest or below a unit test.  In brackets the conditions
under which it shows: keys of SIM, in any order.

"defect" is the defect of old that the mutant brings back, and where that is written.
"""

import os
import re
from collections import namedtuple

# An edit is a line with marks, or (old, new) of whole lines.
Mutant = namedtuple("Mutant", "name path on first why edits guest defect sim")
HERE = os.path.dirname(os.path.realpath(__file__))
VERBS = ("verbs", "roce")
PLANTED = ("lo", "wire", *VERBS, "unit")
WHERE = (*PLANTED, "regress", "fault", "sim")
HEAD = re.compile(r"([\w-]+) (\S+/\S+\.[ch]) (guest )?(\w+)((?: [\w.]+)*)"
                  r"(?: \[([a-z0-9 ]+)\])?: (.+)")
MARK = re.compile(r"\[-(.+?)-\]|\{\+(.+?)\+\}")

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


def lines(path):
    """Those of a table, each with its number and with what goes on in others."""
    whole = []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith(" ") and whole:
                whole[-1][1] += " " + line.strip()
            elif line and not line.startswith("#"):
                whole.append([number, line])
    return whole


def mutant(line):
    """That of a first line, without its edits."""
    said = HEAD.fullmatch(line)
    if not said:
        raise ValueError("no first line of a mutant")
    name, path, guest, on, first, sim, why = said.groups()
    sim = tuple((sim or "").split())
    if on not in WHERE or set(sim) - set(SIM):
        raise ValueError(f"no such finder, or no such need: {on}, {sim}")
    if guest and on not in PLANTED:
        raise ValueError("no guest notices it")
    return Mutant(name, path, on, tuple(first.split()), why, [], bool(guest),
                  "", sim)


def table(name):
    """The mutants of one layer."""
    path = os.path.join(HERE, name + ".txt")
    found, before = [], ""
    for number, line in lines(path):
        try:
            edits = found[-1].edits if found else None
            if line.startswith("defect: "):
                found[-1] = found[-1]._replace(defect=line[8:])
            elif line[0] == "\t":
                edits.append(line[1:])
                if not MARK.search(line):
                    raise ValueError("no change is marked")
            elif line[0] == "-" and before == "-":
                edits[-1] = (edits[-1][0] + line[1:] + "\n", "")
            elif line[0] == "-":
                edits.append((line[1:] + "\n", ""))
            elif line[0] == "+":
                edits[-1] = (edits[-1][0], edits[-1][1] + line[1:] + "\n")
            else:
                found.append(mutant(line))
            before = line[0]
        except (ValueError, AttributeError, IndexError, TypeError) as why:
            raise ValueError(f"{path}:{number}: {why}: {line}") from why
    for m in found:
        if not m.edits:
            raise ValueError(f"{path}: {m.name} changes nothing")
    return found


def matched(text):
    """A pattern of it, in which a blank is any white space."""
    return "(" + r"\s+".join(map(re.escape, text.split(" "))) + ")"


def marked(edit):
    """Of a line with marks: the pattern of what stands in the file, and what to
    put in the place of each of its groups, \\0 where something goes."""
    find, put, at = [], [], 0
    for mark in [*MARK.finditer(edit), None]:
        kept = edit[at:mark.start() if mark else None]
        if kept:
            find.append(matched(kept))
            put.append(rf"\g<{len(find)}>")
        if mark and mark.group(1):
            find.append(matched(mark.group(1)))
            put.append("\0")
        elif mark:
            put.append(mark.group(2).replace("\\", r"\\"))
        at = mark and mark.end()
    return re.compile("".join(find)), "".join(put)


def change(text, edit):
    """A file's text with an edit, and how many places there were for it."""
    if isinstance(edit, tuple):
        return text.replace(*edit), text.count(edit[0])
    find, put = marked(edit)
    text, places = find.subn(put, text)
    text = re.sub(r"(?m)^[ \t]*(?:\0[ \t]*)+\n", "", text)
    return text.replace("\0", ""), places
