"""What a problem's functions are at two points: values, gradients, steps, the minimum, and what facts say of it.

Comparisons see a problem through a left side and a bound, which forgive much; these numbers forgive nothing.
"""

import json
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.golden.view import plain, rounded
from boundlab.case import problem_from
from boundlab.errors import BoundlabError
from boundlab.objective import Problem
from boundlab.objective.facts import facts
from boundlab.randomness import Streams

MOST = 4  # clients, and entries of a point
SIZE = 0.125


def functions(words: Sequence[str]) -> Any:
    """Return what is kept of a problem."""
    return rounded(said_of(problem_from(words[0])))


def said_of(problem: Problem) -> dict[str, Any]:
    """Return what its functions are, drawn steps of its oracle, its minimum, and what facts say."""
    points = _points(problem)
    parts: dict[str, Callable[[], Any]] = {
        "at": lambda: [_at(problem, one) for one in points],
        "drawn": lambda: _drawn(problem),
        "minimum": lambda: _minimum(problem),
        "on a ball": lambda: _on_ball(problem),
        "facts": lambda: sorted([name, float(value)] for place in facts(problem) for name, value in place.says.items()),
        "exactly": lambda: _exactly(problem, points),
    }
    return {name: unless_refused(ask) for name, ask in parts.items()}


def _points(problem: Problem) -> list[Any]:
    start = np.asarray(problem.x0, dtype=np.float64)
    return [start, (0.5 * start + 0.25 * (1 + np.arange(problem.d) % 3)).round(3)]


def unless_refused(ask: Callable[[], Any]) -> Any:
    """Return an answer, or the name of the error that says why there is none."""
    try:
        return ask()
    except BoundlabError as error:
        return type(error).__name__


def few(x: Any) -> list[float]:
    """Return the first entries of a vector."""
    return [float(one) for one in np.asarray(x, dtype=np.float64)[:MOST]]


def _at(problem: Problem, x: Any) -> Any:
    point, clients = np.asarray(x, dtype=problem.dtype), range(min(problem.n, MOST))

    def moved(client: int) -> Any:
        after = point.copy()
        problem.descend(client, after, SIZE)
        return after

    parts: dict[str, Callable[[], Any]] = {
        "value": lambda: problem.value(point),
        "values": lambda: [problem.client_value(client, point) for client in clients],
        "gradients": lambda: [few(problem.gradient_part.gradient(client, point)) for client in clients],
        "slope": lambda: few(problem.gradient_part.full_gradient(point)),
        "moved": lambda: [few(moved(client)) for client in clients],
        "prox": lambda: [few(problem.prox(client, point, SIZE)) for client in clients],
        "rows": lambda: few(problem.values(np.stack([point, point + point.dtype.type(0.5)]))),
        "rounding": lambda: problem.rounding(point) is not None,
    }
    return {name: unless_refused(ask) for name, ask in parts.items()}


def _drawn(problem: Problem) -> Any:
    clients, x = np.arange(min(problem.n, MOST)), np.asarray(problem.x0, dtype=problem.dtype)
    oracle, found = problem.oracle(Streams(3)), []
    draws = oracle.draws(clients, np.zeros_like(clients), 2)
    for client in clients.tolist():
        after = x.copy()
        for step in range(2):
            oracle.step(after, client, draws[client][step], SIZE)
        found.append(few(after))
    return found


def _minimum(problem: Problem) -> Any:
    best = problem.optimum()
    ends = {"in": [best.value - best.gap, best.value]}
    return {"value": ends, "x": [{"about": one} for one in few(best.x)], "certified": best.distance is not None}


def _on_ball(problem: Problem) -> Any:
    from boundlab.objective.simple import BallIndicator

    region = BallIndicator(Fraction(3)).bounded_set(problem.d)
    found = None if region is None else problem.gradient_part.gradients_on(region)
    parts = ("norms", "apart", "sigma")
    if found is None:
        return None
    values = {one: getattr(found, one, None) for one in parts}
    return {one: None if value is None else few(np.atleast_1d(value)) for one, value in values.items()}


def _exactly(problem: Problem, points: Sequence[Any]) -> Any:
    from boundlab.arithmetic import numbers
    from boundlab.arithmetic.numbers import exact_array

    exact = problem.rational({})
    if exact is None:
        return None
    best, clients = exact.minimum(), range(min(exact.n, MOST))
    at = list(map(exact_array, points))
    parts: dict[str, Callable[[], Any]] = {
        "constants": lambda: {name: text(one) for name, one in sorted(exact.constants().items())},
        "minimum": lambda: None if best is None else [text(best.value), *map(text, best.x[:MOST])],
        "values": lambda: [text(exact.value(one)) for one in at],
        "gradients": lambda: [[_some(exact.gradient_part.gradient(client, one)) for client in clients] for one in at],
        "moved": lambda: [_some(exact.descend(client, at[0], numbers.rational(Fraction(SIZE)))) for client in clients],
    }
    return {name: unless_refused(ask) for name, ask in parts.items()}


