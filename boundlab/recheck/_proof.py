"""Checks a proof file, and says what it takes for granted."""

from collections.abc import Iterable, Mapping
from typing import Any

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._forms import Finding, digest
from boundlab.recheck._name_rules import NAMES
from boundlab.recheck._numbers import NumberError, Symbol, TooMuchError, begin, of
from boundlab.recheck._problem_rules import PROBLEMS
from boundlab.recheck._replay import CLAIMED, Fact, Replay
from boundlab.recheck._rules import ALGEBRA, CHANCE, EQUATIONS, SUMS, law_of
from boundlab.recheck._terms import Context, Vec

RULES = {**ALGEBRA, **PROBLEMS, **NAMES, **EQUATIONS, **SUMS, **CHANCE}
_GIVEN = ("axiom", "claimed", "mixture", "orthogonal", "uncorrelated")
_FILE = (
    "schema",
    "proof",
    "theorem",
    "statement",
    "sha256",
    "problem",
    "symbols",
    "parameters",
    "vectors",
    "functions",
    "slopes",
    "laws",
    "contexts",
    "facts",
    "steps",
    "conclusions",
)
_STATUSES = ("proved", "follows", "refuted", "does not follow", "unproved", "remark")


def recheck_proof(raw: Mapping[str, Any]) -> Finding:
    """Check every fact of a proof file.

    Parameters
    ----------
    raw
        What stands in it.
    """
    try:
        begin()
        read.only(dict(raw), _FILE, "the file")
        _stated(raw)
        replay = Replay(dict(raw), RULES)
        if raw.get("statement") is not None or replay.vectors:
            replay.ask_setting("what is declared of symbols and vectors: ranges, parameters, gradients, clocks, draws")
        facts = list(replay.run())
        conclusions, what = _conclusions(replay, raw)
        told = tuple(_declared(replay))
    except (WrongError, NumberError) as error:
        return Finding(False, str(error), proof=True)
    except RecursionError:
        return Finding(False, "something in it is nested too deeply", proof=True)
    except TooMuchError as error:
        return Finding(True, f"it is not checked to its end: {error}", proof=True, trusted=("all that is left",))
    given = tuple(dict.fromkeys(one.replace(" + -", " - ") for one in _given(replay, facts, conclusions)))
    proof, theorem = (str(raw.get(key, ""))[:200] for key in ("proof", "theorem"))
    proof = f"the proof that the file calls {proof!r}"
    claim = f"{theorem}, by {proof}" if theorem else proof
    trusted, setting = (
        tuple(f"{what}, {count} times" if count > 1 else what for what, count in counted.items())
        for counted in (replay.trusted, replay.setting)
    )
    depends = frozenset[str]().union(*(one.names for one in conclusions))
    checked = len(facts) - len(replay.unchecked)
    return Finding(
        True,
        what.replace(" + -", " - "),
        given,
        checked,
        claim,
        tuple(replay.root.left),
        proof=True,
        trusted=trusted,
        setting=setting,
        depends=depends,
        declared=told,
    )


def _stated(raw: Mapping[str, Any]) -> None:
    """Make sure that the statement of the theorem which the file names has the hash that it says."""
    if raw.get("statement") is None:
        if raw.get("theorem") or raw.get("sha256"):
            raise WrongError("a theorem is named, and not stated")
        return
    statement = read.as_dict(raw["statement"], "statement")
    if not raw.get("theorem"):
        raise WrongError("a theorem is stated, and not named")
    if digest(statement) != raw.get("sha256"):
        raise WrongError("the statement has another hash")


