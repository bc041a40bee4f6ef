"""Case files: one problem, one algorithm, one explicit list of events."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boundlab.algorithms import Algorithm, Records
from boundlab.delays import SERVER, DelayModel, Events
from boundlab.errors import CaseError
from boundlab.execute.numpy_executor import run
from boundlab.files import read_json
from boundlab.objective import Array, Problem
from boundlab.registry import lookup
from boundlab.specs import Options, nearest, number
from boundlab.tape import Tape

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
    events = read_events(raw["events"], built.n, str(path))
    return Case(algorithm, built, algorithm.read(Options(algorithm.id, parameters)), events)


def read_events(raw: object, clients: int, where: str) -> Events:
    """Read [[time, actor], …] with actor a client index or "s".

    Raises
    ------
    CaseError
        Naming the event by its place, counted from 1.
    """
    if not isinstance(raw, list) or not raw:
        raise CaseError(f'{where}: events must be a non-empty list of [time, actor], e.g. [[0.5, 0], [1, "s"]]')
    time, actor = np.empty(len(raw)), np.empty(len(raw), dtype=np.int32)
    for place, event in enumerate(raw):
        name = f"{where}: event {place + 1}"
        if not isinstance(event, list) or len(event) != 2:
            raise CaseError(f"{name} must be [time, actor], got {str(event)[:60]}")
        when, who = event
        if isinstance(when, str):
            raise CaseError(f"{name}: time must be a number, got {when!r}")
        time[place] = number(when, f"{name}: time")
        if time[place] < (time[place - 1] if place else 0.0):
            raise CaseError(
                f"{name}: time {when} is before the event ahead of it; times start at 0 and must not decrease"
            )
        if who == "s":
            actor[place] = SERVER
        elif isinstance(who, bool) or not isinstance(who, int):
            raise CaseError(f'{name}: actor must be a client index or "s", got {who!r}')
        elif not 0 <= who < clients:
            raise CaseError(f"{name}: client {who} does not exist; the problem has {clients} clients, 0…{clients - 1}")
        else:
            actor[place] = who
    return Events(time, actor)


def events_as_json(events: Events) -> list[list[Any]]:
    """Return events in the form of case files."""
    return [
        [time, "s" if actor == SERVER else actor]
        for time, actor in zip(events.time.tolist(), events.actor.tolist(), strict=True)
    ]


def replay(case: Case) -> list[dict[str, Any]]:
    """Run a case with full gradients and return its trajectory, one entry an event.

    Returns
    -------
    list of dict
        ``k`` the iteration, ``t`` the time, ``actor`` a client index or "s", ``x`` the server model
        after the event, a list of d floats.
    """
    problem = case.problem
    tape: Tape = case.algorithm.schedule(case.parameters, case.events, problem.n, Records(), 2 * len(case.events))
    models: dict[int, list[float]] = {}

    def observe(row: int, x: Array) -> None:
        models[int(tape.record.iteration[row])] = x.tolist()

    run(tape, problem.x0, problem.full_gradients(), observe)
    events = events_as_json(tape.events)
    return [{"k": k, "t": time, "actor": actor, "x": models[k]} for k, (time, actor) in enumerate(events, 1)]
