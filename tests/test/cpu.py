# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""CPU seconds: of a process with all that it has started, and of the machine.

What the kernel adds to a process when it waits for a child is only there then:
a guest that still runs is in no such sum, and a process whose parent has ended
comes to none.  So tree() adds up what runs and what has ended, and whole()
runs the work below a process to which the orphans come.
"""

import ctypes
import os
import signal

TICK = os.sysconf("SC_CLK_TCK")
PDEATHSIG, SUBREAPER = 1, 36  # of prctl(2)
PASSES = 100  # over /proc for one sum, where processes end all the time


def processes(proc="/proc"):
    """{process: (its parent, seconds of it and of those it has waited for)},
    and the processes that were waited for before they could be read"""
    found, gone = {}, set()
    for pid in filter(str.isdigit, os.listdir(proc)):
        try:
            with open(f"{proc}/{pid}/stat", errors="replace") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:
            gone.add(int(pid))
            continue
        found[int(pid)] = int(words[1]), sum(map(int, words[11:15])) / TICK
    return found, gone


def once(top, proc):
    """(the processes of the tree, and those that may have been in it; their CPU
    seconds), of one pass over proc"""
    found, gone = processes(proc)
    children = {}
    for pid, (parent, _) in found.items():
        children.setdefault(parent, []).append(pid)
    members, left = set(), [top]
    while left:
        pid = left.pop()
        members.add(pid)
        left += children.get(pid, ())
    return members | gone, sum(found.get(pid, (0, 0))[1] for pid in members)


def tree(top, proc="/proc"):
    """CPU seconds so far of a process and everything that it has started.  A
    process that is waited for during a pass is in neither its own line nor its
    parent's, or in both: a pass counts if the next finds the same processes."""
    members, total = once(top, proc)
    for _ in range(PASSES):
        later, after = once(top, proc)
        if later == members:
            break
        members, total = later, after
    return total


def machine(path="/proc/stat"):
    """CPU seconds since the boot: (in which the machine did something, in
    which its host had its processors run something else)."""
    with open(path) as file:
        user, nice, system, _, _, irq, softirq, stolen = map(
            int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq) / TICK, stolen / TICK


def ended(child):
    """The status of the child, if it is among those that have ended."""
    status = None
    while True:
        try:
            pid, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if not pid:
            return status
        if pid == child:
            status = how


def whole(work):
    """The exit status of work(), which runs in a child of this process.  An
    interrupt goes on to the child's process group, as a terminal's does."""
    libc = ctypes.CDLL(None)
    libc.prctl(SUBREAPER, 1)
    # Waited for, not handled: a handler that is due when os.wait() begins runs
    # only when that has returned.
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    child = os.fork()
    if not child:
        libc.prctl(PDEATHSIG, signal.SIGKILL)
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        return work()
    try:
        os.setpgid(child, child)
    except OSError:  # it was first, and runs something already
        pass
    status = None
    while status is None:
        number = signal.sigwait(signals)
        if number == signal.SIGINT:
            os.killpg(child, number)
        elif number == signal.SIGTERM:
            os.kill(child, number)
        else:
            status = ended(child)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
