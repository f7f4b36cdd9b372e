# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Wrong names, planted one by one in a copy of the documents: each is told
with its place, and nothing else is."""

import os
import shutil
import tempfile

import extract
import said

# File, what stands there, what it becomes, what is told of it.
PLANTS = (
    ("CONTRIBUTING.md", "make bench  ", "make banch  ", "make banch does not work"),
    ("CONTRIBUTING.md", "`make check`", "`make chekc`", "make chekc does not work"),
    ("Makefile", "#   make soak ", "#   make saok ", "make saok does not"),
    ("Makefile", "#   make check-full ", "#   make check-most ",
     "make check-most does not work"),
    ("Makefile", "(SOAK_ARGS=", "(SAOK_ARGS=", "does not use SAOK_ARGS"),
    ("Makefile", "[KDIR=", "[KERNELDIR=", "does not use KERNELDIR"),
    ("Makefile", "#   DEMO_ARGS,", "#   DEMO_OPTION_ARGS,",
     "does not use DEMO_OPTION_ARGS"),
    ("Makefile", "BENCH_ARGS=--help", "BENCH_ARGS=--halp",
     "bench.py has no option --halp"),
    ("docs/notes/reliability.md", "--share 0.1", "--part 0.1", "no option --part"),
    ("docs/notes/reliability.md", "`--fresh`", "`--afresh`", "option --afresh"),
    ("docs/notes/reliability.md", "soak.py --list", "soak.py --liste",
     "soak.py has no option --liste"),
    ("docs/notes/reliability.md", "`viatest fuzz --guided`", "`viatest fuzz --guide`",
     "viatest fuzz has no option --guide"),
    ("docs/notes/reliability.md", "`viatest scale races`", "`viatest scale rases`",
     "no mode rases"),
    ("docs/notes/reliability.md", '"clients that are gone"',
     '"clients that were gone"', "clients that were gone"),
    ("docs/notes/reliability.md", "explain/security.md)", "explain/securty.md)", "no file"),
    ("docs/notes/conformance.md", "--suite early ", "--suit early ",
     "no option --suit"),
    ("docs/notes/conformance.md", "`nic.many`", "`nic.mary`",
     "no group nic.mary"),
    ("docs/reference/compatibility.md", "connect.no_match,", "connect.no_metch,",
     "no group connect.no_metch"),
    ("docs/reference/compatibility.md", "tests/unit/header", "tests/unit/haeder",
     "tests/unit/haeder"),
    ("docs/explain/architecture.md", "`core/state.c`", "`core/staat.c`",
     "core/staat.c"),
    ("docs/explain/architecture.md", "`max_ptags` |", "`max_tags` |", "max_tags"),
    ("docs/explain/architecture.md", "parameters/ledger", "parameters/leger",
     "via_ka has no parameter leger"),
    ("docs/explain/architecture.md", "`VipPostSend` copies", "`VipPostSent` copies",
     "VipPostSent"),
    ("docs/explain/architecture.md", "`via_vi_move()`", "`via_vi_mowe()`",
     "via_vi_mowe"),
    ("docs/howto/native.md", "(`dma_min` of `via_ether`)",
     "(`dma_min` of `via_native`)", "via_native has no parameter dma_min"),
    ("docs/howto/native.md", "`polling=0`", "`poling=0`", "parameter poling"),
    ("docs/howto/native.md", "# via-bind eth1 native", "# via-bind eth1 natif",
     "natif"),
    ("docs/howto/native.md", "# systemd-run ", "# sistemd-run ",
     "'sistemd-run' is no command"),
    ("docs/howto/native.md", "# modprobe via_tulip", "# insmod via_tulip.ko",
     "needs via_ether, via_native"),
    ("docs/howto/native.md", "# modprobe libcrc32c", "# modprobe crc32c",
     "insmod via_ether.ko needs libcrc32c"),
    ("docs/explain/security.md", "`checksum=1`", "`checksums=1`", "checksums"),
    ("docs/explain/security.md", '"Checksum"', '"Sael"', 'no section "Sael"'),
    ("README.md", "(docs/reference/wire.md)", "(docs/reference/wire.md#wier)",
     "no section #wier"),
    ("CONTRIBUTING.md", "--wire loss=0.01", "--wire los=0.01", "no 'los'"),
    ("CONTRIBUTING.md", "lab run -n 2", "lab rum -n 2", "no command 'lab rum'"),
    ("README.md", "modprobe via_lo ", "modprobe via_loop ",
     "no module via_loop"),
    ("README.md", "linux-headers-amd64\nmake", "linux-haeders-amd64\nmake",
     "linux-haeders-amd64 is no package"),
    ("docs/howto/troubleshooting.md", "`VIPL_LOG=none`", "`VIPL_LGO=none`", "VIPL_LGO"),
    ("packaging/Dockerfile", "make -j2 local", "make -j2 locale",
     "make locale does not work"),
    (".github/workflows/check.yml", "run: make setup-check",
     "run: make setup-czech", "make setup-czech does not work"),
    ("Makefile", "T=window ", "T=widnow ",
     "no test of make test has 'widnow'"),
    ("Makefile", "K='conformance via_lo'", "K='conformance vialo'",
     "no step on kernel 6.1"),
    ("CONTRIBUTING.md", "make test T=window", "make test T=windows",
     "no test of make test has 'windows'"),
    ("CONTRIBUTING.md", "K='wire cut, e1000'", "K='wire torn, e1000'",
     "no step on kernel 6.1"),
    ("CONTRIBUTING.md", "`viaconform -g 'rdma*'`", "`viaconform -g 'rmda*'`",
     "no group of viaconform matches rmda*"),
    ("CONTRIBUTING.md", "exec 1 -- viaconform -d", "exec 1 -- viaconfirm -d",
     "'viaconfirm' is no command"),
    ("CONTRIBUTING.md", "lab reload", "lab relaod", "no command"),
    ("CONTRIBUTING.md", "`devices/ether/proto/window.c`", "`devices/ether/widow.c`",
     "devices/ether/widow.c"),
    ("docs/man/viaping.8", "\\-\\-interval", "\\-\\-intervall",
     "viaping has no option --intervall"),
    ("docs/man/vipl_lat.1", ".BR \\-t \", \" \\-\\-tx\\-depth", ".BR ",
     "vipl_lat has --tx-depth, the page does not"),
    ("docs/man/vipl.7", "docs/notes/conformance.md", "docs/confirmance.md",
     "docs/confirmance.md"),
    ("docs/man/viastat.8", "vipl_bw (1)", "vipl_wb (1)",
     "no man page vipl_wb.1"),
)


def copy(root, folder):
    for name in ("README.md", "CONTRIBUTING.md", "Makefile", *extract.RECIPES):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        shutil.copy(os.path.join(root, name), os.path.join(folder, name))
    shutil.copytree(os.path.join(root, "docs"), os.path.join(folder, "docs"))


def plant(project, folder, before, name, old, new, told):
    """None, or what is wrong about how one of them is told."""
    path = os.path.join(folder, name)
    with open(path) as file:
        text = file.read()
    if old not in text:
        return f"'{old}' does not stand in {name} any more"
    with open(path, "w") as file:
        file.write(text.replace(old, new, 1))
    try:
        found = set(said.look(project, folder)[1]) - before
    finally:
        with open(path, "w") as file:
            file.write(text)
    hits = [line for line in found
            if line.startswith(f"{name}:") and told in line]
    if not hits:
        return f"'{new.strip()}' in {name} is not told"
    if len(found) > 2:
        return f"'{new.strip()}' in {name} is told {len(found)} times"
    return None


def main(project):
    bad = []
    with tempfile.TemporaryDirectory(prefix="mvia-said-") as folder:
        copy(project.root, folder)
        before = set(said.look(project, folder)[1])
        for words in PLANTS:
            why = plant(project, folder, before, *words)
            if why:
                bad.append(why)
                print(f"said: {why}")
    print(f"said: {len(PLANTS)} wrong names planted, "
          f"{len(PLANTS) - len(bad)} told")
    return 1 if bad else 0
