"""Results of questions, whoever judges them: one line, a page, a document, and a table where it is one.

A judge makes its result and knows no page. Pages stand above the judges whose results they show, and media above both:
they are found by name when somebody looks.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from boundlab.errors import MissingExtraError
from boundlab.files import write_csv
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    import pandas


class Result:
    """A result with a line, a document, and a page of blocks that every medium shows."""

    __slots__ = ()

    @abstractmethod
    def line(self) -> str:
        """Return what came out, in one line."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends: as the verdict says, and where nothing is judged, as one that did what it was asked."""
        found: ExitCode = getattr(getattr(self, "verdict", None), "exit_code", ExitCode.STANDS)
        return found

    def page(self, *given: Any, **options: Any) -> list[Any]:
        """Return what the command line prints, as blocks; see :mod:`boundlab.pages`.

        Parameters
        ----------
        given, options
            Of the function that makes the page, such as :func:`boundlab.pages.results.comparison_page`.
        """
        found: list[Any] = import_module("boundlab.pages").page(self, *given, **options)
        return found

    def __repr__(self) -> str:
        """Say what came out, in one line."""
        return f"<{self.line()}>"

    def __eq__(self, other: object) -> bool:
        """Return whether both say the same: what ``--json`` prints of them is equal."""
        return self is other or (isinstance(other, Result) and self.as_dict() == other.as_dict())

    def __hash__(self) -> int:
        return hash(self.line())

    def _repr_html_(self) -> str:
        return str(import_module("boundlab.pages.html").fragment(self.page()))


class Tabular(Result):
    """A result that is a table, too."""

    __slots__ = ()

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Return its columns by name, all of one length."""

    def to_frame(self) -> "pandas.DataFrame":
        """Return the columns as a frame.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return frame(self.columns())

    def save_csv(self, path: Path) -> None:
        """Write the columns.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        columns = self.columns()
        write_csv(path, list(columns), zip(*columns.values(), strict=True))


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Report(Result):
    """A result that is its words alone: a proof or an audit from another process, or what one command puts together."""

    text: str
    verdict: str
    blocks: tuple[Any, ...]
    document: Mapping[str, Any]

    def line(self) -> str:
        """Return what came out, in one line."""
        return self.text

    def page(self, *_given: Any, **_options: Any) -> list[Any]:
        """Return what the command line printed, as blocks."""
        return list(self.blocks)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return dict(self.document)


def reported(one: Any) -> tuple[Any, ...]:
    """Return how a result pickles whose parts stay where they were derived."""
    return Report, (one.line(), one.verdict, tuple(one.page()), one.as_dict())


def drawn(name: str, result: Result, *given: Any) -> Any:
    """Return the axes of matplotlib on which a function of :mod:`boundlab.pages.plots` has drawn a result."""
    return getattr(import_module("boundlab.pages.plots"), name)(result, *given)


def frame(columns: Mapping[str, Any]) -> "pandas.DataFrame":
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
