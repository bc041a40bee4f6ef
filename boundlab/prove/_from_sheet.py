"""What a sheet says, declared: symbols, numbers, vectors, who acts when, and sentences that proofs call by name."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import sympy

from boundlab.prove._context import FIRST, Context, Range
from boundlab.prove._errors import NoPartError
from boundlab.prove._kernel import Kernel
from boundlab.prove._modelled import Modelled
from boundlab.prove._scalars import ZERO, Scalar, scalar, variable
from boundlab.prove._steps import declare_step
from boundlab.prove._terms import NOTHING
from boundlab.prove._vectors import Known, Law, Register, Slope
from boundlab.prove.sheets import Axiom, Reader, Sentences, Shorthand, parameters, parsed, several

_LETTERS = {"star": "a minimiser x*", "h[i]": "a subgradient of f_i at x*; their mean is 0"}


class FromSheet(Modelled):
    """The part of a setting that stands in a sheet."""

    sheet: Mapping[str, Any]
    reader: Reader
    context: Context
    kernel: Kernel
    own_symbols: set[str]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    else:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or "theorem" not in self.__dict__:
                raise AttributeError(name)
            if name in self.__dict__.get("own_symbols", ()):
                return variable(name)
            theorem = self.theorem
            raise NoPartError(
                f"the setting of {theorem.id} has no {name}: a proof of it is written for runs of {theorem.algorithm}"
            )

    def declare_sheet(self) -> None:
        """Declare what the sheet says, and give its names to proofs."""
        read = self.reader
        self.assume(*(tag for tag, only in self.sheet.get("assumes", {}).items() if read.holds(only)))
        read.give("horizon", self.symbol(self.theorem.horizon_symbol))
        asked = self.theorem.read | {str(one.quantity) for one in self.theorem.conditions}
        for name, own in self.sheet.get("symbols", {}).items():
            if name not in self.own_symbols and (own.get("always") or name in asked):
                known = self._below_its_limit(name) if own.get("limited") else self._range(name)
                made = self._written_range(own, known)
                self.own_symbol(name, replace(made, below=self._leaves_no_step(name, made.high)))
        for name, step in self.sheet.get("formulas", {}).items():
            read.give(name, self.formula(self.theorem.step[step]))
        for name, own in self._those("shorthands"):
            read.give(name, self._shorthand(**own))
        for name, own in self._those("numbers"):
            self._family(name, own)
        for name, text in self.sheet.get("indices", {}).items():
            read.give(name, self._index(name, text))
        self._named()
        for name, own in self.sheet.get("vectors", {}).items():
            self._vector(name, own)
        self._name_parts()
        for name, step in self.sheet.get("steps", {}).items():
            self.__dict__[name] = read.give(name, declare_step(self, step))
        for name, of in self.sheet.get("roots", {}).items():
            self.own_symbols.add(name)
            self.root_fact = self.kernel.root(name, self.kernel.values.get(of, self.symbol(of)))
        self.law = self._law()
        said = {name: Axiom(**own) for name, own in self._those("axioms")}
        self.sentences = Sentences(self, read, said)
        methods = {name: partial(self.sentences.cite, name) for name in said if " " not in name}
        for name in {one.partition(" ")[0] for one in said if " " in one}:
            methods[name] = partial(self._of_word, name)
        self.__dict__.update(methods)

    def _leaves_no_step(self, name: str, end: Scalar | None) -> bool:
        """Return whether a condition leaves no positive step at an end: there is no run there that it speaks of."""
        value = None if end is None else end.constant
        if value is None:
            return False
        limits = [one.limit for one in self.theorem.conditions if str(one.quantity) in self.theorem.step]
        if name not in self.theorem.symbols:
            return False
        symbol, number = self.theorem.symbols[name].symbol, sympy.Rational(value.numerator, value.denominator)
        return any(bool(one.subs(symbol, number).is_nonpositive) for one in limits)

    def _name_parts(self) -> None:
        """Give vectors, numbers, indices and shorthands to proofs; those that a method has the name of stay unnamed."""
        for table in ("vectors", "numbers", "indices", "shorthands"):
            for name in self.sheet.get(table, {}).keys() & self.reader.known.keys():
                if table == "shorthands" or not hasattr(type(self), name):
                    self.__dict__[name] = self.reader.known[name]

    @cached_property
    def letters(self) -> Mapping[str, str]:
        """What vectors and numbers stand for, as claims print them, for readers; nothing is decided by it."""
        told = {**self.sheet.get("numbers", {}), **self.sheet.get("vectors", {})}
        written = {name: f"{name}[{one['of']}]" if "of" in one else name for name, one in told.items()}
        own = {written[name]: str(one["means"]) for name, one in told.items() if "means" in one}
        return {**_LETTERS, **own, **self.sheet.get("letters", {})}

    def _those(self, table: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the entries of a table that are about this theorem."""
        for name, own in self.sheet.get(table, {}).items():
            if self.reader.holds(own.get("only", "")) or "otherwise" in own:
                yield name, own

    def _of_word(self, name: str, word: str, *more: Any) -> Any:
        return self.sentences.cite(f"{name} {word}", *more)

    def _written_range(self, own: Mapping[str, Any], known: Range, **names: Any) -> Range:
        low, high = (
            self.reader.end(own.get(key), end, **names) for key, end in (("low", known.low), ("high", known.high))
        )
        above = own.get("above", known.above and low is known.low)
        above = self.reader.holds(above) if isinstance(above, str) else above
        return Range(low=low, high=high, above=above, integer=own.get("whole", known.integer))

    def _shorthand(self, of: str = "", only: str = "", otherwise: str = "", **own: str) -> Any:
        """Return what a shorthand stands for; with parameters, by them."""
        found = Shorthand(self.reader, parameters(of), own["is"] if self.reader.holds(only) else otherwise)
        return found if of else found()

    def _family(self, name: str, own: Mapping[str, Any]) -> None:
        of = parameters(own["of"])
        made = self._written_range(own, Range(low=ZERO), **{of[0][0]: FIRST})
        self.context.declare(name, replace(made, arity=len(of)))
        self.own_symbols.add(name)
        self.reader.give(name, partial(variable, name))

    def _index(self, name: str, text: str) -> Scalar:
        inside = parsed(text)
        assert isinstance(inside, ast.Compare)  # noqa: S101  (it says between which ends it lies)
        ends = [self.reader.value(one, {}) for one in (inside.left, *inside.comparators[1:])]
        index: Scalar = self.index(name, *ends)
        return index

    def _vector(self, name: str, own: Mapping[str, Any]) -> None:
        read, of = self.reader, [one for one, _ in parameters(own.get("of", ""))]
        if not read.holds(own.get("only", "")):
            read.give(name, lambda *_: NOTHING)
            return

        def times(text: str) -> Callable[..., tuple[Scalar, ...]]:
            parts = several(parsed(text))
            return lambda *at: tuple(scalar(read.value(one, dict(zip(of, at, strict=True)))) for one in parts)

        when = {key: times(own[key]) for key in ("clock", "drawn") if key in own}
        vectors, here = self.kernel.vectors, {one: variable(one) for one in of}
        vectors.declare(name, Known(len(of), **when))
        read.give(name, partial(self.vec, name) if of else self.vec(name))
        if "slope" in own:
            at = read.value(parsed(own["slope"]), here).vec
            which = () if self.one_function else (read.number(own["client"], **here),)
            vectors.declare_slope(name, Slope(tuple(of), "f", which, at))

    def _law(self) -> Law | None:
        """Return who acts when, where that is drawn."""
        own = self.sheet.get("law")
        if own is None or not self.reader.holds(own.get("only", "")):
            return None
        registers = {
            name: Register(one["owner"], self._shorthand(one["of"], **{"is": one["is"]}))
            for name, one in own["registers"].items()
        }
        p, p_s = self._shorthand("i", **{"is": own["p"]}), self.reader.number(own["p_s"])
        return Law(p, p_s, self.n, "i", registers, frozenset(own["by"]))

    def _named(self) -> None:
        """Declare numbers that are to be shown to lie where they do."""
