"""Output of the commands on a terminal or a pipe: lines, pages, JSON, a bar of progress.

Characters that a terminal lacks are spelled out, and output that gets lost is noticed: all commands write to
``sys.stdout`` and ``sys.stderr``; while one runs, both are a :class:`Screen`.
"""

import codecs
import contextlib
import errno
import json
import os
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

from boundlab.errors import visible
from boundlab.greek import NAMES

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console

    from boundlab.pages import Block
    from boundlab.sweep.drive import Progress
    from boundlab.theorems import Theorem

_SPELL = "boundlab.spell"
_SPELLED = {
    **NAMES,
    "Σ": "sum ",
    "∑": "sum ",
    "∏": "prod ",
    "∫": "int ",
    "√": "sqrt ",
    "∇": "grad ",
    "∂": "d",
    "‖": "||",
    "ℓ": "l",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≡": "==",
    "≈": "~",
    "∼": "~",
    "∝": "~",
    "≪": "<<",
    "≫": ">>",
    "±": "+-",
    "−": "-",
    "–": "-",
    "—": "-",
    "·": "*",
    "×": "x",
    "⊗": "x",
    "∘": "o",
    "÷": "/",
    "⁄": "/",
    "∞": "inf",
    "→": "->",
    "←": "<-",
    "↔": "<->",
    "⇒": "=>",
    "⇔": "<=>",
    "⟺": "<=>",
    "↦": "|->",
    "▶": ">",
    "◀": "<",
    "∈": " in ",
    "∉": " not in ",
    "∀": "for all ",
    "∃": "there is ",
    "∧": " and ",
    "∨": " or ",
    "¬": "not ",
    "∪": " or ",
    "∩": " and ",
    "⊂": " in ",
    "⊆": " in ",
    "∅": "{}",
    "⟨": "<",
    "⟩": ">",
    "⌈": "ceil(",
    "⌉": ")",
    "⌊": "floor(",
    "⌋": ")",
    "ᵀ": "^T",
    "⊤": "^T",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "«": '"',
    "»": '"',
    "°": " deg",
    "•": "*",
    "✓": "yes",
    "✗": "no",
    "ß": "ss",
    "ø": "o",
    "Ł": "L",
    "ł": "l",
    "§": "section ",
    "′": "'",
    "″": '"',
    "⪰": ">=",
    "⪯": "<=",
    "─": "-",
    "│": "|",
    "├": "|",
    "└": "|",
    "┐": "|",
    "┘": "|",
    "\N{COMBINING MACRON}": "bar",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "hat",
    "\N{COMBINING TILDE}": "tilde",
}
_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"


def spelled(letter: str) -> str:
    """Return a character in ASCII: ``≤`` is ``<=``, ``λ`` is ``lambda``, ``²`` is ``^2``, ``é`` is ``e``.

    One that has no spelling is its Python escape.
    """
    if letter.isascii():
        return letter
    if letter in _SPELLED:
        return _SPELLED[letter]
    plain = "".join(_SPELLED.get(one, one) for one in unicodedata.normalize("NFKD", letter))
    plain = "".join(one for one in plain if one.isascii())
    if not plain:
        return letter.encode("ascii", "backslashreplace").decode("ascii")
    mark = "^" if letter in _RAISED else "_" if letter in _LOWERED else ""
    return mark + plain


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Answer a codec that cannot encode some characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(spelled, error.object[error.start : error.end])), error.end


codecs.register_error(_SPELL, _spell)


@final
class Screen:
    """A text stream that never fails: what its encoding lacks is spelled out, and a loss is remembered.

    It has no ``buffer``, so that nobody writes past it: Click does so where the encoding is ASCII.

    Parameters
    ----------
    stream
        Where the text goes; None where the file was closed before Python began.

    Attributes
    ----------
    lost
        Why something that was written did not get out; None as long as nothing was lost.
    used
        Whether anything was written.
    """

    errors = _SPELL  # how characters are treated that the encoding lacks
    closed = False  # a closed stream loses what is written

    def __init__(self, stream: "TextIO | None") -> None:
        self._stream = stream
        self.lost: BaseException | None = None
        self.used = False

    @property
    def encoding(self) -> str:
        """The encoding of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write as much as can be shown."""
        self.used = self.used or bool(text)
        safe = text if text.isascii() else text.encode(self.encoding, _SPELL).decode(self.encoding)
        if self._stream is None:
            self._lose(OSError(errno.EBADF, os.strerror(errno.EBADF)))
        elif self.lost is None:
            try:
                self._stream.write(safe)
            except (OSError, ValueError) as error:  # ValueError: somebody has closed it
                self._lose(error)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write lines."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush, or remember that it failed."""
        if self._stream is None or self.lost is not None:
            return
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._lose(error)

    def isatty(self) -> bool:
        """Return whether a person looks at it."""
        try:
            return self._stream is not None and self._stream.isatty()
        except ValueError:
            return False

    def writable(self) -> bool:
        """Return true."""
        return True

    def readable(self) -> bool:
        """Return false."""
        return False

    def fileno(self) -> int:
        """Return the file descriptor of the stream."""
        if self._stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._stream.fileno()

    def _lose(self, error: BaseException) -> None:
        self.lost = self.lost or error
        # What Python still holds must not fail again when it ends, which would choose the exit code.
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


