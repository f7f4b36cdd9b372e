# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""docs/learn/tutorial.md in a Debian guest that has nothing of mvia: its packages by
apt, the rest as a user without rights, word by word."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import image
from image import REPO
from labkit.base import ROOT
from runner import LOGS, StepFailed

sys.path.append(os.path.join(ROOT, "tests/examples"))

import tutorial  # noqa: E402

PACKAGES = re.compile(r"^(apt-get install (.*))$", re.M)
URI = re.compile(r"^'(\S+)' (\S+)", re.M)
# The clock of an emulated machine is slow, and so is its compiler.
LIMIT = 1800


def command(page):
    """How the page has packages installed, and which."""
    found = PACKAGES.search(page)
    if not found:
        raise StepFailed("docs/learn/tutorial.md installs no packages")
    return found[1], found[2].split()


def fetch(check, status, names):
    """The packages that a machine with this dpkg status lacks for these, from
    where this machine has its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "status")
        with open(path, "w") as file:
            file.write(status)
        done = subprocess.run(
            ["apt-get", "-qq", "--print-uris", "--no-install-recommends",
             "-o", f"Dir::State::status={path}", "-o",
             f"Dir::Cache::archives={folder}", "install", *names],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check.write(done.stdout)
    if done.returncode:
        raise StepFailed("apt-get does not know what the guest lacks")
    for uri, name in URI.findall(done.stdout):
        check.host(["/usr/lib/apt/apt-helper", "download-file", uri,
                    os.path.join(REPO, name)], 300)


def share(check, page):
    """What the guest gets: the tree, and a script of the page's blocks."""
    shutil.rmtree(REPO, ignore_errors=True)
    os.makedirs(REPO)
    tutorial.copy(os.path.join(REPO, "mvia"))
    text, shown = tutorial.script(page)
    with open(os.path.join(REPO, "page"), "w") as file:
        file.write(text)
    check.write(text)
    return shown


def guest(check):
    """The page, from its first command to its last figure."""
    check.build_user()
    with open(tutorial.PAGE) as file:
        page = file.read()
    install, names = command(page)
    shown = share(check, page)
    lab = image.System(logdir=os.path.join(
        LOGS, "tutorial" + time.strftime("-%H%M%S")))
    try:
        lab.start()
        node = lab.nodes[0]
        fetch(check, node.sh("cat /var/lib/dpkg/status").out, names)
        check.host(["sh", "-c", f"cd {REPO} && dpkg-scanpackages -m . "
                    ">Packages"])
        node.sh("echo 'deb [trusted=yes] file:/srv/mvia ./' "
                ">/etc/apt/sources.list && apt-get update")
        node.sh(f"echo | {install} --yes --no-install-recommends", 600)
        done = node.run("su - alice -c 'cp -r /srv/mvia/mvia . && cd mvia && "
                        "bash /srv/mvia/page' 2>&1", LIMIT)
        check.write(done.all)
        lab.check()
    finally:
        lab.stop()
    why = tutorial.amiss(done.rc, done.out, shown)
    if why:
        raise StepFailed(why)
    via, socket = tutorial.figures(done.out)
    check.note(f"VIA {via} us, socket {socket} us")
