"""Instances in which a claim is false: searched among exact models, made small, and told.

A witness is an instance of the theorem's own setting: every assumption, range and condition is checked in rational
numbers before anything is called false. That none is found says nothing.
"""

import contextlib
import dataclasses
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias, final

from boundlab.prove._functions import Function, Huber, MaxAffine, PiecewiseQuadratic, Point, Quadratic
from boundlab.prove._instance import Instance, Name, Noise, UnfitError, named, written
from boundlab.prove._terms import Claim, Context, Expr
from boundlab.prove.models import Ball, Ground, Model, Real, Row, evaluate, holds, models_of, settled
from boundlab.prove.setting import Setting

# An instance in which a claim is false, in words: for a reader with pencil and paper.

_SHOWN_VALUES = 6
_LONGEST = 24  # letters of a number
_Terms: TypeAlias = dict[Ground, Real]


def told(model: Model, claim: Claim, row: Row) -> tuple[str, ...]:
    """Return functions and numbers, the vectors of a claim, each of its terms with a value, and both sides."""
    met = {name for term in _terms_at(model, claim, row) for name in term[1:] if isinstance(name, tuple)}
    # How a pass gets there.
    between = {("z", (i, r, m)) for word, at in met if word == "z" for i, r, last in [at] for m in range(last)}
    names = sorted(met | between)
    return (
        *model.instance.lines(model.setting.own_symbols, model.setting.constants(model.instance)),
        *(f"{_named(one)}{_law(model, one)}" for one in names if one[0] != "star"),
        *sides_told(model, claim, row),
    )


def sides_told(model: Model, claim: Claim, row: Row) -> tuple[str, ...]:
    """Return each term of a claim with its value, and both sides."""
    where = ", ".join(f"{name} = {value}" for name, value in row.indices)
    return (
        *(f"{_term(model, one)} = {_value(model, one)}" for one in _terms_at(model, claim, row) if one[0] != "1"),
        *(f"{name} = {_side(model, side)}" for name, side in _sides_at(model, claim, row)),
        f"{f'at {where}: ' if where else ''}left {_is(row.left)}, right {_is(row.right)}: "
        f"left {row.relation} right is false",
    )


def _sides_at(model: Model, claim: Claim, row: Row) -> list[tuple[str, list[tuple[Ground, Real]]]]:
    place = {name: Fraction(value) for name, value in row.indices}
    return [
        (name, _grouped(_ground(model, side, place))) for name, side in (("left", claim.left), ("right", claim.right))
    ]


def _terms_at(model: Model, claim: Claim, row: Row) -> dict[Ground, None]:
    return {term: None for _, side in _sides_at(model, claim, row) for term, _ in side}


def _ground(model: Model, side: Expr, at: Mapping[str, Fraction]) -> _Terms:
    found: _Terms = {}
    for weight, atom, where in model.parts(side, at):
        key = model.ground(atom, where)
        found[key] = found.get(key, Fraction(0)) + weight
    return found


def _grouped(terms: _Terms) -> list[tuple[Ground, Real]]:
    """Return terms with a·‖u‖² − 2a·⟨u, v⟩ + a·‖v‖² written as a·‖u − v‖²."""
    left, squares = dict(terms), []
    for key in sorted(key for key in terms if key[0] == "inner" and key[1] != key[2]):
        _, u, v = key
        ends = [("inner", one, one) for one in (u, v)]
        times = terms[key] * Fraction(-1, 2)
        known = [left.get(end, Fraction(0)) for end in ends]
        if not all(isinstance(one, Fraction) for one in (times, *known)):
            continue
        if times and all(one / times >= 1 for one in known):  # type: ignore[operator]
            del left[key]
            squares.append((("square", u, v), times))
            for end in ends:
                left[end] = left[end] - times
    kept = [(key, left[key]) for key in sorted(left, key=str) if isinstance(left[key], Fraction) is False or left[key]]
    return [*squares, *(one for one in kept if one[0][0] != "1"), *(one for one in kept if one[0][0] == "1")]


