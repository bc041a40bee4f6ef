"""Tab completion in the shell: registered ids, symbols, words and files."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

Offer = Callable[[Any, str], Iterable[str]]
Completion = Callable[[typer.Context, str], list[str]]


def completion(offer: Offer) -> Completion:
    """Return a completion, as Typer takes one: of what is offered for the letters typed so far, what begins so."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        try:
            found = [one for one in dict.fromkeys(offer(context, incomplete)) if one.startswith(incomplete)]
        except Exception:  # a plug-in that is broken, a theorem that is none: there is nothing to offer
            return []
        return [one for one in found if one.isprintable()]  # a line break would be read as two words

    return complete


def words(known: Iterable[str]) -> Completion:
    """Return a completion of certain words."""
    return completion(lambda _context, _typed: known)


def ids(kind: Any, *endings: str) -> Completion:
    """Return a completion of registered ids, and of the files with one of some endings."""

    def offer(_context: Any, typed: str) -> list[str]:
        from boundlab.registry import registered

        before, comma, _ = typed.rpartition(",")  # --only takes several
        return [before + comma + one for one in registered(kind)] + (_found(typed, endings) if endings else [])

    return completion(offer)


def specs(kind: Any) -> Completion:
    """Return a completion of names, and after the colon of the options of that one."""

    def offer(_context: Any, typed: str) -> list[str]:
        from boundlab.registry import registered

        name, colon, _ = typed.partition(":")
        found = registered(kind)
        if not colon:
            return list(found)
        before = typed[: max(typed.rfind(":"), typed.rfind(",")) + 1]
        return [f"{before}{key}=" for key in getattr(found[name], "options", {})]

    return completion(offer)


@completion
def policies(_context: Any, _typed: str) -> list[str]:
    """Return the names of the server policies."""
    from boundlab.delays import POLICIES

    return [f"{word.split(':')[0]}:" for word in POLICIES]


@completion
def symbols(context: Any, _typed: str) -> list[str]:
    """Return the symbols of the theorem, and the options of its algorithm, that stand on the line."""
    from boundlab.registry import lookup
    from boundlab.theorems import load_theorem

    of_algorithm = "algorithm" in context.params
    # An option that still lacks its value keeps Click from naming the arguments.
    given = context.params.get("algorithm" if of_algorithm else "theorem") or context.args[0]
    if of_algorithm:
        names, algorithm = [], given
    else:
        theorem = load_theorem(given)
        names, algorithm = [*theorem.inputs(), *theorem.settable], theorem.algorithm
    return [f"{name}=" for name in (*names, *lookup("algorithms", algorithm).parameters)]


def schema_names() -> list[str]:
    """Return the names of the published schemas."""
    from importlib import resources

    return sorted(one.name.removesuffix(".json") for one in resources.files("boundlab").joinpath("schemas").iterdir())


@completion
def pages(context: Any, _typed: str) -> list[str]:
    """Return the pages of the documentation, or with --schema the published schemas."""
    from boundlab.documentation import page_files

    return schema_names() if context.params.get("schema") else [*page_files()]


def _found(typed: str, endings: tuple[str, ...]) -> list[str]:
    """Return folders, and files with one of these endings, or all where there is none."""
    folder = typed[: typed.rfind("/") + 1]
    rows = sorted(Path(folder or ".").iterdir())
    shown = [one for one in rows if typed[len(folder) :].startswith(".") or not one.name.startswith(".")]
    return [
        f"{folder}{one.name}{'/' if one.is_dir() else ''}"
        for one in shown
        if one.is_dir() or not endings or one.suffix in endings
    ]


def files(metavar: str) -> Completion:
    """Return a completion of the files with the ending of a metavar."""
    ending = Path(metavar.strip("[]")).suffix
    return completion(lambda _context, typed: _found(typed, (ending,) if ending else ()))
