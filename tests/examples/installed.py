# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The library as `make install' puts it into a folder, and programs that use
it there: what examples, documents and other languages are tried with."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
LIMIT = 60

# Programs of this user may be on shm:0; the host may have no address but the
# loopback's.
NETWORKS = (("shm", f"shm:{1000 + os.getpid() % 9000}"), ("ofi", "ofi:tcp,lo"))


class Failed(Exception):
    """What went wrong, in a line."""


def networks():
    """Devices of the plug-ins that are built."""
    return [device for plugin, device in NETWORKS if os.path.exists(
        os.path.join(ROOT, f"build/providers/{plugin}.so"))]


class Installed:
    """`make install` of the library into `home`/root; commands that find it
    there and nothing of this user's."""

    def __init__(self, home):
        self.home = home
        root, lib = os.path.join(home, "root"), "/usr/local/lib"
        self.examples = f"{root}/usr/local/share/doc/mvia/examples"
        plain = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                 "HOME": home}
        self.env = plain
        # Another PREFIX would build the library again.
        self.run(["make", "-s", "install-lib", "install-dev",
                  "install-plugins", "install-examples", f"DESTDIR={root}"],
                 cwd=ROOT)
        self.env = {
            **plain, "PKG_CONFIG_SYSROOT_DIR": root,
            "PKG_CONFIG_LIBDIR": f"{root}{lib}/pkgconfig",
            "LD_LIBRARY_PATH": root + lib,
            "VIPL_PROVIDERS": f"{root}{lib}/vipl",
            # This user may have programs that use ofi and shm.
            "VIPL_OFI_PORT": str(12000 + os.getpid() % 8000)}

    def start(self, command, cwd=None, **env):
        return subprocess.Popen(
            command, env={**self.env, **env}, text=True, cwd=cwd,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def end(self, process, status=0):
        """Its output; what it says on standard error is a failure."""
        name = " ".join(map(str, process.args))
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise Failed(f"{name}: not over after {LIMIT} s: '{out[-300:]}'")
        if process.returncode != status or (err and not status):
            raise Failed(f"{name}: status {process.returncode}, "
                         f"'{(out + err).strip()[-900:]}'")
        return out + err

    def run(self, command, cwd=None, **env):
        return self.end(self.start(command, cwd, **env))
