"""Exact instances of a theorem's setting: functions, noise, who acts, and the numbers, all of them rational."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from math import lcm, prod
from typing import Any, TypeAlias, final

import numpy as np

from boundlab.algorithms import X_S, AffineRow, Control, DescendRow, EventLaw, EventProgram
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.events import Events
from boundlab.execute import Combine, Numbers, Update, rows, starts
from boundlab.options import Options
from boundlab.prove._functions import (
    Function,
    Point,
    in_hull,
    infimum,
    inner,
    minimise,
    plus,
    root_above,
    square_root,
    summed,
)
from boundlab.prove._scalars import ProofError
from boundlab.registry import lookup
from boundlab.tape import Initial, RecordAt, Tape
from boundlab.theorems import Condition, Theorem

_HALF, _NONE, _ONE = Fraction(1, 2), Fraction(0), Fraction(1)
# In a search for a witness the same few functions come again and again.
_minimise, _infimum = lru_cache(maxsize=4096)(minimise), lru_cache(maxsize=4096)(infimum)


class UnfitError(ProofError):
    """An instance is none of this setting; the message says what it lacks."""


@final
@dataclass(frozen=True)
class Noise:
    """What is added to each (sub)gradient, drawn anew each time; its mean is 0.

    Parameters
    ----------
    vector
        With probability (1 − still)·chance; otherwise what makes the mean 0.
    chance
        ½ for a sign.
    still
        Probability that nothing is added.
    """

    vector: Point
    chance: Fraction = _HALF
    still: Fraction = _NONE

    def points(self) -> tuple[tuple[Fraction, Point], ...]:
        """Return what is added, with probabilities."""
        zero = tuple(_NONE for _ in self.vector)
        if not any(self.vector):
            return ((_ONE, zero),)
        rest = self.chance / (1 - self.chance)
        found = [
            ((1 - self.still) * self.chance, self.vector),
            ((1 - self.still) * (1 - self.chance), tuple(-rest * one for one in self.vector)),
        ]
        return (*found, (self.still, zero)) if self.still else tuple(found)

    def variance(self) -> Fraction:
        """Return E‖ξ‖²."""
        return sum((chance * inner(point, point) for chance, point in self.points()), _NONE)

    def __str__(self) -> str:
        return " or ".join(f"{written(point)} (probability {chance})" for chance, point in self.points())


@final
@dataclass(frozen=True)
class Instance:
    """Numbers and functions; whether they make up an instance of a theorem is asked with :meth:`why_not`.

    Parameters
    ----------
    functions
        f_0 … f_{n−1}.
    start
        x0.
    alpha, steps, horizon
        The step size (of the first pass where steps get smaller), local steps, and iterations.
    noise
        Of each client; empty where there is none at all.
    p, p_s
        Probabilities of arrivals and of an aggregation, of sum 1; left out where the algorithm draws by itself.
    bounds
        Constants that are larger than the functions and the noise ask for (mu: smaller), by name.
    star, leaning
        A minimiser, with subgradients of sum 0 there; None for the one that is nearest to x0.
    events
        Who arrives in each iteration, where that is fixed beforehand.
    options
        Of the algorithm, by name, where they are not its defaults; and N, the length of windows.
    """

    functions: tuple[Function, ...]
    start: Point
    alpha: Fraction
    steps: int = 1
    horizon: int = 1
    noise: tuple[Noise, ...] = ()
    p: tuple[Fraction, ...] = ()
    p_s: Fraction = _NONE
    bounds: tuple[tuple[str, Fraction], ...] = ()
    star: Point | None = None
    leaning: tuple[Point, ...] = ()
    events: tuple[int, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def schedule(self) -> tuple[int, ...]:
        """Of which model the gradient is that arrives in each iteration: the last one that its client has seen."""
        seen = dict.fromkeys(self.events, 0)
        found = []
        for k, client in enumerate(self.events):
            found.append(seen[client])
            seen[client] = k + 1
        return tuple(found)

    @property
    def n(self) -> int:
        """The number of clients."""
        return len(self.functions)

    @property
    def dimension(self) -> int:
        """The number of variables."""
        return len(self.start)

    @property
    def zero(self) -> Point:
        """The vector 0."""
        return tuple(_NONE for _ in self.start)

    def law(self, client: int) -> tuple[tuple[Fraction, Point], ...]:
        """Return what may be added to a gradient of a client, with probabilities."""
        return self.noise[client].points() if self.noise else ((_ONE, self.zero),)

    def objective(self, x: Point) -> Fraction:
        """Return f(x)."""
        return sum((one.value(x) for one in self.functions), _NONE) / self.n

    def minimum(self) -> tuple[Point, tuple[Point, ...]] | None:
        """Return a minimiser and subgradients of sum 0 there."""
        if self.star is not None:
            return self.star, self.leaning
        return _minimise(self.functions, self.start) if all(one.convexity() >= 0 for one in self.functions) else None

    def lowest(self) -> Fraction | None:
        """Return the infimum of f, None where it is not known."""
        if self.dimension == 1:
            return _infimum(self.functions)
        best = self.minimum()
        return None if best is None else self.objective(best[0])

    def own_minimisers(self) -> tuple[Point, ...] | None:
        """Return the minimiser of each function, where all are strongly convex."""
        if any(one.convexity() <= 0 for one in self.functions):
            return None
        found = [_minimise((one,), self.start) for one in self.functions]
        return tuple(one[0] for one in found if one is not None) if None not in found else None

    # ------------------------------------------------------------------ constants

    def least(self) -> dict[str, Fraction]:
        """Return the constants of the functions and of the noise; roots that are not rational are rounded up."""
        return dict(self._least)

    @cached_property
    def _least(self) -> dict[str, Fraction]:
        found: dict[str, Fraction] = {}
        slopes = [one.lipschitz() for one in self.functions]
        if all(one is not None for one in slopes):
            found["B"] = root_above(max(one for one in slopes if one is not None))
        curves = [one.smoothness() for one in self.functions]
        if all(one is not None for one in curves):
            found["L"] = max(one for one in curves if one is not None)
        found["mu"] = min(one.convexity() for one in self.functions)
        if self.p:
            found["p_min"] = min(*self.p, self.p_s)
        if self.events:
            found["tau_max"] = Fraction(max(k - old for k, old in enumerate(self.schedule)))
        found["sigma"] = root_above(max((one.variance() for one in self.noise), default=_NONE))
        return found

    def constants(self) -> dict[str, Fraction]:
        """Return the numbers of all symbols that belong to functions, noise and run; R where it is rational.

        Raises
        ------
        UnfitError
            If a constant is not one of these functions.
        """
        found, best = self.least(), self.minimum()
        if best is not None and (own := self.own_minimisers()) is not None:
            ways = [plus(best[0], one, -_ONE) for one in own]
            found["zeta"] = root_above(max(inner(way, way) for way in ways))
        for name, value in self.bounds:
            if name not in found:
                raise UnfitError(f"the functions have no {name}")
            if value <= 0 and name == "p_min":
                raise UnfitError("p_min is positive")
            if value > found[name] if name in ("mu", "p_min") else value < found[name]:
                raise UnfitError(f"{name} = {value} is not true of the functions: {found[name]}")
            found[name] = value
        found |= {"n": Fraction(self.n), "M": Fraction(self.steps), "p_s": self.p_s, "alpha": self.alpha}
        found |= {name: Fraction(self.horizon) for name in ("K", "T")}
        # Where steps get smaller, D is the first of them, and a0 the theorem's c/d, which is the same.
        found |= dict.fromkeys(("D", "a0"), self.alpha)
        if (lowest := self.lowest()) is not None:
            found["F0"] = self.objective(self.start) - lowest
        if best is not None:
            way = plus(self.start, best[0], -_ONE)
            distance = square_root(inner(way, way))
            if distance is not None:
                found["R"] = distance
        return found

    # ------------------------------------------------------------------ assumptions

    def why_not(self, assumptions: Iterable[str], noisy: bool) -> str:
        """Return which assumption on functions and noise is not met, exactly; empty if all are."""
        if (not noisy or "deterministic" in assumptions) and any(one.variance() for one in self.noise):
            return "there is noise"
        if self.noise and len(self.noise) != self.n:
            return "each client has a noise of its own"
        if any(not 0 < one.chance < 1 or not 0 <= one.still < 1 for one in self.noise):
            return "a probability of the noise is none"
        if any(one.dimension != self.dimension for one in self.functions):
            return "the functions have several dimensions"
        if self.alpha <= 0 or self.steps < 1 or self.horizon < 0:
            return "a number of the run is out of range"
        for one in sorted(assumptions):
            why = _MISSED[one](self) if one in _MISSED else f"{one} is not decided for exact instances"
            if why:
                return why
        return ""

    def _no_minimiser(self) -> str:
        best = self.minimum()
        if best is None:
            return "no minimiser is known"
        star, leaning = best
        if len(leaning) != self.n or any(sum(parts, _NONE) for parts in zip(*leaning, strict=True)):
            return "the subgradients at the minimiser have no sum 0"
        pairs = zip(self.functions, leaning, strict=True)
        # With convex functions this makes it a minimiser.
        if any(one.convexity() < 0 or not in_hull(h, one.slopes(star)) for one, h in pairs):
            return "a vector is no subgradient at the minimiser"
        return ""

    # ------------------------------------------------------------------ text

    def lines(self, symbols: Iterable[str], constants: Mapping[str, Fraction]) -> list[str]:
        """Return it in words, with the numbers of some symbols, for a reader with pencil and paper."""
        found = [f"f_{place}(x) = {one}" for place, one in enumerate(self.functions)]
        best = self.minimum()
        if self.events:
            found.append(f"who arrives: {', '.join(map(str, self.events))}")
        if self.options:
            found.append(f"options: {', '.join(f'{name} = {value}' for name, value in self.options)}")
        found.append(f"x0 = {written(self.start)}" + ("" if best is None else f", x* = {written(best[0])}"))
        own = set(symbols)
        names = (
            "n",
            "M",
            "K",
            "T",
            "N",
            "Qmin",
            "Qmax",
            "speed_ratio",
            "mu_step",
            "tau_max",
            "alpha",
            "eta",
            "D",
            "B",
            "L",
            "mu",
            "sigma",
            "sigma_l",
            "sigma_g",
            "G_sq",
            "zeta",
            "R",
            "F0",
        )
        found.append(", ".join(f"{name} = {constants[name]}" for name in names if name in own and name in constants))
        if self.p:
            chances = ", ".join(f"p_{place} = {one}" for place, one in enumerate(self.p))
            found.append(f"{chances}, p_s = {self.p_s}")
        for place, noise in enumerate(self.noise):
            found.append(f"noise of client {place}: {noise if noise.variance() else 'none'}")
        if any(one.smoothness() is None for one in self.functions):
            found.append("at a kink the slope of the first of the largest pieces is taken")
        return found


def _unless(met: bool, words: str) -> str:
    return "" if met else words


# By assumption: what is said of an instance that does not meet it.
_MISSED: Mapping[str, Callable[[Instance], str]] = {
    "convex": lambda one: _unless(one._least["mu"] >= 0, "a function is not convex"),
    "lipschitz": lambda one: _unless(
        "B" in one._least and one._least["mu"] >= 0, "a function is not convex and Lipschitz"
    ),
    "smooth": lambda one: _unless(one._least.get("L", _NONE) > 0, "a function is not smooth, or all are constant"),
    "strongly-convex": lambda one: _unless(one._least["mu"] > 0, "a function is not strongly convex"),
    "minimiser": Instance._no_minimiser,
    "bounded-below": lambda one: _unless(one.lowest() is not None, "no infimum is known"),
    "one-function": lambda one: _unless(len(set(one.functions)) == 1, "the clients have several functions"),
    "fixed-schedule": lambda one: _unless(
        len(one.events) == one.horizon and all(0 <= i < one.n for i in one.events), "who arrives is not fixed"
    ),
    "iid-events": lambda one: _unless(
        len(one.p) == one.n and min(*one.p, one.p_s) > 0 and sum(one.p) + one.p_s == 1,
        "the probabilities do not make up a law",
    ),
    **dict.fromkeys(("bounded-variance", "deterministic", "unconstrained", "uniform-sampling"), lambda _: ""),
}


def written(point: Point) -> str:
    """Return a point as text."""
    return str(point[0]) if len(point) == 1 else f"({', '.join(map(str, point))})"


# All runs of an algorithm's own program on an exact instance, with their probabilities.
#
# The outcomes are the events and the noise of every pass, whether it is used or not: pass (i, r) is what client i
# computes from the server's model in iteration r. Rows of the program say which of these passes enter which register.

Name: TypeAlias = tuple[str, tuple[int, ...]]
_ZERO = Fraction(0)
MAX_OUTCOMES = 5_000


def named(name: Name) -> str:
    """Return a vector with its indices as text."""
    return f"{name[0]}[{', '.join(map(str, name[1]))}]" if name[1] else name[0]


@final
class Column:
    """A random vector: its values by outcome, over one denominator.

    Parameters
    ----------
    values
        By outcome.
    """

    def __init__(self, values: Sequence[Point]) -> None:
        self.values = values

    @cached_property
    def scaled(self) -> tuple[Any, int]:
        """Integers, shape (dimension, outcomes), and the denominator."""
        below = lcm(*{part.denominator for one in self.values for part in one})
        rows = [[part.numerator * (below // part.denominator) for part in one] for one in self.values]
        return np.array(rows, dtype=object).T, below


@final
class Runs:
    """Every outcome with its probability, and each vector of a setting as a random vector.

    Parameters
    ----------
    chances
        By outcome.
    columns
        By name and indices.
    functions
        f_0 … f_{n−1}.
    """

    def __init__(
        self, chances: Sequence[Fraction], columns: dict[Name, Column], functions: tuple[Function, ...]
    ) -> None:
        self.columns, self.functions = columns, functions
        self._below = lcm(*{one.denominator for one in chances})
        self._weights = np.array([one.numerator * (self._below // one.denominator) for one in chances], dtype=object)
        self.chances = chances
        self._inner: dict[tuple[Name, Name], Fraction] = {}
        self._values: dict[tuple[int, Name], Fraction] = {}

    def inner(self, one: Name, other: Name) -> Fraction:
        """Return E⟨u, v⟩; raises KeyError where a vector is beyond the end of the runs."""
        key = (one, other)
        if key not in self._inner:
            (u, below), (v, also) = self.columns[one].scaled, self.columns[other].scaled
            found = sum(int(((a * b) * self._weights).sum()) for a, b in zip(u, v, strict=True))
            self._inner[key] = Fraction(found, below * also * self._below)
        return self._inner[key]

    def value(self, client: int, at: Name) -> Fraction:
        """Return E f_i(u); raises KeyError as :meth:`inner`."""
        key = (client, at)
        if key not in self._values:
            function = self.functions[client]
            pairs = zip(self.chances, self.columns[at].values, strict=True)
            self._values[key] = sum((chance * function.value(point) for chance, point in pairs), _ZERO)
        return self._values[key]

    def add(self, name: Name, of: Callable[[int], Point]) -> None:
        """Add a random vector that is made of others, given by outcome."""
        self.columns[name] = Column([of(place) for place in range(len(self.chances))])

    def combine(self, name: Name, parts: Iterable[tuple[Fraction, Name]]) -> None:
        """Add Σ weight·vector."""
        size, columns = self.functions[0].dimension, [(weight, self.at(of)) for weight, of in parts]
        self.add(name, lambda place: summed(size, [(weight, one[place]) for weight, one in columns]))

    def constant(self, name: Name, point: Point) -> None:
        """Add a vector that is not random."""
        self.columns[name] = Column([point] * len(self.chances))

    def at(self, name: Name) -> Sequence[Point]:
        """Return the values of a vector by outcome."""
        return self.columns[name].values


def replay(
    program: EventProgram, instance: Instance, first: int, size: Callable[[int], Fraction] | None = None
) -> Runs:
    """Run all outcomes.

    Registers after k events are ``register[number, k]``; a pass is made of points ``z[i, r, m]``, slopes ``g`` and
    noise ``e``.

    Parameters
    ----------
    first
        The number of the passes that the program begins with.
    size
        The step size of a pass, by its number; that of the instance if left out.

    Raises
    ------
    UnfitError
        If there are too many outcomes.
    """
    return _Tree(program, instance, first, size or (lambda _: instance.alpha)).runs()


class _Tree:
    def __init__(self, program: EventProgram, instance: Instance, first: int, size: Callable[[int], Fraction]) -> None:
        self._program, self._instance, self._first, self._size = program, instance, first, size
        # Where the program draws by itself who acts, it reads nothing of a law but that it is one in fractions.
        p = instance.p or tuple(Fraction(1, instance.n) for _ in instance.functions)
        self._law = EventLaw(np.array(p, dtype=object), instance.p_s)
        self._seen: dict[Name, Point] = {}
        self._chances: list[Fraction] = []
        self._leaves: dict[Name, list[Point]] = {}

    def runs(self) -> Runs:
        held = {Initial.START: self._instance.start, Initial.ZERO: self._instance.zero}
        registers = {place: held[one] for place, one in enumerate(self._program.initial) if one in held}
        rows, control = self._program.opening()
        opens = any(isinstance(row, DescendRow) for row in rows)
        for chance, passes in self._passes(self._first, registers[X_S]) if opens else [(Fraction(1), {})]:
            self._iterate(0, self._applied(registers, rows, passes, self._first), control, chance)
        columns = {name: Column(values) for name, values in self._leaves.items()}
        return Runs(self._chances, columns, self._instance.functions)

    def _iterate(self, k: int, registers: dict[int, Point], control: Control, chance: Fraction) -> None:
        for number, point in registers.items():
            # A register that holds nothing at first is one that rows write before they read it.
            if self._program.initial[number] is not Initial.UNWRITTEN:
                self._seen["register", (number, k)] = point
        if k == self._instance.horizon:
            self._leaf(chance)
            return
        for share, passes in self._passes(k, registers[X_S]):
            for event, probability in self._program.choices(control, self._law):
                if not probability:
                    continue
                step = self._program.event(control, event, k)
                if not step.iteration:
                    raise ProofError("an event that ends no iteration is not known to exact models")
                after = self._applied(registers, step.rows, passes, k)
                self._iterate(k + 1, after, step.control, chance * share * Fraction(probability))

    def _leaf(self, chance: Fraction) -> None:
        if len(self._chances) >= MAX_OUTCOMES:
            raise UnfitError(f"there are more than {MAX_OUTCOMES} outcomes")
        self._chances.append(chance)
        for name, point in self._seen.items():
            self._leaves.setdefault(name, []).append(point)

    def _passes(self, number: int, begin: Point) -> Iterator[tuple[Fraction, dict[int, Point]]]:
        """Yield what all clients may compute from a model, with probabilities."""
        one, size = self._instance, self._size(number)
        laws = [law for i in range(one.n) for law in [one.law(i)] * one.steps]
        for drawn in itertools.product(*laws):
            noise = [point for _, point in drawn]
            yield (
                prod((chance for chance, _ in drawn), start=_ONE),
                {
                    i: _local_steps(function, begin, size, noise[i * one.steps :][: one.steps], self._seen, (i, number))
                    for i, function in enumerate(one.functions)
                },
            )

    def _applied(
        self, registers: dict[int, Point], rows: Sequence[Any], passes: Mapping[int, Point], number: int
    ) -> dict[int, Point]:
        now, moved = dict(registers), False
        for row in rows:
            if isinstance(row, AffineRow):
                terms = [(exact_weight(weight), now[source]) for weight, source in row.terms]
                now[row.dst] = summed(self._instance.dimension, terms)
                moved |= row.dst == X_S
            elif isinstance(row, DescendRow):
                same_step = abs(row.step_size - float(self._size(number))) <= 1e-9 * row.step_size
                if row.src != X_S or moved or row.steps != self._instance.steps or not same_step:
                    raise ProofError("a pass that does not begin at the model before the event is not known here")
                now[row.dst] = passes[row.client]
            else:
                now[row.dst] = now[row.src]
        return now


def _local_steps(
    function: Function, z: Point, size: Fraction, noise: Sequence[Point], seen: dict[Name, Point], run: tuple[int, ...]
) -> Point:
    """Return where local steps end; points, slopes and noise are noted by run and step."""
    for q, drawn in enumerate(noise):
        slope = function.slope(z)
        for name, value in (("z", z), ("g", slope), ("e", drawn)):
            seen[name, (*run, q)] = value
        z = plus(z, plus(slope, drawn), -size)
    seen["z", (*run, len(noise))] = z
    return z


def exact_weight(weight: float) -> Fraction:
    """Return the rational number that a weight of a program stands for."""
    found = rational(weight, ENGINE)
    if found is None:
        raise ProofError(f"the weight {weight} of a program is no rational number")
    return found


# What a setting tells exact models: its instances, the numbers of its symbols there, and all runs.

# The members of a family by their indices.
Members = Mapping[tuple[int, ...], Fraction]


class Modelled:
    """The part of a setting that proofs do not look at."""

    theorem: Theorem
    assumed: frozenset[str]
    noisy: bool
    model: Any  # the server's model after k iterations, by k

    def given_by(self, events: Events) -> dict[str, Any]:
        """Return how an instance says that these events are given, by its parameters."""
        return {"events": tuple(events.actor.tolist())}

    def why_not(self, instance: Instance) -> str:
        """Return which assumption of the theorem an instance does not meet, exactly; empty if it meets all."""
        return instance.why_not(self.assumed, self.noisy)

    def decides(self, condition: Condition) -> bool:
        """Return whether :meth:`why_not` decides if an instance meets a condition of the theorem."""
        return False

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols on an instance; those that have none there are left out."""
        return instance.constants()

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families on an instance."""
        found = {"p": instance.p} if instance.p and "iid-events" in self.assumed else {}
        if instance.events:
            found["s"] = tuple(map(Fraction, instance.schedule))
        return {name: {(place,): one for place, one in enumerate(own)} for name, own in found.items()}

    def runs(self, instance: Instance) -> Runs:
        """Return all runs of the algorithm on an instance, with every vector of this setting."""
        raise ProofError(f"{self.theorem.algorithm} has no exact models")

    def _with_points(self, runs: Runs, instance: Instance) -> Runs:
        """Add x* with its subgradients."""
        if "minimiser" in self.assumed and (best := instance.minimum()) is not None:
            runs.constant(("star", ()), best[0])
            for i, slope in enumerate(best[1]):
                runs.constant(("h", (i,)), slope)
        return runs


# All runs of a compiled schedule on an exact instance: the tape is fixed, only the noise is random.

_SERVER_MODEL = 0
# Which row of the tape's local runs has which indices in a setting.
Places = Mapping[tuple[int, ...], int]


def parameters_of(algorithm: Any, options: Mapping[str, Any]) -> Any:
    """Return an algorithm's parameters from options."""
    return algorithm.read(Options(algorithm.id, dict(options)))


