"""What the other judges say, to look at."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from boundlab.api._shown import Shown, fields_of, frame
from boundlab.checks import Check, exit_code
from boundlab.exact import ExactResult
from boundlab.falsify import Falsification, Instance
from boundlab.files import schema
from boundlab.prove import Outcome
from boundlab.server_rate import OptimalRate
from boundlab.theorems import Theorem
from boundlab.verdict import ExitCode, Verdict
from boundlab.worst_case import WorstCase

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, repr=False)
class Checks(Shown):
    """The checks of one theorem.

    Parameters
    ----------
    checks
        Each with its verdict and its witness.
    """

    theorem: Theorem
    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """Those that failed."""
        return tuple(one for one in self.checks if one.verdict == "failed")

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        return exit_code(self.checks)

    @property
    def verdict(self) -> str:
        """``failed`` where a check failed, ``unknown`` where nothing could be decided, else ``passed``."""
        return {ExitCode.REFUTED: "failed", ExitCode.UNDECIDED: "unknown"}.get(self.exit_code, "passed")

    def line(self) -> str:
        """Return how many failed, and which."""
        named = ", ".join(one.id for one in self.failed)
        failed = f"{len(self.failed)} of {len(self.checks)} checks failed{': ' * bool(named)}{named}"
        return f"{self.theorem.id}: {self.verdict}: {failed}"

    def page(self, verbose: bool = False) -> list[Any]:
        """Return the table; ``verbose``: with what passed and what does not apply."""
        from boundlab.report.check_table import check_table

        return check_table(self.theorem, self.checks, verbose)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        rows = [one.as_dict() for one in self.checks]
        links = self.theorem.links()
        return {
            "schema": schema("checks"), "theorem": self.theorem.id, **links, "verdict": self.verdict,
            "exit_code": self.exit_code, "checks": rows,
        }  # fmt: skip

    def to_frame(self) -> "pandas.DataFrame":
        """Return a row for each check."""
        rows = [one.as_dict() for one in self.checks]
        return frame({name: [row[name] for row in rows] for name in ("id", "verdict", "statement", "witness")})


@dataclass(frozen=True, slots=True, repr=False)
class Searched(Shown, Falsification):
    """The outcome of a search for a counterexample."""

    @classmethod
    def of(cls, one: Falsification) -> Self:
        """Return an outcome, to be shown."""
        return cls(**fields_of(one))

    @property
    def smallest(self) -> Instance | None:
        """The smallest counterexample; None where none was found."""
        return self.best if self.violated else None

    def line(self) -> str:
        """Return the verdict with its instance."""
        tried = f"{sum(self.tried.values())} candidates"
        if self.best is None:
            why = f"; no instance was found that meets {self.unmet}" if self.unmet else ""
            return f"{self.theorem.id}: inconclusive: it applies to none of {tried}{why}"
        found = "smallest counterexample" if self.violated else "closest instance"
        words = f"{found}, left/right {self.best.ratio:.4g}: {self.best.words()}"
        return f"{self.theorem.id}: {self.verdict}: {tried}; {words}"

    def page(self, typed: str = "", written: Path | None = None) -> list[Any]:
        """Return what was tried and what was found; ``typed``, ``written``: the theorem and the case file, as given."""
        from boundlab.report.falsify_page import falsify_page

        return falsify_page(self, typed, written)


@dataclass(frozen=True, slots=True, repr=False)
class Evaluated(Shown, ExactResult):
    """Both sides on one case.

    Parameters
    ----------
    statement
        The theorem.
    """

    statement: Theorem | None = None

    @classmethod
    def of(cls, one: ExactResult, statement: Theorem) -> Self:
        """Return a result, to be shown."""
        return cls(**fields_of(one), statement=statement)

    def line(self) -> str:
        """Return both sides and the verdict."""
        sides = f"left {self.left:.6g}, right {self.right:.6g} ({self.kind})"
        return f"{self.theorem} at k = {self.k}: {self.verdict}: {sides}"

    def page(self) -> list[Any]:
        """Return the derivation where there is one, else the numbers."""
        from boundlab.report.exact_page import exact_page

        return exact_page(self.statement, self) if self.statement is not None else [self.line()]


@dataclass(frozen=True, slots=True, repr=False)
class Worst(Shown, WorstCase):
    """A worst case over a class of functions."""

    @classmethod
    def of(cls, one: WorstCase) -> Self:
        """Return a worst case, to be shown."""
        return cls(**fields_of(one))

    @property
    def verdict(self) -> Verdict:
        """What it says of the theorem."""
        return self.outcome.verdict

    def line(self) -> str:
        """Return the outcome."""
        return (
            f"{self.plan.theorem.id} at {self.plan.theorem.counter} = {self.plan.horizon}: {self.words}: {self.reason}"
        )

    def page(self) -> list[Any]:
        """Return the program, its numbers, and the outcome."""
        from boundlab.report.worst_case_page import worst_case_page

        return worst_case_page(self)


@dataclass(frozen=True, slots=True, repr=False)
class Decided(Shown, Outcome):
    """A proof whose steps were decided."""

    @classmethod
    def of(cls, one: Outcome) -> Self:
        """Return a proof, to be shown."""
        return cls(**fields_of(one))

    def line(self) -> str:
        """Return the verdict."""
        return f"{self.script.id}, {len(self.steps)} steps: {self.verdict}"

    def page(self) -> list[Any]:
        """Return the steps with their verdicts."""
        from boundlab.report.proofs import steps_page

        return list(steps_page(self))


@dataclass(frozen=True, slots=True, repr=False)
class BestRate(Shown, OptimalRate):
    """The best server rate."""

    @classmethod
    def of(cls, one: OptimalRate) -> Self:
        """Return a rate, to be shown."""
        return cls(**fields_of(one))

    def line(self) -> str:
        """Return the rate, or from where on the bound is near its limit."""
        what = (
            f"λ_s* = {self.lambda_s:.6g}"
            if self.lambda_s is not None
            else f"no minimum; within {self.epsilon:.3g} of the limit from λ_s = {self.lambda_epsilon:.6g}"
        )
        return f"{what} for {len(self.rates)} clients, {self.objective}"

    def page(self) -> list[Any]:
        """Return the table."""
        from boundlab.report.rate_page import rate_page

        return rate_page(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw both objectives over the server rate; return the axes of matplotlib."""
        from boundlab.report.plots import draw_rates

        return draw_rates(self, ax)
