#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""make demo-local: VIA between programs of this machine, in ten seconds.

No virtual machine, no root, no kernel module: builds library, plug-ins, tools
and samples, says hello over shm, runs a program of 1999 unmodified, and shows
shm beside a UNIX-domain socket pair and pipes, and ofi:tcp beside TCP, in
rounds that take turns.  The last line is for programs:

  demo-local: shm-poll-us=<a> shm-block-us=<b> shm-mbps=<c> unix-poll-us=...

-us is half a round trip of 4 bytes, -mbps the bandwidth of 64 KiB messages.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests/bench"))

import providers  # noqa: E402
from local import Failed, Local  # noqa: E402

BUILD = os.path.join(ROOT, "build")
SECONDS = 8  # no round begins later


def explain(text):
    print(f"\n{text}", flush=True)


def build():
    """Everything that runs here; what is there already stays."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    for tool in ("make", "gcc"):
        if not shutil.which(tool):
            raise Failed(f"no {tool} here; as root: apt-get install make gcc "
                         "libc6-dev")
    os.makedirs(BUILD, exist_ok=True)
    log = os.path.join(BUILD, "demo-local-build.log")
    with open(log, "w") as file:
        done = subprocess.run(
            ["make", "-s", "-C", ROOT, f"-j{min(os.cpu_count() or 1, 4)}",
             "local"], env=env, stdout=file, stderr=subprocess.STDOUT)
    if done.returncode:
        with open(log) as file:
            sys.stderr.write("".join(file.readlines()[-15:]))
        raise Failed(f"the build failed, see {log}")


def shown(path):
    return os.path.relpath(path, ROOT)


def show(local, command, end, **env):
    """Start it, and show how."""
    words = [shown(command[0]), *command[1:]]
    print("  $ " + " ".join([f"{k}={v}" for k, v in env.items()] + words)
          + " &" * (end == 1), flush=True)
    local.env.update(env)
    try:
        return local.start(command, end)
    finally:
        for name in env:
            del local.env[name]


def tell(text):
    for line in text.splitlines():
        print(f"    {line}", flush=True)


def hello(local):
    program = os.path.join(BUILD, "samples/hello")
    server = show(local, [program, "shm:0"], 1)
    try:
        out = local.finish(show(local, [program, "shm:0",
                                        providers.LOCALHOST], 0))
        tell(local.finish(server) + out)
    finally:
        if server.poll() is None:
            server.kill()


def unmodified(local):
    """The name that it asks for, nic0, is a NIC of another century."""
    program = os.path.join(BUILD, "samples/old10")
    tell(local.finish(show(local, [program, "nic0"], 0, VIPL_NIC="shm:0")))


def cell(value):
    return f"{value:12,.2f}" if value is not None else f"{'-':>12}"


def table(paths, medians):
    print(f"\n  {'':10}{'4 bytes, us':>24}{'64 KiB, Mb/s':>24}\n"
          f"  {'':10}" + f"{'polling':>12}{'sleeping':>12}" * 2)
    for path in paths:
        print(f"  {path:10}" + "".join(
            cell(medians.get((bench, path, wait)))
            for bench in ("lat", "bw") for wait in ("poll", "block")))


def summary(paths, medians):
    """key=value, in a fixed order."""
    words = []
    for path in paths:
        name = path.replace(":", "-")
        for wait in ("poll", "block"):
            value = medians.get(("lat", path, wait))
            if value is not None:
                words.append(f"{name}-{wait}-us={value:.2f}")
        bulk = [medians[key] for key in (("bw", path, "poll"),
                                         ("bw", path, "block"))
                if key in medians]
        if bulk:
            words.append(f"{name}-mbps={max(bulk):.0f}")
    return "demo-local: " + " ".join(words)


def demo(args):
    begin = time.monotonic()
    explain("1. Library, plug-ins, tools and samples")
    build()
    local = Local(BUILD)
    found, without = providers.contenders(local, with_pingpong=False)
    print(f"  built in {shown(BUILD)}", flush=True)
    for line in without:
        print(f"  skipped: {line}", flush=True)
    if not found:
        raise Failed("no plug-in is built: nothing to show")
    if local.plugin("shm"):
        explain("2. Two processes, one machine, no kernel module: hello over "
                "shm")
        hello(local)
        explain("3. A program in the style of 1999, not relinked")
        unmodified(local)
    explain(f"4. Side by side, processors {local.cpus[0]} and "
            f"{local.cpus[1]}, in rounds that take turns")
    if local.alone:
        print("  one processor only: figures of those that poll tell nothing",
              flush=True)
    failures = []
    values = providers.rounds(found, args.rounds, args.messages,
                              lambda n: None, failures, SECONDS)
    medians = {(one.bench, one.path, one.wait):
               providers.standing(one, figures)
               for one, figures in values.items()}
    paths = list(dict.fromkeys(one.path for one in found))
    table(paths, medians)
    done = max(map(len, values.values()), default=0)
    explain(f"Medians; rounds: {done}; {time.monotonic() - begin:.0f} s in "
            "all.")
    for line in failures:
        print(f"FAILED {line}", file=sys.stderr)
    print(summary(paths, medians), flush=True)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3,
                        help="at most: a busy machine does fewer")
    parser.add_argument("--messages", type=int, default=5000,
                        help="of a run that polls; others have a part of it")
    args = parser.parse_args()
    try:
        return demo(args)
    except Failed as error:
        print(f"demo-local: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
