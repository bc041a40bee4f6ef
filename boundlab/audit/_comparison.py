"""The comparison: what was run, a chart, and its numbers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from boundlab.pages.blocks import Block, Chart, Commands, Curve, Fold, table, tone_of, words

if TYPE_CHECKING:
    from boundlab.api import Compared, Horizons
    from boundlab.audit._evidence import Evidence, Panel

_Column = tuple[float, ...]
_NAMES = {"mean": "left side", "ratio": "left/bound"}


def comparison(audit: "Evidence") -> Iterator[Block]:
    """Yield the verdict of the comparison, its chart with the repaired bounds, and its numbers."""
    panel = audit.panel
    if panel is None:
        return
    result = panel.result
    verdict = result.verdict.value
    yield words(f"On {panel.chosen}: ", (verdict, tone_of(verdict)), f": {result.reason}.")
    columns = _columns(result)
    counter = audit.theorem.horizon_symbol
    xs = columns[counter]
    printed = f"bound {audit.theorem.status}" if audit.theorem.of_paper else "bound"
    curves = [Curve("left side", _pairs(xs, columns["left side"]), 0), Curve(printed, _pairs(xs, columns["bound"]), 1)]
    for repair in audit.repairs:
        if repair.panel is None:
            continue
        own, name = _columns(repair.panel.result), repair.theorem.id
        # A repair with a step of its own bounds another run: its bound stands beside that run's left side, or nowhere.
        before, after = (dict(zip(one[counter], one["left side"], strict=True)) for one in (columns, own))
        both = before.keys() & after.keys()
        same = bool(both) and all(np.isclose(before[k], after[k], rtol=_SAME, atol=0.0) for k in both)
        found = [] if same else [(f"left side with the step of {name}", own["left side"])]
        found.append((f"bound of {name}", own["bound"]))
        if len(curves) + len(found) <= _MOST:
            curves += [
                Curve(label, _pairs(own[counter], ys), len(curves) + place) for place, (label, ys) in enumerate(found)
            ]
    across, left = f"{counter}: {audit.theorem.symbols[counter].meaning}", audit.theorem.left
    yield Chart(
        f"{audit.theorem.id}: left side and bound",
        _described(audit, columns, result),
        across,
        left.expectation if len(left.expectation) <= _LONGEST_LABEL else left.label,
        tuple(curves),
    )
    names = [name for name in columns if name != "verdict"]
    rows = [[f"{columns[name][row]:.4g}" for name in names] for row in range(len(xs))]
    numbers = table("The numbers of the chart", names, rows, numbers=range(len(names)))
    yield Fold("The numbers", (numbers, words((f"{_first(result).band.method}.", "dim"))))
    yield Commands((panel.command,))


def largest(panel: "Panel") -> float:
    """Return the largest quotient of left side and bound of a comparison."""
    return max(_columns(panel.result)["left/bound"])


_MOST = 4
_LONGEST_LABEL = 50  # letters that fit beside a chart
_SAME = 1e-6  # of a left side, where two runs are the same


def _first(result: "Compared | Horizons") -> "Compared":
    from boundlab.api import Horizons

    return result.comparisons[0] if isinstance(result, Horizons) else result


def _columns(result: "Compared | Horizons") -> dict[str, _Column]:
    """Return the columns by name: of several horizons, the last point of each."""
    one, every = _first(result), result.columns()
    names = (one.plan.theorem.horizon_symbol, "mean", "lower", "upper", "bound", "ratio")
    found = {_NAMES.get(name, name): tuple(map(float, every[name])) for name in names}
    if one.exact == "expectation" or found["lower"] == found["left side"] == found["upper"]:
        del found["lower"], found["upper"]
    return found


def _pairs(xs: _Column, ys: _Column) -> tuple[tuple[float, float], ...]:
    return tuple((x, y) for x, y in zip(xs, ys, strict=True) if x > 0 and y > 0 and np.isfinite(y))


def _described(audit: "Evidence", columns: dict[str, _Column], result: "Compared | Horizons") -> str:
    counter = audit.theorem.horizon_symbol
    xs, left, bound, ratio = (columns[name] for name in (counter, "left side", "bound", "left/bound"))
    worst = max(range(len(xs)), key=lambda row: ratio[row])
    return (
        f"Left side and bound of {audit.theorem.id} on {_first(result).plan.problem.id} from {counter} = {xs[0]:g} to "
        f"{xs[-1]:g}. At {counter} = {xs[worst]:g} the left side {left[worst]:.4g} is nearest to, or most above, the "
        f"bound {bound[worst]:.4g}: {ratio[worst]:.4g} of it."
    )


def panel_fields(panel: "Panel | None") -> dict[str, object] | None:
    """Return a comparison as JSON-ready fields."""
    if panel is None:
        return None
    return {"command": panel.command, "chosen": panel.chosen, **panel.result.as_dict()}
