"""Momentum: Polyak's heavy ball, Nesterov's accelerated gradient method, and the optimized gradient method."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms._rounds import MeanStep, Rounds
from boundlab.events import Events
from boundlab.options import Options
from boundlab.tape import SERVER_MODEL, Initial, RecordAt, Tape, Term, Writer

_ALPHA = "step size of the gradients"


class Momentum(Rounds):
    """Rounds whose server remembers one more point than its model x."""

    @abstractmethod
    def coefficients(self, parameters: Any, k: int) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Return the new model and the new memory as combinations of (step, model, memory).

        Here ``step`` is the point from which the gradient is taken, moved by −α·∇f.
        """

    @abstractmethod
    def source(self) -> Literal["model", "memory"]:
        """Return where the gradient is taken."""

    def schedule(self, parameters: Any, events: Events, clients: int, records: RecordAt, iterations: int) -> Tape:
        """Compile; each round is one iteration."""
        writer = Writer(events, clients, records, iterations)
        memory = writer.register(Initial.START)
        step = writer.register()
        mean = MeanStep(writer, clients)
        for event in range(len(events)):
            if writer.done:
                break
            runs = mean.begin(SERVER_MODEL if self.source() == "model" else memory, parameters.alpha)
            writer.begin(event)
            mean.finish(runs)
            writer.affine(step, *mean.terms)
            model, kept = self.coefficients(parameters, writer.version)
            # The memory is written last but reads the old model: the new model waits in the step's register.
            combine = [_terms(weights, (step, SERVER_MODEL, memory)) for weights in (model, kept)]
            waiting = mean.first  # free until the next round
            writer.affine(waiting, *combine[0])
            writer.affine(memory, *combine[1])
            writer.replace_model((1.0, waiting))
            writer.end()
        return writer.tape()


def _terms(weights: tuple[float, float, float], registers: tuple[int, int, int]) -> list[Term]:
    return [(weight, register) for weight, register in zip(weights, registers, strict=True) if weight != 0.0]


@final
@dataclass(frozen=True, slots=True)
class HeavyBallParameters:
    """α, unit (−1, 2), and the momentum β in [0, 1]."""

    alpha: float
    beta: float


@final
@dataclass(frozen=True, slots=True)
class HeavyBall(Momentum):
    """The compiler of x_{k+1} = x_k − α·∇f(x_k) + β·(x_k − x_{k−1}), with x_{−1} = x_0."""

    id: str = "heavy_ball"
    server: Literal["any", "count", "none"] = "none"
    summary: str = "Polyak's heavy ball: gradient descent that keeps a part of its last step"
    parameters: Mapping[str, str] = field(
        default_factory=lambda: {"alpha": _ALPHA, "beta": "momentum, in [0, 1]"}
    )  # fmt: skip

    def read(self, options: Options) -> HeavyBallParameters:
        """Read the parameters from options."""
        options.require("alpha"), options.require("beta")
        parameters = HeavyBallParameters(
            options.number("alpha", 1.0, above=0.0), options.number("beta", 0.0, minimum=0.0, maximum=1.0)
        )
        options.finish()
        return parameters

    def source(self) -> Literal["model", "memory"]:
        """Return the model."""
        return "model"

    def coefficients(
        self, parameters: HeavyBallParameters, k: int
    ) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Return step + β·(model − memory), and the old model."""
        return (1.0, parameters.beta, -parameters.beta), (0.0, 1.0, 0.0)


@final
@dataclass(frozen=True, slots=True)
class NesterovParameters:
    """α, unit (−1, 2), and q = μ/L for the constant momentum (1−√q)/(1+√q); None: that of convex functions."""

    alpha: float
    q: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Nesterov(Momentum):
    """The compiler of x_{k+1} = y_k − α·∇f(y_k), y_{k+1} = x_{k+1} + β_k·(x_{k+1} − x_k); x is shown.

    β_k = (t_k − 1)/t_{k+1} with t_0 = 1 and t_{k+1} = (1 + √(1 + 4t_k²))/2, unless q makes it constant.
    """

    id: str = "nesterov"
    server: Literal["any", "count", "none"] = "none"
    summary: str = "Nesterov's accelerated gradient method, for convex or, with q, strongly convex functions"
    parameters: Mapping[str, str] = field(
        default_factory=lambda: {
            "alpha": _ALPHA,
            "q": "mu/L: makes the momentum (1−√q)/(1+√q) (default: that of convex functions, which grows to 1)",
        }
    )

    def read(self, options: Options) -> NesterovParameters:
        """Read the parameters from options."""
        options.require("alpha")
        parameters = NesterovParameters(
            options.number("alpha", 1.0, above=0.0),
            options.number("q", 1.0, above=0.0, maximum=1.0) if options.has("q") else None,
        )
        options.finish()
        return parameters

    def source(self) -> Literal["model", "memory"]:
        """Return y, the memory."""
        return "memory"

    def coefficients(
        self, parameters: NesterovParameters, k: int
    ) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Return the step, and the step + β·(step − model)."""
        if parameters.q is None:
            t = momentum_sequence(k + 2)
            beta = (float(t[k]) - 1.0) / float(t[k + 1])
        else:
            beta = (1.0 - parameters.q**0.5) / (1.0 + parameters.q**0.5)
        return (1.0, 0.0, 0.0), (1.0 + beta, -beta, 0.0)


