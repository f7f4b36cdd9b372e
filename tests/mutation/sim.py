#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which defects of agent and class do the simulator and the units find?

Plants one after the other, builds build/viasim with it, and runs the
scenarios and the unit tests that are made of the file until one fails.  A
table says what found each, after how many schedules and in what time; it is
compared with tests/mutation/survivors.txt, which names those that only
another test finds, or none, with the reason.  What found a mutant the last
time (tests/mutation/found.txt) is tried first; --write brings that up to date,
and docs/notes/defects.md, the table of the defects that there once were.

make mutation-sim runs all, tests/mutation/sim.py NAME... those, and with
--since COMMIT those of files that a change has touched.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [p for p in (HERE, os.path.join(ROOT, "tools/lab"))
                if p not in sys.path]

import defects_table  # noqa: E402
import mutants  # noqa: E402
import plant  # noqa: E402

WORK = os.path.join(ROOT, "build/mutation-sim")
PARTS = ("Makefile", "include", "core", "kernel", "devices", "dsm", "tests/sim",
         "tests/dsm", "tests/unit", "vipl", "providers", "tests/conformance",
         "tests/bench", "tools/common")
SURVIVORS = os.path.join(HERE, "survivors.txt")
FOUND = os.path.join(HERE, "found.txt")
UNITS = {"devices/ether/proto/wire.c": ["wire"], "devices/ether/proto/wire.h": ["wire"],
         "devices/ether/proto/join.h": ["join"],
         "devices/ether/proto/shape.h": ["shape"],
         "devices/ether/proto/auth.c": ["auth"],
         "devices/ether/proto/ratelimit.c": ["strangers"],
         "devices/ether/proto/token.c": ["strangers"],
         "devices/ether/proto/congestion.c": ["congestion", "bottleneck"],
         "devices/ether/proto/credit.c": ["credit", "bottleneck"],
         "devices/ether/proto/incast.c": ["incast"],
         "devices/ether/proto/rto.c": ["rto"],
         "devices/ether/proto/sample.h": ["rto", "delack"],
         "devices/ether/proto/delack.c": ["delack"],
         "devices/ether/proto/delack.h": ["delack"],
         "devices/ether/proto/window.c": ["window", "bottleneck"],
         "devices/ether/proto/window.h": ["window", "bottleneck"],
         "core/state.c": ["core"], "core/state.h": ["core"],
         "core/conn.h": ["core"], "core/desc.h": ["core"]}
SIDES = ("core/", "kernel/", "devices/ether/")


def chosen(names):
    """The mutants of agent and class and those of the library that the
    simulator is for, or those of these names.  Defects of old
    first, then all others mixed: what is done of a run that is cut short
    stands for the whole."""
    if names:
        return mutants.named(names)
    some = [m for m in mutants.MUTANTS
            if m.path.startswith(SIDES) or m.on == "sim"]
    return sorted(some, key=lambda m: (not m.defect,
                                       zlib.crc32(m.name.encode())))


def changed(some, commit):
    """Those in files that have changed since a commit."""
    done = subprocess.run(["git", "-C", ROOT, "diff", "--name-only", commit],
                          text=True, capture_output=True)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    files = set(done.stdout.split())
    return [m for m in some if m.path in files]


def noted(path):
    """What a file says of each mutant that it names."""
    known = {}
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, words = line.split(None, 1)
                known[name] = words.strip()
    return known


def survivors():
    """Name and reason of each that sim and units are known not to find."""
    return noted(SURVIVORS)


def found_before():
    """Of each mutant that was found: after how many schedules, and by what."""
    return {name: (int(words.split(None, 1)[0]), words.split(None, 1)[1])
            for name, words in noted(FOUND).items()}


def write_found(results):
    """These results in place of those before; mutants that are no more go."""
    known = found_before()
    known.update((r["name"], (r["schedules"], r["found"]))
                 for r in results if r.get("found"))
    with open(FOUND) as file:
        head = [line for line in file if line.startswith("#")]
    with open(FOUND, "w") as file:
        file.writelines(head)
        for m in mutants.MUTANTS:
            if m.name in known:
                schedules, by = known[m.name]
                file.write(f"{m.name:28} {schedules:6} {by}\n")


