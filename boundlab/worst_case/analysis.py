"""The worst case of a theorem's algorithm over the theorem's functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.errors import AssumptionError, BoundlabError
from boundlab.instance.rounding import above
from boundlab.objective import Problem
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict
from boundlab.worst_case.certificate import certify
from boundlab.worst_case.classes import FunctionClass, function_class
from boundlab.worst_case.function import SHARES, extract, flat, inside, stand_in
from boundlab.worst_case.model import build
from boundlab.worst_case.program import Compiled
from boundlab.worst_case.question import Question, ask
from boundlab.worst_case.replay import replay

# A certified value this close above the bound is what a tight theorem looks like through a solver.
TIGHT = 1e-4
_NUMERIC = 1e-6
# A function is good enough where its replay misses the solver's value by no more than this share.
_CLOSE = 1e-4


class Outcome(Enum):
    """What a worst case says of a bound, in its own words."""

    EXCEEDS = "exceeds the bound"
    HOLDS = "holds"
    NUMERIC = "numeric"
    BESIDE = "not applicable"

    @property
    def verdict(self) -> Verdict:
        """What that means for the theorem."""
        return {
            Outcome.HOLDS: Verdict.HOLDS,
            Outcome.EXCEEDS: Verdict.VIOLATED,
            Outcome.NUMERIC: Verdict.INCONCLUSIVE,
            Outcome.BESIDE: Verdict.NOT_APPLICABLE,
        }[self]


@final
@dataclass(frozen=True, slots=True)
class WorstCase:
    """The largest left side that any function of the class can make.

    Parameters
    ----------
    kind
        The class; where ``kind.relaxed`` says why, the program is larger than it, and its optimum an upper value.
    points, inequalities
        Size of the program.
    status
        Clarabel's; only ``optimal`` is a success.
    primal, dual, gap
        Numeric.
    certified_upper
        A rational upper value, checked exactly; None where the dual could not be rounded.
    function
        A function of few dimensions near the worst one, with x* = 0 and f* = 0; None where none was found.
    rank
        Its dimension.
    in_class
        Whether its constants were seen to be within those of the theorem.
    replayed
        The left side that it makes in the NumPy executor.
    missing
        Why there is no function or no replay, or ''.
    """

    plan: Question
    kind: FunctionClass
    points: int
    inequalities: int
    status: str
    primal: float
    dual: float
    certified_upper: Fraction | None
    function: Problem | None
    rank: int
    in_class: bool
    replayed: float | None
    missing: str

    @property
    def gap(self) -> float:
        """The dual less the primal value."""
        return self.dual - self.primal

    @property
    def bound(self) -> float:
        """The theorem's right side."""
        return self.plan.bound

    @property
    def outcome(self) -> Outcome:
        """What this says of the bound."""
        if self.plan.beside or self.plan.theorem.shape:
            return Outcome.BESIDE
        limit = Fraction(self.bound)
        if self.in_class and self.replayed is not None and above(self.replayed, self.bound):
            return Outcome.EXCEEDS
        if self.certified_upper is not None and self.certified_upper <= limit:
            return Outcome.HOLDS
        near = self.dual <= self.bound * (1.0 + _NUMERIC)
        if near and self.certified_upper is not None and self.certified_upper <= limit * Fraction(1.0 + TIGHT):
            return Outcome.HOLDS
        return Outcome.NUMERIC

    @property
    def reason(self) -> str:
        """One sentence on why the outcome is what it is."""
        found = self.outcome
        if found is Outcome.BESIDE:
            return self.plan.beside or "the bound is a printed O(·) whose constants are unknown"
        if found is Outcome.EXCEEDS:
            return f"the function found, of the class, makes {self.replayed:.7g} > {self.bound:.7g}"
        certified = self.certified_upper
        if found is Outcome.HOLDS and certified is not None:
            if certified <= Fraction(self.bound):
                return f"certified for full gradients: at most {upwards(certified)} ≤ {self.bound:.7g}"
            factor = upwards(certified / Fraction(self.bound))
            return f"tight: certified {upwards(certified)}, within a factor {factor} of {self.bound:.7g}"
        if self.status != "optimal":
            return f"Clarabel ended with status {self.status}, which is no success"
        if certified is None:
            return "the dual was not certified; the numbers of the solver prove nothing"
        if self.primal <= self.bound:
            return (
                f"the solver's {self.primal:.7g} is below {self.bound:.7g}, the certified {upwards(certified)} is not"
            )
        why = f"larger than the class: {self.kind.relaxed}" if self.kind.relaxed else "not seen to be attained"
        return f"the program reaches {self.primal:.7g} > {self.bound:.7g}, but is {why}"

    def case(self) -> dict[str, Any] | None:
        """Return the function found as a case file, or None."""
        if self.function is None:
            return None
        plan = self.plan
        parameters = {name: _plain(value) for name, value in plan.options.items()}
        settings = {"R": float(np.linalg.norm(self.function.x0))}
        out: dict[str, Any] = {
            "theorem": plan.theorem.id,
            "algorithm": plan.algorithm.id,
            "problem": self.function.spec(),
            "parameters": parameters,
        }
        if plan.events is not None:
            out["events"] = plan.algorithm.events_as_json(plan.events)
        elif "p" in plan.values:
            p = [float(one) for one in plan.values["p"]]
            out |= {"delays": {"type": "iid", "p": p, "p_s": 1.0 - sum(p)}, "iterations": plan.iterations}
        else:
            out |= {"delays": {"type": "deterministic"}, "iterations": plan.iterations}
        constants = {
            name: _plain(value)
            for name, value in {**plan.values, **settings}.items()
            if name in (*plan.theorem.inputs(plan.values), "R") and name != plan.theorem.counter
        }
        made = "unknown" if self.replayed is None else f"{self.replayed:.9g}"
        claim = f"{plan.metric.expectation} = {made}, bound {self.bound:.9g}"
        return {**out, "constants": constants, "claim": claim, "note": "from boundlab worst-case; x* = 0, f* = 0"}

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        plan = self.plan
        certified = self.certified_upper
        return {
            "theorem": plan.theorem.id,
            "status_of_theorem": plan.theorem.status,
            "left_side": plan.metric.expectation,
            "class": self.kind.words,
            "relaxed": self.kind.relaxed,
            "clients": plan.clients,
            "iterations": plan.iterations,
            "runs": "average over all event sequences" if plan.average else "one run",
            "parameters": {name: _plain(value) for name, value in plan.options.items()},
            "values": {name: _plain(value) for name, value in plan.values.items()},
            "defaults": list(plan.defaults),
            "points": self.points,
            "inequalities": self.inequalities,
            "solver": "Clarabel",
            "status": self.status,
            "primal": self.primal,
            "dual": self.dual,
            "gap": self.gap,
            "certified_upper": None if certified is None else upwards(certified),
            "certified_upper_exact": None if certified is None else str(certified),
            "bound": self.bound,
            "repaired": dict(plan.repaired),
            "replayed": self.replayed,
            "rank": self.rank,
            "in_class": self.in_class,
            "missing": self.missing,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "case": self.case(),
        }


