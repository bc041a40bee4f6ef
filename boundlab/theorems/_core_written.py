"""A core statement in words, and as a file that elaborates to it again."""

from collections.abc import Iterator
from typing import Any

from boundlab.algorithms import StepRule
from boundlab.assumptions import about_the_mean
from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.metrics import INDICES, choices, metric
from boundlab.theorems._core import CoreStatement, Formula
from boundlab.theorems._options import Option
from boundlab.theorems._points import places
from boundlab.theorems._statement import ANY, EACH, MEAN

_ALWAYS = {"noise", "batches"}


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


def as_toml(core: CoreStatement, name: str = "core") -> str:
    """Return a file that elaborates to the statement.

    Parameters
    ----------
    name
        The id of the theorem that the file is about.

    Raises
    ------
    SpecError
        If no file can say it: what is iterated numerically has no formula.
    """
    if core.recursion:
        raise SpecError(f"{name}: a bound that is iterated numerically is no formula, and no file can hold it")
    return "\n".join(_lines(core, name)) + "\n"


def _lines(core: CoreStatement, name: str) -> Iterator[str]:
    fixed = {one.id: one.value for one in core.options if one.how == "fixed" and not isinstance(one.value, StepRule)}
    rules = "".join(f"*({one.value})" for one in core.options if isinstance(one.value, StepRule))
    free = {one.id: ANY for one in core.options if one.how == "open"}
    yield f"id = {_text(name)}"
    yield f"algorithm = {_text(core.algorithm)}"
    if core.metric in choices(core.metric):
        yield f"metric = {_text(core.metric)}"
    yield f"horizon = {_text(core.horizon)}"
    yield f"first = {min(core.first, 1)}"  # a left side that begins later says so itself
    yield f"shape = {'true' if core.shape else 'false'}"
    if about := _about(core):
        yield f"about = {_text(about)}"
    yield f"assumptions = {_list(one.id for one in core.assumptions if one.how == 'named')}"
    yield f"settable = {_list(core.settable)}"
    yield f"conditions = {_list(f'{left.text} {sign} {right.text}' for left, sign, right in core.inequalities)}"
    if core.assume:
        yield from _table("assume", {own: _sum(one) for own, one in core.assume})
    if core.points:
        yield "[points]"
        yield from (f"{own} = {_list(words)}" for own, words in core.points)
    for times, quantity, point in core.terms:
        yield from _table("[left]", {"quantity": quantity, "point": point, "times": times.text})
    if core.metric not in choices(core.metric) and not core.terms:
        yield from _table("left", _left(core))
    yield from _table("options", {**fixed, **free})
    yield from _table("parameters", {one.id: one.symbol for one in core.options if one.symbol})
    step = {one: rule.text for one, rule in core.step}
    yield from _table("step", {**step, **({"alpha": f"({step['alpha']}){rules}"} if rules else {})})
    yield from _table("definitions", {one: rule.text for one, rule in core.definitions})
    yield from _table("terms", {one: rule.text for one, rule in core.right})
    if core.growth:
        yield "[growth]"
        yield f"in = {_list(core.growth)}"
    yield "[generous]"
    yield from (f"{one} = {more}" for one, more in core.generous)
    for one in core.symbols:
        if one.name not in SYMBOLS:
            own = {"meaning": one.name, "domain": one.domain, "side": one.side, "role": one.role}
            yield from _table(f"symbols.{one.name}", own)
            yield f"units = [{', '.join(map(str, one.units))}]"


def _left(core: CoreStatement) -> dict[str, str]:
    """Return a left side that no metric is, as a file says it."""
    index = "seconds" if core.in_seconds else INDICES["K" if core.counter == "K" else "T"]
    found = {"quantity": core.quantity, "over": core.aggregation, "index": index}
    if core.weights is not None:
        found["weights"] = core.weights.text
    if core.over_models is not None:
        found |= {"from": core.over_models[0].text, "to": core.over_models[1].text}
    return found


def _about(core: CoreStatement) -> str:
    """Return what the file must say of the mean: nothing where an assumption says it, or where nothing is random."""
    hows = {one.how for one in core.over if one.id not in _ALWAYS} - {"absent"}
    if not hows or about_the_mean(one.id for one in core.assumptions):
        return ""
    return EACH if "given" in hows else MEAN


def _table(name: str, entries: dict[str, str]) -> Iterator[str]:
    yield f"[{name}]"
    yield from (f"{_text(key)} = {_text(value)}" for key, value in entries.items())


def _list(entries: Any) -> str:
    return f"[{', '.join(map(_text, entries))}]"


def _text(value: str) -> str:
    """Return a text as TOML writes it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
