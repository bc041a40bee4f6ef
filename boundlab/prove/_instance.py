"""Exact instances of a theorem's setting: functions, noise, who acts, and the numbers, all of them rational."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, final

from boundlab.prove._errors import ProofError
from boundlab.prove._functions import Function, Point, in_hull, infimum, inner, minimise, plus, root_above, square_root

_HALF, _ZERO, _ONE = Fraction(1, 2), Fraction(0), Fraction(1)
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
    still: Fraction = _ZERO

    def points(self) -> tuple[tuple[Fraction, Point], ...]:
        """Return what is added, with probabilities."""
        zero = tuple(_ZERO for _ in self.vector)
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
        return sum((chance * inner(point, point) for chance, point in self.points()), _ZERO)

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
    p_s: Fraction = _ZERO
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

    def objective(self, x: Point) -> Fraction:
        """Return f(x)."""
        return sum((one.value(x) for one in self.functions), _ZERO) / self.n

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
        found["sigma"] = root_above(max((one.variance() for one in self.noise), default=_ZERO))
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
            if why := self._misses(one):
                return why
        return ""

    def _misses(self, assumption: str) -> str:
        least = self._least
        match assumption:
            case "convex":
                return "" if least["mu"] >= 0 else "a function is not convex"
            case "lipschitz":
                return "" if "B" in least and least["mu"] >= 0 else "a function is not convex and Lipschitz"
            case "smooth":
                return "" if least.get("L", _ZERO) > 0 else "a function is not smooth, or all are constant"
            case "strongly-convex":
                return "" if least["mu"] > 0 else "a function is not strongly convex"
            case "minimiser":
                return self._no_minimiser()
            case "bounded-below":
                return "" if self.lowest() is not None else "no infimum is known"
            case "one-function":
                return "" if len(set(self.functions)) == 1 else "the clients have several functions"
            case "fixed-schedule":
                fits = len(self.events) == self.horizon and all(0 <= one < self.n for one in self.events)
                return "" if fits else "who arrives is not fixed"
            case "bounded-variance" | "deterministic" | "unconstrained":
                return ""
            case "iid-events":
                ok = len(self.p) == self.n and all(one > 0 for one in self.p) and self.p_s > 0
                return "" if ok and sum(self.p) + self.p_s == 1 else "the probabilities do not make up a law"
            case "uniform-sampling":
                return ""
        return f"{assumption} is not decided for exact instances"

    def _no_minimiser(self) -> str:
        best = self.minimum()
        if best is None:
            return "no minimiser is known"
        star, leaning = best
        if len(leaning) != self.n or any(sum(parts, _ZERO) for parts in zip(*leaning, strict=True)):
            return "the subgradients at the minimiser have no sum 0"
        pairs = zip(self.functions, leaning, strict=True)
        # With convex functions this makes it a minimiser.
        if any(one.convexity() < 0 or not in_hull(h, one.slopes(star)) for one, h in pairs):
            return "a vector is no subgradient at the minimiser"
        return ""

    # ------------------------------------------------------------------ text

    def lines(self, symbols: Iterable[str], numbers: Mapping[str, Fraction] | None = None) -> list[str]:
        """Return it in words, with the numbers of some symbols, for a reader with pencil and paper."""
        found = [f"f_{place}(x) = {one}" for place, one in enumerate(self.functions)]
        constants = self.constants() if numbers is None else numbers
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


def written(point: Point) -> str:
    """Return a point as text."""
    return str(point[0]) if len(point) == 1 else f"({', '.join(map(str, point))})"
