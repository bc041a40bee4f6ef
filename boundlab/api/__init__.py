"""Public API, ``import boundlab as bl``: the questions of the command line, with strings or objects; results to show.

Theorems, problems and delay models may be given by id or spec, by the path of a file, or as objects. Keywords that are
no parameter of a function are symbols of the theorem or options of its algorithm: numbers, text, or lists of numbers.
A question loads the judge that answers it, and no other; so does the class of its results.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from boundlab.api._ask import (
    applicable as applicable,
    check as check,
    compare as compare,
    constants as constants,
    delays as delays,
    exact as exact,
    falsify as falsify,
    fit as fit,
    optimal_rate as optimal_rate,
    problem as problem,
    prove as prove,
    replay as replay,
    run as run,
    theorem as theorem,
    trace as trace,
    worst_case as worst_case,
)
from boundlab.api._shown import Report as Report, Shown as Shown, frame as frame, reported as reported

if TYPE_CHECKING:
    from boundlab.api._applicable import Applicable as Applicable
    from boundlab.api._checks import Checks as Checks
    from boundlab.api._compared import Compared as Compared, Horizons as Horizons
    from boundlab.api._constants import CertifiedConstants as CertifiedConstants
    from boundlab.api._decided import Decided as Decided
    from boundlab.api._evaluated import Evaluated as Evaluated
    from boundlab.api._head import problem_from_head as problem_from_head
    from boundlab.api._ran import Ran as Ran
    from boundlab.api._rate import BestRate as BestRate
    from boundlab.api._searched import Searched as Searched
    from boundlab.api._traced import FittedDelays as FittedDelays, Traced as Traced
    from boundlab.api._worst import Worst as Worst

_WHERE = {
    "Applicable": "_applicable",
    "BestRate": "_rate",
    "CertifiedConstants": "_constants",
    "Checks": "_checks",
    "Compared": "_compared",
    "Decided": "_decided",
    "Evaluated": "_evaluated",
    "FittedDelays": "_traced",
    "Horizons": "_compared",
    "Ran": "_ran",
    "Searched": "_searched",
    "Traced": "_traced",
    "Worst": "_worst",
    "problem_from_head": "_head",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
