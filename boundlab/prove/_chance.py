"""Rules about chance: noise that is drawn after what it meets, and one random event an iteration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, final

from boundlab.prove._context import Context
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import Number, Scalar, Symbol, of_symbol, same, scalar, whole
from boundlab.prove._sums import inside
from boundlab.prove._terms import (
    Expr,
    Inner,
    Lin,
    One,
    Sum,
    Value,
    Vec,
    dot,
    equal,
    finite_sum,
    lin,
    squared,
    value_at,
    vector_sum,
)


def orthogonal(kernel: Kernel, noise: Vec, other: Vec, context: Context | None = None) -> Fact:
    """Return E⟨ξ, v⟩ = 0, where v is known when ξ is drawn.

    Raises
    ------
    ProofError
        If ξ is no noise, or v may be known only later: then it may depend on ξ.
    """
    here = context or kernel.context
    own = kernel.vectors.check(noise, here)
    kernel.vectors.check(other, here)
    if own.drawn is None:
        raise ProofError(f"{noise} is no noise")
    if not kernel.vectors.known_by(other, own.drawn(*map(Scalar, noise.indices)), here):
        raise ProofError(f"{other} may depend on {noise}: it is not shown to be known when {noise} is drawn")
    return kernel.make(
        equal(dot(noise, other), 0),
        here,
        "orthogonal",
        axioms={"bounded-variance"},
        names=_names(noise, other),
        noise=lin(noise),
        other=lin(other),
    )


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
    here, low, high, own = context or kernel.context, scalar(lo), scalar(hi), scalar(weight)
    vector = noise if isinstance(noise, Vec) else noise.vec
    if vector is None or kernel.vectors.check(vector, here).drawn is None:
        raise ProofError(f"{noise} is no noise")
    i = of_symbol(Symbol(name))
    others = [Scalar(index) for index in vector.indices if not same(Scalar(index), i)]
    if len(others) != len(vector.indices) - 1 or any(name in here.closure(one.names()) for one in others):
        raise ProofError(f"{name} is to be one index of {vector}, and no other may depend on it")
    names = inside(kernel, name, low, high, here, None) | own.names() | vector.names()
    return kernel.make(
        equal(
            squared(vector_sum(name, low, high, lin(vector) * own)),
            finite_sum(name, low, high, squared(vector) * (own * own)),
        ),
        here,
        "uncorrelated",
        axioms={"bounded-variance"},
        names=names - {name},
        noise=lin(vector),
        index=name,
        lo=low,
        hi=high,
        weight=own,
    )


@final
@dataclass(frozen=True, eq=False)
class Register:
    """What an event may change.

    Parameters
    ----------
    owner
        ``client``: v[i, k], changed where client i acts. ``server``: v[k], changed by an aggregation. ``any``: v[k],
        changed by whichever client acts.
    branch
        What it becomes, by its own indices with k in the last place (``any``: of the client and k). Its vectors are
        those before the event, or drawn without regard to who acts.
    """

    owner: Literal["client", "server", "any"]
    branch: Callable[..., Lin]


@final
@dataclass(frozen=True, eq=False)
class Law:
    """Who acts in iteration k, drawn independently of everything before: client i with p(i), the server with p_s.

    Parameters
    ----------
    p, p_s
        Probabilities.
    clients
        Their number n.
    index
        The name of a client's index.
    registers
        By name.
    axioms
        What that rests on.
    """

    p: Callable[[Scalar], Scalar]
    p_s: Scalar
    clients: Scalar
    index: str
    registers: Mapping[str, Register]
    axioms: frozenset[str]


def mixture(kernel: Kernel, law: Law, value: Expr, k: Number, context: Context | None = None) -> Fact:
    """Return E q(after event k) as the mean over who acts: p·q(branch) + (1 − p)·q(before).

    Raises
    ------
    ProofError
        If q mixes registers that different events change, or holds a vector that may depend on the event.
    """
    here, now = context or kernel.context, scalar(k)
    kernel.well_formed(value, here)
    if not here.nonnegative(now) or not here.integer(now):
        raise ProofError(f"the iteration {now} of an event is not shown to be a whole number ≥ 0")
    if law.index in here.closure(value.names()) and any(one.owner == "any" for one in law.registers.values()):
        raise ProofError(f"{law.index} stands for who acts: it may not occur in {value}")
    found = Expr({})
    for atom, coefficient in value.terms.items():
        found = found + _mean(kernel, law, atom, now, here) * coefficient
    return kernel.make(
        equal(value, found),
        here,
        "mixture",
        axioms=law.axioms,
        names=value.names() | now.names() | law.clients.names(),
        law=law,
        now=now,
    )


def _mean(kernel: Kernel, law: Law, atom: One | Inner | Value | Sum, now: Scalar, here: Context) -> Expr:
    if isinstance(atom, One):
        return Expr({atom: scalar(1)})
    if isinstance(atom, Sum):
        raise ProofError(f"an event is looked at before anything is summed: {atom}")
    vectors = (atom.first, atom.second) if isinstance(atom, Inner) else (atom.at,)
    owners: set[tuple[str, str]] = set()
    for vector in vectors:
        own = law.registers.get(vector.name)
        if own is not None and vector.indices and same(Scalar(vector.indices[-1]), now + 1):
            owners.add((own.owner, str(vector.indices[0]) if own.owner == "client" else ""))
        elif not kernel.vectors.known_by(vector, (now,), here):
            raise ProofError(f"{vector} may depend on who acts in iteration {now}")
    if not owners:
        return Expr({atom: scalar(1)})
    if len(owners) > 1:
        raise ProofError(f"{atom} mixes registers that different events change")
    ((owner, _),) = owners
    before = _with(atom, lambda vector: _before(law, vector, now))
    if owner == "any":
        i = of_symbol(Symbol(law.index))
        there = _with(atom, lambda vector: _branch(law, vector, now, i))
        return finite_sum(law.index, 0, law.clients, there * law.p(i)) + before * law.p_s
    p = law.p_s
    if owner == "client":
        p = law.p(next(Scalar(v.indices[0]) for v in vectors if _changed(law, v, now)))
    return _with(atom, lambda vector: _branch(law, vector, now, None)) * p + before * (1 - p)


def _changed(law: Law, vector: Vec, now: Scalar) -> bool:
    return vector.name in law.registers and bool(vector.indices) and same(Scalar(vector.indices[-1]), now + 1)


def _before(law: Law, vector: Vec, now: Scalar) -> Lin:
    if not _changed(law, vector, now):
        return lin(vector)
    return lin(Vec(vector.name, (*vector.indices[:-1], whole(now))))


def _branch(law: Law, vector: Vec, now: Scalar, client: Scalar | None) -> Lin:
    if not _changed(law, vector, now):
        return lin(vector)
    first = [client] if client is not None else [Scalar(one) for one in vector.indices[:-1]]
    return law.registers[vector.name].branch(*first, now)


def _with(atom: Inner | Value, of: Callable[[Vec], Lin]) -> Expr:
    if isinstance(atom, Inner):
        return dot(of(atom.first), of(atom.second))
    return value_at(atom.function, [Scalar(one) for one in atom.indices], of(atom.at))


def _names(*vectors: Vec) -> set[str]:
    return set().union(*(one.names() for one in vectors))
