#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""vipl_lat, vipl_bw and viaping on each network whose plug-in is here: every
operation, level and way to wait, between two processes of this machine; and
what they say where nothing is."""

import base64
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

from local import Local  # noqa: E402

BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build")
FEW = ("-n", "50")
LAT = (("-e",), ("-l", "rr"), ("-l", "unreliable", "-e"), ("--op", "write"),
       ("--op", "write_imm", "-e"), ("--op", "read"),
       ("--op", "read", "-e", "-l", "rr", "-s", "70000"), ("-a", "-e"))
BW = (("-e",), ("-b", "-e"), ("-l", "rr", "-e"), ("-l", "unreliable", "-e"),
      ("--op", "write", "-s", "100000"), ("--op", "write_imm", "-e"),
      ("--op", "read", "-s", "100000"), ("--op", "read", "-b", "-e"),
      ("-q", "3"), ("-q", "64", "-b", "-e", "-s", "4k"),
      ("-q", "8", "-e", "--op", "read"), ("-a", "-e"))


def zigzag(data):
    """The numbers in ZigZag LEB128."""
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield value >> 1 ^ -(value & 1)
            value = shift = 0


def histograms(path):
    """[(size, {(least, largest value in ns): how many})] of an interval log, by what
    HdrHistogram's documents say of the form."""
    found = []
    with open(path) as file:
        lines = [line for line in file if line[0] not in '#"']
    for line in lines:
        tag, start, length, largest, text = line.rstrip("\n").split(",")
        data = base64.b64decode(text, validate=True)
        cookie, size = struct.unpack(">II", data[:8])
        assert (cookie, size) == (0x1c849314, len(data) - 8), line
        data = zlib.decompress(data[8:])
        assert struct.unpack(">IIIIqqd", data[:40]) == (
            0x1c849313, len(data) - 40, 0, 3, 1, 3600 * 10 ** 9, 1.0), line
        counts, index = {}, 0
        for count in zigzag(data[40:]):
            if count > 0:
                bucket = max(0, index // 1024 - 1)
                low = (index - 1024 * bucket) << bucket
                counts[low, low + (1 << bucket) - 1] = count
            index += max(1, -count)
        assert float(start) >= 0 < float(length), line
        # ms, and to a part in a thousand.
        assert abs(max(counts)[1] / 1e6 - float(largest)) <= \
            0.001 * float(largest) + 0.001, line
        found.append((int(tag.split("=")[1]), counts))
    return found


def value_at(counts, fraction):
    seen, total = 0, sum(counts.values())
    for value in sorted(counts):
        seen += counts[value]
        if seen >= fraction * total:
            return value
    raise AssertionError("an empty histogram")


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
                if "-q" in options:
                    n = int(options[options.index("-q") + 1])
                    self.assertEqual(row["connections"], n)
                    self.assertEqual(row["iterations"],
                                     50 * n * (1 + ("-b" in options)))

    def test_tables(self):
        """At most 100 columns; the processor's time; on one processor."""
        for name in ("vipl_lat", "vipl_bw"):
            server = self.local.start(self.tool(name, "-d", self.device), 1)
            try:
                out = self.local.finish(self.local.start(self.tool(
                    name, "-d", self.device, "-e", *FEW, "--cpus", "0",
                    self.host), 0))
            finally:
                server.kill()
                server.communicate()
            self.assertLessEqual(max(map(len, out.splitlines())), 100)
            heading, row = out.splitlines()[-2:]
            self.assertIn("cpu", heading.split()[-1])
            self.assertGreater(float(row.split()[-1]), 0)

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

    def test_viaping_forms(self):
        """-q, -j and -f."""
        responder = self.local.start(
            self.tool("viaping", "-l", "-d", self.device), 1)
        self.addCleanup(responder.communicate)
        self.addCleanup(responder.kill)
        self.assertIn("answering", responder.stdout.readline())

        def ping(*words):
            return self.local.finish(self.local.start(self.tool(
                "viaping", "-d", self.device, "-c", "5", "-i", "0.01",
                "-W", "9", *words, self.host), 0))
        out = ping("-q")
        self.assertNotIn("seq=", out)
        self.assertIn("5 sent, 5 received, 0% loss", out)
        *answers, last = map(json.loads, ping("-j").splitlines())
        self.assertEqual([a["seq"] for a in answers], [1, 2, 3, 4, 5])
        self.assertEqual((last["sent"], last["received"],
                          last["loss_percent"]), (5, 5, 0))
        self.assertGreater(last["rtt_avg_ms"], 0)
        last, = map(json.loads, ping("-j", "-q").splitlines())
        self.assertEqual(last["received"], 5)
        out = ping("-f")
        self.assertIn("5 sent, 5 received", out)
        dots = re.search(r"(?m)^[.\b ]+$", out).group()
        self.assertEqual((dots.count("."), dots.count("\b \b")), (5, 5))

    def test_exact_beside(self):
        """Two at once, each with its own other end."""
        words = ("vipl_lat", "--exact", "-d", self.device, "-n", "2000")
        both = [self.local.start(self.tool(*words), end) for end in (0, 1)]
        for one in both:
            self.local.finish(one)

    def test_exact(self):
        """Both ends in one process, and in two that one has made."""
        for words in ((), ("-e",)):
            out = self.local.finish(self.local.start(self.tool(
                "vipl_lat", "--exact", "-d", self.device, *FEW, *words), 0))
            self.assertIn("#bytes", out)

    def test_exact_counts(self):
        """A time instead of a number is refused where it would not be kept."""
        for tool in ("vipl_lat", "vipl_bw"):
            done = subprocess.run(
                self.tool(tool, "--exact", "-d", self.device, "-D", "1"),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("leave out", done.stderr)

    def test_no_bytes(self):
        """A message may have none: one row, as of any other size."""
        for tool in ("vipl_lat", "vipl_bw"):
            out = self.local.finish(self.local.start(self.tool(
                tool, "--exact", "-d", self.device, "-s", "0", *FEW), 0))
            self.assertEqual(len(re.findall(r"(?m)^ *0 +\d+ ", out)), 1, out)
            row = self.local.via(tool, self.device, self.host, "-s", "0", "-e",
                                 *FEW)
            self.assertEqual(row["bytes"], 0)

    def served(self, tool, *words):
        """(server, client), of which the client runs; both are killed in the
        end."""
        where = ["-d", self.device, "-p", str(self.local.port)]
        server = self.local.start(self.tool(tool, *where), 1)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        client = self.local.start(
            self.tool(tool, *where, *words, self.host), 0)
        self.addCleanup(client.communicate)
        self.addCleanup(client.kill)
        return server, client

    def cut(self, tool, end, *options):
        """A client that is cut short while it measures: (status, its last
        row, standard error)."""
        server, client = self.served(tool, "-D", "60", "-i", "0.1", "--json",
                                     "-", *options)
        first = client.stdout.readline()
        self.assertIn("from_s", first)
        end(server, client)
        out, err = client.communicate(timeout=60)
        # The next one wants its port.
        server.kill()
        server.wait(60)
        *parts, row = [json.loads(line) for line in (first + out).splitlines()]
        self.assertEqual(sum(p["iterations"] for p in parts),
                         row["iterations"])
        return client.returncode, row, err

    def test_interrupt(self):
        """What was measured is printed, and the signal is not hidden."""
        for tool, *options in (("vipl_lat",), ("vipl_lat", "-e"),
                               ("vipl_bw", "-e"), ("vipl_bw", "-b")):
            with self.subTest(tool=tool, options=options):
                status, row, err = self.cut(
                    tool, lambda s, c: c.send_signal(signal.SIGINT), *options)
                self.assertEqual(status, -signal.SIGINT)
                self.assertEqual(row["partial"], "interrupted")
                self.assertGreater(row["iterations"], 0)
                self.assertIn("# partial", err)

    def test_interrupt_asleep(self):
        """The other end does not answer, and never will."""
        def end(server, client):
            server.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            client.send_signal(signal.SIGTERM)

        for options in ((), ("-e",)):
            status, row, _ = self.cut("vipl_lat", end, *options)
            self.assertEqual(status, -signal.SIGTERM)
            self.assertEqual(row["partial"], "interrupted")

    def test_lost(self):
        """The other end dies: what was measured is printed, and why it is a
        part."""
        for tool, *options in (("vipl_lat",), ("vipl_lat", "-e"),
                               ("vipl_bw", "-e")):
            with self.subTest(tool=tool, options=options):
                status, row, err = self.cut(tool, lambda s, c: s.kill(),
                                            *options)
                self.assertEqual(status, 1)
                self.assertIn("connection is lost", row["partial"])
                self.assertGreater(row["iterations"], 0)
                self.assertIn(row["partial"], err)

    def said(self, *words):
        done = subprocess.run(self.tool(*words), env=self.local.env, text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_no_server(self):
        said = self.said("viaping", "-d", self.device, "-c", "1", self.host)
        self.assertIn("start one there: viaping -l", said)

    def test_no_host(self):
        said = self.said("viaping", "-d", self.device, "-c", "1",
                         "no-such-host.invalid")
        self.assertIn("unknown host", said)


class Shm(Network, unittest.TestCase):
    # A space of its own: other tests run beside this one.
    plugin, device, host = ("shm", f"shm:{1000 + os.getpid() % 9000}",
                            "localhost")

    def test_json_alone(self):
        """All lines are JSON, and the table is on standard error."""
        for tool in ("vipl_lat", "vipl_bw"):
            _, client = self.served(tool, *FEW, "--json", "-")
            out, err = client.communicate(timeout=60)
            self.assertEqual([json.loads(line)["tool"]
                              for line in out.splitlines()], [tool])
            self.assertIn("#bytes", err)

    def test_histogram(self):
        """The log, beside what is printed of the same messages."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            row = self.local.via("vipl_lat", self.device, self.host, "-n",
                                 "2000", "-s", "16", "-e", "--histogram", log)
            (size, counts), = histograms(log)
        self.assertEqual((size, sum(counts.values())), (16, 2000))
        for name, fraction in (("p50", .5), ("p90", .9), ("p99", .99),
                               ("p999", .999), ("p9999", .9999),
                               ("t_max", 1)):
            least, largest = value_at(counts, fraction)
            # Half a ns is printed as one or none.
            self.assertLessEqual(least, row[name] * 1000 + 0.6, name)
            self.assertLess(row[name] * 1000, largest + 1.6, name)

    def test_intervals(self):
        """What is printed meanwhile, and logged, is all that there is."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            _, client = self.served("vipl_lat", "-D", "1", "-i", "0.2", "-e",
                                    "--json", "-", "--histogram", log)
            out, err = client.communicate(timeout=60)
            logged = [sum(c.values()) for _, c in histograms(log)]
        *parts, whole = map(json.loads, out.splitlines())
        self.assertGreater(len(parts), 1)
        self.assertEqual(logged, [p["iterations"] for p in parts])
        self.assertEqual(sum(logged), whole["iterations"])
        self.assertEqual(len(re.findall(r"(?m)^# [\d.]+-[\d.]+ s: ", err)),
                         len(parts))
        _, client = self.served("vipl_bw", "-D", "1", "-i", "0.2", "-e",
                                "--json", "-")
        out, err = client.communicate(timeout=60)
        self.assertGreater(len(out.splitlines()), 2)

    def test_progress(self):
        """On a terminal, of a run of more than two seconds only."""
        for seconds, wanted in (("1", False), ("3", True)):
            ours, terminal = pty.openpty()
            where = ["-d", self.device, "-p", str(self.local.port)]
            server = self.local.start(self.tool("vipl_lat", *where), 1)
            client = subprocess.Popen(
                self.tool("vipl_lat", *where, "-e", "-D", seconds, self.host),
                env=self.local.env, stdout=subprocess.DEVNULL, stderr=terminal)
            os.close(terminal)
            text = b""
            try:
                while True:
                    text += os.read(ours, 4096)
            except OSError:
                os.close(ours)      # the last one has closed it
            self.assertEqual(client.wait(60), 0)
            server.communicate(timeout=60)
            self.assertEqual(bool(re.search(
                rb"\r\x1b\[K4 bytes, \d+ messages: \d+ %, \d+ s left", text)),
                wanted, text)
            # The last line of it is wiped out.
            self.assertTrue(not text or text.endswith(b"\r\x1b[K"), text)


class OfiTcp(Network, unittest.TestCase):
    plugin, device, host = "ofi", "ofi:tcp,lo", "localhost"


class Viainfo(unittest.TestCase):
    """A line for each NIC; all of it with -v."""

    def setUp(self):
        self.local = Local(BUILD)
        if not self.local.plugin("shm"):
            self.skipTest("no plug-in shm.so")

    def run_it(self, *words):
        return subprocess.run([os.path.join(BUILD, "tools/viainfo"), *words],
                              env=self.local.env, text=True,
                              capture_output=True, timeout=60)

    def test_line(self):
        done = self.run_it("-d", "shm:0")
        self.assertEqual(done.returncode, 0)
        heading, line = done.stdout.splitlines()
        self.assertEqual(heading.split(),
                         ["NIC", "STATE", "LINK", "ADDRESS", "PROVIDER"])
        self.assertRegex(line, r"^shm:0 +up +this host +[0-9a-f]{32} +shm$")
        self.assertLessEqual(len(line), 80)
        lines = self.run_it().stdout.splitlines()
        self.assertEqual(sum(x.startswith("NIC ") for x in lines), 1)
        self.assertEqual(sum(x.startswith("shm:0 ") for x in lines), 1)

    def test_all(self):
        out = self.run_it("-v", "-d", "shm:0").stdout
        self.assertRegex(out, r"(?m)^    MaxTransferSize +\d+$")
        row, = json.loads(self.run_it("-j", "-d", "shm:0").stdout)
        self.assertEqual((row["state"], row["link"], row["provider"]),
                         ("up", "this host", "shm"))

    def test_error(self):
        done = self.run_it("-d", "via_nosuch")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^via_nosuch +error +- +- +ka$")
        self.assertIn("no VI NIC via_nosuch", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 2)


class CommandLines(unittest.TestCase):
    """What is the same in every tool."""
    TOOLS = ("viainfo", "viaping", "viastat", "vipl_lat", "vipl_bw", "via",
             "viaplot", "via-bind")
    MORE = ("via", "via-bind")
    WRONG = {"viaping": ("-i x h", "-W -1 h", "", "a b"),
             "viastat": ("-i x", "a b"), "viainfo": ("a",),
             "vipl_lat": ("-s x", "-l x", "-i 0", "a b", "--op write -e h",
                          "--op read -l unreliable h", "--cpus x h",
                          "--cpus 0,1 h", "--cpus 1,2,3 h", "--peer-dev a"),
             "vipl_bw": ("-q 0 h", "-q 65 h", "--exact -q 2",
                         "--op x", "-p 0", "--exact --op write",
                         "--exact -b"),
             "viaplot": ("x", "latency"), "via-bind": ("", "a b"),
             "via": ("", "x", "dev x")}

    def tools(self):
        """The tools; make local builds those alone that need no package."""
        for name in self.TOOLS:
            if name not in self.MORE or os.path.exists(
                    os.path.join(BUILD, "tools", name)):
                yield name

    def run_it(self, name, *words):
        return subprocess.run([os.path.join(BUILD, "tools", name), *words],
                              text=True, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL)

    def test_version(self):
        for name in self.tools():
            done = [self.run_it(name, word) for word in ("-V", "--version")]
            for one in done:
                self.assertEqual((one.returncode, one.stderr), (0, ""), name)
                self.assertEqual(one.stdout.split()[:2], [name, "(mvia)"])
            self.assertEqual(done[0].stdout, done[1].stdout)

    def test_help(self):
        """One screen."""
        for name in (*self.tools(), "via stat"):
            if name.split()[0] not in self.tools():
                continue
            with self.subTest(tool=name):
                lines = self.run_it(
                    *name.split(), "--help").stdout.splitlines()
                self.assertLessEqual(len(lines), 24)
                self.assertEqual([x for x in lines if len(x) > 80], [])

    def test_usage(self):
        for name in self.tools():
            for words in ("--nosuch", *self.WRONG[name]):
                with self.subTest(tool=name, words=words):
                    done = self.run_it(name, *words.split())
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertNotEqual(done.stderr, "")


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
        fault, remedy = self.said().splitlines()
        self.assertIn("no VI NIC", fault)
        self.assertIn("as root: ", remedy)
        self.assertLessEqual(max(len(fault), len(remedy)), 80)

    def test_no_plugin(self):
        said = self.said(VIPL_NIC="shm:0", VIPL_PROVIDERS="/nonexistent")
        self.assertIn("shm.so", said)


if __name__ == "__main__":
    unittest.main()
