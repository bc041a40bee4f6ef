"""Any problem with a simple convex h beside its f."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.near import Near, strayed
from boundlab.errors import SpecError
from boundlab.objective import (
    OF_OBJECTIVE,
    Array,
    Constant,
    Floats,
    FullGradients,
    Optimum,
    Oracle,
    Problem,
    StepBounds,
    Wrapped,
    WrappedOracle,
)
from boundlab.objective.composite._minimise import Minimised, minimise
from boundlab.objective.composite._on_set import assumptions_within, constants_on_set
from boundlab.objective.facts import SoughtMinimiser, of_start
from boundlab.objective.simple import ProxFunction
from boundlab.randomness import Streams

if TYPE_CHECKING:
    import torch

    from boundlab.arithmetic.compiled import Clients
    from boundlab.arithmetic.problem import RationalProblem
    from boundlab.arithmetic.tensors import Batched


@final
@dataclass(frozen=True, eq=False)
class Composite(SoughtMinimiser, Wrapped):
    """F = f + h with f of another problem. A local step of client i is x ← prox_{α·h}(x − α·g_i(x)).

    Whoever makes steps by an oracle, by :meth:`descend`, on tensors or in rational numbers makes them so. F has no
    gradient: who asks for one, to make steps of it or to measure it, is refused.

    Parameters
    ----------
    inner
        Whose f_i they are.
    h
        The simple part.
    on_set
        Whether the constants of the f_i are those on the bounded set whose indicator h is, see :meth:`on_domain`.
    along_mean
        Whether a step of any client is x ← prox_{α·h}(x − α·(1/n) Σ_i ∇f_i(x)), see :attr:`of_mean`.

    Raises
    ------
    SpecError
        If h is infinite at x0, or its numbers are no h any more as floats.
    """

    inner: Problem
    h: ProxFunction
    on_set: bool = False
    along_mean: bool = False

    def __post_init__(self) -> None:
        if not np.isfinite(self._in_floats.value(self.x0)):
            raise SpecError(f"problem {self.id}: x0 lies outside {self.h.words}; choose an x0 inside")

    @property
    def simple(self) -> ProxFunction:
        """Return h."""
        return self.h

    @property
    def gradient_part(self) -> Problem:
        """Return f."""
        return self.inner

    # -------------------------------------------------------------------------------------------- values and steps

    def value(self, x: Array) -> float:
        """Return F(x), unit (1, 0); infinite outside the domain of h."""
        return self.inner.value(x) + self.h.value(x)

    def values(self, X: Array) -> Floats:
        """Return F at each row of X, shape (S,), unit (1, 0)."""
        out: Floats = self.inner.values(X) + self.h.values(X)
        return out

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x) + h(x), unit (1, 0)."""
        return self.inner.client_value(client, x) + self.h.value(x)

    def descend(self, client: int, x: Array, step_size: float) -> None:
        """Do x ← prox_{step_size·h}(x − step_size·∇f_client(x)) in place."""
        if self.along_mean:
            x -= step_size * np.mean([self.inner.gradient(i, x) for i in range(self.n)], axis=0)
        else:
            self.inner.descend(client, x, step_size)
        x[:] = self.h.prox(x, step_size)

    def oracle(self, streams: Streams) -> Oracle:
        """Return the clients' oracle with the proximal map of h after each step."""
        inner = self.inner.oracle(streams)
        return FullGradients(self) if isinstance(inner, FullGradients) else _ProximalSteps(inner, self.h, self.id)

    def compiled(self) -> "Clients | None":
        """Return those of the clients' problem, with the proximal map of h."""
        inner = None if self.along_mean else self.inner.compiled()
        return None if inner is None else self._in_floats.compiled(inner)

    def step_bounds(self, client: int) -> StepBounds | None:
        """Return those of f_client, with the proximal map behind."""
        if self.along_mean:
            return self._bounds_of_mean
        found = self.inner.step_bounds(client)
        return None if found is None else replace(found, proximal=True)

    @cached_property
    def _bounds_of_mean(self) -> StepBounds | None:
        """Those of a step along the mean: the worst of all clients', and the n + 1 roundings of a mean."""
        found = [self.inner.step_bounds(client) for client in range(self.n)]
        known = [one for one in found if one is not None and one.doubt is None]
        if len(known) < self.n:
            return None
        mu, L = min(one.mu for one in known), max(one.L for one in known)
        offset, slope = ((self.n + 2) * max(getattr(one, name) for one in known) for name in ("offset", "slope"))
        return StepBounds(mu, L, offset, slope, any(one.kinks for one in known), proximal=True)

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return at which rows of X the gradient of a step may jump within a distance of ``room``, shape (S,)."""
        who = range(self.n) if self.along_mean else [client]
        out: NDArray[np.bool_] = np.any([self.inner.near_kink(one, X, room) for one in who], axis=0)
        return out

    def rounding(self, x: Floats) -> tuple[float, float] | None:
        """Return how far rounding may put F off at x, and the gradient of f."""
        found = self.inner.rounding(x)
        return None if found is None else (float(found[0] + strayed(self.h.value(x), self.h.near(x))), found[1])

    def gradient(self, client: int, x: Array) -> Array:
        """Refuse: F has no gradient.

        Raises
        ------
        AssumptionError
            Always.
        """
        self.h.no_gradient(self.id)

    def gradients(self, client: int, X: Array) -> Array:
        """Refuse, as :meth:`gradient`."""
        self.h.no_gradient(self.id)

    def full_gradient(self, x: Array) -> Floats:
        """Refuse, as :meth:`gradient`."""
        self.h.no_gradient(self.id)

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Refuse: the proximal map of f_client + h has no closed form."""
        self.h.no_proximal_step(self.id)

    def tensors(self, device: "torch.device", dtype: "torch.dtype") -> "Batched | None":
        """Return the same on tensors; None where the clients' problem has none."""
        clients = None if self.along_mean else self.inner.tensors(device, dtype)
        if clients is None:
            return None
        from boundlab.objective._tensors import BatchedComposite

        return BatchedComposite(clients, self.h, self.id)

    def rational(self, options: Mapping[str, Any]) -> "RationalProblem | None":
        """Return the same in rational numbers; None where the clients' problem has none."""
        inner = self.inner.rational(options)
        if inner is None:
            return None
        from boundlab.objective.composite._rational import RationalComposite

        h = self.h if options else self._in_floats
        near = None if self._best is None else self._best.x.astype(np.float64)
        return RationalComposite(inner, h, near, frozenset(self._there), self.along_mean)

    def scaled(self, factors: Sequence[Fraction]) -> "Composite | None":
        """Return the problem with factor_i·f_i in place of f_i, and the same h."""
        inner = self.inner.scaled(factors)
        return None if inner is None else replace(self, inner=inner)

    @cached_property
    def of_mean(self) -> "Composite":
        """The same problem, every step of which is the proximal step of the mean: textbooks' proximal gradient step.

        Functions and constants are those of the clients. So each f_i is L-smooth, and so is their mean.
        """
        return replace(self, along_mean=True)

    @cached_property
    def _domain(self) -> "Composite":
        return self if self.on_set else replace(self, on_set=True)

    def on_domain(self) -> "Composite | None":
        """Return the same problem with the constants of the f_i on the set whose indicator h is; None: h is no such."""
        return self._domain if self.h.bounded else None

    @cached_property
    def _there(self) -> Mapping[str, Constant]:
        """The constants that the set gives, where they are asked for."""
        return constants_on_set(self.inner, self.h) if self.on_set else {}

    # -------------------------------------------------------------------------------------- minimiser and constants

    @cached_property
    def _in_floats(self) -> ProxFunction:
        """H with the floats that its numbers are rounded to, as f has them."""
        return self.h.in_floats()

    @cached_property
    def _minimised(self) -> Minimised:
        return minimise(self.inner, self._in_floats)

    def _solve(self) -> Optimum:
        """Return the minimiser of F with its certificate."""
        return self._minimised.optimum

    def steepness(self) -> float:
        """Return ‖∇f(x*)‖ and the rate of h, from above."""
        self.optimum()
        return self._minimised.slope + self.h.rate(self.d)

    def _find_constants(self) -> dict[str, Constant]:
        """Return those of the f_i and their gradients, and R and F0 of F."""
        found = {name: one for name, one in self.inner.constants().items() if name not in OF_OBJECTIVE | {"sigma_star"}}
        found |= self._there
        best = self._best
        if best is None:
            return found
        x0 = np.asarray(self.x0, dtype=np.float64)
        rounding = self.rounding(x0)
        assert rounding is not None  # noqa: S101  (there is a minimiser)
        return found | of_start(x0, Near(self.value(x0), rounding[0]), best, None, "F")

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met: those about the f_i are theirs, the minimiser is that of F."""
        return {
            **self.inner.assumptions(),
            **(assumptions_within(self.inner, self._there, self.h.words) if self.on_set else {}),
            "minimiser": "" if self._best else str(self._attempt),
            "bounded-below": "",
            "sampled-functions": "sigma_star is not known at the minimiser of F",
        }

    def spec(self) -> dict[str, Any]:
        """Return the options that rebuild this problem."""
        return {**self.inner.spec(), **self.h.options()}


@final
@dataclass(slots=True)
class _ProximalSteps(WrappedOracle):
    """Stochastic gradient steps, each followed by the proximal map of h."""

    h: ProxFunction
    who: str

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do x ← prox_{step_size·h}(x − step_size·g_client(x)) in place."""
        self.inner.step(x, client, draw, step_size)
        x[:] = self.h.prox(x, step_size)

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Refuse: the proximal map of f_client + h has no closed form."""
        self.h.no_proximal_step(self.who)
