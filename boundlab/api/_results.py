"""Results to look at: what the judges return, with a line as text, a page in a notebook, frames and plots."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from boundlab.checks import Check, exit_code
from boundlab.compare import Comparison
from boundlab.compare.joint import joint_verdict
from boundlab.errors import MissingExtraError, SpecError
from boundlab.exact import ExactResult
from boundlab.falsify import Falsification, Instance
from boundlab.files import Document
from boundlab.prove import Outcome
from boundlab.server_rate import OptimalRate
from boundlab.simulate.simulation import Simulation
from boundlab.theorems import Theorem
from boundlab.verdict import ExitCode, Verdict
from boundlab.worst_case import WorstCase

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]


class Shown:
    """A result with a line, and a page of lines and tables."""

    __slots__ = ()

    @abstractmethod
    def line(self) -> str:
        """Return what came out, in one line."""

    @abstractmethod
    def page(self) -> list[Any]:
        """Return what the command line prints: strings, and texts and tables of Rich."""

    def __repr__(self) -> str:
        """Say what came out, in one line."""
        return f"<{self.line()}>"

    def _repr_html_(self) -> str:
        from boundlab.report.html import html

        return html(self.page())


def _fields(one: Any) -> list[Any]:
    return [getattr(one, field.name) for field in fields(one)]


def _frame(columns: Mapping[str, Any]) -> "pandas.DataFrame":
    """Return a frame.

    Raises
    ------
    MissingExtraError
        If pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise MissingExtraError('frames need pandas: pip install "boundlab[notebook]"') from None
    return pandas.DataFrame(columns)


def _compared_columns(one: Comparison) -> dict[str, Any]:
    band = one.band
    return {
        one.plan.theorem.counter: one.plan.ks, "mean": band.mean, "lower": band.lower, "upper": band.upper,
        "bound": one.bound, "ratio": one.ratio, **{f"term {name}": term for name, term in one.terms.items()},
    }  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Compared(Shown, Comparison):
    """A comparison at one horizon."""

    @classmethod
    def of(cls, one: Comparison) -> Self:
        """Return a comparison, to be shown."""
        return cls(*_fields(one))

    def line(self) -> str:
        """Return theorem, problem and verdict."""
        return f"{self.plan.theorem.id} on {self.plan.problem.id}: {self.headline}: {self.explanation}"

    def page(self, terms: bool = False) -> list[Any]:
        """Return the tables and the verdict; ``terms``: with the terms of the bound."""
        from boundlab.report.tables import comparison_table

        return comparison_table(self, terms)

    def to_frame(self) -> "pandas.DataFrame":
        """Return a row for each iteration: the left side with its limits, the bound, its terms."""
        return _frame(_compared_columns(self))

    def plot(self, ax: Any = None, *, terms: bool = False) -> Any:
        """Draw left side and bound, and return the axes of matplotlib; ``terms``: the terms of the bound, too."""
        from boundlab.report.plots import draw_comparison

        return draw_comparison(self, ax, terms)


