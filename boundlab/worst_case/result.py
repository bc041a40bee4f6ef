"""Outcome of a worst case for a bound."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from boundlab.files import Document, json_value, schema
from boundlab.objective import Problem
from boundlab.theorems import core
from boundlab.verdict import Verdict
from boundlab.worst_case.classes import FunctionClass
from boundlab.worst_case.specification import Question

# A certified value this close above the bound is what an attained bound looks like through a solver.
TIGHT = 1e-4
# Roots in the coefficients of a run stand there as floats: what these move its worst case by is not proved.
_ROOTS = Fraction(1, 10**9)


class WorstCaseOutcome(Enum):
    """Outcome of a worst case for a bound, in its own words."""

    EXCEEDS = "exceeds the bound"
    HOLDS = "holds"
    CONDITIONAL = "holds without noise"
    UNDECIDED = "not decided"
    BESIDE = "not applicable"

    @property
    def verdict(self) -> Verdict:
        """Verdict on the theorem that this outcome implies."""
        return {
            WorstCaseOutcome.HOLDS: Verdict.HOLDS,
            WorstCaseOutcome.EXCEEDS: Verdict.VIOLATED,
            WorstCaseOutcome.CONDITIONAL: Verdict.INCONCLUSIVE,
            WorstCaseOutcome.UNDECIDED: Verdict.INCONCLUSIVE,
            WorstCaseOutcome.BESIDE: Verdict.NOT_APPLICABLE,
        }[self]


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The largest left side that any function of the class can make.

    Parameters
    ----------
    rounded
        Whether numbers of the runs are rounded, as roots are: then a bound must be further away than that explains.
    kind
        The class; where ``kind.relaxed`` says why, the program is larger than it, and its optimum an upper value.
    points, inequalities
        Size of the program.
    status
        Clarabel's; only ``optimal`` is a success.
    primal, dual, gap
        Numeric.
    certified_upper
        A rational number that no function of the class exceeds, checked exactly; None where none was found.
    attained
        Whether the bound itself was certified so, as the formulas give bound and step size; then ``certified_upper`` is
        the bound, rounded up where it is irrational.
    certified_lower
        A rational number that a function of the class reaches, checked exactly; looked for where the program's
        optimum is above the bound.
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
    certificates
        ``upper`` and ``lower``: what the certified values rest on, as :func:`boundlab.recheck.recheck` reads it.
    """

    plan: Question
    rounded: bool
    kind: FunctionClass
    points: int
    inequalities: int
    status: str
    primal: float
    dual: float
    certified_upper: Fraction | None
    attained: bool
    certified_lower: Fraction | None
    function: Problem | None
    rank: int
    in_class: bool
    replayed: float | None
    missing: str
    certificates: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """The dual less the primal value."""
        return self.dual - self.primal

    @property
    def bound(self) -> float:
        """The theorem's right side, as the nearest float."""
        return self.plan.bound

    @property
    def outcome(self) -> WorstCaseOutcome:
        """Certain outcome for the bound: both sides are compared as rational numbers."""
        if self.plan.beside or self.plan.theorem.shape:
            return WorstCaseOutcome.BESIDE
        right = self.plan.exactly.right
        if self.plan.conditional_on:
            return WorstCaseOutcome.UNDECIDED
        room = _ROOTS if self.rounded else Fraction(0)
        if self.certified_lower is not None and self.certified_lower > right.high * (1 + room):
            return WorstCaseOutcome.EXCEEDS
        if self.attained or (self.certified_upper is not None and self.certified_upper <= right.low * (1 - room)):
            return WorstCaseOutcome.CONDITIONAL if self.plan.noise else WorstCaseOutcome.HOLDS
        return WorstCaseOutcome.UNDECIDED

    @property
    def words(self) -> str:
        """The outcome, or how near it was to one."""
        tight = self._tight
        if tight is not None:
            return f"tight to {tight:.1e}, {WorstCaseOutcome.UNDECIDED.value}"
        return self.outcome.value

    @property
    def _tight(self) -> float | None:
        """How far the certified value is above a bound that may be attained, relatively; None where that is not so."""
        low = self.plan.exactly.right.low
        if (
            self.outcome is not WorstCaseOutcome.UNDECIDED
            or self.plan.conditional_on
            or self.certified_upper is None
            or low <= 0
        ):
            return None
        room = float(self.certified_upper / low - 1)
        return max(room, 0.0) if room <= TIGHT else None

    @property
    def reason(self) -> str:
        """One sentence on why the outcome is what it is."""
        found, certified = self.outcome, self.certified_upper
        if found is WorstCaseOutcome.BESIDE:
            return self.plan.beside or "the bound is a printed O(·) whose constants are unknown"
        if found is WorstCaseOutcome.EXCEEDS and self.certified_lower is not None:
            return (
                f"certified: a function of the class makes at least {downwards(self.certified_lower)} > {self._bound}"
            )
        if found in (WorstCaseOutcome.HOLDS, WorstCaseOutcome.CONDITIONAL) and certified is not None:
            return self._holds(certified)
        if self.plan.conditional_on:
            return f"the bound depends on {' and '.join(self.plan.conditional_on)}, which the program does not know"
        if self._tight is not None and certified is not None:
            known = " (numeric)" if self.plan.exactly.right.kind == "numeric" else ""
            return f"certified {upwards(certified)}, above {self._bound}{known} by no more than that share"
        if self.status != "optimal":
            return f"Clarabel ended with status {self.status}, which is no success"
        if self.primal <= self.bound:
            if certified is None:
                return "no certificate was found; the numbers of the solver prove nothing"
            return f"the solver's {self.primal:.7g} is below {self._bound}, the certified {upwards(certified)} is not"
        why = f" (the program is larger than the class: {self.kind.relaxed})" if self.kind.relaxed else ""
        return f"the solver's {self.primal:.7g} is above {self._bound}, but no certified value is{why}"

    def _holds(self, certified: Fraction) -> str:
        side = self.plan.exactly.right
        made = (
            f"at most the bound itself, {self._bound}"
            if self.attained
            else f"at most {upwards(certified)} ≤ {self._bound}"
        )
        known = " (numeric, less room for its rounding)" if side.kind == "numeric" else ""
        noise = f"; of gradients with noise ({', '.join(self.plan.noise)}) it says nothing" if self.plan.noise else ""
        return f"certified for full gradients: {made}{known}{noise}"

    @property
    def _bound(self) -> str:
        return f"{self.bound:.9g}"

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each number: exact, certified or numeric."""
        side = self.plan.exactly.right.kind
        return {
            **dict.fromkeys(("primal", "dual", "gap", "replayed"), "numeric"),
            **dict.fromkeys(("certified_upper", "certified_lower"), "certified"),
            "bound": side,
            "repaired": "numeric",
        }

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        """The certificate of the side that decides: of a lower value above the bound, else of the upper one."""
        side = "lower" if self.outcome is WorstCaseOutcome.EXCEEDS else "upper"
        return self.certificates.get(side) or self.certificates.get("upper") or self.certificates.get("lower")

    @property
    def case(self) -> Document | None:
        """The function found as a case file; None without one."""
        if self.function is None:
            return None
        plan = self.plan
        parameters = {name: json_value(value) for name, value in plan.options.items()}
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
            name: json_value(value)
            for name, value in {**plan.values, **settings}.items()
            if name in (*plan.theorem.inputs(plan.values), "R") and name != plan.theorem.horizon_symbol
        }
        made = "unknown" if self.replayed is None else f"{self.replayed:.9g}"
        claim = f"{plan.metric.expectation} = {made}, bound {self.bound:.9g}"
        note = "from boundlab worst-case; x* = 0, f* = 0"
        return Document({"schema": schema("case"), **out, "constants": constants, "claim": claim, "note": note})

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        plan, side = self.plan, self.plan.exactly.right
        upper, lower = self.certified_upper, self.certified_lower
        return {
            "schema": schema("worst-case"),
            "theorem": plan.theorem.id,
            "core": core(plan.theorem).sha256,
            "status": plan.theorem.status,
            "left_side": plan.metric.expectation,
            "objective": "f, the mean of all f_i",
            "class": self.kind.words,
            "relaxed": self.kind.relaxed,
            "clients": plan.clients,
            "iterations": plan.iterations,
            "runs": "average over all event sequences" if plan.average else "one run",
            "noise": "full gradients",
            "without_noise": list(plan.noise),
            "leans_on": list(plan.conditional_on),
            "rounded": self.rounded,
            "parameters": {name: json_value(value) for name, value in plan.options.items()},
            "values": {name: json_value(value) for name, value in plan.values.items()},
            "defaults": list(plan.defaults),
            "points": self.points,
            "inequalities": self.inequalities,
            "solver": "Clarabel",
            "solver_status": self.status,
            "primal": self.primal,
            "dual": self.dual,
            "gap": self.gap,
            "certified_upper": None if upper is None else upwards(upper),
            "certified_upper_exact": None if upper is None or (self.attained and side.exact is None) else str(upper),
            "attained": self.attained,
            "certified_lower": None if lower is None else downwards(lower),
            "certified_lower_exact": None if lower is None else str(lower),
            "bound": self.bound,
            "bound_exact": None if side.exact is None else str(side.exact),
            "bound_between": [downwards(side.low, 18), upwards(side.high, 18)],
            "kinds": self.kinds,
            "repaired": dict(plan.repaired),
            "replayed": self.replayed,
            "rank": self.rank,
            "in_class": self.in_class,
            "missing": self.missing,
            "words": self.words,
            "verdict": self.outcome.verdict.value,
            "reason": self.reason,
            "certificates": dict(self.certificates),
            "case": self.case,
        }


def upwards(value: Fraction, digits: int | None = None) -> str:
    """Return a decimal that is at least the value; by default with about nine that are not 0."""
    places = _places(value) if digits is None else digits
    scaled = value * 10**places
    return _decimal(-((-scaled.numerator) // scaled.denominator), places)


def downwards(value: Fraction, digits: int | None = None) -> str:
    """Return a decimal that is at most the value; by default with about nine that are not 0."""
    places = _places(value) if digits is None else digits
    scaled = value * 10**places
    return _decimal(scaled.numerator // scaled.denominator, places)


def _places(value: Fraction) -> int:
    """Return how many digits behind the point show eight or nine of a number."""
    return 9 + max(0, len(str(value.denominator)) - len(str(abs(value.numerator))) - 1 if value else 0)


def _decimal(whole: int, places: int) -> str:
    text = f"{abs(whole):0{places + 1}d}"
    return f"{'-' if whole < 0 else ''}{text[:-places]}.{text[-places:]}"
