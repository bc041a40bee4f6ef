"""Membership of the runs in hand in the class that a theorem's proof is about, decided on them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from boundlab.algorithms import EventProgram
from boundlab.classes import Formal, class_of, drawn, of_program, of_tape
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.expectation import event_law, why_no_law
from boundlab.instance.plan import Plan
from boundlab.randomness import Streams
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING
from boundlab.theorems import Theorem

LOOKED: Final = 20_000  # iterations of all runs together: about half a second
_DRAWN: Final = 256  # events of a program


@final
@dataclass(frozen=True, slots=True)
class Membership:
    """Where runs stand to the class that a proof is about.

    Parameters
    ----------
    of
        The class.
    runs
        How many runs were looked at, in words.
    iterations
        How far; 0: to their ends.
    tau_max
        The most updates that a pass was late; None where that has no meaning.
    outside
        Where the first run that is not in the class is otherwise; empty where all are in it.
    """

    of: str
    runs: str
    iterations: int = 0
    tau_max: int | None = None
    outside: str = ""

    @property
    def words(self) -> str:
        """One sentence."""
        if self.outside:
            return f"the proof does not speak of this run (class {self.of}): {self.outside}"
        late = "" if self.tau_max is None else f", tau_max = {self.tau_max}"
        far = f", the first {self.iterations} iterations looked at" if self.iterations else ""
        return f"the proof speaks of {self.runs} (class {self.of}{late}{far})"


def proved(theorem: Theorem) -> bool:
    """Return whether a registered proof ends in this theorem; a paper's own proof as printed is none."""
    return bool(theorem.proofs) and not theorem.of_paper and theorem.status != "user"


def of_runs(plan: Plan, trials: int, seed: int) -> Membership | None:
    """Decide whether the trials of a plan are in the class of their theorem's proof; None where it has none.

    Parameters
    ----------
    trials
        How many there are; 0: an expectation was computed, and events of the program are drawn.
    """
    if not proved(plan.theorem):
        return None
    n = plan.problem.n
    if not trials and (program := _program(plan)) is not None:
        events = drawn(program, event_law(plan.delays, plan.policy), _DRAWN, seed)
        found = of_program(program, n, events)
        return _decided(plan, [found], f"what was averaged, as {_DRAWN} of its events show")
    trials = max(trials, 1)
    far, looked = min(plan.iterations, max(1, LOOKED // trials)), min(trials, LOOKED)
    runs = "the run" if trials == 1 else f"all {trials} runs" if looked == trials else f"{looked} of {trials} runs"
    run = (plan.algorithm, plan.parameters.known(), n, plan.delays, plan.policy, far, NOTHING)
    tapes = (compile_trial(*run, Streams(seed, trial)) for trial in range(looked))
    return _decided(plan, map(of_tape, tapes), runs, far if far < plan.iterations else 0)


def of_events(plan: Plan, events: Events | None) -> Membership | None:
    """Decide whether one run is in the class of its theorem's proof.

    Parameters
    ----------
    events
        Of the run; None: an expectation over drawn ones was computed.
    """
    if events is None:
        return of_runs(plan, 0, 0)
    if not proved(plan.theorem):
        return None
    tape = plan.algorithm.schedule(plan.parameters.known(), events, plan.problem.n, NOTHING, plan.iterations)
    return _decided(plan, [of_tape(tape)], "the run")


def _program(plan: Plan) -> EventProgram | None:
    """Return the program of which expectations are taken, where events are drawn independently."""
    try:
        program = plan.algorithm.program(plan.parameters.known(), plan.problem.n)
    except SpecError:
        return None
    return None if program is None or why_no_law(program, plan.delays, plan.policy) else program


def _decided(plan: Plan, runs: Iterable[Formal], words: str, far: int = 0) -> Membership:
    known, late = class_of(plan.algorithm, plan.parameters.known(), plan.problem.n), list[int]()
    for run in runs:
        for why in known.why_not(run):
            return Membership(known.id, words, outside=why)
        late += known.staleness(run)
    return Membership(known.id, words, far, max(late, default=None))