def _some(x: Sequence[Any]) -> list[Any]:
    return [text(one) for one in x[:MOST]]


def text(one: Any) -> Any:
    """Return an exact number, as it is written."""
    return plain(str(one))


def symbols(_words: Sequence[str]) -> Any:
    """Return what is said of every symbol: units, domain, side, and what it counts."""
    from boundlab.formulas.symbols import SYMBOLS

    return rounded({
        name: [
            *(list(one.units), one.domain.low, str(one.domain.high), one.domain.open_low, one.domain.integer),
            *(one.vector, one.side, one.role, one.alone, one.copies, one.delay),
        ]
        for name, one in sorted(SYMBOLS.items())
    })  # fmt: skip


def semidefinite(words: Sequence[str]) -> Any:
    """Return what the first checker of worst cases says of symmetric matrices, most of them near the edge."""
    from boundlab.worst_case.program import positive_semidefinite

    draw, found = random.Random(19), []  # noqa: S311
    for place in range(int(words[0])):
        n, rank = 1 + place % 5, 1 + place % 3
        rows = [[Fraction(draw.randrange(-4, 5), draw.randrange(1, 4)) for _ in range(n)] for _ in range(rank)]
        matrix = [[sum((row[i] * row[j] for row in rows), Fraction(0)) for j in range(n)] for i in range(n)]
        for moved in (0, Fraction(1, 100), Fraction(-1, 100)):
            at, to = draw.randrange(n), draw.randrange(n)
            other = [list(row) for row in matrix]
            other[at][to] += moved
            other[to][at] = other[at][to]
            found.append(positive_semidefinite(other))
    return found


def certificate(words: Sequence[str]) -> Any:
    """Return what the second checker says of the certificate of a worst case, and the numbers in it."""
    from benchmarks.golden.ask import captured
    from boundlab.cli import invoke

    def about(text: str, *, unique: bool = False) -> Any:
        return {
            "about": float(Fraction(text)),
            "unique": unique,
        }  # of several optimal duals machines find different ones

    with captured():
        code = int(invoke([*words, "--certificate", "certificate.json"]))
    path = Path("certificate.json")
    if not path.exists():
        return {"exit": code}
    with captured() as (out, _):
        invoke(["recheck", str(path), "--json"])
    held = json.loads(path.read_text("utf-8"))
    rows = [
        [one["kind"], one.get("client"), one.get("i"), one.get("j"), one.get("multiplier", "0")] for one in held["rows"]
    ]
    squares = held.get("remainder", held.get("gram", ()))
    return {
        "exit": code,
        "kind": held["kind"],
        "verdict": json.loads(out.getvalue())["verdict"],
        "value": about(held["value"], unique=True),
        "rows": [[*one[:-1], about(one[-1])] for one in rows],
        "squares": [about(one["weight"]) for one in squares],
        "point": [about(one) for one in held.get("point", ())],
    }


def formal(words: Sequence[str]) -> Any:
    """Return what the updates of an algorithm's tapes and of its event program are, as algebra: exactly, run by run."""
    from boundlab.classes import own_runs
    from boundlab.options import Options
    from boundlab.registry import lookup

    name, options, clients = words[0], json.loads(words[1]), int(words[2])
    algorithm = lookup("algorithms", name)
    return [_said(run) for run in own_runs(algorithm, algorithm.read(Options(name, options)), clients)]


def _said(run: Any) -> Any:
    def sums(one: Any) -> list[Any]:
        return [[*name, str(value)] for name, value in sorted(one.items())]

    passes = [[one.client, sums(one.start), one.steps, f"{one.size:.9g}", one.event, one.plain] for one in run.passes]
    models = [[event, sums(one)] for event, one in zip(run.events, run.models, strict=False)]
    said = json.dumps([run.actors, passes, models])
    return [len(passes), len(models), sha256(said.encode()).hexdigest()[:16], rounded(passes[-1:]), sums(run.models[0])]


def tensors(words: Sequence[str]) -> Any:
    """Return f and its gradient at two rows, as tensors have them."""
    return rounded(on_tensors(problem_from(words[0])))


def on_tensors(problem: Problem) -> Any:
    """Return values and gradients of a problem on tensors; None where it has none."""
    import torch

    found = problem.tensors(torch.device("cpu"), torch.float64)
    if found is None:
        return None
    rows = torch.tensor(np.stack(_points(problem)))
    parts: dict[str, Callable[[], Any]] = {
        "values": lambda: found.values(rows).tolist(),
        "slopes": lambda: [few(one) for one in found.full_gradients(rows)],
    }
    return {name: unless_refused(ask) for name, ask in parts.items()}
