# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One wire: a process of our Ethernet switch, with a port for each node."""

import json
import os
import re
import socket
import subprocess

from .base import BUILD, LabError, die_with_parent, prefer

PORTS = ("cut", "deaf", "mute")  # settings whose value is a list


def settings(text):
    """{"loss": "0.01", "cut": "0,2"} from "loss=0.01,cut=0,2"."""
    found, key = {}, None
    for word in filter(None, re.split(r"[ ,]", text)):
        if "=" in word:
            key, _, value = word.partition("=")
            found[key] = value
        elif key in PORTS and word.isdigit():
            found[key] += f",{word}"
        else:
            raise LabError(f"'{word}' is no setting of a wire, those are "
                           "KEY=VALUE, as loss=0.01,delay=200us")
    return found


class Control:
    """Talks to the switch of a wire, from any process."""

    def __init__(self, number, prefix, log):
        self.number, self.prefix, self.log = number, prefix, log
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        try:
            self.socket.connect(f"{prefix}.control")
        except OSError as error:
            raise LabError(f"wire {number} does not answer: {error}")
        self.file = self.socket.makefile("r")

    @staticmethod
    def words(settings):
        for key, value in settings.items():
            if isinstance(value, (list, tuple)):
                value = ",".join(map(str, value)) or "none"
            yield f"{key}={value}"

    def ask(self, line):
        try:
            self.socket.sendall(line.encode() + b"\n")
            answer = self.file.readline().strip()
        except OSError as error:
            raise LabError(f"wire {self.number}: {error}, see {self.log}")
        if not answer:
            raise LabError(f"wire {self.number}'s switch died, see {self.log}")
        if answer.startswith("error"):
            raise LabError(f"wire {self.number}: {answer[6:]}")
        return answer

    def set(self, **settings):
        """Change settings while frames flow."""
        self.ask("set " + " ".join(self.words(settings)))

    def show(self):
        """The settings that hold, as one line of KEY=VALUE."""
        return self.ask("show")

    def stats(self):
        """Counters: totals and, under "ports", a dict per port."""
        return json.loads(self.ask("stats"))

    def pcap(self, path):
        """Write all frames delivered from now on to a file; "" ends it."""
        self.ask(f"pcap {os.path.abspath(path) if path else ''}".strip())

    def close(self):
        self.file.close()
        self.socket.close()


class Wire(Control):
    """The wire that the i-th NIC of every node is on.

    Settings (set() or Lab(wire=...)): loss dup reorder corrupt slip as
    probabilities, seed, burst (frames in a row that one loss takes), gap (a
    reordered frame comes behind 1 to so many later ones) and hold (or after
    this time), delay and jitter ("200us"), rate ("40M" bit/s), queue in
    frames, only (an EtherType in hex that alone suffers), least and most
    (bytes of the frames that alone suffer), each (every so-many-th of them is
    lost, the first one to begin with), forget (addresses
    are unlearned so often: "20ms", "1ns" for never to learn, 0 for off), cut
    (a list of ports as "0,2" that get and give nothing, "none"), deaf (ports
    that get nothing), mute (that give nothing).
    """

    def __init__(self, lab, number, ports, settings):
        self.prefix = os.path.join(lab.rundir, f"w{number}")
        self.log = os.path.join(lab.logdir, f"wire{number}.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, "lab/switch"), self.prefix, str(ports),
                 *self.words(settings)], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log, text=True,
                preexec_fn=die_with_parent)
        if self.process.stdout.readline() != "ready\n":
            with open(self.log) as log:
                raise LabError(f"wire {number}: {log.read().strip()}")
        prefer(self.process.pid)
        super().__init__(number, self.prefix, self.log)

    def port_path(self, node):
        return f"{self.prefix}.{node}"

    def stop(self):
        self.close()
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
