# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Library and modules that are not of one release: docs/reference/stability.md says what
fits, and what is told where it does not."""

import contextlib
import os
import re
import subprocess

from balance import balanced
from conform import judge
from common import CONFORM, TOOLS, mac
from configure import expect
from lab import MODULES
from labkit.base import BUILD, ROOT, VIA
from runner import Skipped, StepFailed

OLDER = os.path.join(BUILD, "older")
PROGRAM = f"{OLDER}/program-1"
SOURCES = ("Makefile", "VERSION", "Kbuild", "core", "kernel", "devices",
           "include", "vipl", "providers", "tools/lacks.sh")
UAPI = "include/uapi/via.h"
# Those that via_lo needs.
AGENT = ("via_ka", "via_lo")
OTHERS = re.compile(rb"^obj-m \+= (?!via_ka|via_lo|via_ether|via_netdev).*\n",
                    re.M)
# An agent as if the newest calls had not been made yet.
LACKS = {
    "kernel/file.c": (("	case VIA_IOC_CQ_RESIZE:\n"
                       "		return via_cq_resize_call(f, arg);\n", ""),
                      ("	case VIA_IOC_NAME_QUERY:\n"
                       "		return via_name_query(f, arg);\n", "")),
    "include/uapi/via_netlink.h": (('"via"', '"via-none"'),),
}
# Of this tree's past: the interface as 1.0 has it, and how it was before.
COMMITS = ["707c1c3"]
BEFORE = ["8ae8a19"]


def files(name):
    path = os.path.join(ROOT, name)
    if os.path.isfile(path):
        yield name
    for folder, _, names in os.walk(path):
        for file in names:
            yield os.path.relpath(os.path.join(folder, file), ROOT)


def changed(name, edits):
    """This tree's sources with these changes, {file: pairs of texts}: a folder.
    What is there as it should be is not written, so make does little."""
    tree, done = os.path.join(OLDER, name), set()
    for file in (file for part in SOURCES for file in files(part)):
        with open(os.path.join(ROOT, file), "rb") as source:
            data = source.read()
        for old, new in edits.get(file, ()):
            if old.encode() not in data:
                raise StepFailed(f"{file} has no longer: {old}")
            data = data.replace(old.encode(), new.encode())
            done.add(file)
        if file == "Kbuild":
            data = OTHERS.sub(b"", data)
        path = os.path.join(tree, file)
        with contextlib.suppress(FileNotFoundError):
            with open(path, "rb") as there:
                if there.read() == data:
                    continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as there:
            there.write(data)
    if done != set(edits):
        raise StepFailed(f"not there: {set(edits) - done}")
    return tree


def make(session, tree, *targets):
    session.check.host(["make", "-s", "-j2", "-C", tree, *targets], 1200)


@contextlib.contextmanager
def modules_of(session, tree, names=AGENT, number=0):
    """A node has these modules instead of today's."""
    lab, node = session.lab, session.lab.nodes[number]
    session.check.host(lab.kernel.make("-s", "-j2", "modules", tree=tree),
                       1200)
    lab.rmmod(node)
    try:
        for name in names:
            node.sh(f"insmod {tree}/build/modules/{lab.kernel.release}/"
                    f"{name}.ko", 120)
        yield node
    finally:
        node.run(f"rmmod {' '.join(reversed(names))}", 120)
        session.prepare(node)


def suite(session, arguments, where, program=CONFORM):
    result = session.run(session.lab.nodes[0], f"{program} --timeout-scale "
                         f"{session.slow} -d via_lo {arguments}",
                         400 * session.slow, status=None)
    judge(session, result, where)


def program(session):
    """What was compiled with the header of 1.0, and has no other."""
    node = session.lab.nodes[0]
    for device in ("via_lo", "via_eth0"):
        session.run(node, f"{PROGRAM} {device}", 60 * session.slow)
    balanced(session, [node])


def version(session):
    """A library of another version of the interface is told so."""
    tree = changed("version-2", {UAPI: (("VIA_ABI_VERSION		1",
                                         "VIA_ABI_VERSION		2"),)})
    make(session, tree, "build/libvipl.so.1")
    expect(session.lab.nodes[0], f"LD_PRELOAD={tree}/build/libvipl.so.1 "
           f"{CONFORM} -d via_lo -g send.*", 2, "/dev/via_lo: interface version "
           "1, the library's is 2")


def lacking(session):
    """Older modules: what they have works, and what they lack is told."""
    with modules_of(session, changed("lacking", LACKS)) as node:
        suite(session, "--suite early", "older modules")
        result = node.run(f"{CONFORM} -d via_lo -g 'resize.*'", 120)
        if not result.rc or "the kernel modules are older and lack call " \
                "0x32" not in result.all:
            raise StepFailed(f"what is lacked is not told: {result.all}")
        for command in ("dev", "limit", "peer show via_lo"):
            expect(node, f"{VIA} {command}", 1, "older than this program")


def wire(session):
    """Hosts that have no version of the wire in common: both users hear it at
    once, and both kernels say which versions there are."""
    one, two = session.lab.nodes
    tree = changed("wire-3", {"devices/ether/proto/wire.h": (
        ("VIA_WIRE_VERSION	2", "VIA_WIRE_VERSION	3"),
        ("VIA_WIRE_VERSION_MIN	2", "VIA_WIRE_VERSION_MIN	3"))})
    with modules_of(session, tree, MODULES, 1):
        session.lab.attach(two, "eth0")
        for node, other, ours, theirs in ((one, 1, 2, 3), (two, 0, 3, 2)):
            node.sh("dmesg -C")
            expect(node, f"{TOOLS}/viaping -c 1 -d via_eth0 {mac(0, other)}",
                   1, "another version of the wire")
            told = node.sh("dmesg").out
            if f"via_eth0: {mac(0, other)} speaks versions {theirs} to " \
                    f"{theirs} of the wire, this host {ours}" not in told:
                raise StepFailed(f"{node.name} does not tell: {told}")


def past(commit):
    """The sources of a commit: a folder."""
    tree = os.path.join(OLDER, commit)
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if archive.returncode:
        raise Skipped(f"the history of this tree has no {commit} here")
    os.makedirs(tree, exist_ok=True)
    subprocess.run(["tar", "-xC", tree], input=archive.stdout, check=True)
    with open(os.path.join(tree, "Kbuild"), "r+b") as file:
        data = file.read()
        file.seek(0)
        file.truncate()
        file.write(OTHERS.sub(b"", data))
    return tree


def library(session, commit):
    """A library of the past, and its own suite, with today's modules."""
    tree = past(commit)
    make(session, tree, "build/viaconform")
    suite(session, "", f"library of {commit}", f"{tree}/build/viaconform")
    balanced(session, [session.lab.nodes[0]])


def modules(session, commit):
    """Modules of the past with today's library and suite."""
    with modules_of(session, past(commit)):
        suite(session, "--suite early", f"modules of {commit}")


def before(session, commit):
    """What came before the first release is of no version: a user hears that
    library and modules do not fit."""
    tree, node = past(commit), session.lab.nodes[0]
    make(session, tree, "build/viaconform")
    expect(node, f"{tree}/build/viaconform -d via_lo -g send.*", 2,
           "/dev/via_lo does not speak version 1 of the VIA interface")
    with modules_of(session, tree):
        expect(node, f"{CONFORM} -d via_lo -g send.*", 2, "/dev/via_lo: "
               "another layout of version 1 of the interface")
    balanced(session, [node])
