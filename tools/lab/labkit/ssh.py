# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Debian's OpenSSH in guests, each of which lets the others in as root."""

from . import unpacked

# The machine's own daemon, in the foreground.
DAEMON = ("/usr/sbin/sshd -D -e -f /etc/ssh/lab_config "
          "-h /etc/ssh/lab_host_key")
READY = "Server listening on"
CONFIG = """PermitRootLogin yes
AuthorizedKeysFile /root/.ssh/lab_key.pub
UsePAM no
StrictModes no
"""
# The user of sshd's process without privileges, where /etc/passwd lacks it.
USER = "sshd:x:74:65534::/run/sshd:/usr/sbin/nologin"


def install(nodes):
    """Guests have OpenSSH, with one key for all; DAEMON is the caller's."""
    for node in nodes:
        unpacked.install(node, "ssh")
        node.sh(f"mkdir -p /run/sshd /root/.ssh; grep -q ^sshd: /etc/passwd || "
                f"echo {USER} >>/etc/passwd; chmod 700 /root/.ssh; "
                f"printf %s '{CONFIG}' >/etc/ssh/lab_config; "
                "ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/lab_host_key; "
                "printf 'IdentityFile ~/.ssh/lab_key\\n"
                "StrictHostKeyChecking accept-new\\n' >/root/.ssh/config")
    nodes[0].sh("ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/lab_key")
    for suffix in "", ".pub":
        key = nodes[0].sh(f"cat /root/.ssh/lab_key{suffix}").out
        for node in nodes[1:]:
            node.sh(f"umask 77; printf '%s\\n' '{key.strip()}' "
                    f">/root/.ssh/lab_key{suffix}")
