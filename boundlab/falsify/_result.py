"""Result of a search: the instance, confirmed from scratch, with everything that is needed to repeat it."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from boundlab.__about__ import __version__
from boundlab.algorithms import StepRule
from boundlab.assumptions import contradiction
from boundlab.case import provenance
from boundlab.compare.trials import trial_events
from boundlab.errors import AssumptionError, UndecidedError
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._expectation import horizon, left_of, plan_of
from boundlab.falsify._judge import FAILURES, Judge, Score
from boundlab.falsify._options import on_composite, unvaried
from boundlab.falsify._repeat import Telling
from boundlab.falsify._shared_runs import several
from boundlab.files import Document, json_value, schema
from boundlab.instance import Plan
from boundlab.instance.conditional import uncertified
from boundlab.metrics import Enclosure
from boundlab.objective import Constant
from boundlab.objective.simple import OPTIONS
from boundlab.options import typed
from boundlab.theorems import Theorem, core
from boundlab.verdict import Verdict

if TYPE_CHECKING:
    from boundlab.exact import Growth


@final
@dataclass(frozen=True, slots=True)
class JudgedInstance:
    """One instance with both sides.

    Parameters
    ----------
    left, right
        Both sides at ``iterations`` (K or T).
    kind
        ``exact``, ``enclosure`` or ``numeric``.
    method
        How the left side was computed.
    constants
        The certified constants that the bound reads.
    values
        Everything that the bound was evaluated with, by symbol.
    parameters
        Of the algorithm, as the theorem sets them.
    violated
        Whether the left side is above the right one, for certain.
    objective
        What is minimised and measured, in words.
    by_hand
        Whether a hand can check that it breaks the bound: ``boundlab exact --derivation`` has every row then.
    telling
        The number of trials with which a comparison says the same of it.
    generous
        left/right where the symbols that the paper may count larger are counted larger; None where there are none.
    """

    theorem: Theorem
    candidate: Candidate
    left: float
    right: float
    kind: str
    method: str
    constants: Mapping[str, Constant]
    values: Mapping[str, Any]
    parameters: Mapping[str, Any]
    violated: bool
    generous: float | None = None
    objective: str = ""
    by_hand: bool = False
    telling: Telling | None = field(default=None, compare=False, repr=False)

    @property
    def trials(self) -> int | None:
        """Number of trials with which a comparison says the same of it; None where no number that was tried does."""
        return None if self.telling is None else self.telling.trials

    @property
    def ratio(self) -> float:
        """Left over right."""
        if self.right > 0.0:
            return self.left / self.right
        return float("inf") if self.left > self.right else 0.0

    @property
    def iterations(self) -> int:
        """K or T at which the sides are compared."""
        return self.candidate.iterations - int(self.candidate.settings.get("N", "1")) + 1

    def words(self) -> str:
        """Return the instance in one sentence."""
        one = self.candidate
        n = one.clients
        kind = str(one.problem["type"])
        if one.separable:
            sum_ = "Σ_j w_ij·" if one.dimension > 1 else "w_i·"
            kind = f"f_i(x) = {sum_}" + {"huber": "huber(x − c_i)", "lad": "|x − c_i|"}.get(kind, "(x − c_i)²/2")
        if one.sampled:
            kind = "f_i(x) = mean over its rows j of (a_ij·x − y_ij)²/2"
        parts = [f"{n} client{'s' * (n > 1)}, {kind}"]
        shown = (
            name
            for name in ("w", "c", "a", "y", "batch", "replacement", "delta", "sigma", "noise", "error", *OPTIONS, "x0")
            if name in one.problem and one.independent
        )
        parts += [f"{name} = {typed(one.problem[name])}" for name in shown]
        parts += [f"f = {self.objective}"] if self.objective.startswith("Σ") else []
        parts += [f"delays {one.delays}"]
        parts += [f"{name} = {_shown(value)}" for name, value in {**self.parameters, **one.settings}.items()]
        other = "" if OPTIONS.keys().isdisjoint(one.problem) else on_composite(self.theorem, one.settings, n)
        return f"{other and other + '; '}{', '.join(parts)}"

    def command(self, typed: str) -> str | None:
        """Return the comparison that repeats it, None where none does; ``typed``: the theorem, an id or a file."""
        if self.trials is None:
            return None
        return self.candidate.compared(self.theorem).command(typed, "--trials", str(self.trials))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        one, theorem = self.candidate, self.theorem
        return {
            "family": one.family,
            "words": self.words(),
            "problem": {"type": one.problem["type"], **one.options()},
            "objective": self.objective,
            "delays": one.delays,
            "parameters": {name: _parameter(value) for name, value in self.parameters.items()},
            "settings": dict(one.settings),
            theorem.horizon_symbol: self.iterations,
            "left": json_value(self.left),
            "right": json_value(self.right),
            "ratio": json_value(self.ratio),
            "generous": None if self.generous is None else {"counts": dict(theorem.generous), "ratio": self.generous},
            "kind": self.kind,
            "method": self.method,
            "by_hand": self.by_hand,
            "constants": {name: constant.as_dict() for name, constant in self.constants.items()},
            "values": {name: json_value(value) for name, value in self.values.items()},
            "compare": self.command(theorem.id),
        }


@dataclass(frozen=True, slots=True)
class Falsification:
    """The outcome of a search.

    Parameters
    ----------
    best
        The smallest violation found, or a larger one that convinces, since a hand can check it; without a violation the
        closest instance; None if the theorem applied to nothing that was tried.
    violated
        Whether ``best`` breaks the bound.
    tried
        Family → how many candidates of it were tried.
    refused
        Why candidates were not: the messages, with their number.
    case
        The case file of ``best``.
    smaller
        A smaller violation, the smallest found, where ``best`` convinces more; None without.
    clearest
        A violation that was met on the way and breaks the bound by more than ``best``; None without.
    growth
        Of a shape: a family that begins at ``best``, along which left/right is unbounded; None without.
    unmet
        Where the theorem applied to nothing: the conditions that no instance was found to meet, with both their sides.
    """

    theorem: Theorem
    best: JudgedInstance | None
    violated: bool
    tried: Mapping[str, int]
    refused: Mapping[str, int]
    seconds: float
    seed: int
    case: Document | None
    smaller: JudgedInstance | None = None
    clearest: JudgedInstance | None = None
    unmet: str = ""
    growth: "Growth | None" = None

    @property
    def not_varied(self) -> dict[str, str]:
        """Options of the algorithm that stood at their defaults throughout, with these; '' is an option left out."""
        return unvaried(self.theorem)

    def kept(self) -> str:
        """Return :attr:`not_varied` in one line; empty where every option that the theorem leaves open was varied."""
        found = (f"{name} = {value}" if value else f"{name} left out" for name, value in self.not_varied.items())
        return f"options not varied, at their defaults: {', '.join(found)}" if self.not_varied else ""

    @property
    def ratio(self) -> float:
        """The largest left/right that is left after shrinking; 0 if nothing was found."""
        return self.best.ratio if self.best is not None else 0.0

    @property
    def nothing(self) -> str:
        """That the theorem applied to nothing that was tried, and why; empty where it applied to something."""
        if self.best is not None or self.tried:
            return ""
        contradicts = contradiction(self.theorem.core.assumed)
        why = f"no instance was found that meets {self.unmet}" if self.unmet else ""
        why = why if contradicts is None else contradicts.words
        head = f"applies to no instance that was tried (0 of {sum(self.refused.values())})"
        return f"{head}: {why}" if why else head

    @property
    def called(self) -> str:
        """The words for ``best``."""
        if not self.violated:
            return "closest instance"
        small = "" if self.smaller is not None else "smallest "
        return f"{small}counterexample{', to be checked by hand' if self.best and self.best.by_hand else ''}"

    @property
    def smallest(self) -> JudgedInstance | None:
        """The smallest violation found; None without."""
        return (self.smaller or self.best) if self.violated else None

    @property
    def closest(self) -> JudgedInstance | None:
        """The closest instance where none violates."""
        return None if self.violated else self.best

    @property
    def verdict(self) -> Verdict:
        """``violated`` with a counterexample, ``inconclusive`` without: no search can say that a bound holds."""
        return Verdict.VIOLATED if self.violated else Verdict.INCONCLUSIVE

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        best = self.best
        return {
            "schema": schema("search"),
            "boundlab": __version__,
            "provenance": provenance(self.theorem),
            "theorem": self.theorem.id,
            "core": core(self.theorem).sha256,
            "status": self.theorem.status,
            **self.theorem.links(),
            "verdict": self.verdict,
            "candidates": sum(self.tried.values()),
            "tried": dict(self.tried),
            "refused": dict(self.refused),
            "not_varied": self.not_varied,
            "unmet": self.unmet,
            "seconds": round(self.seconds, 1),
            "seed": self.seed,
            "instance": None if best is None else best.as_dict(),
            "smallest": None if self.smaller is None else self.smaller.as_dict(),
            "clearest": None if self.clearest is None else self.clearest.as_dict(),
            **({} if self.growth is None else {"growth": self.growth.as_dict()}),
        }


def confirm(judge: Judge, score: Score) -> tuple[JudgedInstance, Document]:
    """Evaluate a candidate again, by the ways of ``compare`` and ``exact``, and write its case file.

    Raises
    ------
    BoundlabError
        If the candidate does not fit the theorem where it is looked at closely.
    UndecidedError
        If the fast evaluation and the slow one differ: then nothing is known of it.
    """
    one, theorem = score.candidate, judge.theorem
    plan = plan_of(theorem, one, [horizon(one)])
    mean = plan.schedules is None or several(plan.schedules)
    method = "all event sequences, in floating point" if mean else "one run, in floating point"
    if one.carried and (score.lost or not judge.expectation):
        method = f"Gaussian noise carried along the run; from below, by a factor 1 − {score.lost:.1g}"
    ends, right = left_of(plan, one, score.lost), float(plan.bound[-1])
    left = float(ends.value[-1])
    conditional_on = uncertified(plan.symbols)
    if conditional_on:
        raise AssumptionError(f"nothing certifies {' and '.join(conditional_on)}")
    agree(score.left, left, "left", "a comparison")
    agree(score.right, right, "right", "a comparison")
    violated = bool(ends.lower[-1] > _bound(plan).upper[-1]) and not plan.near_minimiser
    found = instance_of(plan, one, left, right, method, violated=violated)
    exact = _exactly(plan, found, case_of(plan, found))
    return exact, case_of(plan, exact)


def instance_of(
    plan: Plan, one: Candidate, left: float, right: float, method: str, *, violated: bool
) -> JudgedInstance:
    """Return a candidate with both sides in floating point, and with all numbers that its plan has."""
    values = {name: plan.values[name] for name in sorted(plan.values) if np.ndim(plan.values[name]) == 0}
    parameters = {name: value for name, value in plan.parameter_values.items() if name not in one.settings}
    constants = {name: one_ for name, one_ in plan.constants.items() if name in plan.theorem.inputs()}
    return JudgedInstance(
        plan.theorem, one, left, right, "numeric", method, constants, values, parameters, violated,
        objective=plan.objective,
    )  # fmt: skip


def _bound(plan: Plan) -> Enclosure:
    """Enclose the right side, on the schedule that all runs have where it reads one."""
    schedules = plan.schedules
    seen = None if schedules is None else schedules.read_at(schedules.tape(0), plan.ks, plan.fixed)
    return plan.right_sides([plan.known(seen)])


def agree(search: float, slow: float, side: str, who: str, digits: float = 1e-6) -> None:
    """Refuse a candidate on which the search and a slower way differ.

    Raises
    ------
    UndecidedError
        With both numbers.
    """
    if not np.isclose(search, slow, rtol=digits):
        raise UndecidedError(f"the search and {who} differ on the {side} side: {search:.10g} and {slow:.10g}")


def case_of(plan: Plan, found: JudgedInstance) -> Document:
    """Return the case file: the events of the schedule, or the law of random ones."""
    one, theorem = found.candidate, plan.theorem
    options = one.options()
    start = options.pop("x0")
    own = {name for name in theorem.step if name not in one.step}
    own |= {name for name, value in plan.parameter_values.items() if isinstance(value, StepRule)}
    parameters = {name: _parameter(value) for name, value in plan.parameter_values.items() if name not in own}
    settings: dict[str, Any] = {
        name: _parameter(value) for name, value in one.settings.items() if name not in parameters
    }
    settings |= {name: _parameter(value) for name, value in one.step.items() if name not in plan.parameter_values}
    case: dict[str, Any] = {
        "theorem": theorem.id,
        "algorithm": plan.algorithm.id,
        "problem": {"type": one.problem["type"], **options},
        "x0": start if isinstance(start, list) else [start],
        "parameters": parameters,
    }
    if plan.schedules is None or plan.schedules.averaged or plan.metric.in_seconds:
        case |= {"delays": one.delays}
    else:
        case |= {"events": plan.algorithm.events_as_json(trial_events(plan, 0, 0)), "delays": one.delays, "seed": 0}
    return Document(
        {
            "schema": schema("case"),
            **case,
            "iterations": one.iterations,
            "settings": settings,
            "constants": {name: constant.as_dict() for name, constant in found.constants.items()},
            "claim": {"k": found.iterations, "left": found.left, "bound": found.right},
            "note": found.words(),
            "provenance": provenance(theorem, plan.problem, plan.delays, plan.policy, plan.parameters),
        }
    )


def _exactly(plan: Plan, found: JudgedInstance, case: Mapping[str, Any]) -> JudgedInstance:
    """Return the instance as the exact engines see it, or as it is where none applies."""
    from boundlab.case import load_case
    from boundlab.exact import evaluate
    from boundlab.expectation import applicable
    from boundlab.files import write_json

    theorem = plan.theorem
    if "events" not in case and not theorem.left.in_seconds:
        reason = applicable(*plan.random_run)
        if reason:
            return replace(found, method=f"{found.method} (boundlab exact does not apply: {reason})")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.json"
        write_json(path, dict(case))
        try:
            result = evaluate(theorem, load_case(path), derive=found.left > found.right)
        except FAILURES as error:
            said = f"boundlab exact cannot repeat it: {str(error).replace(str(path), 'its case file')}"
            return replace(found, method=f"{found.method}; {said}", violated=False)
    if found.violated:
        agree(found.left, result.left, "left", "the exact engine", 1e-4)
    elif not np.isclose(result.left, found.left, rtol=1e-4):
        return found
    way = result.derivation if result.violated else None
    return replace(
        found,
        left=result.left,
        right=result.right,
        kind=result.kind,
        method=result.method,
        violated=result.violated,
        by_hand=way is not None and way.by_hand,
    )


def _parameter(value: Any) -> Any:
    """Return a parameter as JSON has it, a word that is an integer as one."""
    try:
        return int(value) if isinstance(value, str) else json_value(value)
    except ValueError:
        return value


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
