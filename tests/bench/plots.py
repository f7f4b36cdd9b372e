#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""viaplot: what is in its plots, of figures that are given here and of those
that docs/plots was made of; and what it says of files that are wrong."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
VIAPLOT = os.path.join(ROOT, "tools/viaplot")
RECORDS = os.path.join(ROOT, "tests/bench/plotted")
SVG = "{http://www.w3.org/2000/svg}"

# vipl_lat --json; ten messages of 1 us, one of 2 us (--histogram).
LAT = [dict(tool="vipl_lat", path="shm:0", wait="poll", bytes=size,
            t_typical=time, p99=2 * time, p999=9 * time)
       for size, time in ((4, 1.5), (1024, 2.5), (65536, 20))]
PART = dict(LAT[0], bytes=2, from_s=0.0)
BW = [dict(tool="vipl_bw", path="via_eth0", wait="block", bytes=size,
           bw_average_mbps=rate) for size, rate in ((4, 3), (65536, 900))]
BENCH = [dict(bench="lat", path=path, nic=nic, level="-", wait="block",
              size=size, unit=unit, value=1000 * size)
         for path in ("udp", "via_netdev") for nic in ("e1000", "tulip")
         for size in (4, 64) for unit in ("ns", "instructions")]


def lines(found):
    return "".join(json.dumps(row) + "\n" for row in found)


def load():
    """As a module: Matplotlib takes long to load, so it is loaded once."""
    loader = importlib.machinery.SourceFileLoader("viaplot", VIAPLOT)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("viaplot", loader))
    loader.exec_module(module)
    return module


class Plots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.viaplot = load()

    def run_it(self, plot, text, *options):
        """What the program does with the text as its standard input."""
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        with mock.patch.object(sys, "argv", ["viaplot", plot, *options, "-"]), \
                mock.patch.object(sys, "stdin", io.StringIO(text)), \
                contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(err):
            status = self.viaplot.main()
        out.flush()
        return subprocess.CompletedProcess(
            plot, status, out.buffer.getvalue().decode(), err.getvalue())

    def texts(self, plot, text, *options):
        """All that can be read in the plot."""
        done = self.run_it(plot, text, *options)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return [" ".join(t.itertext()) for t in
                xml.etree.ElementTree.fromstring(done.stdout).iter(SVG +
                                                                   "text")]

    def test_latency(self):
        texts = self.texts("latency", "# a line of text\n" +
                           lines([PART, *LAT]), "-t", "A title", "-n", "A note")
        for wanted in ("A title", "A note", "size of a message",
                       "half a round trip, µs", "4 B", "1 KiB", "64 KiB",
                       "shm:0, polls, 50 %", "shm:0, polls, 99 %",
                       "shm:0, polls, 99.9 %", "10", "100"):
            self.assertIn(wanted, texts)
        self.assertNotIn("2 B", texts)

    def test_bandwidth(self):
        texts = self.texts("bandwidth", lines(LAT + BW))
        self.assertIn("bandwidth, Mb/s", texts)
        # One line needs no legend.
        self.assertNotIn("via_eth0, sleeps", texts)

    def test_bench(self):
        for plot, unit in (("latency", "half a round trip, µs"),
                           ("instructions",
                            "instructions of a message, both ends")):
            texts = self.texts(plot, lines(BENCH), "--nic", "tulip")
            for wanted in (unit, "VIA, sleeps", "UDP, sleeps"):
                self.assertIn(wanted, texts)

    def test_points(self):
        """Each line goes through its points, larger values further up."""
        done = self.run_it("bandwidth", lines(BW * 2 + [
            dict(BW[0], bytes=64, bw_average_mbps=300)]))
        (path,) = re.findall(r'<path d="([^"]*)" clip-path[^>]*style="fill: '
                             r'none; stroke: #0072b2', done.stdout)
        points = [tuple(map(float, p)) for p in
                  re.findall(r"[ML] ([\d.]+) ([\d.]+)", path)]
        self.assertEqual(len(points), 3)
        self.assertEqual(points, sorted(points))
        self.assertEqual([y for _, y in points],
                         sorted((y for _, y in points), reverse=True))

    def test_same_again(self):
        self.assertEqual(*(self.run_it("latency", lines(LAT)).stdout
                           for _ in range(2)))

    def test_recorded(self):
        for plot, file, wanted in (
                ("latency", "sizes.jsonl", "soft-RoCE, sleeps"),
                ("instructions", "sizes.jsonl", "VIA, polls"),
                ("bandwidth", "sizes.jsonl", "TCP, sleeps"),
                ("histogram", "latency.hlog", "percentile")):
            with open(os.path.join(RECORDS, file)) as data:
                self.assertIn(wanted, self.texts(plot, data.read()))

    def test_wrong(self):
        with open(os.path.join(RECORDS, "latency.hlog")) as file:
            log = file.read()
        for plot, text, said in (
                ("latency", "", "no latency in -"),
                ("latency", lines(BW), "no latency in -"),
                ("latency", '{"a": 1\n', "line 1 is no JSON object"),
                ("latency", '{"bench": "lat", "unit": "ns"}\n', "needs"),
                ("histogram", lines(LAT), "viaplot: "),
                ("histogram", log.replace("HISTF", "AAAAA"), "version 2"),
                ("histogram", log[:-40], "viaplot: ")):
            with self.subTest(plot=plot, text=text[:50]):
                done = self.run_it(plot, text)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(said, done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.svg")
            done = subprocess.run(
                [VIAPLOT, "bandwidth", "-o", out,
                 os.path.join(RECORDS, "sizes.jsonl")], timeout=60)
            self.assertEqual(done.returncode, 0)
            xml.etree.ElementTree.parse(out)
            # The ending of the name is what the file is.
            for name, begins in (("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")):
                out = os.path.join(folder, name)
                subprocess.run([VIAPLOT, "bandwidth", "-o", out,
                                os.path.join(RECORDS, "sizes.jsonl")],
                               timeout=60, check=True)
                with open(out, "rb") as file:
                    self.assertEqual(file.read(4), begins)
            for name in ("a.bmp", "a", "svg"):
                out = os.path.join(folder, name)
                done = subprocess.run([VIAPLOT, "bandwidth", "-o", out,
                                       os.path.join(RECORDS, "sizes.jsonl")],
                                      timeout=60, text=True,
                                      capture_output=True)
                self.assertEqual(done.returncode, 2)
                self.assertIn(".svg, .png or .pdf", done.stderr)
                self.assertFalse(os.path.exists(out))
        done = subprocess.run([VIAPLOT, "latency", "/nonexistent"], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
