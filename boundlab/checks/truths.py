"""Hold a right side against known truths: what is certain to happen on simple instances.

Each truth of :mod:`boundlab.checks.truths` is a lower bound on the left side of a family of instances that meets all
assumptions of the theorems it is matched with. A right side below it refutes the theorem.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Literal, final

import sympy

from boundlab.algorithms import Algorithm
from boundlab.assumptions import (
    BOUNDED_DOMAIN,
    BOUNDED_RUN,
    COMPOSITE,
    DETERMINISTIC,
    RUN_ASSUMPTIONS,
    UNCONSTRAINED,
    assumption,
)
from boundlab.checks._check import Check, Decision, View, asked, group
from boundlab.checks.units import implied_claim
from boundlab.errors import UndecidedError
from boundlab.formulas.assignments import of_arrivals
from boundlab.formulas.enclose import enclose
from boundlab.formulas.symbols import SYMBOLS, ZERO_WITHOUT_NOISE, apart, having
from boundlab.formulas.written import leading, substitute, written
from boundlab.metrics import INDEX, range_of
from boundlab.registry import find
from boundlab.signs import vanishes
from boundlab.theorems import Theorem

# Values of an algorithm's symbols in the simplest runs: the instances on which known truths are stated.
#
# Symbols that a theorem does not read are ignored; one that it reads and no instance gives makes the truth not
# applicable.

Values = Mapping[str, Any]

SMALL = apart("ε", positive=True)
# What the size of local steps is called.
STEPS = frozenset(name for name in having("step") if SYMBOLS[name].is_step_size)
_HALF = sympy.Rational(1, 2)
# Full gradients of functions whose slope and curvature are at most 1.
_FUNCTIONS: Values = {
    **dict.fromkeys(ZERO_WITHOUT_NOISE, 0),
    **dict.fromkeys((*assumption("smooth").defines, *assumption("bounded-gradients").defines), 1),
}
# One client, one local step, no delay and no noise, where the server's model does gradient descent on x²/2 in [−1, 1],
# whose constants are 1; what else an algorithm counts there it says.
ALONE: Values = {
    **{name: info.alone for name, info in SYMBOLS.items() if info.alone is not None and not info.vector},
    **_FUNCTIONS,
    "mu": 1,
}
# One client whose updates never wait for long: enough for what is said of the first iterate.
START: Values = {**ALONE, **of_arrivals([_HALF], _HALF), "R": 1, "beta": _HALF}

# Two clients, huber at 0 and at 1 with slope at most 1; client 1 has five times the weight of client 2.
_UNEQUAL: Values = {
    **_FUNCTIONS,
    **dict.fromkeys(assumption("bounded-heterogeneity").defines, _HALF),
    "n": 2,
    "Q": 1,
    "eta_g": 1,
    "F0": 1,
    "tau_max": 12,
    "tau_a": 12,
    "share_bias": sympy.Rational(2, 3),
}
UNEQUAL: Mapping[str, Values] = MappingProxyType(
    {
        # One arrival group: client 1 does five local steps while client 2 does one; W = ½(5 + 1).
        "fedcompass": {
            **_UNEQUAL,
            "Qmin": 1,
            "Qmax": 5,
            "speed_ratio": 5,
            "mu_step": 5,
            "N": 1,
            "A_max": 3,
            "W_min": 3,
            "W_max": 3,
            "V_max": sympy.Rational(3, 2),
            "Q_mean": 3,
            "Q_bias": sympy.Rational(2, 3),
        },
        # Arrivals 1,1,1,1,1,2 again and again.
        "fedfa": {**_UNEQUAL, "window": 2, "N": 6},
        # Each update aggregates one arrival, which is client 1's with probability 5/6.
        **{
            name: {
                **_UNEQUAL,
                "b": 1,
                "scale": 1,
                "chi2": sympy.Rational(4, 9),
                "chi2_path": 1,
                "alpha2": 1,
                "pi_max": sympy.Rational(5, 6),
            }
            for name in ("fedbuff", "fedstaleweight")
        },
    }
)
UNEQUAL_SQUARED_GRADIENT = sympy.Rational(1, 9)


@cache
def _algorithm(name: str) -> Algorithm[Any] | None:
    found: Algorithm[Any] | None = find("algorithms", name)
    return found


def alone(name: str) -> Values | None:
    """Return an algorithm's symbols for one client, one local step and no delay; None where they are not known."""
    algorithm = _algorithm(name)
    own = None if algorithm is None else algorithm.single_client_values
    return None if own is None else {**ALONE, **own}


