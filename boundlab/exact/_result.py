"""Result of an exact evaluation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, Literal, final

from boundlab.__about__ import __version__
from boundlab.exact._rows import (
    Derivation,
)
from boundlab.files import schema
from boundlab.instance.from_case import Membership, conditional, headline, uncertified
from boundlab.instance.readings import SymbolValue
from boundlab.result import Result
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict

Kind = Literal["exact", "enclosure", "numeric"]


@final
@dataclass(frozen=True, slots=True)
class Growth:
    """A family of cases, and how both sides grow along it.

    Parameters
    ----------
    along
        The symbols that move.
    family
        How they move, in words.
    left, right
        Both sides along it; empty where they are not known.
    refutes
        Whether left/right is proved to be unbounded: then no constants make the right side a bound.
    why
        The comparison in words, or why there is none.
    """

    along: tuple[str, ...]
    family: str
    left: str = ""
    right: str = ""
    refutes: bool = False
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {**asdict(self), "along": list(self.along)}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ExactResult(Result):
    """Both sides of a theorem for one case.

    Parameters
    ----------
    theorem
        Its id.
    left, right
        Both sides, rounded to floating point.
    left_text, right_text
        Both sides as they were found: a rational number, one with a square root, an interval, or a float.
    left_exact, right_exact
        Both sides as fractions, with all digits; None where a side is no rational number, or not known as one.
    kind
        ``exact``: numbers without rounding, compared without rounding. ``enclosure``: intervals that certainly hold
        the numbers. ``numeric``: floats, with proved ends.
    violated
        Whether left > right, for certain.
    method
        How the left side was found.
    k
        The iteration of the left side.
    values
        The symbols of the bound, as text or numbers.
    constants
        Those that came from the problem, by symbol: their values and where they come from.
    note
        What a reader should know, such as why a number that is above the bound does not refute the theorem.
    symbols
        All symbols that the bound reads, with sides and origins.
    decided
        Whether the sides can be told apart: not where floats differ by rounding, where intervals overlap, or where
        the bound has unknown constants.
    core
        The hash of the core statement.
    objective
        What is minimised and measured, in words.
    sentence
        The case and both sides, in one sentence; empty where the numbers are floats.
    growth
        Of a printed O(·) with symbols along which its constants are the same: families that begin at the case.
    derivation
        The way to both sides, where it was asked for and the numbers are exact, or balls.
    proof
        Whether the theorem's proof speaks of the case; None where it has none.
    still
        That the bound is not below the error of never moving, as a half sentence; empty where it is below, or the
        case does not hold.
    statement
        The theorem itself, where its left side is to be named.
    """

    theorem: str
    left: float
    right: float
    left_text: str
    right_text: str
    kind: Kind
    violated: bool
    method: str
    k: int
    values: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    symbols: tuple[SymbolValue, ...] = ()
    decided: bool = True
    core: str = ""
    objective: str = ""
    growth: tuple[Growth, ...] = ()
    sentence: str = ""
    derivation: Derivation | None = None
    proof: Membership | None = None
    still: str = ""
    left_exact: Fraction | None = None
    right_exact: Fraction | None = None
    statement: Theorem | None = None

    @property
    def ratio(self) -> float:
        """left/right; 0 where both are 0."""
        if self.right > 0.0:
            return self.left / self.right
        return float("inf") if self.left > 0.0 else 0.0

    @property
    def verdict(self) -> Verdict:
        """``holds`` or ``violated`` on this case; ``inconclusive`` where a larger left side refutes nothing."""
        return self._judged[0]

    @property
    def headline(self) -> str:
        """The verdict, and whether the bound is vacuous."""
        return headline(self.verdict, self.still)

    @property
    def refuting(self) -> Growth | None:
        """The family along which no constants make the right side a bound; None: none is known."""
        return next((one for one in self.growth if one.refutes), None)

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, in one sentence."""
        return self._judged[1]

    @property
    def _judged(self) -> tuple[Verdict, str]:
        if (one := self.refuting) is not None:
            return Verdict.VIOLATED, f"{one.family}: {one.why}"
        found = Verdict.VIOLATED if self.violated else Verdict.HOLDS if self.decided else Verdict.INCONCLUSIVE
        near = abs(self.left - self.right) <= 1e-9 * abs(self.right)  # which words are used, and no more
        words = {
            Verdict.VIOLATED: "is above",
            Verdict.HOLDS: "is not above",
            Verdict.INCONCLUSIVE: "is not told from" if near else "refutes nothing beside",
        }[found]
        why = f"{self.still}{'; ' * bool(self.still)}the left side {words} the bound on this case ({self.kind})"
        return conditional(uncertified(self.symbols), found, why)

    def line(self) -> str:
        """Return both sides and the verdict."""
        sides = f"left {self.left:.6g}, right {self.right:.6g} ({self.kind})"
        return f"{self.theorem} at k = {self.k}: {self.headline}: {sides}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "schema": schema("exact"),
            "boundlab": __version__,
            "theorem": self.theorem,
            "core": self.core,
            "objective": self.objective,
            "k": self.k,
            "left": self.left,
            "right": self.right,
            "sentence": self.sentence,
            "left_text": self.left_text,
            "right_text": self.right_text,
            "ratio": self.ratio if self.ratio < float("inf") else None,
            "kind": self.kind,
            "method": self.method,
            "values": dict(self.values),
            "constants": dict(self.constants),
            "symbols": [reading.as_dict() for reading in self.symbols],
            "note": self.note,
            **({"membership": self.proof.words} if self.proof else {}),
            "reason": self.reason,
            "verdict": self.verdict,
            **({"growth": [one.as_dict() for one in self.growth]} if self.growth else {}),
            **({} if self.derivation is None else {"derivation": self.derivation.as_dict()}),
        }