@final
@dataclass(frozen=True, slots=True)
class OgmParameters:
    """α, unit (−1, 2), and the iterations K after which the method stops."""

    alpha: float
    K: int


@final
@dataclass(frozen=True, slots=True)
class Ogm(Momentum):
    """The compiler of the optimized gradient method, for a horizon K (Kim and Fessler, Math. Program. 2016).

    y_{k+1} = x_k − α·∇f(x_k), x_{k+1} = y_{k+1} + (θ_k − 1)/θ_{k+1}·(y_{k+1} − y_k) + θ_k/θ_{k+1}·(y_{k+1} − x_k),
    with θ as t of Nesterov's method but for the last one, θ_K = (1 + √(1 + 8θ_{K−1}²))/2. Shown is x.
    """

    id: str = "ogm"
    server: Literal["any", "count", "none"] = "none"
    summary: str = "the optimized gradient method: the fastest on smooth convex functions for a given horizon K"
    parameters: Mapping[str, str] = field(
        default_factory=lambda: {"alpha": _ALPHA, "K": "iterations after which the method stops"}
    )  # fmt: skip

    def read(self, options: Options) -> OgmParameters:
        """Read the parameters from options."""
        options.require("alpha"), options.require("K")
        parameters = OgmParameters(
            options.number("alpha", 1.0, above=0.0), options.integer("K", 1, minimum=1, maximum=10**6)
        )
        options.finish()
        return parameters

    def source(self) -> Literal["model", "memory"]:
        """Return x, the model."""
        return "model"

    def coefficients(
        self, parameters: OgmParameters, k: int
    ) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Return y_{k+1} + a·(y_{k+1} − y_k) + b·(y_{k+1} − x_k), and y_{k+1}; beyond K nothing moves."""
        if k >= parameters.K:
            return (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        now, new = theta(parameters.K, k), theta(parameters.K, k + 1)
        a, b = (now - 1.0) / new, now / new
        return (1.0 + a + b, -b, -a), (1.0, 0.0, 0.0)


def momentum_sequence(count: int) -> NDArray[np.float64]:
    """Return at least the first ``count`` numbers of t_0 = 1, t_{k+1} = (1 + √(1 + 4t_k²))/2."""
    # A power of two, so that few sequences are computed and kept.
    return _sequence(1 << max(count - 1, 1).bit_length())


@lru_cache(maxsize=32)
def _sequence(count: int) -> NDArray[np.float64]:
    t = np.ones(count)
    for k in range(count - 1):
        t[k + 1] = (1.0 + np.sqrt(1.0 + 4.0 * t[k] ** 2)) / 2.0
    t.flags.writeable = False
    return t


def theta(horizon: int, k: int) -> float:
    """Return θ_k of the optimized gradient method with K = ``horizon``."""
    t = momentum_sequence(horizon + 1)
    if 0 < k == horizon:
        return float((1.0 + np.sqrt(1.0 + 8.0 * t[k - 1] ** 2)) / 2.0)
    return float(t[k])


HEAVY_BALL = HeavyBall()
NESTEROV = Nesterov()
OGM = Ogm()
