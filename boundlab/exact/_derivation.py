"""Derivation for a referee: the instance, what happens on it, both sides, and why one is larger, as a value."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from boundlab.arithmetic.writing import Sentence, Written

MOST: Final = 64  # rows of a table


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Rows that are read off the exact engine.

    Parameters
    ----------
    columns
        Their heads.
    rows
        One entry a column.
    """

    columns: tuple[Sentence, ...]
    rows: tuple[tuple[Sentence, ...], ...]


@final
@dataclass(frozen=True, slots=True)
class Chain:
    """``left = 1/8·(1 − √15/20) + 7/8 = 1 − √15/160``, or a chain of equivalent inequalities.

    Parameters
    ----------
    first
        What stands before the first sign.
    links
        Signs, as they are written and in LaTeX, with what follows them.
    """

    first: Written
    links: tuple[tuple[str, str, Written], ...]


Item: TypeAlias = Sentence | Table | Chain


STANDS_ON: Final = "What it stands on"
"""The title of the last section: conditions, and what was read off the run, in numbers."""


@final
@dataclass(frozen=True, slots=True)
class DerivationSection:
    """A part of a derivation."""

    title: str
    items: tuple[Item, ...]


@final
@dataclass(frozen=True, slots=True)
class Derivation:
    """The way to both sides of a theorem on one case, from the exact engine's own numbers.

    Parameters
    ----------
    theorem
        Its id.
    by_hand
        Whether all that is added up is there: no row left out, no number shortened to a decimal.
    sections
        The instance; what happens; the two sides; the inequality.
    """

    theorem: str
    by_hand: bool
    sections: tuple[DerivationSection, ...]

    def tables(self) -> Iterator[Table]:
        """Yield the tables."""
        for section in self.sections:
            yield from (item for item in section.items if isinstance(item, Table))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields, with all digits."""
        return {
            "by_hand": self.by_hand,
            "sections": [
                {"title": section.title, "items": [_as_dict(item) for item in section.items]}
                for section in self.sections
            ],
        }


def _as_dict(item: Item) -> Any:
    match item:
        case Sentence():
            return item.exact
        case Table(columns, rows):
            return {
                "columns": [column.text for column in columns],
                "rows": [[entry.exact for entry in row] for row in rows],
            }
        case Chain(first, links):
            return {"chain": [first.exact, *(f"{sign} {piece.exact}" for sign, _, piece in links)]}


def equalities(first: Written, *pieces: Written) -> Chain:
    """Return ``first = … = … ≈ …``; pieces that say the same as the one before are left out."""
    links: list[tuple[str, str, Written]] = []
    before = first.text
    for piece in pieces:
        if piece.text != before:
            links.append(("≈", r"\approx", piece) if piece.near else ("=", "=", piece))
            before = piece.text
    return Chain(first, tuple(links))
