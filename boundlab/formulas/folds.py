"""Parts of formulas beside SymPy's own: sums, products and extrema over an index, entries of vectors, cases.

Sums are never summed in closed form: every arithmetic adds up the terms that there are. SymPy's own ``Sum`` is not
used, since it counts an empty range backwards and is simplified by whoever meets it.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, final

import sympy
from sympy.printing.precedence import PRECEDENCE

MOST_TERMS: Final = 10**6
MOST_DEPTH: Final = 3
_MOST_WRITTEN: Final = 2000


IF: Final = "If"


class OwnPart(sympy.Expr):  # type: ignore[misc]  # SymPy has no types
    """A part of a formula that SymPy does not have; it is real.

    ``as_text`` is how it is written so that it is read back, ``as_latex`` in LaTeX and ``for_people`` on one line: each
    with a place for each of its arguments.
    """

    is_real = True
    as_text: ClassVar[str]
    as_latex: ClassVar[str]
    for_people: ClassVar[str]

    def shown(self, form: str, show: Callable[[Any], str]) -> str:
        """Return it in a form, as a printer shows its arguments."""
        return form.format(*map(show, self.args))

    def _sympystr(self, printer: Any) -> str:
        return self.shown(self.as_text, printer._print)

    def _latex(self, printer: Any) -> str:
        return self.shown(self.as_latex, printer._print)


class Signed(OwnPart):
    """A number of which is known what all of some parts are."""

    def parts(self) -> Sequence[Any]:
        """Return what it is one of, or what it is made of without changing these facts."""
        raise NotImplementedError

    def every(self, fact: str) -> bool | None:
        """Return True where a fact, such as ``positive``, holds of all parts; None: it is not known."""
        return True if all(getattr(one, f"is_{fact}") for one in self.parts()) else None

    def _eval_is_nonnegative(self) -> bool | None:
        return self.every("nonnegative")

    def _eval_is_positive(self) -> bool | None:
        return self.every("positive")


class FoldIndex(sympy.Symbol):  # type: ignore[misc]  # SymPy has no types
    """The variable of a fold. Its name has a prime, which no symbol of a theorem has."""

    @classmethod
    def named(cls, name: str, first: sympy.Expr = sympy.S.One) -> "FoldIndex":
        """Return the index that a formula calls so, which runs from ``first`` on."""
        facts = {fact: True for fact in ("positive", "nonnegative") if getattr(first, f"is_{fact}")}
        return cls(f"{name}′", integer=True, **facts)

    @property
    def plain(self) -> str:
        """The name in the formula."""
        return str(self.name.removesuffix("′"))

    def _sympystr(self, _printer: Any) -> str:
        return self.plain

    def _latex(self, _printer: Any) -> str:
        return self.plain


class ClientVector(sympy.Symbol):  # type: ignore[misc]
    """Symbol that stands for one number per client; clients are counted from 1."""

    begins: ClassVar[int] = 1


@final
class EntryOf(Signed):
    """EntryOf of a vector, by its place from 0: a :class:`ClientVector`, or a tuple of its numbers.

    Examples
    --------
    >>> G = ClientVector("G", nonnegative=True)
    >>> EntryOf(G, FoldIndex.named("i") - 1)
    G[i]
    >>> EntryOf(sympy.Tuple(5, 7), 1)
    7

    A number in place of the vector is that of every client, such as no noise.

    >>> EntryOf(0, FoldIndex.named("i") - 1)
    0
    """

    as_text, as_latex, for_people = "{}[{}]", "{{{}}}_{{{}}}", "{}[{}]"

    def __new__(cls, vector: Any, place: Any) -> Any:
        """Return the number where vector and place are known; nan beyond the end."""
        vector, place = sympy.sympify(vector), sympy.sympify(place)
        if vector.is_Number:
            return vector
        if isinstance(vector, sympy.Tuple) and place.is_number:
            inside = place.is_Integer and 0 <= place < len(vector)
            return vector[int(place)] if inside else sympy.nan
        return sympy.Expr.__new__(cls, vector, place)

    def parts(self) -> Sequence[Any]:
        """Return the entries, or the vector that stands for them."""
        vector = self.args[0]
        return vector.args if isinstance(vector, sympy.Tuple) else (vector,)

    def shown(self, form: str, show: Callable[[Any], str]) -> str:
        """Return vector and place, the place as formulas count it."""
        vector, place = self.args
        return form.format(show(vector), show(place + getattr(vector, "begins", 0)))


@final
class StepAt(OwnPart):
    """The step size of iteration k of the run, α_k: a number once the run's steps are known.

    The arguments are the symbol of the step size and k.
    """

    is_nonnegative = True
    as_text, as_latex, for_people = "alpha_at({1})", "{{{}}}_{{{}}}", "{}[{}]"

    def __new__(cls, step: Any, k: Any) -> Any:
        """Return the step of iteration k."""
        return sympy.Expr.__new__(cls, sympy.sympify(step), sympy.sympify(k))


class IndexFold(Signed):
    """Terms at all whole numbers from ``first`` to ``last``, put together by one operation.

    The arguments are the term, its :class:`FoldIndex`, and both ends; ``of_none`` has the facts of a fold of no terms.
    """

    of_none: ClassVar[frozenset[str]] = frozenset()
    word: ClassVar[str]
    sign: ClassVar[str]
    latex: ClassVar[str]
    as_text, for_people = "{word}({}, {}, {}, {})", "{sign}({}, {} = {}…{})"

    def __new__(cls, body: Any, index: Any, first: Any, last: Any) -> Any:
        """Make a fold, none of whose terms is computed."""
        return sympy.Expr.__new__(cls, *map(sympy.sympify, (body, index, first, last)))

    @property
    def free_symbols(self) -> set[Any]:
        """The symbols that need a value."""
        body, index, first, last = self.args
        return set(body.free_symbols - {index} | first.free_symbols | last.free_symbols)

    @property
    def bound_symbols(self) -> list[Any]:
        """The index."""
        return [self.args[1]]

    @property
    def is_number(self) -> bool:
        """True if no symbol is left."""
        return not self.free_symbols

    @property
    def depth(self) -> int:
        """How many folds stand in one another."""
        return 1 + max((one.depth for one in self.args[0].atoms(IndexFold)), default=0)

    @property
    def most_terms(self) -> int:
        """How many terms are computed at most: fewer where folds stand in one another."""
        depth: int = self.depth
        return int(MOST_TERMS ** (1.0 / depth) + 0.5)

    @property
    def never_empty(self) -> bool:
        """True if the last index is known not to lie before the first."""
        return bool((self.args[3] - self.args[2]).is_nonnegative)

    def parts(self) -> Sequence[Any]:
        """Return the term."""
        return self.args[:1]  # type: ignore[no-any-return]  # SymPy has no types

    def every(self, fact: str) -> bool | None:
        """Return what holds of all terms, where it holds of none, too, or there are some."""
        return super().every(fact) if fact in self.of_none or self.never_empty else None

    def terms(self) -> list[Any] | None:
        """Return the terms, or None where the ends are no whole numbers or there are too many of them."""
        body, index, first, last = (one.doit() if isinstance(one, IndexFold) else one for one in self.args)
        if not (first.is_Integer and last.is_Integer) or last - first >= _MOST_WRITTEN ** (1 / self.depth):
            return None
        return [body.xreplace({index: sympy.Integer(k)}) for k in range(int(first), int(last) + 1)]

    def together(self, terms: list[Any]) -> Any:
        """Put terms together."""
        raise NotImplementedError

    def of_equal_terms(self) -> Any:
        """Return a sum or product whose terms are all alike in closed form, everything else as it is."""
        body, index, first, last = self.args
        count = last - first + 1
        if index in body.free_symbols or not count.is_nonnegative:
            return self
        return self.repeated(body, count)

    def repeated(self, term: Any, count: Any) -> Any:
        """Return a fold of ``count`` equal terms."""
        return self

    def doit(self, **_hints: Any) -> Any:
        """Return the terms put together, where they can be written down."""
        found = self.terms()
        return self if found is None else self.together([one.doit() for one in found])

    def _eval_evalf(self, prec: int) -> Any:
        found = self.doit()
        return None if found is self else found._eval_evalf(prec)  # SymPy asks again and again whoever answers itself

    def apart_from(self, symbols: set[Any]) -> "IndexFold":
        """Return the same fold with an index that has the name of none of some symbols: values go by names."""
        body, index, *ends = self.args
        if index.name not in {one.name for one in symbols}:
            return self
        taken = {one.name for one in symbols | body.free_symbols}
        plain = f"{index.plain}_"
        while f"{plain}′" in taken:
            plain += "_"
        other = FoldIndex.named(plain, ends[0])
        found: IndexFold = self.func(body.xreplace({index: other}), other, *ends)
        return found

    def _eval_subs(self, old: Any, new: Any) -> Any:
        if old == self.args[1]:
            return self
        other = self.apart_from(new.free_symbols) if old in self.args[0].free_symbols else self
        return None if other is self else other._subs(old, new)

    def _xreplace(self, rule: Any) -> tuple[Any, bool]:
        # The index of an inner fold may have the name of an outer one's: each fold binds its own.
        if not hasattr(rule, "items"):
            rest = rule
        else:
            rest = {old: new for old, new in rule.items() if old != self.args[1]}
            free = self.args[0].free_symbols
            entering = set().union(*(new.free_symbols for old, new in rest.items() if old in free))
            if (other := self.apart_from(entering)) is not self:
                return other._xreplace(rule)[0], True
        body, changed = self.args[0]._xreplace(rest)
        ends = [one._xreplace(rule) for one in self.args[2:]]
        if self in rule:
            return rule[self], True
        if not changed and not any(moved for _, moved in ends):
            return self, False
        return self.func(body, self.args[1], *(end for end, _ in ends)), True

    def shown(self, form: str, show: Callable[[Any], str]) -> str:
        """Return it with its word, or its sign."""
        return form.format(*map(show, self.args), word=self.word, sign=self.sign)

    def _latex(self, printer: Any) -> str:
        body, index, first, last = self.args
        ends = f"_{{{index.plain}={printer._print(first)}}}^{{{printer._print(last)}}}"
        return rf"\left({self.latex}{ends} {printer.parenthesize(body, PRECEDENCE['Mul'])}\right)"


@final
class SumFold(IndexFold):
    """Sum; 0 over an empty range."""

    word, sign, latex = "Sum", "Σ", r"\sum"
    of_none = frozenset({"nonnegative"})

    def repeated(self, term: Any, count: Any) -> Any:
        """Return the product."""
        return term * count

    def together(self, terms: list[Any]) -> Any:
        """Return the sum."""
        return sympy.Add(*terms)

    def _eval_derivative(self, symbol: Any) -> Any:
        body, index, first, last = self.args
        if symbol in first.free_symbols | last.free_symbols:
            return None
        return SumFold(body.diff(symbol), index, first, last)


@final
class ProdFold(IndexFold):
    """Product; 1 over an empty range."""

    word, sign, latex = "Prod", "Π", r"\prod"
    of_none = frozenset({"nonnegative", "positive"})

    def repeated(self, term: Any, count: Any) -> Any:
        """Return the power."""
        return term**count

    def together(self, terms: list[Any]) -> Any:
        """Return the product."""
        return sympy.Mul(*terms)


@final
class MaxFold(IndexFold):
    """Largest term; none over an empty range."""

    word, sign, latex = "MaxOver", "max", r"\max"

    def together(self, terms: list[Any]) -> Any:
        """Return the largest."""
        return sympy.Max(*terms) if terms else -sympy.oo


@final
class MinFold(IndexFold):
    """Smallest term; none over an empty range."""

    word, sign, latex = "MinOver", "min", r"\min"

    def together(self, terms: list[Any]) -> Any:
        """Return the smallest."""
        return sympy.Min(*terms) if terms else sympy.oo


@final
class Choice(Signed):
    """One of two values: ``If(low <= high, then, otherwise)``. Only the one that is taken need be defined.

    Examples
    --------
    >>> k = sympy.Symbol("k")
    >>> Choice(k, 3, 1 / k, 0).subs(k, 4)
    0
    """

    word: ClassVar[str] = IF
    as_text, for_people = f"{IF}({{}} <= {{}}, {{}}, {{}})", "({2} if {0} ≤ {1}, else {3})"
    as_latex = r"\left({2}\ \mathrm{{if}}\ {0} \leq {1},\ \mathrm{{else}}\ {3}\right)"

    def __new__(cls, low: Any, high: Any, then: Any, otherwise: Any) -> Any:
        """Return the value where numbers decide, or where both are the same."""
        low, high, then, otherwise = map(sympy.sympify, (low, high, then, otherwise))
        if low.is_Number and high.is_Number:
            return then if low <= high else otherwise
        # What signs of symbols decide, they decide for all numbers.
        if then == otherwise or (high - low).is_nonnegative:
            return then
        return otherwise if (low - high).is_positive else sympy.Expr.__new__(cls, low, high, then, otherwise)

    def doit(self, **hints: Any) -> Any:
        """Return the value where its sides can be worked out; that of the other branch is not asked for."""
        low, high, *values = self.args
        found = Choice(low.doit(**hints), high.doit(**hints), *values)
        return found if isinstance(found, Choice) else found.doit(**hints)

    def parts(self) -> Sequence[Any]:
        """Return both values."""
        values: Sequence[Any] = self.args[2:]
        return values

    def _eval_is_integer(self) -> bool | None:
        return self.every("integer")


FOLDS: Final[dict[str, type[IndexFold]]] = {one.word: one for one in (SumFold, ProdFold, MaxFold, MinFold)}


MEAN: Final = "mean_i"
OVER_CLIENTS: Final[dict[str, type[IndexFold]]] = {MEAN: SumFold, "Sum_i": SumFold, "max_i": MaxFold, "min_i": MinFold}
"""Folds over the clients i = 1, …, n, by name; the mean is divided by n."""
STEP_AT: Final = "alpha_at"
NO_STEPS: Final = "alpha_at(k) before the steps of a run are known (an option, decay=…, says what they are)"
NAMES: Final = frozenset((*FOLDS, *OVER_CLIENTS, STEP_AT, IF))


def sides(text: str, signs: str) -> tuple[str, str, str] | None:
    """Return left side, sign and right side of an inequality; None where not one sign stands between two sides.

    Parameters
    ----------
    signs
        A pattern of the signs; those in parentheses, as in ``If(a <= b, x, y)``, divide nothing.
    """
    found = [
        one for one in re.finditer(signs, text) if text.count("(", 0, one.start()) == text.count(")", 0, one.start())
    ]
    return (text[: found[0].start()], found[0][0], text[found[0].end() :]) if len(found) == 1 else None
