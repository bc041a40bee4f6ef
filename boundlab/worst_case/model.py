"""Build the program: run the tapes on points, ask PEPit for the inequalities of the class, form the objective."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import EventLaw, EventProgram
from boundlab.arithmetic.rational import Exact, exact
from boundlab.errors import SpecError
from boundlab.execute._rows import combine, key, run
from boundlab.expectation import shown_points
from boundlab.metrics import Metric
from boundlab.recheck import Sample
from boundlab.tape import Tape
from boundlab.worst_case.classes import FunctionClass
from boundlab.worst_case.pepit_isolation import alone
from boundlab.worst_case.program import SemidefiniteProgram, row
from boundlab.worst_case.samples import samples_of, vector

Floats = NDArray[np.float64]
# Clarabel factorises a dense block of size (points²/2)² for G ⪰ 0: seconds at 40 points, minutes at 60.
LARGEST = 60


@final
@dataclass(frozen=True, slots=True)
class ProgramModel:
    """A program and what its numbers mean.

    Parameters
    ----------
    start
        x_s,0 as a combination of the leaf points; x* is the origin where there is one.
    samples
        Where each client's function was looked at: interpolation data. Where there is a minimiser, it is the first.
    errors
        Which of the leaf points are errors of gradients.
    """

    program: SemidefiniteProgram
    start: Mapping[int, Fraction]
    samples: tuple[tuple[Sample, ...], ...]
    errors: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class AllEvents:
    """All event sequences, with their probabilities.

    Parameters
    ----------
    horizon
        K, or server updates.
    """

    program: EventProgram
    law: EventLaw[Fraction]
    horizon: int


@final
class _Clients:
    """The clients' functions as PEPit functions: equal points share their gradients."""

    def __init__(self, module: Any, kind: FunctionClass, clients: int) -> None:
        self._module = module
        functions = __import__("PEPit.functions", fromlist=[kind.kind])
        self.functions = [
            getattr(functions, kind.kind)(is_leaf=True, decomposition_dict=None, **kind.constants)
            for _ in range(clients)
        ]
        self._seen: list[dict[Any, tuple[Any, Any]]] = [{} for _ in range(clients)]
        self._near: list[dict[Any, Any]] = [{} for _ in range(clients)]
        self._taken: list[dict[Any, Any]] = [{} for _ in range(clients)]
        self._sizes = kind.errors
        self.errors: list[Any] = []  # of gradients that runs take
        self.limits: list[Any] = []  # how long these are at most

    def know(self, client: int, point: Any, gradient: Any, value: Any) -> None:
        """Fix f_client and its gradient at a point."""
        self._seen[client][key(point)] = (gradient, value)
        self.functions[client].add_point((point, gradient, value))

    def at(self, client: int, point: Any) -> tuple[Any, Any]:
        """Return gradient and value of f_client at a point: new leaves unless it was asked before."""
        found = self._seen[client].get(key(point))
        if found is None:
            self._room()
            found = (self._module.Point(is_leaf=True), self._module.Expression(is_leaf=True))
            self.know(client, point, *found)
        return found

    def gradient(self, client: int, point: Any) -> Any:
        """Return a (sub)gradient with its error."""
        known = key(point)
        if known not in self._taken[client]:
            self._taken[client][known] = self._with_error(self.at(client, point)[0])
        return self._taken[client][known]

    def _with_error(self, gradient: Any) -> Any:
        """Return a gradient that may be as far off as the class says."""
        if not self._sizes:
            return gradient
        self._room()
        error = self._module.Point(is_leaf=True)
        self.errors.append(error)
        if (size := self._sizes.get("delta_g")) is not None:
            self.limits.append(error**2 <= size**2)
        if (size := self._sizes.get("eps_g")) is not None:
            self.limits.append(error**2 <= size**2 * gradient**2)
        return combine(type(gradient), [(Exact(1), gradient), (Exact(1), error)])

    def proximal(self, client: int, point: Any, step_size: Exact) -> Any:
        """Return prox_{step_size·f_client}(point): the point less a step along its own (sub)gradient."""
        known = (key(point), step_size)
        found = self._near[client].get(known)
        if found is None:
            self._room()
            gradient = self._module.Point(is_leaf=True)
            taken = self._with_error(gradient)
            found = combine(type(point), [(Exact(1), point), (-step_size, taken)])
            self._near[client][known], self._taken[client][key(found)] = found, taken
            self.know(client, found, gradient, self._module.Expression(is_leaf=True))
        return found

    def _room(self) -> None:
        if self._module.Point.counter >= LARGEST:
            raise SpecError(
                f"this worst case needs more than {LARGEST} points; take fewer iterations, local steps or clients"
            )

    def everywhere(self, point: Any) -> list[tuple[Any, Any]]:
        """Return gradient and value of all clients at a point."""
        return [self.at(client, point) for client in range(len(self.functions))]

    @property
    def _share(self) -> Exact:
        return Exact(Fraction(1, len(self.functions)))

    def squared_distance(self, point: Any) -> Any:
        """Return ‖x − x*‖²; x* is the origin."""
        return point**2

    def gap(self, point: Any) -> Any:
        """Return f(x) − f*; f* is 0."""
        return sum((self._share * value for _, value in self.everywhere(point)), start=Exact(0))

    def squared_slope(self, point: Any) -> Any:
        """Return ‖∇f(x)‖²."""
        gradients = [(self._share, gradient) for gradient, _ in self.everywhere(point)]
        return combine(type(point), gradients) ** 2


