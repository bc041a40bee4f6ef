"""All checks of one theorem."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.assumptions import definers
from boundlab.checks import View
from boundlab.checks import check as checked
from boundlab.errors import AssumptionError, BoundlabError, InfiniteError
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.testing._check import Check, about, expect, named, spoken
from boundlab.testing._subject import Subject
from boundlab.theorems import Theorem, load_theorem

_COUNTERS = {"K": "iterations", "T": "server updates"}
_HORIZON = 100


def checks(t: Theorem) -> Iterator[Check]:
    """Return the checks."""
    return named(f"theorem {t.id}", _CHECKS, t)


def _names(t: Theorem) -> None:
    """Check that algorithm, metric and assumptions are registered; the look-up says which one it may be."""
    lookup("algorithms", t.algorithm)
    lookup("metrics", t.metric)
    for name in t.assumptions:
        lookup("assumptions", name)
    spoken(t, "id", "title")


def _options(t: Theorem) -> None:
    """Check that what the theorem fixes, leaves open, reads and sets are options of the algorithm."""
    a: Algorithm[Any] = lookup("algorithms", t.algorithm)
    fixed = t.core.fixed
    words = f"it sets {', '.join(t.step)}, and the local steps of {a.id} are {', '.join(a.step_size_symbols)}"
    expect(set(a.step_size_symbols) & set(t.step), words)
    with about(f"{a.id} does not take its options {fixed}"):
        a.read(Options(a.id, {**dict.fromkeys(t.step, 1), **fixed}))


def _counter(t: Theorem) -> None:
    """Check that no formula reads the other counter, and that T counts what the algorithm counts."""
    other = "T" if t.horizon_symbol == "K" else "K"
    shown = f"metric {t.metric} counts {t.horizon_symbol} ({_COUNTERS[t.horizon_symbol]})"
    read = other in {*t.inputs(), *t.read_by(t.step)} and other not in t.core.read_as.values()
    expect(not read, f"it reads {other} ({_COUNTERS[other]}), and its {shown}")
    if t.horizon_symbol == "T":
        subject = Subject(lookup("algorithms", t.algorithm))
        at = subject.schedule(subject.settings[0], subject.models[0])
        same = np.array_equal(at.long.record.iteration, at.long.record.version)
        words = f"the iterations of {t.algorithm} are no server updates"
        expect(same, f"its {shown}, and {words}")


def _sources(t: Theorem) -> None:
    """Check that problem, delays, options or the algorithm's quantities give every built-in symbol that is read."""
    a: Algorithm[Any] = lookup("algorithms", t.algorithm)
    own = {*t.step, *t.core.read_as.values(), *t.settable, t.horizon_symbol, "n", "N"}
    own |= SYMBOLS.keys() ^ t.symbols.keys()
    missing = [name for name in t.inputs() if name not in own and not definers(name)]
    if not missing:
        return
    subject = Subject(a)
    settings = [{**subject.settings[0], **t.core.fixed}, *subject.settings]
    places = ((setting, model) for setting in settings for model in subject.models[:2])
    given = set[str]()
    for at in subject.runs(places):
        given |= at.quantities(int(at.long.version[-1])).keys()
        missing = [name for name in missing if name not in given]
        if not missing:
            return
    words = "which neither problems, delays and options give nor the quantities"
    found = ", ".join(sorted(given)) or "none"
    expect(False, f"it reads {', '.join(missing)}, {words} of {a.id}: {found}")


def _units(t: Theorem) -> None:
    """Check that no group of checks finds fault with units and scope; what a paper printed is as it is."""
    if t.of_paper:
        return
    for one in checked(t, ["units", "scope"]):
        expect(one.verdict != "failed", f"not so: {one.statement}; {one.witness}")


def _text(t: Theorem) -> None:
    """Check that what as_dict() shows is read back as the same formulas."""
    fields = t.as_dict()
    table = {name: info.symbol for name, info in t.symbols.items()}
    texts = {**fields["terms"], **fields["definitions"]}
    for name, expression in {**t.bound.expressions(), **t.rules()}.items():
        with about(f"{name} = {texts[name]} is not read back"):
            again = parse(texts[name], table, name)
        same = again == expression or (again - expression).equals(0) is not False
        expect(same, f"{name} = {texts[name]} is read back as {again}")


def _file(t: Theorem) -> None:
    """Check that the text of a theorem from a file is that theorem."""
    if not t.source:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "theorem.toml"
        path.write_text(t.source, encoding="utf-8")
        again = load_theorem(str(path))
    expected = t.as_dict()
    for name, value in replace(again, place=t.place).as_dict().items():
        expect(value == expected[name], f"{name} is {value!r} when its source is read, and {expected[name]!r}")


def _evaluates(t: Theorem) -> None:
    """Check that bound and steps are numbers where its conditions hold, among a few values, and steps can be taken."""
    a: Algorithm[Any] = lookup("algorithms", t.algorithm)
    for drawn in View(t).draws:
        values = drawn | ({"p_s": 1.0 - sum(drawn["p"])} if "p" in drawn else {})
        try:
            t.evaluate(values)
            steps = t.step_options({**values, t.horizon_symbol: _HORIZON})
        except (AssumptionError, InfiniteError):
            continue  # a condition does not hold there, or nothing is claimed
        except BoundlabError as error:
            raise AssertionError(f"it is not evaluated at {values}: {error}") from error
        with about(f"{a.id} does not take the steps {steps}"):
            a.read(Options(a.id, {**t.core.fixed, **steps}))
        return


_CHECKS: Mapping[str, Callable[[Theorem], None]] = {
    "what it names exists": _names,
    "its algorithm takes its options and steps": _options,
    "it counts what its metric counts": _counter,
    "every symbol has a source": _sources,
    "both sides have the same units": _units,
    "its formulas as text are read back": _text,
    "its file is read again": _file,
    "it is evaluated, and its steps are ones that the algorithm takes": _evaluates,
}
