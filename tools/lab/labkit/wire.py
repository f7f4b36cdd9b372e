# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One wire: a process of our Ethernet switch, with a port for each node."""

import json
import os
import socket
import subprocess

from .base import BUILD, LabError, die_with_parent


class Wire:
    """The wire that the i-th NIC of every node is on.

    Settings (set() or Lab(wire=...)): loss dup reorder corrupt slip as
    probabilities, seed, burst (frames in a row that one loss takes), gap (a
    reordered frame comes behind 1 to so many later ones) and hold (or after
    this time), delay and jitter ("200us"), rate ("40M" bit/s), queue in
    frames, only (an EtherType in hex that alone suffers), forget (addresses
    are unlearned so often: "20ms", "1ns" for never to learn, 0 for off), cut
    (a list of ports as "0,2" that get and give nothing, "none"), deaf (ports
    that get nothing), mute (that give nothing).
    """

    def __init__(self, lab, number, ports, settings):
        self.number = number
        self.prefix = os.path.join(lab.rundir, f"w{number}")
        self.log = os.path.join(lab.logdir, f"wire{number}.log")
        self.process = None
        self.control = None
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, "lab/switch"), self.prefix, str(ports),
                 *self.words(settings)], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log, text=True,
                preexec_fn=die_with_parent)
        if self.process.stdout.readline() != "ready\n":
            with open(self.log) as log:
                raise LabError(f"the switch: {log.read().strip()}")
        self.control = socket.socket(socket.AF_UNIX)
        self.control.settimeout(20)
        self.control.connect(f"{self.prefix}.control")
        self.file = self.control.makefile("r")

    @staticmethod
    def words(settings):
        for key, value in settings.items():
            if isinstance(value, (list, tuple)):
                value = ",".join(map(str, value)) or "none"
            yield f"{key}={value}"

    def port_path(self, node):
        return f"{self.prefix}.{node}"

    def ask(self, line):
        try:
            self.control.sendall(line.encode() + b"\n")
            answer = self.file.readline().strip()
        except OSError as error:
            raise LabError(f"wire {self.number}: {error}, see {self.log}")
        if not answer:
            raise LabError(f"wire {self.number}'s switch died, see {self.log}")
        if answer.startswith("error"):
            raise LabError(f"wire {self.number}: {answer[7:]}")
        return answer

    def set(self, **settings):
        """Change settings while frames flow."""
        self.ask("set " + " ".join(self.words(settings)))

    def stats(self):
        """Counters: totals and, under "ports", a dict per port."""
        return json.loads(self.ask("stats"))

    def pcap(self, path):
        """Write all frames delivered from now on to a file; "" ends it."""
        self.ask(f"pcap {os.path.abspath(path) if path else ''}".strip())

    def stop(self):
        if self.control:
            self.file.close()
            self.control.close()
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
