"""Build the program: run the tapes on points, write down the inequalities of the class, form the objective."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any, final

import numpy as np

from boundlab.algorithms import EventLaw, EventProgram
from boundlab.arithmetic.rational import meant
from boundlab.assumptions import DETERMINISTIC, ERRORS, UNCONSTRAINED, assumption, definers
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.expectation.points import Point, combine, key, run, shown as shown_points
from boundlab.formulas.symbols import SYMBOLS, ZERO_WITHOUT_NOISE, having
from boundlab.metrics import Metric, Quantity
from boundlab.randomness import Floats
from boundlab.recheck import Form, Sample, gradient_bound, inner, interpolation
from boundlab.tape import Tape
from boundlab.theorems import Theorem, at_lowest
from boundlab.worst_case.program import SemidefiniteProgram

# Which functions a theorem is about, as a class that has interpolation inequalities.

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
_SAME = "one-function"  # says nothing of one client
# By what is assumed, the first that fits: the class, its constants, words. Where f is Lipschitz and
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
    named = tuple(one.id for one in theorem.core.asked if one.noise)
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
        Its name.
    constants
        mu and L, as far as it has them.
    words
        The class for people.
    gradient_square
        ‖∇f_i‖² is at most this at the points of a run, unit (2, −2); None where nothing is known.
    deviation
        ‖∇f_i − ∇f‖ is at most this, unit (1, −1); None where nothing is known.
    minimiser
        Whether the program holds a minimiser x*; else it knows inf f only.
    relaxed
        Why the program may be larger than the class, or '': then its optimum is the worst case itself.
    rounded
        Whether L is there only to avoid ties between pieces.
    errors
        Of gradients that a run takes, by symbol, squared: delta_g is how long they are at most, eps_g the same over
        the length of the gradient. Empty: there are none.
    steepest
        ‖∇f_i‖² is at most this everywhere: the square of a Lipschitz constant; None where f_i need not be Lipschitz.
    """

    kind: str
    constants: Mapping[str, Fraction]
    words: str
    gradient_square: Fraction | None
    deviation: Fraction | None
    minimiser: bool
    relaxed: str
    rounded: bool = False
    errors: Mapping[str, Fraction] = field(default_factory=dict)
    steepest: Fraction | None = None

    @property
    def limits(self) -> tuple[Fraction, Fraction, Fraction | None]:
        """The least curvature, 1/L, which is 0 where gradients may jump, and the bound on squared gradients."""
        inverse = 1 / self.constants["L"] if "L" in self.constants else Fraction(0)
        least = -1 / inverse if self.kind == "SmoothFunction" else self.constants.get("mu", Fraction(0))
        return (
            least,
            inverse,
            min((one for one in (self.gradient_square, self.steepest) if one is not None), default=None),
        )

    @property
    def steep(self) -> float | None:
        """The Lipschitz constant."""
        return None if self.steepest is None else float(self.steepest) ** 0.5

    def slightly_smooth(self, share: float, radius: float) -> "FunctionClass":
        """Return convex Lipschitz functions whose kinks are rounded off a little.

        The piece that a function of this class has at one of the program's points is above the others there by
        ‖g_i − g_j‖²/(2L), so that the maximum of the pieces has the same subgradients, without ties.

        Parameters
        ----------
        share
            L = B/(share·radius).
        """
        kind, constants = "SmoothConvexLipschitzFunction", {"L": meant(self.steep) / (meant(share) * meant(radius))}
        return replace(self, kind=kind, constants=constants, gradient_square=None, minimiser=True, rounded=True)


