"""A printed proof on a counterexample of its theorem: the first of its steps that is false there."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import final

import numpy as np

from boundlab.api import Decided, Evaluated
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.audit._settings import case_words
from boundlab.case import Case, RandomEvents, plain
from boundlab.errors import BoundlabError, SpecError
from boundlab.events import Events
from boundlab.prove.on_instance import Broken, Instance, broken, instance_of


@final
@dataclass(frozen=True, slots=True)
class OnCase:
    """Steps of a proof on a counterexample.

    Parameters
    ----------
    case_file, case_text
        The counterexample; the file is empty where it was found in this audit.
    exact
        Both sides of the theorem there.
    false
        The steps that are false there; see :func:`boundlab.prove.on_instance.broken`.
    why
        Why none was computed; empty where they were.
    """

    case_file: str
    case_text: str
    exact: Evaluated
    false: tuple[Broken, ...] = ()
    why: str = ""

    @property
    def first(self) -> Broken | None:
        """The first step that is false there and decided, or the first at all."""
        return next((one for one in self.false if one.decided), self.false[0] if self.false else None)


def on_case(proof: Decided, case: Case, exact: Evaluated, path: Path | None) -> OnCase:
    """Compute the open steps of a proof on a case, where the case is one of the runs that the proof is about."""
    name, text = "" if path is None else path.name, case_words(case)
    try:
        return OnCase(name, text, exact, broken(proof, instance_on(proof, case, exact), (exact.left, exact.right)))
    except BoundlabError as error:
        taken = () if proof.setting is None else proof.setting.restrictions
        why = f"the proof takes {', '.join(taken)}, and this is no such run ({error})" if taken else str(error)
        return OnCase(name, text, exact, why=why)


def instance_on(proof: Decided, case: Case, exact: Evaluated) -> Instance:
    """Return a case as an instance of a proof's setting.

    Raises
    ------
    SpecError
        If it has no such form.
    """
    raw = case.raw
    start = {"x0": raw["x0"]} if "x0" in raw else {}
    model = case.problem.rational({**raw["problem"], **start})
    bends = None if model is None else model.bends()
    if model is None or bends is None or exact.kind != "exact":
        raise SpecError("they are computed for Huber losses and absolute values on a line, where both sides are exact")
    signs = model.sign_noise()
    if signs is None and not case.problem.noiseless:
        raise SpecError("its noise has more than two values")
    given = {**raw.get("parameters", {}), **raw.get("settings", {})}
    options = {name: plain(value) for name, value in given.items()}
    noise = Fraction(0) if signs is None else signs[0]
    step = _step(exact, case.algorithm.step_size_symbols)
    return instance_of(proof, bends, model.x0, step, exact.k, _events(case, exact.k), options, noise)


def _step(exact: Evaluated, names: Iterable[str]) -> Fraction:
    try:
        return next(Fraction(str(exact.values[name])) for name in names if name in exact.values)
    except (StopIteration, ValueError):
        raise SpecError("its step is no rational number") from None


def _events(case: Case, horizon: int) -> Events | tuple[Fraction, ...]:
    """Return who acts when, or with which probabilities clients arrive."""
    if not isinstance(case.events, RandomEvents):
        return case.events
    p = [rational(float(one), ENGINE) for one in getattr(case.events.delays, "p", ())]
    if p and None not in p:
        return tuple(one for one in p if one is not None)
    if case.problem.n > 1:
        raise SpecError("the law of its events is none of independent events")
    return Events(np.arange(1.0, horizon + 1), np.zeros(horizon, dtype=np.int32))  # the one client arrives
