"""``boundlab sweep``: a plan that is asked, and a folder that is shown."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import answer, print_page, sweep_progress, writable
from boundlab.errors import SpecError
from boundlab.files import is_file
from boundlab.options import split_setting
from boundlab.verdict import ExitCode


def sweep(
    context: typer.Context,
    swept: Annotated[
        Path,
        option.file_argument("PLAN.toml|DIR", "A plan to ask (boundlab docs sweep), or the folder of a sweep to show."),
    ],
    out: Annotated[
        Path | None, option.file("--out DIR", "The folder of the answers. What is there is not asked again.")
    ] = None,
    jobs: option.Jobs = None,
    shard: Annotated[str | None, option.named("--shard i/n", "Only the i-th of n parts of the cells.")] = None,
    dask: Annotated[
        str | None, option.named("--dask ADDRESS", "Use a Dask cluster: tcp://HOST:8786, or its scheduler file.")
    ] = None,
    again: Annotated[
        str | None,
        option.named(
            "--again WHICH",
            "Ask failed cells again, or stale ones (answered by other versions).",
            option.choices(("failed", "stale")),
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        option.named(
            "--dry-run", "Only show how many cells there are, which do not apply, and about how long it takes."
        ),
    ] = False,
    where: Annotated[
        str | None,
        option.named("--where SQL", "Of DIR: rows for which this is true: \"verdict = 'violated' AND M > 5\"."),
    ] = None,
    heat: Annotated[
        str | None,
        option.named(
            "--heat x=NAME,y=NAME", "Of DIR: draw verdicts and slack over two coordinates, such as x=M,y=alpha."
        ),
    ] = None,
    curve: Annotated[
        bool, option.named("--curve", "Of DIR: draw bounds and bands over the iterations, one panel a cell.")
    ] = False,
    plot: Annotated[
        Path | None,
        option.file(
            "--plot FILE", "Of DIR: where the picture goes (png, svg, pdf). Default: heat.png or curve.png in DIR."
        ),
    ] = None,
    csv: Annotated[Path | None, option.file("--csv FILE", "Of DIR: write these rows, or all.")] = None,
    parquet: Annotated[
        Path | None, option.file("--parquet FILE", "Of DIR: write these rows, or all, for pandas, polars or DuckDB.")
    ] = None,
    against: Annotated[
        Path | None, option.file("--against DIR", "Of DIR: show what differs from another sweep.")
    ] = None,
    require: option.Require = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Ask one question many times, or show the answers.

    PLAN.toml asks it of many theorems, problems, delay models and settings, on all cores or on a cluster. Answers are
    lines in a folder: what is there is not asked again, and an interrupt loses only the cells in flight. DIR is such a
    folder: its counts are shown, or the rows that an SQL expression is true of.
    """
    told = ("swept", "require", "quiet", "verbose", "as_json")
    if swept.suffix != ".toml" and not is_file(swept):
        option.form(context, "sweep DIR", *told, "where", "heat", "curve", "plot", "csv", "parquet", "against")
        return _show(swept, where or "", heat, curve, plot, csv, parquet, against, require, quiet, verbose, as_json)
    other = f"sweep {out or 'DIR'}"
    option.form(context, "sweep PLAN.toml", *told, "out", "jobs", "shard", "dask", "again", "dry_run", other=other)
    from boundlab.sweep.plan import SweepPlan
    from boundlab.sweep.results import sweep as ask

    option.alone(quiet, json=as_json, verbose=verbose)
    asked = SweepPlan.read(swept)
    if dry_run:
        from boundlab.sweep.drive import preview

        print_page(preview(asked, jobs))
        return ExitCode.STANDS
    if out is None:
        raise SpecError("--out DIR names the folder of the results; or look at the plan with --dry-run")
    if dask is not None and jobs is not None:
        raise SpecError("--dask has as many processes as the cluster's workers have threads: leave --jobs out")
    from boundlab.sweep.drive import cluster, read_shard

    part = (1, 1) if shard is None else read_shard(shard)
    with ExitStack() as stack:
        executor, many = (None, jobs) if dask is None else stack.enter_context(cluster(dask))
        tell = stack.enter_context(sweep_progress())
        found = ask(asked, out, executor, jobs=many, shard=part, again=again or "", tell=tell)
    return answer(found, code=found.ending(require), page=partial(found.page, verbose), quiet=quiet, as_json=as_json)


def _show(
    folder: Path,
    where: str,
    heat: str | None,
    curve: bool,
    plot: Path | None,
    csv: Path | None,
    parquet: Path | None,
    against: Path | None,
    require: str | None,
    quiet: bool,
    verbose: bool,
    as_json: bool,
) -> ExitCode:
    from boundlab.sweep.results import results as open_results

    option.alone(quiet, json=as_json, verbose=verbose, where=where, against=against is not None)
    if heat is not None and curve:
        raise SpecError("one picture at a time: --heat or --curve")
    if plot is not None and heat is None and not curve:
        raise SpecError("--plot names the file of a picture: add --curve, or --heat x=NAME,y=NAME")
    found = open_results(folder, where)
    picture = plot or folder / f"{'heat' if heat else 'curve'}.png" if heat or curve else None
    if picture is not None:
        from boundlab.pages.plots import check_format, save_figure

        check_format(picture)
        figure = found.curves() if heat is None else found.heat(*_axes(heat))
    files = writable(
        {picture: lambda path: save_figure(figure, path), csv: found.save_csv, parquet: found.save_parquet}
    )
    old = None if against is None else open_results(against)
    page = partial(found.page, verbose) if old is None else lambda: [*found.changes(old)]
    code = answer(found, files, code=found.ending(require), page=page, quiet=quiet, as_json=as_json and old is None)
    if quiet and plot is None and picture is not None:  # nobody has named this file
        typer.echo(f"written: {picture}", err=True)
    return code


def _axes(text: str) -> tuple[str, str]:
    """Read ``x=NAME,y=NAME``."""
    found = dict(pair for pair in map(split_setting, text.split(",")) if pair is not None)
    if found.keys() != {"x", "y"}:
        raise SpecError(f"--heat {text!r}: write x=NAME,y=NAME, such as x=M,y=alpha")
    return found["x"], found["y"]
