"""Conformance of an object to its interface: the checks that all built-in objects pass.

``conform.algorithm(MINE)`` and its like raise AssertionError with one sentence that names the object, the setting and
both numbers. :func:`checks` gives the same checks one by one, so that pytest shows each on a line of its own::

    @pytest.mark.parametrize("check", conform.checks(MINE))
    def test_mine_conforms(check):
        check()

All draws have fixed seeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.delays import DelayModel, DelayType
from boundlab.errors import SpecError
from boundlab.metrics import Metric
from boundlab.objective import Problem, ProblemType
from boundlab.testing import _algorithm, _delays, _metric, _problem, _theorem
from boundlab.testing._check import Check as Check
from boundlab.testing._subject import Subject
from boundlab.theorems import Theorem

__all__ = ["Check", "algorithm", "checks", "delays", "metric", "problem", "theorem"]


def algorithm(
    a: Algorithm[Any],
    options: Mapping[str, Any] | None = None,
    *,
    clients: int | None = None,
    delays: Sequence[DelayModel] = (),
    server: str | None = None,
    drawn: int = 4,
) -> None:
    """Check that an algorithm keeps what :class:`boundlab.algorithms.Algorithm` promises.

    Its options are read as they are declared. More events begin with the same ones, and survive a case file. The tape
    is verified, and executed by a second interpreter; a shorter one is the beginning of a longer one, and all records
    show one run. The use table is what moves the server's model, and none of it is forgotten; every update that arrives
    is used, kept or dropped by a note. Quantities are what another count finds; averages, weights of the objective
    and assumptions that are met show in the runs, and a program of one event makes them. Every option has an effect,
    staleness functions damp by the staleness, and what ``alone`` says is so.

    Parameters
    ----------
    options
        One setting to look at; None: the simplest of the algorithm's own examples, each of its examples in it, and
        ``drawn`` combinations of them.
    clients
        n; None: 3, or 1 where the algorithm refuses more.
    delays
        Delay models for so many clients; by default exponential, deterministic, Pareto and i.i.d. ones.
    server
        The server policy, as ``--server`` takes it; by default what goes with the algorithm and the delays.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.

    Examples
    --------
    >>> from boundlab.registry import lookup
    >>> algorithm(lookup("algorithms", "async_sgd"))
    >>> algorithm(lookup("algorithms", "fedbuff"), {"eta_l": 0.1, "count": 2})
    """
    _run(_algorithm.checks(Subject(a, options, clients, delays, server, drawn)))


def problem(p: Problem | ProblemType, family: ProblemType | None = None) -> None:
    """Check that a problem keeps what :class:`boundlab.objective.Problem` promises; a family, that its examples do.

    At random points around x0 and x*, at three scales: gradients are those of the values (tangents, parabolas, finite
    differences), batches, proximal and local steps are those of single points, equal keys mean equal functions;
    constants are on their sides, L along the steepest curvature that power iteration finds; no descent falls below the
    certified f*; the oracle repeats itself, is unbiased, and its noise is at most sigma; the quadratic form, the scaled
    problem, the tensors and the rational twin are the problem itself, and ``spec`` rebuilds it. Random points can
    refute a constant, they cannot prove it.

    Parameters
    ----------
    p
        A problem, a small one, since its gradients are computed one by one; or a family.
    family
        What builds it from options; None: what is registered under its id.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.
    SpecError
        If no family is given and none is registered under the id.

    Examples
    --------
    >>> from boundlab.case.build import build_problem
    >>> problem(build_problem("pseudo-huber", {"c": [0.0, 1.0], "x0": 2.0}))
    """
    _run(_problem.checks(p, family))


def delays(m: DelayModel | DelayType, family: DelayType | None = None) -> None:
    """Check that a delay model keeps what :class:`boundlab.delays.DelayModel` promises; a law, that its examples do.

    Trials repeat themselves, more events begin with the same ones, times do not decrease, and ``spec`` rebuilds the
    model. ``rates`` are the long-run counts: a run is as long as the law's own variance asks, so that 5 % are seen at
    six standard errors; where the variance is infinite this says less, and the law's quantiles are integrated as well.
    What is called memoryless is independent of its past. A clock hands out the same times.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees. With true rates at most once in 10⁶ models, by the normal approximation.

    Examples
    --------
    >>> from boundlab.case.build import build_delays
    >>> delays(build_delays("gamma", {"spread": 3}, 2))
    """
    _run(_delays.checks(m, family))


def theorem(t: Theorem) -> None:
    """Check that a theorem fits its algorithm and its metric, and can be evaluated.

    Algorithm, metric, assumptions, options and steps exist; the counter is what the metric counts and no formula reads
    the other one; every symbol that the bound reads is given by problem, delays, options or the algorithm's quantities;
    both sides have the same units, unless a paper printed it otherwise; formulas and files are read back; and it is
    evaluated, at values where its conditions hold, with steps that the algorithm takes.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.

    Examples
    --------
    >>> from boundlab.theorems import load_theorem
    >>> theorem(load_theorem("classics.gd.convex"))
    """
    _run(_theorem.checks(t))


def metric(m: Metric) -> None:
    """Check that a metric keeps what :class:`boundlab.metrics.Metric` promises.

    A run shows the records that it asks for, and the left side at each horizon is the one that a run of this horizon
    alone has. Where records have weights, ``share`` gives them, and second moments give the same quantity as points. In
    other units of f and x left sides change as the units of the quantity say.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.

    Examples
    --------
    >>> from boundlab.metrics import METRICS
    >>> metric(METRICS["gap"])
    """
    _run(_metric.checks(m))


def checks(obj: object, **given: Any) -> tuple[Check, ...]:
    """Return the checks of an object one by one, each with its name.

    Parameters
    ----------
    obj
        What one of the five functions takes.
    given
        Further arguments of that function by name.

    Raises
    ------
    SpecError
        If the object is none of them.

    Examples
    --------
    >>> from boundlab.metrics import METRICS
    >>> for check in checks(METRICS["gap"]):
    ...     check()
    """
    match obj:
        case Algorithm():
            return tuple(_algorithm.checks(Subject(obj, **given)))
        case Problem() | ProblemType():
            return tuple(_problem.checks(obj, **given))
        case DelayModel() | DelayType():
            return tuple(_delays.checks(obj, **given))
        case Theorem():
            return tuple(_theorem.checks(obj, **given))
        case Metric():
            return tuple(_metric.checks(obj, **given))
    kinds = "an algorithm, a problem, a delay model, a theorem or a metric"
    raise SpecError(f"conform.checks takes {kinds}, or the family of one, not {type(obj).__name__}")


def _run(found: Iterable[Check]) -> None:
    for check in found:
        check()
