"""Case files: one problem, one algorithm, and one explicit list of events or the law of random ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.arguments import checked
from boundlab.case.build import build_problem, delays_from
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import BoundlabError, CaseError, FormulaError, SpecError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.files import is_file, read_json, schema
from boundlab.formulas.parse import number_value
from boundlab.objective import Problem
from boundlab.options import Options, nearest
from boundlab.registry import lookup
from boundlab.tape import RecordAt
from boundlab.theorems import Theorem

_KEYS = ("algorithm", "problem", "x0", "parameters", "events")
_NOTES = (
    "theorem",
    "constants",
    "note",
    "claim",
    "delays",
    "server",
    "law",
    "seed",
    "trial",
    "iterations",
    "settings",
    "symbols",
    "provenance",
    "schema",
)


@dataclass(frozen=True, slots=True)
class RandomEvents:
    """The law of random events: the case is then about the expectation over them."""

    delays: DelayModel
    policy: ServerPolicy


@dataclass(frozen=True, slots=True)
class Case:
    """A run that can be repeated.

    Parameters
    ----------
    parameters
        As the algorithm reads them; None where the step size is left to the theorem.
    events
        In the order of the file; event (t, i) is the ARRIVAL of client i's update at time t. Or their law.
    iterations
        The horizon; None: as far as the events go.
    raw
        The file as it stands, where numbers keep their words.
    law
        That of the random events of which ``events`` are a draw, where the file has it.
    """

    algorithm: Algorithm[Any]
    problem: Problem
    parameters: Any
    events: Events | RandomEvents
    iterations: int | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    law: RandomEvents | None = None

    def over_events(self) -> "Case":
        """Return the case about the expectation over random events, where the file has their law beside the events."""
        if self.law is None:
            return self
        raw = {key: value for key, value in self.raw.items() if key not in ("events", "law")}
        return replace(self, events=self.law, law=None, raw={**raw, **self.raw["law"]})


@checked
def load_case(path: str | Path, *, has_theorem: bool = False) -> Case:
    """Read and check a case file.

    Its keys are algorithm, problem, x0, parameters, and events; or, in place of events, delays (a spec, or an object
    with a type), server and iterations. Numbers may be text such as "1/3".

    Parameters
    ----------
    has_theorem
        Whether the case is about a theorem that the file need not name; then it may leave the step size to it.

    Raises
    ------
    CaseError
        Naming the file, the key, what is wrong and what would be right.
    """
    return read_case(read_json(Path(path)), str(path), has_theorem=has_theorem)


def read_case(raw: Any, name: str = "the case", *, has_theorem: bool = False) -> Case:
    """Read and check what a case file says; parameters and errors are those of :func:`load_case`.

    Parameters
    ----------
    name
        What messages call it.
    """
    if not isinstance(raw, dict):
        raise CaseError(f"{name} must hold one JSON object with the keys {', '.join(_KEYS)}")
    for key in raw:
        if key not in _KEYS + _NOTES:
            raise CaseError(f"{name}: unknown key {key!r}; {nearest(key, _KEYS)}")
    if raw.get("schema", schema("case")) != schema("case"):
        raise CaseError(
            f"{name} is no case file: its schema must be {schema('case')!r}, got {str(raw['schema'])[:60]!r}"
        )
    random = "events" not in raw and "delays" in raw
    for key in ("algorithm", "problem", *(() if random else ("events",))):
        if key not in raw:
            raise CaseError(f"{name}: the key {key!r} is missing")
    if not random and "seed" not in raw and ("delays" in raw or "server" in raw):
        both = next(key for key in ("delays", "server") if key in raw)
        raise CaseError(
            f"{name}: events and {both} both say who arrives when; keep events, or delays "
            "(events that were drawn name their seed, too)"
        )
    problem, parameters = raw["problem"], raw.get("parameters", {})
    if not isinstance(problem, dict) or not isinstance(problem.get("type"), str):
        raise CaseError(f'{name}: problem must be an object with a "type", e.g. {{"type": "huber", …}}')
    if not isinstance(parameters, dict):
        raise CaseError(f'{name}: parameters must be an object, e.g. {{"alpha": 0.1}}')
    algorithm = lookup("algorithms", str(raw["algorithm"]))
    options = {key: value for key, value in problem.items() if key != "type"}
    if "x0" in raw:
        if "x0" in options:
            raise CaseError(f"{name}: x0 stands both in the case and in its problem; keep one")
        options["x0"] = raw["x0"]
    built = build_problem(problem["type"], options)
    events: Events | RandomEvents = (
        _law(raw, algorithm, built.n, name) if random else algorithm.read_events(raw["events"], built.n, name)
    )
    law = None
    if not random and "law" in raw:
        if not isinstance(raw["law"], dict) or "delays" not in raw["law"] or set(raw["law"]) - {"delays", "server"}:
            raise CaseError(f'{name}: law must be an object with "delays", and "server" where there is one')
        law = _law(raw["law"], algorithm, built.n, name)
    iterations = None
    if random or ("theorem" in raw and "iterations" in raw):
        if "iterations" not in raw:
            raise SpecError(f"{name}: random events never end: iterations must be ≥ 1, or 0 for the start alone")
        iterations = Options(name, raw).integer("iterations", 0, minimum=0)
    try:
        read = algorithm.read(Options(algorithm.id, {key: plain(value) for key, value in parameters.items()}))
    except SpecError:
        if "theorem" not in raw and not random and not has_theorem:
            raise
        read = None  # without a step size; the theorem knows it
    return Case(algorithm, built, read, events, iterations, raw, law)


def own_case(theorem: Theorem) -> Path:
    """Return the case file of a theorem's counterexample: below the current folder, or as boundlab ships it.

    Raises
    ------
    SpecError
        If the theorem names none, or it is not there.
    """
    if not theorem.refuted_by:
        raise SpecError(f"{theorem.id} names no counterexample of its own; give a case file, CASE.json")
    package = Path(__file__).parents[1]  # a wheel has proofs/ in the package, a checkout beside it
    for root in (Path(), package, package.parent):
        if is_file(root / theorem.refuted_by):
            return root / theorem.refuted_by
    raise SpecError(f"{theorem.id}: its counterexample {theorem.refuted_by} is not here; give a case file, CASE.json")


def other_cases(theorem: Theorem) -> tuple[Path, ...]:
    """Return the case files of the theorem beside its own counterexample, named after that: ID.smallest.json."""
    own = own_case(theorem)
    beside = sorted(own.parent.glob(f"{own.stem}.*{own.suffix}"))
    return tuple(one for one in beside if read_json(one).get("theorem") == theorem.id)


def plain(value: Any) -> Any:
    """Return a parameter with formulas of numbers, such as "sqrt(18/175)", as numbers; other words stay."""
    if isinstance(value, str):
        try:
            return number_value(value)
        except FormulaError:
            return value
    return value


def _law(raw: Mapping[str, Any], algorithm: Algorithm[Any], clients: int, where: str) -> RandomEvents:
    """Read delays and server."""
    given, server = raw["delays"], raw.get("server")
    if server is not None and not isinstance(server, str):
        raise CaseError(f'{where}: server must be text, e.g. "poisson:rate=1", got {server!r}')
    try:
        delays = delays_from(given, clients)
        return RandomEvents(delays, algorithm.policy(server, delays))
    except BoundlabError as error:
        raise CaseError(f"{where}: {error}") from None


def replay(case: Case) -> list[dict[str, Any]]:
    """Run a case with full gradients and return its trajectory, one entry an event.

    Returns
    -------
    list of dict
        ``k`` the iteration (for AREA events, for the others server versions), ``t`` the time, ``actor`` a
        client index or "s", ``x`` the server model after the event, a list of d floats; and what the
        algorithm itself says of the event.
    """
    if isinstance(case.events, RandomEvents):
        raise CaseError("this case is about random events, so there is no one trajectory; boundlab exact takes it")
    if case.parameters is None:
        raise CaseError("this case leaves the step size to its theorem; write it into parameters to replay it")
    from boundlab.objective.weighted import stepped

    problem = stepped(case.problem, case.algorithm, case.parameters)
    # Each event is at most one server update, except that timers may add some of their own.
    tape = case.algorithm.schedule(
        case.parameters, case.events, problem.n, RecordAt(events=True), 4 * len(case.events) + 4
    )
    models: list[list[float]] = []
    run(tape, problem.x0, problem.full_gradients(), lambda _row, x: models.append(x.tolist()))
    own = {name.removeprefix("event_"): column.tolist() for name, column in tape.notes.items() if name[:6] == "event_"}
    events = case.algorithm.events_as_json(tape.events)
    return [
        {"k": k, "t": event[0], "actor": event[1], "x": x, **{name: column[row] for name, column in own.items()}}
        for row, (k, event, x) in enumerate(zip(tape.record.iteration.tolist(), events, models, strict=True))
    ]
