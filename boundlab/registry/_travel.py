"""How objects are sent to another process: what is registered by its id, what was built from words by these words.

Everything else is pickled whole. A process that reads the pickle needs the same packages, and the plug-in files that
BOUNDLAB_PLUGINS names, or that ``load_plugin`` was called with.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

from boundlab.registry._registry import lookup
from boundlab.registry._sources import Kind


class BuiltFromWords:
    """An object that, where it was built from words, pickles as the call that built it.

    A copy with other fields is no longer that object, and pickles whole.
    """

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the call, or all that the object holds."""
        call = getattr(self, "_built_by", None)
        return object.__reduce_ex__(self, protocol) if call is None else call

    def __getstate__(self) -> Any:
        """Return all that the object holds but what it has computed for later."""
        state = object.__getstate__(self)
        if not isinstance(state, dict):
            return state
        kind = type(self)
        return {key: one for key, one in state.items() if not isinstance(getattr(kind, key, None), cached_property)}


def built_by(one: Any, function: Callable[..., Any], *arguments: Any) -> None:
    """Note the call that builds an object again; a class with slots of its own has no place for it."""
    with suppress(AttributeError):
        object.__setattr__(one, "_built_by", (function, arguments))


def by_id(kind: Kind, one: Any, protocol: Any) -> Any:
    """Return how an object is pickled that may be registered: by its id if it is that very object, else whole."""
    try:
        registered = lookup(kind, one.id) is one
    except Exception:  # of the same id is something that cannot be loaded, or nothing
        registered = False
    return (lookup, (kind, one.id)) if registered else object.__reduce_ex__(one, protocol)
