"""The combinations of a proof as lemmas about real numbers, for Coq's standard library.

An atom is a real variable, a premise is a hypothesis about such variables, and the multipliers are the proof. So Coq
checks that the claim is what the multipliers make of the premises, and that these have the signs that they must have.
What a premise rests on, sums, events, noise and induction are not Coq's business here: :mod:`boundlab.recheck` replays
those. Tried with Coq 8.16.1; a test compiles the files where ``coqc`` is installed.

Signs are proved from the ranges of the symbols. Where a polynomial can be written so that its sign is visible, in
differences from the ends of ranges and in even powers, it is, and ``ring`` compares the two; products and quotients of
what is ≥ 0 are ≥ 0, and ``nra`` tries what is left. Where a range has an upper end, ``nra`` gets it as a
hypothesis, also without its denominator where that is positive. A symbolic power stands for a number ≥ 0 (> 0) if what
it is a power of is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from boundlab.prove._scalars import NUMBER, Scalar, of_symbol, shape
from boundlab.prove._terms import Context, Expr, Fact
from boundlab.prove.document import Outcome
from boundlab.prove.trace import reachable
from boundlab.recheck.kernel import ONE, Monomial, Symbol, begin

# A polynomial's sign, written so that one can see it: as products of differences that are ≥ 0.
#
# Where x ≥ a, the difference x - a is ≥ 0, and so is b - x where x ≤ b. A polynomial whose coefficients are all ≥ 0
# once
# it is written in such differences is ≥ 0, and so is an even power of anything. No more is tried than that: what
# :class:`~boundlab.prove._terms.Context` shows otherwise may not be found here.

_LONGEST = 400  # terms: what is longer is no help to a reader, nor to another checker


@dataclass(frozen=True, slots=True)
class Visible:
    """A polynomial in variables that stand for differences ≥ 0, all its coefficients ≥ 0.

    Parameters
    ----------
    sum
        The polynomial.
    differences
        What each variable stands for: an upper and a lower end.
    """

    sum: Scalar
    differences: dict[Symbol, tuple[Scalar, Scalar]]


@dataclass(frozen=True, slots=True)
class Product:
    """A number ≥ 0 times factors, each either ≥ 0 visibly or with an even power.

    Parameters
    ----------
    number
        The number.
    squares
        Polynomials with half their even powers.
    others
        Polynomials that are visibly ≥ 0, with their powers.
    """

    number: Fraction
    squares: tuple[tuple[Scalar, int], ...]
    others: tuple[tuple[Visible, int], ...]


def visible(top: Scalar, context: Context) -> Visible | None:
    """Return a polynomial in differences, if all its coefficients are ≥ 0 then."""
    if top.bottom.constant is None:
        return None
    for raised in _choices(top, context):
        differences: dict[Symbol, tuple[Scalar, Scalar]] = {}
        current = top
        for place, (symbol, end) in enumerate(raised):
            # The end is symbol + t: so is the variable in it, but for the rest of the end.
            high = _range_high(symbol, context)
            assert high is not None  # noqa: S101  (it was chosen for its end)
            fresh = Symbol(f"t.{place}.{symbol.key}")
            differences[fresh] = high, of_symbol(symbol)
            current = current.mapped({end: of_symbol(symbol) - (high - of_symbol(end)) + of_symbol(fresh)}.get)
        found = _from_below(current, context, differences)
        if found is not None:
            return found
    return None


def product(top: Scalar, context: Context) -> Product | None:
    """Return a polynomial as a product of even powers and of what is visibly ≥ 0, if its factors are so."""
    if top.bottom.constant is None:
        return None
    number, parts = top.factors()
    squares, others = [], []
    for part, count in parts:
        found = visible(part, context)
        if found is None and count % 2 and (found := visible(-part, context)) is not None:
            number = -number
        if found is not None:
            others.append((found, count))
        elif count % 2 == 0:
            squares.append((part, count // 2))
        else:
            return None
    return None if number < 0 else Product(number, tuple(squares), tuple(others))


def _choices(top: Scalar, context: Context) -> Iterator[Sequence[tuple[Symbol, Symbol]]]:
    """Yield which variables are replaced by what they are an upper end of: none, all that can be, each alone."""
    yield ()
    places = {name: place for place, name in enumerate(context.order())}
    found: list[tuple[Symbol, Symbol]] = []
    for symbol in sorted(top.symbols, key=lambda one: (places.get(one.name, -1), one.key)):
        high = _range_high(symbol, context)
        if high is not None:
            found += [(symbol, end) for end in _alone(high) if end in top.symbols]
    first = {end: symbol for symbol, end in reversed(found)}
    if first:
        yield [(symbol, end) for symbol, end in found if first[end] == symbol]
    if len(found) > 1:
        yield from ([one] for one in found)


def _range_high(symbol: Symbol, context: Context) -> Scalar | None:
    if symbol.exponent is not None or context.find(symbol.name) is None:
        return None
    high = context.range_of(symbol).high
    return None if high is None or high.bottom != ONE else high


def _alone(high: Scalar) -> list[Symbol]:
    """Return the symbols that an end holds once, as they are: end = symbol + rest."""
    found = (one for one in high.symbols if one.exponent is None)
    return [one for one in found if one not in (high - of_symbol(one)).symbols]


def _from_below(current: Scalar, context: Context, differences: dict[Symbol, tuple[Scalar, Scalar]]) -> Visible | None:
    """Write each symbol as its lower end and a variable, the last declared first."""
    places = {name: place for place, name in enumerate(context.order())}
    while left := [one for one in current.symbols if one not in differences]:
        symbol = max(left, key=lambda one: (one.exponent is not None, places.get(one.name, -1), one.key))
        low = context.range_of(symbol).low if context.find(symbol.name) is not None else None
        if low is None or low.bottom != ONE:
            return None
        fresh = Symbol(f"t.{symbol.key}")
        differences[fresh] = of_symbol(symbol), low
        current = current.mapped({symbol: low + of_symbol(fresh)}.get)
        if sum(1 for _ in current.terms()) > _LONGEST:
            return None
    return None if any(value < 0 for _, value in current.terms()) else Visible(current, differences)


def never_zero(found: Visible, context: Context) -> Monomial | None:
    """Return a term of it that is a product of what is certainly not 0, or None."""

    def positive(powers: Monomial) -> bool:
        ends = (found.differences[symbol] for symbol, _ in powers)
        return all(bool(context.positive(upper - lower)) for upper, lower in ends)

    return next(
        (powers for powers in sorted((own for own, _ in shape(found.sum).top), key=len) if positive(powers)), None
    )


_HEAD = """Require Import Reals Psatz.
Open Scope R_scope.

