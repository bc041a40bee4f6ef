"""``boundlab run``: trials of an algorithm, or one case file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import console, deliver, print_json, print_page, progress, show, writable
from boundlab.files import named_file, schema, write_json
from boundlab.options import Default
from boundlab.verdict import ExitCode

_NOISE = "full gradients: the noise of this problem is left out, so this is not the run that a sampled trial has seen"


def run(
    context: typer.Context,
    algorithm: option.Algorithm,
    problem: option.Problem = Default.PROBLEM,
    delays: option.Delays = Default.DELAYS,
    server: option.Server = None,
    settings: option.Settings = None,
    iterations: option.Iterations = Default.ITERATIONS,
    trials: option.Trials = Default.RUN_TRIALS,
    seed: option.Seed = Default.SEED,
    backend: option.Backend = Default.BACKEND,
    device: option.Device = None,
    jobs: option.Jobs = None,
    quiet: option.Quiet = False,
    as_json: option.AsJson = False,
    out: option.RunFile = None,
    csv: option.RunCsv = None,
    trace_out: option.RunTrace = None,
) -> ExitCode:
    """Simulate an algorithm under delays, or replay a case file.

    Shows the error, how often clients arrive, and staleness. A case file lists its events: they are run with full
    gradients, and the trajectory is printed.
    """
    from boundlab.api import run as ask
    from boundlab.registry import registered
    from boundlab.simulate.work import stoppable

    case = Path(algorithm) if "/" in algorithm else named_file(algorithm, ".json")
    if case is not None and algorithm not in registered("algorithms"):
        option.form(context, "run CASE.json", "algorithm", "as_json", "out")
        return _replay(case, as_json, out)
    option.alone(quiet, json=as_json)
    files = writable(out, csv, trace_out)
    with progress("trials", trials) as tick, stoppable():
        result = ask(
            algorithm,
            problem,
            delays,
            server=server,
            iterations=iterations,
            trials=trials,
            seed=seed,
            backend=backend,
            device=device,
            jobs=jobs,
            settings=option.settings_map(settings),
            progress=tick,
        )

    def write() -> None:
        if out is not None:
            write_json(out, result.as_dict())
        if csv is not None:
            result.save_csv(csv)
        if trace_out is not None:
            result.save_trace(trace_out)

    def show_ran(_files: Sequence[Path]) -> None:
        show(result, result.page, quiet=quiet, as_json=as_json)

    return deliver(ExitCode.STANDS, files, show_ran, write, quiet=as_json or quiet)


def _replay(case: Path, as_json: bool, out: Path | None) -> ExitCode:
    """Run one explicit list of events with full gradients and print the trajectory."""
    from boundlab.case import load_case, replay

    files = writable(out)
    given = load_case(case)
    noisy = not given.problem.noiseless
    result: dict[str, Any] = {"schema": schema("trajectory"), "trajectory": replay(given)}
    result |= {"note": _NOISE} if noisy else {}

    def show_found(_files: Sequence[Path]) -> None:
        if as_json:
            print_json(result)
            return
        from boundlab.pages.run import trajectory_page

        print_page(trajectory_page(result["trajectory"]))
        if noisy:
            console().print(_NOISE)

    def write() -> None:
        write_json(files[0], result)

    return deliver(ExitCode.STANDS, files, show_found, write, quiet=as_json)