@cache
def compiled(
    algorithm: str,
    options: tuple[tuple[str, Any], ...],
    arrivals: tuple[int, ...],
    clients: int,
    iterations: int,
    times: tuple[float, ...] = (),
) -> Tape:
    """Return the tape of an algorithm for clients that arrive one after the other; times are 1, 2, … if left out.

    Raises
    ------
    UnfitError
        If the arrivals do not hold so many server updates.
    """
    own = lookup("algorithms", algorithm)
    parameters = parameters_of(own, dict(options))
    at = np.array(times) if times else np.arange(1.0, len(arrivals) + 1.0)
    events = Events(at, np.array(arrivals, dtype=np.int32))
    tape: Tape = own.schedule(parameters, events, clients, RecordAt(), iterations)
    if tape.iterations < iterations:
        raise UnfitError(f"{len(arrivals)} arrivals hold {tape.iterations} server updates, not {iterations}")
    return tape


def used_runs(tape: Tape) -> dict[tuple[int, ...], int]:
    """Return the rows of the local runs that enter server update t, by (t, place among them)."""
    found: dict[tuple[int, ...], int] = {}
    count: dict[int, int] = {}
    for row, t in zip(tape.uses.update.tolist(), tape.uses.version.tolist(), strict=True):
        found[t, count.setdefault(t, 0)] = row
        count[t] += 1
    return found


