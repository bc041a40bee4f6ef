"""How a theorem is evaluated: what it needs, what follows from that, and what is refused."""

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, Literal, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab import assumptions as known_assumptions
from boundlab.algorithms import VARIABLES, Algorithm, Draw, StepRule, undeclared_draws
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import AssumptionError, InfiniteError, SilentError, SpecError, SymbolError
from boundlab.formulas.defined import Demand, broken, looked_at
from boundlab.formulas.enclose import Number, at_most
from boundlab.formulas.floats import evaluate, evaluate as evaluate_expression
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SymbolInfo, check, having, names_of
from boundlab.options import Options, nearest
from boundlab.randomness import Floats
from boundlab.registry import find, lookup
from boundlab.theorems._bound import Condition, Evaluation
from boundlab.theorems._statement import ANY, EACH, MEAN, OTHERS, Statement, expanded, once

# The options of a statement's algorithm, each with how the statement reads it: elaborated here and nowhere else.

Of = Literal["fixed", "default", "open", "symbol", "step", "unused"]
_RATES: Final = ("alpha", "c", "d")  # how a step size may be given: one of these ways
_UNSAID: Final = ("M", "M")  # what a statement has where it gives no parameters


@final
@dataclass(frozen=True, slots=True)
class Option:
    """An option of the algorithm.

    Parameters
    ----------
    id
        Its name.
    how
        ``fixed``: the value is the proof's. ``default``: the documented one. ``open``: any value. ``symbol``: any
        value, which formulas read. ``step``: what the statement sets. ``unused``: another form of the step.
    value
        The fixed value, or the default where the algorithm has one; else empty.
    symbol
        The symbol as which formulas read it; empty where none does.
    """

    id: str
    how: Of
    value: str = ""
    symbol: str = ""

    @property
    def varies(self) -> bool:
        """True if the statement is about any value of the option."""
        return self.how in ("open", "symbol", "step")


def elaborated_options(theorem: Statement, algorithm: Algorithm[Any]) -> tuple[Option, ...]:
    """Return every option of the algorithm, in its order.

    Raises
    ------
    SpecError
        If the statement names an option that the algorithm does not have, or one twice.
    """
    parts = (("step", theorem.step), ("option", theorem.options), ("parameter", theorem.parameters))
    strange = "; ".join(
        f"{noun} {name} is no parameter of {algorithm.id}; {nearest(name, algorithm.parameters)}"
        for noun, names in parts
        for name, said in names.items()
        if name not in algorithm.parameters and name != OTHERS and (name, said) != _UNSAID
    )
    if strange:
        raise SpecError(f"{theorem.id}: {strange}")
    if twice := sorted(theorem.step.keys() & theorem.options.keys()):
        raise SpecError(f"{theorem.id}: {', '.join(twice)} stands under step and under options; leave one of them out")
    return tuple(_options(theorem, algorithm))


def _options(theorem: Statement, algorithm: Algorithm[Any]) -> Iterator[Option]:
    read = theorem.read
    for name in algorithm.parameters:
        symbol = theorem.parameters.get(name, "")
        symbol = symbol if symbol in read else ""
        said = theorem.options.get(name)
        if name in theorem.step:
            yield Option(name, "step")
        elif theorem.rule is not None and name == algorithm.rule:
            yield Option(name, "fixed", StepRule(theorem.rule))
        elif said is not None and said != ANY:
            yield Option(name, "fixed", said, symbol)
        elif name in _RATES and set(_RATES) & set(theorem.step):
            yield Option(name, "unused")
        elif symbol:
            yield Option(name, "symbol", symbol=symbol)
        elif ANY in (said, theorem.options.get(OTHERS)):
            yield Option(name, "open")
        else:
            yield Option(name, "default", algorithm.defaults.get(name, ""))


def rule_of(theorem: Statement) -> dict[str, str]:
    """Return the option that multiplies the step in each iteration, and what it is; nothing where the step is constant.

    Nothing, too, where the statement leaves the option open.
    """
    known = find("algorithms", theorem.algorithm)
    if known is None or not known.rule:
        return {}
    said = StepRule(theorem.rule) if theorem.rule is not None else theorem.options.get(known.rule, ANY).strip()
    return {} if said in (ANY, known.defaults[known.rule]) else {known.rule: said}


