"""The commands about a problem and delays without a theorem: run, trace, constants, optimal-rate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import Files, answer, progress, writable
from boundlab.files import named_file, schema, write_json
from boundlab.options import Default
from boundlab.result import Report
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.pages.blocks import Block


_NOISE = "full gradients: the noise of this problem is left out, so this is not the run that a sampled trial has seen"


@option.asking("boundlab.api:run", iterations=Default.ITERATIONS)
def run(
    context: typer.Context,
    asked: option.Asked,
    quiet: option.Quiet = False,
    as_json: option.AsJson = False,
    out: Annotated[Path | None, option.file("--out FILE", "Also write the JSON here.")] = None,
    csv: Annotated[Path | None, option.file("--csv FILE", "Also write each trial's metrics here, as CSV.")] = None,
    trace_out: Annotated[
        Path | None, option.file("--trace-out FILE", "Also write the first trial as a trace, CSV.")
    ] = None,
) -> ExitCode:
    """Simulate an algorithm under delays, or replay a case file.

    Shows the error, how often clients arrive, and staleness. A case file lists its events: they are run with full
    gradients, and the trajectory is printed.
    """
    from boundlab.api import run as ask
    from boundlab.registry import registered
    from boundlab.simulate.work import stoppable

    algorithm = asked["algorithm"]
    case = Path(algorithm) if "/" in algorithm else named_file(algorithm, ".json")
    if case is not None and algorithm not in registered("algorithms"):
        option.form(context, "run CASE.json", "algorithm", "as_json", "out")
        return _replay(case, as_json, out)
    option.alone(quiet, json=as_json)
    files = writable(
        {
            out: lambda path: write_json(path, result.as_dict()),
            csv: lambda path: result.save_csv(path),
            trace_out: lambda path: result.save_trace(path),
        }
    )
    with progress("trials", asked["trials"]) as tick, stoppable():
        result = ask(**asked, progress=tick)
    return answer(result, files, quiet=quiet, as_json=as_json)


def _replay(case: Path, as_json: bool, out: Path | None) -> ExitCode:
    """Run one explicit list of events with full gradients and print the trajectory."""
    from boundlab.case import load_case, replay
    from boundlab.pages.blocks import words
    from boundlab.pages.results import trajectory_page

    files = writable({out: lambda path: write_json(path, found.as_dict())})
    given = load_case(case)
    run = replay(given)
    page, document = trajectory_page(run), {"schema": schema("trajectory"), "trajectory": run}
    if not given.problem.noiseless:
        page, document = [*page, words(_NOISE)], document | {"note": _NOISE}
    found = Report("", "", tuple(page), document)
    return answer(found, files, as_json=as_json)


@option.asking("boundlab.api:trace")
def trace(
    asked: option.Asked,
    fit: Annotated[
        bool, option.named("--fit", "Print the law of delays that fits the durations best, as --delays takes it.")
    ] = False,
    out: Annotated[Path | None, option.file("--out TRACE.csv", "Write a trace for --delays trace:file=….")] = None,
    quiet: option.Quiet = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Read a log of your system: rates, durations, staleness.

    With --out the log becomes a trace, which runs can follow. With --fit the laws of delays are fitted to the
    durations, and the best one is printed.
    """
    from boundlab.api import fit as ask_fit, trace as ask

    option.alone(quiet, json=as_json)
    files = writable({out: lambda path: ask(**asked).save(path)})
    result = (ask_fit if fit else ask)(**asked)
    return answer(result, files, quiet=quiet, as_json=as_json)


@option.asking("boundlab.api:constants")
def constants(asked: option.Asked, quiet: option.Quiet = False, as_json: option.AsJson = False) -> ExitCode:
    """Certify the constants of a problem, and the steps they allow."""
    from boundlab.api import constants as constants_of

    option.alone(quiet, json=as_json)
    return answer(constants_of(**asked), quiet=quiet, as_json=as_json)


@option.asking("boundlab.api:optimal_rate")
def optimal_rate(
    asked: option.Asked,
    derivation: Annotated[
        bool, option.named("--derivation", "Show the derivation; the kernel of prove decides each step.")
    ] = False,
    plot: Annotated[Path | None, option.file("--plot FILE", "Draw the curves (png, svg, pdf).")] = None,
    quiet: option.Quiet = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Find the server rate that makes the bound of AREA smallest.

    The bound is that of Theorem 8, and the rate is λ_s.
    """
    from boundlab.api import optimal_rate as best_rate

    option.alone(quiet, json=as_json, derivation=derivation)
    files: Files = {}
    if plot is not None:
        from boundlab.pages.plots import check_format, save_plot

        check_format(plot)
        files = writable({plot: lambda path: save_plot(result.plot, path)})
    result = best_rate(**asked)
    steps = _derivation() if derivation else []

    def page() -> "list[Block]":
        from boundlab.pages.blocks import words

        return [*result.page(), *(words(f"{step['verdict']:>9}  {step['statement']}") for step in steps)]

    beside = {"derivation": steps} if derivation else {}
    return answer(result, files, page=page, quiet=quiet, as_json=as_json, beside=beside)


def _derivation() -> list[dict[str, Any]]:
    from boundlab.prove import run
    from boundlab.registry import lookup

    return [
        {"name": step.name, "statement": step.says, "verdict": step.status.value, "detail": step.how}
        for step in run(lookup("proofs", "area.optimal-rate")).steps
    ]