def require_class(theorem: Theorem) -> None:
    """Refuse what no number changes: left sides that are no means, and functions without interpolation inequalities.

    Whoever is refused so need not be asked for a number first.

    Raises
    ------
    SpecError
        If the left side is no mean of one quantity that so many iterations show.
    AssumptionError
        If the inequalities are not those of one class, the same for all clients.
    """
    left = theorem.left
    if left.in_seconds:
        raise SpecError(f"{theorem.id}: worst-case takes so many iterations, and this left side is within seconds")
    if left.over.summed:
        raise SpecError(f"{theorem.id}: worst-case takes one quantity on the left side, and this is a sum of several")
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
    about = [one.id for one in theorem.core.asked if one.of == "functions"]
    for name in sorted({*about} - _KNOWN - {_SAME}):
        raise _unknown(theorem, name)
    assumed = theorem.core.assumed
    if theorem.core.errors and "bounded-second-moment" in assumed:
        raise AssumptionError(
            f"{theorem.id}: worst-case knows no G of gradients with errors; bounded-gradients would fit"
        )
    if not any(assumed.issuperset(row[0]) for row in _CLASSES):
        raise AssumptionError(
            f"{theorem.id} assumes {', '.join(one.id for one in theorem.core.asked)}: worst-case needs convex, "
            "strongly-convex, smooth or lipschitz among them"
        )

    if not left.is_mean:
        raise SpecError(f"worst-case needs a left side that is a mean of recorded quantities, which {left.id} is not")
    require_start(theorem, theorem.inputs())


def require_start(theorem: Theorem, read: Collection[str]) -> None:
    """Refuse a theorem that reads no bound of the start.

    Raises
    ------
    AssumptionError
        If there is none.
    """
    if not {"R", "F0"} & {*read}:
        raise AssumptionError(
            f"{theorem.id} reads neither R nor F0: a start may be arbitrarily bad, and there is no worst case"
        )


def _unknown(theorem: Theorem, name: str) -> AssumptionError:
    return AssumptionError(f"{theorem.id} assumes {name}, of which worst-case knows no interpolation inequalities")


def function_class(theorem: Theorem, values: Mapping[str, Any], clients: int) -> FunctionClass:
    """Return the class of a theorem that :func:`require_class` accepts.

    Parameters
    ----------
    values
        The constants by symbol: L, mu, B, G_sq, G, sigma_g as far as the assumptions need them.

    Raises
    ------
    AssumptionError
        If several clients are to have the same function, which is no inequality of each.
    SymbolError
        If a constant is missing.
    """
    assumed = theorem.core.assumed
    if clients > 1 and any(one.id == _SAME for one in theorem.core.asked):
        raise _unknown(theorem, _SAME)

    def constant(name: str, why: str, *, zero: bool = False) -> Fraction:
        if name not in values:
            raise SymbolError(f"{theorem.id}: worst-case needs {name} ({why}); set {name}=…")
        number = float(np.asarray(values[name]).reshape(-1)[0])
        if not (number > 0.0 or (zero and number == 0.0)) or not np.isfinite(number):
            raise SymbolError(f"{theorem.id}: worst-case needs {name} > 0 ({why}), got {number:g}")
        return meant(number)

    assumptions = [assumption(name) for name in theorem.core.errors]
    errors = {symbol: constant(symbol, one.words, zero=True) for one in assumptions for symbol in one.defines}
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
        deviation = _first(values.get(name, 0.0))
    relaxed = []
    kind, names, words = next(row[1:] for row in _CLASSES if assumed.issuperset(row[0]))
    constants = {name: constant(*_CONSTANTS[name]) for name in names}
    words = words.format(**{name: float(one) for name, one in constants.items()})
    if {"mu", "L"} <= constants.keys() and not constants["mu"] < constants["L"]:
        mu, L = (float(constants[name]) for name in ("mu", "L"))
        raise SpecError(f"{theorem.id}: worst-case needs mu < L, got mu = {mu:g}, L = {L:g}")
    if square is not None and kind == "ConvexFunction":
        words = f"convex with ‖g‖² ≤ {float(square):g}"
    if square is not None and kind != "ConvexFunction":
        words += f", ‖∇f_i‖² ≤ {float(square):g}"
        relaxed.append("gradients are bounded at the visited points only")
    if deviation is not None:
        words += f", ‖∇f_i − ∇f‖ ≤ {float(deviation):g}"
        relaxed.append("the clients' gradients are compared at recorded points only")
    if errors := errors if all(errors.values()) else {}:
        sizes = (f", ‖e(x)‖ ≤ {float(size):g}{'·‖∇f_i(x)‖' * (name == 'eps_g')}" for name, size in errors.items())
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
    squares = {name: size * size for name, size in errors.items()}
    steepest = constants.pop("M") ** 2 if "M" in constants else None
    return FunctionClass(
        kind, constants, words, square, deviation, minimiser, because, errors=squares, steepest=steepest
    )


