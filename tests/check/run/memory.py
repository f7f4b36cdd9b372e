# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a soak remembers: which steps have passed, and what each did."""

import hashlib
import json
import os
import random
import subprocess
import time

from labkit.base import ROOT

# What a change of means another run: not the documents, and not the list of
# steps, to which some may be added.  For a step that passed with an amount
# that its name does not tell, --fresh is for changes of that.
SOURCES = ("Kbuild", "core", "devices", "include", "kernel", "providers",
           "tests", "tools", "verbs", "vipl", ":!tests/soak", ":!tests/check/plan.py")
ENDINGS = ("no page stays pinned", "idle modules unload", "nothing leaked")


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def tree():
    """What is tested: the commit, and a digest of the sources."""
    changed = git("diff", "HEAD", "--", *SOURCES)
    sources = git("ls-files", "--stage", "--", *SOURCES) + changed
    return {"commit": git("rev-parse", "--short", "HEAD").strip() +
            ("+" if changed else ""),
            "sources": hashlib.sha256(sources.encode()).hexdigest()[:16]}


class Memory:
    """Of the run that is to go on, or of a new one; in a file."""

    def __init__(self, path, fresh, share, seed, say=print):
        self.path, now = path, tree()
        try:
            with open(path) as file:
                state = json.load(file)
        except (OSError, ValueError):
            state = None
        if state and not fresh and state["tree"]["sources"] == now["sources"] \
                and state["share"] == share and seed in (None, state["seed"]):
            # What has failed is done again, where it still is to be done.
            state["steps"] = {name: step for name, step in
                              state["steps"].items() if step["passed"]}
            say(f"soak: going on, seed {state['seed']}; {len(state['steps'])} "
                "steps have passed (--fresh begins anew)")
        else:
            seed = random.getrandbits(32) if seed is None else seed
            say(f"soak: commit {now['commit']}, seed {seed}, {share:g} of the "
                f"amounts; state and logs in {os.path.dirname(path)}")
            state = {"tree": now, "share": share, "seed": seed, "steps": {},
                     "began": int(time.time())}
        self.state, self.seed = state, state["seed"]

    def has(self, name):
        """Whether it has passed; a session's end is that of each boot."""
        return name.partition(": ")[2] not in ENDINGS and \
            self.state["steps"].get(name, {}).get("passed", False)

    def keep(self, outcome, counts):
        """But of what was skipped, and of boots, which are done again in any
        case, only the failures."""
        if outcome.skipped or \
                outcome.name.endswith(": boot") and not outcome.why:
            return
        self.state["steps"][outcome.name] = {
            "passed": not outcome.why, "why": outcome.why or "",
            "seconds": round(outcome.seconds, 1), "counts": counts}
        with open(self.path + ".new", "w") as file:
            json.dump(self.state, file, indent=1)
        os.rename(self.path + ".new", self.path)
