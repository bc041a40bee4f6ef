"""``boundlab worst-case``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.cli._common import (
    AsJson,
    Iterations,
    Quiet,
    Settings,
    Verbose,
    alone,
    print_json,
    print_line,
    print_page,
    settings_map,
    writable,
)
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.errors import CaseError, OutputError, SpecError
from boundlab.files import schema
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.theorems import Theorem
    from boundlab.worst_case import WorstCase

_EXAMPLE = "worst-case area.theorem8 --iterations 5 --p 0.5 --set M=3"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worst-case", epilog=epilog("worst-case", _EXAMPLE))(worst_case)


def worst_case(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list) or a TOML file")],
    iterations: Iterations = 3,
    settings: Settings = None,
    p: Annotated[
        str | None,
        typer.Option("--p", metavar="P1,P2,…", help="Probabilities of the clients' arrivals; the rest is p_s."),
    ] = None,
    delays: Annotated[
        str | None,
        typer.Option(
            "--delays", "-d", metavar="SPEC", help="iid:p_s=0.5 for the average; else the schedule of one run."
        ),
    ] = None,
    events: Annotated[
        Path | None, typer.Option("--events", metavar="FILE", help="One run: a JSON list of events, or a case file.")
    ] = None,
    average: Annotated[
        bool | None,
        typer.Option(
            "--average/--single",
            help="Average over all event sequences, or take one run (default: what the theorem is about).",
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="CASE.json", help="Write the function found as a case file.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="Write what the certified value rests on, for recheck."),
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(
            "--fit", metavar="K1,K2,…",
            help="Look at these horizons instead, and fit the multipliers of their certificates as closed forms.",
        ),
    ] = None,
) -> ExitCode:  # fmt: skip
    """Ask for the worst function of a theorem's class, by a semidefinite program.

    Runs use full gradients. R, B, L and F0 are 1 unless set, which is a choice of units.
    """
    from boundlab.api import worst_case as ask
    from boundlab.theorems import load_theorem

    alone(quiet, json=as_json, verbose=verbose, fit=fit is not None)
    chosen: dict[str, Any] = dict(settings_map(settings))
    if p is not None:
        if "p" in chosen:
            raise SpecError("give --p or --set p, not both")
        chosen["p"] = p
    writable(out)
    writable(certificate)
    listed = None if events is None else _events(events)
    statement = load_theorem(theorem)
    if fit is not None:
        if files := [path for path in (out, certificate) if path is not None]:
            raise SpecError(f"--fit looks at several horizons: {files[0]} would be the file of one")
        found = {
            horizon: ask(
                statement, horizon, average=average, delays=delays, events=listed, find_function=False, settings=chosen
            )
            for horizon in _horizons(fit)
        }
        return _show_fit(statement, found, as_json)
    result = ask(statement, iterations, average=average, delays=delays, events=listed, settings=chosen)

    def show(_files: Sequence[Path]) -> None:
        if as_json:
            print_json(result.as_dict())
            return
        if quiet:
            print_line(result.line())
            return
        print_page(result.page())
        if verbose:
            from boundlab.pages.worst_case import multipliers_page

            print_page(multipliers_page(result))

    def write() -> None:
        from boundlab.case.provenance import provenance
        from boundlab.files import write_json

        if certificate is not None:
            if result.certificate is None:
                raise OutputError(f"{certificate} is not written: no certificate was found")
            write_json(certificate, result.certificate)
        if out is not None:
            case = result.case
            if case is None:
                raise OutputError(f"{out} is not written: no function was found, {result.missing}")
            write_json(out, {**case, "provenance": provenance(statement)})

    files = [path for path in (out, certificate) if path is not None]
    return deliver(result.outcome.verdict.exit_code, files, show, write, quiet=as_json or quiet)


def _horizons(given: str) -> list[int]:
    from boundlab.options import numbers, whole

    found = sorted({whole(one, "--fit") for one in numbers(given, "--fit")})
    if len(found) < 2:
        raise SpecError(f"--fit asks for two or more horizons, such as 2,3,4,5; got {given}")
    return found


def _show_fit(theorem: "Theorem", found: "Mapping[int, WorstCase]", as_json: bool) -> ExitCode:
    """Print the closed forms of multipliers."""
    from boundlab.errors import CertificateError
    from boundlab.pages.blocks import GAP, table, words
    from boundlab.worst_case.closed_form import fit

    missing = [K for K, one in found.items() if one.certificates.get("upper") is None or not one.attained]
    if missing:
        raise CertificateError(
            f"{theorem.id}: at {theorem.counter} = {', '.join(map(str, missing))} the bound is not attained; only "
            "multipliers that prove an attained bound are fitted: others are not the only ones"
        )
    forms = fit({K: one.certificates["upper"] for K, one in found.items()})
    code = ExitCode.STANDS if all(one.fits for one in forms) else ExitCode.UNDECIDED
    if as_json:
        rows = [{"label": one.label, "formula": str(one) if one.fits else None, "values": one.values} for one in forms]
        print_json({"schema": schema("fit"), "theorem": theorem.id, "horizons": list(found), "multipliers": rows})
        return code
    columns = ("inequality", f"multiplier, by {theorem.counter} = K and k", "values")
    listed = [(one.label, str(one), str(one.values)) for one in forms]
    last = (
        "each form is made from all horizons but the largest, and gives the multipliers of that, too"
        if code is ExitCode.STANDS
        else "some multipliers have no closed form of low degree, or are not the only ones"
    )
    head = words(f"{theorem.id}: certificates of {theorem.counter} = {', '.join(map(str, found))}")
    print_page([head, GAP, table("", columns, listed, numbers=(2,), whole=(0,)), GAP, words(last)])
    return code


def _events(path: Path) -> list[Any]:
    from boundlab.files import read_json

    raw = read_json(path)
    found = raw.get("events") if isinstance(raw, dict) else raw
    if not isinstance(found, list):
        raise CaseError(f'{path} must be a list of events, or a case file with "events"')
    return found
