"""The checker of proofs: axioms of problems, all rules, whole files, and each line as it is made.

For one who writes a proof: what the checker refuses is no fact. Numbers, vectors and finite sums of a proof that is
written are those that the checker reads from a file.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from boundlab.recheck import _structure as read
from boundlab.recheck._forms import Finding, WrongError, digest
from boundlab.recheck._numbers import (
    ONE,
    ZERO,
    Monomial,
    Number,
    NumberError,
    Symbol,
    TooMuchError,
    begin,
    exact,
    of,
    rational,
)
from boundlab.recheck._replay import CLAIMED, Fact, LineRule, Replay, above, equation, range_of, same, symbols_of
from boundlab.recheck._rules import RULES as OWN_RULES, known_by
from boundlab.recheck._structure import claim, combination, names, number, text
from boundlab.recheck._terms import (
    UNIT,
    Atom,
    Base,
    Combination,
    Context,
    Range,
    Unshown,
    Vec,
    dot,
    instance,
    minus,
    number_in,
    plus,
    replaced,
    scalar,
    single,
    times,
    total,
    vector,
)

# Axioms of fixed shape, of problems and of the start: made anew from the vectors and points that a line names.
#
# What a vector is a gradient of, which vectors are the models, how clients are weighted and how large noise is: these
# the file declares, and the setting of its theorem has to answer for them. Axioms of other shapes are the setting's
# alone.

_STAR, _LONG = Vec("star"), 80


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
        which = [read.number(raw, own.name).put(values) for raw in read.as_list(slope.get("which"), own.name)]
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


def _convex(line: _Line) -> None:
    above(line.fact, _above_tangent(line)[0])


def _strongly_convex(line: _Line) -> None:
    found, way = _above_tangent(line)
    above(line.fact, minus(found, times(_square(way), line.symbol("mu") / rational(2))))


def _descent(line: _Line) -> None:
    found, way = _above_tangent(line)
    above(line.fact, minus(times(_square(way), line.symbol("L") / rational(2)), found))


def _smooth(line: _Line) -> None:
    g, _, x, h, y = line.pair()
    size = line.symbol("L").power(2)
    above(line.fact, minus(times(_square(minus(vector(x), vector(y))), size), _square(minus(g, h))))


def _cocoercive(line: _Line) -> None:
    g, i, x, h, y = line.pair()
    found = minus(line.part(i, y), plus(line.part(i, x), dot(g, minus(vector(y), vector(x)))))
    above(line.fact, minus(found, times(_square(minus(g, h)), ONE / (rational(2) * line.symbol("L")))))


def _interpolation(line: _Line) -> None:
    g, i, x, h, y = line.pair()
    L, mu, way, turn = line.symbol("L"), line.symbol("mu"), minus(vector(x), vector(y)), minus(g, h)
    found = minus(line.part(i, y), plus(line.part(i, x), dot(g, minus(vector(y), vector(x)))))
    squares = plus(_square(turn), times(_square(way), mu * L), times(dot(turn, way), -rational(2) * mu))
    above(line.fact, minus(times(found, L - mu), times(squares, ONE / rational(2))))


def _lipschitz(line: _Line) -> None:
    g, _, _ = line.slope(0)
    above(line.fact, minus(scalar(line.symbol("B").power(2)), _square(g)))


def _minimal(line: _Line) -> None:
    above(line.fact, minus(line.objective(line.single(0)), line.objective(_STAR)))


def _start_gap(line: _Line) -> None:
    gap = minus(line.objective(line.begin()), line.objective(line.single(0)))
    above(line.fact, minus(scalar(line.symbol("F0")), gap))


def _variance(line: _Line) -> None:
    noise = line.single(0)
    if line.replay.times_of(noise, "drawn") is None:
        raise WrongError(f"{noise.name} is no noise")
    size = line.symbol(read.name(line.declared.get("noise"), "noise"))
    above(line.fact, minus(scalar(size.power(2)), _square(vector(noise))))


def _start(line: _Line) -> None:
    way = minus(vector(line.begin()), vector(_STAR))
    equation(line.fact, _square(way), scalar(line.symbol("R").power(2)))


def _optimality(line: _Line) -> None:
    same(minus(*line.fact.between), line.weighted(lambda which: vector(Vec("h", which))), "left − right")


# By schema: how many arguments it has, what is assumed, and whether a line says what holds by it.
_AXIOMS: Mapping[str, tuple[int, frozenset[str], Callable[[_Line], None]]] = {
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
    "start": (0, frozenset({"start"}), _start),
    "optimality": (0, frozenset({"minimiser"}), _optimality),
}
# What the checker makes by itself of its arguments; the setting answers for all other schemas.
SCHEMAS = frozenset(_AXIOMS)
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
    if schema not in _AXIOMS:
        for one in read.as_list(fact.data.get("args", []), "arguments"):
            _argument(replay, fact, one)
        called = str(schema or f"an axiom called {', '.join(sorted(fact.axioms))}")[:_LONG]
        if not called.isprintable():
            raise WrongError("the schema has no name")
        replay.leave(replay.setting if schema else replay.trusted, called, fact)
        return
    many, needed, check = _AXIOMS[schema]
    line = _Line(replay, fact)
    if len(line.args) != many:
        raise WrongError(f"{schema} has {many or 'no'} arguments")
    check(line)
    if schema in _OF_F_ALONE and "composite" in replay.assumed:
        raise WrongError(f"{schema} is about f alone, and the theorem about f with h")
    if fact.axioms != needed:
        raise WrongError(f"it rests on {', '.join(sorted(needed))}, the file says otherwise")
    if missing := sorted(needed - replay.assumed - {"start"}):
        raise WrongError(f"the theorem does not assume {', '.join(missing)}")


# What few proofs need stands in files of its own: a proof that asks for none of it is checked without them.


def _event(replay: Replay, fact: Fact) -> None:
    from boundlab.recheck.events import mixture

    mixture(replay, fact)


def _rare(replay: Replay, fact: Fact) -> None:
    from boundlab.recheck.exponentials import CHECKS

    CHECKS[fact.rule](replay, fact)


def _power(replay: Replay, context: Context, name: str, own: Range, value: Number) -> None:
    from boundlab.recheck.exponentials import declare

    declare(replay, context, name, own, value)


RULES: dict[str, LineRule] = {
    **OWN_RULES,
    "axiom": LineRule(_axiom, 0, own=None),
    "mixture": LineRule(_event, 0, own=None),
    "name family": LineRule(_rare, 0),
    "unname": LineRule(_rare, 1),
    "exp tangent": LineRule(_rare, 0),
    "exp monotone": LineRule(_rare, 0),
    "exp chord": LineRule(_rare, 0),
}


def opened(raw: dict[str, Any]) -> Replay:
    """Return the checker of a file, which has looked at no line yet; raises if what it declares is wrong."""
    return Replay(raw, RULES, _power)


# Checks a proof file, and says what it takes for granted.

_GIVEN = ("axiom", "claimed", "mixture", "orthogonal", "uncorrelated")
_FILE = (
    "schema",
    "proof",
    "theorem",
    "statement",
    "sha256",
    "problem",
    "symbols",
    "parameters",
    "vectors",
    "functions",
    "slopes",
    "laws",
    "contexts",
    "facts",
    "steps",
    "conclusions",
)
_STATUSES = ("proved", "follows", "refuted", "does not follow", "unproved", "remark")


def recheck_proof(raw: Mapping[str, Any]) -> Finding:
    """Check every fact of a proof file.

    Parameters
    ----------
    raw
        What stands in it.
    """
    try:
        begin()
        read.only(dict(raw), _FILE, "the file")
        _stated(raw)
        replay = opened(dict(raw))
        if raw.get("statement") is not None or replay.vectors:
            replay.leave(
                replay.setting, "what is declared of symbols and vectors: ranges, parameters, gradients, clocks, draws"
            )
        facts = list(replay.run())
        conclusions, what = _conclusions(replay, raw)
        told = tuple(_declared(replay))
    except (WrongError, NumberError) as error:
        return Finding(False, str(error), proof=True)
    except RecursionError:
        return Finding(False, "something in it is nested too deeply", proof=True)
    except TooMuchError as error:
        return Finding(True, f"it is not checked to its end: {error}", proof=True, trusted=("all that is left",))
    given = tuple(dict.fromkeys(one.replace(" + -", " - ") for one in _given(replay, facts, conclusions)))
    proof, theorem = (str(raw.get(key, ""))[:200] for key in ("proof", "theorem"))
    proof = f"the proof that the file calls {proof!r}"
    claim = f"{theorem}, by {proof}" if theorem else proof
    trusted, setting = (
        tuple(f"{what}, {count} times" if count > 1 else what for what, count in counted.items())
        for counted in (replay.trusted, replay.setting)
    )
    return Finding(
        True,
        what.replace(" + -", " - "),
        given,
        len(facts) - len(replay.unchecked),
        claim,
        tuple(replay.root.left),
        proof=True,
        trusted=trusted,
        setting=setting,
        depends=frozenset[str]().union(*(one.names for one in conclusions)),
        declared=told,
    )


def _stated(raw: Mapping[str, Any]) -> None:
    """Make sure that the statement of the theorem which the file names has the hash that it says."""
    if raw.get("statement") is None:
        if raw.get("theorem") or raw.get("sha256"):
            raise WrongError("a theorem is named, and not stated")
        return
    statement = read.as_dict(raw["statement"], "statement")
    if not raw.get("theorem"):
        raise WrongError("a theorem is stated, and not named")
    if digest(statement) != raw.get("sha256"):
        raise WrongError("the statement has another hash")


def _conclusions(replay: Replay, raw: Mapping[str, Any]) -> tuple[list[Fact], str]:
    """Return the facts that make up the theorem, and what they say; raises if a case is missing."""
    names: set[str] = set()
    for one in read.as_list(raw.get("steps"), "steps"):
        step = read.only(read.as_dict(one, "a step"), ("name", "status", "fact"), "a step")
        name, status = step.get("name"), step.get("status")
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or status not in _STATUSES:
            raise WrongError("a step has a name and a status")
        if name in names:
            raise WrongError(f"two steps are called {name[:80]!r}")
        names.add(name)
        fact = None if step.get("fact") is None else replay.fact(step["fact"], "a step")
        open_ones = [] if fact is None else [axiom for axiom in fact.axioms if axiom.startswith(CLAIMED)]
        if status == "proved" and (fact is None or open_ones):
            raise WrongError(f"the step {name[:80]!r} is called proved, and rests on what is not")
        if status not in ("proved", "remark") and (fact is None or fact.rule != "claimed"):
            said = "it has no fact" if fact is None else fact.text()
            replay.leave(replay.trusted, f"the step that the file calls {name[:80]!r}, which is not proved: {said}")
    found = [replay.fact(one, "a conclusion") for one in read.as_list(raw.get("conclusions"), "conclusions")]
    if len(set(raw["conclusions"])) < len(found):
        raise WrongError("a conclusion stands twice")
    if not found:
        if raw.get("theorem"):
            replay.leave(replay.trusted, f"{str(raw['theorem'])[:80]}: nothing is concluded")
        return [], f"{len(replay.facts)} facts follow from what is given"
    _cover(replay, found)
    return found, "; ".join(f"{_case(one)}{one.text()}" for one in found)


def _cover(replay: Replay, facts: Iterable[Fact]) -> None:
    """Make sure that the cases are everything: the whole, or both parts of a split, each of them covered."""
    left = list(dict.fromkeys(fact.context for fact in facts))
    while left != [replay.root]:
        deepest = max(left, key=lambda one: len([*one.chain()]))
        other = next((one for one in left if one.completes(deepest)), None)
        if other is None or deepest.parent is None:
            raise WrongError("a conclusion holds in one case only")
        left = list(dict.fromkeys([*(one for one in left if one not in (deepest, other)), deepest.parent]))


def _case(fact: Fact) -> str:
    words = [own.text(name) for one in fact.context.chain() if one.parent for name, own in one.own.items()]
    return f"where {', '.join(reversed(words))}: " if words else ""


def _declared(replay: Replay) -> Iterable[str]:
    if replay.parameters:
        yield f"parameters, of which no instances are taken: {', '.join(sorted(replay.parameters))}"
    for name, own in replay.vectors.items():
        vector = Vec(name, tuple(of(Symbol(f"@{place}")) for place in range(read.whole(own.get("arity"), name))))
        for which, words in (("clock", "known from"), ("drawn", "drawn at")):
            if (time := replay.times_of(vector, which)) is not None:
                yield f"{vector.key} is {words} ({', '.join(one.key for one in time)})"
    for name, raw in read.as_dict(replay.raw.get("slopes") or {}, "slopes").items():
        own = read.as_dict(raw, name)
        which = ", ".join(read.number(one, name).key for one in read.as_list(own.get("which"), name))
        function, at = read.name(own.get("function"), name), read.vec(own.get("at"), name)
        yield f"{name}[@0, …] is a gradient of {function}[{which}] at {at.key}"


def _given(replay: Replay, facts: Iterable[Fact], conclusions: Iterable[Fact]) -> Iterable[str]:
    for name in replay.root.order:
        if name in replay.root.own and name not in replay.defined:
            yield f"range: {replay.root.find(name).text(name)}"
    for fact in facts:
        if fact.rule == "mixture":
            from boundlab.recheck.events import law_of

            yield law_of(replay, fact).words()
        if fact.rule in _GIVEN:
            yield f"{', '.join(sorted(fact.axioms))}: {fact.text()}"
    for fact in conclusions:
        yield f"the conclusion rests on {', '.join(sorted(fact.axioms)) or 'nothing else'}"


__all__ = [
    "ONE",
    "SCHEMAS",
    "UNIT",
    "ZERO",
    "Atom",
    "Base",
    "Context",
    "Fact",
    "Monomial",
    "Number",
    "Range",
    "Replay",
    "Symbol",
    "Unshown",
    "Vec",
    "WrongError",
    "begin",
    "claim",
    "combination",
    "dot",
    "exact",
    "instance",
    "known_by",
    "names",
    "number",
    "number_in",
    "of",
    "opened",
    "plus",
    "range_of",
    "replaced",
    "single",
    "symbols_of",
    "text",
    "times",
    "total",
    "vector",
]

REFUSALS = (WrongError, NumberError, TooMuchError)
