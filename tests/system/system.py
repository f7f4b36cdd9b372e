# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A Debian with systemd and udev that installs the packages, is configured as
docs/howto/configure.md says, boots again, is upgraded and purged.

Parts, in this order, of one guest; each needs what is before it.  node1 is that
machine, node2 a guest of the lab on the same wire.  Commands of that page and
of docs/howto/install.md are run as they stand there.
"""

import os
import re
import subprocess
import time

import image
import repository
from document import Document
from runner import LOGS, Skipped, StepFailed

OTHER = "52:54:00:00:00:02"
# Where nothing has a network.
QUIET = "/etc/apt/apt.conf.d/90yes"
# Not of packages: what a running system writes.
VARIES = re.compile(
    r"^/(etc/(ld\.so\.cache|group-?|gshadow-?|\.pwd\.lock|machine-id|"
    r"apt/sources\.list\.d/mvia\.list|apt/apt\.conf\.d/90yes)"
    r"|var/(lib/(dpkg|apt|systemd|dkms/mok\..*|private)|log|cache|tmp|backups)"
    r"|root|srv|home)(/|$)")
SNAPSHOT = ("find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path "
            "/run -o -path /tmp \\) -prune -o -printf '%p %y %m %u %g %l\\n'")
RELEASE = repository.version()
SEVERAL = {
    "cd build/deb": "where the test has the folder",
    f"dkms mktarball -m mvia -v {RELEASE} --archive "
    f"/srv/mvia/mvia-{RELEASE}.dkms.tar.gz":
        "tests/packages/run dkms, on this machine",
}


class System:
    """The guests, and what parts hand to those behind them."""

    def __init__(self, check):
        self.check, self.lab, self.repo = check, None, None
        self.page = Document("docs/howto/configure.md")
        self.several = Document("docs/howto/install.md",
                                "A repository for several machines", SEVERAL)
        self.upgrade = Document("docs/howto/install.md", "Upgrade, removal")

    @property
    def node(self):
        return self.lab.nodes[0]

    def boot(self):
        check = self.check
        # mmdebstrap does, and so does chroot's apt.
        if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
            raise Skipped("a root that may not mount anything")
        check.build_user()
        check.build_modules("6.1")
        logdir = os.path.join(LOGS, "system" + time.strftime("-%H%M%S"))
        self.lab = image.System(logdir=logdir)
        self.repo = repository.Repository(check, self.lab.kernel, self.several)
        check.write(f"consoles, and what commands say, in {logdir}")
        self.lab.start()
        for node in self.lab.nodes:
            check.write(f"{node.name} up after {node.boot_seconds:.1f} s")
        other = self.lab.nodes[1]
        self.lab.insmod(other)
        self.lab.attach(other, "eth0", "eth1")
        # Both NICs of the other host answer.
        for name in ("eth0", "eth1"):
            other.spawn(f"build/tools/viaping -l -d via_{name}").expect(
                "answering", 60)
        self.node.sh(f"echo 'APT::Get::Assume-Yes \"true\";' >{QUIET}")
        self.healthy()
        self.snapshot("before")

    def stop(self):
        if self.lab:
            self.lab.stop()
            self.lab = None

    # What parts ask

    def sh(self, command, says="", status=0, timeout=120):
        """A command of the machine: its status, and a pattern in its words."""
        result = self.node.run(command, timeout)
        self.check.write(f"# {command}\n{result.all}")
        if result.rc != status or not re.search(says, result.all, re.M):
            last = (result.all.strip().splitlines() or ["no word"])[-1]
            raise StepFailed(
                f"'{command}' ended with status {result.rc}, not {status}: "
                f"{last}" if result.rc != status else
                f"'{command}' does not say '{says}': {last}")
        return result.all

    def said(self, document, command, **how):
        """One that a document has."""
        return self.sh(document.has(command), **how)

    def healthy(self):
        """The system is up, and no unit has failed."""
        self.sh("systemctl is-system-running --wait || "
                "{ systemctl --failed --no-legend; false; }", "running")

    def snapshot(self, name):
        """All files, with rights and owners, in a file that VARIES."""
        self.node.sh(f"{SNAPSHOT} | LC_ALL=C sort >/root/{name}", 120)

    def only_in(self, one, other):
        """Files that one snapshot has, or has otherwise."""
        lines = self.node.sh(f"cd /root && LC_ALL=C comm -23 {one} {other}",
                             120).out.splitlines()
        return {line for line in lines if not VARIES.match(line.split(" ")[0])}

    def loaded(self):
        """{module: version} of ours."""
        text = self.node.run("cd /sys/module && grep . via_*/version").out
        return dict(re.findall(r"^(via_\w+)/version:(\S+)$", text, re.M))

    def attached(self, *names):
        """These are VI NICs, with the rights that the page says; no others."""
        text = self.sh("udevadm settle; ls -l /dev/via_* 2>/dev/null || :")
        nodes = {line.split()[-1]: line.split() for line in text.splitlines()}
        if set(nodes) != {f"/dev/via_{name}" for name in names}:
            raise StepFailed(f"device nodes are {sorted(nodes)}")
        for path, line in nodes.items():
            if (line[0], line[2], line[3]) != ("crw-rw----", "root", "via"):
                raise StepFailed(f"{path} is {' '.join(line[:4])}")

    def appears(self, name):
        """Waits for a VI NIC that udev and systemd attach in their own time."""
        self.sh(f"i=0; until test -c /dev/via_{name}; do sleep 0.1; "
                "test $((i += 1)) = 3000 && echo not within minutes && exit 1; "
                "done; "
                "until systemctl list-jobs | grep -q '^No jobs'; do "
                "sleep 0.1; done", timeout=600)

    def ping(self, nic="via_eth0", net=0, user="root"):
        self.sh(f"runuser -u {user} -- viaping -c 2 -i 0.1 -d {nic} "
                f"52:54:00:00:{net:02x}:02", "2 sent, 2 received")


def install(system):
    """apt-get install from a repository, modules by DKMS; nothing is on."""
    repo, pages = system.repo, system.several
    built = f"cp /srv/mvia/mvia-{RELEASE}.dkms.tar.gz /usr/share/mvia-dkms/"
    for command in ("mkdir -p /usr/share/mvia-dkms", built):
        system.sh(pages.has(command).replace(repo.new, repo.old))
    for command in ('echo "deb [trusted=yes] file:/srv/mvia ./" '
                    ">/etc/apt/sources.list.d/mvia.list", "apt-get update",
                    "apt-get install mvia-tools mvia-dkms"):
        system.said(pages, command, timeout=300)
    system.sh("dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\\n' "
              "mvia-tools mvia-dkms libvipl1 libvipl1-plugins",
              f"(ii .* {re.escape(repo.old)}\\s+){{4}}")
    system.sh("dkms status mvia", f"mvia/{repo.old}, .*: installed")
    system.sh("modinfo -F version via_netdev", repo.old)
    system.sh("getent group via && ls /etc/mvia", "^mvia.conf$")
    # Each line of it is a comment.
    system.sh("grep -v -e '^#' -e '^$' /etc/mvia/mvia.conf", status=1)
    # Nothing was asked for.
    if system.loaded():
        raise StepFailed(f"modules are loaded: {system.loaded()}")
    system.attached()
    system.sh("systemctl is-enabled via-apply", "disabled", status=1)
    system.sh("systemctl is-active via-apply", "inactive", status=3)
    system.healthy()


def by_hand(system):
    """The page's commands, until the next boot."""
    page = system.page
    system.said(page, "modprobe via_lo")
    system.attached("lo")
    system.said(page, "via dev attach eth0")
    system.said(page, "viainfo", says="via_eth0")
    system.said(page, "via dev show", says="via_eth0: .*via_netdev")
    system.attached("lo", "eth0")
    # Without "-d" it is the only one on Ethernet.
    page.has("viaping -l")
    page.has("viaping HOST")
    system.sh(f"viaping -c 2 -i 0.1 {OTHER}", "2 sent, 2 received")
    system.sh("viaping -l -d via_eth0 & i=0; until "
              f"{page.has('via res')} | tee /tmp/told | grep -q viaping; do "
              "test $((i += 1)) -le 100 || break; done; "
              "kill $!; wait; cat /tmp/told", "via_eth0.*viaping")
    system.said(page, f"via peer allow eth0 {OTHER}")
    system.ping()
    system.said(page, "via limit set vi 100")
    system.sh("via limit show vi", "100")
    # Until it listens, which may take any time, it misses some.
    detach = page.has("via dev detach eth0")
    system.sh(f"{page.has('via monitor')} >/tmp/told & {detach}; i=0; "
              "until grep -q 'detached via_eth0' /tmp/told; do "
              "test $((i += 1)) -le 20 || break; via dev attach eth0; "
              f"{detach}; done; kill $!; cat /tmp/told", "detached via_eth0")
    system.attached("lo")


