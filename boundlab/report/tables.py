"""Rich tables of results; only the command line prints them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from boundlab.compare.comparison import Comparison
    from boundlab.simulate.simulation import Simulation

_STYLE = {
    "holds": "bold green",
    "consistent": "green",
    "violated": "bold red",
    "inconclusive": "bold yellow",
    "not applicable": "bold blue",
}
_LONG, _SHORT = 8, 4


def figure(value: float) -> str:
    """Return a number with four significant digits."""
    return f"{value:.4g}"


def plain_table(*columns: str, title: str | None = None) -> Table:
    """Return a table whose first column is left-aligned and the others right-aligned."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", no_wrap=place == 0)
    return table


def verdict_line(word: str, reason: str, note: str = "") -> Text:
    """Return the verdict, coloured, with what is to be noted and its reason."""
    return Text.assemble((f"{word}{note}: ", _STYLE[word]), reason)


def comparison_line(result: "Comparison") -> Text:
    """Return the verdict of a comparison with its reason."""
    word = result.verdict.value
    return verdict_line(word, result.explanation, result.headline.removeprefix(word))


def of_objective(words: str) -> str:
    """Return what a head says of the objective: nothing of the plain mean, with which f stands for itself."""
    return f", f = {words}" if words.startswith("Σ") else ""


def comparison_table(result: "Comparison", terms: bool = False) -> list[Any]:
    """Return the page of one comparison: setting, constants, table, verdict."""
    plan, left = result.plan, result.band
    names = list(result.terms) if terms else []
    setting = (
        f"{plan.theorem.id} ({plan.theorem.status}): {plan.metric.label} E[{plan.metric.symbol}]\n"
        f"problem {plan.problem.id}: n = {plan.problem.n} clients, d = {plan.problem.d}{of_objective(plan.objective)}; "
        f"{plan.delays.id} delays, server {plan.policy.describe()}; "
        f"{f'{left.trials} trials' if left.trials else 'no trials'}, seed {result.seed}{result.backend.words}"
    )
    parameters = ", ".join(f"{key} = {_word(value)}" for key, value in plan.parameter_values.items())
    symbols = plain_table("symbol", "value", "side", "origin", "how")
    for column in symbols.columns[2:]:
        column.justify = "left"
    for one in plan.symbols:
        style = "" if one.certified else "bold yellow"
        symbols.add_row(one.name, _entries(one.value), one.side, one.origin, one.how, style=style)
    left_side = _left_columns(result)
    rows = plain_table("k" if plan.theorem.counter == "K" else "T", *left_side, "bound", "mean/bound", *names)
    for row, k in enumerate(plan.ks):
        rows.add_row(
            str(k), *(figure(column[row]) for column in left_side.values()), figure(result.bound[row]),
            figure(result.ratio[row]), *(figure(result.terms[name][row]) for name in names),
        )  # fmt: skip
    return [
        Text(setting), Text(f"parameters: {parameters}"), "", symbols, "", rows, Text(left.method, style="dim"), "",
        comparison_line(result),
    ]  # fmt: skip


def horizons_table(results: "Sequence[Comparison]", deciding: "Comparison", terms: bool) -> list[Any]:
    """Return the page of comparisons at several horizons: a line each, and what they say together."""
    plan = results[0].plan
    # One horizon may be computed where the next one is sampled: then there are limits for some.
    heads = max((list(_left_columns(one)) for one in results), key=len)
    names = list(results[0].terms) if terms else []
    rows = plain_table(plan.theorem.counter, *heads, "bound", "mean/bound", *names, "verdict")
    rows.columns[-1].justify = "left"
    for one in results:
        left = [figure(column[-1]) for column in _left_columns(one).values()]
        rows.add_row(
            str(one.plan.iterations), *left, *["computed"] * (len(heads) - len(left)), figure(one.bound[-1]),
            figure(one.ratio[-1]), *(figure(one.terms[name][-1]) for name in names), one.headline,
        )  # fmt: skip
    setting = (
        f"{plan.theorem.id} ({plan.theorem.status}): {plan.metric.label} E[{plan.metric.symbol}]\n"
        f"problem {plan.problem.id}: n = {plan.problem.n} clients, d = {plan.problem.d}{of_objective(plan.objective)}; "
        f"{plan.delays.id} delays, server {plan.policy.describe()}; each horizon is a run of its own"
    )
    return [Text(setting), "", rows, Text(deciding.band.method, style="dim"), "", comparison_line(deciding)]


def _entries(value: Any) -> str:
    """Return a number, or the first of a list of them."""
    if not isinstance(value, list):
        return figure(value)
    return f"{', '.join(figure(one) for one in value[:_SHORT])}{', …' if len(value) > _SHORT else ''}"


def _left_columns(result: "Comparison") -> dict[str, NDArray[np.float64]]:
    """Return what is known of the left side, by the head of its column."""
    left = result.band
    if result.exact == "expectation":
        return {"expectation": left.mean}
    if left.level == 1.0:
        return {"mean": left.mean, "smallest": left.lower, "largest": left.upper}
    kind = "upper" if left.guaranteed else "upper, approximate"
    return {
        "mean": left.mean,
        f"{100 * left.level:.4g}% lower": left.lower,
        f"{100 * left.level:.4g}% {kind}": left.upper,
    }