@contextmanager
def screens() -> Iterator[Screen]:
    """Put screens before standard output and standard error for a while, and yield that of the output."""
    before = sys.stdout, sys.stderr
    out = Screen(before[0])
    sys.stdout, sys.stderr = out, Screen(before[1])
    try:
        yield out
    finally:
        for screen in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # a plug-in may have put something else there
                screen.flush()
        sys.stdout, sys.stderr = before


def occupy() -> None:
    """Give the descriptors 0, 1 and 2 to nothing where they are closed, so that no file is opened under them."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def console() -> "Console":
    """Return the console for tables; wide enough for them when the output is not a terminal.

    Whatever is printed, its own styles alone steer the terminal: a theorem's title is text.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Visible(Console):
        def render(self, renderable: Any, options: Any = None) -> Any:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else visible(text), style, control)

    width = None if sys.stdout.isatty() else 120
    return Visible(width=width, highlight=False, soft_wrap=False, markup=False, emoji=False)


def show(
    result: Any,
    page: "Callable[[], Iterable[Block]]",
    *,
    folded: bool = False,
    quiet: bool = False,
    as_json: bool = False,
    beside: Mapping[str, Any] = MappingProxyType({}),
    theorem: "Theorem | None" = None,
) -> None:
    """Print the verdict of a result in one line, or its document, or its page and the links of its theorem.

    Parameters
    ----------
    result
        With ``line()`` and ``as_dict()``.
    page
        Its blocks.
    folded
        Whether what the page has behind a line is printed, too.
    beside
        More of the document.
    """
    if quiet:
        print_line(result.line())
    elif as_json:
        print_json({**result.as_dict(), **beside})
    else:
        print_page(page(), folded=folded)
        if theorem is not None:
            from boundlab.pages.related_links import related_links

            print_links(related_links(theorem))


def print_json(value: Any) -> None:
    """Print JSON; what the output cannot encode, or steers a terminal, is written with JSON's own escapes."""
    escaped = not is_unicode(sys.stdout.encoding)
    text = json.dumps(value, indent=1, ensure_ascii=escaped, allow_nan=False)
    if visible(text) != text:
        text = json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False)
    sys.stdout.write(text + "\n")


def is_unicode(encoding: str) -> bool:
    """Return whether an encoding has all characters."""
    return encoding.lower().replace("_", "-").startswith("utf")


def print_line(line: str) -> None:
    """Print a verdict in one line, however long it is and whatever stands in it."""
    console().print(" ".join(line.split()), soft_wrap=True)


def print_page(blocks: "Iterable[Block]", *, folded: bool = False) -> None:
    """Print a page; ``folded``: with what it has behind a line."""
    from boundlab.pages.terminal import print_page as print_on

    print_on(console(), blocks, folded=folded)


def print_links(lines: str) -> None:
    """Print the pointers of a theorem, if there are any; a terminal wraps them: paths stay whole."""
    if lines:
        console().print(f"\n{lines}", soft_wrap=True)


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal; stay silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


_SILENT = 30.0  # seconds between two lines of a sweep where there is no terminal


@contextmanager
def sweep_progress() -> "Iterator[Callable[[Progress, Any], None]]":
    """Show how far a sweep is and what was found: on a terminal one line, elsewhere one every half minute."""
    last = time.monotonic()

    def words(now: "Progress") -> str:
        found = ", ".join(f"{number} {word}" for word, number in now.verdicts.items())
        left = f"about {now.left():.0f} s left" if now.done else "begins"
        cells = f"{now.cached + now.done} of {now.asked} cells, {now.cached} of them known"
        return f"{cells}; {found or 'nothing yet'}; {left}"

    with status("sweep") as line:

        def tell(now: "Progress", _row: Any) -> None:
            nonlocal last
            line(words(now))
            if not sys.stderr.isatty() and time.monotonic() - last > _SILENT:
                last = time.monotonic()
                sys.stderr.write(f"{words(now)}\n")

        yield tell


@contextmanager
def status(label: str) -> Iterator[Callable[[str], None]]:
    """Show one line, which the caller changes, on a terminal; stay silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True, markup=False).status(label) as line:
        yield line.update
