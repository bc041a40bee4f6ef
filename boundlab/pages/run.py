"""The pages of runs: a simulation, and the trajectory of a replayed case."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from boundlab.pages.blocks import GAP, Block, Rows, figure, figures, word, words

if TYPE_CHECKING:
    from boundlab.simulate.simulation import Simulation

_LONG = 8


def run_page(result: "Simulation") -> list[Block]:
    """Return the metrics of one simulation, its events, and its staleness."""
    tau = max(one.tau_max for one in result.statistics)
    mean_tau = float(np.mean([one.staleness.mean() if len(one.staleness) else 0.0 for one in result.statistics]))
    setting = (
        f"{result.algorithm.id} on {result.problem.id}: n = {result.problem.n}, d = {result.problem.d}; "
        f"{result.delays.id} delays, server {result.policy.describe()}; "
        f"{len(result.statistics)} trials, seed {result.seed}{result.backend.words}"
    )
    rates = result.delays.how_rates
    follows = result.algorithm.follows(result.parameters, result.delays)
    if result.delays.says_staleness and result.algorithm.arrivals and not follows:
        rates += "; clients read when they are answered, not the models that it records"
    return [
        words(setting),
        GAP,
        _metrics(result),
        GAP,
        _events_of_area(result) if result.algorithm.server == "any" else _events_of(result),
        words(f"staleness: mean {mean_tau:.3g}, largest {tau}; rates of the delay model: {rates}"),
        *([words(f"first trial: {'; '.join(own)}")] if (own := list(_figures(result))) else []),
    ]


def _metrics(result: "Simulation") -> Rows:
    from boundlab.metrics import METRICS

    columns = [head for name in result.metrics for head in (f"mean {METRICS[name].point}", "min", "max")]
    found = list(result.metrics.values())
    looks = (np.mean, np.min, np.max)
    rows = [
        (str(k), *(figure(float(of(one[:, row]))) for one in found for of in looks)) for row, k in enumerate(result.ks)
    ]
    return figures(("k", *columns), rows)


def _events_of_area(result: "Simulation") -> Rows:
    """Return expected and observed frequencies of all kinds of events."""
    from boundlab.delays import frequencies

    p, p_s = frequencies(result.delays, result.policy)
    observed = np.mean([one.p for one in result.statistics], axis=0)
    updates = np.mean([one.updates for one in result.statistics], axis=0)
    rows = _each_client(result, p, observed, updates)
    versions = float(np.mean([one.versions for one in result.statistics]))
    rows.append(("server", figure(p_s), figure(float(np.mean([f.p_s for f in result.statistics]))), figure(versions)))
    return figures(("actor", "expected frequency", "observed", "updates a trial"), rows)


def _events_of(result: "Simulation") -> Rows:
    """Return rates, arrivals and aggregated weight of the clients."""
    updates = np.mean([one.updates for one in result.statistics], axis=0)
    weighted = [one.shares for one in result.statistics if one.shares is not None]
    total = max(float(updates.sum()), 1.0)
    shares = np.mean(weighted, axis=0) if weighted else None
    rows = _each_client(result, result.delays.rates(), updates, updates / total, shares)
    return figures(("client", "rate without waiting", "updates a trial", "share of updates", "share of weight π"), rows)


def _each_client(result: "Simulation", *columns: Any) -> list[tuple[str, ...]]:
    """Return a row for each of the first clients, and how many more there are; a column may be missing."""
    rows = [
        (f"client {client}", *("" if one is None else figure(one[client]) for one in columns))
        for client in range(min(result.problem.n, _LONG))
    ]
    more = f"… {result.problem.n - _LONG} more clients"
    return [*rows, (more, *[""] * len(columns))] if result.problem.n > _LONG else rows


def _figures(result: "Simulation") -> Iterator[str]:
    """Yield the first trial's figures of the algorithm itself, as far as they fit a line."""
    for name, value in result.figures[0].items():
        match value:
            case dict():
                continue
            case list() if len(value) > _LONG or (value and isinstance(value[0], (list, dict))):
                said = f"{len(value)} entries (--json shows them)"
            case list():
                said = ", ".join(map(word, value))
            case _:
                said = word(value)
        yield f"{name.replace('_', ' ')}: {said}"


def trajectory_page(trajectory: list[dict[str, Any]]) -> list[Block]:
    """Return the trajectory of a replayed case, with what the algorithm says of each event; long vectors are cut."""
    own = [name for name in trajectory[0] if name not in ("k", "t", "actor", "x")]
    rows = []
    for entry in trajectory:
        shown = ", ".join(f"{value:.12g}" for value in entry["x"][:_LONG])
        more = f", … ({len(entry['x'])} entries)" if len(entry["x"]) > _LONG else ""
        said = ("–" if entry[name] == -1 else str(entry[name]) for name in own)
        rows.append((str(entry["k"]), f"{entry['t']:.6g}", str(entry["actor"]), *said, f"[{shown}{more}]"))
    return [figures(("k", "t", "actor", *own, "x_s"), rows, words=(3 + len(own),))]
