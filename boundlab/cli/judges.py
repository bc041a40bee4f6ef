"""The commands that ask whether a theorem is true: check, falsify, compare, exact, worst-case, audit."""

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import Write, answer, progress, status, writable
from boundlab.errors import BoundlabError, CertificateError, OutputError, SpecError
from boundlab.files import RESULT, folder, json_text, schema, write_folder, write_json, write_text
from boundlab.options import Axis, Default
from boundlab.result import Report
from boundlab.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from boundlab.falsify import Falsification
    from boundlab.pages import Block
    from boundlab.theorems import Theorem
    from boundlab.worst_case import WorstCase


@option.asking("boundlab.api:check")
def check(
    asked: option.Asked,
    quiet: option.Quiet = False,
    verbose: Annotated[bool, option.named("--verbose -v --all", option.MORE)] = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Check the formula alone: units, limits, symmetries.

    Nothing is simulated.
    """
    from boundlab.api import check as ask

    option.alone(quiet, json=as_json, verbose=verbose)
    found = ask(**asked)
    shown = partial(found.page, verbose)
    return answer(found, page=shown, quiet=quiet, as_json=as_json, theorem=found.theorem)


@option.asking("boundlab.api:falsify")
def falsify(
    asked: option.Asked,
    out: Annotated[Path | None, option.file("--out DIR", "Write the case file and result.json here.")] = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Search for a small counterexample.

    The search varies problems, delays, steps, horizons and start points, and then shrinks what it finds. A
    counterexample leaves THEOREM.counterexample.json in the current folder, or in --out.
    """
    from boundlab.api import falsify as ask
    from boundlab.case import case_name
    from boundlab.theorems import load_theorem

    option.alone(quiet, json=as_json, verbose=verbose)
    named = asked["theorem"]
    statement = asked["theorem"] = load_theorem(named)
    if out is not None:
        folder(out)
    with status("searching") as say:
        found = ask(**asked, progress=say)
    limits: dict[str, Any] = {"budget": asked["budget"], "limit": None}
    if asked["candidates"] is not None:  # independent of wall-clock time: equal searches are equal to the letter
        limits = {"budget": None, "limit": asked["candidates"], "seconds": None}
    case = case_name(statement.id, "counterexample")
    files = _kept(found, case, out, limits)

    def page() -> "list[Block]":
        shown = found.page(named, (out or Path()) / case if found.violated else None)
        return [*shown, *(_derivation(found) if verbose else ())]

    return answer(
        found,
        files,
        page=page,
        quiet=quiet,
        as_json=as_json,
        beside=limits,
        tells=True,
        theorem=statement,
        asked=out is not None,
    )


def _kept(
    found: Any, name: str, out: Path | None, more: Mapping[str, Any], others: tuple[str, ...] = ()
) -> dict[Path, Write | None]:
    """Return the case file of a violation, which is never only a sentence, and with --out result.json.

    Parameters
    ----------
    name
        That of the case file.
    more
        Of the document, beside what the result says.
    others
        Names of further files in ``out`` that belong to the result.
    """
    cases = {name: found.case} if found.verdict is Verdict.VIOLATED else {}
    if out is None:
        return {Path(one): lambda path: write_json(path, found.case) for one in cases}

    def write(path: Path) -> None:
        write_folder(path.parent, {**found.as_dict(), **more}, cases, others)

    return {out / RESULT: write, **{out / one: None for one in cases}}


def _derivation(found: "Falsification") -> "list[Block]":
    """Return the derivation of both sides of a counterexample, or why there is none."""
    from boundlab.api import exact
    from boundlab.pages.blocks import GAP, words
    from boundlab.pages.exact import derived

    if not found.violated:
        return []
    try:
        result = exact(found.theorem, found.case)
    except BoundlabError as error:
        return [GAP, words(f"no derivation: {error}")]
    if result.derivation is None:
        return [GAP, words(f"no derivation of numbers in {result.note or 'floating point'}")]
    return [GAP, *derived(result.derivation)]


@option.asking("boundlab.api:compare", iterations=Default.ITERATIONS)
def compare(
    asked: option.Asked,
    terms: option.Terms = False,
    require: option.Require = None,
    plot: Annotated[Path | None, option.file("--plot FILE", "Draw band and bound (png, svg, pdf).")] = None,
    axis: Annotated[
        str,
        option.one_of("--axis WORD", "Draw over iterations, or over time.", *get_args(Axis)),
    ] = "iterations",
    out: Annotated[
        Path | None, option.file("--out DIR", "Write result.json here, and the case file when violated.")
    ] = None,
    csv: Annotated[
        Path | None, option.file("--csv FILE", "Also write left side, limits and bound here, as CSV.")
    ] = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Compare a bound with the true error on a problem under delays.

    A violation leaves THEOREM.case.json in the current folder, or in --out.
    """
    from boundlab.api import compare as ask
    from boundlab.case import case_name
    from boundlab.simulate.work import stoppable

    option.alone(quiet, json=as_json, verbose=verbose, terms=terms and plot is None)
    if axis == "time" and plot is None:
        raise SpecError("--axis says what a plot is drawn over: give --plot FILE, too")
    drawn: dict[Path | None, Write] = {}
    if plot is not None:
        from boundlab.pages.plots import check_format, save_plot

        check_format(plot)

        def draw(pair: Any) -> object:
            return result.plot(pair, terms=terms or verbose, axis=cast(Any, axis))

        drawn[plot] = partial(save_plot, draw, width=9.6, height=5.6, panel=True)
    if out is not None:
        folder(out)
    files = writable({**drawn, csv: lambda path: result.save_csv(path)})
    # An interrupt leaves the answer of the trials that are finished; several horizons have no common one.
    halves = nullcontext() if isinstance(asked["iterations"], list) else stoppable()
    with progress("trials", asked["trials"]) as tick, halves:
        result = ask(**asked, progress=tick)
    missed = require == "holds" and result.verdict is Verdict.CONSISTENT
    beside = tuple(path.name for path in files if out is not None and path.parent.resolve() == out.resolve())
    kept = _kept(result, case_name(result.theorem.id), out, {}, beside)
    return answer(
        result,
        {**kept, **files},
        code=ExitCode.UNDECIDED if missed else None,
        page=partial(result.page, terms or verbose),
        quiet=quiet,
        as_json=as_json,
        tells=True,
        theorem=result.theorem,
        asked=out is not None or bool(files),
    )


@option.asking("boundlab.api:exact", derivation=False)
def exact(
    asked: option.Asked,
    latex: Annotated[bool, option.named("--latex", "Print the derivation as LaTeX.")] = False,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Compute both sides of a theorem on one case, without sampling.

    Rational cases are computed in rational numbers. The result says whether it is exact, an enclosure by intervals, or
    numeric (floating point).
    """
    from boundlab.api import exact as ask
    from boundlab.theorems import load_theorem

    if latex and as_json:
        raise SpecError("give --latex or --json, not both")
    derivation = asked["derivation"]
    option.alone(quiet, json=as_json, verbose=verbose, derivation=derivation, latex=latex)
    statement = load_theorem(asked["theorem"])
    result = ask(statement, asked["case"], derivation=derivation or latex or verbose)
    if (derivation or latex) and result.derivation is None:
        numeric = f"of numbers in {result.note or 'floating point'}"
        what = numeric if result.kind == "numeric" else "if a file defines the left side"
        raise SpecError(f"there is no derivation {what}; without it both sides are printed")
    if latex and result.derivation is not None:
        from boundlab.pages.exact import derived
        from boundlab.pages.latex import plain_latex

        typer.echo(plain_latex(derived(result.derivation)))
        return result.exit_code
    return answer(result, quiet=quiet, as_json=as_json, beside=statement.links(), theorem=statement)


@option.asking("boundlab.api:worst_case", iterations=3)
def worst_case(
    context: typer.Context,
    asked: option.Asked,
    p: Annotated[
        str | None, option.named("--p P1,P2,…", "Arrival probabilities of the clients; the rest is p_s.")
    ] = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
    out: Annotated[Path | None, option.file("--out CASE.json", "Write the function as a case file.")] = None,
    certificate: Annotated[
        Path | None, option.file("--certificate FILE", "Write the certificate of the value, for --recheck.")
    ] = None,
    fit: Annotated[
        Any,
        option.named(
            "--fit K1,K2,…",
            "Take these horizons instead, and fit closed forms to the multipliers of their certificates.",
            reader=option.read_fitted,
        ),
    ] = None,
    recheck: option.Recheck = False,
) -> ExitCode:
    """Find the worst function of a class, with a certificate.

    A semidefinite program finds it. Runs use full gradients. R, B, L and F0 are 1 unless set, which is a choice of
    units. With --recheck, THEOREM is a certificate that was written before.
    """
    from boundlab.api import worst_case as ask
    from boundlab.theorems import load_theorem

    if recheck:
        from boundlab.cli.prove import check_again

        option.form(context, "worst-case FILE --recheck", "theorem", "recheck", "quiet", "verbose", "as_json")
        return check_again(Path(asked["theorem"]), None, quiet=quiet, verbose=verbose, as_json=as_json)
    option.alone(quiet, json=as_json, verbose=verbose, fit=fit is not None)
    if p is not None:
        if "p" in asked["settings"]:
            raise SpecError("give --p or --set p, not both")
        asked["settings"] = asked["settings"] | {"p": p}
    files = writable(
        {
            certificate: lambda path: write_json(path, _there(result.certificate, path, "no certificate was found")),
            out: lambda path: write_json(path, _function(result, path)),
        }
    )
    statement = asked["theorem"] = load_theorem(asked["theorem"])
    if fit is not None:
        if files or asked["find_function"]:
            one = f"{next(iter(files))} would be the file of" if files else "--function looks at"
            raise SpecError(f"--fit looks at several horizons, {one} one")
        found = {horizon: ask(**asked | {"iterations": horizon}) for horizon in fit}
        return _show_fit(statement, found, as_json)
    asked["find_function"] = asked["find_function"] or out is not None
    result = ask(**asked)

    def page() -> "list[Block]":
        from boundlab.pages.results import multipliers_page

        return [*result.page(), *(multipliers_page(result) if verbose else ())]

    return answer(result, files, page=page, quiet=quiet, as_json=as_json)


def _there(found: Any, path: Path, why: str) -> Any:
    """Return what a file is to hold.

    Raises
    ------
    OutputError
        If there is nothing.
    """
    if found is None:
        raise OutputError(f"{path} is not written: {why}")
    return found


def _function(result: "WorstCase", path: Path) -> dict[str, Any]:
    """Return the function of a worst case as a case."""
    from boundlab.case import provenance

    case = _there(result.case, path, f"no function was found, {result.missing}")
    return {**case, "provenance": provenance(result.plan.theorem)}


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
    rows = [{"label": one.label, "formula": str(one) if one.fits else None, "values": one.values} for one in forms]
    columns = ("inequality", f"multiplier, by {theorem.horizon_symbol} = K and k", "values")
    listed = [(one.label, str(one), str(one.values)) for one in forms]
    last = (
        "each form is fitted to all horizons except the largest, and predicts the multipliers of that one"
        if code is ExitCode.STANDS
        else "some multipliers have no closed form of low degree, or are not unique"
    )
    head = words(f"{theorem.id}: certificates of {theorem.horizon_symbol} = {', '.join(map(str, found))}")
    page = (head, GAP, table("", columns, listed, numbers=(2,), whole=(0,)), GAP, words(last))
    document = {"schema": schema("fit"), "theorem": theorem.id, "horizons": list(found), "multipliers": rows}
    return answer(Report(last, "", page, document), code=code, as_json=as_json)


@option.asking("boundlab.audit:audit")
def audit(
    asked: option.Asked,
    html: Annotated[Path | None, option.file("--html FILE", "Write one self-contained HTML page.")] = None,
    latex: Annotated[Path | None, option.file("--latex FILE", "Write a fragment of LaTeX.")] = None,
    markdown: Annotated[Path | None, option.file("--md FILE", "Write Markdown.")] = None,
    json: Annotated[Path | None, option.file("--json FILE", "Write JSON.")] = None,
    require: option.Require = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
) -> ExitCode:
    """Write a one-page report on a theorem.

    The page has the verdict, what fails, the counterexample with its derivation, the step of the proof that goes wrong,
    the repair and what supports it, a comparison, what was not decided, and the commands that repeat each number. If
    you name a file, the terminal shows only the verdict.
    """
    from boundlab.audit import Audit, audit as ask

    brief = asked.pop("brief")
    option.alone(quiet, verbose=verbose, brief=brief)
    makers = (
        (html, Audit.html),
        (latex, Audit.latex),
        (markdown, Audit.markdown),
        (json, lambda audit: json_text(audit.as_dict())),
    )
    named = [path for path, _ in makers if path is not None]
    if len({*named}) < len(named):
        raise SpecError(f"{max(named, key=named.count)} is named twice; give each page a separate file")
    files = writable({path: partial(lambda make, to: write_text(to, make(found)), make) for path, make in makers})
    with status("auditing") as say:
        found = ask(**asked, brief=brief and not named, progress=say)
    code = ExitCode.UNDECIDED if require == "holds" and found.only_tried else None
    shown = found.brief if brief else found.page
    return answer(found, files, code=code, page=shown, folded=verbose, quiet=quiet, short=bool(files) and not brief)