def step_at(theorem: Statement) -> sympy.Expr | str | None:
    """Return the step of each iteration as a formula, or the algorithm's word for its factor; see :func:`rule_of`."""
    for name, said in rule_of(theorem).items():
        if not isinstance(said, StepRule) and said.isidentifier():
            return said
        return theorem.step["alpha"] * (said.formula if isinstance(said, StepRule) else parse(said, VARIABLES, name))
    return None


# Conditions of theorems at numbers: up to rounding for who looks at a formula, without any for who compares.

# Two sides that are equal may differ by their last digits: so far, who only looks at a formula may go.
ROUNDED: Final = 1e-12
# Sides that are further apart are told from each other by floats.
_APART: Final = 1e-9
# How far a rounded step may lie beyond a condition that its formula meets: a few roundings.
_ULPS: Final = 3


def at_lowest(conditions: Iterable[Condition], symbols: Mapping[str, SymbolInfo]) -> frozenset[str]:
    """Return the symbols that a condition holds at the lower end of their domain: σ ≤ 0, τ_max ≤ 0, K_m ≤ 1."""
    numbers = [
        (one.quantity.name, one.limit)
        for one in conditions
        if one.quantity.is_Symbol and one.limit.is_number and not one.strict
    ]
    return frozenset(name for name, limit in numbers if float(limit) <= symbols[name].domain.low)


def require(
    theorem: Statement, condition: Condition, found: Mapping[str, Floats], base: Collection[str], *, exactly: bool
) -> None:
    """Make sure that a condition is met everywhere on a grid.

    Parameters
    ----------
    found
        Values of all symbols, broadcastable with each other.
    base
        Those that were given; the others follow from their definitions.
    exactly
        Whether the numbers are taken as the fractions that they are; a condition that is not decided is not met.

    Raises
    ------
    AssumptionError
        If it is not met; a :class:`boundlab.errors.SilentError` if another number of iterations may meet it.
    """
    what = f"{theorem.id}, {condition.statement}"
    sides = np.broadcast_arrays(*(evaluate(one, found, what) for one in (condition.quantity, condition.limit)))
    left, right = (np.atleast_1d(side) for side in sides)
    broken = ~condition.meets(left, right * (1 + ROUNDED))
    if exactly or condition.strict:  # equality up to rounding would meet what equality does not meet
        with np.errstate(invalid="ignore"):
            near = np.abs(left - right) <= _APART * np.maximum(np.abs(left), np.abs(right))
        near |= np.isinf(left) | np.isinf(right)  # beyond floating point
        for place in map(tuple, np.argwhere(near).tolist()):
            here = at_place(theorem, _read(theorem, condition) & set(base), found, left.shape, place)
            values = fractions(theorem, _sides(condition), here, base)
            broken[place] = not met(theorem, condition, values)
    if broken.any():
        a, b = left[broken].flat[0], right[broken].flat[0]
        silent = theorem.horizon_symbol in _read(theorem, condition)
        raise (SilentError if silent else AssumptionError)(
            f"{theorem.id} needs {condition.statement}, got {_unequal(a, b, condition.strict)}"
        )


def met(theorem: Statement, condition: Condition, values: Mapping[str, Number]) -> bool:
    """Return whether a condition is certainly met at numbers by symbol; the rest follows from the definitions."""
    left, right, rules = condition.quantity, condition.limit, theorem.defining()
    if condition.strict:
        return at_most(right, left, rules, values) is False
    return at_most(left, right, rules, values) is True


def _sides(condition: Condition) -> frozenset[str]:
    return names_of(condition.quantity) | names_of(condition.limit)


def _read(theorem: Statement, condition: Condition) -> frozenset[str]:
    return theorem.read_by(_sides(condition))


def at_place(
    theorem: Statement, names: Collection[str], found: Mapping[str, Floats], shape: tuple[int, ...], place: Any
) -> dict[str, Floats]:
    """Return the values of symbols at one place of a grid; vectors are the same everywhere."""
    return {
        name: found[name] if theorem.symbols[name].vector else np.asarray(np.broadcast_to(found[name], shape)[place])
        for name in names
    }


