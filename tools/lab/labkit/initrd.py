# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The initramfs that a lab guest boots from, one per kernel, cached."""

import hashlib
import os
import re
import subprocess

from .base import BUILD, CACHE, LabError, TOOLS

# NIC model -> (QEMU device, what is always set on it, Linux driver)
NICS = {
    "e1000": ("e1000", "mitigation=off", "e1000"),
    "e1000e": ("e1000e", "", "e1000e"),
    "tulip": ("tulip", "", "tulip"),
    "rtl8139": ("rtl8139", "", "8139cp"),
    "igb": ("igb", "", "igb"),
    "virtio-net": ("virtio-net-pci", "", "virtio_net"),
    "vmxnet3": ("vmxnet3", "", "vmxnet3"),
    "pcnet": ("pcnet", "", "pcnet32"),
    **{f"i8255{v}": (f"i8255{v}", "", "e100")
       for v in ("0", "1", "7a", "7b", "7c", "8a", "8b", "9a", "9b", "9c",
                 "9er")},
}


def native_drivers(models):
    """NIC model -> our own driver, out of the one table of them."""
    with open(os.path.join(os.path.dirname(TOOLS), "via-bind")) as file:
        rows = re.findall(r"^[0-9a-f]{4}:[0-9a-f]{4} (via_\w+) (\w+)$",
                          file.read(), re.M)
    ours = {stock: native for native, stock in rows}
    return {model: ours[NICS[model][2]] for model in models}


# Those that our own drivers are tested on.
NATIVE = native_drivers(("tulip", "e1000", "e1000e", "i82559er", "rtl8139",
                         "igb"))
BASE = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console")


def nic_model(spec):
    """'e1000,key=value' -> ('e1000', what QEMU gets, driver)."""
    model, _, options = spec.partition(",")
    if model not in NICS:
        raise LabError(f"no NIC model '{model}': there are "
                       f"{', '.join(NICS)}")
    device, fixed, driver = NICS[model]
    return model, ",".join(filter(None, (device, fixed, options))), driver


def native_driver(spec):
    """Our own driver for a NIC model."""
    model = nic_model(spec)[0]
    if model not in NATIVE:
        raise LabError(f"no native driver for '{model}': there are some for "
                       f"{', '.join(NATIVE)}")
    return NATIVE[model]


def insert_order(kernel, module):
    """Files to insert for a module, dependencies first; none if built in."""
    base = os.path.dirname(os.path.dirname(os.path.dirname(kernel.modules)))
    done = subprocess.run(
        ["/sbin/modprobe", "-C", "/dev/null", "-d", base, "-S", kernel.release,
         "--show-depends", module], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    if done.returncode:
        return None
    return [line.split()[1] for line in done.stdout.splitlines()
            if line.startswith("insmod ")]


class Archive:
    """A cpio archive in the "newc" form that the kernel unpacks."""

    def __init__(self):
        self.parts = []
        self.inode = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device,
                  len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % f for f in fields)
        head += name.encode() + b"\0"
        self.parts += [head, b"\0" * (-len(head) % 4), data,
                       b"\0" * (-len(data) % 4)]

    def file(self, name, path, mode=0o100755):
        with open(path, "rb") as file:
            self.add(name, mode, file.read())

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def busybox():
    for path in ("/bin/busybox", "/usr/bin/busybox"):
        if os.path.exists(path):
            return path
    raise LabError("busybox-static is missing, run tools/lab/setup.sh")


def digest(kernel, files):
    state = hashlib.sha256(repr(kernel).encode())
    state.update(str(os.stat(kernel.image).st_mtime_ns).encode())
    for path in (*files, __file__):
        with open(path, "rb") as file:
            state.update(file.read())
    return state.hexdigest()[:16]


def build(kernel, agent=os.path.join(BUILD, "lab/agent"), shell=None):
    """The path of the initramfs for a kernel."""
    init = os.path.join(TOOLS, "init")
    shell = shell or busybox()
    key = digest(kernel, (init, agent, shell))
    path = os.path.join(CACHE, f"initrd-{kernel.name}-{key}")
    if os.path.exists(path):
        return path
    archive = Archive()
    for folder in ("bin", "dev", "modules"):
        archive.add(folder, 0o040755)
    archive.add("dev/console", 0o020600, device=(5, 1))
    archive.add("dev/null", 0o020666, device=(1, 3))
    archive.file("bin/busybox", shell)
    archive.add("bin/sh", 0o120777, b"busybox")
    archive.file("init", init)
    archive.file("agent", agent)
    table, added = [], set()
    groups = {"base": BASE, **{n[2]: (n[2],) for n in NICS.values()}}
    for group, modules in groups.items():
        paths = []
        for module in modules:
            paths += insert_order(kernel, module) or []
        names = [os.path.basename(p)[:-3] for p in paths]
        table.append(f"{group} {' '.join(names)}\n")
        for name, module_path in zip(names, paths):
            if name not in added:
                archive.file(f"modules/{name}.ko", module_path, 0o100644)
                added.add(name)
    archive.add("modules.load", 0o100644, "".join(table).encode())
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(archive.bytes())
    os.rename(temporary, path)
    prune(kernel.name, path)
    return path


def prune(name, keep, count=4):
    """A changed agent leaves old archives behind: keep the newest few."""
    olds = [os.path.join(CACHE, f) for f in os.listdir(CACHE)
            if f.startswith(f"initrd-{name}-")]
    olds.sort(key=os.path.getmtime, reverse=True)
    for path in olds[count:]:
        if path != keep:
            os.unlink(path)
