"""A proof as a file, for ``boundlab recheck``: every fact that a step rests on, as structure, with how it was made."""

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from boundlab.prove._chance import Law
from boundlab.prove._context import Context, Range
from boundlab.prove._facts import Fact, Shared
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import Poly, Scalar, Symbol, of_symbol, scalar
from boundlab.prove._terms import Claim, Expr, Inner, Lin, Sum, Value, Vec
from boundlab.prove._vectors import Known, Slope
from boundlab.prove.outcome import Outcome
from boundlab.prove.setting import Setting
from boundlab.theorems import core

SCHEMA = "boundlab proof 2"
DECLARING = ("name", "root", "define", "name family")
_RELATIONS = {"≤": "<=", "≥": ">=", "=": "="}


def write_trace(outcome: Outcome) -> str:
    """Return a proof as JSON text: the same text for the same proof.

    Parameters
    ----------
    outcome
        What came of it; steps that are not proved stand there as claimed.
    """
    return json.dumps(trace(outcome), ensure_ascii=False, indent=None, separators=(",", ":"), sort_keys=True) + "\n"


def trace(outcome: Outcome) -> dict[str, Any]:
    """Return what :func:`write_trace` writes."""
    kernel = outcome.kernel
    theorem = None if outcome.setting is None else outcome.setting.theorem
    stated = None if theorem is None else core(theorem)
    facts = reachable(outcome)
    contexts = _contexts(kernel, facts)
    numbers = {context: number for number, context in enumerate(contexts)}
    place = {fact.number: number for number, fact in enumerate(facts)}
    laws = list(dict.fromkeys(one for fact in facts for one in fact.data.values() if isinstance(one, Law)))
    defining = {fact.data["name"]: place[fact.number] for fact in facts if fact.rule in DECLARING}
    return {
        "schema": SCHEMA,
        "proof": outcome.script.id,
        "theorem": "" if theorem is None else theorem.id,
        "statement": None if stated is None else stated.fields,
        "sha256": None if stated is None else stated.sha256,
        **declared(kernel, outcome.setting),
        "symbols": [symbol_dict(kernel, kernel.context, name, defining) for name in kernel.context.order()],
        "laws": [law_dict(kernel, one) for one in laws],
        "contexts": [_origin(kernel, one, numbers, place, defining) for one in contexts],
        "facts": [_fact(fact, numbers, place, laws) for fact in facts],
        "steps": [
            {"name": one.name, "status": one.status.value, "fact": None if one.fact is None else place[one.fact.number]}
            for one in outcome.steps
        ],
        "conclusions": [place[one.number] for one in kernel.concluded],
    }


def declared(kernel: Kernel, setting: Setting | None) -> dict[str, Any]:
    """Return what a setting declares beside symbols: vectors, what they are gradients of, and the problem.

    Indices of vectors are @0, @1 and so on; @i is the client of whose function the weight is.
    """
    problem = None
    if setting is not None:
        weight = number(setting.weight(of_symbol(Symbol("@i"))))
        problem = {"model": setting.model(0).vec.name, "noise": setting.noise_size, "weight": weight}  # type: ignore[union-attr]
    return {
        "problem": problem,
        "parameters": sorted(kernel.parameters),
        "vectors": {name: _known(own) for name, own in sorted(kernel.vectors.known.items())},
        "functions": dict(sorted(kernel.vectors.functions.items())),
        "slopes": {name: _slope(own) for name, own in sorted(kernel.vectors.slopes.items())},
    }


def reachable(outcome: Outcome) -> list[Shared]:
    """Return the facts that steps rest on, and those that say what named numbers are, in the order they were made."""
    kernel = outcome.kernel
    ends: list[Shared] = [one.fact for one in outcome.steps if one.fact is not None]
    return behind(kernel, [*ends, *kernel.concluded, *(fact for fact in kernel.facts if fact.rule in DECLARING)])


