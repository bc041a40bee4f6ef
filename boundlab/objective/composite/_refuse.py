"""Operations that a composite objective lacks, refused in one place."""

from typing import NoReturn

from boundlab.errors import AssumptionError
from boundlab.objective.simple import ProxFunction


def no_gradient(who: str, h: ProxFunction) -> NoReturn:
    """Say that F = f + h has no gradient.

    Parameters
    ----------
    who
        Id of the problem.

    Raises
    ------
    AssumptionError
        Always.
    """
    raise AssumptionError(f"problem {who} with {h.words} has no gradient: its steps are proximal gradient steps")


def no_proximal_step(who: str, h: ProxFunction) -> NoReturn:
    """Say that f_i + h has no proximal map in closed form; as :func:`no_gradient`."""
    raise AssumptionError(
        f"problem {who} with {h.words} has no proximal step of f_i + h in closed form: its steps are proximal gradient "
        "steps"
    )
