"""Find registered objects by kind and id: theorems, algorithms, problems and all else that a plug-in may add.

A package that declares an entry point in the group ``boundlab.KIND`` is found next to the built-in ones, and so is
a file that the user names. Behind an entry point is one object, or a tuple or list of them; each has an ``id``. Each
entry point is loaded on its own: one that cannot be loaded takes no other down.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, final

from boundlab.errors import SpecError
from boundlab.options import closest, nearest
from boundlab.registry._sources import BUILT_IN, VARIABLE, Kind, Source, reason, sources

# What each kind is called in a sentence, and what its objects must be; a type is imported only to judge a plug-in.
WORDS: Mapping[Kind, str] = MappingProxyType(
    {
        "theorems": "theorem",
        "algorithms": "algorithm",
        "problems": "problem",
        "delays": "delay model",
        "metrics": "metric",
        "assumptions": "assumption",
        "checks": "group of checks",
        "proofs": "proof",
    }
)
TYPES: Mapping[Kind, str] = MappingProxyType(
    {
        "theorems": "boundlab.theorems:Theorem",
        "algorithms": "boundlab.algorithms:Algorithm",
        "problems": "boundlab.objective:ProblemType",
        "delays": "boundlab.delays:DelayType",
        "metrics": "boundlab.metrics:Metric",
        "assumptions": "boundlab.assumptions:Assumption",
        "checks": "boundlab.checks:CheckGroup",
        "proofs": "boundlab.prove:Script",
    }
)


@final
@dataclass(frozen=True, slots=True)
class Registration:
    """A registered object; or an entry that gives none, with the reason.

    Parameters
    ----------
    id
        Of the object; of an entry that cannot be loaded, the name of its entry point or file.
    origin
        ``boundlab``, the package with its version, or the path of the file.
    item
        The object; None where there is none.
    reason
        Why there is none, in one line; empty otherwise.
    """

    id: str
    origin: str
    item: Any = None
    reason: str = ""


def catalogue(kind: Kind) -> tuple[Registration, ...]:
    """Return all registered objects of a kind and all entries that cannot be loaded, in a stable order."""
    found: list[Registration] = []
    by_id: dict[str, Registration] = {}
    for row in _rows(kind, sources(kind)):
        first = row if row.reason else by_id.setdefault(row.id, row)
        if first.item is row.item:
            found += [row] if first is row else []
        else:
            found.append(Registration(row.id, row.origin, reason=f"{first.origin} registers the same id"))
    return tuple(found)


def registered(kind: Kind) -> dict[str, Any]:
    """Return all registered objects of a kind by id, in a stable order; without entries that cannot be loaded.

    Raises
    ------
    SpecError
        If two entry points register the same id.
    """
    return _by_id(kind, _rows(kind, sources(kind)))


def choices(kind: Kind, name: str, built_in: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the objects among which an id is looked for: the built-in ones where one of them has it."""
    if name not in built_in:
        return registered(kind)
    _nobody_else(kind, name, built_in)
    return built_in


def lookup(kind: Kind, name: str, built_in: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return the object of that id, as :func:`find` does.

    Raises
    ------
    SpecError
        If there is none; the message names the nearest id, and what could not be loaded.
    """
    # Asked thousands of times a second, and so without the decorator of the public API.
    if not isinstance(name, str) or not isinstance(built_in, Mapping):
        raise SpecError("lookup: name must be text, and built_in a mapping by names")
    found = find(kind, name, built_in)
    if found is None:
        rows = _rows(kind, sources(kind))
        broken = "".join(f"; {row.id}: cannot be loaded ({row.reason})" for row in rows if row.reason)
        raise SpecError(f"unknown {WORDS[kind]} {name!r}; {_hint(name, [*_by_id(kind, rows)])}{broken}")
    return found


def _hint(name: str, known: Sequence[str]) -> str:
    """Return which ids begin with a name, as theorems do with that of their algorithm, or the nearest one, or all."""
    begun = sorted(one for one in known if one.startswith(f"{name}."))
    if begun:
        return f"there are {', '.join(begun)}"
    own = "" if closest(name, known) else f"; one of your own is known with --plugin FILE.py, or {VARIABLE}"
    return f"{nearest(name, known)}{own}"


def find(kind: Kind, name: str, built_in: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return the object of that id: of ``built_in``, or the registered one; None if none has it.

    Entry points whose name begins the id are asked first, so that one theorem does not load all papers.

    Raises
    ------
    SpecError
        If two of those that were asked register the same id.
    """
    if name in built_in:
        _nobody_else(kind, name, built_in)
        return built_in[name]
    everything = sources(kind)
    for asked in ([source for source in everything if source.likely(name)], everything):
        found = _by_id(kind, _rows(kind, asked))
        if name in found:
            return found[name]
    return None


def beside(kind: Kind, item: Any) -> dict[str, Any]:
    """Return the objects among which those that belong to one are found, such as the theorems of its paper.

    Of a built-in one these are those of its own entry point, and all that others register; else they are all.

    Raises
    ------
    SpecError
        If two of them have the same id.
    """
    everything = sources(kind)
    own = [source for source in everything if source.origin == BUILT_IN and source.likely(item.id)]
    if _by_id(kind, _rows(kind, own)).get(item.id) is not item:
        return registered(kind)
    return _by_id(kind, _rows(kind, [*own, *(source for source in everything if source.origin != BUILT_IN)]))


def _nobody_else(kind: Kind, name: str, built_in: Mapping[str, Any]) -> None:
    """Make sure that no plug-in registers the id of a built-in object: its own would be passed over without a word."""
    if foreign := [source for source in sources(kind) if source.origin != BUILT_IN]:
        _by_id(kind, [Registration(name, BUILT_IN, built_in[name]), *_rows(kind, foreign)])


def _by_id(kind: Kind, rows: Iterable[Registration]) -> dict[str, Any]:
    found: dict[str, Registration] = {}
    for row in rows:
        if row.reason:
            continue
        first = found.setdefault(row.id, row)
        if first.item is not row.item:
            raise SpecError(
                f"two packages register {WORDS[kind]} {row.id}: {first.origin} and {row.origin}; uninstall one of them"
            )
    return {name: row.item for name, row in found.items()}


def _rows(kind: Kind, chosen: Iterable[Source]) -> list[Registration]:
    found: list[Registration] = []
    for source in chosen:
        try:
            found += _load(kind, source)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # a module may raise anything when it is imported, SystemExit too
            found.append(Registration(source.name, source.origin, reason=reason(error)))
    return found


def _load(kind: Kind, source: Source) -> list[Registration]:
    loaded = source.load()
    items = loaded if isinstance(loaded, (tuple, list)) else (loaded,)
    if source.origin != BUILT_IN:
        _judge(kind, items)
    return [Registration(item.id, source.origin, item) for item in items]


def _judge(kind: Kind, items: Iterable[Any]) -> None:
    """Refuse what is not of the kind's type, or has no id."""
    expected = resolve_name(TYPES[kind])
    for item in items:
        if not isinstance(item, expected):
            raise SpecError(f"{_shown(item)}, not a {expected.__name__}")
        identity = getattr(item, "id", None)
        if not (isinstance(identity, str) and identity.strip()):
            raise SpecError(f"a {expected.__name__} without an id")


def _shown(item: Any) -> str:
    return f"the class {item.__name__}" if isinstance(item, type) else f"a {type(item).__name__}"
