"""``boundlab exact``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.cli._common import AsJson, console, print_json, print_trail
from boundlab.cli._endings import epilog
from boundlab.errors import SpecError
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.exact import Derivation, ExactResult

_EXAMPLE = "exact area.theorem8"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("exact", epilog=epilog("exact", _EXAMPLE))(exact)


def exact(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list) or a TOML file")],
    case: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CASE.json]",
            help="explicit events, or delays, server and iterations in their place; "
            "the theorem's own counterexample where it is left out",
        ),
    ] = None,
    derivation: Annotated[
        bool, typer.Option("--derivation", help="Print the way to both sides, to be checked by hand.")
    ] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the derivation as LaTeX.")] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Evaluate both sides of a theorem on one case without sampling, in rational numbers where it is rational.

    The result says whether it is exact, an enclosure by intervals, or numeric (floating point).
    """
    from boundlab.case import load_case, own_case
    from boundlab.exact import evaluate
    from boundlab.theorems import load_theorem

    if latex and as_json:
        raise SpecError("give --latex or --json, not both")
    statement = load_theorem(theorem)
    result = evaluate(statement, load_case(case or own_case(statement), has_theorem=True), derive=derivation or latex)
    if (derivation or latex) and result.derivation is None:
        raise SpecError(f"there is no derivation of numbers in {result.note or 'floating point'}")
    if as_json:
        print_json({**result.as_dict(), **statement.links()})
    elif latex and result.derivation is not None:
        from boundlab.report.derivation_latex import derivation_latex

        typer.echo(derivation_latex(result.derivation))
    elif result.derivation is not None:
        _show_derivation(statement.left.expectation, result, result.derivation)
        print_trail(statement)
    else:
        _show(statement.left.expectation, result)
        print_trail(statement)
    return result.verdict.exit_code


def _show_derivation(left: str, result: "ExactResult", derivation: "Derivation") -> None:
    from rich.text import Text

    from boundlab.report.derivation_page import derivation_page

    screen = console()
    screen.print(Text(f"{result.theorem} at k = {result.k}: {left}"))
    screen.print()
    for line in derivation_page(derivation):
        screen.print(line)


def _show(left: str, result: "ExactResult") -> None:
    from rich.text import Text

    from boundlab.report.tables import figure, plain_table, verdict_line

    screen = console()
    constants = plain_table("constant", "value", "side", "how")
    constants.columns[2].justify = constants.columns[3].justify = "left"
    for name, one in result.constants.items():
        constants.add_row(name, _word(one["value"]), one["side"], one["how"])
    values = ", ".join(f"{name} = {_word(value)}" for name, value in result.values.items())
    lines = [
        Text(f"{result.theorem} at k = {result.k}: {left}"), constants, Text(values, style="dim"), "",
        Text(f"left  = {result.left_text}"), Text(f"right = {result.right_text}"),
        Text(f"left/right = {figure(result.ratio)} ({result.kind}: {result.method})"),
        *([Text(result.note, style="dim")] if result.note else []), "",
    ]  # fmt: skip
    for line in lines:
        screen.print(line)
    screen.print(verdict_line(result.verdict, result.reason))


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
