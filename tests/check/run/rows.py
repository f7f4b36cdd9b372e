# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the tables of plan.py are made of, and how they become steps.

A row is a step: its name, its function, the words for the function's
arguments, and for each column the arguments.  A session has columns: the first
of them for which a row has a cell gives the arguments, and a row without one
is not in that session.  In a cell,

    ()      is a step without arguments        5       one with one argument
    (0, 5)  one with two                       None    no step
    [a, b]  a step for each, as a cell or as one argument of a cell
    EACH    for each of the session's NICs
    some()  and seed() are of a soak's amounts and dice

A row without a name adds its steps by itself.
"""

import collections
import itertools

import choose
import lanes
from session import ControlSession, NativeSession, Session

EACH = object()
# In `needs`: the step leaves something that no other step can work with.
LAST = "last"

Row = collections.namedtuple("Row", "name function words needs cells")
Boot = collections.namedtuple("Boot", "plans title columns asleep settings alone")
Soak = collections.namedtuple("Soak", "share seed")


def row(name, function, words="", needs=(), at="", **cells):
    """`needs`: steps before it, by their first words; conditions, which take
    a session; LAST.  `at`: columns in which it has no arguments."""
    return Row(name, function, words.split(),
               needs if isinstance(needs, tuple) else (needs,),
               {**dict.fromkeys(at.split(), ()), **cells})


def here(plans, *columns, alone=False):
    """Steps on this machine; `alone` are those on which the others build, or
    that have work for all processors."""
    return Boot(plans.split(), None, columns, False, None, alone)


def boot(plans, title, columns, kernel, cpus, nics, asleep=False, **settings):
    """Steps in guests: two nodes, unless told otherwise.  A guest that is put
    to sleep has no root file system afterwards: nothing can be asked then."""
    nics = nics.split()
    return Boot(plans.split(), title.format(
        kernel=kernel, cpus=f"{cpus} CPU{'s' * (cpus > 1)}",
        nic=", ".join(nics)),
        columns.split(), asleep,
        {"nodes": 2, "kernel": kernel, "cpus": cpus, "nics": nics,
         **settings}, False)


def some(amount, least=1, each=1):
    """That share of an amount; `least`: so that what is to happen by chance
    does happen."""
    return lambda soak: each * max(least, int(amount * soak.share))


def seed(plus=0):
    return lambda soak: soak.seed + plus


def stock(session):
    """Not a kernel in which all takes much longer."""
    return not session.settings["kernel"].startswith("debug")


def arguments(cell, nets):
    """Of each step of a cell."""
    for case in cell if isinstance(cell, list) else [cell]:
        case = case if isinstance(case, tuple) else (case,)
        yield from itertools.product(*(
            list(range(nets)) if value is EACH else
            value if isinstance(value, list) else [value] for value in case))


def named(row, given, nics):
    """The name of a step, patterns without their last star; {nic} is that of
    its net or device, {on} the same or the device where that is no NIC."""
    words = {word: value.rstrip("*") if isinstance(value, str) else value
             for word, value in zip(row.words, given)}
    net, device = words.get("net"), str(words.get("device"))
    if device.startswith("via_eth"):
        net = int(device[len("via_eth"):])
    nic = nics[net] if nics and net is not None else None
    return row.name.format(**words, nic=nic, on=nic or device)


def steps(rows, columns, session, soak):
    """(row, name, arguments) of each step with these columns, those that are
    last at the end."""
    nics = session.settings["nics"] if session else ()
    for found in sorted(rows, key=lambda r: LAST in r.needs):
        column = next((c for c in columns if c in found.cells), None)
        if column is None or found.cells[column] is None or not all(
                need(session) for need in found.needs if callable(need)):
            continue
        for given in arguments(found.cells[column], len(nics)):
            given = [v(soak) if callable(v) else v for v in given]
            yield found, found.name and named(found, given, nics), given


def on_host(check, rows, columns, soak):
    for found, name, given in steps(rows, columns, None, soak):
        before = len(check.names)
        if name:
            check.step(name, found.function, check, *given)
        else:
            found.function(check)
        need(check, found, check.names[before:])


def need(check, found, names):
    """What choose.py is to add to these."""
    for first in found.needs:
        if isinstance(first, str) and first != LAST:
            check.needs.update(dict.fromkeys(names, first))


def in_guests(check, rows, where, soak):
    settings = dict(where.settings)
    make = NativeSession if settings.pop("native", False) else \
        ControlSession if settings.pop("control", False) else Session
    session = make(check, where.title, **settings)
    try:
        for found, name, given in steps(rows, where.columns, session, soak):
            need(check, found, [f"{where.title}: {name}"])
            session.step(name, found.function, *given)
    finally:
        if where.asleep:
            session.stop()
        else:
            session.end()


def one(check, rows, where, soak):
    """The steps of one of a plan's boots."""
    if where.settings is None:
        on_host(check, rows, where.columns, soak)
    else:
        in_guests(check, rows, where, soak)


def wanted(check, rows, where, soak):
    """Whether any step of it is."""
    listing = type(check)(listing=True)
    with choose.no_kernels():
        one(listing, rows, where, soak)
    return any(check.wanted(name) for name in listing.names)


def run(check, boots, rows, plan, soak=None, width=1):
    """All steps of a plan; between boots that are alone, so many at once."""
    boots = [where for where in boots if plan in where.plans]
    if width > 1:
        boots = [b for b in boots if b.alone or wanted(check, rows, b, soak)]
    for alone, group in itertools.groupby(boots, lambda b: b.alone):
        group = list(group)
        if alone or width == 1 or len(group) == 1:
            for where in group:
                one(check, rows, where, soak)
        else:
            lanes.run(check, [
                (where.title or f"this machine, {where.columns[0]}",
                 lambda check, where=where: one(check, rows, where, soak))
                for where in group], width)
