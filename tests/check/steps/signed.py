# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Kernels that load signed modules only: locked down, as Debian's is with
Secure Boot, or told to by sig_enforce."""

import os
import subprocess
import tempfile

from runner import StepFailed

# What the kernel says, and insmod.
LOCKED = ("unsigned module loading is restricted", "Operation not permitted")
UNSIGNED = ("Loading of unsigned module is rejected",
            "Key was rejected by service")
UNKNOWN = ("Loading of module with unavailable key is rejected",
           "Key was rejected by service")
ENFORCE = "/sys/module/module/parameters/sig_enforce"
NAME = "A key of this test"


def refused(session, path, said):
    """insmod and the kernel tell the reason, and the module is not there."""
    node = session.lab.nodes[0]
    result = session.run(node, f"insmod {path}", status=None)
    kernel = session.run(node, "dmesg -c").out
    if not result.rc or node.run("test -d /sys/module/via_ka").rc == 0:
        raise StepFailed(f"{path} is loaded")
    for text, where in zip(said, (kernel, result.all)):
        if text not in where:
            raise StepFailed(f"'{text}' is not said of {path}")


def sign(kdir, module, folder):
    """A copy, signed as DKMS does it with a key of the machine."""
    key, cert = (os.path.join(folder, n) for n in ("key", "cert"))
    copy = os.path.join(folder, os.path.basename(module))
    for command in (["openssl", "req", "-new", "-x509", "-nodes", "-subj",
                     f"/CN={NAME}", "-newkey", "rsa:2048", "-keyout", key,
                     "-outform", "DER", "-out", cert],
                    [os.path.join(kdir, "scripts/sign-file"), "sha256", key,
                     cert, module, copy]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return copy


def refusals(session, unsigned, unknown):
    """Debian's modules are loaded, ours are not without a key it knows."""
    session.check.build_modules(session.settings["kernel"])
    lab = session.lab
    node, module = lab.nodes[0], lab.module_path("via_ka")
    session.run(node, "modprobe dummy && rmmod dummy && dmesg -c >/dev/null")
    refused(session, module, unsigned)
    with tempfile.TemporaryDirectory(prefix="mvia-signed-") as folder:
        copy = sign(lab.kernel.kdir, module, folder)
        signer = session.run(node, f"modinfo -F signer {copy}").out.strip()
        if signer != NAME:
            raise StepFailed(f"{copy} is signed by '{signer}'")
        refused(session, copy, unknown)


def locked_down(session):
    """By the kernel's command line, as Secure Boot does it."""
    node = session.lab.nodes[0]
    session.run(node, "mount -t securityfs securityfs /sys/kernel/security; "
                "grep -F '[integrity]' /sys/kernel/security/lockdown")
    if session.run(node, f"cat {ENFORCE}").out.strip() != "N":
        raise StepFailed("signatures are enforced already")
    refusals(session, LOCKED, LOCKED)


def enforced(session):
    """What sig_enforce asks for comes before a lock-down."""
    session.run(session.lab.nodes[0], f"echo Y >{ENFORCE}")
    refusals(session, UNSIGNED, UNKNOWN)
