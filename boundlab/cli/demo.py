"""``boundlab demo``: the main job on built-in real data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.cli._common import console, progress

if TYPE_CHECKING:
    from boundlab.compare import Comparison

LIPSCHITZ = {
    "data": "digits", "clients": "10", "partition": "dirichlet", "a": "0.1", "batch": "32", "normalise": "yes",
}  # fmt: skip
SMOOTH = {**LIPSCHITZ, "nu": "0.1"}
DELAYS = {"spread": "10", "rate": "10"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo", epilog="Example: boundlab demo --out demo")(demo)


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where plots and results go.")] = Path("demo"),
    seed: Annotated[int, typer.Option("--seed", "-s", help="Seed of all random numbers.")] = 0,
) -> None:
    """Check three theorems of AREA on real data and on |x|, and tune the server rate: about half a minute."""
    from boundlab.files import folder
    from boundlab.report.plots import plot_comparison
    from boundlab.report.tables import figure
    from boundlab.tuning import optimal_rate

    folder(out)
    screen = console()
    screen.rule("1. strongly convex: softmax regression on digits, 10 clients, Dirichlet(0.1)")
    smooth = _compare("area.theorem7.explicit", "softmax", SMOOTH, 20_000, 20, seed, {})
    _show(screen, smooth)
    plot_comparison(smooth, out / "theorem7.png", terms=True)

    screen.rule("2. convex and Lipschitz: hinge loss on the same data, M = 10 local steps")
    printed = _compare("area.theorem8", "hinge", LIPSCHITZ, 2000, 20, seed, {"M": "10"})
    repaired = _compare("area.theorem8.repaired", "hinge", LIPSCHITZ, 2000, 20, seed, {"M": "10"})
    for result in (printed, repaired):
        _verdict(screen, result)
    alpha = figure_text(printed.plan.parameter_values["alpha"])
    path = [
        _compare(name, "hinge", LIPSCHITZ, 2000, 20, seed, {"M": "10", "alpha": alpha})
        for name in ("area.theorem8.fixed-step", "area.theorem8.repaired.fixed-step")
    ]
    plot_comparison(path[0], out / "theorem8.png", others=(path[1],))

    screen.rule("3. the smallest problem: f(x) = |x|, one client, p = p_s = 1/2, M = 50, K = 6, x0 = 3")
    for name in ("area.theorem8", "area.theorem8.repaired"):
        result = _compare(name, "lad", {"x0": "3"}, 6, 400, seed, {"M": "50"}, delays=("iid", {"p_s": "0.5"}))
        _verdict(screen, result)

    screen.rule("4. the best server rate for the clients of 1 and 2")
    rates = smooth.plan.delays.rates()
    best = optimal_rate(rates)
    screen.print(
        f"rates {figure(float(rates.max()))} … {figure(float(rates.min()))}: λ_s* = {figure(best.lambda_s or 0.0)} "
        f"aggregations per unit of time (one in {figure(1.0 / best.p_s)} iterations) minimises Theorem 8 at fixed K"
    )
    priced = optimal_rate(rates, "per-time", server_cost=0.01)
    screen.print(
        "at fixed time more is better; if one aggregation costs 0.01 units of time, "
        f"λ_s* = {figure(priced.lambda_s or 0.0)}"
    )
    screen.print(f"written: {out / 'theorem7.png'}, {out / 'theorem8.png'}")


def figure_text(value: float) -> str:
    """Return a number as text that reads back the same."""
    return repr(float(value))


def _compare(
    theorem: str,
    problem: str,
    options: dict[str, str],
    iterations: int,
    trials: int,
    seed: int,
    settings: dict[str, str],
    delays: tuple[str, dict[str, str]] = ("exponential", DELAYS),
) -> "Comparison":
    from boundlab.case import build_problem
    from boundlab.compare import compare, make_plan
    from boundlab.delays import read_policy
    from boundlab.registry import lookup
    from boundlab.specs import Options
    from boundlab.theorems import load_theorem

    built = build_problem(problem, dict(options))
    name, raw = delays
    model = lookup("delays", name).build(Options(f"delays {name}", raw), built.n)
    plan = make_plan(load_theorem(theorem), built, model, read_policy(None, model), iterations, settings)
    with progress(theorem, trials) as tick:
        return compare(plan, trials, seed, progress=tick)


def _show(screen: Any, result: "Comparison") -> None:
    from boundlab.report.tables import comparison_table

    for line in comparison_table(result):
        screen.print(line)


def _verdict(screen: Any, result: "Comparison") -> None:
    from boundlab.report.tables import figure, verdict_line

    left, row = result.band, -1
    screen.print(
        f"{result.plan.theorem.id}: bound {figure(result.plan.bound[row])}; mean {figure(left.mean[row])}, "
        f"{left.level:.0%} limits {figure(left.lower[row])} to {figure(left.upper[row])}, {left.trials} trials"
    )
    screen.print(verdict_line(result.verdict.value, result.reason))