def fractions(
    theorem: Statement, names: Collection[str], at: Mapping[str, Floats], base: Collection[str]
) -> dict[str, Number]:
    """Return what was given of symbols, and of those that define them, as the fractions that the floats are."""
    read = [name for name in theorem.read_by(names) if name in base]
    return {name: as_fractions(at[name]) for name in read if np.isfinite(at[name]).all()}


def as_fractions(value: Any) -> Number:
    """Return the fraction that a float is, or those of a vector."""
    return tuple(map(Fraction, np.asarray(value).tolist())) if np.ndim(value) else Fraction(float(value))


def _unequal(a: float, b: float, strict: bool) -> str:
    """Return ``a > b`` with as many digits as tell them apart, or that both are equal."""
    if a == b:
        return f"{a:.6g} on both sides" + ("" if strict else ", up to rounding")
    short = f"{a:.6g} > {b:.6g}"
    if f"{a:.6g}" != f"{b:.6g}":
        return short
    return f"{a:.17g} > {b:.17g}" if a > b else f"{a:.17g}, larger by less than rounding"


def admissible(theorem: Statement, known: Mapping[str, Any], options: Mapping[str, float]) -> dict[str, float]:
    """Return step sizes that meet the conditions as the fractions that they are, or the same ones if none is near.

    A step that a formula gives is rounded, maybe beyond a condition that the formula just meets: 1/49 is above the
    49th part of 1. The nearest number of floating point that meets all conditions is the step of the run.

    Parameters
    ----------
    known
        Numbers by symbol; where a condition reads another one, nothing is changed.
    options
        Step sizes by name.
    """
    free = [name for name in options if name in theorem.settable or name not in theorem.defining()]
    absent = theorem.bound.gone(frozenset((*known, *options)))
    about = [one for one in theorem.conditions if _read(theorem, one) & set(free) and not _read(theorem, one) & absent]
    if not about:
        return dict(options)
    read = frozenset().union(*(_read(theorem, one) for one in about))
    sized = {
        name: np.asarray(value, dtype=np.float64)[() if theorem.symbols[name].vector else (0,) * np.ndim(value)]
        for name, value in known.items()
        if name in read and (np.size(value) == 1 or theorem.symbols[name].vector)
    }
    values = {name: as_fractions(value) for name, value in sized.items() if np.isfinite(value).all()}
    for moves in sorted(
        itertools.product(range(-_ULPS, _ULPS + 1), repeat=len(free)), key=lambda by: sum(map(abs, by))
    ):
        moved = {name: _moved(options[name], by) for name, by in zip(free, moves, strict=True)}
        exact = values | {name: Fraction(value) for name, value in moved.items()}
        # A step at the end of a strict condition is not moved to where it would be met.
        if all(met(theorem, replace(one, strict=False), exact) for one in about):
            return {**options, **moved}
    return dict(options)


def _moved(value: float, by: int) -> float:
    for _ in range(abs(by)):
        value = math.nextafter(value, math.inf if by > 0 else 0.0)
    return value


# Domain of a theorem's formulas: whether they have values at given numbers; what is not defined is never met.

_TOO_NEAR = 1e-9  # Sums that are smaller than that, by their summands, may be 0.
_TINY = 5e-324  # what floating point loses is not 0
_SHOWN = 4


