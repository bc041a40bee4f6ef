"""Evidence gathered by an audit, as a value; the verdict follows from it alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from boundlab.api import Checks, Compared, Decided, Evaluated, Horizons, Searched, Worst
from boundlab.audit._on_a_case import OnCase
from boundlab.instance.fitting import CompareOptions
from boundlab.registry import command_line
from boundlab.theorems import Theorem


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


@final
@dataclass(frozen=True, slots=True)
class Panel:
    """One comparison with simulated or computed errors.

    Parameters
    ----------
    result
        At one horizon, or at several where the step is chosen for the horizon.
    command
        What repeats it.
    setting, chosen
        At which problem, delays and settings; and why at these, in words that follow "on".
    """

    result: Compared | Horizons
    command: str
    setting: CompareOptions
    chosen: str


@final
@dataclass(frozen=True, slots=True)
class Search:
    """A search for a counterexample, with the command that repeats it."""

    found: Searched
    command: str


@final
@dataclass(frozen=True, slots=True)
class WorstCaseEvidence:
    """The worst function of a class at a small horizon, with the command that repeats it."""

    found: Worst
    command: str


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
        every = [one for one in self.seen if one.first is not None]
        decided = (one for one in every if one.first is not None and one.first.decided)
        return next(decided, every[0] if every else None)

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
    search: Search | None = None
    worst: WorstCaseEvidence | None = None
    panel: Panel | None = None

    @property
    def proved(self) -> bool:
        """True if some proof ends in this theorem, with every step proved."""
        return any(one.settles for one in self.proofs)

    @property
    def contradicted(self) -> bool:
        """True if any of the questions asked finds this theorem false, too."""
        said = [self.on_case, self.search.found if self.search else None, self.panel.result if self.panel else None]
        return any(one is not None and one.verdict == "violated" for one in (*said, self.worst and self.worst.found))


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
    search: Search | None
    proofs: tuple[ProofEvidence, ...]
    repairs: tuple[Repair, ...]
    panel: Panel | None
    gaps: tuple[Undecided, ...]
    provenance: Mapping[str, Any]
