"""Proof files for tests: all registered proofs, small ones that use every rule, and ways to forge a file."""

import copy
import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any
from unittest import mock

import boundlab.proofs
from boundlab.prove import Outcome, Proof, Range, Script, expr, run, scalar, variable
from boundlab.prove._kernel import shift, split_sum, telescope, total, windows
from boundlab.prove.trace import with_setting, write_trace
from boundlab.recheck import Finding
from boundlab.recheck._forms import WrongError
from boundlab.recheck._numbers import _SPENT, NumberError, begin
from boundlab.recheck._replay import Replay
from boundlab.recheck.kernel import recheck_proof

# What is asked of every proof is asked of these at night: they are long, or go line by line like one that is left here.
LONG = frozenset({"area.theorem7.explicit", "area.theorem7.onepass"})
PAPERS = ("fedcompass.", "fedfa.", "afl_dga.", "fedbuff.", "fedstaleweight.")
BY_DAY = frozenset({"fedcompass.group", "afl_dga.r0", "fedstaleweight.rf3"})


ZERO, ONE = scalar(0), scalar(1)
Path = tuple[Any, ...]


def registered() -> dict[str, Script]:
    """Return the proofs of all modules in proofs/."""
    found = {}
    for module in pkgutil.iter_modules(boundlab.proofs.__path__):
        loaded = importlib.import_module(f"boundlab.proofs.{module.name}")
        found |= {one.id: one for one in getattr(loaded, "PROOFS", ()) if isinstance(one, Script)}
    return found


HEAVY = LONG | {name for name in registered() if name.startswith(PAPERS) and name not in BY_DAY}


def bernoulli(proof: Proof) -> None:
    """(1 + a)^k ≥ 1 + k·a for a ≥ 0: induction, a name, a symbolic power; then an instance."""
    kernel, context = proof.kernel, proof.kernel.context
    a, k = context.declare("a", Range(low=ZERO)), context.declare("k", Range(low=ZERO, integer=True))
    j = context.declare("j", Range(low=ONE, integer=True))
    kernel.name("b", 1 + a, Range(low=ONE))
    b = variable("b")
    claim = expr((1 + a) ** 0 * b**k) >= expr(1 + k * a)
    named = kernel.facts[-1]
    low = kernel.combine(claim.put({"k": ZERO}), [])
    hypothesis = kernel.suppose(claim, "k")
    grown = kernel.times(named, expr(b**k))
    step = kernel.combine(claim.put({"k": k + 1}), [(1 + a, hypothesis), (1, grown)], hypothesis.context)
    fact = kernel.induction(low, step)
    later = kernel.at(fact, {"k": 2 * j + 1})
    proof.rule("Bernoulli", None, lambda: fact)
    proof.rule("an instance", None, lambda: later)


def cases(proof: Proof) -> None:
    """Cases, the lowest number, squares, products of facts, ends of ranges."""
    kernel, context = proof.kernel, proof.kernel.context
    a, x = context.declare("a", Range(low=ZERO)), context.declare("x", Range(low=ZERO, high=scalar(2)))
    n = context.declare("n", Range(low=ONE, integer=True))
    claim = expr(x * x + a) >= expr(x * x * 0)
    low, high = kernel.split("x", 1)
    joined = kernel.join(kernel.combine(claim, [], low), kernel.combine(claim, [], high))
    proof.rule("in both cases", None, lambda: joined)
    _, more = kernel.split("n", 1)
    least = expr(n * n + a) >= expr(n)
    every = kernel.lowest(kernel.combine(least.put({"n": ONE}), []), kernel.combine(least, [], more))
    proof.rule("for every n", None, lambda: every)
    ends = kernel.scale(kernel.end("x", "high"), kernel.end("x", "low"))
    proof.rule("2x ≥ x²", None, lambda: kernel.combine(expr(2 * x) >= expr(x * x), [(1, ends)]))
    root = kernel.root("r", a + 1)
    larger = kernel.combine(expr(ONE) <= expr(variable("r") ** 2), [(1, root)])
    proof.rule("1 ≤ r", None, lambda: kernel.by_squares(larger, 1, variable("r")))


def sums(proof: Proof) -> None:
    """Sums that are split, shifted, telescoped, weighted, and exchanged over windows."""
    kernel, context = proof.kernel, proof.kernel.context
    K = context.declare("K", Range(low=ONE, integer=True))
    S = context.declare("S", Range(low=ZERO, integer=True))
    k, j = (context.declare(name, Range(low=ZERO, integer=True)) for name in ("k", "j"))
    context.declare("u", Range(low=ZERO, arity=1))
    q = context.declare("q", Range(low=ZERO, high=ONE, above=True))
    u = lambda at: variable("u", at)  # noqa: E731
    proof.rule("Σ k", None, lambda: telescope(kernel, "k", 0, K, k * (k - 1) / 2))
    proof.rule("Σ q^k", None, lambda: telescope(kernel, "k", 0, K, q**k / (K + 1)))
    proof.rule("a sum in two parts", None, lambda: split_sum(kernel, "k", 0, 1, K, u(k) * q**k))
    proof.rule("a sum moved", None, lambda: shift(kernel, "k", 0, K, 3, u(k) / K))
    positive = kernel.combine(expr(u(j)) >= 0, [])
    proof.rule("weighted", None, lambda: total(kernel, positive, "j", 0, K, q))
    # The delay tau[k] lies between 0 and k, and is at most S.
    context.declare("tau", Range(low=ZERO, high=S, integer=True, arity=1))
    first = k - variable("tau", k)
    begin = kernel.make(expr(first) >= 0, context, "axiom", axioms=["bounded-delays"])
    proof.rule("windows", None, lambda: windows(kernel, positive, "j", "k", first, S, K, (begin,)))


