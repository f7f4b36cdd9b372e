#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Does dsmcheck notice a protocol that is broken?

Each mutant is one edit of dsm/, named by the invariant of dsm/node.h that it
breaks, or of dsm/lead.h where its name begins with "lead".  dsmcheck is built
of it, and must name a seed that shows it, within seconds; neither a crash nor
a run without end counts.  The protocol as it is must pass.

    mutants.py [WORD]    those with WORD in their reason
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
CHECK = ("check.c", "model.c", "progress.c", "sim.c")
RUNS = "500"
SECONDS = 600    # of a loaded host; half a minute at most, else

# file of dsm/, what stands there once, what is put in its place, why it is wrong
MUTANTS = (
    ("interval.c", "if (n->unacked)", "if (0)",
     "(1) notices before the differences are in place"),
    ("batch.c", "	n->unacked++;\n", "	n->unacked = n->unacked;\n",
     "(1) an acknowledgement that nobody waits for"),
    ("notes.c", "		words_add(&n->log[w[0]], w, record_len(w));\n", "",
     "(2) intervals of others that are not passed on"),
    ("notes.c", "	clock_join(n->vc, vc);\n	batch_send", "	batch_send",
     "(2) a clock that stays behind: notices come again"),
    ("notes.c", "	n->vc[n->me]++;\n", "",
     "(2) two intervals with one number"),
    ("notes.c", "if (w[1] <= v[j])", "if (w[1] <= v[j] + 1)",
     "(2) the first interval that is lacking is not sent"),
    ("notes.c", "if (k != n->me && n->known[k][j] < least)", "if (0)",
     "(3) the log forgets what others do not know"),
    ("lock.c", "	notes_send(n, to, v, &last, NULL);\n",
     "	notes_send(n, to, v, &last, NULL);\n	clock_join(n->known[to], n->vc);\n"
     "	clock_join(n->known[(to + 1) % n->size], n->vc);\n",
     "(3) what was told to one counts as known by another"),
    ("page.c", "	__atomic_store_n(&t->flag[page], 1, __ATOMIC_SEQ_CST);\n", "",
     "(4) the home does not see that there is a copy"),
    ("page.c", "		t->noticed[t->noticed_count++] = page;\n		run_add(n, &run, page);\n",
     "		t->noticed[t->noticed_count++] = page;\n",
     "(4) the home's later writes do not fault"),
    ("page.c", "			run_add(n, &run, t->dirty[i]);\n	run_end(n, &run);\n",
     "			;\n", "(5) a view stays open behind the interval"),
    ("diff.c", "mem[end] != twin[end])", "end - at < 8)",
     "(6) differences with bytes that did not change"),
    ("diff.c", "if (over < 16 && len < 16) {", "if (over < 17 && len < 16) {",
     "(6) changes that are put 16 bytes from their place"),
    ("diff.c", "			at += runs[i];\n", "", "(6) changes behind many unchanged bytes"),
    ("page.c", "t->bits[page] |= PAGE_AGAIN;", "t->bits[page] |= 0;",
     "(7) bytes older than a notice"),
    ("page.c", "page < t->used && t->state[page] == PAGE_INVALID", "page < t->used",
     "a page ahead is asked for whatever its state is"),
    ("page.c", "if (t->state[page] == PAGE_DIRTY && batch_add(n, page))",
     "if (0)", "(6) a page's own changes are lost with an invalidation"),
    ("page.c", "			t->bits[page] |= PAGE_SENT;\n		if (t->state[page] == PAGE_DIRTY ||",
     "			t->bits[page] |= 0;\n		if (t->state[page] == PAGE_DIRTY ||",
     "(1) differences without a notice"),
    ("page.c", "if (n->ops->fetch && n->unacked)", "if (0)",
     "a page is read before this node's differences are in it"),
    ("lock.c", "if (!interval_close(n, step))", "if (*step < 0)",
     "(8) a lock is passed before the interval ends"),
    ("lock.c", "if (l->token && !l->held && !l->wanted)", "if (l->token)",
     "(8) a lock that is held is passed"),
    ("lock.c", "	l->tail = who;\n", "", "(8) the queue has two ends"),
    ("barrier.c", "	while (b->round < rounds(n)) {",
     "	while (b->round + 1 < rounds(n)) {", "a barrier of fewer rounds"),
    ("barrier.c", "	notes_apply(n, in->notes.word, notes, in->vc);\n", "",
     "(9) notices of a barrier that are not applied"),
    ("barrier.c", "	memcpy(b->before, b->join, sizeof(b->before));\n",
     "	clock_join(b->before, b->join);\n	b->before[n->me] += 1;\n",
     "(3) a barrier's clock that is ahead"),
    ("lead.c", "	if (l->owner == LEAD_THREAD)\n		return false;\n",
     "	if (l->owner == LEAD_THREAD)\n		return true;\n",
     "lead (1) a thread takes the NIC from another"),
    ("lead.c", "	l->wanted = false;\n	l->owner = LEAD_NOBODY;\n",
     "	l->wanted = false;\n",
     "lead (3) the server stays in the NIC that a thread wants"),
    ("lead.c", "	atomic_fetch_add(&l->call, 1);\n", "",
     "lead (2) the owner is called before it sleeps, and sleeps"),
    ("lead.c", "	l->called = true;\n", "",
     "lead (2) the owner is called, and sleeps on"),
    ("lead.c", "	atomic_store(&l->asleep, true);\n", "",
     "lead (2) nobody sees that the owner sleeps"),
    ("lead.c", "	l->wanted = true;\n	call_owner(l);\n", "	l->wanted = true;\n",
     "lead (2) a thread wants the NIC and does not call"),
    ("lead.c", "return l->owner == LEAD_NOBODY && l->waiters;", "return false;",
     "lead (3) threads that wait are left alone"),
    ("lead.c", "!l->waiters && l->parked; /* (4) */", "0;",
     "lead (4) the server is not rung"),
    ("lead.c", "	if (now - l->watched_at < LEAD_WATCH_NS)\n",
     "	l->parked = false;\n	if (now - l->watched_at < LEAD_WATCH_NS)\n",
     "lead (4) who rings does not know that the server sleeps"),
    ("lead.c", "*rest = l->parked ? LEAD_WATCH_NS : LEAD_QUICK_NS;",
     "*rest = LEAD_WATCH_NS;", "lead (5) the server sleeps beside a thread that polls"),
    ("lead.c", "	if (l->owner == LEAD_THREAD)\n		call_owner(l);\n", "",
     "lead (6) a change by another thread"),
    ("lead.c", "	return LEAD_STAND_IN;\n", "	return LEAD_REST;\n",
     "lead (7) nobody stands in for an owner in a handler"),
    ("lead.c", "	if (l->watched != l->beats)\n", "	if (now)\n",
     "lead (7) an owner in a handler looks as if it came"),
)


