"""boundlab: a type-checker for convergence theorems of asynchronous and federated first-order methods.

The names below are the public API; each is imported when it is first used. Comparisons are made by
:func:`boundlab.compare.compare`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from boundlab.__about__ import __version__

if TYPE_CHECKING:
    from boundlab.build import build_problem as build_problem
    from boundlab.case import Case as Case
    from boundlab.case import load_case as load_case
    from boundlab.case import replay as replay
    from boundlab.compare import Comparison as Comparison
    from boundlab.errors import AssumptionError as AssumptionError
    from boundlab.errors import BoundlabError as BoundlabError
    from boundlab.instance import make_plan as make_plan
    from boundlab.objective import Constant as Constant
    from boundlab.objective import Optimum as Optimum
    from boundlab.objective import Problem as Problem
    from boundlab.registry import lookup as lookup
    from boundlab.registry import registered as registered
    from boundlab.server_rate import optimal_rate as optimal_rate
    from boundlab.simulate.simulation import simulate as simulate
    from boundlab.theorems import Theorem as Theorem
    from boundlab.theorems import load_theorem as load_theorem
    from boundlab.verdict import Verdict as Verdict

_WHERE = {
    "AssumptionError": "errors",
    "BoundlabError": "errors",
    "Case": "case",
    "Comparison": "compare",
    "Constant": "objective",
    "Optimum": "objective",
    "Problem": "objective",
    "Theorem": "theorems",
    "Verdict": "verdict",
    "build_problem": "build",
    "load_case": "case",
    "load_theorem": "theorems",
    "lookup": "registry",
    "make_plan": "instance",
    "optimal_rate": "server_rate",
    "registered": "registry",
    "replay": "case",
    "simulate": "simulate",
}

__all__ = ["__version__", *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'boundlab' has no attribute {name!r}")
    return getattr(import_module(f"boundlab.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
