"""``boundlab demo``: a tour on built-in real data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.__about__ import __version__
from boundlab.cli import _options as option
from boundlab.cli.terminal import Files, console, deliver, print_json, progress
from boundlab.documentation import pointers
from boundlab.files import RESULT, folder, schema, write_folder
from boundlab.options import Default
from boundlab.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from boundlab.compare import Comparison

_TRIALS = 20
_PLOT = "theorem7.png"
_FIVE_DATA = "logistic:data=breast_cancer,clients=4,partition=iid,nu=0.1"
_SPEEDS = "rates=[4,2,1,1]"
# Theorem, delays, horizon, trials, settings.
_FIVE: tuple[tuple[str, str, int, int, dict[str, str]], ...] = (
    ("area.theorem8.repaired", "exponential", 10000, _TRIALS, {}),
    ("fedcompass.window.b.noiseless", "deterministic", 1600, 2, {"Qmin": "1", "Qmax": "4", "eta": "0.0055"}),
    ("afl_dga.r2n", "deterministic", 500, 2, {"participation": "0.9", "local_steps": "2", "eta": "0.05"}),
    ("fedfa.delta.b.noiseless", "deterministic", 1000, 2, {"K": "4", "eta_l": "0.015"}),
    ("fedstaleweight.rf1", "deterministic", 200, 2, {"count": "8", "eta_l": "0.1"}),
)
_DIGITS = "softmax:data=digits,clients=10,partition=dirichlet,a=0.1,batch=32,normalise=yes,nu=0.1"
_SPREAD = "exponential:spread=10,rate=10"
_LONG = 5000


def demo(
    out: Annotated[Path, option.file("--out DIR", "Where the plot and the case files go.")] = Path("demo"),
    seed: option.Seed = Default.SEED,
    as_json: option.AsJson = False,
) -> None:
    """Take a tour: a false theorem, five papers, real data.

    It takes a minute or two, and writes a plot and the case files of all violations.
    """
    from boundlab.api import compare, exact
    from boundlab.case import case_name, problem_from
    from boundlab.pages.blocks import figure
    from boundlab.pages.plots import check_format, save_plot
    from boundlab.pages.results import comparison_page
    from boundlab.pages.terminal import print_page
    from boundlab.pages.theorem import Wording, source_of
    from boundlab.server_rate import optimal_rate
    from boundlab.theorems import load_theorem

    check_format(out / _PLOT)
    digits, five = problem_from(_DIGITS), problem_from(_FIVE_DATA)
    folder(out)
    screen = console()
    screen.quiet = as_json
    results: list[Comparison] = []

    def ask(theorem: str, problem: Any, delays: str, horizon: int, trials: int = _TRIALS, **settings: str) -> Any:
        with progress(theorem, trials) as tick:
            asked: dict[str, Any] = {"iterations": horizon, "trials": trials, "seed": seed, "progress": tick}
            results.append(compare(theorem, problem, delays, settings=settings, **asked))
        return results[-1]

    screen.rule("1. A published theorem and its counterexample")
    first = load_theorem("area.theorem8")
    screen.print(f"{source_of(first)}:\n{'; '.join(Wording(first).claim())}\n\nFalse: {exact(first).sentence}.")
    screen.print("Step by step: boundlab exact area.theorem8 --derivation. What is true instead:\n")
    for name in ("area.theorem8", "area.theorem8.repaired"):
        screen.print(ask(name, "lad:x0=1", "iid:p_s=0.5", 4, M="48").line())

    screen.rule("2. Five papers on one problem: logistic regression, 569 samples, 4 clients of speeds 4:2:1:1")
    screen.print("One proved theorem of each paper; notebooks/05_five_papers_one_problem draws the curves.\n")
    for name, law, horizon, trials, settings in _FIVE:
        one = ask(name, five, f"{law}:{_SPEEDS}", horizon, trials, **settings)
        still, symbol = figure(one.trivial_bound.level), one.plan.theorem.horizon_symbol
        screen.print(f"at {symbol} = {one.plan.ks[-1]}, where a server that never moves has {still}:")
        screen.print(one.line())

    screen.rule("3. One comparison in full: softmax regression on digits, 10 clients with different data")
    recursion = ask("area.theorem7.recursion", digits, _SPREAD, _LONG)
    print_page(screen, comparison_page(recursion))
    screen.print(
        "\nTwenty trials without a guarantee give `consistent`: other trials could show a violation. The next bound is "
        "about the same run. It is so loose that 20 trials decide, and that a server that never moves would meet it:\n"
    )
    explicit = ask("area.theorem7.explicit", digits, _SPREAD, _LONG)
    screen.print(explicit.line())

    screen.rule("4. Printed theorems of two other papers, where they fail")
    speeds = "deterministic:rates=[1,0.2]"
    screen.print(ask("fedfa.theorem1", "huber:c=[0,1],x0=1/6", speeds, 800, 2, K="2", eta_l="0.005").line())
    noisy = "huber:sigma=1,delta=0.1,x0=0"
    screen.print(ask("fedstaleweight.theorem1", noisy, "exponential", 200, 50, eta_l="0.001").line())

    screen.rule("5. How often should the server of part 3 update?")
    rates = explicit.plan.delays.rates()
    best, priced = optimal_rate(rates), optimal_rate(rates, "per-time", server_cost=0.01)
    screen.print(
        f"λ_s* = {figure(best.lambda_s or 0.0)} aggregations per unit of time (one in {figure(1.0 / best.p_s)} "
        "iterations) makes the bound of Theorem 8 smallest at a fixed number of iterations.\n"
        f"λ_s* = {figure(priced.lambda_s or 0.0)} is best at a fixed time, if one aggregation costs 0.01 units of time."
    )
    cases = {case_name(one.plan.theorem.id): one.case for one in results if one.verdict is Verdict.VIOLATED}
    document = {
        "schema": schema("demo"),
        "boundlab": __version__,
        "comparisons": [result.as_dict() for result in results],
        "optimal_rate": [best.as_dict(), priced.as_dict()],
    }

    def show(files: Sequence[Path]) -> None:
        if as_json:
            print_json({**document, "written": [str(path) for path in files]})

    def draw(pair: Any) -> Any:
        return explicit.plot(pair, others=(recursion,))

    files: Files = {
        out / RESULT: lambda _: write_folder(out, document, cases, (_PLOT,)),
        out / _PLOT: lambda path: save_plot(draw, path, 9.6, 6.4, panel=True),
        **{out / name: None for name in cases},
    }
    deliver(ExitCode.STANDS, files, show, quiet=as_json)
    if not as_json:
        typer.echo(pointers("next: boundlab audit area.theorem8, and docs/tutorial.md for a theorem of your own"))