def require_defined(
    theorem: Statement, what: str, formula: sympy.Expr, found: Mapping[str, Floats], base: Collection[str]
) -> None:
    """Make sure that a formula, as it is written, has a value everywhere on a grid.

    Parameters
    ----------
    what
        What the formula is, for the message.
    found
        Values of all symbols, broadcastable with each other.
    base
        Those that were given; the others follow from their definitions.

    Raises
    ------
    AssumptionError
        If it has none; a :class:`boundlab.errors.SilentError` if it may at another number of iterations.
    """
    needed = theorem.demands(formula)
    if not needed:
        return
    with np.errstate(all="ignore"):
        doubts = [_doubtful(one, found) for one in looked_at(needed)]
    if not any(one.any() for one in doubts):
        return
    names = [one for one in theorem.read_by(theorem.reads(formula)) if one in found]
    shape = np.broadcast_shapes((1,), *(found[name].shape for name in names if not theorem.symbols[name].vector))
    doubt = np.logical_or.reduce(np.broadcast_arrays(np.zeros(shape, dtype=bool), *doubts))
    for place in map(tuple, np.argwhere(doubt).tolist()):
        here = at_place(theorem, names, found, shape, place)

        def value(of: sympy.Expr, at: Mapping[str, Floats] = here) -> float:
            number = float(evaluate(of, at, theorem.id))
            # Floats are not told from 0: the fractions that they are may be.
            zero = _vanishes(of, at) and _is_zero(theorem, of, at, base)
            return 0.0 if zero else number or _TINY

        if (unmet := broken(needed, value)) is not None:
            raise _undefined(theorem, what, unmet, here, base)


def _doubtful(one: Demand, found: Mapping[str, Floats]) -> NDArray[np.bool_]:
    doubt = np.asarray(_vanishes(one.of, found))
    if one.kind == "power":
        return doubt
    value = evaluate(one.of, found, "")
    return doubt | ~(value > 0 if one.kind == "log" else value >= 0)


def _vanishes(of: sympy.Expr, found: Mapping[str, Floats]) -> NDArray[np.bool_]:
    """Return where an expression is 0 up to rounding: a sum by its summands, a product by its factors."""
    if of.is_Mul:
        parts = np.broadcast_arrays(*(_vanishes(one, found) for one in of.args))
        return np.asarray(np.logical_or.reduce(parts), dtype=bool)
    if of.is_Pow and of.exp.is_positive:
        return _vanishes(of.base, found)
    value = evaluate(of, found, "")
    if of.is_Add:
        return np.asarray(np.abs(value) <= _TOO_NEAR * sum(np.abs(evaluate(one, found, "")) for one in of.args))
    return np.asarray(np.abs(value) <= (0.0 if of.is_Symbol or of.is_number else _TOO_NEAR))


def _is_zero(theorem: Statement, of: sympy.Expr, at: Mapping[str, Floats], base: Collection[str]) -> bool:
    values = fractions(theorem, names_of(of), at, base)
    sides = ((of, sympy.S.Zero), (sympy.S.Zero, of))
    return all(at_most(left, right, theorem.defining(), values) is True for left, right in sides)


def _undefined(
    theorem: Statement, what: str, one: Demand, at: Mapping[str, Floats], base: Collection[str]
) -> AssumptionError:
    own = names_of(one.of)
    read = sorted(name for name in theorem.read_by(own) if name in base and np.ndim(at.get(name, [0])) == 0)
    zero = [name for name in read if at[name] == 0] if one.kind == "power" else []
    numbers = ", ".join(f"{name} = {float(at[name]):.6g}" for name in (zero or read)[:_SHOWN])
    advice = "; multiply it out" if one.kind == "power" else ""
    if len(zero) == 1 and theorem.symbols[zero[0]].domain.integer:
        advice = f"; say 1 <= {zero[0]} or multiply it out"
    silent = theorem.horizon_symbol in theorem.read_by(own)
    part = "" if one.text in own else f", {one.text},"
    return (SilentError if silent else AssumptionError)(f"{theorem.id}: {what} {one.fails}{part} at {numbers}{advice}")


def missing(theorem: Statement, names: Sequence[str], known: Mapping[str, Any]) -> SymbolError:
    """Return the error for symbols that have no value: what they are, and of several all at once."""
    if len(names) > 1:
        asked = dict.fromkeys("p" if {"p", "qbar"} & {*names} and one in expanded("p") else one for one in names)
        lists = {"p", *(one for one in names if theorem.symbols[one].vector)}
        paste = ", ".join(f"{one}={'[…]' if one in lists else '…'}" for one in asked)
        return SymbolError(f"{theorem.id} needs {len(asked)} more values: {paste}; boundlab show says what they are")
    (name,) = names
    if name in ("K", "T") and name != (counted := theorem.horizon_symbol):
        return SymbolError(f"{theorem.id} reads {name}, and its left side counts {counted}; write {counted}")
    wrong = [other for other in known if other not in theorem.inputs(known)]
    close = nearest(name, wrong) if wrong else ""
    hint = f"; {close}" if close.startswith("did") and "p" not in known else ""
    return SymbolError(f"{theorem.id} needs {name}: {theorem.symbols[name].describe()}; set {name}=…{hint}")


