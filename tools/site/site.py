#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""make html: the documents and man pages as a site of plain HTML.

site.py OUT writes the site into the folder OUT: each Markdown file of PAGES by
cmark-gfm, each man page by mandoc, the stylesheet, and the files that pages
show or offer (pictures, the capture, examples).  Then it follows each link of
each page; one that leads to no file or to no heading is an error.  No page
needs a script.
"""

import argparse
import glob
import html
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(HERE))

from anchors import anchor  # noqa: E402

# Program: the Debian package that has it.
PROGRAMS = {"cmark-gfm": "cmark-gfm", "mandoc": "mandoc"}
PAGES = ("*.md", "docs/**/*.md", "examples/README.md", "tests/*/README.md")
# Files that a page may link to, beside other pages.
OFFERED = ("LICENSE", "docs/plots/*.svg", "docs/learn/*.pcap", "examples/*.[ch]",
           "bindings/python/examples/*.py", "tools/system/mvia.conf",
           "tools/monitoring/grafana.json")
# Of the navigation: title, folder of docs/.
PARTS = (("Learn", "learn"), ("How to", "howto"), ("Reference", "reference"),
         ("Explain", "explain"), ("Contribute", "contribute"),
         ("Notes", "notes"))
SECTIONS = {"1": "Programs", "3": "Calls and structures of the library",
            "4": "Kernel modules", "5": "Files", "7": "Overviews",
            "8": "Administration"}
FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{up}style.css">
</head>
<body>
<header><nav aria-label="Site">{nav}</nav></header>
<div class="page">
<main{kind}>
{body}
</main>
{aside}</div>
<footer>mvia {version}. <a href="{up}LICENSE">Licence</a>.</footer>
</body>
</html>
"""


class SiteError(Exception):
    """A message for the user."""


def target(path):
    """Where a file of the tree is in the site."""
    if path == "README.md":
        return "index.html"
    if path.startswith("docs/man/"):
        return f"{path}.html"
    if path.endswith("README.md"):
        return f"{path[:-len('README.md')]}index.html"
    return f"{path[:-3]}.html" if path.endswith(".md") else path


def relative(path, page):
    return os.path.relpath(path, os.path.dirname(page) or ".")


def run(command, text=None):
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, cwd=ROOT,
                          check=False)
    if done.returncode:
        raise SiteError(f"{' '.join(command)}: status {done.returncode}: "
                        f"{done.stderr.strip()}")
    return done.stdout


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def real(source):
    """The man page that another name of it (".so man3/PAGE.3") stands for."""
    other = re.match(r"\.so man\d/(\S+)\n", read(source))
    return f"docs/man/{other.group(1)}" if other else source


