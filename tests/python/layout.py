# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A C program that prints what bindings/python believes of vipl.h: sizes,
offsets, constants; and the two side by side."""

import os
import subprocess

HEAD = """#include <stddef.h>
#include <stdio.h>
#include <vipl.h>
#include <vipl_ext.h>
#define PRINT(name, value) printf("%s %lu\\n", name, (unsigned long)(value))
int main(void)
{
"""
# The package has room in it; others end or begin differently by design.
OPEN = ("VIP_NET_ADDRESS",)
CONSTANTS = {
    "core.RDMA_WRITE": "VIP_CONTROL_OP_RDMAWRITE",
    "core.RDMA_READ": "VIP_CONTROL_OP_RDMAREAD",
    "core.IMMEDIATE": "VIP_CONTROL_IMMEDIATE",
    "core.QFENCE": "VIP_CONTROL_QFENCE",
    "core.STATUS_IMMEDIATE": "VIP_STATUS_IMMEDIATE",
    "core.RELIABLE_DELIVERY": "VIP_SERVICE_RELIABLE_DELIVERY",
    "core.RELIABLE_RECEPTION": "VIP_SERVICE_RELIABLE_RECEPTION",
    "core.UNRELIABLE": "VIP_SERVICE_UNRELIABLE",
    "core.CQ_FD": "VIP_FEATURE_CQ_FD", "core.NIC_FD": "VIP_FEATURE_NIC_FD",
    "core.NONBLOCKING": "VIP_FEATURE_NONBLOCKING",
    "core.LISTEN": "VIP_FEATURE_LISTEN", "core.REMOTE": "VIP_FEATURE_REMOTE",
    "errors.NOT_DONE": "VIP_NOT_DONE", "errors.TIMEOUT": "VIP_TIMEOUT",
    "errors.REJECT": "VIP_REJECT", "errors.NO_MATCH": "VIP_NO_MATCH",
    "errors.ERROR_RESOURCE": "VIP_ERROR_RESOURCE",
    "errors.DESCRIPTOR_ERROR": "VIP_DESCRIPTOR_ERROR",
    "errors.NOT_SUPPORTED": "VIP_ERROR_NOT_SUPPORTED",
}


def believed():
    import vipl.core
    import vipl.errors
    ffi = vipl.core.ffi
    found = {}
    for name in ffi.list_types()[0]:
        kind = ffi.typeof(name)
        if kind.kind != "struct":
            found[f"{name}"] = ffi.sizeof(name)
            continue
        if name not in OPEN:
            found[name] = ffi.sizeof(name)
        for field, _ in kind.fields:
            found[f"{name}.{field}"] = ffi.offsetof(name, field)
    for name in CONSTANTS:
        module, _, word = name.partition(".")
        found[name] = getattr(getattr(vipl, module), word)
    return found


def real(names, folder, cflags):
    lines = []
    for name in names:
        kind, _, field = name.partition(".")
        value = CONSTANTS.get(name) or (
            f"offsetof({kind}, {field})" if field else f"sizeof({kind})")
        lines.append(f'\tPRINT("{name}", {value});\n')
    source = os.path.join(folder, "layout.c")
    with open(source, "w") as file:
        file.write(HEAD + "".join(lines) + "\treturn 0;\n}\n")
    program = os.path.join(folder, "layout")
    subprocess.run(["cc", "-o", program, source, *cflags], check=True)
    out = subprocess.run([program], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    return {line.split()[0]: int(line.split()[1])
            for line in out.splitlines()}
