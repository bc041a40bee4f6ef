"""``boundlab sweep`` and ``boundlab results``."""

from typing import TYPE_CHECKING

from boundlab.cli import _options as option
from boundlab.cli.terminal import print_page, show, sweep_progress
from boundlab.errors import SpecError
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.sweep.results import Swept


def sweep(
    plan: option.PlanFile,
    out: option.SweepFolder = None,
    jobs: option.Jobs = None,
    shard: option.Shard = None,
    again: option.Again = None,
    dry_run: option.DryRun = False,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Ask one question of many theorems, problems, delay models and settings, on all cores.

    Answers are lines in a folder: what is there is not asked again, and an interrupt loses the cells in flight alone.
    """
    from boundlab.sweep.plan import SweepPlan
    from boundlab.sweep.results import sweep as ask

    option.alone(quiet, json=as_json, verbose=verbose)
    asked = SweepPlan.read(plan)
    if dry_run:
        from boundlab.sweep.preview import preview

        print_page(preview(asked, jobs))
        return ExitCode.STANDS
    if out is None:
        raise SpecError("--out DIR names the folder of the results; or look at the plan with --dry-run")
    if again not in (None, "failed", "stale"):
        raise SpecError(f"--again {again!r}: failed or stale")
    from boundlab.sweep.drive import read_shard

    part = (1, 1) if shard is None else read_shard(shard)
    with sweep_progress() as tell:
        found = ask(asked, out, jobs=jobs, shard=part, again=again or "", tell=tell)
    return _shown(found, quiet=quiet, verbose=verbose, as_json=as_json)


def results(
    folder: option.ResultsFolder,
    where: option.Where = None,
    csv: option.CsvFile = None,
    against: option.Against = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Show the results of a sweep: counts, rows that an SQL expression is true of, or what differs from another one."""
    from boundlab.sweep.results import results as open_results

    option.alone(quiet, json=as_json, verbose=verbose, where=where is not None, against=against is not None)
    found = open_results(folder, where or "")
    if csv is not None:
        from boundlab.files import check_writable

        check_writable(csv)
        found.save_csv(csv)
    if against is not None:
        print_page(found.changes(open_results(against)))
        return found.exit_code
    return _shown(found, quiet=quiet, verbose=verbose, as_json=as_json)


def _shown(found: "Swept", *, quiet: bool, verbose: bool, as_json: bool) -> ExitCode:
    show(found, lambda: found.page(verbose), quiet=quiet, as_json=as_json)
    return found.exit_code
