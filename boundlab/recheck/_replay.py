"""Replays a proof file, fact by fact."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, final

from boundlab.recheck import _structure as read
from boundlab.recheck._forms import WrongError
from boundlab.recheck._numbers import ONE, ZERO, Number, NumberError, Symbol, of
from boundlab.recheck._structure import Claim
from boundlab.recheck._terms import (
    FIRST,
    Atom,
    Combination,
    Context,
    Range,
    Vec,
    instance,
    is_own,
    minus,
    number_in,
    plus,
)

# Lines of a proof file as they were read, and what all rules ask of them.


@final
@dataclass(frozen=True, eq=False)
class Fact:
    """A line of the file, as it was read: a claim, of numbers or, an equation then, of vectors."""

    number: int
    rule: str
    context: Context
    premises: tuple["Fact", ...]
    axioms: frozenset[str]
    data: read.Fields
    claim: Claim
    vectors: bool
    names: set[str] = field(default_factory=set)  # all that it depends on
    touched: set[str] = field(default_factory=set)  # all that stands in what it was made of
    beside: list["Fact"] = field(default_factory=list)  # what it rests on in other cases, beside its premises

    @property
    def where(self) -> str:
        """Its place in the file."""
        return f"fact {self.number} ({self.rule})"

    @property
    def says(self) -> Claim:
        """Its claim; raises where it is about vectors."""
        if self.vectors:
            raise WrongError(f"{self.where} is an equation of vectors")
        return self.claim

    @property
    def between(self) -> tuple[Combination, Combination]:
        """The two vectors that are equal; raises where it is about numbers."""
        if not self.vectors:
            raise WrongError(f"{self.where} is no equation of vectors")
        return self.claim.left, self.claim.right

    def text(self) -> str:
        """Return what it says."""
        return read.claim_text(self.claim)


def same(found: Combination, wanted: Combination, what: str) -> None:
    """Raise unless two combinations are one."""
    if difference := minus(found, wanted):
        raise WrongError(f"{what}: {read.text(difference)[:300]} is left over")


def same_claim(given: Claim, wanted: Claim, what: str) -> None:
    """Raise unless a claim says what another one says, or an equation where an inequality is needed."""
    if wanted.equality and not given.equality:
        raise WrongError(f"{what} is no equation")
    difference = minus(given.body, wanted.body)
    if difference and not (wanted.equality and not plus(given.body, wanted.body)):
        raise WrongError(f"{what} differs by {read.text(difference)[:300]}")


def put(one: Claim, values: Mapping[str, Number]) -> Claim:
    """Return an instance of a claim."""
    return Claim(instance(one.left, values), instance(one.right, values), one.relation)


def equation(fact: Fact, left: Combination, right: Combination) -> None:
    """Raise unless a fact is the equation left = right, of numbers or of vectors."""
    if not fact.claim.equality:
        raise WrongError("it is no equation")
    same(fact.claim.left, left, "its left side")
    same(fact.claim.right, right, "its right side")


def alike(fact: Fact, one: Fact, changed: Callable[[Combination], Combination]) -> None:
    """Raise unless a fact says of changed sides what another one says of its own."""
    if (fact.vectors, fact.claim.relation) != (one.vectors, one.claim.relation):
        raise WrongError("its relation is another one")
    same(fact.claim.left, changed(one.claim.left), "its left side")
    same(fact.claim.right, changed(one.claim.right), "its right side")


def above(fact: Fact, body: Combination) -> None:
    """Raise unless a fact is body ≥ 0."""
    if fact.says.equality:
        raise WrongError("it is an equation")
    same(fact.says.body, body, "its claim")


def number_of(fact: Fact) -> Number:
    """Return the number that a fact is about."""
    found = number_in(fact.says.body)
    if found is None:
        raise WrongError(f"fact {fact.number} is about no number")
    return found


# Symbols as a proof file declares them: their ranges, the cases of a split, and symbols that stand for e^v.

# Stands for the index of a family, a whole number ≥ 0; no file can declare it.
INDEX = "@0"
_SYMBOL = ("name", "low", "high", "above", "below", "integer", "guarded", "arity", "by", "exponent")


def root_of(replay: Any) -> Context:
    """Return the context of all symbols that are declared for the whole proof."""
    context = Context(None, {})
    context.own[INDEX] = Range(ZERO, integer=True)
    symbols_of(replay, replay.raw.get("symbols"), context)
    return context


def symbols_of(replay: Any, listed: Any, context: Context) -> None:
    """Declare the symbols of a context, one after the other."""
    for raw in read.as_list(listed, "symbols"):
        own = read.only(read.as_dict(raw, "a symbol"), _SYMBOL, "a symbol")
        name = read.name(own.get("name"), "symbols")
        if name in context.order or is_own(name) or name.startswith("@"):
            raise WrongError(f"{name} is declared twice, or is a kept name")
        found = range_of(own, name)
        context.after(name, found.names(), f"the range of {name} names")
        for end in (found.low, found.high):
            if end is not None:
                replay.has_value(end.put({FIRST: of(Symbol(INDEX))}), context)
        if own.get("by") is not None:
            replay.defined[name] = read.whole(own["by"], name)
            context.fix(name)
        elif own.get("exponent") is not None:
            replay.power(replay, context, name, found, read.number(own["exponent"], name))
        elif context.parent is not None:
            raise WrongError(f"{name} is declared in one case, and stands for nothing")
        context.order[name] = len(context.order)
        context.own[name] = found


def range_of(own: Mapping[str, Any], name: str) -> Range:
    """Return the range that a declaration says."""
    low, high = (None if own.get(end) is None else read.number(own[end], name) for end in ("low", "high"))
    above, below, integer = (_flag(own, flag) for flag in ("above", "below", "integer"))
    arity, guarded = read.whole(own.get("arity", 0), name), "guarded" in own and _flag(own, "guarded")
    found = Range(low, high, above, below, integer, arity, guarded)
    if arity < 0 or (arity == 0 and found.moving) or (arity > 1 and guarded):
        raise WrongError(f"{name} has a range that depends on an index, and no index")
    return found


def _flag(own: Mapping[str, Any], key: str) -> bool:
    if own.get(key) not in (True, False) or not isinstance(own[key], bool):
        raise WrongError(f"{key} is true or false")
    return bool(own[key])


def part_of(parent: Context, own: Mapping[str, Any], where: str) -> Context:
    """Return one case of a split."""
    name, at = read.name(own.get("name"), where), read.number(own.get("at"), where)
    which, known = read.whole(own.get("which"), where), parent.find(name)
    if known.arity or which not in (0, 1):
        raise WrongError(f"{where}: {name} is no symbol with a range, or there is no part {which}")
    parent.after(name, at.names(), f"{where}: {name} is split at")
    if at.bottom != ONE:
        parent.need_nonzero(at.bottom)
    if known.integer and not parent.integer(at):
        raise WrongError(f"{where}: {name} is whole, which {at.key} is not")
    for gap, _ in known.gaps(at):
        parent.need(gap, f"{where}: the split may lie outside of the range")
    if which == 0:
        part = Range(known.low, at, above=known.above, integer=known.integer)
    else:
        part = Range(at + ONE if known.integer else at, known.high, below=known.below, integer=known.integer)
    return Context(parent, {name: part}, {name}, ("split", parent, name, at, which))


_LONG = 40
# What the axiom of a step that is not proved begins with.
CLAIMED = "step "
_FACT = ("rule", "context", "premises", "axioms", "data")
_VECTOR = ("arity", "clock", "drawn")
_CONTEXT = {
    "root": ("kind",),
    "suppose": ("kind", "parent", "symbols", "fact"),
    "split": ("kind", "parent", "symbols", "name", "at", "which"),
}
# Rules that say what a symbol stands for.
DECLARING = ("name", "root", "define", "name family")


@final
@dataclass(frozen=True)
class LineRule:
    """What makes a line right.

    Parameters
    ----------
    check
        Raises where what the line says does not follow.
    premises
        How many it has; None: as many as it likes.
    own
        What it rests on beside its premises; None: the rule itself looks at that.
    """

    check: Callable[["Replay", Fact], None]
    premises: int | None = None
    own: frozenset[str] | None = frozenset()


@final
class Replay:
    """A file while it is read: its declarations, and the facts so far."""

    def __init__(
        self,
        raw: dict[str, Any],
        rules: Mapping[str, LineRule],
        power: Callable[["Replay", Context, str, Range, Number], None],
    ) -> None:
        self.raw, self.rules, self.power = raw, rules, power  # how a symbol is declared that stands for a power of e
        self.vectors = {
            read.name(name, "vectors"): read.only(read.as_dict(own, f"vector {name}"), _VECTOR, f"vector {name}")
            for name, own in read.as_dict(raw.get("vectors"), "vectors").items()
        }
        self.functions = {
            read.name(name, "functions"): read.whole(own, f"function {name}")
            for name, own in read.as_dict(raw.get("functions"), "functions").items()
        }
        # What a theorem assumes, by the statement in the file.
        stated = read.as_dict(raw.get("statement") or {}, "statement")
        assumed = [
            read.as_dict(one, "an assumption") for one in read.as_list(stated.get("assumptions", []), "assumptions")
        ]
        self.assumed = frozenset(str(one.get("id")) for one in assumed)
        self.facts: list[Fact] = []
        self.lines = read.as_list(raw.get("facts"), "facts")
        self.defined: dict[str, int] = {}  # symbols that a fact says the value of
        self.trusted = Counter[str]()  # what is taken on trust, and how often
        self.setting = Counter[str]()  # what only the setting of a theorem can answer for
        self.unchecked: set[int] = set()  # lines that are among these
        self.parameters = {
            read.name(one, "parameters") for one in read.as_list(raw.get("parameters", []), "parameters")
        }
        # What symbols stand for: those of families, and the v of e^v, with _0 for the index.
        self.values: dict[str, Number] = {}
        self.families: dict[str, Number] = {}
        self.exponents: dict[str, Number] = {}
        self.contexts: dict[int, Context] = {0: root_of(self)}
        self.root = self.contexts[0]
        if read.as_list(raw.get("contexts"), "contexts")[:1] != [{"kind": "root"}]:
            raise WrongError("the first context is the root")

    def leave(self, book: "Counter[str]", what: str, line: Fact | None = None) -> None:
        """Note in a book that something is left open: a line, or what stands elsewhere."""
        book[what] += 1
        self.unchecked.update(() if line is None else (line.number,))

    # ------------------------------------------------------------------ declarations

    def context(self, number: int) -> Context:
        """Return a context of the file; ranges are made here, from how it came about."""
        if number in self.contexts:
            return self.contexts[number]
        listed = read.as_list(self.raw.get("contexts"), "contexts")
        if not 0 <= number < len(listed):
            raise WrongError(f"there is no context {number}")
        own = read.as_dict(listed[number], f"context {number}")
        above = read.whole(own.get("parent"), f"context {number}")
        if not 0 <= above < number:
            raise WrongError(f"context {number} is in no earlier one")
        parent = self.context(above)
        read.only(own, _CONTEXT.get(str(own.get("kind")), ("kind",)), f"context {number}")
        if own.get("kind") == "suppose":
            found = self._supposed(parent, read.whole(own.get("fact"), f"context {number}"))
        else:
            found = part_of(parent, own, f"context {number}")
        symbols_of(self, own.get("symbols", []), found)
        self.contexts[number] = found
        return found

    def _supposed(self, parent: Context, number: int) -> Context:
        """Return the context of a hypothesis: the symbol and all that the claim is made of are fixed in it."""
        where = f"fact {number}"
        line = self._line(number)
        on = read.name(read.as_dict(line.get("data"), where).get("on"), where)
        own, known = read.claim(line.get("claim"), where), parent.find(on)
        if line.get("rule") != "suppose" or not known.integer or known.arity or known.low is None or known.above:
            raise WrongError(f"{where}: induction is on a whole symbol with a lower end, which {on} is not")
        if not parent.integer(known.low):
            raise WrongError(f"{where}: {on} begins at {known.low.key}, which is not shown to be whole")
        if parent.has_one_value(on):
            raise WrongError(f"{where}: {on} has one value here: there is no induction on it")
        parent.about_every(on, own.names(), "on which the induction is")
        ranges = {} if known.high is None else {on: Range(known.low, known.high - ONE, integer=True)}
        return Context(parent, ranges, parent.closure({*own.names(), on}), ("suppose", number))

    def _line(self, number: int) -> dict[str, Any]:
        if not 0 <= number < len(self.lines):
            raise WrongError(f"there is no fact {number}")
        return read.as_dict(self.lines[number], f"fact {number}")

    # ------------------------------------------------------------------ facts

    def run(self) -> Iterator[Fact]:
        """Check all facts of a file, one after the other."""
        for number in range(len(self.facts), len(self.lines)):
            where = f"fact {number}"
            try:
                fact = self.read(number)
                where = fact.where
                self.keep(fact)
            except (WrongError, NumberError) as error:
                told = str(error)
                raise WrongError(told if told.startswith("fact ") else f"{where}: {told}") from None
            yield fact
        if missing := [name for name, by in self.defined.items() if not self._defines(by, name)]:
            raise WrongError(f"no fact says what {', '.join(missing)} is")

    def keep(self, fact: Fact) -> None:
        """Check a line that was read, and keep it; raises if it is wrong."""
        for side in (fact.claim.left, fact.claim.right):
            self.well_formed(side, fact.context)
        self._check(fact)
        self.facts.append(fact)

    def _check(self, fact: Fact) -> None:
        rule = self.rules.get(fact.rule)
        if rule is None:
            return _on_trust(self, fact)
        if rule.premises not in (None, len(fact.premises)):
            raise WrongError(f"it has {len(fact.premises)} premises, not {rule.premises}")
        rule.check(self, fact)
        if rule.own is not None:
            below = rule.own.union(*(one.axioms for one in (*fact.premises, *fact.beside)))
            if fact.axioms != below:
                raise WrongError(f"it rests on {', '.join(sorted(below)) or 'nothing'}, the file says otherwise")
        read.only(fact.data, fact.data.asked, "what the rule was given")
        return None

    def _defines(self, number: int, name: str) -> bool:
        found = 0 <= number < len(self.facts) and self.facts[number]
        return bool(found) and found.rule in DECLARING and found.data.get("name") == name  # type: ignore[union-attr]

    def fact(self, number: Any, before: str) -> Fact:
        """Return an earlier fact."""
        place = read.whole(number, before)
        if not 0 <= place < len(self.facts):
            raise WrongError(f"fact {place} is no earlier fact")
        return self.facts[place]

    def read(self, number: int) -> Fact:
        """Read a line."""
        line, where = self._line(number), f"fact {number}"
        rule = line.get("rule")
        if not isinstance(rule, str):
            raise WrongError("the rule must be a text")
        context = self.context(read.whole(line.get("context"), where))
        premises = tuple(self.fact(one, where) for one in read.as_list(line.get("premises"), where))
        for one in premises:
            if not context.within(one.context):
                raise WrongError(f"fact {one.number} is of another case")
        axioms = read.as_list(line.get("axioms"), where)
        if not all(isinstance(one, str) for one in axioms):
            raise WrongError("axioms are named by texts")
        data = read.Fields(read.as_dict(line.get("data"), where))
        vectors = "claim" not in line
        if vectors:
            left, right = (read.combination(line.get(side), where, vectors=True) for side in ("left", "right"))
            claim = Claim(left, right)
        else:
            claim = read.claim(line["claim"], where)
        read.only(line, (*_FACT, *(("left", "right") if vectors else ("claim",))), where)
        fact = Fact(number, rule, context, premises, frozenset(axioms), data, claim, vectors)
        fact.names.update(context.closure(claim.names().union(*(one.names for one in premises))))
        fact.touched.update(fact.names.union(*(one.touched for one in premises)))
        return fact

    def is_fixed(self, name: str, fact: Fact) -> bool:
        """Return whether a fact holds for one value of a symbol: it is fixed in a case, or vectors depend on it."""
        return name in fact.context.fixed or (bool(fact.axioms) and name in self.parameters)

    def number(self, fact: Fact, key: str) -> Number:
        """Return a number that a fact was made with; all that it is made of counts as used."""
        found = read.number(fact.data.get(key), f"{key}")
        self.use(fact, found)
        return found

    def use(self, fact: Fact, value: Number) -> None:
        """Note that a fact depends on a number, which must have a value."""
        self.has_value(value, fact.context)
        more = fact.context.closure(value.names())
        fact.names.update(more)
        fact.touched.update(more)

    def name(self, fact: Fact, key: str) -> str:
        """Return a name that a fact was made with."""
        return read.name(fact.data.get(key), key)

    def vector(self, fact: Fact, key: str) -> Combination:
        """Return a combination of vectors that a fact was made with."""
        return self.combination_of(fact, fact.data.get(key), key)

    def combination_of(self, fact: Fact, raw: Any, key: str) -> Combination:
        """Return a combination of vectors that stands in what a fact was made with."""
        found = read.combination(raw, key, vectors=True)
        self.well_formed(found, fact.context)
        fact.names.update(fact.context.closure(read.names(found)))
        fact.touched.update(fact.names)
        return found

    def expression(self, fact: Fact, key: str, *, vectors: bool = False) -> Combination:
        """Return an expression that a fact was made with, and need not depend on."""
        found = read.combination(fact.data.get(key), key, vectors=vectors)
        self.well_formed(found, fact.context)
        fact.touched.update(fact.context.closure(read.names(found)))
        return found

    # ------------------------------------------------------------------ what has a meaning

    def well_formed(self, side: Combination, context: Context) -> None:
        """Make sure that a combination means something: known names, whole indices, no division by what may be 0."""
        for atom, value in side.items():
            self.has_value(value, context)
            self._atom(atom, context)

    def has_value(self, value: Number, context: Context, bound: frozenset[str] = frozenset()) -> None:
        """Make sure that a number means something: known names, whole indices, no division by what may be 0."""
        if value.bottom != ONE:
            _, parts = value.bottom.factors()
            for part, _ in parts:
                if any(symbol.name in bound for symbol in part.symbols):
                    raise WrongError(f"a sum divides by {part.key}")
                context.need_nonzero(part)
        for symbol in value.symbols:
            self._symbol(symbol, context, bound)

    def _symbol(self, symbol: Symbol, context: Context, bound: frozenset[str]) -> None:
        if is_own(symbol.name):
            if symbol.name not in bound:
                raise WrongError(f"{symbol.name} is the index of a sum and stands outside of it")
        elif context.find(symbol.name).arity != len(symbol.indices):
            raise WrongError(f"{symbol.name} has another number of indices")
        for index in symbol.indices:
            self._index(index, context, bound)
        if symbol.exponent is None:
            return
        for one in symbol.exponent.symbols:
            self._symbol(one, context, bound)
            if not context.integer(of(one)):
                raise WrongError(f"the exponent of {symbol.key} is not whole")
            if one.name not in bound:
                context.need(of(one), f"the exponent of {symbol.key} may be negative")

    def _index(self, index: Number, context: Context, bound: frozenset[str]) -> None:
        self.has_value(index, context, bound)
        if not context.integer(index):
            raise WrongError(f"the index {index.key} is not whole")

    def _atom(self, atom: Atom, context: Context) -> None:
        bound: frozenset[str] = frozenset()
        for place, (lo, hi) in enumerate(atom.ranges):
            self._index(lo, context, bound)
            self._index(hi, context, bound)
            bound |= {f"_{place}"}
        self.has_value(atom.weight, context, bound)
        for symbol in atom.weight.symbols:
            for one in symbol.exponent.symbols if symbol.exponent is not None else ():
                if is_own(one.name):
                    context.need(
                        atom.ranges[int(one.name[1:])][0], f"the exponent of {symbol.key} in a sum may be negative"
                    )
        if atom.base.kind == "value" and self.functions.get(atom.base.function) != len(atom.base.indices):
            raise WrongError(f"{atom.base.function} is no function with so many indices")
        for index in atom.base.indices:
            self._index(index, context, bound)
        for vec in atom.base.vectors:
            if vec.name not in self.vectors or self.vectors[vec.name].get("arity") != len(vec.indices):
                raise WrongError(f"{vec.key} is no vector that is declared so")
            for index in vec.indices:
                self._index(index, context, bound)

    def times_of(self, one: Vec, which: str) -> list[Number] | None:
        """Return when a vector is known, or drawn; None if it is not random, or no noise."""
        raw = self.vectors[one.name].get(which)
        if raw is None:
            return None
        values = {f"@{place}": index for place, index in enumerate(one.indices)}
        return [read.number(part, f"{which} of {one.name}").put(values) for part in read.as_list(raw, one.name)]


def _on_trust(replay: Replay, fact: Fact) -> None:
    """Note a line whose rule is not known here; what it rests on may at least not be hidden."""
    if not fact.rule.isprintable() or len(fact.rule) > _LONG:
        raise WrongError("the rule has no name")
    if hidden := frozenset[str]().union(*(one.axioms for one in fact.premises)) - fact.axioms:
        raise WrongError(f"it rests on {', '.join(sorted(hidden))}, too, the file says otherwise")
    replay.leave(replay.trusted, f"a rule that this checker does not replay: {fact.rule}", fact)
