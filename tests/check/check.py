#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every test of the project, step by step; behind `make check`.

Ends with "N passed, N failed" and a status of 1 when a step failed, of 2 when
--only names none; each step has a log in build/check.
"""

import argparse
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import paths  # noqa: E402

paths.find()

import choose  # noqa: E402
import cpu  # noqa: E402
import junit  # noqa: E402
import plan  # noqa: E402
import rows  # noqa: E402
from labkit.base import BUILD, LabError  # noqa: E402
from runner import BAR, LOGS, Check  # noqa: E402


LANES = 2  # sessions at once: two cores have work, and no more than that


def steps(name, check):
    rows.run(check, plan.BOOTS, plan.ROWS, name,
             width=1 if check.listing else LANES)


def listed(name, patterns=()):
    """A check that has listed all steps of a plan."""
    check = Check(patterns, listing=True)
    with choose.no_kernels():
        steps(name, check)
    return check


def only(name, wanted):
    """The names of the steps that these words mean, and of what they need."""
    check = listed(name)
    found = [n for words in wanted for n in choose.chosen(check.names, words)]
    return choose.with_needs(check.names, found, check.needs)


def options():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", dest="plan", action="store_const",
                        const="full", default="check",
                        help="every NIC, level and kernel (make check-full)")
    parser.add_argument("--only", metavar="STEP", action="append", default=[],
                        help="one step, by its name or its first words, or by "
                        "those after the colon on kernel 6.1; a session, by "
                        "what is before the colon (make check K=STEP)")
    parser.add_argument("-k", dest="patterns", metavar="PATTERN",
                        action="append", default=[],
                        help="only steps whose name contains this or matches "
                        "it as a shell pattern (again for more)")
    parser.add_argument("--list", action="store_true",
                        help="list the steps, run nothing")
    parser.add_argument("--minutes", action="store_true",
                        help="with --list: what each took in the last run")
    return parser.parse_args()


def show(names, minutes):
    took = junit.seconds(os.path.join(LOGS, "junit.xml")) if minutes else {}
    for name in names:
        seconds = took.get(junit.parts(name))
        print((f"{seconds / 60:5.1f}  " if seconds is not None else
               "    -  ") * minutes + name)


def run(args, chosen):
    """The steps; the exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    everything = args.plan == "check" and not args.patterns and not chosen
    check = Check(args.patterns, only=chosen, results=os.path.join(
        BUILD, "conformance") if args.plan == "full" else None,
        bar=BAR if everything else None)
    check.top = os.getppid()
    try:
        steps(args.plan, check)
    except LabError as why:
        print(f"make check: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nmake check: interrupted; so far:", file=sys.stderr)
        check.finish()
        return 130
    return check.finish()


def main():
    # A shell's background job has it ignored, and so would what tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    args = options()
    try:
        chosen = only(args.plan, args.only) if args.only else None
    except choose.Unclear as why:
        print(f"make check: {why}", file=sys.stderr)
        return 2
    if args.list:
        show([name for name in listed(args.plan, args.patterns).names
              if chosen is None or name in chosen], args.minutes)
        return 0
    return cpu.whole(lambda: run(args, chosen))


if __name__ == "__main__":
    sys.exit(main())