def upwards(value: Fraction, digits: int = 9) -> str:
    """Return a decimal that is at least the value."""
    scaled = value * 10**digits
    whole = -((-scaled.numerator) // scaled.denominator)
    text = f"{abs(whole):0{digits + 1}d}"
    return f"{'-' if whole < 0 else ''}{text[:-digits]}.{text[-digits:]}"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def worst_case(
    theorem: Theorem,
    iterations: int,
    settings: Mapping[str, Any] | None = None,
    average: bool | None = None,
    *,
    delays: str | None = None,
    events: Sequence[Any] | None = None,
    find_function: bool = True,
) -> WorstCase:
    """Compute the worst case of the theorem's algorithm, run with full gradients, over the theorem's functions.

    Parameters
    ----------
    theorem
        What is claimed; its assumptions give the class, its step size the algorithm's.
    iterations
        K events for AREA, server updates for the others; small.
    settings
        Symbols (R, B, L, mu, p, …) and parameters of the algorithm (M, …). R, B, L and F0 are 1 where nobody says
        otherwise, which is a choice of units; noise is 0.
    average
        The mean over all event sequences, which is what theorems with random events speak about; default: whether
        the theorem assumes them and ``events`` is not given.
    delays
        ``iid:p_s=0.5`` for the average; any spec for the schedule of one run (default: all clients equally fast).
    events
        One run, as a case file lists it.
    find_function
        Whether to look for a function that makes the worst case.

    Raises
    ------
    BoundlabError
        If something is missing or does not fit, the program is too large, or there is no finite worst case.
    """
    plan = ask(theorem, iterations, settings or {}, average, delays, events)
    kind = function_class(theorem, plan.values, plan.clients)
    constants = _bounding(theorem, plan)
    if not {"R", "F0"} & set(constants):
        raise AssumptionError(
            f"{theorem.id} reads neither R nor F0: a start may be arbitrarily bad, and there is no worst case"
        )
    step = max((float(tape.descend.step_size.max(initial=0.0)) for tape, _ in plan.tapes()), default=0.0) or 1.0
    if kind.kind in ("ConvexFunction", "StronglyConvexFunction") and kind.gradient_square is None:
        constants["step"] = step
    model = build(kind, plan.metric, plan.tapes(), plan.clients, constants)
    compiled = Compiled(model.program)
    solution = compiled.solve()
    certified = certify(compiled, solution) if solution.status == "optimal" else None
    found = _Found("" if find_function else "not asked for")
    if find_function and solution.status == "optimal":
        found = _search(plan, kind, constants, step, solution.primal)
    return WorstCase(
        plan, kind, model.program.points, len(model.program.rows), solution.status, solution.primal, solution.dual,
        certified, found.problem, found.rank, found.in_class, found.replayed, found.missing,
    )  # fmt: skip


def _bounding(theorem: Theorem, plan: Question) -> dict[str, Any]:
    """Return what bounds start and clients, as far as the theorem reads it."""
    read = set(theorem.inputs(plan.values))
    return {name: plan.values[name] for name in ("R", "F0", "zeta", "G_star") if name in read and name in plan.values}


@final
@dataclass(frozen=True, slots=True)
class _Found:
    """A function with its replay, or why there is none."""

    missing: str
    problem: Problem | None = None
    rank: int = 0
    in_class: bool = False
    replayed: float | None = None


def _search(plan: Question, kind: FunctionClass, constants: Mapping[str, Any], step: float, wanted: float) -> _Found:
    """Look for a function whose replay comes near the solver's value, with kinks that are rounded more and more."""
    best = _Found(f"no function of the class is written down for {kind.kind}")
    for share in SHARES:
        chosen = stand_in(kind, float(constants.get("R", 1.0)), step, share)
        if chosen is None:
            break
        found = _function(plan, chosen, constants)
        better = found.replayed is not None and (best.replayed is None or found.replayed > best.replayed)
        if better or best.problem is None:
            best = found
        exact_class = chosen.kind == kind.kind or kind.kind == "SmoothFunction"
        if exact_class or (best.replayed is not None and best.replayed >= wanted * (1.0 - _CLOSE)):
            break
    return best


def _function(plan: Question, chosen: FunctionClass, constants: Mapping[str, Any]) -> _Found:
    """Find a function near the worst one of a class whose members can be written down, and replay it."""
    try:
        model = build(chosen, plan.metric, plan.tapes(), plan.clients, inside(constants))
        compiled = Compiled(model.program)
        solution = compiled.solve()
        if solution.status != "optimal":
            return _Found(f"Clarabel ended with status {solution.status} on the functions with rounded kinks")
        gram, values = flat(compiled, solution, model.program.level)
        found = extract(chosen, model, gram, values, constants)
    except BoundlabError as error:
        return _Found(str(error))
    if found is None:
        return _Found("all points of the program coincide")
    replayed = replay(plan, found.problem)
    missing = "" if replayed is not None else "the function found has no closed proximal step"
    return _Found(missing, found.problem, found.rank, found.certified, replayed)
