"""Random statements about random instances, and what the engines say of them: no two may contradict each other.

A statement is a file: one drawn from nothing, whose truth nobody knows, or a true theorem made weaker, of which every
engine that says ``violated`` is wrong. Both are asked of the same instance by all engines that take it.
"""

import contextlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from core_files import as_toml
from hypothesis import strategies as st
from statements import toml

import boundlab as bl
from boundlab.algorithms.example_options import surroundings
from boundlab.errors import BoundlabError, SpecError
from boundlab.formulas.parse import FUNCTIONS
from boundlab.formulas.symbols import SYMBOLS
from boundlab.registry import lookup, registered
from boundlab.testing.strategies import delay_specs, families_of, parameters, problem_specs
from boundlab.theorems import Theorem, core, load_theorem
from boundlab.verdict import Verdict

BATTERY = sorted((Path(__file__).parent / "battery" / "theorems").glob("*.toml"))
# Names that SymPy, NumPy or Python give a meaning of their own.
AWKWARD = ("e", "pi", "E", "I", "maximum", "minimum", "oo", "nan", "zoo", "re", "Symbol", "x", "inf")
PLAIN = ("own_first", "own_second")
LEVEL = 0.9999999  # of samples: never wrong in as many examples as there will be
TRIALS = 6
LONGEST, MOST_ENUMERATED = 5, 12  # events of a worst case, and where all sequences may be gone through
# Whose runs have a largest staleness.
STALE = ("async_sgd", "fedasync", "fedbuff", "fedfa", "fedstaleweight", "rennala", "ringmaster")
_HORIZONS = (1, 2, 3, 5, 12, 30)
_CLASSES = (("smooth", "convex"), ("smooth", "strongly-convex"), ("lipschitz",), ("smooth",))
_ABOUT = (None, None, "each schedule", "the mean")
_RUNS = ((), ("fixed-schedule",), ("iid-events",), ("fixed-schedule",))
_NOISE = ((), ("bounded-variance",), ("bounded-variance",))
_SIZES = {
    "gap": ("L*R**2", "F0", "B*R", "B**2/mu", "L*(R + zeta)**2", "sigma*R", "sigma**2/L"),
    "squared-distance": ("R**2", "(R + zeta)**2", "sigma**2/L**2", "F0/mu", "Max(R, sigma/L)**2"),
    "gradient-norm": ("L**2*R**2", "L*F0", "sigma**2", "(L*R + sigma)**2", "B**2"),
}
_SHAPES = (
    "1",
    "1/{k}",
    "1/sqrt({k})",
    "1/({k} + 1)",
    "exp(-{k}/10)",
    "(1 + 1/{k})**{k}",
    "Max(1, {k} - 3)",
    "{k}/n",
    "(1 - 1/({k} + 1))**{k}",
    "1/Min({k}, 7)",
    "(1 - (1 - 1/9)**{k})",
    "(1 + {lag})",
)
_CONDITIONS = (
    "1 <= L/(tau_max + 1)*1e9/L",
    "1/(4*L*sqrt(tau_max)) <= 1e9/L",
    "{k}/n <= 1000",
    "n/({k} - 1) <= 100",
    "R/(R + zeta) <= 1",
    "mu/L <= 1",
    "sqrt({k}) <= {k}",
)
_RATES = ("1/L", "1/(2*L)", "1/(4*L*(1 + {lag}))", "1/(L*sqrt({k}))", "1/(8*L)", "R/(B*sqrt({k}))")
_FACTORS = ("1/1000", "0.01", "0.1", "0.5", "1", "1", "2", "10", "1000")
_MORE = ("1", "1.0000001", "3/2", "1000")


@cache
def true_statements() -> dict[str, dict[str, Any]]:
    """Return the true theorems, of the battery and registered ones that a file can say, as what their files hold."""
    found = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in BATTERY}
    for name, theorem in registered("theorems").items():
        if not theorem.of_paper:
            with contextlib.suppress(SpecError):  # a recursion is no formula
                found[name] = tomllib.loads(as_toml(core(theorem), name))
    return {name: data for name, data in found.items() if not data.get("shape")}


