"""Output of the commands on a terminal or a pipe: lines, pages, JSON, a bar of progress.

Characters that a terminal lacks are spelled out, and output that gets lost is noticed: all commands write to
``sys.stdout`` and ``sys.stderr``; while one runs, both are a :class:`Screen`.
"""

import codecs
import contextlib
import errno
import json
import os
import signal
import sys
import threading
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, final

from boundlab.errors import OutputError, visible
from boundlab.files import check_writable
from boundlab.greek import NAMES
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console

    from boundlab.pages import Block
    from boundlab.result import Result
    from boundlab.sweep.drive import Progress
    from boundlab.theorems import Theorem


# Endings of commands: the meaning of each exit code, one line for what goes wrong, interrupts, files behind a verdict.
#
# docs/json.md shows the table.

INTERRUPTED = "interrupted"
_WORD, _LINE = 300, 2000  # letters of a complaint
_BESIDE = "an assumption of the theorem is not met, or it has no constants to compare with"
_RUNS = "the algorithm cannot run on the problem"
_RIGHT = "--recheck: every line of the file is right, and nothing is taken on trust"
_WRONG = "--recheck: a line is wrong, so the file proves nothing"
_TRUSTED = "--recheck: no line is wrong, but something is taken on trust, or no theorem is named"

# The codes of a command that have a meaning of its own; 2, 70 and 130 mean the same for every command.
ENDINGS: Mapping[str, Mapping[ExitCode, str]] = MappingProxyType(
    {
        "list": {ExitCode.STANDS: "listed, including objects that cannot be loaded"},
        "show": {ExitCode.STANDS: "shown"},
        "eval": {
            ExitCode.STANDS: "evaluated",
            ExitCode.NOT_APPLICABLE: "a condition of the theorem is not met by the numbers",
        },
        "optimal-rate": {ExitCode.STANDS: "found"},
        "constants": {ExitCode.STANDS: "found; those that do not exist have a reason"},
        "run": {ExitCode.STANDS: "simulated, or replayed", ExitCode.NOT_APPLICABLE: _RUNS},
        "trace": {ExitCode.STANDS: "read; --fit: fitted, whether or not the best law fits"},
        "check": {
            ExitCode.STANDS: "no check failed",
            ExitCode.REFUTED: "a check failed; its consequence says whether that refutes the claim",
            ExitCode.UNDECIDED: "nothing could be decided, or nothing was asked",
            ExitCode.NOT_APPLICABLE: "no problem can meet what the theorem assumes, so that the claim is vacuous",
        },
        "compare": {
            ExitCode.STANDS: "holds, or consistent: no violation seen",
            ExitCode.REFUTED: "violated",
            ExitCode.UNDECIDED: "inconclusive; with --require holds also consistent",
            ExitCode.NOT_APPLICABLE: _BESIDE,
        },
        "exact": {
            ExitCode.STANDS: "holds on this case",
            ExitCode.REFUTED: "violated on this case",
            ExitCode.UNDECIDED: "inconclusive: the left side is larger, but that refutes nothing",
            ExitCode.NOT_APPLICABLE: _BESIDE,
        },
        "worst-case": {
            ExitCode.STANDS: "the certified worst case is at most the bound; --fit: each multiplier has a closed form; "
            + _RIGHT,
            ExitCode.REFUTED: f"a function of the class exceeds the bound, certified; {_WRONG}",
            ExitCode.UNDECIDED: "not decided: no certified value decides, even if it is near (tight to …); or the "
            f"theorem is about noise, and the bound holds without it; {_TRUSTED}",
            ExitCode.NOT_APPLICABLE: "the bound and the program are not about the same runs",
        },
        "prove": {
            ExitCode.STANDS: f"every step is proved, and so is the theorem, if there is one; {_RIGHT}",
            ExitCode.REFUTED: f"a step is refuted by an instance of the theorem's setting; {_WRONG}",
            ExitCode.UNDECIDED: f"a step is not proved, or the theorem is not; {_TRUSTED}",
        },
        "falsify": {
            ExitCode.REFUTED: "a counterexample was found",
            ExitCode.UNDECIDED: "none was found, which proves nothing",
            ExitCode.NOT_APPLICABLE: "there is nothing to refute; or no problem can meet what the theorem assumes",
        },
        "audit": {
            ExitCode.STANDS: "proved, or not refuted by anything that was tried",
            ExitCode.REFUTED: "false; of a printed O(·), false with universal constants",
            ExitCode.UNDECIDED: "nothing could be decided, or two answers contradict each other; "
            "with --require holds also not refuted",
            ExitCode.NOT_APPLICABLE: "a printed O(·): it says nothing that a number could refute; or a theorem that "
            "applies to no instance that was tried, or to no problem at all",
        },
        "sweep": {
            ExitCode.STANDS: "every cell was answered, and none is refuted or open; or the plan was shown",
            ExitCode.REFUTED: "a cell is refuted",
            ExitCode.UNDECIDED: "a cell is open, or has no answer; with --require holds also one that is consistent",
        },
        "demo": {ExitCode.STANDS: "all parts ran, whatever their verdicts"},
        "mcp": {ExitCode.STANDS: "the assistant has left"},
        "new": {ExitCode.STANDS: "written"},
        "docs": {ExitCode.STANDS: "shown"},
        "doctor": {
            ExitCode.STANDS: "all installed packages work, and the plug-in conforms",
            ExitCode.REFUTED: "an object of the plug-in does not conform to its interface",
            ExitCode.UNDECIDED: "an installed package or a registered object cannot be loaded",
        },
    }
)
_SHARED = (ExitCode.USAGE, ExitCode.UNFORESEEN, ExitCode.INTERRUPTED)


