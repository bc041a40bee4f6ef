"""Arguments of the public API against their annotations: one line says which is of a wrong type, and what it may be."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from boundlab.errors import SpecError

P = ParamSpec("P")
R = TypeVar("R")

_WORDS = {
    str: "text",
    int: "an integer",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
    Literal: "text",
    Callable: "a function",
    Mapping: "a mapping by names",
    Sequence: "a list",
    tuple: "a tuple",
}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function of the public API refuse arguments of a wrong type, for use as a decorator.

    Numbers may be text, which the function reads. Annotations that are text, and so need a package that is loaded
    later, are the function's own to look at.
    """

    @lru_cache(maxsize=1)
    def declared() -> tuple[Any, Mapping[str, Any]]:
        asked = signature(function)
        named = (one for one in asked.parameters.values() if one.kind is not Parameter.VAR_KEYWORD)
        plain = {one.name: _plain(one.annotation) for one in named}
        return asked, {name: one for name, one in plain.items() if not isinstance(one, str)}

    @wraps(function)
    def asked(*arguments: P.args, **options: P.kwargs) -> R:
        shape, annotations = declared()
        try:
            given = shape.bind(*arguments, **options)
        except TypeError:  # Python says it better
            return function(*arguments, **options)
        for name, value in given.arguments.items():
            if name in annotations and not _fits(value, annotations[name]):
                words = " or ".join(dict.fromkeys(_words(annotations[name])))
                what = "an array" if hasattr(value, "ndim") else f"a value of type {type(value).__name__}"
                raise SpecError(f"{function.__name__}: {name} must be {words}; got {what}")
            if isinstance(value, str) and get_origin(annotations.get(name)) is Sequence:
                given.arguments[name] = [value]  # a word is a list of one, and not of its letters
        return function(*given.args, **given.kwargs)

    return asked


def _plain(annotation: Any) -> Any:
    """Return a type without what is said of the parameter for the command line."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _fits(value: Any, wanted: Any) -> bool:
    kind, inner = get_origin(wanted) or wanted, get_args(wanted)
    if kind in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if kind in (None, NoneType):
        return value is None
    if kind in (int, float):
        return isinstance(value, str) or (hasattr(type(value), "__float__") and getattr(value, "ndim", 0) == 0)
    if kind is bool:
        return isinstance(value, int) or type(value).__name__ == "bool"  # one of NumPy's, too
    if kind in (str, Literal):
        return isinstance(value, str)
    if kind is Callable:
        return callable(value)
    if kind is Sequence:
        fits = isinstance(value, Iterable) and not isinstance(value, (Mapping, bytes))
        return fits and (not isinstance(value, Collection) or all(_fits(one, inner[0]) for one in value))
    if kind is tuple:
        return isinstance(value, (tuple, list)) and len(value) == len(inner) and all(map(_fits, value, inner))
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return isinstance(value, Mapping) and all(_fits(one, inner[0]) for one in value)
    try:
        return kind is Any or isinstance(value, kind)
    except TypeError:  # what cannot be looked at: protocols, variables of types
        return True


def _words(wanted: Any) -> Iterable[str]:
    kind = get_origin(wanted) or wanted
    if kind in (Union, UnionType):
        return [word for one in get_args(wanted) for word in _words(one)]
    kind = NoneType if kind is None else Mapping if kind is dict else kind
    return [_WORDS.get(kind, f"a {kind.__name__}" if isinstance(kind, type) else str(kind))]
