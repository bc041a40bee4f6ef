"""Reads numbers, atoms and claims of a proof file; every name and every number in it is looked at."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from boundlab.recheck._forms import WrongError, as_dict as as_dict, as_list as as_list, fraction, only as only
from boundlab.recheck._numbers import ONE, ZERO, Number, NumberError, Symbol, of, once, rational
from boundlab.recheck._terms import Atom, Base, Combination, Open, Vec, minus, plus, product, times

_NAME = re.compile(r"([^\W\d_]\w*'*|@[0-9ik]|_[0-9])\Z")
_LARGEST = 1 << 16


@final
@dataclass(frozen=True)
class Claim:
    """left ≤ right, left ≥ right or left = right."""

    left: Combination
    right: Combination
    relation: str = "="

    @cached_property
    def body(self) -> Combination:
        """What is ≥ 0, or = 0."""
        return minus(self.right, self.left) if self.relation == "<=" else minus(self.left, self.right)

    @property
    def equality(self) -> bool:
        """Whether it is an equation."""
        return self.relation == "="

    def names(self) -> set[str]:
        """Return all names in it."""
        return names(self.left) | names(self.right)


def names(one: Mapping[Atom, Number]) -> set[str]:
    """Return all free names in a combination."""
    return set().union(*(atom.names() | value.names() for atom, value in one.items()))


def text(one: Mapping[Atom, Number]) -> str:
    """Return a combination as a reader would write it."""
    parts = []
    for atom, value in sorted(one.items(), key=lambda term: term[0].key):
        base = atom.base
        vectors = [vector.key for vector in base.vectors]
        words = (
            {
                "one": "",
                "value": f"E {base.function}[{';'.join(i.key for i in base.indices)}]({', '.join(vectors)})",
                "inner": f"E⟨{', '.join(vectors)}⟩" if vectors[0:1] != vectors[1:2] else f"E‖{vectors[0]}‖²",
                "vector": "".join(vectors),
            }[base.kind]
            if base.kind != "one"
            else ""
        )
        sums = "".join(f"Σ_{{{lo.key} ≤ _{place} < {hi.key}}} " for place, (lo, hi) in enumerate(atom.ranges))
        factor = "" if value == ONE and (words or sums) else f"({value.key})" if " " in value.key else value.key
        weight = "" if atom.weight == ONE else f"{atom.weight.key}"
        parts.append(
            "·".join(part for part in (factor, f"{sums}{weight}{'·' * bool(weight and words)}{words}") if part)
        )
    return " + ".join(parts) or "0"


def claim_text(one: Claim) -> str:
    """Return a claim as a reader would write it."""
    return f"{text(one.left)} {({'<=': '≤', '>=': '≥'}).get(one.relation, '=')} {text(one.right)}"


@final
class Fields(dict[str, Any]):
    """What a fact was made with, and which of it was asked for."""

    def __init__(self, raw: dict[str, Any]) -> None:
        super().__init__(raw)
        self.asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        """Return what stands there, and note that it was asked for."""
        self.asked.add(key)
        return super().get(key, default)


def whole(raw: Any, where: str) -> int:
    """Return a whole number; raises if it is none."""
    if not isinstance(raw, int) or isinstance(raw, bool) or abs(raw) > _LARGEST:
        raise WrongError(f"{where} must be a whole number")
    return raw


def name(raw: Any, where: str) -> str:
    """Return a name; raises if it is none, so that texts of numbers stay unambiguous."""
    if not isinstance(raw, str) or not _NAME.match(raw) or len(raw) > 80:
        raise WrongError(f"{where}: {str(raw)[:40]!r} is no name")
    return raw


def polynomial(raw: Any, where: str) -> Number:
    """Return [[coefficient, [[symbol, power], …]], …] as a number."""
    return once("polynomial", repr(raw), lambda: _polynomial(raw, where))


def _polynomial(raw: Any, where: str) -> Number:
    return sum((_product(as_list(term, where, 2), where) for term in as_list(raw, where)), start=ZERO)


def _product(term: list[Any], where: str) -> Number:
    coefficient, powers = term
    found = rational(fraction(coefficient, where))
    for pair in as_list(powers, where):
        own, count = as_list(pair, where, 2)
        found = found * symbol(own, where).power(whole(count, where))
    return found


def symbol(raw: Any, where: str) -> Number:
    """Return a symbol, a member of a family or a symbolic power as a number."""
    if isinstance(raw, str):
        return of(Symbol(name(raw, where)))
    own, indices, exponent = as_list(raw, where, 3)
    base = of(Symbol(name(own, where), tuple(polynomial(one, where) for one in as_list(indices, where))))
    return base if exponent is None else base ** polynomial(exponent, where)


def number(raw: Any, where: str) -> Number:
    """Return a number."""
    return once("number", repr(raw), lambda: _number(raw, where))


def _number(raw: Any, where: str) -> Number:
    own = only(as_dict(raw, where), ("top", "below"), where)
    found = polynomial(own.get("top"), where)
    for pair in as_list(own.get("below", []), where):
        factor, count = as_list(pair, where, 2)
        try:
            found = found / polynomial(factor, where).power(whole(count, where))
        except NumberError as error:
            raise WrongError(f"{where}: {error}") from None
    return found


def vec(raw: Any, where: str) -> Vec:
    """Return a vector."""
    own, indices = as_list(raw, where, 2)
    return Vec(name(own, where), tuple(polynomial(one, where) for one in as_list(indices, where)))


def base(raw: Any, where: str) -> Base:
    """Return what a sum may be of."""
    match as_list(raw, where):
        case ["one"]:
            return Base("one")
        case ["inner", first, second]:
            return product(vec(first, where), vec(second, where))
        case ["value", function, indices, at]:
            which = tuple(polynomial(one, where) for one in as_list(indices, where))
            return Base("value", (vec(at, where),), name(function, where), which)
        case ["vector", own, indices]:
            return Base("vector", (vec([own, indices], where),))
    raise WrongError(f"{where}: {str(raw)[:40]!r} is no atom")


def combination(raw: Any, where: str, *, vectors: bool = False) -> Combination:
    """Return [[coefficient, atom], …] in the one form."""
    parts = []
    for term in as_list(raw, where):
        coefficient, atom = as_list(term, where, 2)
        own = number(coefficient, where)
        match atom:
            case ["sum", ranges, weight, inside]:
                opened = _sum(ranges, weight, inside, where)
                parts.append(times(once("sum", repr(atom), opened.closed), own) if own else {})
            case _:
                parts.append({Atom(base(atom, where)): own})
    found = plus(*parts)
    if any((atom.base.kind == "vector") is not vectors for atom in found):
        raise WrongError(f"{where}: vectors and numbers are mixed")
    return found


def _sum(ranges: Any, weight: Any, inside: Any, where: str) -> Open:
    ends = []
    for place, pair in enumerate(as_list(ranges, where)):
        lo, hi = (polynomial(one, where) for one in as_list(pair, where, 2))
        late = {f"_{later}" for later in range(place, 10)} & (lo.names() | hi.names())
        if late:
            raise WrongError(f"{where}: the range of index {place} names {', '.join(sorted(late))}")
        ends.append((lo, hi))
    return Atom(base(inside, where), tuple(ends), polynomial(weight, where)).opened()


def claim(raw: Any, where: str) -> Claim:
    """Return a claim."""
    own = only(as_dict(raw, where), ("left", "relation", "right"), where)
    relation = own.get("relation")
    if relation not in ("<=", ">=", "="):
        raise WrongError(f"{where}: {str(relation)[:10]!r} is no relation")
    return Claim(combination(own.get("left"), where), combination(own.get("right"), where), relation)
