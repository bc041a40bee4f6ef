"""How options are declared: names, help, the reader of a value, and its completion; and those of several commands.

An option of one command is declared where the command takes it. A value without a completion is free: a number, a list
of numbers, or a new name. The defaults and words that :mod:`boundlab.api` has, too, stand in :mod:`boundlab.options`.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer

from boundlab.errors import SpecError
from boundlab.options import Declared, Keyword, numbers, whole

# Tab completion in the shell: registered ids, symbols, words and files.

Offer = Callable[[Any, str], Iterable[str]]
Completion = Callable[[typer.Context, str], list[str]]
Command = TypeVar("Command", bound=Callable[..., Any])


def completion(offer: Offer) -> Completion:
    """Return a completion, as Typer takes one: of what is offered for the letters typed so far, what begins so."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        try:
            found = [one for one in dict.fromkeys(offer(context, incomplete)) if one.startswith(incomplete)]
        except Exception:  # a plug-in that is broken, a theorem that is none: there is nothing to offer
            return []
        return [one for one in found if one.isprintable()]  # a line break would be read as two words

    return complete


def choices(known: Iterable[str]) -> Completion:
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


@completion
def pages(context: Any, _typed: str) -> list[str]:
    """Return the pages of the documentation, or with --schema the published schemas."""
    from boundlab.documentation import page_files
    from boundlab.records import schema_names

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


# Options.


def named(shown: str, words: str, offer: Any = None, *, reader: Any = None) -> Any:
    """Declare an option by what the help shows, ``--problem -p SPEC``: its names and the letters for its value."""
    names = [word for word in shown.split() if word.startswith("-")]
    letters = shown.split()[len(names) :]
    return typer.Option(
        *names, metavar=letters[0] if letters else None, help=words, autocompletion=offer, parser=reader
    )


def file(shown: str, words: str) -> Any:
    """Declare an option that names a file, or a folder."""
    return named(shown, words, files(shown.split()[-1]))


def argument(shown: str, words: str | None, offer: Any = None) -> Any:
    """Declare an argument by what the help shows: the letters for its value."""
    return typer.Argument(metavar=shown, help=words, autocompletion=offer)


def file_argument(shown: str, words: str) -> Any:
    return argument(shown, words, files(shown))


def read_fitted(given: Any) -> list[int]:
    found = sorted({whole(one, "--fit") for one in numbers(given, "--fit")})
    if len(found) < 2:
        raise SpecError(f"--fit asks for two or more horizons, such as 2,3,4,5; got {given}")
    return found


def one_of(shown: str, words: str, *known: str) -> Any:
    """Declare an option that is one of a few words."""

    def read(given: Any) -> str:
        if given not in known:
            raise SpecError(f"{shown.split()[0]} is {' or '.join(known)}, got {given!r}")
        return str(given)

    return named(shown, words, choices(known), reader=read)


# Parameters of questions, which are declared where these are answered.

Asked = dict[str, Any]
_OFFERS: dict[str, Callable[..., Completion]] = {
    "ids": ids,
    "specs": specs,
    "choices": choices,
    "files": files,
    "policies": lambda: policies,
    "symbols": lambda: symbols,
}


def declared(one: Declared) -> Any:
    """Return a parameter of a question as Typer takes it."""
    offer = _OFFERS[one.offers[0]](*one.offers[1:]) if one.offers else None
    if not one.shown.startswith("-"):
        return argument(one.shown, one.words, offer)
    return named(one.shown, one.words, offer, reader=None if one.many else one.read)


def asking(question: str, **usual: Any) -> Callable[[Command], Command]:
    """Return what makes a command take the parameters of a question, together as ``asked``, beside its own.

    Parameters
    ----------
    question
        The function that answers it, MODULE:NAME.
    usual
        Defaults of the command that are not those of the function.
    """

    def of(command: Command) -> Command:
        command.question = question, usual  # type: ignore[attr-defined]
        return command

    return of


def command_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command as Typer takes it: with the parameters of its question before its own."""
    if not hasattr(function, "question"):
        return function
    question, usual = function.question
    known = {
        name: (one, next(said for said in one.annotation.__metadata__ if isinstance(said, Declared)))
        for name, one in signature(resolve_name(question)).parameters.items()
        if get_origin(one.annotation) is Annotated
    }
    of_question = [
        one.replace(
            kind=Parameter.KEYWORD_ONLY,
            default=usual.get(name, None if said.many else one.default),
            annotation=Annotated[_typed(one, said), declared(said)],
        )
        for name, (one, said) in known.items()
    ]
    own = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in signature(function).parameters.values()]

    @wraps(function)
    def command(**given: Any) -> Any:
        asked = {name: given.pop(name) for name in known}
        for name, (_, said) in known.items():
            if said.many:
                asked[name] = (said.read or tuple)(asked[name] or ())
        return function(asked=asked, **given)

    every = [*of_question, *(one for one in own if one.name != "asked")]
    command.__signature__ = Signature(every)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in every}
    return command


def named_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that nobody runs, for a list of commands."""

    def command() -> None:
        pass

    command.__doc__ = function.__doc__
    return command


def _typed(parameter: Parameter, said: Declared) -> Any:
    """Return the type of what is typed for a parameter."""
    wanted = get_args(parameter.annotation)[0]
    some = {wanted, *get_args(wanted)}
    absent = parameter.default is None or NoneType in some
    if said.many:
        return list[str] | None
    if said.read is not None:
        return Any
    kind = bool if bool in some else float if wanted is float else str
    return kind | None if absent else kind


Theorem = Annotated[str, declared(Keyword.THEOREM)]
Delays = Annotated[str, declared(Keyword.DELAYS)]
Settings = Annotated[list[str] | None, declared(Keyword.SETTINGS)]
Seed = Annotated[int, declared(Keyword.SEED)]
Jobs = Annotated[int | None, declared(Keyword.JOBS)]
With = Annotated[str | None, declared(Keyword.SCRIPT)]

# Comparisons.
Require = Annotated[
    str | None,
    one_of("--require VERDICT", "holds: exit 3 if the trials are only consistent.", "holds"),
]

Recheck = Annotated[
    bool,
    named("--recheck", "Check a file of prove --trace or of worst-case --certificate again, by another checker."),
]
# What is printed.
Quiet = Annotated[bool, named("--quiet -q", "Print only the answer, in one line.")]
MORE = "Print more: derivations, terms, checks that passed."
Verbose = Annotated[bool, named("--verbose -v", MORE)]
AsJson = Annotated[bool, named("--json", "Print JSON instead of a table.")]
Terms = Annotated[bool, named("--terms", "Show the named terms of the bound.")]


def alone(given: object, what: str = "-q prints the answer alone", **others: object) -> None:
    """Refuse ``-q``, or another option that says what is printed, beside options that print something else.

    Raises
    ------
    SpecError
        If one of the others is given.
    """
    found = [name.replace("_", "-") for name, one in others.items() if one]
    if given and found:
        raise SpecError(f"{what}: leave it out, or --{found[0]}")


def form(context: typer.Context, shown: str, *taken: str, other: str = "") -> None:
    """Refuse the options of a command that one of its forms does not take; ``other`` is the form that does, if known.

    Raises
    ------
    SpecError
        If one of the others is given.
    """
    for one in context.command.params:
        source = context.get_parameter_source(str(one.name))
        if one.name not in taken and source is not None and source.name == "COMMANDLINE":
            more = f"; boundlab {other} {one.opts[0]} takes it" if other else ""
            raise SpecError(f"{shown} takes no {one.opts[0]}: leave it out{more}")
