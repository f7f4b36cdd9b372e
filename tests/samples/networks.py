#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs as they were written around the year 2000, linked once with
libvipl.so.1, on each network whose plug-in is here: no program is built, and
none knows the name of a network.  tests/check/steps/samples.py does it with
kernel modules, in guests."""

import errno
import os
import re
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
BUILD = os.path.join(ROOT, "build")
LIMIT = 60

# Plug-in, device, whether it connects processes. Of shm a space of its own,
# since other tests run beside this one; the host may have no address but the
# loopback's.
NETWORKS = (("skeleton", "skeleton:", False),
            ("shm", f"shm:{1000 + os.getpid() % 9000}", True),
            ("ofi", "ofi:tcp,lo", True))


class Failed(Exception):
    """What went wrong, in a line."""


class Runner:
    """Runs programs of a build with nothing of this user's in their
    environment."""

    def __init__(self, home, build):
        self.home, self.build = home, build
        folder = os.path.join(build, "providers")
        self.env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                    "HOME": home, "VIPL_PROVIDERS": folder,
                    # This user may have programs that use ofi.
                    "VIPL_OFI_PORT": str(12000 + os.getpid() % 8000)}
        # Where a sanitizer's library came from.
        for name in ("LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.folder = folder

    def program(self, name):
        return os.path.join(self.build, "samples", name)

    def configure(self, text):
        folder = os.path.join(self.home, ".config")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "vipl.conf"), "w") as file:
            file.write(text)

    def start(self, command, **env):
        return subprocess.Popen(command, env={**self.env, **env}, text=True,
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def end(self, process, status=0):
        """Its output; what it says on standard error is a failure."""
        name = " ".join([os.path.basename(process.args[0]),
                         *process.args[1:]])
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed(f"{name}: not over after {LIMIT} s")
        if process.returncode != status or (err and not status):
            raise Failed(f"{name}: status {process.returncode}, "
                         f"'{err.strip()[-300:]}'")
        return out + err

    def run(self, command, **env):
        return self.end(self.start(command, **env))


def one_process(runner, device):
    """Loads the library itself, under both of its names."""
    for library in ("libvipl.so.1", "libvipl.so"):
        runner.run([runner.program("dl"),
                    os.path.join(runner.build, library), device])


def two_processes(runner, device):
    for name in ("old10", "old095"):
        if "50 rounds" not in runner.run([runner.program(name), device]):
            raise Failed(f"{name} {device}: it did not play its rounds")
    server = runner.start([runner.program("hello"), device])
    try:
        client = runner.run([runner.program("hello"), device, "localhost",
                             "bonjour"])
        served = runner.end(server)
    finally:
        if server.poll() is None:
            server.kill()
            server.communicate()
    if "heard 'bonjour'" not in served or \
            "heard 'bonjour to you'" not in client:
        raise Failed(f"hello {device}: '{served.strip()}', "
                     f"'{client.strip()}'")


LOSS = re.compile(r"vipl: .+: the connection of VI 0x[0-9a-f]+ to \S+ is "
                  r"lost$")
LAST = re.compile(r"vipl: .+: descriptor 0x[0-9a-f]+ is "
                  r"misaligned")


def until(stream, last):
    """The lines before the one that is last."""
    lines = []
    for line in stream:
        if last.match(line):
            return lines
        lines.append(line.rstrip())
    raise Failed(f"it ends with '{' / '.join(lines)[-300:]}'")


def said_of_end(runner, device, how):
    """What the server has said when its connection is over; ends.c tells
    how its last line is known."""
    server = runner.start([runner.program("ends"), device])
    client = runner.start([runner.program("ends"), device, "localhost",
                           "stay" if how == "kill" else how])
    ended = threading.Timer(LIMIT, lambda: (server.kill(), client.kill()))
    ended.start()
    try:
        until(client.stdout, re.compile("connected"))
        if how == "kill":
            client.kill()
        return until(server.stderr, LAST)
    except Failed as error:
        raise Failed(f"ends {device}, {how}: {error}")
    finally:
        ended.cancel()
        for process in (server, client):
            process.kill()
            process.communicate()


def ends(runner, device):
    """A program without a handler of errors says nothing when its peer ends,
    and a sentence when the connection breaks."""
    for how in ("disconnect", "destroy", "close", "exit", "kill", "flood"):
        lines = said_of_end(runner, device, how)
        if len(lines) != (how == "flood") or \
                not all(LOSS.match(line) for line in lines):
            raise Failed(f"ends {device}, {how}: the server says {lines}")


def renamed(runner, device, runs):
    """The names of old programs lead there, by the environment and by a
    file."""
    runs(Without(runner, VIPL_NIC=device), "nic0")
    runner.configure(f"alias clanvi7 {device}\ndefault {device}\n")
    runs(runner, "clanvi7")
    runs(runner, "VINIC")
    runner.configure("")


class Without:
    """The runner with more in the environment of programs."""

    def __init__(self, runner, **env):
        self.runner, self.env = runner, env
        self.end, self.program = runner.end, runner.program
        self.build = runner.build

    def start(self, command, **env):
        return self.runner.start(command, **self.env, **env)

    def run(self, command, **env):
        return self.runner.run(command, **self.env, **env)


def static(runner, device):
    """Such a program can load no plug-in, and is told so."""
    said = runner.end(runner.start([runner.program("old10-static"), device]), 1)
    if "-static" not in said:
        raise Failed(f"old10-static {device} says '{said.strip()}'")


def network(runner, device, processes):
    runs = two_processes if processes else one_process
    one_process(runner, device)
    if processes:
        two_processes(runner, device)
        ends(runner, device)
        static(runner, device)
    renamed(runner, device, runs)


# Of shm, as above; and the rings alone, where no process is read.
WAYS = ({}, {"VIPL_SHM_PULL": "bounce"})


def widths(home, builds):
    """32-bit and 64-bit programs with each other; how many pairs."""
    builds = [build for build in builds
              if os.path.exists(os.path.join(build, "providers", "shm.so"))]
    device = NETWORKS[1][1]
    for first in builds:
        for second in builds:
            for way in WAYS:
                width(Runner(home, first), Runner(home, second), device, way)
    if len(builds) > 1:
        print(f"{device}, 32 and 64 bits: ok")


def width(first, second, device, way):
    server = first.start([first.program("widths"), device], **way)
    try:
        second.run([second.program("widths"), device, "localhost"], **way)
        first.end(server)
    except Failed as error:
        server.kill()
        said = "".join(server.communicate())
        raise Failed(f"{device}, {os.path.basename(first.build)} and "
                     f"{os.path.basename(second.build)} {way}: {error}; "
                     f"'{said.strip()[-300:]}'")


def runs_here(build):
    """Has this kernel programs of that width?  CONFIG_IA32_EMULATION may be off."""
    program = os.path.join(build, "samples/dl")
    try:
        subprocess.run([program], stdin=subprocess.DEVNULL, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        print(f"{os.path.basename(build)}: this kernel runs no such programs")
        return False
    return True


def every_network(build, home):
    """How many there are; those of a build that is not there are none."""
    runner, here = Runner(home, build), 0
    for plugin, device, processes in NETWORKS:
        name = f"{device}, {os.path.basename(build)}"
        if plugin == "ofi" and build != BUILD:
            continue  # Debian has no libfabric of 32 bits beside the other
        if not os.path.exists(os.path.join(runner.folder, f"{plugin}.so")):
            print(f"{name}: no plug-in {plugin}.so")
            continue
        try:
            network(runner, device, processes)
        except Failed as error:
            raise Failed(f"{name}: {error}")
        print(f"{name}: ok")
        here += 1
    return here


def main():
    builds = [b for b in (BUILD, os.path.join(BUILD, "m32")) if runs_here(b)]
    with tempfile.TemporaryDirectory() as home:
        try:
            here = sum(every_network(build, home) for build in builds)
            widths(home, builds)
        except Failed as error:
            print(error)
            return 1
    if here:
        return 0
    print("no plug-in of these networks is built")
    return 77


if __name__ == "__main__":
    sys.exit(main())
