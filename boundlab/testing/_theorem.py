"""All checks of one theorem."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.assumptions import choices as assumptions
from boundlab.assumptions import definers
from boundlab.case.build import build_delays
from boundlab.checks import check as checked
from boundlab.errors import AssumptionError, BoundlabError, InfiniteError, SpecError
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS
from boundlab.metrics import choices as metrics
from boundlab.options import Options
from boundlab.registry import registered
from boundlab.testing._agree import expect
from boundlab.testing._check import Check
from boundlab.testing._schedule import CompiledRun
from boundlab.testing._subject import REFUSED, Subject
from boundlab.theorems import Theorem, load_theorem

_COUNTERS = {"K": "iterations", "T": "server updates"}
_VALUES: dict[str, Any] = {"n": 2, "mu": 0.25, "p": [0.375, 0.375], "p_s": 0.25}  # where 1 or 2 will not do
_HORIZON = 100
_TRIED = (0.01, 0.1, 1.0, 1e-4)  # for inputs without a value above; small ones suit conditions on steps


def checks(t: Theorem) -> Iterator[Check]:
    """Return the checks."""
    who = f"theorem {t.id}"
    parts: tuple[tuple[str, Callable[[str, Theorem], None]], ...] = (
        ("what it names exists", _names),
        ("its algorithm takes its options and steps", _options),
        ("it counts what its metric counts", _counter),
        ("every symbol has a source", _sources),
        ("both sides have the same units", _units),
        ("its formulas as text are read back", _text),
        ("its file is read again", _file),
        ("it is evaluated, and its steps are ones that the algorithm takes", _evaluates),
    )
    for name, part in parts:
        yield Check(f"{who}: {name}", lambda part=part: part(who, t))  # type: ignore[misc]


def _algorithm(who: str, t: Theorem) -> Algorithm[Any]:
    found = registered("algorithms")
    expect(t.algorithm in found, f"{who}: algorithm {t.algorithm} is not registered")
    algorithm: Algorithm[Any] = found[t.algorithm]
    return algorithm


def _names(who: str, t: Theorem) -> None:
    _algorithm(who, t)
    expect(t.metric in metrics(t.metric), f"{who}: metric {t.metric} is not registered")
    for name in t.assumptions:
        expect(name in assumptions(name), f"{who}: assumption {name} is not registered")
    for name in ("id", "title"):
        expect(bool(getattr(t, name).strip()), f"{who}: it has no {name}")


def _options(who: str, t: Theorem) -> None:
    """Check that what the theorem fixes, leaves open, reads and sets are options of the algorithm."""
    a = _algorithm(who, t)
    try:
        fixed = t.core.fixed
    except SpecError as error:
        raise AssertionError(f"{who}: {error}") from error
    words = f"it sets {', '.join(t.step)}, and the local steps of {a.id} are {', '.join(a.local_rates)}"
    expect(bool(set(a.local_rates) & set(t.step)), f"{who}: {words}")
    try:
        a.read(Options(a.id, {**dict.fromkeys(t.step, 1), **fixed}))
    except SpecError as error:
        raise AssertionError(f"{who}: {a.id} does not take its options {fixed}: {error}") from error


def _counter(who: str, t: Theorem) -> None:
    """Check that no formula reads the other counter, and that T counts what the algorithm counts."""
    other = "T" if t.counter == "K" else "K"
    shown = f"metric {t.metric} counts {t.counter} ({_COUNTERS[t.counter]})"
    read = other in {*t.inputs(), *t.read_by(t.step)} and other not in t.core.read_as.values()
    expect(not read, f"{who}: it reads {other} ({_COUNTERS[other]}), and its {shown}")
    if t.counter == "T":
        subject = Subject(_algorithm(who, t))
        at = subject.schedule(subject.settings[0], subject.models[0])
        same = np.array_equal(at.long.record.iteration, at.long.record.version)
        words = f"the iterations of {t.algorithm} are no server updates"
        expect(same, f"{who}: its {shown}, and {words}")


def _sources(who: str, t: Theorem) -> None:
    """Check that problem, delays, options or the algorithm's quantities give every built-in symbol that is read."""
    a = _algorithm(who, t)
    own = {*t.step, *t.core.read_as.values(), *t.settable, t.counter, "n", "N"} | (SYMBOLS.keys() ^ t.symbols.keys())
    missing = [name for name in t.inputs() if name not in own and not definers(name)]
    if not missing:
        return
    given: set[str] = set()
    for at in _runs(a, t):
        given |= a.quantities(at.parameters, at.long, int(at.long.version[-1]), {}).keys()
        missing = [name for name in missing if name not in given]
    words = "which neither problems, delays and options give nor the quantities"
    found = ", ".join(sorted(given)) or "none"
    expect(not missing, f"{who}: it reads {', '.join(missing)}, {words} of {a.id}: {found}")


