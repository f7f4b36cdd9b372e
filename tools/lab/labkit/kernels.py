# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The kernel cache: Debian's 6.1, 6.12 and 7.3, two debug builds of 6.1, and
6.1 for arm64.

Nothing here touches the machine's boot files or its apt sources.  Each kernel
is a folder of the cache with an info file that names its parts; the file is
written last, so a folder with one is whole.
"""

import collections
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import time

from .base import (CACHE, LabError, ROOT, TOOLS, codename, locked, logged,
                   output_of, say)

# What a kernel built here is made of; what a later fragment says holds.
FRAGMENTS = {"debug-6.1": ("debug.config",),
             "kcsan-6.1": ("debug.config", "kcsan.config")}
NAMES = ("6.1", "6.12", "7.3", *FRAGMENTS)
# Of another machine: a node of a lab may have it, see arm64.py.
ARM64 = "arm64-6.1"
# What such a node runs beside our programs; busybox is its shell.
ARM64_ROOT = ("busybox-static", "libc6", "libgcc-s1", "libmnl0", "libcunit1",
              # And to link with.
              "libmnl-dev", "libcunit1-dev", "libfabric-dev")

# The Debian that builds modules for 7.3: the programs of its headers want that
# C library.
TRIXIE = os.path.join(CACHE, "debian13")
TRIXIE_PACKAGES = ("gcc", "make", "libc6-dev", "kmod", "pahole", "dkms",
                   "openssl")
PCH = "tools/lab/pch"


class Kernel(collections.namedtuple(
        "Kernel", "name release image kdir modules root", defaults=(None,))):
    """`kdir` are its headers: a path on this machine or, where its modules
    are built in a Debian of the cache, in that Debian, `root`."""

    def make(self, *words, tree=ROOT):
        """The command that builds modules for it, with these words of make's,
        in a tree.  Guests read no debug information, which is a sixth of the
        compiler's time and nine tenths of the files; BTF is made of it, where
        a kernel's headers bring what that needs.  Headers are parsed once a
        module, by `pch`, which older trees have not."""
        flags = "KCFLAGS=-g0 CONFIG_DEBUG_INFO_BTF_MODULES="
        if os.path.exists(os.path.join(tree, PCH)):
            path = os.path.join("/mnt" if self.root else tree, PCH)
            flags += f" CC='{path} {self.compiler()}'"
        words += (f"KDIR={self.kdir}", f"KFLAGS={flags}")
        if self.root:
            return [os.path.join(TOOLS, "inside"), self.root, tree, "make",
                    *words]
        return ["make", "-C", tree, *words]

    def compiler(self):
        """The one that its headers name, that has built the kernel."""
        path = f"{self.root or ''}{self.kdir}/include/config/auto.conf"
        with open(path) as file:
            found = re.search(r'^CONFIG_CC_VERSION_TEXT="?([^\s"]+)',
                              file.read(), re.M)
        return found[1] if found else "gcc"


def read_info(folder):
    """The kernel that a cache folder holds, or None."""
    try:
        with open(os.path.join(folder, "info")) as file:
            kernel = Kernel(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None
    whole = all(map(os.path.exists, (
        kernel.image, kernel.modules,
        os.path.join(f"{kernel.root or ''}{kernel.kdir}", "Makefile"))))
    return kernel if whole else None


def write_info(folder, kernel):
    temporary = os.path.join(folder, "info.new")
    with open(temporary, "w") as file:
        json.dump(kernel._asdict(), file, indent=1)
    os.rename(temporary, os.path.join(folder, "info"))
    return kernel


def finish_modules(folder, release):
    """Plain .ko files (the initramfs takes no other) and their index."""
    modules = os.path.join(folder, "lib/modules", release)
    packed = subprocess.run(["find", modules, "-name", "*.ko.xz", "-print0"],
                            stdout=subprocess.PIPE, check=True).stdout
    if packed:
        subprocess.run(["xargs", "-0", "-P2", "-n64", "xz", "-d"],
                       input=packed, check=True)
    output_of(["/sbin/depmod", "-b", folder, release])
    return modules


class Apt:
    """apt-get, with options that may point it at private sources."""

    def __init__(self, options=(), log=None):
        self.options = ["-o", "APT::Sandbox::User=root", *options]
        self.log = log

    def query(self, *words):
        return output_of(["apt-cache", *self.options, *words])

    def get(self, *words, cwd=None):
        logged(["apt-get", "-q", *self.options, *words], self.log,
               f"apt-get {words[0]}", cwd=cwd)

    def field(self, package, field, *options):
        """One field of the newest version that apt offers."""
        try:
            text = self.query(*options, "--no-all-versions", "show", package)
        except LabError:
            return None
        found = re.search(rf"^{field}: (.*)$", text, re.M)
        return found.group(1) if found else None


def download(apt, folder, packages):
    debs = os.path.join(folder, "debs")
    shutil.rmtree(debs, ignore_errors=True)
    os.makedirs(debs)
    apt.get("download", *packages, cwd=debs)
    return {name: glob.glob(os.path.join(
        debs, f"{re.split('[:=]', name)[0]}_*.deb"))[0] for name in packages}


def unpack_image(folder, deb, release, log):
    shutil.rmtree(os.path.join(folder, "lib"), ignore_errors=True)
    logged(["dpkg-deb", "-x", deb, folder], log, "unpacking the kernel")
    return os.path.join(folder, f"boot/vmlinuz-{release}")


def need_root(what):
    if os.geteuid():
        raise LabError(f"{what} needs root: run it once as root (sudo)")


def image_release(apt, *options, package="linux-image-amd64"):
    """The release that such a package stands for, as 6.1.0-56-amd64."""
    depends = apt.field(package, "Depends", *options) or ""
    found = re.search(r"linux-image-(\S+)", depends)
    if not found:
        raise LabError(f"apt knows no {package}: run 'apt-get update' "
                       "and check the network")
    return found.group(1)


def fetch_stock(name, folder, log):
    """Debian's own 6.1, with headers that a Debian 12 has or gets."""
    if codename() != "bookworm":
        return fetch_private(name, folder, log)
    try:
        return fetch_listed(name, folder, log)
    except LabError:
        if os.geteuid():
            raise
    # No package lists, or lists so old that their files are gone.
    say("refreshing apt's package lists")
    Apt(log=log).get("update")
    return fetch_listed(name, folder, log)


