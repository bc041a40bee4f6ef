"""``boundlab compare``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boundlab.cli._common import (
    AsJson,
    BackendName,
    DelaySpec,
    DeviceName,
    Iterations,
    Jobs,
    ProblemSpec,
    Seed,
    ServerSpec,
    Settings,
    Trials,
    console,
    count,
    print_json,
    print_trail,
    progress,
    settings_map,
    writable,
)
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from boundlab.compare import Comparison

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
    iterations: Iterations = 1000,
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
    as_json: AsJson = False,
) -> ExitCode:
    """Compare a theorem's bound with what really happens on a problem under delays.

    A violation always leaves THEOREM.case.json, in the current folder unless --out names another.
    """
    from boundlab.build import delays_from, problem_from
    from boundlab.compare import compare as compare_plan
    from boundlab.errors import SpecError
    from boundlab.files import folder
    from boundlab.instance import make_plan
    from boundlab.registry import lookup
    from boundlab.simulate import pick
    from boundlab.theorems import load_theorem

    count(iterations, "iterations", 1, 10**8)
    count(trials, "trials", 2, 10**6)
    if require not in (None, "holds"):
        raise SpecError(f"--require knows holds only, got {require!r}")
    statement = load_theorem(theorem)
    if plot is not None:
        from boundlab.report.plots import check_format

        check_format(plot)
    if out is not None:
        folder(out)
    writable(plot)
    chosen = problem_from(problem)
    model = delays_from(delays, chosen.n)
    algorithm = lookup("algorithms", statement.algorithm)
    plan = make_plan(
        statement,
        chosen,
        model,
        algorithm.policy(server, model),
        iterations,
        settings_map(settings),
        tuple(beyond or ()),
        trials=trials,
        seed=seed,
    )
    where = pick(backend, device, jobs, plan.problem, trials)
    with progress("trials", trials) as tick:
        result = compare_plan(plan, trials, seed, level, band, tick, exact=exact, backend=where)  # type: ignore[arg-type]
    missed = require == "holds" and result.verdict is Verdict.CONSISTENT
    code = ExitCode.UNDECIDED if missed else result.verdict.exit_code
    return _deliver(result, code, out, plot, terms=terms, as_json=as_json)


def _deliver(
    result: "Comparison", code: ExitCode, out: Path | None, plot: Path | None, *, terms: bool, as_json: bool
) -> ExitCode:
    """Show the verdict, then leave the case file of a violation, and what the user has asked for."""
    from boundlab.report.save import files_of, save_case, save_comparison

    def show(files: Sequence[Path]) -> None:
        if as_json:
            print_json({**result.as_dict(), "written": [str(path) for path in files]})
            return
        from boundlab.report.tables import comparison_table

        screen = console()
        for line in comparison_table(result, terms):
            screen.print(line)
        print_trail(result.plan.theorem)

    def write() -> None:
        if out is not None:
            beside = plot is not None and plot.parent.resolve() == out.resolve()
            save_comparison(result, out, (plot.name,) if plot is not None and beside else ())
        else:
            save_case(result, Path())
        if plot is not None:
            from boundlab.report.plots import plot_comparison

            plot_comparison(result, plot, terms)

    files = files_of(result, out or Path(), whole=out is not None) + ([] if plot is None else [plot])
    asked = out is not None or plot is not None
    return deliver(code, files, show, write, quiet=as_json, asked=asked)
