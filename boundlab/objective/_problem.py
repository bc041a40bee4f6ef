"""Interface of a problem: n client functions, and what engines may ask of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.assumptions import choices
from boundlab.errors import AssumptionError
from boundlab.objective._constants import (
    Constant,
    GradientsOnSet,
    LeastSquaresForm,
    Optimum,
    Oracle,
    QuadraticForm,
    StepBounds,
)
from boundlab.randomness import Array, Floats, Ints, Streams
from boundlab.registry import BuiltFromWords

if TYPE_CHECKING:
    import torch

    from boundlab.arithmetic.compiled import Clients
    from boundlab.arithmetic.problem import Functions, RationalProblem
    from boundlab.arithmetic.tensors import Batched
    from boundlab.objective.confinement import InvariantSets
    from boundlab.objective.simple import BoundedSet, ProxFunction


class Problem(BuiltFromWords, ABC):
    """Minimise f = (1/n) Σ f_i over R^d; or F = f + h, where the problem has a :attr:`simple` part h.

    Every final class gives values, (sub)gradients, an oracle, the constants that exist, and the
    reasons why the others do not. ``dtype`` is that of the iterates. What a family can do beyond that it says by
    overriding a method that here loops or returns None; engines ask these methods and never for the ``id``.
    """

    id: str
    n: int
    d: int
    x0: Array
    dtype: type[np.floating[Any]] = np.float64

    @property
    def simple(self) -> "ProxFunction | None":
        """Return h of a composite objective F = f + h, whose local steps are proximal gradient steps; else None."""
        return None

    @property
    def gradient_part(self) -> "Problem":
        """Return what takes the gradients of F = f + h, without the proximal map behind; without h the problem."""
        return self

    @abstractmethod
    def value(self, x: Array) -> float:
        """Return f(x), unit (1, 0)."""

    @abstractmethod
    def gradient(self, client: int, x: Array) -> Array:
        """Return a (sub)gradient of f_client at x, shape (d,), unit (1, −1)."""

    def descend(self, client: int, x: Array, step_size: float) -> None:
        """Do x ← x − step_size·∇f_client(x) in place: what :meth:`gradient` says up to rounding, possibly faster."""
        x -= step_size * self.gradient(client, x)

    @abstractmethod
    def oracle(self, streams: Streams) -> Oracle:
        """Return the stochastic oracle of a trial."""

    @abstractmethod
    def constants(self) -> Mapping[str, Constant]:
        """Return the certified constants by symbol name, those that exist; :meth:`assumptions` says why others don't.

        Of the functions: L, L_sq = L², mu, B, G_sq ≥ ‖∇f_i‖², sigma_g and sigma_g_mean (see
        :mod:`boundlab.problems.risk`), zeta. Of the oracle: sigma = sigma_l, G² ≥ E‖g_i‖². Of the start:
        R = ‖x0 − x*‖ and F0 = f(x0) − inf f. Cached: the first call may solve for x*; where there is no
        certificate for x*, R and zeta are left out.
        """

    def claims(self) -> Mapping[str, Constant]:
        """Return the constants that are somebody's word, by symbol name: all else may rest on them.

        Verdicts about the problem then lean on them, whether or not the theorem reads them.
        """
        return {}

    def plot(self, ax: Any = None) -> Any:
        """Draw f along the line from x0 through x*, and as far behind it; return the axes of matplotlib.

        Raises
        ------
        CertificateError
            If there is no x*.
        MissingExtraError
            If matplotlib is not installed.
        """
        from boundlab.objective._constants import draw

        return draw(self, ax)

    @abstractmethod
    def optimum(self) -> Optimum:
        """Return x* and f* with their certificate. Cached.

        Raises
        ------
        CertificateError
            If there is none, e.g. because the minimum is not attained.
        """

    @abstractmethod
    def assumptions(self) -> Mapping[str, str]:
        """Return '' or why it is not met, for each of :data:`boundlab.assumptions.ASSUMPTIONS` about functions.

        Those with a check of their own may be left out; a problem may answer for the assumptions of plug-ins, too.
        """

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """Return the JSON form that rebuilds this problem: {"type": id, …}."""

    def files(self) -> tuple[Path, ...]:
        """Return the files that its data were read from."""
        return ()

    def data_sha256(self) -> str:
        """Return the SHA-256 of the samples that the clients hold; empty where there are none."""
        return ""

    def full_gradient(self, x: Array) -> Floats:
        """Return ∇f(x), at a kink a subgradient, shape (d,), unit (1, −1), in float64."""
        wide = np.asarray(x, dtype=np.float64)
        total = np.zeros(self.d)
        for client in range(self.n):
            total += self.gradient(client, wide)
        return total / self.n

    def full_gradients_at(self, X: Array) -> Floats:
        """Return :meth:`full_gradient` at each row of X, shape (S, d), unit (1, −1)."""
        return np.array([self.full_gradient(x) for x in X]).reshape(X.shape)

    def gradient_norms_at_optimum(self) -> Floats | None:
        """Return upper bounds of ‖∇f_i(x*)‖, shape (n,), unit (1, −1), or None: not smooth, or no certified x*."""
        return None

    def rounding(self, x: Floats) -> tuple[float, float] | None:
        """Return how far rounding may put :meth:`value` and :meth:`full_gradient` off at x; None: it is not known.

        Units (1, 0) and (1, −1), the latter of a norm. Who certifies a minimiser of f + h needs it.
        """
        return None

    def roundings(self, X: Floats) -> tuple[Floats, Floats] | None:
        """Return :meth:`rounding` at each row of X, also of :meth:`values`, shape (S,) each; None: it is not known."""
        known = [one for one in map(self.rounding, X) if one is not None]
        return (np.array(known)[:, 0], np.array(known)[:, 1]) if len(known) == len(X) > 0 else None

    def gradient_roundings(self, X: Floats) -> Floats | None:
        """Return the second column of :meth:`roundings` alone."""
        found = self.roundings(X)
        return None if found is None else found[1]

    def step_bounds(self, client: int) -> StepBounds | None:
        """Return what local steps of a client do to errors, in the arithmetic of :attr:`dtype`; None: nobody knows.

        An executor that proves how far its iterates are from the true ones needs it.
        """
        form = self.quadratic()
        return None if form is None else form.step_bounds(client)

    def on_domain(self) -> "Problem | None":
        """Return the same problem with the constants of its f_i on the set of h, if it is bounded; None: it is not."""
        return None

    @property
    def run_limit(self) -> float | None:
        """The largest local step for which the constants hold along a run; None: they hold wherever it goes."""
        return None

    def gradients_on(self, region: "BoundedSet") -> GradientsOnSet | None:
        """Return how large the gradients of the f_i are on a bounded set; None: no more than their curvature says."""
        return None

    def steepness(self) -> float:
        """Return the most by which the objective grows to first order where x* moves by 1, from above; unit (1, −1).

        It is 0 where f is smooth and all there is.
        """
        return 0.0

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Return argmin_z f_client(z) + ‖z − x‖²/(2·step_size), shape (d,), where it has a closed form.

        Raises
        ------
        AssumptionError
            If it has none.
        """
        raise AssumptionError(f"problem {self.id} has no proximal step in closed form; huber, lad and quadratic have")

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x); needed by tests of the constants only."""
        raise AssumptionError(f"problem {self.id} does not give the values of single clients")

    def gradients(self, client: int, X: Array) -> Array:
        """Return the (sub)gradients of f_client at each row of X, shape (S, d), unit (1, −1).

        Parameters
        ----------
        X
            Shape (S, d), unit (0, 1).
        """
        return np.array([self.gradient(client, x) for x in X]).reshape(len(X), self.d)

    def values(self, X: Array) -> Floats:
        """Return f at each row of X, shape (S,), unit (1, 0).

        Parameters
        ----------
        X
            Shape (S, d), unit (0, 1).
        """
        return np.array([self.value(x) for x in X], dtype=np.float64)

    def scaled(self, factors: Sequence[Fraction]) -> "Problem | None":
        """Return the problem with factor_i·f_i in place of f_i, or None if the family has no such problem.

        Parameters
        ----------
        factors
            One positive number a client.
        """
        return None

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return at which rows of X the gradient of f_client may jump within a distance of ``room``, shape (S,).

        By default nowhere where f is smooth, and everywhere else. A problem whose gradient jumps at known places says
        more; what it takes at a kink itself is its own choice, the same in all arithmetics.

        Parameters
        ----------
        X
            Shape (S, d), unit (0, 1).
        room
            A distance, unit (0, 1): what rounding may have done to the points.
        """
        return np.full(len(X), self.assumptions().get("smooth", "unsaid") != "")

    def client_key(self, client: int) -> bytes | None:
        """Return what only clients with the same function share, or None: it is not known which do."""
        return None

    def quadratic(self) -> QuadraticForm | None:
        """Return the matrices of a quadratic whose noise is additive, or None for any other problem."""
        return None

    def require_quadratic(self, who: str) -> QuadraticForm:
        """Return :meth:`quadratic`.

        Parameters
        ----------
        who
            Who needs it, in the plural: the moments.

        Raises
        ------
        AssumptionError
            If the problem does not give it.
        """
        form = self.quadratic()
        if form is None:
            raise AssumptionError(f"{who} need `quadratic()`, which problem {self.id} does not give")
        return form

    def least_squares(self) -> LeastSquaresForm | None:
        """Return the rows and targets of least squares, and how mini-batches are drawn; None for any other problem.

        With full gradients such a problem may give :meth:`quadratic` as well.
        """
        return None

    @property
    def sign_noise(self) -> Floats | None:
        """Return what the oracle adds to each gradient with either sign, shape (d,), unit (1, −1).

        Both signs have probability ½, independently of all else. None: there is no noise, or of another kind.
        """
        return None

    def confinement(self) -> "InvariantSets | None":
        """Return what is sure of every local step whatever is drawn, beyond what the constants say; None: nothing."""
        return None

    def rational(self, options: Mapping[str, Any]) -> "RationalProblem | None":
        """Return the same problem in rational numbers, or None if its family has none.

        Parameters
        ----------
        options
            Those that built the problem, as they were given: their numbers are taken at their word (0.1 is 1/10,
            "1/3" is 1/3); what is not among them is what the floats of the problem say.

        Raises
        ------
        SpecError
            If an option cannot be read exactly.
        """
        return None

    def in_balls(self) -> "Functions | None":
        """Return the same functions for balls of any precision, by default the rational twin; None: there is none.

        Families with roots and exponentials override it.
        """
        return self.rational({})

    def tensors(self, device: "torch.device", dtype: "torch.dtype") -> "Batched | None":
        """Return the problem on tensors, whose gradients are batched over trials, or None: it has none.

        Parameters
        ----------
        device, dtype
            Where registers live, and their type.
        """
        return None

    def compiled(self) -> "Clients | None":
        """Return the clients as arrays that a compiled loop makes local steps of, or None: there are none."""
        return None

    @property
    def noiseless(self) -> bool:
        """True if the oracle gives full gradients."""
        return isinstance(self.oracle(Streams(0)), FullGradients)

    def full_gradients(self) -> Oracle:
        """Return the oracle without noise: g_i = ∇f_i."""
        return FullGradients(self)

    def why_not(self, assumption: str) -> str:
        """Return '' if an assumption on functions is met, else the reason why it is not.

        The problem's own answer comes first, then the check that the assumption brings.
        """
        if assumption not in self._answers:
            known = choices(assumption)
            check = known[assumption].check if assumption in known else None
            if check is None:  # nor may a plug-in that is loaded later have said so
                return "it does not say"
            self._answers[assumption] = check(self)
        return self._answers[assumption]

    @cached_property
    def _answers(self) -> dict[str, str]:
        """Answers that were given so far, for each assumption."""
        return dict(self.assumptions())

    def require(self, assumption: str, theorem: str) -> None:
        """Raise AssumptionError unless the assumption is met.

        Raises
        ------
        AssumptionError
            Naming the assumption, the problem, the reason, and the theorem.
        """
        reason = self.why_not(assumption)
        if reason:
            known = choices(assumption)
            meaning = known[assumption].words if assumption in known else assumption
            raise AssumptionError(f"{theorem} assumes {assumption} ({meaning}); problem {self.id}: {reason}")