@dataclass(frozen=True)
class Asked:
    """A statement and an instance.

    Parameters
    ----------
    data
        What the file of the statement holds.
    true
        Whether it follows from a theorem that is true.
    names
        The symbols of its own.
    """

    data: Mapping[str, Any]
    true: bool
    names: tuple[str, ...]
    problem: str
    delays: str
    iterations: int
    settings: Mapping[str, str]
    seed: int = 0

    def theorem(self, folder: Path, data: Mapping[str, Any] | None = None) -> Theorem:
        """Return the statement, read from a file."""
        path = folder / "statement.toml"
        path.write_text(toml(self.data if data is None else data), encoding="utf-8")
        return load_theorem(str(path))

    def plainly(self) -> tuple[Mapping[str, Any], dict[str, str]]:
        """Return the statement and the settings with plain names for its own symbols."""
        other = dict(zip(self.names, PLAIN, strict=False))
        terms = {
            key: " ".join(other.get(word, word) for word in text.split(" ")) for key, text in self.data["terms"].items()
        }
        defined = {other.get(name, name): one for name, one in self.data.get("definitions", {}).items()}
        symbols = {other.get(name, name): one for name, one in self.data.get("symbols", {}).items()}
        return (
            {**self.data, "terms": terms, "symbols": symbols, "definitions": defined},
            {other.get(name, name): value for name, value in self.settings.items()},
        )


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """Draw a statement and an instance that mostly fits it."""
    true = draw(st.booleans())
    data = dict(draw(st.sampled_from(sorted(true_statements().items())))[1]) if true else draw(_statements())
    names = draw(
        st.lists(
            st.sampled_from([one for one in AWKWARD if one not in FUNCTIONS | SYMBOLS.keys()]), max_size=2, unique=True
        )
    )
    factor = draw(st.sampled_from(_MORE if true else _FACTORS))
    product = " * ".join((factor, *(f"( {name} )" for name in names)))
    data["terms"] = {key: f"{product} * ( {text} )" for key, text in data["terms"].items()}
    domain = "above-one" if true else "positive"
    own = {name: {"meaning": "its own", "domain": domain, "units": [0, 0]} for name in names}
    data["symbols"] = {**data.get("symbols", {}), **own}
    settings = {name: draw(st.sampled_from(("1", "2", "1.5"))) for name in names}
    if draw(st.booleans()):  # what is open no search refutes
        data["definitions"], settings = {**data.get("definitions", {}), **settings}, {}
    if draw(st.integers(0, 3)) == 0:
        condition = draw(st.sampled_from(_CONDITIONS)).format(k=_counter(data["metric"]))
        data["conditions"] = [*data.get("conditions", ()), condition]
    return draw(_instances(data, settings, true=true, names=tuple(names)))


def _counter(metric: str) -> str:
    return "T" if metric == "gradient-norm" else "K"


