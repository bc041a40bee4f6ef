"""Exact models where a setting of the prover has none: their runs are written down here, not read off a tape."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Any

from boundlab.prove._functions import MaxAffine, PiecewiseQuadratic, Point, Quadratic, minimise, plus, summed
from boundlab.prove._instance import Column, Instance, Members, Name, Noise, Runs, UnfitError
from boundlab.prove.models import Model, settled
from boundlab.prove.setting import Setting
from boundlab.prove.settings._instances import LIPSCHITZ, SMOOTH, bowl
from boundlab.theorems import Theorem

F = Fraction
DIGITS = 80
Vectors = dict[Name, Point]


class ByHand(Setting):
    """A setting with one run, of ``vectors``."""

    def vectors(self, instance: Instance) -> Vectors:
        """Return every vector of the one run."""
        raise NotImplementedError

    def outcomes(self, instance: Instance) -> Iterator[tuple[Fraction, Vectors]]:
        """Yield all runs with their probabilities."""
        yield F(1), self.vectors(instance)

    def runs(self, instance: Instance) -> Runs:
        """Return all runs."""
        chances, found = zip(*self.outcomes(instance), strict=True)
        columns = {name: Column([one[name] for one in found]) for name in found[0]}
        return self._with_points(Runs(chances, columns, instance.functions), instance)


def gradients(instance: Instance, k: int, x: Point) -> Vectors:
    """Return g[i, k] at a point."""
    return {("g", (i, k)): one.slope(x) for i, one in enumerate(instance.functions)}


def descended(instance: Instance, x: Point, taken: Vectors) -> Point:
    """Return x − α·(the mean of gradients)."""
    mean = summed(instance.dimension, [(F(1, instance.n), one) for one in taken.values()])
    return plus(x, mean, -instance.alpha)


class Told(ByHand):
    """A setting whose instances say a number more, as an option."""

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols."""
        return super().constants(instance) | dict(instance.options)


class HeavyBall(Told):
    """Models x[−1], x[0], …; beta is an option of the instance."""

    def vectors(self, instance: Instance) -> Vectors:
        """Return every vector of the one run."""
        beta = dict(instance.options)["beta"]
        before, x = instance.start, instance.start
        found: Vectors = {("x", (-1,)): before}
        for k in range(instance.horizon + 1):
            found["x", (k,)] = x
            taken = gradients(instance, k, x)
            found |= taken
            way = plus(x, before, F(-1))
            before, x = x, plus(descended(instance, x, taken), way, beta)
        return found


class ConstantMomentum(Told):
    """Nesterov's method with momentum (1 − √q)/(1 + √q); √q is an option of the instance."""

    def vectors(self, instance: Instance) -> Vectors:
        """Return every vector of the one run."""
        root = dict(instance.options)["root"]
        x = y = instance.start
        found: Vectors = {}
        for k in range(instance.horizon + 1):
            taken = gradients(instance, k, y)
            found |= {("x", (k,)): x, ("y", (k,)): y} | taken
            ahead = descended(instance, y, taken)
            x, y = ahead, plus(ahead, plus(ahead, x, F(-1)), (1 - root) / (1 + root))
        return found


