"""What a sheet says of an algorithm's runs: its vectors, its numbers, and sentences from which proofs begin.

A sheet is a TOML file of :mod:`boundlab.prove.settings`. Its formulas are written as in Python, and are never run:
each node is read here, or refused. ``x[k]`` is a vector, a member of a family or a shorthand; ``sum(q, a, b, e)`` is
Σ over a ≤ q < b, ``mean(i, n, e)`` is (1/n)·Σ over i < n, ``sq(u)`` is E‖u‖², ``dot(u, v)`` is E⟨u, v⟩, and ``f(i, u)``
is E f_i(u), ``F(u)`` is the objective's value, ``H(u)`` that of what stands beside f; ``g`` is a (sub)gradient of the
function of ``client(g)`` at ``point(g)``. What is said of an index is said
of every index: an argument that a sum inside of a sentence would bind is refused, since
∇f(w[t]) = (1/n)·Σ_i ∇f_i(w[t]) at t = i would say (1/n)·Σ_i ∇f_i(w[i]).
"""

import ast
import functools
import inspect
import itertools
import operator
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TypeVar, final

from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import ProofError, Scalar, only_for_rules, same, scalar, variable
from boundlab.prove._terms import (
    NOTHING,
    OWN_AXIOMS,
    Claim,
    Expr,
    Fact,
    Lin,
    Relation,
    VectorFact,
    dot,
    expr,
    finite_sum,
    lin,
    mean_of,
    squared,
    value_at,
    vector_mean,
    vector_sum,
)
from boundlab.recheck.kernel import Vec

R = TypeVar("R")

# Axioms carry the name of the method of a setting that a proof calls, and its arguments.

# Before the names of what the checker cannot make by itself: the setting answers for it.
OF_RUNS = "runs."


def cited(method: Callable[..., R]) -> Callable[..., R]:
    """Let the axioms that a method of a setting makes carry its name and its arguments."""

    @functools.wraps(method)
    def call(setting: Any, *args: Any, **more: Any) -> R:
        bound = inspect.signature(method).bind(setting, *args, **more)
        bound.apply_defaults()
        with setting.kernel.calling(f"{OF_RUNS}{method.__name__}", (*bound.args[1:], *bound.kwargs.values())):
            return method(setting, *args, **more)

    return call


_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
)
_RELATIONS: Mapping[type, Relation] = MappingProxyType({ast.LtE: "≤", ast.GtE: "≥", ast.Eq: "="})
_ANY = "_"
Names = Mapping[str, Any]


@cache
def parsed(text: str) -> ast.expr:
    """Return a formula of a sheet."""
    return ast.parse(f"({text})", mode="eval").body


def sheet(name: str) -> dict[str, Any]:
    """Return a sheet by its name, with what stands in those that it extends and not in it; all extend ``problem``."""
    return deepcopy(_merged(("problem", name), {}))


@cache
def _read(name: str) -> dict[str, Any]:
    own = tomllib.loads(files("boundlab.prove.settings").joinpath(f"{name}.toml").read_text("utf-8"))
    return _merged(own.pop("extends", ()), own)


