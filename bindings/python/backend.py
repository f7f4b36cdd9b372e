#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Builds the package vipl for pip (PEP 517), with the release of the file VERSION.
`backend.py DIRECTORY` writes the metadata there, which `make install-python` does."""

import base64
import hashlib
import os
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "vipl")


def version():
    """Of the release."""
    with open(os.path.join(HERE, "../../VERSION"), encoding="ascii") as file:
        return file.read().strip()


def info():
    """The name of the directory of metadata."""
    return f"vipl-{version()}.dist-info"


def metadata():
    """What pip shows and resolves; pyproject.toml has the same."""
    return f"""Metadata-Version: 2.1
Name: vipl
Version: {version()}
Summary: The Virtual Interface Architecture: messages and RDMA between programs
License: BSD-2-Clause OR GPL-2.0-only
Requires-Python: >=3.9
Requires-Dist: cffi
"""


def files():
    """{name in the wheel: bytes} but for RECORD."""
    found = {}
    for name in sorted(os.listdir(PACKAGE)):
        if name.endswith(".py"):
            with open(os.path.join(PACKAGE, name), "rb") as file:
                found[f"vipl/{name}"] = file.read()
    found[f"{info()}/METADATA"] = metadata().encode()
    found[f"{info()}/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: mvia\n"
                                b"Root-Is-Purelib: true\nTag: py3-none-any\n")
    return found


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    """PEP 517: the name of the wheel."""
    del config_settings, metadata_directory
    name = f"vipl-{version()}-py3-none-any.whl"
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files().items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            record.append(f"{path},sha256={digest.decode().rstrip('=')},"
                          f"{len(data)}\n")
            wheel.writestr(path, data)
        wheel.writestr(f"{info()}/RECORD",
                       "".join(record) + f"{info()}/RECORD,,\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: the sources of the package are those of mvia, `make dist`."""
    raise UnsupportedOperation


class UnsupportedOperation(Exception):
    """A hook that this back end does not have."""


def main():
    """Metadata of an installation without pip."""
    where = os.path.join(sys.argv[1], info())
    os.makedirs(where, exist_ok=True)
    for name, text in (("METADATA", metadata()), ("INSTALLER", "mvia\n")):
        with open(os.path.join(where, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
