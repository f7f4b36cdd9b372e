# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The report of a soak: what was thrown, how many, what came out."""

import time

from memory import ENDINGS

# Counts that are operations, and those that are injected faults.
OPERATIONS = ("calls", "messages", "connects", "regions", "registrations",
              "vis", "processes", "rounds")
FAULTS = ("frames", "allocations", "kills", "meddled", "resets", "unbinds",
          "links deleted", "namespaces deleted", "moves", "loads", "stops",
          "flipped", "lost", "changes", "suspends", "kills by memory")


def amount(value):
    return f"{value:,}" if isinstance(value, int) else \
        f"{value:,.1f}" if isinstance(value, float) else str(value)


def total(steps, names):
    return {name: sum(s["counts"].get(name, 0) for s in steps)
            for name in names
            if any(name in s["counts"] for s in steps)}


def listed(counts):
    return ", ".join(f"{amount(v)} {k}" for k, v in counts.items()) or "none"


def write(state, path):
    steps = state["steps"]
    failed = {n: s for n, s in steps.items() if not s["passed"]}
    seconds = sum(s["seconds"] for s in steps.values())
    lines = [
        "# Report of a soak", "",
        f"`make soak` on commit {state['tree']['commit']}, begun "
        f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime(state['began']))} UTC, "
        f"{seconds / 60:.0f} minutes of steps; seed {state['seed']}, "
        f"{state['share']:g} of the amounts.", "",
        f"- {len(steps)} steps, {len(steps) - len(failed)} passed, "
        f"{len(failed)} failed",
        f"- done: {listed(total(steps.values(), OPERATIONS))}",
        f"- injected: {listed(total(steps.values(), FAULTS))}", ""]
    for name, step in failed.items():
        lines += [f"**Failed**: {name}: {step['why']}", ""]
    session = None
    for name, step in steps.items():
        head, _, what = name.partition(": ")
        if head != session:
            session = head
            lines += ["", f"## {head}", "",
                      "| step | what was done | s | |", "|---|---|---|---|"]
        counts = {k: v for k, v in step["counts"].items()}
        if what in ENDINGS and step["passed"]:
            continue
        lines.append(f"| {what} | {listed(counts) if counts else ''} | "
                     f"{step['seconds']:.0f} | "
                     f"{'ok' if step['passed'] else 'FAILED'} |")
    lines += ["", "Each session, but those put to sleep, whose root file "
              "system does not wake, ended with no page pinned, every object "
              "that was made also gone, idle modules unloaded and, on the "
              "debug kernel, nothing that kmemleak finds; and no kernel said "
              "anything that a kernel should not say." if not failed else
              "Not all is well: see above.", ""]
    with open(path, "w") as file:
        file.write("\n".join(lines))