def _runs(a: Algorithm[Any], t: Theorem) -> Iterator[CompiledRun]:
    """Yield runs under unequal and under equal speeds, in every setting that the algorithm's examples make."""
    for model in (build_delays("exponential", {"spread": 5}, 3), build_delays("deterministic", {}, 3)):
        subject = Subject(a, delays=(model,))
        simple, *others = subject.settings
        for setting in ({**simple, **t.core.fixed}, simple, *others):
            try:
                yield subject.schedule(setting, model)
            except REFUSED:
                continue


def _units(who: str, t: Theorem) -> None:
    """Check that no group of checks finds fault with units and scope; what a paper printed is as it is."""
    if t.status == "as printed":
        return
    for one in checked(t, ["units", "scope"]):
        expect(one.verdict != "failed", f"{who}: not so: {one.statement}; {one.witness}")


def _text(who: str, t: Theorem) -> None:
    """Check that what as_dict() shows is read back as the same formulas."""
    fields = t.as_dict()
    table = {name: info.symbol for name, info in t.symbols.items() if not info.vector}
    texts = {**fields["terms"], **fields["definitions"]}
    for name, expression in {**t.bound.expressions(), **t.rules()}.items():
        try:
            again = parse(texts[name], table, f"{who}, {name}")
        except BoundlabError as error:
            raise AssertionError(f"{who}: {name} = {texts[name]} is not read back: {error}") from error
        same = again == expression or (again - expression).equals(0) is not False
        expect(same, f"{who}: {name} = {texts[name]} is read back as {again}")


def _file(who: str, t: Theorem) -> None:
    """Check that the text of a theorem from a file is that theorem."""
    if not t.source:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "theorem.toml"
        path.write_text(t.source, encoding="utf-8")
        again = load_theorem(str(path))
    expected = t.as_dict()
    for name, value in replace(again, place=t.place).as_dict().items():
        expect(value == expected[name], f"{who}: {name} is {value!r} when its source is read, and {expected[name]!r}")


def _evaluates(who: str, t: Theorem) -> None:
    """Check that bound and steps are numbers where its conditions hold, among a few values, and steps can be taken."""
    a = _algorithm(who, t)
    for small in _TRIED:
        values = {name: _value(t, name, small) for name in t.inputs()} | _limits(t)
        try:
            t.evaluate(values)
            steps = t.step_options({**values, t.counter: _HORIZON})
        except (AssumptionError, InfiniteError):
            continue  # a condition does not hold there, or nothing is claimed
        except BoundlabError as error:
            raise AssertionError(f"{who}: it is not evaluated at {values}: {error}") from error
        try:
            a.read(Options(a.id, {**t.core.fixed, **steps}))
        except SpecError as error:
            raise AssertionError(f"{who}: {a.id} does not take the steps {steps}: {error}") from error
        return


def _limits(t: Theorem) -> dict[str, float]:
    """Return the symbols that a condition holds at most a number, at this number."""
    inputs = set(t.inputs()) - set(t.step)
    return {
        one.quantity.name: float(one.limit)
        for one in t.conditions
        if one.quantity.is_Symbol and one.limit.is_number and one.quantity.name in inputs
    }


def _value(t: Theorem, name: str, small: float) -> Any:
    """Return a value in the domain of a symbol."""
    info = t.symbols[name]
    if name in _VALUES:
        return _VALUES[name]
    if name == t.counter:
        return _HORIZON
    if info.vector:
        return [1.0] * _VALUES["n"]
    if name in t.step and not info.domain.integer:
        return small
    return 2.0 if info.domain.integer else 1.0 if info.domain.contains(np.array(1.0)) else 0.5
