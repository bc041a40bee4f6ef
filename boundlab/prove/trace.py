"""A proof as a file, for ``prove FILE --recheck``: every fact that a step rests on, and how it was made."""

import functools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from boundlab.classes import described
from boundlab.errors import SpecError
from boundlab.prove import _terms as lines
from boundlab.prove._kernel import Kernel, exponential, further
from boundlab.prove._scalars import REFUSED, ProofError, symbol_dict
from boundlab.prove._terms import Context, Expr, Law, Lin, Shared
from boundlab.prove._writing import with_points as with_points
from boundlab.prove.document import (
    Outcome,
    allowed_axioms,
    letters_in,
    make_sure_there_are_runs,
    meanings,
    statement as claim_of,
)
from boundlab.prove.setting import Setting
from boundlab.prove.settings import setting_of
from boundlab.recheck import Finding, events, kernel as read, recheck_loaded
from boundlab.registry import registered
from boundlab.theorems import Theorem, core

SCHEMA = "boundlab proof 2"
DECLARING = ("name", "root", "define", "name family")


def write_trace(outcome: Outcome) -> str:
    """Return a proof as JSON text: the same text for the same proof.

    Parameters
    ----------
    outcome
        What came of it; steps that are not proved stand there as claimed.
    """
    return json.dumps(trace(outcome), ensure_ascii=False, indent=None, separators=(",", ":"), sort_keys=True) + "\n"


def trace(outcome: Outcome) -> dict[str, Any]:
    """Return what :func:`write_trace` writes."""
    read.begin()  # a proof that has run out of steps is written all the same
    kernel = outcome.kernel
    theorem = None if outcome.setting is None else outcome.setting.theorem
    stated = None if theorem is None else core(theorem)
    facts = reachable(outcome)
    contexts = _contexts(kernel, facts)
    numbers = {context: number for number, context in enumerate(contexts)}
    place = {fact.number: number for number, fact in enumerate(facts)}
    laws = list(dict.fromkeys(one for fact in facts for one in fact.data.values() if isinstance(one, Law)))
    at = lines.Places(place.__getitem__, numbers.__getitem__, laws.index)
    defining = {fact.data["name"]: place[fact.number] for fact in facts if fact.rule in DECLARING}
    return {
        "schema": SCHEMA,
        "proof": outcome.script.id,
        "theorem": "" if theorem is None else theorem.id,
        "statement": None if stated is None else stated.fields,
        "sha256": None if stated is None else stated.sha256,
        **declared(kernel, outcome.setting),
        "symbols": [symbol(kernel, kernel.context, name, defining) for name in kernel.context.order()],
        "laws": [one.told for one in laws],
        "contexts": [_origin(kernel, one, numbers, place, defining) for one in contexts],
        "facts": [
            lines.line_of(fact.rule, fact.context, fact.premises, fact.data, lines.spoken(fact), at) for fact in facts
        ],
        "steps": [
            {"name": one.name, "status": one.status.value, "fact": None if one.fact is None else place[one.fact.number]}
            for one in outcome.steps
        ],
        "conclusions": [place[one.number] for one in kernel.concluded],
    }


def declared(kernel: Kernel, setting: Setting | None) -> dict[str, Any]:
    """Return what a setting declares beside symbols: vectors, what they are gradients of, and the problem.

    Indices of vectors are @0, @1 and so on; @i is the client of whose function the weight is.
    """
    return {
        "problem": None if setting is None else setting.problem(),
        "parameters": sorted(kernel.parameters),
        "vectors": dict(sorted(kernel.replay.vectors.items())),
        "functions": dict(sorted(kernel.replay.functions.items())),
        "slopes": dict(sorted(kernel.replay.raw["slopes"].items())),
    }


def reachable(outcome: Outcome) -> list[Shared]:
    """Return the facts that steps rest on, and those that say what named numbers are, in the order they were made."""
    kernel = outcome.kernel
    ends: list[Shared] = [one.fact for one in outcome.steps if one.fact is not None]
    return behind([*ends, *kernel.concluded, *(fact for fact in kernel.facts if fact.rule in DECLARING)])


def behind(ends: Iterable[Shared]) -> list[Shared]:
    """Return facts with all that they follow from, hypotheses among them, in the order they were made."""
    found: dict[int, Shared] = {}
    stack = [*ends]
    while stack:
        fact = stack.pop()
        if fact.number in found:
            continue
        found[fact.number] = fact
        stack += [*fact.premises, *further(fact.data)]
        for context in fact.context.chain():
            if context.supposed is not None:
                stack.append(context.supposed)
    return [found[number] for number in sorted(found)]