class Tree:
    """A copy of the sources with its own build."""

    def __init__(self, number):
        self.root = os.path.join(WORK, str(number))

    def prepare(self):
        """Today's sources and the build of them, times kept."""
        os.makedirs(self.root, exist_ok=True)
        # Sources that have gone must not be compiled any more.
        for part in PARTS:
            subprocess.run(["rm", "-rf", os.path.join(self.root, part)],
                           check=True)
        for part in (*PARTS, "build/sim", "build/unit", "build/viasim"):
            if os.path.exists(os.path.join(ROOT, part)):
                subprocess.run(["cp", "-a", "--parents",
                                "--remove-destination", part, self.root],
                               cwd=ROOT, check=True)
        return self

    def make(self, *goals):
        done = subprocess.run(["make", "-s", "-C", self.root, *goals],
                              stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def scenarios(self):
        out = subprocess.run([os.path.join(self.root, "build/viasim"),
                              "--list"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
        return [line.split()[0] for line in out.splitlines()]

    def unit(self, name):
        """True: it fails, or hangs."""
        code, out = self.make(f"build/unit/{name}")
        if code:
            raise RuntimeError(out)
        try:
            return subprocess.run([os.path.join(self.root, "build/unit", name)],
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=120,
                                  check=False).returncode != 0
        except subprocess.TimeoutExpired:
            return True

    def sim(self, scenario, seconds, runs=None, extra=()):
        """(what failed, schedules) or (None, schedules)."""
        command = ["prlimit", f"--cpu={int(seconds) + 60}",
                   os.path.join(self.root, "build/viasim"), scenario,
                   "--no-shorten", f"--seconds={seconds}",
                   f"--out={self.root}/failed", *extra]
        if runs:
            command.append(f"--runs={runs}")
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.DEVNULL, timeout=3600,
                                  check=False)
        except subprocess.TimeoutExpired:
            return f"{scenario}: a hang of the simulator", 0
        found = re.search(r"seed (\d+).* FAILS: (.*)", done.stdout)
        if found:
            return f"{scenario}: {found[2]}", int(found[1])
        if done.returncode:
            return f"{scenario}: status {done.returncode}", 0
        ran = re.search(r"(\d+) runs", done.stdout)
        return None, int(ran[1]) if ran else 0

    def plant(self, mutant, text):
        path = os.path.join(self.root, mutant.path)
        with open(path, "w") as file:
            file.write(text)

    def restore(self, mutant):
        """The file, and with their old times what was built of it."""
        subprocess.run(["cp", "-a", "--parents", mutant.path, self.root],
                       cwd=ROOT, check=True)
        for part in ("build/sim", "build/unit"):
            self.sync(part)
        shutil.copy2(os.path.join(ROOT, "build/viasim"),
                     os.path.join(self.root, "build/viasim"))

    def sync(self, part):
        """Files of the build that are not as they were: with old times."""
        for folder, _, names in os.walk(os.path.join(ROOT, part)):
            for name in names:
                path = os.path.join(folder, name)
                mine = os.path.join(self.root, os.path.relpath(path, ROOT))
                if not os.path.exists(mine) or \
                        os.stat(mine).st_mtime != os.stat(path).st_mtime:
                    os.makedirs(os.path.dirname(mine), exist_ok=True)
                    shutil.copy2(path, mine)


# The conformance suite is done as a whole; of the other scenarios so many
# seconds and schedules.  Short first: most mutants are found by the first
# schedules of something.
SUITES = {"conform-lo": 10, "conform-wire": 15}
ROUNDS = ((0.2, 40), (3, 100000))
# Scenarios that another one stands for, in less time.
LONG = ("million", "week", "day", "incast")
ALLOCATION = " (allocation)"


def try_again(tree, by):
    """What found it the last time."""
    scenario = by.split(":")[0]
    if scenario not in tree.scenarios():
        return None, 0
    if by.endswith(ALLOCATION):
        found, n = tree.sim(scenario, 20, 1, ["--allocations"])
        return found and found + ALLOCATION, n
    if scenario in SUITES:
        return tree.sim(scenario, SUITES[scenario])
    return tree.sim(scenario, 20, ROUNDS[-1][1])


def try_sim(tree, args):
    schedules = 0
    names = [n for n in tree.scenarios() if n not in LONG and
             re.fullmatch(args.scenarios, n)]
    for name, seconds in SUITES.items():
        if name in names:
            found, n = tree.sim(name, seconds)
            schedules += n
            if found:
                return found, schedules
    names = [name for name in names if name not in SUITES]
    for seconds, runs in args.rounds:
        for name in names:
            found, n = tree.sim(name, seconds, runs)
            schedules += n
            if found:
                return found, schedules
    for name in names:
        if name in args.allocations:
            found, n = tree.sim(name, 20, 1, ["--allocations"])
            if found:
                return found + ALLOCATION, schedules
    return None, schedules


def attempt(tree, mutant, args):
    """What found it, or None."""
    begin = time.monotonic()
    _, text = plant.plant(mutant)
    tree.plant(mutant, text)
    try:
        code, out = tree.make("sim")
        if code:
            return dict(name=mutant.name, found=None, error=out[-2000:])
        found, schedules = None, 0
        for name in UNITS.get(mutant.path, []):
            if tree.unit(name):
                found = f"unit {name}"
                break
        if not found and mutant.name in args.before:
            found, schedules = try_again(tree, args.before[mutant.name][1])
        if not found:
            found, schedules = try_sim(tree, args)
        return dict(name=mutant.name, path=mutant.path, found=found,
                    schedules=schedules,
                    defect=getattr(mutant, "defect", None),
                    seconds=round(time.monotonic() - begin, 1))
    except RuntimeError as why:
        return dict(name=mutant.name, found=None, error=str(why)[-2000:])
    finally:
        tree.restore(mutant)


def work(trees, todo, args):
    """Each tree takes the next one."""
    results, queue = [], list(todo)

    def loop(tree):
        while queue:
            mutant = queue.pop(0)
            result = attempt(tree, mutant, args)
            results.append(result)
            say = result.get("error") and "DOES NOT BUILD" or \
                result["found"] or "survives"
            print(f"{len(results):4}/{len(todo)} {mutant.name:28} "
                  f"{result.get('seconds', 0):6.1f} s "
                  f"{result.get('schedules', 0):6}  {say}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        for done in [pool.submit(loop, tree) for tree in trees]:
            done.result()
    return results


def verdict(results, whole):
    """Lines that say what is wrong; none: nothing."""
    known, wrong = survivors(), []
    for r in results:
        if r.get("error"):
            wrong.append(f"{r['name']} does not build: {r['error'][-300:]}")
        elif not r["found"] and r["name"] not in known:
            wrong.append(f"{r['name']} survives and is not in survivors.txt")
        elif r["found"] and r["name"] in known:
            print(f"note: {r['name']} is in survivors.txt and was found")
    killed = sum(1 for r in results if r.get("found"))
    print(f"{killed} of {len(results)} found by simulator and units, "
          f"{100 * killed / max(1, len(results)):.1f} %")
    if whole and killed < 0.9 * len(results):
        wrong.append("less than 90 % are found")
    return wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="of a mutant; none: all of agent and class")
    parser.add_argument("-j", "--jobs", type=int, default=2,
                        help="mutants tried at once (2)")
    parser.add_argument("--scenarios", metavar="REGEX", default=".*",
                        help="only these of the simulator's")
    parser.add_argument("--rounds", type=int, default=len(ROUNDS),
                        help="1: only a short look (2)")
    parser.add_argument("--seconds", type=float, default=ROUNDS[-1][0],
                        help="of each scenario in the long look (3)")
    parser.add_argument("--defects", action="store_true",
                        help="defects of old, those that are in found.txt")
    parser.add_argument("--since", metavar="COMMIT",
                        help="of files that have changed since then")
    parser.add_argument("--list", action="store_true",
                        help="only their names")
    parser.add_argument("--anew", action="store_true",
                        help="do not begin with what found it the last time")
    parser.add_argument("--write", action="store_true",
                        help="found.txt and docs/notes/defects.md, from the results")
    parser.add_argument("--json", metavar="FILE",
                        default=os.path.join(ROOT,
                                             "build/mutation-sim.json"),
                        help="the table, for other programs")
    args = parser.parse_args()
    args.rounds = (*ROUNDS[:-1], (args.seconds, ROUNDS[-1][1]))[:args.rounds]
    args.allocations = ("ping-lo", "ping-rd") if len(args.rounds) > 1 else ()
    args.before = {} if args.anew else found_before()
    if args.defects:
        args.names = [m.name for m in mutants.MUTANTS
                      if m.defect and m.name in found_before()]
    try:
        todo = chosen(args.names)
        if args.since:
            todo = changed(todo, args.since)
    except ValueError as why:
        parser.error(str(why))
    if args.list:
        for mutant in todo:
            print(mutant.name)
        return 0
    if not todo:
        print("0 passed, 0 failed")
        return 0
    subprocess.run(["make", "-s", "-C", ROOT, "sim"], check=True)
    trees = [Tree(i).prepare() for i in range(min(args.jobs, len(todo)))]
    results = work(trees, todo, args)
    with open(args.json, "w") as file:
        json.dump(results, file, indent=1)
    if args.write:
        write_found(results)
        defects_table.write(found_before(), survivors())
    wrong = verdict(results, not args.names and not args.since)
    for line in wrong:
        print(f"FAILED {line}")
    print(f"{len(results) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
