"""Axioms of fixed shape, of problems and of the start: made anew from the vectors and points that a line names.

What a vector is a gradient of, which vectors are the models, how clients are weighted and how large noise is: these the
file declares, and the setting of its theorem has to answer for them. Axioms of other shapes are the setting's alone.
"""

from collections.abc import Callable, Mapping
from typing import Any

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of, rational
from boundlab.recheck._replay import Fact, LineRule, Replay, above, equation, same
from boundlab.recheck._terms import (
    Atom,
    Base,
    Combination,
    Vec,
    dot,
    instance,
    minus,
    number_in,
    plus,
    scalar,
    single,
    times,
    total,
    vector,
)

_STAR, _LONG = Vec("star"), 80
Shape = Callable[["_Line"], Combination]


class _Line:
    """An axiom: what it was made from, and the problem that the file declares."""

    def __init__(self, replay: Replay, fact: Fact) -> None:
        self.replay, self.fact, self.context = replay, fact, fact.context
        self.args = [read.as_list(one, "an argument", 2) for one in read.as_list(fact.data.get("args"), "arguments")]
        self.declared = read.only(
            read.as_dict(replay.raw.get("problem"), "problem"), ("model", "noise", "weight"), "problem"
        )

    def vector(self, place: int) -> Combination:
        """Return an argument, a combination of vectors."""
        if place >= len(self.args) or self.args[place][0] != "vector":
            raise WrongError(f"argument {place} is to be a vector")
        return self.replay.combination_of(self.fact, self.args[place][1], f"argument {place}")

    def single(self, place: int) -> Vec:
        """Return an argument, one vector."""
        found = single(self.vector(place))
        if found is None:
            raise WrongError(f"argument {place} is to be a single vector")
        return found

    def symbol(self, name: str) -> Number:
        """Return a symbol of the theorem, of which no instances are taken."""
        if name not in self.replay.parameters:
            raise WrongError(f"{name} is no symbol of the theorem")
        return of(Symbol(name))

    def slope(self, place: int) -> tuple[Combination, tuple[Number, ...], Vec]:
        """Return an argument that is a gradient of an f_i, with i and the point."""
        own = self.single(place)
        slopes = read.as_dict(self.replay.raw.get("slopes"), "slopes")
        if own.name not in slopes:
            raise WrongError(f"{own.name} is not declared as a gradient")
        slope = read.only(read.as_dict(slopes[own.name], own.name), ("function", "which", "at"), own.name)
        if slope.get("function") != "f":
            raise WrongError(f"{own.name} is no gradient of an f_i")
        values = {f"@{place}": index for place, index in enumerate(own.indices)}
        which = []
        for raw in read.as_list(slope.get("which"), own.name):
            index = number_in(instance(scalar(read.number(raw, own.name)), values))
            which.append(ZERO if index is None else index)
        at = read.vec(slope.get("at"), own.name)
        return vector(own), tuple(which), Vec(at.name, tuple(one.put(values) for one in at.indices))

    def pair(self) -> tuple[Combination, tuple[Number, ...], Vec, Combination, Vec]:
        """Return two gradients of one f_i."""
        (g, i, x), (h, j, y) = self.slope(0), self.slope(1)
        if i != j:
            raise WrongError("the two are gradients of two functions")
        return g, i, x, h, y

    def part(self, which: tuple[Number, ...], at: Vec) -> Combination:
        """Return E f_i(u)."""
        return {Atom(Base("value", (at,), "f", which)): ONE}

    def weighted(self, what: Callable[[tuple[Number, ...]], Combination]) -> Combination:
        """Return a sum over the clients with their weights; what all have in common, where they have one function."""
        i = of(Symbol("@i"))
        share = read.number(self.declared.get("weight"), "the weight of a client")
        return total(times(what((i,)), share), "@i", ZERO, of(Symbol("n")))

    def objective(self, at: Vec) -> Combination:
        """Return E f(u)."""
        if self.replay.functions.get("f") == 0:
            return self.part((), at)
        return self.weighted(lambda which: self.part(which, at))

    def begin(self) -> Vec:
        """Return the model before the first iteration."""
        return Vec(read.name(self.declared.get("model"), "the model"), (ZERO,))


def _square(one: Combination) -> Combination:
    return dot(one, one)


def _above_tangent(line: _Line) -> tuple[Combination, Combination]:
    """Return f_i(to) − f_i(at) − ⟨g, to − at⟩, and to − at."""
    g, i, at = line.slope(0)
    to = line.single(1)
    way = minus(vector(to), vector(at))
    return minus(line.part(i, to), plus(line.part(i, at), dot(g, way))), way


def _convex(line: _Line) -> Combination:
    return _above_tangent(line)[0]


def _strongly_convex(line: _Line) -> Combination:
    found, way = _above_tangent(line)
    return minus(found, times(_square(way), line.symbol("mu") / rational(2)))


def _descent(line: _Line) -> Combination:
    found, way = _above_tangent(line)
    return minus(times(_square(way), line.symbol("L") / rational(2)), found)


def _smooth(line: _Line) -> Combination:
    g, _, x, h, y = line.pair()
    size = line.symbol("L").power(2)
    return minus(times(_square(minus(vector(x), vector(y))), size), _square(minus(g, h)))


def _cocoercive(line: _Line) -> Combination:
    g, i, x, h, y = line.pair()
    found = minus(line.part(i, y), plus(line.part(i, x), dot(g, minus(vector(y), vector(x)))))
    return minus(found, times(_square(minus(g, h)), ONE / (rational(2) * line.symbol("L"))))


