"""Public API, ``import boundlab as bl``: the questions of the command line, with strings or objects; results to show.

Theorems, problems and delay models may be given by id or spec, by the path of a file, or as objects. Keywords that are
no parameter of a function are symbols of the theorem or options of its algorithm: numbers, text, or lists of numbers.
A question loads the judge that answers it, and no other.
"""

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
from boundlab.api._head import problem_from_head as problem_from_head
from boundlab.result import Result as Result
