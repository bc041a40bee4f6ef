"""Objects from words, beside strings: theorems, problems, delay models and cases."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundlab.arguments import checked
from boundlab.case import Case, load_case, read_case
from boundlab.case.build import delays_from, problem_from
from boundlab.delays import DelayModel
from boundlab.objective import Problem
from boundlab.options import count
from boundlab.registry import registered
from boundlab.theorems import Theorem, load_theorem

if TYPE_CHECKING:
    from boundlab.api._applicable import Applicable
    from boundlab.api._constants import CertifiedConstants

MOST_CLIENTS = 10**6


@checked
def theorem(given: str | Path | Theorem) -> Theorem:
    """Return a theorem by its id or by the path of a TOML file.

    Raises
    ------
    BoundlabError
        If there is none, or the file says something that no theorem does.

    Examples
    --------
    >>> theorem("area.theorem8")
    <Theorem area.theorem8 (as printed): E f(x̄_K) − f* for area>
    """
    return read_theorem(given)


@checked
def problem(spec: str | Mapping[str, Any]) -> Problem:
    """Return the problem of a spec, ``NAME:key=value,…``, or of what a case file says, ``{"type": NAME, …}``.

    Raises
    ------
    BoundlabError
        If there is no such family, or an option is wrong.

    Examples
    --------
    >>> problem("lad:x0=3").spec()
    {'type': 'lad', 'c': [[0.0]], 'w': [[1.0]], 'sigma': 0.0, 'x0': [3.0]}
    """
    return problem_from(spec)


@checked
def delays(spec: str | Mapping[str, Any], clients: int | Problem) -> DelayModel:
    """Return the delay model of a spec, or of ``{"type": NAME, …}``, for as many clients as are said or a problem has.

    Raises
    ------
    BoundlabError
        If there is no such model, or an option is wrong.

    Examples
    --------
    >>> delays("iid:p_s=0.5", 3).rates().tolist()
    [0.16666666666666666, 0.16666666666666666, 0.16666666666666666]
    """
    return delays_from(spec, clients.n if isinstance(clients, Problem) else count(clients, "clients", 1, MOST_CLIENTS))


@checked
def replay(case: str | Path | Mapping[str, Any] | Case) -> list[dict[str, Any]]:
    """Run a case with full gradients and return its trajectory; see :func:`boundlab.case.replay`.

    Parameters
    ----------
    case
        A file, or what such a file says, such as the ``case`` of a result.

    Raises
    ------
    BoundlabError
        If it is none, or does not say who arrives when.
    """
    from boundlab.case import replay as run_case

    return run_case(case if isinstance(case, Case) else case_of(case))


def read_theorem(given: str | Path | Theorem) -> Theorem:
    """Return a theorem that is given by its id, its file or itself."""
    return given if isinstance(given, Theorem) else load_theorem(given)


def read_problem(given: str | Mapping[str, Any] | Problem) -> Problem:
    """Return a problem that is given by its words or itself."""
    return given if isinstance(given, Problem) else problem_from(given)


def read_delays(given: str | Mapping[str, Any] | DelayModel, clients: int) -> DelayModel:
    """Return a delay model that is given by its words or itself."""
    return given if isinstance(given, DelayModel) else delays_from(given, clients)


def case_of(given: str | Path | Mapping[str, Any]) -> Case:
    """Return a case that is given by its file or by what that says."""
    if isinstance(given, (str, Path)):
        return load_case(Path(given), has_theorem=True)
    return read_case(dict(given), has_theorem=True)


@checked
def constants(problem: str | Mapping[str, Any] | Problem) -> "CertifiedConstants":
    """Return the certified constants of a problem: side, certificate, the minimiser, and the steps that theorems allow.

    Parameters
    ----------
    problem
        A spec, what a case file says, or a problem.

    Raises
    ------
    BoundlabError
        If there is no such family, or an option is wrong.

    Examples
    --------
    >>> constants("huber:c=[0,1],x0=3")
    <huber: L = 1, B = 1; 12 constants>
    """
    from boundlab.api._constants import constants_of

    return constants_of(read_problem(problem), [read_theorem(one) for one in registered("theorems")])


@checked
def applicable(
    problem: str | Mapping[str, Any] | Problem, delays: str | None = None, *, theorems: Sequence[str | Theorem] = ()
) -> "Applicable":
    """Return which theorems apply to a problem, and one reason for each that does not.

    What a comparison asks is asked of each theorem, under the delays or, without any, under examples of them; options
    that a theorem needs and step sizes that it leaves open have example values.

    Parameters
    ----------
    delays
        A spec.
    theorems
        All that are registered, unless some are named.

    Raises
    ------
    BoundlabError
        If problem, delays or a theorem are none.

    Examples
    --------
    >>> applicable("lad:x0=3", "iid:p_s=0.5", theorems=["area.theorem7", "area.theorem8"])
    <1 of 2 apply to lad>
    """
    from boundlab.api._applicable import Applicable
    from boundlab.instance.fitting import applies

    chosen = read_problem(problem)
    if delays is not None:
        delays_from(delays, chosen.n)
    asked = [read_theorem(one) for one in theorems or registered("theorems")]
    return Applicable(chosen.id, tuple(applies(one, chosen, delays) for one in asked))