class InTurn(ByHand):
    """Passes in which all clients step, forth and back in turn."""

    def order(self, instance: Instance, k: int) -> list[int]:
        """Return the clients of a pass."""
        return sorted(range(instance.n), reverse=k % 2 > 0)

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return who is when in a pass."""
        passes = range(instance.horizon + 1)
        return {"c": {(k, q): F(i) for k in passes for q, i in enumerate(self.order(instance, k))}}

    def vectors(self, instance: Instance) -> Vectors:
        """Return every vector of the one run."""
        x, found = instance.start, Vectors()
        for k in range(instance.horizon + 1):
            found["x", (k,)] = found["z", (k, 0)] = x
            for q, i in enumerate(self.order(instance, k)):
                found["g", (k, q)] = instance.functions[i].slope(x)
                x = found["z", (k, q + 1)] = plus(x, found["g", (k, q)], -instance.alpha)
        return found


class Implicit(ByHand):
    """Proximal steps: each uses the subgradients where it ends."""

    def vectors(self, instance: Instance) -> Vectors:
        """Return every vector of the one run."""
        x, found = instance.start, gradients(instance, 0, instance.start)
        for k in range(instance.horizon + 1):
            found["x", (k,)] = x
            near = Quadratic((instance.n / instance.alpha,) * instance.dimension, x)
            least = minimise((*instance.functions, near), x)
            assert least is not None
            x = least[0]
            found |= {("g", (i, k + 1)): slope for i, slope in enumerate(least[1][:-1])}
        return found


class Beside(ByHand):
    """Steps that know what is beside f: a convex H, which is an option of the instance.

    Where there is a set, H is an exact penalty: 0 on the set, and so steep around it that each step ends there.
    """

    @property
    def sampling(self) -> str | None:
        """Whether all clients step, or one that is drawn."""
        return self.theorem.core.value("sampling")

    def why_not(self, instance: Instance) -> str:
        """Return which assumption on functions and noise is not met; its minimiser is one of f + H."""
        others = self.assumed - {"composite", "constrained", "minimiser"}
        return instance.why_not(others, self.noisy)

    def best(self, instance: Instance) -> tuple[Point, tuple[Point, ...]]:
        """Return x*, with subgradients of the f_i, and one of n·H, of sum 0."""
        beside = dict(instance.options)["H"]
        many = MaxAffine(
            tuple((tuple(instance.n * one for one in slope), instance.n * level) for slope, level in beside.pieces)
        )
        least = minimise((*instance.functions, many), instance.start)
        assert least is not None
        return least

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols; R is how far x* is, the minimiser of f + H."""
        way = plus(instance.start, self.best(instance)[0], F(-1))
        return super().constants(instance) | {"R": abs(way[0])}

    def near(self, instance: Instance, at: Point) -> tuple[Point, Point]:
        """Return where a proximal step ends, and the subgradient of H there."""
        least = minimise((dict(instance.options)["H"], Quadratic((1 / instance.alpha,), at)), at)
        assert least is not None
        return least[0], least[1][0]

    def vectors(self, instance: Instance) -> Vectors:
        """Return every vector of the one run of the mean gradient."""
        x, found = instance.start, Vectors()
        for k in range(instance.horizon + 1):
            found["x", (k,)] = x
            taken = gradients(instance, k, x)
            found |= taken
            x, found["r", (k + 1,)] = self.near(instance, descended(instance, x, taken))
        return found

    def _with_points(self, runs: Runs, instance: Instance) -> Runs:
        star, (*slopes, beside) = self.best(instance)
        runs.constant(("star", ()), star)
        runs.constant(("hs", ()), (beside[0] / instance.n,))
        for i, slope in enumerate(slopes):
            runs.constant(("h", (i,)), slope)
        # H is one more function.
        runs.functions = (*runs.functions, dict(instance.options)["H"])
        return runs


class Drawn(Beside):
    """Steps of one client that is drawn: u[i, k] is where client i would go."""

    def outcomes(self, instance: Instance) -> Iterator[tuple[Fraction, Vectors]]:
        """Yield all runs with their probabilities."""
        laws = [instance.law(i) for i in range(instance.n)]
        one_round = list(itertools.product(range(instance.n), *laws))
        for rounds in itertools.product(one_round, repeat=instance.horizon):
            x, chance, found = instance.start, F(1), Vectors()
            for k, (drawn, *noises) in enumerate(rounds):
                found["x", (k,)] = x
                found |= gradients(instance, k, x)
                chance /= instance.n
                for i, (probability, noise) in enumerate(noises):
                    chance *= probability
                    found["e", (i, k)] = noise
                    way = plus(found["g", (i, k)], noise)
                    found["u", (i, k)], found["p", (i, k)] = self.near(instance, plus(x, way, -instance.alpha))
                x = found["u", (drawn, k)]
            found["x", (instance.horizon,)] = x
            yield chance, found


def sequence(many: int) -> list[Fraction]:
    """Return t[0], t[1], … to so many digits; all but the first are irrational.

    They are rounded down, so that t[k + 1]² − t[k + 1] ≤ t[k]²: of this the proofs use no more.
    """
    found, unit = [F(1)], 10**DIGITS
    while len(found) < many:
        inside = 1 + 4 * found[-1] ** 2
        found.append((1 + F(isqrt(int(inside * unit**2)), unit)) / 2)
    return found


class Accelerated(Beside):
    """Nesterov's method, and FISTA: the gradient is taken at y[k], ahead of the model x[k]."""

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return Nesterov's sequence."""
        return {"t": {(k,): one for k, one in enumerate(sequence(instance.horizon + 2))}}

    def vectors(self, instance: Instance) -> Vectors:
        """Return every vector of the one run."""
        t = sequence(instance.horizon + 2)
        x = y = instance.start
        found = Vectors()
        for k in range(instance.horizon + 1):
            taken = gradients(instance, k, y)
            found |= {("x", (k,)): x, ("y", (k,)): y} | taken
            ahead, found["r", (k + 1,)] = self.near(instance, descended(instance, y, taken))
            x, y = ahead, plus(ahead, plus(ahead, x, F(-1)), (t[k] - 1) / t[k + 1])
        return found


