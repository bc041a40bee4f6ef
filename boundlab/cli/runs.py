"""``boundlab run`` and ``boundlab replay``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.cli._common import (
    AsJson,
    DelaySpec,
    Iterations,
    ProblemSpec,
    Seed,
    ServerSpec,
    Settings,
    Trials,
    console,
    count,
    print_json,
    progress,
    settings_map,
    writable,
)
from boundlab.cli._endings import epilog

if TYPE_CHECKING:
    from boundlab.simulate.simulation import Simulation

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
    backend: Annotated[str, typer.Option("--backend", help="numpy, the reference executor.")] = "numpy",
    device: Annotated[str, typer.Option("--device", help="cpu.")] = "cpu",
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Also write the JSON here.")] = None,
) -> None:
    """Simulate an algorithm on a problem under delays and show the error and what the schedule was."""
    from boundlab.build import delays_from, problem_from
    from boundlab.errors import SpecError
    from boundlab.simulate.simulation import simulate

    if backend != "numpy":
        raise SpecError(f"unknown backend {backend!r}; this version has numpy")
    if device != "cpu":
        raise SpecError(f"unknown device {device!r}; the numpy backend runs on cpu")
    count(iterations, "iterations", 1, 10**8)
    count(trials, "trials", 1, 10**6)
    writable(out)
    chosen = problem_from(problem)
    model = delays_from(delays, chosen.n)
    with progress("trials", trials) as tick:
        result = simulate(algorithm, chosen, model, server, settings_map(settings), iterations, trials, seed, tick)
    if out is not None:
        from boundlab.files import write_json

        write_json(out, result.as_dict())
    if as_json:
        print_json(result.as_dict())
    else:
        _show_run(result)


def _show_run(result: "Simulation") -> None:
    from boundlab.report.tables import run_table

    screen = console()
    for line in run_table(result):
        screen.print(line)


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
    result: dict[str, Any] = {"trajectory": replay_case(load_case(case))}
    if out is not None:
        from boundlab.files import write_json

        write_json(out, result)
    if as_json:
        print_json(result)
        return
    from boundlab.report.tables import trajectory_table

    console().print(trajectory_table(result["trajectory"]))
