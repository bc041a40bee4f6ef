"""``boundlab optimal-rate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boundlab.cli import _options as option
from boundlab.cli.endings import deliver, writable
from boundlab.cli.terminal import print_json, print_page
from boundlab.options import Default, number, numbers
from boundlab.verdict import ExitCode


def optimal_rate(
    rates: option.Rates,
    objective: option.RateObjective = Default.OBJECTIVE,
    server_cost: option.ServerCost = Default.SERVER_COST,
    epsilon: option.Epsilon = Default.EPSILON,
    derivation: option.RateDerivation = False,
    plot: option.RatesPlot = None,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Find the server rate λ_s that makes AREA's Theorem 8 bound smallest."""
    from boundlab.server_rate import optimal_rate as best_rate

    given = numbers(rates, "rates")
    if plot is not None:
        from boundlab.pages.plots import check_format

        check_format(plot)
    files = writable(plot)
    result = best_rate(given, objective, number(server_cost, "--server-cost"), number(epsilon, "--epsilon"))  # type: ignore[arg-type]
    steps = _derivation() if derivation else []

    def show(_files: Sequence[Path]) -> None:
        if as_json:
            print_json({**result.as_dict(), **({"derivation": steps} if derivation else {})})
        else:
            from boundlab.pages import page
            from boundlab.pages.blocks import words

            said = (f"{step['verdict']:>9}  {step['statement']}" for step in steps)
            print_page([*page(result), *(words(one) for one in said)])

    def write() -> None:
        from boundlab.pages.plots import plot_rates

        plot_rates(result, files[0])

    return deliver(ExitCode.STANDS, files, show, write, quiet=as_json)


def _derivation() -> list[dict[str, Any]]:
    from boundlab.prove import run
    from boundlab.registry import lookup

    return [
        {"name": step.name, "statement": step.says, "verdict": step.status.value, "detail": step.how}
        for step in run(lookup("proofs", "area.optimal-rate")).steps
    ]
