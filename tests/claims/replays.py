"""Cases of proofs/counterexamples, replayed: exact sides, terms and models, and fractions as the pages write them."""

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from page_makers import texts
from page_numbers import ROOT

import boundlab as bl

CASES = ROOT / "proofs" / "counterexamples"


@cache
def case(name: str) -> Any:
    """Return a file of proofs/counterexamples."""
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))


def sides(name: str) -> tuple[float, float]:
    """Return left side and bound of a counterexample, as its file has them."""
    return case(name)["claim"]["left"], case(name)["claim"]["bound"]


class Replay:
    """A case in exact numbers, with the way there in words."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.found = bl.exact(document["theorem"], document)
        self.words = list(texts(self.found.page()))
        rational = {name: value for name, value in self.found.values.items() if "sqrt" not in value}
        self.values = {name: Fraction(value) for name, value in rational.items()}

    @property
    def sides(self) -> tuple[Fraction, Fraction]:
        """Left side and bound, where both are rational."""
        left, right = (Fraction(one.partition(" = ")[0]) for one in (self.found.left_text, self.found.right_text))
        return left, right

    @property
    def terms(self) -> dict[str, Fraction]:
        """The terms of the bound that are not 0."""
        start = next(place for place, one in enumerate(self.words) if one.startswith("initial = "))
        found: dict[str, Fraction] = {}
        term = ""
        for one in self.words[start : next(i for i, line in enumerate(self.words) if line.startswith("right = "))]:
            name, equals, value = one.partition(" = " if not one.startswith(" ") else "= ")
            term = name.strip() or term
            if equals and set(value) <= set("0123456789/") and term not in found:
                found[term] = Fraction(value)
        return {name: value for name, value in found.items() if value}

    @property
    def models(self) -> list[Fraction]:
        """The server's models, as far as they are listed."""
        (table,) = self.found.derivation.tables()
        return [Fraction(row[-2].exact.replace("−", "-")) for row in table.rows if "…" not in row[0].exact]

    def said(self, start: str) -> str:
        """Return what stands after these words, where one line begins so."""
        (line,) = {one for one in self.words if one.startswith(start)}
        return line.removeprefix(start)


@cache
def replay(name: str) -> Replay:
    """Return a case of proofs/counterexamples, replayed."""
    return Replay(case(name))


def slopes(name: str) -> tuple[str, ...]:
    """Return the slopes of the clients where theirs are largest, without signs."""
    problem = case(name)["problem"]
    return tuple(f"{weight * problem['delta']:g}" for weight in problem["w"])


def tex(number: Fraction | int) -> str:
    r"""Return a fraction as the pages write it: \frac65, \frac1{28}."""
    number = Fraction(number)
    if number.denominator == 1:
        return str(number)
    parts = (str(one) if one < 10 else f"{{{one}}}" for one in (abs(number.numerator), number.denominator))
    return ("-" if number < 0 else "") + r"\frac" + "".join(parts)


def comparisons(left: Fraction, right: Fraction) -> Sequence[list[str]]:
    """Return the numbers of left > right: as fractions, over their common denominator, and without it."""
    common = math.lcm(left.denominator, right.denominator)
    tops = [str(one * common) for one in (left, right)]
    plain = [part for one in (left, right) for part in str(one).split("/")]
    return plain, [tops[0], str(common), tops[1], str(common)], tops