def fetch_listed(name, folder, log):
    apt = Apt(log=log)
    release = image_release(apt)
    if not release.startswith("6.1."):
        raise LabError(f"this machine's apt offers kernel {release}, a "
                       "Debian 12 has 6.1")
    if not os.path.isdir(f"/usr/src/linux-headers-{release}"):
        need_root(f"installing linux-headers-{release}")
        say(f"installing linux-headers-{release}")
        apt.get("install", "-y", "--no-install-recommends",
                f"linux-headers-{release}")
    package = f"linux-image-{release}"
    say(f"fetching Debian's kernel {release}")
    debs = download(apt, folder, [package])
    image = unpack_image(folder, debs[package], release, log)
    shutil.rmtree(os.path.join(folder, "debs"))
    return Kernel(name, release, image, f"/usr/src/linux-headers-{release}",
                  finish_modules(folder, release))


def private_apt(log, part, suites, *options, kind="deb"):
    """An apt of our own for these suites: sources, lists and all; of sources
    (kind is deb-src) or of what was built."""
    base = os.path.join(CACHE, part)
    for folder in ("lists/partial", "archives/partial", "parts"):
        os.makedirs(os.path.join(base, folder), exist_ok=True)
    uris = output_of(["apt-get", "indextargets", "--format",
                      "$(REPO_URI) $(CODENAME)", "Created-By: Packages"])
    mirrors = [line.split()[0] for line in uris.splitlines()
               if re.search(r" (bookworm|trixie)$", line)]
    mirror = os.environ.get("MVIA_MIRROR") or next(
        (m for m in mirrors if "debian.org" in m), None) or (
        mirrors[0] if mirrors else "http://deb.debian.org/debian")
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    signed = f"[signed-by={key}] " if os.path.exists(key) else ""
    with open(os.path.join(base, "sources.list"), "w") as file:
        file.writelines(f"{kind} {signed}{mirror} {suite} main\n"
                        for suite in suites)
    return Apt(["-o", f"Dir::Etc::sourcelist={base}/sources.list",
                "-o", f"Dir::Etc::sourceparts={base}/parts",
                "-o", f"Dir::State::lists={base}/lists",
                "-o", f"Dir::Cache::archives={base}/archives",
                "-o", f"Dir::Cache::pkgcache={base}/pkgcache.bin",
                "-o", f"Dir::Cache::srcpkgcache={base}/srcpkgcache.bin",
                *options], log)