def build(
    kind: FunctionClass,
    metric: Metric,
    runs: Iterable[tuple[Tape, Exact]] | AllEvents,
    clients: int,
    constants: Mapping[str, Any],
) -> ProgramModel:
    """Build the program of the largest weighted mean of the left side over the runs.

    Parameters
    ----------
    runs
        Tapes that record what the left side needs, with their probabilities; or all event sequences at once.
    constants
        By symbol: R or F0 bound the start; zeta or G_star bound how far the clients differ, if they are given.
        ``step`` says how steep functions are that nothing else bounds: R/step.

    Raises
    ------
    SpecError
        If the left side is no weighted sum of what a run shows, or the program too large.
    """
    if not metric.is_mean:
        raise SpecError(f"worst-case needs a left side that is a mean of recorded quantities, which {metric.id} is not")
    with alone() as module:
        return _build(module, kind, metric, runs, clients, constants)


def _build(
    module: Any,
    kind: FunctionClass,
    metric: Metric,
    runs: Iterable[tuple[Tape, Exact]] | AllEvents,
    clients: int,
    constants: Mapping[str, Any],
) -> ProgramModel:
    point, expression = module.Point, module.Expression
    oracle = _Clients(module, kind, clients)
    origin = point(is_leaf=False, decomposition_dict={})
    extra = oracle.limits  # constraints beside those of the class
    if kind.minimiser:
        start = point(is_leaf=True)
        extra += _minimiser(module, oracle, origin, constants)
    else:
        # Without x* the origin is x_0, and constants added to the f_i that cancel in f are fixed by f_i(x_0) = 0.
        start = origin
        for client in range(clients - 1):
            oracle.know(client, start, point(is_leaf=True), expression(is_leaf=False, decomposition_dict={}))
    _start(extra, oracle, start, constants)
    total = expression(is_leaf=False, decomposition_dict={})
    averages: dict[Any, tuple[Any, Exact]] = {}
    for shown, share in _shown(runs, metric, start, oracle):
        known = key(shown)
        averages[known] = (shown, averages[known][1] + share if known in averages else share)
    for shown, weight in averages.values():
        total = total + weight * metric.at(oracle, shown)
    recorded = [shown for shown, _ in averages.values()]
    extra += _clients_apart(kind, oracle, recorded, clients)
    if not kind.minimiser:
        extra += _above_infimum(kind, oracle, [start, *recorded], clients)
    if kind.gradient_square is not None:
        extra += [
            triplet[1] ** 2 <= kind.gradient_square
            for function in oracle.functions
            for triplet in function.list_of_points
            if triplet[1].decomposition_dict
        ]
    for function in oracle.functions:
        function.set_class_constraints()
    made = [
        *extra,
        *(one for function in oracle.functions for one in function.list_of_class_constraints),
    ]
    rows = tuple(row(constraint.expression, expression) for constraint in made)
    points, values = int(point.counter), int(expression.counter)
    scale, level = _scale(kind, start, points, constants)
    for error in oracle.errors:
        most = kind.errors.get("eps_g", np.inf) * scale[error.counter]
        scale[error.counter] = min(most, kind.errors.get("delta_g", np.inf))
    program = SemidefiniteProgram(
        points, values, row(total, expression), tuple(one for one in rows if one.values or one.gram), scale, level
    )
    return ProgramModel(
        program,
        vector(start),
        tuple(samples_of(function, expression) for function in oracle.functions),
        tuple(error.counter for error in oracle.errors),
    )


