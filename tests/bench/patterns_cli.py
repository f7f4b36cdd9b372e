#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""via_patterns without a VI NIC: its command line, and UDP and TCP over the
loopback interface."""

import contextlib
import json
import os
import socket
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
PROGRAM = os.path.join(ROOT, "build/tests/bench/via_patterns")
PATTERNS = ("request", "idle", "turn", "both", "write", "write-send", "burst",
            "tail", "fanout")
FIELDS = {"tool", "pattern", "path", "level", "wait", "bytes", "clients",
          "think_us", "think_server_us", "samples", "p50", "p99", "max",
          "mean", "over_1ms", "lost"}
REFUSED = {
    "-P sideways": "'sideways' is not one of request",
    "-P request --proto ipx 127.0.0.1": "'ipx' is not one of via, udp",
    "-P request -l best 127.0.0.1": "'best' is not one of unreliable",
    "-P both --proto udp 127.0.0.1": "add --exact",
    "-P request": "the server measures nothing",
    "--json": "the server measures nothing",
    "--exact --proto udp": "what is to be measured",
    "127.0.0.1": "what is to be measured",
    "-P write -l unreliable --exact": "says nothing",
    "-P request -c 2 --exact": "has one client",
    "-P turn -c 9 --exact": "not a number from 1 to 8",
    "-P request -s 3 --exact": "not a number from 4",
    "-P request -n 0 --exact": "not a number from 1",
    "-P burst --burst 129 --exact": "not a number from 1 to 128",
    "-P request --peer-netns x 127.0.0.1": "needs --exact",
    "-P request --persist 127.0.0.1": "is for the server",
    "-P request 127.0.0.1 127.0.0.2": "one host at most",
    "-P request --proto tcp localhost": "is not an IPv4 address",
    "-P request --nonsense": "see via_patterns -h",
}


def fail(text):
    sys.exit(f"FAILED {text}")


def free_port():
    with socket.socket() as sock:
        sock.bind(("", 0))
        return sock.getsockname()[1]


def run(words):
    return subprocess.run([PROGRAM, *words.split()], text=True, timeout=60,
                          capture_output=True)


def command_line():
    shown = run("--help")
    if shown.returncode or shown.stderr:
        fail("--help")
    for name in (*PATTERNS, "--think-server", "--json"):
        if name not in shown.stdout:
            fail(f"--help does not tell of {name}")
    for words, why in REFUSED.items():
        done = run(words)
        if done.returncode != 2 or done.stdout or why not in done.stderr:
            fail(f"'{words}': status {done.returncode}, {done.stdout}"
                 f"{done.stderr}")


def row(words):
    """What a run prints: one object, and nothing beside it."""
    done = run(f"{words} -p {free_port()} --json")
    if done.returncode:
        fail(f"'{words}': {done.stderr}")
    found = json.loads(done.stdout)
    if set(found) != FIELDS:
        fail(f"'{words}': fields {sorted(set(found) ^ FIELDS)}")
    if not 0 < found["p50"] <= found["p99"] <= found["max"]:
        fail(f"'{words}': {found}")
    return found


def over_sockets():
    for proto in ("udp", "tcp"):
        for name in PATTERNS:
            quick = "--think 100" if name in ("idle", "burst", "tail") else ""
            found = row(f"--exact --proto {proto} -P {name} -n 4 -e {quick}")
            if (found["pattern"], found["path"], found["samples"],
                    found["wait"]) != (name, proto, 4, "block"):
                fail(f"{proto} {name}: {found}")
        row(f"--exact --proto {proto} -P both -n 4")
        row(f"--exact --proto {proto} -P fanout -n 2 -c 3")
    # The server's pause is not in the figure, one of the wire would be.
    slow = row("--exact --proto tcp -P request -n 3 -e --think-server 30000")
    if slow["p50"] > 30000 or slow["think_server_us"] != 30000:
        fail(f"the server's pause is in the figure: {slow}")


def server():
    """One that goes on after a client, and after one that is none."""
    port = free_port()
    with subprocess.Popen([PROGRAM, "-p", str(port), "--persist"],
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            for words in ("-P turn -c 2", "-P write -s 60000"):
                done = run(f"--proto tcp {words} -n 3 -e -p {port} 127.0.0.1")
                if done.returncode or "over 1 ms" not in done.stdout:
                    fail(f"'{words}': {done.stdout}{done.stderr}")
                with socket.create_connection(("127.0.0.1", port)) as sock:
                    # It may be gone with half of this unread.
                    with contextlib.suppress(ConnectionError):
                        sock.sendall(b"x" * 4096)
                        sock.recv(1)
        finally:
            process.terminate()
        if "another program" not in process.stderr.read():
            fail("a stranger was not told of")


if __name__ == "__main__":
    command_line()
    over_sockets()
    server()
    print("via_patterns: ok")
