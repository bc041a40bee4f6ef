"""Worst-case question: the runs, their probabilities, the constants, the step size and the bound."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

import numpy as np
import sympy

from boundlab.algorithms import Algorithm, Event, EventLaw, EventProgram, undeclared_draws
from boundlab.arithmetic import numbers
from boundlab.arithmetic.rational import PROGRAM, Formula, Recipe, known_fraction, meant
from boundlab.case import delays_from
from boundlab.delays import DelayModel
from boundlab.errors import AssumptionError, BoundlabError, CertificateError, SpecError, SymbolError
from boundlab.events import Events
from boundlab.expectation import event_sequences
from boundlab.files import json_value
from boundlab.formulas.assignments import of_arrivals, parse_values
from boundlab.formulas.enclose import Formulas, known_value
from boundlab.formulas.symbols import ZERO_WITHOUT_NOISE, names_of, symbol
from boundlab.instance.readings import left_side, right_sides
from boundlab.instance.schedules import Schedules, at_options, filled, options_of, own_parameters, split
from boundlab.metrics import Metric
from boundlab.options import Options, nearest, parse_spec
from boundlab.randomness import Streams
from boundlab.registry import lookup, registered
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING, RecordAt, Tape
from boundlab.theorems import Theorem, about_each, core, met, over
from boundlab.worst_case.model import CONSTANTS, AllEvents, fill, noise, require_class, undefined

# The right side as a rational number, or between two: at the very numbers that the program is written with.

_BITS = 512  # irrational bounds are told from rational values that differ by more than 2⁻⁵⁰⁰
_FAR = 1e-6

Kind = Literal["exact", "certified", "numeric"]


@final
@dataclass(frozen=True, slots=True)
class RightSide:
    """A bound between two rational numbers.

    Parameters
    ----------
    low, high
        The bound lies between them; for ``exact`` they are equal.
    kind
        ``exact``: rational. ``certified``: enclosed. ``numeric``: between two evaluations that differ.
    """

    low: Fraction
    high: Fraction
    kind: Kind

    @property
    def exact(self) -> Fraction | None:
        """The bound where it is a rational number."""
        return self.low if self.kind == "exact" else None


@final
@dataclass(frozen=True, slots=True)
class RootStep:
    """A step size that is a square root, where its product with the bound is rational.

    Parameters
    ----------
    name
        Its option.
    square
        The step size squared.
    product
        The step size times the bound, both as the formulas give them.
    """

    name: str
    square: Fraction
    product: Fraction


@final
@dataclass(frozen=True, slots=True)
class Exactly:
    """A theorem at the rational numbers with which its run is made.

    Parameters
    ----------
    left
        The left side, with the numbers of its weights.
    right
        The right side.
    steps
        What step sizes stand for as the theorem's formulas give them, by the option.
    root
        The step size as its formula gives it, where that is a square root.
    """

    left: Metric
    right: RightSide
    steps: Mapping[str, Formula]
    root: RootStep | None


def exactly(theorem: Theorem, values: Mapping[str, Any], options: Mapping[str, Any], bound: float) -> Exactly:
    """Evaluate a theorem in rational numbers.

    Parameters
    ----------
    values
        Symbols, the counter among them; floats are read as the program reads them.
    options
        Of the algorithm, step sizes among them.
    bound
        The right side in floating point.

    Raises
    ------
    AssumptionError
        If these numbers do not meet a condition, by however little.
    """
    given = {name: tuple(map(meant, value)) if np.ndim(value) else meant(value) for name, value in values.items()}
    given |= _arrivals(theorem, values)
    absent = theorem.bound.gone(frozenset(given))
    for one in theorem.conditions:
        if not (names_of(one.quantity) | names_of(one.limit)) & absent and not met(theorem, one, given):
            raise AssumptionError(f"{theorem.id} needs {one.statement}, which these numbers do not meet, if only just")
    known = {name: known_value(value) for name, value in given.items()}
    rules = {name: rule for name, rule in theorem.defining().items() if name not in known}
    formulas = Formulas(known, rules)
    steps: dict[str, Formula] = {}
    root = None
    for name in theorem.step:
        found = formulas.exact(_symbol(theorem, name)) if name in rules and name in options else None
        if found is None:
            continue
        about = float(options[name])
        if not found.is_Rational:
            root, steps[name] = _root(theorem, name, formulas, found), ("about", about)
        elif abs(float(found) - about) <= _FAR * abs(about):
            steps[name] = _fraction(found)
    left = left_side(theorem, lambda: formulas, int(values[theorem.horizon_symbol]))
    return Exactly(left, _right(theorem, formulas, values, bound), steps, root)


def _symbol(theorem: Theorem, name: str) -> sympy.Symbol:
    return theorem.symbols[name].symbol if name in theorem.symbols else symbol(name)


def _root(theorem: Theorem, name: str, formulas: Formulas, step: sympy.Expr) -> RootStep | None:
    square = sympy.expand(step**2)
    if not theorem.bound.closed or not square.is_Rational:
        return None
    product = formulas.exact(step * sympy.Add(*theorem.bound.terms.values()))
    if product is None or not product.is_Rational:
        return None
    return RootStep(name, _fraction(square), _fraction(product))


def _arrivals(theorem: Theorem, values: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return n, p_s, p_min and qbar of independent events."""
    if "p" not in values or "iid-events" not in theorem.core.assumed:
        return {}
    p = [meant(float(one)) for one in values["p"]]
    return {name: Fraction(value) for name, value in of_arrivals(p, 1 - sum(p)).items()}


