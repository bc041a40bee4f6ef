"""The commands that ask whether a theorem is true: check, falsify, compare, exact, worst-case, audit."""

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import Write, answer, progress, status, writable
from boundlab.errors import BoundlabError, CaseError, CertificateError, OutputError, SpecError
from boundlab.files import RESULT, folder, json_text, read_json, schema, write_folder, write_json, write_text
from boundlab.options import Axis, BandKind, Default
from boundlab.result import Report
from boundlab.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from boundlab.falsify import Falsification
    from boundlab.pages import Block
    from boundlab.theorems import Theorem
    from boundlab.worst_case import WorstCase


def check(
    theorem: option.Theorem,
    only: Annotated[
        str | None,
        option.named("--only GROUPS", "Some of scope, units, … (boundlab list checks).", option.ids("checks")),
    ] = None,
    quiet: option.Quiet = False,
    verbose: Annotated[bool, option.named("--verbose -v --all", option.MORE)] = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Check the formula alone: units, limits, symmetries.

    Nothing is simulated.
    """
    from boundlab.api import check as ask

    option.alone(quiet, json=as_json, verbose=verbose)
    found = ask(theorem, only)
    shown = partial(found.page, verbose)
    return answer(found, page=shown, quiet=quiet, as_json=as_json, theorem=found.theorem)


def falsify(
    theorem: option.Theorem,
    budget: Annotated[
        float, option.named("--budget TIME", "Time limit of the search: 90, 90s, 1.5m.", reader=option.read_time)
    ] = Default.BUDGET,
    candidates: Annotated[
        int | None,
        option.integer("--candidates", "About how many instances to try, before shrinking. Replaces the time limit."),
    ] = None,
    seed: option.Seed = Default.SEED,
    jobs: option.Jobs = None,
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
    statement = load_theorem(theorem)
    if out is not None:
        folder(out)
    with status("searching") as say:
        found = ask(statement, budget, candidates=candidates, seed=seed, jobs=jobs, progress=say)
    limits: dict[str, Any] = {"budget": budget, "limit": None}
    if candidates is not None:  # independent of wall-clock time: equal searches are equal to the letter
        limits = {"budget": None, "limit": candidates, "seconds": None}
    case = case_name(statement.id, "counterexample")
    files = _kept(found, case, out, limits)

    def page() -> "list[Block]":
        shown = found.page(theorem, (out or Path()) / case if found.violated else None)
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


def compare(
    theorem: option.Theorem,
    problem: option.Problem = Default.PROBLEM,
    delays: option.Delays = Default.DELAYS,
    server: option.Server = None,
    settings: option.Settings = None,
    iterations: Annotated[
        Any,
        option.named(
            "--iterations -k K|K1,K2,…",
            "Events for area (client updates and aggregations), server updates for the others. Several horizons "
            "give a separate run each.",
            reader=option.read_horizons,
        ),
    ] = Default.ITERATIONS,
    trials: option.Trials = Default.TRIALS,
    seed: option.Seed = Default.SEED,
    level: Annotated[float, option.named("--level", "Joint confidence level.")] = Default.LEVEL,
    band: Annotated[
        str,
        option.named("--band", "How upper limits are made: bootstrap or student.", option.choices(get_args(BandKind))),
    ] = Default.BAND,
    beyond: Annotated[
        list[str] | None,
        option.named(
            "--beyond ASSUMPTION",
            "Compare although this assumption fails; may be repeated.",
            option.ids("assumptions"),
        ),
    ] = None,
    terms: option.Terms = False,
    exact: Annotated[
        bool | None,
        option.named(
            "--exact/--sampled",
            "Always compute expectations, or always sample. Default: compute if that is predicted to take seconds.",
        ),
    ] = None,
    enclose: Annotated[
        bool,
        option.named(
            "--enclose",
            "Decide in exact numbers what floats leave open, however long it takes. Default: if that is predicted to "
            "take seconds.",
        ),
    ] = False,
    require: option.Require = None,
    backend: option.Backend = Default.BACKEND,
    device: option.Device = None,
    jobs: option.Jobs = None,
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
    halves = nullcontext() if isinstance(iterations, list) else stoppable()
    with progress("trials", trials) as tick, halves:
        result = ask(
            theorem,
            problem,
            delays,
            server=server,
            iterations=iterations,
            trials=trials,
            seed=seed,
            level=level,
            band=cast(Any, band),
            beyond=tuple(beyond or ()),
            exact=exact,
            enclose=enclose,
            backend=backend,
            device=device,
            jobs=jobs,
            settings=option.settings_map(settings),
            progress=tick,
        )
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


def exact(
    theorem: option.Theorem,
    case: Annotated[
        Path | None,
        option.file_argument(
            "[CASE.json]",
            "a case file with events, or with delays, server and iterations; or the id of a theorem, for its "
            "counterexample; default: that of THEOREM",
        ),
    ] = None,
    derivation: Annotated[
        bool, option.named("--derivation", "Print the calculation of both sides, for checking by hand.")
    ] = False,
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
    option.alone(quiet, json=as_json, verbose=verbose, derivation=derivation, latex=latex)
    statement = load_theorem(theorem)
    result = ask(statement, case, derivation=derivation or latex or verbose)
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


def worst_case(
    context: typer.Context,
    theorem: option.Theorem,
    iterations: option.Iterations = 3,
    settings: option.Settings = None,
    p: Annotated[
        str | None, option.named("--p P1,P2,…", "Arrival probabilities of the clients; the rest is p_s.")
    ] = None,
    delays: Annotated[
        str | None,
        option.named(
            "--delays -d SPEC",
            "iid:p_s=0.5 for the average over events; other delays give the schedule of one run.",
            option.specs("delays"),
        ),
    ] = None,
    events: Annotated[
        Path | None, option.file("--events FILE", "The events of one run: a JSON list, or a case file.")
    ] = None,
    average: Annotated[
        bool | None,
        option.named(
            "--average/--single",
            "Average over all event sequences, or take one run. Default: what the theorem is about.",
        ),
    ] = None,
    function: Annotated[
        bool,
        option.named(
            "--function", "Also look for a function that attains the worst case, and replay it. --out implies this."
        ),
    ] = False,
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
        return check_again(Path(theorem), None, quiet=quiet, verbose=verbose, as_json=as_json)
    option.alone(quiet, json=as_json, verbose=verbose, fit=fit is not None)
    chosen: dict[str, Any] = dict(option.settings_map(settings))
    if p is not None:
        if "p" in chosen:
            raise SpecError("give --p or --set p, not both")
        chosen["p"] = p
    files = writable(
        {
            certificate: lambda path: write_json(path, _there(result.certificate, path, "no certificate was found")),
            out: lambda path: write_json(path, _function(result, path)),
        }
    )
    asked: dict[str, Any] = {"average": average, "delays": delays, "settings": chosen}
    asked["events"] = None if events is None else _events(events)
    statement = load_theorem(theorem)
    if fit is not None:
        if files or function:
            one = f"{next(iter(files))} would be the file of" if files else "--function looks at"
            raise SpecError(f"--fit looks at several horizons, {one} one")
        found = {horizon: ask(statement, horizon, **asked) for horizon in fit}
        return _show_fit(statement, found, as_json)
    result = ask(statement, iterations, find_function=function or out is not None, **asked)

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


def _events(path: Path) -> list[Any]:
    raw = read_json(path)
    found = raw.get("events") if isinstance(raw, dict) else raw
    if not isinstance(found, list):
        raise CaseError(f'{path} must be a list of events, or a case file with "events"')
    return found


def audit(
    theorem: option.Theorem,
    budget: Annotated[
        float,
        option.named("--budget TIME", "Approximate limit, processor time: 90, 90s, 1.5m.", reader=option.read_time),
    ] = Default.BUDGET,
    candidates: Annotated[
        int | None,
        option.integer("--candidates", "About how many instances each search tries. Replaces the time limit."),
    ] = None,
    seed: option.Seed = Default.SEED,
    jobs: option.Jobs = None,
    script: option.With = None,
    html: Annotated[Path | None, option.file("--html FILE", "Write one self-contained HTML page.")] = None,
    latex: Annotated[Path | None, option.file("--latex FILE", "Write a fragment of LaTeX.")] = None,
    markdown: Annotated[Path | None, option.file("--md FILE", "Write Markdown.")] = None,
    json: Annotated[Path | None, option.file("--json FILE", "Write JSON.")] = None,
    brief: Annotated[bool, option.named("--brief", "Print ten lines for a review.")] = False,
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
        found = ask(
            theorem, budget, candidates=candidates, seed=seed, jobs=jobs, proof=script, brief=brief and not named,
            progress=say,
        )  # fmt: skip
    code = ExitCode.UNDECIDED if require == "holds" and found.only_tried else None
    shown = found.brief if brief else found.page
    return answer(found, files, code=code, page=shown, folded=verbose, quiet=quiet, short=bool(files) and not brief)