def unpack_headers(folder, debs, release, log):
    """Headers in the cache; their one absolute path is made to lead there.

    Installed, they would ask for the image package, boot files and all.
    """
    for top in ("usr/src", "usr/lib"):
        shutil.rmtree(os.path.join(folder, top), ignore_errors=True)
    for deb in debs:
        logged(["dpkg-deb", "-x", deb, folder], log, "unpacking the headers")
    kdir = os.path.join(folder, f"usr/src/linux-headers-{release}")
    path = os.path.join(kdir, "Makefile")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("include /usr/src/",
                                f"include {folder}/usr/src/"))
    return kdir


# The suites of Debian 12 that have a kernel, and the folder of their lists.
SUITES = {"6.1": ("apt-6.1", "bookworm"),
          "6.12": ("apt", "bookworm", "bookworm-backports")}


def fetch_private(name, folder, log):
    """Debian 12's own 6.1 or 6.12 of its backports, headers and all."""
    part, *suites = SUITES[name]
    apt = private_apt(log, part, suites)
    say(f"reading the package lists of {suites[-1]} (private copy)")
    apt.get("update")
    target = ("-t", suites[-1])
    release = image_release(apt, *target)
    image, headers = f"linux-image-{release}", f"linux-headers-{release}"
    version = apt.field(image, "Version", *target)
    depends = apt.field(headers, "Depends", *target) or ""
    wanted = [f"{p}={version}" for p in [image, headers] + re.findall(
        r"(linux-(?:headers|kbuild)-[^\s,]+)", depends)]
    say(f"fetching Debian's kernel {release} and its headers")
    debs = download(apt, folder, wanted)
    path = unpack_image(folder, debs[wanted[0]], release, log)
    kdir = unpack_headers(folder, [debs[p] for p in wanted[1:]], release, log)
    shutil.rmtree(os.path.join(folder, "debs"))
    return Kernel(name, release, path, kdir, finish_modules(folder, release))


def newest(apt, series):
    """The newest release of that series that apt has headers for."""
    found = re.findall(rf"^linux-headers-({re.escape(series)}\.\S*-amd64)$",
                       apt.query("pkgnames", f"linux-headers-{series}."), re.M)
    plain = [r for r in found if not re.search("-(cloud|rt)-", r)]
    if not plain:
        raise LabError(f"trixie-backports has no kernel {series} any more: "
                       "MVIA_MIRROR may name an archive that has one, as "
                       "snapshot.debian.org")
    return max(plain, key=lambda r: [int(n) for n in re.findall(r"\d+", r)])


def trixie_root(release, log):
    """A Debian 13 with a compiler and the headers of that release."""
    headers = f"linux-headers-{release}"
    if all(map(os.path.exists, (f"{TRIXIE}/usr/src/{headers}/Makefile",
                                f"{TRIXIE}/usr/sbin/dkms"))):
        return TRIXIE
    need_root("making a Debian 13")
    setup_packages("system")
    shutil.rmtree(TRIXIE, ignore_errors=True)
    shutil.rmtree(f"{TRIXIE}.new", ignore_errors=True)
    say(f"making a Debian 13 that builds for {release}, about three minutes, "
        f"once (progress in {log})")
    with open(os.path.join(CACHE, "apt-trixie/sources.list")) as file:
        lines = file.read().splitlines()
    logged(["mmdebstrap", "--variant=minbase",
            f"--include={','.join((*TRIXIE_PACKAGES, headers))}", "trixie",
            f"{TRIXIE}.new", *lines], log, "making a Debian 13")
    os.rename(f"{TRIXIE}.new", TRIXIE)
    return TRIXIE


