"""Momentum: Polyak's heavy ball, Nesterov's accelerated gradient method, and the optimized gradient method."""

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any, TypeAlias, TypeVar, final

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Rounds
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    Control,
    DescendRow,
    Event,
    EventProgram,
    Row,
    Step,
)
from boundlab.arithmetic.numbers import square_root
from boundlab.tape import Initial

_Row: TypeAlias = tuple[Any, Any, Any]
_MEMORY, _STEP = 1, 2  # registers


def _alpha() -> Any:
    return option.number("step size of the gradients", above=0.0)


P = TypeVar("P", "HeavyBallParameters", "NesterovParameters", "OgmParameters")


class Momentum(Rounds[P]):
    """Rounds whose server remembers one more point than its model x.

    Parameters
    ----------
    source
        The register at which gradients are taken: that of the model, or of the memory.
    fixed
        Whether the coefficients are those of every round.
    """

    source: int = X_S
    fixed: bool = False

    @abstractmethod
    def coefficients(self, parameters: P, t: "_Sequence", k: int) -> tuple[_Row, _Row]:
        """Return the new model and the new memory as combinations of (step, model, memory).

        Here ``step`` is the point from which the gradient is taken, moved by −α·∇f.

        Parameters
        ----------
        t
            Nesterov's sequence.
        """

    def one_event(self, parameters: P, clients: int) -> "MomentumProgram":
        """Return one round."""
        weights = partial(self.coefficients, parameters, _Sequence(type(parameters.alpha)(1.0)))
        return MomentumProgram(parameters.alpha, clients, weights, self.source, fixed=self.fixed)


@final
class MomentumProgram(EventProgram):
    """One round on x, the memory, the step, and the results of all clients; control: nothing.

    Parameters
    ----------
    weights
        Gives the new model and the new memory of round k as combinations of (step, model, memory).
    source
        The register at which gradients are taken.
    fixed
        Whether the weights are those of every round.
    """

    draws = True

    def __init__(
        self, alpha: float, clients: int, weights: Callable[[int], tuple[_Row, _Row]], source: int, *, fixed: bool
    ) -> None:
        self._weights, self._fixed, self._results = weights, fixed, range(_STEP + 1, _STEP + 1 + clients)
        mean = AffineRow(_STEP, tuple((1.0 / clients, to) for to in self._results))
        self._steps: list[Row] = [*(DescendRow(to, source, i, 1, alpha) for i, to in enumerate(self._results)), mean]
        self.coefficients = None if fixed else self._coefficients
        self.initial = (Initial.START, Initial.START, *[Initial.UNWRITTEN] * (1 + clients))

    def _coefficients(self, k: int) -> list[float]:
        return [one for weights in self._weights(k) for one in weights if one != 0.0]

    def clock(self, number: int) -> Hashable:
        """Return which weights there are."""
        if self._fixed:
            return None
        return tuple(one != 0.0 for weights in self._weights(number) for one in weights)

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Take the mean of all steps, and combine it with what is remembered."""
        waiting = self._results[0]  # the memory reads the old model, so the new one waits
        rows: list[Row] = [*self._steps]
        for dst, weights in zip((waiting, _MEMORY), self._weights(number), strict=True):
            pairs = zip(weights, (_STEP, X_S, _MEMORY), strict=True)
            terms = [(weight if self._fixed else nan, register) for weight, register in pairs if weight != 0.0]
            rows.append(AffineRow(dst, tuple(terms)))
        return Step((*rows, AffineRow(X_S, ((1.0, waiting),))), control, True)


@final
@dataclass(frozen=True, slots=True)
class HeavyBallParameters(Parameters):
    """α, unit (−1, 2), and β."""

    alpha: float = _alpha()
    beta: float = option.number("momentum, in [0, 1]", minimum=0.0, maximum=1.0)


@final
class HeavyBall(Momentum[HeavyBallParameters]):
    """x_{k+1} = x_k − α·∇f(x_k) + β·(x_k − x_{k−1}), with x_{−1} = x_0."""

    id = "heavy_ball"
    summary = "Polyak's heavy ball: gradient descent that keeps a part of its last step"
    parameter_type = HeavyBallParameters
    fixed = True

    def coefficients(self, parameters: HeavyBallParameters, t: "_Sequence", k: int) -> tuple[_Row, _Row]:
        """Return step + β·(model − memory), and the old model."""
        return (1.0, parameters.beta, -parameters.beta), (0.0, 1.0, 0.0)

    def program(self, parameters: HeavyBallParameters, clients: int) -> MomentumProgram:
        """Return one round: its weights are those of every round, and no roots."""
        return self.one_event(parameters, clients)


@final
@dataclass(frozen=True, slots=True)
class NesterovParameters(Parameters):
    """α, unit (−1, 2), and q, None for the momentum of convex functions."""

    alpha: float = _alpha()
    q: float | None = option.number(
        "mu/L: makes the momentum (1−√q)/(1+√q) (default: that of convex functions, which grows to 1)",
        None,
        above=0.0,
        maximum=1.0,
    )


@final
class Nesterov(Momentum[NesterovParameters]):
    """x_{k+1} = y_k − α·∇f(y_k), y_{k+1} = x_{k+1} + β_k·(x_{k+1} − x_k); x is shown.

    β_k = (t_k − 1)/t_{k+1} with t_0 = 1 and t_{k+1} = (1 + √(1 + 4t_k²))/2, unless q makes it constant.
    """

    id = "nesterov"
    summary = "Nesterov's accelerated gradient method, for convex or, with q, strongly convex functions"
    parameter_type = NesterovParameters
    source = _MEMORY  # y

    def coefficients(self, parameters: NesterovParameters, t: "_Sequence", k: int) -> tuple[_Row, _Row]:
        """Return the step, and the step + β·(step − model)."""
        if parameters.q is None:
            beta = (t[k] - 1.0) / t[k + 1]
        else:
            root = square_root(parameters.q)
            beta = (1.0 - root) / (1.0 + root)
        return (1.0, 0.0, 0.0), (1.0 + beta, -beta, 0.0)

    def stays_feasible(self, parameters: NesterovParameters, clients: int) -> bool:
        """Return True: x is the mean of the clients' results, wherever y lies."""
        return True