def native(system):
    """The native driver of the card, and back; IP goes on."""
    page = system.page
    address = "10.9.0.1/24"
    system.sh(f"ip addr add {address} dev eth0 && ip link set eth0 up")
    system.said(page, "via driver show eth0", says="via_e1000")
    system.said(page, "modprobe via_e1000")
    system.said(page, "via driver native eth0")
    system.attached("lo", "eth0")
    system.sh("via dev show eth0 && ip addr show eth0",
              f"(?s)via_e1000.*{address}")
    system.sh("until grep -q 1 /sys/class/net/eth0/carrier; do sleep 0.1; done")
    system.ping()
    # This model does not delay interrupts, and the report says that.
    system.said(page, "via selftest eth0", status=1,
                says="(?s)loopback.*passed.*coalescing.*failed")
    system.said(page, "via driver stock eth0")
    system.attached("lo")
    system.sh("ip addr show eth0", address)
    system.sh("modprobe -r via_e1000 && "
              "until grep -q 1 /sys/class/net/eth0/carrier; do sleep 0.1; done")


def configured(system):
    """/etc/mvia and systemd; what is wrong in it harms itself alone."""
    system.sh("printf '%s\\n' '[interface nosuch0]' '[interface eth0]' "
              f"'allow = {OTHER}' >/etc/mvia/lan.conf")
    for command in ("via apply check", "systemctl enable --now via-apply"):
        system.said(system.page, command)
    system.attached("lo", "eth0")
    system.said(system.page, "via apply", says="no interface nosuch0")
    system.sh("systemctl status via-apply", "lan.conf:1: no interface "
              "nosuch0")
    system.healthy()
    system.sh("via peer show eth0", OTHER)
    system.said(system.page, "via save >/etc/mvia/saved.conf")
    system.sh("cat /etc/mvia/saved.conf; rm /etc/mvia/saved.conf",
              rf"(?s)\[interface eth0\].*allow = {OTHER}")