def fetch_trixie(name, folder, log):
    """Debian's 7.3 from trixie-backports: three packages since 7.x.  What
    builds its modules is a Debian 13 in the cache."""
    apt = private_apt(log, "apt-trixie", ("trixie", "trixie-backports"))
    say("reading the package lists of trixie-backports (private copy)")
    apt.get("update")
    release = newest(apt, name)
    root = trixie_root(release, log)
    names = [f"linux-{part}-{release}" for part in
             ("binary", "modules", "base")]
    version = apt.field(names[0], "Version")
    if not version:
        raise LabError(f"trixie-backports has no {names[0]}, see {log}")
    say(f"fetching Debian's kernel {release}")
    debs = download(apt, folder, [f"{p}={version}" for p in names])
    for top in ("lib", "usr"):
        shutil.rmtree(os.path.join(folder, top), ignore_errors=True)
    for deb in debs.values():
        logged(["dpkg-deb", "-x", deb, folder], log, "unpacking the kernel")
    shutil.rmtree(os.path.join(folder, "debs"))
    if not os.path.lexists(os.path.join(folder, "lib")):
        os.symlink("usr/lib", os.path.join(folder, "lib"))
    modules = finish_modules(folder, release)
    return Kernel(name, release, os.path.join(modules, "vmlinuz"),
                  f"/usr/src/linux-headers-{release}", modules, root)


def complete_root(root):
    """Its folders and the commands of busybox, which this machine's lists as
    well; the kernel itself calls modprobe, by this path."""
    for name in ("sbin", "tmp", "root", "var"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    names = [f"bin/{n}" for n in output_of(["busybox", "--list"]).split()]
    for name in [*names, "sbin/modprobe"]:
        path = os.path.join(root, name)
        if not os.path.lexists(path):
            os.symlink("/bin/busybox", path)


def fetch_arm64(name, folder, log):
    """Debian's 6.1 for arm64 and what to build for it here: the headers with
    the programs of amd64's kbuild of the same version.  All of it is below
    one folder, which is the root of the guest, too."""
    apt = private_apt(log, "apt-arm64", ("bookworm",), "-o",
                      "APT::Architectures::=amd64", "-o",
                      "APT::Architectures::=arm64")
    say("reading the package lists of bookworm for arm64 (private copy)")
    apt.get("update")
    release = image_release(apt, package="linux-image-arm64:arm64")
    image, headers = f"linux-image-{release}", f"linux-headers-{release}"
    version = apt.field(f"{image}:arm64", "Version")
    common = f"linux-headers-{release.replace('-arm64', '-common')}"
    wanted = [f"{image}:arm64={version}", f"{headers}:arm64={version}",
              f"{common}={version}", f"linux-kbuild-6.1:amd64={version}",
              *(f"{p}:arm64" for p in ARM64_ROOT)]
    say(f"fetching Debian's kernel {release}, its headers, and libraries")
    debs = download(apt, folder, wanted)
    path = unpack_image(folder, debs[wanted[0]], release, log)
    kdir = unpack_headers(folder, [debs[p] for p in wanted[1:]], release, log)
    shutil.rmtree(os.path.join(folder, "debs"))
    complete_root(folder)
    return Kernel(name, release, path, kdir, finish_modules(folder, release))


def fragments(name):
    return [os.path.join(TOOLS, file) for file in FRAGMENTS[name]]


def debug_key(name, version):
    text = f"{version}\n".encode()
    for path in fragments(name):
        with open(path, "rb") as file:
            text += file.read()
    return hashlib.sha256(text).hexdigest()[:12]


def installed_source():
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}",
                           "linux-source-6.1"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return done.stdout if done.returncode == 0 else None


def source():
    """(version, archive) of 6.1's source: a package of Debian 12, which goes
    to the cache of other machines."""
    if codename() == "bookworm":
        if not installed_source():
            setup_packages("debug")
        return installed_source(), "/usr/src/linux-source-6.1.tar.xz"
    folder = os.path.join(CACHE, "source-6.1")
    version = os.path.join(folder, "version")
    with locked("source-6.1", "fetching 6.1's source"):
        if not os.path.exists(version):
            fetch_source(folder, version, os.path.join(CACHE,
                                                       "source-6.1.log"))
    with open(version) as file:
        return file.read(), os.path.join(
            folder, "usr/src/linux-source-6.1.tar.xz")


