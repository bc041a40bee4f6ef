"""Test of whether a bound stands where it is looked at: computed where it can be, sampled by design, then searched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, final

import numpy as np

from boundlab import api
from boundlab.case import case_name
from boundlab.checks import Checks
from boundlab.compare.judge import detectable_gap, trials_to_refute
from boundlab.compare.trials import run_trials
from boundlab.errors import AssumptionError, SpecError
from boundlab.falsify import Falsification
from boundlab.instance.fitting import CompareOptions, fitting
from boundlab.options import Default, merged, number, typed, whole
from boundlab.registry import command_line
from boundlab.testing._finding import BoundFinding, notify
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict, joint_verdict

Require = Literal["not-violated", "holds"]
FALSE_ALARM = 1e-6
GAP = 0.1
CANDIDATES = 300
MOST_TRIALS = 1000
MOST_SETTINGS = 3
_RANGES: dict[str, tuple[float, float]] = {
    "false_alarm": (1e-12, 0.2),
    "gap": (1e-4, 10_000),
    "candidates": (0, 10**6),
    "most_trials": (2, 10**6),
    "trials": (2, 10**6),
    "seed": (0, 2**53),
}
_PILOT = 32
_OTHER = 0x5EED  # the sample that decides shares no seed with the one that it was designed by


class BoundViolation(AssertionError):  # noqa: N818  (a violation is what it is called everywhere)
    """A bound is violated, or less than was required; ``findings`` says where."""

    def __init__(self, message: str, findings: Sequence[BoundFinding]) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


BoundViolation.__module__ = "boundlab.testing"  # where it is imported from, and short where pytest shows it


@final
@dataclass(frozen=True, slots=True)
class Tested:
    """Findings of the parts of a test.

    Parameters
    ----------
    findings
        Comparisons, then the search.
    """

    findings: tuple[BoundFinding, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of the comparisons, or ``violated`` by the search, which can say nothing else."""
        found = [one for one in self.findings if one.part == "comparison" or one.refutes]
        return joint_verdict(Verdict(one.verdict) for one in found) if found else Verdict.INCONCLUSIVE

    def __str__(self) -> str:
        """Return a line for each part."""
        return "\n".join(one.line() for one in self.findings)

    def __repr__(self) -> str:
        """Say what came out."""
        return f"<{self.verdict}: {len(self.findings)} parts>"


@final
@dataclass(frozen=True, slots=True)
class BoundRequest:
    """How a theorem is looked at; see :func:`assert_bound_holds`.

    Raises
    ------
    SpecError
        If a number is out of its range.
    """

    false_alarm: float = FALSE_ALARM
    gap: float = GAP
    candidates: int = CANDIDATES
    most_trials: int = MOST_TRIALS
    trials: int | None = None
    seed: int = 0
    folder: str | Path = "."

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            given = getattr(self, name)
            if given is None:
                continue
            found = whole(given, name) if isinstance(low, int) else number(given, name)
            if not low <= found <= high:
                raise SpecError(f"{name} must be between {low} and {high}, got {found}")
            object.__setattr__(self, name, found)