def _side(model: Model, terms: list[tuple[Ground, Real]]) -> str:
    if not terms:
        return "0"
    words = _added([(weight, "" if key[0] == "1" else _term(model, key)) for key, weight in terms])
    if all(key[0] == "1" for key, _ in terms):
        return words
    numbers = _added([(weight, "" if key[0] == "1" else _bracketed(_value(model, key))) for key, weight in terms])
    return words if words == numbers else f"{words} = {numbers}"


def _is(value: Real) -> str:
    """Return a number behind =, or its first digits behind ≈ where it is long."""
    return f"= {value}" if len(str(value)) <= _LONGEST or isinstance(value, Ball) else f"≈ {float(value):.10g}"


def _bracketed(value: Fraction) -> str:
    return f"({value})" if value < 0 or value.denominator > 1 else str(value)


def _added(parts: list[tuple[Real, str]]) -> str:
    found = ""
    for weight, text in parts:
        minus = isinstance(weight, Fraction) and weight < 0
        size = -weight if minus else weight
        one = isinstance(size, Fraction) and size == 1
        own = text if one and text else f"{size}·{text}" if text else str(size)
        found += (" - " if found else "-") + own if minus else (" + " if found else "") + own
    return found


def _named(name: Name) -> str:
    return "x*" if name[0] == "star" else named(name)


def _term(model: Model, key: Ground) -> str:
    vectors = [one for one in key[1:] if isinstance(one, tuple)]
    mean = "E " if any(len(set(model.runs.at(model.there(one)))) > 1 for one in vectors) else ""
    match key:
        case ("value", int(client), at):
            return f"{mean}f_{client}({_named(at)})"
        case ("square", u, v):
            # x* is best read last.
            first, second = (v, u) if u[0] == "star" else (u, v)
            return f"{mean}‖{_named(first)} - {_named(second)}‖²"
        case ("inner", u, v):
            return f"{mean}‖{_named(u)}‖²" if u == v else f"{mean}⟨{_named(u)}, {_named(v)}⟩"
    return "1"


def _value(model: Model, key: Ground) -> Fraction:
    runs = model.runs
    match key:
        case ("value", int(client), at):
            return runs.value(client, at)
        case ("square", u, v):
            return runs.inner(u, u) - 2 * runs.inner(u, v) + runs.inner(v, v)
        case ("inner", u, v):
            return runs.inner(u, v)
    return Fraction(1)


def _law(model: Model, name: Name) -> str:
    """Return the values of a random vector with their probabilities."""
    chances: dict[Point, Fraction] = {}
    for chance, point in zip(model.runs.chances, model.runs.at(model.there(name)), strict=True):
        chances[point] = chances.get(point, Fraction(0)) + chance
    shown = [(written(one), chance) for one, chance in chances.items()]
    if len(shown) == 1:
        slope = model.runs.columns.get(("g", name[1])) if name[0] == "z" else None
        return f" = {shown[0][0]}" + (f", where the slope is {written(slope.values[0])}" if slope else "")
    text = ", ".join(f"{value} with probability {chance}" for value, chance in itertools.islice(shown, _SHOWN_VALUES))
    return f" = {text}{', …' if len(shown) > _SHOWN_VALUES else ''}"


_ZERO, _HALF, _ONE = Fraction(0), Fraction(1, 2), Fraction(1)
_TRIES, _TRIALS, _OUTCOMES = 300, 600, 400
_SIMPLE = tuple(Fraction(*pair) for pair in ((0, 1), (1, 1), (2, 1), (1, 2), (-1, 1), (3, 1), (-2, 1), (1, 3), (1, 4)))
_STEPS = tuple(Fraction(*pair) for pair in ((1, 1), (1, 2), (1, 4), (2, 1), (1, 3)))


@final
@dataclass(frozen=True)
class Witness:
    """An exact instance in which a claim is false.

    Parameters
    ----------
    instance
        What it is.
    row
        Where the claim is false there, with its two sides.
    lines
        The same in words, and what the vectors of the claim are.
    """

    instance: Instance
    row: Row
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


