"""A proof as it is written: steps, what each is shown from, and what the whole amounts to.

A step that is not shown does not end the proof. What it says may be cited from there on, and whatever is derived from
it carries its name: such steps *follow*, they are not proved.
"""

import contextlib
import enum
import random
import re
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, isqrt
from typing import Any, Literal, TypeAlias, final

from boundlab.errors import SpecError
from boundlab.files import schema
from boundlab.prove._free_models import FreeModel, free_model
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import FIRST, REFUSED, ZERO, Number, ProofError, Scalar, scalar, shape, variable
from boundlab.prove._search import derive, with_squares
from boundlab.prove._terms import OWN_AXIOMS, Claim, Context, Fact, Lin, Shared, VectorFact, equal, expr
from boundlab.prove._witness import Witness, refute
from boundlab.prove.setting import Setting
from boundlab.recheck import Finding
from boundlab.recheck.kernel import Range
from boundlab.result import Result, reported
from boundlab.theorems import Theorem, at_lowest
from boundlab.verdict import ExitCode

# Whether there are numbers of which a theorem, or a step, speaks: where there are none, everything holds of them.

_POINTS = 600
_NEAR = tuple(Fraction(*pair) for pair in ((1, 1), (2, 1), (1, 2), (1, 16), (1, 256), (1, 65536), (8, 1), (64, 1)))


def make_sure_there_are_runs(setting: Setting) -> None:
    """Make sure that there are numbers in all ranges of a theorem that meet its conditions.

    Raises
    ------
    ProofError
        If no such numbers are found.
    """
    conditions = [one.claim for one in setting.conditions if one.claim.body.number is not None]
    conditions += _asked(setting)  # also those that the proof needs not
    drawn = random.Random("boundlab conditions")  # noqa: S311  (numbers to try, no secret)
    if not any(_meets(setting, conditions, drawn) for _ in range(4 * _POINTS)):
        raise ProofError(
            "no numbers were found in all ranges that meet all conditions: one range is empty, or there may be no run "
            "of which it speaks"
        )


def _asked(setting: Setting) -> Iterator[Claim]:
    """Yield the theorem's conditions, but for those that no number of the setting says."""
    for one in setting.theorem.conditions:
        with contextlib.suppress(SpecError):
            yield expr(setting.formula(one.quantity)) <= expr(setting.formula(one.limit))


def _ends(known: Range, values: Mapping[str, Scalar]) -> tuple[Fraction | None, Fraction | None]:
    """Return the ends of a range, None where there is none, or none that is known."""
    low, high = (None if end is None else end.put(values).constant for end in (known.low, known.high))
    return (None if low is None else Fraction(low)), (None if high is None else Fraction(high))


def speaks_of_nothing(kernel: Kernel, fact: Shared, setting: Setting | None) -> str:
    """Return why a fact says nothing: the ranges of what a proof has declared may hold no numbers; empty if they do."""
    context, given = fact.context, () if setting is None else setting.declared or ()
    own = [known for name in fact.names if name not in given and (known := context.declared(name)) is not None]
    if all(known.low is None or known.high is None for known in own):
        return ""  # there are numbers beyond any end
    drawn = random.Random("boundlab ranges")  # noqa: S311  (numbers to try, no secret)
    if any(_point(kernel, context, fact.names, (), drawn) is not None for _ in range(_POINTS)):
        return ""
    return "no numbers were found in the ranges of its symbols: it may speak of nothing"


def _meets(setting: Setting, conditions: Iterable[Claim], drawn: random.Random) -> bool:
    """Return whether numbers that are drawn from the ranges meet all conditions."""
    theorem = setting.theorem
    equations = [
        *(one for one in conditions if one.equality),
        *(
            equal(variable(name), int(theorem.symbols[name].domain.low))
            for name in at_lowest(theorem.conditions, theorem.symbols)
        ),
    ]
    found = _point(setting.kernel, setting.context, setting.context.order(), equations, drawn)
    return found is not None and all(_holds(one, found) for one in conditions if not one.equality)