def step_name(name: str) -> str:
    """Return the option that is the size of an algorithm's local steps."""
    algorithm = _algorithm(name)
    return "alpha" if algorithm is None else algorithm.step_size_symbols[0]


def reused(step: sympy.Expr, times: int, clients: sympy.Expr) -> dict[str, Any]:
    """Return afl_dga's symbols when each of identical clients' gradients is used that often, L·step = 1/5, G = 1."""
    age = sympy.Rational(times - 1, 2)
    smooth = sympy.Rational(1, 5) / step
    return {
        "n": clients,
        "L": smooth,
        "G": 1,
        "sigma": 0,
        "eta": step,
        "K_m": 1,
        "D_m": 0,
        "t_d": times,
        "M_own": 0,
        "S": times - 1,
        "Q_age": times - 1,
        "SM2": sympy.Rational((times - 1) * (2 * times - 1), 6),
        "reuse": age,
        "reuse_n": age / sympy.sqrt(clients),
        "tau_sum": clients * sympy.Rational(3 * times - 1, 2),
        # Huber of slope 1 and curvature L at y = times·step/2: the orbit goes from y to −y in one block.
        "F0": times * step / 2 - 1 / (2 * smooth),
    }


def reused_squared_gradient(times: int) -> sympy.Expr:
    """Return the average squared gradient over that orbit, for L·step = 1/5 and G = 1."""
    parts = (min(sympy.S.One, abs(sympy.Rational(times, 2) - used) / 5) ** 2 for used in range(times))
    return sympy.Add(*parts) / times


# The library of known truths, each with its source and its proof in one line.

Need = tuple[str, sympy.Expr, sympy.Expr]


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
    beyond = [{one.id for one in theorem.core.asked} - functions - runs for functions in classes]
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


def _long_run(words: str, size: sympy.Expr) -> Callable[[Values], tuple[Need, ...]]:
    """Return what asks for a step of at most this size, and for a horizon that is much longer than one over it."""

    def needs(values: Values) -> tuple[Need, ...]:
        step, horizon = _rate(values), next(values[name] for name in ("T", "K") if name in values)
        return (words, step, size), ("a long run", 1 / step, horizon * SMALL ** sympy.Rational(1, 8))

    return needs


def _started(theorem: Theorem) -> str:
    if theorem.metric == "gradient-norm":
        return "see first-gradient"
    if theorem.first_iteration > theorem.left.first:
        return "it says nothing of the start"
    if not theorem.left.over.averages_iterates:
        return f"{theorem.horizon_symbol} counts from 1 on, and then a step was taken"
    if not _of_the_start(theorem):
        return f"at {theorem.horizon_symbol} = 1 the left side looks at other models than the start"
    return _outside(theorem, _HUBER, _SQUARE, _KINK, _ON_SET, runs=_RUNS | {"iid-events"})


def _of_the_start(theorem: Theorem) -> bool:
    """Return whether an average at the horizon 1 is the start; of other ranges and weights it may be the next model."""
    over = range_of(theorem.left)
    if over is None:
        return True
    begin, end, *weights = (each.subs({over.horizon: 1, INDEX[over.counter]: 0}) for each in over.formulas)
    return begin == end == 0 and 0 not in weights


def _alone(theorem: Theorem, step: sympy.Expr, **values: Any) -> dict[str, Any]:
    return {**(alone(theorem.algorithm) or {}), "R": 1, "F0": _HALF, step_name(theorem.algorithm): step, **values}


def _noisy(theorem: Theorem, step: sympy.Expr) -> Values:
    # Noise ±1 and slopes up to 1; from the minimum.
    late = {"T": SMALL**-3, "K": SMALL**-3}
    noise = dict.fromkeys(ZERO_WITHOUT_NOISE, 1)
    return _alone(theorem, step, F0=0, R=0, **noise, G=sympy.sqrt(2), **late, left=_FLOORS[theorem.metric])


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
        needs=_long_run("a step of at most 1/L", sympy.S.One),
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
        needs=_long_run("a step that tends to 0", sympy.sqrt(sympy.sqrt(SMALL))),
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


_TRIED = tuple(sympy.Rational(1, 10) ** power for power in (1, 2, 3))
_WIDER = (sympy.Integer(2), sympy.Integer(10))
# What an assumption on the functions or on their noise names, "at most" or "at least": a problem meets it with every
# worse constant, too. What is about the minimiser, and what is read off a schedule, is what it is.
_NAMED = having("function", "noise", "heterogeneity") - {*assumption("minimiser").defines}