def _conclusions(replay: Replay, raw: Mapping[str, Any]) -> tuple[list[Fact], str]:
    """Return the facts that make up the theorem, and what they say; raises if a case is missing."""
    names: set[str] = set()
    for one in read.as_list(raw.get("steps"), "steps"):
        step = read.only(read.as_dict(one, "a step"), ("name", "status", "fact"), "a step")
        name, status = step.get("name"), step.get("status")
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or status not in _STATUSES:
            raise WrongError("a step has a name and a status")
        if name in names:
            raise WrongError(f"two steps are called {name[:80]!r}")
        names.add(name)
        fact = None if step.get("fact") is None else replay.fact(step["fact"], "a step")
        open_ones = [] if fact is None else [axiom for axiom in fact.axioms if axiom.startswith(CLAIMED)]
        if status == "proved" and (fact is None or open_ones):
            raise WrongError(f"the step {name[:80]!r} is called proved, and rests on what is not")
        if status not in ("proved", "remark") and (fact is None or fact.rule != "claimed"):
            said = "it has no fact" if fact is None else fact.text()
            replay.trust(f"the step that the file calls {name[:80]!r}, which is not proved: {said}")
    found = [replay.fact(one, "a conclusion") for one in read.as_list(raw.get("conclusions"), "conclusions")]
    if len(set(raw["conclusions"])) < len(found):
        raise WrongError("a conclusion stands twice")
    if not found:
        if raw.get("theorem"):
            replay.trust(f"{str(raw['theorem'])[:80]}: nothing is concluded")
        return [], f"{len(replay.facts)} facts follow from what is given"
    _cover(replay, found)
    return found, "; ".join(f"{_case(one)}{one.text()}" for one in found)


def _cover(replay: Replay, facts: Iterable[Fact]) -> None:
    """Make sure that the cases are everything: the whole, or both parts of a split, each of them covered."""
    left = list(dict.fromkeys(fact.context for fact in facts))
    while left != [replay.root]:
        deepest = max(left, key=_depth)
        kind, *made = deepest.origin or ("",)
        other = next((one for one in left if _siblings(one, deepest)), None)
        if kind != "split" or other is None:
            raise WrongError("a conclusion holds in one case only")
        left = [one for one in left if one not in (deepest, other)]
        if made[0] not in left:
            left.append(made[0])


def _depth(context: Context) -> int:
    return 0 if context.parent is None else 1 + _depth(context.parent)


def _siblings(one: Context, other: Context) -> bool:
    same = one.origin[:1] == ("split",) and one.origin[:4] == other.origin[:4]
    return same and {one.origin[4], other.origin[4]} == {0, 1}


def _case(fact: Fact) -> str:
    words = []
    here: Context | None = fact.context
    while here is not None and here.parent is not None:
        words += [own.text(name) for name, own in here.own.items()]
        here = here.parent
    return f"where {', '.join(reversed(words))}: " if words else ""


def _declared(replay: Replay) -> Iterable[str]:
    if replay.parameters:
        yield f"parameters, of which no instances are taken: {', '.join(sorted(replay.parameters))}"
    for name, own in replay.vectors.items():
        indices = [f"@{place}" for place in range(read.whole(own.get("arity"), name))]
        vector = Vec(name, tuple(of(Symbol(one)) for one in indices))
        for which, words in (("clock", "known from"), ("drawn", "drawn at")):
            if (time := replay.times_of(vector, which)) is not None:
                yield f"{vector.key} is {words} ({', '.join(one.key for one in time)})"
    for name, raw in read.as_dict(replay.raw.get("slopes") or {}, "slopes").items():
        own = read.as_dict(raw, name)
        which = ", ".join(read.number(one, name).key for one in read.as_list(own.get("which"), name))
        function, at = read.name(own.get("function"), name), read.vec(own.get("at"), name)
        yield f"{name}[@0, …] is a gradient of {function}[{which}] at {at.key}"


def _given(replay: Replay, facts: Iterable[Fact], conclusions: Iterable[Fact]) -> Iterable[str]:
    for name in replay.root.order:
        if name in replay.root.own and name not in replay.defined:
            yield f"range: {replay.root.find(name).text(name)}"
    for fact in facts:
        if fact.rule == "mixture":
            yield law_of(replay, fact).words()
        if fact.rule in _GIVEN:
            yield f"{', '.join(sorted(fact.axioms))}: {fact.text()}"
    for fact in conclusions:
        yield f"the conclusion rests on {', '.join(sorted(fact.axioms)) or 'nothing else'}"
