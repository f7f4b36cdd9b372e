#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Under fire for hours: hostile programs, hostile wires, dying machines.

Each step is named, timed and logged (build/soak); what has passed is not done
again when it is started again on the same tree.  At the end there is a report.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
SOAK = os.path.join(ROOT, "build/soak")
os.environ.setdefault("CHECK_LOGS", SOAK)
sys.path.append(os.path.join(ROOT, "tests/check"))

import paths  # noqa: E402

paths.find()

import memory  # noqa: E402
import plan  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402
from runner import Check  # noqa: E402


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
    past = memory.Memory(os.path.join(SOAK, "state.json"), args.fresh,
                         args.share, args.seed,
                         (lambda _: None) if args.list else print)
    soak = Check(args.patterns, args.list, memory=past)
    status = 1
    try:
        rows.run(soak, plan.BOOTS, plan.ROWS, "soak",
                 rows.Soak(args.share, past.seed))
        status = soak.finish()
    finally:
        if not args.list:
            report.write(past.state, args.report)
            print(f"soak: the report is in {args.report}")
    return status


if __name__ == "__main__":
    sys.exit(main())