def _interpolation(line: _Line) -> Combination:
    g, i, x, h, y = line.pair()
    L, mu, way, turn = line.symbol("L"), line.symbol("mu"), minus(vector(x), vector(y)), minus(g, h)
    found = minus(line.part(i, y), plus(line.part(i, x), dot(g, minus(vector(y), vector(x)))))
    squares = plus(_square(turn), times(_square(way), mu * L), times(dot(turn, way), -rational(2) * mu))
    return minus(times(found, L - mu), times(squares, ONE / rational(2)))


def _lipschitz(line: _Line) -> Combination:
    g, _, _ = line.slope(0)
    return minus(scalar(line.symbol("B").power(2)), _square(g))


def _minimal(line: _Line) -> Combination:
    return minus(line.objective(line.single(0)), line.objective(_STAR))


def _start_gap(line: _Line) -> Combination:
    gap = minus(line.objective(line.begin()), line.objective(line.single(0)))
    return minus(scalar(line.symbol("F0")), gap)


def _variance(line: _Line) -> Combination:
    noise = line.single(0)
    if line.replay.times_of(noise, "drawn") is None:
        raise WrongError(f"{noise.name} is no noise")
    size = line.symbol(read.name(line.declared.get("noise"), "noise"))
    return minus(scalar(size.power(2)), _square(vector(noise)))


def _start(line: _Line) -> None:
    way = minus(vector(line.begin()), vector(_STAR))
    equation(line.fact, _square(way), scalar(line.symbol("R").power(2)))


def _optimality(line: _Line) -> None:
    if line.fact.claim is not None:
        raise WrongError("it is an equation of vectors")
    same(line.fact.left, line.weighted(lambda which: vector(Vec("h", which))), "its left side")
    same(line.fact.right, {}, "its right side")


# By schema: how many arguments it has, what is assumed, and what is ≥ 0 by it.
_SHAPES: Mapping[str, tuple[int, frozenset[str], Shape]] = {
    "convex": (2, frozenset({"convex"}), _convex),
    "strongly_convex": (2, frozenset({"strongly-convex"}), _strongly_convex),
    "descent": (2, frozenset({"smooth"}), _descent),
    "smooth": (2, frozenset({"smooth"}), _smooth),
    "cocoercive": (2, frozenset({"convex", "smooth"}), _cocoercive),
    "interpolation": (2, frozenset({"strongly-convex", "smooth"}), _interpolation),
    "lipschitz": (1, frozenset({"lipschitz"}), _lipschitz),
    "minimal": (1, frozenset({"minimiser"}), _minimal),
    "start_gap": (1, frozenset({"start", "bounded-below"}), _start_gap),
    "variance": (1, frozenset({"bounded-variance"}), _variance),
}
_EQUATIONS: Mapping[str, tuple[frozenset[str], Callable[[_Line], None]]] = {
    "start": (frozenset({"start"}), _start),
    "optimality": (frozenset({"minimiser"}), _optimality),
}
# What the checker makes by itself of its arguments; the setting answers for all other schemas.
SCHEMAS = frozenset({*_SHAPES, *_EQUATIONS})
# What holds of a minimiser of f, and not of one of F = f + h.
_OF_F_ALONE = frozenset({"minimal", "start_gap", "optimality"})


def _argument(replay: Replay, fact: Fact, raw: Any) -> None:
    """Make sure that an argument of a line that the setting answers for is well-formed."""
    match read.as_list(raw, "an argument", 2):
        case ["vector", own]:
            replay.combination_of(fact, own, "a vector")
        case ["number", own]:
            replay.use(fact, read.number(own, "a number"))
        case ["expression", own]:
            replay.well_formed(read.combination(own, "an expression"), fact.context)
        case ["word", own]:
            read.name(own, "a word")
        case ["whole" | "case", own]:
            read.whole(own, "a whole number")
        case ["flag", True | False] | ["none", None]:
            pass
        case _:
            raise WrongError("an argument is of no known kind")


def _axiom(replay: Replay, fact: Fact) -> None:
    schema: Any = fact.data.get("schema")
    if not fact.axioms or any(not one.isprintable() for one in fact.axioms):
        raise WrongError("an assumption has a name")
    if schema in _SHAPES:
        many, needed, shape = _SHAPES[schema]
        line = _Line(replay, fact)
        if len(line.args) != many:
            raise WrongError(f"{schema} has {many} arguments")
        above(fact, shape(line))
    elif schema in _EQUATIONS:
        needed, check = _EQUATIONS[schema]
        line = _Line(replay, fact)
        if line.args:
            raise WrongError(f"{schema} has no arguments")
        check(line)
    else:
        for one in read.as_list(fact.data.get("args", []), "arguments"):
            _argument(replay, fact, one)
        called = str(schema or f"an axiom called {', '.join(sorted(fact.axioms))}")[:_LONG]
        if not called.isprintable():
            raise WrongError("the schema has no name")
        note = replay.ask_setting if schema else replay.trust
        note(called, fact)
        return
    if schema in _OF_F_ALONE and "composite" in replay.assumed:
        raise WrongError(f"{schema} is about f alone, and the theorem about f with h")
    if fact.axioms != needed:
        raise WrongError(f"it rests on {', '.join(sorted(needed))}, the file says otherwise")
    if missing := sorted(needed - replay.assumed - {"start"}):
        raise WrongError(f"the theorem does not assume {', '.join(missing)}")


PROBLEMS: dict[str, LineRule] = {"axiom": LineRule(_axiom, 0, own=None)}
