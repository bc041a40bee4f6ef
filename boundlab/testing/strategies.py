"""Strategies of hypothesis: small problems with certified constants, delays, schedules, options, cases of a theorem.

They compose as any others do: ``st.tuples(problems(clients=2), delays(2))``, ``cases(theorem).filter(…)``. They need
``pip install "boundlab[testing]"``.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from boundlab.algorithms import Algorithm
from boundlab.algorithms.example_options import readable, surroundings
from boundlab.case import delays_from, problem_from
from boundlab.delays import DelayModel
from boundlab.errors import BoundlabError, SpecError
from boundlab.instance.fitting import CompareOptions, fitting
from boundlab.instance.schedules import options_of, rates
from boundlab.objective import Problem
from boundlab.options import Options, spec_of, typed
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import RecordAt
from boundlab.theorems import Theorem, load_theorem, over

__all__ = ["arrivals", "cases", "delay_specs", "delays", "parameters", "problem_specs", "problems", "schedules"]

FAMILIES = (
    "huber",
    "pseudo-huber",
    "lad",
    "quadratic",
    "max-affine",
    "smoothed-max-affine",
    "logistic",
    "softmax",
    "hinge",
    "lad-regression",
)
CURVED = ("quadratic", "quadratic", "logistic", "softmax")
STEEP = ("huber", "huber", "pseudo-huber", "lad", "max-affine", "smoothed-max-affine", "logistic", "hinge")
SMOOTH = ("huber", "huber", "pseudo-huber", "smoothed-max-affine", "logistic")
DELAYS = (
    "exponential",
    "exponential:spread=5",
    "deterministic",
    "deterministic:spread=3",
    "uniform",
    "lognormal",
    "two-speed",
    "markov",
    "iid:p_s=0.3",
    "iid",
    "gamma",
    "per-step:jitter=0.1",
)
MEMORYLESS = ("exponential", "exponential:spread=5", "iid:p_s=0.3", "iid")
_CENTRES = ("-2", "0", "0.5", "1", "4")
_WEIGHTS = ("0.1", "1", "3")
_SEPARABLE = ("huber", "pseudo-huber", "lad")
_SUMS = (*_SEPARABLE, "quadratic", "max-affine", "smoothed-max-affine")  # noise is an option of these
_NUMBERS = ("0", "0.25", "0.5", "1", "1.5", "2", "3", "5")
_FACTORS = (0.01, 0.1, 0.5, 0.9, 1.0, 1.0000000000001, 1.1, 2.0, 3.9)
_SERVERS = ("poisson:rate=2", "count:every=2", "count:every=3", "periodic:every=1")
_HORIZONS = (1, 2, 3, 5, 12, 30)
_SYMBOLS = {"N": ("1", "2", "3"), "D": ("0.01", "0.05", "0.2")}  # windows and accuracies, where they are settable


def families_of(assumed: Collection[str]) -> tuple[str, ...]:
    """Return the families of problems that mostly meet the assumptions."""
    if "strongly-convex" in assumed:
        return CURVED
    return SMOOTH if "smooth" in assumed else STEEP


@st.composite
def problem_specs(
    draw: st.DrawFn,
    families: Sequence[str] = (),
    clients: int | None = None,
    *,
    noise: bool | None = None,
    curved: bool | None = None,
) -> str:
    """Draw small convex problems as ``--problem`` takes them: Huber losses, least absolute deviations, quadratics, ….

    Parameters
    ----------
    families
        Of which; by default all of :data:`FAMILIES`.
    clients
        n; by default 1 to 3. They are in one or two dimensions.
    noise
        Whether gradients have noise; by default either.
    curved
        Whether regularisers make losses strongly convex; by default either.
    """

    def some(count: int, choices: Sequence[str]) -> list[str]:
        return [draw(st.sampled_from(choices)) for _ in range(count)]

    def one(choices: Sequence[str]) -> str:
        return draw(st.sampled_from(choices))

    n = draw(st.integers(1, 3)) if clients is None else clients
    kind = one(families or FAMILIES)
    loud = draw(st.booleans()) if noise is None else noise
    options: dict[str, Any] = {}
    if kind in _SEPARABLE:
        options = {"c": some(n, _CENTRES), "w": some(n, _WEIGHTS)}
        options |= {} if kind == "lad" else {"delta": one(("0.1", "1", "10"))}
    elif kind == "quadratic":
        options = {"A": [[[a]] for a in some(n, _WEIGHTS)], "b": [[b] for b in some(n, _CENTRES)]}
    elif kind in ("max-affine", "smoothed-max-affine"):
        options = {"clients": n, "pieces": 2, "dimension": draw(st.integers(1, 2)), "seed": draw(st.integers(0, 3))}
    else:  # two rows of data a client
        options = {
            "features": [some(2, ("-1", "0", "1", "2")) for _ in range(2 * n)],
            "targets": draw(st.permutations(["0", "1"] * n)),
            "owners": sorted([*range(n)] * 2),
            "nu": one(("0", "0.1") if curved is None else ("0.1", "1") if curved else ("0",)),
            "batch": "1" if loud else "full",
            "weights": one(("equal", "size", "paper")),
            "bias": one(("yes", "no")),
        }
        options |= {"solver": "newton"} if kind in ("logistic", "softmax") else {}
    if kind in _SUMS:
        options["sigma"] = "0.3" if loud else "0"
    return spec_of(kind, options | {"x0": one(("0", "0.5", "3"))})


def problems(
    families: Sequence[str] = (), clients: int | None = None, *, noise: bool | None = None, curved: bool | None = None
) -> st.SearchStrategy[Problem]:
    """Draw small convex problems, whose constants and minimisers are certified; see :func:`problem_specs`."""
    return problem_specs(families, clients, noise=noise, curved=curved).map(problem_from)


def delay_specs(*, memoryless: bool = False) -> st.SearchStrategy[str]:
    """Draw delay models as ``--delays`` takes them; ``memoryless``: those under which events are independent."""
    return st.sampled_from(MEMORYLESS if memoryless else DELAYS)


def delays(clients: int, *, memoryless: bool = False) -> st.SearchStrategy[DelayModel]:
    """Draw delay models for n clients; see :func:`delay_specs`."""
    return delay_specs(memoryless=memoryless).map(lambda spec: delays_from(spec, clients))


@st.composite
def arrivals(draw: st.DrawFn, clients: int, wait: int = 0, longest: int = 24) -> list[int]:
    """Draw who arrives, in order; with ``wait`` > 0 each client is held until so many of them have arrived."""
    held: list[int] = []
    actors = []
    for choice in draw(st.lists(st.integers(0, 59), min_size=1, max_size=longest)):
        ready = [client for client in range(clients) if client not in held]
        actors.append(ready[choice % len(ready)])
        if wait:
            held.append(actors[-1])
            held = held if len(held) < wait else []
    return actors


@st.composite
def parameters(draw: st.DrawFn, algorithm: str | Algorithm[Any], clients: int = 2) -> dict[str, str]:
    """Draw options of an algorithm that go together, from the examples that it declares, with a small step size.

    Parameters
    ----------
    algorithm
        An id, or the algorithm.
    clients
        n, for options with a number for each.
    """
    a = _algorithm(algorithm)
    chosen = surroundings(a.id, a, clients, 0)[0]
    for name, some in sorted(a.examples(clients).items()):
        if some and name not in a.step_size_symbols and draw(st.booleans()):
            more = {**chosen, name: draw(st.sampled_from(list(some)))}
            more = {key: value for key, value in more.items() if value}
            chosen = more if readable(a, more) else chosen
    return chosen


@st.composite
def schedules(
    draw: st.DrawFn,
    algorithm: str | Algorithm[Any],
    clients: int = 2,
    options: Mapping[str, Any] | None = None,
    longest: int = 24,
) -> list[list[Any]]:
    """Draw explicit events, as the ``events`` of a case file: ties, clients that never arrive, any order.

    Where the algorithm refuses an order (a client that is waited for cannot arrive), the events of a delay model stand
    in its place.

    Parameters
    ----------
    options
        Of the algorithm; by default the simplest ones.
    longest
        How many at most.
    """
    a = _algorithm(algorithm)
    chosen = options or surroundings(a.id, a, clients, 0)[0]
    read = a.read(Options(a.id, {name: value for name, value in chosen.items() if value}))
    now, rows = 0.0, []
    for actor in draw(arrivals(clients + (a.server == "any"), longest=longest)):
        now += draw(st.sampled_from([0.0, 0.25, 1.0]))
        rows.append([now, actor if actor < clients else "s"])
    try:
        events = a.read_events(rows, clients, "here")
        a.schedule(read, events, clients, RecordAt(), len(rows))
    except BoundlabError:
        model = draw(delays(clients))
        drawn = Streams(draw(st.integers(0, 1000)), 0)
        events = a.sample(read, model, a.policy(None, model), drawn, clients, len(rows))
    return a.events_as_json(events)


def cases(
    theorem: str | Theorem, *, fits: bool = True, around: Sequence[CompareOptions] | None = None
) -> st.SearchStrategy[CompareOptions]:
    """Draw what a theorem may be compared on: a problem, delays, options, a horizon, and steps near its own.

    Parameters
    ----------
    theorem
        An id, a TOML file, or a theorem.
    fits
        Only what the theorem is about: in place of what is not, a built-in setting stands. False: anything, with any
        options; most of it breaks an assumption or two.
    around
        Settings that the theorem is about, to begin from; by default those of :func:`boundlab.testing.fitting`.

    Raises
    ------
    AssumptionError
        If no built-in setting is one that the theorem is about.
    SpecError
        If ``around`` is empty.
    """
    statement = theorem if isinstance(theorem, Theorem) else load_theorem(theorem)
    known = fitting(statement, 3) if around is None else tuple(around)
    if not known:
        raise SpecError("cases need a setting to begin from; leave around out, or give one")

    drawn = _settings(statement, known, wild=not fits)
    if not fits:
        return drawn
    return drawn.flatmap(lambda one: st.just(one) if one.fits else st.sampled_from(known))


@st.composite
def _settings(draw: st.DrawFn, theorem: Theorem, known: Sequence[CompareOptions], *, wild: bool) -> CompareOptions:
    """Draw a setting that often is one that the theorem is about."""
    a, assumed = _algorithm(theorem.algorithm), theorem.core.assumed
    built = [problem_from(one.problem) for one in known]
    clients = 1 if all(one.n == 1 for one in built) else draw(st.integers(1, 3))
    odd = st.just(False) if not wild else st.integers(0, 9).map(lambda number: number == 0)
    noise = False if all(one.noiseless for one in built) else None
    problem = problem_specs(families_of(assumed), clients, noise=noise, curved="strongly-convex" in assumed)
    problem = problem_specs(clients=clients) if draw(odd) else problem
    usual = not draw(odd)
    servers = (None, *(_SERVERS[:1] if usual else _SERVERS)) if a.server == "any" else (None,)
    own, given = rates(theorem, a), draw(st.sampled_from(known)).settings
    kept = own if wild and draw(st.booleans()) else given  # a rate that is open must have a value
    chosen = {name: _for(clients, value) for name, value in given.items() if name in kept}
    chosen |= _options(draw, theorem, a, clients) if wild else {}
    for symbol, some in _SYMBOLS.items():
        if symbol in theorem.settable and draw(st.booleans()):
            chosen[symbol] = draw(st.sampled_from(some))
    words = draw(problem), draw(delay_specs(memoryless=usual and over(theorem).lawful)), draw(st.sampled_from(servers))
    found = CompareOptions(theorem, *words, draw(st.sampled_from(_HORIZONS)), chosen)
    return _scaled(draw, found, own & theorem.free() - {"K"})


def _for(clients: int, value: str) -> str:
    """Return an option for so many clients: of a list with a number for each, the last ones."""
    inner = value.removeprefix("[").removesuffix("]").split(",")
    return f"[{','.join(inner[-clients:])}]" if value.startswith("[") and "[" not in value[1:] else value


def _scaled(draw: st.DrawFn, one: CompareOptions, open_: Iterable[str]) -> CompareOptions:
    """Draw rates near those that a theorem leaves open, or sets by default."""
    factor = {name: draw(st.sampled_from(_FACTORS)) for name in sorted(open_)}
    if not factor or not draw(st.booleans()):
        return one
    try:
        values = one.plan(trials=2).parameter_values
    except BoundlabError:
        return one
    return one.with_settings({name: repr(by * values[name]) for name, by in factor.items() if name in values})


def _options(draw: st.DrawFn, theorem: Theorem, a: Algorithm[Any], clients: int) -> dict[str, str]:
    """Draw values for some options: their examples, numbers, or one number a client, that go together or not."""
    chosen: dict[str, str] = {}
    for name in sorted(options_of(theorem, a)):
        seldom = name in theorem.core.fixed or (name == "count" and a.server == "any")
        if draw(st.integers(0, 20 if seldom else 3)):
            continue
        kind, examples = draw(st.integers(0, 3)), [one for one in a.examples(clients).get(name, ()) if one]
        if kind == 0 and clients > 1:
            chosen[name] = typed([draw(st.sampled_from(_NUMBERS[1:])) for _ in range(clients)])
        else:
            chosen[name] = draw(st.sampled_from(examples if kind <= 2 and examples else _NUMBERS))
    return chosen


def _algorithm(given: str | Algorithm[Any]) -> Algorithm[Any]:
    found: Algorithm[Any] = lookup("algorithms", given) if isinstance(given, str) else given
    return found
