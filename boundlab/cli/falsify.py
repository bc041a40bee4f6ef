"""``boundlab falsify``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boundlab.cli._common import AsJson, Jobs, Seed, console, print_json, print_trail
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.falsify import Falsification

_FAMILIES = 12
_REASONS = 5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("falsify", epilog=epilog("falsify", "falsify area.theorem8 --budget 60"))(falsify)


def falsify(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list theorems), or a TOML file")],
    budget: Annotated[float, typer.Option("--budget", metavar="SECONDS", help="Seconds for the search.")] = 60.0,
    candidates: Annotated[
        int | None,
        typer.Option(
            "--candidates",
            help="About how many to try, in whole groups that share their runs; then the clock has no say.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the case file and result.json here.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Search for a counterexample by itself: problems, delays, steps, horizons and start points, then shrink it.

    A counterexample always leaves THEOREM.counterexample.json, in the current folder unless --out names another.
    """
    from boundlab.falsify import falsify as search
    from boundlab.files import RESULT, folder, write_folder, write_json
    from boundlab.simulate.parallel import processes
    from boundlab.theorems import load_theorem

    statement, count = load_theorem(theorem), processes(jobs)
    if out is not None:
        folder(out)
    with _status() as say:
        found = search(statement, budget if candidates is None else 1e9, seed, say, candidates, count)
    case = [(out or Path()) / _case_name(found)] if found.violated else []
    result = {**found.as_dict(), "budget": None if candidates is not None else budget, "limit": candidates}

    def show(files: Sequence[Path]) -> None:
        if as_json:
            print_json({**result, "written": [str(path) for path in files]})
        else:
            _show(found, case, theorem)
            print_trail(statement)

    def write() -> None:
        if out is not None:
            write_folder(out, result, {path.name: found.case for path in case})
        else:
            write_json(case[0], found.case)

    files = case if out is None else [*case, out / RESULT]
    return deliver(found.verdict.exit_code, files, show, write, quiet=as_json, asked=out is not None)


def _case_name(found: "Falsification") -> str:
    import re

    return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', found.theorem.id)[:100]}.counterexample.json"


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


def _show_refused(refused: Mapping[str, int]) -> None:
    """Print how many candidates were given up and why."""
    if not refused:
        return
    screen, ranked = console(), sorted(refused.items(), key=lambda item: -item[1])
    screen.print(f"\n{sum(refused.values())} more were given up, and do not count:")
    for reason, number in ranked[:_REASONS]:
        screen.print(f"  {number} times: {reason}")
    if len(ranked) > _REASONS:
        rest = ranked[_REASONS:]
        screen.print(f"  {sum(number for _, number in rest)} times: {len(rest)} other reasons (--json lists them)")


def _show(found: "Falsification", written: list[Path], typed: str) -> None:
    """Print the page; ``typed`` is the theorem as the user gave it, an id or a file."""
    from boundlab.report.tables import figure, plain_table, verdict_line

    screen, best, statement = console(), found.best, found.theorem
    count = sum(found.tried.values())
    screen.print(f"{statement.id} ({statement.status}): {count} candidates in {found.seconds:.0f} s, seed {found.seed}")
    families = plain_table("family", "candidates", title="what was tried")
    ranked = sorted(found.tried.items(), key=lambda item: -item[1])
    for name, number in ranked[:_FAMILIES]:
        families.add_row(name, str(number))
    if len(ranked) > _FAMILIES:
        families.add_row(f"{len(ranked) - _FAMILIES} more", str(sum(number for _, number in ranked[_FAMILIES:])))
    screen.print(families)
    _show_refused(found.refused)
    if best is None:
        screen.print(verdict_line("inconclusive", "the theorem applies to nothing that was tried"))
        return
    screen.print(f"\n{'smallest counterexample' if found.violated else 'closest instance'}: {best.words()}")
    constants = plain_table("constant", "value", "side", "how")
    constants.columns[2].justify = constants.columns[3].justify = "left"
    for name, constant in best.constants.items():
        constants.add_row(name, figure(constant.value), constant.side, constant.how)
    screen.print(constants)
    screen.print(
        f"\nat {statement.counter} = {best.iterations}: left {best.left:.10g}, right {best.right:.10g}, "
        f"ratio {best.ratio:.6g} ({best.kind}: {best.method})"
    )
    if best.generous is not None:
        counts = " and ".join(f"{name} counted as {name} + {more}" for name, more in statement.generous.items())
        screen.print(f"with {counts}, as the paper may: ratio {best.generous:.6g}")
    if found.clearest is not None:
        screen.print(
            f"the clearest one met: {found.clearest.words()}, {statement.counter} = {found.clearest.iterations}: "
            f"ratio {found.clearest.ratio:.6g} ({found.clearest.kind})"
        )
    if found.violated:
        screen.print(verdict_line("violated", f"{statement.id} is false as stated"))
        if best.kind != "numeric":
            screen.print(f"repeat: boundlab exact {typed} {written[0]}")
    else:
        screen.print(verdict_line("inconclusive", f"none found; the closest instance has left/right {best.ratio:.4g}"))
    again = "or" if found.violated and best.kind != "numeric" else "repeat"
    command = best.as_dict(statement)["compare"].replace(f"compare {statement.id} ", f"compare {typed} ", 1)
    screen.print(f"{again}: {command}", soft_wrap=True)
