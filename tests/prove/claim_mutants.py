"""Claims changed in one place: a constant, an exponent, a sign, an index, a term; and proofs tried again with them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from unittest import mock

from boundlab.prove import Claim, Expr, Fact, Outcome, Proof, ProofError, Script, Status, run
from boundlab.prove._scalars import NUMBER, Scalar, of_symbol, variable
from boundlab.prove._terms import Context
from boundlab.recheck._numbers import ONE
from boundlab.recheck._terms import Atom


@dataclass(frozen=True)
class Attempt:
    """A step that was proved, and its proof with another claim in its place."""

    name: str
    fact: Fact
    again: Callable[[Claim], Fact | None]


@cache
def attempts(script: Script) -> tuple[Outcome, tuple[Attempt, ...]]:
    """Return a proof, and each of its steps that is proved by a search or by induction."""
    found: list[Attempt] = []
    once = {name: getattr(Proof, name) for name in ("step", "induction")}

    def kept(name: str):  # type: ignore[no-untyped-def]
        def method(proof: Proof, title: str, claim: Claim, *args, **options):  # type: ignore[no-untyped-def]
            args = tuple(tuple(one) if isinstance(one, list) else one for one in args)
            fact = once[name](proof, title, claim, *args, **options)
            if proof.steps[-1].status is Status.PROVED:
                found.append(Attempt(title, fact, lambda other: _again(proof, once[name], other, args, options)))
            return fact

        return method

    with mock.patch.multiple(Proof, step=kept("step"), induction=kept("induction")):
        outcome = run(script)
    return outcome, tuple(found)


def _again(proof: Proof, method, claim: Claim, args, options) -> Fact | None:  # type: ignore[no-untyped-def]
    """Return the fact, if the same facts, the same search and the same multipliers show another claim."""
    fresh = Proof(proof.theorem, proof._setting, proof.kernel)
    ways = [options]
    if options.get("multipliers") is not None:
        ways.append(options | {"multipliers": None, "uses": [fact for _, fact in options["multipliers"]]})
    for number, way in enumerate(ways):
        try:
            fact: Fact = method(fresh, f"mutant {number}", claim, *args, **way)
        except ProofError:  # the claim means nothing
            continue
        if fresh.steps[-1].status is Status.PROVED:
            return fact
    return None


def mutants(claim: Claim, context: Context) -> Iterator[tuple[str, Claim]]:
    """Yield claims with one change each."""
    for side in ("left", "right"):
        own: Expr = getattr(claim, side)
        for place, (atom, value) in enumerate(sorted(own.terms.items(), key=lambda term: term[0].key)):
            what = f"{side} {place}"
            for new in _coefficients(value):
                yield f"{what}: {value} -> {new}", _with(claim, side, own + Expr({atom: new - value}))
            for name, moved in _shifted(atom, context):
                changed = own + Expr({atom: -value}) + moved * value
                yield f"{what}: {name}", _with(claim, side, changed)
        yield f"{side}: + 1", _with(claim, side, own + 1)


def _with(claim: Claim, side: str, new: Expr) -> Claim:
    return Claim(new, claim.relation, claim.right) if side == "left" else Claim(claim.left, claim.relation, new)


def _coefficients(value: Scalar) -> Iterator[Scalar]:
    yield from (value * factor for factor in (2, Fraction(1, 2), Fraction(9, 10), -1, 0))
    for symbol in value.symbols:
        if symbol.exponent is None:
            yield value * of_symbol(symbol)
            yield value / of_symbol(symbol)


def _shifted(atom: Atom, context: Context) -> Iterator[tuple[str, Expr]]:
    if atom == NUMBER:
        return
    for name in sorted(atom.names()):
        known = context.find(name)
        if known is not None and known.integer and not known.arity:
            for by in (1, -1):
                yield f"{name} -> {name} {by:+}", Expr({atom: ONE}).put({name: variable(name) + by})
    if len(atom.ranges) == 1:
        ((lo, hi),) = atom.ranges
        for by in (1, -1):
            yield "another end", Expr({Atom(atom.base, ((lo, hi + by),), atom.weight): ONE})