def derive(theorem: Statement, known: Mapping[str, Any], goals: Iterable[str] | None, first: int) -> dict[str, Floats]:
    """Check the base symbols and compute the defined ones (those that ``goals`` need, or all)."""
    base, order = theorem.needs(frozenset(known))
    defining = theorem.defining()
    if goals is not None:
        wanted = theorem.read_by(goals, known)
        base, order = (tuple(name for name in part if name in wanted) for part in (base, order))
    found: dict[str, Floats] = {}
    if lacking := [name for name in theorem.inputs(known) if name in base and name not in known]:
        raise missing(theorem, lacking, known)
    for name in base:
        if name == theorem.horizon_symbol and first == 0:
            found[name] = np.asarray(known[name], dtype=np.float64)
            if (found[name] < 0).any():
                raise SymbolError(f"iterations must be ≥ 0, got {found[name].min():g}")
        else:
            found[name] = check(name, known[name], theorem.symbols)
        if theorem.symbols[name].vector and np.ndim(known.get("n", [])) == 0 and len(found[name]) != known["n"]:
            raise SymbolError(f"{name} has {len(found[name])} numbers, and there are n = {float(known['n']):g} clients")
    for name in order:
        what = f"the step {name}" if name in theorem.step else f"the definition of {name}"
        require_defined(theorem, what, defining[name], found, base)
        found[name] = evaluate_expression(defining[name], found, f"{theorem.id}, {name}")
    return found


def evaluated(theorem: Statement, known: Mapping[str, Any], first: int, *, exactly: bool) -> Evaluation:
    """Evaluate the bound after checking its conditions.

    Parameters
    ----------
    exactly
        Whether the conditions are checked at the very numbers, as a comparison needs it; else up to rounding.

    Raises
    ------
    SymbolError, AssumptionError
        As :meth:`Theorem.evaluate`.
    """
    found = derive(theorem, known, None, first)
    base, order = theorem.needs(frozenset(known))
    absent = theorem.bound.gone(frozenset(known))
    for condition in theorem.conditions:
        if not (names_of(condition.quantity) | names_of(condition.limit)) & absent:
            for side in (condition.quantity, condition.limit):
                require_defined(theorem, f"the condition {condition.statement}", side, found, base)
            require(theorem, condition, found, base, exactly=exactly)
    for name, term in theorem.bound.terms.items():
        require_defined(theorem, f"the term {name}", term, found, base)
    terms = {
        name: _sound(theorem, words, value, found)
        for name, words, value in theorem.bound.terms_at(found, theorem.symbols, theorem.horizon_symbol, theorem.id)
    }
    shapes = [found[name].shape for name in base if not theorem.symbols[name].vector]
    shape = np.broadcast_shapes(*shapes, *(term.shape for term in terms.values()))
    full = {name: np.broadcast_to(term, shape) for name, term in terms.items()}
    total = np.asarray(sum(full.values(), start=np.zeros(shape)))
    _sound(theorem, "the sum of the terms", total, found)
    derived = {name: found[name] for name in order}
    return Evaluation(total, MappingProxyType(full), MappingProxyType(derived), theorem.kind)


def _sound(theorem: Statement, what: str, value: Floats, found: Mapping[str, Floats]) -> Floats:
    wrong = ~np.isfinite(value)
    if not wrong.any():
        return value
    shown = {
        name: array
        for name, array in found.items()
        if name not in theorem.defining() and not theorem.symbols[name].vector
    }
    # Symbols that the term does not read may have more numbers than it has.
    shape = np.broadcast_shapes(value.shape, *(array.shape for array in shown.values()))
    place = np.unravel_index(int(np.argmax(np.broadcast_to(wrong, shape))), shape)
    kind = "not a number" if np.isnan(np.broadcast_to(value, shape)[place]) else "infinite"
    parts = (f"{name}={float(np.broadcast_to(array, shape)[place]):g}" for name, array in shown.items())
    raise InfiniteError(f"{theorem.id}: {what} is {kind} at {', '.join(parts)}")


