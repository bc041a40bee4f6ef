"""All checks of one problem."""

import json
from collections.abc import Callable, Iterator

import numpy as np

from boundlab.errors import BoundlabError, SpecError
from boundlab.objective import Problem, ProblemType
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.testing import _constants, _curvature, _exact, _functions, _optimum, _oracle, _twins
from boundlab.testing._agree import expect
from boundlab.testing._check import Check, refused
from boundlab.testing._sample import SamplePoints

_NEAR, _FAR = 1e-4, 1e4

# The name, the check, and whether it is asked at points that are very near and very far, too.
_PARTS: tuple[tuple[str, tuple[Callable[[SamplePoints], None], ...], bool], ...] = (
    ("shapes are what they should be", (_functions.shapes,), False),
    ("assumptions are answered, and constants exist where they are met", (_constants.assumptions,), False),
    ("many points at once are the same points", (_twins.batches,), True),
    ("f is the mean of the f_i", (_functions.means,), True),
    ("equal keys mean equal functions", (_functions.keys,), True),
    ("a step of the oracle repeats itself", (_oracle.repeats,), False),
    ("gradients are those of the values", (_functions.slopes,), True),
    ("gradients are differences of values", (_curvature.differences,), False),
    ("local and proximal steps are the closed forms", (_twins.descents, _twins.proximal_steps), True),
    ("gradients differ by at most L and at least mu", (_constants.pairs,), True),
    ("L and mu hold in the steepest and the flattest direction", (_curvature.extremes,), False),
    ("gradients are as small as is said", (_constants.sizes,), True),
    ("the minimum is certified", (_constants.start, _optimum.certificate, _optimum.floor), False),
    ("stochastic gradients are unbiased, and their noise as small as is said", (_oracle.moments,), False),
    ("gradients jump only at kinks", (_twins.kinks,), False),
    ("its matrices, or rows and targets, are the problem", (_exact.quadratic, _exact.least_squares), True),
    ("rounding is as small as is said", (_exact.rounding,), True),
    ("the scaled problem is the problem", (_twins.scaled,), False),
    ("the problem on tensors is the problem", (_twins.tensors,), False),
)


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
        who = f"problem {p.id}, example {place}"
        try:
            problem = p.build(Options(f"problem {p.id}", dict(example)))
        except BoundlabError as error:
            yield refused(who, example, error)
            continue
        yield from _of_problem(who, problem, p)


def _of_problem(who: str, p: Problem, family: ProblemType) -> Iterator[Check]:
    usual = SamplePoints(p, name=who)
    scales = usual, SamplePoints(p, _NEAR, who), SamplePoints(p, _FAR, who)
    for name, parts, everywhere in _PARTS:

        def run(
            parts: tuple[Callable[[SamplePoints], None], ...] = parts,
            samples: tuple[SamplePoints, ...] = scales if everywhere else scales[:1],
        ) -> None:
            for part in parts:
                for at in samples:
                    part(at)

        yield Check(f"{who}: {name}", run)
    yield Check(f"{who}: its spec rebuilds it, and its rational twin is the problem", lambda: _rebuilt(usual, family))


def _rebuilt(at: SamplePoints, family: ProblemType) -> None:
    _exact.rational(at, _round_trip(at, family))


def _round_trip(at: SamplePoints, family: ProblemType) -> dict[str, object]:
    """Check that spec() is JSON and rebuilds the same problem; return its options."""
    p, spec = at.problem, at.problem.spec()
    again = json.loads(json.dumps(spec))
    expect(again == spec, f"{at.who}: spec() must hold numbers, text and lists only, as JSON does")
    expect(spec.get("type") == p.id, f"{at.who}: spec() says type {spec.get('type')!r}")
    options = {key: value for key, value in spec.items() if key != "type"}
    rebuilt: Problem = family.build(Options(at.who, dict(options)))
    expect(rebuilt.spec() == spec, f"{at.who}: spec() of the problem that spec() rebuilds differs")
    found, expected = ((one.n, one.d, one.dtype, one.noiseless) for one in (rebuilt, p))
    expect(found == expected, f"{at.who}: spec() rebuilds n, d, dtype, noiseless = {found} in place of {expected}")
    expect(np.array_equal(rebuilt.x0, p.x0), f"{at.who}: spec() rebuilds another x0")
    for client in range(p.n):
        same = np.array_equal(rebuilt.gradient(client, at.points[-1]), p.gradient(client, at.points[-1]))
        expect(same, f"{at.who}: spec() rebuilds a problem with other gradients of client {client}")
    same = rebuilt.value(at.points[-1]) == p.value(at.points[-1])
    expect(same, f"{at.who}: spec() rebuilds a problem with other values")
    return options
