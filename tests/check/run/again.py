# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measurements that other work of the host, or a wire's dice, may spoil: what
is really wrong is wrong each time that it is looked at."""

from runner import StepFailed

TRIES = 5


def again(session, measure, tries=TRIES):
    """measure() tells what is amiss, or None; the first None is enough."""
    for number in range(tries):
        why = measure()
        if not why:
            if number:
                session.check.note(f"measured {number + 1} times")
            return
        session.check.write(f"{number + 1} of {tries}: {why}")
    raise StepFailed(f"{tries} times of {tries}, at last: {why}")
