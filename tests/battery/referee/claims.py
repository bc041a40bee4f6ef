"""A claim: a theorem as its file states it, and both of its sides on an instance."""

import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from referee.formula import UndefinedError, names, value
from referee.functions import Floats, Functions
from referee.methods import METHODS, Order, Seen, step_at

COUNTERS: Mapping[str, str] = {
    "gap": "K",
    "ergodic-gap": "K",
    "squared-distance": "K",
    "gradient-norm-last": "K",
    "gradient-norm": "T",
}
# Which assumption says what a symbol is; without it the claim is one about every value of the symbol.
DEFINED_BY: Mapping[str, str] = {
    "mu": "strongly-convex",
    "L": "smooth",
    "B": "lipschitz",
    "G_sq": "bounded-gradients",
    "sigma_g": "bounded-heterogeneity",
    "p_s": "iid-events",
    "qbar": "iid-events",
}
_SLACK = 1e-12
_NOTHING = 1e-11
_LEAVES = 300


class SilentError(ValueError):
    """The claim says nothing about this instance."""


def _lines(table: Mapping[str, Any]) -> list[str]:
    # JSON's texts, numbers, lists and truth values are TOML's.
    return [
        f"{json.dumps(key) if ' ' in key else key} = {json.dumps(entry)}"
        for key, entry in table.items()
        if not isinstance(entry, dict)
    ]


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """The content of a theorem's file."""

    data: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> "Claim":
        """Read a file."""
        return cls(tomllib.loads(path.read_text(encoding="utf-8")))

    def text(self) -> str:
        """Return the file."""
        plain = {key: entry for key, entry in self.data.items() if not isinstance(entry, dict)}
        tables = {key: entry for key, entry in self.data.items() if isinstance(entry, dict)}
        lines = _lines(plain)
        for name, table in tables.items():
            nested = {key: entry for key, entry in table.items() if isinstance(entry, dict)}
            if len(nested) < len(table):
                lines += ["", f"[{name}]", *_lines(table)]
            for key, entry in nested.items():
                lines += ["", f"[{name}.{key}]", *_lines(entry)]
        return "\n".join(lines) + "\n"

    @property
    def id(self) -> str:
        """Its name."""
        return str(self.data["id"])

    @property
    def assumptions(self) -> frozenset[str]:
        """What it assumes."""
        return frozenset(self.data.get("assumptions", ()))

    @property
    def counter(self) -> str:
        """K or T."""
        return COUNTERS[self.data["metric"]]

    def rules(self) -> dict[str, str]:
        """Return how each defined symbol follows from others, steps that stand for themselves left out."""
        steps = {name: str(text) for name, text in self.data["step"].items() if str(text) != name}
        return {**{name: str(text) for name, text in self.data.get("definitions", {}).items()}, **steps}

    def reads(self) -> frozenset[str]:
        """Return all symbols that its formulas read."""
        texts = [*map(str, self.data["terms"].values()), *self.rules().values(), *self.data["step"]]
        texts += [side for text in self.data.get("conditions", ()) for side in text.split("<=")]
        return frozenset().union(*map(names, texts))

    def free(self) -> frozenset[str]:
        """Return the symbols that may take any value: free steps, undefined symbols, and the file's own."""
        own = {name for name in self.data["step"] if str(self.data["step"][name]) == name and name != self.counter}
        loose = {name for name, source in DEFINED_BY.items() if source not in self.assumptions}
        measured = {"K", "T"} - {self.counter}
        new = set(self.data.get("symbols", {})) - set(self.rules())
        return frozenset((own | loose | new | measured) & self.reads())

    def noisy(self) -> bool:
        """Return whether gradients may be stochastic."""
        return "bounded-variance" in self.assumptions or bool({"sigma", "sigma_l"} & self.reads())


@final
@dataclass(frozen=True, slots=True)
class Instance:
    """A small problem, a schedule, and the values of what the claim leaves free.

    Parameters
    ----------
    noise
        Standard deviation of the noise of every stochastic gradient, which moves its first coordinate.
    turns
        See :class:`referee.methods.Order`; where the claim is about a mean over draws they are enumerated.
    chances
        Probabilities of the clients' arrivals; the rest is that of an aggregation.
    free
        Values by symbol, and by option where the claim leaves one open.
    """

    functions: Functions
    x0: Floats
    iterations: int
    noise: float = 0.0
    turns: tuple[int, ...] = ()
    chances: tuple[float, ...] = ()
    free: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "Instance":
        """Read what :meth:`raw` wrote."""
        return cls(
            Functions.read(raw["functions"]),
            np.array(raw["x0"], dtype=np.float64),
            raw["iterations"],
            raw["noise"],
            tuple(raw["turns"]),
            tuple(raw["chances"]),
            dict(raw["free"]),
        )

    def raw(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "functions": self.functions.raw(),
            "x0": self.x0.tolist(),
            "iterations": self.iterations,
            "noise": self.noise,
            "turns": list(self.turns),
            "chances": list(self.chances),
            "free": dict(self.free),
        }