def _point(
    kernel: Kernel, context: Context, names: Container[str], equations: Iterable[Claim], drawn: random.Random
) -> dict[str, Scalar] | None:
    """Return numbers that are drawn from the ranges with which symbols were declared; None if one is empty there."""
    values: dict[str, Scalar] = {}
    for name in context.order():
        known = context.declared(name)
        if name not in names or known is None:
            continue
        if known.arity:
            low, high = _ends(known, values)
            if low is not None and high is not None and low > high:
                return None
            continue
        try:
            if name in kernel.values:
                found = kernel.values[name].put(values).constant
                if found is None:
                    continue  # it is made of members of families
            else:
                found = _solved(name, equations, values)
            value = _drawn(known, values, drawn) if found is None else Fraction(found)
        except REFUSED:  # it divides by 0 there
            return None
        if not _inside(value, known, values):
            return None
        values[name] = scalar(value)
    return values


def _solved(name: str, equations: Iterable[Claim], values: Mapping[str, Scalar]) -> Fraction | None:
    """Return a symbol's value from an equation a·x = b or a·x² = b with the symbols before it; -1 where it has none."""
    for one in equations:
        body = one.body.number
        if body is None or name not in body.names() or not body.names() <= {*values, name}:
            continue
        parts: dict[int, Fraction] = {}
        for powers, coefficient in shape(body.put(values)).top:
            degree = sum(power for _, power in powers)
            parts[degree] = parts.get(degree, Fraction(0)) + Fraction(coefficient)
        a, b = parts.get(1) or parts.get(2) or Fraction(0), -parts.get(0, Fraction(0))
        if not parts.keys() <= {0, 1, 2} or {1, 2} <= parts.keys():
            continue
        if not a:
            return Fraction(-1)
        if 1 in parts:
            return b / a
        # That the square is positive is what matters: a root is as good as its first digits.
        return Fraction(isqrt(int(b / a * 10**24)), 10**12) if b / a > 0 else Fraction(-1)
    return None


def _drawn(known: Range, values: Mapping[str, Scalar], drawn: random.Random) -> Fraction:
    low, high = _ends(known, values)
    step = drawn.choice(_NEAR)
    if low is not None and high is not None and not known.integer:
        return low + (high - low) * min(step, 1 / step)
    if known.integer:
        step = Fraction(max(1, int(step)) - (0 if known.above else drawn.choice((0, 1))))
        if low is not None:
            return ceil(low) + step if high is None else min(ceil(low) + step, Fraction(floor(high)))
        return floor(high) - step if high is not None else step
    return low + step if low is not None else high - step if high is not None else drawn.choice((-step, step))


def _inside(value: Fraction, known: Range, values: Mapping[str, Scalar]) -> bool:
    low, high = _ends(known, values)
    above = low is None or value > low or (value == low and not known.above)
    return above and (high is None or value < high or (value == high and not known.below))


def _holds(one: Claim, values: Mapping[str, Scalar]) -> bool:
    """Return whether a condition is met; one about members of families is not looked at."""
    body = one.body.number
    assert body is not None  # noqa: S101  (conditions are about numbers)
    try:
        found = body.put(values).constant
    except REFUSED:
        return False
    return found is None or found >= 0


# Whether a fact is the registered theorem: the same bound, the same left side, nothing assumed beside it.


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
    if setting.restrictions and not any(_is_step(one) for fact in facts for one in fact.axioms):
        raise ProofError(f"it is shown for {'; '.join(setting.restrictions)} alone, which {theorem.id} leaves open")
    _cover(setting, [fact.context for fact in facts])
    shown: list[Fact] = []
    for fact in facts:
        last = _matching(setting, fact)
        last = _only_its_symbols(setting, last)
        more = sorted(one for one in last.axioms - allowed_axioms(setting) if not _is_step(one))
        if more:
            raise ProofError(f"it rests on {', '.join(more)}, which {theorem.id} does not assume")
        shown.append(last)
    make_sure_there_are_runs(setting)
    kernel.concluded = tuple(shown)
    # The case that says most of how little is shown.
    return min(shown, key=lambda one: -sum(map(_is_step, one.axioms)))


