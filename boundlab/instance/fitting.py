"""Instances on which a theorem is compared, in the words of the command line; and settings that fit a theorem."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any, final

import numpy as np
import sympy

from boundlab.algorithms import Algorithm
from boundlab.assumptions import BOUNDED_DOMAIN, BOUNDED_RUN, UNCONSTRAINED
from boundlab.case import delays_from, problem_from, words_of
from boundlab.delays import DelayModel
from boundlab.errors import AssumptionError, BoundlabError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance import Plan, make_plan
from boundlab.instance.applicability import asked_of, looked_at
from boundlab.instance.schedules import rates
from boundlab.objective import Problem
from boundlab.registry import command_line, lookup
from boundlab.theorems import SECONDS, Condition, Theorem

_HUBER = "huber:c=[[0,1],[2,0],[1,3]],w=[[1,2],[1,1],[0.5,1]],delta=0.7,sigma={sigma},x0=[2,1]"
_QUADRATIC = "quadratic:A=[[[2,0],[0,1]],[[1,0],[0,3]]],b=[[0,1],[1,0]],sigma={sigma},x0=[2,1]"
_SAME = "quadratic:A=[[[2,0],[0,1]],[[2,0],[0,1]]],b=[[0,1],[{b}]],x0=[2,1]{h}"
# The first that fits has noise, unequal clients and two coordinates where the theorem allows them.
PROBLEMS = (
    _HUBER.format(sigma=0.1),
    _QUADRATIC.format(sigma=0.1),
    "lad:c=[-2,0,4],w=[1,3,1],x0=3,sigma=0.3",
    _HUBER.format(sigma=0),
    _QUADRATIC.format(sigma=0),
    "lad:c=[-2,0,4],w=[1,3,1],x0=3",
    "least-squares:features=[[1,0],[1,1],[0,2],[1,-1]],targets=[1,3,-1,0],owners=[0,0,1,1],batch=1,nu=1",
    _SAME.format(b="0,1", h=",l1=0.5"),
    _SAME.format(b="1,0", h=",l1=0.5"),
    _SAME.format(b="0,1", h=""),
    "quadratic:A=[[[1]],[[2]]],b=[[0],[0]],x0=2",
    "huber:c=[[0,1],[0,1]],w=[[1,2],[1,2]],delta=0.7,x0=[2,1],box=[0.5,2]",
    "quadratic:A=[[[2,0],[0,1]]],b=[[0,1]],x0=[2,1]",
    "huber:c=[[1],[1]],w=[[1],[1]],delta=1,x0=3,sigma=0.5",
    "lad:x0=1",
    "quadratic:A=[[[2,0],[0,1]],[[1,0],[0,3]]],b=[[0,1],[1,0]],x0=[2,1],sigma=0.1,ball=3",
    "quadratic:A=[[[2,0],[0,1]],[[2,0],[0,1]]],b=[[0,1],[0,1]],x0=[2,1],ball=3",
)
DELAYS = ("exponential", "deterministic:spread=3", "deterministic", "iid:p_s=0.3")
RATES = ("0.1", "0.01", "0.001")
_FALLING = {"d": "20", SECONDS: "10"}  # alpha_k = c/(k + d)
ITERATIONS = (40, 6)
_MOST = 300  # that are tried: each is compiled


@final
@dataclass(frozen=True, slots=True)
class CompareOptions:
    """A theorem, and what it is compared on, in the words of the command line.

    Parameters
    ----------
    problem, delays, server
        Specs, as ``--problem``, ``--delays`` and ``--server`` take them.
    iterations
        K or T; or several, where the step is chosen for the horizon: each is a run of its own.
    settings
        Symbols of the theorem and options of its algorithm, as ``--set`` takes them.
    """

    theorem: Theorem
    problem: str
    delays: str = "exponential"
    server: str | None = None
    iterations: int | list[int] = 40
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def horizons(self) -> list[int]:
        """The horizons, as a list."""
        return self.iterations if isinstance(self.iterations, list) else [self.iterations]

    def plan(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        problem: Problem | None = None,
        delays: DelayModel | None = None,
        **more: Any,
    ) -> Plan:
        """Return the plan.

        Parameters
        ----------
        settings
            They go before its own.
        problem, delays
            What the specs describe, where it was built before.
        more
            Goes to :func:`boundlab.instance.make_plan`.

        Raises
        ------
        AssumptionError
            If the theorem is not about it.
        BoundlabError
            If something does not go together.
        """
        problem = problem_from(self.problem) if problem is None else problem
        delays = delays_from(self.delays, problem.n) if delays is None else delays
        policy = lookup("algorithms", self.theorem.algorithm).policy(self.server, delays)
        chosen = {**self.settings, **(settings or {})}
        return make_plan(self.theorem, problem, delays, policy, max(self.horizons), chosen, **more)

    def with_settings(self, more: Mapping[str, str]) -> "CompareOptions":
        """Return the same with more settings, or others."""
        return replace(self, settings={**self.settings, **more})

    def why_not(self, problem: Problem | None = None) -> str:
        """Return '' if the theorem applies: all assumptions are met, and its bound has a value. Else why it does not.

        Parameters
        ----------
        problem
            What the spec describes, where it was built before.
        """
        try:
            bound = self.plan(problem=problem, trials=2).bound
        except BoundlabError as error:
            return str(error)
        return "" if np.isfinite(bound).all() else "its bound is infinite"

    @property
    def fits(self) -> bool:
        """True if the theorem applies."""
        return not self.why_not()

    def command(self, typed: str = "", **more: Any) -> str:
        """Return the comparison as a command.

        Parameters
        ----------
        typed
            The theorem as it was given, an id or a file.
        more
            Further keywords of the question.
        """
        return command_line("compare", typed or self.theorem.id, **self.asked() | more)

    def asked(self) -> dict[str, Any]:
        """Return the keywords of :func:`boundlab.api.compare`."""
        return {
            "problem": self.problem,
            "delays": self.delays,
            "server": self.server,
            "iterations": None if self.theorem.left.in_seconds else self.iterations,
            "settings": self.settings,
        }

    def words(self) -> str:
        """Return what it is, in a line."""
        server = "" if self.server is None else f" with server {self.server}"
        chosen = "".join(f", {name} = {value}" for name, value in self.settings.items())
        return f"{self.problem} under {self.delays}{server}, {self.theorem.horizon_symbol} = {self.iterations}{chosen}"

    def __repr__(self) -> str:
        """Return the command."""
        return f"<{self.command()}>"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(repr(self))  # hypothesis would show the fields, and those of the theorem


def fitting(
    theorem: Theorem, most: int = 1, settings: Mapping[str, str] | None = None, delays: Sequence[str] = ()
) -> tuple[CompareOptions, ...]:
    """Return settings that a theorem is about, on different problems: small ones, whose constants are certified.

    Parameters
    ----------
    most
        How many; there may be fewer.
    settings
        Symbols of the theorem and options of its algorithm that stand as they are.
    delays
        Those that are tried, in this order; by default random and fixed ones in turns. What a condition reads off
        random ones is looked at in two trials only.

    Raises
    ------
    AssumptionError
        If none is found, with the most frequent reason.

    Examples
    --------
    >>> from boundlab.theorems import load_theorem
    >>> fitting(load_theorem("classics.gd.convex"))[0].delays
    'deterministic:spread=3'
    """
    found: list[CompareOptions] = []
    reasons: Counter[str] = Counter()
    for rare, one, built in islice(_candidates(theorem, settings or {}, delays, reasons), _MOST):
        if rare and found:
            break
        if any(one.problem == other.problem for other in found):
            continue
        if reason := one.why_not(built):
            reasons[reason] += 1
            continue
        found.append(one)
        if len(found) >= most:
            break
    if not found:
        # What is wrong with a problem is said of those that other assumptions exclude; what is wrong besides says more.
        often = max(reasons, key=lambda reason: ("; problem " not in reason, reasons[reason]), default="")
        raise AssumptionError(
            f"{theorem.id}: no built-in setting is one that it is about ({often}); give a problem, delays and settings"
        )
    return tuple(found)


@final
@dataclass(frozen=True, slots=True)
class Fit:
    """A theorem and a problem of somebody's.

    Parameters
    ----------
    options
        With which delays and options the theorem applies; None: it does not, with any that were tried.
    reason
        Why not, in one line.
    """

    theorem: Theorem
    options: CompareOptions | None
    reason: str = ""


def applies(theorem: Theorem, problem: Problem, delays: str | None = None) -> Fit:
    """Return whether a theorem applies to a problem: the plan of a comparison decides, and says why not.

    Parameters
    ----------
    delays
        A spec; None: the first that fits of those that :func:`fitting` tries.

    Notes
    -----
    Options that must be set, and step sizes that the theorem leaves open, have example values; if these do not do, one
    other option has one, too.
    """
    reason, tried = "", DELAYS if delays is None else (delays,)
    for more in (False, True):
        for one in _on(theorem, words_of(problem), problem.n, {}, tried, more=more):
            if not (why := one.why_not(problem)):
                return Fit(theorem, one)
            reason = reason or why
            if _unfit(theorem, problem):  # whatever else is set
                return Fit(theorem, None, reason)
    return Fit(theorem, None, reason)


def _unfit(theorem: Theorem, problem: Problem) -> str:
    """Return which assumption on functions a problem does not meet, or ''."""
    try:
        built = looked_at(theorem, problem)
        for one in asked_of(theorem):
            if one.of == "functions":
                built.require(one.id, theorem.id)
    except BoundlabError as error:
        return str(error)
    return ""


def _candidates(
    theorem: Theorem, settings: Mapping[str, str], given: Sequence[str], reasons: Counter[str]
) -> Iterator[tuple[bool, CompareOptions, Problem]]:
    """Yield settings with their problem: first what must be set, then, as True says, another option as well."""
    for more in (False, True):
        for number, problem in enumerate(PROBLEMS):
            built = problem_from(problem)
            if reason := _unfit(theorem, built):
                reasons[reason] += 1
                continue
            turned = given or DELAYS[number % 2 :] + DELAYS[: number % 2]
            yield from ((more, one, built) for one in _on(theorem, problem, built.n, settings, turned, more=more))


def _on(
    theorem: Theorem, problem: str, clients: int, settings: Mapping[str, str], delays: Sequence[str], *, more: bool
) -> Iterator[CompareOptions]:
    """Yield settings on a problem: see :func:`_chosen`."""
    some = list(_chosen(theorem, lookup("algorithms", theorem.algorithm), clients, more=more))
    for iterations, one, chosen in product(ITERATIONS[:1] if more else ITERATIONS, delays, some):
        yield CompareOptions(theorem, problem, one, None, iterations, {**chosen, **settings})


def _chosen(theorem: Theorem, algorithm: Algorithm[Any], clients: int, *, more: bool) -> Iterator[dict[str, str]]:
    """Yield what is set: options that the algorithm requires, rates that are left open, the theorem's own symbols.

    Parameters
    ----------
    more
        Whether one other option is set, too, to one of its examples.
    """
    from boundlab.algorithms.example_options import settings as settings_of

    own, unset = rates(theorem, algorithm) | set(theorem.core.fixed), set(theorem.inputs())
    try:
        simple, *others = settings_of(algorithm.id, algorithm, clients, 0)
    except AssertionError:  # its examples make no setting: conform.algorithm says so
        simple, others = {}, []
    open_ = sorted(unset & set(theorem.open_rates) & set(theorem.step))
    needed = sorted(unset - (SYMBOLS.keys() - {SECONDS}) - theorem.bounded_by.keys() - set(theorem.step))
    for given in others if more else [simple]:
        options = {name: value for name, value in given.items() if name not in own}
        for rate in RATES if open_ else ("",):
            chosen = {name: _FALLING.get(name, rate) for name in open_}
            chosen |= {name: _FALLING.get(name, "0.5") for name in needed}
            yield {**options, **chosen}


# The largest local steps that theorems allow on a problem, as far as its constants say them.

_DIGITS = 6


@final
@dataclass(frozen=True, slots=True)
class LargestStep:
    """A condition on a local step.

    Parameters
    ----------
    step
        Its symbol.
    condition
        As the theorems write it: ``α ≤ 1/L``.
    value
        The largest step, rounded down; None: it depends on options or on the run, too.
    words
        The largest step for people, ``0.25`` or ``0.5/Qmax``.
    theorems
        Who asks for it, by id.
    """

    step: str
    condition: str
    value: float | None
    words: str
    theorems: list[str] = field(default_factory=list)


def largest_steps(problem: Problem, theorems: Iterable[Theorem]) -> list[LargestStep]:
    """Return the conditions of theorems whose assumptions on the functions are met, each condition once."""
    values = {name: sympy.Float(one.value, 17) for name, one in problem.constants().items()}
    found: dict[tuple[str, str], LargestStep] = {}
    for theorem in theorems:
        if _no_step(theorem, problem):
            continue
        own = {name: one for name, one in theorem.symbols.items() if name in values}
        if not all(one.domain.contains(np.asarray(float(values[name]))) for name, one in own.items()):
            continue  # L = 0, say, of a constant function: no such theorem is compared there
        known = {one.symbol: values[name] for name, one in own.items()}
        if any(_broken(one, known) for one in theorem.conditions):
            continue
        for one in theorem.conditions:
            for name in theorem.step:
                step = theorem.symbols[name].symbol
                share = sympy.simplify(one.quantity / step)
                if step in one.quantity.free_symbols and step not in (share.free_symbols | one.limit.free_symbols):
                    row = _row(name, one.statement, sympy.simplify(one.limit / share), known)
                    found.setdefault((name, one.statement), row).theorems.append(theorem.id)
    return sorted(found.values(), key=lambda row: (row.value is None, -(row.value or 0.0)))


def _no_step(theorem: Theorem, problem: Problem) -> str:
    """Return the first reason why the functions are not those of a theorem; '' if they are."""
    about = [name for name in (UNCONSTRAINED, BOUNDED_DOMAIN, BOUNDED_RUN) if name in theorem.core.assumed]
    shown = {BOUNDED_RUN} if theorem.read_off_runs else set()
    names = [*about, *(one.id for one in asked_of(theorem) if one.of == "functions")]
    return next((reason for name in names if name not in shown and (reason := problem.why_not(name))), "")


def _broken(one: Condition, known: Mapping[sympy.Symbol, sympy.Float]) -> bool:
    """Return whether the constants alone break a condition, as noise does where full gradients are asked for."""
    excess = (one.quantity - one.limit).xreplace(known)
    return bool(excess.is_number and not one.meets(excess, 0))


def _row(name: str, statement: str, largest: sympy.Expr, known: Mapping[sympy.Symbol, sympy.Float]) -> LargestStep:
    number = largest.xreplace(known)
    if not number.is_number:
        return LargestStep(name, statement, None, str(sympy.N(number, _DIGITS)))
    value = float(number) * (1.0 - 1e-12)
    return LargestStep(name, statement, value, f"{value:.{_DIGITS}g}")
