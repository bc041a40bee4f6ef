"""Runs that floats do not enclose well enough, once more with as many digits as their errors take."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from boundlab.compare.trials import TELLING, Budget, Computed
from boundlab.errors import BoundlabError
from boundlab.execute import rationals
from boundlab.execute.rationals import TooFewDigitsError, enough, operations
from boundlab.instance.from_case import exact_rates, exact_tape
from boundlab.instance.plan import Plan
from boundlab.instance.readings import formulas_at
from boundlab.metrics import Enclosure
from boundlab.randomness import Streams

UNASKED: Final = 10**11  # operations: some minutes of a processor
_TRIES: Final = 4
_FLOATS: Final = 53.0
_UNKNOWN: Final = 256


def sharpen(plan: Plan, found: Computed, seed: int, most: float) -> str:
    """Move the ends of left sides in where floats leave them further apart than a page can hide.

    Parameters
    ----------
    most
        About how many operations may be spent in all.

    Returns
    -------
    What was done, in words; empty where nothing was.
    """
    sides, budget, bits = found.sides, Budget(most), 0
    with np.errstate(invalid="ignore", over="ignore"):
        wide = (sides.left.upper - sides.left.lower > TELLING * sides.right.value).any(axis=1)
    for trial in np.flatnonzero(wide).tolist():
        alike = [place for place, key in enumerate(found.keys) if key == found.keys[trial]]
        if alike[0] < trial:
            continue
        own = Enclosure(*(getattr(sides.left, end)[trial] for end in ("value", "lower", "upper")))
        again = with_digits(plan, found.known[trial][0], seed, trial, budget, lost_bits(own, plan.ks))
        if again is None:
            continue
        bits = max(bits, again[1])
        for point, ends in enumerate(zip(again[0].value, again[0].lower, again[0].upper, strict=True)):
            sides.narrow(alike, point, *map(float, ends))
    if not bits:
        return ""
    sides.compare()
    return f"; run with up to {bits} bits, as floats lose it"


def lost_bits(left: Enclosure, ks: NDArray[np.int64]) -> float | None:
    """Return about how many bits the errors of a run grow by, as far as floats show it; None where they do not.

    Left sides are squares, or move no faster than they.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        grown = np.log2(np.sqrt(left.upper / left.value) - 1.0) + _FLOATS
    known = np.flatnonzero(np.isfinite(grown))
    if not len(known):
        return None
    last = known[-1]
    return float(grown[last] * (ks[-1] / ks[last] if ks[last] else 1.0))


def with_digits(
    plan: Plan, known: Mapping[str, Any], seed: int, trial: int, budget: Budget, lost: float | None = None
) -> tuple[Enclosure, int] | None:
    """Return the left sides of a trial without noise, and with how many bits; None where no digits reach it.

    Parameters
    ----------
    known
        What the theorem is evaluated with, its step among it.
    lost
        How many bits errors grow by, if that is known.
    """
    model = plan.problem.in_balls() if plan.problem.noiseless else None
    if model is None:
        return None
    formulas, bits = formulas_at(plan.theorem, known, plan.measured), _UNKNOWN if lost is None else enough(lost)
    parts = list[tuple[Fraction, Enclosure]]()
    try:
        for share, own in plan.summands:
            tape = exact_tape(own, Streams(seed, trial))
            for _ in range(_TRIES):
                if not budget.spend(operations(tape, model, bits)):
                    return None
                try:
                    rates = partial(exact_rates, own, formulas, balls=True)
                    parts.append((share, rationals.along(own.metric, own.problem, tape, rates, own.ks, bits)))
                except TooFewDigitsError as error:
                    bits = max(error.bits, bits + 64)
                else:
                    break
            else:
                return None
    except BoundlabError:
        return None
    return Enclosure.weighted(parts), bits