def allowed_axioms(setting: Setting) -> frozenset[str]:
    """Return the axioms that a conclusion may rest on."""
    return setting.theorem.core.assumed | OWN_AXIOMS | setting.conditions_met


# What the axiom of a step that is not proved begins with.
_CLAIMED = "step "


def _is_step(axiom: str) -> bool:
    return axiom.startswith(_CLAIMED)


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
    terms = setting.theorem.bound.terms.values()
    return setting.metric() <= expr(sum((setting.formula(term, context, short=short) for term in terms), ZERO))


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


Uses: TypeAlias = Fact | VectorFact


class Status(enum.Enum):
    """What is known of a step."""

    PROVED = "proved"
    FOLLOWS = "follows"
    REFUTED = "refuted"
    DOES_NOT_FOLLOW = "does not follow"
    UNPROVED = "unproved"
    REMARK = "remark"


@final
@dataclass(frozen=True, slots=True)
class Step:
    """A step and what was found.

    Parameters
    ----------
    name
        Unique in the proof.
    says
        The claim in words, or the claim itself.
    claim
        What was to be shown; None for a remark.
    status
        What is known of it.
    how
        From how much, by which rule; or what is missing.
    seconds
        How long that took; no part of what a proof is compared by.
    fact
        What may be cited from here on.
    at
        Its place in a paper; empty for a step of ours.
    rests_on
        The names of unproved steps that it is derived from.
    witness
        Of a refuted step: an exact instance of the setting in which it is false.
    means
        Of a display that is misprinted: the step that says what is meant, on which the proof goes on.
    """

    name: str
    says: str
    claim: Claim | None
    status: Status
    how: str
    seconds: float
    fact: Fact | None
    at: str = ""
    rests_on: tuple[str, ...] = ()
    witness: Witness | None = None
    means: str = ""

    @property
    def unshown(self) -> bool:
        """Whether it is refuted, does not follow, or is not proved."""
        return self.status in (Status.REFUTED, Status.DOES_NOT_FOLLOW, Status.UNPROVED)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields; without times, so that two runs give the same."""
        used = () if self.fact is None else self.fact.axioms
        return {
            "name": self.name,
            "at": self.at,
            "says": self.says,
            "claim": "" if self.claim is None else str(self.claim),
            "multiplied_out": "" if self.claim is None else repr(self.claim),
            "verdict": self.status.value,
            "how": self.how,
            "assumptions": sorted(axiom for axiom in used if not _is_step(axiom)),
            "rests_on": list(self.rests_on),
            "means": self.means,
        }


@final
class Proof:
    """A proof of a registered theorem, while it is written.

    Parameters
    ----------
    theorem
        What it is to end in; or whose printed proof it is.
    setting
        Made from the theorem.
    witnesses
        Whether an exact instance is searched for in which a step that is not shown is false.
    """

    def __init__(
        self, theorem: Theorem | None, setting: Setting | None, kernel: Kernel, *, witnesses: bool = False
    ) -> None:
        self.theorem, self._setting, self.kernel = theorem, setting, kernel
        if setting is not None:
            setting.close()
        self.steps: list[Step] = []
        self.conclusion: Step | None = None
        self._witnesses = witnesses

    def setting(self) -> Any:
        """Return what the proof may use, from the theorem.

        Raises
        ------
        ProofError
            If the proof is of numbers alone.
        """
        if self._setting is None:
            raise ProofError("this proof belongs to no registered theorem, so it has no setting")
        return self._setting

    # ------------------------------------------------------------------ steps

    def step(
        self,
        name: str,
        claim: Claim,
        uses: Iterable[Uses] = (),
        *,
        squares: Iterable[Lin] = (),
        multipliers: Sequence[tuple[Number, Fact]] | None = None,
        by: Literal["", "sdp"] = "",
        says: str = "",
        at: str = "",
        context: Context | None = None,
    ) -> Fact:
        """Show a claim as a combination of facts.

        Parameters
        ----------
        uses
            Facts; equations of vectors are inserted in the claim and in the facts.
        squares
            Vectors whose E‖v‖² ≥ 0 may be used, too.
        by
            ``sdp``: squares of combinations of the vectors ``squares`` are searched for (with cvxpy).
        multipliers
            The combination itself, where none is to be searched for.
        """
        uses = list(uses)

        def show() -> Fact:
            if multipliers is not None:
                return self.kernel.combine(claim, multipliers, context)
            facts, equations = _sorted(uses)
            if by == "sdp":
                inserted = self._inserted(claim, facts, equations, context)
                return with_squares(self.kernel, claim, inserted, list(squares), context)
            facts += [self.kernel.square(one, context) for one in squares]
            return derive(self.kernel, claim, self._inserted(claim, facts, equations, context), context)

        if by not in ("", "sdp"):
            raise ProofError(f"a step is shown by combination, or by sdp, not {by}")
        cited = [*uses, *(fact for _, fact in multipliers or ())]
        return self._try(name, claim, show, says, at, context, cited)

    def printed(self, name: str, claim: Claim, uses: Iterable[Uses], *, at: str) -> None:
        """Decide a display as it is printed, where another one is meant: the next step, which has this name.

        What is meant is all that later steps cite.
        """
        self.step(f"{name}, as printed", claim, uses, at=at)
        self.steps[-1] = replace(self.steps[-1], means=name)

    def inserted(self, claim: Claim, uses: Iterable[Uses]) -> list[Fact]:
        """Return facts with the equations of vectors among them inserted, and what these make of the claim."""
        return self._inserted(claim, *_sorted(list(uses)), None)

    def _inserted(
        self, claim: Claim, facts: list[Fact], equations: list[VectorFact], context: Context | None
    ) -> list[Fact]:
        if not equations:
            return facts
        found = [self.kernel.replace(claim.body, equations, self.kernel.deepest(equations, context))]
        for fact in facts:
            replaced = self.kernel.replace(fact.claim.body, equations, self.kernel.deepest([*equations, fact], context))
            found.append(fact)
            if (replaced.claim.right - fact.claim.body).terms:
                found.append(replaced)
        return found

    def rule(
        self,
        name: str,
        claim: Claim | None,
        make: Callable[[], Fact],
        *,
        says: str = "",
        at: str = "",
        context: Context | None = None,
    ) -> Fact:
        """Show a claim by a rule: ``make`` returns a fact; the claim, if given, is to follow from it alone."""
        if claim is None:
            started = time.perf_counter()
            try:
                fact = make()
            except REFUSED as error:
                seconds = time.perf_counter() - started
                self._keep(Step(name, says or name, None, Status.UNPROVED, str(error), seconds, None, at))
                raise _StoppedError(name) from error
            self._keep(self._proved(name, fact.claim, fact, says, at, time.perf_counter() - started))
            return fact
        return self._try(name, claim, lambda: derive(self.kernel, claim, [make()], context), says, at, context)

    def induction(
        self,
        name: str,
        claim: Claim,
        on: str,
        base: Iterable[Uses],
        step: Callable[[Fact], Iterable[Uses]],
        *,
        squares: Iterable[Lin] = (),
        says: str = "",
        at: str = "",
        context: Context | None = None,
    ) -> Fact:
        """Show a claim for all values of a whole symbol: from its lowest, and from each to the next.

        Parameters
        ----------
        base
            What the claim at the lowest value follows from.
        step
            Given the hypothesis, what the claim for the next value follows from, the hypothesis itself included or not.
        """

        def show() -> Fact:
            kernel = self.kernel
            known = (context or kernel.context).find(on)
            if known is None or known.low is None:
                raise ProofError(f"{on} has no lowest value")
            facts, equations = _sorted(base)
            low = claim.put({on: known.low})
            first = derive(kernel, low, self._inserted(low, facts, equations, context), context)
            hypothesis = kernel.suppose(claim, on, context)
            here = hypothesis.context
            following = claim.put({on: variable(on) + 1})
            facts, equations = _sorted(step(hypothesis))
            facts += [kernel.square(one, here) for one in squares]
            second = derive(kernel, following, self._inserted(following, facts, equations, here), here)
            return kernel.induction(first, second)

        return self._try(name, claim, show, says, at, context)

    def remark(self, name: str, says: str, at: str = "") -> None:
        """Note what is prose, or has no constants: it is not decided."""
        self._keep(Step(name, says, None, Status.REMARK, "not decided", 0.0, None, at))

    def undecided(
        self, name: str, claim: Claim, why: str, *, says: str = "", at: str = "", context: Context | None = None
    ) -> Fact:
        """Note a claim that is about what the setting has no word for, such as a law that a paper does not state.

        Nothing is looked for that makes it true or false. What it says may be cited, and carries its name.
        """
        fact = self.kernel.make(claim, context or self.kernel.context, "claimed", axioms=[_CLAIMED + name])
        self._keep(Step(name, says or str(claim), claim, Status.UNPROVED, f"not decided: {why}", 0.0, fact, at))
        return fact

    def conclude(self, *facts: Fact) -> None:
        """Compare facts, one for each case, with the registered theorem."""
        started = time.perf_counter()
        if self.theorem is None or self._setting is None:
            raise ProofError("this proof belongs to no registered theorem")
        if self._setting.theorem is not self.theorem:
            raise ProofError("the setting is that of another theorem")
        says = f"{self.theorem.id}: {self.theorem.title}"
        try:
            final = conclude(self._setting, facts)
        except REFUSED as error:
            step = Step("conclusion", says, None, Status.UNPROVED, str(error), time.perf_counter() - started, None)
        else:
            step = self._proved("conclusion", final.claim, final, says, "", time.perf_counter() - started)
        self._keep(step)
        self.conclusion = step

    # ------------------------------------------------------------------ outcomes

    def stop(self, why: str) -> None:
        """Note that the proof ended early: what comes after is not decided."""
        name = "end of the proof"
        self._keep(Step(name, "the proof cannot go on", None, Status.UNPROVED, why, 0.0, None))

    def _try(
        self,
        name: str,
        claim: Claim,
        show: Callable[[], Fact],
        says: str,
        at: str,
        context: Context | None,
        cited: Iterable[Uses] | None = None,
    ) -> Fact:
        started = time.perf_counter()
        try:
            fact = show()
        except REFUSED as error:
            # What is claimed may be cited; whatever comes of it carries this step's name.
            fact = self.kernel.make(claim, self._claimed_in(context, cited), "claimed", axioms=[_CLAIMED + name])
            witness = self._witness(claim, context, cited)
            status = Status.UNPROVED if witness is None else Status.REFUTED
            how = str(error) if witness is None else str(witness)
            if witness is None and (free := self._free_model(claim, context, cited)) is not None:
                status, how = Status.DOES_NOT_FOLLOW, str(free)
            seconds = time.perf_counter() - started
            self._keep(Step(name, says or str(claim), claim, status, how, seconds, fact, at, witness=witness))
            return fact
        self._keep(self._proved(name, claim, fact, says, at, time.perf_counter() - started))
        return fact

    def _claimed_in(self, context: Context | None, cited: Iterable[Uses] | None) -> Context:
        """Return the narrowest case that a step speaks of: its own, or that of what it cites."""
        try:
            return self.kernel.deepest(cited or (), context)
        except REFUSED:  # it cites facts of different cases
            return context or self.kernel.context

    def _witness(self, claim: Claim, context: Context | None, cited: Iterable[Uses] | None) -> Witness | None:
        """Return an instance in which a claim is false, in the case in which it is claimed."""
        unknown = context is None and cited is None and self.kernel.has_cases  # in which of the cases it is claimed
        if not self._witnesses or self._setting is None or unknown:
            return None
        try:
            return refute(self._setting, claim, self.kernel.deepest(cited or (), context))
        except REFUSED:
            return None

    def _free_model(self, claim: Claim, context: Context | None, cited: Iterable[Uses] | None) -> FreeModel | None:
        """Return a model of what a step cites in which its claim is false."""
        if not self._witnesses or cited is None:
            return None
        facts, equations = _sorted(cited)
        try:
            return free_model(self.kernel, claim, facts, equations, self.kernel.deepest([*facts, *equations], context))
        except REFUSED:
            return None

    def _proved(self, name: str, claim: Claim, fact: Fact, says: str, at: str, seconds: float) -> Step:
        if why := speaks_of_nothing(self.kernel, fact, self._setting):
            return Step(name, says or str(claim), claim, Status.UNPROVED, why, seconds, fact, at)
        open_ones = tuple(sorted(one.removeprefix(_CLAIMED) for one in filter(_is_step, fact.axioms)))
        many = f"{len(fact.premises)} fact{'s' if len(fact.premises) > 1 else ''}"
        how = f"{fact.rule}, {many}" if fact.premises else fact.rule
        status = Status.FOLLOWS if open_ones else Status.PROVED
        return Step(name, says or str(claim), claim, status, how, seconds, fact, at, open_ones)

    def _keep(self, step: Step) -> None:
        if any(one.name == step.name for one in self.steps):
            raise ProofError(f"two steps are called {step.name!r}")
        self.steps.append(step)


class _StoppedError(ProofError):
    """A step that the rest cannot do without has failed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the proof stops at {name}")


