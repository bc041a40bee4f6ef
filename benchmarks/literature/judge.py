"""What every tool says about a theorem, and which tool refutes its mutant."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import boundlab as bl
from benchmarks.literature.entries import Entry
from boundlab.compare import Horizons
from boundlab.errors import AssumptionError, BoundlabError
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict

SEED = 0
TRIALS = 40
LEVEL = 0.999999  # a sample refutes a true bound with probability at most 1 − LEVEL: never, in as many as there are
HORIZON = 3  # of the semidefinite program
DEFAULTS = {"mu": "0.25", "alpha": "0.5"}  # of the semidefinite program, where it needs them
NONE = "–"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says.

    Parameters
    ----------
    words
        For the table.
    refuted
        Whether it says that the theorem is false; of a check: that it failed.
    detail
        The tool's own line, or why it does not answer.
    """

    words: str
    refuted: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table.

    Parameters
    ----------
    source
        What the statement was written from, as its file says; registered ones are from memory.
    answers
        Tool → what it says of the theorem.
    killer
        The tool that refutes the mutant; '' where none does.
    by
        How it does.
    """

    id: str
    paper: str
    place: str
    source: str
    answers: Mapping[str, Answer]
    changed: str
    why: str
    killer: str
    by: str
    seconds: float = field(compare=False)

    @property
    def alarms(self) -> list[str]:
        """The tools that call the true theorem false, or end in an unforeseen way."""
        return [tool for tool, answer in self.answers.items() if answer.refuted]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields, without the seconds: the same seeds give the same file."""
        fields = {name: value for name, value in asdict(self).items() if name != "seconds"}
        return fields | {"alarms": self.alarms}


def _check(theorem: Theorem, *, mutant: bool) -> Answer:
    """Every failed check of a true theorem counts; of a mutant those that say that the claim is false."""
    found = bl.check(theorem)
    failed = [one for one in found.failed if not mutant or one.consequence == "claim false"]
    words = f"failed: {', '.join(one.id for one in failed)}" if failed else f"{found.verdict} ({len(found.checks)})"
    return Answer(words, bool(failed), "; ".join(f"{one.id}: {one.witness}" for one in failed))


def _worst(theorem: Theorem, entry: Entry) -> Answer:
    needed = {name: value for name, value in DEFAULTS.items() if name in theorem.inputs()}
    found = bl.worst_case(theorem, HORIZON, settings={**needed, **entry.worst})
    return Answer(str(found.words), found.verdict is Verdict.VIOLATED, found.line())


def _compare(theorem: Theorem, entry: Entry, cases: list[Any]) -> Answer:
    """Compare on every problem to which the theorem applies."""
    found, why = list[Horizons](), ""
    at = None if theorem.left.in_seconds else list(entry.ks)  # a theorem in seconds says itself how long a run goes
    for problem in entry.problems:
        try:
            one = bl.compare(
                theorem, problem, entry.delays, iterations=at, trials=TRIALS, seed=SEED, level=LEVEL,
                jobs=1, settings=entry.settings,
            )  # fmt: skip
        except AssumptionError as error:
            why = f"not applicable: {error}"
            continue
        found.append(one if isinstance(one, Horizons) else Horizons((one,)))
        cases.append(found[-1].comparisons[0].case)
    if not found:
        return Answer(NONE, detail=why)
    worst = [one for one in found if one.verdict is Verdict.VIOLATED]
    shown = worst[0] if worst else max(found, key=lambda one: float(one.deciding.ratio.max()))
    verdicts = ", ".join(dict.fromkeys(one.verdict.value for one in (worst or found)))
    ratio = max(float(one.ratio.max()) for each in (worst or found) for one in each.comparisons)
    return Answer(f"{verdicts}, {ratio:.3g}", bool(worst), shown.line())


def _falsify(theorem: Theorem, entry: Entry, cases: list[Any]) -> Answer:
    found = bl.falsify(theorem, candidates=entry.candidates, seed=SEED, jobs=1)
    if found.case is not None:
        cases.insert(0, found.case)
    if found.best is None:
        return Answer(NONE, detail=found.line())
    return Answer(f"{'refuted' if found.violated else 'none'}, {found.ratio:.4g}", found.violated, found.line())


def _exact(theorem: Theorem, cases: Sequence[Any]) -> Answer:
    """Evaluate the theorem on the instance that the search calls closest, else on the first that was compared."""
    if not cases:
        return Answer(NONE, detail="neither the search nor the comparison has an instance")
    found = bl.exact(theorem, cases[0], derivation=False)
    return Answer(f"{found.verdict.value} ({found.kind})", found.verdict is Verdict.VIOLATED, found.line())


def _prove(theorem: Theorem) -> Answer:
    if not theorem.proofs:
        return Answer(NONE, detail="no proof is registered")
    said = {name: bl.prove(name).verdict for name in theorem.proofs}
    words = ", ".join(dict.fromkeys(said.values()))
    return Answer(words, any(verdict == "refuted" for verdict in said.values()), str(said))


def _asked(question: Callable[[], Answer]) -> Answer:
    """Ask; what is not applicable is no answer, and what nobody foresaw is an alarm."""
    try:
        return question()
    except AssumptionError as error:
        return Answer(NONE, detail=f"not applicable: {error}")
    except BoundlabError as error:
        return Answer(NONE, detail=f"{type(error).__name__}: {error}")
    except Exception as error:
        return Answer(f"crash: {type(error).__name__}", refuted=True, detail=repr(error))


def questions(theorem: Theorem, entry: Entry, *, mutant: bool) -> dict[str, Callable[[], Answer]]:
    """Return the tools in the order in which they are asked."""
    cases: list[Any] = []
    return {
        "check": partial(_check, theorem, mutant=mutant),
        "worst-case": partial(_worst, theorem, entry),
        "compare": partial(_compare, theorem, entry, cases),
        "falsify": partial(_falsify, theorem, entry, cases),
        "exact": partial(_exact, theorem, cases),
        "prove": partial(_prove, theorem),
    }


def judge(entry: Entry) -> Row:
    """Ask every tool about the theorem, and one after the other about its mutant until one refutes it."""
    begin = time.process_time()
    theorem = entry.theorem()
    answers = {tool: _asked(ask) for tool, ask in questions(theorem, entry, mutant=False).items()}
    killer, by = "", ""
    for tool, ask in questions(entry.mutant(), entry, mutant=True).items():
        answer = _asked(ask)
        if answer.refuted and not answer.words.startswith("crash"):
            killer, by = tool, answer.detail
            break
    return Row(
        entry.id, theorem.paper, theorem.place, theorem.origin or "memory", answers,
        entry.change.changed, entry.change.why, killer, by,
        time.process_time() - begin,
    )  # fmt: skip