def _contexts(kernel: Kernel, facts: Iterable[Shared]) -> list[Context]:
    found = [kernel.context]
    for fact in facts:
        found += [one for one in reversed(fact.context.chain()) if one not in found]
    return found


def _origin(
    kernel: Kernel,
    context: Context,
    numbers: Mapping[Context, int],
    place: Mapping[int, int],
    defining: Mapping[str, int],
) -> dict[str, Any]:
    if context.parent is None:
        return {"kind": "root"}
    found: dict[str, Any] = kernel.replay.raw["contexts"][context.number] | {"parent": numbers[context.parent]}
    above = set(context.parent.order())
    if own := [symbol(kernel, context, one, defining) for one in context.order() if one not in above]:
        found["symbols"] = own
    return found if context.supposed is None else found | {"fact": place[context.supposed.number]}


def symbol(kernel: Kernel, context: Context, name: str, defining: Mapping[str, int]) -> dict[str, Any]:
    """Return the declaration of a symbol in a case."""
    own = context.find(name)
    assert own is not None  # noqa: S101  (it stands in the context's order)
    return symbol_dict(name, own, defining.get(name), kernel.exponents.get(name))


# Whether a proof file speaks of the theorem that it names: what its setting answers for is made anew, and compared.
#
# The checker (:mod:`boundlab.recheck`) knows nothing of theorems and of algorithms. Here the setting is made from
# the theorem itself; what the file declares of symbols and vectors, and each of its lines on moves and schedules, has
# to
# be what that setting says, and its conclusion what the theorem claims.

_NOWHERE = lines.Places(lambda one: one, id, id)  # what declares a symbol is made of numbers alone


def second_opinion(outcome: Outcome) -> Finding:
    """Return what the checker says of a proof, with the setting that its theorem has."""
    raw = json.loads(write_trace(outcome))
    found = recheck_loaded(raw)
    return found if outcome.setting is None else with_setting(raw, found, outcome.setting.theorem)


def registered_theorem(raw: Mapping[str, Any]) -> Theorem | None:
    """Return the registered theorem that a file names, None where there is none of that name."""
    theorems: Mapping[str, Theorem] = registered("theorems")
    return theorems.get(str(raw.get("theorem")))


def with_setting(raw: Mapping[str, Any], found: Finding, theorem: Theorem) -> Finding:
    """Return a finding about a file with what the setting of its theorem answers for.

    Parameters
    ----------
    raw
        The file, of which ``found`` says that no line is wrong.
    theorem
        What it says that it proves.
    """
    if not found.right:
        return found
    made = 0
    try:
        one = _Bound(raw, found, theorem)
        wrong = tuple(dict.fromkeys(one.differences()))
        made = one.made_anew
    except (SpecError, *REFUSED) as error:
        wrong = (f"the setting of {theorem.id}: {error}",)
    return replace(
        found,
        reason=f"{theorem.id}: {found.reason}",
        setting=(),
        trusted=(*found.trusted, *wrong),
        checked=found.checked + made,
    )