def _shown(
    runs: Iterable[tuple[Tape, Exact]] | AllEvents,
    metric: Metric,
    start: Any,
    oracle: _Clients,
) -> Iterator[tuple[Any, Exact]]:
    """Yield the points that runs show, with their weights in the left side."""
    if isinstance(runs, AllEvents):
        yield from shown_points(runs.program, runs.law, metric, runs.horizon, start, oracle)
        return
    for tape, weight in runs:
        seen: list[Any] = []
        run(tape, start, oracle, lambda _, shown, seen=seen: seen.append(shown))  # type: ignore[misc]
        shares = metric.over.shares(len(seen)) or ()
        yield from ((shown, weight * Exact(share)) for shown, share in zip(seen, shares, strict=True))


def _minimiser(module: Any, oracle: _Clients, origin: Any, constants: Mapping[str, Any]) -> list[Any]:
    """Put x* = 0 with f_i(x*) = 0 and Σ g_i = 0 into the program, and what bounds the clients' differences."""
    clients = len(oracle.functions)
    zero = module.Expression(is_leaf=False, decomposition_dict={})
    apart = constants.get("zeta")
    same = apart is not None and float(np.asarray(apart).reshape(-1)[0]) == 0.0
    made: list[Any] = []
    rest: list[Any] = []
    for client in range(clients):
        last = client == clients - 1
        if same or clients == 1:
            gradient = origin
        elif last:
            gradient = combine(module.Point, [(Exact(-1), one) for one in rest])
        else:
            gradient = module.Point(is_leaf=True)
            rest.append(gradient)
        oracle.know(client, origin, gradient, zero)
        if clients > 1 and "G_star" in constants:
            limit = exact(float(np.broadcast_to(constants["G_star"], (clients,))[client]))
            made.append(gradient**2 <= limit * limit)
        if clients > 1 and apart is not None and not same:
            away = module.Point(is_leaf=True)
            oracle.know(client, away, origin, module.Expression(is_leaf=True))
            limit = exact(float(np.asarray(apart).reshape(-1)[0]))
            made.append(away**2 <= limit * limit)
    return made


def _start(extra: list[Any], oracle: _Clients, start: Any, constants: Mapping[str, Any]) -> None:
    """Bound ‖x0 − x*‖ or f(x0) − inf f."""
    if "R" in constants:
        radius = exact(float(constants["R"]))
        extra.append(start**2 <= radius * radius)
    if "F0" in constants:
        gap = sum((value for _, value in oracle.everywhere(start)), start=Exact(0))
        extra.append(gap * (Exact(1) / len(oracle.functions)) <= exact(float(constants["F0"])))


def _clients_apart(kind: FunctionClass, oracle: _Clients, shown: list[Any], clients: int) -> list[Any]:
    """Ask for ‖∇f_i − ∇f‖ ≤ sigma_g at the recorded points."""
    if kind.deviation is None:
        return []
    made, limit = [], kind.deviation * kind.deviation
    for point in shown:
        gradients = [gradient for gradient, _ in oracle.everywhere(point)]
        share = Exact(-1) / clients
        for own in gradients:
            away = combine(type(point), [(Exact(1), own), *((share, other) for other in gradients)])
            made.append(away**2 <= limit)
    return made


def _above_infimum(kind: FunctionClass, oracle: _Clients, shown: list[Any], clients: int) -> list[Any]:
    """Ask for f(x) − ‖∇f(x)‖²/(2L) ≥ inf f = 0: a gradient step with 1/L cannot go below."""
    points = [triplet[0] for triplet in oracle.functions[0].list_of_points] if clients == 1 else shown
    made, done, share = [], set(), Exact(1) / clients
    for point in points:
        if key(point) not in done:
            done.add(key(point))
            found = oracle.everywhere(point)
            mean = combine(type(point), [(share, gradient) for gradient, _ in found])
            value = sum((share * value for _, value in found), start=Exact(0))
            made.append(mean**2 * (1 / (2 * kind.constants["L"])) <= value)
    return made


def _scale(kind: FunctionClass, start: Any, points: int, constants: Mapping[str, Any]) -> tuple[Floats, float]:
    """Return typical lengths of the leaf points and a typical function value."""
    L, B = (float(kind.constants.get(name, Exact(0))) for name in ("L", "M"))
    if kind.minimiser:
        flat = float(kind.constants.get("mu", L)) or 1.0
        radius = float(constants.get("R", 0.0)) or np.sqrt(2.0 * float(constants.get("F0", 1.0)) / flat) or 1.0
        slope = B or (float(kind.gradient_square) ** 0.5 if kind.gradient_square is not None else L * radius) or 1.0
        if "step" in constants:
            slope = radius / float(constants["step"])
    else:
        slope = np.sqrt(2.0 * L * float(constants.get("F0", 1.0))) or 1.0
        radius = slope / L
    scale = np.full(points, slope)
    for leaf in start.decomposition_dict:
        scale[leaf.counter] = radius
    return scale, float(slope * radius)
