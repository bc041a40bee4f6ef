"""Plots of FedStaleWeight's mechanism: long-run shares over clients, and utility over the reported rate."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boundlab.mechanism import Sampled, frequencies, long_run_shares, truthful_limit, utility
from boundlab.mechanism.shares import WEIGHTS, Values, as_rates, check_buffer
from boundlab.mechanism.utility import D, b, gamma, n, r
from boundlab.pages.plots import BLUE, GREEN, ORANGE, PURPLE, axes_for

# Colour, line style, marker: any one of the three tells the lines apart.
_STYLES = {"equal": (BLUE, "-", "o"), "E+1": (ORANGE, "--", "s"), "bE+1": (GREEN, "-.", "^")}
_NAMES = {
    "equal": "equal weights (FedBuff)",
    "E+1": "weights E[τ]+1 (Algorithm 1)",
    "bE+1": "weights b·E[τ]+1 (the derivation)",
}
_MOST_TICKS = 16


def draw_shares(
    rates: Sequence[float] | Values, size: int, sampled: Mapping[str, Sampled] | None = None, ax: Any = None
) -> Any:
    """Draw π_i over the clients, fastest first: exact for i.i.d. arrivals, and as simulated; return the axes.

    Parameters
    ----------
    rates
        Shape (n,), in any order.
    size
        b.
    sampled
        ``equal``, ``E+1`` or ``bE+1`` → a simulation of the same clients, drawn with 2 standard errors.
    ax
        Axes to draw on; by default those of a new figure.
    """
    given = as_rates(rates).astype(np.float64)
    order = np.argsort(-given, kind="stable")
    place = np.arange(1, len(given) + 1)
    axes = axes_for(ax)
    for shift, weights in zip((-0.09, 0.0, 0.09), WEIGHTS, strict=True):
        colour, style, marker = _STYLES[weights]
        exact = long_run_shares(given, size, weights, "quadrature")[order]
        axes.plot(place, exact, style, color=colour, linewidth=1.8, label=f"{_NAMES[weights]}, exact for i.i.d.")
        if sampled and weights in sampled:
            run = sampled[weights]
            axes.errorbar(
                place + shift,
                run.shares[order],
                yerr=2.0 * run.shares_se[order],
                fmt=marker,
                color=colour,
                markersize=6,
                markerfacecolor="white",
                capsize=3,
                linewidth=1.2,
                label=f"{_NAMES[weights]}, {run.trials} simulated trials ± 2 s.e.",
            )
    axes.axhline(
        1.0 / len(given), color="0.35", linestyle=":", linewidth=1.6, label="1/n: fair; mean field of b·E[τ]+1"
    )
    every = -(-len(given) // _MOST_TICKS)
    axes.set_xticks(place[::every], [f"{rate:.3g}" for rate in given[order][::every]])
    axes.set_ylim(0.0, 1.5 * float(frequencies(given).max()))
    axes.set_xlabel("clients, fastest first: rate $r_i$   [updates per unit of time]")
    axes.set_ylabel("long-run share $\\pi_i$ of the aggregated weight")
    axes.set_title(f"FedStaleWeight: who moves the model, {len(given)} clients, buffers of b = {size}", fontsize=10)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=7.5, handlelength=3.5, ncols=1, loc="upper right")
    return axes


def draw_utility(others: Sequence[float] | Values, size: int, ax: Any = None) -> Any:
    """Draw what a client gets over the rate that it reports, under the weights b·E[τ]+1; return the axes.

    Parameters
    ----------
    others
        Shape (n−1,): the rates of the other clients.
    size
        b ≥ 2.
    ax
        Axes to draw on; by default those of a new figure.
    """
    from sympy import lambdify

    rest = as_rates(others, "others").astype(np.float64)
    count, total = len(rest) + 1, float(rest.sum())
    fixed = {n: count, b: check_buffer(size), gamma: 1, D: total}
    reported = float(rest.mean()) * np.logspace(-1.5, 1.5, 61)
    axes = axes_for(ax)
    exact = [float(long_run_shares([rate, *rest], size, "bE+1", "quadrature")[0]) for rate in reported]
    axes.plot(reported, exact, "-", color=BLUE, linewidth=2, label="exact long-run share, i.i.d. arrivals")
    for model, colour, style, label in (
        ("all", GREEN, "-.", "expected weights, own updates among the others"),
        ("others", ORANGE, "--", "equation (9): no other update of its own in the buffer"),
    ):
        curve = lambdify(r, utility(model).subs(fixed))  # type: ignore[arg-type]
        axes.plot(reported, curve(reported), style, color=colour, linewidth=2, label=label)
    limit = truthful_limit(rest, size)
    axes.axvline(limit, color=PURPLE, linestyle=(0, (1, 1)), linewidth=1.6, label=f"(9) grows up to r_i = {limit:.3g}")
    axes.axhline(1.0 / count, color="0.35", linestyle=":", linewidth=1.6, label="1/n: mean field")
    axes.set_xscale("log")
    axes.set_ylim(0.0, None)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("reported rate $r_i$   [updates per unit of time]")
    axes.set_ylabel("utility $u_i$: share of the aggregated weight")
    axes.set_title(f"What throttling brings: {count} clients, b = {size}, weights b·E[τ]+1", fontsize=10)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8, handlelength=3.5)
    return axes
