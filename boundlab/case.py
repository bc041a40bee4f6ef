"""Case files: one problem, one algorithm, one explicit list of events."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.delays import DelayModel, Events
from boundlab.errors import CaseError
from boundlab.execute.numpy_executor import run
from boundlab.files import read_json
from boundlab.objective import Problem
from boundlab.records import Records
from boundlab.registry import lookup
from boundlab.specs import Options, nearest

_KEYS = ("algorithm", "problem", "x0", "parameters", "events")
_NOTES = ("theorem", "constants", "note", "claim", "delays", "server", "seed", "trial", "iterations")


@dataclass(frozen=True, slots=True)
class Case:
    """A replayable run.

    Parameters
    ----------
    events
        In the order of the file; event (t, i) is the ARRIVAL of client i's update at time t.
    """

    algorithm: Algorithm
    problem: Problem
    parameters: Any
    events: Events


def build_problem(kind: str, options: dict[str, Any]) -> Problem:
    """Build a registered problem from its options.

    Raises
    ------
    BoundlabError
        If the type is unknown or an option is wrong.
    """
    problem: Problem = lookup("problems", kind).build(Options(f"problem {kind}", options))
    return problem


def build_delays(kind: str, options: dict[str, Any], clients: int) -> DelayModel:
    """Build a registered delay model for n clients from its options.

    Raises
    ------
    BoundlabError
        If the model is unknown or an option is wrong.
    """
    model: DelayModel = lookup("delays", kind).build(Options(f"delays {kind}", options), clients)
    return model


def load_case(path: Path) -> Case:
    """Read and check a case file (design: {"algorithm", "problem", "x0", "parameters", "events"}).

    Raises
    ------
    CaseError
        Naming the file, the key, what is wrong and what would be right.
    """
    raw = read_json(path)
    if not isinstance(raw, dict):
        raise CaseError(f"{path} must hold one JSON object with the keys {', '.join(_KEYS)}")
    for key in raw:
        if key not in _KEYS + _NOTES:
            raise CaseError(f"{path}: unknown key {key!r}; {nearest(key, _KEYS)}")
    for key in ("algorithm", "problem", "events"):
        if key not in raw:
            raise CaseError(f"{path}: the key {key!r} is missing")
    problem, parameters = raw["problem"], raw.get("parameters", {})
    if not isinstance(problem, dict) or not isinstance(problem.get("type"), str):
        raise CaseError(f'{path}: problem must be an object with a "type", e.g. {{"type": "huber", …}}')
    if not isinstance(parameters, dict):
        raise CaseError(f'{path}: parameters must be an object, e.g. {{"alpha": 0.1}}')
    algorithm = lookup("algorithms", str(raw["algorithm"]))
    options = {key: value for key, value in problem.items() if key != "type"}
    if "x0" in raw:
        if "x0" in options:
            raise CaseError(f"{path}: x0 stands both in the case and in its problem; keep one")
        options["x0"] = raw["x0"]
    built = build_problem(problem["type"], options)
    events = algorithm.read_events(raw["events"], built.n, str(path))
    return Case(algorithm, built, algorithm.read(Options(algorithm.id, parameters)), events)


def replay(case: Case) -> list[dict[str, Any]]:
    """Run a case with full gradients and return its trajectory, one entry an event.

    Returns
    -------
    list of dict
        ``k`` the iteration (for AREA events, for the others server versions), ``t`` the time, ``actor`` a
        client index or "s", ``x`` the server model after the event, a list of d floats; and what the
        algorithm itself says of the event.
    """
    problem = case.problem
    # Each event is at most one server update, except that timers may add some of their own.
    tape = case.algorithm.schedule(
        case.parameters, case.events, problem.n, Records(events=True), 4 * len(case.events) + 4
    )
    models: list[list[float]] = []
    run(tape, problem.x0, problem.full_gradients(), lambda _row, x: models.append(x.tolist()))
    own = {name.removeprefix("event_"): column.tolist() for name, column in tape.notes.items() if name[:6] == "event_"}
    events = case.algorithm.events_as_json(tape.events)
    return [
        {"k": k, "t": event[0], "actor": event[1], "x": x, **{name: column[row] for name, column in own.items()}}
        for row, (k, event, x) in enumerate(zip(tape.record.iteration.tolist(), events, models, strict=True))
    ]
