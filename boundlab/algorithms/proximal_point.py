"""The proximal point algorithm: x_{k+1} = prox_{αf}(x_k), an implicit (sub)gradient step."""

from dataclasses import dataclass
from typing import final

import numpy as np

from boundlab.algorithms._option import Parameters
from boundlab.algorithms._rounds import Rounds
from boundlab.algorithms._steps import StepSize, step_size
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.tape import SERVER_MODEL, RecordAt, Tape, Writer


@final
@dataclass(frozen=True, slots=True)
class ProximalPointParameters(Parameters):
    """α, or α_k = c/(k+d), unit (−1, 2)."""

    step: StepSize = step_size()


@final
class ProximalPoint(Rounds[ProximalPointParameters]):
    """The compiler of the proximal point algorithm, on one client whose function has a closed proximal step."""

    id = "proximal_point"
    summary = "the proximal point algorithm on one client (huber, lad, quadratic)"
    parameter_type = ProximalPointParameters
    step_size_symbols = ("alpha", "c")

    def schedule(
        self, parameters: ProximalPointParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each proximal step is one iteration.

        Raises
        ------
        SpecError
            If there are several clients: the proximal step of a mean is no mean of proximal steps.
        """
        if clients != 1:
            raise SpecError(f"proximal_point takes the proximal step of one function, and there are {clients} clients")
        writer = Writer(events, clients, records, iterations)
        point = writer.register()
        for event in range(len(events)):
            if writer.done:
                break
            alpha = float(parameters.step.at(np.array(writer.version)))
            run = writer.descend(point, SERVER_MODEL, 0, 1, alpha, implicit=True)
            writer.begin(event)
            writer.arrive(run)
            writer.use(run, 1.0)
            writer.replace_model((1.0, point))
            writer.end()
        return writer.tape()


PROXIMAL_POINT = ProximalPoint()
