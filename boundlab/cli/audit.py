"""``boundlab audit``."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boundlab.cli._common import Jobs, Quiet, Seed, Verbose, alone, print_line, print_page, whole_option, writable
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.audit import Audit


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", epilog=epilog("audit", "audit area.theorem8 --html area.html"))(audit)


def audit(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list theorems), or a TOML file")],
    budget: Annotated[float, typer.Option("--budget", metavar="SECONDS", help="About how long it may take.")] = 60.0,
    candidates: Annotated[
        int | None,
        whole_option("--candidates", help="About how many instances each search tries; then the clock has no say."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one self-contained page of HTML.")
    ] = None,
    latex: Annotated[Path | None, typer.Option("--latex", metavar="FILE", help="Write a fragment of LaTeX.")] = None,
    markdown: Annotated[Path | None, typer.Option("--md", metavar="FILE", help="Write Markdown.")] = None,
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write JSON.")] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> ExitCode:
    """Write the report card of a theorem: all that is known or found of it in a minute, on one page.

    The verdict, what fails, the counterexample with its derivation, the step of the proof that goes wrong, the repair
    and what supports it, a comparison, what was not decided, and the commands that repeat each number. With a file, the
    terminal shows the verdict alone.
    """
    from boundlab.audit import audit as ask
    from boundlab.errors import SpecError

    alone(quiet, verbose=verbose)
    makers: dict[Path | None, Callable[[Audit], str]] = {}
    for path, make in ((html, _html), (latex, _latex), (markdown, _markdown), (json, _json)):
        if path is not None and path in makers:
            raise SpecError(f"{path} is named twice; give each page a file of its own")
        makers |= {} if path is None else {writable(path): make}
    with _status() as say:
        found = ask(theorem, budget, candidates=candidates, seed=seed, jobs=jobs, progress=say)
    files = [path for path in makers if path is not None]

    def show(written: Sequence[Path]) -> None:
        if written or quiet:
            print_line(found.line())
            return
        print_page(found.page(), folded=verbose)

    def write() -> None:
        from boundlab.files import write_text

        for path in files:
            write_text(path, makers[path](found))

    return deliver(found.exit_code, files, show, write, quiet=quiet)


def _html(audit: "Audit") -> str:
    return audit.html()


def _latex(audit: "Audit") -> str:
    return audit.latex()


def _markdown(audit: "Audit") -> str:
    return audit.markdown()


def _json(audit: "Audit") -> str:
    from boundlab.files import json_text

    return json_text(audit.as_dict())


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Say on a terminal what is asked; stay silent elsewhere."""
    import sys

    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True, markup=False).status("auditing") as status:
        yield status.update