def rights(system):
    """A member of group via has the NIC, another user is told the way."""
    system.said(system.page, "adduser alice via")
    system.attached("lo", "eth0")
    system.ping(user="alice")
    system.sh(f"runuser -u bob -- viaping -c 1 -d via_eth0 {OTHER}",
              "no permission to use /dev/via_eth0: join group via", status=1)
    # One that root alone has.
    system.sh("runuser -u alice -- via dev detach eth0",
              "Operation not permitted", status=1)
    system.attached("lo", "eth0")


def upgraded(system):
    """Newer packages beside traffic: nothing is cut, nothing is loaded anew."""
    repo, page = system.repo, system.upgrade
    new, old = repo.new, repo.old
    repo.release()
    before = system.loaded()
    if set(before.values()) != {old}:
        raise StepFailed(f"modules are {before}")
    traffic = system.node.spawn(
        "exec runuser -u alice -- sh -c 'trap : INT; "
        f"viaping -i 0.2 -d via_eth0 {OTHER}'")
    traffic.expect("seq=5", 60)
    system.sh("cp /srv/mvia/mvia-*.dkms.tar.gz /usr/share/mvia-dkms/")
    system.said(page, "apt-get update")
    system.said(page, "apt-get upgrade", timeout=300)
    # DKMS takes a quarter of a minute for an answer: one line, and no other.
    system.sh("dkms status mvia >/tmp/status; cat /tmp/status; "
              "test $(grep -c . /tmp/status) = 1",
              f"mvia/{new}, .*: installed")
    system.sh("modinfo -F version via_netdev", new)
    if system.loaded() != before:
        raise StepFailed(f"modules were {before}, are {system.loaded()}")
    system.attached("lo", "eth0")
    # Both go on: the one that runs, and one that begins.
    system.ping(user="alice")
    last = int(re.findall(r"seq=(\d+)", traffic.all)[-1])
    traffic.expect(f"seq={last + 10} ", 60)
    system.sh("pkill -INT -x viaping")
    traffic.wait(60)
    system.check.write(traffic.all[-600:])
    sent, received = map(int, re.search(r"(\d+) sent, (\d+) received",
                                        traffic.all).groups())
    # It is Unreliable Delivery, and the machine may be busy.
    if received < 0.9 * sent or sent < 20:
        raise StepFailed(f"of {sent} messages {received} came back")
    system.sh("systemctl is-enabled via-apply", "enabled")
    system.healthy()
    # The way without a boot.
    for command in ("via dev detach eth0", "modprobe -r via_netdev",
                    "modprobe -r via_lo", "systemctl restart via-apply"):
        system.said(page, command)
    if set(system.loaded().values()) != {new}:
        raise StepFailed(f"modules are {system.loaded()}")
    system.attached("eth0")
    system.ping(user="alice")


