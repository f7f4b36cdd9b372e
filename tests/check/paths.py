# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Where the modules of the runners are."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
FOLDERS = ("tests/check/run", "tests/check/steps", "tools/lab", "tests/test",
           "tests/mutation", "tests/system")


def find():
    """Each of them by its name."""
    for folder in FOLDERS:
        path = os.path.join(ROOT, folder)
        if path not in sys.path:
            sys.path.append(path)