@group("truths", "the right side is above what is known to happen")
def checks(view: View) -> Iterator[Check]:
    """Hold the theorem, and what it implies by scaling, against every truth about its algorithm."""
    implied = implied_claim(view)
    for truth in TRUTHS:
        yield asked(f"truths.{truth.id}", truth.statement, partial(_held, view, truth, implied))


def _held(view: View, truth: Truth, implied: tuple[View, Decision] | None) -> Decision:
    reason = truth.applies(view.theorem) or _redefined(view, truth)
    if not reason and not view.formula:
        reason = "the bound is iterated, not a formula"
    if reason:
        return Decision("not applicable", reason)
    own = hold(view, truth)
    if own.verdict == "failed" or implied is None or not implied[0].terms:
        return own
    smaller, how = implied
    further = hold(smaller, truth)
    return further._replace(witness=f"{how.witness}. Then {further.witness}") if further.verdict == "failed" else own


def hold(view: View, truth: Truth) -> Decision:
    """Compare the right side of a claim with one truth, at the instance's own constants and at worse ones.

    A problem that has a constant of at most L has one of at most 2·L, too: the claim for the wider class is about it.
    """
    own = _hold(view, truth, {})
    if own.verdict in ("failed", "not applicable"):
        return own
    for wider in _wider(view):
        found = _hold(view, truth, wider)
        if found.verdict == "failed":
            shown = ", ".join(f"{name} times {by}" for name, by in wider.items())
            return found._replace(witness=f"with the worse constants {shown}: {found.witness}")
    return own


def _redefined(view: View, truth: Truth) -> str:
    """Return which constants of the instance the theorem gives another meaning, or ''."""
    theorem = view.theorem
    own = set(theorem.definitions) - set(theorem.settable)
    names = sorted(own & set(truth.values(theorem, SMALL)))
    return f"the theorem defines {', '.join(names)} itself" if names else ""


def _hold(view: View, truth: Truth, wider: Mapping[str, sympy.Expr]) -> Decision:
    try:
        values = values_of(view, truth, wider)
        barred = _other_rate(view, truth, values) or _not_spoken_of(view, truth, values)
        return Decision("not applicable", barred) if barred else _compare(view, truth, values)
    except UndecidedError as error:
        reason = str(error)
        silent = "infinite" in reason or "no value there" in reason or reason.startswith("no value for")
        return Decision("not applicable" if silent else "unknown", reason)


def _wider(view: View) -> Iterator[dict[str, sympy.Expr]]:
    """Yield what constants are multiplied with, or are where the instance has 0: one at a time, then all together."""
    names = [name for name in view.inputs if name in _NAMED and name not in view.at_lowest]
    for factor in _WIDER:
        each = {name: 1 / factor if view.symbols[name].side == "lower" else factor for name in names}
        yield from ({name: by} for name, by in each.items())
        if len(each) > 1:
            yield each


def values_of(view: View, truth: Truth, wider: Mapping[str, sympy.Expr] = MappingProxyType({})) -> dict[str, Any]:
    """Return the symbols on the truth's family, the theorem's own step included where it allows no other.

    Parameters
    ----------
    wider
        What constants are multiplied with; where the instance has 0 of one, it is this.
    """
    fixed = [name for name in view.theorem.step if name not in view.free_steps]
    step = truth.step(view.theorem)

    def family(size: sympy.Expr) -> dict[str, Any]:
        values = dict(truth.values(view.theorem, size))
        return values | {name: values[name] * by or by for name, by in wider.items() if name in values}

    values = family(SMALL)
    if step in fixed:
        own_step = view.at(view.symbol(step), _without(values, fixed))
        values = family(own_step)
        if not _same(view.at(view.symbol(step), _without(values, fixed)), own_step):
            raise UndecidedError("the instance depends on the step, and the theorem's step on the instance")
    own = {step: values[step]} if step in values else {}
    return _without(values, fixed) | own


