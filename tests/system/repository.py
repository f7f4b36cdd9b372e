# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The packages that a guest installs: those of `make deb`, and the same with an
older version, in the folder that the guest has at /srv/mvia.

Modules are those that DKMS has packed on this machine; the guest gets them as a
machine without a compiler does (docs/howto/install.md).  DKMS takes those that the
guests of the lab have: "packages: DKMS on 6.1" of make check-full compiles them.
"""

import contextlib
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile

from image import REPO
from labkit.base import BUILD, ROOT
from runner import StepFailed

DEB = os.path.join(BUILD, "deb")
WANTED = ("libvipl1", "libvipl1-plugins", "mvia-tools", "mvia-dkms")
MADE_OF = ("core", "kernel", "devices", "verbs", "include/uapi",
           "Kbuild", "VERSION", "packaging/dkms.conf")


def version():
    with open(os.path.join(ROOT, "VERSION")) as file:
        return file.read().strip()


def before(number):
    """An older version of the same length: 1.0.0 -> 0.9.9."""
    digits = re.sub(r"\D", "", number)
    less = iter(str(int(digits) - 1).zfill(len(digits)))
    return re.sub(r"\d", lambda _: next(less), number)


def sources():
    """What the modules are made of, as one word."""
    state = hashlib.sha256()
    for top in MADE_OF:
        path = os.path.join(ROOT, top)
        for file in sorted(glob.glob(f"{path}/**/*.[ch]", recursive=True)
                           if os.path.isdir(path) else [path]):
            with open(file, "rb") as data:
                state.update(file.encode() + data.read())
    return state.hexdigest()


def modules(check, kernel):
    """DKMS's tarball, packed if the sources have changed."""
    path = os.path.join(BUILD, f"dkms/mvia-{version()}-{kernel.release}"
                        ".dkms.tar.gz")
    stamp = f"{path}.of"
    with contextlib.suppress(OSError), open(stamp) as file:
        if file.read() == sources() and os.path.exists(path):
            return path
    check.host([os.path.join(ROOT, "tests/packages/run"), "dkms",
                kernel.release, kernel.kdir, kernel.root or "",
                f"build/kbuild/{kernel.release}"], 3600)
    with open(stamp, "w") as file:
        file.write(sources())
    return path


def tar(*words):
    subprocess.run(["tar", *words], check=True)


def replace(path, old, new):
    """In a file's bytes; a module keeps its length."""
    with open(path, "rb") as file:
        data = file.read()
    if old in data:
        with open(path, "wb") as file:
            file.write(data.replace(old, new))


def older_modules(tarball, new, old, to):
    """The tarball as the older version has it."""
    with tempfile.TemporaryDirectory() as folder:
        tar("-xf", tarball, "-C", folder)
        count = 0
        for path in glob.glob(f"{folder}/**/*.ko*", recursive=True):
            if path.endswith(".xz"):
                subprocess.run(["xz", "-d", path], check=True)
            plain = path.removesuffix(".xz")
            replace(plain, f"version={new}".encode(), f"version={old}".encode())
            count += 1
            if path.endswith(".xz"):
                subprocess.run(["xz", "--check=crc32", plain], check=True)
        replace(f"{folder}/dkms_source_tree/dkms.conf", new.encode(),
                old.encode())
        replace(f"{folder}/dkms_source_tree/VERSION", new.encode(),
                old.encode())
        if not count:
            raise StepFailed(f"{tarball} has no modules")
        tar("-czf", to, "-C", folder, ".")


def older_package(deb, new, old, folder):
    """A package under an older version, files and scripts."""
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        subprocess.run(["dpkg-deb", "-R", deb, root], check=True)
        for name in os.listdir(f"{root}/DEBIAN"):
            replace(f"{root}/DEBIAN/{name}", new.encode(), old.encode())
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{root}/usr/src/mvia-{new}",
                      f"{root}/usr/src/mvia-{old}")
            for name in ("dkms.conf", "VERSION"):
                replace(f"{root}/usr/src/mvia-{old}/{name}", new.encode(),
                        old.encode())
        name = os.path.basename(deb).replace(f"_{new}_", f"_{old}_")
        # Its list of files is of names, not of what is in them.
        os.unlink(f"{root}/DEBIAN/md5sums")
        subprocess.run(["dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "-b",
                        root, os.path.join(folder, name)], check=True,
                       stdout=subprocess.DEVNULL)


def scan(document):
    """The index, by the command that the document has."""
    command = document.has("dpkg-scanpackages -m . >Packages")
    done = subprocess.run(["sh", "-c", command], cwd=REPO, text=True,
                          stderr=subprocess.PIPE)
    if done.returncode:
        raise StepFailed(f"{command}: {done.stderr}")


class Repository:
    """First with the older version, later with the one of this tree."""

    def __init__(self, check, kernel, document):
        self.document = document
        self.new = version()
        self.old = before(self.new)
        tarball = modules(check, kernel)
        shutil.rmtree(REPO, ignore_errors=True)
        os.makedirs(REPO)
        for name in WANTED:
            older_package(self.deb(name), self.new, self.old, REPO)
        older_modules(tarball, self.new, self.old,
                      os.path.join(REPO, f"mvia-{self.old}.dkms.tar.gz"))
        shutil.copy(tarball,
                    os.path.join(REPO, f"mvia-{self.new}.dkms.tar.gz"))
        scan(document)

    def deb(self, name):
        found = glob.glob(os.path.join(DEB, f"{name}_{self.new}_*.deb"))
        if not found:
            raise StepFailed(f"no {name}_{self.new} in {DEB}: run make deb")
        return found[0]

    def release(self):
        """The version of this tree is there."""
        for name in WANTED:
            shutil.copy(self.deb(name), REPO)
        scan(self.document)
