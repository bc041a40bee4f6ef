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
    if core.fields["recursion"]:
        raise SpecError(f"{name}: a bound that is iterated numerically is no formula")
    return "\n".join(_lines(core, name)) + "\n"


def _lines(core: CoreStatement, name: str) -> Iterator[str]:
    fixed = {one.id: one.value for one in core.options if one.how == "fixed" and not isinstance(one.value, StepRule)}
    rules = "".join(f"*({one.value})" for one in core.options if isinstance(one.value, StepRule))
    free = {one.id: ANY for one in core.options if one.how == "open"}
    said = core.fields
    yield f"id = {_text(name)}"
    yield f"algorithm = {_text(said['algorithm'])}"
    if said["metric"] in choices(said["metric"]):
        yield f"metric = {_text(said['metric'])}"
    yield f"horizon = {_text(said['horizon'])}"
    yield f"first = {min(said['first'], 1)}"  # a left side that begins later says so itself
    yield f"shape = {'true' if said['shape'] else 'false'}"
    if about := _about(core):
        yield f"about = {_text(about)}"
    yield f"assumptions = {_list(name for name, how in core.assumptions.items() if how == 'named')}"
    yield f"settable = {_list(said['settable'])}"
    yield f"conditions = {_list(_condition(said, place) for place in range(len(said['conditions'])))}"
    if "assume" in said:
        yield from _table("assume", {own: _sum(one) for own, one in said["assume"]})
    if "points" in said:
        yield "[points]"
        yield from (f"{own} = {_list(words)}" for own, words in said["points"])
    for times, quantity, point in said.get("terms", ()):
        yield from _table("[left]", {"quantity": quantity, "point": point, "times": times["text"]})
    if said["metric"] not in choices(said["metric"]) and "terms" not in said:
        yield from _table("left", _left(said))
    yield from _table("options", {**fixed, **free})
    yield from _table("parameters", {one.id: one.symbol for one in core.options if one.symbol})
    step = {one: rule["text"] for one, rule in said["step"]}
    yield from _table("step", {**step, **({"alpha": f"({step['alpha']}){rules}"} if rules else {})})
    yield from _table("definitions", {one: rule["text"] for one, rule in said["definitions"]})
    yield from _table("terms", {one: rule["text"] for one, rule in said["right"]})
    if "growth" in said:
        yield "[growth]"
        yield f"in = {_list(said['growth'])}"
    yield "[generous]"
    yield from (f"{one} = {more}" for one, more in said["generous"])
    for one in said["symbols"]:
        if one["name"] not in SYMBOLS:
            own = {"meaning": one["name"], **{key: one[key] for key in ("domain", "side", "role")}}
            yield from _table(f"symbols.{one['name']}", own)
            yield f"units = [{', '.join(map(str, one['units']))}]"


def _condition(said: dict[str, Any], place: int) -> str:
    (left, right), sign = said["conditions"][place], "<" if place in said.get("strict", ()) else "<="
    return f"{left['text']} {sign} {right['text']}"


def _left(said: dict[str, Any]) -> dict[str, str]:
    """Return a left side that no metric is, as a file says it."""
    index = "seconds" if "in_seconds" in said else INDICES["K" if said["counter"] == "K" else "T"]
    found = {"quantity": said["quantity"], "over": said["aggregation"], "index": index}
    if said["weights"] is not None:
        found["weights"] = said["weights"]["text"]
    if said["over_models"] is not None:
        begin, end = said["over_models"]
        found |= {"from": begin["text"], "to": end["text"]}
    return found


def _about(core: CoreStatement) -> str:
    """Return what the file must say of the mean: nothing where an assumption says it, or where nothing is random."""
    hows = {one.how for one in core.over if one.id not in _ALWAYS} - {"absent"}
    if not hows or about_the_mean(core.assumptions):
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


def _sum(coefficients: list[tuple[str, Any]]) -> str:
    """Return an inequality that holds at every x, as [assume] has it."""
    terms = (f"({rule['text']})*{name}" if name else f"({rule['text']})" for name, rule in coefficients)
    return f"{' + '.join(terms)} >= 0"
