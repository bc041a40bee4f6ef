"""``boundlab worst-case``."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import deliver, print_json, print_page, show, writable
from boundlab.errors import CaseError, CertificateError, OutputError, SpecError
from boundlab.files import read_json, schema, write_json
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.pages import Block
    from boundlab.theorems import Theorem
    from boundlab.worst_case import WorstCase


def worst_case(
    context: typer.Context,
    theorem: option.Theorem,
    iterations: option.Iterations = 3,
    settings: option.Settings = None,
    p: option.Probabilities = None,
    delays: option.Schedule = None,
    events: option.Events = None,
    average: option.Average = None,
    function: option.Function = False,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
    out: option.WorstFile = None,
    certificate: option.CertificateFile = None,
    fit: option.Fitted = None,
    recheck: option.Recheck = False,
) -> ExitCode:
    """Find the worst function of a class, with a certificate.

    A semidefinite program finds it. Runs use full gradients. R, B, L and F0 are 1 unless set, which is a choice of
    units. With --recheck, THEOREM is a certificate that was written before.
    """
    from boundlab.api import worst_case as ask
    from boundlab.theorems import load_theorem

    if recheck:
        from boundlab.cli.recheck import recheck as check_again

        option.form(context, "worst-case FILE --recheck", "theorem", "recheck", "quiet", "verbose", "as_json")
        return check_again(Path(theorem), None, quiet=quiet, verbose=verbose, as_json=as_json)
    option.alone(quiet, json=as_json, verbose=verbose, fit=fit is not None)
    chosen: dict[str, Any] = dict(option.settings_map(settings))
    if p is not None:
        if "p" in chosen:
            raise SpecError("give --p or --set p, not both")
        chosen["p"] = p
    files = writable(out, certificate)
    asked: dict[str, Any] = {"average": average, "delays": delays, "settings": chosen}
    asked["events"] = None if events is None else _events(events)
    statement = load_theorem(theorem)
    if fit is not None:
        if files or function:
            one = f"{files[0]} would be the file of" if files else "--function looks at"
            raise SpecError(f"--fit looks at several horizons, {one} one")
        found = {horizon: ask(statement, horizon, **asked) for horizon in fit}
        return _show_fit(statement, found, as_json)
    result = ask(statement, iterations, find_function=function or out is not None, **asked)

    def page() -> "list[Block]":
        from boundlab.pages.worst_case import multipliers_page

        return [*result.page(), *(multipliers_page(result) if verbose else ())]

    def write() -> None:
        from boundlab.case import provenance

        if certificate is not None:
            if result.certificate is None:
                raise OutputError(f"{certificate} is not written: no certificate was found")
            write_json(certificate, result.certificate)
        if out is not None:
            case = result.case
            if case is None:
                raise OutputError(f"{out} is not written: no function was found, {result.missing}")
            write_json(out, {**case, "provenance": provenance(statement)})

    code = result.outcome.verdict.exit_code
    return deliver(
        code, files, lambda _: show(result, page, quiet=quiet, as_json=as_json), write, quiet=as_json or quiet
    )


def _show_fit(theorem: "Theorem", found: "Mapping[int, WorstCase]", as_json: bool) -> ExitCode:
    """Print the closed forms of multipliers."""
    from boundlab.pages.blocks import GAP, table, words
    from boundlab.worst_case.specification import closed_form

    missing = [K for K, one in found.items() if one.certificates.get("upper") is None or not one.attained]
    if missing:
        raise CertificateError(
            f"{theorem.id}: at {theorem.horizon_symbol} = {', '.join(map(str, missing))} the bound is not attained; "
            "only multipliers of an attained bound are fitted, because others are not unique"
        )
    forms = closed_form({K: one.certificates["upper"] for K, one in found.items()})
    code = ExitCode.STANDS if all(one.fits for one in forms) else ExitCode.UNDECIDED
    if as_json:
        rows = [{"label": one.label, "formula": str(one) if one.fits else None, "values": one.values} for one in forms]
        print_json({"schema": schema("fit"), "theorem": theorem.id, "horizons": list(found), "multipliers": rows})
        return code
    columns = ("inequality", f"multiplier, by {theorem.horizon_symbol} = K and k", "values")
    listed = [(one.label, str(one), str(one.values)) for one in forms]
    last = (
        "each form is fitted to all horizons except the largest, and predicts the multipliers of that one"
        if code is ExitCode.STANDS
        else "some multipliers have no closed form of low degree, or are not unique"
    )
    head = words(f"{theorem.id}: certificates of {theorem.horizon_symbol} = {', '.join(map(str, found))}")
    print_page([head, GAP, table("", columns, listed, numbers=(2,), whole=(0,)), GAP, words(last)])
    return code


def _events(path: Path) -> list[Any]:
    raw = read_json(path)
    found = raw.get("events") if isinstance(raw, dict) else raw
    if not isinstance(found, list):
        raise CaseError(f'{path} must be a list of events, or a case file with "events"')
    return found
