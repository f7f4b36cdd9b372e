#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Each scenario that build/viasim has is a test, and no other."""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
import listed  # noqa: E402


def main():
    said = subprocess.run([os.path.join(listed.ROOT, "build/viasim"), "--list"],
                          check=True, text=True, capture_output=True).stdout
    there = {line.split()[0] for line in said.splitlines() if line.strip()}
    tried = {test.name.split()[1] for test in listed.sims()}
    for name in sorted(there ^ tried):
        print(f"{name}: {'no test of it' if name in there else 'no such scenario'}")
    print(f"{len(there)} scenarios, {len(tried)} tests of scenarios")
    return bool(there ^ tried) or not there


if __name__ == "__main__":
    sys.exit(main())
