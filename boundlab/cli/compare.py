"""``boundlab compare``."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from boundlab.cli._common import (
    AsJson,
    BackendName,
    DelaySpec,
    DeviceName,
    Jobs,
    ProblemSpec,
    Quiet,
    Seed,
    ServerSpec,
    Settings,
    Trials,
    Verbose,
    alone,
    print_json,
    print_line,
    print_page,
    print_trail,
    progress,
    settings_map,
    writable,
)
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from boundlab.api import Compared, Horizons

_EXAMPLE = "compare area.theorem8 --problem lad:x0=3 --delays iid:p_s=0.5 --iterations 6 --set M=50 --trials 400"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare", epilog=epilog("compare", _EXAMPLE))(compare)


def compare(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list) or a TOML file")],
    problem: ProblemSpec = "quadratic",
    delays: DelaySpec = "exponential",
    server: ServerSpec = None,
    settings: Settings = None,
    iterations: Annotated[
        str,
        typer.Option(
            "--iterations",
            "-k",
            metavar="K|K1,K2,…",
            help="Events for area (client updates and aggregations), server updates for the others; of several "
            "horizons, each is a run of its own.",
        ),
    ] = "1000",
    trials: Trials = 40,
    seed: Seed = 0,
    level: Annotated[float, typer.Option("--level", help="Joint confidence level.")] = 0.99,
    band: Annotated[str, typer.Option("--band", help="bootstrap or student, for the upper limits.")] = "bootstrap",
    beyond: Annotated[
        list[str] | None,
        typer.Option("--beyond", metavar="ASSUMPTION", help="Compare although this assumption fails; may be repeated."),
    ] = None,
    terms: Annotated[bool, typer.Option("--terms", help="Show the named terms of the bound.")] = False,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--sampled",
            help="Compute expectations in place of sampling, or sample all the same. "
            "Default: compute where an exact engine applies and is predicted to take seconds.",
        ),
    ] = None,
    enclose: Annotated[
        bool,
        typer.Option(
            "--enclose",
            help="Decide in exact numbers what the digits of floats leave open, however long that takes. "
            "Default: where that is predicted to take seconds.",
        ),
    ] = False,
    require: Annotated[
        str | None,
        typer.Option("--require", metavar="VERDICT", help="holds: exit 3 where the trials are only consistent."),
    ] = None,
    backend: BackendName = "numpy",
    device: DeviceName = None,
    jobs: Jobs = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw band and bound (png, svg, pdf).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write result.json here, and the case file when violated."),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Compare a theorem's bound with what really happens on a problem under delays.

    A violation always leaves THEOREM.case.json, in the current folder unless --out names another.
    """
    from boundlab.api import compare as ask
    from boundlab.errors import SpecError
    from boundlab.files import folder
    from boundlab.simulate import stoppable

    alone(quiet, json=as_json, verbose=verbose, terms=terms and plot is None)
    if require not in (None, "holds"):
        raise SpecError(f"--require knows holds only, got {require!r}")
    if plot is not None:
        from boundlab.pages.plots import check_format

        check_format(plot)
    if out is not None:
        folder(out)
    writable(plot)
    # An interrupt leaves the answer of the trials that are finished; several horizons have no common one.
    kept = nullcontext() if "," in iterations else stoppable()
    with progress("trials", trials) as tick, kept:
        result = ask(
            theorem, problem, delays, server=server, iterations=_horizons(iterations), trials=trials, seed=seed,
            level=level, band=cast(Any, band), beyond=tuple(beyond or ()), exact=exact, enclose=enclose,
            backend=backend, device=device, jobs=jobs, settings=settings_map(settings), progress=tick,
        )  # fmt: skip
    missed = require == "holds" and result.verdict is Verdict.CONSISTENT
    code = ExitCode.UNDECIDED if missed else result.verdict.exit_code
    return _deliver(result, code, out, plot, terms=terms or verbose, quiet=quiet, as_json=as_json)


def _horizons(given: str) -> Any:
    """Read ``1000``, or ``10,100,1000``: each of these is a run of its own."""
    from boundlab.options import numbers, whole

    found = [whole(one, "--iterations") for one in numbers(given, "--iterations")]
    return found if "," in given else found[0]


def _deliver(
    result: "Compared | Horizons",
    code: ExitCode,
    out: Path | None,
    plot: Path | None,
    *,
    terms: bool,
    quiet: bool,
    as_json: bool,
) -> ExitCode:
    """Show the verdict, then leave the case file of a violation, and what the user has asked for."""
    from boundlab.pages.save import files_of, save_case, save_comparison

    def show(files: Sequence[Path]) -> None:
        if as_json:
            print_json({**result.as_dict(), "written": [str(path) for path in files]})
            return
        if quiet:
            print_line(result.line())
            return
        print_page(result.page(terms))
        print_trail(result.theorem)

    def write() -> None:
        if out is not None:
            beside = plot is not None and plot.parent.resolve() == out.resolve()
            save_comparison(result, out, (plot.name,) if plot is not None and beside else ())
        else:
            save_case(result, Path())
        if plot is not None:
            from boundlab.pages.plots import new_figure, save_figure

            figure, pair = new_figure(9.6, 5.6, panel=True)
            result.plot(pair, terms=terms)
            save_figure(figure, plot)

    files = files_of(result, out or Path(), whole=out is not None) + ([] if plot is None else [plot])
    asked = out is not None or plot is not None
    return deliver(code, files, show, write, quiet=as_json or quiet, asked=asked)