# Randomness that the mean of a statement is over, source by source: read here and nowhere else.

How = Literal["averaged", "given", "absent"]
EVENTS: Final = "events"
_EVENTS: Final = "who arrives when"
_NOISE: Final = (("noise", "the noise of gradients"), ("batches", "the batches that gradients are taken on"))


@final
@dataclass(frozen=True, slots=True)
class RandomSource:
    """A source of randomness.

    Parameters
    ----------
    id
        ``events``, ``noise``, ``batches``, or that of a :class:`boundlab.algorithms.Draw`.
    words
        What is random.
    how
        ``averaged``: the left side is the mean over it. ``given``: the claim holds for each outcome. ``absent``: no
        run that the statement is about has it.
    """

    id: str
    words: str
    how: How


@final
@dataclass(frozen=True, slots=True)
class MeanOver:
    """Randomness that the mean of a statement is over.

    Parameters
    ----------
    sources
        All that the algorithm and its problems may have.
    independent
        Whether an assumption makes events independent, so that the mean is one over all their sequences.
    laws
        The assumptions that say which law the events have; without one a mean over them is one over any law, those that
        leave nothing to chance among them.
    """

    sources: tuple[RandomSource, ...]
    independent: bool
    laws: tuple[str, ...]

    @property
    def lawful(self) -> bool:
        """True if an assumption says which law the events have."""
        return bool(self.laws)

    def __getitem__(self, source: str) -> How:
        """Return how a source is read."""
        return next(one.how for one in self.sources if one.id == source)

    @property
    def draws(self) -> tuple[RandomSource, ...]:
        """The algorithm's own draws."""
        return tuple(one for one in self.sources if one.id not in (EVENTS, *dict(_NOISE)))

    @property
    def drawn(self) -> bool:
        """True if the mean is over what the algorithm draws, or over independent events."""
        return self.independent or any(one.how == "averaged" for one in self.draws)

    @property
    def words(self) -> str:
        """Randomness that the mean is over beside the noise, in words; empty where there is none."""
        return " and ".join(one.words for one in (*self.draws, *self.sources[:1]) if one.how == "averaged")

    def averaged(self, algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel) -> bool:
        """Return whether the mean is one over several schedules where runs have these parameters and delays."""
        return self.lawful or any(self[one] == "averaged" for one in at_random(algorithm, parameters, clients, delays))


def at_random(algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel) -> Iterator[str]:
    """Yield the sources, noise apart, in which runs with these parameters and delays differ."""
    if algorithm.arrivals and (algorithm.server == "any" or not delays.certain):
        yield EVENTS
    yield from (one.id for one in algorithm.draws if one.when(parameters, clients))


def certain(algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel, policy: ServerPolicy) -> bool:
    """Return whether all trials have the same tape: nothing is drawn, declared or not, but the noise of gradients."""
    ticks = algorithm.server == "any" and delays.certain and policy.kind in ("count", "periodic")
    drawn = {*at_random(algorithm, parameters, clients, delays)} - ({EVENTS} if ticks else set())
    return not drawn and not undeclared_draws(algorithm, parameters, clients)