def _first(value: Any) -> Fraction:
    """Return the one number that a constant is, or the first of several that are equal."""
    return meant(float(np.asarray(value).reshape(-1)[0]))


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
    """The clients' functions at combinations of names: equal points share their gradients.

    Attributes
    ----------
    points, values
        How many vectors u_i and function values F_i have been named.
    samples
        Where each function was looked at.
    errors
        Names of the errors of gradients that runs take.
    limits
        How long these are at most: each form is ≤ 0.
    """

    def __init__(self, kind: FunctionClass, clients: int) -> None:
        self.points = self.values = 0
        self.samples: list[list[Sample]] = [[] for _ in range(clients)]
        self._seen: list[dict[Any, tuple[Point, Form]]] = [{} for _ in range(clients)]
        self._near: list[dict[Any, Point]] = [{} for _ in range(clients)]
        self._taken: list[dict[Any, Point]] = [{} for _ in range(clients)]
        self._sizes = kind.errors
        self.errors: list[int] = []
        self.limits: list[Form] = []

    def vector(self) -> Point:
        """Return a vector of which nothing is known yet.

        Raises
        ------
        SpecError
            If there are too many.
        """
        if self.points >= LARGEST:
            raise SpecError(
                f"this worst case needs more than {LARGEST} points; take fewer iterations, local steps or clients"
            )
        self.points += 1
        return {self.points - 1: Fraction(1)}

    def value(self) -> Form:
        """Return a function value of which nothing is known yet."""
        self.values += 1
        return Form({self.values - 1: Fraction(1)})

    def know(self, client: int, point: Point, gradient: Point, value: Form) -> None:
        """Fix f_client and its gradient at a point."""
        self._seen[client][key(point)] = gradient, value
        self.samples[client].append(Sample(point, gradient, value))

    def at(self, client: int, point: Point) -> tuple[Point, Form]:
        """Return gradient and value of f_client at a point: new names unless it was asked before."""
        if key(point) not in self._seen[client]:
            self.know(client, point, self.vector(), self.value())
        return self._seen[client][key(point)]

    def gradient(self, client: int, point: Point) -> Point:
        """Return a (sub)gradient with its error."""
        known = key(point)
        if known not in self._taken[client]:
            self._taken[client][known] = self._with_error(self.at(client, point)[0])
        return self._taken[client][known]

    def _with_error(self, gradient: Point) -> Point:
        """Return a gradient that may be as far off as the class says."""
        if not self._sizes:
            return gradient
        error = self.vector()
        self.errors += error
        for name, size in self._sizes.items():
            most = Form(constant=size) if name == "delta_g" else inner(gradient, gradient, size)
            self.limits.append(_square(error).plus(most, Fraction(-1)))
        return combine([(Fraction(1), gradient), (Fraction(1), error)])

    def proximal(self, client: int, point: Point, step_size: Fraction) -> Point:
        """Return prox_{step_size·f_client}(point): the point less a step along its own (sub)gradient."""
        known = (key(point), step_size)
        if known not in self._near[client]:
            gradient = self.vector()
            taken = self._with_error(gradient)
            found = combine([(Fraction(1), point), (-step_size, taken)])
            self._near[client][known], self._taken[client][key(found)] = found, taken
            self.know(client, found, gradient, self.value())
        return self._near[client][known]

    def everywhere(self, point: Point) -> list[tuple[Point, Form]]:
        """Return gradient and value of all clients at a point."""
        return [self.at(client, point) for client in range(len(self.samples))]

    def mean_gradient(self, point: Point) -> Point:
        """Return ∇f(x)."""
        return combine((Fraction(1, len(self.samples)), gradient) for gradient, _ in self.everywhere(point))

    def squared_distance(self, point: Point) -> Form:
        """Return ‖x − x*‖²; x* is the origin."""
        return _square(point)

    def gap(self, point: Point) -> Form:
        """Return f(x) − f*; f* is 0."""
        return _total((Fraction(1, len(self.samples)), value) for _, value in self.everywhere(point))

    def squared_slope(self, point: Point) -> Form:
        """Return ‖∇f(x)‖²."""
        return _square(self.mean_gradient(point))


