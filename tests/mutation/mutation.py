#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Do the tests notice a defect?  Plants one after the other and looks.

A mutant is caught when a test fails that passes without it.  The groups named
with a mutant are run first, since they are part of the suite; when they pass,
the whole suite is run.  A guest that dies of a mutant, or whose kernel
complains, has noticed it too; the next one gets a fresh guest.

Part of `make check` (a few) and `make check-full` (those that a guest notices);
`make mutation` runs the latter alone, tests/mutation/mutation.py NAME... those.
Those that no guest notices, since it takes a race, a bad wire or a look at the
memory, are for what has the agent and the class in user space; --compile shows
that all of them compile.
"""

import argparse
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path += [p for p in (HERE, os.path.join(ROOT, "tests/check"))
             if p not in sys.path]

import paths  # noqa: E402

paths.find()

import layer  # noqa: E402
import mutants  # noqa: E402
import plant  # noqa: E402
from labkit import kernels  # noqa: E402
from labkit.base import BUILD  # noqa: E402
from lab import LabError  # noqa: E402
from common import serving  # noqa: E402
from runner import Check, StepFailed  # noqa: E402
from session import Session  # noqa: E402

# The test that fails first, as viaconform and verbsconform name it.
FAILED = re.compile(r"Test: (\S+)(?:(?!Test: ).)*?FAILED", re.S)
SKIPPED = re.compile(r"^skipped ([\w.]+):", re.M)
# Or the first check: a group goes on behind one, and each may wait 10 s.
FAILED_VERBS = re.compile(r"^(?:FAILED |  (?=t_))([\w.:]+): ", re.M)
CONFORM = os.path.join(BUILD, "verbsconform")
FIRST = 90      # seconds for the groups that are to see it, hanging ones too
ALL = 150       # for the whole suite
# A group of verbs that waits for ever ends itself after 120, and 20 more.
VERBS_FIRST = 160


# One guest that counts instructions: what another program does to this machine
# changes nothing.  Its two NICs are on one wire, eth1 in a namespace.
GUEST = dict(nodes=1, nics=["tulip"], kernel="6.1", cpus=1, exact=True)
PEER = "52:54:00:00:01:01"
INSIDE = "nsenter --net=/var/run/netns/peer"
VIA = os.path.join(BUILD, "tools/via")


def tell_netdev(number, order):
    """Attach or detach one of the two."""
    where = f"{INSIDE} " if number else ""
    return f"{where}{VIA} dev {order} eth{number}"


def module_commands(folder, on):
    """Replace the modules in a guest by those of a folder."""
    names = plant.MODULES[:2] if on == "lo" else plant.MODULES
    lines = [f"test ! -e /dev/via_eth{i} || {tell_netdev(i, 'detach')}"
             for i in range(2)]
    # What a killed suite leaves behind is gone in a moment.
    lines += ["for i in $(seq 100); do "
              f"grep -q '^{m} ' /proc/modules || break; "
              f"rmmod {m} 2>/dev/null || sleep 0.1; done; "
              f"! grep -q '^{m} ' /proc/modules"
              for m in reversed(plant.BUILT)]
    lines += ["modprobe libcrc32c"]
    lines += [f"insmod {folder}/{m}.ko" for m in names]
    if on != "lo":
        lines += [tell_netdev(i, "attach") for i in range(2)]
    if on in layer.VERBS:
        kind = "via" if on == "verbs" else "via_roce"
        lines += ["modprobe -a iw_cm ib_uverbs rdma_ucm",
                  f"insmod {folder}/{plant.VERBS}.ko",
                  f"rdma link add {kind}0 type {kind} netdev eth0"]
    return " && ".join(f"{{ {line}; }}" for line in lines)


class Run:
    """The suite in a lab with the modules and the library of a folder."""

    def __init__(self, session, name, on, library=False):
        self.session, self.on, self.skipped = session, on, None
        self.folder = os.path.join(plant.WORK, name)
        # A mutant of the library runs on the modules that are there.
        self.modules = os.path.join(plant.WORK, "control") if library else \
            self.folder

    def insert(self):
        want = (self.session.lab, self.modules, self.on)
        if getattr(self.session, "loaded", None) == want:
            return
        self.session.loaded = None
        self.session.run(self.session.lab.nodes[0],
                         module_commands(self.modules, self.on), 60)
        self.session.loaded = want

    def load(self):
        self.session.ready()
        try:
            self.insert()
        except (LabError, StepFailed):
            # The last mutant's mess: a fresh guest.
            self.session.stop()
            self.session.ready()
            self.insert()

    def failure(self, pattern, limit):
        """The first test that fails, None when all pass."""
        if self.on in layer.VERBS:
            where = "10.0.0.1" if self.on == "verbs" else "via_roce0#0"
            return self.watch(f"{CONFORM} -v --codes {where} "
                              f"{(pattern or '').replace(',', ' ')}", limit)
        only = f"-g '{pattern}' " if pattern else ""
        command = f"{self.folder}/viaconform -v {only}-d "
        if self.on == "lo":
            return self.watch(command + "via_lo", limit)
        with serving(self.session, f"{INSIDE} {self.folder}/viaconform "
                     "-d via_eth1 --server", node=0):
            return self.watch(f"{command}via_eth0 {PEER}", limit)

    def watch(self, command, limit):
        failed, word = (FAILED_VERBS, "") if self.on in layer.VERBS else \
            (FAILED, "FAILED")
        job = self.session.lab.nodes[0].spawn(command, limit)
        try:
            job.link.wait_for(lambda: job.done or word in job.out and
                              failed.search(job.out), limit)
            found = failed.search(job.out)
            skipped = SKIPPED.search(job.out)
            self.skipped = skipped and skipped.group(1)
            if found:
                return found.group(1)
            if job.rc == 0:
                return None
            raise StepFailed(f"no verdict, status {job.rc}: {command}")
        finally:
            if not job.done:
                job.kill()
                job.wait(30)
            self.session.write_job(job)


def unit(check, mutant, name):
    """Does the unit test pass with the program of a folder?"""
    path = os.path.join(plant.WORK, name, mutant.first[0])
    try:
        done = subprocess.run([path], stdout=subprocess.PIPE, timeout=120,
                              stderr=subprocess.STDOUT, text=True,
                              check=False)
    except subprocess.TimeoutExpired:
        check.write(f"{path}: no end in 120 s")
        return False
    check.write(done.stdout)
    return done.returncode == 0


def caught_by(session, mutant):
    """The test that fails, or None."""
    run = Run(session, mutant.name, mutant.on,
              mutant.path.startswith(("vipl/", "providers/")))
    run.load()
    first = VERBS_FIRST if mutant.on in layer.VERBS else FIRST
    return run.failure(",".join(mutant.first), first) or \
        run.failure(None, ALL)


def complaint(session):
    try:
        session.complaints()
    except StepFailed as why:
        return str(why)
    return None


def attempt(session, mutant, table):
    begin, dead = time.monotonic(), None
    try:
        group = caught_by(session, mutant)
    except (LabError, StepFailed) as why:
        group, dead = None, why
    bad = complaint(session)
    if bad or dead:
        session.stop()
        session.ready()
    if not group and not bad:
        raise StepFailed(str(dead) if dead else f"survived: {mutant.why}")
    table[mutant.name] = (group or f"the guest's kernel: {bad}",
                          time.monotonic() - begin)
    session.check.write(f"caught by {table[mutant.name][0]}")


def unit_attempt(check, mutant, table):
    begin = time.monotonic()
    if not unit(check, mutant, "control"):
        raise StepFailed("the unit test fails without the mutant")
    if unit(check, mutant, mutant.name):
        raise StepFailed(f"survived: {mutant.why}")
    table[mutant.name] = (f"unit test {mutant.first[0]}",
                          time.monotonic() - begin)


def control(session, on, chosen, whole):
    """Without a mutant everything passes, in the same harness."""
    run = Run(session, "control", on)
    run.load()
    patterns = {p for m in chosen for p in m.first}
    # What is to fail with a mutant has to pass without.
    group = run.failure(None if whole else ",".join(sorted(patterns)), ALL)
    if group:
        raise StepFailed(f"{group} fails without a mutant")
    if on in layer.VERBS and run.skipped:
        raise StepFailed(f"{run.skipped} is skipped: it finds no mutant")


def build_all(check, planter, chosen, ready):
    """Build each; those that cannot be built are named, the others run."""
    planter.control([m for m in mutants.MUTANTS if m.guest or m.on == "unit"])
    wrong = []
    for mutant in chosen:
        try:
            planter.build(mutant)
            ready.append(mutant)
        except (plant.Stale, StepFailed) as why:
            check.write(str(why))
            wrong.append(str(why))
    if wrong:
        raise StepFailed("; ".join(wrong))


def run(check, names=None):
    """All steps: the builds, the control, each mutant."""
    chosen = mutants.named(names) if names else mutants.GUEST
    elsewhere = [m.name for m in chosen if m.on not in layer.PLANTED]
    if elsewhere:
        raise ValueError(f"not for a guest: {', '.join(elsewhere)}")
    planter = plant.Planter(check, kernels.kernel("6.1"))
    table, ready = {}, []
    check.step(f"mutation: build {len(chosen)} mutants", build_all, check,
               planter, chosen, ready)
    if check.listing:
        ready = chosen
    for mutant in ready:
        if mutant.on == "unit":
            check.step(f"mutation: {mutant.name}", unit_attempt, check,
                       mutant, table)
    session = Session(check, "mutation", modules=False, attach=False, **GUEST)
    try:
        for on in ("lo", "wire", *layer.VERBS):
            part = [m for m in ready if m.on == on]
            if part and session.step(f"no mutant, {on}", control, on, part,
                                     not names and on not in layer.VERBS):
                for mutant in part:
                    session.step(f"{mutant.name}, {on}", attempt, mutant,
                                 table)
    finally:
        session.stop()
        for name, (who, seconds) in table.items():
            print(f"      {name:22} {seconds:5.1f} s  {who}", flush=True)


def compile_all(names, folder):
    """Each mutant of the modules compiles without a word; how many do not."""
    chosen = [m for m in (mutants.named(names) if names else mutants.MUTANTS)
              if m.path.startswith(("core/", "kernel/", "devices/", "verbs/"))]
    compiler = plant.Compiler(kernels.kernel("6.1").kdir, folder)
    compiler.copy()
    bad = 0
    for m in chosen:
        said = compiler.compile(m)
        bad += bool(said)
        print(f"{'BAD' if said else 'ok':4} {m.name:24} {m.path}", flush=True)
        if said:
            print(said, flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} compile")
    return bad


def apply_all():
    """How many say nothing about today's sources; each is named.  And whether
    what is copied of the tree is enough to build them."""
    said = plant.lacks({m.first[0] for m in mutants.MUTANTS if m.on == "unit"})
    if said:
        print(f"the copied tree: {said}")
    bad = bool(said)
    for m in mutants.MUTANTS:
        try:
            plant.plant(m)
        except plant.Stale as e:
            print(e)
            bad += 1
    print(f"{len(mutants.MUTANTS) - bad + bool(said)} of {len(mutants.MUTANTS)} apply")
    return bad


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="of a mutant; none: all of them")
    parser.add_argument("--list", action="store_true",
                        help="list the mutants, plant nothing")
    parser.add_argument("--defects", action="store_true",
                        help="list those that bring a defect of old back")
    parser.add_argument("--apply", action="store_true",
                        help="only see whether all apply to the sources")
    parser.add_argument("--compile", action="store_true",
                        help="only compile those of the agent and the class")
    parser.add_argument("--folder", default=plant.OBJECTS,
                        help="for the objects of --compile")
    args = parser.parse_args()
    if args.list or args.defects:
        for m in mutants.MUTANTS:
            if m.defect or not args.defects:
                print(f"{m.name:24} {m.path:28} "
                      f"{m.defect if args.defects else m.why}")
        return 0
    if args.apply:
        return 1 if apply_all() else 0
    if args.compile:
        return 1 if compile_all(args.names, args.folder) else 0
    check = Check()
    run(check, args.names)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
