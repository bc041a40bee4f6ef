"""One explicit run, as a file; problems and delays from words; and what a result depends on."""

import contextlib
import platform
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from boundlab.__about__ import __version__
from boundlab.algorithms import Algorithm
from boundlab.arguments import checked
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import BoundlabError, CaseError, DataError, FormulaError, SpecError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.files import hashes, is_file, read_json, schema
from boundlab.formulas.parse import number_value
from boundlab.objective import ERROR_OPTION, Problem, ProblemType
from boundlab.objective.simple import OPTIONS, read_simple
from boundlab.options import Options, parse_spec, spec_of
from boundlab.records import Spec, record, what
from boundlab.registry import built_by, files as plugins, lookup
from boundlab.tape import RecordAt
from boundlab.theorems import Theorem

# From names and options to objects: the one place where problems and delay models are built.


@checked
def build_problem(kind: str, options: dict[str, Any]) -> Problem:
    """Build a registered problem from its options, those of :mod:`boundlab.objective.simple` and ``error`` among them.

    An option of the same name that a family declares is the family's own; a family that is ``constrained`` reads these,
    too.

    Raises
    ------
    BoundlabError
        If the type is unknown or an option is wrong.
    """
    family: ProblemType = lookup("problems", kind)
    options = as_json(options)  # arrays and fractions, too, as a file would have them
    shared = {*OPTIONS, *ERROR_OPTION} - set(family.options)
    passed = {*OPTIONS} if family.constrained else set()
    own = {key: value for key, value in options.items() if key not in shared - passed}
    problem: Problem = family.build(Options(f"problem {kind}", own, seen=set(shared)))
    simple = {key: value for key, value in options.items() if key in shared}
    h = read_simple(Options(f"problem {kind}", simple)) if simple else None
    if h is not None:
        from boundlab.objective.composite import Composite

        problem = Composite(problem, h)
    if shared & ERROR_OPTION.keys() & options.keys():
        from boundlab.objective.inexact import with_error

        problem = with_error(problem, options["error"])
    built_by(problem, rebuilt, build_problem, kind, *_found_anywhere(problem, options))
    return problem


def rebuilt(build: Callable[..., Any], kind: str, options: dict[str, Any], data: dict[str, str], *more: int) -> Any:
    """Build a problem, or a delay model, as another process has built it.

    Parameters
    ----------
    data
        The SHA-256 of each file that it was read from.

    Raises
    ------
    DataError
        If a file holds other data here.
    """
    one = build(kind, options, *more)
    for path, found in data.items():
        if hashes([Path(path)]).get(path) != found:
            raise DataError(f"{path} holds other data here than where the object was built")
    return one


def build_delays(kind: str, options: dict[str, Any], clients: int) -> DelayModel:
    """Build a registered delay model for n clients from its options.

    Raises
    ------
    BoundlabError
        If the model is unknown or an option is wrong.
    """
    options = as_json(options)
    model: DelayModel = lookup("delays", kind).build(Options(f"delays {kind}", options), clients)
    built_by(model, rebuilt, build_delays, kind, *_found_anywhere(model, options), clients)
    return model


def words_of(problem: Problem) -> str:
    """Return the spec that a problem was built from, files by their whole paths; else one that builds it again."""
    if call := problem._built_by:
        return spec_of(*call[1][1:3])
    spec = problem.spec()
    return spec_of(spec.pop("type"), spec)