@final
@dataclass(slots=True)
class FullGradients(Oracle):
    """The oracle that draws nothing."""

    problem: Problem

    def draws(self, clients: Ints, updates: Ints, steps: int) -> Any:
        """Return placeholders."""
        return [(None,) * steps] * len(clients)

    def draw_size(self, steps: int) -> int:
        """Return 0."""
        return 0

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one exact (sub)gradient step."""
        self.problem.descend(client, x, step_size)

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one exact proximal step."""
        x[:] = self.problem.prox(client, x, step_size)


# A registered family of problems: its options, and what builds one of them.


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A registered problem family.

    Parameters
    ----------
    id, summary
        Its name on the command line and in case files; one line for ``boundlab list problems``.
    options
        Option name → one line, for messages and help.
    build
        Makes a problem from the options; raises SpecError or DataError.
    examples
        Options of small instances that differ in kind: noisy ones and others, ones with every constant and others.
    constrained
        Whether constants exist on a bounded set alone: ``build`` then reads ``box`` or ``ball`` as well, to know it,
        and gives an f that keeps its promises on all of R^d.
    files
        Gives the files that a problem with some options reads, without building it.
    """

    id: str
    summary: str
    build: Any
    options: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Mapping[str, Any]] = ({},)
    constrained: bool = False
    files: Callable[[Mapping[str, Any]], tuple[Path, ...]] = lambda _: ()