def assert_bound_holds(
    theorem: str | Path | Theorem | CompareOptions,
    problem: str | None = None,
    delays: str | None = None,
    *,
    server: str | None = None,
    iterations: int | Sequence[int] | None = None,
    require: Require = "not-violated",
    candidates: int = CANDIDATES,
    false_alarm: float = FALSE_ALARM,
    gap: float = GAP,
    trials: int | None = None,
    most_trials: int = MOST_TRIALS,
    seed: int = 0,
    folder: str | Path = ".",
    settings: Mapping[str, Any] | None = None,
    **symbols: Any,
) -> Tested:
    """Raise AssertionError if a theorem is violated, with the instance, a case file and the command that repeats it.

    First it is compared on the problem: the left side is computed where an exact engine does that, else sampled. Then a
    search looks at about ``candidates`` instances of its own. The same call gives the same answer on any machine.

    Parameters
    ----------
    theorem
        An id, a TOML file, a theorem, or one of :func:`boundlab.testing.strategies.cases`.
    problem, delays, server, iterations, settings, symbols
        As :func:`boundlab.compare` takes them, in words. Without a problem: on a few small ones that the theorem is
        about. Several horizons are a run each.
    require
        ``holds``: a comparison that is only ``consistent``, or undecided, fails, too.
    candidates
        0: no search.
    false_alarm
        With which probability at most a true theorem fails, over all samples together.
    gap
        Samples are made large enough to see left sides above the bound by this share, in about nine of ten cases.
    trials, most_trials
        So many, whatever the gap; or at most so many: what they see is said.
    folder
        Where the case file of a violation goes.

    Returns
    -------
    Tested
        What was found, with the sizes of the samples and what they can see.

    Raises
    ------
    BoundViolation
        An AssertionError: the theorem is violated, or less than what is required was found.
    AssumptionError
        If the theorem is not about what was given, or there is nothing that could be tested.
    BoundlabError
        If the theorem or an option is wrong.

    Examples
    --------
    >>> print(assert_bound_holds("classics.subgradient", "lad:x0=2", iterations=6, candidates=5).verdict)
    holds
    """
    __tracebackhide__ = True  # pytest shows the caller's line and the message
    if require not in ("not-violated", "holds"):
        raise SpecError(f"require must be not-violated or holds, got {require!r}")
    demand = BoundRequest(false_alarm, gap, candidates, most_trials, trials, seed, folder)
    given = {key: typed(value) for key, value in merged(settings, symbols).items()}
    if isinstance(theorem, CompareOptions):
        if any(one is not None for one in (problem, delays, server, iterations)):
            raise SpecError("a setting has its own problem, delays, server and iterations: leave them out")
        name, statement = typed_name(theorem.theorem), theorem.theorem
        settings = {**theorem.settings, **given}
        looked_at = tuple(replace(theorem, iterations=k, settings=settings) for k in theorem.horizons)
    else:
        statement, name = api.theorem(theorem), typed_name(theorem)
        looked_at = _settings(statement, problem, delays, server, iterations, given)
    findings = compared(name, looked_at, demand)
    if not any(one.refutes for one in findings) and demand.candidates:
        findings.append(searched(name, statement, demand))
    return judged(findings, require)


def judged(findings: Sequence[BoundFinding], require: Require) -> Tested:
    """Return what was found, or raise :class:`BoundViolation` where it is less than what is required.

    Raises
    ------
    AssumptionError
        If nothing was looked at.
    """
    __tracebackhide__ = True
    if not findings:
        raise AssumptionError("nothing was looked at, and so nothing is known")
    found = Tested(tuple(findings))
    for one in findings:
        notify(one)
    bad = [one for one in findings if one.refutes]
    if require == "holds" and not bad:
        bad = [one for one in findings if one.part == "comparison" and one.verdict != Verdict.HOLDS]
    if bad:
        words = "" if bad[0].refutes else "\nholds was required"
        raise BoundViolation("\n".join(one.message() for one in bad) + words, findings)
    return found


def typed_name(theorem: str | Path | Theorem) -> str:
    """Return how a theorem is typed: as it was given; of an object its file or its id."""
    if not isinstance(theorem, Theorem):
        return str(theorem)
    return theorem.place if theorem.source and Path(theorem.place).is_file() else theorem.id


def _settings(
    theorem: Theorem,
    problem: str | None,
    delays: str | None,
    server: str | None,
    iterations: int | Sequence[int] | None,
    given: Mapping[str, str],
) -> tuple[CompareOptions, ...]:
    """Return what is looked at: what was given, or settings that fit."""
    horizons = [None] if iterations is None else np.atleast_1d(np.asarray(iterations, dtype=object)).tolist()
    if not horizons:
        raise SpecError("iterations is an empty list: give a horizon, or leave it out")
    if problem is None and (delays is not None or server is not None):
        raise SpecError("delays and server go with a problem: give one, too")
    specs: tuple[Any, Any] = (problem or "", delays or "exponential")
    if not all(isinstance(one, str) for one in specs):
        words = "problem and delays must be specs, such as 'lad:x0=3' and 'iid:p_s=0.5'"
        raise SpecError(f"{words}: a command has to repeat what is found")
    some: Sequence[CompareOptions] = [CompareOptions(theorem, *specs, server, Default.ITERATIONS, dict(given))]
    if problem is None:
        some = fitting(theorem, MOST_SETTINGS, given)
    return tuple(
        one if k is None else replace(one, iterations=whole(k, "iterations")) for one in some for k in horizons
    )


def compared(name: str, settings: Sequence[CompareOptions], demand: BoundRequest) -> list[BoundFinding]:
    """Return what comparisons find, up to the first violation; samples share the probability of a false alarm.

    Raises
    ------
    AssumptionError
        If the theorem is not about one of them.
    """
    found = []
    for one in settings:
        found.append(_compare(name, one, replace(demand, false_alarm=demand.false_alarm / len(settings))))
        if found[-1].refutes:
            break
    return found


