"""Step sizes and other rates: which a theorem leaves open, and which of them belong to the tape."""

from collections.abc import Mapping
from typing import Any

from boundlab.errors import SpecError
from boundlab.falsify import _catalog as catalog
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.settings import open_rates
from boundlab.theorems import Theorem


def local_rate(theorem: Theorem) -> str:
    """Return the symbol of the local step size.

    Raises
    ------
    SpecError
        If the theorem sets none that is known here.
    """
    known = catalog.algorithm(theorem.algorithm).step_size_symbols
    for name in theorem.step:
        if name in known:
            return name
    raise SpecError(
        f"{theorem.id} sets {', '.join(theorem.step)}; the search knows local step sizes named {', '.join(known)}"
    )


def server_rates(theorem: Theorem) -> list[str]:
    """Return the rates that the theorem sets and that are part of the tape."""
    local = catalog.algorithm(theorem.algorithm).step_size_symbols
    return [name for name in theorem.step if name not in local]


def behind_tape(theorem: Theorem) -> frozenset[str]:
    """Return the symbols that the rates of a tape follow from: runs are shared only where these are the same."""
    return theorem.read_by({*server_rates(theorem), *theorem.rule_reads})


def unknown(theorem: Theorem) -> list[str]:
    """Return the symbols of the theorem's own that neither an instance nor a choice of rates gives a value."""
    known = {*SYMBOLS, *open_rates(theorem), *theorem.core.read_as.values(), *theorem.bounded_by, *tried(theorem)}
    return [name for name in theorem.inputs() if name not in known]


def tried(theorem: Theorem) -> list[str]:
    """Return the symbols that may be any positive number: an accuracy that the left side reaches, or the seconds."""
    free = {*theorem.inputs()} - {*open_rates(theorem), "N"}
    if not theorem.left.in_seconds:
        free &= {str(term) for term in theorem.bound.expressions().values()}
    infos = (theorem.symbols[name] for name in sorted(free))
    return [one.name for one in infos if one.role == "user" and one.side == "any" and one.symbol.is_nonnegative]


def chosen(theorem: Theorem, step: Mapping[str, float]) -> dict[str, Any]:
    """Return the values of symbols that open rates give."""
    return {name: value for name, value in step.items() if name in open_rates(theorem)}