def summary() -> str:
    """Return all codes in one line, for the help of the whole command line."""
    return "Exit codes: " + "; ".join(f"{code:d} {code.meaning}" for code in ExitCode) + "."


def epilog(command: str, example: str) -> str:
    """Return the text below the help of a command: an example and its exit codes."""
    own = "; ".join(f"{code:d} {words}" for code, words in ENDINGS[command].items())
    shared = ", ".join(f"{code:d}" for code in _SHARED)
    return f"Example: boundlab {example}\n\nExit codes: {own}; {shared} as for every command (boundlab --help)."


def table() -> str:
    """Return the tables of docs/json.md: what the codes mean, and what they mean for each command."""
    meanings = ["| code | name | meaning |", "|---|---|---|"]
    meanings += [f"| {code:d} | `{code.name}` | {code.meaning} |" for code in ExitCode]
    own = [code for code in ExitCode if code not in _SHARED]
    commands = [f"| command | {' | '.join(f'{code:d}' for code in own)} |", "|---" * (len(own) + 1) + "|"]
    commands += [
        f"| `{name}` | {' | '.join(words.get(code, '–') for code in own)} |" for name, words in ENDINGS.items()
    ]
    return "\n".join([*meanings, "", *commands])


def complain(message: str) -> str:
    """Write a message to standard error, as one line of bounded length, and return that."""
    line = _short(" ".join(_short(word, _WORD) for word in message.split()), _LINE)
    sys.stderr.write(f"boundlab: {visible(line)}\n")
    return line


def _short(text: str, longest: int) -> str:
    """Return a text without its middle where it is too long: a refusal may repeat what somebody has pasted."""
    return text if len(text) <= longest else f"{text[: longest - 60]} … {text[-40:]}"