def behind(kernel: Kernel, ends: Iterable[Shared]) -> list[Shared]:
    """Return facts with all that they follow from, hypotheses among them, in the order they were made."""
    found: dict[int, Shared] = {}
    stack = [*ends]
    while stack:
        fact = stack.pop()
        if fact.number in found:
            continue
        found[fact.number] = fact
        stack += [*fact.premises, *_further(fact)]
        for context in fact.context.chain():
            kind, made = kernel.origin(context)
            if kind == "suppose":
                stack.append(made[0])
    return [found[number] for number in sorted(found)]


def _further(fact: Shared) -> list[Shared]:
    """Return the facts that a rule names beside its premises: the step of an induction, the cases of a split."""
    found: list[Shared] = []
    for value in fact.data.values():
        found += [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Shared)]
    return found


def _contexts(kernel: Kernel, facts: Iterable[Shared]) -> list[Context]:
    found = [kernel.context]
    for fact in facts:
        found += [one for one in reversed(fact.context.chain()) if one not in found]
    return found


def _origin(
    kernel: Kernel,
    context: Context,
    numbers: Mapping[Context, int],
    place: Mapping[int, int],
    defining: Mapping[str, int],
) -> dict[str, Any]:
    kind, made = kernel.origin(context)
    if kind == "root":
        return {"kind": "root"}
    assert context.parent is not None  # noqa: S101  (only the root has none)
    found: dict[str, Any] = {"kind": kind, "parent": numbers[context.parent]}
    above = set(context.parent.order())
    if own := [symbol_dict(kernel, context, one, defining) for one in context.order() if one not in above]:
        found["symbols"] = own
    if kind == "suppose":
        return found | {"fact": place[made[0].number]}
    _, name, value, which = made
    return found | {"name": name, "at": number(value), "which": which}


def symbol_dict(kernel: Kernel, context: Context, name: str, defining: Mapping[str, int]) -> dict[str, Any]:
    """Return a declaration; the v of a symbol that stands for e^v, and ends of a family, have _0 for its index."""
    own = context.find(name)
    assert own is not None  # noqa: S101  (it stands in the context's order)
    found = {"name": name, **_range(own), "by": defining.get(name)}
    if (exponent := kernel.exponents.get(name)) is not None:
        found["exponent"] = number(exponent)
    return found


def _range(own: Range) -> dict[str, Any]:
    ends = {which: None if end is None else number(end) for which, end in (("low", own.low), ("high", own.high))}
    flags = {"above": own.above, "below": own.below, "integer": own.integer, "guarded": own.guarded}
    return {**ends, **flags, "arity": own.arity}


def _known(own: Known) -> dict[str, Any]:
    """Return a declaration: times as numbers in the indices @0, @1 and so on."""
    indices = [of_symbol(Symbol(f"@{place}")) for place in range(own.arity)]
    times = {"clock": own.clock, "drawn": own.drawn}
    return {
        "arity": own.arity,
        **{name: None if of is None else [number(one) for one in of(*indices)] for name, of in times.items()},
    }


def _slope(own: Slope) -> dict[str, Any]:
    values = {name: of_symbol(Symbol(f"@{place}")) for place, name in enumerate(own.symbols)}
    which = [number(one.put(values)) for one in own.which]
    return {"function": own.function, "which": which, "at": _vector(own.at.put(values))}


def _argument(one: Any, numbers: Mapping[Context, int]) -> list[Any]:
    """Return what a method of a setting was given, with what it is."""
    match one:
        case bool():
            return ["flag", one]
        case int():
            return ["whole", one]
        case Fraction():
            return ["number", number(scalar(one))]
        case Scalar():
            return ["number", number(one)]
        case Lin():
            return ["vector", combination(one)]
        case Expr():
            return ["expression", combination(one)]
        case str():
            return ["word", one]
        case Context():
            return ["case", numbers[one]]
        case None:
            return ["none", None]
    raise TypeError(f"{one!r} has no place in a file")


