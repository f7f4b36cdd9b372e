#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""docs/learn/tutorial.md word by word, in a copy of the tree and a home of its own,
and shared.md in the same: ```c NAME blocks are what NAME gets, one after the
other, ```sh blocks are run by one shell, and what a ```text block shows is
printed, but for the numbers and the width of columns.  The program over VIA is
faster than its twin."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
PAGE = os.path.join(ROOT, "docs/learn/tutorial.md")
SECOND = os.path.join(ROOT, "docs/learn/shared.md")
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.M)
# Other work of this machine slows down ends that spin.
ROUNDS = 5


def script(page):
    """(what a shell is to do, what it must print)."""
    lines, shown = ["set -e"], []
    for kind, body in BLOCK.findall(page):
        if kind == "sh":
            lines.append(body)
        elif kind == "text":
            shown.append(body)
        elif kind.startswith("c "):
            lines.append(f"cat >>{kind[2:]} <<'END OF BLOCK'\n{body}"
                         "END OF BLOCK")
    return "\n".join(lines) + "\n", shown


def copy(folder):
    """The tree, as far as the library takes it."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "Makefile", "VERSION",
         "Kbuild", "core", "vipl", "providers", "dsm", "include", "tools",
         "examples", "docs/reference"], cwd=ROOT,
        text=True, check=True, capture_output=True)
    for name in listed.stdout.split("\n"):
        if os.path.isfile(os.path.join(ROOT, name)):
            to = os.path.join(folder, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), to)


def run(home, tree, text):
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": home}
    done = subprocess.run(["/bin/bash", "-c", text], cwd=tree, env=env,
                          stdin=subprocess.DEVNULL, text=True, timeout=900,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def figures(output):
    return [float(re.search(rf"^{name}: (\d+\.\d+) us$", output, re.M)[1])
            for name in ("VIA", "socket")]


def amiss(status, output, shown):
    """What is wrong with what the page's commands have printed, or None."""
    if status:
        return f"status {status}"
    for block in shown:
        pattern = "".join(
            re.sub(r"\d+", r"\\d+",
                   re.sub(r"(\\ )+", " +", re.escape(line))) + "\n"
            for line in block.splitlines())
        if not re.search("^" + pattern, output, re.M):
            return f"it does not print: {block}"
    return None


def do(page, home, tree):
    """(the script of a page, what its commands print), or None: something is
    amiss, which was told."""
    with open(page) as file:
        text, shown = script(file.read())
    # Two of one user may read the page at the same time.
    text = text.replace("shm:0", f"shm:{1000 + os.getpid() % 9000}")
    status, output = run(home, tree, text)
    why = amiss(status, output, shown)
    if why:
        print(output[-2000:], f"{os.path.basename(page)}: {why}", sep="\n")
        return None
    return text, output


def main():
    with tempfile.TemporaryDirectory() as home:
        tree = os.path.join(home, "mvia")
        copy(tree)
        first = do(PAGE, home, tree)
        if not first or not do(SECOND, home, tree):
            return 1
        text, output = first
        again = "\n".join(re.findall(r"^(?:\./.*|wait|export .*)$", text,
                                     re.M))
        for left in reversed(range(ROUNDS)):
            via, socket = figures(output)
            print(f"tutorial: VIA {via} us, socket {socket} us")
            if via < socket:
                return 0
            if left:
                output = run(home, os.path.join(home, "first"), again)[1]
    print("tutorial: the socket twin was faster each time")
    return 1


if __name__ == "__main__":
    sys.exit(main())