def refute(setting: Setting, claim: Claim, context: Context, *, tries: int = _TRIES, seed: int = 0) -> Witness | None:
    """Return an instance of the setting in which a claim is false, or None if none is found.

    Parameters
    ----------
    context
        The case in which it is claimed.
    tries
        So many random instances follow those of the setting.
    seed
        Of these.
    """
    if not setting.instances or any(one.supposed for one in context.chain()):
        # Under a hypothesis a claim need hold only where the hypothesis does.
        return None
    instance = _first(setting, claim, context, tries, seed)
    if instance is None:
        return None
    smallest, row = _shrunk(setting, instance, claim, context)
    return Witness(smallest, row, told(Model(setting, smallest), claim, row))


def _first(setting: Setting, claim: Claim, context: Context, tries: int, seed: int) -> Instance | None:
    """Return an instance in which a claim is false; of tiny ones the smallest."""
    tiny = []
    for instance in _tiny(setting):
        found = _false(setting, instance, claim, context)
        if found is not None:
            tiny.append((_rank(setting, found[0]), instance))
    if tiny:
        return min(tiny, key=lambda one: one[0])[1]
    candidates = _candidates(setting, tries, seed)
    return next((one for one in candidates if _false(setting, one, claim, context) is not None), None)


def _candidates(setting: Setting, tries: int, seed: int) -> Iterator[Instance]:
    for model in models_of(setting):
        one = model.instance
        # A theorem's x* is the minimiser that is nearest to x0; in two variables it is the only one of these functions.
        yield replace(one, star=None, leaning=()) if one.dimension == 1 else one
    drawn = random.Random(f"boundlab witness {seed}")  # noqa: S311  (instances to try, no secret)
    for _ in range(tries):
        yield _drawn(setting, drawn)


def _false(setting: Setting, instance: Instance, claim: Claim, context: Context) -> tuple[Instance, Row] | None:
    """Return the instance with its step, and where the claim is false; None if it is not, or no model."""
    one = settled(setting, instance, quiet=True)
    if one is None:
        return None
    try:
        model = Model(setting, one)
        # What a proof takes as a condition of its theorem holds in a witness, or there is none.
        if not all(holds(model, one, setting.kernel) for one in setting.conditions):
            return None
        rows = evaluate(model, claim, setting.kernel, context)
    except UnfitError:
        return None
    row = min((one for one in rows if not one.holds), key=lambda one: one.indices, default=None)
    return None if row is None else (model.instance, row)


# ---------------------------------------------------------------------- tiny and random instances


def _tiny(setting: Setting) -> Iterator[Instance]:
    """Yield instances of one client, each of a handful of parts."""
    many, alphas = ((1, 2, 3) if "M" in setting.own_symbols else (1,)), (_STEPS[:1] if setting.step_facts else _STEPS)
    sizes: tuple[int, ...] = (0, 1) if setting.noisy else (0,)
    starts = tuple(Fraction(one) for one in ((1, 2, 3) if setting.step_facts else (1, 2, 0)))
    iid = "iid-events" in setting.assumed
    parts = itertools.product(_plain(setting), starts, alphas[:3], many, (1, 2), sizes)
    for function, start, alpha, steps, horizon, size in parts:
        yield Instance(
            (function,),
            (start,),
            alpha,
            steps,
            horizon,
            (Noise((Fraction(size),)),) if size else (),
            (_HALF,) if iid else (),
            _HALF if iid else _ZERO,
            events=_events(setting, (0,) * horizon),
        )


def _events(setting: Setting, events: tuple[int, ...]) -> tuple[int, ...]:
    return events if "fixed-schedule" in setting.assumed else ()


def _plain(setting: Setting) -> tuple[Function, ...]:
    """Return the plainest functions that a theorem is about."""
    if "smooth" not in setting.assumed:
        slope = MaxAffine((((_ONE,), _ZERO), ((-_ONE,), _ZERO)))
        return slope, MaxAffine((((_ONE,), _ZERO), ((_ZERO,), _ZERO)))
    bowl = Quadratic((_ONE,), (_ZERO,))
    if "strongly-convex" in setting.assumed:
        return bowl, PiecewiseQuadratic((_ZERO,), (_ONE, Fraction(2)))
    return bowl, Huber(_ONE, _ZERO, _ONE)


