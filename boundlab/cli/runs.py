"""``boundlab run`` and ``boundlab replay``."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

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
    print_json,
    print_page,
    progress,
    settings_map,
    writable,
)
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.files import schema
from boundlab.verdict import ExitCode

_NOISE = "full gradients: the noise of this problem is left out, so this is not the run that a sampled trial has seen"
_EXAMPLE = "run area --problem softmax:clients=10 --delays exponential:spread=10 --set alpha=0.5 --iterations 2000"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run", epilog=epilog("run", _EXAMPLE))(run)
    app.command("replay", epilog=epilog("replay", "replay case.json --json"))(replay)


def run(
    algorithm: Annotated[str, typer.Argument(metavar="ALGORITHM", help="boundlab list algorithms")],
    problem: ProblemSpec = "quadratic",
    delays: DelaySpec = "exponential",
    server: ServerSpec = None,
    settings: Settings = None,
    iterations: Iterations = 1000,
    trials: Trials = 5,
    seed: Seed = 0,
    backend: BackendName = "numpy",
    device: DeviceName = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Also write the JSON here.")] = None,
) -> None:
    """Simulate an algorithm on a problem under delays and show the error and what the schedule was."""
    from boundlab.api import run as ask
    from boundlab.simulate import stoppable

    writable(out)
    with progress("trials", trials) as tick, stoppable():
        result = ask(
            algorithm, problem, delays, server=server, iterations=iterations, trials=trials, seed=seed,
            backend=backend, device=device, jobs=jobs, settings=settings_map(settings), progress=tick,
        )  # fmt: skip

    def show(_files: Sequence[Path]) -> None:
        if as_json:
            print_json(result.as_dict())
            return
        print_page(result.page())

    _deliver(show, out, result.as_dict, as_json=as_json)


def _deliver(
    show: Callable[[Sequence[Path]], None], out: Path | None, document: Callable[[], Any], *, as_json: bool
) -> None:
    """Show a result, then write it as JSON where that was asked for."""
    from boundlab.files import write_json

    def write() -> None:
        if out is not None:
            write_json(out, document())

    deliver(ExitCode.STANDS, [] if out is None else [out], show, write, quiet=as_json)


def replay(
    case: Annotated[Path, typer.Argument(metavar="CASE.json", help="a case file")],
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Also write the trajectory here, as JSON.")
    ] = None,
) -> None:
    """Run one explicit list of events with full gradients and print the trajectory."""
    from boundlab.case import load_case
    from boundlab.case import replay as replay_case

    writable(out)
    given = load_case(case)
    noisy = not given.problem.noiseless
    result: dict[str, Any] = {"schema": schema("trajectory"), "trajectory": replay_case(given)}
    result |= {"note": _NOISE} if noisy else {}

    def show(_files: Sequence[Path]) -> None:
        if as_json:
            print_json(result)
            return
        from boundlab.pages.run import trajectory_page

        print_page(trajectory_page(result["trajectory"]))
        if noisy:
            console().print(_NOISE)

    _deliver(show, out, lambda: result, as_json=as_json)