@final
@dataclass(frozen=True, slots=True)
class Script:
    """A registered proof: a function that writes it down.

    Parameters
    ----------
    id
        Its name on the command line.
    summary
        What it shows, in a line.
    source
        Paper and place.
    write
        Writes the steps into a :class:`Proof`.
    proves
        The id of the theorem that it ends in; empty for proofs about numbers alone.
    printed
        Whether it is a paper's own proof, step by step as printed: its theorem need not be true.
    """

    id: str
    summary: str
    source: str
    write: Callable[[Proof], None]
    proves: str = ""
    printed: bool = False


def _sorted(uses: Iterable[Uses]) -> tuple[list[Fact], list[VectorFact]]:
    every = list(uses)
    return [one for one in every if isinstance(one, Fact)], [one for one in every if isinstance(one, VectorFact)]


# What a proof amounts to, by its steps and by the checker.

_PROVED = "proved"


@dataclass(frozen=True, repr=False, eq=False)
class Outcome(Result):
    """What came of a proof; ``checker`` gives the second opinion, when it is asked for.

    ``unlike`` is what the theorem of the script states and this one, which takes its steps, does not.
    """

    script: Script
    steps: tuple[Step, ...]
    conclusion: Step | None
    kernel: Kernel = field(repr=False)
    setting: Setting | None = field(default=None, repr=False)
    checker: Callable[["Outcome"], Finding] | None = field(default=None, repr=False, compare=False)
    unlike: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def opinion(self) -> Finding | None:
        """What the checker says of it; None where it was not asked."""
        return None if self.checker is None else self.checker(self)

    @property
    def ends(self) -> list[Fact]:
        """What is shown in the end: its conclusion, or all its steps where it has none."""
        steps = self.steps if self.conclusion is None else (self.conclusion,)
        return [step.fact for step in steps if step.fact is not None]

    @property
    def meant(self) -> tuple[Step, ...]:
        """The steps, misprints apart: what is meant in their place is a step, too."""
        return tuple(step for step in self.steps if not step.means)

    @property
    def proved(self) -> bool:
        """Whether every step is proved, there is one, the last one is the theorem, and the checker agrees."""
        return self.verdict == _PROVED

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        if self.proved:
            return ExitCode.STANDS
        refuted = any(step.status is Status.REFUTED for step in self.steps)
        return ExitCode.REFUTED if refuted else ExitCode.UNDECIDED

    @property
    def assumptions(self) -> list[str]:
        """What it rests on: its conclusion, or all its steps where it has none."""
        every = {axiom for fact in self.ends for axiom in fact.axioms}
        return sorted(axiom for axiom in every if not _is_step(axiom))

    @property
    def hanging(self) -> dict[str, list[str]]:
        """Of each step that is not proved, the steps that are derived from it."""
        return {
            step.name: [other.name for other in self.steps if step.name in other.rests_on]
            for step in self.steps
            if step.unshown
        }

    def line(self) -> str:
        """Return the verdict."""
        return f"{self.script.id}, {len(self.meant)} steps: {self.verdict}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields; without times, so that two runs give the same."""
        return {
            "schema": schema("decided-proof"),
            "id": self.script.id,
            "summary": self.script.summary,
            "source": self.script.source,
            "proves": self.script.proves,
            "printed": self.script.printed,
            "verdict": self.verdict,
            "assumptions": self.assumptions,
            "steps": [step.as_dict() for step in self.steps],
            "hanging": self.hanging,
            "letters": letters(self),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is shown: only the kernel makes facts, and they stay with it."""
        return reported(self)

    @property
    def verdict(self) -> str:
        """What the proof amounts to, in words: proved is only what the checker has accepted."""
        found = self._by_steps()
        if found != _PROVED or (self.opinion is not None and self.opinion.accepted):
            return found
        if self.opinion is None:
            return "every step is proved, but nothing was checked a second time"
        why = "; ".join(self.opinion.open) or self.opinion.reason
        return f"every step is proved, but the checker does not accept it: {why}"

    def _by_steps(self) -> str:
        found = [step.status for step in self.steps]
        if Status.REFUTED in found:
            return "a step is refuted"
        if any(status not in (Status.PROVED, Status.REMARK) for status in found):
            return "not proved"
        if Status.PROVED not in found:
            return "nothing is proved"
        if self.script.proves and (self.conclusion is None or self.conclusion.status is not Status.PROVED):
            return "every step is proved, but not the theorem"
        return _PROVED


# What the letters of a claim stand for, in words and formulas, for readers; nothing is decided by it.

_LETTER = re.compile(r"(?<![\w.])([A-Za-z]\w*)(\[)?")
_INDEX = "k"


def meanings(kernel: Kernel, setting: Setting | None) -> Mapping[str, tuple[str, str]]:
    """Return each declared letter as it is written, such as ``x[k]``, and what it stands for.

    Symbols of the theorem have their meaning there, and indices theirs in the claim: neither is among them.
    """
    found = dict(_named(kernel))
    for written, meaning in () if setting is None else setting.letters.items():
        found[written.partition("[")[0]] = written, meaning
    declared = {*kernel.vectors.known, *kernel.context.order()}
    slopes = dict(_slopes(kernel))
    return {name: one for name, one in {**slopes, **found}.items() if name in declared}


def _slopes(kernel: Kernel) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the gradients that the kernel knows."""
    for name, slope in kernel.vectors.slopes.items():
        index = "".join(f"_{{{one}}}" if len(str(one)) > 1 else f"_{one}" for one in slope.which)
        at = ", ".join(slope.symbols)
        yield name, (f"{name}[{at}]" if at else name, f"the (sub)gradient of f{index} at {slope.at}")


def _named(kernel: Kernel) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the numbers that a proof gave names to."""
    yield from ((name, (name, f"√({expr(value)})")) for name, value in kernel.roots.items())
    yield from ((name, (name, str(expr(value)))) for name, value in kernel.values.items())
    for name, family in kernel.families.items():
        yield name, (f"{name}[{_INDEX}]", _at(family))
    for name, exponent in kernel.exponents.items():
        own = f"{name}[{_INDEX}]" if FIRST.names() & exponent.names() else name
        yield name, (own, f"exp({_at(exponent)})")


def _at(value: Scalar) -> str:
    return str(expr(value.put(dict.fromkeys(FIRST.names(), variable(_INDEX)))))


def letters_in(texts: Iterable[str], known: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return what the letters in claims stand for, in the order in which a reader meets them, with those in it."""
    found: dict[str, str] = {}
    waiting = list(texts)
    while waiting:
        for name, indexed in _LETTER.findall(waiting.pop(0)):
            written, meaning = known.get(name, ("", ""))
            # One letter may also be an index, or a word of a sentence.
            if not meaning or written in found or bool(indexed) != ("[" in written):
                continue
            found[written] = meaning
            waiting.append(meaning)
    return found


def letters(outcome: Outcome, *steps: Step) -> dict[str, str]:
    """Return what the letters in the claims of steps stand for, of all steps by default."""
    claims = [step.claim for step in steps or outcome.steps if step.claim is not None]
    return letters_in((f"{claim} {claim!r}" for claim in claims), meanings(outcome.kernel, outcome.setting))
