# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The `lab` command."""

import argparse
import os
import re
import shlex
import shutil
import signal
import socket
import sys
import termios
import time
import tty

from . import initrd, keeper, kernels, running, warm, wire
from .base import BUILD, LabError, say
from .jobs import bridge

DESCRIPTION = """\
mvia's lab: virtual machines joined by emulated Ethernet, on this machine.

  lab setup [KERNEL...]     fetch or build kernels (6.1 when none is named;
                            also 6.12, 7.3, debug-6.1, kcsan-6.1) and all
                            packages
  lab kernel KERNEL         print where its parts are, for a shell to read
  lab run [options] -- CMD  boot nodes, run CMD, end with its status
  lab shell [options]       boot nodes and open a shell on node 1;
  lab shell -n 2            from another terminal joins node 2 of that lab, or
                            of the one that is up
  lab up [options]          boot nodes that stay, mvia's modules loaded
  lab exec NODE -- CMD      run CMD on a node of the lab that is up
  lab reload                build, and load the modules anew in all its nodes
  lab status                what is up
  lab down                  end it
  lab wire [N] ...          from another terminal: change wire N of a lab that
                            run, shell or up keeps, or all its wires; see what
                            they do; record frames
  lab models                list the NIC models, and our drivers for them

'lab COMMAND --help' has the options.  In the environment: MVIA_BOOT_LIMIT
(seconds, as --boot-limit; also for make check and make demo), MVIA_ACCEL (as
--accel), MVIA_CACHE (~/.cache/mvia), MVIA_MIRROR (of Debian's packages),
MVIA_LAB_UP (build/lab-up, a folder for what is known of the lab that is up).
"""
RUN_HELP = """\
CMD runs on node 1.  With several words that begin with "1:", "2:"... each is
a command for that node; all start at once and the lab ends with the last:
  lab run -n 2 -- '2: iperf3 -s -1' '1: sleep 1; iperf3 -c node2'
The nodes are node1, node2...; the i-th NIC is eth<i> on wire i with the
address 10.<i>.0.<node>; the host's files are there, writes stay in the guest.
"""
WIRE_HELP = """\
  lab wire loss=0.1,delay=1ms      change what is named, on all wires
  lab wire 1 cut=0                 unplug node 1 from wire 1; cut=none again
  lab wire show                    settings and counters
  lab wire 0 pcap /tmp/x.pcap      record what is delivered; pcap off ends it

loss dup reorder corrupt slip    shares of frames, 0 to 1: lost, twice, late,
                                 damaged and dropped, damaged and delivered
burst gap hold                   a loss takes so many in a row; a late frame
                                 comes behind up to so many, or after this time
delay jitter rate queue          200us, 1ms; 40M bit/s; frames, 0 for no limit
cut deaf mute                    ports (node 1 has port 0) that are unplugged,
                                 that get nothing, that give nothing: 0,2
only least most                  an EtherType in hex that alone suffers; bytes
                                 of the frames that alone suffer
each                             every so-many-th of them is lost, 0: none
forget seed                      addresses are unlearned so often; the dice
"""


def add_lab_options(parser, nodes):
    parser.add_argument("--nodes", type=int, default=nodes, metavar="N")
    parser.add_argument("--nic", "--nics", default="virtio-net",
                        metavar="M[,M...]",
                        help="NIC models of every node ('lab models')")
    parser.add_argument("--kernel", default="6.1", choices=kernels.NAMES)
    parser.add_argument("--cpus", type=int, default=1, metavar="N")
    parser.add_argument("--mem", type=int, metavar="MiB")
    parser.add_argument("--wire", default="", metavar="K=V[,K=V...]",
                        help="loss=0.01,dup=..,reorder=..,delay=200us,"
                        "rate=40M,queue=64,seed=..")
    parser.add_argument("--exact", action="store_true",
                        help="one node that counts instructions")
    parser.add_argument("--erms", action="store_true",
                        help="with --exact: the processor keeps ERMS and "
                        "FSRM, so that the kernel's copies count one "
                        "instruction a byte")
    parser.add_argument("--accel", choices=("auto", "kvm", "tcg"))
    parser.add_argument("--modules", action="store_true",
                        help="insert mvia's modules and attach all NICs")
    parser.add_argument("--append", default="", metavar="WORDS",
                        help="more words for the kernel's command line")
    parser.add_argument("--native", action="store_true",
                        help="the same, with our own drivers for the NICs "
                        "('lab models') instead of via_netdev")
    parser.add_argument("--iommu", action="store_true",
                        help="NICs are behind an IOMMU, which refuses what "
                        "no driver has mapped")
    parser.add_argument("--boot-limit", metavar="SECONDS",
                        help="that a booting guest may take without a word, "
                        "not counting what it waits for this machine's "
                        "processors (120; debug kernels 300)")