def _word(value: Any) -> str:
    return figure(value) if isinstance(value, float) else str(value)


def run_table(result: "Simulation") -> list[Any]:
    """Return the page of one simulation."""
    from boundlab.metrics import METRICS

    names = list(result.metrics)
    rows = plain_table("k", *(column for name in names for column in (f"mean {METRICS[name].point}", "min", "max")))
    for row, k in enumerate(result.ks):
        cells: list[str] = []
        for name in names:
            values = result.metrics[name][:, row]
            cells += [figure(values.mean()), figure(values.min()), figure(values.max())]
        rows.add_row(str(k), *cells)
    events = _events_of_area(result) if result.algorithm.server == "any" else _events_of(result)
    tau = max(figures.tau_max for figures in result.statistics)
    mean_tau = float(
        np.mean([figures.staleness.mean() if len(figures.staleness) else 0.0 for figures in result.statistics])
    )
    setting = (
        f"{result.algorithm.id} on {result.problem.id}: n = {result.problem.n}, d = {result.problem.d}; "
        f"{result.delays.id} delays, server {result.policy.describe()}; "
        f"{len(result.statistics)} trials, seed {result.seed}{result.backend.words}"
    )
    return [
        Text(setting), "", rows, "", events,
        Text(f"staleness: mean {mean_tau:.3g}, largest {tau}; rates of the delay model: {result.delays.how_rates}"),
        *(Text(line) for line in _figures(result)),
    ]  # fmt: skip


def _events_of_area(result: "Simulation") -> Table:
    """Return expected and observed frequencies of all kinds of events."""
    from boundlab.delays import frequencies

    p, p_s = frequencies(result.delays, result.policy)
    observed = np.mean([figures.p for figures in result.statistics], axis=0)
    events = plain_table("actor", "expected frequency", "observed", "updates a trial")
    updates = np.mean([figures.updates for figures in result.statistics], axis=0)
    for client in range(min(result.problem.n, _LONG)):
        events.add_row(f"client {client}", figure(p[client]), figure(observed[client]), figure(updates[client]))
    if result.problem.n > _LONG:
        events.add_row(f"… {result.problem.n - _LONG} more clients", "", "", "")
    versions = float(np.mean([figures.versions for figures in result.statistics]))
    events.add_row("server", figure(p_s), figure(float(np.mean([f.p_s for f in result.statistics]))), figure(versions))
    return events


def _events_of(result: "Simulation") -> Table:
    """Return rates, arrivals and aggregated weight of the clients."""
    rates = result.delays.rates()
    updates = np.mean([figures.updates for figures in result.statistics], axis=0)
    weighted = [figures.shares for figures in result.statistics if figures.shares is not None]
    shares = np.mean(weighted, axis=0) if weighted else None
    events = plain_table("client", "rate without waiting", "updates a trial", "share of updates", "share of weight π")
    total = max(float(updates.sum()), 1.0)
    for client in range(min(result.problem.n, _LONG)):
        weight = "" if shares is None else figure(shares[client])
        events.add_row(
            f"client {client}", figure(rates[client]), figure(updates[client]), figure(updates[client] / total), weight
        )
    if result.problem.n > _LONG:
        events.add_row(f"… {result.problem.n - _LONG} more clients", "", "", "", "")
    return events


def _figures(result: "Simulation") -> list[str]:
    """Return the first trial's figures of the algorithm itself, as far as they fit a line."""
    lines = []
    for name, value in result.figures[0].items():
        if isinstance(value, list) and (len(value) > _LONG or (value and isinstance(value[0], (list, dict)))):
            lines.append(f"{name.replace('_', ' ')}: {len(value)} entries (--json shows them)")
        elif isinstance(value, list):
            lines.append(f"{name.replace('_', ' ')}: {', '.join(_word(entry) for entry in value)}")
        elif not isinstance(value, dict):
            lines.append(f"{name.replace('_', ' ')}: {_word(value)}")
    return [f"first trial: {'; '.join(lines)}"] if lines else []


def trajectory_table(trajectory: list[dict[str, Any]]) -> Table:
    """Return the trajectory of a replayed case, with what the algorithm says of each event; long vectors are cut."""
    own = [name for name in trajectory[0] if name not in ("k", "t", "actor", "x")]
    table = plain_table("k", "t", "actor", *own, "x_s")
    table.columns[-1].justify = "left"
    for entry in trajectory:
        shown = ", ".join(f"{value:.12g}" for value in entry["x"][:_LONG])
        more = f", … ({len(entry['x'])} entries)" if len(entry["x"]) > _LONG else ""
        said = ("–" if entry[name] == -1 else str(entry[name]) for name in own)
        table.add_row(str(entry["k"]), f"{entry['t']:.6g}", str(entry["actor"]), *said, Text(f"[{shown}{more}]"))
    return table
