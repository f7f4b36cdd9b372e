#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Each tracepoint that a script for bpftrace names is there, and has the fields
that it takes of that."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
# Parts of entries that several events have.
PARTS = r"^#define (VIA_\w+_ENTRY)\s((?:.*\\\n)*.*)"
HEADERS = ("kernel/trace_fields.h", "kernel/via_trace.h",
           "devices/ether/via_ether_trace.h")
EVENT = (r"^(TRACE_EVENT|DECLARE_EVENT_CLASS|DEFINE_EVENT)\((\w+),\s*(\w+)?"
         r"(.*?)(?=^(?:TRACE_EVENT|DECLARE_EVENT_CLASS|DEFINE_EVENT)\(|\Z)")


def events():
    """{event: its fields}; those of a class are its events'."""
    found, parts = {}, {}
    for path in HEADERS:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        parts.update(re.findall(PARTS, text, re.M))
        text = re.sub(r"\bVIA_\w+_ENTRY\b",
                      lambda m: parts.get(m[0], m[0]), text)
        for kind, name, second, body in re.findall(EVENT, text, re.M | re.S):
            found[second if kind == "DEFINE_EVENT" else name] = \
                found[name] if kind == "DEFINE_EVENT" else \
                set(re.findall(r"__(?:field|array)\([^,()]+,\s*(\w+)", body)) | \
                set(re.findall(r"__string\((\w+)", body))
    return found


def wrong(text, known):
    """What a script names that is not there."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    # Probes, one or several with commas, and all up to the next ones.
    for names, body in re.findall(
            r"((?:^tracepoint:via:\w+,?\s*)+)(.*?)(?=^\w|\Z)", text,
            re.M | re.S):
        for name in re.findall(r"tracepoint:via:(\w+)", names):
            if name not in known:
                yield f"tracepoint {name}"
                continue
            for field in re.findall(r"args->(\w+)", body):
                if field not in known[name]:
                    yield f"{name} has no {field}"


def main():
    known, bad, count = events(), 0, 0
    for path in sorted(glob.glob(os.path.join(ROOT, "tools/bpf/*.bt"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        count += text.count("args->")
        for what in wrong(text, known):
            print(f"{os.path.relpath(path, ROOT)}: {what}")
            bad += 1
    # It would find it.
    probe = "tracepoint:via:via_post\n{\n\t@[args->nosuch] = count();\n}\n" \
        "tracepoint:via:via_none\n{\n}\n"
    if list(wrong(probe, known)) != ["via_post has no nosuch",
                                     "tracepoint via_none"] or not count:
        print("scripts: it finds nothing")
        bad += 1
    print(f"scripts: {count} fields of {len(known)} events, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
