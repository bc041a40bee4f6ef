"""All checks of one problem."""

import json

import numpy as np

from boundlab.objective import Problem, ProblemType
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.testing import _constants, _exact, _functions
from boundlab.testing._agree import hold
from boundlab.testing._sample import Sample


def problem(p: Problem, family: ProblemType | None = None) -> None:
    """Check that a problem keeps what :class:`boundlab.objective.Problem` promises.

    At random points around x0 and x*, near and far: gradients, values and batches of both belong to the same functions,
    equal keys mean equal functions, constants are on their sides, the quadratic form and the rational twin are the
    problem itself, and ``spec`` rebuilds it. Random points can refute a constant, they cannot prove it.

    Parameters
    ----------
    p
        The problem; a small one, since its gradients are computed one by one.
    family
        What builds it from options; None: what is registered under its id.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.
    SpecError
        If no family is given and none is registered under the id.
    MissingExtraError
        If the problem has a rational twin and python-flint is not installed.

    Examples
    --------
    >>> from boundlab.build import build_problem
    >>> problem(build_problem("pseudo-huber", {"c": [0.0, 1.0], "x0": 2.0}))
    """
    at = Sample(p)
    _functions.shapes(at)
    _constants.assumptions(at)
    _functions.batches(at)
    _functions.means(at)
    _functions.keys(at)
    _functions.oracles(at)
    _functions.slopes(at)
    _functions.proximal_steps(at)
    _constants.pairs(at)
    _constants.sizes(at)
    _constants.start(at)
    _exact.quadratic(at)
    _exact.least_squares(at)
    _exact.rational(at, _round_trip(at, family))


def _round_trip(at: Sample, family: ProblemType | None) -> dict[str, object]:
    """Check that spec() is JSON and rebuilds the same problem; return its options."""
    p, spec = at.problem, at.problem.spec()
    again = json.loads(json.dumps(spec))
    hold(again == spec, f"{at.who}: spec() must hold numbers, text and lists only, as JSON does")
    hold(spec.get("type") == p.id, f"{at.who}: spec() says type {spec.get('type')!r}")
    options = {key: value for key, value in spec.items() if key != "type"}
    kind = lookup("problems", p.id) if family is None else family
    rebuilt: Problem = kind.build(Options(at.who, dict(options)))
    hold(rebuilt.spec() == spec, f"{at.who}: spec() of the problem that spec() rebuilds differs")
    found, expected = ((one.n, one.d, one.dtype, one.noiseless) for one in (rebuilt, p))
    hold(found == expected, f"{at.who}: spec() rebuilds n, d, dtype, noiseless = {found} in place of {expected}")
    hold(np.array_equal(rebuilt.x0, p.x0), f"{at.who}: spec() rebuilds another x0")
    for client in range(p.n):
        same = np.array_equal(rebuilt.gradient(client, at.points[-1]), p.gradient(client, at.points[-1]))
        hold(same, f"{at.who}: spec() rebuilds a problem with other gradients of client {client}")
    hold(
        rebuilt.value(at.points[-1]) == p.value(at.points[-1]), f"{at.who}: spec() rebuilds a problem with other values"
    )
    return options
