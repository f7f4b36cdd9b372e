#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The programs of examples/, as installed: built by their own Makefile with
gcc and clang without a warning, and run on each network that needs no kernel
module, with what they print compared."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from installed import ROOT, Failed, Installed, networks  # noqa: E402

CLIENTS, MESSAGES, RECORDS = 5, 40, 3000
LEFT = f"a client has left after {MESSAGES} answers"


def build(here, folder, compiler):
    here.run(["make", "-s", "clean", "all", f"CC={compiler}",
              "CFLAGS=-O2 -g -Werror"], cwd=folder)


def alike(name, got, want):
    if got != want:
        raise Failed(f"{name} prints '{got}', not '{want}'")


def ended(process, seconds):
    """Whether it ends in time; its output is still to be read."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


class Examples:
    """They run in a folder, on one network."""

    def __init__(self, here, folder, device):
        self.here, self.folder, self.device = here, folder, device

    def start(self, name, *words):
        return self.here.start([os.path.join(self.folder, name), self.device,
                                *words])

    def both(self, first, second):
        """What a server and its client print."""
        server = self.start(*first)
        try:
            client = self.here.end(self.start(*second))
            return self.here.end(server), client
        finally:
            if server.poll() is None:
                server.kill()
                server.communicate()

    def hello(self):
        """It does not ask twice: until the server is there."""
        end = time.monotonic() + 30
        server = self.start("hello")
        try:
            while True:
                try:
                    self.here.end(self.start("hello", "localhost"))
                    break
                except Failed as error:
                    if "no match" not in str(error) or \
                            time.monotonic() > end:
                        raise
            alike("hello", self.here.end(server),
                  "64 bytes: hello, world\n")
        finally:
            if server.poll() is None:
                server.kill()
                server.communicate()

    def rdma_write(self):
        target, writer = self.both(["rdma_write"],
                                   ["rdma_write", "localhost"])
        alike("rdma_write", target,
              "version 7, 4096 bytes: written by the peer\n")
        alike("rdma_write", writer, "4096 bytes written\n")

    def peer(self):
        said = self.both(["peer", "localhost", "alice", "bob"],
                         ["peer", "localhost", "bob", "alice"])
        alike("peer", said, ("bob says: I am bob\n",
                             "alice says: I am alice\n"))

    def ring(self):
        said = self.both(["ring"], ["ring", "localhost", str(RECORDS)])
        found = [re.fullmatch(rf"(?:consumed|produced) {RECORDS} records, "
                              r"sum ([0-9a-f]{8})\n", text) for text in said]
        if not all(found) or found[0][1] != found[1][1]:
            raise Failed(f"ring prints {said}")

    def many(self, name):
        """Clients at once, one of which is killed while it talks."""
        server = self.start(name, str(CLIENTS + 1))
        others = []
        try:
            killed = self.start("client", "localhost", "1000000")
            clients = [self.start("client", "localhost", str(MESSAGES))
                       for _ in range(CLIENTS)]
            others = [killed, *clients]
            for client in clients:
                alike("client", self.here.end(client),
                      f"{MESSAGES} answers\n")
            killed.kill()
            killed.communicate()
            # It may not have been connected yet.
            for patience in range(1, 20):
                if ended(server, patience):
                    break
                killed = self.start("client", "localhost", "1000000")
                others.append(killed)
                time.sleep(patience / 4)
                killed.kill()
            said = self.here.end(server).splitlines()
            if len(said) != CLIENTS + 1 or said.count(LEFT) < CLIENTS:
                raise Failed(f"{name} prints {said}")
        finally:
            for process in (server, *others):
                if process.poll() is None:
                    process.kill()
                    process.communicate()

    def all(self):
        self.hello()
        self.rdma_write()
        self.peer()
        self.ring()
        self.many("server")
        self.many("epoll")


def readme(here, home):
    """README's program: 12 lines, which compile and run on each network."""
    with open(os.path.join(ROOT, "README.md")) as file:
        text = re.search(r"^```c tiny\.c\n(.*?)^```$", file.read(),
                         re.M | re.S)[1]
    if len(text.splitlines()) > 12:
        raise Failed("README's program has more than 12 lines")
    source, program = (os.path.join(home, n) for n in ("tiny.c", "tiny"))
    with open(source, "w") as file:
        file.write(text)
    flags = here.run(["pkg-config", "--cflags", "--libs", "vipl"]).split()
    here.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", program, source,
              *flags])
    for device in networks():
        said = here.run([program, device])
        if not re.fullmatch(r"\S+: messages of up to \d+ bytes\n", said):
            raise Failed(f"README's program prints '{said}'")


def refused(here, folder):
    """A call that fails ends the program with its text."""
    for command, want in (
            (["hello"], "usage: hello DEVICE [HOST]"),
            (["hello", "none:0"], "invalid parameter"),
            (["client", "shm:0", "no.such.host"],
             "no.such.host: name not found")):
        process = here.start([os.path.join(folder, command[0]),
                              *command[1:]], VIPL_QUIET="1")
        out, err = process.communicate(timeout=60)
        if not process.returncode or want not in err:
            raise Failed(f"{' '.join(command)}: '{err.strip()}'")


def main():
    with tempfile.TemporaryDirectory() as home:
        try:
            here = Installed(home)
            folder = here.examples
            with open(os.path.join(folder, "hello.c")) as file:
                if len(file.readlines()) > 60:
                    raise Failed("hello.c has more than 60 lines")
            for compiler in ("clang", "gcc"):
                if shutil.which(compiler):
                    build(here, folder, compiler)
                else:
                    print(f"no {compiler} here")
            readme(here, home)
            refused(here, folder)
            for device in networks():
                Examples(here, folder, device).all()
                print(f"examples on {device}: ok")
        except Failed as error:
            print(error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