def _merged(extended: Iterable[str], own: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in (*map(_read, extended), own):
        for key, table in one.items():
            before = found.get(key, {})
            deeper = (
                {sub: {**before.get(sub, {}), **words} for sub, words in table.items()} if key == "options" else table
            )
            found[key] = {**before, **deeper}
    return found


def parameters(of: str) -> list[tuple[str, str]]:
    """Return names and kinds of ``t, v: vector``; a kind that is left out is a number."""
    parts = [one.partition(":") for one in of.split(",") if one.strip()]
    return [(name.strip(), kind.strip() or "number") for name, _, kind in parts]


@final
@dataclass(frozen=True)
class Axiom:
    """A sentence from which proofs begin.

    Parameters
    ----------
    says
        Relations, by what they are about.
    of
        Its parameters: indices, or ``v: vector``, ``g: gradient`` and ``X: expression``.
    by
        The assumptions that it states, or ``algorithm``.
    where
        For which parameters it is said: ranges; ``v is g[t, q]``, which gives names to indices; ``v in (w, d)``;
        ``known(v, t)``, that v is known at time t; ``gradient(v)``; ``noise(v)``; ``passed(v)``, that v belongs to a
        pass that the theorem looks at; ``i == j``.
    points, at_points
        Constants of theorems along the run, each with the words for its points, and for which parameters those are.
    only
        In which settings.
    why
        What makes it true, where that is not seen at once.
    defines
        Whether it says what the vector on its left is.
    checked
        Whether the checker makes it anew by itself; the setting answers for all others.
    """

    says: str | list[str]
    of: str = ""
    by: str | list[str] = "algorithm"
    where: str = ""
    points: Mapping[str, list[str]] = field(default_factory=dict)
    at_points: str = ""
    only: str = ""
    why: str = ""
    defines: bool = False
    checked: bool = False


class Reader:
    """Reads formulas with the names of a setting.

    Parameters
    ----------
    setting
        Whose symbols these are; ``known`` has its other names, with what belongs to them.
    """

    def __init__(self, setting: Any) -> None:
        self.setting = setting
        self._names: dict[str, Any] = {"sq": squared, "dot": dot, "f": setting.part, "n": setting.n, "i": setting.i}
        self._names |= {"F": setting.objective, "H": partial(value_at, "H", []), "h": partial(setting.vec, "h")}
        self._names |= {"client": lambda g: setting.slope_of(g)[1], "point": lambda g: setting.slope_of(g)[2]}
        self._names["size_of_noise"] = lambda: setting.symbol(setting.noise_size)
        self.known = MappingProxyType(self._names)

    def give(self, name: str, value: Any) -> Any:
        """Return a value that has a name in formulas from here on."""
        only_for_rules("a name in the sentences of a setting")
        self._names[name] = value
        return value

    # ------------------------------------------------------------------ values

    def value(self, node: ast.expr, names: Names) -> Any:
        """Return what a formula stands for: a number, a vector or an expression.

        Raises
        ------
        ProofError
            If a name is not known, or something else than a formula is written.
        """
        match node:
            case ast.Constant(value=int(own)):
                return scalar(own)
            case ast.Name(id=name):
                own = names[name] if name in names else self._named(name)
                return own.value if isinstance(own, Open) else own
            case ast.Subscript(value=ast.Name(id=name), slice=inside):
                return self._applied(name, several(inside), names)
            case ast.UnaryOp(op=ast.USub(), operand=of):
                return -self.value(of, names)
            case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int(power))):
                return self.value(base, names) ** power
            case ast.BinOp(left=one, op=op, right=other):
                return _OPERATORS[type(op)](self.value(one, names), self.value(other, names))
            case ast.Call(func=ast.Name(id="sum" | "mean" as what), args=[ast.Name(id=index), *ends, of]):
                self._catches_none(index, of, names)
                inside = self.value(of, {**names, index: variable(index)})
                kind = isinstance(inside, Lin)
                if what == "sum":
                    lo, hi = (self.value(end, names) for end in ends)
                    return vector_sum(index, lo, hi, inside) if kind else finite_sum(index, lo, hi, inside)
                (many,) = (self.value(end, names) for end in ends)
                return vector_mean(index, many, inside) if kind else mean_of(index, many, expr(inside))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._applied(name, args, names)
        raise ProofError(f"{ast.unparse(node)} is no formula of a sheet")

    def number(self, text: str, **names: Any) -> Scalar:
        """Return a number."""
        return scalar(self.value(parsed(text), names))

    def end(self, text: str | None, other: Scalar | None, **names: Any) -> Scalar | None:
        """Return the end of a range; ``other`` where none is written, or it is a symbol that the theorem has not."""
        if text is None or (text.isidentifier() and text not in names and not self.has(text)):
            return other
        return self.number(text, **names)

    def has(self, name: str) -> bool:
        """Return whether a name is known."""
        return name in self.known or name in self.setting.own_symbols

    def _applied(self, name: str, args: list[ast.expr], names: Names) -> Any:
        own, given = self._named(name), [self.value(one, names) for one in args]
        if not isinstance(own, Shorthand):
            return own(*given)
        # What this formula was given is not bound in the shorthand, either.
        held = [set[str]().union(*(names_in(names[one]) for one in {*_names(arg)} & names.keys())) for arg in args]
        return own.of(given, held)

    def _catches_none(self, index: str, of: ast.expr, names: Names) -> None:
        """Make sure that no argument in what is summed holds the name that the sum binds."""
        for one in {*_names(of)} & names.keys() - {index}:
            if index in names_in(names[one]):
                raise ProofError(f"{index} is what a sum here runs over, and stands in {one}: take another index")

    def _named(self, name: str) -> Any:
        if name in self.known:
            return self.known[name]
        if name in ("star", "hs"):
            return self.setting.star if name == "star" else self.setting.vec(name)
        return self.setting.symbol(name)

    def claim(self, text: str, names: Names) -> Claim | tuple[Lin, Lin]:
        """Return what a relation claims; of vectors, its two sides."""
        match parsed(text):
            case ast.Compare(left=one, ops=[op], comparators=[other]) if type(op) in _RELATIONS:
                left, right = self.value(one, names), self.value(other, names)
                if isinstance(left, Lin):
                    return left, right if isinstance(right, Lin) else NOTHING
                return Claim(expr(left), _RELATIONS[type(op)], expr(right))
        raise ProofError(f"{text} is no relation")

    def holds(self, only: str) -> bool:
        """Return whether a condition on the theorem is met, such as ``noisy and not has("N")``."""
        return not only or bool(self._decided(parsed(only)))

    def _decided(self, node: ast.expr) -> Any:
        theorem = self.setting.theorem
        match node:
            case ast.BoolOp(op=op, values=parts):
                return (all if isinstance(op, ast.And) else any)(self._decided(one) for one in parts)
            case ast.UnaryOp(op=ast.Not(), operand=of):
                return not self._decided(of)
            case ast.Name(id="noisy"):
                return self.setting.noisy
            case ast.Name(id="printed"):
                return theorem.of_paper
            case ast.Call(func=ast.Name(id="has"), args=[ast.Constant(value=str(name))]):
                return name in self.setting.own_symbols
            case ast.Call(func=ast.Name(id="assumes"), args=[ast.Constant(value=str(name))]):
                return name in self.setting.assumed
            case ast.Compare(left=ast.Name(id=option), ops=[ast.Eq()], comparators=[ast.Constant(value=word)]):
                return theorem.core.value(option) == word
        raise ProofError(f"{ast.unparse(node)} is no condition on theorems")

    # ------------------------------------------------------------------ for which parameters

    def require(self, node: ast.expr, names: dict[str, Any]) -> None:
        """Make sure that parameters are those that a sentence is about; what it names among them is added.

        Raises
        ------
        ProofError
            If that is not shown.
        """
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                for one in parts:
                    self.require(one, names)
            case ast.BoolOp(op=ast.Or(), values=[*parts, last]):
                for one in parts:
                    try:
                        self.require(one, names)
                    except ProofError:
                        continue
                    break
                else:
                    self.require(last, names)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[pattern]):
                self._match(names[name], pattern, names)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.In()], comparators=[ast.Tuple(elts=among)]):
                if single(names[name]).name not in (words := [ast.unparse(one) for one in among]):
                    raise ProofError(f"{names[name]} is none of {', '.join(words)}")
            case ast.Compare(left=first, ops=ops, comparators=rest) if {*map(type, ops)} == {ast.LtE}:
                values = [scalar(self.value(one, names)) for one in (first, *rest)]
                for low, high in itertools.pairwise(values):
                    self.setting.kernel.need(high - low, self.setting.context, f"said for {ast.unparse(node)}")
            case ast.Call(func=ast.Name(id="known"), args=[ast.Name(id=name), time]):
                now = scalar(self.value(time, names))
                if not self.setting.kernel.known_by(single(names[name]), (now,), self.setting.context):
                    raise ProofError(f"{names[name]} may be known only after {now}")
            case ast.Compare(left=one, ops=[ast.Eq()], comparators=[other]):
                values = [scalar(self.value(side, names)) for side in (one, other)]
                if not same(*values):
                    raise ProofError(f"{ast.unparse(node)} is not so: {values[0]} is not {values[1]}")
            case ast.Call(func=ast.Name(id="gradient"), args=[ast.Name(id=name)]):
                self.setting.slope_of(names[name])
            case ast.Call(func=ast.Name(id="noise"), args=[ast.Name(id=name)]):
                known = self.setting.kernel.vectors.known.get(single(names[name]).name)
                if known is None or known["drawn"] is None:
                    raise ProofError(f"{names[name]} is no noise")
            case ast.Call(func=ast.Name(id="passed"), args=[ast.Name(id=name)]):
                own = self.setting.sheet.get("passed")
                if own is None:
                    raise ProofError(f"proofs about {self.setting.theorem.algorithm} know no passes")
                self.require(parsed(own["where"]), {own["of"]: names[name]})
            case _:
                raise ProofError(f"{ast.unparse(node)} is no condition on parameters")

    def _match(self, value: Lin, pattern: ast.expr, names: dict[str, Any]) -> None:
        """Make sure that a vector is of this form, and give names to those indices of it that have none."""
        assert isinstance(pattern, ast.Subscript)  # noqa: S101  (sheets have no other)
        vector, inside = single(value), several(pattern.slice)
        if vector.name != ast.unparse(pattern.value):
            raise ProofError(f"{value} is no {ast.unparse(pattern)}")
        for one, index in zip(inside, vector.indices, strict=True):
            name = ast.unparse(one)
            if name in names or not isinstance(one, ast.Name):
                if not same(scalar(self.value(one, names)), index):
                    raise ProofError(f"{value} is no {ast.unparse(pattern)}")
            elif name != _ANY:
                names[name] = index