class Used:
    """Runs that server updates use, by their indices: whose, from which model, how many steps, and what they weigh.

    Parameters
    ----------
    tape
        What they stand in.
    rows
        Which row of its local runs each is.
    """

    def __init__(self, tape: Tape, rows: Places) -> None:
        table, uses = tape.descend, tape.uses
        weights = dict(zip(uses.update.tolist(), map(exact_weight, uses.weight.tolist()), strict=True))
        self.tape, self.rows = tape, dict(rows)
        self.weight = {at: weights[row] for at, row in rows.items() if row in weights}
        self.c, self.s, self.steps = (
            {at: int(column[row]) for at, row in rows.items()} for column in (table.client, table.version, table.steps)
        )

    def families(self) -> dict[str, Members]:
        """Return the members of families: clients, and models that runs began at."""
        return {"c": whole(self.c), "s": whole(self.s)}


def whole(numbers: Mapping[tuple[int, ...], int]) -> Members:
    """Return whole numbers as members of a family."""
    return {at: Fraction(one) for at, one in numbers.items()}


def halves(up: str, down: str, values: Members) -> dict[str, Members]:
    """Return how much numbers are above 0, and below, as two families."""
    return {
        up: {at: max(one, _ZERO) for at, one in values.items()},
        down: {at: max(-one, _ZERO) for at, one in values.items()},
    }


