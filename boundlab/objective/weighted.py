"""Objectives Σ p_i f_i whose clients do not weigh the same: what an algorithm with weights of its own minimises."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.arithmetic.near import Near, given
from boundlab.arithmetic.numbers import rationals
from boundlab.arithmetic.problem import Constants, Minimum, RationalProblem, number
from boundlab.arithmetic.writing import Sentence, math, say, vector
from boundlab.errors import AssumptionError
from boundlab.objective import OF_OBJECTIVE, Constant, Floats, Problem, Wrapped
from boundlab.objective._wrapped import OF_VALUES, WrappedRational, answered_by
from boundlab.objective.facts import above

if TYPE_CHECKING:
    import torch

    from boundlab.arithmetic.problem import RationalProblem
    from boundlab.arithmetic.tensors import Batched


# How far a gradient may be from a weighted mean of gradients, if the distance from their plain mean is known.

# How far the clients are from F.
OF_BOTH: Final = frozenset({"sigma_g", "sigma_g_mean"})


def scales(weights: Sequence[Fraction]) -> list[Fraction]:
    """Return n·p_i: with these factors of the f_i the plain mean is Σ p_i f_i."""
    return [len(weights) * weight for weight in weights]


def spread_factor(weights: Sequence[Fraction]) -> Fraction:
    """Return t with max_i ‖g_i − Σ_k p_k g_k‖ ≤ t·max_i ‖g_i − m‖ for all vectors g_i and their mean m.

    As Σ_k (g_k − m) = 0, any number c may be taken off all coefficients: g_i − Σ p_k g_k =
    (1 − p_i + c)(g_i − m) − Σ_{k≠i} (p_k − c)(g_k − m). The best c makes t = 1 for equal weights, and is attained
    for two clients.

    Parameters
    ----------
    weights
        p, positive, of sum 1.
    """
    return max(
        min(
            abs(1 - own + c) + sum((abs(p - c) for k, p in enumerate(weights) if k != i), Fraction(0))
            for c in {*(p for k, p in enumerate(weights) if k != i), own - 1}
        )
        for i, own in enumerate(weights)
    )


# A problem whose objective weighs its clients.


def stepped(problem: Problem, algorithm: Algorithm[Any], parameters: Any) -> Problem:
    """Return the problem with the steps that an algorithm with these parameters makes: along the mean, or of a client.

    Raises
    ------
    AssumptionError
        If steps along the mean are asked for that the problem does not have.
    """
    if problem.simple is None or problem.n == 1 or not algorithm.along_mean(parameters):
        return problem
    from boundlab.objective.composite import Composite

    if not (isinstance(problem, Composite) and problem.noiseless):
        raise AssumptionError(
            f"problem {problem.id} with {problem.simple.words} has no proximal step along the mean of noisy gradients; "
            "set sigma=0, or batch=0"
        )
    return problem.of_mean


def minimised(problem: Problem, algorithm: Algorithm[Any], parameters: Any) -> Problem:
    """Return the problem whose objective an algorithm with these parameters minimises: Σ p_i f_i with its weights p.

    Its steps are those of the algorithm, too: see :func:`stepped`.

    Raises
    ------
    AssumptionError
        If the weights differ and the problem does not give that objective, or not the steps.
    SpecError
        If there is not one weight a client.
    """
    problem = stepped(problem, algorithm, parameters)
    weights = algorithm.objective_weights(parameters, problem.n)
    if weights is None or len(set(weights)) == 1:
        return problem
    scaled = problem.scaled(scales(weights))
    if scaled is None:
        raise AssumptionError(
            f"with these weights {algorithm.id} minimises Σ p_i f_i, and problem {problem.id} does not give that "
            "objective; leave the weights out"
        )
    return Weighted(problem, scaled, tuple(weights))


def objective_of(problem: Problem) -> str:
    """Return what is minimised and measured, in words: which mean of the clients' functions, and what stands beside."""
    if isinstance(problem, Weighted):
        inner: Problem = problem.inner
        found = f"Σ p_i f_i with p = ({', '.join(map(str, problem.weights))})"
    else:
        inner, found = problem, "f, the mean of all f_i"
    return found if inner.simple is None else f"{found} + h: {inner.simple.words}"