class Site:
    """The pages of one run."""

    def __init__(self, out):
        self.out = out
        self.pages = sorted({
            os.path.relpath(path, ROOT) for pattern in PAGES
            for path in glob.glob(os.path.join(ROOT, pattern),
                                  recursive=True)})
        self.man = sorted(os.path.relpath(p, ROOT) for p in glob.glob(
            os.path.join(ROOT, "docs/man/*.[1-9]")))
        self.files = {os.path.relpath(p, ROOT) for pattern in OFFERED
                      for p in glob.glob(os.path.join(ROOT, pattern))}
        self.titles = {}

    def write(self, path, text):
        full = os.path.join(self.out, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def frame(self, page, title, body, kind="", aside=""):
        up = relative(".", page) + "/"
        links = [("mvia", "index.html"), ("Documents", "docs/index.html")]
        links += [(name, f"docs/index.html#{folder}")
                  for name, folder in PARTS]
        links += [("Man pages", "docs/man/index.html"),
                  ("Changes", "CHANGELOG.html")]
        nav = " ".join(f'<a href="{up}{path}">{name}</a>'
                       for name, path in links)
        self.write(page, FRAME.format(
            title=html.escape(title), up=up, nav=nav, body=body, kind=kind,
            aside=aside, version=read("VERSION").strip()))

    def link(self, match, source, page):
        """An href or src of @source, as it leads from @page."""
        where, name = match.group(2).partition("#")[::2]
        if "://" in where or where.startswith("mailto:") or not where:
            return match.group(0)
        path = os.path.normpath(os.path.join(os.path.dirname(source), where))
        if path in self.pages or path in self.man or path in self.files:
            name = f"#{name}" if name else ""
            return f'{match.group(1)}="{relative(target(path), page)}{name}"'
        raise SiteError(f"{source}: the link leads to nothing in the site: "
                        f"{match.group(2)}")

    def markdown(self, source):
        page = target(source)
        body = run(["cmark-gfm", "-e", "table", "-e", "autolink", "--unsafe",
                    source])
        seen, contents = {}, []

        def heading(match):
            level, inner = match.group(1), match.group(2)
            text = html.unescape(re.sub(r"<[^>]+>", "", inner))
            name = anchor(text)
            seen[name] = seen.get(name, -1) + 1
            name += f"-{seen[name]}" if seen[name] else ""
            if level == "2":
                contents.append(f'<a href="#{name}">{html.escape(text)}</a>')
            if source == "docs/README.md" and level == "2":
                # The navigation's names of the parts.
                folder = next((f for t, f in PARTS if text.startswith(t)), "")
                return f'<h2 id="{folder or name}">{inner}</h2>'
            self.titles.setdefault(source, text)
            return f'<h{level} id="{name}">{inner}</h{level}>'

        body = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.S)
        body = re.sub(r'\b(href|src)="([^"]*)"',
                      lambda m: self.link(m, source, page), body)
        body = body.replace("<table>", '<div class="wide"><table>') \
            .replace("</table>", "</table></div>")
        aside = ""
        if len(contents) > 2 and page != "docs/index.html":
            aside = ('<aside><nav aria-label="On this page">'
                     + "\n".join(contents) + "</nav></aside>\n")
        self.frame(page, self.titles.get(source, "mvia"), body, aside=aside)

    def manual(self, source):
        page, here = target(source), os.path.basename(source)
        body = run(["mandoc", "-T", "html", "-O", "fragment", real(source)])

        def see(match):
            name, section = match.group(1), match.group(2)
            file = f"{name}.{section}"
            if file == here or f"docs/man/{file}" not in self.man:
                return match.group(0)
            return f'<a href="{file}.html"><b>{name}</b>({section})</a>'

        body = re.sub(r"<b>([\w.-]+)</b>\s*\((\d)\)", see, body)
        self.titles[source] = re.sub(r"\.(\d)$", r"(\1)", here)
        self.frame(page, self.titles[source], body, kind=' class="man"')

    def manuals(self):
        """The index of man pages, with the line of each one's NAME."""
        parts = []
        for section, title in SECTIONS.items():
            rows = []
            for source in self.man:
                if source.endswith(f".{section}"):
                    about = re.search(r"^\.SH NAME\n(.*?)^\.SH",
                                      read(real(source)), re.M | re.S).group(1)
                    about = about.replace("\\-", "-").replace("\n", " ")
                    about = re.sub(r"^.*? - ", "", about.strip())
                    rows.append(
                        f'<dt><a href="{os.path.basename(target(source))}">'
                        f"{self.titles[source]}</a></dt>"
                        f"<dd>{html.escape(about)}</dd>")
            if rows:
                parts.append(f"<h2>{title}</h2>\n<dl>" + "\n".join(rows)
                             + "</dl>")
        self.frame("docs/man/index.html", "Man pages of mvia",
                   "<h1>Man pages</h1>\n" + "\n".join(parts))

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        for source in self.pages:
            self.markdown(source)
        for source in self.man:
            self.manual(source)
        self.manuals()
        for path in self.files:
            full = os.path.join(self.out, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, path), full)
        shutil.copyfile(os.path.join(HERE, "style.css"),
                        os.path.join(self.out, "style.css"))


class Page(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.scripts = set(), [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        self.scripts += tag == "script"
        self.links += [attrs[a] for a in ("href", "src") if a in attrs]


def check(out):
    """Mistakes in the pages of a site, and how many links it has."""
    pages, wrong, links = {}, [], 0
    for path in glob.glob(f"{out}/**/*.html", recursive=True):
        with open(path, encoding="utf-8") as file:
            pages[os.path.normpath(path)] = Page(file.read())
    for path, page in sorted(pages.items()):
        if page.scripts:
            wrong.append(f"{path}: a script")
        for link in page.links:
            where, name = link.partition("#")[::2]
            if "://" in where or where.startswith("mailto:"):
                continue
            links += 1
            full = os.path.normpath(os.path.join(os.path.dirname(path), where)
                                    if where else path)
            if not os.path.isfile(full):
                wrong.append(f"{path}: the link leads to no file: {link}")
            elif name and full in pages and name not in pages[full].ids:
                wrong.append(f"{path}: the link leads to no heading: {link}")
    return wrong, len(pages), links


def main():
    parser = argparse.ArgumentParser(
        description="Build the documents as HTML, and follow their links.")
    parser.add_argument("--check", action="store_true",
                        help="follow the links of a site that is there")
    parser.add_argument("out", help="the folder of the site; it is replaced")
    args = parser.parse_args()
    lost = [package for program, package in PROGRAMS.items()
            if not shutil.which(program)]
    if lost and not args.check:
        raise SiteError("a program is missing\nas root: apt-get install "
                        + " ".join(lost))
    if not args.check:
        Site(args.out).build()
    wrong, pages, links = check(args.out)
    if wrong or not pages:
        raise SiteError("\n".join(wrong) or f"{args.out} has no page")
    print(f"html: {pages} pages, {links} links, in {args.out}")


if __name__ == "__main__":
    try:
        main()
    except SiteError as error:
        sys.exit(f"html: {error}")
