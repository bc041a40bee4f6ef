"""``boundlab demo``: the main job on built-in real data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from boundlab.__about__ import __version__
from boundlab.cli import _options as option
from boundlab.cli.endings import deliver
from boundlab.cli.terminal import console, print_json, progress
from boundlab.documentation import pointers
from boundlab.files import RESULT, folder, schema, write_folder
from boundlab.options import Default
from boundlab.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from rich.console import Console

    from boundlab.compare import Comparison
    from boundlab.instance import Plan
    from boundlab.objective import Problem

_DATA = {"data": "digits", "clients": "10", "partition": "dirichlet", "a": "0.1", "batch": "32", "normalise": "yes"}
_RIDGE = {"data": "diabetes", "clients": "10", "batch": "32", "nu": "0.1", "normalise": "yes"}
_DELAYS = ("exponential", {"spread": "10", "rate": "10"})
_TRIALS = 20
_FIVE_DATA = "logistic:data=breast_cancer,clients=4,partition=iid,nu=0.1"
_FIVE: tuple[tuple[str, str, int, int, dict[str, str]], ...] = (
    ("area.theorem8.repaired", "exponential", 10000, _TRIALS, {}),
    ("fedcompass.window.b.noiseless", "deterministic", 1600, 2, {"Qmin": "1", "Qmax": "4", "eta": "0.0055"}),
    ("afl_dga.r2n", "deterministic", 500, 2, {"participation": "0.9", "local_steps": "2", "eta": "0.05"}),
    ("fedfa.delta.b.noiseless", "deterministic", 1000, 2, {"K": "4", "eta_l": "0.015"}),
    ("fedstaleweight.rf1", "deterministic", 200, 2, {"count": "8", "eta_l": "0.1"}),
)
_PLOTS = ("theorem7.png", "theorem8.png")
_LONG = 5000
# As printed: no term for the bias of a client that arrives five times as often; as recovered: none for noise.
_Failure = tuple[str, str, dict[str, str], tuple[str, dict[str, str]], int, dict[str, str]]
_FAILURES: tuple[_Failure, ...] = (
    (
        "fedfa.theorem1",
        "huber",
        {"c": "0,1", "x0": "1/6"},
        ("deterministic", {"rates": "1,0.2"}),
        800,
        {"K": "2", "eta_l": "0.005"},
    ),
    (
        "fedstaleweight.theorem1",
        "huber",
        {"sigma": "1", "delta": "0.1", "x0": "0"},
        ("exponential", {}),
        200,
        {"eta_l": "0.001"},
    ),
)


def demo(
    out: option.DemoFolder = Path("demo"), seed: option.Seed = Default.SEED, as_json: option.AsJson = False
) -> None:
    """Show a printed theorem and its counterexample, check theorems on real data, and tune the server rate."""
    from boundlab.api import compare, exact
    from boundlab.audit import claim
    from boundlab.case import build_problem, problem_from
    from boundlab.pages.comparison import comparison_page
    from boundlab.pages.comparison_plots import plot_comparison
    from boundlab.pages.plots import check_format
    from boundlab.pages.results import figure
    from boundlab.pages.save import case_name
    from boundlab.pages.terminal import print_page
    from boundlab.pages.theorem import source_of
    from boundlab.server_rate import optimal_rate
    from boundlab.theorems import load_theorem

    check_format(out / "theorem7.png")
    smooth = build_problem("softmax", {**_DATA, "nu": "0.1"})
    hinge = build_problem("hinge", dict(_DATA))
    folder(out)
    screen = console()
    screen.quiet = as_json
    results: list[Comparison] = []
    saved: list[Comparison] = []

    def check(plan: "Plan", trials: int = _TRIALS) -> "Comparison":
        from boundlab.compare import compare
        from boundlab.simulate.simulation import pick

        where = pick("numpy", None, None, plan.problem, trials)
        with progress(plan.theorem.id, trials) as tick:
            results.append(compare(plan, trials, seed, progress=tick, backend=where))
        return results[-1]

    screen.rule("1. a printed theorem, and its counterexample")
    first = load_theorem("area.theorem8")
    screen.print(f"{source_of(first)}:\n{'; '.join(claim(first))}\n\nFalse: {exact(first).sentence}")
    screen.print("(boundlab exact area.theorem8 --derivation has the way there, area.theorem8.repaired what is true)\n")

    screen.rule("2. five papers on one problem: regularised logistic regression, 569 samples, 4 clients, rates 4:2:1:1")
    screen.print(
        "Of each paper a theorem that is proved, with bounds of gradients where the run takes them "
        "(notebooks/05_five_papers_one_problem draws the curves):\n"
    )
    five = problem_from(_FIVE_DATA)
    for name, law, horizon, trials, settings in _FIVE:
        where = f"{law}:rates=[4,2,1,1]"
        one = compare(name, five, where, iterations=horizon, trials=trials, seed=seed, settings=settings)
        results.append(one)
        still, symbol = figure(one.trivial_bound.level), one.plan.theorem.horizon_symbol
        screen.print(f"at {symbol} = {one.plan.ks[-1]}, never moving {still}:")
        _verdict(screen, one)

    screen.rule("3. strongly convex: softmax regression on digits, 10 clients, Dirichlet(0.1)")
    recursion = check(_plan("area.theorem7.recursion", smooth, _LONG))
    print_page(screen, comparison_page(recursion))
    screen.print(
        "\nThat is, no violation was seen in the trials; another sample could show one. A theorem holds where values "
        "are computed, or where an error has a range that it never leaves. The next bound for the same run is so loose "
        "that it holds, and so loose that it says nothing: a server that never moves would meet it.\n"
    )
    explicit = check(_plan("area.theorem7.explicit", smooth, _LONG))
    _verdict(screen, explicit)
    screen.print(
        "\nOn a quadratic the expectation is computed. At K = 0 the first bound is the left side itself, which digits "
        "cannot tell from it; everywhere after the left side is proved to be below:\n"
    )
    quadratic = build_problem("quadratic", {"clients": "4", "dimension": "3", "sigma": "0.5", "x0": "3"})
    _verdict(screen, check(_plan("area.theorem7.recursion", quadratic, _LONG)))

    screen.print(
        "\nSo it is for ridge regression on data, though the noise of its mini-batches has no bound: here the diabetes "
        "data on 10 clients, batches of 32, K = 500.\n"
    )
    _verdict(screen, check(_plan("classics.sgd.sampled", build_problem("least-squares", dict(_RIDGE)), 500)))

    screen.rule("4. convex and Lipschitz: hinge loss on the same data, M = 10 local steps")
    for name in ("area.theorem8", "area.theorem8.repaired"):
        _verdict(screen, check(_plan(name, hinge, 2000, M="10")))
    alpha = repr(results[-2].plan.parameter_values["alpha"])
    printed, repaired = (
        _plan(f"{name}.fixed-step", hinge, 2000, M="10", alpha=alpha)
        for name in ("area.theorem8", "area.theorem8.repaired")
    )
    constant = check(printed)

    screen.rule(
        "5. the instance of 1, as printed and as repaired: f(x) = |x|, one client, p = p_s = 1/2, M = 48, K = 4"
    )
    absolute = build_problem("lad", {"x0": "1"})
    for name in ("area.theorem8", "area.theorem8.repaired"):
        saved.append(check(_plan(name, absolute, 4, ("iid", {"p_s": "0.5"}), M="48"), trials=400))
        _verdict(screen, saved[-1])

    screen.rule("6. other papers: FedBuff on the data of 3, and printed theorems where they fail")
    flat = build_problem("softmax", {**_DATA, "nu": "0"})
    _verdict(screen, check(_plan("fedbuff.rf1", flat, 300, count="4", M="5")))
    for name, kind, options, delays, iterations, settings in _FAILURES:
        saved.append(check(_plan(name, build_problem(kind, options), iterations, delays, **settings), trials=50))
        _verdict(screen, saved[-1])

    screen.rule("7. the best server rate for the clients of 3 and 4")
    rates = explicit.plan.delays.rates()
    best, priced = optimal_rate(rates), optimal_rate(rates, "per-time", server_cost=0.01)
    screen.print(
        f"rates {figure(float(rates.max()))} … {figure(float(rates.min()))}: λ_s* = {figure(best.lambda_s or 0.0)} "
        f"aggregations per unit of time (one in {figure(1.0 / best.p_s)} iterations) minimises Theorem 8 at fixed K"
    )
    screen.print(
        "at fixed time more is better; if one aggregation costs 0.01 units of time, "
        f"λ_s* = {figure(priced.lambda_s or 0.0)}"
    )
    cases = {case_name(one.plan.theorem.id): one.case for one in saved if one.verdict is Verdict.VIOLATED}
    document = {
        "schema": schema("demo"),
        "boundlab": __version__,
        "comparisons": [result.as_dict() for result in results],
        "optimal_rate": [best.as_dict(), priced.as_dict()],
    }

    def show(files: Sequence[Path]) -> None:
        if as_json:
            print_json({**document, "written": [str(path) for path in files]})

    def write() -> None:
        write_folder(out, document, cases, _PLOTS)
        plot_comparison(explicit, out / _PLOTS[0], others=(recursion.plan,))
        plot_comparison(constant, out / _PLOTS[1], others=(repaired,))

    deliver(ExitCode.STANDS, [out / name for name in (*_PLOTS, *cases, RESULT)], show, write, quiet=as_json)
    if not as_json:
        typer.echo(pointers("next: boundlab audit area.theorem8, and docs/tutorial.md for a theorem of your own"))


def _plan(
    theorem: str, problem: "Problem", iterations: int, delays: tuple[str, dict[str, str]] = _DELAYS, **settings: str
) -> "Plan":
    from boundlab.case import build_delays
    from boundlab.instance import make_plan
    from boundlab.registry import lookup
    from boundlab.theorems import load_theorem

    model, statement = build_delays(*delays, problem.n), load_theorem(theorem)
    algorithm = lookup("algorithms", statement.algorithm)
    policy = algorithm.policy(None, model)
    return make_plan(statement, problem, model, policy, iterations, settings)


def _verdict(screen: "Console", result: "Comparison") -> None:
    from boundlab.pages.comparison import comparison_verdict
    from boundlab.pages.results import figure
    from boundlab.pages.terminal import print_page

    left, row = result.band, -1
    limits = f"{figure(left.lower[row])} to {figure(left.upper[row])}"
    if result.exact == "expectation":
        known = f"expectation {figure(left.mean[row])}"
    elif left.level == 1.0:
        known = f"mean {figure(left.mean[row])}, {limits} on {left.trials} schedules"
    else:
        known = f"mean {figure(left.mean[row])}, {100 * left.level:.4g}% limits {limits}, {left.trials} trials"
        if left.upper[row] > result.bound[row]:
            known += " (the limits are what so few trials leave open of the mean, not where errors lie)"
    screen.print(f"{result.plan.theorem.id}: bound {figure(result.bound[row])}; {known}")
    print_page(screen, [comparison_verdict(result)])
