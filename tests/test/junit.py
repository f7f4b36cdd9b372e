# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Results as JUnit XML, which continuous-integration machines read."""

import os
import re
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr, escape

# XML has no way to write these.
UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def fit(text):
    return UNFIT.sub("?", text)


def attributes(**values):
    return " ".join(f"{key}={quoteattr(fit(str(value)))}"
                    for key, value in values.items())


def session(name):
    """What is before the colon of a step's name, or the first word."""
    before, colon, _ = name.partition(": ")
    return before if colon else name.partition(" ")[0]


def parts(name):
    """A step's session and its name there."""
    return session(name), name.partition(": ")[2] or name


def case(outcome):
    """A step."""
    before, name = parts(outcome.name)
    head = attributes(classname=before, name=name,
                      time=f"{outcome.seconds:.3f}")
    if outcome.why:
        body = (f"<failure {attributes(message=outcome.why)}>"
                f"{escape(fit(outcome.why))}\nlog: "
                f"{escape(fit(outcome.log))}</failure>")
    elif outcome.skipped:
        body = f"<skipped {attributes(message=outcome.skipped)}/>"
    else:
        return f"  <testcase {head}/>\n"
    return f"  <testcase {head}>{body}</testcase>\n"


def text(suite, outcomes):
    """The document; each outcome has name, seconds, why, skipped and log."""
    head = attributes(
        name=suite, tests=len(outcomes), errors=0,
        failures=sum(bool(o.why) for o in outcomes),
        skipped=sum(bool(o.skipped) for o in outcomes),
        time=f"{sum(o.seconds for o in outcomes):.3f}")
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<testsuites>\n <testsuite {head}>\n"
            f"{''.join(map(case, outcomes))} </testsuite>\n</testsuites>\n")


def seconds(path):
    """What each step took, by parts(), where a run has left such a file."""
    try:
        return {(step.get("classname"), step.get("name")):
                float(step.get("time"))
                for step in ElementTree.parse(path).iter("testcase")}
    except OSError:
        return {}


def write(path, suite, outcomes):
    with open(f"{path}.new", "w", encoding="utf-8",
              errors="replace") as file:
        file.write(text(suite, outcomes))
    os.rename(f"{path}.new", path)