@st.composite
def _statements(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a statement whose truth nobody knows."""
    name, algorithm = draw(st.sampled_from(sorted(registered("algorithms").items())))
    metric = draw(st.sampled_from(("gap", "ergodic-gap", "squared-distance", "gradient-norm", "gradient-norm-last")))
    k = _counter(metric)
    sizes = _SIZES[metric.removeprefix("ergodic-").removesuffix("-last")]
    curved = draw(st.sampled_from(_CLASSES))
    assumptions = [*curved, "minimiser", *draw(st.sampled_from(_NOISE)), *draw(st.sampled_from(_RUNS))]
    rate, lag = algorithm.step_size_symbols[0], "tau_max" if name in STALE else "sqrt(n)"
    about = draw(st.sampled_from([one for one in _ABOUT if one != "each schedule" or "iid-events" not in assumptions]))
    steps = [one for one in _RATES if ("B" in one) == ("lipschitz" in curved)]
    step = draw(st.sampled_from((rate, *steps)))
    given_options = {
        one: draw(st.sampled_from(["any", *(text for text in some if text)]))
        for one, some in sorted(algorithm.examples(2).items())
        if one not in algorithm.step_size_symbols and any(some) and draw(st.integers(0, 4)) == 0
    } | ({"*": "any"} if draw(st.booleans()) else {})
    known = {"sigma": "bounded-variance" in assumptions, "mu": "strongly-convex" in curved}
    known |= {"B": "lipschitz" in curved, "L": "smooth" in curved}
    apt = [one for one in sizes if all(fine or symbol not in one for symbol, fine in known.items())]
    terms = draw(st.lists(st.sampled_from(apt or sizes), min_size=1, max_size=2, unique=True))
    return {
        "id": "drawn",
        "algorithm": name,
        "metric": metric,
        "assumptions": assumptions,
        **({"about": about} if about else {}),
        "options": given_options,
        "step": {rate: step.format(k=k, lag=lag)},
        "terms": {one: f"{draw(st.sampled_from(_SHAPES)).format(k=k, lag=lag)} * {one}" for one in terms},
    }


@st.composite
def _instances(
    draw: st.DrawFn, data: Mapping[str, Any], settings: Mapping[str, str], *, true: bool, names: tuple[str, ...]
) -> Asked:
    assumptions = set(data.get("assumptions", ()))
    algorithm = lookup("algorithms", data.get("algorithm", "area"))
    clients = 1 if "one-function" in assumptions else draw(st.integers(1, 3))
    noise = None if assumptions & {"bounded-variance", "sampled-functions", "bounded-second-moment"} else False
    kinds = families_of(assumptions)
    curved = "strongly-convex" in assumptions or None
    problem = draw(problem_specs(kinds, clients, noise=noise, curved=curved))
    delays = draw(delay_specs(memoryless="iid-events" in assumptions))
    options, own = data.get("options", {}), {*algorithm.step_size_symbols, *data["step"]}
    needed = draw(parameters(algorithm, clients))
    open_ = [name for name in needed if "any" in (options.get(name), options.get(name, options.get("*")))]
    open_ += [name for name in data.get("parameters", ()) if name in needed]
    wrong = draw(st.integers(0, 9)) == 0
    chosen = {name: needed[name] for name in needed if name not in own and (wrong or name in open_)}
    simple = surroundings(algorithm.id, algorithm, clients, 0)[0]  # what cannot be left out
    chosen |= {name: value for name, value in simple.items() if name not in {*options, *own, *chosen}}
    free = {name: draw(st.sampled_from(("0.02", "0.1", "0.5"))) for name, rule in data["step"].items() if rule == name}
    return Asked(
        data,
        true,
        names,
        problem,
        delays,
        draw(st.sampled_from(_HORIZONS)),
        {**chosen, **free, **settings},
        draw(st.integers(0, 99)),
    )


@dataclass
class Answers:
    """What the engines said of one statement and one instance; those that do not take it are not there."""

    asked: Asked
    given: dict[str, Any] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each engine about this instance."""
        return {name: self.given[name].verdict for name in _OF_INSTANCE if name in self.given}

    def contradictions(self) -> Iterator[str]:
        """Yield each contradiction, in words."""
        said = self.verdicts
        against = [name for name, one in said.items() if one is Verdict.VIOLATED]
        upheld = [name for name, one in said.items() if one is Verdict.HOLDS]
        if against and upheld and not self._tied(against, upheld):
            yield f"{', '.join(against)} says violated, {', '.join(upheld)} says holds"
        if self.asked.true and against:
            yield f"{', '.join(against)} says violated of what follows from a true theorem"
        checked = self.given.get("check")
        if self.asked.true and checked is not None:
            false = [one.id for one in checked.failed if one.consequence == "claim false"]
            if false:
                yield f"check {', '.join(false)} says false of what follows from a true theorem"
        yield from self._of_statement()
        yield from self._numbers()

    def _tied(self, against: list[str], upheld: list[str]) -> bool:
        """Whether exact and the others differ on a bound that is met to the last digits of the instance.

        Exact takes numbers at their word, w = 0.1 as 1/10, the others as the floats that they are: where R/B is the
        step from x0 to x*, one ends there and the others 1e-17 beside it, above a bound of 0.
        """
        if ["exact"] not in (against, upheld):
            return False
        exact, first = self.given["exact"], self.given["compare"]
        met = [*first.band.lower[first.band.lower > first.bound], *first.bound, exact.left, exact.right]
        return max(map(float, met)) <= 1e-12 * first.trivial_bound.level

    def _of_statement(self) -> Iterator[str]:
        """Compare what is said of all instances, and of one that a search found, with what is said of this one."""
        worst, found = self.given.get("worst case"), self.given.get("falsify")
        for name in ("worst case", "falsify"):
            one = self.given.get(name)
            if self.asked.true and one is not None and one.verdict is Verdict.VIOLATED:
                yield f"{name} says violated of what follows from a true theorem"
        first = self.given.get("compare")
        if worst is not None and worst.verdict is Verdict.HOLDS and first.band.lower[-1] > first.bound[-1] * (1 + 1e-9):
            yield f"the worst case is below the bound, this one above it: {first.band.lower[-1]} > {first.bound[-1]}"
        again = self.given.get("exact of falsify")
        if found is not None and found.violated and again is not None and again.verdict is Verdict.HOLDS:
            yield "falsify says violated of an instance of which exact says holds"

    def _numbers(self) -> Iterator[str]:
        """Compare numbers: names change no bound, an exact number lies in each interval, a sample not above it."""
        first, plain = self.given.get("compare"), self.given.get("plain names")
        if plain is not None and not np.allclose(
            plain.bound, first.bound, rtol=1e-14, atol=0.0
        ):  # factors change places
            yield f"bound {first.bound} with awkward names, {plain.bound} with plain ones"
        exact, sample = self.given.get("exact"), self.given.get("sample")
        if exact is not None and exact.kind == "exact" and exact.k in first.plan.ks:
            row = first.plan.ks.tolist().index(exact.k)
            low, high, bound = (float(one[row]) for one in (first.band.lower, first.band.upper, first.bound))
            same = _near(exact.right, bound, bound, abs(bound) + abs(high))  # else each schedule has a bound of its own
            if (
                same
                and (first.exact or not first.band.trials or first.plan.problem.noiseless)
                and not _near(exact.left, low, high, abs(high) + abs(bound) + 1e-6 * first.trivial_bound.level)
            ):
                yield f"exact left {exact.left!r} is not within compare's {low!r}, {high!r}"
            if not same and first.exact == "expectation":
                yield f"exact right {exact.right!r} is not compare's {bound!r}"
        if sample is not None and first.exact == "expectation":
            above = sample.band.lower > first.band.upper * (1 + 1e-9)
            if above.any():
                yield f"the sample is above {sample.band.lower[above]}, the expectation below {first.band.upper[above]}"


def _near(value: float, low: float, high: float, scale: float) -> bool:
    """Whether a rational number, whose steps and whose minimiser need not be floats, lies in an interval."""
    return low - 1e-6 * scale <= value <= high + 1e-6 * scale


_OF_INSTANCE = ("compare", "sample", "exact", "plain names")


def ask(one: Asked, folder: Path, *, all_engines: bool = False) -> Answers:
    """Put a statement and an instance to the engines: those that take less than a second, or all."""
    found = Answers(one)
    try:
        theorem = one.theorem(folder)
    except BoundlabError as error:
        found.refused["file"] = str(error)
        return found

    def put(name: str, question: Any) -> Any:
        try:
            found.given[name] = question()
        except BoundlabError as error:
            found.refused[name] = str(error)
        return found.given.get(name)

    def compare(given: Theorem = theorem, settings: Mapping[str, str] = one.settings, **more: Any) -> Any:
        return bl.compare(
            given,
            one.problem,
            one.delays,
            iterations=one.iterations,
            trials=TRIALS,
            seed=one.seed,
            level=LEVEL,
            settings=settings,
            **more,
        )

    first = put("compare", compare)
    if first is not None:
        put("sample", lambda: compare(exact=False))
        law = "law" in first.case or "events" not in first.case
        if first.plan.iterations <= MOST_ENUMERATED:
            put("exact", lambda: bl.exact(theorem, _case(first, law=law), derivation=False))
        if one.names:
            data, settings = one.plainly()
            put("plain names", lambda: compare(one.theorem(folder, data), settings))
        if all_engines and "events" in first.case and first.plan.iterations <= LONGEST:
            known = {name: repr(float(given.value)) for name, given in first.plan.constants.items() if given.value > 0}
            events = first.case["events"]
            put(
                "worst case",
                lambda: bl.worst_case(
                    theorem,
                    first.plan.iterations,
                    events=events,
                    settings={**known, **one.settings},
                ),
            )
    put("check", lambda: bl.check(theorem))
    if all_engines:
        searched = put("falsify", lambda: bl.falsify(theorem, candidates=30, jobs=1))
        if searched is not None and searched.violated:
            put("exact of falsify", lambda: bl.exact(theorem, dict(searched.case), derivation=False))
    return found


def _case(found: Any, *, law: bool) -> Any:
    from boundlab.case import read_case

    case = read_case(dict(found.case), has_theorem=True)
    return case.over_events() if law else case
