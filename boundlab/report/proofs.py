"""Proofs as tables, pages and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from boundlab.files import schema
from boundlab.prove import Context, Fact, Outcome, Scalar, Status, Step, VectorFact, letters
from boundlab.verdict import ExitCode

_STYLE = {
    Status.PROVED: "green",
    Status.FOLLOWS: "yellow",
    Status.REFUTED: "bold red",
    Status.DOES_NOT_FOLLOW: "bold yellow",
    Status.UNPROVED: "bold yellow",
    Status.REMARK: "dim",
}
# Of a claim in the table; the whole of it is shown with the step.
_LONGEST = 240
_OPEN = (Status.REFUTED, Status.DOES_NOT_FOLLOW, Status.UNPROVED)


def ending(outcome: Outcome) -> tuple[str, ExitCode]:
    """Return what a proof amounts to, in words and as an exit code."""
    if outcome.proved:
        return outcome.verdict, ExitCode.STANDS
    refuted = any(step.status is Status.REFUTED for step in outcome.steps)
    return outcome.verdict, ExitCode.REFUTED if refuted else ExitCode.UNDECIDED


def worst(codes: Sequence[ExitCode]) -> ExitCode:
    """Return how a command about several proofs ends."""
    return next((code for code in (ExitCode.REFUTED, ExitCode.UNDECIDED) if code in codes), ExitCode.STANDS)


def assumptions(outcome: Outcome) -> list[str]:
    """Return what a proof rests on: its conclusion, or all its steps where it has none."""
    steps = outcome.steps if outcome.conclusion is None else (outcome.conclusion,)
    every = {axiom for step in steps if step.fact is not None for axiom in step.fact.axioms}
    return sorted(axiom for axiom in every if not axiom.startswith("step "))


def hanging(outcome: Outcome) -> dict[str, list[str]]:
    """Return, for each step that is not proved, the steps that are derived from it."""
    return {
        step.name: [other.name for other in outcome.steps if step.name in other.rests_on]
        for step in outcome.steps
        if step.status in _OPEN
    }


# ---------------------------------------------------------------------- tables


def proofs_table(outcomes: Sequence[Outcome]) -> Table:
    """Return a line for each proof."""
    table = _table("proof", "verdict", "steps", "s")
    for outcome in outcomes:
        word, code = ending(outcome)
        style = {ExitCode.STANDS: "green", ExitCode.REFUTED: "bold red"}.get(code, "bold yellow")
        proved = sum(step.status is Status.PROVED for step in outcome.steps)
        seconds = sum(step.seconds for step in outcome.steps)
        table.add_row(
            outcome.script.id, Text(word, style), f"{proved} of {len(outcome.steps)} proved", f"{seconds:.1f}"
        )
    return table


def steps_page(outcome: Outcome) -> Iterator[Any]:
    """Yield the table of a proof's steps, what it rests on, what is open, and its verdict."""
    script = outcome.script
    yield Text(f"{script.id}: {script.summary}\n{script.source}\n")
    table = _table("step, and its claim", "verdict", "how", "s")
    for step in outcome.steps:
        place = f" ({step.at})" if step.at and step.at not in step.name else ""
        claim = step.says if len(step.says) <= _LONGEST else f"{step.says[:_LONGEST]}…"
        how = step.how if step.status not in _OPEN else ""
        verdict = Text(step.status.value, _STYLE[step.status])
        # Below its name a claim has the width of a line, on a narrow screen too.
        lines = [Padding(Text(claim), (0, 0, 0, 2))] if step.says != step.name else []
        both = Group(Text(step.name + place, "bold"), *lines)
        table.add_row(both, verdict, how, f"{step.seconds:.1f}")
    yield table
    yield Text(f"\nassumptions used: {', '.join(assumptions(outcome)) or 'none'}")
    if any(len(step.says) > _LONGEST for step in outcome.steps):
        yield Text("… what is cut short stands in full with its step: --step NAME")
    by_solver = [step.name for step in outcome.steps if step.by_solver]
    if by_solver:
        yield Text(f"with a sign that is known from z3 alone: {', '.join(by_solver)}")
    yield from _open(outcome)
    word, code = ending(outcome)
    what = f": {script.proves}" if script.proves and code == ExitCode.STANDS else ""
    yield Text(f"{word}{what}", {ExitCode.STANDS: "bold green", ExitCode.REFUTED: "bold red"}.get(code, "bold yellow"))


