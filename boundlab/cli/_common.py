"""Helpers shared by the commands: options, output, progress."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.errors import SpecError, visible
from boundlab.options import whole

if TYPE_CHECKING:
    from rich.console import Console

    from boundlab.pages import Block
    from boundlab.theorems import Theorem


def whole_option(*names: str, help: str) -> Any:  # noqa: A002 - Typer's own word
    """Declare an option that is an integer, as 1e4 and 10_000 are; one of type ``int`` refuses the first.

    Its limits are those of the question that it goes to.
    """

    def read(value: Any) -> int:
        return whole(value, names[0])

    return typer.Option(*names, metavar="N", help=help, parser=read)


def verbose_option(*more: str) -> Any:
    """Declare ``-v``: what a command says beyond its page; ``more`` are further names."""
    return typer.Option("--verbose", "-v", *more, help="Print more: derivations, terms, what passed.")


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict alone, in one line.")]
Verbose = Annotated[bool, verbose_option()]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a symbol or a parameter; may be repeated."),
]
ProblemSpec = Annotated[
    str, typer.Option("--problem", "-p", metavar="SPEC", help="NAME:key=value,… (boundlab list problems).")
]
DelaySpec = Annotated[
    str, typer.Option("--delays", "-d", metavar="SPEC", help="NAME:key=value,… (boundlab list delays).")
]
ServerSpec = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="SPEC",
        help="poisson:rate=4 (default: rate=optimal), count:every=4 or periodic:every=1.",
    ),
]
Iterations = Annotated[
    int,
    whole_option("--iterations", "-k", help="K: events for area (updates, aggregations), server updates for others."),
]
Trials = Annotated[int, whole_option("--trials", "-r", help="Independent trials.")]
Seed = Annotated[int, whole_option("--seed", "-s", help="Seed of all random numbers.")]
BackendName = Annotated[
    str, typer.Option("--backend", help="numpy, the reference; torch, many trials in lock step; or auto.")
]
DeviceName = Annotated[
    str | None, typer.Option("--device", help="Of torch: cpu, cuda or cuda:1. Default: a GPU where there is one.")
]
Jobs = Annotated[int | None, whole_option("--jobs", "-j", help="Processes. Default: one a core; results are the same.")]


def print_json(value: Any) -> None:
    """Print JSON; what the output cannot encode, or steers a terminal, is written with JSON's own escapes."""
    escaped = not sys.stdout.encoding.lower().replace("_", "-").startswith("utf")
    text = json.dumps(value, indent=1, ensure_ascii=escaped, allow_nan=False)
    if visible(text) != text:
        text = json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False)
    sys.stdout.write(text + "\n")


def console() -> "Console":
    """Return the console for tables; wide enough for them when the output is not a terminal.

    Whatever is printed, its own styles alone steer the terminal: a theorem's title is text.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Visible(Console):
        def render(self, renderable: Any, options: Any = None) -> Any:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else visible(text), style, control)

    width = None if sys.stdout.isatty() else 120
    return Visible(width=width, highlight=False, soft_wrap=False, markup=False, emoji=False)


def alone(quiet: bool, **others: object) -> None:
    """Refuse ``-q`` beside options that print something else.

    Raises
    ------
    SpecError
        If one of the others is given.
    """
    found = [name.replace("_", "-") for name, given in others.items() if given]
    if quiet and found:
        raise SpecError(f"-q prints the verdict alone: leave it out, or --{found[0]}")


def print_line(line: str) -> None:
    """Print a verdict in one line, however long it is and whatever stands in it."""
    console().print(" ".join(line.split()), soft_wrap=True)


def print_page(blocks: "Iterable[Block]", *, folded: bool = False) -> None:
    """Print a page; ``folded``: with what it has behind a line."""
    from boundlab.pages.terminal import print_page as print_on

    print_on(console(), blocks, folded=folded)


def print_trail(theorem: "Theorem") -> None:
    """Print the pointers of a theorem, if there are any; a terminal wraps them: paths stay whole."""
    from boundlab.pages.related_links import trail

    if lines := trail(theorem):
        console().print(f"\n{lines}", soft_wrap=True)


def settings_map(settings: list[str] | None) -> dict[str, str]:
    """Turn repeated NAME=VALUE options into a mapping.

    Raises
    ------
    SpecError
        If one has no ``=`` or a name stands twice.
    """
    from boundlab.options import split_setting

    found: dict[str, str] = {}
    for text in settings or []:
        setting = split_setting(text)
        if setting is None:
            raise SpecError(f"--set {text!r} is not NAME=VALUE")
        name, value = setting
        if name in found:
            raise SpecError(f"--set {name} is given twice")
        found[name] = value
    return found


def writable(path: Path | None) -> Path | None:
    """Fail before the work, not after it, if a file cannot be written."""
    if path is not None:
        from boundlab.files import check_writable

        check_writable(path)
    return path


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal; stay silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)
