"""The class that the proofs about each algorithm speak of, with the numbers of a run's options in it."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt
from types import MappingProxyType
from typing import Any, Final

from boundlab.algorithms import Algorithm
from boundlab.arithmetic.rational import as_fraction
from boundlab.classes.formal import ClientPass, models
from boundlab.classes.runs import (
    LatestClass,
    MomentumClass,
    PassClass,
    RegisterClass,
    RunClass,
    StepsOfPasses,
    TurnsClass,
    WindowClass,
    version,
)


def _gd(parameters: Any, clients: int) -> RunClass:
    count = clients if parameters.sampling == "all" else 1
    local = StepsOfPasses(1, lambda one: parameters.step.of(version(one.start) or 0))
    return PassClass(local, count=count, weight=Fraction(1, count), current=True, everyone=count > 1)


def _async_sgd(parameters: Any, _: int) -> RunClass:
    return PassClass(StepsOfPasses(1, lambda _: parameters.alpha), weight=Fraction(1))


def _buffer(parameters: Any, _: int) -> RunClass:
    local = StepsOfPasses(parameters.local.steps, lambda _: parameters.local.first)
    return PassClass(local, count=parameters.count, total=as_fraction(parameters.eta_g))


def _fedcompass(parameters: Any, _: int) -> RunClass:
    rules = parameters.rules
    return PassClass(StepsOfPasses(rules.Qmax, lambda _: parameters.eta, rules.Qmin), count=None)


def _fedfa(parameters: Any, _: int) -> RunClass:
    local = StepsOfPasses(parameters.local.steps, lambda _: parameters.local.first)
    rate = as_fraction(parameters.eta_g) if parameters.mode == "delta" else None
    return WindowClass(local, size=parameters.K, rate=rate)


def _afl_dga(parameters: Any, _: int) -> RunClass:
    return LatestClass(StepsOfPasses(1, lambda _: parameters.eta))


def _area(parameters: Any, _: int) -> RunClass:
    def size(one: ClientPass) -> float:
        return float(parameters.step.of(parameters.answers_with(one.event) if one.event >= 0 else 0))

    local = StepsOfPasses(parameters.M, size)
    return RegisterClass(local, opening=parameters.start == "algorithm", late=parameters.reply == "post")


def _proximal_point(parameters: Any, _: int) -> RunClass:
    size = StepsOfPasses(1, lambda one: parameters.step.of(version(one.start) or 0), implicit=True)
    return PassClass(size, weight=Fraction(1), current=True)


def _incremental(parameters: Any, _: int) -> RunClass:
    def size(one: ClientPass) -> float:
        return float(parameters.step.of(max(t for (_, t) in models(one.start))))

    return TurnsClass(StepsOfPasses(1, size))


def _heavy_ball(parameters: Any, _: int) -> RunClass:
    kept = as_fraction(parameters.beta)
    return MomentumClass(StepsOfPasses(1, lambda _: parameters.alpha), kept=lambda _: kept)


def _nesterov(parameters: Any, _: int) -> RunClass:
    def kept(t: int) -> Fraction:
        if parameters.q is not None:
            return Fraction((1 - sqrt(parameters.q)) / (1 + sqrt(parameters.q)))
        before, now = 1.0, (1 + sqrt(5)) / 2
        for _ in range(t - 1):
            before, now = now, (1 + sqrt(1 + 4 * now * now)) / 2
        return Fraction((before - 1) / now)

    return MomentumClass(StepsOfPasses(1, lambda _: parameters.alpha), kept=kept, ahead=True)


CLASSES: Final[Mapping[str, Callable[[Any, int], RunClass]]] = MappingProxyType(
    {
        "gd": _gd,
        "async_sgd": _async_sgd,
        "fedbuff": _buffer,
        "fedstaleweight": _buffer,
        "fedcompass": _fedcompass,
        "fedfa": _fedfa,
        "afl_dga": _afl_dga,
        "area": _area,
        "proximal_point": _proximal_point,
        "incremental": _incremental,
        "heavy_ball": _heavy_ball,
        "nesterov": _nesterov,
    }
)
"""By the algorithm of a theorem: its class, given the options of a run and the number of clients."""


def class_of(algorithm: Algorithm[Any], parameters: Any, clients: int) -> RunClass:
    """Return the class that proofs about an algorithm speak of.

    Of one that has none of its own, it is that of asynchronous SGD: single steps that the server adds as they arrive.
    """
    own = CLASSES.get(algorithm.id)
    if own is not None:
        return own(parameters, clients)
    size = _size(algorithm, parameters)
    return PassClass(StepsOfPasses(1, lambda _: size), weight=Fraction(1))


def _size(algorithm: Algorithm[Any], parameters: Any) -> float:
    """Return the constant size of local steps, by the name of its option or as ``algorithms`` keeps it; else 0."""
    for name in algorithm.step_size_symbols:
        if hasattr(parameters, name):
            return float(getattr(parameters, name))
    if hasattr(parameters, "local"):
        return float(parameters.local.first)
    return float(parameters.step.c) if hasattr(parameters, "step") else 0.0


def known(name: str, parameters: Any) -> bool:
    """Return whether these are options that proofs about the algorithm know."""
    match name:
        case "gd":
            plain = parameters.decay.constant and parameters.sampled is None
            return bool(plain and parameters.M == 1 and parameters.sampling != "mean")
        case "async_sgd":
            return bool(parameters.schedule.constant)
        case "fedbuff":
            return bool(parameters.staleness.kind == "constant")
        case "afl_dga":
            return bool(parameters.server == "plain" and parameters.scaling == "analysis")
    return True
