"""The pages of traces: what a log says, and the laws fitted to its durations."""

from typing import TYPE_CHECKING

import numpy as np

from boundlab.pages.blocks import GAP, Block, figure, figures, words

if TYPE_CHECKING:
    from boundlab.traces import DelayFit, TraceSummary

_LONG = 20  # devices that are shown one by one


def trace_page(result: "TraceSummary") -> list[Block]:
    """Return devices, rates, durations, staleness, and whether the events may be i.i.d."""
    record, (first, last) = result.record, result.span
    n, updates, lost = len(record.names), int(result.updates.sum()), int(result.lost.sum())
    rates, means = result.updates / last if last > 0.0 else np.full(n, np.nan), result.means()
    shown = range(n) if n <= _LONG else np.argsort(-result.updates, kind="stable")[:_LONG].tolist()
    client = record.arrived.client
    rows = []
    for one in shown:
        tau = result.tau[(client == one) & (result.tau >= 0)]
        stale = (figure(tau.mean()), str(tau.max())) if len(tau) else ("–", "–")
        counts = (str(result.updates[one]), str(result.lost[one]))
        rows.append((record.names[one], *counts, _known(rates[one]), _known(means[one]), *stale))
    heads = ("device", "updates", "lost", "rate", "mean duration", "mean staleness", "largest")
    overall = result.how
    if len(result.known):
        overall = f"mean {figure(result.known.mean())}, largest {result.known.max()} ({result.how})"
    times = f"{result.rounds} rounds, each of the updates of one time"
    rounds = [words(f"this looks like {times}: --delays trace:{record.source},rounds=yes")] if result.rounds else []
    more = [words(f"{n - _LONG} devices with fewer updates are not shown")] if n > _LONG else []
    return [
        words(f"{record.source}: {n} devices, {updates} updates, {lost} lost, time {figure(first)} to {figure(last)}"),
        *(words(f"note: {note}") for note in record.notes),
        GAP,
        figures(heads, rows),
        *more,
        words(f"durations: {result.durations.how}; staleness: {overall}"),
        words(f"{result.events.words(record.source)}"),
        *rounds,
    ]


def _known(value: float) -> str:
    return figure(value) if value == value else "–"


def fit_page(result: "DelayFit") -> list[Block]:
    """Return the laws by AIC, the test of the best, and its spec."""
    count = len(result.durations.time)
    rows = []
    for one in result.laws:
        shape = ", ".join(f"{key} = {figure(value)}" for key, value in one.options.items() if key != "rates")
        rows.append((one.law, shape or "–", figure(one.aic) if np.isfinite(one.aic) else "–", figure(one.distance)))
    if result.p_value is None:
        test = "every duration is one of the values that this law takes"
        if np.isfinite(result.best.aic):
            test = "the best law was not tested: none of its family fits the sample"
    else:
        test = (
            f"test of {result.best.law}: p = {figure(result.p_value)} (Kolmogorov-Smirnov distance of {result.sample} "
            f"durations against {result.draws} bootstrap samples, fitted alike); below 0.01 it does not fit"
        )
    return [
        words(f"{result.source}: {count} durations of {len(result.names)} devices, {result.durations.how}"),
        GAP,
        figures(("law", "shape", "AIC", "distance"), rows, words=(1,)),
        words(test),
        words((result.best.spec, "command")),
    ]
