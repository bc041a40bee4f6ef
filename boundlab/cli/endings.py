"""Endings of commands: the meaning of each exit code, one line for what goes wrong, interrupts, files behind a verdict.

docs/json.md shows the table.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, final

from boundlab.errors import OutputError, visible
from boundlab.files import check_writable
from boundlab.verdict import ExitCode

INTERRUPTED = "interrupted"
_WORD, _LINE = 300, 2000  # letters of a complaint
_BESIDE = "an assumption of the theorem is not met, or it has no constants to compare with"
_RUNS = "the algorithm cannot run on the problem"
_RIGHT = "--recheck: every line of the file is right, and nothing is taken on trust"
_WRONG = "--recheck: a line is wrong, so that the file proves nothing"
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
            ExitCode.UNDECIDED: "not decided: no certified value is on either side, however near (tight to …); or the "
            f"theorem is about noise, and the bound holds without it; {_TRUSTED}",
            ExitCode.NOT_APPLICABLE: "the bound and the program are not about the same runs",
        },
        "prove": {
            ExitCode.STANDS: f"every step is proved, and the theorem where there is one; {_RIGHT}",
            ExitCode.REFUTED: f"a step is refuted by an instance of the theorem's setting; {_WRONG}",
            ExitCode.UNDECIDED: f"a step is not proved, or the theorem is not; {_TRUSTED}",
        },
        "falsify": {
            ExitCode.REFUTED: "a counterexample was found",
            ExitCode.UNDECIDED: "none was found, which proves nothing",
            ExitCode.NOT_APPLICABLE: "there is nothing to refute",
        },
        "audit": {
            ExitCode.STANDS: "proved, or not refuted by anything that was tried",
            ExitCode.REFUTED: "false; of a printed O(·), false with universal constants",
            ExitCode.UNDECIDED: "nothing could be decided, or two answers contradict each other; "
            "with --require holds also not refuted",
            ExitCode.NOT_APPLICABLE: "a printed O(·): it says nothing that a number could refute; or a theorem that "
            "applies to no instance that was tried",
        },
        "sweep": {
            ExitCode.STANDS: "every cell was answered, and none is refuted or open; or the plan was shown",
            ExitCode.REFUTED: "a cell is refuted",
            ExitCode.UNDECIDED: "a cell is open, or has no answer; with --require holds also one that is consistent",
        },
        "demo": {ExitCode.STANDS: "all parts ran, whatever their verdicts"},
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


def writable(*paths: Path | None) -> list[Path]:
    """Return the files that are named; fail before the work, not after it, if one cannot be written."""
    found = [path for path in paths if path is not None]
    for path in found:
        check_writable(path)
    return found


def deliver(
    code: ExitCode,
    files: Sequence[Path],
    show: Callable[[Sequence[Path]], None],
    write: Callable[[], None],
    *,
    quiet: bool = False,
    asked: bool = True,
) -> ExitCode:
    """Show what a command has found, write its files, and return the exit code.

    Parameters
    ----------
    files
        What ``write`` is to leave.
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
        files = ()
    show(files)
    sys.stdout.flush()
    if not files:
        return code
    old = {path for path in files if path.exists()}
    try:
        write()
    except OutputError as error:
        if asked:
            raise
        complain(str(error))
        return code
    if not quiet:
        for path in files:
            sys.stdout.write(f"{'replaced' if path in old else 'written'}: {path}\n")
    return code
