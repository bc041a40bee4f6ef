"""How options are declared: names, help, the reader of a value, and its completion; and those of several commands.

An option of one command is declared where the command takes it. A value without a completion is free: a number, a list
of numbers, or a new name. The defaults and words that :mod:`boundlab.api` has, too, stand in :mod:`boundlab.options`.
"""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from boundlab.cli import _complete as complete
from boundlab.errors import SpecError
from boundlab.options import BACKENDS, number, numbers, split_setting, whole

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
    return named(shown, words, complete.files(shown.split()[-1]))


def argument(shown: str, words: str | None, offer: Any = None) -> Any:
    """Declare an argument by what the help shows: the letters for its value."""
    return typer.Argument(metavar=shown, help=words, autocompletion=offer)


def file_argument(shown: str, words: str) -> Any:
    return argument(shown, words, complete.files(shown))


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

    return named(shown, words, complete.words(known), reader=read)


def read_time(given: Any) -> float:
    """Return seconds: 90, 90s, 1.5m or 2h."""
    text = str(given).strip()
    unit = text[-1:] if text[-1:] in _SECONDS else "s"
    return _SECONDS[unit] * number(text.removesuffix(unit), "--budget")


# What a command is about.
Theorem = Annotated[str, argument("THEOREM", "an id (boundlab list) or a TOML file", complete.ids("theorems", ".toml"))]

# Runs.
Problem = Annotated[
    str, named("--problem -p SPEC", "NAME:key=value,… (boundlab list problems).", complete.specs("problems"))
]
Delays = Annotated[str, named("--delays -d SPEC", "NAME:key=value,… (boundlab list delays).", complete.specs("delays"))]
Server = Annotated[
    str | None,
    named(
        "--server SPEC", "poisson:rate=4 (default: rate=optimal), count:every=4 or periodic:every=1.", complete.policies
    ),
]
Settings = Annotated[
    list[str] | None, named("--set NAME=VALUE", "Set a symbol or a parameter; may be repeated.", complete.symbols)
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
        "numpy (the reference), compiled (Numba), torch (trials in lock step), or auto.",
        complete.words(BACKENDS),
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


def form(context: typer.Context, shown: str, *taken: str) -> None:
    """Refuse the options of a command that one of its forms does not take.

    Raises
    ------
    SpecError
        If one of the others is given.
    """
    for one in context.command.params:
        source = context.get_parameter_source(str(one.name))
        if one.name not in taken and source is not None and source.name == "COMMANDLINE":
            raise SpecError(f"{shown} takes no {one.opts[0]}: leave it out")


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
