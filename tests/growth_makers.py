"""Printed O(·) as files, and cases on small quadratics."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boundlab.case import Case, read_case
from boundlab.theorems import Theorem, load_theorem

LEFTS = {
    "last": {"quantity": "gap", "over": "last"},
    "average": {"quantity": "gap", "over": "average"},
    "mean": {"quantity": "slope", "over": "mean"},
    "distance": {"quantity": "distance", "over": "last"},
}


def shape(
    folder: Path,
    terms: Mapping[str, str],
    *,
    algorithm: str = "gd",
    over: str = "last",
    along: Sequence[str] = (),
    step: str = "alpha",
    rule: str = "",
    more: str = "",
    options: Mapping[str, str] | None = None,
) -> Theorem:
    """Return an O(·) about smooth convex functions with noise, whatever the step is."""
    index = "iteration" if algorithm in ("gd", "heavy_ball", "incremental", "area") else "update"
    tables = {
        "left": {**LEFTS[over], "index": index},
        "options": {"*": "any"} if options is None else options,
        "step": {step: rule or step},
        "terms": terms,
    }
    lines = ['id = "shape"', f"algorithm = {json.dumps(algorithm)}", "shape = true", more]
    lines.append('assumptions = ["convex", "smooth", "minimiser", "bounded-variance"]')
    if along:
        lines += ["[growth]", f"in = {json.dumps(list(along))}"]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in table.items())]
    path = folder / "shape.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_theorem(str(path))


def small(
    parameters: Mapping[str, Any],
    iterations: int = 8,
    *,
    algorithm: str = "gd",
    A: Sequence[Any] = ([[1]],),
    b: Sequence[Any] = ([0],),
    x0: Sequence[Any] = (1,),
    sigma: Any = 0,
    arrivals: Sequence[int] | None = None,
    delays: str = "exponential",
) -> Case:
    """Return a case; ``arrivals`` are repeated as often as the iterations need."""
    raw: dict[str, Any] = {
        "theorem": "shape",
        "algorithm": algorithm,
        "problem": {"type": "quadratic", "A": list(A), "b": list(b), "sigma": sigma},
        "x0": list(x0),
        "parameters": dict(parameters),
        "iterations": iterations,
    }
    if arrivals is None:
        raw["delays"] = delays
    else:
        count = iterations * int(parameters.get("count", 1))
        raw["events"] = [[place + 1, arrivals[place % len(arrivals)]] for place in range(count)]
    return read_case(raw, has_theorem=True)
