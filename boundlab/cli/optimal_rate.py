"""``boundlab optimal-rate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundlab.cli import _options as option
from boundlab.cli.terminal import deliver, show, writable
from boundlab.options import Default, number, numbers
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.pages.blocks import Block


def optimal_rate(
    rates: option.Rates,
    objective: option.RateObjective = Default.OBJECTIVE,
    server_cost: option.ServerCost = Default.SERVER_COST,
    epsilon: option.Epsilon = Default.EPSILON,
    derivation: option.RateDerivation = False,
    plot: option.RatesPlot = None,
    quiet: option.Quiet = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Find the server rate that makes the bound of AREA smallest.

    The bound is that of Theorem 8, and the rate is λ_s.
    """
    from boundlab.api import optimal_rate as best_rate

    option.alone(quiet, json=as_json, derivation=derivation)
    given = numbers(rates, "rates")
    if plot is not None:
        from boundlab.pages.plots import check_format

        check_format(plot)
    files = writable(plot)
    result = best_rate(given, objective, number(server_cost, "--server-cost"), number(epsilon, "--epsilon"))  # type: ignore[arg-type]
    steps = _derivation() if derivation else []

    def page() -> "list[Block]":
        from boundlab.pages.blocks import words

        return [*result.page(), *(words(f"{step['verdict']:>9}  {step['statement']}") for step in steps)]

    def show_found(_files: Sequence[Path]) -> None:
        show(result, page, quiet=quiet, as_json=as_json, beside={"derivation": steps} if derivation else {})

    def write() -> None:
        from boundlab.pages.plots import plot_rates

        plot_rates(result, files[0])

    return deliver(ExitCode.STANDS, files, show_found, write, quiet=as_json or quiet)


def _derivation() -> list[dict[str, Any]]:
    from boundlab.prove import run
    from boundlab.registry import lookup

    return [
        {"name": step.name, "statement": step.says, "verdict": step.status.value, "detail": step.how}
        for step in run(lookup("proofs", "area.optimal-rate")).steps
    ]
