#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Each kernel module has a man page, with all parameters and counters that its
source has, and no others; so has docs/reference/counters.md all counters, whose
texts are the help of `via stat --prometheus`: each counter of a VI NIC has one, and the
dashboard of Grafana shows no other metrics."""

import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
# C(X, "name") of stats.h, via_stat(sink, "name", COUNTER("name", and the agent's list.
COUNTERS = (r'^\t[CD]\(\w+, "(\w+)"\)', r'via_stat\(sink, "(\w+)",',
            r'COUNTER\("(\w+)",', r'\[VR_[\w +]+\]\.name\s*= "(\w+)"')
AGENT = r'names\[VIA_NIC_COUNTS\] = \{([^}]*)\}'
REFERENCE = "docs/reference/counters.md"
# Of a VI NIC, unlike those of ethtool and of verbs.
OF_NICS = COUNTERS[:2]
DASHBOARD = "tools/monitoring/grafana.json"
# What VIA_IOC_STATS has of a VI alone: viastat -v.
OF_VIS = re.compile(r"static void via_stats_one.*?^}|"
                    r"^void via_ether_vi_stats.*?^}", re.S | re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def modules():
    """{"via_ka": its source, ...}, as Kbuild has them."""
    kbuild = read("Kbuild").replace("\\\n", " ")
    found = {}
    for name in re.findall(r"^obj-m \+= (\w+)\.o$", kbuild, re.M):
        objects = re.search(rf"^{name}-y := (.*)$", kbuild, re.M).group(1)
        sources = [o[:-2] + ".c" for o in objects.split()]
        sources += [s[:-2] + ".h" for s in sources if s.endswith("/stats.c") and
                    os.path.exists(os.path.join(ROOT, s[:-2] + ".h"))]
        found[name] = "".join(OF_VIS.sub("", read(s)) for s in sources)
    return found


def page(name):
    """(its file, its text), which another page may have."""
    for section in "47":
        path = f"docs/man/{name}.{section}"
        if os.path.exists(os.path.join(ROOT, path)):
            text = read(path)
            other = re.match(r"\.so man\d/(\S+)$", text, re.M)
            if other:
                path = f"docs/man/{other.group(1)}"
                text = read(path)
            return path, text
    return None, ""


def section(text, title):
    found = re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH|\Z)", text, re.S | re.M)
    return found.group(1) if found else ""


def terms(text):
    """The words that paragraphs of a section are about."""
    return set(re.findall(r"[a-z]\w+", " ".join(
        re.findall(r"^\.TP\n\.BR? (.*)$", text, re.M)).replace("\\-", "-")))


def counters(source, patterns=COUNTERS):
    names = {n for p in patterns for n in re.findall(p, source, re.M)}
    for listed in re.findall(AGENT, source):
        names |= set(re.findall(r'"(\w+)"', listed))
    return names


def compare(path, what, source, told, words):
    """What the source has, what the page has as terms, all of its words."""
    bad = [f"{path}: {what} {n} is missing" for n in sorted(source - words)]
    return bad + [f"{path}: there is no {what} {n}"
                  for n in sorted(told - source)]


def listed(path):
    """The counters in the first column of a page's tables."""
    return set(re.findall(r"\b[a-z]\w+", " ".join(
        row for row in re.findall(r"^\| ([^|]+) \|", read(path), re.M)
        if row != "counter")))


def helped():
    """The counters for which via stat has a help text."""
    text = subprocess.run(["awk", "-f", "tools/common/counters.awk", REFERENCE],
                          cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    rows = re.findall(r'^\{ "(\w+)", "(.+)" \},$', text, re.M)
    if len(rows) != len(text.splitlines()) or len(dict(rows)) != len(rows):
        raise SystemExit(f"{REFERENCE}: a row gives no text: {text}")
    return {name for name, _ in rows}


def panels(board):
    """All panels, those of rows too."""
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", ())


def dashboard(path, known):
    """Mistakes of a dashboard: metrics that via stat does not print, panels
    without a title or an expression."""
    text = read(path)
    board, bad, shown = json.loads(text), [], set()
    for panel in panels(board):
        exprs = [t["expr"] for t in panel.get("targets", ())]
        if not panel.get("title") or (panel["type"] != "row" and not exprs):
            bad.append(f"{path}: a panel without a title or an expression: "
                       f"{panel.get('title')}")
        for expr in exprs:
            shown |= set(re.findall(r"\bvia_\w+", expr))
    right = {"via_vis"} | {f"via_{n}_total" for n in known - {"vis"}}
    if len(shown) < 20:
        bad.append(f"{path}: only {len(shown)} metrics are found")
    return bad + [f"{path}: via stat --prometheus has no {n}"
                  for n in sorted(shown - right)]


def main():
    parameters, counts, bad, tried = {}, {}, [], 0
    of_nics = set()
    texts = {}
    for name, source in modules().items():
        path, text = page(name)
        if not path:
            bad.append(f"the module {name} has no man page")
            continue
        texts[path] = text
        own = set(re.findall(r"^module_param(?:_named|_cb)?\((\w+),", source,
                             re.M))
        if name not in text:
            bad.append(f"{path}: does not name {name}")
        parameters.setdefault(path, set()).update(own)
        counts.setdefault(path, set()).update(counters(source))
        of_nics |= counters(source, OF_NICS)
        tried += len(own)
    for path, text in texts.items():
        for what, title, source in (
                ("parameter", "PARAMETERS", parameters[path]),
                ("counter", "COUNTERS", counts[path])):
            part = section(text, title)
            bad += compare(path, what, source, terms(part),
                           set(re.findall(r"\w+", part)))
    reference = listed(REFERENCE)
    bad += compare(REFERENCE, "counter", set().union(*counts.values()),
                   reference, reference)
    texts_of = helped()
    bad += compare("via stat --prometheus", "help of a counter", of_nics,
                   texts_of, texts_of)
    bad += dashboard(DASHBOARD, of_nics)
    print("\n".join(bad))
    if tried < 20 or sum(map(len, counts.values())) < 80:
        bad.append("too few")
        print(f"only {tried} parameters and {counts} are found")
    if not bad:
        print(f"modules: {tried} parameters, "
              f"{sum(map(len, counts.values()))} counters")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
