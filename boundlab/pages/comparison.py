"""The pages of comparisons: at one horizon, and at several."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boundlab.pages.blocks import (
    GAP,
    Block,
    Line,
    Rows,
    Words,
    figure,
    figures,
    line,
    of_objective,
    proof_speaks,
    verdict_words,
    word,
    words,
)

if TYPE_CHECKING:
    from boundlab.compare.judge import Comparison
    from boundlab.instance.plan import Plan
    from boundlab.instance.readings import SymbolValue
    from boundlab.verdict import Verdict

_SHORT = 4


def comparison_verdict(result: "Comparison") -> Words:
    """Return the verdict of a comparison with its reason."""
    return _verdict(result, result.explanation)


def _verdict(result: "Comparison | ComparedHorizons", reason: str) -> Words:
    verdict = result.verdict.value
    return verdict_words(verdict, reason, result.headline.removeprefix(verdict))


def comparison_page(result: "Comparison", terms: bool = False) -> list[Block]:
    """Return setting, constants, table and verdict of one comparison; ``terms``: with the terms of the bound."""
    plan, left = result.plan, result.band
    trials = "one trial" if left.trials == 1 else f"{left.trials} trials" if left.trials else "no trials"
    parameters = ", ".join(f"{key} = {word(value)}" for key, value in plan.parameter_values.items())
    return [
        _setting(plan, f"{trials}, seed {result.seed}{result.backend.words}"),
        words(f"parameters: {parameters}"),
        GAP,
        figures(("symbol", "value", "side", "origin", "how"), map(_symbol, plan.symbols), words=(2, 3, 4)),
        GAP,
        _points(result, list(result.terms) if terms else []),
        words((left.method, "dim")),
        *proof_speaks(result.membership),
        GAP,
        comparison_verdict(result),
    ]


class ComparedHorizons(Protocol):
    """Comparisons at several horizons, judged together."""

    @property
    def comparisons(self) -> "Sequence[Comparison]":
        """By increasing horizon."""

    @property
    def deciding(self) -> "Comparison":
        """The one that decides."""

    @property
    def verdict(self) -> "Verdict":
        """The verdict of all together."""

    @property
    def headline(self) -> str:
        """The verdict, and whether the bound is vacuous."""

    @property
    def reason(self) -> str:
        """Why."""


def horizons_page(found: ComparedHorizons, terms: bool = False) -> list[Block]:
    """Return a line for each horizon, and what they say together."""
    results = found.comparisons
    plan = results[0].plan
    # One horizon may be computed where the next one is sampled: then there are limits for some.
    heads = max((list(_left_columns(one)) for one in results), key=len)
    names = list(results[0].terms) if terms else []
    columns = (plan.theorem.horizon_symbol, *heads, "bound", "mean/bound", *names, "verdict")
    rows = []
    for one in results:
        left = [figure(column[-1]) for column in _left_columns(one).values()]
        rows.append(
            (
                str(one.plan.iterations),
                *left,
                *["computed"] * (len(heads) - len(left)),
                figure(one.bound[-1]),
                figure(one.ratio[-1]),
                *(figure(one.terms[name][-1]) for name in names),
                one.headline,
            )
        )
    return [
        _setting(plan, "a separate run for each horizon"),
        GAP,
        figures(columns, rows, words=(len(columns) - 1,)),
        words((found.deciding.band.method, "dim")),
        GAP,
        _verdict(found, found.reason),
    ]


def _setting(plan: "Plan", runs: str) -> Words:
    form = f"instead of {plan.asked}, which needs bounds of gradients everywhere\n" if plan.asked else ""
    return words(
        f"{plan.theorem.id} ({plan.theorem.status}): {plan.metric.label} E[{plan.metric.symbol}]\n"
        f"{form}problem {plan.problem.id}: n = {plan.problem.n} clients, d = {plan.problem.d}"
        f"{of_objective(plan.objective)}; {plan.delays.id} delays, server {plan.policy.describe()}; {runs}"
    )


def _symbol(one: "SymbolValue") -> tuple[Line, ...]:
    """Return a symbol with its value and where that comes from; one that is not certified stands out."""
    tone = "" if one.certified else "open"
    texts = (one.name, _entries(one.value), one.side, one.origin, one.how)
    return tuple(line((text, tone)) for text in texts)  # type: ignore[arg-type]


def _points(result: "Comparison", names: Sequence[str]) -> Rows:
    left_side = _left_columns(result)
    counter = "k" if result.plan.theorem.horizon_symbol == "K" else "T"
    rows = [
        (
            str(k),
            *(figure(column[row]) for column in left_side.values()),
            figure(result.bound[row]),
            figure(result.ratio[row]),
            *(figure(result.terms[name][row]) for name in names),
        )
        for row, k in enumerate(result.plan.ks)
    ]
    return figures((counter, *left_side, "bound", "mean/bound", *names), rows)


def _entries(value: Any) -> str:
    """Return a number, or the first of a list of them."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else figure(value)
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