def _right(theorem: Theorem, formulas: Formulas, values: Mapping[str, Any], bound: float) -> RightSide:
    about = Fraction(bound)
    if not theorem.bound.closed:
        arrivals = {name: float(value) for name, value in _arrivals(theorem, values).items()}
        ends = right_sides(theorem, [{**arrivals, **values}], ())
        return RightSide(Fraction(float(ends.lower[0])), Fraction(float(ends.upper[0])), "certified")
    total = sympy.Add(*theorem.bound.terms.values())
    found = formulas.exact(total)
    if found is not None and found.is_Rational:
        value = _fraction(found)
        side = RightSide(value, value, "exact")
    else:
        try:
            side = RightSide(*_enclosed(formulas, total), "certified")
        except (BoundlabError, ValueError) as error:
            raise SpecError(f"{theorem.id}: the bound is not enclosed here: {error}") from None
    if abs(side.low - about) <= Fraction(_FAR) * abs(about):
        return side
    # Both are evaluations of one formula: where they differ, neither is taken for the bound.
    return RightSide(min(side.low, about), max(side.high, about), "numeric")


def _enclosed(formulas: Formulas, expression: sympy.Expr) -> tuple[Fraction, Fraction]:
    with numbers.digits(_BITS):
        found = formulas.ball(expression)
        if not found.is_finite():
            raise ValueError("not finite")
        middle, radius = numbers.fraction(found.mid().fmpq()), numbers.fraction(found.rad().fmpq())
    return middle - radius, middle + radius


def _fraction(value: sympy.Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))


_MOST_RUNS = 1_500


