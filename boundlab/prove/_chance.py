"""Rules about chance: noise that is drawn after what it meets, and one random event an iteration."""

from collections.abc import Callable

from boundlab.prove._context import Context
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import ONE, Number, Scalar, Symbol, of_symbol, same, scalar, whole
from boundlab.prove._sums import ends_of
from boundlab.prove._terms import (
    Atom,
    Expr,
    Lin,
    Vec,
    dot,
    equal,
    finite_sum,
    lin,
    squared,
    value_at,
    vector_sum,
)
from boundlab.prove._vectors import Law

_NOISE = {"bounded-variance"}


def orthogonal(kernel: Kernel, noise: Vec, other: Vec, context: Context | None = None) -> Fact:
    """Return E⟨ξ, v⟩ = 0, where v is known when ξ is drawn.

    Raises
    ------
    ProofError
        If ξ is no noise, or v may be known only later: then it may depend on ξ.
    """
    here, claim = context or kernel.context, equal(dot(noise, other), 0)
    return kernel.make(claim, here, "orthogonal", axioms=_NOISE, noise=lin(noise), other=lin(other))


def uncorrelated(
    kernel: Kernel,
    noise: Lin | Vec,
    name: str,
    lo: Number,
    hi: Number,
    weight: Number = 1,
    context: Context | None = None,
) -> Fact:
    """Return E‖Σ w_i·ξ[…, i, …]‖² = Σ w_i²·E‖ξ[…, i, …]‖².

    Each noise is of a sample of its own: of two that are drawn one after the other the later one is unbiased whatever
    the earlier one was, and two that are drawn at one time are independent.

    Parameters
    ----------
    noise
        ξ with the symbol ``name`` itself as one of its indices; the others do not depend on it.

    Raises
    ------
    ProofError
        If two terms could be one and the same noise.
    """
    vector, own = lin(noise), scalar(weight)
    claim = equal(
        squared(vector_sum(name, lo, hi, vector * own)), finite_sum(name, lo, hi, squared(vector) * (own * own))
    )
    here, ends = context or kernel.context, ends_of(lo=lo, hi=hi, weight=weight)
    return kernel.make(claim, here, "uncorrelated", axioms=_NOISE, noise=vector, index=name, **ends)


def mixture(kernel: Kernel, law: Law, value: Expr, k: Number, context: Context | None = None) -> Fact:
    """Return E q(after event k) as the mean over who acts: p·q(branch) + (1 − p)·q(before).

    Raises
    ------
    ProofError
        If q mixes registers that different events change, or holds a vector that may depend on the event.
    """
    now, found = scalar(k), Expr({})
    for atom, coefficient in value.terms.items():
        found = found + _mean(law, atom, now) * coefficient
    here = context or kernel.context
    return kernel.make(equal(value, found), here, "mixture", axioms=law.axioms, law=law, now=now)


def _mean(law: Law, atom: Atom, now: Scalar) -> Expr:
    """Return what becomes of an atom in an event, in the mean over who acts."""
    if atom.ranges:
        raise ProofError(f"an event is looked at before anything is summed: {Expr({atom: ONE})}")
    changed = [one for one in atom.base.vectors if _changed(law, one, now)]
    if not changed:
        return Expr({atom: ONE})
    before = _with(atom, lambda vector: _before(law, vector, now))
    owner = law.registers[changed[0].name].owner
    if owner == "any":
        i = of_symbol(Symbol(law.index))
        there = _with(atom, lambda vector: _branch(law, vector, now, i))
        return finite_sum(law.index, 0, law.clients, there * law.p(i)) + before * law.p_s
    p = law.p(changed[0].indices[0]) if owner == "client" else law.p_s
    return _with(atom, lambda vector: _branch(law, vector, now, None)) * p + before * (1 - p)


def _changed(law: Law, vector: Vec, now: Scalar) -> bool:
    return vector.name in law.registers and bool(vector.indices) and same(vector.indices[-1], now + 1)


def _before(law: Law, vector: Vec, now: Scalar) -> Lin:
    if not _changed(law, vector, now):
        return lin(vector)
    return lin(Vec(vector.name, (*vector.indices[:-1], whole(now))))


def _branch(law: Law, vector: Vec, now: Scalar, client: Scalar | None) -> Lin:
    if not _changed(law, vector, now):
        return lin(vector)
    first = [client] if client is not None else vector.indices[:-1]
    return law.registers[vector.name].branch(*first, now)


def _with(atom: Atom, of: Callable[[Vec], Lin]) -> Expr:
    base = atom.base
    if base.kind == "inner":
        return dot(*map(of, base.vectors))
    return value_at(base.function, base.indices, of(base.vectors[0]))
