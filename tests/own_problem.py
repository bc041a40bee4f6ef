"""A problem as a package of somebody else would bring it: quadratics under another id."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from boundlab.arithmetic.problem import Reader
from boundlab.assumptions import ASSUMPTIONS, RUN_ASSUMPTIONS
from boundlab.objective import (
    Array,
    Constant,
    Optimum,
    Oracle,
    Problem,
    ProblemType,
    QuadraticForm,
)
from boundlab.options import Options
from boundlab.problems.common import key_of, read_array, read_start
from boundlab.problems.noise import additive_noise
from boundlab.problems.rational import RationalQuadratic
from boundlab.randomness import Streams

MIXED = {
    "A": [[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 3.0]], [[2.0, 0.5], [0.5, 1.0]]],
    "b": [[0.0, 1.0], [2.0, -1.0], [0.0, 1.0]],
    "x0": [3.0, 1.0],
    "sigma": 0.5,
}
UNMET = ("lipschitz", "bounded-gradients", "bounded-second-moment", "bounded-heterogeneity")


@final
@dataclass(frozen=True, eq=False)
class Bowls(Problem):
    """f_i(x) = ½(x − b_i)ᵀA_i(x − b_i), written without the built-in family."""

    A: np.ndarray
    b: np.ndarray
    x0: np.ndarray
    sigma: float
    id = "bowls"

    @property
    def n(self) -> int:
        return len(self.b)

    @property
    def d(self) -> int:
        return self.b.shape[1]

    def client_value(self, client: int, x: Array) -> float:
        return float((x - self.b[client]) @ self.A[client] @ (x - self.b[client])) / 2.0

    def value(self, x: Array) -> float:
        return float(np.mean([self.client_value(client, x) for client in range(self.n)]))

    def gradient(self, client: int, x: Array) -> Array:
        return self.A[client] @ (x - self.b[client])

    def oracle(self, streams: Streams) -> Oracle:
        return additive_noise(self, self.sigma, streams)

    def optimum(self) -> Optimum:
        x = np.linalg.solve(self.A.sum(axis=0), np.einsum("nde,ne->d", self.A, self.b))
        return Optimum(x, self.value(x), 1e-12, 1e-12, "linear solve")

    def constants(self) -> Mapping[str, Constant]:
        values, best = np.linalg.eigvalsh(self.A), self.optimum()
        found = {
            "L": values.max(),
            "L_sq": values.max() ** 2,
            "R": np.linalg.norm(self.x0 - best.x) + 1e-12,
            "F0": self.value(self.x0) - best.value + 1e-12,
            "zeta": np.linalg.norm(best.x - self.b, axis=1).max() + 1e-12,
        }
        return {
            **{name: Constant(float(value) * (1 + 1e-12), "upper", "eigenvalues") for name, value in found.items()},
            **{name: Constant(self.sigma, "exact", "given") for name in ("sigma", "sigma_l")},
            "mu": Constant(float(values.min()) * (1 - 1e-12), "lower", "eigenvalues"),
        }

    def assumptions(self) -> Mapping[str, str]:
        met = dict.fromkeys(set(ASSUMPTIONS) - RUN_ASSUMPTIONS, "")
        return {**met, **dict.fromkeys(UNMET, "a bowl is steeper and steeper")}

    def spec(self) -> dict[str, Any]:
        arrays = {"A": self.A.tolist(), "b": self.b.tolist(), "x0": self.x0.tolist()}
        return {"type": self.id, **arrays, "sigma": self.sigma}

    def client_key(self, client: int) -> bytes:
        return key_of(self.A[client], self.b[client])

    def quadratic(self) -> QuadraticForm:
        return QuadraticForm(self.A, self.b, self.sigma)

    def rational(self, options: Mapping[str, Any]) -> RationalQuadratic:
        read = Reader(options)
        A, b, x0 = read.cube("A", self.A), read.rows("b", self.b), read.vector("x0", self.x0)
        return RationalQuadratic(A, b, x0, read.one("sigma", self.sigma))


def build(options: Options) -> Bowls:
    A, b = read_array(options, "A", 3), read_array(options, "b", 2)
    x0, sigma = read_start(options, b.shape[1]), options.number("sigma", 0.0, minimum=0.0)
    options.finish()
    return Bowls(A, b, x0, sigma)


FAMILY = ProblemType(
    "bowls",
    "quadratics of somebody else",
    build,
    {"A": "", "b": "", "x0": "", "sigma": ""},
    ({**MIXED, "sigma": 0.0}, MIXED),
)
