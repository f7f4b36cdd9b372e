#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every test of the project, step by step; behind `make check`.

Ends with "N passed, N failed" and a status of 1 when a step failed; each step
has a log in build/check.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools/lab")]

import plan  # noqa: E402
from labkit.base import BUILD  # noqa: E402
from runner import Check  # noqa: E402


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true",
                        help="every NIC, level and kernel (make check-full)")
    parser.add_argument("-k", dest="patterns", metavar="PATTERN",
                        action="append", default=[],
                        help="only steps whose name contains this or matches "
                        "it as a shell pattern (again for more)")
    parser.add_argument("--list", action="store_true",
                        help="list the steps, run nothing")
    args = parser.parse_args()
    check = Check(args.patterns, args.list,
                  os.path.join(BUILD, "conformance") if args.full else None)
    (plan.full if args.full else plan.short)(check)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
