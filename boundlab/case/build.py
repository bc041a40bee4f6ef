"""From names and options to objects: the one place where problems and delay models are built."""

from typing import Any

from boundlab.delays import DelayModel
from boundlab.objective import Problem, ProblemType
from boundlab.objective.simple import OPTIONS, read_simple
from boundlab.options import Options, parse_spec
from boundlab.registry import lookup


def build_problem(kind: str, options: dict[str, Any]) -> Problem:
    """Build a registered problem from its options, those of :data:`boundlab.objective.simple.OPTIONS` among them.

    An option of the same name that a family declares is the family's own; a family that is ``constrained`` reads these,
    too.

    Raises
    ------
    BoundlabError
        If the type is unknown or an option is wrong.
    """
    family: ProblemType = lookup("problems", kind)
    shared = set(OPTIONS) - set(family.options)
    own = {key: value for key, value in options.items() if family.constrained or key not in shared}
    problem: Problem = family.build(Options(f"problem {kind}", own, seen=set(shared)))
    h = read_simple(Options(f"problem {kind}", {key: value for key, value in options.items() if key in shared}))
    if h is None:
        return problem
    from boundlab.objective.composite import Composite

    return Composite(problem, h)


def build_delays(kind: str, options: dict[str, Any], clients: int) -> DelayModel:
    """Build a registered delay model for n clients from its options.

    Raises
    ------
    BoundlabError
        If the model is unknown or an option is wrong.
    """
    model: DelayModel = lookup("delays", kind).build(Options(f"delays {kind}", options), clients)
    return model


def problem_from(spec: str) -> Problem:
    """Build the problem of a spec, ``NAME:key=value,…``."""
    return build_problem(*parse_spec(spec, "problem"))


def delays_from(spec: str, clients: int) -> DelayModel:
    """Build the delay model of a spec, ``NAME:key=value,…``, for n clients."""
    return build_delays(*parse_spec(spec, "delays"), clients)
