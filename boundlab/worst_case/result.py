"""Outcome of a worst case for a bound."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.arithmetic.rational import meant
from boundlab.case import build_problem
from boundlab.errors import AssumptionError
from boundlab.execute.floats import run
from boundlab.files import Document, json_value, schema
from boundlab.objective import Array, Problem
from boundlab.randomness import Floats
from boundlab.result import Result
from boundlab.theorems import core
from boundlab.verdict import Verdict
from boundlab.worst_case.model import FunctionClass, ProgramModel
from boundlab.worst_case.program import Compiled, Solution
from boundlab.worst_case.specification import Question

# Run a function on all runs of a plan, through the NumPy executor.


def replay(plan: Question, problem: Problem) -> float | None:
    """Return the mean of the left side over the runs; f* = 0 at x* = 0. None if a step has no closed form.

    Runs with full gradients in float64.
    """
    function, values = _AtOrigin(problem), dict[bytes, float]()

    def left(x: Array) -> float:
        known = x.tobytes()
        if known not in values:
            values[known] = plan.metric.at(function, x)
        return values[known]

    total = []
    for tape, weight in plan.tapes():
        seen: list[Any] = []
        try:
            run(tape, problem.x0, problem.full_gradients(), lambda _, x, seen=seen: seen.append(np.array(x)))  # type: ignore[misc]
        except AssumptionError:
            return None
        shares = plan.metric.over.shares(len(seen)) or ()
        total.append(float(weight) * sum(float(share) * left(x) for share, x in zip(shares, seen, strict=True)))
    return float(np.sum(np.sort(total)))


@final
@dataclass(frozen=True, slots=True)
class _AtOrigin:
    """The quantities of a problem with f* = 0 at x* = 0."""

    problem: Problem

    def squared_distance(self, x: Array) -> float:
        return float(x @ x)

    def gap(self, x: Array) -> float:
        return self.problem.value(x)

    def squared_slope(self, x: Array) -> float:
        gradient = self.problem.full_gradient(x)
        return float(gradient @ gradient)


# From a solution of the program to a function: few dimensions, and constants that hold exactly.

# How much of the worst case is given up: for a start inside of the class, and for few dimensions; and, tried in turn,
# for kinks without ties.
_INSIDE = 1e-7
SHARES = (2e-5, 2e-4, 2e-3)
_LOSS = 3e-6
_RANK = 1e-7
_GRID = 2.0**-44


@final
@dataclass(frozen=True, slots=True)
class FoundFunction:
    """A function near the worst one, or why there is none.

    Parameters
    ----------
    missing
        Why there is no function or no replay, or ''.
    problem
        n functions; x* = 0 with f(x*) = 0.
    rank
        The dimension in which it lives.
    in_class
        Whether its constants were seen to be within those of the theorem.
    replayed
        The left side that it makes in the NumPy executor.
    """

    missing: str
    problem: Problem | None = None
    rank: int = 0
    in_class: bool = False
    replayed: float | None = None


def stand_in(kind: FunctionClass, radius: float, step: float, share: float) -> FunctionClass | None:
    """Return the class from which a function is taken: a part of ``kind`` whose members can be written down.

    Parameters
    ----------
    radius, step
        ‖x_0 − x*‖ and the largest step size: what kinks are small against.
    share
        How small.
    """
    if kind.kind == "ConvexLipschitzFunction":
        return kind.slightly_smooth(share, radius)
    if kind.kind in ("ConvexFunction", "StronglyConvexFunction"):
        if kind.gradient_square is not None and kind.kind == "ConvexFunction":
            return replace(kind, steepest=_less(kind.gradient_square)).slightly_smooth(share, radius)
        constants = {**kind.constants, "L": meant(1.0 / (share * step))}
        name = "SmoothConvexFunction" if kind.kind == "ConvexFunction" else "SmoothStronglyConvexFunction"
        return replace(kind, kind=name, constants=constants)
    if kind.kind in ("SmoothConvexFunction", "SmoothStronglyConvexFunction", "SmoothConvexLipschitzFunction"):
        return replace(kind, minimiser=True)
    if kind.kind == "SmoothFunction":
        # Convex functions are a part of all smooth ones; where gradients are bounded, Lipschitz ones.
        if kind.gradient_square is None:
            return replace(kind, kind="SmoothConvexFunction", minimiser=True, relaxed="")
        lipschitz = replace(kind, kind="SmoothConvexLipschitzFunction", steepest=_less(kind.gradient_square))
        return replace(lipschitz, gradient_square=None, minimiser=True, relaxed="")
    return None


def _less(square: Fraction) -> Fraction:
    """Return a square a hair smaller, which rounding does not put above."""
    return meant(float(square) ** 0.5 * (1.0 - 1e-12)) ** 2


def inside(constants: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants a hair smaller, so that rounding cannot put a function outside of them."""
    return {name: np.asarray(value, dtype=np.float64) * (1.0 - _INSIDE) for name, value in constants.items()}