def data_of(
    fact: Shared,
    numbers: Mapping[Context, int] = MappingProxyType({}),
    place: Mapping[int, int] = MappingProxyType({}),
    laws: Sequence[Law] = (),
) -> dict[str, Any]:
    """Return what a fact was made with; other facts, cases and laws by their places in a file."""

    def value(one: Any) -> Any:
        match one:
            case Shared():
                return place[one.number]
            case Scalar():
                return number(one)
            case Expr() | Lin():
                return combination(one)
            case Law():
                return laws.index(one)
            case tuple():
                return [value(part) for part in one]
            case Mapping():
                return {key: value(part) for key, part in one.items()}
            case str() | int() | None:
                return one
        raise TypeError(f"{one!r} has no place in a file")

    found = {key: value(one) for key, one in fact.data.items() if key != "args"}
    if "args" in fact.data:
        found["args"] = [_argument(one, numbers) for one in fact.data["args"]]
    return found


def says(fact: Shared) -> dict[str, Any]:
    """Return what a fact says, and the names of what it rests on."""
    own = (
        {"claim": claim(fact.claim)}
        if isinstance(fact, Fact)
        else {
            "left": combination(fact.left),  # type: ignore[attr-defined]
            "right": combination(fact.right),  # type: ignore[attr-defined]
        }
    )
    return {"axioms": sorted(fact.axioms), **own}


def _fact(
    fact: Shared, numbers: Mapping[Context, int], place: Mapping[int, int], laws: Sequence[Law]
) -> dict[str, Any]:
    return {
        "rule": fact.rule,
        "context": numbers[fact.context],
        "premises": [place[one.number] for one in fact.premises],
        "data": data_of(fact, numbers, place, laws),
        **says(fact),
    }


def law_dict(kernel: Kernel, law: Law) -> dict[str, Any]:
    """Return who acts when, with @i for the client, @k for the iteration, and @1, @2 for indices between them."""
    i, k = of_symbol(Symbol("@i")), of_symbol(Symbol("@k"))
    registers = {}
    for name, own in sorted(law.registers.items()):
        first = [] if own.owner == "server" else [i]
        if own.owner != "any":
            known = kernel.vectors.known.get(name)
            more = 0 if known is None else known.arity - 1 - len(first)
            first += [of_symbol(Symbol(f"@{place + 1}")) for place in range(more)]
        registers[name] = {"owner": own.owner, "branch": combination(own.branch(*first, k))}
    return {
        "p": number(law.p(i)),
        "p_s": number(law.p_s),
        "clients": number(law.clients),
        "index": law.index,
        "registers": registers,
    }


# ---------------------------------------------------------------------- structure


def _polynomial(top: Poly) -> list[Any]:
    """Return [[coefficient, [[symbol, power], …]], …]."""
    return [[str(value), [[symbol(one), power] for one, power in powers]] for powers, value in top.ordered()]


def symbol(one: Symbol) -> Any:
    """Return a symbol: its name, or [name, indices, exponent or null]."""
    if not one.indices and one.exponent is None:
        return one.name
    exponent = None if one.exponent is None else _polynomial(one.exponent)
    return [one.name, [_polynomial(index) for index in one.indices], exponent]


def number(value: Scalar) -> dict[str, Any]:
    """Return a number: a numerator, and the factors of its denominator with how often each stands there."""
    found: dict[str, Any] = {"top": _polynomial(value.top)}
    if value.factors:
        found["below"] = [[_polynomial(factor), count] for factor, count in value.factors]
    return found


def _vector(one: Vec) -> list[Any]:
    return [one.name, [_polynomial(index) for index in one.indices]]


def _atom(atom: Any) -> list[Any]:
    match atom:
        case Sum():
            ends = [[_polynomial(lo), _polynomial(hi)] for lo, hi in atom.bounds]
            return ["sum", ends, _polynomial(atom.weight), _atom(atom.atom)]
        case Inner():
            return ["inner", _vector(atom.first), _vector(atom.second)]
        case Value():
            return ["value", atom.function, [_polynomial(index) for index in atom.indices], _vector(atom.at)]
        case Vec():
            return ["vector", *_vector(atom)]
    return ["one"]


def combination(value: Expr | Lin) -> list[Any]:
    """Return [[coefficient, atom], …]."""
    return [[number(own), _atom(key)] for key, own in sorted(value.terms.items(), key=lambda term: term[0].key)]


def claim(own: Claim) -> dict[str, Any]:
    """Return a claim with both its sides."""
    return {"left": combination(own.left), "relation": _RELATIONS[own.relation], "right": combination(own.right)}