def exactly(read: Mapping[str, float], names: Iterable[str]) -> dict[str, Fraction]:
    """Return the rational numbers that readings of a tape stand for; those that the algorithm has not are left out.

    Raises
    ------
    UnfitError
        If one is no simple rational number.
    """
    try:
        return {name: exact_weight(read[name]) for name in names if name in read}
    except ProofError as error:
        raise UnfitError(str(error)) from None


def replay_tape(tape: Tape, instance: Instance, places: Places) -> Runs:
    """Run all values of the noise through a tape.

    The server's model after t updates is ``w[t]``; the points, slopes and noise of the local run with the indices
    ``place`` are ``z[*place, q]``, ``g`` and ``e``.

    Parameters
    ----------
    places
        The runs that have names. All others run too, with noise of their own where they arrive.

    Raises
    ------
    UnfitError
        If there are too many outcomes.
    """
    table = tape.descend
    columns = enumerate(zip(table.steps.tolist(), table.arrival.tolist(), table.client.tolist(), strict=True))
    draws = [(row, q, client) for row, (steps, arrival, client) in columns if arrival >= 0 for q in range(steps)]
    laws = [instance.law(client) for _, _, client in draws]
    if prod(len(law) for law in laws) > MAX_OUTCOMES:
        raise UnfitError(f"there are more than {MAX_OUTCOMES} outcomes")
    names: dict[int, list[tuple[int, ...]]] = {}
    for place, row in places.items():
        names.setdefault(row, []).append(place)
    chances: list[Fraction] = []
    found: dict[Name, list[Point]] = {}
    for drawn in itertools.product(*laws):
        chances.append(prod((chance for chance, _ in drawn), start=Fraction(1)))
        noise = {(row, q): value for (row, q, _), (_, value) in zip(draws, drawn, strict=True)}
        for name, value in run_once(tape, instance, noise, names).items():
            found.setdefault(name, []).append(value)
    return Runs(chances, {name: Column(values) for name, values in found.items()}, instance.functions)