SMALL = {
    one.id: one
    for one in (
        Script("small.bernoulli", "Bernoulli's inequality", "", bernoulli),
        Script("small.cases", "cases", "", cases),
        Script("small.sums", "sums", "", sums),
    )
}


@lru_cache(maxsize=64)
def outcome(name: str) -> Outcome:
    """Return what comes of a proof."""
    found = run((SMALL | registered())[name])
    WRITTEN[name] = steps_spent()
    return found


def steps_spent() -> int:
    """Return how many steps of work the last proof or file has taken so far."""
    return (_SPENT.get() or [0])[0]


WRITTEN: dict[str, int] = {}
"""By name: how many steps it took to write a proof down."""


@lru_cache(maxsize=64)
def file_of(name: str) -> dict[str, Any]:
    """Return the file of a proof; not to be changed."""
    return json.loads(write_trace(outcome(name)))  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- forging


def coefficients(raw: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the places of all coefficients, and of all powers, with what may be forged there."""
    if isinstance(raw, dict):
        for key, one in raw.items():
            yield from coefficients(one, (*path, key))
    elif isinstance(raw, list):
        if len(raw) == 2 and isinstance(raw[0], str) and isinstance(raw[1], list) and raw[0][-1:].isdigit():
            old = Fraction(raw[0])
            yield (*path, 0), str(old + 1)
            yield (*path, 0), str(-old)
        if len(raw) == 2 and isinstance(raw[1], int) and isinstance(raw[0], (str, list)):
            yield (*path, 1), raw[1] + 1
        for place, one in enumerate(raw):
            yield from coefficients(one, (*path, place))


def changed(raw: Any, path: Path, value: Any) -> Any:
    """Return a file with another value at one place; the rest is shared."""
    if not path:
        return value
    new = dict(raw) if isinstance(raw, dict) else list(raw)
    new[path[0]] = changed(raw[path[0]], path[1:], value)
    return new


def edited(raw: Any, edits: Mapping[str, Any]) -> Any:
    """Return a file with other values at some places, each by its keys with spaces; "(gone)" takes it away.

    At a place behind the end of a list the value stands at the end.
    """
    new = copy.deepcopy(raw)
    for place, value in edits.items():
        there, *keys, last = new, *place.split()
        for key in keys:
            there = there[int(key) if isinstance(there, list) else key]
        if value == "(gone)":
            del there[int(last) if isinstance(there, list) else last]
        elif isinstance(there, list):
            there[int(last) : int(last) + 1] = [copy.deepcopy(value)]
        else:
            there[last] = copy.deepcopy(value)
    return new


@lru_cache(maxsize=64)
def _seen(name: str) -> tuple[Replay, Finding]:
    kept: list[Replay] = []

    def keep(*given: Any) -> Replay:
        kept.append(Replay(*given))
        return kept[0]

    with mock.patch("boundlab.recheck.kernel.Replay", keep):
        found = recheck_proof(file_of(name))
    return kept[0], found


def replayed(name: str) -> Replay:
    """Return the file of a proof, every line of which was checked."""
    return _seen(name)[0]


def ends_with_0(name: str, forged: Mapping[str, Any], number: int) -> bool:
    """Return whether a file is accepted that differs from a good one in one fact.

    The setting of its theorem is asked as well, where the checker finds nothing.
    """
    if refused(name, forged, number) or (
        forged["facts"][number]["rule"] in ("claimed", "axiom") and not file_of(name)["theorem"]
    ):
        return False
    return answered(name, forged, checked(name)).accepted


def checked(name: str) -> Finding:
    """Return what the checker says of a good file by itself."""
    return _seen(name)[1]


def answered(name: str, raw: Mapping[str, Any], found: Finding) -> Finding:
    """Return the finding with what the setting of the theorem answers for."""
    setting = outcome(name).setting
    return found if setting is None else with_setting(raw, found, setting.theorem)


def refused(name: str, forged: Mapping[str, Any], number: int) -> str:
    """Return why a file is refused that differs from that of a proof in one fact; empty where it is not.

    What stands before that fact is not checked again.
    """
    begin()  # to count: what other tests have asked of the checker is no work of this file
    good = replayed(name)
    new = Replay.__new__(Replay)
    new.__dict__.update(good.__dict__)
    new.raw, new.lines, new.facts = forged, forged["facts"], good.facts[:number]
    new.contexts = {key: one for key, one in good.contexts.items() if ("suppose", number) not in _above(one)}
    try:
        list(new.run())
    except (WrongError, NumberError) as error:
        return str(error)
    return ""


def _above(context: Any) -> list[Any]:
    found = []
    while context is not None:
        found.append(context.origin)
        context = context.parent
    return found