@final
@dataclass(frozen=True, slots=True)
class Question:
    """A question, checked.

    Parameters
    ----------
    options
        All options of the algorithm, the step size among them.
    values
        What the bound was evaluated with, by symbol.
    defaults
        Those of ``values`` that nobody set.
    bound
        The right side at K, or T, in floating point.
    exactly
        The same in rational numbers, and the step sizes with which the program is written.
    repaired
        The bounds of the repaired theorems, by id.
    average
        Whether the left side is the mean over all event sequences; else there is one run.
    sequences
        The event sequences with their probabilities; for one run empty.
    events
        Of the one run.
    beside
        Why the bound does not speak about this run, or ''.
    noise
        What makes the theorem one about gradients with noise, which the runs here do not have.
    conditional_on
        Values that the bound depends on and that nothing here certifies, in words.
    asked
        What was asked, as a file has it: :func:`ask` makes the same question of it.
    """

    theorem: Theorem
    algorithm: Algorithm[Any]
    clients: int
    iterations: int
    options: Mapping[str, Any]
    parameters: Any
    values: Mapping[str, Any]
    defaults: tuple[str, ...]
    bound: float
    exactly: Exactly
    repaired: Mapping[str, float]
    average: bool
    sequences: tuple[tuple[list[Event], Fraction], ...]
    events: Events | None
    beside: str
    noise: tuple[str, ...]
    conditional_on: tuple[str, ...]
    asked: Mapping[str, Any]

    @property
    def metric(self) -> Metric:
        """The left side."""
        return self.exactly.left

    def records(self) -> RecordAt:
        """Return what a run must show."""
        return self.metric.records([self.horizon])

    @property
    def horizon(self) -> int:
        """The K or T that the bound is about."""
        return int(self.values.get(self.theorem.horizon_symbol, self.iterations))

    def tapes(self) -> Iterator[tuple[Tape, Fraction]]:
        """Compile the runs, with their probabilities."""
        records = self.records()
        if self.events is not None:
            yield self._compile(self.events, records), Fraction(1)
            return
        for events, weight in self.sequences:
            yield self._compile(self.algorithm.drawn_events(self.parameters, events), records), weight

    def runs(self) -> Iterator[tuple[Tape, Fraction]] | AllEvents:
        """Return the runs: all event sequences at once where the algorithm says what one event does, else tapes."""
        program = self.algorithm.program(self.parameters, self.clients) if self.average else None
        if program is None:
            return self.tapes()
        return AllEvents(program, _law(program, self.values, self.clients), self.horizon)

    def rounded(self) -> bool:
        """Return whether some number of the runs is rounded from its formula: a root, or a quotient of long numbers."""
        parts = (part for tape, _ in self.tapes() for part in tape.recipes())
        found = {float(one) for part in parts for one in part if known_fraction(one) is None}
        return any(meant(one).denominator > PROGRAM.denominator for one in found)

    def _compile(self, events: Events, records: RecordAt) -> Tape:
        return self.algorithm.schedule(self.parameters, events, self.clients, records, self.iterations)


def ask(
    theorem: Theorem,
    iterations: int,
    settings: Mapping[str, Any],
    average: bool | None = None,
    delays: str | None = None,
    events: Sequence[Any] | None = None,
) -> Question:
    """Read the settings and choose the runs.

    Parameters
    ----------
    iterations
        K, or server updates.
    settings
        Symbols of the theorem and parameters of its algorithm: numbers, lists, or what ``--set`` takes.
    average
        Average over all event sequences; by default where the theorem is about their mean and none are given.
    delays
        A spec: ``iid:p_s=0.5`` sets the probabilities of events, others the schedule of a single run.
    events
        The one run, as a case file lists it.

    Raises
    ------
    BoundlabError
        If something is missing or does not fit.
    """
    require_class(theorem)
    if iterations < 1:
        raise SpecError(f"iterations must be ≥ 1, got {iterations}")
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    asked = {
        "theorem": theorem.id,
        "core": core(theorem).sha256,
        "iterations": iterations,
        "settings": {name: _plain(value) for name, value in settings.items()},
        "average": average,
        "delays": delays,
        "events": None if events is None else _plain(list(events)),
    }
    chosen, values = _read(theorem, algorithm, settings)
    theorem = at_options(theorem, algorithm, chosen)
    _probabilities(theorem, values, delays)
    clients = len(values["p"]) if "p" in values else int(float(values.pop("n", 1)))
    values["n"] = clients
    if "iid-events" in theorem.core.assumed and "p" not in values:
        raise SymbolError(f"{theorem.id} needs p: set p=0.5 (one probability a client), or delays iid:p_s=0.5")
    model = delays_from(delays if delays and events is None else "deterministic", clients)
    several = _several(theorem, algorithm, chosen, clients, model)
    random = over(theorem).independent or (several and over(theorem).drawn)
    average = random and events is None if average is None else average
    if average and not random:
        raise SpecError(f"{theorem.id} is about each schedule; averages need iid-events or uniform-sampling")
    if average and events is not None:
        raise SpecError("give the events of one run, or ask for the average, not both")
    yours = frozenset(values) - {"n"}
    values[theorem.horizon_symbol] = iterations
    defaults = fill(theorem, values, clients)
    filled(theorem, algorithm, chosen, values)
    for parameter, (name, value) in own_parameters(theorem, algorithm, chosen, {}).items():
        chosen[parameter] = values[name] = value
    if average:
        scheduled: frozenset[str] = frozenset()
        events_found = None
        known = _used(theorem, values)
        options, bound = {**chosen, **theorem.step_options(known)}, _bound(theorem, known, iterations)
    else:
        options, events_found, bound, scheduled = _single(
            theorem, algorithm, chosen, values, clients, iterations, model, events, yours
        )
    rational = exactly(theorem, values, options, bound)
    parameters = exact_parameters(algorithm, options, rational.steps)
    sequences = _sequences(algorithm, parameters, values, clients, iterations) if average else ()
    beside = "" if average or not several else "the theorem bounds the mean over random events, and this is one run"
    return Question(
        theorem, algorithm, clients, iterations, options, parameters, values, defaults, bound, rational,
        _repaired(theorem, values, options), average, sequences, events_found, beside,
        noise(theorem), (*undefined(theorem, values, clients), *_uncertified(theorem, values, yours - scheduled)),
        asked,
    )  # fmt: skip