@final
@answered_by("objective", *OF_VALUES)
@dataclass(frozen=True, eq=False)
class Weighted(Wrapped):
    """F = Σ p_i f_i for the clients of another problem, which keep their functions, gradients and noise.

    Parameters
    ----------
    inner
        Whose clients they are.
    objective
        The problem with n·p_i·f_i in place of f_i: the mean over its clients is F.
    weights
        p, one a client; they sum to 1.
    """

    inner: Problem
    objective: Problem
    weights: tuple[Fraction, ...]

    def on_domain(self) -> "Weighted | None":
        """Return the same with the constants that the clients have on the bounded set of h; None: it is none."""
        inner = self.inner.on_domain()
        return None if inner is None else replace(self, inner=inner)

    def client_key(self, client: int) -> bytes | None:
        """Return what only clients with the same function and weight share."""
        own = self.inner.client_key(client)
        return None if own is None else own + str(self.weights[client]).encode()

    def tensors(self, device: "torch.device", dtype: "torch.dtype") -> "Batched | None":
        """Return the clients' problem on tensors, with the values of F; None where either has none."""
        clients, objective = self.inner.tensors(device, dtype), self.objective.tensors(device, dtype)
        if clients is None or objective is None:
            return None
        from boundlab.objective._tensors import WrappedBatched

        return WrappedBatched(clients, objective)

    def gradient_norms_at_optimum(self) -> Floats | None:
        """Return upper bounds of ‖∇f_i(x*)‖, shape (n,), unit (1, −1)."""
        norms = self.objective.gradient_norms_at_optimum()
        if norms is None:
            return None
        return np.asarray((Near(norms) / given(scales(self.weights))).upper)

    @cached_property
    def _constants(self) -> dict[str, Constant]:
        own, of_objective = self.inner.constants(), self.objective.constants()
        found = {name: one for name, one in own.items() if name not in OF_OBJECTIVE | OF_BOTH | {"sigma_star"}}
        found |= {name: one for name, one in of_objective.items() if name in OF_OBJECTIVE}
        spread = own.get("sigma_g")
        if spread is not None:
            factor = given(spread_factor(self.weights))
            words = f"{spread.how}; about Σ p_k ∇f_k at most {float(factor.value):.6g} times that about the mean"
            found |= dict.fromkeys(sorted(OF_BOTH), above(spread.value * factor, words))
        return found

    def constants(self) -> Mapping[str, Constant]:
        """Return those of the clients, and R, F0, zeta and the heterogeneity of F."""
        return self._constants

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met: what is about F is asked of F, all else of the clients."""
        about = {
            name: why for name, why in self.objective.assumptions().items() if name in ("minimiser", "bounded-below")
        }
        return {**self.inner.assumptions(), **about, "sampled-functions": "sigma_star is not known at its minimiser"}

    def rational(self, options: Mapping[str, Any]) -> "RationalProblem | None":
        """Return the same problem in rational numbers, or None if its family has none."""
        inner = self.inner.rational(options)
        scaled = None if inner is None else inner.scaled(scales(self.weights))
        return None if inner is None or scaled is None else RationalWeighted(inner, scaled, self.weights)


# The weighted objective without rounding.


@final
@answered_by("inner", "prox")
@answered_by("objective", "value", "full_gradient")
@dataclass(frozen=True)
class RationalWeighted(WrappedRational):
    """F = Σ p_i f_i for the clients of another problem; ``objective`` has n·p_i·f_i in place of f_i."""

    inner: RationalProblem
    objective: RationalProblem
    weights: tuple[Fraction, ...]

    def described(self) -> list[Sentence]:
        """Return the functions of the clients, and their weights in the objective."""
        found = self.inner.described()
        shares = vector(rationals(self.weights))
        return [*found, say("and f = {}, p = {}", math("Σ_i p_i f_i", r"\sum_i p_i f_i"), shares)] if found else []

    def minimum(self) -> Minimum | None:
        """Return the minimum of F."""
        return self.objective.minimum()

    def constants(self) -> Constants:
        """Return those of the clients, and R, F0, zeta and the heterogeneity of F."""
        own, of_objective = self.inner.constants(), self.objective.constants()
        found = {name: value for name, value in own.items() if name not in OF_OBJECTIVE | OF_BOTH}
        found |= {name: value for name, value in of_objective.items() if name in OF_OBJECTIVE}
        if "sigma_g" in own:
            found |= dict.fromkeys(sorted(OF_BOTH), number(spread_factor(self.weights)) * own["sigma_g"])
        return found