Lemma moved_up : forall a x : R, a <= x -> exists t, x = a + t /\\ 0 <= t.
Proof. intros a x H. exists (x - a). split; [ring | lra]. Qed.

Ltac positive := first
  [ assumption
  | lra
  | apply Rinv_0_lt_compat; positive
  | apply Rmult_lt_0_compat; positive
  | apply pow_lt; positive
  | apply Rplus_lt_le_0_compat; [positive | nonnegative]
  | apply Rplus_le_lt_0_compat; [nonnegative | positive]
  | nra ]
with nonnegative := first
  [ assumption
  | lra
  | apply Rlt_le, Rinv_0_lt_compat; positive
  | apply Rmult_le_pos; nonnegative
  | apply pow_le; nonnegative
  | apply pow2_ge_0
  | apply Rplus_le_le_0_compat; nonnegative
  | nra ].

Lemma above : forall a b : R, a <= b -> 0 <= b - a.
Proof. intros; lra. Qed.
Lemma strictly_above : forall a b : R, a < b -> 0 < b - a.
Proof. intros; lra. Qed.

Ltac visibly_positive := match goal with
  | |- 0 < _ + _ => apply Rplus_lt_le_0_compat; [visibly_positive | visibly]
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; visibly_positive
  | |- 0 < _ ^ _ => apply pow_lt; visibly_positive
  | |- 0 < / _ => apply Rinv_0_lt_compat; visibly_positive
  | |- 0 < _ - _ => first [apply strictly_above; assumption | lra]
  | _ => first [assumption | lra]
  end
