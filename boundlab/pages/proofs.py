"""Proofs as pages, and one step in full."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boundlab.errors import shortened
from boundlab.pages.blocks import GAP, Block, Line, Rows, Tone, Words, line, table, tone_of, words
from boundlab.prove import Context, Fact, Outcome, Scalar, Status, Step, VectorFact, letters
from boundlab.prove.trace import foundations
from boundlab.verdict import ExitCode

# Of a claim in the table; the whole of it is shown with the step.
_LONGEST = 240
_TONES: dict[ExitCode, Tone] = {ExitCode.STANDS: "good", ExitCode.REFUTED: "bad"}


# ---------------------------------------------------------------------- pages


def proofs_page(outcomes: Sequence[Outcome]) -> list[Block]:
    """Return a line for each proof."""
    return [table("", ("proof", "verdict", "steps", "s"), map(_proof, outcomes))]


def _proof(outcome: Outcome) -> tuple[str | Line, ...]:
    proved = sum(step.status is Status.PROVED for step in outcome.steps)
    seconds = sum(step.seconds for step in outcome.steps)
    return outcome.script.id, _verdict(outcome), f"{proved} of {len(outcome.steps)} proved", f"{seconds:.1f}"


def _verdict(outcome: Outcome, more: str = "") -> Line:
    return line((outcome.verdict + more, _TONES.get(outcome.exit_code, "open")))


def proof_page(outcome: Outcome) -> list[Block]:
    """Return the table of a proof's steps, what it rests on, what is open, and its verdict."""
    script = outcome.script
    what = f": {script.proves}" if script.proves and outcome.proved else ""
    return [
        words(f"{script.id}: {script.summary}\n{script.source}"),
        GAP,
        _steps(outcome),
        GAP,
        *(words(one) for one in (*_rests_on(outcome), *_open(outcome))),
        Words(_verdict(outcome, what)),
    ]


def _steps(outcome: Outcome) -> Rows:
    rows = []
    for step in outcome.steps:
        place = f" ({step.at})" if step.at and step.at not in step.name else ""
        claim = shortened(step.says, _LONGEST)
        how = step.how if not step.unshown else f"meant: {step.means}" if step.means else ""
        verdict = line((step.status.value, tone_of(step.status.value)))
        # Below its name a claim has the width of a line, on a narrow screen too.
        below = f"\n  {claim}" if step.says != step.name else ""
        rows.append((line((step.name + place, "strong"), below), verdict, how, f"{step.seconds:.1f}"))
    return table("", ("step, and its claim", "verdict", "how", "s"), rows)


def _rests_on(outcome: Outcome) -> Iterator[str]:
    yield f"assumptions used: {', '.join(outcome.assumptions) or 'none'}"
    if any(len(step.says) > _LONGEST for step in outcome.steps):
        yield "… shortened lines: --step NAME shows them in full"


def _open(outcome: Outcome) -> Iterator[str]:
    derived = outcome.hanging
    found = [step for step in outcome.steps if step.unshown]
    for step in found:
        below = ", ".join(derived[step.name]) or ("nothing, it is misprinted" if step.means else "nothing")
        yield f"{step.name} ({step.status.value}): {step.how}\n  steps that depend on it: {below}"
    if found and (known := letters(outcome, *found)):
        yield "the letters in these steps:\n" + "\n".join(f"  {one}: {meaning}" for one, meaning in known.items())
    if found and outcome.unlike:
        yield f"the theorem of these steps states more; yours may need it, too: {'; '.join(outcome.unlike)}"


def axioms_page(outcome: Outcome) -> list[Block]:
    """Return what must be believed of a proof: its class of runs, each axiom that is used, and the rules."""
    found = foundations(outcome)
    return [
        words(f"{outcome.script.id}: {outcome.script.summary}"),
        *([words(found.runs)] if found.runs else []),
        GAP,
        table("", ("by", "axiom"), found.axioms),
        GAP,
        *(words(f"where {one}: {meaning}") for one, meaning in found.letters.items()),
        words("rules: " + ", ".join(f"{rule} {count}" for rule, count in found.rules.items())),
        words(f"for all values of {', '.join(found.symbols)} in their ranges" if found.symbols else "of numbers alone"),
        GAP,
        Words(_verdict(outcome)),
    ]


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
    if step.fact is None or step.unshown:
        yield f"  steps that depend on it: {', '.join(outcome.hanging.get(step.name, [])) or 'nothing'}"
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
    found: dict[str, Any] = step.as_dict()
    fact = step.fact if not step.unshown else None
    if fact is None:
        return found
    places = {one.fact.number: one.name for one in outcome.steps if one.fact is not None and one is not step}
    multipliers = fact.data.get("multipliers", ())
    more = [value for value in fact.data.values() if isinstance(value, Fact)]
    found["rule"] = fact.rule
    found["from"] = [
        {
            **({"multiplier": str(multipliers[place])} if place < len(multipliers) else {}),
            "rule": one.rule,
            "step": places.get(one.number, ""),
            "says": str(one),
        }
        for place, one in enumerate((*fact.premises, *more))
        if isinstance(one, (Fact, VectorFact))
    ]
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
