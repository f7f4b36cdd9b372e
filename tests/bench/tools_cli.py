#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""vipl_lat, vipl_bw and viaping on each network whose plug-in is here: every
operation, level and way to wait, between two processes of this machine; and
what they say where nothing is."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

from local import Local  # noqa: E402

BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build")
FEW = ("-n", "50")
LAT = (("-e",), ("-l", "rr"), ("-l", "unreliable", "-e"), ("--op", "write"),
       ("--op", "write_imm", "-e"), ("-a", "-e"))
BW = (("-e",), ("-b", "-e"), ("-l", "rr", "-e"), ("-l", "unreliable", "-e"),
      ("--op", "write", "-s", "100000"), ("--op", "write_imm", "-e"),
      ("-a", "-e"))


class Network:
    """The tests of one; a class for each makes them tests."""
    plugin = device = host = None

    @classmethod
    def setUpClass(cls):
        cls.local = Local(BUILD)
        cls.local.env["HOME"] = "/nonexistent"
        if not cls.local.plugin(cls.plugin):
            raise unittest.SkipTest(f"no plug-in {cls.plugin}.so")

    def test_vipl_lat(self):
        for options in LAT:
            with self.subTest(options=options):
                row = self.local.via("vipl_lat", self.device, self.host,
                                     *FEW, *options)
                self.assertGreater(row["t_typical"], 0)
                if "-a" in options:
                    self.assertEqual(row["bytes"], 1 << 20)

    def test_vipl_bw(self):
        for options in BW:
            with self.subTest(options=options):
                row = self.local.via("vipl_bw", self.device, self.host, *FEW,
                                     *options)
                self.assertGreater(row["bw_average_mbps"], 0)
                self.assertEqual(row["lost"], 0)

    def tool(self, name, *words):
        return [os.path.join(BUILD, "tools", name), *words]

    def test_viaping(self):
        responder = self.local.start(
            self.tool("viaping", "-l", "-d", self.device), 1)
        try:
            self.assertIn("answering", responder.stdout.readline())
            out = self.local.finish(self.local.start(self.tool(
                "viaping", "-d", self.device, "-c", "3", "-i", "0.01",
                self.host), 0))
        finally:
            responder.kill()
            responder.communicate()
        self.assertIn("3 sent, 3 received, 0% loss", out)

    def test_exact(self):
        """Both ends in one process, and in two that one has made."""
        for words in ((), ("-e",)):
            out = self.local.finish(self.local.start(self.tool(
                "vipl_lat", "--exact", "-d", self.device, *FEW, *words), 0))
            self.assertIn("#bytes", out)

    def said(self, *words):
        done = subprocess.run(self.tool(*words), env=self.local.env, text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_no_server(self):
        said = self.said("viaping", "-d", self.device, "-c", "1", self.host)
        self.assertIn("start 'viaping -l", said)

    def test_no_host(self):
        said = self.said("viaping", "-d", self.device, "-c", "1",
                         "no-such-host.invalid")
        self.assertIn("unknown host", said)


class Shm(Network, unittest.TestCase):
    # A space of its own: other tests run beside this one.
    plugin, device, host = ("shm", f"shm:{1000 + os.getpid() % 9000}",
                            "localhost")


class OfiTcp(Network, unittest.TestCase):
    plugin, device, host = "ofi", "ofi:tcp,lo", "localhost"


class Nothing(unittest.TestCase):
    """What is said where nothing is: the remedies."""

    def said(self, **env):
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(
                [os.path.join(BUILD, "tools/vipl_lat")], text=True,
                env={"HOME": home, **env}, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    @unittest.skipIf(os.path.exists("/sys/class/via"), "there is a VI NIC")
    def test_no_nic(self):
        said = self.said()
        for remedy in ("shm:0", "ofi:tcp", "modprobe via_lo"):
            self.assertIn(remedy, said)

    def test_no_plugin(self):
        said = self.said(VIPL_NIC="shm:0", VIPL_PROVIDERS="/nonexistent")
        self.assertIn("shm.so", said)


if __name__ == "__main__":
    unittest.main()
