"""Presentation shared by all results: a line as text, a page in a notebook, and frames."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, final

from boundlab.errors import MissingExtraError
from boundlab.files import write_csv

if TYPE_CHECKING:
    import pandas

    from boundlab.pages import Block


class Shown:
    """A result with a line, and a page of blocks that every medium shows."""

    __slots__ = ()

    @classmethod
    def of(cls, one: Any, **more: Any) -> Self:
        """Return what a judge found, to be shown: the same fields, and more."""
        return cls(**{field.name: getattr(one, field.name) for field in fields(one)}, **more)

    @abstractmethod
    def line(self) -> str:
        """Return what came out, in one line."""

    def page(self, *given: Any, **options: Any) -> "list[Block]":
        """Return what the command line prints, as blocks; see :mod:`boundlab.pages`.

        Parameters
        ----------
        given, options
            Of the function that makes the page, such as :func:`boundlab.pages.results.comparison_page`.
        """
        from boundlab.pages import page

        return page(self, *given, **options)

    def __repr__(self) -> str:
        """Say what came out, in one line."""
        return f"<{self.line()}>"

    def __eq__(self, other: object) -> bool:
        """Return whether both say the same: what ``--json`` prints of them is equal."""
        one, two = (getattr(result, "as_dict", object) for result in (self, other))
        return self is other or (isinstance(other, Shown) and one() == two())

    def __hash__(self) -> int:
        return hash(self.line())

    def _repr_html_(self) -> str:
        from boundlab.pages.html import fragment

        return fragment(self.page())


class Tabular(Shown):
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
class Report(Shown):
    """Pages of a proof or an audit, without what it was derived from: as this it comes from another process."""

    text: str
    verdict: str
    blocks: "tuple[Block, ...]"
    document: Mapping[str, Any]

    def line(self) -> str:
        """Return what came out, in one line."""
        return self.text

    def page(self, *_given: Any, **_options: Any) -> "list[Block]":
        """Return what the command line printed, as blocks."""
        return list(self.blocks)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return dict(self.document)


def reported(one: Any) -> tuple[Any, ...]:
    """Return how a result pickles whose parts stay where they were derived."""
    return Report, (one.line(), one.verdict, tuple(one.page()), one.as_dict())


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
