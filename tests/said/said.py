#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Is there what the documents name?

Looks at README.md, CONTRIBUTING.md, docs/, the man pages, the Makefile's head
and what programs print about themselves, and tries each make target, command,
option, path, module parameter, call, group of tests and step that is named
there.  Needs a built tree (make); takes some seconds.  What may be named though it is not in
the tree stands in exceptions.py, with the reason.
"""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
if HERE not in sys.path:
    sys.path.insert(0, HERE)

import extract  # noqa: E402
import resolve  # noqa: E402
from there import Project  # noqa: E402


def installed(project):
    """Programs that `make install` puts where users find them."""
    text = project.sources["tools/Makefile.inc"]
    tools = re.search(r"^TOOLS := (.*)", text, re.M).group(1).split()
    text = text.replace("$(VIA_HERE)", "$(B)/tools/via").replace(
        "$(TOOLS_INSTALLED)", " ".join(f"$(B)/tools/{t}" for t in tools))
    lines = re.findall(r"install -m 755 ((?:.*\\\n)*.*)", text)
    return {os.path.basename(word) for line in lines
            for word in line.replace("\\\n", " ").split()
            if word.startswith(("$(B)/tools/", "tools/"))}


def manuals(project, root):
    """What is missing in man pages: (where, what)."""
    for program in sorted(installed(project)):
        pages = [f for f in os.listdir(os.path.join(root, "docs/man"))
                 if f.rpartition(".")[0] == program]
        if not pages:
            yield "docs/man", f"no page of {program}, which is installed"
            continue
        name = os.path.join("docs/man", pages[0])
        with open(os.path.join(root, name)) as file:
            page = set(extract.OPTION.findall(extract.plain(
                file.read().replace('"', "").replace("\\fI", ""))))
        for option in sorted(project.options(program) - page):
            yield name, f"{program} has {option}, the page does not"


def everything(project, root):
    """All that is named."""
    yield from extract.documents(root)
    for program in sorted(project.programs):
        yield from extract.help_text(program, project.help(program))


def look(project, root=None):
    """(number of names, [what is wrong])."""
    root = root or project.root
    resolver = resolve.Resolver(project, root)
    count, bad = 0, []
    for item in everything(project, root):
        count += 1
        why = resolver.wrong(item)
        if why:
            bad.append(f"{item.file}:{item.line}: {why}")
    for program in sorted(project.programs):
        if project.asked(program).returncode:
            bad.append(f"{program}: --help does not end with status 0")
    for where, why in manuals(project, root):
        bad.append(f"{where}: {why}")
    return count, list(dict.fromkeys(bad))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true",
                        help="list what is named, try nothing")
    parser.add_argument("--selftest", action="store_true",
                        help="plant wrong names in copies, and see whether "
                        "each is told")
    args = parser.parse_args()
    project = Project(ROOT)
    lost = [p for p in ("build/viaconform", "build/tools/viainfo")
            if not os.path.exists(project.path(p))]
    if lost:
        print(f"said: {lost[0]} is missing: run make")
        return 1
    if args.list:
        for item in everything(project, ROOT):
            print(f"{item.file}:{item.line}: {item.kind}: {item.text}")
        return 0
    if args.selftest:
        import selftest
        return selftest.main(project)
    count, bad = look(project)
    for line in bad:
        print(line)
    print(f"said: {count} names, {len(bad)} of them not there")
    return 1 if bad or count < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
