# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which steps a name means: of `make check K=...`, and of one step alone."""

import contextlib
import difflib
import re

from labkit import kernels

DEFAULT = "6.1"
NEAR = 12


class Unclear(Exception):
    """No step is meant, or several; the text names those that are near."""


@contextlib.contextmanager
def no_kernels():
    """While steps are listed, no kernel is fetched for them."""
    fetch = kernels.kernel
    kernels.kernel = lambda name, update=False: kernels.Kernel(
        name, name, "", "", "")
    try:
        yield
    finally:
        kernels.kernel = fetch


def parts(name):
    """(session, step) of a name; the session is "" where it has none."""
    session, colon, step = name.partition(": ")
    return (session, step) if colon else ("", name)


def on_default(name):
    """Whether a step runs on the default kernel, or in no guest."""
    kernel = parts(name)[0].partition(",")[0]
    return kernel == DEFAULT or kernel not in kernels.NAMES


def begins(text, words):
    """Whether these are its first words, each whole."""
    return text.startswith(words) and not re.match(r"\w", text[len(words):])


def near(names, wanted):
    """Names that have its words in them, or look like it."""
    words = re.findall(r"\w[\w.-]*", wanted.lower())
    have = [(sum(w in n.lower() for w in words), n) for n in names]
    most = max((count for count, _ in have), default=0)
    found = [n for count, n in have if count == most] if most else []
    ends = {parts(n)[1]: n for n in reversed(names)}
    alike = difflib.get_close_matches(wanted, [*names, *ends], NEAR, 0.6)
    return list(dict.fromkeys([*(ends.get(a, a) for a in alike), *found]))


def chosen(names, wanted):
    """The steps that `wanted` names: a step, its first words, the same after
    the colon for one on the default kernel; or a whole session."""
    wanted = wanted.strip()
    names = list(dict.fromkeys(names))
    whole = [n for n in names if parts(n)[0] == wanted.rstrip(":")]
    if wanted.rstrip(":") and whole:
        return whole
    default = [n for n in names if on_default(n)]
    tiers = ([n for n in names if n == wanted],
             [n for n in names if begins(n, wanted)],
             [n for n in default if parts(n)[1] == wanted],
             [n for n in default if begins(parts(n)[1], wanted)])
    first = next((tier for tier in tiers if tier and wanted), [])
    if len(first) == 1:
        return first
    if first:
        several = list(dict.fromkeys(sum(tiers, first)))
        raise Unclear(listed(f"'{wanted}' are the first words of "
                             f"{len(several)} steps", several))
    raise Unclear(listed(f"no step on kernel {DEFAULT} is named '{wanted}'",
                         near(names, wanted)))


def listed(why, names):
    """Names as K takes them, one a line."""
    if not names:
        return f"{why}; 'make check CHECK_ARGS=--list' lists all"
    more = len(names) - NEAR
    lines = [f"  {n}" for n in names[:NEAR]] + \
        ([f"  and {more} more"] if more > 0 else [])
    return "\n".join([f"{why}; there are:", *lines])


def with_needs(names, steps, needs):
    """These steps, and those that make what they need, and what those need:
    {step: the first words of that}."""
    found, more = set(), set(steps)
    while more:
        found |= more
        need = tuple({needs[step] for step in more if step in needs})
        more = {n for n in names if n.startswith(need)} - found
    return found
