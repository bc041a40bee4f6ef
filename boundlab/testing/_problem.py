"""All checks of one problem."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from boundlab.errors import SpecError
from boundlab.objective import Problem, ProblemType
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.testing import _constants, _oracle, _twins
from boundlab.testing._check import Check, at_each, equal, expect, named, of_example, rebuilt
from boundlab.testing._sample import SamplePoints

_SCALES = (1.0, 1e-4, 1e4)  # the usual points, very near and very far ones


def checks(p: Problem | ProblemType, family: ProblemType | None = None) -> Iterator[Check]:
    """Return the checks of a problem, or those of all examples of a family.

    Parameters
    ----------
    family
        What builds the problem from options; None: what is registered under its id.
    """
    if isinstance(p, Problem):
        if p.simple is not None:
            raise SpecError(f"problem {p.id} has a part h that is no mean of clients' functions; check its f alone")
        yield from _of_problem(f"problem {p.id}", p, lookup("problems", p.id) if family is None else family)
        return
    for place, example in enumerate(p.examples, 1):
        options = Options(f"problem {p.id}", dict(example))
        yield from of_example(f"problem {p.id}, example {place}", options, p, _of_problem)


def _of_problem(who: str, p: Problem, family: ProblemType) -> Iterator[Check]:
    return named(who, _CHECKS, [SamplePoints(p, scale, who) for scale in _SCALES], family)


def _shapes(at: SamplePoints) -> None:
    """Check n, d, x0 and the shapes of what the methods return."""
    p = at.problem
    expect(p.n >= 1 and p.d >= 1, f"n = {p.n} and d = {p.d} must be at least 1")
    expect(np.shape(p.x0) == (p.d,), f"x0 has shape {np.shape(p.x0)}, not (d,) = ({p.d},)")
    found = np.shape(p.gradient(0, at.points[0]))
    expect(found == (p.d,), f"gradient(0, x) has shape {found}, not (d,) = ({p.d},)")
    expect(np.isfinite(at.gradients).all(), "a gradient is not finite")
    expect(np.isfinite(at.values).all(), "a value is not finite")


def _means(at: SamplePoints) -> None:
    """Check that f is the mean of the f_i."""
    found, mean = [at.problem.full_gradient(x) for x in at.points], at.gradients.mean(axis=0)
    equal("full_gradient(x) and the mean of gradient(i, x)", found, mean, scale=at.steepest)
    if at.client_values is not None:
        mean = at.client_values.mean(axis=0)
        equal("value(x) and the mean of client_value(i, x)", at.values, mean, scale=at.largest)


def _keys(at: SamplePoints) -> None:
    """Check that clients with equal keys have equal functions."""
    first: dict[bytes, int] = {}
    for client in range(at.problem.n):
        key = at.problem.client_key(client)
        if key is None:
            continue
        other = first.setdefault(key, client)
        what = f"clients {other} and {client} have one client_key; their"
        equal(f"{what} gradients", at.gradients[other], at.gradients[client])
        if at.client_values is not None:
            equal(f"{what} values", at.client_values[other], at.client_values[client])


def _rebuilt(samples: Sequence[SamplePoints], family: ProblemType) -> None:
    """Check that spec() is JSON and rebuilds the same problem, and the twin in rational numbers that goes with it."""
    at, p = samples[0], samples[0].problem
    options, again = rebuilt(at.who, p, family.build)
    found, expected = ((one.dtype, one.noiseless) for one in (again, p))
    expect(found == expected, f"spec() rebuilds dtype, noiseless = {found} in place of {expected}")
    _twins.same(at, again, "spec()", [Fraction(1)] * p.n, rounding=0.0)
    expect(again.value(at.points[-1]) == p.value(at.points[-1]), "spec() rebuilds a problem with other values")
    _twins.rational(at, options)


_at = partial(at_each, lambda samples: samples[:1])
_everywhere = partial(at_each, iter)
_CHECKS: Mapping[str, Callable[..., None]] = {
    "shapes are what they should be": _at(_shapes),
    "assumptions are answered, and constants exist where they are met": _at(_constants.assumptions),
    "many points at once are the same points": _everywhere(_twins.batches),
    "f is the mean of the f_i": _everywhere(_means),
    "equal keys mean equal functions": _everywhere(_keys),
    "a step of the oracle repeats itself": _at(_oracle.repeats),
    "gradients are those of the values, and differ by at most L and at least mu": _everywhere(_constants.pairs),
    "local and proximal steps are the closed forms": _everywhere(_twins.descents, _twins.proximal_steps),
    "L and mu hold in the steepest and the flattest direction": _at(_constants.extremes),
    "gradients are as small as is said": _everywhere(_constants.sizes),
    "the minimum is certified": _at(_constants.minimum),
    "stochastic gradients are unbiased, and their noise as small as is said": _at(_oracle.moments),
    "gradients jump only at kinks": _at(_twins.kinks),
    "its matrices, or rows and targets, are the problem": _everywhere(_twins.quadratic, _twins.least_squares),
    "rounding is as small as is said": _everywhere(_twins.rounding),
    "the scaled problem is the problem": _at(_twins.scaled),
    "the problem on tensors is the problem": _at(_twins.tensors),
    "its spec rebuilds it, and its rational twin is the problem": _rebuilt,
}