def several(node: ast.expr) -> list[ast.expr]:
    """Return the parts of a tuple, or the one that it is."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _names(node: ast.expr) -> Iterator[str]:
    yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _left(own: Axiom) -> ast.expr:
    said = parsed(str(own.says))
    assert isinstance(said, ast.Compare)  # noqa: S101  (it is a relation)
    return said.left


def single(value: Lin) -> Vec:
    """Return the one vector that a combination is.

    Raises
    ------
    ProofError
        If it is none.
    """
    if value.vec is None:
        raise ProofError(f"a single vector is expected, got {value}")
    return value.vec


def argument(kind: str, value: Any, held: frozenset[str] = frozenset()) -> Any:
    """Return an argument of a sentence as what it is to be."""
    match kind:
        case "number":
            return scalar(value)
        case "vector" | "gradient":
            return lin(value)
        case "expression":
            return expr(value)
        case "open":
            return Open(value if isinstance(value, Lin) else expr(value), held)
    raise ProofError(f"{kind} is no kind of parameter")


@final
@dataclass(frozen=True)
class Open:
    """An argument of a shorthand whose sums are meant to bind names in it, but for those that it holds by chance."""

    value: Lin | Expr
    held: frozenset[str] = frozenset()


@final
@dataclass(frozen=True)
class Shorthand:
    """A formula with parameters; those that are ``open`` hold names that its sums bind."""

    reader: "Reader"
    parameters: list[tuple[str, str]]
    text: str

    def __call__(self, *given: Any) -> Any:
        """Return what it stands for."""
        return self.of(given, [set[str]()] * len(given))

    def of(self, given: Sequence[Any], held: Sequence[set[str]]) -> Any:
        """Return what it stands for; of each argument, the names in it that no sum may bind."""
        here = {
            name: argument(kind, value, frozenset(own))
            for (name, kind), value, own in zip(self.parameters, given, held, strict=True)
        }
        return self.reader.value(parsed(self.text), here)


def names_in(value: Any) -> set[str]:
    """Return the free names of an argument."""
    if isinstance(value, Open):
        return {*value.held}
    return set(value.names()) if isinstance(value, (Scalar, Lin, Expr)) else set()


class Sentences:
    """The axioms of a sheet, as a setting says them.

    Parameters
    ----------
    setting
        What they are about.
    reader
        Reads their formulas.
    said
        The axioms, by name.
    """

    def __init__(self, setting: Any, reader: Reader, said: Mapping[str, Axiom]) -> None:
        self._setting, self._reader, self.said = setting, reader, MappingProxyType(dict(said))
        defining = {ast.unparse(_left(one)).partition("[")[0]: one for one in said.values() if one.defines}
        self.defining: Mapping[str, Axiom] = MappingProxyType(defining)

    def meaning(self, vector: Vec) -> Lin | None:
        """Return what a vector is by the sentence that defines it; None where there is none."""
        own = self.defining.get(vector.name)
        if own is None:
            return None
        inside = _left(own)
        places = several(inside.slice) if isinstance(inside, ast.Subscript) else []
        names = {ast.unparse(one): index for one, index in zip(places, vector.indices, strict=True)}
        said = self._reader.claim(str(own.says), names)
        assert isinstance(said, tuple)  # noqa: S101  (it defines a vector)
        return said[1]

    def cite(self, name: str, *given: Any) -> Any:
        """Return the facts that a sentence says, with these arguments.

        Raises
        ------
        ProofError
            If there is no such sentence, it is not about these arguments, or the theorem does not assume it.
        """
        setting, reader = self._setting, self._reader
        if name not in self.said:
            raise ProofError(f"the setting of {setting.theorem.id} does not say {name}")
        own = self.said[name]
        of = parameters(own.of)
        if len(of) != len(given):
            raise ProofError(f"{name} is said of {own.of or 'nothing'}, got {len(given)} arguments")
        names = {one: argument(kind, value) for (one, kind), value in zip(of, given, strict=True)}
        texts = [own.says] if isinstance(own.says, str) else own.says
        wheres = [own.where, *(own.at_points for one, words in own.points.items() if setting.bounds_at(one, *words))]
        for where in filter(None, wheres):
            try:
                reader.require(parsed(where), dict(names))
            except ProofError as error:
                raise ProofError(f"{name}: {error}{f'; {own.why}' if own.why else ''}") from None
        tags = [one for one in ([own.by] if isinstance(own.by, str) else own.by) if not self._fixed(one)]
        setting.assume(*(one for one in tags if one not in OWN_AXIOMS and "=" not in one))
        with setting.kernel.calling(name if own.checked else f"{OF_RUNS}{name}", tuple(names.values())):
            found = tuple(self._fact(reader.claim(one, names), tags) for one in texts)
        return found[0] if isinstance(own.says, str) else found

    def _fixed(self, tag: str) -> bool:
        """Return whether a tag is a word of an option, such as ``scaling=analysis``, that the theorem fixes."""
        option, equals, _ = tag.partition("=")
        return bool(equals) and option in self._setting.theorem.core.fixed

    def _fact(self, said: Claim | tuple[Lin, Lin], tags: list[str]) -> Fact | VectorFact:
        only_for_rules("what a sentence says")
        kernel: Kernel = self._setting.kernel
        if isinstance(said, Claim):
            return kernel.make(said, self._setting.context, "axiom", axioms=tags)
        return kernel.make_vector(*said, self._setting.context, "axiom", axioms=tags)
