"""``boundlab falsify``."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boundlab.cli._common import (
    AsJson,
    Jobs,
    Quiet,
    Seed,
    Verbose,
    alone,
    print_json,
    print_line,
    print_page,
    print_trail,
    whole_option,
)
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.api import Searched
    from boundlab.pages import Block


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("falsify", epilog=epilog("falsify", "falsify area.theorem8 --budget 60"))(falsify)


def falsify(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list theorems), or a TOML file")],
    budget: Annotated[float, typer.Option("--budget", metavar="SECONDS", help="Seconds for the search.")] = 60.0,
    candidates: Annotated[
        int | None,
        whole_option(
            "--candidates",
            help="About how many to try, those of shrinking not counted; then the clock has no say.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the case file and result.json here.")
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Search for a counterexample by itself: problems, delays, steps, horizons and start points, then shrink it.

    A counterexample always leaves THEOREM.counterexample.json, in the current folder unless --out names another.
    """
    from boundlab.api import falsify as ask
    from boundlab.files import RESULT, folder, write_folder, write_json
    from boundlab.pages.save import case_name
    from boundlab.theorems import load_theorem

    alone(quiet, json=as_json, verbose=verbose)
    statement = load_theorem(theorem)
    if out is not None:
        folder(out)
    with _status() as say:
        found = ask(statement, budget, candidates=candidates, seed=seed, jobs=jobs, progress=say)
    case = [(out or Path()) / case_name(statement.id, "counterexample")] if found.violated else []
    result = {**found.as_dict(), "budget": budget, "limit": None}
    if candidates is not None:  # independent of wall-clock time: equal searches are equal to the letter
        result |= {"budget": None, "limit": candidates, "seconds": None}

    def show(files: Sequence[Path]) -> None:
        if as_json:
            print_json({**result, "written": [str(path) for path in files]})
        elif quiet:
            print_line(found.line())
        else:
            print_page([*found.page(theorem, case[0] if case else None), *(_derivation(found) if verbose else ())])
            print_trail(statement)

    def write() -> None:
        if out is not None:
            write_folder(out, result, {path.name: found.case for path in case})
        else:
            write_json(case[0], found.case)

    files = case if out is None else [*case, out / RESULT]
    return deliver(found.verdict.exit_code, files, show, write, quiet=as_json or quiet, asked=out is not None)


def _derivation(found: "Searched") -> "list[Block]":
    """Return the way to both sides of a counterexample, or why there is none."""
    from boundlab.api import exact
    from boundlab.errors import BoundlabError
    from boundlab.pages.blocks import GAP, words
    from boundlab.pages.derivation import derived

    if not found.violated:
        return []
    try:
        result = exact(found.theorem, found.case)
    except BoundlabError as error:
        return [GAP, words(f"no derivation: {error}")]
    if result.derivation is None:
        return [GAP, words(f"no derivation of numbers in {result.note or 'floating point'}")]
    return [GAP, *derived(result.derivation)]


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Show one line on a terminal; stay silent elsewhere."""
    import sys

    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("searching") as status:
        yield status.update
