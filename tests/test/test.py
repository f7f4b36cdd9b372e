#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every test that needs no virtual machine and no root; behind `make test`.

Runs two at a time; each has a log in build/test.  Ends with "N passed, N
failed" and a status of 1 when a test failed, of 2 when there is none of that
name or a package is missing without which there are none.
"""

import argparse
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import atonce  # noqa: E402
import junit  # noqa: E402
import listed  # noqa: E402

LOGS = os.path.join(listed.ROOT, "build/test")


def log_path(name):
    return os.path.join(LOGS, f"{atonce.slug(name)}.log")


def tell(outcome):
    """One line, and more of a failure."""
    word = "FAILED" if outcome.why else "skipped" if outcome.skipped else "ok"
    print(f"{word:8} {outcome.name:40} {outcome.seconds:5.1f} s"
          + (f"  {outcome.skipped}" if outcome.skipped else ""), flush=True)
    if outcome.why:
        for text in outcome.tail():
            print(f"    | {text}")
        print(f"    {outcome.why}\n    log: {outcome.log}", flush=True)


def listing(tests):
    for test in tests:
        lost = listed.missing(test.packages)
        print(test.name + (f"  (needs {' '.join(lost)})" if lost else ""))
    return 0


def run(tests):
    """Build, run, sum up; the exit status."""
    lost = listed.missing(listed.ALWAYS)
    if lost:
        print(f"make test: packages are missing; as root: apt-get install "
              f"{' '.join(lost)}", file=sys.stderr)
        return 2
    atonce.empty(LOGS)
    begin, runner = time.monotonic(), atonce.Runner()
    made = runner.build(tests, log_path("build"))
    outcomes = [made] if made else []
    if made:
        tell(made)
    for outcome in runner.all(tests, lambda t: log_path(t.name),
                              not (made and made.why)):
        outcomes.append(outcome)
        tell(outcome)
    junit.write(os.path.join(LOGS, "junit.xml"), "test", outcomes)
    failed = [o for o in outcomes if o.why]
    skipped = sum(bool(o.skipped) for o in outcomes)
    print()
    for outcome in failed:
        print(f"FAILED {outcome.name}: {outcome.why}\n"
              f"       log: {outcome.log}")
    seconds = time.monotonic() - begin
    print(f"{len(outcomes)} test{'s' * (len(outcomes) != 1)}"
          f"{', the build included,' if made else ''} in {seconds:.0f} s"
          f"{f', {skipped} skipped' if skipped else ''}, logs in {LOGS}")
    passed = len(outcomes) - len(failed) - skipped
    print(f"{passed} passed, {len(failed)} failed", flush=True)
    return 1 if failed or not passed else 0


def main():
    # A shell's background job has it ignored, and so would what tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", metavar="WORD",
                        help="only tests whose name contains this or matches "
                        "it as a shell pattern; list or ?: their names")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        tests = listed.tests()
        if args.word in ("list", "?"):
            return listing(tests)
        return run(listed.matching(tests, args.word) if args.word else
                   listed.quick(tests))
    except listed.Wrong as why:
        print(f"make test: {why}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("make test: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
