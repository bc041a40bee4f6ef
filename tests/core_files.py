"""Core statements as files that elaborate to them again: the language of files says all that a statement holds."""

from collections.abc import Iterator
from typing import Any

from boundlab.algorithms import StepRule
from boundlab.assumptions import about_the_mean
from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.metrics import INDICES, choices
from boundlab.theorems import ANY, CoreStatement

_ALWAYS = {"noise", "batches"}


def as_toml(core: CoreStatement, name: str = "core") -> str:
    """Return a file that elaborates to the statement.

    Parameters
    ----------
    name
        The id of the theorem that the file is about.

    Raises
    ------
    SpecError
        If what is iterated numerically stands in place of terms: its file names it.
    """
    if core.recursion:
        raise SpecError(f"{name}: a bound that is iterated numerically is no formula")
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
    return "each schedule" if "given" in hows else "the mean"


def _table(name: str, entries: dict[str, str]) -> Iterator[str]:
    yield f"[{name}]"
    yield from (f"{_text(key)} = {_text(value)}" for key, value in entries.items())


def _list(entries: Any) -> str:
    return f"[{', '.join(map(_text, entries))}]"


def _text(value: str) -> str:
    """Return a text as TOML writes it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _sum(coefficients: tuple[tuple[str, Any], ...]) -> str:
    """Return an inequality that holds at every x, as [assume] has it."""
    return f"{' + '.join(f'({rule.text})*{name}' if name else f'({rule.text})' for name, rule in coefficients)} >= 0"
