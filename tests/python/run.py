#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The package vipl as `make install-python' puts it into a folder: its suite
and its examples on each network that needs no kernel module."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../examples"))

from installed import ROOT, Failed, Installed, networks  # noqa: E402

PYTHON = "/usr/bin/python3"
EXAMPLES = os.path.join(ROOT, "bindings/python/examples")
CLIENTS = 3


def without_library(here):
    """The import says what is missing."""
    def says(wanted, **env):
        said = here.end(here.start([PYTHON, "-c", "import vipl"], **env), 1)
        if wanted not in said.splitlines()[-1]:
            raise Failed(f"no '{wanted}' in what an import says: {said}")
    says("libvipl1", LD_LIBRARY_PATH="/nonexistent")
    os.mkdir(os.path.join(here.home, "none"))
    with open(os.path.join(here.home, "none/cffi.py"), "w",
              encoding="ascii") as file:
        file.write("raise ImportError('none')\n")
    says("python3-cffi", PYTHONPATH=os.path.join(here.home, "none") + ":" +
         here.env["PYTHONPATH"])


def by_pip(here):
    """pip installs the package, without a network."""
    if subprocess.run([PYTHON, "-m", "pip", "--version"], check=False,
                      stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode:
        print("python: no pip here: apt-get install python3-pip; not tried")
        return
    where = os.path.join(here.home, "pip")
    here.run([PYTHON, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
              "--disable-pip-version-check", "--root-user-action=ignore",
              "--target", where, os.path.join(ROOT, "bindings/python")])
    with open(os.path.join(ROOT, "VERSION"), encoding="ascii") as file:
        wanted = f"vipl {file.read().strip()}"
    listed = here.run([PYTHON, "-m", "pip", "list", "--path", where,
                       "--disable-pip-version-check"])
    if wanted not in " ".join(listed.split()):
        raise Failed(f"pip lists {listed}, not {wanted}")
    here.run([PYTHON, "-c", "import vipl; vipl.Nic('shm:').close()"],
             PYTHONPATH=where)
    print("python by pip: ok")


def both(here, server, clients):
    """What a server prints, and then its clients."""
    process = here.start(server)
    others = [here.start(client) for client in clients]
    try:
        said = [here.end(other) for other in others]
        return here.end(process), said
    finally:
        for other in (process, *others):
            if other.poll() is None:
                other.kill()
                other.communicate()


def alike(name, got, want):
    if got != want:
        raise Failed(f"{name} prints {got}, not {want}")


def on(here, device):
    done = here.start([PYTHON, os.path.join(HERE, "suite.py")],
                      VIPL_TEST_DEVICE=device,
                      VIPL_TEST_VERSION=os.path.join(ROOT, "VERSION"))
    out, err = done.communicate(timeout=300)
    if done.returncode:
        raise Failed(f"suite on {device}:\n{out}{err}")
    print(f"{device}: {err.strip().splitlines()[-3]}")
    lesson = [PYTHON, os.path.join(EXAMPLES, "lesson.py"), device]
    alike("lesson.py", both(here, lesson, [[*lesson, "localhost"]]), (
        "8000 bytes came, 1000 numbers, sum 499500\n",
        ["1000 numbers written, sum 499500\n"]))
    # The other end in C.
    alike("echo.py", both(
        here, [PYTHON, os.path.join(EXAMPLES, "echo.py"), device,
               str(CLIENTS)],
        [[os.path.join(here.examples, "client"), device, "localhost", "30"]]
        * CLIENTS),
        ("a client has left after 30 answers\n" * CLIENTS,
         ["30 answers\n"] * CLIENTS))


def main():
    with tempfile.TemporaryDirectory() as home:
        try:
            here = Installed(home)
            folder = os.path.join(home, "python")
            here.run(["make", "-s", "install-python", f"DESTDIR={folder}",
                      "PYTHONDIR=/lib"], cwd=ROOT)
            here.env["PYTHONPATH"] = folder + "/lib"
            here.env["PYTHONDONTWRITEBYTECODE"] = "1"
            without_library(here)
            by_pip(here)
            here.run(["make", "-s", "client"], cwd=here.examples)
            for device in networks():
                on(here, device)
                print(f"python on {device}: ok")
        except Failed as error:
            print(error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