def make_lab(args):
    from lab import Lab  # noqa: the facade imports this package
    nics = [m for m in args.nic.split(",") if m]
    if args.native:
        for spec in nics:
            initrd.native_driver(spec)
    return Lab(nodes=args.nodes, nics=nics, kernel=args.kernel,
               cpus=args.cpus, mem=args.mem, wire=wire.settings(args.wire),
               exact=args.exact, accelerator=args.accel, append=args.append,
               iommu=args.iommu, boot_limit=args.boot_limit, erms=args.erms)


def load_modules(lab, native=False, nodes=None):
    """Every NIC of these nodes or all a VI NIC; of an exact one the first."""
    names = [f"eth{i}" for i in range(1 if lab.exact else len(lab.nics))]
    for node in nodes or lab.nodes:
        lab.insmod(node)
        (lab.native if native else lab.attach)(node, *names)


def do_setup(argv):
    parser = argparse.ArgumentParser(prog="lab setup")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL",
                        help=f"of {', '.join(kernels.NAMES)}")
    parser.add_argument("--update", action="store_true",
                        help="fetch again what is cached")
    args = parser.parse_args(argv)
    kernels.setup_packages()
    for name in args.kernels or ["6.1"]:
        found = kernels.kernel(name, args.update)
        print(f"{name}: {found.release}")
    return 0


def do_kernel(argv):
    parser = argparse.ArgumentParser(prog="lab kernel")
    parser.add_argument("kernel", choices=kernels.NAMES)
    found = kernels.kernel(parser.parse_args(argv).kernel)
    print(f"KERNEL={found.image}\nKDIR={found.root or ''}{found.kdir}\n"
          f"MODULES={found.modules}\nRELEASE={found.release}")
    return 0


def do_models(_argv):
    for model, (_, _, driver) in initrd.NICS.items():
        native = initrd.NATIVE.get(model)
        print(f"{model:12} driver {driver:12}"
              f"{f'--native {native}' if native else ''}".rstrip())
    return 0


def assign(words, nodes):
    """[(node index, command)] from the words behind '--'."""
    numbered = [re.match(r"(\d):\s*(.*)", w, re.S) for w in words]
    if not all(numbered):
        return [(0, " ".join(words))]
    for match in numbered:
        if not 1 <= int(match.group(1)) <= nodes:
            raise LabError(f"there is no node {match.group(1)}: "
                           f"the lab has {nodes} (-n)")
    return [(int(m.group(1)) - 1, m.group(2)) for m in numbered]