def fetch_source(folder, version, log):
    os.makedirs(folder, exist_ok=True)
    apt = private_apt(log, "apt-6.1", ("bookworm",))
    say("fetching linux-source-6.1 of Debian 12, once")
    apt.get("update")
    debs = download(apt, folder, ["linux-source-6.1"])
    for deb in debs.values():
        logged(["dpkg-deb", "-x", deb, folder], log, "unpacking the source")
    shutil.rmtree(os.path.join(folder, "debs"))
    with open(version, "w") as file:
        file.write(apt.field("linux-source-6.1", "Version"))


def check_config(name, folder):
    """Every line of the fragments must have survived into .config."""
    with open(os.path.join(folder, ".config")) as file:
        config = set(file.read().splitlines())
    wanted = {}
    for path in fragments(name):
        with open(path) as file:
            wanted.update(line.split("=", 1) for line in file.read().split()
                          if line.startswith("CONFIG_"))
    lost = [f"{key}={value}" for key, value in wanted.items()
            if value != "n" and f"{key}={value}" not in config]
    if lost:
        raise LabError(f"kernel {name} lost {', '.join(lost)}")


def build_debug(name, folder, log):
    """A 6.1 with checkers on: twelve minutes, once for what it is made of."""
    key = os.path.basename(folder)[len(name) + 1:]
    make = ["nice", "-n", "10", "make", "-C", folder]
    stamp = os.path.join(folder, ".extracted")
    if not os.path.exists(stamp):
        say("unpacking linux-source-6.1")
        logged(["tar", "xf", source()[1], "-C", folder,
                "--strip-components=1"], log, "unpacking the source")
        open(stamp, "w").close()
    with open(os.path.join(folder, "localversion-mvia"), "w") as file:
        file.write(f"-{name.split('-')[0]}-{key}\n")
    logged([*make, "tinyconfig"], log, "configuring the debug kernel")
    logged(["./scripts/kconfig/merge_config.sh", "-m", ".config",
            *fragments(name)], log, "configuring the debug kernel", cwd=folder)
    logged([*make, "olddefconfig"], log, "configuring the debug kernel")
    check_config(name, folder)
    jobs = min(os.cpu_count() or 1, 16)
    say(f"building kernel {name}, about {24 // jobs} minutes, once "
        f"(progress in {log})")
    logged([*make, f"-j{jobs}", "bzImage", "modules"], log,
           "building the debug kernel")
    logged([*make, f"INSTALL_MOD_PATH={folder}", "modules_install"], log,
           "building the debug kernel")
    release = output_of([*make[3:], "-s", "kernelrelease"]).strip()
    return Kernel(name, release, os.path.join(folder, "arch/x86/boot/bzImage"),
                  folder, finish_modules(folder, release))


def setup_packages(*lists):
    done = subprocess.run([os.path.join(TOOLS, "setup.sh"), *lists])
    if done.returncode:
        raise LabError("the set-up of packages failed, see above")


def drop_others(name, keep, days=3):
    """One debug kernel is 2 GB: those of older fragments go in the end."""
    for path in glob.glob(os.path.join(CACHE, f"{name}-*")):
        if os.path.isdir(path) and path != keep and \
                time.time() - os.path.getmtime(path) > days * 86400:
            shutil.rmtree(path, ignore_errors=True)


def kernel(name, update=False):
    """The kernel `name`, from the cache or else fetched or built."""
    if name not in (*NAMES, ARM64):
        raise LabError(f"no kernel '{name}': there are {', '.join(NAMES)}")
    folder = os.path.join(CACHE, name)
    make = {"6.1": fetch_stock, "6.12": fetch_private,
            "7.3": fetch_trixie, ARM64: fetch_arm64}.get(name, build_debug)
    if make is build_debug:
        folder += "-" + debug_key(name, source()[0])
    found = None if update else read_info(folder)
    if found:
        return found
    with locked(name, f"kernel {name}"):
        found = None if update else read_info(folder)
        if found:
            return found
        os.makedirs(folder, exist_ok=True)
        if make is build_debug:
            setup_packages("debug")
            drop_others(name, folder)
        log = os.path.join(CACHE, f"{name}.log")
        open(log, "w").close()
        made = write_info(folder, make(name, folder, log))
        say(f"kernel {name} ({made.release}) is ready")
        return made