def _drawn(setting: Setting, drawn: random.Random) -> Instance:
    own = setting.own_symbols
    n = drawn.choice((1, 1, 2))
    steps = drawn.randint(1, 3) if "M" in own else 1
    horizon = drawn.randint(1, 3 if n * steps == 1 else 2)
    functions = tuple(_function(setting, drawn) for _ in range(n))
    if "one-function" in setting.assumed:
        functions = functions[:1] * n
    events = _events(setting, tuple(drawn.randrange(n) for _ in range(horizon)))
    noise: tuple[Noise, ...] = ()
    if setting.noisy and drawn.random() < 0.6:
        sizes = [Fraction(drawn.randint(0, 2)) for _ in range(n)]
        noise = tuple(Noise((size,), drawn.choice((Fraction(1, 2), Fraction(1, 2), Fraction(1, 5)))) for size in sizes)
    weights = [drawn.randint(1, 3) for _ in range(n + 1)]
    shares = [Fraction(one, sum(weights)) for one in weights]
    iid = "iid-events" in setting.assumed
    made = Instance(
        functions,
        (Fraction(drawn.randint(-6, 6), drawn.choice((1, 2))),),
        drawn.choice(_STEPS),
        steps,
        horizon,
        noise,
        tuple(shares[:n]) if iid else (),
        shares[n] if iid else _ZERO,
        events=events,
    )
    while _outcomes(made) > _OUTCOMES:
        made = replace(made, noise=()) if made.horizon == 1 else _shorter(made, made.horizon - 1)
    return made


def _shorter(one: Instance, horizon: int) -> Instance:
    return replace(one, horizon=horizon, events=one.events[:horizon])


def _outcomes(instance: Instance) -> int:
    signs = sum(1 for one in instance.noise if one.variance()) * instance.steps * (instance.horizon + 1)
    return int(2**signs * (instance.n + 1) ** instance.horizon)


def _function(setting: Setting, drawn: random.Random) -> Function:
    whole = [Fraction(one) for one in range(-3, 4)]
    if "smooth" in setting.assumed:
        curvature, centre = Fraction(drawn.randint(1, 3)), drawn.choice(whole)
        if not setting.assumed & {"convex", "strongly-convex"} and drawn.random() < 0.5:
            hill = -Fraction(drawn.randint(1, 2))
            return PiecewiseQuadratic((_ZERO, _ONE), (curvature, hill, curvature), drawn.choice(whole))
        if "strongly-convex" not in setting.assumed and drawn.random() < 0.5:
            return Huber(curvature, centre, drawn.choice((Fraction(1, 2), _ONE, Fraction(2))))
        return Quadratic((curvature,), (centre,))
    pieces = tuple(((drawn.choice(whole),), drawn.choice(whole)) for _ in range(drawn.randint(2, 3)))
    return MaxAffine(pieces)


# ---------------------------------------------------------------------- smaller ones


def _cost(value: Fraction) -> int:
    """Return how much there is to a number."""
    plain = abs(value.numerator) + 3 * (value.denominator - 1)
    return plain + (1 if value < 0 else 0)


def _size(part: Any) -> int:
    if isinstance(part, Fraction):
        return _cost(part)
    if isinstance(part, tuple):
        return sum(_size(one) for one in part)
    if dataclasses.is_dataclass(part):
        return sum(_size(getattr(part, one.name)) for one in dataclasses.fields(part))
    return 0


def _measure(instance: Instance) -> tuple[int, ...]:
    """Return how much there is to an instance: clients first, then noise, steps and iterations, pieces, and numbers."""
    pieces = sum(len(one.pieces) if isinstance(one, MaxAffine) else 2 for one in instance.functions)
    noisy = sum(1 for one in instance.noise if one.variance())
    more = sum(_cost(value) for name, value in instance.bounds if name == "sigma")
    return instance.n, noisy, more, instance.steps, instance.horizon, pieces, _size(instance)


