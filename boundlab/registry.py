"""Find theorems, algorithms, problems, delay models and proofs through entry points.

A package that declares an entry point in one of the groups ``boundlab.theorems``, ``boundlab.algorithms``,
``boundlab.problems``, ``boundlab.delays`` or ``boundlab.proofs`` is found next to the built-in ones.
The object behind an entry point is one registered object, or a tuple of them; each has an ``id``.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from boundlab.errors import SpecError
from boundlab.options import nearest

Kind = Literal["theorems", "algorithms", "problems", "delays", "proofs"]
KINDS: tuple[Kind, ...] = ("theorems", "algorithms", "problems", "delays", "proofs")


def registered(kind: Kind) -> dict[str, Any]:
    """Return all registered objects of a kind by id, in a stable order.

    Raises
    ------
    SpecError
        If two entry points register the same id.
    """
    return _load(kind, _entries(kind))


def _entries(kind: Kind) -> list[EntryPoint]:
    return sorted(entry_points(group=f"boundlab.{kind}"), key=lambda item: (item.name, item.value))


def _load(kind: Kind, entries: list[EntryPoint]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in entries:
        loaded = entry.load()
        for item in loaded if isinstance(loaded, tuple) else (loaded,):
            if found.setdefault(item.id, item) is not item:
                raise SpecError(f"two packages register {kind[:-1]} {item.id}; uninstall one of them")
    return found


def lookup(kind: Kind, name: str) -> Any:
    """Return the registered object of that id.

    Entry points whose name begins the id are asked first, so that one theorem does not load all papers.

    Raises
    ------
    SpecError
        If there is none; the message names the nearest id.
    """
    entries = _entries(kind)
    likely = _load(kind, [entry for entry in entries if name.startswith(entry.name)])
    found = likely if name in likely else _load(kind, entries)
    if name not in found:
        singular = "delay model" if kind == "delays" else kind[:-1]
        raise SpecError(f"unknown {singular} {name!r}; {nearest(name, found)}")
    return found[name]
