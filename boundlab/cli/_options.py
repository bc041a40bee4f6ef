"""How options are declared: names, help, the reader of a value, and its completion; and those of several commands.

An option of one command is declared where the command takes it. A value without a completion is free: a number, a list
of numbers, or a new name. The defaults and words that :mod:`boundlab.api` has, too, stand in :mod:`boundlab.options`.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from boundlab.errors import SpecError
from boundlab.options import BACKENDS, number, numbers, split_setting, whole

# Tab completion in the shell: registered ids, symbols, words and files.

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

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def named(shown: str, words: str, offer: Any = None, *, reader: Any = None) -> Any:
    """Declare an option by what the help shows, ``--problem -p SPEC``: its names and the letters for its value."""
    names = [word for word in shown.split() if word.startswith("-")]
    letters = shown.split()[len(names) :]
    return typer.Option(
        *names, metavar=letters[0] if letters else None, help=words, autocompletion=offer, parser=reader
    )


def integer(names: str, words: str) -> Any:
    """Declare an option that is an integer, as 1e4 and 10_000 are; one of type ``int`` refuses the first.

    Its limits are those of the question that it goes to.
    """
    return named(f"{names} N", words, reader=lambda value: whole(value, names.split()[0]))


def file(shown: str, words: str) -> Any:
    """Declare an option that names a file, or a folder."""
    return named(shown, words, files(shown.split()[-1]))


def argument(shown: str, words: str | None, offer: Any = None) -> Any:
    """Declare an argument by what the help shows: the letters for its value."""
    return typer.Argument(metavar=shown, help=words, autocompletion=offer)


def file_argument(shown: str, words: str) -> Any:
    return argument(shown, words, files(shown))


def read_horizons(given: Any) -> list[int] | int:
    """Read ``1000``, or ``10,100,1000``: each of these is a run of its own."""
    found = [whole(one, "--iterations") for one in numbers(given, "--iterations")]
    return found if "," in str(given) else found[0]


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


def read_time(given: Any) -> float:
    """Return seconds: 90, 90s, 1.5m or 2h."""
    text = str(given).strip()
    unit = text[-1:] if text[-1:] in _SECONDS else "s"
    return _SECONDS[unit] * number(text.removesuffix(unit), "--budget (90, 90s, 1.5m or 2h)")


# What a command is about.
Theorem = Annotated[str, argument("THEOREM", "an id (boundlab list) or a TOML file", ids("theorems", ".toml"))]

# Runs.
Problem = Annotated[str, named("--problem -p SPEC", "NAME:key=value,… (boundlab list problems).", specs("problems"))]
Delays = Annotated[str, named("--delays -d SPEC", "NAME:key=value,… (boundlab list delays).", specs("delays"))]
Server = Annotated[
    str | None,
    named("--server SPEC", "poisson:rate=4 (default: rate=optimal), count:every=4 or periodic:every=1.", policies),
]
Settings = Annotated[
    list[str] | None, named("--set NAME=VALUE", "Set a symbol or a parameter; may be repeated.", symbols)
]
Iterations = Annotated[
    int, integer("--iterations -k", "K: events for area (updates, aggregations), server updates for others.")
]
Trials = Annotated[int, integer("--trials -r", "Independent trials.")]
Seed = Annotated[int, integer("--seed -s", "Seed of all random numbers.")]
Backend = Annotated[
    str,
    named(
        "--backend",
        f"{', '.join(f'{name} ({what})' for name, what in BACKENDS.items())}.",
        choices(BACKENDS),
    ),
]
Device = Annotated[str | None, named("--device", "For torch: cpu, cuda or cuda:1. Default: a GPU if there is one.")]
Jobs = Annotated[
    int | None, integer("--jobs -j", "Number of processes. Default: one a core. Results do not depend on it.")
]

# Comparisons.
Require = Annotated[
    str | None,
    one_of("--require VERDICT", "holds: exit 3 if the trials are only consistent.", "holds"),
]

Recheck = Annotated[
    bool,
    named("--recheck", "Check a file of prove --trace or of worst-case --certificate again, by another checker."),
]
With = Annotated[
    str | None,
    named(
        "--with SCRIPT",
        "Prove the theorem (ID or FILE.toml) with the steps of SCRIPT: a registered proof, or FILE.py with one.",
        ids("proofs", ".py"),
    ),
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


def settings_map(settings: list[str] | None) -> dict[str, str]:
    """Turn repeated NAME=VALUE options into a mapping."""
    return _pairs(settings or [], "--set", "NAME=VALUE")


def columns_map(columns: str | None) -> dict[str, str]:
    """Turn KEY=NAME,KEY=NAME into a mapping."""
    return _pairs(
        [part.strip() for part in (columns or "").split(",") if part.strip()], "--map", "KEY=NAME, as time=ts"
    )


def _pairs(texts: Iterable[str], shown: str, like: str) -> dict[str, str]:
    """Read names and values.

    Raises
    ------
    SpecError
        If one has no ``=`` or a name stands twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        setting = split_setting(text)
        if setting is None:
            raise SpecError(f"{shown} {text!r} is not {like}")
        name, value = setting
        if name in found:
            raise SpecError(f"{shown} {name} is given twice")
        found[name] = value
    return found
