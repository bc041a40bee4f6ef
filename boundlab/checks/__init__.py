"""Checks of a theorem by its formula and its metadata alone: seconds, and no simulation.

docs/audit.md#checks-by-the-formula-alone says what each check means, with the mathematics.
"""

import traceback
from collections.abc import Iterable, Iterator

from boundlab.checks._check import (
    CONSEQUENCES as CONSEQUENCES,
    LAST_RESORT,
    Check as Check,
    CheckGroup as CheckGroup,
    Checks as Checks,
    Verdict as Verdict,
    View as View,
    exit_code as exit_code,
    group as group,
    time_limit,
)
from boundlab.errors import SpecError, UndecidedError
from boundlab.options import nearest
from boundlab.registry import lookup, registered
from boundlab.theorems import Theorem, at_steps

_OF_SECONDS = ("scope", "units")  # groups that ask nothing of the horizon
_SHOWN = 100  # letters of what SymPy says
# What SymPy raises of formulas whose numbers are too long or that are nested too deeply for it.
_BEYOND_SYMPY = (ArithmeticError, NotImplementedError, RecursionError, MemoryError, ValueError, TypeError)


def groups() -> dict[str, CheckGroup]:
    """Return all groups of checks by id: the built-in ones in their order, then those of plug-ins."""
    return registered("checks")


def read_groups(text: str | None) -> tuple[str, ...]:
    """Read ``units,limits``; None stands for all groups.

    Raises
    ------
    SpecError
        If there is no such group; the message names the nearest one.
    """
    found = groups()
    if text is None:
        return tuple(found)
    wanted = [name.strip() for name in text.split(",")]
    for name in wanted:
        if name not in found:
            raise SpecError(f"only {name!r}: no such group of checks; {nearest(name, found)}")
    return tuple(name for name in found if name in wanted)


def check(theorem: Theorem, only: Iterable[str] | None = None) -> tuple[Check, ...]:
    """Check a theorem.

    Parameters
    ----------
    theorem
        A registered one, or a user's own.
    only
        Ids of groups, of :func:`groups`; all if None.

    Returns
    -------
    tuple of Check
        In the order of the groups. ``unknown`` is never ``failed``: each failure carries its witness.

    Raises
    ------
    SpecError
        If there is no such group, or no algorithm of the theorem's.
    """
    lookup("algorithms", theorem.algorithm)
    return tuple(_run(theorem, read_groups(None if only is None else ",".join(only))))


def _run(theorem: Theorem, chosen: tuple[str, ...]) -> Iterator[Check]:
    found = groups()
    if theorem.reads_steps:  # of all steps that it is about, those of one size
        theorem = at_steps(theorem, theorem.symbols["alpha"].symbol)
    view, defined = View(theorem), True
    for name in chosen:
        if theorem.left.in_seconds and name not in _OF_SECONDS:
            yield Check(name, found[name].summary, "not applicable", "how many updates there are is read off a run")
            continue
        done: list[Check] = []
        try:
            with time_limit(LAST_RESORT):
                done.extend(found[name](view))
        except UndecidedError as error:
            done.append(Check(_unused(name, done), found[name].summary, "unknown", str(error)))
        except _BEYOND_SYMPY as error:
            if not _of_sympy(error):
                raise
            said = " ".join(str(error).split())
            reason = f"SymPy gives up: {type(error).__name__}{f' ({said})' if 0 < len(said) <= _SHOWN else ''}"
            done.append(Check(_unused(name, done), found[name].summary, "unknown", reason))
        except SpecError as error:
            if str(error) != _no_core(theorem):
                raise
            done.append(Check(_unused(name, done), found[name].summary, "unknown", str(error)))
        for one in done:
            defined &= one.consequence != "not defined"
            if one.consequence == "claim false" and not defined:  # what says nothing is not false
                one = Check(one.id, one.statement, "not applicable", "scope fails: it is not said what is claimed")
            yield one


def _no_core(theorem: Theorem) -> str:
    """Return why a statement has no core: then ``scope`` fails, and other groups may have no answer."""
    try:
        theorem.core  # noqa: B018
    except SpecError as error:
        return str(error)
    return ""


def _of_sympy(error: BaseException) -> bool:
    """Return whether SymPy gave up, and not the group that called it or what SymPy called back.

    A value or a type that nobody expects is SymPy's own only where SymPy itself raises it.
    """
    frames = [str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, (ValueError, TypeError)):
        frames = frames[-1:]
    return any(name.split(".")[0] in ("sympy", "mpmath") for name in frames)


def _unused(group: str, done: list[Check]) -> str:
    """Return an id for what a group did not come to; its own may be taken by what it found before."""
    return f"{group}.rest" if any(one.id == group for one in done) else group