def sources():
    with open(os.path.join(ROOT, "dsm/Makefile.inc"), encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    core = re.search(r"^DSM_SRC := .*(dsm/node\.c.*)$", text, re.M)[1]
    return core.split() + [f"tests/dsm/{c}" for c in CHECK]


def compile_one(source, place, out):
    """The object of a source, which stands in `place`."""
    target = os.path.join(out, os.path.basename(source)[:-2] + ".o")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-w", "-c", "-o",
                    target, os.path.join(place, source)], check=True)
    return target


def found(mutant, objects):
    """(None or what is wrong, what dsmcheck said)"""
    with tempfile.TemporaryDirectory() as there:
        objects = dict(objects)
        if mutant:
            source = "dsm/" + mutant[0]
            subprocess.run(["cp", "-r", "--parents", "dsm", there], cwd=ROOT, check=True)
            path = os.path.join(there, source)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if text.count(mutant[1]) != 1:
                return "the passage is not there once", ""
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(mutant[1], mutant[2]))
            objects[source] = compile_one(source, there, there)
        check = os.path.join(there, "dsmcheck")
        subprocess.run([os.environ.get("CC", "cc"), "-o", check, *objects.values()],
                       check=True)
        try:
            done = subprocess.run([check, "-n", RUNS], timeout=SECONDS, text=True,
                                  errors="replace", stdout=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return "takes for ever", ""
    said = done.stdout.split("\n")[0]
    if not mutant:
        return (None if done.returncode == 0 else "fails"), said
    if done.returncode == 1 and re.match(r"seed \d+: ", said):
        return None, said
    return "not found", f"status {done.returncode}: {said}"


def main(words):
    chosen = [m for m in MUTANTS if not words or words[0] in m[3]]
    bad = 0
    with tempfile.TemporaryDirectory() as out, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = {s: compile_one(s, ROOT, out) for s in sources()}
        for mutant, (wrong, said) in zip(
                [None] + chosen,
                pool.map(lambda m: found(m, objects), [None] + chosen)):
            bad += bool(wrong)
            print(f"{mutant[3] if mutant else 'the protocol as it is'}: "
                  f"{wrong + ': ' if wrong else ''}{said}")
    print(f"{len(chosen) + 1 - bad} as expected, {bad} not")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
