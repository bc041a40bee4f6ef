"""The proximal point algorithm: x_{k+1} = prox_{αf}(x_k), an implicit (sub)gradient step."""

from dataclasses import dataclass
from typing import final

from boundlab.algorithms._algorithm import Rounds
from boundlab.algorithms._option import Parameters, StepSize, step_size
from boundlab.algorithms._program import X_S, AffineRow, Control, DescendRow, Event, EventProgram, Step
from boundlab.errors import SpecError
from boundlab.tape import Initial


@final
@dataclass(frozen=True, slots=True)
class ProximalPointParameters(Parameters):
    """α, or α_k = c/(k+d), unit (−1, 2)."""

    step: StepSize = step_size()


@final
class ProximalPoint(Rounds[ProximalPointParameters]):
    """The proximal point algorithm, on one client whose function has a closed proximal step."""

    id = "proximal_point"
    summary = "the proximal point algorithm on one client (huber, lad, quadratic)"
    parameter_type = ProximalPointParameters
    step_size_symbols = ("alpha", "c")

    def one_event(self, parameters: ProximalPointParameters, clients: int) -> "ProximalPointProgram":
        """Return one proximal step; engines that average over events take explicit ones alone.

        Raises
        ------
        SpecError
            If there are several clients: the proximal step of a mean is no mean of proximal steps.
        """
        if clients != 1:
            raise SpecError(f"proximal_point takes the proximal step of one function, and there are {clients} clients")
        return ProximalPointProgram(parameters)


@final
class ProximalPointProgram(EventProgram):
    """One proximal step; there is nothing to remember from one to the next."""

    draws = True
    initial = (Initial.START, Initial.UNWRITTEN)

    def __init__(self, parameters: ProximalPointParameters) -> None:
        self.sizes = parameters.step.at

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Take the step."""
        rows = DescendRow(1, X_S, 0, 1, 0.0, number, implicit=True), AffineRow(X_S, ((1.0, 1),))
        return Step(rows, control, True, ((1, 1.0),))


PROXIMAL_POINT = ProximalPoint()
