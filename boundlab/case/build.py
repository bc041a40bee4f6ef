"""From names and options to objects: the one place where problems and delay models are built."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boundlab.arguments import checked
from boundlab.delays import DelayModel
from boundlab.errors import DataError, SpecError
from boundlab.files import hashes
from boundlab.objective import ERROR_OPTION, Problem, ProblemType
from boundlab.objective.simple import OPTIONS, read_simple
from boundlab.options import Options, parse_spec
from boundlab.registry import built_by, lookup


@checked
def build_problem(kind: str, options: dict[str, Any]) -> Problem:
    """Build a registered problem from its options, those of :mod:`boundlab.objective.simple` and ``error`` among them.

    An option of the same name that a family declares is the family's own; a family that is ``constrained`` reads these,
    too.

    Raises
    ------
    BoundlabError
        If the type is unknown or an option is wrong.
    """
    family: ProblemType = lookup("problems", kind)
    shared = {*OPTIONS, *ERROR_OPTION} - set(family.options)
    passed = {*OPTIONS} if family.constrained else set()
    own = {key: value for key, value in options.items() if key not in shared - passed}
    problem: Problem = family.build(Options(f"problem {kind}", own, seen=set(shared)))
    h = read_simple(Options(f"problem {kind}", {key: value for key, value in options.items() if key in shared}))
    if h is not None:
        from boundlab.objective.composite import Composite

        problem = Composite(problem, h)
    if shared & ERROR_OPTION.keys() & options.keys():
        from boundlab.objective.inexact import with_error

        problem = with_error(problem, options["error"])
    built_by(problem, rebuild_problem, kind, *_found_anywhere(problem, options))
    return problem


def rebuild_problem(kind: str, options: dict[str, Any], data: dict[str, str]) -> Problem:
    """Build a problem as another process has built it.

    Parameters
    ----------
    data
        The SHA-256 of each file that it was read from.

    Raises
    ------
    DataError
        If a file holds other data here.
    """
    problem = build_problem(kind, options)
    _require(data)
    return problem


def build_delays(kind: str, options: dict[str, Any], clients: int) -> DelayModel:
    """Build a registered delay model for n clients from its options.

    Raises
    ------
    BoundlabError
        If the model is unknown or an option is wrong.
    """
    model: DelayModel = lookup("delays", kind).build(Options(f"delays {kind}", options), clients)
    built_by(model, rebuild_delays, kind, clients, *_found_anywhere(model, options))
    return model


def rebuild_delays(kind: str, clients: int, options: dict[str, Any], data: dict[str, str]) -> DelayModel:
    """Build a delay model as another process has built it; as :func:`rebuild_problem`."""
    model = build_delays(kind, options, clients)
    _require(data)
    return model


def _found_anywhere(built: Problem | DelayModel, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the options with absolute paths of the files that were read, and what these files hold."""
    data = hashes(path.absolute() for path in built.files())
    if not data:
        return options, data

    read = {place for path in data for place in (Path(path), Path(path).parent)}  # some are named by their folder

    def absolute(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        kind, colon, place = value.rpartition(":")
        whole = Path(place).expanduser().absolute()
        return f"{kind}{colon}{whole}" if place and whole in read else value

    return {key: absolute(value) for key, value in options.items()}, data


def _require(data: dict[str, str]) -> None:
    for path, found in data.items():
        if hashes([Path(path)]).get(path) != found:
            raise DataError(f"{path} holds other data here than where the object was built")


def problem_from(spec: str | Mapping[str, Any]) -> Problem:
    """Build the problem of a spec, ``NAME:key=value,…``, or of what a case file says, ``{"type": NAME, …}``."""
    return build_problem(*_named(spec, "problem"))


def delays_from(spec: str | Mapping[str, Any], clients: int) -> DelayModel:
    """Build the delay model of a spec, or of what a case file says, for n clients."""
    return build_delays(*_named(spec, "delays"), clients)


def _named(spec: str | Mapping[str, Any], what: str) -> tuple[str, dict[str, Any]]:
    if isinstance(spec, str):
        kind, options = parse_spec(spec, what)
        return kind, dict(options)
    if not isinstance(spec, Mapping) or not isinstance(spec.get("type"), str):
        raise SpecError(f'{what} must be a spec, or an object with a "type", e.g. {{"type": "NAME", …}}')
    return spec["type"], {key: value for key, value in spec.items() if key != "type"}
