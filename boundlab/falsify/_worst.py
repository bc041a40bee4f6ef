"""Ask for the worst function of the theorem's class, and look at it as an instance like any other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

from boundlab.errors import MissingExtraError
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._edges import edges
from boundlab.falsify._families import settings
from boundlab.falsify._judge import FAILURES, Judge, Score
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.settings import open_rates
from boundlab.options import typed
from boundlab.theorems import Theorem, over

_APART = [name for name, info in SYMBOLS.items() if info.role == "heterogeneity" and not info.vector]
FAMILY = "worst function of the class"
_HORIZONS = (1, 2, 3, 5, 8)
_FLAT = (0.1, 0.5, 0.01)  # mu for L = 1
_SIZES = (1.0, 1.9, 0.5, 0.1, 3.0)
_MOST = 60
_NEAR = 1e-7  # of the solver's digits


@final
@dataclass(frozen=True, slots=True)
class Ask:
    """One worst case to compute: constants of the class, options of the algorithm, chosen rates, and the horizon."""

    constants: Mapping[str, str]
    setting: Mapping[str, str]
    step: Mapping[str, float]
    clients: int
    iterations: int


def asks(judge: Judge) -> Iterator[Ask]:
    """Yield worst cases to compute, small ones first.

    None where the mean over schedules has no such program, or gradients have errors that nobody writes down.
    """
    theorem = judge.theorem
    mean = over(theorem)
    if theorem.core.errors or (mean.lawful and not mean.independent):
        return
    read = {*theorem.inputs(), *theorem.settable}
    constants = [{"mu": typed(mu)} for mu in curvatures(theorem)] if "strongly-convex" in theorem.core.assumed else [{}]
    constants = [{**one, **{name: "1" for name in ("G", "G_sq") if name in read}} for one in constants]
    clients = (1, 2)
    some = {n: [one for one, _ in zip(settings(theorem, judge.algorithm, n), range(3), strict=False)] for n in clients}
    rates = _rates(theorem, {"L": 1.0, **{name: float(value) for name, value in constants[0].items()}})
    axes = (constants, rates, clients, _HORIZONS, range(3))
    places = sorted(product(*(range(len(axis)) for axis in axes)), key=lambda place: (sum(place), place))
    made = 0
    for a, b, c, d, e in places:
        n = clients[c]
        if e >= len(some[n]) or made >= _MOST:
            continue
        apart = {name: "1" for name in _APART if name in read and n > 1}
        shares = {"p": ",".join([typed(0.5 / n)] * n)} if "iid-events" in theorem.core.assumed else {}
        made += 1
        yield Ask({**constants[a], **apart, **shares}, some[n][e], rates[b], n, _HORIZONS[d])


def curvatures(theorem: Theorem) -> list[float]:
    """Return values of mu for L = 1: where a condition on the two ends, and others."""
    return [*(mu for mu in edges(theorem, "mu", {"L": 1.0}) if mu < 1.0), *_FLAT]


def _rates(theorem: Theorem, known: Mapping[str, float]) -> Sequence[dict[str, float]]:
    needed = [name for name in open_rates(theorem) if name not in theorem.settable]
    offered = [name for name in open_rates(theorem) if theorem.symbols[name].is_step_size and name in theorem.settable]
    found: list[dict[str, float]] = [] if needed else [{}]
    names = needed or offered[:1]
    more = [{name: size if theorem.symbols[name].is_step_size else 1.0 for name in names} for size in _SIZES if names]
    ends = [{name: value} for name in (names if len(names) == 1 else ()) for value in edges(theorem, name, known)]
    return [*found, *(one for one in ends if one not in more), *more]


def answer(judge: Judge, ask: Ask) -> Score | None:
    """Return the score of the worst function, None where it is not above the bound or none was found.

    Raises
    ------
    MissingExtraError
        If the solver is not installed.
    """
    from boundlab.worst_case import worst_case

    rates = {name: typed(value) for name, value in ask.step.items()}
    given = {**ask.constants, **ask.setting, **rates, "n": str(ask.clients)}
    if "p" in given:
        del given["n"]
    try:
        found = worst_case(judge.theorem, ask.iterations, given, certificates=False)
        judge.tried[FAMILY] += 1
        if not found.primal > found.bound * (1.0 + _NEAR):
            return None
        found = worst_case(judge.theorem, ask.iterations, given, find_function=True, certificates=False)
    except MissingExtraError:
        raise
    except FAILURES as error:
        judge.refuse(error)
        return None
    if found.function is None:
        judge.refuse(f"a worst function above the bound was not written down: {found.missing}")
        return None
    return judge.score(_candidate(found.function.spec(), ask))


def _candidate(spec: Mapping[str, Any], ask: Ask) -> Candidate:
    delays = f"iid:p=[{ask.constants['p']}]" if "p" in ask.constants else "deterministic"
    return Candidate(FAMILY, dict(spec), delays, ask.setting, ask.step, ask.iterations)