def flat(compiled: Compiled, solution: Solution, level: float) -> tuple[Floats, Floats]:
    """Return a primal point of low rank that loses little: minimal trace, then log det."""
    n = compiled.program.points
    least = solution.primal - _LOSS * level
    best = (solution.gram, solution.values)
    weight: Floats = np.eye(n)
    for _ in range(3):
        found = compiled.flatten(weight, least)
        if found is None:
            break
        best = found
        scaled = best[0] / np.outer(compiled.program.scale, compiled.program.scale)
        weight = np.asarray(
            np.linalg.inv(scaled + 1e-4 * max(float(np.trace(scaled)) / n, 1e-12) * np.eye(n)), dtype=np.float64
        )
        weight /= np.abs(weight).max()
    return best


def extract(
    kind: FunctionClass, model: ProgramModel, gram: Floats, values: Floats, constants: Mapping[str, Any]
) -> FoundFunction:
    """Write down a function that interpolates the primal point.

    Parameters
    ----------
    kind
        Of the stand-in.
    gram, values
        The primal point.
    constants
        Those of the theorem, which the function must meet.

    Returns
    -------
    FoundFunction
        Without a function where the Gram matrix is 0.
    """
    scale = model.program.scale
    size, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    keep = size > _RANK * float(size[-1])
    if not keep.any():
        return FoundFunction("all points of the program coincide")
    vectors = (vectors[:, keep] * np.sqrt(size[keep])).T * scale  # columns are the leaf points
    start = _dense([model.start], len(scale))[0] @ vectors.T
    rotate = _towards(start)
    vectors = rotate @ vectors
    rank = len(vectors)
    x0 = np.zeros(rank)
    x0[0] = float(np.linalg.norm(start))
    if "R" in constants and abs(x0[0] - float(constants["R"])) <= 1e-5 * float(constants["R"]):
        x0[0] = float(constants["R"])  # the theorem's step size may depend on it
    strong = float(kind.constants.get("mu", 0.0))
    smooth = float(kind.constants["L"])
    slopes, heights = [], []
    for samples in model.samples:
        x, g = (_dense([getattr(one, name) for one in samples], len(scale)) @ vectors.T for name in ("x", "g"))
        f = _dense([one.f.values for one in samples], len(values)) @ values
        slope = g - strong * x
        height = f - 0.5 * strong * (x * x).sum(1) - (slope * x).sum(1)
        slopes.append(slope)
        heights.append(height if kind.rounded else height + (slope * slope).sum(1) / (2.0 * (smooth - strong)))
    width = None if kind.rounded else smooth - strong
    a, b = _pieces(slopes, heights, kind.steep, width)
    spec: dict[str, Any] = {"a": a.tolist(), "x0": x0.tolist()}
    spec["minimiser"] = [0.0] * rank
    if kind.rounded:
        problem = build_problem("max-affine", {**spec, "b": b.tolist()})
    else:
        spec |= {"c": b.tolist(), "L": smooth, "mu": strong}
        problem = build_problem("smoothed-max-affine", spec)
    return FoundFunction("", problem, rank, _within(problem, kind, x0, constants))


def _dense(rows: Sequence[Mapping[int, Fraction]], width: int) -> Floats:
    """Return combinations as rows of floats."""
    return np.array([[float(row.get(place, 0)) for place in range(width)] for row in rows])


def _towards(start: Floats) -> Floats:
    """Return an orthogonal matrix that turns ``start`` into the first direction."""
    d, length = len(start), float(np.linalg.norm(start))
    if length == 0.0:
        return np.eye(d)
    basis = np.column_stack([start / length, np.eye(d)])
    q, _ = np.linalg.qr(basis)
    q[:, 0] = start / length
    return np.asarray(q.T)


