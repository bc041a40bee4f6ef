"""Proofs as pages and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boundlab.errors import shortened
from boundlab.files import schema
from boundlab.pages.blocks import GAP, Block, Line, Rows, Tone, Words, line, table, tone_of, words
from boundlab.prove import Context, Fact, Outcome, Scalar, Status, Step, VectorFact, letters
from boundlab.prove.trace import foundations
from boundlab.verdict import ExitCode

# Of a claim in the table; the whole of it is shown with the step.
_LONGEST = 240
_TONES: dict[ExitCode, Tone] = {ExitCode.STANDS: "good", ExitCode.REFUTED: "bad"}
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
    every = {axiom for fact in outcome.ends for axiom in fact.axioms}
    return sorted(axiom for axiom in every if not axiom.startswith("step "))


def hanging(outcome: Outcome) -> dict[str, list[str]]:
    """Return, for each step that is not proved, the steps that are derived from it."""
    return {
        step.name: [other.name for other in outcome.steps if step.name in other.rests_on]
        for step in outcome.steps
        if step.status in _OPEN
    }


# ---------------------------------------------------------------------- pages


def proofs_page(outcomes: Sequence[Outcome]) -> list[Block]:
    """Return a line for each proof."""
    return [table("", ("proof", "verdict", "steps", "s"), map(_proof, outcomes))]


def _proof(outcome: Outcome) -> tuple[str | Line, ...]:
    proved = sum(step.status is Status.PROVED for step in outcome.steps)
    seconds = sum(step.seconds for step in outcome.steps)
    return outcome.script.id, _verdict(outcome), f"{proved} of {len(outcome.steps)} proved", f"{seconds:.1f}"


def _verdict(outcome: Outcome, more: str = "") -> Line:
    word, code = ending(outcome)
    return line((word + more, _TONES.get(code, "open")))


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
        how = step.how if step.status not in _OPEN else f"meant: {step.means}" if step.means else ""
        verdict = line((step.status.value, tone_of(step.status.value)))
        # Below its name a claim has the width of a line, on a narrow screen too.
        below = f"\n  {claim}" if step.says != step.name else ""
        rows.append((line((step.name + place, "strong"), below), verdict, how, f"{step.seconds:.1f}"))
    return table("", ("step, and its claim", "verdict", "how", "s"), rows)


def _rests_on(outcome: Outcome) -> Iterator[str]:
    yield f"assumptions used: {', '.join(assumptions(outcome)) or 'none'}"
    if any(len(step.says) > _LONGEST for step in outcome.steps):
        yield "… shortened lines: --step NAME shows them in full"


def _open(outcome: Outcome) -> Iterator[str]:
    derived = hanging(outcome)
    found = [step for step in outcome.steps if step.status in _OPEN]
    for step in found:
        below = ", ".join(derived[step.name]) or ("nothing, it is misprinted" if step.means else "nothing")
        yield f"{step.name} ({step.status.value}): {step.how}\n  steps that depend on it: {below}"
    if found and (known := letters(outcome, *found)):
        yield "the letters in these steps:\n" + "\n".join(f"  {one}: {meaning}" for one, meaning in known.items())


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
    if step.fact is None or step.status in _OPEN:
        yield f"  steps that depend on it: {', '.join(hanging(outcome).get(step.name, [])) or 'nothing'}"
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
        "assumptions": sorted(axiom for axiom in used if not axiom.startswith("step ")),
        "rests_on": list(step.rests_on),
        "means": step.means,
    }
