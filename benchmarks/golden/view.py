"""What is kept of an answer: verdicts, numbers and their sides, never words.

A number stands as it is (compared to 1e-9), an exact one as text (compared as it stands), an enclosure as ``{"in":
[low, high]}`` (the two must overlap), what a solver or a search found as ``{"about": number}`` (to 1e-4), and
``{"seen": …}`` is recorded and not compared. This is the one place that knows the form in which commands answer: where
that form changes, these functions do, and the recorded answers stay.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

MOST = 4  # horizons of an answer
DIGITS = 12


def kept(data: Any) -> Any:
    """Return what is kept of a document that a command printed, or None of one that holds no answer."""
    name = str(data.get("schema", "")).removeprefix("boundlab/").rpartition("/")[0] if isinstance(data, dict) else ""
    view = VIEWS.get(name)
    return None if view is None else rounded(view(data))


def rounded(tree: Any) -> Any:
    """Return the same with floats of as many digits as are recorded."""
    if isinstance(tree, float):
        return float(f"{tree:.{DIGITS}g}")
    if isinstance(tree, Mapping):
        return {str(key): rounded(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [rounded(value) for value in tree]
    return tree


def some(rows: Sequence[Any]) -> list[Any]:
    """Return a few of the rows, spread over all, the last among them."""
    if len(rows) <= MOST:
        return list(rows)
    return [rows[round(at * (len(rows) - 1) / (MOST - 1))] for at in range(MOST)]


def constants(data: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return values and sides by symbol."""
    return {name: [plain(one["value"]), one["side"]] for name, one in data.items()}


def plain(value: Any) -> Any:
    """Return a number; of a long exact one what tells it from others."""
    if isinstance(value, str) and len(value) > 60:
        return f"sha256:{sha256(value.encode()).hexdigest()[:16]}"
    return value


def exactly(text: str, value: float) -> Any:
    """Return the rational number in ``31/32 = 0.96875``; of a number with roots its float."""
    number = text.partition(" = ")[0]
    return plain(number) if re.fullmatch(r"-?\d+(/\d+)?", number) else value


def comparison(data: Mapping[str, Any]) -> Any:
    """Keep verdict, both sides with limits, terms, constants, and where each symbol comes from."""
    sampled = data["kind"] == "sampled"
    rows = [
        {
            "k": row["k"],
            "left": [row["mean"], row["lower"], row["upper"]] if sampled else {"in": [row["lower"], row["upper"]]},
            "bound": row["bound"],
            "terms": row["terms"],
        }
        for row in some(data["rows"])
    ]
    return {
        "verdict": data["verdict"],
        "kind": data["kind"],
        "exact": data["exact"],
        "vacuous": (data["no_step"] or {}).get("says_nothing"),
        "guaranteed": data["upper_guaranteed"],
        "constants": constants(data["constants"]),
        "symbols": {one["name"]: [one["side"], one["origin"], one["certified"]] for one in data["symbols"]},
        "outside": sorted(data["outside"]),
        "rows": rows,
    }


def horizons(data: Mapping[str, Any]) -> Any:
    """Keep each comparison."""
    return {"verdict": data["verdict"], "each": [comparison(one) for one in data["comparisons"]]}


def exact(data: Mapping[str, Any]) -> Any:
    """Keep both sides, exact ones as they stand."""
    if data["kind"] == "exact":
        sides = {side: exactly(data[f"{side}_text"], data[side]) for side in ("left", "right")}
    else:
        sides = {"left": data["left"], "right": data["right"]}
    return {"verdict": data["verdict"], "kind": data["kind"], "k": data["k"], **sides,
            "constants": constants(data["constants"])}  # fmt: skip


def worst_case(data: Mapping[str, Any]) -> Any:
    """Keep what is certified."""
    return {
        "verdict": data["verdict"],
        "bound": data["bound_exact"] or data["bound"],
        "value": {"about": data["dual"]},
        "certified": [data["certified_upper_exact"] is not None, data["certified_lower_exact"] is not None],
        "points": data["points"],
        "inequalities": data["inequalities"],
    }


def checks(data: Mapping[str, Any]) -> Any:
    """Keep the verdict of each check."""
    return {"verdict": data["verdict"], "checks": {one["id"]: one["verdict"] for one in data["checks"]}}


def proof(data: Mapping[str, Any]) -> Any:
    """Keep the verdict of each step, and how many facts it took."""
    return {"verdict": data["verdict"], "steps": [[one["name"], one["verdict"]] for one in data["steps"]],
            "assumptions": sorted(data["assumptions"])}  # fmt: skip


def run(data: Mapping[str, Any]) -> Any:
    """Keep the metrics of two trials at some iterations, and the figures of their schedules."""
    kept_figures = ("iterations", "versions", "updates", "tau_max", "tau_mean", "shares", "time", "p_s")
    return {
        "k": some(data["k"]),
        "metrics": {name: [some(one) for one in rows[:2]] for name, rows in data["metrics"].items()},
        "figures": [{name: one[name] for name in kept_figures if name in one} for one in data["statistics"][:2]],
    }


def values(data: Mapping[str, Any]) -> Any:
    """Keep terms, and what follows from the values, at some points."""

    def thin(value: Any) -> Any:
        return some(value) if isinstance(value, list) else value

    parts = ("axes", "derived", "terms")
    return {"kind": data["kind"], **{part: {name: thin(one) for name, one in data[part].items()} for part in parts}}


def rate(data: Mapping[str, Any]) -> Any:
    """Keep the best rate, the objective there, and the probabilities."""
    return {name: data[name] for name in ("lambda_s", "value", "limit", "epsilon", "lambda_epsilon", "p_s", "p")}


def trace(data: Mapping[str, Any]) -> Any:
    """Keep counts, rates, durations and staleness."""
    return {name: data[name] for name in ("updates", "lost", "first", "last", "rates")} | {
        "durations": data["durations"]["means"],
        "staleness": {name: data["staleness"].get(name) for name in ("known", "mean", "max")},
        "iid": data["events"]["iid"],
    }


def search(data: Mapping[str, Any]) -> Any:
    """Keep the verdict; what was found on the way belongs to the search."""
    found = data["instance"] or {}
    return {"verdict": data["verdict"], "seen": {"ratio": found.get("ratio"), "kind": found.get("kind")}}


def fit(data: Mapping[str, Any]) -> Any:
    """Keep how well each law fits."""
    kept_figures = ("durations", "p_value", "sample", "draws")
    laws = [[one["spec"].partition(":")[0], {"about": one["aic"]}, {"about": one["distance"]}] for one in data["laws"]]
    return {**{name: data[name] for name in kept_figures}, "laws": laws}


def verdict_alone(data: Mapping[str, Any]) -> Any:
    """Keep the verdict."""
    return {"verdict": data.get("verdict")}


def numbers(data: Any) -> Any:
    """Keep all numbers, in the order of their keys."""
    if isinstance(data, Mapping):
        return {
            key: numbers(one) for key, one in data.items() if key not in ("schema", "boundlab", "provenance", "file")
        }
    if isinstance(data, list):
        return [numbers(one) for one in some(data)]
    return data if isinstance(data, (int, float)) else None


VIEWS: Mapping[str, Callable[[Any], Any]] = {
    "comparison": comparison,
    "horizons": horizons,
    "exact": exact,
    "worst-case": worst_case,
    "checks": checks,
    "decided-proof": proof,
    "run": run,
    "values": values,
    "optimal-rate": rate,
    "trace": trace,
    "search": search,
    "recheck": verdict_alone,
    "delay-fit": fit,
    "trajectory": numbers,
    "replay": numbers,
}