@final
@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides, and the values of the symbols."""

    left: float
    bound: float
    values: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """Left over bound; infinite where the left side is positive and the bound is not.

        What is left of a left side that is 0 but for rounding counts as 0.
        """
        left = 0.0 if abs(self.left) < _NOTHING else self.left
        if self.bound > 0:
            return left / self.bound
        return 0.0 if left == 0 and self.bound == 0 else float("inf")


_FUNCTIONS_OF: Mapping[str, tuple[str, ...]] = {
    "strongly-convex": ("quadratic", "bent"),
    "smooth": ("quadratic", "bent", "huber"),
    "lipschitz": ("huber", "absolute"),
    "bounded-gradients": ("huber", "absolute"),
}


def kinds(claim: Claim) -> list[str]:
    """Return the functions that the claim is about."""
    found = ["quadratic", "huber", "absolute", "bent"]
    for name, allowed in _FUNCTIONS_OF.items():
        if name in claim.assumptions:
            found = [kind for kind in found if kind in allowed]
    if claim.data["metric"].startswith("gradient"):
        found = [kind for kind in found if kind != "absolute"]
    return found


def sides(claim: Claim, instance: Instance) -> Sides:
    """Return both sides.

    Raises
    ------
    SilentError
        If the instance does not meet the claim's assumptions and conditions, or the bound has no value there.
    """
    functions = instance.functions
    if functions.kind not in kinds(claim):
        raise SilentError("functions")
    if instance.noise > 0 and not claim.noisy():
        raise SilentError("noise")
    known = functions.constants(instance.x0)
    if not {"strongly-convex", "convex", "lipschitz"} & claim.assumptions and "L" not in known:
        raise SilentError("functions")
    known |= {"sigma": instance.noise, "sigma_l": instance.noise, claim.counter: float(instance.iterations)}
    if "bounded-heterogeneity" in claim.assumptions and "sigma_g" not in known:
        raise SilentError("heterogeneity")
    if instance.chances:
        p_s = 1 - sum(instance.chances)
        known |= {"p_s": p_s, "qbar": float(np.mean([1 / p for p in instance.chances]))}
    for option, symbol in parameters(claim).items():
        known[symbol] = float(instance.free.get(option, 1))
    # A symbol that nothing defines, or that stands for itself, is what the instance says.
    open_to_choice = claim.free() | set(claim.data.get("settable", ()))
    for name in claim.free():
        known.pop(name, None)
    known |= {name: number for name, number in instance.free.items() if name in open_to_choice}
    if "tau_max" in claim.reads():
        known["tau_max"] = float(_stalest(claim, instance))
    values = _solve(claim, known)
    for text in claim.data.get("conditions", ()):
        left, right = (_number(side, values) for side in text.split("<="))
        if not left <= right + _SLACK * abs(right):
            raise SilentError(text)
    bound = sum(_number(str(term), values) for term in claim.data["terms"].values())
    steps = {name: values[name] for name in claim.data["step"]}
    if any(not size > 0 for size in steps.values()):
        raise SilentError("step")
    return Sides(_left(claim, instance, steps), bound, values)


def parameters(claim: Claim) -> Mapping[str, str]:
    """Return which options are open, and the symbols that they are; AREA's local steps are by default."""
    default = {"M": "M"} if claim.data.get("algorithm", "area") == "area" else {}
    return claim.data.get("parameters", default)


def _number(text: str, known: Mapping[str, float]) -> float:
    try:
        return value(text, known)
    except KeyError as missing:
        raise SilentError(f"{missing} has no value") from None
    except UndefinedError as reason:
        raise SilentError(str(reason)) from None


def _solve(claim: Claim, known: Mapping[str, float]) -> dict[str, float]:
    """Return the values with those of the defined symbols."""
    found, rules = dict(known), claim.rules()
    settable = set(claim.data.get("settable", ()))
    todo = [name for name in rules if name not in settable or name not in known]
    for name in todo:
        found.pop(name, None)
    for _ in range(len(todo) + 1):
        for name in todo:
            if name not in found and not (names(rules[name]) & set(todo)) - set(found):
                found[name] = _number(rules[name], found)
    return found


def _order(claim: Claim, instance: Instance, steps: Mapping[str, float], turns: Sequence[int]) -> Order:
    options: dict[str, Any] = dict(claim.data.get("options", {}))
    for option in parameters(claim):
        options[option] = int(instance.free.get(option, 1))
    return Order(instance.functions.n, steps, options, turns, instance.iterations)


def _stalest(claim: Claim, instance: Instance) -> int:
    """Return the largest staleness of the schedule, which no gradient has a say in."""
    seen, x = Seen(), np.zeros((1, 1))
    order = _order(claim, instance, {"alpha": 1.0, "eta_l": 1.0}, instance.turns)
    if sum(1 for _ in METHODS[claim.data["algorithm"]](order, x, _unmoved, seen)) < instance.iterations:
        raise SilentError("too few arrivals")
    return seen.tau_max


