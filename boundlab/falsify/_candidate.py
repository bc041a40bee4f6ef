"""An instance that a search looks at: problem, delays, settings and horizon, all in a user's own words."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any, final

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.assumptions import assumption
from boundlab.case import build_problem, delays_from
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.fitting import CompareOptions
from boundlab.metrics import Metric, Quantity, Series
from boundlab.objective import Array, Optimum, Oracle, Problem
from boundlab.objective.simple import OPTIONS
from boundlab.options import numbers, parse_spec, spec_of, typed
from boundlab.randomness import Floats, Ints
from boundlab.registry import lookup
from boundlab.tape import Tape
from boundlab.theorems import Theorem

# Registered objects by name, looked up once: a search asks for the same few thousands of times.


@cache
def algorithm(name: str) -> Algorithm[Any]:
    """Return a registered algorithm."""
    found: Algorithm[Any] = lookup("algorithms", name)
    return found


def delays(spec: str, clients: int, who: str) -> tuple[DelayModel, ServerPolicy]:
    """Return a delay model and the policy that an algorithm has with it by default; files are read each time."""
    found = _delays(spec, clients, who)
    return _made_delays(spec, clients, who) if found[0].files() else found


@lru_cache(maxsize=4096)
def _delays(spec: str, clients: int, who: str) -> tuple[DelayModel, ServerPolicy]:
    return _made_delays(spec, clients, who)


def _made_delays(spec: str, clients: int, who: str) -> tuple[DelayModel, ServerPolicy]:
    model = delays_from(spec, clients)
    return model, algorithm(who).policy(None, model)


@lru_cache(maxsize=4096)
def _problem(kind: str, options: tuple[tuple[str, Any], ...]) -> Problem:
    """Return a problem; equal options give the same object, whose constants are computed once."""
    return build_problem(kind, dict(options))


_SHORT, _SIMPLE = 12, 100  # letters of a decimal that stays one, and the denominator of a fraction
_GIVEN = ("function", "noise", "heterogeneity", "start", "clients", "user")  # roles that a problem, or nobody, fills
_OF_ALL = ("x0", "minimiser", "direction", "box")  # arrays of a problem that have no entry for each client


@final
@dataclass(frozen=True)
class Candidate:
    """One point of the search space.

    Parameters
    ----------
    family
        Which structured family it comes from, in words.
    problem
        ``type`` and options. Where coordinates do not mix (huber, lad, and quadratics without A): centres c and
        weights w with one entry a client, each a number or a list of one number a coordinate, x0, sigma and, for
        huber, delta. For least squares with mini-batches the rows a and their targets y, a list of each client, a row
        as a centre; batch and x0. Else the options as case files have them.
    delays
        Spec of the delay model.
    settings
        Parameters of the algorithm and symbols that the theorem leaves to the user (N), by name.
    step
        Step sizes where the theorem lets one choose; absent ones are the theorem's own.
    iterations
        K or T.
    """

    family: str
    problem: Mapping[str, Any]
    delays: str
    settings: Mapping[str, str]
    step: Mapping[str, float]
    iterations: int

    def __hash__(self) -> int:
        return hash((self.delays, self.iterations, *self.settings.items(), *self.step.items()))

    @property
    def clients(self) -> int:
        """The number of clients."""
        return len(next(iter(self.per_client().values())))

    @property
    def horizon(self) -> int:
        """K or T: a window of N updates looks beyond it."""
        return self.iterations - int(self.settings.get("N", "1")) + 1

    @property
    def dimension(self) -> int:
        """The number of coordinates of x0."""
        return int(np.size(self.problem["x0"]))

    @property
    def separable(self) -> bool:
        """True if coordinates do not mix."""
        return "w" in self.problem

    @property
    def sampled(self) -> bool:
        """True if the functions are rows of data."""
        return "y" in self.problem

    @property
    def independent(self) -> bool:
        """True if each number of the problem may be another one, whatever the others are."""
        return self.separable or self.sampled

    @property
    def constrained(self) -> bool:
        """True if the objective is F = f + h, on a box or a ball or with a penalty: proximal maps follow steps."""
        return not OPTIONS.keys().isdisjoint(self.problem)

    @property
    def noisy(self) -> bool:
        """True if gradients have noise."""
        return bool(self.problem.get("sigma", 0.0)) or self.sampled

    @property
    def tailed(self) -> bool:
        """True if the noise is normal and functions are not quadratic everywhere: no exact numbers average that out."""
        return self.noisy and self.problem["type"] in ("huber", "lad") and self.problem.get("noise") != "sign"

    @property
    def carried(self) -> bool:
        """True if the noise is carried along a run as coefficients: nothing but gradient steps on quadratic parts."""
        return self.noisy and self.separable and not self.constrained

    def per_client(self) -> dict[str, Sequence[Any]]:
        """Return the problem's arrays with one entry a client, by option."""
        listed = {name: value for name, value in self.problem.items() if isinstance(value, (list, tuple))}
        return {name: value for name, value in listed.items() if name not in _OF_ALL}

    def rows(self, name: str) -> Floats:
        """Return centres or weights of a problem whose coordinates do not mix, shape (n, d)."""
        return np.array(self.problem[name], dtype=np.float64).reshape(self.clients, -1)

    def start(self) -> Floats:
        """Return x0 of a problem whose coordinates do not mix, shape (d,)."""
        return np.array(self.problem["x0"], dtype=np.float64).reshape(-1)

    def shares(self) -> list[float]:
        """Return the clients' probabilities in i.i.d. events; nothing where the delays give none."""
        name, options = parse_spec(self.delays, "delays")
        return numbers(options["p"], "p") if name == "iid" and "p" in options else []

    def options(self) -> dict[str, Any]:
        """Return the problem's options as case files have them, without its type."""
        own = {name: value for name, value in self.problem.items() if name != "type"}
        if self.sampled:
            rows, targets = own.pop("a"), own.pop("y")
            features = [one if isinstance(one, (list, tuple)) else [one] for of_client in rows for one in of_client]
            owners = [client for client, of_client in enumerate(targets) for _ in of_client]
            return {"features": features, "targets": [one for some in targets for one in some], "owners": owners, **own}
        if self.problem["type"] != "quadratic" or not self.separable:
            return {name: simply(value) for name, value in own.items()} if self.separable else own
        rows, c, _ = self.rows("w"), own.pop("c"), own.pop("w")
        centres = [one if isinstance(one, (list, tuple)) else [one] for one in c]
        return {"A": [np.diag(row).tolist() for row in rows], "b": [list(one) for one in centres], **own}

    @cached_property
    def identity(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        """Type and options of the problem, which tell it apart from others."""
        return str(self.problem["type"]), tuple((name, _frozen(value)) for name, value in self.options().items())

    def build(self) -> Problem:
        """Return the problem."""
        return _problem(*self.identity)

    def all_settings(self) -> dict[str, str]:
        """Return parameters, symbols and step sizes as ``--set`` takes them."""
        return {**self.settings, **{name: typed(value) for name, value in self.step.items()}}

    def problem_spec(self) -> str:
        """Return the problem as ``--problem`` takes it."""
        return spec_of(str(self.problem["type"]), self.options())

    def compared(self, theorem: Theorem) -> CompareOptions:
        """Return the comparison that repeats the instance by itself."""
        return CompareOptions(
            theorem, self.problem_spec(), self.delays, iterations=self.iterations, settings=self.all_settings()
        )

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """All that tells candidates apart."""
        return (self.identity, self.delays, tuple(sorted({**self.settings, **self.step}.items())), self.iterations)

    @cached_property
    def coarse(self) -> tuple[bool, int, int]:
        """First part of its size: whether normal noise keeps exact numbers away, clients, horizon."""
        return self.tailed, self.clients, self.iterations

    @cached_property
    def fine(self) -> tuple[int, int, int]:
        """The rest: dimensions, integer settings and rows of data added up, and how much there is to write down."""
        whole = sum(int(value) for value in self.settings.values() if str(value).isdigit())
        whole += sum(map(len, self.problem["y"])) + self.problem["batch"] if self.sampled else 0
        numbers = [value for value in self.problem.values() if not isinstance(value, str)]
        written = sum(map(_letters, flat([*numbers, *self.step.values()])))
        options = sum(len(str(value)) for value in self.settings.values() if not str(value).isdigit())
        return self.dimension, whole, written + len(self.delays) + options

    def quadratic(self) -> "Candidate":
        """Return the candidate with the quadratics that its functions are near their centres."""
        own = {name: value for name, value in self.problem.items() if name != "delta"}
        return replace(self, problem={**own, "type": "quadratic"})

    def with_problem(self, **changes: Any) -> "Candidate":
        """Return the candidate with other problem numbers."""
        return replace(self, problem={**self.problem, **changes})

    def in_units(self, value: float, length: float, digits: int = 12) -> "Candidate":
        """Return the candidate with function values and lengths multiplied, written with so many digits."""
        gradient, curvature = value / length, value / length**2
        scales = dict.fromkeys(("c", "x0", "delta", "ball", "box"), length)
        scales |= dict.fromkeys(("sigma", "l1", "error"), gradient)
        scales["w"] = gradient if self.problem["type"] == "lad" else curvature
        scales |= {"a": curvature**0.5, "y": value**0.5}
        problem = {
            name: _times(entry, scales[name], digits) if name in scales and not isinstance(entry, str) else entry
            for name, entry in self.problem.items()
        }
        step = {name: _times(rate, 1.0 / curvature, digits) for name, rate in self.step.items()}
        return replace(self, problem=problem, step=step)

    def with_arrays(self, w: Floats | None = None, c: Floats | None = None, x0: Floats | None = None) -> "Candidate":
        """Return the candidate with other weights or centres, shape (n, d), or start, shape (d,), as it writes them."""
        changes: dict[str, Any] = {}
        for name, rows in {"w": w, "c": c}.items():
            if rows is not None:
                changes[name] = (rows if isinstance(self.problem[name][0], list) else rows[:, 0]).tolist()
        if x0 is not None:
            changes["x0"] = x0.tolist() if isinstance(self.problem["x0"], list) else float(x0[0])
        return self.with_problem(**changes)


def iid(p: list[float]) -> str:
    """Return the delays with these probabilities of the clients; the server has the rest."""
    return f"iid:p={typed(p)}"


def _times(value: Any, factor: float, digits: int) -> Any:
    """Return a number or nested lists of numbers times a factor."""
    return shaped(value, [float(f"{entry * factor:.{digits}g}") for entry in flat(value)])


def flat(value: Any) -> list[float]:
    """Return the numbers of nested lists, in their order."""
    return [entry for one in value for entry in flat(one)] if isinstance(value, (list, tuple)) else [value]


def _frozen(value: Any) -> Any:
    """Return a value with tuples in place of nested lists."""
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


@lru_cache(maxsize=4096)
def _letters(value: float | None) -> int:
    """Return how much there is to read in a number: letters, and the powers of ten beside them."""
    if not value:
        return 0
    significant = f"{abs(value):.15e}".split("e")[0].rstrip("0").replace(".", "")
    return int(value < 0.0) + min(len(typed(abs(value))), len(significant) + abs(round(math.log10(abs(value)))))


def simply(value: Any) -> Any:
    """Return nested lists with each float that no short decimal is, but a small fraction, as text: ``1/3``."""
    if isinstance(value, (list, tuple)):
        return [simply(entry) for entry in value]
    if not isinstance(value, float) or len(repr(value)) <= _SHORT:
        return value
    near = Fraction(value).limit_denominator(_SIMPLE)
    return str(near) if float(near) == value else value


def shaped(value: Any, entries: Iterable[float]) -> Any:
    """Return nested lists like these with other numbers, which are taken from the iterable one by one."""
    rest = iter(entries)
    return [shaped(one, rest) for one in value] if isinstance(value, (list, tuple)) else next(rest)


# Step sizes and other rates: which a theorem leaves open, and which of them belong to the tape.


def local_rate(theorem: Theorem) -> str:
    """Return the symbol of the local step size.

    Raises
    ------
    SpecError
        If the theorem sets none that is known here.
    """
    known = algorithm(theorem.algorithm).step_size_symbols
    for name in theorem.step:
        if name in known:
            return name
    raise SpecError(
        f"{theorem.id} sets {', '.join(theorem.step)}; the search knows local step sizes named {', '.join(known)}"
    )


def server_rates(theorem: Theorem) -> list[str]:
    """Return the rates that the theorem sets and that are part of the tape."""
    return [name for name in theorem.step if name not in algorithm(theorem.algorithm).step_size_symbols]


def unknown(theorem: Theorem) -> list[str]:
    """Return the symbols that neither a problem, nor a run, nor a choice of rates gives a value."""
    known = {
        *(name for name, info in SYMBOLS.items() if info.role in _GIVEN),
        *(symbol for name in theorem.core.assumed for symbol in assumption(name).defines),
        *(theorem.horizon_symbol, *theorem.open_rates, *theorem.core.read_as.values(), *theorem.bounded_by),
        *tried(theorem),
    }
    missing = [name for name in theorem.inputs() if name not in known]
    if not missing:
        return []
    from boundlab.checks.scope import measured_by_runs

    # Where no run could be made here, one may have them all.
    measured = measured_by_runs(theorem)
    return [] if measured is None else [name for name in missing if name not in measured]


def tried(theorem: Theorem) -> list[str]:
    """Return the symbols that may be any positive number: an accuracy that the left side reaches, or the seconds."""
    free = {*theorem.inputs()} - {*theorem.open_rates, "N"}
    if not theorem.left.in_seconds:
        free &= {str(term) for term in theorem.bound.terms.values()}
    infos = (theorem.symbols[name] for name in sorted(free))
    return [one.name for one in infos if one.role == "user" and one.side == "any" and one.symbol.is_nonnegative]


# Many problems on one tape: each coordinate of the registers is a coordinate of a problem with its own step size.

# Each step of a run in one dimension adds at most a few units in the last place of its largest number.
_STEP = 1e-15
_KINDS = {"quadratic": np.inf, "lad": 0.0}


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """The numbers of B problems whose coordinates do not mix, coordinate after coordinate in C columns.

    Parameters
    ----------
    w, c
        Shape (n, C): weights and centres.
    delta
        Shape (C,): where the loss turns linear; inf for quadratics, 0 for absolute values.
    x0
        Shape (C,).
    penalty
        Shape (C,): what h(x) = penalty·|x| weighs beside f; 0 where there is none.
    reach
        Shape (B,): the radius of the ball around 0 onto which each problem projects; inf where it does not.
    first
        Shape (B,): the first column of each problem.
    owner
        Shape (C,): the problem of each column.
    """

    w: Floats
    c: Floats
    delta: Floats
    x0: Floats
    penalty: Floats
    reach: Floats
    first: Ints
    owner: Ints

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> "Layout":
        """Return the layout of candidates with the same number of clients."""
        w, c = (np.concatenate([one.rows(name) for one in candidates], axis=1) for name in ("w", "c"))
        starts = [one.start() for one in candidates]
        sizes = np.array([len(one) for one in starts])
        widths = [_KINDS.get(one.problem["type"], one.problem.get("delta", 0.0)) for one in candidates]
        penalties, balls = (
            np.array([float(one.problem.get(name, without)) for one in candidates])
            for name, without in (("l1", 0.0), ("ball", np.inf))
        )
        owner = np.repeat(np.arange(len(candidates)), sizes)
        first = np.cumsum(sizes) - sizes
        delta, x0 = np.array(widths, dtype=np.float64)[owner], np.concatenate(starts)
        return cls(w, c, delta, x0, penalties[owner], balls, first, owner)

    def each(self, per_column: Floats) -> Floats:
        """Add up what the columns of each problem say, shape (B,)."""
        return np.asarray(np.add.reduceat(per_column, self.first))


@final
@dataclass(slots=True)
class Columns(Oracle):
    """Full gradients of the columns, the step sizes multiplied in; the proximal map of h follows each step.

    Parameters
    ----------
    step_sizes
        Shape (C,).
    """

    layout: Layout
    step_sizes: Floats
    kinked: bool = field(init=False)
    turning: bool = field(init=False)
    reaching: bool = field(init=False)
    penalised: bool = field(init=False)

    def __post_init__(self) -> None:
        """Look once at what each step asks: absolute values, functions that turn linear, balls, penalties."""
        at = self.layout
        self.kinked, self.penalised = bool((at.delta == 0.0).any()), bool(at.penalty.any())
        self.turning, self.reaching = (bool(np.isfinite(ends).any()) for ends in (at.delta, at.reach))

    def draws(self, clients: Ints, updates: Ints, steps: int) -> Any:
        """Return placeholders."""
        return np.empty((len(clients), steps, 0))

    def draw_size(self, steps: int) -> int:
        """Return 0."""
        return 0

    def _slope(self, away: Floats) -> Floats:
        if not self.turning:
            return away
        delta = self.layout.delta
        out = np.minimum(np.maximum(away, -delta), delta)
        return np.where(delta == 0.0, np.sign(away), out) if self.kinked else out

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one gradient step in every column."""
        at = self.layout
        x -= self._slope(x - at.c[client]) * at.w[client] * (step_size * self.step_sizes)
        if self.reaching:
            norms = np.sqrt(at.each(x * x))
            x *= np.where(norms > at.reach, at.reach / np.maximum(norms, at.reach), 1.0)[at.owner]
        if self.penalised:
            threshold = at.penalty * (step_size * self.step_sizes)
            x -= np.minimum(np.maximum(x, -threshold), threshold)

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one proximal step in every column.

        Raises
        ------
        SpecError
            If there is an h: the proximal map of f_client + h has no closed form.
        """
        if self.reaching or self.penalised:
            raise SpecError("there is no proximal step of f_i + h")
        at = self.layout
        away, a = x - at.c[client], step_size * self.step_sizes * at.w[client]
        steepest = np.where(at.delta == 0.0, 1.0, at.delta)
        with np.errstate(invalid="ignore"):
            far = np.sign(away) * np.maximum(np.abs(away) - a * steepest, 0.0)
            near = np.abs(away) <= at.delta * (1.0 + a)
        x[:] = at.c[client] + np.where(near, away / (1.0 + a), far)

    def slope(self, x: Array) -> Floats:
        """Return f' of each column, shape (C,)."""
        return np.asarray((self.layout.w * self._slope(x - self.layout.c)).mean(axis=0))

    def value(self, x: Array) -> Floats:
        """Return f of each column, shape (C,)."""
        at = self.layout
        size = np.abs(x - at.c)
        small = np.minimum(size, at.delta)
        out: Floats = (at.w * np.where(at.delta == 0.0, size, small * (size - small / 2.0))).mean(axis=0)
        return out + at.penalty * np.abs(x) if self.penalised else out


def rounding(metric: Metric, candidate: Candidate, iterations: int) -> float:
    """Return about what rounding may add to a left side: near a minimiser there may be nothing else.

    It keeps the search from what is no violation; no verdict rests on it.
    """
    start, rows = candidate.start(), candidate.rows("c")
    reach = float(max(np.abs(start).max(), np.abs(rows).max(), 1e-30))
    slope = float(candidate.rows("w").max()) * (1.0 if candidate.problem["type"] == "lad" else reach)
    slope += float(candidate.problem.get("l1", 0.0))
    tiny = _STEP * (64.0 + iterations)
    most = {
        Quantity.GAP: slope * reach * tiny,
        Quantity.SLOPE: slope**2 * tiny**2,
        Quantity.DISTANCE: reach**2 * tiny**2,
    }
    return most[metric.quantity] * len(start)


def run_columns(
    tape: Tape, columns: Columns, metric: Metric, ks: Ints, optima: Sequence[Optimum]
) -> tuple[Floats, Floats]:
    """Run a tape of unit steps with the records of the metric.

    Parameters
    ----------
    ks
        Sorted horizons, shape (points,).
    optima
        One a problem.

    Returns
    -------
    left
        Shape (points, B): the left side at each horizon, never above the truth by more than rounding.
    last
        Shape (C,): what was recorded last.
    """
    layout = columns.layout
    left, last = Series(metric, ks, layout.first.shape), layout.x0.copy()
    function = _Optima(columns, np.concatenate([one.x for one in optima]), np.array([one.value for one in optima]))

    def observe(_row: int, x: Array) -> None:
        last[:] = x
        left.add(metric.at(function, x))

    with np.errstate(over="ignore", invalid="ignore"):
        run(tape, layout.x0.copy(), columns, observe)
    return left.values, last


@final
@dataclass(frozen=True, slots=True)
class _Optima:
    """The quantities of each problem, shape (B,); best are the columns of x*, least is f* of each."""

    columns: Columns
    best: Floats
    least: Floats

    def squared_distance(self, x: Array) -> Floats:
        return self.columns.layout.each((x - self.best) ** 2)

    def gap(self, x: Array) -> Floats:
        return np.maximum(self.columns.layout.each(self.columns.value(x)) - self.least, 0.0)

    def squared_slope(self, x: Array) -> Floats:
        return self.columns.layout.each(self.columns.slope(x) ** 2)