def _open(outcome: Outcome) -> Iterator[Text]:
    derived = hanging(outcome)
    found = [step for step in outcome.steps if step.status in _OPEN]
    for step in found:
        below = ", ".join(derived[step.name]) or "nothing"
        yield Text(f"{step.name} ({step.status.value}): {step.how}\n  on it hangs: {below}")
    if found and (known := letters(outcome, *found)):
        yield Text("the letters in these steps:\n" + "\n".join(f"  {one}: {meaning}" for one, meaning in known.items()))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


# ---------------------------------------------------------------------- one step in full


def step_page(outcome: Outcome, step: Step) -> Iterator[str]:
    """Yield the lines of one step: its claim, for which values, and the facts that it was shown from."""
    found = step_dict(outcome, step)
    yield f"{step.name}: {found['verdict']}" + (f" ({step.at})" if step.at else "")
    if step.says not in (step.name, found["claim"]):
        yield f"  {step.says}"
    if found["claim"]:
        yield f"  claim   {found['claim']}"
        if found["multiplied_out"] != found["claim"]:
            yield f"  that is {found['multiplied_out']}"
    for written, meaning in letters(outcome, step).items():
        yield f"  where   {written}: {meaning}"
    yield f"  how     {step.how}"
    if step.fact is None or step.status in _OPEN:
        yield f"  on it hangs: {', '.join(hanging(outcome).get(step.name, [])) or 'nothing'}"
        return
    yield f"  rests on {', '.join([*found['assumptions'], *found['rests_on']]) or 'no assumption'}"
    for one in found["from"]:
        where = f"step {one['step']}" if one["step"] else one["rule"]
        sign = f"{one['multiplier']}  times  " if "multiplier" in one else ""
        yield f"  from    {sign}[{where}] {one['says']}"
    if found["left_over"] not in (None, "0"):
        yield f"  and     {found['left_over']}, which is shown to be ≥ 0"
    for name, value in found["by"].items():
        yield f"  with    {name} = {value}"
    yield f"  for all {'; '.join(found['ranges']) or 'values: there is no symbol in it'}"


def step_dict(outcome: Outcome, step: Step) -> dict[str, Any]:
    """Return one step in full, as JSON."""
    found: dict[str, Any] = _row(step)
    fact = step.fact if step.status not in _OPEN else None
    if fact is None:
        return found
    places = {one.fact.number: one.name for one in outcome.steps if one.fact is not None and one is not step}
    multipliers = fact.data.get("multipliers", ())
    more = [value for value in fact.data.values() if isinstance(value, Fact)]
    found["rule"] = fact.rule
    found["from"] = [
        {
            **({"multiplier": str(multipliers[place])} if place < len(multipliers) else {}),
            "rule": one.rule, "step": places.get(one.number, ""), "says": str(one),
        }
        for place, one in enumerate((*fact.premises, *more))
        if isinstance(one, (Fact, VectorFact))
    ]  # fmt: skip
    rest = fact.data.get("rest")
    found["left_over"] = None if rest is None else str(rest)
    shown = {name: value for name, value in fact.data.items() if name not in ("multipliers", "rest", "schema")}
    found["by"] = {name: _words(value) for name, value in shown.items() if _words(value)}
    found["ranges"] = [_range(fact.context, name) for name in fact.context.order() if name in fact.names]
    return found


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} := {one}" for name, one in value.items())
    return str(value) if isinstance(value, (str, Scalar)) else ""


def _range(context: Context, name: str) -> str:
    own = context.find(name)
    if own is None:
        return name
    low = "" if own.low is None else f"{own.low} {'<' if own.above else '≤'} "
    high = "" if own.high is None else f" {'<' if own.below else '≤'} {own.high}"
    return f"{low}{name}{'[…]' if own.arity else ''}{high}{', whole' if own.integer else ''}"


# ---------------------------------------------------------------------- JSON


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """Return a proof as JSON; without times, so that two runs give the same."""
    script = outcome.script
    word, _ = ending(outcome)
    return {
        "schema": schema("decided-proof"),
        "id": script.id,
        "summary": script.summary,
        "source": script.source,
        "proves": script.proves,
        "printed": script.printed,
        "verdict": word,
        "assumptions": assumptions(outcome),
        "steps": [_row(step) for step in outcome.steps],
        "hanging": hanging(outcome),
        "letters": letters(outcome),
    }


def _row(step: Step) -> dict[str, Any]:
    used = () if step.fact is None else step.fact.axioms
    return {
        "name": step.name,
        "at": step.at,
        "says": step.says,
        "claim": "" if step.claim is None else str(step.claim),
        "multiplied_out": "" if step.claim is None else repr(step.claim),
        "verdict": step.status.value,
        "how": step.how,
        "by_solver": step.by_solver,
        "assumptions": sorted(axiom for axiom in used if not axiom.startswith("step ")),
        "rests_on": list(step.rests_on),
    }