def run_once(
    tape: Tape, instance: Instance, noise: Mapping[tuple[int, int], Point], names: Mapping[int, Sequence[Any]]
) -> dict[Name, Point]:
    """Return every named vector in one outcome.

    Raises
    ------
    ProofError
        If local steps are of several sizes, implicit, or of another size than the instance's.
    """
    alpha, zero = instance.alpha, instance.zero
    if tape.local.size or any(tape.implicit.tolist()):
        raise ProofError("local steps of several sizes, or implicit ones, are not known to exact models")
    if any(abs(size - float(alpha)) > 1e-9 * float(alpha) for size in tape.descend.step_size.tolist()):
        raise ProofError("a run with another step size than the instance's is not known to exact models")
    exact = Numbers([*map(exact_weight, tape.affine.coef.tolist())], [alpha] * len(tape.descend.steps), ())
    now: list[Any] = starts(tape, instance.start, zero)
    seen: dict[Name, Point] = {("w", (0,)): now[_SERVER_MODEL]}
    versions = tape.version.tolist()
    for row, event in zip(rows(tape, exact), tape.event.tolist(), strict=True):
        if isinstance(row, Combine):
            now[row.dst] = summed(instance.dimension, [(weight, now[source]) for weight, source in row.terms])
        elif isinstance(row, Update):
            function, start = instance.functions[row.client], now[row.src]
            drawn = [noise.get((row.row, q), zero) for q in range(len(row.sizes))]
            now[row.dst] = _local_steps(function, start, alpha, drawn, {}, ())
            for place in names.get(row.row, ()):
                end = _local_steps(function, start, alpha, drawn, seen, place)
                seen["g", (*place, len(drawn))] = function.slope(end)
        seen["w", (versions[event + 1],)] = now[_SERVER_MODEL]
    return seen
