"""Build the program: run the tapes on points, ask PEPit for the inequalities of the class, form the objective."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import EventLaw, EventProgram
from boundlab.arithmetic.rational import Exact, exact, fraction
from boundlab.assumptions import DETERMINISTIC, ERRORS, UNCONSTRAINED, assumption, definers
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.execute.points import combine, key, run
from boundlab.expectation import shown_points
from boundlab.formulas.symbols import SYMBOLS, ZERO_WITHOUT_NOISE, having
from boundlab.metrics import Metric, Quantity
from boundlab.recheck import Form, Sample
from boundlab.tape import Tape
from boundlab.theorems import Theorem, at_lowest
from boundlab.worst_case.program import SemidefiniteProgram, alone, row

# Which functions a theorem is about, as a class that PEPit knows.

_UNITS = ("R", "B", "L", "F0")
_KNOWN = frozenset(
    {
        "convex",
        "strongly-convex",
        "smooth",
        "lipschitz",
        "bounded-variance",
        "bounded-gradients",
        "bounded-second-moment",
        "bounded-heterogeneity",
        "bounded-below",
        "minimiser",
        DETERMINISTIC,
        UNCONSTRAINED,
        *ERRORS,
    }
)
# By what is assumed, the first that fits: the class, the constants that PEPit wants, words. Where f is Lipschitz and
# smooth the inequalities are sufficient, too: the gradients of the smooth interpolant are means of those at the points.
_CLASSES = (
    (("lipschitz", "smooth"), "SmoothConvexLipschitzFunction", ("M", "L"), "convex, {M:g}-Lipschitz, {L:g}-smooth"),
    (("lipschitz",), "ConvexLipschitzFunction", ("M",), "convex and {M:g}-Lipschitz"),
    (
        ("strongly-convex", "smooth"),
        "SmoothStronglyConvexFunction",
        ("mu", "L"),
        "{L:g}-smooth and {mu:g}-strongly convex",
    ),
    (("strongly-convex",), "StronglyConvexFunction", ("mu",), "{mu:g}-strongly convex"),
    (("convex", "smooth"), "SmoothConvexFunction", ("L",), "convex and {L:g}-smooth"),
    (("convex",), "ConvexFunction", (), "convex"),
    (("smooth",), "SmoothFunction", ("L",), "{L:g}-smooth"),
)
_CONSTANTS = {
    "M": ("B", "f_i is B-Lipschitz"),
    "L": ("L", "f_i is L-smooth"),
    "mu": ("mu", "f_i is mu-strongly convex"),
}
# What the program takes from the values: constants of the functions, and how far the start is away.
CONSTANTS = having("function", "heterogeneity", "start") - {"L_sq", "L_max"} | {"G"}


def noise(theorem: Theorem) -> tuple[str, ...]:
    """Return what makes a theorem one about gradients with noise: its assumptions on noise, else symbols of noise."""
    named = tuple(name for name in theorem.core.asked if assumption(name).noise)
    if named or theorem.core.noiseless:
        return named
    own = having("noise", symbols=theorem.symbols) - at_lowest(theorem.conditions, theorem.symbols)
    return tuple(name for name in theorem.inputs() if name in own)


def undefined(theorem: Theorem, values: Mapping[str, Any], clients: int) -> tuple[str, ...]:
    """Return the symbols of functions that a theorem reads and no assumption defines, and its own, in words."""
    assumed = theorem.core.assumed
    if "convex" in assumed:
        assumed |= {"minimiser", "bounded-below"}  # the program holds an x*
    out = []
    for name in theorem.inputs(values):
        if name not in SYMBOLS:
            out.append(f"{name} (a symbol of its own)")
        elif clients == 1 and SYMBOLS[name].role == "heterogeneity":
            continue
        elif name in CONSTANTS and not assumed & set(definers(name)):
            out.append(f"{name} (no assumption of the theorem defines it)")
    return tuple(out)


@final
@dataclass(frozen=True, slots=True)
class FunctionClass:
    """Class of functions: what is known of every f_i, and of f.

    Parameters
    ----------
    kind
        The name of PEPit's class.
    constants
        Its parameters, by PEPit's names.
    words
        The class for people.
    gradient_square
        ‖∇f_i‖² is at most this, unit (2, −2); None where nothing is known or the class says it.
    deviation
        ‖∇f_i − ∇f‖ is at most this, unit (1, −1); None where nothing is known.
    minimiser
        Whether the program holds a minimiser x*; else it knows inf f only.
    relaxed
        Why the program may be larger than the class, or '': then its optimum is the worst case itself.
    rounded
        Whether L is there only to avoid ties between pieces.
    errors
        Of gradients that a run takes, by symbol: delta_g is how long they are at most, eps_g the same over the length
        of the gradient. Empty: there are none.
    """

    kind: str
    constants: Mapping[str, Exact]
    words: str
    gradient_square: Exact | None
    deviation: Exact | None
    minimiser: bool
    relaxed: str
    rounded: bool = False
    errors: Mapping[str, float] = field(default_factory=dict)

    @property
    def curvatures(self) -> tuple[Fraction, Fraction]:
        """The least curvature, and 1/L, which is 0 where gradients may jump."""
        inverse = 1 / fraction(self.constants["L"]) if "L" in self.constants else Fraction(0)
        least = -1 / inverse if self.kind == "SmoothFunction" else fraction(self.constants.get("mu", Exact(0)))
        return least, inverse

    def slightly_smooth(self, share: float, radius: float) -> "FunctionClass":
        """Return convex Lipschitz functions whose kinks are rounded off a little.

        The piece that a function of this class has at one of the program's points is above the others there by
        ‖g_i − g_j‖²/(2L), so that the maximum of the pieces has the same subgradients, without ties.

        Parameters
        ----------
        share
            L = B/(share·radius).
        """
        bound = self.constants["M"]
        constants = {"L": bound / (exact(share) * exact(radius)), "M": bound}
        kind = "SmoothConvexLipschitzFunction"
        return replace(self, kind=kind, constants=constants, gradient_square=None, minimiser=True, rounded=True)


def require_alike(theorem: Theorem) -> None:
    """Refuse constants of single clients, and what holds at every x: the inequalities are those of classes.

    Raises
    ------
    AssumptionError
        Naming one that the theorem reads.
    """
    if theorem.assume:
        raise AssumptionError(
            f"{theorem.id} assumes {', '.join(theorem.assume)} at every x (assume), of which worst-case knows no "
            "interpolation inequalities"
        )
    each = [name for name in theorem.read if theorem.symbols[name].vector and name != "G_star"]
    for name in sorted(one for one in each if theorem.symbols[one].role != "schedule"):
        raise AssumptionError(
            f"{theorem.id} reads {name}, one number per client, which worst-case has no inequalities for"
        )


def function_class(theorem: Theorem, values: Mapping[str, Any], clients: int) -> FunctionClass:
    """Return the class of a theorem.

    Parameters
    ----------
    values
        The constants by symbol: L, mu, B, G_sq, G, sigma_g as far as the assumptions need them.

    Raises
    ------
    AssumptionError
        If the assumptions name no class that has interpolation inequalities.
    SymbolError
        If a constant is missing.
    """
    assumed = theorem.core.assumed
    for name in sorted(
        name
        for name in {*theorem.core.asked} - _KNOWN
        if assumption(name).of == "functions" and (name, clients) != ("one-function", 1)
    ):
        raise AssumptionError(f"{theorem.id} assumes {name}, of which worst-case knows no interpolation inequalities")

    def constant(name: str, why: str, *, zero: bool = False) -> Exact:
        if name not in values:
            raise SymbolError(f"{theorem.id}: worst-case needs {name} ({why}); set {name}=…")
        number = float(np.asarray(values[name]).reshape(-1)[0])
        if not (number > 0.0 or (zero and number == 0.0)) or not np.isfinite(number):
            raise SymbolError(f"{theorem.id}: worst-case needs {name} > 0 ({why}), got {number:g}")
        return exact(number)

    assumptions = [assumption(name) for name in theorem.core.errors]
    errors = {symbol: constant(symbol, one.words, zero=True) for one in assumptions for symbol in one.defines}
    if errors and "bounded-second-moment" in assumed:
        raise AssumptionError(
            f"{theorem.id}: worst-case knows no G of gradients with errors; bounded-gradients would fit"
        )
    square = None
    if "bounded-gradients" in assumed and not assumed & {"lipschitz"}:
        if "G_sq" not in theorem.inputs(values) and "G" in theorem.inputs(values):
            largest = constant("G", "‖∇f_i‖ ≤ G")
            square = largest * largest
        else:
            square = constant("G_sq", "‖∇f_i‖² ≤ G_sq")
    if "bounded-second-moment" in assumed:
        second = constant("G", "full gradients have ‖∇f_i‖ ≤ G")
        square = second * second
    deviation = None
    if "bounded-heterogeneity" in assumed and clients > 1:
        name = "sigma_g" if "sigma_g" in theorem.inputs() else "sigma_g_mean"
        deviation = exact(float(np.asarray(values.get(name, 0.0)).reshape(-1)[0]))
    relaxed = []
    kind, names, words = next((row[1:] for row in _CLASSES if assumed.issuperset(row[0])), ("", (), ""))
    if not kind:
        raise AssumptionError(
            f"{theorem.id} assumes {', '.join(theorem.core.asked)}: worst-case needs convex, strongly-convex, "
            "smooth or lipschitz among them"
        )
    constants = {name: constant(*_CONSTANTS[name]) for name in names}
    words = words.format(**constants)
    if {"mu", "L"} <= constants.keys() and not constants["mu"].value < constants["L"].value:
        mu, L = constants["mu"], constants["L"]
        raise SpecError(f"{theorem.id}: worst-case needs mu < L, got mu = {mu:g}, L = {L:g}")
    if square is not None and kind == "ConvexFunction":
        words = f"convex with ‖g‖² ≤ {square:g}"
    if square is not None and kind != "ConvexFunction":
        words += f", ‖∇f_i‖² ≤ {square:g}"
        relaxed.append("gradients are bounded at the visited points only")
    if deviation is not None:
        words += f", ‖∇f_i − ∇f‖ ≤ {deviation:g}"
        relaxed.append("the clients' gradients are compared at recorded points only")
    if errors := errors if all(errors.values()) else {}:
        sizes = (f", ‖e(x)‖ ≤ {size:g}{'·‖∇f_i(x)‖' * (name == 'eps_g')}" for name, size in errors.items())
        words += f"; a gradient taken at x has an error e(x){''.join(sizes)}"
    about = sorted({*assumption("minimiser").defines} & set(theorem.inputs(values)))
    minimiser = kind != "SmoothFunction"
    if kind == "SmoothConvexFunction" and clients == 1 and theorem.left.quantity is Quantity.SLOPE:
        # f ≥ inf f says all of it; x* itself may be arbitrarily far, and the program without an optimum.
        minimiser = bool(about)
    unknown = about if not minimiser else []
    if unknown:
        relaxed.append(f"there is no x* in it that {' and '.join(unknown)} could bound")
    if not minimiser and clients > 1:
        relaxed.append("f ≥ inf f is asked for at recorded points only")
    because = "; ".join(relaxed)
    return FunctionClass(kind, constants, words, square, deviation, minimiser, because, errors=errors)


def fill(theorem: Theorem, values: dict[str, Any], clients: int) -> tuple[str, ...]:
    """Fill in units, and what has only one value without noise or with one client; return the names."""
    read = {*theorem.inputs(values)}
    found = []
    candidates: dict[str, Any] = {**dict.fromkeys(sorted(ZERO_WITHOUT_NOISE), 0.0), **dict.fromkeys(_UNITS, 1.0)}
    if clients == 1:
        apart = sorted(having("heterogeneity"))
        candidates |= {name: np.zeros(1) if SYMBOLS[name].vector else 0.0 for name in apart}
    for name, value in candidates.items():
        if name in read and name not in values:
            values[name] = value
            if name in _UNITS:
                found.append(name)
    return tuple(found)


# Where PEPit's functions were looked at, in exact numbers.


def vector(point: Any) -> dict[int, Fraction]:
    """Return a PEPit point as a combination of the leaf points, in exact numbers."""
    return {leaf.counter: fraction(weight) for leaf, weight in point.decomposition_dict.items() if weight}


def samples_of(function: Any, expressions: type) -> tuple[Sample, ...]:
    """Return the samples of a PEPit function, in exact numbers."""

    def value(expression: Any) -> Form:
        found: dict[int, Fraction] = {}
        for leaf, weight in expression.decomposition_dict.items():
            if isinstance(leaf, expressions) and weight:
                found[leaf.counter] = fraction(weight)  # type: ignore[attr-defined]  # of PEPit's class
        return Form(found)

    return tuple(Sample(vector(x), vector(g), value(f)) for x, g, f in function.list_of_points)


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


# The range of G on x ↦ h·x²/2 with h = mu and h = L: many bounds are attained there.

Vector = list[Fraction]


def parabolas(model: ProgramModel, constants: Mapping[str, Exact]) -> list[list[Vector]]:
    """Return what the leaf points are on one or both of the two functions, from x_0 = 1.

    Guesses, which a certificate has to bear out. None where there are several clients.
    """
    if len(model.samples) != 1:
        return []
    made = [_leaves(model, constants[name].value) for name in ("mu", "L") if name in constants]
    return [list(some) for count in (1, 2) for some in combinations(made, count)]


def _leaves(model: ProgramModel, curvature: Fraction) -> Vector:
    """Return the leaf points, as numbers: x_0 = 1, and the gradients one after the other."""
    out = [model.start.get(place, Fraction(0)) for place in range(model.program.points)]
    for sample in model.samples[0]:
        own = min(sample.g, default=None)
        if own is not None:
            rest = sum((weight * out[i] for i, weight in sample.x.items() if i != own), Fraction(0))
            # g = h·x, where x may hold g itself: a proximal point.
            out[own] = curvature * rest / (1 - curvature * sample.x.get(own, Fraction(0)))
    return out
