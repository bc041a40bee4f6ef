"""The functions of a small problem: their gradients, proximal steps, minimisers and constants, all in closed form.

f = (1/n) Σ f_i, and f_i is a sum over the coordinates of one of four shapes around a centre c, with the weight w:

- ``quadratic``: w(x − c)²/2;
- ``huber``: the same up to the distance delta, with the slope w·delta beyond;
- ``absolute``: w|x − c|;
- ``bent``: ridge·(x − c)²/2 plus the Huber function of weight w − ridge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Kind = Literal["quadratic", "huber", "absolute", "bent"]


@final
@dataclass(frozen=True, slots=True)
class Functions:
    """Client functions; ``weight`` and ``center`` have the shape (n, d)."""

    kind: Kind
    weight: Floats
    center: Floats
    delta: float = 1.0
    ridge: float = 0.0

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "Functions":
        """Read what :meth:`raw` wrote."""
        numbers = {key: np.array(raw[key], dtype=np.float64) for key in ("weight", "center")}
        return cls(raw["kind"], numbers["weight"], numbers["center"], raw["delta"], raw["ridge"])

    def raw(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "kind": self.kind,
            "weight": self.weight.tolist(),
            "center": self.center.tolist(),
            "delta": self.delta,
            "ridge": self.ridge,
        }

    @property
    def n(self) -> int:
        """The number of clients."""
        return len(self.weight)

    @property
    def affine(self) -> bool:
        """Whether gradients are affine."""
        return self.kind == "quadratic"

    def value(self, x: Floats) -> float:
        """Return f(x)."""
        return float(self._values(x).sum(axis=1).mean())

    def _values(self, x: Floats) -> Floats:
        away = np.abs(x - self.center)
        short = np.minimum(away, self.delta)
        huber = short**2 / 2 + self.delta * (away - short)
        match self.kind:
            case "quadratic":
                return self.weight * away**2 / 2
            case "absolute":
                return self.weight * away
            case "huber":
                return self.weight * huber
            case "bent":
                return self.ridge * away**2 / 2 + (self.weight - self.ridge) * huber

    def gradient(self, client: int, x: Floats) -> Floats:
        """Return a (sub)gradient of f_i; 0 at a kink of the absolute value."""
        return self._slope(x - self.center[client], self.weight[client])

    def _slope(self, away: Floats, weight: Floats) -> Floats:
        match self.kind:
            case "quadratic":
                return weight * away
            case "absolute":
                return weight * np.sign(away)
            case "huber":
                return weight * np.clip(away, -self.delta, self.delta)
            case "bent":
                return self.ridge * away + (weight - self.ridge) * np.clip(away, -self.delta, self.delta)

    def mean_gradient(self, x: Floats) -> Floats:
        """Return ∇f(x), shape (d,)."""
        return self._slope(x - self.center, self.weight).sum(axis=0) / self.n

    def prox(self, x: Floats, step: float) -> Floats:
        """Return the proximal step of the one client."""
        away, weight = x - self.center[0], step * self.weight[0]
        match self.kind:
            case "quadratic":
                near = away / (1 + weight)
            case "absolute":
                near = np.sign(away) * np.maximum(np.abs(away) - weight, 0)
            case "huber":
                near = np.where(
                    np.abs(away) <= self.delta * (1 + weight),
                    away / (1 + weight),
                    away - weight * self.delta * np.sign(away),
                )
            case "bent":
                raise ValueError("no proximal step for bent functions")
        return self.center[0] + near

    def nearest_minimiser(self, x0: Floats) -> Floats:
        """Return the minimiser of f that is nearest to x0."""
        ends = [self._minimisers(j) for j in range(self.center.shape[1])]
        return np.clip(x0, [low for low, _ in ends], [high for _, high in ends])

    def _minimisers(self, j: int) -> tuple[float, float]:
        """Return the ends of the interval of minimisers along one coordinate."""
        weight, center = self.weight[:, j], self.center[:, j]
        if np.ptp(center) == 0:
            return float(center[0]), float(center[0])
        if self.kind == "quadratic":
            best = float(weight @ center / weight.sum())
            return best, best
        if self.kind == "absolute":  # weighted medians: kinks with as much on either side
            order = np.argsort(center)
            shares = np.cumsum(weight[order]) / weight.sum()
            low = center[order[np.searchsorted(shares, 0.5 - 1e-12)]]
            high = center[order[np.searchsorted(shares, 0.5 + 1e-12)]]
            return float(low), float(high)
        kinks = np.sort(np.concatenate([center - self.delta, center + self.delta]))
        slopes = self._slope(kinks[:, None] - center, weight).sum(axis=1)
        slopes[np.abs(slopes) < 1e-14 * weight.max()] = 0.0
        flat = kinks[slopes == 0]
        if len(flat):
            return float(flat[0]), float(flat[-1])
        # Between two kinks the derivative is linear.
        right = int(np.argmax(slopes > 0))
        low, high = slopes[right - 1], slopes[right]
        best = float(kinks[right - 1] + (kinks[right] - kinks[right - 1]) * -low / (high - low))
        return best, best

    def constants(self, x0: Floats) -> dict[str, float]:
        """Return the constants of the class that the functions are in, by the symbol of the theorems.

        ``sigma_g`` and ``G_sq`` are for one coordinate, and for equal curvatures.
        """
        best = self.nearest_minimiser(x0)
        found = {
            "n": float(self.n),
            "R": float(np.linalg.norm(x0 - best)),
            "F0": max(0.0, self.value(x0) - self.value(best)),
            "zeta": float(np.linalg.norm(self.center - best, axis=1).max()),
        }
        if self.kind != "absolute":
            found["L"] = float(self.weight.max())
        if self.kind in ("quadratic", "bent"):
            found["mu"] = float(self.weight.min()) if self.kind == "quadratic" else self.ridge
        if self.kind in ("huber", "absolute"):
            slope = self.delta if self.kind == "huber" else 1.0
            found["B"] = float(np.linalg.norm(self.weight, axis=1).max()) * slope
            found["G_sq"] = found["B"] ** 2
        spread = self._spread()
        if spread is not None:
            found["sigma_g"] = spread
        return found

    def _spread(self) -> float | None:
        """Return sup_x max_i ‖∇f_i(x) − ∇f(x)‖: linear between kinks, constant beyond the last of them."""
        if self.n == 1 or (np.ptp(self.weight, axis=0).max() == 0 and np.ptp(self.center, axis=0).max() == 0):
            return 0.0
        if self.weight.shape[1] > 1 or (self.kind == "quadratic" and np.ptp(self.weight) > 0) or self.kind == "bent":
            return None
        kinks = np.concatenate([self.center - self.delta, self.center + self.delta]).ravel()
        points = np.concatenate([kinks, [kinks.min() - 1.0, kinks.max() + 1.0]])
        return max(
            float(np.abs(self.gradient(i, np.array([x])) - self.mean_gradient(np.array([x])))[0])
            for x in points
            for i in range(self.n)
        )
