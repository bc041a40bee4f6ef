"""The questions: each takes what the command of its name takes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from boundlab.algorithms import Algorithm
from boundlab.arguments import checked
from boundlab.case import Case, as_json, delays_from, load_case, own_case, problem_from, read_case
from boundlab.delays import DelayModel
from boundlab.errors import CaseError, SpecError
from boundlab.files import named_file, read_json
from boundlab.objective import Problem
from boundlab.options import (
    LOG_FORMS,
    MOST_ITERATIONS,
    MOST_TRIALS,
    BandKind,
    Declared,
    Default,
    Keyword,
    Objective,
    closest,
    count,
    integer,
    merged,
    number,
    numbers,
    read_columns,
    time_limit,
)
from boundlab.registry import lookup, registered
from boundlab.theorems import Theorem, load_theorem

if TYPE_CHECKING:
    from boundlab.api.answers import Applicable, CertifiedConstants
    from boundlab.checks import Checks
    from boundlab.compare import Comparison, Horizons
    from boundlab.exact import ExactResult
    from boundlab.falsify import Falsification
    from boundlab.prove import Outcome, Script
    from boundlab.server_rate import OptimalRate
    from boundlab.simulate import Simulation
    from boundlab.traces import DelayFit, TraceSummary
    from boundlab.worst_case import WorstCase


# Values of Python as the text that settings are read from.


def read_keywords(
    question: Callable[..., Any],
    settings: Mapping[str, Any] | None,
    more: Mapping[str, Any],
    known: Iterable[str],
    horizons: Iterable[str],
    iterations: Any,
) -> tuple[dict[str, Any], Any]:
    """Take the horizon out of the symbols, and refuse those that are a misspelt keyword of the question.

    Parameters
    ----------
    settings, more
        The symbols: those of a mapping, and those that are keywords.
    known
        What may be set.
    horizons
        The letters of the horizon, which no option of the algorithm has: ``K=10`` says what ``iterations=10`` says.
    iterations
        What the keyword ``iterations`` says; None where it is not given.

    Returns
    -------
    symbols
        All of them.
    number, list of numbers or None
        The horizon.

    Raises
    ------
    SpecError
        If a keyword is none, or a symbol or the horizon is given twice.
    """
    symbols = merged(settings, more)
    own = [name for name in signature(question).parameters if name not in ("settings", "symbols", "parameters")]
    for name in [one for one in horizons if one in symbols]:
        if iterations is not None:
            raise SpecError(f"{name} counts the iterations, and iterations says how many; give one of them")
        iterations = symbols.pop(name)
    for name in symbols:
        if name not in known and name in own:
            raise SpecError(f"{name} is no symbol but a keyword of {question.__name__}; give it outside of the symbols")
        if name not in known and closest(name, {*own, *known}) in own:
            raise SpecError(f"{question.__name__} has no keyword {name!r}; did you mean {closest(name, own)}?")
    return symbols, iterations


def texts(symbols: Mapping[str, Any]) -> dict[str, str]:
    """Return NAME → text, as ``--set NAME=VALUE`` has it.

    Raises
    ------
    SpecError
        If a value is neither a number, nor text, nor a list of numbers.
    """
    return {name: _text(name, value) for name, value in symbols.items()}


def _text(name: str, value: Any) -> str:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    match value:
        case str() | Fraction():
            return str(value)
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case list() | tuple():
            return f"[{','.join(_text(name, one) for one in value)}]"
    raise SpecError(f"{name} must be a number, text or a list of numbers, got {type(value).__name__}")


# Objects from words, beside strings: theorems, problems, delay models and cases.

MOST_CLIENTS = 10**6


@checked
def theorem(given: str | Path | Theorem) -> Theorem:
    """Return a theorem by its id or by the path of a TOML file.

    Raises
    ------
    BoundlabError
        If there is none, or the file says something that no theorem does.

    Examples
    --------
    >>> theorem("area.theorem8")
    <Theorem area.theorem8 (as printed): E f(x̄_K) − f* for area>
    """
    return read_theorem(given)


@checked
def problem(spec: str | Mapping[str, Any]) -> Problem:
    """Return the problem of a spec, ``NAME:key=value,…``, or of what a case file says, ``{"type": NAME, …}``.

    Raises
    ------
    BoundlabError
        If there is no such family, or an option is wrong.

    Examples
    --------
    >>> problem("lad:x0=3").spec()
    {'type': 'lad', 'c': [[0.0]], 'w': [[1.0]], 'sigma': 0.0, 'x0': [3.0]}
    """
    return problem_from(spec)


@checked
def delays(spec: str | Mapping[str, Any], clients: int | Problem) -> DelayModel:
    """Return the delay model of a spec, or of ``{"type": NAME, …}``, for as many clients as are said or a problem has.

    Raises
    ------
    BoundlabError
        If there is no such model, or an option is wrong.

    Examples
    --------
    >>> delays("iid:p_s=0.5", 3).rates().tolist()
    [0.16666666666666666, 0.16666666666666666, 0.16666666666666666]
    """
    return delays_from(spec, clients.n if isinstance(clients, Problem) else count(clients, "clients", 1, MOST_CLIENTS))


@checked
def replay(case: str | Path | Mapping[str, Any] | Case) -> list[dict[str, Any]]:
    """Run a case with full gradients and return its trajectory; see :func:`boundlab.case.replay`.

    Parameters
    ----------
    case
        A file, or what such a file says, such as the ``case`` of a result.

    Raises
    ------
    BoundlabError
        If it is none, or does not say who arrives when.
    """
    from boundlab.case import replay as run_case

    return run_case(case if isinstance(case, Case) else case_of(case))


def read_theorem(given: str | Path | Theorem) -> Theorem:
    """Return a theorem that is given by its id, its file or itself."""
    return given if isinstance(given, Theorem) else load_theorem(given)


def read_problem(given: str | Mapping[str, Any] | Problem) -> Problem:
    """Return a problem that is given by its words or itself."""
    return given if isinstance(given, Problem) else problem_from(given)


def read_delays(given: str | Mapping[str, Any] | DelayModel, clients: int) -> DelayModel:
    """Return a delay model that is given by its words or itself."""
    return given if isinstance(given, DelayModel) else delays_from(given, clients)


def case_of(given: str | Path | Mapping[str, Any]) -> Case:
    """Return a case that is given by its file or by what that says."""
    if isinstance(given, (str, Path)):
        return load_case(Path(given), has_theorem=True)
    return read_case(as_json(given), has_theorem=True)


@checked
def constants(
    problem: Annotated[
        str | Mapping[str, Any] | Problem,
        Declared("PROBLEM", "NAME:key=value,… (boundlab list problems)", ("specs", "problems")),
    ],
) -> "CertifiedConstants":
    """Return the certified constants of a problem: side, certificate, the minimiser, and the steps that theorems allow.

    Parameters
    ----------
    problem
        A spec, what a case file says, or a problem.

    Raises
    ------
    BoundlabError
        If there is no such family, or an option is wrong.

    Examples
    --------
    >>> constants("huber:c=[0,1],x0=3")
    <huber: L = 1, B = 1; 12 constants>
    """
    from boundlab.api.answers import constants_of

    return constants_of(read_problem(problem), [read_theorem(one) for one in registered("theorems")])


@checked
def applicable(
    problem: str | Mapping[str, Any] | Problem, delays: str | None = None, *, theorems: Sequence[str | Theorem] = ()
) -> "Applicable":
    """Return which theorems apply to a problem, and one reason for each that does not.

    What a comparison asks is asked of each theorem, under the delays or, without any, under examples of them; options
    that a theorem needs and step sizes that it leaves open have example values.

    Parameters
    ----------
    delays
        A spec.
    theorems
        All that are registered, unless some are named.

    Raises
    ------
    BoundlabError
        If problem, delays or a theorem are none.

    Examples
    --------
    >>> applicable("lad:x0=3", "iid:p_s=0.5", theorems=["area.theorem7", "area.theorem8"])
    <1 of 2 apply to lad>
    """
    from boundlab.api.answers import Applicable
    from boundlab.instance.fitting import applies

    chosen = read_problem(problem)
    if delays is not None:
        delays_from(delays, chosen.n)
    asked = [read_theorem(one) for one in theorems or registered("theorems")]
    return Applicable(chosen.id, tuple(applies(one, chosen, delays) for one in asked))


# Questions about logs: each takes what the command of its name takes.


@checked
def trace(
    log: Annotated[
        str | Path, Declared("FILE", "The log of a system, or a trace; .gz may be compressed.", ("files", "FILE"))
    ],
    form: Annotated[
        str,
        Declared(
            "--as FORM", "csv (default), or appfl: the simulator of virtual time of APPFL.", ("choices", LOG_FORMS)
        ),
    ] = "csv",
    columns: Annotated[
        Mapping[str, str] | None,
        Declared(
            "--map KEY=NAME,…",
            "Your names of the columns time, client, dispatch, version, steps, status and staleness.",
            read=read_columns,
        ),
    ] = None,
) -> "TraceSummary":
    """Read the log of a system: devices, rates, durations, staleness, and whether its events may be i.i.d.

    Parameters
    ----------
    form
        ``csv``, or ``appfl``.
    columns
        Of ``csv``: what the file calls the columns, such as ``{"time": "ts"}``.

    Raises
    ------
    SpecError
        Naming the file and the line.
    """
    from boundlab.traces import read_log, summary

    return summary(read_log(Path(log), form, columns))


@checked
def fit(log: str | Path, form: str = "csv", columns: Mapping[str, str] | None = None) -> "DelayFit":
    """Fit the laws of delays to the durations of a trace; parameters are those of :func:`trace`.

    Raises
    ------
    SpecError
        Naming the file and the line; or if there are too few durations, or one is 0.
    """
    from boundlab.traces import fit as fit_laws, read_log

    return fit_laws(read_log(Path(log), form, columns))


MOST_EVENTS = 1000  # of a worst case


def _events(path: Any) -> list[Any]:
    """Read the events of a file: a list, or those of a case."""
    raw = read_json(Path(path))
    found = raw.get("events") if isinstance(raw, dict) else raw
    if not isinstance(found, list):
        raise CaseError(f'{path} must be a list of events, or a case file with "events"')
    return found


def _rates(given: Any) -> Any:
    """Read a list of rates, or those of a trace."""
    text = str(given)
    return trace(text[6:]).rates if text.startswith("trace:") else numbers(text, "rates")


Tick = Callable[[int], None]


@overload
def compare(
    theorem: str | Path | Theorem, problem: str | Mapping[str, Any] | Problem = ...,
    delays: str | Mapping[str, Any] | DelayModel = ..., *,
    server: str | None = ..., iterations: int | float = ..., trials: int = ..., seed: int = ..., level: float = ...,
    band: BandKind = ..., beyond: Sequence[str] = ..., exact: bool | None = ..., enclose: bool = ...,
    backend: str = ..., device: str | None = ..., jobs: int | None = ..., settings: Mapping[str, Any] | None = ...,
    progress: Tick | None = ..., **symbols: Any,
) -> "Comparison": ...  # fmt: skip
@overload
def compare(
    theorem: str | Path | Theorem, problem: str | Mapping[str, Any] | Problem = ...,
    delays: str | Mapping[str, Any] | DelayModel = ..., *,
    server: str | None = ..., iterations: Sequence[int | float], trials: int = ..., seed: int = ...,
    level: float = ..., band: BandKind = ..., beyond: Sequence[str] = ..., exact: bool | None = ...,
    enclose: bool = ..., backend: str = ..., device: str | None = ..., jobs: int | None = ...,
    settings: Mapping[str, Any] | None = ..., progress: Tick | None = ..., **symbols: Any,
) -> "Horizons": ...  # fmt: skip
@checked
def compare(
    theorem: Annotated[str | Path | Theorem, Keyword.THEOREM],
    problem: Annotated[str | Mapping[str, Any] | Problem, Keyword.PROBLEM] = Default.PROBLEM,
    delays: Annotated[str | Mapping[str, Any] | DelayModel, Keyword.DELAYS] = Default.DELAYS,
    *,
    server: Annotated[str | None, Keyword.SERVER] = None,
    iterations: Annotated[int | float | Sequence[int | float] | None, Keyword.HORIZONS] = None,
    trials: Annotated[int, Keyword.TRIALS] = Default.TRIALS,
    seed: Annotated[int, Keyword.SEED] = Default.SEED,
    level: Annotated[float, Declared("--level", "Joint confidence level.")] = Default.LEVEL,
    band: Annotated[
        BandKind,
        Declared("--band", "How upper limits are made: bootstrap or student.", ("choices", get_args(BandKind))),
    ] = Default.BAND,
    beyond: Annotated[
        Sequence[str],
        Declared(
            "--beyond ASSUMPTION",
            "Compare although this assumption fails; may be repeated.",
            ("ids", "assumptions"),
            many=True,
        ),
    ] = (),
    exact: Annotated[
        bool | None,
        Declared(
            "--exact/--sampled",
            "Always compute expectations, or always sample. Default: compute if that is predicted to take seconds.",
        ),
    ] = None,
    enclose: Annotated[
        bool,
        Declared(
            "--enclose",
            "Decide in exact numbers what floats leave open, however long it takes. Default: if that is predicted to "
            "take seconds.",
        ),
    ] = False,
    backend: Annotated[str, Keyword.BACKEND] = Default.BACKEND,
    device: Annotated[str | None, Keyword.DEVICE] = None,
    jobs: Annotated[int | None, Keyword.JOBS] = None,
    settings: Annotated[Mapping[str, Any] | None, Keyword.SETTINGS] = None,
    progress: Tick | None = None,
    **symbols: Any,
) -> "Comparison | Horizons":
    """Compare a theorem's bound with what really happens on a problem under delays.

    Parameters
    ----------
    problem, delays
        A spec, ``NAME:key=value,…``, what a case file says, ``{"type": NAME, …}``, or an object.
    server
        ``poisson:rate=4`` (default: rate=optimal), ``count:every=4`` or ``periodic:every=1``.
    iterations
        K events for AREA, server updates for the others, 1000 by default; ``K=…`` or ``T=…``, as the theorem calls it,
        says the same. Of several horizons each is judged, together at ``level``: a theorem whose step is chosen for its
        horizon becomes a curve. A statement in seconds says itself how long a run goes.
    trials, seed, level, band
        Of the sample, where one is taken: see :func:`boundlab.compare.band`.
    beyond
        Assumptions that may fail; the result then says so and refutes nothing.
    exact
        True: compute expectations in place of sampling; False: sample; None: compute where that takes seconds.
    enclose
        Whether exact numbers decide what the digits of floats leave open, however long that takes.
    backend, device, jobs
        Where trials run: one of :data:`boundlab.options.BACKENDS`; a device of torch; processes, which change nothing.
    settings, symbols
        Symbols of the theorem and options of the algorithm, as a mapping, or as keywords:
        ``compare("area.theorem8", "lad:x0=3", K=6, M=50)``.
    progress
        Told how many trials are done.

    Returns
    -------
    Comparison
        Of one horizon; of several, :class:`boundlab.compare.Horizons`.

    Raises
    ------
    AssumptionError
        If the problem or the run is none that the theorem is about.
    BoundlabError
        If an option is wrong.

    Examples
    --------
    >>> compare("area.theorem8", "lad:x0=3", "iid:p_s=0.5", iterations=6, M=50)
    <area.theorem8 on lad: violated: at K = 6 the value 2.527 is above the bound 2.142 (computed, not sampled)>
    """
    from boundlab.compare import Horizons, compare as compare_plan
    from boundlab.instance import make_plan
    from boundlab.simulate import pick

    statement, chosen = read_theorem(theorem), read_problem(problem)
    algorithm: Algorithm[Any] = lookup("algorithms", statement.algorithm)
    known, letter = {*statement.symbols, *algorithm.parameters}, statement.horizon_symbol
    counted = {letter} - {*algorithm.parameters}
    every, iterations = read_keywords(compare, settings, symbols, known, counted, iterations)
    several = isinstance(iterations, (Sequence, np.ndarray))
    given = np.atleast_1d(Default.ITERATIONS if iterations is None else iterations).tolist()
    least = min(statement.first_iteration, 1) if statement.horizon == "every" else 1
    horizons = [count(one, "iterations", least, MOST_ITERATIONS) for one in given]
    if not horizons or len(set(horizons)) < len(horizons):
        raise SpecError("iterations must be a number, or a list of different numbers, such as [10, 100, 1000]")
    amount, start = count(trials, "trials", 1, MOST_TRIALS), count(seed, "seed", 0)
    model = read_delays(delays, chosen.n)
    windows = statement.takes  # a run of K updates ends with the last window of N
    values, policy = texts(every), algorithm.policy(server, model)
    each = 1.0 - (1.0 - number(level, "level")) / len(horizons)
    found = []
    for horizon in sorted(horizons):
        plan = make_plan(
            statement, chosen, model, policy, horizon, values, tuple(beyond),
            np.array([horizon]) if several and "N" not in windows else None, trials=amount, seed=start, forms=True,
        )  # fmt: skip
        said = (plan.iterations,) if several else (plan.iterations, Default.ITERATIONS)
        if statement.left.in_seconds and horizon not in said:
            raise SpecError(
                f"{statement.id} says itself that a run ends at {letter} = {plan.iterations}: leave {horizon} out"
            )
        where = pick(backend, device, jobs, plan.problem, amount, plan.iterations)
        one = compare_plan(plan, amount, start, each, band, progress, exact=exact, enclose=enclose, backend=where)
        found.append(one)
    return Horizons(tuple(found)) if several else found[0]


@checked
def run(
    algorithm: Annotated[
        str,
        Declared(
            "ALGORITHM|CASE.json",
            "an id (boundlab list algorithms) or a case file",
            ("ids", "algorithms", ".json"),
        ),
    ],
    problem: Annotated[str | Mapping[str, Any] | Problem, Keyword.PROBLEM] = Default.PROBLEM,
    delays: Annotated[str | Mapping[str, Any] | DelayModel, Keyword.DELAYS] = Default.DELAYS,
    *,
    server: Annotated[str | None, Keyword.SERVER] = None,
    iterations: Annotated[int | float | None, Keyword.ITERATIONS] = None,
    trials: Annotated[int, Keyword.TRIALS] = Default.RUN_TRIALS,
    seed: Annotated[int, Keyword.SEED] = Default.SEED,
    backend: Annotated[str, Keyword.BACKEND] = Default.BACKEND,
    device: Annotated[str | None, Keyword.DEVICE] = None,
    jobs: Annotated[int | None, Keyword.JOBS] = None,
    settings: Annotated[Mapping[str, Any] | None, Keyword.SETTINGS] = None,
    progress: Tick | None = None,
    **parameters: Any,
) -> "Simulation":
    """Simulate an algorithm on a problem under delays; parameters are those of :func:`compare`.

    Raises
    ------
    BoundlabError
        If an option is wrong.
    """
    from boundlab.simulate import pick, simulate

    chosen = read_problem(problem)
    amount = count(trials, "trials", 1, MOST_TRIALS)
    known = lookup("algorithms", algorithm).parameters
    every, asked = read_keywords(run, settings, parameters, known, {"K", "T"} - {*known}, iterations)
    horizon = count(Default.ITERATIONS if asked is None else asked, "iterations", 1, MOST_ITERATIONS)
    given, where = texts(every), pick(backend, device, jobs, chosen, amount, horizon)
    model, start = read_delays(delays, chosen.n), count(seed, "seed", 0)
    return simulate(algorithm, chosen, model, server, given, horizon, amount, start, progress, where)


@checked
def check(
    theorem: Annotated[str | Path | Theorem, Keyword.THEOREM],
    only: Annotated[
        str | None,
        Declared("--only GROUPS", "Some of scope, units, … (boundlab list checks).", ("ids", "checks")),
    ] = None,
) -> "Checks":
    """Check a theorem by its formula alone: scope, units, limits, known truths, relations.

    Parameters
    ----------
    only
        Some of the groups: ``units,limits`` (``boundlab list checks``).

    Raises
    ------
    SpecError
        If there is no such group.
    """
    from boundlab.checks import Checks, check as check_theorem, read_groups

    statement = read_theorem(theorem)
    return Checks(statement, tuple(check_theorem(statement, read_groups(only))))


@checked
def falsify(
    theorem: Annotated[str | Path | Theorem, Keyword.THEOREM],
    budget: Annotated[float, time_limit("Time limit of the search: 90, 90s, 1.5m.")] = Default.BUDGET,
    *,
    candidates: Annotated[
        int | None,
        integer("--candidates", "About how many instances to try, before shrinking. Replaces the time limit."),
    ] = None,
    seed: Annotated[int, Keyword.SEED] = Default.SEED,
    jobs: Annotated[int | None, Keyword.JOBS] = None,
    progress: Callable[[str], None] | None = None,
) -> "Falsification":
    """Search for the smallest counterexample of a theorem.

    Parameters
    ----------
    budget
        Seconds.
    candidates
        About how many instances to try; then the clock has no say, and the same call gives the same answer.

    Raises
    ------
    AssumptionError
        If there is nothing that a number could refute.
    """
    from boundlab.falsify import falsify as search
    from boundlab.simulate import processes

    statement = read_theorem(theorem)
    seconds = number(budget, "budget") if candidates is None else 1e9
    limit = None if candidates is None else count(candidates, "candidates", 1, 10**9)
    return search(statement, seconds, count(seed, "seed", 0), progress, limit, processes(jobs))


@checked
def exact(
    theorem: Annotated[str | Path | Theorem, Keyword.THEOREM],
    case: Annotated[
        str | Path | Mapping[str, Any] | Case | None,
        Declared(
            "[CASE.json]",
            "a case file with events, or with delays, server and iterations; or the id of a theorem, for its "
            "counterexample; default: that of THEOREM",
            ("files", "[CASE.json]"),
        ),
    ] = None,
    *,
    derivation: Annotated[
        bool, Declared("--derivation", "Print the calculation of both sides, for checking by hand.")
    ] = True,
) -> "ExactResult":
    """Evaluate both sides of a theorem on one case without sampling.

    Parameters
    ----------
    case
        A file, what such a file says, the id of a theorem, for its counterexample, or None for that of this one.
    derivation
        Whether the way to both sides is kept, where the numbers are exact.

    Raises
    ------
    BoundlabError
        If the case is none, or no engine computes it.
    """
    from boundlab.exact import evaluate

    statement = read_theorem(theorem)
    if not isinstance(case, Case):
        if isinstance(case, (str, Path)) and named_file(str(case), ".json") is None:
            case = own_case(found) if (found := registered("theorems").get(str(case))) is not None else case
        case = case_of(own_case(statement) if case is None else case)
        _require_about(case, statement)
    return replace(evaluate(statement, case, derive=derivation), statement=statement)


def _require_about(case: Case, theorem: Theorem) -> None:
    """Refuse a case of a theorem that is neither this one nor one that this repairs, or is repaired by."""
    named = case.raw.get("theorem", theorem.id)
    false = {one.id for one in registered("theorems").values() if theorem.id in one.repaired_by}
    if named not in {theorem.id, *theorem.repaired_by, *false}:
        raise CaseError(f"the case is about {named}, not {theorem.id}; leave out its theorem to evaluate another there")


@checked
def worst_case(
    theorem: Annotated[str | Path | Theorem, Keyword.THEOREM],
    iterations: Annotated[int | None, Keyword.ITERATIONS] = None,
    *,
    average: Annotated[
        bool | None,
        Declared(
            "--average/--single",
            "Average over all event sequences, or take one run. Default: what the theorem is about.",
        ),
    ] = None,
    delays: Annotated[
        str | None,
        Declared(
            "--delays -d SPEC",
            "iid:p_s=0.5 for the average over events; other delays give the schedule of one run.",
            ("specs", "delays"),
        ),
    ] = None,
    events: Annotated[
        Sequence[Any] | None,
        Declared(
            "--events FILE", "The events of one run: a JSON list, or a case file.", ("files", "FILE"), read=_events
        ),
    ] = None,
    find_function: Annotated[
        bool,
        Declared(
            "--function", "Also look for a function that attains the worst case, and replay it. --out implies this."
        ),
    ] = False,
    settings: Annotated[Mapping[str, Any] | None, Keyword.SETTINGS] = None,
    **symbols: Any,
) -> "WorstCase":
    """Ask for the worst function of a theorem's class, by a semidefinite program.

    Parameters
    ----------
    iterations
        K or T; small. ``K=…`` or ``T=…``, as the theorem calls it, says the same.
    average, delays, events
        The mean over all event sequences, or one run: see :func:`boundlab.worst_case.worst_case`.
    find_function
        Whether a function that makes the worst case is wanted, too, as ``.function``: no verdict needs it, and it takes
        longer than the value.
    settings, symbols
        R, B, L, mu, p, …, and parameters of the algorithm; R, B, L and F0 are 1 unless set.

    Raises
    ------
    BoundlabError
        If something is missing or does not fit, or there is no finite worst case.
    """
    from boundlab.worst_case import worst_case as analyse

    statement = read_theorem(theorem)
    own: Algorithm[Any] = lookup("algorithms", statement.algorithm)
    known, letter = {*statement.symbols, *own.parameters}, statement.horizon_symbol
    every, asked = read_keywords(worst_case, settings, symbols, known, {letter} - {*own.parameters}, iterations)
    if asked is None:
        raise SpecError(f"give the number of iterations, such as {letter}=5")
    horizon, given = count(asked, "iterations", 1, MOST_EVENTS), texts(every)
    return analyse(statement, horizon, given, average, delays=delays, events=events, find_function=find_function)


@checked
def prove(given: "str | Script", of: "str | Path | Theorem | None" = None) -> "Outcome":
    """Decide every step of a proof, and whether the last one is the theorem.

    Parameters
    ----------
    given
        The id of a registered proof, a Python file with one (the file is run), or a script of yours.
    of
        The theorem that the steps are to prove: its id, its file or itself. None: the registered one that the proof
        names.

    Raises
    ------
    SpecError
        If there is no such proof or theorem.
    """
    from boundlab.prove import Script, run as decide
    from boundlab.prove.run import the_script

    if not isinstance(given, (str, Script)):
        raise SpecError(f"prove: given must be text or a Script; got a value of type {type(given).__name__}")
    script = the_script(given) if isinstance(given, str) else given
    return decide(script, None if of is None else theorem(of), witnesses=True)


@checked
def optimal_rate(
    rates: Annotated[
        ArrayLike, Declared("--rates LIST", "Client rates λ_i: 10,10,2.5, @FILE, or trace:LOG.csv.", read=_rates)
    ],
    objective: Annotated[
        Objective,
        Declared(
            "--objective",
            "per-iteration (fixed K, as in the paper) or per-time (fixed wall-clock time).",
            ("choices", get_args(Objective)),
        ),
    ] = Default.OBJECTIVE,
    server_cost: Annotated[
        float, Declared("--server-cost C", "per-time: the time of one aggregation.")
    ] = Default.SERVER_COST,
    epsilon: Annotated[
        float, Declared("--epsilon", "per-time: how close to the limit the bound must come.")
    ] = Default.EPSILON,
) -> "OptimalRate":
    """Return the server rate λ_s that makes the bound of AREA's Theorem 8 smallest.

    See :func:`boundlab.server_rate.optimal_rate`, which says what the parameters are.

    Examples
    --------
    >>> optimal_rate([10, 10, 2.5])
    <λ_s* = 7.5 for 3 clients, per-iteration>
    """
    from boundlab.server_rate import optimal_rate as best_rate

    return best_rate(rates, objective, server_cost, epsilon)