@once()
def over(theorem: Statement) -> MeanOver:
    """Return what the mean is over: noise and batches always, events and draws unless the statement says otherwise.

    A statement that reads what the schedule decides, such as tau_max, and does not say what it is about, holds for
    each schedule of who arrives when.

    Raises
    ------
    SpecError
        If the algorithm is unknown; if what the statement says contradicts its assumptions, or leaves two readings
        that differ.
    """
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    assumed = sorted(known_assumptions.with_implied(theorem.assumptions))
    lawful = tuple(name for name in assumed if known_assumptions.assumption(name).mean)
    options = elaborated_options(theorem, algorithm)
    own = [one for one in algorithm.draws if _possible(theorem, algorithm, options, one)]
    _consistent(theorem, algorithm, lawful)
    _one_step(theorem, algorithm, options, assumed)
    for draw in algorithm.draws:
        for option in set(draw.options) & theorem.step.keys():
            raise SpecError(
                f"{theorem.id}: {option} decides {draw.words}, and is no step; formulas read it by [parameters], and "
                "[options] fixes it"
            )
    read = _of_schedule(theorem)
    given = theorem.about == EACH
    if theorem.about is None and not lawful and read and own:
        what = " and ".join(one.words for one in own)
        raise SpecError(
            f"{theorem.id} reads {', '.join(read)}, and {algorithm.id} draws {what}: write about = {EACH!r} if the "
            f"bound holds for each outcome, with what that very run has, or about = {MEAN!r} if it bounds the mean "
            "over the draws, with the largest that any run has"
        )
    events: How = "absent"
    if algorithm.arrivals:
        read_off = theorem.about is None and not lawful and read and algorithm.server != "any"
        events = "given" if given or read_off else "averaged"
    noise: How = "absent" if known_assumptions.DETERMINISTIC in assumed else "averaged"
    draws: How = "given" if given else "averaged"
    sources = (
        RandomSource(EVENTS, _EVENTS, events),
        *(RandomSource(id_, words, noise) for id_, words in _NOISE),
        *(RandomSource(one.id, one.words, draws if one in own else "absent") for one in algorithm.draws),
    )
    return MeanOver(sources, any(known_assumptions.assumption(one).independent for one in assumed), lawful)


def _consistent(theorem: Statement, algorithm: Algorithm[Any], lawful: tuple[str, ...]) -> None:
    """Refuse a statement about each schedule that assumes a law of events, or whose algorithm has no single ones."""
    if theorem.about == EACH and lawful:
        raise SpecError(
            f"{theorem.id}: about = {EACH!r} contradicts {lawful[0]}, which makes it a statement about the mean over "
            "random events; leave one of them out"
        )
    if theorem.about == EACH and algorithm.server == "any":
        raise SpecError(
            f"{theorem.id}: about = {EACH!r} is not possible for {algorithm.id}, whose left sides are means over events"
        )


def _one_step(theorem: Statement, algorithm: Algorithm[Any], options: Iterable[Option], assumed: Iterable[str]) -> None:
    """Refuse a statement about f + h whose step on several clients is not what books call so unless it says so."""
    if known_assumptions.COMPOSITE not in assumed or {"one-function", "uniform-sampling"} & {*assumed}:
        return
    if all(one.how in ("step", "unused", "default") or one.id == algorithm.rule for one in options):
        usual: dict[str, Any] = dict.fromkeys(theorem.step, 1)
        if words := algorithm.on_composite(algorithm.read(Options(algorithm.id, usual)), 2):
            raise SpecError(
                f"{theorem.id}: on f + h of several clients {words}; say under [options] which one is meant, "
                "or assume one-function"
            )


def _of_schedule(theorem: Statement) -> tuple[str, ...]:
    """Return what the statement reads that a schedule decides, or says of it by assumption, such as one lag for all.

    How often who arrives is no affair of the schedule, but of its law.
    """
    known = [known_assumptions.assumption(name) for name in known_assumptions.with_implied(theorem.assumptions)]
    said = {name for one in known if one.by_construction for name in one.defines}
    decided = having("schedule", symbols=theorem.symbols) - {*known_assumptions.assumption("iid-events").defines}
    return tuple(sorted((said | {*theorem.inputs(), *theorem.settable}) & decided))


def _possible(theorem: Statement, algorithm: Algorithm[Any], options: Iterable[Option], draw: Draw) -> bool:
    """Return whether some run that the statement is about draws it."""
    if any(one.varies for one in options if one.id in draw.options):
        return True
    fixed = {one.id: one.value for one in options if one.how == "fixed"}
    given: dict[str, Any] = {**dict.fromkeys(theorem.step, 1), **fixed}
    try:
        return draw.when(algorithm.read(Options(algorithm.id, given)), None)
    except SpecError:  # options that are required and that the statement does not name: whoever runs it chooses
        usual = {one.id for one in options if one.how == "default" and one.value}
        return not (draw.options and usual.issuperset(draw.options))


def about_each(theorem: "Statement") -> bool:
    """Return whether a statement says that it is about each schedule."""
    return theorem.about == EACH
