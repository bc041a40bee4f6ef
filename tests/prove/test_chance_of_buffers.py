"""Random buffers: what the setting takes for a mean is one, for every pair of vectors of every exact model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from boundlab.prove import Lin, ProofError
from boundlab.prove._functions import Point, plus
from boundlab.prove._instance import Name, Runs, UnfitError
from boundlab.prove._scalars import Scalar
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

ENOUGH = 5
NAMES = ("w", "d", "df", "db", "dk", "zk", "gk", "ek", "hb", "xb", "mb", "pk", "ub", "gu", "eu")


@dataclass(frozen=True)
class Rule:
    """E⟨u, v⟩ = Σ E⟨twin, v⟩ for u with one of the names, and each v that the setting allows."""

    names: tuple[str, ...]
    ask: Callable[[Any, Name, Lin], object]
    twins: Callable[[Name], tuple[Name, ...]]


RULES = {
    "unbiased": Rule(("ek", "xb"), lambda s, u, v: s.unbiased(s.vec(u[0], *u[1]), v), lambda _: ()),
    "entry_of": Rule(
        ("hb", "xb"), lambda s, u, v: s.entry_of(u[0], *u[1], v), lambda u: (({"hb": "gk", "xb": "ek"}[u[0]], u[1]),)
    ),
    "met_entry_of": Rule(("ub",), lambda s, u, v: s.met_entry_of(*u[1], v), lambda u: (("gu", u[1]), ("eu", u[1]))),
    "given_past": Rule(("mb",), lambda s, u, v: s.given_past(*u[1], v), lambda u: (("gk", u[1]),)),
    "drawn_client": Rule(("dk",), lambda s, u, v: s.drawn_client(*u[1], v), lambda u: (("db", u[1]),)),
}


@cache
def _setting() -> Any:
    own: Any = setting_of(load_theorem("fedbuff.rf3"))
    # A model holds the updates before its own T and no others; T has no number in the setting.
    asked = own.kernel.need

    def need(value: Scalar, *more: Any) -> None:
        if "T" not in value.names():
            asked(value, *more)

    own.kernel.need = need
    return own


@cache
def _models() -> tuple[Runs, ...]:
    s, found = _setting(), []
    for instance in s.instances:
        try:
            found.append(s.runs(instance))
        except UnfitError:
            continue
        # Two vectors that sentences define are made here once more, of the clients' gradients.
        for name, weights in (("df", [Fraction(1, instance.n)] * instance.n), ("db", instance.p)):
            for t in range(instance.horizon + 1):
                slopes = [found[-1].at(("d", (i, t))) for i in range(instance.n)]
                found[-1].add((name, (t,)), lambda at, w=weights, of=slopes: _mean([one[at] for one in of], w))
    return tuple(found)


def _mean(points: list[Point], weights: Sequence[Fraction]) -> Point:
    found: Point = tuple(Fraction(0) for _ in points[0])
    for point, weight in zip(points, weights, strict=True):
        found = plus(found, point, weight)
    return found


@cache
def _allowed(name: str, u: Name, v: Name) -> bool:
    try:
        RULES[name].ask(_setting(), u, _setting().vec(v[0], *v[1]))
    except ProofError:
        return False
    return True


def _error(name: str, runs: Runs, u: Name, v: Name) -> Fraction:
    """Return left − right in a model."""
    return runs.inner(u, v) - sum((runs.inner(one, v) for one in RULES[name].twins(u)), Fraction(0))


def _pairs(name: str, runs: Runs) -> list[tuple[Name, Name]]:
    known = [one for one in runs.columns if one[0] in NAMES]
    return [(u, v) for u in known if u[0] in RULES[name].names for v in known]


@pytest.mark.nightly
@pytest.mark.parametrize("name", RULES)
def test_what_is_allowed_is_true_in_every_model(name: str) -> None:
    models = 0
    for runs in _models():
        pairs = [(u, v) for u, v in _pairs(name, runs) if _allowed(name, u, v)]
        wrong = [(u, v) for u, v in pairs if _error(name, runs, u, v)]
        assert not wrong, f"{name}: {wrong[:3]}"
        models += bool(pairs)
    assert models >= ENOUGH


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("name", "u", "v"),
    [
        # Noise meets the model that it made, itself, and the mean over who arrives, which knows all noise.
        ("unbiased", ("xb", (0, 0)), ("w", (1,))),
        ("unbiased", ("ek", (0, 0)), ("xb", (0, 0))),
        ("unbiased", ("ek", (0, 0)), ("zk", (0, 1))),
        ("unbiased", ("ek", (1, 0)), ("mb", (0, 1))),
        # A buffer's mean in place of an entry, where the entry itself is on the other side.
        ("entry_of", ("hb", (0, 0)), ("gk", (0, 0))),
        ("entry_of", ("xb", (0, 0)), ("ek", (0, 0))),
        ("entry_of", ("hb", (1, 0)), ("pk", (1, 1))),
        # Who was in a buffer is known in the next model, and in the buffer's own gradients.
        ("given_past", ("mb", (0, 0)), ("w", (1,))),
        ("given_past", ("mb", (0, 0)), ("hb", (0, 0))),
        ("drawn_client", ("dk", (0,)), ("w", (1,))),
        ("drawn_client", ("dk", (0,)), ("gk", (0, 0))),
    ],
    ids=str,
)
def test_what_is_refused_is_false_in_a_model(name: str, u: Name, v: Name) -> None:
    assert not _allowed(name, u, v)
    assert any(_error(name, runs, u, v) for runs in _models() if {u, v} <= runs.columns.keys())
