"""The library of known truths, each with its source and its proof in one line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import sympy

from boundlab.assumptions import BOUNDED_DOMAIN, BOUNDED_RUN, COMPOSITE, DETERMINISTIC, RUN_ASSUMPTIONS, UNCONSTRAINED
from boundlab.checks._instances import (
    SMALL,
    START,
    STEPS,
    UNEQUAL,
    UNEQUAL_SQUARED_GRADIENT,
    alone,
    reused,
    reused_squared_gradient,
    step_name,
)
from boundlab.theorems import Theorem

Values = Mapping[str, Any]
Need = tuple[str, sympy.Expr, sympy.Expr]
_HALF = sympy.Rational(1, 2)


@final
@dataclass(frozen=True, slots=True)
class Truth:
    """A family of instances with a lower bound on the left side.

    Parameters
    ----------
    id, statement
        Its name, and what is true, in words.
    proof
        Why, in one line.
    source
        Where it stands.
    applies
        '' if the theorem speaks about the family, else why not.
    values
        The symbols on the family as functions of ε → 0 from above and of the step size, the counter included.
    left
        The lower bound as a function of the values.
    instance
        The family in words, for witnesses.
    limit
        Whether ``left`` is true up to a factor that tends to 1; otherwise it holds at every ε of (0, 1/10].
    needs
        What ``left`` needs of the values for small ε: in words, and what must be at most what.
    rates
        With which rates of a theorem's own beside the step, such as the server's, ``left`` is still true: with those
        that the values say, with any that do not depend on ε, or with all.
    """

    id: str
    statement: str
    proof: str
    source: str
    applies: Callable[[Theorem], str]
    values: Callable[[Theorem, sympy.Expr], Values]
    left: Callable[[Values], sympy.Expr]
    instance: str
    limit: bool = True
    needs: Callable[[Values], tuple[Need, ...]] = lambda _: ()
    rates: Literal["said", "constant", "all"] = "said"

    def step(self, theorem: Theorem) -> str:
        """Return the name of the step size."""
        return step_name(theorem.algorithm)


# What the instances meet; one client whose every step counts has no events of the server between its own.
_RUNS = RUN_ASSUMPTIONS - {"iid-events"}
_ANY = {"convex", DETERMINISTIC, "bounded-variance", "bounded-below", "minimiser", "one-function"}
_ANY |= {UNCONSTRAINED, COMPOSITE, "constrained"}  # f alone is an F = f + h, too
_HUBER = _ANY | {"smooth", "lipschitz", "bounded-gradients", "bounded-second-moment", "bounded-heterogeneity"}
_SQUARE = _ANY | {"smooth", "strongly-convex", "bounded-heterogeneity"}
_KINK = _ANY | {"lipschitz"}
# x²/2 on [−1, 1], where B = G = 1.
_ON_SET = _SQUARE | {BOUNDED_DOMAIN, BOUNDED_RUN, "lipschitz", "bounded-gradients", "bounded-second-moment"}
FUNCTIONS = frozenset({"smooth", "strongly-convex", "lipschitz", "convex"})


# Options that a theorem may fix, and the words with which the instances are what they are said to be; () for any word.
_ONE = ("1",)
# Who completes a buffer of one and is answered before works on stale models.
_LOCAL: Mapping[str, tuple[str, ...]] = {"M": _ONE, "count": _ONE, "reply": ("post", "wait"), "eta_g": _ONE}
_WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "gd": {"sampling": (), "M": _ONE, "decay": ("none",)},
    "afl_dga": {"server": ("plain",), "scaling": (), "local_steps": _ONE, "correction_delay": ("0",)},
    "fedbuff": {"staleness": ("constant",), **_LOCAL},
    "fedstaleweight": {"include": (), "scale": (), **_LOCAL},
    "fedcompass": {"normalise": ("false", "no"), "st": ("constant",), "Qmin": _ONE, "Qmax": _ONE},
    "fedfa": {"mode": (), "Q": _ONE, "start": (), "eta_g": _ONE},
    "area": {"start": (), "clock": (), "reply": ()},
}
# Options whose default is another than the instances'.
_OTHERWISE: Mapping[str, frozenset[str]] = {"fedcompass": frozenset({"Qmin", "Qmax"}), "fedfa": frozenset({"K"})}


def _outside(theorem: Theorem, *classes: set[str], runs: frozenset[str] = _RUNS) -> str:
    """Return '' if one of the classes meets all assumptions, else what they do not meet."""
    if not theorem.core.assumed & FUNCTIONS:
        return "the theorem names no class of functions"
    if theorem.assume:
        return f"nobody has shown that the instance meets {', '.join(theorem.assume)}"
    beyond = [set(theorem.core.asked) - functions - runs for functions in classes]
    if set() in beyond:
        return ""
    return f"the instance does not meet: {', '.join(min(sorted(names) for names in beyond))}"


def _about(
    *metrics: str,
    known: Callable[[str], Any] = alone,
    classes: tuple[set[str], ...] = (_HUBER, _SQUARE),
    runs: frozenset[str] = _RUNS,
    noisy: bool = False,
) -> Callable[[Theorem], str]:
    def applies(theorem: Theorem) -> str:
        if theorem.metric not in metrics:
            return f"it is about another left side than {theorem.metric}"
        if known(theorem.algorithm) is None:
            return f"no such instance is known of {theorem.algorithm}"
        if step_name(theorem.algorithm) not in theorem.step or theorem.core.value("decay") not in ("", "none"):
            return "the step is not constant"
        if noisy and theorem.core.noiseless:
            return "it is about full gradients"
        return _strange(theorem) or _outside(theorem, *classes, runs=runs)

    return applies


def _strange(theorem: Theorem) -> str:
    """Return the options of the theorem with which nothing is known of the instances, or ''."""
    words = _WORDS.get(theorem.algorithm, {})
    for option, value in theorem.core.fixed.items():
        if option not in words or (words[option] and value not in words[option]):
            return f"nothing is known of {option}={value}"
    otherwise = sorted(_OTHERWISE.get(theorem.algorithm, frozenset()) - theorem.core.fixed.keys())
    unsaid = [option for option in otherwise if not theorem.core.varies(option)]
    return f"nothing is known of the default of {', '.join(unsaid)}" if unsaid else ""


def _rate(values: Values) -> Any:
    """Return the size of the local steps."""
    return next(value for name, value in values.items() if name in STEPS)


def _small_steps(values: Values) -> tuple[Need, ...]:
    """Return that the step tends to 0, and that the horizon is much longer than one over it."""
    step = _rate(values)
    longer = next(values[name] for name in ("T", "K") if name in values)
    return (
        ("a step that tends to 0", step, sympy.sqrt(sympy.sqrt(SMALL))),
        ("a long run", 1 / step, longer * SMALL ** sympy.Rational(1, 8)),
    )


def _settled(values: Values) -> tuple[Need, ...]:
    """Return that the step is at most 1, and that the horizon is much longer than one over it."""
    step = _rate(values)
    longer = next(values[name] for name in ("T", "K") if name in values)
    return (
        ("a step of at most 1/L", step, sympy.S.One),
        ("a long run", 1 / step, longer * SMALL ** sympy.Rational(1, 8)),
    )


def _started(theorem: Theorem) -> str:
    if theorem.metric == "gradient-norm":
        return "see first-gradient"
    if theorem.first_iteration > theorem.left.first:
        return "it says nothing of the start"
    if not theorem.left.over.averages_iterates:
        return f"{theorem.horizon_symbol} counts from 1 on, and then a step was taken"
    return _outside(theorem, _HUBER, _SQUARE, _KINK, _ON_SET, runs=_RUNS | {"iid-events"})


def _alone(theorem: Theorem, step: sympy.Expr, **values: Any) -> dict[str, Any]:
    return {**(alone(theorem.algorithm) or {}), "R": 1, "F0": _HALF, step_name(theorem.algorithm): step, **values}


def _noisy(theorem: Theorem, step: sympy.Expr) -> Values:
    # Noise ±1 and slopes up to 1; from the minimum.
    late = {"T": SMALL**-3, "K": SMALL**-3}
    return _alone(theorem, step, F0=0, R=0, sigma=1, sigma_l=1, G=sympy.sqrt(2), **late, left=_FLOORS[theorem.metric])


_FLOORS = {"gradient-norm": _HALF, "gradient-norm-last": _HALF, "squared-distance": _HALF, "gap": _HALF / 2}


def _sloped(theorem: Theorem, step: sympy.Expr) -> Values:
    T = SMALL**-3
    return _alone(theorem, step, T=T, F0=step * (T - 1) + _HALF, R=step * (T - 1) + 1)


def _first_value(theorem: Theorem, step: sympy.Expr) -> Values:
    sharp = not _outside(theorem, _KINK, runs=_RUNS | {"iid-events"})
    gap = sympy.S.One if sharp else _HALF
    left = {"squared-distance": sympy.S.One, "gradient-norm-last": sympy.S.One}.get(theorem.metric, gap)
    # A Huber function of slope 1 and |x| have E‖g‖² ≤ 1 without noise.
    known = {**START, **(alone(theorem.algorithm) or {}), "B": 1, "F0": gap, "left": left}
    return {**known, theorem.horizon_symbol: 1, "alpha": step, "diameter": 2}


TRUTHS: tuple[Truth, ...] = (
    Truth(
        "noise-floor",
        "SGD with a constant step keeps a noise floor of first order in the step",
        "x' = (1 − η)x ± η stays in [−1, 1] and E x² → η/(2 − η) ≥ η/2, which is E‖∇f‖² and twice the gap",
        "the stationary variance of an autoregression; Bottou, Curtis and Nocedal (2018), Section 4.2",
        _about("gradient-norm", "gradient-norm-last", "squared-distance", "gap", noisy=True),
        _noisy,
        lambda values: values["left"] * _rate(values),
        "one client, one local step, no delay, f Huber (x²/2 on [−1, 1], slope ≤ 1) from its minimum, noise ±1, "
        "T = ε⁻³, step ε or the theorem's own",
        needs=_settled,
    ),
    Truth(
        "slope",
        "while a function is linear, its gradient does not shrink, however many steps are taken",
        "started η(T−1) beyond where the slope ends, ∇f = 1 at w⁰ … w^(T−1), and f(w⁰) − inf f = η(T−1) + 1/2",
        "Nesterov (2018), Section 1.2.3, is of this order; elementary",
        _about("gradient-norm", classes=(_HUBER,)),
        _sloped,
        lambda _: sympy.S.One,
        "one client, one local step, no delay, no noise, f Huber of slope 1, T = ε⁻³, f(w⁰) − inf f = η(T−1) + 1/2, "
        "step η = ε or the theorem's own",
    ),
    Truth(
        "first-gradient",
        "an average over one version is the gradient at the start",
        "f = x²/2 at 1: ‖∇f(w⁰)‖² = 2L(f(w⁰) − inf f) = 1",
        "elementary",
        _about("gradient-norm"),
        lambda theorem, step: _alone(theorem, step, T=1),
        lambda _: sympy.S.One,
        "one client, T = 1, f Huber (x²/2 on [−1, 1]) at x = 1, no noise, step ε",
        limit=False,
        rates="all",
    ),
    Truth(
        "start",
        "before the first step nothing is gained",
        "f = x²/2 from 1 (or f = |x|, where f need not be smooth): ‖x − x*‖² = 1, ‖∇f‖² = 1, f − f* = 1/2 (or 1)",
        "elementary",
        _started,
        _first_value,
        lambda values: values["left"],
        "one client, x²/2 (or |x|; or x²/2 on [−1, 1]) from x = 1, no noise, the first counted iterate, step ε or the "
        "theorem's own",
        limit=False,
        rates="all",
    ),
    Truth(
        "contraction",
        "gradient descent on a quadratic goes down by 1 − αμ a step and no faster",
        "f = x²/2: x_K = (1 − α)^K",
        "elementary",
        _about("squared-distance"),
        lambda theorem, step: _alone(theorem, step, K=1 / SMALL),
        lambda values: (1 - _rate(values)) ** (2 * values["K"]),
        "one client, no noise, f = x²/2 from x = 1, K = 1/ε, step ε or the theorem's own",
        limit=False,
    ),
    Truth(
        "participation-bias",
        "small steps follow the mixture of the clients that really takes part, not f",
        "f₁, f₂ Huber at 0 and 1, client 1 with 5/6 of the weight: for η → 0, ηT → ∞ the run follows ẋ = −Σωᵢ∇fᵢ to "
        "x = 1/6, where ∇f = 1/6 − 1/2 = −1/3; bounded delays move points by O(η)",
        "Wang et al. (2020), FedNova, Section 3; averaging",
        _about(
            "gradient-norm",
            known=UNEQUAL.get,
            classes=(_HUBER - {"one-function"},),
            runs=_RUNS - {"uniform-buffer", "constant-lag"},
        ),
        lambda theorem, step: {**UNEQUAL[theorem.algorithm], step_name(theorem.algorithm): step, "T": SMALL**-2},
        lambda _: UNEQUAL_SQUARED_GRADIENT,
        "two clients, Huber at 0 and at 1 (slope ≤ 1), no noise, client 2 five times slower (its share is 1/6), "
        "T = ε⁻², step ε or the theorem's own; no term knows how often clients arrive, or none is large enough",
        needs=_small_steps,
        rates="constant",
    ),
    Truth(
        "reused-gradients",
        "a gradient that is used r times is one step of size r·η; for r·η·L ≥ 2 it overshoots for ever",
        "f Huber of slope G from y = r·η·G/2 ≥ G/L: r uses of G lead to −y, and so on; the average of "
        "min(1, ηL|r/2 − a|)²·G² over a < r depends on neither n nor T",
        "elementary; delayed gradient flow beyond its stability limit",
        _about("gradient-norm", known={"afl_dga": reused}.get, classes=(_HUBER,)),
        lambda _, step: {**reused(step, 20, 1 / SMALL), "T": 1 / SMALL},
        lambda _: reused_squared_gradient(20),
        "1/ε identical clients, one local step a round, no noise, each gradient used 20 times, f Huber of slope 1 and "
        "L·η = 1/5, T = 1/ε, step η = ε",
    ),
)