def reboot(system):
    """A boot later all is there again."""
    system.node.restart()
    system.check.write(f"up after {system.node.boot_seconds:.1f} s")
    system.healthy()
    # systemd is done before the driver of a card that udev found.
    system.appears("eth0")
    system.attached("eth0")
    system.sh("via peer show eth0", OTHER)
    # udev loads no native driver for a card that it knows.
    if system.loaded() != dict.fromkeys(("via_ka", "via_ether", "via_netdev"),
                                        system.repo.new):
        raise StepFailed(f"modules are {system.loaded()}")
    system.sh("systemctl status via-apply", "no interface nosuch0")
    system.sh("until grep -q 1 /sys/class/net/eth0/carrier; do sleep 0.1; done")
    system.ping(user="alice")


def later(system):
    """Interfaces that appear later: plugged in, made, renamed."""
    system.sh("printf '%s\\n' '[interface eth1]' '[interface eth2]' "
              "'nosuch = 1' '[interface vb]' >/etc/mvia/more.conf")
    # A mistake in one section keeps no other from its interface.
    system.sh("systemctl restart via-apply", status=1)
    system.sh("systemctl status via-apply", r"more.conf:3: no such setting",
              status=3)
    system.node.qmp.call("device_add", driver="virtio-net-pci", netdev="n1",
                         id="nic1", mac="52:54:00:00:01:01")
    system.appears("eth1")
    system.attached("eth0", "eth1")
    system.sh("ip link set eth1 up; until grep -q 1 "
              "/sys/class/net/eth1/carrier; do sleep 0.1; done")
    system.ping("via_eth1", 1, "alice")
    system.sh("ip link add va type veth peer name vc")
    system.attached("eth0", "eth1")
    system.sh("ip link set vc name vb")
    system.appears("vb")
    system.attached("eth0", "eth1", "vb")
    # One that goes takes its VI NIC along, and comes back with it.
    system.node.qmp.call("device_del", id="nic1")
    system.sh("ip link del va; i=0; while test -e /dev/via_eth1 || "
              "test -e /dev/via_vb; do sleep 0.1; test $((i += 1)) = 3000 && "
              "break; done", timeout=600)
    system.attached("eth0")
    # Not where it is disabled.
    system.sh("systemctl disable via-apply; ip link add vb type veth peer name "
              "va; udevadm settle; sleep 2")
    system.attached("eth0")
    system.sh("ip link del va; rm /etc/mvia/more.conf; "
              "systemctl enable via-apply; systemctl restart via-apply")
    system.healthy()


def purged(system):
    """apt-get purge leaves what docs/howto/install.md says, and nothing else."""
    system.said(system.upgrade, "apt-get purge mvia-tools mvia-dkms libvipl1 "
                "libvipl1-plugins", timeout=300)
    # The administrator's own.
    system.sh("rm -r /usr/share/mvia-dkms; rm -f "
              "/etc/apt/sources.list.d/mvia.list")
    system.snapshot("after")
    added = system.only_in("after", "before")
    lost = system.only_in("before", "after")
    if added or lost:
        system.check.write("\n".join(["added:", *sorted(added), "lost:",
                                      *sorted(lost)]))
        raise StepFailed(f"{len(added)} files are left, {len(lost)} are gone "
                         f"or changed: {sorted(added | lost)[0]}")
    system.sh("getent group via")
    # Interfaces that are there still ask for a unit that is "not-found".
    system.sh("systemctl list-unit-files --no-legend 'via*'; systemctl "
              "list-units --all --no-legend 'via*' | grep -v not-found || :",
              r"\A\Z")
    system.sh("! modprobe -n via_ka")
    system.sh("dpkg-query -W 'mvia*' 'libvipl*' 2>&1 | grep -v 'no packages' "
              "|| :", r"\A\Z")
    # What was in use is there until it is unloaded, by ordinary means.
    system.attached("eth0")
    system.sh("rmmod via_netdev via_ether via_ka")
    system.attached()
    system.healthy()


PARTS = (install, by_hand, native, configured, rights, upgraded, reboot, later,
         purged)
NAMES = ("install from a repository", "README by hand", "native driver",
         "configured by systemd", "rights of users", "upgrade under traffic",
         "reboot", "interfaces that come later", "purge")


def told(system):
    """Each command of these documents was run."""
    system.page.untried()
    system.several.untried()
    system.upgrade.untried()


def steps(check):
    """All parts; the guest ends with the last one."""
    system = System(check)
    broken = []

    def body(part):
        if broken:
            raise Skipped(f"'{broken[0]}' failed before it")
        if not system.lab:
            system.boot()
        part(system)
        system.lab.check()

    previous = "packages: debian"
    try:
        for name, part in zip((*NAMES, "documents"), (*PARTS, told)):
            full = f"Debian: {name}"
            if not check.step(full, body, part):
                broken.append(full)
            check.needs[full] = previous
            previous = full
    finally:
        system.stop()