def _without(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _same(one: sympy.Expr, other: sympy.Expr) -> bool:
    return bool(one == other) or vanishes(one - other)


def _other_rate(view: View, truth: Truth, values: Mapping[str, Any]) -> str:
    """Return which rate beside the step, such as the server's, is another in the theorem than in the family, or ''."""
    family = truth.values(view.theorem, SMALL)
    fixed = {*view.theorem.step} - {*view.free_steps, truth.step(view.theorem)} if truth.rates != "all" else set()
    for name in sorted(fixed & {*family}):
        own = view.at(view.symbol(name), values)
        if not (_same(own, family[name]) or (truth.rates == "constant" and not own.has(SMALL))):
            return f"the theorem's own {name} is not {family[name]}"
    return ""


def _demands(view: View, truth: Truth, values: Mapping[str, Any]) -> Iterator[tuple[str, sympy.Expr, sympy.Expr, bool]]:
    """Yield what must be at most what, strictly below it or not, and what follows if it is not.

    By the theorem's conditions and by the truth.
    """
    for condition in view.conditions:
        quantity, limit = view.at(condition.quantity, values), view.at(condition.limit, values)
        yield f"{condition.statement} excludes the instance", quantity, limit, condition.strict
    for words, left, right in truth.needs(values):
        yield f"the instance needs {words}", sympy.sympify(left), sympy.sympify(right), False


def _not_spoken_of(view: View, truth: Truth, values: Mapping[str, Any]) -> str:
    """Return the demand that the family does not meet for small e, or ''.

    Raises
    ------
    UndecidedError
        If that is not decided.
    """
    unmet = (
        words
        for words, left, right, strict in _demands(view, truth, values)
        if not _at_most(left, right) or (strict and _same(left, right))
    )
    return next(unmet, "")


def _inside(view: View, truth: Truth, values: Mapping[str, Any], number: sympy.Rational) -> bool:
    """Return whether the member at e = number surely meets all demands: it may be too large for them."""

    def fits(left: sympy.Expr, right: sympy.Expr, strict: bool) -> bool:
        if _same(left, right):
            return not strict
        high = enclose(substitute(left - right, {SMALL: number}))[1]
        return bool(high < 0 if strict else high <= 0)

    return all(fits(left, right, strict) for _, left, right, strict in _demands(view, truth, values))


def _at_most(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Return whether left ≤ right for all small e."""
    left, right = sympy.sympify(left), sympy.sympify(right)
    a, p = leading(left, SMALL)
    b, q = leading(right, SMALL)
    if p != q:
        # The one that tends to 0 faster, or to ∞ more slowly, does not matter.
        return _negative(a) if p < q else not _negative(b)
    if p == sympy.oo:
        if left == right:
            return True
        raise UndecidedError("two sides that fall below every power")
    low, high = enclose(a - b)
    if high < 0 or low > 0:
        return high < 0
    gap, _ = leading(left - right, SMALL)
    return gap == 0 or _negative(gap)


def _negative(number: sympy.Expr) -> bool:
    """Return whether a number is < 0, or raise UndecidedError if that is not clear; 0 is not."""
    low, high = enclose(number)
    if low < 0 <= high and number != 0:
        raise UndecidedError("a sign is not decided")
    return high < 0


def _compare(view: View, truth: Truth, values: Mapping[str, Any]) -> Decision:
    right, left = view.total(values), sympy.sympify(truth.left(values))
    a, p = leading(right, SMALL)
    b, q = leading(left, SMALL)
    shown = f"right side ~ {_lead(a, p)}, left side ≥ ~ {_lead(b, q)} as ε → 0"
    why = f"Why: {truth.proof} ({truth.source})"
    if q != sympy.oo and enclose(b)[0] > 0:
        words = ""
        if p > q:
            words = "their quotient tends to 0: no constant helps"
        elif p == q and not view.theorem.shape and enclose(a - b)[1] < 0:
            words = f"their quotient tends to {sympy.N(a / b, 3)}"
        elif p < q and enclose(a)[1] < 0:
            words = "the right side is negative"
        if words:
            latex = f"{_latex(a, p)} < {_latex(b, q)}"
            text = f"{truth.instance}: {shown}; {words}. {why}"
            return Decision("failed", text, "claim false", latex)
    if not truth.limit and not view.theorem.shape:
        for number in _TRIED:
            below = enclose(substitute(right - left, {SMALL: number}))[1] < 0
            if below and _inside(view, truth, values, number):
                witness = f"{truth.instance}, ε = {number}: the right side is below the left. {why}"
                return Decision("failed", witness, "claim false")
    return Decision("passed", shown)


def _lead(coefficient: sympy.Expr, power: sympy.Expr) -> str:
    return "0" if power == sympy.oo else written(coefficient * SMALL**power)


def _latex(coefficient: sympy.Expr, power: sympy.Expr) -> str:
    return "0" if power == sympy.oo else sympy.latex(coefficient * SMALL**power, symbol_names={SMALL: r"\varepsilon"})
