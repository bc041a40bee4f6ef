"""Elements of a page, without a word on how a medium shows them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, final

if TYPE_CHECKING:
    from boundlab.instance.from_case import Membership


Tone = Literal["", "strong", "code", "command", "good", "bad", "open", "dim", "mark", "note"]
_TONES: Final[dict[str, Tone]] = {
    "holds": "good",
    "consistent": "good",
    "proved": "good",
    "passed": "good",
    "violated": "bad",
    "refuted": "bad",
    "false": "bad",
    "failed": "bad",
    "does not follow": "bad",
    "not applicable": "dim",
    "remark": "dim",
}
_NARROW = 28  # letters


def tone_of(word: str) -> Tone:
    """Return the tone of a verdict; one that decides nothing is open."""
    return _TONES.get(word, "open")


class Piece(NamedTuple):
    """Words of one tone.

    Parameters
    ----------
    text
        As people read it.
    tone
        What the words are; a command is broken by no terminal.
    latex
        What stands for it in LaTeX's text mode; empty where that is the text.
    """

    text: str
    tone: Tone = ""
    latex: str = ""


Line: TypeAlias = tuple[Piece, ...]


def line(*parts: str | tuple[str, Tone] | Piece) -> Line:
    """Return words, some of them with a tone."""
    return tuple(Piece(part) if isinstance(part, str) else Piece(*part) for part in parts)


def plain(words: Line) -> str:
    """Return words without their tones."""
    return "".join(piece.text for piece in words)


@final
@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph; one without words is a line of space, where a medium counts lines."""

    words: Line = ()


def words(*parts: str | tuple[str, Tone] | Piece) -> Words:
    """Return a paragraph; see :func:`line`."""
    return Words(line(*parts))


GAP: Final = Words()


@final
@dataclass(frozen=True, slots=True)
class Points:
    """A list."""

    points: tuple[Line, ...]


def points(lines: Iterable[str | Line]) -> Points:
    """Return a list of words and lines."""
    return Points(_lines(lines))


@final
@dataclass(frozen=True, slots=True)
class FormulaBlock:
    """Displayed formulas.

    Parameters
    ----------
    rows
        One a line, as people write them, cut where signs stand below each other.
    latex
        All of them for the math mode of LaTeX; empty where nothing but the text may be trusted.
    """

    rows: tuple[tuple[str, ...], ...]
    latex: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The rows, one text each; what goes on is indented."""
        return tuple(" ".join(one if one[0] else ("   ", *one[1:])) for one in self.rows)


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """A table; see :func:`rows`.

    Parameters
    ----------
    caption
        What it shows.
    columns
        Their heads.
    numbers
        Which columns hold numbers.
    whole
        Which columns are not broken.
    """

    caption: str
    columns: tuple[Line, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: frozenset[int] = frozenset()
    whole: frozenset[int] = frozenset()

    def letters(self, place: int) -> int:
        """Return how long the longest entry of a column is."""
        return max((len(plain(row[place])) for row in self.rows), default=0)

    def narrow(self, place: int) -> bool:
        """Return whether a column is as narrow as its words, and need not be broken."""
        return self.letters(place) <= _NARROW


Cells: TypeAlias = Sequence[str | Line]


def table(
    caption: str, columns: Cells, rows: Iterable[Cells], numbers: Iterable[int] = (), whole: Iterable[int] = ()
) -> Rows:
    """Return a table of words and lines."""
    return Rows(caption, _lines(columns), tuple(map(_lines, rows)), frozenset(numbers), frozenset(whole))


def figures(columns: Cells, rows: Iterable[Cells], *, words: Iterable[int] = ()) -> Rows:
    """Return a table of results: names in the first column, and numbers in all others but those of ``words``."""
    numbers = set(range(1, len(columns))).difference(words)
    return table("", columns, rows, numbers, whole=(0,))


def _lines(cells: Iterable[str | Line]) -> tuple[Line, ...]:
    return tuple(line(cell) if isinstance(cell, str) else cell for cell in cells)


@final
@dataclass(frozen=True, slots=True)
class Commands:
    """Command lines that repeat a number."""

    commands: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing.

    Parameters
    ----------
    title, description
        What it shows, in a few words and in sentences: a medium without drawings has these.
    svg
        The drawing; empty where none was made.
    """

    title: str
    description: str
    svg: str = ""


@final
@dataclass(frozen=True, slots=True)
class Part:
    """Blocks below a title of their own."""

    title: str
    blocks: "tuple[Block, ...]"


@final
@dataclass(frozen=True, slots=True)
class Fold:
    """Evidence that stands behind a line; a terminal shows it where it is asked for."""

    title: str
    blocks: "tuple[Block, ...]"


@final
@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page that links go to.

    Parameters
    ----------
    id
        For links.
    tone
        Of the whole of it, where it is what the page comes down to.
    """

    id: str
    title: str
    blocks: "tuple[Block, ...]"
    tone: Tone = ""


Block: TypeAlias = Words | Points | FormulaBlock | Rows | Commands | Chart | Part | Fold | Section

_KINDS: Final = {
    one.__name__: one for one in (Piece, Words, Points, FormulaBlock, Rows, Commands, Chart, Part, Fold, Section)
}


def as_data(value: Any) -> Any:
    """Return a block, or a part of one, as lists that JSON holds; see :func:`from_data`."""
    if type(value).__name__ in _KINDS:
        names = _KINDS[type(value).__name__].__match_args__
        return {type(value).__name__: [as_data(getattr(value, name)) for name in names]}
    if isinstance(value, frozenset):
        return {"frozenset": sorted(value)}
    return [as_data(one) for one in value] if isinstance(value, tuple) else value


def from_data(data: Any) -> Any:
    """Return the block that :func:`as_data` has been given."""
    if isinstance(data, dict):
        ((kind, values),) = data.items()
        return frozenset(values) if kind == "frozenset" else _KINDS[kind](*map(from_data, values))
    return tuple(map(from_data, data)) if isinstance(data, list) else data


# Parts that the pages of several results share: figures, constants, the verdict.


def figure(value: float) -> str:
    """Return a number with four significant digits."""
    return f"{value:.4g}"


def word(value: Any) -> str:
    """Return a value: a float with four significant digits, anything else as it is."""
    return figure(value) if isinstance(value, float) else str(value)


def of_objective(words: str) -> str:
    """Return what a head says of the objective: nothing of the plain mean, with which f stands for itself."""
    return f", f = {words}" if words.startswith("Σ") else ""


def constants_of(rows: Iterable[tuple[str, str, str, str]]) -> Rows:
    """Return the constants of an instance: name, value, side, and how it was found."""
    return figures(("constant", "value", "side", "how"), rows, words=(2, 3))


def verdict_words(verdict: str, reason: str, note: str = "") -> Words:
    """Return the verdict, coloured, with what is to be noted and its reason."""
    return words((f"{verdict}{note}: ", tone_of(verdict)), reason)


def proof_speaks(of: "Membership | None") -> list[Words]:
    """Return whether a proof speaks of the runs in hand; nothing where there is no proof."""
    return [] if of is None else [words((of.words, "open" if of.outside else "dim"))]