class WithBeside(Model):  # type: ignore[misc]  # in which H has values, too
    """All runs on an instance, and a number for every symbol."""

    def ground(self, atom: Any, at: Any) -> Any:
        """Return which number of this model an atom is; H is the function after those of the clients."""
        if atom.kind == "value" and atom.function == "H":
            return "value", self.instance.n, self._vector(atom.vectors[0], at)
        return super().ground(atom, at)


def still(instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
    """Return instances without noise."""
    return tuple(replace(one, noise=()) for one in instances)


def told(name: str, value: Fraction, *instances: Instance) -> tuple[Instance, ...]:
    """Return instances that say one number more."""
    return tuple(replace(one, options=((name, value),)) for one in instances)


def smooth(
    functions: tuple[Any, ...], at: int | Fraction, alpha: Fraction, horizon: int, **bounds: Fraction
) -> Instance:
    """Return an instance of smooth functions."""
    return Instance(functions, (F(at),), alpha, horizon=horizon, bounds=tuple(sorted(bounds.items())))


def bump(curvature: int, centre: int = 0) -> Quadratic:
    """Return a quadratic."""
    return Quadratic((F(curvature),), (F(centre),))


def steep(left: int, right: int) -> PiecewiseQuadratic:
    """Return a function with other curvatures on both sides of 0."""
    return PiecewiseQuadratic((F(0),), (F(left), F(right)), F(0))


BALLS = (
    # The largest step, and smaller ones; a slope that stays as it is; two clients that disagree; a start at x*.
    *told("beta", F(1, 2), smooth((bowl(1),), 5, F(1, 2), 3), smooth((bump(1),), 1, F(1, 2), 3)),
    *told("beta", F(1, 2), smooth((bowl(1), bowl(1, 1)), 2, F(1, 4), 3), smooth((steep(1, 2),), 3, F(1, 8), 4)),
    *told("beta", F(1, 4), smooth((bowl(1),), 0, F(3, 4), 2), smooth((steep(2, 1), bowl(2, 2)), -1, F(3, 8), 3)),
    *told("beta", F(0), smooth((bowl(1),), 5, F(1), 2), smooth((bowl(1), bowl(1, 1)), -2, F(1, 2), 2, L=F(2))),
)
ROOTS = (
    *told("root", F(1), smooth((bump(1),), 2, F(1), 2)),
    # Two curvatures, of one client or of two; mu is smaller, or L larger, than it need be.
    *told("root", F(1, 2), smooth((steep(1, 4),), 3, F(1), 4), smooth((steep(4, 1),), 3, F(1), 4)),
    *told("root", F(1, 2), smooth((bump(1, 1), bump(4, -1)), 2, F(1), 3), smooth((bump(1),), 2, F(1), 3, L=F(4))),
    *told("root", F(1, 3), smooth((steep(2, 1),), -5, F(1), 3, L=F(9)), smooth((bump(9),), 1, F(1), 3, mu=F(1))),
    *told("root", F(2, 3), smooth((steep(4, 9), bump(5, 2)), 1, F(1), 3)),
    *told("root", F(1, 2), Instance((Quadratic((F(1), F(4)), (F(0), F(0))),), (F(3), F(4)), F(1), horizon=3)),
)
# A step for the horizon is rational where the root of K is.
PASSES = tuple(replace(one, horizon=4 if one.horizon > 1 else 1) for one in still(LIPSCHITZ))
# A proximal step of kinks in two variables is not known.
IMPLICIT = tuple(one for one in still(LIPSCHITZ) if one.dimension == 1) + still(SMOOTH)


def beside(to: MaxAffine, *instances: Instance) -> tuple[Instance, ...]:
    """Return instances with something beside f."""
    return tuple(replace(one, options=(("H", to),)) for one in instances)


def lines(*pieces: tuple[int | Fraction, int | Fraction]) -> MaxAffine:
    """Return the largest of lines."""
    return MaxAffine(tuple(((F(slope),), F(level)) for slope, level in pieces))


def between(low: int | Fraction, high: int | Fraction) -> MaxAffine:
    """Return an exact penalty for leaving a set."""
    return lines((0, 0), (1000, -1000 * high), (-1000, 1000 * low))


ABS, HINGE, SHARP = lines((1, 0), (-1, 0)), lines((0, 0), (1, -1)), lines((2, -2), (-1, 0))
PENALISED = (
    *beside(
        ABS, smooth((bump(1),), 5, F(1), 3), smooth((bump(2, 3),), -1, F(1, 4), 3), smooth((bump(1, 1),), 0, F(1, 2), 2)
    ),
    *beside(HINGE, smooth((steep(1, 2),), 4, F(1, 2), 3), smooth((steep(1, 2),) * 2, -2, F(1, 3), 2)),
    *beside(SHARP, smooth((bump(3, 2),), 3, F(1, 3), 2), smooth((bump(1, -1),), 2, F(1), 2, L=F(1), mu=F(1, 2))),
    *beside(between(1, 3), smooth((bump(1),), 3, F(1, 2), 3), smooth((bump(2, 5),), 1, F(1, 2), 2)),
    *beside(between(-1, 1), smooth((steep(1, 3),) * 2, 1, F(1, 6), 3), smooth((bump(1, 2),), -1, F(1, 4), 3, L=F(2))),
    # A step beyond 2/(mu + L); a function that is not strongly convex.
    *beside(ABS, smooth((steep(1, 2),), 3, F(3, 4), 3), smooth((bump(1, 2),), 5, F(3, 2), 2)),
    *beside(HINGE, smooth((bowl(1),), 4, F(1), 3), smooth((bowl(2, 1),), -3, F(1, 2), 3)),
)
SHIFTED = lines((1, -1), (-1, 1))
CONFINED = (
    *beside(
        between(1, 3),
        smooth((ABS,), 3, F(1), 4),
        smooth((SHARP,), 2, F(1), 1),
        smooth((SHIFTED,) * 2, 3, F(1), 4),
    ),
    *beside(between(-1, F(1, 2)), smooth((SHIFTED,), -1, F(1), 4), smooth((ABS,), F(1, 2), F(1), 4)),
    *beside(between(0, 4), smooth((SHARP,), 4, F(1), 4), smooth((HINGE,), 3, F(1), 1), smooth((ABS,), 4, F(1), 1)),
)
_SIGN, _NONE = Noise((F(1),)), Noise((F(0),))
DRAWN = (
    *CONFINED[:2],
    *CONFINED[4:],
    *beside(between(1, 3), smooth((ABS, SHIFTED), 3, F(1), 1), smooth((ABS, SHARP), 2, F(1), 1)),
    *beside(between(-1, 1), replace(smooth((SHIFTED, SHARP), -1, F(1), 1), noise=(_SIGN, _NONE))),
    *beside(between(0, 2), replace(smooth((ABS,), 2, F(1), 4), noise=(_SIGN,))),
    *beside(between(F(1, 2), 2), replace(smooth((ABS, SHIFTED), 2, F(1), 1), noise=(_SIGN, _SIGN))),
    *beside(between(-2, 2), replace(smooth((SHARP,), 2, F(1), 4), noise=(Noise((F(2),), F(1, 5)),))),
)


def _with_beside(theorem: Theorem) -> Setting:
    if "one-function" not in theorem.core.assumed:
        return Drawn(theorem, "projected_drawn", DRAWN)
    return Beside(theorem, "proximal_gradient", PENALISED if "smooth" in theorem.core.assumed else CONFINED)


def _nesterov(theorem: Theorem) -> Setting:
    if "q" in theorem.step:
        return ConstantMomentum(theorem, "nesterov_strong", ROOTS)
    if "composite" in theorem.core.assumed:
        return Accelerated(theorem, "fista", PENALISED)
    return Accelerated(theorem, "nesterov", beside(lines((0, 0)), *PENALISED))


_SETTINGS: Mapping[str, Callable[[Theorem], Setting]] = {
    "gd": _with_beside,
    "heavy_ball": lambda theorem: HeavyBall(theorem, "heavy_ball", BALLS),
    "nesterov": _nesterov,
    "incremental": lambda theorem: InTurn(theorem, "incremental", PASSES),
    "proximal_point": lambda theorem: Implicit(theorem, "proximal_point", IMPLICIT),
}


def models_by_hand(theorem: Theorem) -> Iterator[Model]:
    """Yield the models of a theorem that are written down here; they are exact but for Nesterov's sequence."""
    own = _SETTINGS[theorem.algorithm](theorem)
    for one in own.instances:
        given = settled(own, one)
        if given is not None:
            with suppress(UnfitError):
                yield WithBeside(own, given)
