#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""libfabric's own tests, over via and over tcp: none may fail over via that
passes over tcp.

fabtests.py [--build] [--types LIST] [--without WORD] [SERVER CLIENT]

--build makes the programs, and ends.  LIST is of unit, functional, short,
standard and multinode, with commas; the first three by default.  Tests whose
command has WORD are left out.  Without hosts both ends are on this machine, on
shm; SERVER and CLIENT are addresses of nodes where the words of
tests/fabric/rsh are listened to, and the environment names the provider.

Debian has these tests, fabtests, in the sources of MPICH.  They are built once,
into the lab's cache.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools/lab"))

from labkit import kernels  # noqa: E402
from labkit.base import BUILD, CACHE, LabError, locked, logged, say  # noqa: E402

PREFIX = os.path.join(CACHE, "fabtests")
INSIDE = "modules/libfabric/fabtests"
PATIENCE = 120  # s that a test may take
# Shared receive contexts: tcp has them, and via refuses them by design.
NOT_SERVED = {"fi_shared_ctx -e msg --no-tx-shared-ctx"}
# What ssh does for the scripts, by what tests/fabric/rsh talks to; nc knows no
# exit status.
SSH = r"""#!/bin/sh
while [ "${1#-}" != "$1" ]; do
	[ "$1" = -o ] && shift
	shift
done
host=$1
shift
out=$(printf '( %s\n) 2>&1; s=$?; echo; echo "status $s"\n' "$*" |
	busybox nc "$host" 5000)
printf '%s\n' "${out%status *}"
case $out in *"status "*) exit "${out##*status }" ;; esac
exit 255
"""


def programs():
    """The folder of fabtests' programs, built if it is not there."""
    with locked("fabtests", "building fabtests"):
        if os.path.exists(os.path.join(PREFIX, "bin/runfabtests.sh")):
            return os.path.join(PREFIX, "bin")
        log = os.path.join(CACHE, "fabtests.log")
        open(log, "w").close()
        kernels.setup_packages("fabtests")
        say(f"fetching and building fabtests, once (log: {log})")
        apt = kernels.private_apt(log, "apt-source", ("bookworm",),
                                  kind="deb-src")
        apt.get("update")
        with tempfile.TemporaryDirectory() as folder:
            apt.get("source", "--download-only", "mpich", cwd=folder)
            archive, = glob.glob(os.path.join(folder, "*.orig.tar.*"))
            logged(["tar", "-xf", archive, "-C", folder, "--wildcards",
                    f"*/{INSIDE}"], log, "unpacking fabtests")
            source, = glob.glob(os.path.join(folder, "*", INSIDE))
            for command in (["./autogen.sh"],
                            ["./configure", f"--prefix={PREFIX}"],
                            ["make", f"-j{os.cpu_count()}"],
                            ["make", "install"]):
                logged(command, log, f"fabtests: {command[0]}", cwd=source)
        return os.path.join(PREFIX, "bin")


def environment():
    """Where the provider of this tree is, unless the caller has said so."""
    env = dict(os.environ)
    env.setdefault("FI_PROVIDER_PATH", os.path.join(BUILD, "fabric"))
    env.setdefault("VIPL_PROVIDERS", os.path.join(BUILD, "providers"))
    env.setdefault("LD_LIBRARY_PATH", BUILD)
    env.setdefault("FI_VIA_DEVICES", f"shm:{1000 + os.getpid() % 9000}")
    return env


def outcomes(folder, provider, types, hosts, without=None):
    """{test: Pass, Fail or Notrun}, and all that was said."""
    env = environment()
    # The script kills all that is called fi_ in the end: not that of others.
    command = ["unshare", *([] if os.geteuid() == 0 else ["-Ur"]), "-pf",
               "--mount-proc", os.path.join(folder, "runfabtests.sh"), "-vvv",
               "-T", str(PATIENCE), "-t", types, "-p", folder]
    if without:
        command += ["-e", without]
    with tempfile.TemporaryDirectory() as scratch:
        if hosts:
            ssh = os.path.join(scratch, "ssh")
            with open(ssh, "w") as file:
                file.write(SSH)
            os.chmod(ssh, 0o755)
            env["PATH"] = f"{scratch}:{env['PATH']}"
            for name in ("FI_PROVIDER_PATH", "VIPL_PROVIDERS",
                         "LD_LIBRARY_PATH", "FI_VIA_DEVICES", "FI_TCP_IFACE"):
                if name in env:
                    command += ["-E", f"{name}={env[name]}"]
        done = subprocess.run([*command, provider, *hosts], env=env,
                              cwd=scratch, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    found = re.findall(r"^- name: +(\S.*?) -p .*\n +result: +(\w+)",
                       done.stdout, re.M)
    return dict(found), done.stdout


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--types", default="unit,functional,short")
    parser.add_argument("--without")
    parser.add_argument("hosts", nargs="*")
    args = parser.parse_args()
    if len(args.hosts) not in (0, 2):
        parser.error("two hosts or none")
    folder = programs()
    if args.build:
        return 0
    result = {}
    for provider in ("tcp", "via"):
        result[provider], text = outcomes(folder, provider, args.types,
                                          args.hosts, args.without)
        print(text)
    tcp, via = result["tcp"], result["via"]
    if tcp.keys() != via.keys() or "Pass" not in tcp.values():
        print("fabtests: the runs have not the same tests")
        return 1
    bad = [test for test, ended in via.items() if ended != "Pass" and
           tcp[test] == "Pass" and
           not (test in NOT_SERVED and ended == "Notrun")]
    for test in bad:
        print(f"FAILED {test}: {via[test]} over via, it passes over tcp")
    for provider, ended in result.items():
        words = ", ".join(f"{list(ended.values()).count(word)} {word}"
                          for word in ("Pass", "Notrun", "Fail"))
        print(f"fabtests over {provider}: {words}")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"fabtests: {error}")