def _compare(name: str, one: CompareOptions, demand: BoundRequest) -> BoundFinding:
    """Compare on one setting, with a sample that is designed where one is taken."""
    error, seed = demand.false_alarm, demand.seed ^ _OTHER
    level = 1.0 - 2.0 * error
    ask: Any = partial(api.compare, one.theorem, **one.asked(), level=level, jobs=1)
    result = ask(trials=min(_PILOT, demand.trials or _PILOT), seed=seed)
    finding, trials = BoundFinding(name, "comparison", "", "", one.words()), result.band.trials
    if result.band.level < 1.0:
        values = run_trials(result.plan, _PILOT, seed)
        relative = values.left.lower / np.maximum(values.right.value, 1e-300)
        each, seed = error / relative.shape[1], demand.seed
        needed = trials_to_refute(relative, demand.gap, each)
        trials = demand.trials or int(max(_PILOT, min(needed, demand.most_trials)))
        result, seen = ask(trials=trials, seed=seed), detectable_gap(relative, trials, each)
        finding = replace(finding, trials=trials, false_alarm=error, gap=seen if np.isfinite(seen) else None)
    finding = replace(finding, verdict=result.verdict.value, words=result.explanation)
    if not finding.refutes:
        return finding
    more: dict[str, Any] = {"seed": seed, "trials": trials} if trials else {}
    again = one.command(name, **more, level=level if finding.trials else None)
    return _with_case(finding, demand, case_name(one.theorem.id), result.case, again)


def searched(name: str, theorem: Theorem, demand: BoundRequest) -> BoundFinding:
    """Return what a search finds; where there is nothing to search for, it says why."""
    try:
        found = api.falsify(theorem, candidates=demand.candidates, seed=demand.seed, jobs=1)
    except (AssumptionError, SpecError) as error:
        return BoundFinding(name, "search", Verdict.NOT_APPLICABLE.value, str(error))
    best, words = found.best, _said(found)
    if found.violated and found.growth is None and best is not None:
        words = f"at {theorem.horizon_symbol} = {best.iterations} the left side {best.left:.10g} is above the bound "
        words += f"{best.right:.10g} ({best.kind}: {best.method})"
    finding = BoundFinding(name, "search", found.verdict.value, words, best.words() if best else "")
    if best is None or not found.violated or found.case is None:
        return finding
    again = command_line("falsify", name, candidates=demand.candidates, seed=demand.seed)
    finding = _with_case(finding, demand, case_name(theorem.id, "counterexample"), found.case, again)
    return finding if best.kind == "numeric" else replace(finding, reproduce=command_line("exact", name, finding.case))


def checked(name: str, theorem: Theorem) -> BoundFinding:
    """Return what the checks of the formula say."""
    found = api.check(theorem)
    failed = "".join(f"; {one.id}: not so: {one.statement} ({one.witness})" for one in found.failed)
    again = command_line("check", name) if failed else ""
    return BoundFinding(name, "checks", found.verdict, _said(found) + failed, reproduce=again)


def _said(found: Falsification | Checks) -> str:
    """Return the line of a result behind its theorem and its verdict, which a finding has by itself."""
    line: str = found.line()
    return line.removeprefix(f"{found.theorem.id}: ").removeprefix(f"{found.verdict}: ")


def look(part: str, name: str, theorem: Theorem, demand: BoundRequest) -> list[BoundFinding]:
    """Return what one way of looking finds.

    Parameters
    ----------
    part
        ``checks``, ``comparison`` or ``search``.
    name
        The theorem as it was given.

    Returns
    -------
    list of BoundFinding
        Not applicable where no built-in setting is one that the theorem is about.

    Raises
    ------
    SpecError
        If there is no such part.
    """
    match part:
        case "checks":
            return [checked(name, theorem)]
        case "comparison":
            try:
                return compared(name, fitting(theorem, MOST_SETTINGS), demand)
            except AssumptionError as error:
                return [BoundFinding(name, "comparison", Verdict.NOT_APPLICABLE.value, str(error))]
        case "search":
            return [searched(name, theorem, demand)]
    raise SpecError(f"there is no part {part!r}")


def _with_case(finding: BoundFinding, demand: BoundRequest, file: str, case: Any, again: str) -> BoundFinding:
    """Leave the case file of a violation, and return the finding with it and with the command that repeats it."""
    path = Path(demand.folder) / file
    path.parent.mkdir(parents=True, exist_ok=True)
    return replace(finding, case=str(case.save(path)), reproduce=again)