@dataclass(frozen=True, slots=True, repr=False)
class Horizons(Shown):
    """Comparisons at several horizons, each a run of its own, judged together.

    Parameters
    ----------
    comparisons
        By increasing horizon.
    """

    comparisons: tuple[Compared, ...]

    @property
    def theorem(self) -> Theorem:
        """What was compared."""
        return self.comparisons[0].plan.theorem

    @property
    def iterations(self) -> list[int]:
        """The horizons."""
        return [one.plan.iterations for one in self.comparisons]

    @property
    def verdict(self) -> Verdict:
        """What all say together: ``violated`` at one horizon refutes the theorem."""
        return joint_verdict([one.verdict for one in self.comparisons])

    @property
    def reason(self) -> str:
        """Why, by the horizon that decides: the one with that verdict that comes closest."""
        own = [one for one in self.comparisons if one.verdict is self.verdict]
        return max(own, key=lambda one: float(one.ratio.max())).explanation

    @property
    def case(self) -> Document:
        """The case file of the horizon at which the bound is nearest, or most violated."""
        return max(self.comparisons, key=lambda one: float(one.ratio.max())).case

    def line(self) -> str:
        """Return theorem, horizons and verdict."""
        first, last = self.iterations[0], self.iterations[-1]
        theorem = self.theorem
        return f"{theorem.id} at {len(self.comparisons)} horizons {first} … {last}: {self.verdict}: {self.reason}"

    def page(self, terms: bool = False) -> list[Any]:
        """Return a line for each horizon, and the verdict; ``terms``: with the terms of the bound."""
        from boundlab.report.tables import horizons_table

        return horizons_table(self.comparisons, self.verdict, self.reason, terms)

    def to_frame(self) -> "pandas.DataFrame":
        """Return a row for each horizon."""
        every = [_compared_columns(one) for one in self.comparisons]
        columns = {name: np.concatenate([np.asarray(one[name]) for one in every]) for name in every[0]}
        return _frame({**columns, "verdict": [one.verdict.value for one in self.comparisons]})

    def plot(self, ax: Any = None, *, terms: bool = False) -> Any:
        """Draw left sides and bounds over the horizons, and return the axes of matplotlib."""
        from boundlab.report.plots import draw_horizons

        return draw_horizons(self.comparisons, ax, terms)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "theorem": self.theorem.id, "iterations": self.iterations, "verdict": self.verdict.value,
            "reason": self.reason, "comparisons": [one.as_dict() for one in self.comparisons],
        }  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Ran(Shown, Simulation):
    """A simulation."""

    @classmethod
    def of(cls, one: Simulation) -> Self:
        """Return a simulation, to be shown."""
        return cls(*_fields(one))

    def line(self) -> str:
        """Return what ran, and the last means."""
        last = ", ".join(f"{name} {values[:, -1].mean():.4g}" for name, values in self.metrics.items())
        return f"{self.algorithm.id} on {self.problem.id}, {len(self.statistics)} trials, k = {self.ks[-1]}: {last}"

    def page(self) -> list[Any]:
        """Return the tables."""
        from boundlab.report.tables import run_table

        return run_table(self)

    def to_frame(self) -> "pandas.DataFrame":
        """Return a row for each trial and iteration."""
        trials, points = len(self.statistics), len(self.ks)
        columns = {name: values.reshape(-1) for name, values in self.metrics.items()}
        where = {"trial": np.repeat(np.arange(trials), points), "k": np.tile(self.ks, trials)}
        return _frame({**where, **columns})

    def plot(self, ax: Any = None, *, metric: str | None = None) -> Any:
        """Draw one metric, the mean over the trials and their range; return the axes of matplotlib.

        Raises
        ------
        SpecError
            If the run has no such metric.
        """
        from boundlab.options import nearest
        from boundlab.report.plots import draw_run

        chosen = metric or next(iter(self.metrics))
        if chosen not in self.metrics:
            raise SpecError(f"the run has no metric {chosen!r}; {nearest(chosen, self.metrics)}")
        return draw_run(self, chosen, ax)


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

    def line(self) -> str:
        """Return how many failed, and which."""
        named = ", ".join(one.id for one in self.failed)
        return f"{self.theorem.id}: {len(self.failed)} of {len(self.checks)} checks failed{': ' * bool(named)}{named}"

    def page(self, verbose: bool = False) -> list[Any]:
        """Return the table; ``verbose``: with what passed and what does not apply."""
        from boundlab.report.check_table import check_table

        return check_table(self.theorem, self.checks, verbose)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        rows = [one.as_dict() for one in self.checks]
        links = self.theorem.links()
        return {"theorem": self.theorem.id, **links, "exit_code": self.exit_code, "checks": rows}

    def to_frame(self) -> "pandas.DataFrame":
        """Return a row for each check."""
        rows = [one.as_dict() for one in self.checks]
        return _frame({name: [row[name] for row in rows] for name in ("id", "verdict", "statement", "witness")})


@dataclass(frozen=True, slots=True, repr=False)
class Searched(Shown, Falsification):
    """The outcome of a search for a counterexample."""

    @classmethod
    def of(cls, one: Falsification) -> Self:
        """Return an outcome, to be shown."""
        return cls(*_fields(one))

    @property
    def smallest(self) -> Instance | None:
        """The smallest counterexample; None where none was found."""
        return self.best if self.violated else None

    def line(self) -> str:
        """Return the verdict with its instance."""
        tried = f"{sum(self.tried.values())} candidates"
        if self.best is None:
            return f"{self.theorem.id}: inconclusive: it applies to none of {tried}"
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
        return cls(*_fields(one), statement=statement)

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
        return cls(*_fields(one))

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
        return cls(*_fields(one))

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
        return cls(*_fields(one))

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