def _unmoved(client: int, x: Floats, step: float) -> Floats:
    return x


def _draws(claim: Claim, instance: Instance) -> Iterator[tuple[float, Sequence[int]]]:
    """Yield the schedules with their probabilities: all of them where the claim is about their mean."""
    K, n = instance.iterations, instance.functions.n
    if "iid-events" in claim.assumptions:
        chances = {**dict(enumerate(instance.chances)), -1: 1 - sum(instance.chances)}
    elif "uniform-sampling" in claim.assumptions:
        chances = dict.fromkeys(range(n), 1 / n)
    else:
        yield 1.0, instance.turns
        return
    if len(chances) ** K > _LEAVES:
        raise SilentError("too many draws")
    for turns in itertools.product(chances, repeat=K):
        yield float(np.prod([chances[turn] for turn in turns])), turns


def _left(claim: Claim, instance: Instance, steps: Mapping[str, float]) -> float:
    total, best = 0.0, instance.functions.nearest_minimiser(instance.x0)
    draws = list(_draws(claim, instance))
    for chance, turns in draws:
        order = _order(claim, instance, steps, turns)
        total += chance * _expected(claim, instance, order, best, _LEAVES // len(draws))
    return total


def _expected(claim: Claim, instance: Instance, order: Order, best: Floats, leaves: int) -> float:
    """Return the left side of one schedule, averaged over the noise, which may take so many patterns."""
    functions, noise = instance.functions, instance.noise
    if noise == 0 or functions.affine:
        return _run(claim, instance, order, best, None)
    # The first run asks how many gradients there are; then every pattern of ±noise.
    asked: list[float] = []
    _run(claim, instance, order, best, asked)
    if 2 ** len(asked) > leaves:
        raise SilentError("too many draws")
    patterns = list(itertools.product((-noise, noise), repeat=len(asked)))
    return sum(_run(claim, instance, order, best, list(pattern)) for pattern in patterns) / len(patterns)


def _run(claim: Claim, instance: Instance, order: Order, best: Floats, signs: list[float] | None) -> float:
    """Run once; ``signs`` are the noises in the order of the gradients, an empty list is filled with zeros.

    Without signs the noise is carried along as coefficients, one column each.
    """
    functions, algorithm = instance.functions, claim.data["algorithm"]
    carried = signs is None and instance.noise > 0
    calls = 0
    asks = signs is not None and not signs
    columns = 1 + (_calls_at_most(order) if carried else 0)
    start = np.zeros((len(instance.x0), columns))
    start[:, 0] = instance.x0

    def descend(client: int, x: Floats, step: float) -> Floats:
        nonlocal calls
        gradient = np.zeros_like(x)
        if functions.affine:
            gradient = functions.weight[client][:, None] * x
            gradient[:, 0] -= functions.weight[client] * functions.center[client]
        else:
            gradient[:, 0] = functions.gradient(client, x[:, 0])
        if carried:
            gradient[0, 1 + calls] += instance.noise
        elif signs is not None:
            if asks:
                signs.append(0.0)
            gradient[0, 0] += signs[calls]
        calls += 1
        return x - step * gradient

    if algorithm == "proximal_point":
        points = _proximal(functions, order, instance.x0)
    else:
        points = [start, *METHODS[algorithm](order, start, descend, Seen())]
    if len(points) != instance.iterations + 1:
        raise SilentError("too few arrivals")
    return _measure(claim.data["metric"], functions, best, points)


def _calls_at_most(order: Order) -> int:
    M = int(order.options.get("M", order.options.get("Q", 1)))
    return M * order.clients * (max(order.iterations, len(order.turns)) + 2)


def _proximal(functions: Functions, order: Order, x0: Floats) -> list[Floats]:
    if functions.n > 1 or functions.kind == "bent":
        raise SilentError("the proximal point method is for one client")
    points = [x0[:, None]]
    for k in range(order.iterations):
        points.append(functions.prox(points[-1][:, 0], step_at(order, k))[:, None])
    return points


def _measure(metric: str, functions: Functions, best: Floats, points: Sequence[Floats]) -> float:
    """Return the left side; a noise of variance 1 enters with the square of its coefficient."""

    def at(x: Floats, quantity: str) -> float:
        away, spread = x[:, 0] - best, (x[:, 1:] ** 2).sum(axis=1)
        curvature = functions.weight.mean(axis=0)
        match quantity:
            case "squared-distance":
                return float((away**2 + spread).sum())
            case "gap":
                return functions.value(x[:, 0]) - functions.value(best) + float((curvature * spread).sum() / 2)
            case _:
                return float((functions.mean_gradient(x[:, 0]) ** 2 + curvature**2 * spread).sum())

    if metric == "ergodic-gap":
        return at(sum(points[1:-1], start=points[0]) / (len(points) - 1), "gap")
    if metric == "gradient-norm":
        return float(np.mean([at(x, "slope") for x in points[:-1]]))
    return at(points[-1], metric)
