"""Structured families: schedules by the names of parameters, problems by the ways in which bounds fail."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.assumptions import about_the_mean
from boundlab.errors import SpecError
from boundlab.falsify import _catalog as catalog
from boundlab.falsify._candidate import Candidate, text
from boundlab.options import Options
from boundlab.theorems import Theorem

# What is tried of a parameter or free symbol of that name, simplest first.
KNOBS: Mapping[str, Sequence[str]] = {
    "N": ("1", "2", "3", "6"),
    "M": ("1", "2", "5"),
    "Q": ("1", "2", "5"),
    "K": ("1", "2", "4"),
    "count": ("1", "2", "3"),
    "local_steps": ("1", "2", "5"),
    "correction_delay": ("0", "2"),
    "periods": ("1", "2", "5", "20"),
    "scaling": ("sum", "average", "analysis"),
    "reply": ("post", "wait"),
    "mode": ("delta", "param"),
}
RANGES: Mapping[tuple[str, str], Sequence[tuple[str, str]]] = {
    ("Qmin", "Qmax"): (("1", "1"), ("1", "2"), ("2", "2"), ("1", "5"), ("2", "6")),
}
# η·L relative to what is natural: first where conditions end, then towards 0.
SIZES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 1e-4, 1e-5)
_NOISE_SIZES = SIZES[3::2]
_WIDTH = 4  # settings looked at on all schedules before the next ones


def knobs(theorem: Theorem, algorithm: Algorithm[Any]) -> list[dict[str, str]]:
    """Return combinations of integer settings, those with the fewest changes from the simplest first."""
    free = {*theorem.inputs(), *theorem.settable}
    fixed = {name for name in algorithm.parameters if name in theorem.step or not theorem.leaves_open(name)}
    values = {name: KNOBS[name] for name in KNOBS if name == "N" and name in free}
    for name in sorted(set(KNOBS) & set(algorithm.parameters) - fixed):
        usable = [value for value in KNOBS[name] if _readable(theorem, algorithm, {name: value})]
        values |= {name: usable} if usable else {}  # parameters of that name may mean something else
    names = list(values)
    pairs = [pair for pair in RANGES if set(pair) <= set(algorithm.parameters)]
    axes = [range(len(values[name])) for name in names] + [range(len(RANGES[pair])) for pair in pairs]
    places = sorted(product(*axes), key=lambda place: (sum(place), sum(entry > 0 for entry in place), place))
    found = []
    for place in places:
        setting = {name: values[name][entry] for name, entry in zip(names, place, strict=False)}
        for pair, entry in zip(pairs, place[len(names) :], strict=True):
            setting |= dict(zip(pair, RANGES[pair][entry], strict=True))
        found.append(setting)
    return found


def _readable(theorem: Theorem, algorithm: Algorithm[Any], setting: Mapping[str, str]) -> bool:
    try:
        algorithm.read(Options(algorithm.id, {**dict.fromkeys(theorem.step, 1), **theorem.fixed_options, **setting}))
    except SpecError:
        return False
    return True


def schedules(theorem: Theorem, algorithm: Algorithm[Any]) -> Iterator[tuple[str, int, str, dict[str, str]]]:
    """Yield (family, clients, delays, settings): few clients and simple settings first."""
    if about_the_mean(theorem.assumptions):
        yield from _orderless(theorem, algorithm)
        return
    speeds = "speeds" in algorithm.parameters and theorem.leaves_open("speeds")
    combinations = knobs(theorem, algorithm)
    for first in range(0, len(combinations), _WIDTH):
        part = combinations[first : first + _WIDTH]
        for setting in part:
            yield "one client", 1, "deterministic", setting
            yield "two speeds", 2, "deterministic:rates=[2,1]", setting
        for setting in part:
            yield "two speeds", 2, "deterministic:rates=[5,1]", setting
            yield "equal speeds", 2, "deterministic", setting
        for setting in part:
            yield "one late client", 3, "deterministic:rates=[3,3,1]", setting
            yield "burst of equal clients", 8, "deterministic", setting
            if speeds:
                for times in ("[1,1]", "[1,2]"):
                    yield "known speeds", 2, "deterministic", {**setting, "speeds": times, "warmup": "speeds"}
        for setting in part:
            yield "almost absent client", 2, "deterministic:rates=[50,1]", setting
            yield "random arrivals", 2, "exponential:rates=[3,1]", setting
            yield "random arrivals", 3, "two-speed", setting
            yield "many equal clients", 40, "deterministic", setting


def _orderless(theorem: Theorem, algorithm: Algorithm[Any]) -> Iterator[tuple[str, int, str, dict[str, str]]]:
    """Yield schedules on which the order of random arrivals has no influence, so that their mean is one tape.

    With one client there is one order; where everybody waits for everybody, the order does not matter.
    """
    for setting in knobs(theorem, algorithm):
        if setting.get("reply") != "wait" or setting.get("count") == "1":
            yield "one client", 1, "exponential", setting
        if setting.get("reply") == "wait" and setting.get("count") not in (None, "1"):
            yield "all together", int(setting["count"]), "exponential", setting


def problems(
    theorem: Theorem, family: str, clients: int, delays: str, settings: dict[str, str], iterations: int,
    first: Sequence[float] = (), noise: bool = False,
) -> list[Candidate]:  # fmt: skip
    """Return candidates for one schedule.

    Parameters
    ----------
    first
        Further start points, such as points that the run settled at.
    noise
        Problems whose noise is all there is: everything starts at the minimiser of all clients.
    """
    found = []
    for kind, shape in _noisy(clients, _kind(theorem)) if noise else _shapes(clients, _kind(theorem)):
        for weight, step in _sizes(theorem, iterations, _NOISE_SIZES if noise else SIZES):
            problem: dict[str, Any] = {**shape, "w": [weight * one for one in shape["w"]]}
            found.append(Candidate(f"{kind}; {family}", problem, delays, settings, step, iterations))
            if noise:
                continue
            for x in (*first, *_starts(shape)):
                found.append(found[-1].with_problem(x0=float(x)))
    return found


def local_rates(theorem: Theorem) -> list[str]:
    """Return the local step sizes that the theorem leaves open."""
    open_ = {*theorem.settable, *theorem.inputs()}
    local = catalog.algorithm(theorem.algorithm).local_rates
    return [name for name in theorem.step if name in local and name in open_ and name != "c"]


def _sizes(theorem: Theorem, iterations: int, sizes: Sequence[float]) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield (weight of the clients, chosen step size)."""
    for rate in local_rates(theorem):
        for size in sizes:
            yield 1.0, {rate: size}
    if not {"L", "B"} & theorem.read_by(theorem.step):
        # The rule does not know how steep or curved f is: scale f instead, by as much as the rule leaves open.
        for size in sizes:
            yield size * iterations, {}
    else:
        yield 1.0, {}


