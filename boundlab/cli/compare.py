"""``boundlab compare``."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

from boundlab.cli import _options as option
from boundlab.cli.terminal import deliver, progress, show, writable
from boundlab.errors import SpecError
from boundlab.files import folder
from boundlab.options import Default
from boundlab.verdict import ExitCode, Verdict


def compare(
    theorem: option.Theorem,
    problem: option.Problem = Default.PROBLEM,
    delays: option.Delays = Default.DELAYS,
    server: option.Server = None,
    settings: option.Settings = None,
    iterations: option.Horizons = Default.ITERATIONS,
    trials: option.Trials = Default.TRIALS,
    seed: option.Seed = Default.SEED,
    level: option.Level = Default.LEVEL,
    band: option.Band = Default.BAND,
    beyond: option.Beyond = None,
    terms: option.Terms = False,
    exact: option.Exact = None,
    enclose: option.Enclose = False,
    require: option.Require = None,
    backend: option.Backend = Default.BACKEND,
    device: option.Device = None,
    jobs: option.Jobs = None,
    plot: option.BandPlot = None,
    axis: option.PlotAxis = "iterations",
    out: option.ComparisonFolder = None,
    csv: option.ComparisonCsv = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Compare a bound with the true error on a problem under delays.

    A violation leaves THEOREM.case.json in the current folder, or in --out.
    """
    from boundlab.api import compare as ask
    from boundlab.pages.plots import files_of, save_case, save_comparison
    from boundlab.simulate.work import stoppable

    option.alone(quiet, json=as_json, verbose=verbose, terms=terms and plot is None)
    if axis == "time" and plot is None:
        raise SpecError("--axis says what a plot is drawn over: give --plot FILE, too")
    if plot is not None:
        from boundlab.pages.plots import check_format

        check_format(plot)
    if out is not None:
        folder(out)
    plots, tables = writable(plot), writable(csv)
    # An interrupt leaves the answer of the trials that are finished; several horizons have no common one.
    kept = nullcontext() if isinstance(iterations, list) else stoppable()
    with progress("trials", trials) as tick, kept:
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
    code = ExitCode.UNDECIDED if missed else result.verdict.exit_code

    def show_found(files: Sequence[Path]) -> None:
        show(
            result,
            lambda: result.page(terms or verbose),
            quiet=quiet,
            as_json=as_json,
            beside={"written": [str(path) for path in files]},
            theorem=result.theorem,
        )

    def write() -> None:
        if out is not None:
            save_comparison(
                result, out, tuple(one.name for one in (*plots, *tables) if one.parent.resolve() == out.resolve())
            )
        else:
            save_case(result, Path())
        for path in tables:
            result.save_csv(path)
        for path in plots:
            from boundlab.pages.plots import new_figure, save_figure

            figure, pair = new_figure(9.6, 5.6, panel=True)
            result.plot(pair, terms=terms or verbose, axis=cast(Any, axis))
            save_figure(figure, path)

    files = [*files_of(result, out or Path(), whole=out is not None), *plots, *tables]
    asked = out is not None or plot is not None or csv is not None
    return deliver(code, files, show_found, write, quiet=as_json or quiet, asked=asked)