@final
@dataclass(frozen=True, slots=True)
class OgmParameters(Parameters):
    """α, unit (−1, 2), and the horizon K."""

    alpha: float = _alpha()
    K: int = option.integer("iterations after which the method stops", minimum=1, maximum=10**6)


@final
class Ogm(Momentum[OgmParameters]):
    """The optimized gradient method, for a horizon K (Kim and Fessler, Math. Program. 2016).

    y_{k+1} = x_k − α·∇f(x_k), x_{k+1} = y_{k+1} + (θ_k − 1)/θ_{k+1}·(y_{k+1} − y_k) + θ_k/θ_{k+1}·(y_{k+1} − x_k),
    with θ as t of Nesterov's method but for the last one, θ_K = (1 + √(1 + 8θ_{K−1}²))/2. Shown is x.
    """

    id = "ogm"
    summary = "the optimized gradient method: the fastest on smooth convex functions for a given horizon K"
    parameter_type = OgmParameters

    def coefficients(self, parameters: OgmParameters, t: "_Sequence", k: int) -> tuple[_Row, _Row]:
        """Return y_{k+1} + a·(y_{k+1} − y_k) + b·(y_{k+1} − x_k), and y_{k+1}; beyond K nothing moves."""
        if k >= parameters.K:
            return (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        now, new = (theta(parameters.K, one, t) for one in (k, k + 1))
        a, b = (now - 1.0) / new, now / new
        return (1.0 + a + b, -b, -a), (1.0, 0.0, 0.0)


class _Sequence:
    """The numbers t_0 = 1, t_{k+1} = (1 + √(1 + 4t_k²))/2, in the arithmetic of a 1; each is computed once."""

    def __init__(self, one: Any) -> None:
        self._known = [one]

    def __getitem__(self, k: int) -> Any:
        known = self._known
        while len(known) <= k:
            known.append((1.0 + square_root(1.0 + 4.0 * known[-1] * known[-1])) / 2.0)
        return known[k]


def theta(horizon: int, k: int, t: _Sequence | None = None) -> Any:
    """Return θ_k of the optimized gradient method with K = ``horizon``, in the arithmetic of t."""
    t = _Sequence(1.0) if t is None else t
    if 0 < k == horizon:
        return (1.0 + square_root(1.0 + 8.0 * t[k - 1] * t[k - 1])) / 2.0
    return t[k]


HEAVY_BALL = HeavyBall()
NESTEROV = Nesterov()
OGM = Ogm()