def crash(error: BaseException) -> str:
    """Return the line of an exception that nobody has foreseen: ``unexpected KeyError in boundlab/files.py:56 (…)``.

    It names the innermost place of boundlab's or a plug-in's code, and which plug-in called it. Frames of other
    libraries and of Python are passed over: they did what they were asked.
    """
    from boundlab.registry import BUILT_IN, message

    plugins, frames = _plugins(), _frames(error)
    ours = [one for one in frames if one[0].split(".")[0] in (BUILT_IN, *plugins)]
    callers = [one for one in ours if one[0].split(".")[0] in plugins]
    place = "{1}:{2}".format(*frames[-1]) if frames else "an unknown place"
    if ours:
        place = _place(*ours[-1], plugins)
    if callers and callers[-1] is not ours[-1]:
        place += f", called by {_place(*callers[-1], plugins)}"
    words = message(error)
    said = f" ({words})" if words else ""
    return f"unexpected {type(error).__name__} in {place}{said}; --debug shows the traceback"


def origin(error: BaseException) -> str:
    """Return the top-level module whose code raised an exception."""
    return _frames(error)[-1][0].split(".")[0]


def raised_by_plugin(error: BaseException) -> bool:
    """Return whether a plug-in's own code has raised an exception."""
    return origin(error) in _plugins()


def _plugins() -> Mapping[str, str]:
    """Return the top-level modules of plug-ins; of a broken registry, which must hide no place, none."""
    from boundlab.registry import owners

    try:
        return owners()
    except Exception:
        return {}


