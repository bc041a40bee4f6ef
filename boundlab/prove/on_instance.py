"""A proof on one given instance of its theorem: which of its steps are false there, with both sides in numbers.

Only rational numbers decide: a step is called false where both of its sides were computed without rounding, on an
instance that meets every assumption, condition and range of the theorem, and on which the runs that the proof speaks of
give the theorem's own two sides.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from boundlab.events import Events
from boundlab.prove._functions import Function, Huber, MaxAffine
from boundlab.prove._instance import Instance as Instance, Noise, UnfitError
from boundlab.prove._scalars import ProofError
from boundlab.prove._witness import sides_told
from boundlab.prove.document import Outcome, Status, Step, statement
from boundlab.prove.models import Model, Row, evaluate, rows, upper
from boundlab.prove.setting import Setting

# What is proved is false nowhere, and what follows from other steps fails with them.
_OPEN = (Status.REFUTED, Status.DOES_NOT_FOLLOW, Status.UNPROVED)
_MOST_PLACES = 2000
_NEAR = 1e-12
_LOCAL = ("M", "Q")  # how many local steps, in the words of algorithms


@final
@dataclass(frozen=True, slots=True)
class Broken:
    """A step that is false on an instance.

    Parameters
    ----------
    step
        The step.
    row
        Where it is false first, with its two sides.
    lines
        What its sides are made of there, and both in numbers.
    """

    step: Step
    row: Row
    lines: tuple[str, ...]

    @property
    def decided(self) -> bool:
        """Whether the step is false as a claim about the theorem; else it is about what the theorem leaves unsaid."""
        return self.step.status is not Status.UNPROVED

    @property
    def where(self) -> str:
        """Its place and both sides: ``at t = 0: left = 1, right = 0: left ≤ right is false``."""
        return self.lines[-1]


def instance_of(
    outcome: Outcome,
    bends: Sequence[tuple[Fraction, Fraction, Fraction | None]],
    start: Sequence[Fraction],
    step: Fraction,
    horizon: int,
    events: Events | tuple[Fraction, ...],
    options: Mapping[str, Any],
    noise: Fraction = Fraction(0),
) -> Instance:
    """Return an instance of the setting of a proof.

    Parameters
    ----------
    bends
        Weight, centre and width of f_i = w·h(x − c): Huber's h, or |·| where the width is None.
    events
        Who acts when; or the probabilities of the clients' arrivals, the rest being the server's.
    options
        Of the algorithm, its number of local steps among them.
    noise
        What is added to each gradient, or subtracted, with probability ½.
    """
    setting = _setting(outcome)
    functions = tuple(_bent(*one) for one in bends)
    fixed = {*setting.theorem.core.fixed, *_LOCAL, *setting.theorem.step} - {"eta_g"}
    own = {name: value for name, value in options.items() if name not in fixed}
    more: dict[str, Any] = {}
    if isinstance(events, Events):
        more = setting.given_by(events)
    else:
        more = {"p": events, "p_s": 1 - sum(events, Fraction(0))}
    told = tuple(sorted({**own, **dict(more.pop("options", ()))}.items()))
    steps = next((int(options[name]) for name in _LOCAL if name in options), 1)
    signs = (Noise((noise,)),) * len(functions) if noise else ()
    return Instance(functions, tuple(start), step, steps, horizon, signs, options=told, **more)


def broken(outcome: Outcome, instance: Instance, sides: tuple[float, float]) -> tuple[Broken, ...]:
    """Return the steps that are false on an instance, in their order: the first that is decided ends them.

    What is proved, or derived from other steps, is not looked at.

    Parameters
    ----------
    sides
        The left and the right side of the theorem there, as computed elsewhere: so no run is taken for another.

    Raises
    ------
    ProofError
        If it is no instance of the proof's setting, or the proof's runs give the theorem other sides.
    """
    setting = _setting(outcome)
    model = Model(setting, instance)
    for fact in setting.conditions:
        if not all(row.holds for row in evaluate(model, fact.claim, setting.kernel, setting.context)):
            raise UnfitError(f"{', '.join(sorted(fact.axioms))}: that is not met")
    if any(
        not math.isclose(one, other, rel_tol=_NEAR) for one, other in zip(_sides(model, outcome), sides, strict=True)
    ):
        raise UnfitError("the runs that the proof speaks of have other sides there")
    found: list[Broken] = []
    for step in outcome.meant:
        if step.status in _OPEN and (one := _false(model, outcome, step)) is not None:
            found.append(one)
            if one.decided:
                break
    return tuple(found)


def _sides(model: Model, outcome: Outcome) -> tuple[float, float]:
    """Return both sides of the theorem, as the proof concludes it, or as it is stated."""
    setting = _setting(outcome)
    facts = [(one.claim, one.context) for one in outcome.kernel.concluded]
    for claim, context in facts or [(statement(setting, setting.context), setting.context)]:
        for row in evaluate(model, claim, outcome.kernel, context):
            return float(upper(row.left)), float(upper(row.right))
    raise UnfitError("the theorem has no value there")


def _false(model: Model, outcome: Outcome, step: Step) -> Broken | None:
    if step.claim is None or step.fact is None:
        return None
    places = itertools.islice(rows(model, step.claim, outcome.kernel, step.fact.context), _MOST_PLACES)
    row = next((one for one in places if not one.holds), None)
    return None if row is None else Broken(step, row, sides_told(model, step.claim, row))


def _setting(outcome: Outcome) -> Setting:
    if outcome.setting is None:
        raise ProofError("the proof is of numbers alone")
    return outcome.setting


def _bent(weight: Fraction, centre: Fraction, width: Fraction | None) -> Function:
    if width is not None:
        return Huber(weight, centre, width)
    return MaxAffine((((weight,), -weight * centre), ((-weight,), weight * centre)))
