# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The commands of a document, each of which a test is to run as it stands."""

import os
import re

from labkit.base import ROOT
from runner import StepFailed


class Document:
    """A section of a file, or all of it.  has() hands out a command that is in
    it, and untried() tells those that nothing has asked for."""

    def __init__(self, file, title=None, elsewhere=()):
        self.name = f"{file}, \"{title}\"" if title else file
        with open(os.path.join(ROOT, file)) as data:
            text = data.read()
        if title:
            found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)",
                              text, re.M | re.S)
            if not found:
                raise StepFailed(f"{file} has no section \"{title}\"")
            text = found.group(1)
        self.text = text
        self.left = [c for c in self.commands() if c not in elsewhere]

    def commands(self):
        """Of its code blocks without a language, without the comments."""
        for kind, block in re.findall(r"^```(.*)\n([^`]*?)^```$", self.text,
                                      re.M):
            for line in block.split("\n") if not kind else ():
                command = re.sub(r"\s+# .*", "", line).strip()
                if command and not command.startswith("["):
                    yield command

    def has(self, command):
        """The command, which must stand there, in a block or in a sentence."""
        flat = re.sub(r"\s+", " ", self.text)
        if command not in self.commands() and f"`{command}`" not in flat:
            raise StepFailed(f"{self.name} has no '{command}'")
        if command in self.left:
            self.left.remove(command)
        return command

    def untried(self):
        if self.left:
            raise StepFailed(f"{self.name}: nothing here runs "
                             f"{', '.join(self.left)}")