def exact_parameters(algorithm: Algorithm[Any], options: Mapping[str, Any], steps: Mapping[str, Formula]) -> Any:
    """Return parameters whose numbers know what they stand for.

    Parameters
    ----------
    steps
        What some options stand for; others are read as the program reads floats.
    """
    own = {name: Recipe(float(options[name]), one) for name, one in steps.items()}
    return algorithm.read(Options(algorithm.id, {**options, **own})).known(meant)


def _plain(value: Any) -> Any:
    """Return what was asked as JSON has it: numbers, texts and lists, and the text of what is none of them."""
    value = json_value(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _several(
    theorem: Theorem, algorithm: Algorithm[Any], chosen: Mapping[str, Any], clients: int, delays: DelayModel
) -> bool:
    """Return whether the theorem bounds a mean over several runs; events that are given leave no arrival to chance."""
    parameters = algorithm.read(Options(algorithm.id, {**dict.fromkeys(theorem.step, 1), **chosen}))
    if len(set(algorithm.objective_weights(parameters, clients) or ())) > 1:
        raise SpecError(
            f"worst-case measures f, the mean of all f_i; with these weights {algorithm.id} minimises Σ p_i f_i; leave "
            "the weights out"
        )
    averaged = over(theorem).averaged(algorithm, parameters, clients, delays)
    if not averaged and not about_each(theorem) and (reason := undeclared_draws(algorithm, parameters, clients)):
        raise SpecError(reason)
    return averaged


def _law(program: EventProgram, values: Mapping[str, Any], clients: int) -> EventLaw[Fraction]:
    """Return the law of events: p where the program does not draw by itself."""
    shares = [meant(float(one)) for one in np.ravel(values.get("p", []))]
    if program.draws:
        shares = [Fraction(1, clients)] * clients
    return EventLaw(np.array(shares, dtype=object), 1 - sum(shares, start=Fraction(0)))


def _sequences(
    algorithm: Algorithm[Any], parameters: Any, values: Mapping[str, Any], clients: int, iterations: int
) -> tuple[tuple[list[Event], Fraction], ...]:
    """Return all event sequences.

    Raises
    ------
    SpecError
        If there are too many, or the algorithm has no one-event program.
    """
    program = algorithm.program(parameters, clients)
    if program is None:
        raise SpecError(f"averages need the one-event program of {algorithm.id}, which it does not have")
    if not program.draws and "p" not in values:
        raise SpecError(f"averages over arrivals need their probabilities, which no assumption gives {algorithm.id}")
    found = event_sequences(program, _law(program, values, clients), iterations)
    some = tuple(itertools.islice(found, _MOST_RUNS + 1))
    if len(some) > _MOST_RUNS:
        raise SpecError(f"more than {_MOST_RUNS} event sequences are too many; take fewer iterations")
    return some


def _uncertified(theorem: Theorem, values: Mapping[str, Any], yours: frozenset[str]) -> tuple[str, ...]:
    """Return what the user set in place of a definition, or of what the run would have to say."""
    anchored = {*CONSTANTS, *theorem.step, *theorem.core.read_as.values(), theorem.horizon_symbol, "p"}
    anchored |= {*of_arrivals([1], 1), *ZERO_WITHOUT_NOISE, *theorem.bound.replaces}
    return tuple(
        f"{name} = {float(values[name]):.6g} (your word)"
        for name in sorted(yours - anchored)
        if theorem.symbols[name].side != "any" and name in theorem.free(yours - {name})
    )


def _read(
    theorem: Theorem, algorithm: Algorithm[Any], settings: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell options of the algorithm from symbols, and read the numbers."""
    chosen, symbols = split(theorem, algorithm, settings, override=False)
    texts: list[str] = []
    for name, value in symbols.items():
        if name not in theorem.symbols:
            own = options_of(theorem, algorithm)
            raise SpecError(
                f"{name!r} is neither a symbol nor a parameter of {algorithm.id}; "
                f"{nearest(name, {*theorem.inputs(), *own})}"
            )
        listed = isinstance(value, (list, tuple, np.ndarray))
        texts.append(f"{name}={','.join(map(repr, map(float, value))) if listed else value}")
    found = parse_values(texts, theorem.symbols)
    if found.axes:
        raise SymbolError(f"{next(iter(found.axes))} has several values; worst-case takes one of each")
    values: dict[str, Any] = {name: found.grid()[name] for name in found.given}
    for name in sorted(ZERO_WITHOUT_NOISE):
        if np.any(values.get(name, 0.0)):
            raise SpecError(f"worst-case runs with full gradients: {name} must be 0, got {values[name]}")
    if theorem.horizon_symbol in values:
        raise SpecError(f"{theorem.horizon_symbol} is set by the option iterations")
    return chosen, values


def _probabilities(theorem: Theorem, values: dict[str, Any], delays: str | None) -> None:
    if "iid-events" not in theorem.core.assumed or delays is None:
        return
    if "p" in values:
        raise SpecError("give p or delays, not both")
    kind, options = parse_spec(delays, "delays")
    if kind != "iid":
        raise SpecError(f"{theorem.id} assumes iid-events; delays iid:p_s=0.5 would fit, got {kind}")
    clients = int(float(values.pop("n", 1)))
    if "p" in options:
        clients = len(Options("delays iid", dict(options)).numbers("p"))
    model: Any = delays_from(delays, clients)
    values["p"] = model.p


def _single(
    theorem: Theorem,
    algorithm: Algorithm[Any],
    chosen: Mapping[str, Any],
    values: dict[str, Any],
    clients: int,
    iterations: int,
    model: DelayModel,
    events: Sequence[Any] | None,
    yours: frozenset[str],
) -> tuple[dict[str, Any], Events, float, frozenset[str]]:
    policy_free = algorithm.server == "any" and events is None
    if policy_free and "iid-events" in theorem.core.assumed:
        raise SpecError(f"{theorem.id}: a single run needs its events; give them, or take the average")
    policy = algorithm.policy(None, model)
    own = {name: float(values[name]) for name in yours if np.ndim(values[name]) == 0}
    schedules = Schedules(theorem, algorithm, clients, model, policy, iterations, 0, chosen, own)
    if events is None:
        tape = compile_trial(
            algorithm, schedules.parameters, clients, model, policy, iterations, NOTHING, Streams(0, 0)
        )
    else:
        given = algorithm.read_events(list(events), clients, "events")
        tape = algorithm.schedule(schedules.parameters, given, clients, NOTHING, iterations)
        if tape.iterations < iterations:
            raise SpecError(f"the events make {tape.iterations} iterations, {iterations} are asked for")
    known = _used(theorem, values)
    horizon = iterations
    if algorithm.server == "any":
        options = {**chosen, **theorem.step_options(known)}
        return options, tape.events, _bound(theorem, known, iterations), frozenset()
    if "N" in theorem.takes:
        known["N"] = int(float(values.get("N", 1)))
        horizon = schedules.horizon(known)
        known[theorem.horizon_symbol] = values[theorem.horizon_symbol] = horizon
    scheduled = schedules.read(tape, horizon, known)
    step = theorem.step_options({**scheduled, **known})
    free = {name: value for name, value in step.items() if name in theorem.takes}
    ks = np.array([horizon])
    total = schedules.evaluate([scheduled], ks, {**known, **free}, exactly=False).total
    values |= {name: value for name, value in scheduled.items() if name not in values}
    return {**chosen, **step}, tape.events, float(total[0]), frozenset(scheduled)


def _bound(theorem: Theorem, known: Mapping[str, Any], horizon: int) -> float:
    """Return the right side, with conditions up to rounding: :func:`exactly` decides them at what the floats mean."""
    return float(theorem.at_iterations(known, [horizon], exactly=False).total[0])


def _used(theorem: Theorem, values: Mapping[str, Any]) -> dict[str, Any]:
    unread = set(theorem.unused(values)) - {theorem.horizon_symbol}
    return {name: value for name, value in values.items() if name not in unread}


def _repaired(theorem: Theorem, values: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, float]:
    """Return the bounds of the repaired forms of a printed theorem, as far as the same values say them."""
    if not theorem.of_paper:
        return {}
    words = theorem.id.split(".")
    prefix = ".".join([*words[:2], "repaired"])
    found: dict[str, float] = {}
    for name, other in registered("theorems").items():
        if name == prefix or name.startswith(f"{prefix}."):
            known = {**values, **{key: options[key] for key in ("alpha",) if key in other.free() and key in options}}
            try:
                found[name] = _bound(other, _used(other, known), int(values[other.horizon_symbol]))
            except BoundlabError:
                continue  # this form speaks about other runs
    return found


# Multipliers of several horizons as closed forms in K and k, where a small basis fits all of them exactly.
#
# At K = 1, 2, 3, … a bound that is attained has a certificate with few multipliers
# (:mod:`boundlab.worst_case.certificate`).
# Those of one kind of inequality, such as interpolation from iterate k to iterate k + 1, are often one quotient of
# polynomials in K and k. A fit proves nothing: it proposes what to multiply facts with in a proof for every K.

# Degrees of the numerator and of the denominator, in the order in which they are tried. The coefficients come from all
# horizons but the largest, whose multipliers a fit has to foretell.
_DEGREES = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (1, 2), (2, 1), (2, 2))
_Data: TypeAlias = dict[tuple[int, int], Fraction]
_COUNTERS = sympy.symbols("K k")
_STAR, _LAST = "x*", "the last point"


@final
@dataclass(frozen=True)
class Fitted:
    """The multipliers of one kind of inequality.

    Parameters
    ----------
    label
        Which inequalities, in words; those of iterate k hold a multiplier each.
    formula
        The multiplier by K and k, a quotient of polynomials; None where none fits.
    values
        How many multipliers, those that are 0 included.
    """

    label: str
    formula: sympy.Expr | None
    values: int

    @property
    def fits(self) -> bool:
        """True if there is a closed form."""
        return self.formula is not None

    def at(self, K: Any, k: Any = 0) -> Any:
        """Return the multiplier, for numbers of any kind that can be added, multiplied and divided.

        Raises
        ------
        CertificateError
            If there is no closed form.
        """
        if self.formula is None:
            raise CertificateError(f"the multipliers of {self.label} have no closed form here")
        K, k = (Fraction(one) if isinstance(one, int) else one for one in (K, k))
        parts = sympy.fraction(sympy.cancel(self.formula))
        top, bottom = (0 * K + sympy.lambdify(_COUNTERS, part, [])(K, k) for part in parts)
        return top / bottom

    def __str__(self) -> str:
        return "no closed form" if self.formula is None else str(sympy.factor(self.formula))


def closed_form(certificates: Mapping[int, Mapping[str, Any]]) -> tuple[Fitted, ...]:
    """Return the closed forms of the multipliers of certificates, one for each kind of inequality.

    Parameters
    ----------
    certificates
        By K: upper certificates of the same theorem, numbers and class, as ``worst-case --certificate`` writes them.

    Raises
    ------
    CertificateError
        If they are of one horizon only, are no upper certificates, or do not have one sample an iterate.
    """
    if len(certificates) < 2:
        raise CertificateError("multipliers are fitted over several horizons: give two or more")
    for K, certificate in certificates.items():
        if certificate.get("kind") != "upper":
            raise CertificateError(f"the certificate of K = {K} is not one of an upper value")
    # The last point may be one of the iterates, or another one, such as their average.
    ways = [_forms(certificates, apart=apart) for apart in (False, True)]
    return min(ways, key=lambda found: (sum(not one.fits for one in found), len(found)))


def _forms(certificates: Mapping[int, Mapping[str, Any]], *, apart: bool) -> tuple[Fitted, ...]:
    kinds: dict[tuple[Any, ...], _Data] = {}
    for K, certificate in sorted(certificates.items()):
        for kind, k, weight in _multipliers(certificate, K, apart=apart):
            kinds.setdefault(kind, {})[K, k] = weight
    found = []
    for kind, data in sorted(kinds.items(), key=lambda one: str(one[0])):
        if any(data.values()):
            found += _fitted(kind, data)
    return tuple(found)


def _multipliers(
    certificate: Mapping[str, Any], K: int, *, apart: bool
) -> Iterator[tuple[tuple[Any, ...], int, Fraction]]:
    """Yield kind, iterate and multiplier of all inequalities, those without a multiplier included."""
    weights: dict[tuple[Any, ...], Fraction] = {}
    for row in certificate["rows"]:
        key = (row["kind"], row.get("client", 0), row.get("i", row.get("words")), row.get("j"))
        weights[key] = weights.get(key, Fraction(0)) + Fraction(row["multiplier"])
    for key, weight in weights.items():
        if key[0] == "given":
            yield key[:3], 0, weight
    for client, function in enumerate(certificate["functions"]):
        samples = function["samples"]
        first = -1 if not samples[0]["x"] and not samples[0]["g"] else 0  # x* is the origin, where there is one
        if len(samples) + first not in (K, K + 1):
            raise CertificateError(f"K = {K}: {len(samples)} points of client {client} are not one an iterate")
        words = dict.fromkeys(range(len(samples)), "x_k")
        if first:
            words[0] = _STAR
        if apart:
            words[len(samples) - 1] = _LAST
        for i, word in words.items():
            if word != _STAR:
                k = i + first if word == "x_k" else 0
                yield ("gradient", client, word), k, weights.get(("gradient", client, i, None), Fraction(0))
        for i, j in itertools.permutations(words, 2):
            weight = weights.get(("interpolation", client, i, j), Fraction(0))
            names, k = [words[i], words[j]], min((one for one in (i, j) if words[one] == "x_k"), default=-first) + first
            if names == ["x_k", "x_k"]:
                names, k = ["x_k", f"x_(k{'+' if j > i else '−'}{abs(j - i)})"], i + first
            yield ("interpolation", client, ", ".join(names)), k, weight


def _fitted(kind: tuple[Any, ...], data: _Data) -> list[Fitted]:
    """Return one form for all iterates, or one for the last and one for the others."""
    label = str(kind[2])
    if kind[0] != "given":
        label = f"{'the gradient' if kind[0] == 'gradient' else 'interpolation'} of f_{kind[1]} at {label}"
    whole = _form(data)
    if whole is not None:
        return [Fitted(label, whole, len(data))]
    ends = {K: max(k for other, k in data if other == K) for K, _ in data}
    rest = {(K, k): value for (K, k), value in data.items() if k != ends[K]}
    last = {(K, 0): value for (K, k), value in data.items() if k == ends[K]}
    parts = ((rest, ", but for the last"), (last, ", the last"))
    found = [Fitted(label + words, _form(part), len(part)) for part, words in parts if part]
    return [one for one in found if one.formula != 0]


def _form(data: _Data) -> sympy.Expr | None:
    """Return the quotient P/Q of lowest degrees that fits all values exactly, or None.

    P(K, k) = value·Q(K, k) at all horizons but the largest has to leave one pair, up to a factor.
    """
    if not any(data.values()):
        return sympy.Integer(0)
    single = len({k for _, k in data}) == 1
    largest = max(K for K, _ in data)
    seen = {at: value for at, value in data.items() if at[0] < largest}
    for degrees in _DEGREES:
        top, bottom = (
            [(i, j) for i in range(most + 1) for j in range(most + 1 - i) if not (single and j)] for most in degrees
        )
        lines = [
            [*(K**i * k**j for i, j in top), *(-value * K**i * k**j for i, j in bottom)]
            for (K, k), value in seen.items()
        ]
        kernel = sympy.Matrix(lines).nullspace() if len(lines) >= len(top) + len(bottom) - 1 else []
        if len(kernel) == 1:
            terms = list(zip(kernel[0], (*top, *bottom), strict=True))
            P, Q = terms[: len(top)], terms[len(top) :]
            if all(_sum(Q, *at) and _sum(P, *at) == value * _sum(Q, *at) for at, value in data.items()):
                return _sum(P, *_COUNTERS) / _sum(Q, *_COUNTERS)
    return None


def _sum(terms: Sequence[tuple[sympy.Rational, tuple[int, int]]], K: Any, k: Any) -> Any:
    return sum(weight * K**i * k**j for weight, (i, j) in terms)