def do_run(argv):
    parser = argparse.ArgumentParser(
        prog="lab run", epilog=RUN_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add_lab_options(parser, None)
    parser.add_argument("-n", type=int, dest="nodes", help="nodes (1)")
    parser.add_argument("-t", "--timeout", type=float, default=600,
                        help="seconds until a command is killed (600)")
    parser.add_argument("command", nargs="+", metavar="CMD")
    args = parser.parse_args(argv)
    args.nodes = args.nodes or 1
    work = assign(args.command, 1 if args.exact else args.nodes)
    with make_lab(args) as lab, running.announced("run", lab.rundir,
                                                  len(lab.wires)):
        several = len({node for node, _ in work}) > 1

        def echo(job, line):
            print(f"{job.link.name}: {line}" if several else line, flush=True)

        if args.modules or args.native:
            load_modules(lab, args.native)
        for node in lab.nodes:
            node.link.echo = echo
        jobs = [lab.nodes[node].spawn(command, args.timeout)
                for node, command in work]
        results = [job.wait() for job in jobs]
        say(f"logs in {lab.logdir}")
    worst = max((r.rc for r in results), key=abs)
    return worst if 0 <= worst < 128 else 128 + abs(worst) % 128


# The shell

def join_terminal(path):
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(path)
    except OSError as error:
        raise LabError(f"cannot reach the node: {error}")
    infile = sys.stdin.fileno()
    size = shutil.get_terminal_size()
    sock.sendall(f" stty rows {size.lines} cols {size.columns}; clear\n"
                 .encode())
    if not os.isatty(infile):
        bridge(sock, infile, sys.stdout.fileno())
        return
    before = termios.tcgetattr(infile)
    try:
        tty.setraw(infile)
        bridge(sock, infile, sys.stdout.fileno())
    finally:
        termios.tcsetattr(infile, termios.TCSADRAIN, before)
        sock.close()
        print()


def modules_built(lab):
    return os.path.exists(os.path.join(BUILD, "modules", lab.kernel.release,
                                       "via_netdev.ko"))


def do_shell(argv):
    parser = argparse.ArgumentParser(
        prog="lab shell", epilog="Ctrl-] leaves a shell.  The lab ends when "
        "the first one, which booted it, is left.")
    add_lab_options(parser, 2)
    parser.add_argument("-n", type=int, dest="join", metavar="NODE",
                        help="join this node of the running lab")
    args = parser.parse_args(argv)
    shells = running.labs("shell") or \
        (running.labs("up") if args.join else [])
    if args.join or shells:
        if not shells:
            raise LabError("no lab is running: start one with 'lab shell' or "
                           "'lab up'")
        path = os.path.join(shells[-1]["rundir"], f"n{args.join or 1}.shell")
        if not os.path.exists(path):
            raise LabError(f"the running lab has no node {args.join}")
        join_terminal(path)
        return 0
    say(f"booting {args.nodes} nodes, {args.nic}, kernel {args.kernel}")
    with make_lab(args) as lab:
        if args.modules or args.native or modules_built(lab):
            load_modules(lab, args.native)
            say("mvia's modules are loaded: try viainfo")
        with running.announced("shell", lab.rundir, len(lab.wires)):
            say(f"node 1 of {args.nodes}; 'tools/lab/lab shell -n 2' in "
                "another terminal joins node 2; Ctrl-] ends the lab")
            join_terminal(os.path.join(lab.rundir, "n1.shell"))
        say(f"logs in {lab.logdir}")
    return 0


# The lab that stays up

UP_HELP = """\
Builds the modules and all programs, boots the nodes, loads the modules and
makes each NIC a VI NIC; the nodes stay until 'lab down'.  One lab at a time in
one tree.  Then, from an edit to its test:
  lab reload && lab exec 1 -- build/viaconform -d via_lo -g send
"""
EXEC_HELP = """\
CMD's output and status are those of this command; 128 and the signal's number
where a signal ended it, 125 where the lab failed.  It starts in the top folder
of this tree and has no input.  One word is a line for the node's shell,
several are one command, each word as it is:
  lab exec 1 -- 'viainfo | grep -c via_'
"""
LAB_FAILED = 125


def do_up(argv):
    parser = argparse.ArgumentParser(
        prog="lab up", epilog=UP_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add_lab_options(parser, 2)
    parser.add_argument("-n", type=int, dest="nodes", help="nodes (2)")
    args = parser.parse_args(argv)
    held = warm.lock()
    old = warm.state()
    if not held:
        raise LabError("a lab is up already in this tree: "
                       f"{warm.describe(old) if old else 'it is booting'}; "
                       "'lab down' ends it")
    if old:
        say(f"no lab is up: {warm.stale(old)}")
        warm.forget(old)
    lab = make_lab(args)
    warm.build(lab.kernel._asdict())
    say(f"booting {lab.count} nodes, {args.nic}, kernel {args.kernel}")
    answer, ready = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(answer)
            keeper.keep(lab, args.native, load_modules, ready)
            status = 0
        finally:
            os._exit(status)
    os.close(ready)
    try:
        with os.fdopen(answer) as file:
            text = file.read().strip()
    except BaseException:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        raise
    if text != "ready":
        os.waitpid(child, 0)
        raise LabError(text or f"the lab did not come up, see {warm.LOG}")
    say(f"up: {warm.describe(warm.state())}; lab exec 1 -- CMD, lab reload, "
        "lab down")
    return 0


def do_exec(argv):
    parser = argparse.ArgumentParser(
        prog="lab exec", epilog=EXEC_HELP,
        usage="lab exec [-t SECONDS] NODE -- CMD",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-t", "--timeout", type=float, default=600,
                        metavar="SECONDS",
                        help="until the command is killed (600)")
    parser.add_argument("node", help="1, 2... or node1, node2...",
                        metavar="NODE")
    parser.add_argument("command", nargs="+", metavar="CMD")
    args = parser.parse_args(argv)
    number = re.fullmatch(r"(?:node)?(\d)", args.node)
    if not number:
        parser.error(f"'{args.node}' is no node: 1, 2...")
    command = args.command[0] if len(args.command) == 1 else \
        shlex.join(args.command)
    try:
        return warm.request(warm.the_lab(), do="exec", command=command,
                            node=int(number.group(1)), timeout=args.timeout)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return LAB_FAILED


def no_options(name, argv, about):
    argparse.ArgumentParser(prog=f"lab {name}",
                            description=about).parse_args(argv)


def do_reload(argv):
    no_options("reload", argv, "Builds the modules and all programs; in all "
               "nodes of 'lab up', unloads the modules, loads those just "
               "built and makes each NIC a VI NIC again.  Programs are the "
               "new ones, too.")
    lab = warm.the_lab()
    warm.build(lab)
    begin = time.monotonic()
    status = warm.request(lab, do="reload")
    say(f"loaded in {lab['nodes']} nodes in {time.monotonic() - begin:.1f} s")
    return status


def do_status(argv):
    no_options("status", argv, "What 'lab up' has booted, and how it is.")
    lab = warm.the_lab()
    print(warm.describe(lab))
    return warm.request(lab, do="status")


def do_down(argv):
    no_options("down", argv, "Ends what 'lab up' has booted; logs stay.")
    old = warm.state()
    if not warm.alive():
        if not old:
            raise LabError("no lab is up in this tree")
        say(f"no lab is up: {warm.stale(old)}")
        warm.forget(old)
        return 0
    lab = warm.the_lab()
    warm.request(lab, do="down")
    end = time.monotonic() + 30
    while warm.alive():
        if time.monotonic() > end:
            raise LabError(f"process {lab['pid']} does not end, see "
                           f"{warm.LOG}")
        time.sleep(0.05)
    say(f"down; logs in {lab['logdir']}")
    return 0


# The wire

def chosen_wires(lab, number):
    """Controls of one wire of a running lab, or of all."""
    if not lab["wires"]:
        raise LabError("that lab has no wires: in exact mode the NICs share "
                       "a hub")
    if number is not None and number >= lab["wires"]:
        raise LabError(f"there is no wire {number}: that lab has "
                       f"{lab['wires']}, the first is 0")
    numbers = range(lab["wires"]) if number is None else [number]
    return [wire.Control(n, os.path.join(lab["rundir"], f"w{n}"),
                         f"the lab of process {lab['pid']}") for n in numbers]


def show_wire(control):
    print(f"wire {control.number}: {control.show()}")
    stats = control.stats()
    ports = stats.pop("ports")
    for who, counters in (("all", stats), *enumerate(ports)):
        moved = " ".join(f"{k}={v}" for k, v in counters.items() if v)
        print(f"  port {who}: {moved or 'nothing yet'}")


def do_wire(argv):
    parser = argparse.ArgumentParser(
        prog="lab wire", epilog=WIRE_HELP,
        usage="lab wire [--lab PID] [N] {show | KEY=VALUE[,KEY=VALUE...] | "
        "pcap FILE | pcap off}",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", type=int, metavar="PID",
                        help="the process that keeps the lab, where several "
                        "run")
    parser.add_argument("words", nargs="+", metavar="WORD",
                        help="as below; N counts from 0, without it all "
                        "wires are meant")
    args = parser.parse_args(argv)
    words = args.words
    number = int(words.pop(0)) if words[0].isdigit() else None
    order = words[0] if words else ""
    changes = None
    if order == "pcap" and len(words) == 2:
        if number is None:
            raise LabError("which wire's frames: lab wire N pcap FILE")
    elif order != "show" or len(words) != 1:
        changes = wire.settings(" ".join(words))
        if not changes:
            parser.error("what about it: show, KEY=VALUE or pcap FILE")
    for control in chosen_wires(running.the_lab(args.lab), number):
        if changes:
            control.set(**changes)
        elif order == "show":
            show_wire(control)
        else:
            control.pcap("" if words[1] == "off" else words[1])
        control.close()
    return 0


COMMANDS = {"setup": do_setup, "kernel": do_kernel, "run": do_run,
            "shell": do_shell, "wire": do_wire, "models": do_models,
            "up": do_up, "exec": do_exec, "reload": do_reload,
            "status": do_status, "down": do_down}


def main(argv):
    if not argv or argv[0] in ("help", "-h", "--help"):
        print(DESCRIPTION, end="")
        return 0
    if argv[0] not in COMMANDS:
        print(f"lab: no command '{argv[0]}', try 'lab help'", file=sys.stderr)
        return 2
    started = time.monotonic()
    try:
        return COMMANDS[argv[0]](argv[1:])
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(f"lab: interrupted after {time.monotonic() - started:.0f} s",
              file=sys.stderr)
        return 130
