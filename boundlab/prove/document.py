"""A proof as it is written: steps, what each is shown from, and what the whole amounts to.

A step that is not shown does not end the proof. What it says may be cited from there on, and whatever is derived from
it carries its name: such steps *follow*, they are not proved.
"""

import enum
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, final

from boundlab.prove._conclude import conclude
from boundlab.prove._consistency import speaks_of_nothing
from boundlab.prove._context import Context
from boundlab.prove._errors import REFUSED, ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._free_models import FreeModel, free_model
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import Number, variable
from boundlab.prove._search import derive
from boundlab.prove._squares import with_squares
from boundlab.prove._terms import Claim, Lin
from boundlab.prove._witness import Witness, refute
from boundlab.prove.setting import Setting
from boundlab.theorems import Theorem

Uses: TypeAlias = Fact | VectorFact
_CLAIMED = "step "


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
        if not self._witnesses or self._setting is None:
            return None
        if context is None and cited is None and self.kernel.has_cases:
            return None  # in which of the cases it is claimed is not known
        try:
            here = self.kernel.deepest(cited or (), context)
            return refute(self._setting, claim, here)
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
        open_ones = tuple(sorted(one.removeprefix(_CLAIMED) for one in fact.axioms if one.startswith(_CLAIMED)))
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
