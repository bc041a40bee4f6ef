"""A core statement in words."""

from collections.abc import Iterator
from typing import Any

from boundlab.metrics import choices, metric
from boundlab.theorems._core import CoreStatement, Formula
from boundlab.theorems._options import Option
from boundlab.theorems._points import places


def words_of_core(core: CoreStatement) -> list[str]:
    """Return the statement in lines, everything that it says in every one of its fields."""
    return [
        f"For {core.algorithm}{_listed(' with ', map(_option, core.options))};",
        f"minimised and measured is {core.objective};",
        *_problems(core),
        *(f"assuming {name} at every x: {_sum(one)};" for name, one in core.assume),
        *(f"where {name} bounds gradients {places(words)} alone;" for name, words in core.points),
        *_sources(core),
        *_readings(core),
        f"for {_runs(core)},{_listed(' with ', (f'{name} = {_formula(rule)}' for name, rule in core.step))}:",
        f"    {_expectation(core)}  {'= O of' if core.shape else '≤'}  {_right(core)}",
        *(f"where {name} = {_formula(rule)}" for name, rule in core.definitions),
        *(
            f"if {_formula(left)} {sign.replace('<=', '≤')} {_formula(right)}"
            for left, sign, right in core.inequalities
        ),
        *(f"{one.name}: {one.domain}, {one.role}, {one.side}, from {one.of}" for one in core.symbols),
        f"core {core.sha256}",
    ]


def _listed(head: str, parts: Any) -> str:
    found = ", ".join(parts)
    return f"{head}{found}" if found else ""


def _option(one: Option) -> str:
    said = f" = {one.value}" if one.how == "fixed" else ""
    if one.how == "default":
        said = f" = {one.value} (default)" if one.value else " at its default"
    more = {"open": "any ", "symbol": "any "}.get(one.how, "")
    about = {"step": " as the statement sets it", "unused": " unused"}.get(one.how, "")
    return f"{more}{one.id}{said}{about}" + (f", read as {one.symbol}" if one.symbol else "")


def _problems(core: CoreStatement) -> Iterator[str]:
    for how, head in (("named", "for every problem and run with"), ("implied", "so with"), ("default", "by default")):
        found = ", ".join(one.id for one in core.assumptions if one.how == how)
        if found:
            yield f"{head} {found};"


def _sources(core: CoreStatement) -> Iterator[str]:
    for how, head in (("averaged", "the mean is over"), ("given", "for each outcome of"), ("absent", "without")):
        found = ", ".join(one.words for one in core.over if one.how == how)
        if found:
            yield f"{head} {found};"


def _readings(core: CoreStatement) -> Iterator[str]:
    if core.settable:
        yield f"{', '.join(core.settable)} may be set instead;"
    if core.growth:
        yield f"the unknown constants are the same for all {', '.join(core.growth)};"
    for name, more in core.generous:
        yield f"{name} may be counted larger, by {more};"


def _runs(core: CoreStatement) -> str:
    if core.in_seconds:
        return f"{core.counter} the last update that ends within seconds, {core.counter} ≥ {core.first}"
    if core.horizon == "every":
        return f"every {core.counter} ≥ {core.first}"
    return f"the one {core.counter} ≥ {core.first} that the step is chosen for"


def _expectation(core: CoreStatement) -> str:
    return metric(core.metric).expectation if core.metric in choices(core.metric) else f"E {core.metric}"


def _right(core: CoreStatement) -> str:
    return " + ".join(_formula(term) for _, term in core.right) or core.recursion


def _sum(coefficients: tuple[tuple[str, Formula], ...]) -> str:
    """Return an inequality that holds at every x, as [assume] has it."""
    return f"{' + '.join(f'({rule.text})*{name}' if name else f'({rule.text})' for name, rule in coefficients)} >= 0"


def _formula(one: Formula) -> str:
    return f"{one.text} (defined where {', '.join(one.where)})" if one.where else one.text
