"""Tab completion in the shell: registered ids, symbols, words and files."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    import click

VARIABLE = "_BOUNDLAB_COMPLETE"
# Values that are free: numbers, lists of them, names of one's own.
FREE = (
    "--iterations", "--trials", "--seed", "--jobs", "--level", "--device", "--budget", "--candidates", "--rates",
    "--server-cost", "--epsilon", "--p", "--fit", "--step", "word", "new name",
)  # fmt: skip
_WORDS: Mapping[str, tuple[str, ...]] = {
    "--objective": ("per-iteration", "per-time"), "--band": ("bootstrap", "student"),
    "--backend": ("numpy", "torch", "auto"), "--require": ("holds",),
}  # fmt: skip
_SPECS = {"--problem": "problems", "--delays": "delays"}
# By the letters that stand for a value in the help: the kind of object, and the endings of files that do as well.
_KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "THEOREM": ("theorems", (".toml",)), "ALGORITHM": ("algorithms", ()), "[ID|FILE.py]": ("proofs", (".py",)),
    "ASSUMPTION": ("assumptions", ()), "GROUPS": ("checks", ()),
}  # fmt: skip


def answer() -> None:
    """Answer the shell, which asks by an environment variable, and leave."""
    import typer.main

    from boundlab.cli._app import app

    try:
        taught(typer.main.get_command(app)).main(args=[], prog_name="boundlab")
    except Exception:  # nobody reads a message while typing
        sys.exit(ExitCode.UNFORESEEN)


def taught(command: Any) -> Any:
    """Give every parameter of every command what it can be completed to, and return the whole."""
    for name, one in {"": command, **command.commands}.items():
        for param in one.params:
            if (offer := offer_of(name, param)) is not None:
                param.shell_complete = _asked(offer)
    return command


def offer_of(command: str, param: "click.Parameter") -> Callable[[Any, str], Iterable[str]] | None:
    """Return what a parameter offers for the letters typed so far; None where its value is free."""
    import click

    metavar, word = str(param.metavar or ""), param.opts[0]
    if word in FREE or f"{command} {word}" in FREE or getattr(param, "is_flag", False):
        return None
    if metavar in _KINDS:
        kind, endings = _KINDS[metavar]
        return lambda _, typed: [*_ids(kind, typed), *(_files(typed, endings) if endings else ())]
    if word in _SPECS:
        return lambda _, typed: _specs(_SPECS[word], typed)
    if word == "--server":
        return lambda _, _typed: _policies()
    if word == "--set":
        return lambda context, _typed: _settings(context)
    if command == "schema":
        return lambda _, _typed: _schemas()
    if word in _WORDS:
        return lambda _, _typed: _WORDS[word]
    if isinstance(param.type, click.Path):
        ending = Path(metavar.strip("[]")).suffix
        return lambda _, typed: _files(typed, (ending,) if ending else ())
    if "|" in metavar:
        return lambda _, _typed: metavar.strip("[]").split("|")
    return None


def _asked(offer: Callable[[Any, str], Iterable[str]]) -> Callable[[Any, str], list[Any]]:
    def complete(context: Any, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        try:
            found = [one for one in dict.fromkeys(offer(context, incomplete)) if one.startswith(incomplete)]
        except Exception:  # a plug-in that is broken, a theorem that is none: there is nothing to offer
            found = []
        # A line break would be read as two words.
        return [CompletionItem(one) for one in found if one.isprintable()]

    return complete


def _ids(kind: Any, typed: str) -> list[str]:
    from boundlab.registry import registered

    before, comma, _ = typed.rpartition(",")  # --only takes several
    return [before + comma + one for one in registered(kind)]


def _specs(kind: Any, typed: str) -> list[str]:
    """Return names, and after the colon the options of that one."""
    from boundlab.registry import registered

    name, colon, _ = typed.partition(":")
    found = registered(kind)
    if not colon:
        return list(found)
    before = typed[: max(typed.rfind(":"), typed.rfind(",")) + 1]
    return [f"{before}{key}=" for key in getattr(found[name], "options", {})]


def _policies() -> list[str]:
    from boundlab.delays import POLICIES

    return [f"{word.split(':')[0]}:" for word in POLICIES]


def _settings(context: Any) -> list[str]:
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


def _schemas() -> list[str]:
    from boundlab.cli.schemas import names

    return names()


def _files(typed: str, endings: tuple[str, ...]) -> list[str]:
    """Return folders, and files with one of these endings, or all where there is none."""
    folder = typed[: typed.rfind("/") + 1]
    rows = sorted(Path(folder or ".").iterdir())
    shown = [one for one in rows if typed[len(folder) :].startswith(".") or not one.name.startswith(".")]
    return [
        f"{folder}{one.name}{'/' if one.is_dir() else ''}"
        for one in shown
        if one.is_dir() or not endings or one.suffix in endings
    ]
