"""Evidence gathered by an audit, as a value; the verdict follows from it alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

from boundlab.api import Checks, Compared, Decided, Evaluated, Horizons, Searched, Worst
from boundlab.instance.fitting import CompareOptions
from boundlab.prove.on_instance import Broken
from boundlab.registry import command_line
from boundlab.theorems import Theorem

Found = TypeVar("Found", Searched, Worst, Compared | Horizons)


@final
@dataclass(frozen=True, slots=True)
class Undecided:
    """Undecided question, with the reason.

    Parameters
    ----------
    what, why
        In words.
    decided_by
        What would decide it, in words.
    of
        The repair that was asked about; empty where it is the theorem itself.
    """

    what: str
    why: str
    decided_by: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Asked(Generic[Found]):
    """Result of one question, with the command that repeats it."""

    found: Found
    command: str

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {"command": self.command, **self.found.as_dict()}


@final
@dataclass(frozen=True, slots=True)
class Panel(Asked[Compared | Horizons]):
    """One comparison with simulated or computed errors, at several horizons where the step is chosen for the horizon.

    Parameters
    ----------
    setting, chosen
        At which problem, delays and settings; and why at these, in words that follow "on".
    """

    setting: CompareOptions
    chosen: str

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {"command": self.command, "chosen": self.chosen, **self.found.as_dict()}


@final
@dataclass(frozen=True, slots=True)
class OnCase:
    """Steps of a proof on a counterexample.

    Parameters
    ----------
    case_file, case_text
        The counterexample; the file is empty where it was found in this audit.
    exact
        Both sides of the theorem there.
    false
        The steps that are false there; see :func:`boundlab.prove.on_instance.broken`.
    why
        Why none was computed; empty where they were.
    """

    case_file: str
    case_text: str
    exact: Evaluated
    false: tuple[Broken, ...] = ()
    why: str = ""

    @property
    def first(self) -> Broken | None:
        """The first step that is false there and decided, or the first at all."""
        return next((one for one in self.false if one.decided), self.false[0] if self.false else None)

    @property
    def decided(self) -> bool:
        """True if the first step is false for certain."""
        return self.first is not None and self.first.decided


@final
@dataclass(frozen=True, slots=True)
class ProofEvidence:
    """A proof whose steps were decided.

    Parameters
    ----------
    outcome
        Its steps.
    settles
        Whether its last step is the very theorem that is asked about, and every step is proved.
    seen
        Of a false theorem: its steps on the counterexample, and on others of the theorem as long as none of them fails.
    """

    outcome: Decided
    settles: bool
    seen: tuple[OnCase, ...] = ()

    @property
    def broken(self) -> OnCase | None:
        """The first counterexample on which a step is false; one that is decided goes first."""
        every = [one for one in self.seen if one.false]
        return next((one for one in every if one.decided), every[0] if every else None)

    @property
    def command(self) -> str:
        """Command that repeats the proof."""
        return command_line("prove", self.outcome.script.id)


@final
@dataclass(frozen=True, slots=True)
class Repair:
    """A theorem that is registered as true in place of a false one, with what supports it.

    Parameters
    ----------
    on_case
        Both sides on the counterexample of the false one.
    """

    theorem: Theorem
    proofs: tuple[ProofEvidence, ...] = ()
    on_case: Evaluated | None = None
    search: Asked[Searched] | None = None
    worst: Asked[Worst] | None = None
    panel: Panel | None = None

    @property
    def proved(self) -> bool:
        """True if some proof ends in this theorem, with every step proved."""
        return any(one.settles for one in self.proofs)

    @property
    def contradicted(self) -> bool:
        """True if any of the questions asked finds this theorem false, too."""
        said = [one.found for one in (self.search, self.panel, self.worst) if one is not None]
        return any(one is not None and one.verdict == "violated" for one in (self.on_case, *said))


@dataclass(frozen=True, repr=False)
class Evidence:
    """All that was asked about one theorem.

    Parameters
    ----------
    typed
        The theorem as a command takes it: an id, or a file.
    budget, seed, seconds
        Seconds that were to be spent, the seed of all searches and samples, and seconds that were spent.
    checks
        By the formula alone.
    case, case_text
        The instance that both sides are computed on, as case files have it, and in words; None where there is none.
    case_file
        Its file; empty where it was found here.
    exact
        Both sides on that instance.
    search
        Where the theorem names no counterexample: what a search has found.
    proofs
        Those registered for the theorem: its own, or, of one as printed, the paper's.
    repairs
        What is registered as true in its place.
    panel
        A comparison; None where no setting fits.
    gaps
        What was not decided.
    provenance
        Versions, and the text of the theorem where it came from a file.
    """

    theorem: Theorem
    typed: str
    budget: float
    seed: int
    seconds: float
    checks: Checks
    case: Mapping[str, Any] | None
    case_text: str
    case_file: str
    exact: Evaluated | None
    search: Asked[Searched] | None
    proofs: tuple[ProofEvidence, ...]
    repairs: tuple[Repair, ...]
    panel: Panel | None
    gaps: tuple[Undecided, ...]
    provenance: Mapping[str, Any]

    @property
    def instance(self) -> tuple[str, Any] | None:
        """The instance that was looked at, in words, and its two sides: the case, else the closest of the search."""
        counter, exact, search = self.theorem.horizon_symbol, self.exact, self.search
        if exact is not None:
            return exact.sentence or f"{self.case_text}, {counter} = {exact.k}", exact
        best = None if search is None else search.found.best
        return None if best is None else (f"{best.words()}, {counter} = {best.iterations}", best)
