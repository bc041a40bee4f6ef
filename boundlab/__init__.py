"""boundlab: a type-checker for convergence theorems of asynchronous and federated first-order methods.

The names below are the public API; each is imported when it is first used. ``audit``, ``compare``, ``delays``,
``exact``, ``falsify``, ``prove``, ``simulate``, ``sweep`` and ``worst_case`` are packages that can also be called:
``boundlab.compare(…)`` asks, and ``boundlab.compare.Comparison`` is what is inside.
"""

import copyreg
import re
import sys
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from boundlab.__about__ import __version__

if TYPE_CHECKING:
    from boundlab.api import (
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
        problem_from_head as problem_from_head,
        prove as prove,
        replay as replay,
        run as run,
        theorem as theorem,
        trace as trace,
        worst_case as worst_case,
    )
    from boundlab.audit import audit as audit
    from boundlab.case import Case as Case, build_problem as build_problem, load_case as load_case
    from boundlab.compare import Comparison as Comparison
    from boundlab.errors import AssumptionError as AssumptionError, BoundlabError as BoundlabError
    from boundlab.instance import make_plan as make_plan
    from boundlab.objective import Constant as Constant, Optimum as Optimum, Problem as Problem
    from boundlab.registry import load_plugin as load_plugin, lookup as lookup, registered as registered
    from boundlab.simulate import simulate as simulate
    from boundlab.sweep.results import results as results, sweep as sweep
    from boundlab.theorems import Theorem as Theorem, load_theorem as load_theorem
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
    "applicable": "api",
    "build_problem": "case",
    "check": "api",
    "constants": "api",
    "fit": "api",
    "load_case": "case",
    "load_plugin": "registry",
    "load_theorem": "theorems",
    "lookup": "registry",
    "make_plan": "instance",
    "optimal_rate": "api",
    "problem": "api",
    "problem_from_head": "api",
    "registered": "registry",
    "replay": "api",
    "results": "sweep.results",
    "run": "api",
    "theorem": "api",
    "trace": "api",
}
_CALLABLE = ("audit", "compare", "delays", "exact", "falsify", "prove", "simulate", "sweep", "worst_case")
# The others are those of boundlab.api.
_ASKED = {
    "audit": "boundlab.audit",
    "simulate": "boundlab.simulate",
    "sweep": "boundlab.sweep.results",
}

__all__ = ["__version__", *sorted((*_WHERE, *_CALLABLE))]


class _Package(ModuleType):
    """A package that pickles as its name: what a cluster is sent may hold it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


class _Question(_Package):
    """A package whose question can be asked by calling it."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.__wrapped__(*arguments, **options)

    @property  # found before the module's own, so that help, ``?`` and references describe the question
    def __doc__(self) -> str:  # type: ignore[override]
        from inspect import Parameter, Signature, getdoc, signature

        asked = signature(self.__wrapped__)
        plain = [one.replace(annotation=Parameter.empty) for one in asked.parameters.values()]
        shown = re.sub(" at 0x\\w+", "", str(asked.replace(parameters=plain, return_annotation=Signature.empty)))
        return f"{self.__wrapped__.__name__}{shown}\n\n{getdoc(self.__wrapped__)}"

    @property
    def __wrapped__(self) -> Any:
        """The function that is called: help and signatures are its own."""
        name = self.__name__.rpartition(".")[2]
        return getattr(import_module(_ASKED.get(name, "boundlab.api")), name)


class _Face(_Package):
    """The package: the import system sets its subpackages as attributes, and some of them answer to a call."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _CALLABLE and type(value) is ModuleType:
            value.__class__ = _Question
        super().__setattr__(name, value)


def _frozen(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


sys.modules[__name__].__class__ = _Face
copyreg.pickle(MappingProxyType, lambda mapping: (_frozen, (dict(mapping),)))  # results hold read-only mappings


def __getattr__(name: str) -> Any:
    if name in _CALLABLE:
        return import_module(f"boundlab.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'boundlab' has no attribute {name!r}")
    return getattr(import_module(f"boundlab.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