def _rank(setting: Setting, instance: Instance) -> tuple[Any, ...]:
    """Return its measure; nobody is to wonder which subgradient is meant unless that makes clients or noise fewer."""
    first, rest = _measure(instance)[:3], _measure(instance)[3:]
    return first, _at_kink(setting, instance), rest


def _shrunk(setting: Setting, instance: Instance, claim: Claim, context: Context) -> tuple[Instance, Row]:
    """Return a smaller instance in which the claim is false, too: one change at a time, as long as one helps."""
    found = _false(setting, instance, claim, context)
    assert found is not None  # noqa: S101  (it was false a moment ago)
    trials, tried = 0, {instance}
    progress = True
    while progress and trials < _TRIALS:
        progress = False
        for one in sorted(filter(_proper, _smaller(setting, instance)), key=_measure):
            if one in tried:
                continue
            tried.add(one)
            trials += 1
            if trials > _TRIALS:
                break
            other = _false(setting, one, claim, context)
            if other is None or _measure(other[0]) >= _measure(found[0]):
                continue
            if _rank(setting, other[0]) < _rank(setting, found[0]):
                instance, found, progress = one, other, True
                break
    return found


def _at_kink(setting: Setting, instance: Instance) -> bool:
    """Return whether a slope of a run is one of several."""
    if all(one.smoothness() is not None for one in instance.functions):
        return False
    runs = Model(setting, instance).runs
    return any(
        len(instance.functions[indices[0]].slopes(point)) > 1
        for (name, indices), column in runs.columns.items()
        if name == "z" and indices[-1] < instance.steps
        for point in column.values
    )


def _smaller(setting: Setting, one: Instance) -> Iterator[Instance]:
    if one.n > 1:
        for gone in range(one.n):
            kept = [i for i in range(one.n) if i != gone]
            share = Fraction(1, one.n)
            yield replace(
                one,
                functions=tuple(one.functions[i] for i in kept),
                noise=tuple(one.noise[i] for i in kept if one.noise),
                p=tuple(share for _ in kept) if one.p else (),
                p_s=share if one.p else _ZERO,
                star=None,
                leaning=(),
                events=tuple(kept.index(i) if i != gone else 0 for i in one.events),
            )
    yield from (replace(one, steps=steps) for steps in range(1, one.steps))
    yield from (_shorter(one, horizon) for horizon in range(1, one.horizon))
    if one.noise:
        yield replace(one, noise=())
    if one.bounds:
        yield replace(one, bounds=())
    if one.p:
        share = Fraction(1, one.n + 1)
        yield replace(one, p=tuple(share for _ in one.p), p_s=share)
    for place, function in enumerate(one.functions):
        if isinstance(function, MaxAffine) and len(function.pieces) > 1:
            for gone in range(len(function.pieces)):
                fewer = MaxAffine(function.pieces[:gone] + function.pieces[gone + 1 :])
                yield replace(one, functions=(*one.functions[:place], fewer, *one.functions[place + 1 :]))
    # A step that the theorem sets is what comes of the rest.
    for name in ("functions", "start", "noise") if setting.step_facts else ("functions", "start", "alpha", "noise"):
        yield from (replace(one, **{name: value}) for value in _simpler(getattr(one, name)))


def _proper(one: Instance) -> bool:
    return all(0 < noise.chance < 1 and 0 <= noise.still < 1 for noise in one.noise)


def _simpler(part: Any) -> Iterator[Any]:
    """Yield it with one number replaced by a simpler one."""
    if isinstance(part, Fraction):
        yield from (value for value in _SIMPLE if _cost(value) < _cost(part))
    elif isinstance(part, tuple):
        for place, own in enumerate(part):
            yield from ((*part[:place], value, *part[place + 1 :]) for value in _simpler(own))
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        for one in dataclasses.fields(part):
            for value in _simpler(getattr(part, one.name)):
                with contextlib.suppress(ValueError):  # there may be no such function
                    yield replace(part, **{one.name: value})