def _kind(theorem: Theorem) -> str:
    """Return which functions the theorem is about: quadratics where f must be strongly convex."""
    if "strongly-convex" in theorem.assumptions:
        return "quadratic"
    return "huber" if "smooth" in theorem.assumptions else "lad"


def _shapes(clients: int, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (what it is, problem): each starts at the minimiser if its centres differ, else one unit away."""
    base: dict[str, Any] = {"type": kind, "sigma": 0.0, "w": [1.0] * clients} | _width(kind, 1.0)
    yield "equal functions", {**base, "c": [0.0] * clients, "x0": 1.0}
    if kind == "lad":
        yield "equal functions", {**base, "type": "huber", "delta": 0.1, "c": [0.0] * clients, "x0": 1.0}
    if clients == 1:
        return
    last = [0.0] * (clients - 1) + [1.0]
    for delta in (1.0, 0.5, 0.25, 2.0) if kind == "huber" else (1.0,):
        yield "two centres", {**base, "c": last, **_width(kind, delta), "x0": 1.0 / clients}
    yield "two centres", {**base, "c": [0.0] + [1.0] * (clients - 1), "x0": 1.0 - 1.0 / clients}
    uneven = [1.0] * (clients - 1) + [0.25]
    yield "two curvatures", {**base, "c": last, "w": uneven, "x0": 0.25 / sum(uneven)}


def _width(kind: str, delta: float) -> dict[str, float]:
    return {"delta": delta} if kind == "huber" else {}


def _starts(shape: Mapping[str, Any]) -> tuple[float, ...]:
    """Return start points besides the minimiser: kinks, a centre, and points further away."""
    if not any(shape["c"]):
        return 0.5, 2.0, 5.0
    return 0.0, 1.0, 1.0 / 3.0


def _noisy(clients: int, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = "quadratic" if kind == "quadratic" else "huber"  # what a run with noise is linear on
    base: dict[str, Any] = {"type": kind, "c": [0.0] * clients, "w": [1.0] * clients, "x0": 0.0}
    yield "noise at the minimiser", {**base, **_width(kind, 1.0), "sigma": 1.0}


def describe(candidate: Candidate) -> str:
    """Return the problem in words."""
    problem, n = candidate.problem, candidate.clients
    kind = str(problem["type"])
    who = "one client" if n == 1 else f"{n} clients"
    parts = [f"{who}, {kind}"]
    parts += [f"{name} = {text(value)}" for name, value in problem.items() if name not in ("type",) and value != 0.0]
    return ", ".join(parts)
