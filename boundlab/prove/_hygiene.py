"""Axioms carry the name of the method of a setting that a proof calls, and its arguments."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_args

from boundlab.prove._facts import Fact, VectorFact

# Methods of settings with which their rules say anything: they look at who calls them.
_ANY_CLAIM = ("axiom", "condition", "restriction")
# Before the names of what the checker cannot make by itself: the setting answers for it.
OF_RUNS = "runs."
_FACTS = (Fact, VectorFact)


def remember(owner: type) -> None:
    """Let the axioms of a class carry their names; what states any claim stays as it is."""
    for name, method in list(vars(owner).items()):
        if not name.startswith("_") and name not in _ANY_CLAIM and callable(method) and _makes_facts(method):
            setattr(owner, name, _remembered(name, method))


def _makes_facts(method: Callable[..., Any]) -> bool:
    found = getattr(method, "__annotations__", {}).get("return")
    return found in _FACTS or any(one in _FACTS for one in get_args(found))


def _remembered(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(setting: Any, *args: Any, **more: Any) -> Any:
        bound = inspect.signature(method).bind(setting, *args, **more)
        bound.apply_defaults()
        with setting.kernel.calling(f"{OF_RUNS}{name}", (*bound.args[1:], *bound.kwargs.values())):
            return method(setting, *args, **more)

    return call
