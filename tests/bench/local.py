# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Two processes of this machine, each on a processor of its own: VIA through
a provider that needs no kernel module, and what it stands beside."""

import json
import os
import subprocess
import time

LIMIT = 60      # seconds that a run may take
SIZE = 65536    # bytes of a message of bandwidth


class Failed(Exception):
    """A run that gave no figure."""


def processors():
    """Two, of different cores where there are; one of them twice where this
    process may use one only."""
    cores = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list"
        try:
            with open(path) as file:
                core = file.read().strip()
        except OSError:
            core = str(cpu)
        cores.setdefault(core, cpu)
    found = list(cores.values()) + sorted(os.sched_getaffinity(0))
    return found[0], next((c for c in found[1:] if c != found[0]), found[0])


def listening(port, seconds=5):
    """Wait until a TCP socket of this machine listens there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with open("/proc/net/tcp") as file:
            if any(f":{port:04X} " in line and " 0A " in line
                   for line in file):
                return
        time.sleep(0.01)
    raise Failed(f"nothing listens on port {port}")


def last_line(text):
    return (text.strip().splitlines() or ["no output"])[-1]


class Local:
    """Runs pairs of programs; each gives the client's figures."""

    def __init__(self, build):
        self.build = build
        self.cpus = processors()
        self.alone = self.cpus[0] == self.cpus[1]
        self.env = {**os.environ, "VIPL_QUIET": "0"}
        self.env.setdefault("VIPL_PROVIDERS", os.path.join(build, "providers"))
        # Others may measure on this machine, as the same user.
        self.port = 20000 + os.getpid() % 8000
        self.env.setdefault("VIPL_OFI_PORT", str(self.port - 8000))

    def plugin(self, name):
        """Is there one of that name?"""
        folder = self.env["VIPL_PROVIDERS"]
        return os.path.exists(os.path.join(folder, f"{name}.so"))

    def start(self, command, end):
        return subprocess.Popen(
            command, env=self.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, {self.cpus[end]}))

    def finish(self, process):
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed(f"{' '.join(process.args)}: not over after "
                         f"{LIMIT} s")
        if process.returncode:
            raise Failed(f"{' '.join(process.args)}: {last_line(err or out)}")
        return out

    def pair(self, server, client, ready=lambda: None):
        """What the client prints."""
        serving = self.start(server, 1)
        try:
            ready()
            out = self.finish(self.start(client, 0))
            self.finish(serving)
            return out
        finally:
            if serving.poll() is None:
                serving.kill()
                serving.communicate()

    @staticmethod
    def row(text):
        rows = [json.loads(line) for line in text.splitlines()
                if line.startswith("{")]
        if not rows:
            raise Failed(f"no figures in: {text.strip()[:200]}")
        return rows[-1]

    def via(self, tool, device, host, *options):
        command = [os.path.join(self.build, "tools", tool), "-d", device,
                   "-p", str(self.port)]
        return self.row(self.pair(command, [*command, *options, "--json", "-",
                                            host]))

    def via_lat(self, device, host, iters, block=False):
        """Half a round trip of 4 bytes, us."""
        return self.via("vipl_lat", device, host, "-s", "4", "-n", str(iters),
                        *["-e"] * block)["t_typical"]

    def via_bw(self, device, host, iters, block=False):
        """Mb/s."""
        return self.via("vipl_bw", device, host, "-s", str(SIZE), "-n",
                        str(iters), *["-e"] * block)["bw_average_mbps"]

    def sock(self, proto, *options, block):
        """The other end is a child of its own."""
        command = [os.path.join(self.build, "tests/bench/sock_lat"), "--exact",
                   "--proto", proto, "-p", str(self.port), "--cpus",
                   f"{self.cpus[0]},{self.cpus[1]}", "--json", "-", *options]
        command += ["--poll"] * (not block) + ["127.0.0.1"] * (proto == "tcp")
        return self.row(self.finish(subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)))

    def sock_lat(self, proto, iters, block=False):
        return self.sock(proto, "-s", "4", "-n", str(iters),
                         block=block)["t_typical"]

    def sock_bw(self, proto, iters, block=False):
        return self.sock(proto, "--bw", "-s", str(SIZE), "-n", str(iters),
                         block=block)["bw_average_mbps"]

    def fi_pingpong(self, provider, size, iters):
        """Of libfabric itself: (half a round trip in us, Mb/s both ways)."""
        command = ["fi_pingpong", "-p", provider, "-e", "rdm", "-S",
                   str(size), "-I", str(iters)]
        out = self.pair([*command, "-B", str(self.port)],
                        [*command, "-P", str(self.port), "127.0.0.1"],
                        lambda: listening(self.port))
        words = last_line(out).split()
        if len(words) != 8:
            raise Failed(f"fi_pingpong: {last_line(out)}")
        return float(words[6]), float(words[5]) * 8
