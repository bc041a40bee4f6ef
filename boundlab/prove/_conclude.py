"""Whether a fact is the registered theorem: the same bound, the same left side, nothing assumed beside it."""

from collections.abc import Sequence

from boundlab.prove._consistency import make_sure_there_are_runs
from boundlab.prove._context import Context
from boundlab.prove._errors import REFUSED, ProofError
from boundlab.prove._facts import OWN_AXIOMS, Fact
from boundlab.prove._scalars import scalar
from boundlab.prove._search import derive
from boundlab.prove._terms import Claim, expr
from boundlab.prove.setting import Setting


def conclude(setting: Setting, facts: Sequence[Fact]) -> Fact:
    """Return the fact, or the one for the last case, that makes up the theorem.

    Raises
    ------
    ProofError
        If the cases do not cover the theorem's setting, or a fact says something else, or rests on more.
    """
    theorem, kernel = setting.theorem, setting.kernel
    if not facts:
        raise ProofError("a conclusion needs a fact")
    if setting.restrictions and not any(_claimed(one) for fact in facts for one in fact.axioms):
        raise ProofError(f"it is shown for {'; '.join(setting.restrictions)} alone, which {theorem.id} leaves open")
    _cover(setting, [fact.context for fact in facts])
    shown: list[Fact] = []
    for fact in facts:
        last = _matching(setting, fact)
        last = _only_its_symbols(setting, last)
        more = sorted(one for one in last.axioms - allowed_axioms(setting) if not _claimed(one))
        if more:
            raise ProofError(f"it rests on {', '.join(more)}, which {theorem.id} does not assume")
        shown.append(last)
    make_sure_there_are_runs(setting)
    kernel.concluded = tuple(shown)
    # The case that says most of how little is shown.
    return min(shown, key=lambda one: -sum(map(_claimed, one.axioms)))


def allowed_axioms(setting: Setting) -> frozenset[str]:
    """Return the axioms that a conclusion may rest on."""
    return setting.theorem.core.assumed | OWN_AXIOMS | setting.conditions_met


def _claimed(axiom: str) -> bool:
    return axiom.startswith("step ")


def _matching(setting: Setting, fact: Fact) -> Fact:
    """Return the theorem from the fact: with its symbols, or with the setting's names for some of them."""
    names = set[str]().union(*(value.names() for value in setting.short_names.values())) - setting.own_symbols
    wanted = statement(setting, fact.context, short=bool(names & fact.claim.names()))
    try:
        return derive(setting.kernel, wanted, [fact], fact.context)
    except REFUSED as error:
        raise ProofError(f"the last fact is {fact}, where the theorem says {wanted}: {error}") from None


def statement(setting: Setting, context: Context, *, short: bool = False) -> Claim:
    """Return what the theorem says, in the setting's terms; Max and Min as they are in this case."""
    found = scalar(0)
    for term in setting.theorem.bound.expressions().values():
        found = found + setting.formula(term, context, short=short)
    return setting.metric() <= expr(found)


def _cover(setting: Setting, contexts: Sequence[Context]) -> None:
    """Make sure that the cases are everything: the whole, or both parts of a split, each of them covered."""
    left, root = list(dict.fromkeys(contexts)), setting.context
    while left != [root]:
        deepest = max(left, key=lambda one: len(one.chain()))
        outer, sibling = deepest.parent, deepest.sibling
        if outer is None or sibling is None:
            raise ProofError(f"a fact holds only where {deepest.why}")
        if sibling not in left:
            raise ProofError(f"the case {sibling.why} is missing")
        left = [one for one in left if one not in (deepest, sibling)]
        if outer not in left:
            left.append(outer)


def _only_its_symbols(setting: Setting, fact: Fact) -> Fact:
    """Return the fact without symbols of the proof: an index that no longer occurs takes a value of its range."""
    own = setting.own_symbols
    for name in sorted(fact.names - own):
        known = fact.context.find(name)
        kernel = setting.kernel
        if name in kernel.exponents and known is not None and not known.arity:
            continue  # e^v: a number that others make up
        if name not in fact.claim.names() and (name in kernel.families or name in kernel.exponents):
            continue  # numbers that others make up, and that are gone
        if name in kernel.values or name in kernel.roots:
            continue  # a name for a number: the number is made of the others
        if known is None or known.arity or known.low is None or name in fact.claim.names():
            raise ProofError(f"it is about {name}, which is no symbol of {setting.theorem.id}")
        fact = setting.kernel.at(fact, {name: known.low})
    return fact
