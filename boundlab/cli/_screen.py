"""Screen output: characters that a terminal lacks are spelled out, and output that gets lost is noticed.

All commands write to ``sys.stdout`` and ``sys.stderr``; while one runs, both are a :class:`Screen`.
"""

import codecs
import contextlib
import errno
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from boundlab.greek import NAMES

if TYPE_CHECKING:
    from typing import TextIO

_SPELL = "boundlab.spell"
_SPELLED = {
    **NAMES,
    "Σ": "sum ", "∑": "sum ", "∏": "prod ", "∫": "int ", "√": "sqrt ", "∇": "grad ", "∂": "d", "‖": "||", "ℓ": "l",
    "≤": "<=", "≥": ">=", "≠": "!=", "≡": "==", "≈": "~", "∼": "~", "∝": "~", "≪": "<<", "≫": ">>", "±": "+-",
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "⊗": "x", "∘": "o", "÷": "/", "⁄": "/", "∞": "inf",
    "→": "->", "←": "<-", "↔": "<->", "⇒": "=>", "⇔": "<=>", "⟺": "<=>", "↦": "|->", "▶": ">", "◀": "<",
    "∈": " in ", "∉": " not in ", "∀": "for all ", "∃": "there is ", "∧": " and ", "∨": " or ", "¬": "not ",
    "∪": " or ", "∩": " and ", "⊂": " in ", "⊆": " in ", "∅": "{}",
    "⟨": "<", "⟩": ">", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")", "ᵀ": "^T", "⊤": "^T",
    "‘": "'", "’": "'", "“": '"', "”": '"', "«": '"', "»": '"', "°": " deg", "•": "*", "✓": "yes", "✗": "no",
    "ß": "ss", "ø": "o", "Ł": "L", "ł": "l", "§": "section ", "′": "'", "″": "\"", "⪰": ">=", "⪯": "<=",
    "─": "-", "│": "|", "├": "|", "└": "|", "┐": "|", "┘": "|",
    "\N{COMBINING MACRON}": "bar", "\N{COMBINING CIRCUMFLEX ACCENT}": "hat", "\N{COMBINING TILDE}": "tilde",
}  # fmt: skip
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

    def __init__(self, stream: "TextIO | None") -> None:
        self._stream = stream
        self.lost: BaseException | None = None
        self.used = False

    @property
    def encoding(self) -> str:
        """The encoding of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str:
        """How characters are treated that the encoding lacks."""
        return _SPELL

    @property
    def closed(self) -> bool:
        """Never: a closed stream loses what is written."""
        return False

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