def _frames(error: BaseException) -> list[tuple[str, str, int]]:
    """Return module, file and line of each frame that an exception went through, the innermost last."""
    return [
        (str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]


def _place(module: str, file: str, line: int, plugins: Mapping[str, str]) -> str:
    path = module.replace(".", "/") + ("/__init__.py" if file.endswith("__init__.py") else ".py")
    owner = plugins.get(module.split(".")[0])
    if owner is None:
        return f"{path}:{line}"
    return f"the plug-in {owner}:{line}" if owner.endswith(".py") else f"the plug-in {owner}, {path}:{line}"


@final
@dataclass(slots=True)
class Interrupts:
    """Interrupt requested by the user, if any.

    Parameters
    ----------
    watched
        Whether it is known here if there was one: a thread of somebody else's program cannot note signals. A job in the
        background of a shell ignores them, and so there is none.
    asked
        Whether there was one. Libraries turn KeyboardInterrupt into other exceptions, or swallow it.
    """

    watched: bool = False
    asked: bool = False


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Note interrupts for a while: the first raises KeyboardInterrupt, the second ends the process at once.

    So does one in a callback, out of which no exception can come.
    """
    found = Interrupts()
    # A shell lets the jobs in its background ignore interrupts, and so do we.
    found.watched = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if found.watched or threading.current_thread() is not threading.main_thread():
        yield found
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        if found.asked:
            _leave()
        found.asked = True
        raise KeyboardInterrupt

    def unraisable(what: Any) -> None:
        if found.asked and isinstance(what.exc_value, KeyboardInterrupt):
            _leave()
        hook(what)

    handler, hook = signal.signal(signal.SIGINT, note), sys.unraisablehook
    found.watched, sys.unraisablehook = True, unraisable
    try:
        yield found
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, handler if handler is not None else signal.SIG_DFL)


def _leave() -> None:
    try:
        os.write(2, f"boundlab: {INTERRUPTED}\n".encode())
    finally:
        os._exit(ExitCode.INTERRUPTED)


Write: TypeAlias = Callable[[Path], object]
Files: TypeAlias = Mapping[Path, Write | None]  # what a command leaves, by what writes it; None: the one before does


def writable(files: Mapping[Path | None, Write]) -> dict[Path, Write | None]:
    """Return the files that are named; fail before the work, not after it, if one cannot be written."""
    found: dict[Path, Write | None] = {path: write for path, write in files.items() if path is not None}
    for path in found:
        check_writable(path)
    return found


def deliver(
    code: ExitCode,
    files: Files,
    show: Callable[[Sequence[Path]], object],
    *,
    quiet: bool = False,
    asked: bool = True,
) -> ExitCode:
    """Show what a command has found, write its files, and return the exit code.

    Parameters
    ----------
    show
        Prints everything; it is told the files that will be there.
    quiet
        Print no line for each file: standard output holds JSON.
    asked
        Whether the user has asked for the files. One that nobody asked for and that cannot be written is one line on
        standard error, and the code stays that of the verdict.

    Raises
    ------
    OutputError
        If files that were asked for cannot be written.
    """
    try:
        for path in () if asked else files:
            check_writable(path)
    except OutputError as error:
        complain(str(error))
        files = {}
    show([*files])
    sys.stdout.flush()
    old = {path for path in files if path.exists()}
    try:
        for path, write in files.items():
            if write is not None:
                write(path)
    except OutputError as error:
        if asked:
            raise
        complain(str(error))
        return code
    for path in () if quiet else files:
        sys.stdout.write(f"{'replaced' if path in old else 'written'}: {path}\n")
    return code


def answer(
    result: "Result",
    files: Files = MappingProxyType({}),
    *,
    code: ExitCode | None = None,
    page: "Callable[[], Iterable[Block]] | None" = None,
    folded: bool = False,
    quiet: bool = False,
    short: bool = False,
    as_json: bool = False,
    beside: Mapping[str, Any] = MappingProxyType({}),
    tells: bool = False,
    theorem: "Theorem | None" = None,
    asked: bool = True,
) -> ExitCode:
    """Print the verdict of a result in one line, or its document, or its page and the links of its theorem.

    Then write its files, and return the exit code.

    Parameters
    ----------
    code
        The exit code, where it is not that of the result.
    page
        Its blocks; by default those of its ``page()``.
    folded
        Whether what the page has behind a line is printed, too.
    quiet, short
        Print the verdict alone; ``quiet``: and no line for each file.
    beside
        More of the document.
    tells
        Whether the document names the files.
    files, asked
        See :func:`deliver`.

    Raises
    ------
    OutputError
        If files that were asked for cannot be written.
    """

    def show(there: Sequence[Path]) -> None:
        if quiet or short:
            print_line(result.line())
        elif as_json:
            print_json({**result.as_dict(), **beside, **({"written": [str(path) for path in there]} if tells else {})})
        else:
            print_page((page or result.page)(), folded=folded)
            if theorem is not None:
                from boundlab.pages.theorem import related_links

                print_links(related_links(theorem))

    return deliver(result.exit_code if code is None else code, files, show, quiet=quiet or as_json, asked=asked)


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
                plain = control or text.isprintable() or text == "\n"
                yield Segment(text if plain else visible(text), style, control)

    width = None if sys.stdout.isatty() else 120
    return Visible(width=width, highlight=False, soft_wrap=False, markup=False, emoji=False)


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
    """Show how far a sweep is and what was found: on a terminal one line, elsewhere one every half minute.

    An interrupt says how far it came.
    """
    last, came = time.monotonic(), "nothing was asked"

    def words(now: "Progress") -> str:
        found = ", ".join(f"{number} {word}" for word, number in now.verdicts.items())
        left = f"about {now.left():.0f} s left" if now.done else "begins"
        cells = f"{now.cached + now.done} of {now.asked} cells, {now.cached} of them known"
        return f"{cells}; {found or 'nothing yet'}; {left}"

    with status("sweep") as line:

        def tell(now: "Progress", _row: Any) -> None:
            nonlocal last, came
            came = f"{now.cached + now.done} of {now.asked} cells are answered; the same command continues"
            line(words(now))
            if not sys.stderr.isatty() and time.monotonic() - last > _SILENT:
                last = time.monotonic()
                sys.stderr.write(f"{words(now)}\n")

        try:
            yield tell
        except KeyboardInterrupt:
            raise KeyboardInterrupt(came) from None


@contextmanager
def status(label: str) -> Iterator[Callable[[str], None]]:
    """Show one line, which the caller changes, on a terminal; stay silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True, markup=False).status(label) as line:
        yield line.update