class _Bound:
    """A file, and the setting of the theorem that it names."""

    def __init__(self, raw: Mapping[str, Any], found: Finding, theorem: Theorem) -> None:
        self.raw, self.found, self.theorem = raw, found, theorem
        self.setting: Setting = setting_of(theorem)
        self.kernel = self.setting.kernel
        self.made_anew = 0  # how many axioms that the checker cannot make
        self._cases: dict[int, Context] = {0: self.setting.context}
        self._parts: dict[tuple[int, str, str], tuple[Context, Context]] = {}

    def differences(self) -> Iterator[str]:
        """Yield what the setting does not say, in words, each with its name."""
        stated = _plain(core(self.theorem).fields)
        if other := [name for name in stated if stated[name] != self.raw["statement"].get(name)]:
            yield f"the statement: {', '.join(other)} of {self.theorem.id} read otherwise"
            return
        yield from self._symbols()
        yield from self._lines()
        own = _plain(declared(self.kernel, self.setting))
        yield from (f"{name}: {self.theorem.id} has others" for name in own if own[name] != self.raw.get(name))
        yield from self._conclusions()

    # ------------------------------------------------------------------ symbols

    def _symbols(self) -> Iterator[str]:
        """Compare the symbols of the theorem, and declare those of the proof."""
        facts = {fact.data["name"]: fact for fact in self.kernel.facts if fact.rule in DECLARING}
        names, every = self.setting.context.order(), {one["name"]: one for one in self.raw["symbols"]}
        self.made = [fact for fact in self.kernel.facts if fact.rule == "axiom"]
        for name in names:
            listed = every.pop(name, {})
            own = _plain(symbol(self.kernel, self.setting.context, name, {}))
            if {**listed, "by": None} != own:
                yield f"the symbol {name}: its range is another one"
            elif name in facts:
                line = self._line(listed.get("by"))
                if line.get("rule") != facts[name].rule or line.get("data") != _plain(
                    lines.data_of(facts[name].data, _NOWHERE)
                ):
                    yield f"the symbol {name}: it is another number"
            elif listed.get("by") is not None:
                yield f"the symbol {name}: it has a value"
        self.setting.close()
        known = set(self.setting.context.order()) - set(names)
        yield from self._declare(every.values(), self.setting.context, known)

    def _declare(self, listed: Any, context: Context, known: set[str]) -> Iterator[str]:
        """Declare symbols of the proof as the file does."""
        for raw in listed:
            name = raw["name"]
            line = self._line(raw["by"])
            if name in known:
                if _plain(symbol(self.kernel, context, name, {})) != raw:
                    yield f"the symbol {name}: its range is another one"
            elif line.get("rule") == "name":
                self.kernel.name(name, _exact(line["data"]["value"]), read.range_of(raw, name), context)
            elif line.get("rule") == "root":
                self.kernel.root(name, _exact(line["data"]["value"]), context)
            elif raw.get("exponent") is not None and not raw["arity"]:
                exponential(self.kernel, name, _exact(raw["exponent"]))
            else:
                context.declare(name, read.range_of(raw, name))

    def _line(self, place: Any) -> Mapping[str, Any]:
        found: Mapping[str, Any] = {} if place is None else self.raw["facts"][place]
        return found

    def case(self, place: int) -> Context:
        """Return one case of the file, of the setting's own symbols.

        Raises
        ------
        ProofError
            If it is the context of a hypothesis.
        """
        if place not in self._cases:
            if not (isinstance(place, int) and 0 <= place < len(self.raw["contexts"])):
                raise ProofError(f"the file has no context {place!r}")
            own = self.raw["contexts"][place]
            if own["kind"] != "split":
                raise ProofError("a line of the setting stands in a hypothesis")
            key = own["parent"], own["name"], json.dumps(own["at"])
            if key not in self._parts:
                self._parts[key] = self.kernel.split(own["name"], _exact(own["at"]), self.case(own["parent"]))
            self._cases[place] = self._parts[key][own["which"]]
            for why in self._declare(own.get("symbols", ()), self._cases[place], set()):
                raise ProofError(why)
        return self._cases[place]

    # ------------------------------------------------------------------ lines

    def _lines(self) -> Iterator[str]:
        for place, line in enumerate(self.raw["facts"]):
            rule, data = line["rule"], line["data"]
            name = {"axiom": data.get("schema"), "mixture": "the law of events", "orthogonal": "unbiased"}.get(rule)
            if name is None:
                continue
            try:
                right = self._as_said(rule, data, line)
            except (*REFUSED, TypeError) as error:
                yield f"{name}, fact {place}: {error}"
                continue
            self.made_anew += right and rule == "axiom" and data["schema"] not in read.SCHEMAS
            if not right:
                yield f"{name}, fact {place}: the setting of {self.theorem.id} says something else"

    def _as_said(self, rule: str, data: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
        if rule == "mixture":
            law = self.raw["laws"][data["law"]]
            own = getattr(self.setting, "law", None)
            return own is not None and _plain(own.told) == law and sorted(own.axioms) == line["axioms"]
        if rule == "orthogonal":
            return self._made("unbiased", [["vector", data[key]] for key in ("noise", "other")], line, "orthogonal")
        if data["schema"] == "setting":
            [[_, which]] = data["args"]
            return 0 <= which < len(self.made) and self._same(self.made[which], line)
        # Files of 0.5 name the class of a setting before the dot, and a word of a sentence as its first argument.
        name, args = data["schema"].rpartition(".")[2], data["args"]
        if args and args[0][0] == "word" and (worded := f"{name} {args[0][1]}") in self.setting.sentences.said:
            name, args = worded, args[1:]
        return self._made(name, args, line, "axiom")

    def _made(self, name: str, args: Any, line: Mapping[str, Any], rule: str) -> bool:
        """Return whether the setting, asked as the file says, makes such a line."""
        given = [self._argument(*one) for one in args]
        before = len(self.kernel.facts)
        if name in self.setting.sentences.said:
            self.setting.sentences.cite(name, *given)
        else:
            method = getattr(type(self.setting), name, None)
            if method is None or not hasattr(method, "__wrapped__"):
                raise ProofError("the setting has no such line")
            method(self.setting, *given)
        return any(one.rule == rule and self._same(one, line) for one in self.kernel.facts[before:])

    def _same(self, fact: Shared, line: Mapping[str, Any]) -> bool:
        return self.case(line["context"]) is fact.context and _meaning(line) == _meaning(_plain(lines.spoken(fact)))

    def _argument(self, kind: str, own: Any) -> Any:
        """Return what a method of a setting was given."""
        match kind:
            case "number":
                return _exact(own)
            case "vector":
                return Lin(read.combination(own, "an argument", vectors=True))
            case "expression":
                return Expr(read.combination(own, "an argument"))
            case "case":
                return self.case(own)
            case "flag" | "whole" | "word" | "none":
                return own
        raise ProofError("an argument is of no known kind")

    # ------------------------------------------------------------------ what is concluded

    def _conclusions(self) -> Iterator[str]:
        allowed = allowed_axioms(self.setting)
        for place in self.raw["conclusions"]:
            line = self.raw["facts"][place]
            if more := sorted(set(line["axioms"]) - allowed):
                yield f"the conclusion: {self.theorem.id} does not assume {', '.join(more)}"
            wanted = functools.partial(claim_of, self.setting, self.case(line["context"]))
            # With its names first: where a symbol stands for a long formula, the other claim takes much work.
            said = ({"claim": _plain(lines.claim(wanted(short=short)))} for short in (True, False))
            if _meaning({"claim": line.get("claim")}) not in map(_meaning, said):
                yield f"the conclusion: it is not what {self.theorem.id} says"
        told = [*self.raw["symbols"], *(one for case in self.raw["contexts"] for one in case.get("symbols", ()))]
        valued = {one["name"] for one in told if one["by"] is not None or one.get("exponent")}
        if more := sorted(self.found.depends - self.setting.own_symbols - valued):
            yield f"the conclusion: it depends on {', '.join(more)}, which is no symbol of {self.theorem.id}"
        make_sure_there_are_runs(self.setting)


def _exact(raw: Any) -> read.Number:
    return read.number(raw, "a number")


def _meaning(said: Mapping[str, Any]) -> Any:
    """Return what a line says, and the axioms that it rests on, whichever way its numbers are written."""
    if said.get("claim") is not None:
        return said.get("axioms"), read.claim(said["claim"], "a claim")
    return said.get("axioms"), [read.combination(said.get(one), one, vectors=True) for one in ("left", "right")]


def _plain(value: Any) -> Any:
    """Return a value as it is read from a file."""
    return json.loads(json.dumps(value))


# All that a proof rests on: what its class of runs says, the assumptions that it uses, and the rules.

# Facts that say what a vector does, or what holds by assumption; all others follow by their rule.
_GIVEN = frozenset({"axiom", "orthogonal", "uncorrelated", "mixture"})


@final
@dataclass(frozen=True, slots=True)
class Foundations:
    """What must be believed.

    Parameters
    ----------
    runs
        The class of runs that the proof speaks of; empty where it is about numbers alone.
    axioms
        Each with the assumptions that it states.
    rules
        How often each is used.
    letters
        What the letters in the axioms stand for.
    symbols
        All of them that the conclusion depends on.
    """

    runs: str
    axioms: tuple[tuple[str, str], ...]
    rules: Mapping[str, int]
    letters: Mapping[str, str]
    symbols: tuple[str, ...]


def foundations(outcome: Outcome) -> Foundations:
    """Return what a proof rests on: its conclusion, or all its steps where it has none."""
    ends = outcome.ends
    used = behind(ends)
    given = {(", ".join(sorted(one.axioms)), _given(one)) for one in used if one.rule in _GIVEN and not one.premises}
    setting = outcome.setting
    return Foundations(
        "" if setting is None else described(setting.theorem.algorithm),
        tuple(sorted(given)),
        dict(Counter(one.rule for one in used if one.rule != "axiom").most_common()),
        letters_in((claim for _, claim in sorted(given)), meanings(outcome.kernel, setting)),
        tuple(dict.fromkeys(name for one in ends for name in one.context.order() if name in one.names)),
    )


def _given(fact: Shared) -> str:
    """Return what a fact says that must be believed: where an event is drawn, the law that says so."""
    law: Law | None = fact.data.get("law")
    if law is None:
        return str(fact)
    # Indices are parted by ; there, and so are sentences.
    return events.Law.read(law.told).words().replace("@", "").replace(";", ", ").replace(",  ", "; ")
