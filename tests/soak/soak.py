#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Under fire for hours: hostile programs, hostile wires, dying machines.

Each step is named, timed and logged (build/soak); what has passed is not done
again when it is started again on the same tree.  At the end there is a report.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOAK = os.path.join(ROOT, "build/soak")
os.environ.setdefault("CHECK_LOGS", SOAK)
sys.path[:0] = [HERE, os.path.join(ROOT, "tests/check"),
                os.path.join(ROOT, "tools/lab")]

import parts  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402

STATE = os.path.join(SOAK, "state.json")
# What a change of means another run: not the documents, and not the list of
# steps, to which some may be added.  For a step that passed with an amount
# that its name does not tell, --fresh is for changes of that.
SOURCES = ("Kbuild", "devices", "include", "kernel", "tests", "tools", "vipl",
           ":!tests/soak")


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


class Soak(runner.Check):
    """A check that remembers what has passed, and what each step did."""

    def __init__(self, state, patterns, listing):
        super().__init__(patterns, listing)
        self.state = state
        self.counts = {}

    def wanted(self, name):
        """What has not passed; and a session's end, if one is begun again."""
        return super().wanted(name) and (
            name.partition(": ")[2] in report.ENDINGS or
            not self.state["steps"].get(name, {}).get("passed"))

    def step(self, name, function, *args):
        if self.listing or not self.wanted(name):
            return super().step(name, function, *args)
        begin, before = time.time(), self.skipped
        self.counts = {}
        passed = super().step(name, function, *args)
        # A boot and its end are done again in any case.
        if name.endswith(": boot") and passed:
            return passed
        if self.skipped == before:
            why = "" if passed else self.failures[-1][1]
            self.state["steps"][name] = {
                "passed": passed, "why": why, "begin": int(begin),
                "seconds": round(time.time() - begin, 1),
                "counts": self.counts}
            save(self.state)
        return passed


def save(state):
    with open(STATE + ".new", "w") as file:
        json.dump(state, file, indent=1)
    os.rename(STATE + ".new", STATE)


def load(fresh, share, seed, say=print):
    """Of the run that is to go on, or a new one."""
    now = tree()
    try:
        with open(STATE) as file:
            state = json.load(file)
    except (OSError, ValueError):
        state = None
    if state and not fresh and state["tree"]["sources"] == now["sources"] \
            and state["share"] == share and seed in (None, state["seed"]):
        # What has failed is done again, where it still is to be done.
        state["steps"] = {name: step for name, step in state["steps"].items()
                          if step["passed"]}
        say(f"soak: going on, seed {state['seed']}; {len(state['steps'])} "
            "steps have passed (--fresh begins anew)")
        return state
    if seed is None:
        seed = random.getrandbits(32)
    say(f"soak: commit {now['commit']}, seed {seed}, {share:g} of the "
        f"amounts; state and logs in {SOAK}")
    return {"tree": now, "share": share, "seed": seed, "steps": {},
            "began": int(time.time())}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1,
                        help="of the amounts that are asked for (1)")
    parser.add_argument("--seed", type=int, help="of all dice, to replay")
    parser.add_argument("--fresh", action="store_true",
                        help="begin anew, whatever has passed")
    parser.add_argument("-k", dest="patterns", metavar="PATTERN",
                        action="append", default=[],
                        help="only steps whose name contains or matches this")
    parser.add_argument("--list", action="store_true",
                        help="list the steps, run nothing")
    parser.add_argument("--report", metavar="FILE",
                        default=os.path.join(SOAK, "report.md"),
                        help="where the report goes (build/soak/report.md)")
    args = parser.parse_args()
    os.makedirs(SOAK, exist_ok=True)
    state = load(args.fresh, args.share, args.seed,
                 (lambda _: None) if args.list else print)
    soak = Soak(state, args.patterns, args.list)
    status = 1
    try:
        parts.run(soak, args.share, state["seed"])
        status = soak.finish()
    finally:
        if not args.list:
            report.write(state, args.report)
            print(f"soak: the report is in {args.report}")
    return status


if __name__ == "__main__":
    sys.exit(main())
