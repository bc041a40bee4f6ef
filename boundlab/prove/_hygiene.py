"""What is said of an index is said of every index: an argument that a sum inside of an axiom would bind is refused.

The axioms of a setting are made of sums over clients, runs and local steps. An argument that holds the name of such an
index would be caught by the sum: ∇f(w[t]) = (1/n)·Σ_i ∇f_i(w[t]) at t = i would say (1/n)·Σ_i ∇f_i(w[i]). So each
axiom is made twice, with other names for the indices in its arguments, and has to say the same. Nor does it name what a
proof has declared: a proof's own B is any number, and not the B of ‖∇f_i‖ ≤ B.
"""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, get_args

from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._scalars import Scalar, variable
from boundlab.prove._terms import Expr, Lin

_OTHER = "_renamed"
# Methods of settings with which their rules say anything: they look at who calls them.
_ANY_CLAIM = ("axiom", "condition", "restriction")
_FACTS = (Fact, VectorFact)


def guard(owner: type) -> None:
    """Let every public method of a class that returns facts be one that catches no index."""
    for name, method in list(vars(owner).items()):
        if not name.startswith("_") and callable(method) and _makes_facts(method):
            setattr(owner, name, _guarded(method))


def _makes_facts(method: Callable[..., Any]) -> bool:
    found = getattr(method, "__annotations__", {}).get("return")
    return found in _FACTS or any(one in _FACTS for one in get_args(found))


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(setting: Any, *args: Any, **more: Any) -> Any:
        with setting.kernel.trial(keep=True):
            with calling(setting.kernel, method, setting, *args, **more):
                found = method(setting, *args, **more)
            if not getattr(setting, "renaming", False):
                _say_the_same(setting, method, args, more, found)
            _names_no_other(setting, found, (*args, *more.values()))
        return found

    return call


def remember(owner: type) -> None:
    """Let the axioms of a class that catches no index carry their names; what states any claim stays as it is."""
    for name, method in list(vars(owner).items()):
        if not name.startswith("_") and name not in _ANY_CLAIM and callable(method) and _makes_facts(method):
            setattr(owner, name, _remembered(method))


def _remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(setting: Any, *args: Any, **more: Any) -> Any:
        with calling(setting.kernel, method, setting, *args, **more):
            return method(setting, *args, **more)

    return call


@contextmanager
def calling(kernel: Any, method: Callable[..., Any], *args: Any, **more: Any) -> Iterator[None]:
    """Let axioms that are made here carry the name of the method that a proof calls, and its arguments."""
    before = kernel.called
    if before is None:
        schema = method.__qualname__.removeprefix("Setting.")
        bound = inspect.signature(method).bind(*args, **more)
        bound.apply_defaults()
        kernel.called = schema, (*bound.args[1:], *bound.kwargs.values())
    try:
        yield
    finally:
        kernel.called = before


def _say_the_same(
    setting: Any, method: Callable[..., Any], args: tuple[Any, ...], more: Mapping[str, Any], one: Any
) -> None:
    """Make sure that the axiom with other names for its indices is the same one."""
    kernel = setting.kernel
    met = {name for one in (*args, *more.values()) if isinstance(one, (Scalar, Lin, Expr)) for name in one.names()}
    setting.renaming = True
    try:
        with kernel.trial():
            there = _renamed(setting, met)
            if not there:
                return
            named = {key: _put(value, there) for key, value in more.items()}
            other = method(setting, *(_put(value, there) for value in args), **named)
    finally:
        setting.renaming = False
    back = {next(iter(new.names())): variable(name) for name, new in there.items()}
    if any(_differs(a, b, back) for a, b in zip(_each(one), _each(other), strict=True)):
        raise ProofError(
            f"{', '.join(there)} is the name of what a sum in {method.__name__} runs over: take another index"
        )


def _names_no_other(setting: Any, found: Any, args: tuple[Any, ...]) -> None:
    """Make sure that an axiom is about the setting and its arguments: no name is one that a proof has declared."""
    if setting.declared is None:
        return
    ours = {*setting.declared, *setting.own_symbols}
    for one in args:
        if isinstance(one, str):
            ours.add(one)
        elif isinstance(one, (Scalar, Lin, Expr, *_FACTS)):
            ours |= set(one.names) if isinstance(one, _FACTS) else one.names()
    for fact in _each(found):
        own = fact.claim.names() if isinstance(fact, Fact) else fact.left.names() | fact.right.names()
        if other := sorted(own - ours):
            raise ProofError(f"{', '.join(other)} is a name of the proof, and no symbol of {setting.theorem.id}")


def _renamed(setting: Any, met: set[str]) -> dict[str, Scalar]:
    """Declare another index for each that occurs, with the same range."""
    context = setting.context
    there: dict[str, Scalar] = {}
    for name in context.order():
        known = context.find(name)
        if name not in met or known is None or not known.integer or known.arity or name in setting.own_symbols:
            continue
        ends = [None if end is None else end.put(there) for end in (known.low, known.high)]
        there[name] = context.declare(_free(context, name), replace(known, low=ends[0], high=ends[1]))
    return there


def _free(context: Any, name: str) -> str:
    """Return a name that nobody has taken."""
    return next(one for many in itertools.count() if not context.known_or_taken(one := f"{name}{_OTHER}{many}"))


def _put(value: Any, there: Mapping[str, Scalar]) -> Any:
    if isinstance(value, str) and value in there:  # the name of an index that is to be summed over
        return str(there[value])
    return value.put(there) if isinstance(value, (Scalar, Lin, Expr)) else value


def _each(found: Any) -> Iterator[Fact | VectorFact]:
    yield from found if isinstance(found, tuple) else (found,)


def _differs(one: Fact | VectorFact, other: Fact | VectorFact, back: Mapping[str, Scalar]) -> bool:
    if isinstance(one, Fact) and isinstance(other, Fact):
        return bool((one.claim.body - other.claim.body.put(back)).terms)
    assert isinstance(one, VectorFact) and isinstance(other, VectorFact)  # noqa: S101, PT018  (for the type checker)
    sides = ((one.left, other.left), (one.right, other.right))
    return any((mine - its.put(back)).terms for mine, its in sides)