with visibly := match goal with
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; visibly
  | |- 0 <= _ * _ => apply Rmult_le_pos; visibly
  | |- 0 <= _ ^ _ => first [apply pow2_ge_0 | apply pow_le; visibly]
  | |- 0 <= / _ => apply Rlt_le, Rinv_0_lt_compat; visibly_positive
  | |- 0 <= _ - _ => first [apply above; first [assumption | apply Rlt_le; assumption] | lra]
  | _ => first [assumption | apply Rlt_le; assumption | lra]
  end.
Ltac nonzero := first [ apply Rgt_not_eq, Rlt_gt; positive | lra | nra ].
Ltac sides := repeat match goal with |- _ /\\ _ => split end; nonzero.
"""


def coq_source(outcome: Outcome) -> str:
    """Return a Coq file with one lemma for each combination that a step of the proof rests on.

    Parameters
    ----------
    outcome
        What came of the proof.
    """
    begin()  # a proof that has run out of steps is written all the same
    return "\n".join([_HEAD, *(_Lemma(fact, f"fact_{fact.number}").text() for fact in combinations(outcome))])


def combinations(outcome: Outcome) -> list[Fact]:
    """Return the facts that have a lemma each."""
    return [one for one in reachable(outcome) if isinstance(one, Fact) and one.rule == "combine"]


class _Lemma:
    """One combination: names for its symbols and atoms, hypotheses, and the proof."""

    def __init__(self, fact: Fact, name: str) -> None:
        self.fact, self.name = fact, name
        self.symbols: dict[Symbol, str] = {}
        self.atoms: dict[str, str] = {}
        self.multipliers: Sequence[Scalar] = fact.data["multipliers"]
        self.rest: Scalar = fact.data["rest"]
        self.premises: list[Fact] = [one for one in fact.premises if isinstance(one, Fact)]

    def text(self) -> str:
        bodies = [self._expression(one.claim.body) for one in self.premises]
        goal = self._expression(self.fact.claim.body)
        for value in (*self.multipliers, self.rest):
            self._number(value)
        ranges = self._ranges()
        equation = "=" if self.fact.claim.equality else "<="
        names = [*self.symbols.values(), *self.atoms.values()]
        marks = "".join(f"   {own} is {symbol}\n" for symbol, own in self.symbols.items())
        marks += "".join(f"   {own} is {text}\n" for text, own in self.atoms.items())
        marks = marks.replace("(*", "( *").replace("*)", "* )")
        lines = [f"(* {self.name}\n{marks}*)", f"Lemma {self.name} :"]
        if names:
            lines.append(f"  forall {' '.join(names)} : R,")
        lines += [f"  {one} ->" for one in ranges]
        for body, one in zip(bodies, self.premises, strict=True):
            lines.append(f"  0 {'=' if one.claim.equality else '<='} {body} ->")
        lines.append(f"  0 {equation} {goal}.")
        return "\n".join([*lines, *self._proof(bodies, goal, len(names), len(ranges)), ""])

    def _proof(self, bodies: Sequence[str], goal: str, names: int, ranges: int) -> list[str]:
        """Return the proof: each multiplier's sign, each product, and that they make up the claim."""
        given = [f"P{place}" for place in range(len(bodies))]
        lines = [
            "Proof.",
            f"intros {' '.join(['?'] * names + ['?'] * ranges + given)}." if names + ranges + len(given) else "",
            *self._cleared(),
        ]
        terms = []
        for place, (own, body, one) in enumerate(zip(self.multipliers, bodies, self.premises, strict=True)):
            factor = self._number(own)
            if one.claim.equality:
                lines.append(
                    f"assert (Q{place} : ({factor}) * ({body}) = 0) by (first [ring | rewrite <- P{place}; ring])."
                )
            else:
                lines += self._sign(f"S{place}", own)
                lines.append(f"assert (Q{place} := Rmult_le_pos _ _ S{place} P{place}).")
            terms.append(f"({factor}) * ({body})")
        rest = self._number(self.rest)
        if not self.fact.claim.equality:
            lines += self._sign("S", self.rest)
        whole = " + ".join([*terms, f"({rest})"])
        lines.append(f"assert (E : {goal} = {whole}).\n{{ first [ring | field; sides]. }}")
        relation = "=" if self.fact.claim.equality else "<="
        lines.append(f"refine (eq_ind_r (fun z => 0 {relation} z) _ E).\nlra.")
        return [*(line for line in lines if line), "Qed."]

    # ------------------------------------------------------------------ ranges

    def _ranges(self) -> list[str]:
        """Return hypotheses: the ranges of all symbols, and of those that their ends name."""
        done: set[Symbol] = set()
        found: list[str] = []
        while left := [one for one in self.symbols if one not in done]:
            for symbol in left:
                done.add(symbol)
                own, known = self.symbols[symbol], self.fact.context.range_of(symbol)
                if known.low is not None:
                    found.append(f"{self._number(known.low)} {'<' if known.above else '<='} {own}")
                if known.high is not None:
                    found.append(f"{own} {'<' if known.below else '<='} {self._number(known.high)}")
        return found

    def _cleared(self) -> list[str]:
        """Return x·D ≤ N for each symbol with x ≤ N/D, where D > 0, and N ≤ x·D for N/D ≤ x."""
        lines, here = [], self.fact.context
        for symbol, own in list(self.symbols.items()):
            known = here.find(symbol.name) if symbol.exponent is None else None
            if known is None or known.moving:
                continue
            for side, end, open_ in (("H", known.high, known.below), ("L", known.low, known.above)):
                below = None if end is None else _powers_below(end) * _below(end)  # what a quotient is divided by
                if end is None or below is None or below.constant is not None or not here.positive(below):
                    continue
                value, factor, top = (self._number(one) for one in (end, below, end * below))
                relation, rule = ("<", "Rmult_lt_compat_r") if open_ else ("<=", "Rmult_le_compat_r")
                product = f"apply {rule}; [first [positive | nonnegative] | assumption]"
                same = "apply Req_le; field; sides"
                if side == "H":
                    chain = "Rlt_le_trans" if open_ else "Rle_trans"
                    claim, parts = f"{own} * {factor} {relation} {top}", f"{product} | {same}"
                else:
                    chain = "Rle_lt_trans" if open_ else "Rle_trans"
                    claim, parts = f"{top} {relation} {own} * {factor}", f"{same} | {product}"
                lines.append(
                    f"try assert ({side}_{own} : {claim}) by\n  (apply ({chain} _ ({value} * {factor})); [{parts}])."
                )
        return lines

    # ------------------------------------------------------------------ signs

    def _sign(self, name: str, value: Scalar) -> list[str]:
        """Return the lines that show a number to be ≥ 0: its parts where their signs are visible, then itself."""
        lines, here = [], self.fact.context
        factors, negative = shape(value).factors, _powers_below(value)
        for place, (factor, _) in enumerate(factors):
            found = visible(factor, here)
            first = None if found is None else never_zero(found, here)
            if found is not None and first is not None:
                lines.append(self._by(f"{name}_below{place}", "<", factor, self._sum(found, first)))
        above = value * _below(value) * negative
        found = visible(above, here)
        text = self._sum(found) if found is not None else self._product(above)
        if text is not None:
            lines.append(self._by(f"{name}_above", "<=", above, text))
        moves = "" if text is not None and len(lines) > len(factors) else self._moves(value)
        return [*lines, f"assert ({name} : 0 <= {self._number(value)}).\n{{ {moves}nonnegative. }}"]

    def _by(self, name: str, relation: str, value: Scalar, text: str) -> str:
        """Return the line that shows a sign from another form of a polynomial, where it can be seen."""
        seen, chain = ("visibly", "Rle_trans") if relation == "<=" else ("visibly_positive", "Rlt_le_trans")
        own = self._polynomial(value)
        same = "apply Req_le; first [ring | field]"
        return f"assert ({name} : 0 {relation} {own}) by\n  (apply ({chain} _ ({text})); [{seen} | {same}])."

    def _sum(self, found: Visible, first: Monomial | None = None) -> str:
        """Return a polynomial in differences, one of its terms first."""
        names = {
            one: f"({self._number(upper)} - {self._number(lower)})" if lower else self._number(upper)
            for one, (upper, lower) in found.differences.items()
        }
        order = sorted(shape(found.sum).top, key=lambda term: term[0] != first)
        return " + ".join(self._term(powers, value, names) for powers, value in order) or "0"

    def _product(self, value: Scalar) -> str | None:
        """Return a polynomial as a product of even powers and of polynomials in differences, if it is one."""
        found = product(value, self.fact.context)
        if found is None:
            return None
        parts = [self._term((), found.number, {})]
        parts += [f"(({self._polynomial(one)}) ^ 2) ^ {count}" for one, count in found.squares]
        parts += [f"({self._sum(one)}) ^ {count}" for one, count in found.others]
        return " * ".join(parts)

    def _moves(self, value: Scalar) -> str:
        """Return tactics that write symbols as their lower end and a rest, the last declared first."""
        lines, order = [], {name: place for place, name in enumerate(self.fact.context.order())}
        for symbol in sorted(value.symbols, key=lambda one: (-order.get(one.name, -1), one.key)):
            known = self.fact.context.find(symbol.name)
            if symbol.exponent is not None or known is None or known.low is None or not known.low:
                continue
            own, low = self.symbols[symbol], self._number(known.low)
            lines.append(f"destruct (moved_up ({low}) {own} ltac:(lra)) as [t_{own} [? ?]]; subst {own}; ")
        return "try (" + "".join(lines).rstrip("; ") + "); " if lines else ""

    # ------------------------------------------------------------------ terms

    def _expression(self, value: Expr) -> str:
        parts = []
        for atom, own in sorted(value.terms.items(), key=lambda term: term[0].key):
            factor = self._number(own)
            if atom == NUMBER:
                parts.append(f"({factor})")
            else:
                name = self.atoms.setdefault(repr(Expr({atom: ONE})), f"a{len(self.atoms)}")
                parts.append(f"({factor}) * {name}")
        return f"({' + '.join(parts) or '0'})"

    def _number(self, value: Scalar) -> str:
        negative = _powers_below(value)
        if negative != ONE:
            # One quotient: the sign of a sum of quotients is harder to see.
            return f"({self._number(value * negative)} * / ({self._polynomial(negative)}))"
        factors = shape(value).factors
        return f"({self._polynomial(value * _below(value))})" + "".join(
            f" * / ({self._polynomial(factor)})" * count for factor, count in factors
        )

    def _polynomial(self, value: Scalar) -> str:
        return " + ".join(self._term(powers, own, {}) for powers, own in shape(value).top) or "0"

    def _term(self, powers: Monomial, value: Fraction, names: Mapping[Symbol, str]) -> str:
        numerator, denominator = value.numerator, value.denominator
        body = [f"({numerator})" if numerator < 0 else f"{numerator}"]
        body += [f"/ {denominator}"] * (denominator != 1)
        for symbol, power in powers:
            own = names.get(symbol) or self.symbols.setdefault(symbol, f"s{len(self.symbols)}")
            one = own if abs(power) == 1 else f"{own} ^ {abs(power)}"
            body.append(one if power > 0 else f"/ ({one})")
        return " * ".join(body)


def _powers_below(value: Scalar) -> Scalar:
    """Return the product of powers that makes all powers of a numerator ≥ 0."""
    low: dict[Symbol, int] = {}
    for powers, _ in shape(value).top:
        for symbol, power in powers:
            low[symbol] = min(low.get(symbol, 0), power)
    return prod((of_symbol(symbol) ** -power for symbol, power in low.items()), start=ONE)


def _below(value: Scalar) -> Scalar:
    """Return the product of the factors that a number is divided by."""
    return prod((factor**count for factor, count in shape(value).factors), start=ONE)
