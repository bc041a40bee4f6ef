"""The weighted objective without rounding."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from boundlab.arithmetic.numbers import rationals
from boundlab.arithmetic.problem import Constants, Minimum, RationalProblem, number
from boundlab.arithmetic.writing import Sentence, math, say, vector
from boundlab.objective import OF_OBJECTIVE
from boundlab.objective._wrapped import answered_by
from boundlab.objective._wrapped_rational import WrappedRational
from boundlab.objective.weighted._spread import OF_BOTH, spread_factor


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