def _square(point: Point) -> Form:
    return inner(point, point)


def _at_most(point: Point, square: Fraction) -> Form:
    """Return ‖v‖² − square, which is ≤ 0."""
    return _square(point).plus(Form(constant=-square))


def _total(parts: Iterable[tuple[Fraction, Form]]) -> Form:
    """Return Σ weight·form."""
    found = Form()
    for weight, form in parts:
        found = found.plus(form, weight)
    return found


def class_rows(kind: FunctionClass, samples: Sequence[Sequence[Sample]]) -> Iterator[tuple[Form, dict[str, Any]]]:
    """Yield what functions of a class obey at the samples of each client: forms that are ≤ 0, and which they are."""
    least, inverse, square = kind.limits
    for client, own in enumerate(samples):
        for i, one in enumerate(own if square is not None else ()):
            yield gradient_bound(one, square or Fraction(0)), {"kind": "gradient", "client": client, "i": i}
        for (i, one), (j, other) in permutations(enumerate(own), 2):
            named = {"kind": "interpolation", "client": client, "i": i, "j": j}
            yield interpolation(one, other, least, inverse), named


def build(
    kind: FunctionClass,
    metric: Metric,
    runs: Iterable[tuple[Tape, Fraction]] | AllEvents,
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
        If the program is too large.
    """
    oracle, origin = _Clients(kind, clients), dict[int, Fraction]()
    extra = oracle.limits  # constraints beside those of the class
    if kind.minimiser:
        start = oracle.vector()
        extra += _minimiser(oracle, origin, constants)
    else:
        # Without x* the origin is x_0, and constants added to the f_i that cancel in f are fixed by f_i(x_0) = 0.
        start = origin
        for client in range(clients - 1):
            oracle.know(client, start, oracle.vector(), Form())
    if "R" in constants:
        extra.append(_at_most(start, meant(float(constants["R"])) ** 2))
    if "F0" in constants:
        extra.append(oracle.gap(start).plus(Form(constant=-meant(float(constants["F0"])))))
    averages: dict[Any, tuple[Point, Fraction]] = {}
    for shown, share in _shown(runs, metric, start, oracle):
        known = key(shown)
        averages[known] = (shown, averages[known][1] + share if known in averages else share)
    objective = _total((weight, metric.at(oracle, shown)) for shown, weight in averages.values())
    recorded = [shown for shown, _ in averages.values()]
    if kind.deviation is not None:
        extra += _clients_apart(oracle, recorded, kind.deviation**2)
    if not kind.minimiser:
        extra += _above_infimum(kind, oracle, [start, *recorded])
    made = [*extra, *(form for form, _ in class_rows(kind, oracle.samples))]
    scale, level = _scale(kind, start, oracle.points, constants)
    for error in oracle.errors:
        most = {name: float(size) ** 0.5 for name, size in kind.errors.items()}
        scale[error] = min(most.get("eps_g", np.inf) * scale[error], most.get("delta_g", np.inf))
    rows = tuple(one for one in made if one.values or one.gram)
    program = SemidefiniteProgram(oracle.points, oracle.values, objective, rows, scale, level)
    return ProgramModel(program, start, tuple(map(tuple, oracle.samples)), tuple(oracle.errors))


def _shown(
    runs: Iterable[tuple[Tape, Fraction]] | AllEvents,
    metric: Metric,
    start: Point,
    oracle: _Clients,
) -> Iterator[tuple[Point, Fraction]]:
    """Yield the points that runs show, with their weights in the left side."""
    if isinstance(runs, AllEvents):
        yield from shown_points(runs.program, runs.law, metric, runs.horizon, start, oracle)
        return
    for tape, weight in runs:
        seen: list[Point] = []
        run(tape, start, oracle, lambda _, shown, seen=seen: seen.append(shown))  # type: ignore[misc]
        shares = metric.over.shares(len(seen)) or ()
        yield from ((shown, weight * share) for shown, share in zip(seen, shares, strict=True))


def _minimiser(oracle: _Clients, origin: Point, constants: Mapping[str, Any]) -> list[Form]:
    """Put x* = 0 with f_i(x*) = 0 and Σ g_i = 0 into the program, and what bounds the clients' differences."""
    clients = len(oracle.samples)
    apart = _first(constants["zeta"]) if "zeta" in constants else None
    made: list[Form] = []
    rest: list[Point] = []
    for client in range(clients):
        if apart == 0 or clients == 1:
            gradient = origin
        elif client == clients - 1:
            gradient = combine((Fraction(-1), one) for one in rest)
        else:
            gradient = oracle.vector()
            rest.append(gradient)
        oracle.know(client, origin, gradient, Form())
        if clients > 1 and "G_star" in constants:
            made.append(_at_most(gradient, meant(float(np.broadcast_to(constants["G_star"], (clients,))[client])) ** 2))
        if clients > 1 and apart:
            away = oracle.vector()
            oracle.know(client, away, origin, oracle.value())
            made.append(_at_most(away, apart**2))
    return made


def _clients_apart(oracle: _Clients, shown: Sequence[Point], square: Fraction) -> Iterator[Form]:
    """Yield ‖∇f_i − ∇f‖² ≤ square at the recorded points."""
    for point in shown:
        mean = oracle.mean_gradient(point)
        for own, _ in oracle.everywhere(point):
            yield _at_most(combine([(Fraction(1), own), (Fraction(-1), mean)]), square)


def _above_infimum(kind: FunctionClass, oracle: _Clients, shown: Sequence[Point]) -> Iterator[Form]:
    """Yield f(x) − ‖∇f(x)‖²/(2L) ≥ inf f = 0: a gradient step with 1/L cannot go below."""
    points = [one.x for one in oracle.samples[0]] if len(oracle.samples) == 1 else shown
    for point in {key(one): one for one in points}.values():
        slope = oracle.squared_slope(point)
        yield _total([(1 / (2 * kind.constants["L"]), slope), (Fraction(-1), oracle.gap(point))])


def _scale(kind: FunctionClass, start: Point, points: int, constants: Mapping[str, Any]) -> tuple[Floats, float]:
    """Return typical lengths of the leaf points and a typical function value."""
    L, B = float(kind.constants.get("L", 0)), kind.steep
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
    for name in start:
        scale[name] = radius
    return scale, float(slope * radius)


# The range of G on x ↦ h·x²/2 with h = mu and h = L: many bounds are attained there.

Vector = list[Fraction]


def parabolas(model: ProgramModel, constants: Mapping[str, Fraction]) -> list[list[Vector]]:
    """Return what the leaf points are on one or both of the two functions, from x_0 = 1.

    Guesses, which a certificate has to bear out. None where there are several clients.
    """
    if len(model.samples) != 1:
        return []
    made = [_leaves(model, constants[name]) for name in ("mu", "L") if name in constants]
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
