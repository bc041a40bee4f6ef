"""Elements of a page: sections of blocks, without a word on how a medium shows them."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

from boundlab.errors import visible
from boundlab.exact import Derivation

Tone = Literal["", "strong", "code", "good", "bad", "open", "dim", "mark"]
Piece: TypeAlias = tuple[str, Tone]
Line: TypeAlias = tuple[Piece, ...]


def line(*parts: str | Piece) -> Line:
    """Return words, some of them with a tone."""
    return tuple((part, "") if isinstance(part, str) else part for part in parts)


def seen(block: "Block") -> "Block":
    """Return a block whose texts are all visible."""
    match block:
        case Words():
            return Words(_seen(block.words))
        case Points():
            return Points(tuple(map(_seen, block.points)))
        case FormulaBlock():
            return FormulaBlock(tuple(map(visible, block.texts)), visible(block.latex))
        case Rows():
            rows = tuple(tuple(map(_seen, row)) for row in block.rows)
            return replace(block, caption=visible(block.caption), columns=tuple(map(visible, block.columns)), rows=rows)
        case Commands():
            return Commands(tuple(map(visible, block.commands)))
        case Fold():
            return Fold(visible(block.title), tuple(map(seen, block.blocks)))
        case Chart():
            return replace(block, title=visible(block.title), description=visible(block.description))
        case Way():
            return block


def _seen(words: Line) -> Line:
    return tuple((visible(text), tone) for text, tone in words)


@final
@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph."""

    words: Line


@final
@dataclass(frozen=True, slots=True)
class Points:
    """A list."""

    points: tuple[Line, ...]


@final
@dataclass(frozen=True, slots=True)
class FormulaBlock:
    """Displayed formulas.

    Parameters
    ----------
    texts
        One a line, as people write them.
    latex
        All of them for the math mode of LaTeX; empty where nothing but the text may be trusted.
    """

    texts: tuple[str, ...]
    latex: str = ""


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """A table.

    Parameters
    ----------
    caption
        What it shows.
    columns
        Their heads.
    numbers
        Which columns hold numbers.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: frozenset[int] = frozenset()


@final
@dataclass(frozen=True, slots=True)
class Commands:
    """Command lines that repeat a number."""

    commands: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Way:
    """The way to both sides of a theorem, in exact numbers."""

    derivation: Derivation


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart, at increasing abscissae, with missing or non-positive values left out."""

    label: str
    points: tuple[tuple[float, float], ...]
    style: int


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """Curves on logarithmic axes.

    Parameters
    ----------
    title, description
        What it shows, and the same for those who do not see it.
    across, up
        What the axes are.
    """

    title: str
    description: str
    across: str
    up: str
    curves: tuple[Curve, ...]


@final
@dataclass(frozen=True, slots=True)
class Fold:
    """Evidence that stands behind a line; a terminal shows it where it is asked for."""

    title: str
    blocks: "tuple[Block, ...]"


Block: TypeAlias = Words | Points | FormulaBlock | Rows | Commands | Way | Chart | Fold


@final
@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Parameters
    ----------
    id
        For links.
    """

    id: str
    title: str
    blocks: tuple[Block, ...]