def _found_anywhere(built: Problem | DelayModel, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the options with absolute paths of the files that were read, and what these files hold."""
    files = built.files()
    if not files:
        return options, {}
    data = hashes(path.absolute() for path in files)
    read = {place for path in data for place in (Path(path), Path(path).parent)}  # some are named by their folder

    def absolute(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        kind, colon, place = value.rpartition(":")
        whole = Path(place).expanduser().absolute()
        return f"{kind}{colon}{whole}" if place and whole in read else value

    return {key: absolute(value) for key, value in options.items()}, data


def problem_from(spec: str | Mapping[str, Any]) -> Problem:
    """Build the problem of a spec, ``NAME:key=value,…``, or of what a case file says, ``{"type": NAME, …}``."""
    if isinstance(spec, str):
        lookup("problems", spec.partition(":")[0].strip())  # before its options, which are those of another kind
    return build_problem(*_named(spec, "problem"))


def delays_from(spec: str | Mapping[str, Any], clients: int) -> DelayModel:
    """Build the delay model of a spec, or of what a case file says, for n clients."""
    return build_delays(*_named(spec, "delays"), clients)


def _named(spec: str | Mapping[str, Any], what: str) -> tuple[str, dict[str, Any]]:
    if isinstance(spec, str):
        return parse_spec(spec, what)
    if not isinstance(spec, Mapping) or not isinstance(spec.get("type"), str):
        raise SpecError(f'{what} must be a spec, or an object with a "type", e.g. {{"type": "NAME", …}}')
    return spec["type"], {key: value for key, value in spec.items() if key != "type"}


# Case files: one problem, one algorithm, and one explicit list of events or the law of random ones.

_Delays = Annotated[
    Spec | str, what("boundlab list delays", 'a spec such as "iid:p_s=0.5", or an object with a "type"')
]
_Server = Annotated[
    str | None, what("poisson:rate=1, count:every=4 or periodic:every=1.", 'text, e.g. "poisson:rate=1"')
]
_SCHEMA = schema("case")


class CaseLaw(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The law of which events are a draw."""

    delays: _Delays
    server: _Server = None


class CaseFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One problem, one algorithm, and one explicit list of events, or the law of random ones: run and exact read it."""

    schema: Annotated[str, what("May be absent.", extra_json_schema={"const": _SCHEMA})] = _SCHEMA
    algorithm: Annotated[str, what("boundlab list algorithms")]
    problem: Annotated[
        Spec, what("A test problem and its options.", 'an object with a "type", e.g. {"type": "huber", …}')
    ]
    x0: Annotated[Any, what("The start, where the problem does not say it.")] = None
    parameters: Annotated[
        dict[str, Any],
        what(
            "Options of the algorithm; a step size that is left out is the theorem's.", 'an object, e.g. {"alpha": 0.1}'
        ),
    ] = {}
    events: Annotated[
        Any,
        what(
            'What happens in this order; [time, actor, ...], where an actor is a client\'s number or "s".',
            extra_json_schema={"type": "array"},
        ),
    ] = None
    delays: _Delays | None = None
    server: _Server = None
    iterations: Annotated[int | float | str | None, what("The horizon.")] = None
    law: Annotated[CaseLaw | None, what("The law of which the events are a draw.")] = None
    theorem: Annotated[str, what("The theorem that the case is about.")] = ""
    constants: Annotated[dict[str, Any], what("What the theorem's symbols are on the case.")] = {}
    settings: Annotated[dict[str, Any], what("What was set beside them.")] = {}
    symbols: Annotated[
        list[Any], what("All symbols that the bound reads, with their values and where these come from.")
    ] = []
    seed: Annotated[int | None, what("Of the trial that it is from.")] = None
    trial: Annotated[int | None, what("Its number.")] = None
    claim: Annotated[Any, what("What is said of the case.")] = None
    note: Annotated[str, what("What a reader should know.")] = ""
    provenance: Annotated[dict[str, Any], what("What the case was found with.")] = {}


_EVENTS = {"anyOf": [{"required": ["events"]}, {"required": ["delays"]}]}
SCHEMA_OF = Annotated[CaseFile, msgspec.Meta(title="A case file", extra_json_schema=_EVENTS)]
COUNTEREXAMPLE = Annotated[
    CaseFile,
    msgspec.Meta(
        title="A counterexample",
        description="A case file that names its theorem and what contradicts it, as falsify and compare leave it.",
        extra_json_schema={**_EVENTS, "required": ["algorithm", "problem", "theorem", "iterations", "claim"]},
    ),
]
"""The types that the published schemas are of."""


@dataclass(frozen=True, slots=True)
class RandomEvents:
    """The law of random events: the case is then about the expectation over them."""

    delays: DelayModel
    policy: ServerPolicy


@dataclass(frozen=True, slots=True, eq=False)
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

    Raises
    ------
    BoundlabError
        If the events name a client that the problem does not have.
    """

    algorithm: Algorithm[Any]
    problem: Problem
    parameters: Any
    events: Events | RandomEvents
    iterations: int | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    law: RandomEvents | None = None

    def __post_init__(self) -> None:
        if isinstance(self.events, Events):
            self.algorithm.read_events(self.algorithm.events_as_json(self.events), self.problem.n, "the case")

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
    if isinstance(raw, dict) and raw.get("schema", _SCHEMA) != _SCHEMA:
        raise CaseError(f"{name} is no case file: its schema must be {_SCHEMA!r}, got {str(raw['schema'])[:60]!r}")
    file = record(CaseFile, raw, name, CaseError)
    random = "events" not in raw and "delays" in raw
    if not random and "events" not in raw:
        raise CaseError(f"{name}: the key 'events' is missing")
    if not random and "seed" not in raw and ("delays" in raw or "server" in raw):
        raise CaseError(
            f"{name}: events and {'delays' if 'delays' in raw else 'server'} both say who arrives when; keep events, "
            "or delays (events that were drawn name their seed, too)"
        )
    algorithm = lookup("algorithms", file.algorithm)
    options = {key: value for key, value in raw["problem"].items() if key != "type"}
    if "x0" in raw:
        if "x0" in options:
            raise CaseError(f"{name}: x0 stands both in the case and in its problem; keep one")
        options["x0"] = raw["x0"]
    built = build_problem(file.problem.type, options)
    events: Events | RandomEvents = (
        _law(raw, algorithm, built.n, name) if random else algorithm.read_events(raw["events"], built.n, name)
    )
    law = None
    if not random and file.law is not None:
        law = _law(raw["law"], algorithm, built.n, name)
    iterations = None
    if random or ("theorem" in raw and "iterations" in raw):
        if "iterations" not in raw:
            raise SpecError(f"{name}: random events never end: iterations must be ≥ 1, or 0 for the start alone")
        iterations = Options(name, raw).integer("iterations", 0, minimum=0)
    try:
        read = _parameters(algorithm, file.parameters)
    except SpecError:
        if "theorem" not in raw and not random and not has_theorem:
            raise
        read = None  # without a step size; the theorem knows it
    return Case(algorithm, built, read, events, iterations, raw, law)


def case_name(theorem: str, kind: str = "case") -> str:
    """Return the name of the case file of a theorem's violation; ``kind``: as ``counterexample``, for a search's."""
    return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', theorem)[:100]}.{kind}.json"


def own_case(theorem: Theorem) -> Path:
    """Return the case file of a theorem's counterexample: below the current folder, or as boundlab ships it.

    Raises
    ------
    SpecError
        If the theorem names none, or it is not there.
    """
    if not theorem.refuted_by:
        raise SpecError(f"{theorem.id} names no counterexample of its own; give a case file, CASE.json")
    package = Path(__file__).parent  # a wheel has proofs/ in the package, a checkout beside it
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


def _parameters(algorithm: Algorithm[Any], given: Mapping[str, Any]) -> Any:
    return algorithm.read(Options(algorithm.id, {key: plain(value) for key, value in given.items()}))


def _law(raw: Mapping[str, Any], algorithm: Algorithm[Any], clients: int, where: str) -> RandomEvents:
    """Read delays and server."""
    try:
        delays = delays_from(raw["delays"], clients)
        return RandomEvents(delays, algorithm.policy(raw.get("server"), delays))
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
    # No theorem is asked here: where no parameters could be read, reading again says what is wrong.
    given = case.raw.get("parameters", {})
    parameters = _parameters(case.algorithm, given) if case.parameters is None else case.parameters
    from boundlab.objective.weighted import stepped

    problem = stepped(case.problem, case.algorithm, parameters)
    # Each event is at most one server update, except that timers may add some of their own.
    tape = case.algorithm.schedule(parameters, case.events, problem.n, RecordAt(events=True), 4 * len(case.events) + 4)
    models: list[list[float]] = []
    run(tape, problem.x0, problem.full_gradients(), lambda _row, x: models.append(x.tolist()))
    own = {name.removeprefix("event_"): column.tolist() for name, column in tape.notes.items() if name[:6] == "event_"}
    events = case.algorithm.events_as_json(tape.events)
    return [
        {"k": k, "t": event[0], "actor": event[1], "x": x, **{name: column[row] for name, column in own.items()}}
        for row, (k, event, x) in enumerate(zip(tape.record.iteration.tolist(), events, models, strict=True))
    ]


# Dependencies of a result beside the numbers that it shows: files, libraries, and all options of the delays.

_PACKAGES = (
    "numpy",
    "scipy",
    "sympy",
    "cvxpy",
    "clarabel",
    "scikit-learn",
    "python-flint",
)


def provenance(
    theorem: Theorem | None = None,
    problem: Problem | None = None,
    delays: DelayModel | None = None,
    policy: ServerPolicy | None = None,
    parameters: Any = None,
) -> dict[str, Any]:
    """Return what determines a result, JSON-ready: with the same, it can be repeated to the last bit.

    Parameters
    ----------
    parameters
        What the algorithm has read, defaults included.

    Returns
    -------
    dict
        Data that were read from files are identified by the SHA-256 of these, others by that of their samples.
    """
    found: dict[str, Any] = {"boundlab": __version__, "versions": versions(), "blas": blas()}
    if theorem is not None:
        found["theorem"] = {"id": theorem.id, **_text(theorem.source)}
    if delays is not None:
        found["delays"] = as_json(delays.spec())
    if policy is not None:
        found["server"] = policy.spec()
    if parameters is not None:
        found["parameters"] = as_json(parameters)
    if problem is not None and not problem.files() and (samples := problem.data_sha256()):
        found["data"] = {"sha256": samples}
    data = [*([] if problem is None else problem.files()), *([] if delays is None else delays.files())]
    return {**found, "files": hashes(data), "plugins": hashes(plugins())}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on, where they are installed."""
    return {"python": platform.python_version(), "machine": platform.machine(), **_packages(tuple(sys.path))}


@lru_cache(maxsize=4)
def _packages(_path: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of the packages that are installed; their metadata are read once for each search path."""
    found = {}
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def blas() -> list[dict[str, Any]]:
    """Return the libraries of linear algebra that are loaded: their kernels round in different ways.

    Without threadpoolctl (it comes with scikit-learn) the one that NumPy was built with.
    """
    try:
        from threadpoolctl import threadpool_info  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        built: Any = np.show_config(mode="dicts")
        one = built.get("Build Dependencies", {}).get("blas", {})
        return [{key: str(one[key]) for key in ("name", "version") if key in one}]
    keys = ("internal_api", "version", "architecture", "num_threads")
    import scipy.linalg  # noqa: F401  (it has one of its own: whether it is loaded yet must not matter)

    every = [{key: one.get(key) for key in keys} for one in threadpool_info() if one.get("user_api") == "blas"]
    found = [one for place, one in enumerate(every) if one not in every[:place]]
    return sorted(found, key=lambda one: [str(value) for value in one.values()])  # loaded in no certain order


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, parameters as objects, anything else as its words."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return as_json(value.tolist())
    if isinstance(value, (list, tuple)):
        return [as_json(entry) for entry in value]
    if isinstance(value, np.generic):
        return as_json(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _text(source: str) -> dict[str, str]:
    return {"sha256": sha256(source.encode("utf-8")).hexdigest(), "text": source} if source else {}
