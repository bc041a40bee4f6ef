"""What is known of symbols: ranges in a chain, and the signs that follow.

A range's ends may name symbols that were declared before it. So every question about a sign becomes one about a
polynomial in variables that take all values ≥ 0: x ≥ a is a + t, 0 < x ≤ b is b/(1 + t), a ≤ x ≤ b is
(a + b·t)/(1 + t). These go to :mod:`boundlab.signs`: coefficients, a cover by cones, z3.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import Any, final

import sympy
from sympy.polys.rings import PolyRing

from boundlab.prove._errors import ProofError, only_for_rules
from boundlab.prove._ranges import FIRST as FIRST
from boundlab.prove._ranges import Range as Range
from boundlab.prove._ranges import Ranges
from boundlab.prove._scalars import (
    ONE,
    Monomial,
    Number,
    Poly,
    Scalar,
    Symbol,
    check_name,
    is_bound,
    mapped,
    of_symbol,
    scalar,
)
from boundlab.signs import SignProof, Solver, polynomial_sign

_MAX_DEGREE, _MAX_DEPTH = 24, 60
_FRESH = "t."
_ZERO = scalar(0)


@final
class Context(Ranges):
    """Ranges of symbols; a child narrows some of them, or assumes something.

    Parameters
    ----------
    parent
        What holds there holds here.
    why
        What distinguishes it from its parent, in words.
    """

    def __init__(self, parent: "Context | None" = None, why: str = "", solver: Solver | None = None) -> None:
        super().__init__(parent)
        self.why = why
        self.solver: Solver | None = solver if parent is None else parent.solver
        self._signs: dict[Any, SignProof] = {}
        self.by_solver = False  # at the root: whether a sign since the last fact is known from z3 alone
        self.shown: dict[str, SignProof] = {}  # every sign that was asked for and shown, by its text

    # ------------------------------------------------------------------ declarations

    def declare(self, name: str, own: Range) -> Scalar:
        """Declare a symbol or a family, once.

        Raises
        ------
        ProofError
            If the name is known, or an end names something unknown, or itself.
        """
        check_name(name)
        if self.find(name) is not None or name in self._taken:
            raise ProofError(f"{name} is declared twice")
        unknown = sorted(other for other in own.names() if self.find(other) is None)
        if unknown:
            raise ProofError(f"the range of {name} names {', '.join(unknown)}, which is not declared before it")
        for end in (own.low, own.high):
            if end is None:
                continue
            if not FIRST.names() <= end.names():
                self.defined(end)
            elif own.arity < 1 or end.factors or not self.integer(end, frozenset(FIRST.names())):
                raise ProofError(f"an end of {name} that depends on its index is to be a whole number")
        self._own[name] = own
        self._taken.add(name)
        return _ZERO if own.arity else of_symbol(Symbol(name))

    def trial(self) -> AbstractContextManager[None]:
        """Declare and ask what is forgotten afterwards: the declarations, and every sign that was found with them."""
        only_for_rules("a trial")
        return self._trial()

    def known_or_taken(self, name: str) -> bool:
        """Return whether a name is declared, or was in some case."""
        return name in self._taken or self.find(name) is not None

    @contextmanager
    def _trial(self) -> Iterator[None]:
        kept = dict(self._own), set(self._taken), dict(self._signs), dict(self.shown), self.by_solver
        try:
            yield
        finally:
            self._own, taken, self._signs, self.shown, self.by_solver = kept
            # All cases share it.
            self._taken.clear()
            self._taken.update(taken)

    # ------------------------------------------------------------------ signs

    def nonnegative(self, value: Number) -> SignProof:
        """Return how a number is shown to be ≥ 0 for all values in the ranges; NOT is "no proof"."""
        return self._sign(scalar(value), strict=False)

    def positive(self, value: Number) -> SignProof:
        """Return how a number is shown to be > 0."""
        return self._sign(scalar(value), strict=True)

    def nonzero(self, value: Number) -> SignProof:
        """Return how a number is shown not to be 0, factor by factor."""
        own = scalar(value)
        worst = SignProof.BY_CERTIFICATE
        for part, _ in [(own.top, 1), *own.factors]:
            known = self.positive(Scalar(part)) or self.positive(-Scalar(part))
            worst = min(worst, known)
        return worst

    def defined(self, value: Number) -> None:
        """Make sure that a number has a value: no factor below, no symbol with a negative power is ever 0.

        Raises
        ------
        ProofError
            If that is not shown.
        """
        own = scalar(value)
        for symbol in _below(own.top).union(*(_below(factor) for factor, _ in own.factors)):
            self._need_nonzero(of_symbol(symbol), own)
        for factor, _ in own.factors:
            self._need_nonzero(Scalar(factor), own)
        for symbol in own.symbols():
            self._defined_symbol(symbol)

    def _defined_symbol(self, symbol: Symbol) -> None:
        if is_bound(symbol.name):
            raise ProofError(f"{symbol.name} is bound by a sum and stands outside of it")
        known = self.find(symbol.name)
        if known is None:
            raise ProofError(f"{symbol.name} is not declared")
        if known.arity != len(symbol.indices):
            raise ProofError(f"{symbol.name} has {known.arity} indices, got {len(symbol.indices)}")
        for index in symbol.indices:
            if not self.integer(Scalar(index)):
                raise ProofError(f"the index {index} of {symbol.name} is not shown to be whole")
        if symbol.exponent is not None:
            if list(symbol.exponent.terms.values()) != [1] or () in symbol.exponent.terms:
                raise ProofError(f"the exponent of {symbol} is no product of symbols")
            for powers in symbol.exponent.terms:
                for one, _ in powers:
                    if not self.integer(of_symbol(one)) or not self.nonnegative(of_symbol(one)):
                        raise ProofError(f"the exponent of {symbol} is not shown to be a whole number ≥ 0")

    def _need_nonzero(self, part: Scalar, whole: Scalar) -> None:
        if not self.nonzero(part):
            raise ProofError(f"{part}, which {whole} is divided by, is not shown to differ from 0")

    def _sign(self, value: Scalar, *, strict: bool) -> SignProof:
        if value.zero:
            return SignProof.NOT if strict else SignProof.BY_CERTIFICATE
        constant = value.constant
        if constant is not None:
            return SignProof.BY_CERTIFICATE if constant > 0 else SignProof.NOT
        key = (str(value), strict)
        for one in self.chain():
            if known := one._signs.get(key, SignProof.NOT):
                self.root.by_solver |= known is SignProof.BY_SOLVER
                return known
        if key in self._signs:
            return self._signs[key]
        self._signs[key] = SignProof.NOT  # a question that leads to itself is not answered
        before, self.root.by_solver = self.root.by_solver, False
        found = self._find_sign(value, strict=strict)
        if found and self.root.by_solver:
            found = SignProof.BY_SOLVER  # a sign on the way is known from z3 alone
        self.root.by_solver = before or found is SignProof.BY_SOLVER
        self._signs[key] = found
        if found:
            self.shown[f"{value} {'>' if strict else '≥'} 0"] = found
        return found

    def _find_sign(self, value: Scalar, *, strict: bool) -> SignProof:
        worst, top = SignProof.BY_CERTIFICATE, Scalar(value.top)
        for factor, count in value.factors:
            if count % 2 == 0 and not strict:
                worst = min(worst, self.nonzero(Scalar(factor)))
                continue
            own = self.positive(Scalar(factor))
            if not own and count % 2:
                own, top = self.positive(-Scalar(factor)), -top
            elif not own:
                own = self.positive(-Scalar(factor))
            worst = min(worst, own)
            if not worst:
                return SignProof.NOT
        return min(worst, self._polynomial(top.top, strict=strict)) if worst else SignProof.NOT

    def _polynomial(self, top: Poly, *, strict: bool) -> SignProof:
        """Replace symbols, the last declared first, until only variables over [0, ∞) are left."""
        worst, positive, whole = SignProof.BY_CERTIFICATE, frozenset[str](), top
        # Symbols of one sign that divide it: only their sign matters.
        for symbol in sorted(top.symbols(), key=lambda s: s.key):
            low = min(dict(powers).get(symbol, 0) for powers in top.terms)
            if low == 0:
                continue
            if low < 0 or strict or low % 2:
                own = self._symbol_sign(symbol, strict=low < 0 or strict)
                if not own:
                    if low > 0 and not strict:
                        continue  # an odd power of unknown sign stays in the polynomial
                    return SignProof.NOT
                worst = min(worst, own)
            top = top.scaled(1, ((symbol, -low),))
        places = {name: place for place, name in enumerate(self.order())}
        found = min(worst, self._replaced(top, positive, places, strict=strict, depth=0))
        if found or strict or _below(whole):
            return found
        return self._replaced(whole, positive, places, strict=False, depth=0)  # a factor that is 0 has both signs

    def _replaced(
        self, top: Poly, positive: frozenset[str], places: Mapping[str, int], *, strict: bool, depth: int
    ) -> SignProof:
        left = [s for s in top.symbols() if not s.name.startswith(_FRESH)]
        if not left:
            return _strictly(top, positive) if strict else self._ask(top)
        symbol = max(left, key=lambda s: (s.exponent is not None, self._moving(s), places.get(s.name, -1), s.key))
        if depth > _MAX_DEPTH or max((abs(dict(p).get(symbol, 0)) for p in top.terms), default=0) > _MAX_DEGREE:
            return SignProof.NOT
        found = self._replacement(symbol)
        if found is None:
            return SignProof.NOT
        value, fresh, end = found

        def moved(to: Scalar, sure: frozenset[str]) -> SignProof:
            if to.zero and symbol in _below(top):
                return SignProof.NOT  # its range, such as 0 < x ≤ 0, is empty
            current = mapped(Scalar(top), lambda s: to if s == symbol else None)
            # What stands below is a product of 1 + t and of parts that are to be shown positive.
            if any(count % 2 and not self._below_positive(factor, sure) for factor, count in current.factors):
                return SignProof.NOT
            return self._replaced(current.top, sure, places, strict=strict, depth=depth + 1)

        own = moved(value, positive | fresh)
        for alone in () if own else self._one_end(symbol):
            # That an index has another end tells more than that its ends are in order: they are, where it has a value.
            if own := moved(alone, positive):
                end = None
                break
        # The upper end is where t is infinite: a weak inequality holds there by continuity, a strict one need not.
        return min(own, moved(end, positive)) if own and strict and end is not None else own

    def _below_positive(self, factor: Poly, positive: frozenset[str]) -> bool:
        fresh = [s.name.startswith(_FRESH) for s in factor.symbols()]
        if all(fresh):
            whole = all(e > 0 for powers in factor.terms for _, e in powers)
            if whole and () in factor.terms and all(value > 0 for value in factor.terms.values()):
                return True
            return bool(_strictly(factor, positive))
        return self._mixed_positive(factor, positive) if any(fresh) else bool(self.positive(Scalar(factor)))

    def _mixed_positive(self, factor: Poly, positive: frozenset[str]) -> bool:
        """Return whether a polynomial in t and symbols is > 0: each coefficient by powers of t is ≥ 0, one is > 0."""
        parts: dict[Monomial, dict[Monomial, Any]] = {}
        for powers, value in factor.terms.items():
            own = tuple(pair for pair in powers if pair[0].name.startswith(_FRESH))
            parts.setdefault(own, {})[tuple(pair for pair in powers if pair not in own)] = value
        strictly = False
        for own, rest in parts.items():
            part = Scalar(Poly(rest))
            if all(s.name in positive for s, _ in own) and self.positive(part):
                strictly = True
            elif not self.nonnegative(part):
                return False
        return strictly

    def _symbol_sign(self, symbol: Symbol, *, strict: bool) -> SignProof:
        if symbol.exponent is not None:
            return self._symbol_sign(symbol.base, strict=strict) if strict else self.nonnegative(of_symbol(symbol.base))
        own = self.range_of(symbol)
        if own is None or own.low is None:
            return SignProof.NOT
        low = own.low
        if strict and not own.above:
            return self.positive(low)
        return self.nonnegative(low)

    def _replacement(self, symbol: Symbol) -> tuple[Scalar, frozenset[str], Scalar | None] | None:
        """Return what a symbol is in variables over [0, ∞) and earlier symbols.

        With it come those of the new variables that are never 0, and an upper end that is reached only in the limit.
        """
        fresh = Symbol(f"{_FRESH}{symbol.key}")
        t, nothing, sure = of_symbol(fresh), frozenset[str](), frozenset({fresh.name})
        own = self.range_of(symbol)
        if own is None:
            return None
        if own.low is None and own.high is None:
            return t - of_symbol(Symbol(f"{_FRESH}-{symbol.key}")), nothing, None
        if own.high is None:
            assert own.low is not None  # noqa: S101  (for the type checker)
            return own.low + t, sure if own.above else nothing, None
        if own.low is None:
            return own.high - t, sure if own.below else nothing, None
        if own.low.zero and own.above and not own.below:
            # 0 < x ≤ b: then b > 0, and every x is b/(1 + t).
            return own.high / (1 + t), nothing, None
        return (own.low + own.high * t) / (1 + t), sure if own.above else nothing, None if own.below else own.high

    def _one_end(self, symbol: Symbol) -> tuple[Scalar, ...]:
        """Return an index between two ends as either of them and a variable over [0, ∞)."""
        own = None if symbol.exponent is not None else self.range_of(symbol)
        if own is None or not own.integer or own.low is None or own.high is None:
            return ()
        t = of_symbol(Symbol(f"{_FRESH}{symbol.key}"))
        return own.low + t, own.high - t

    def _moving(self, symbol: Symbol) -> int:
        """Return how deep indices are nested where ranges depend on them: those go first."""
        own = self.find(symbol.name)
        return len(symbol.key) if own is not None and own.moving else 0

    def range_of(self, symbol: Symbol) -> Range | None:
        """Return between which ends a symbol, a member of a family or a power is shown to lie."""
        if symbol.exponent is None:
            own = self.find(symbol.name)
            if own is None or not own.moving:
                return own
            if not symbol.indices or not self.nonnegative(Scalar(symbol.indices[0])):
                return None
            return own.of(Scalar(symbol.indices[0]))
        base = of_symbol(symbol.base)
        if not self.nonnegative(base):
            return None
        if self.nonnegative(base - 1):
            more = bool(self.positive(base - 1)) and bool(self.positive(Scalar(symbol.exponent)))
            return Range(low=ONE, above=more)
        return Range(low=_ZERO, high=ONE if self.nonnegative(1 - base) else None, above=bool(self.positive(base)))

    def _ask(self, top: Poly) -> SignProof:
        if not top or all(value > 0 for value in top.terms.values()):
            return SignProof.BY_CERTIFICATE
        # Variables below stand for what was shown to differ from 0: multiplying by their powers keeps the sign.
        for symbol in _below(top):
            top = top.scaled(1, ((symbol, -min(dict(powers).get(symbol, 0) for powers in top.terms)),))
        names = sorted({s.key for s in top.symbols()})
        place = {name: number for number, name in enumerate(names)}
        ring = PolyRing([f"v{number}" for number in range(len(names))], sympy.QQ)
        terms = {}
        for powers, value in top.terms.items():
            key = [0] * len(names)
            for symbol, power in powers:
                key[place[symbol.key]] = power
            own = Fraction(value)
            terms[tuple(key)] = sympy.QQ(own.numerator, own.denominator)
        return polynomial_sign(ring.from_dict(terms), self.solver)


def _below(top: Poly) -> set[Symbol]:
    return {symbol for powers in top.terms for symbol, power in powers if power < 0}


def _strictly(top: Poly, positive: frozenset[str]) -> SignProof:
    """Return whether a polynomial in variables ≥ 0 is > 0: no coefficient is negative, one term is never 0."""
    if any(value < 0 for value in top.terms.values()):
        return SignProof.NOT
    sure = any(all(symbol.name in positive for symbol, _ in powers) for powers in top.terms)
    return SignProof.BY_CERTIFICATE if sure else SignProof.NOT
