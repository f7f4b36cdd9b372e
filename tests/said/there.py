# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What there is: targets, programs and their options, parameters, calls."""

import functools
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path += [os.path.join(HERE, "../check/run"),
             os.path.join(HERE, "../../tools/lab"),
             os.path.join(HERE, "../../tools")]

import choose  # noqa: E402
from anchors import anchor  # noqa: E402,F401  (for resolve.py, too)

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
SOURCES = ("core", "kernel", "devices", "verbs", "include", "vipl",
           "providers", "tools", "tests", "Makefile", "Kbuild")
# Which module the parameters of a file of sources are of.
OWNERS = (("kernel/", "via_ka"), ("devices/ether/", "via_ether"),
          ("devices/native/", "via_native"), ("devices/netdev.c",
                                              "via_netdev"))
LAB = ("setup", "kernel", "run", "shell", "wire", "models", "up", "exec",
       "reload", "status", "down")


class Project:
    """The tree at `root`, built."""

    def __init__(self, root):
        self.root = root

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def output(self, *command):
        """What a command prints, wherever, and whatever its status."""
        env = {k: v for k, v in os.environ.items()
               if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        return subprocess.run(command, cwd=self.root, text=True, env=env,
                              stdin=subprocess.DEVNULL, timeout=300,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    # Files and words

    @functools.cached_property
    def files(self):
        listed = self.output("git", "ls-files", "-co", "--exclude-standard")
        if listed.returncode:
            raise OSError(listed.stdout.strip())
        return [f for f in listed.stdout.split("\n") if f]

    @functools.cached_property
    def sources(self):
        """{file: text} of all that is no document, and not of this check."""
        found = {}
        for name in self.files:
            if not name.startswith(SOURCES) or \
                    name.startswith(("tests/said/", "tests/fuzz/corpus")):
                continue
            try:
                with open(self.path(name)) as file:
                    found[name] = file.read()
            except (UnicodeDecodeError, FileNotFoundError):
                pass
        return found

    @functools.cached_property
    def text(self):
        return "\n".join(self.sources.values())

    @functools.cached_property
    def words(self):
        return set(re.findall(r"[A-Za-z_]\w*", self.text))

    @functools.cached_property
    def basenames(self):
        return {os.path.basename(f) for f in self.files}

    @functools.cached_property
    def header(self):
        """The words of the headers that programs include."""
        found = set()
        for name in ("vipl.h", "vipl_ext.h", "viadsm.h"):
            with open(self.path(f"include/{name}")) as file:
                found |= set(re.findall(r"\w+", file.read()))
        return found

    # make

    @functools.cached_property
    def makefiles(self):
        return "\n".join(text for name, text in self.sources.items()
                         if name == "Makefile" or
                         name.endswith(("Makefile.inc", ".mk", "Kbuild")))

    def dry(self, *targets):
        """What `make -n` says of them, None where nothing is missing;
        recursive makes are not entered."""
        done = self.output("make", "-n", "MAKE=:", *targets)
        return None if done.returncode == 0 else done.stdout.strip()

    @functools.cached_property
    def phony(self):
        """The targets of .PHONY, if one dry run finds what all of them need:
        none otherwise, and each has a dry run of its own."""
        found = {word for line in re.findall(
            r"^\.PHONY:((?:.*\\\n)*.*)", self.makefiles, re.M)
            for word in re.findall(r"[a-z][\w-]*", line)}
        return found if found and self.dry(*sorted(found)) is None else set()

    @functools.lru_cache(None)
    def make_runs(self, target):
        """None, or what a dry run of the target says."""
        return None if target in self.phony else self.dry(target)

    def make_uses(self, variable):
        return re.search(r"\$[({]%s[)},:]" % variable, self.makefiles)

    def passed_on(self, variable):
        """The program that gets the words of a variable of make."""
        match = re.search(rf"^\t(\S+)(?: --?\w+)* \$\({variable}\)",
                          self.makefiles, re.M)
        return os.path.basename(match.group(1)) if match else None

    # Our programs

    @functools.cached_property
    def programs(self):
        """{name: command that prints its help}."""
        found = {}
        for path in glob.glob(self.path("build/tools/*")) + \
                glob.glob(self.path("build/via*")) + \
                glob.glob(self.path("tools/demo/*-target")) + \
                [self.path("tools/via-bind"), self.path("tools/lab/lab")]:
            if os.access(path, os.X_OK) and os.path.isfile(path) and \
                    not path.endswith(".so"):
                found[os.path.basename(path)] = [path, "--help"]
        for name, text in self.sources.items():
            if name.endswith(".py") and "ArgumentParser(" in text and \
                    text.startswith("#!"):
                found[os.path.basename(name)] = [self.path(name), "--help"]
        for word in LAB:
            found[f"lab {word}"] = [self.path("tools/lab/lab"), word, "--help"]
        viatest = self.path("build/viatest")
        for word in re.findall(r"^  (\w+) ", self.output(
                viatest, "--help").stdout, re.M):
            found[f"viatest {word}"] = [viatest, word, "--help"]
        return found

    @functools.lru_cache(None)
    def asked(self, name):
        return self.output(*self.programs[name])

    @functools.lru_cache(None)
    def help(self, name):
        """The help of a program; of via, with the help of its objects."""
        text = self.asked(name).stdout
        if name == "via":
            for word in re.findall(r"^  ([a-z]+) ", text, re.M):
                text += self.output(self.programs[name][0], word,
                                    "help").stdout
        return text

    @functools.lru_cache(None)
    def options(self, name):
        return set(OPTION.findall(self.help(name))) | {"-h", "--help"}

    # Modules

    @functools.cached_property
    def parameters(self):
        """{module: names}."""
        found = {module: set() for module in self.modules}
        for name, text in self.sources.items():
            owner = next((m for start, m in OWNERS
                          if name.startswith(start)), None)
            if owner:
                found[owner] |= set(re.findall(
                    r"^module_param(?:_named|_cb)?\((\w+),", text, re.M))
        return found

    @functools.cached_property
    def modules(self):
        return set(re.findall(r"\b(via_\w+)\.o\b",
                              self.sources["Kbuild"])) | set(
            re.findall(r"\b(via_\w+)-(?:y|objs)\b", self.sources["Kbuild"]))

    @functools.lru_cache(None)
    def needs(self, module):
        """Modules that must be there first, by the module as it is built for
        each kernel: what one kernel has built in, another one loads."""
        found = set()
        for built in glob.glob(self.path(f"build/modules/*/{module}.ko")):
            said = self.output("/sbin/modinfo", "-F", "depends", built).stdout
            found |= set(filter(None, said.strip().split(",")))
        return found

    @functools.cached_property
    def attributes(self):
        """Of /sys/class/via/NIC: files, and folders."""
        found = re.findall(r"DEVICE_ATTR_\w+\((\w+)\)|"
                           r'\bgroup\.name = "(\w+)"', self.text)
        return {file or folder for file, folder in found}

    # Tests

    @functools.cached_property
    def groups(self):
        listed = self.output(self.path("build/viaconform"), "-l").stdout
        return set(re.findall(r"^([a-z]\w*\.\w+) ", listed, re.M))

    @functools.lru_cache(None)
    def listed(self, program, *more):
        """The steps that a program lists, a line each."""
        done = self.output(self.path(program), *more, "--list")
        done.check_returncode()
        return done.stdout

    @functools.cached_property
    def steps(self):
        return "\n".join((self.listed("tests/check/check.py"),
                          self.listed("tests/check/check.py", "--full"),
                          self.listed("tests/soak/soak.py")))

    def step_wrong(self, target, wanted):
        """Whether K of make check or check-full names a step."""
        full = ["--full"] if target == "check-full" else []
        try:
            choose.chosen(self.listed("tests/check/check.py",
                                      *full).splitlines(), wanted)
        except choose.Unclear as why:
            return str(why).split("\n", maxsplit=1)[0]
        return None

    @functools.cached_property
    def tests(self):
        """Names, as T of make test picks them."""
        return self.output(self.path("tests/test/test.py"),
                           "list").stdout.split("\n")

    # Packages

    @functools.cached_property
    def ours(self):
        """Packages that debian/control makes."""
        with open(self.path("debian/control")) as file:
            return set(re.findall(r"^Package: (\S+)", file.read(), re.M))

    @functools.cached_property
    def release(self):
        with open(self.path("VERSION")) as file:
            return file.read().strip()

    @functools.cached_property
    def packages(self):
        text = self.sources["tools/lab/packages"]
        return {word for line in text.split("\n")
                if not line.startswith(("#", "[")) for word in line.split()}

    @functools.lru_cache(None)
    def headings(self, name):
        """Of a document, as they stand."""
        with open(self.path(name)) as file:
            return re.findall(r"^#+ +(.*?) *$", file.read(), re.M)