def _pieces(
    slopes: list[Floats], heights: list[Floats], steep: float | None, width: float | None
) -> tuple[Floats, Floats]:
    """Return pieces, shapes (n, m, d) and (n, m), with which 0 is exactly a minimiser of f and f(0) = 0.

    The first piece of every client is the one of x*: slopes that sum to 0 exactly, as multiples of one number, and
    no other piece above it where it counts.
    """
    clients, most = len(slopes), max(map(len, slopes))
    a = np.zeros((clients, most, slopes[0].shape[1]))
    b = np.zeros((clients, most))
    unit = _GRID * 2.0 ** np.ceil(np.log2(max(float(np.abs(one).max()) for one in slopes) or 1.0))
    for client, (slope, height) in enumerate(zip(slopes, heights, strict=True)):
        own = np.round(slope / unit) * unit
        if steep is not None:
            # Slopes that are as steep as allowed up to the solver's digits are made so, and none is steeper.
            norms = np.linalg.norm(own, axis=1)
            full = norms > steep * (1.0 - 1e-5)
            scale = np.where(full, steep * (1.0 - 1e-11) / np.maximum(norms, 1e-300), 1.0)
            own = np.trunc(own * scale[:, None] / unit) * unit
        a[client] = own[0]
        a[client, : len(own)] = own
        b[client, : len(height)] = height
    # Σ_i a_i0 = 0: the last client takes what rounding left over.
    a[-1, 0] -= a[:, 0].sum(axis=0)
    for client, slope in enumerate(slopes):
        first = a[client, 0]
        a[client, len(slope) :] = first
        if width is None:
            b[client, 0] = 0.0
            limit = np.zeros(most)
        else:
            b[client, 0] = float(first @ first) / (2.0 * width)
            # At y = −a_0/width, from which x* = 0 is reached, the first piece must be on top.
            limit = b[client, 0] - (first - a[client]) @ first / width
        b[client, len(slope) :] = b[client, 0]
        b[client] = np.minimum(b[client], limit)
    return a, b


def _within(problem: Problem, kind: FunctionClass, x0: Floats, constants: Mapping[str, Any]) -> bool:
    """Return whether the function's constants are within those of the theorem; x* = 0 by construction."""
    origin = np.zeros(len(x0))
    if "R" in constants and not float(np.linalg.norm(x0)) <= float(constants["R"]):
        return False
    if "F0" in constants and not problem.value(x0) <= float(constants["F0"]):
        return False
    if problem.n > 1:
        if kind.deviation is not None:
            found = problem.constants().get("sigma_g")
            if found is None or not found.value <= float(kind.deviation):
                return False
        away = np.array([float(np.linalg.norm(problem.gradient(client, origin))) for client in range(problem.n)])
        if "G_star" in constants and not (away <= np.asarray(constants["G_star"])).all():
            return False
        if "zeta" in constants and float(kind.constants.get("mu", 0.0)) <= 0.0:
            return False
        if "zeta" in constants:
            return _minimisers_near(problem, float(np.asarray(constants["zeta"]).reshape(-1)[0]))
    return kind.gradient_square is None


def _minimisers_near(problem: Problem, zeta: float) -> bool:
    """Return whether every f_i has its minimiser within zeta of 0: gradient descent to a point of small gradient."""
    spec = problem.spec()
    mu, L = float(spec["mu"]), float(spec["L"])
    for client in range(problem.n):
        x = np.zeros(problem.d)
        for _ in range(2000):
            gradient = problem.gradient(client, x)
            if float(np.linalg.norm(gradient)) <= 1e-10 * mu * max(zeta, 1e-300):
                break
            x = x - gradient / L
        if float(np.linalg.norm(x)) + float(np.linalg.norm(problem.gradient(client, x))) / mu > zeta:
            return False
    return True


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


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class WorstCase(Result):
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
    def verdict(self) -> Verdict:
        """Verdict on the theorem."""
        return self.outcome.verdict

    def line(self) -> str:
        """Return the outcome."""
        theorem, horizon = self.plan.theorem, self.plan.horizon
        return f"{theorem.id} at {theorem.horizon_symbol} = {horizon}: {self.words}: {self.reason}"

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
            "verdict": self.verdict.value,
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
