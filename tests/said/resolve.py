# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Whether what is named is there: each resolver gives None or what is wrong.
"""

import fnmatch
import glob
import os
import re
import shlex

import exceptions as known
from there import anchor

SUFFIXES = (".c", ".h", ".py", ".md", ".ko", ".sh", ".so", ".a")
SEPARATORS = (";", "&&", "||", "|")
GROUP_LIKE = re.compile(r"[a-z]+\.[a-z_0-9]+")
GROUPS = ("docs/notes/conformance.md", "docs/reference/compatibility.md")
LIBRARIES = ("pthread", "cunit", "vipl")


def placeholder(word):
    return word.isupper() or any(p in word for p in known.PLACEHOLDERS)


class Resolver:
    def __init__(self, project, root=None):
        """`root`: where the documents are, of which links may lead to."""
        self.there, self.root = project, root or project.root
        self.named = {}  # file: programs named in it so far
        self.loaded = {}  # file: (line, modules that a shell has loaded)

    def wrong(self, item):
        """What is wrong with a Named, or None."""
        if item.text in known.NAMES:
            return None
        return getattr(self, item.kind.replace(" ", "_"))(item)

    # Paths

    def path(self, item):
        return self.path_wrong(item.text, item.file)

    def path_wrong(self, text, file):
        if text in known.NAMES or placeholder(text):
            return None
        if text.startswith("/"):
            return self.absolute_wrong(text)
        if text.startswith("build/"):
            lost = [w for w in re.split(r"[/.-]", text) if w and
                    w not in self.there.words and
                    not os.path.exists(self.there.path(text))]
            return f"nothing makes {text}" if lost else None
        places = [self.there.path(text), self.there.path("devices", text)]
        if file.startswith("docs/"):
            places.append(self.there.path("docs", text))
        if any(glob.glob(p) for p in places):
            return None
        if "/" not in text and text in self.there.basenames:
            return None
        return f"there is no file {text}"

    def absolute_wrong(self, text):
        words = text.rstrip("/").split("/")[1:]
        if words[:2] == ["sys", "module"] and len(words) > 2:
            if words[2] not in self.there.modules:
                return f"{text}: no module of ours is named {words[2]}"
            if len(words) > 4 and words[4] not in \
                    self.there.parameters[words[2]]:
                return f"{text}: {words[2]} has no parameter {words[4]}"
            return None
        if words[:3] == ["sys", "class", "via"]:
            if len(words) > 4 and words[4] not in self.there.attributes:
                return f"{text}: a VI NIC has no attribute {words[4]}"
            return None
        if words[0] == "dev" and \
                re.match(r"via_(lo|eth\d|<|interface)", words[-1]):
            return None
        if text in self.there.text or os.path.exists(text):
            return None
        # The packages' documents and examples, which packages/run installs.
        if words[:3] == ["usr", "share", "doc"] and len(words) > 4 and \
                f"debian/{words[3]}.install" in self.there.files and \
                words[-1] in self.there.basenames:
            return None
        return f"{text}: nothing of ours, and not on this machine"

    def link(self, item):
        target, _, name = item.text.partition("#")
        if "://" in target:
            return None
        base = os.path.dirname(os.path.join(self.root, item.file))
        path = os.path.normpath(os.path.join(base, target)) if target else \
            os.path.join(self.root, item.file)
        if not os.path.exists(path):
            return f"the link leads to no file: {item.text}"
        if name and name not in map(anchor, self.there.headings(path)):
            return f"{target or item.file} has no section #{name}"
        return None

    def section(self, item):
        file, _, title = item.text.partition("#")
        path = os.path.join(self.root, file)
        if not os.path.exists(path):
            return f"there is no file {file}"
        if not any(h.startswith(title) for h in self.there.headings(path)):
            return f'{file} has no section "{title}"'
        return None

    # Calls, groups, steps, pages

    def call(self, item):
        if item.text in self.there.header:
            return None
        return f"vipl.h has no {item.text}"

    def variable(self, item):
        if item.text in self.there.words:
            return None
        return f"nothing reads the variable {item.text}"

    def group(self, item):
        if item.text in self.there.groups:
            return None
        return f"viaconform has no group {item.text}"

    def step(self, item):
        if item.text in self.there.steps:
            return None
        return f'neither a check nor a soak has a step "{item.text}"'

    def page(self, item):
        if f"docs/man/{item.text}" in self.there.files:
            return None
        return f"there is no man page {item.text}"

    def option(self, item):
        program = os.path.basename(item.file).rpartition(".")[0]
        if program not in self.there.programs:
            return f"there is no program {program}"
        return self.option_wrong(program, item.text)

    def option_wrong(self, program, word):
        have = self.there.options(program)
        word = word.partition("=")[0]
        if word in have or not word.startswith("--") and (
                word[:2] in have and (len(word) == 2 or
                                      word[2:].isdigit())):
            return None
        return f"{program} has no option {word}"

    def owned(self, item):
        owner, name = item.text.split()
        if owner in self.there.modules:
            return None if name in self.there.parameters[owner] else \
                f"{owner} has no parameter {name}"
        return None if name in self.there.words else \
            f"{owner} has no {name}"

    # Commands

    def make_variable(self, item):
        return None if self.there.make_uses(item.text) else \
            f"the Makefile does not use {item.text}"

    def command(self, item):
        text = re.sub(r"\(or ([^)]*)\)", r"; \1", item.text)
        text = re.sub(r"\$\(([^)]*)\)", r"; \1 ;", text)
        try:
            lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|")
            lexer.whitespace_split, lexer.commenters = True, ""
            words = list(lexer)
        except ValueError as why:
            return f"'{item.text}' is no command: {why}"
        single, found = [], []
        for word in [*words, ";"]:
            if word in SEPARATORS:
                if single:
                    found.append(self.single(single, item))
                single = []
            else:
                single.append(word)
        return next((why for why in found if why), None)

    def single(self, words, item):
        """One command, without what joins it to others."""
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        if not words or placeholder(words[0]):
            return None
        name = os.path.basename(words[0])
        if "/" in words[0]:
            why = self.path_wrong(words[0], item.file)
            if why:
                return why
            if words[0].startswith("build/samples/"):
                return None  # it is made, and has no options
        if name == "make":
            return self.make(words[1:], item)
        if name in self.there.programs:
            return self.own(name, words[1:], item)
        if name in ("insmod", "modprobe", "modinfo"):
            return self.module(name, words[1:], item)
        if name not in known.COMMANDS:
            return (f"'{name}' is no command: neither ours nor one of "
                    "tests/said/exceptions.py (a block that is not for a "
                    "shell begins with ```text)")
        return self.foreign(name, words[1:], item)

    def make(self, words, item):
        for word in words:
            variable, equals, value = word.partition("=")
            if word.startswith("-") or placeholder(word):
                continue
            if not equals:
                why = self.there.make_runs(word)
                if why:
                    return f"make {word} does not work: {why}"
            elif not self.there.make_uses(variable):
                return f"the Makefile does not use {variable}"
            else:
                why = self.arguments(variable, value, item) or \
                    self.chosen(words[0], variable, value)
                if why:
                    return why
        for word in words:
            self.mention(item.file, self.there.passed_on(
                f"{word.split('-')[0].upper()}_ARGS"))
        return None

    def arguments(self, variable, value, item):
        """The words that make passes on to a program."""
        program = self.there.passed_on(variable)
        if not program or program not in self.there.programs:
            return None
        return self.own(program, shlex.split(value), item)

    def chosen(self, target, variable, value):
        """What K and T name."""
        if placeholder(value):
            return None
        if variable == "K":
            return self.there.step_wrong(target, value)
        if variable == "T" and value not in ("list", "?") and not any(
                value in name for name in self.there.tests):
            return f"no test of make test has '{value}' in its name"
        return None

    def mention(self, file, program):
        if program in self.there.programs:
            self.named.setdefault(file, []).append(program)

    def own(self, name, words, item):
        if name in ("lab", "viatest") and words and \
                not words[0].startswith("-"):
            if words[0] == "help" or placeholder(words[0]):
                return None
            name, words = f"{name} {words[0]}", words[1:]
            if name not in self.there.programs:
                return f"there is no command '{name}'"
        if name in ("viatest scale", "viatest regress") and words and \
                not words[0].startswith("-") and \
                not re.search(rf"^  {re.escape(words[0])} ",
                              self.there.help(name), re.M):
            return f"{name} has no mode {words[0]}"
        self.mention(item.file, name)
        for at, word in enumerate(words):
            if word == "--" and name == "lab exec" and words[at + 1:]:
                rest = words[at + 1:]
                why = self.command(item._replace(text=rest[0])) \
                    if len(rest) == 1 else self.single(rest, item)
                if why:
                    return why
            if word == "--" or word in (">", "<"):
                break
            if re.match(r"--?[A-Za-z]", word):
                why = self.option_wrong(name, word)
                if why:
                    return why
        return self.values(name, words, item)

    def values(self, name, words, item):
        """What is behind some options."""
        for option, value in zip(words, words[1:]):
            if option == "-k" and name in ("check.py", "soak.py") and \
                    not placeholder(value):
                if not any(fnmatch.fnmatch(line, value) or value in line
                           for line in self.there.steps.split("\n")):
                    return f"no step matches {name} -k '{value}'"
            if option == "-g" and name == "viaconform":
                for part in value.split(","):
                    if not any(fnmatch.fnmatch(g, part) or g.startswith(part)
                               for g in self.there.groups):
                        return f"no group of viaconform matches {part}"
        if name == "via-bind" and words[1:2] and \
                words[1] not in re.split(r"\W+", self.there.help(name)):
            return f"via-bind does not know '{words[1]}'"
        if name.startswith("lab "):
            for why in self.lab_values(words):
                return why
        for word in words:
            if re.match(r"(?:docs|tests|tools)/", word):
                why = self.path_wrong(word, item.file)
                if why:
                    return why
        return None

    def lab_values(self, words):
        have = {"--nic": self.there.help("lab models"),
                "--nics": self.there.help("lab models"),
                "--kernel": self.there.help("lab kernel"),
                "--wire": self.there.help("lab wire")}
        for option, value in zip(words, words[1:]):
            for part in value.split(",") if option in have else ():
                part = part.partition("=")[0]
                if not placeholder(part) and not re.search(
                        rf"(?<![\w.-]){re.escape(part)}(?![\w.-])",
                        have[option]):
                    yield f"lab knows no '{part}' for {option}"

    def module(self, name, words, item):
        words = [w for w in words if not w.startswith("-")]
        if not words:
            return None
        module = os.path.basename(words[0])
        if name == "insmod" and not module.endswith(".ko"):
            return f"insmod wants a file: {module}"
        module = module.removesuffix(".ko")
        if not module.startswith("via_"):
            self.load(item, module)
            return None
        if module not in self.there.modules:
            return f"there is no module {module}"
        for word in words[1:]:
            parameter = word.partition("=")[0]
            if parameter not in self.there.parameters[module]:
                return f"{module} has no parameter {parameter}"
        if name == "insmod":
            missing = self.there.needs(module) - self.load(item)
            if missing:
                return (f"insmod {module}.ko needs "
                        f"{', '.join(sorted(missing))} loaded before it, "
                        "which modprobe does by itself")
        if name != "modinfo":
            self.load(item, module)
        return None

    def load(self, item, module=None):
        """What the shell of this block has loaded, and now this."""
        line, loaded = self.loaded.get(item.file, (-9, set()))
        if item.line - line > 3:
            loaded = set()
        if module:
            loaded.add(module)
            # modprobe would have loaded what it needs.
            for need in self.there.needs(module):
                loaded.add(need)
        self.loaded[item.file] = (item.line, loaded)
        return loaded

    def foreign(self, name, words, item):
        package = known.COMMANDS[name]
        if package not in self.there.packages and \
                package not in known.PACKAGES:
            return (f"{name} is in Debian's {package}, which setup does not "
                    "install and tests/said/exceptions.py does not know")
        if name == "apt-get":
            for word in words[1:]:
                # Ours, by name or as make deb names the file.
                ours = re.fullmatch(r"(?:\./build/deb/)?([\w-]+)(?:_" +
                                    re.escape(self.there.release) +
                                    r"_(?:amd64|all)\.deb)?", word)
                if word not in self.there.packages and \
                        word not in known.PACKAGES and \
                        not (ours and ours[1] in self.there.ours):
                    return f"{word} is no package that setup knows"
        for word in words:
            if re.match(r"/|(?:docs|tests|tools|kernel|devices|verbs)/", word):
                why = self.path_wrong(word, item.file)
                if why:
                    return why
        return None

    # Code spans

    def span(self, item):
        text = item.text
        first = text.split()[0]
        name = os.path.basename(first)
        if text.startswith("#include"):
            return None
        if name in self.there.programs or name in known.COMMANDS or \
                name == "make" and " " in text:
            return self.command(item)
        if first.startswith("-"):
            return self.bare_option(first, item)
        if re.search(r"\s", text) is None and (
                text.startswith("/") or "/" in text and "[" not in text or
                text.endswith(SUFFIXES) or re.search(r"/.*\[", text)):
            return self.span_path(text, item)
        if "=" in text and re.fullmatch(r"\w+=\S*", text):
            return self.assignment(text)
        if item.file in GROUPS and GROUP_LIKE.fullmatch(text):
            return self.group(item)
        return self.words(text)

    def span_path(self, text, item):
        if text.startswith("~/"):
            return None if text[2:] in self.there.text else \
                f"nothing uses {text}"
        if text.endswith((".ko", ".so", ".a")) or ".so." in text:
            module = text.removesuffix(".ko")
            if module in self.there.modules or text in self.there.text:
                return None
            return f"nothing makes {text}"
        return self.path_wrong(text.rstrip("/"), item.file)

    def bare_option(self, word, item):
        """It is one of a program that the document named before."""
        match = re.match(r"-([lD])(\w+)", word)
        if match and (match.group(2) in LIBRARIES or match.group(1) == "D" and
                      match.group(2) in self.there.words):
            return None
        programs = dict.fromkeys(self.named.get(item.file, []))
        if any(not self.option_wrong(p, word) for p in programs):
            return None
        return (f"no program that is named before has an option {word}: "
                f"{', '.join(programs) or 'there is none'}")

    def assignment(self, text):
        name, _, value = text.partition("=")
        if name.isupper():
            return None if name in self.there.words or \
                self.there.make_uses(name) else f"nothing reads {name}"
        if any(name in p for p in self.there.parameters.values()):
            return None
        return f"no module has a parameter {name}"

    def words(self, text):
        for word in re.findall(r"[A-Za-z_]\w*", text):
            if word not in self.there.words and not placeholder(word):
                return f"nothing in the sources is named {word}"
        return None
