"""The command line. Commands import what they need when they run, so that ``--help`` is quick."""

import os
import sys
import traceback
from collections.abc import Sequence

from boundlab.cli._interrupt import WORDS, Interrupts, interrupts
from boundlab.cli._screen import occupy, screens
from boundlab.errors import BoundlabError, SpecError
from boundlab.verdict import ExitCode
from boundlab.visible import visible

_DEBUG = "BOUNDLAB_DEBUG"


def main(arguments: list[str] | None = None) -> None:
    """Run ``boundlab`` and exit with a code of :class:`boundlab.verdict.ExitCode`."""
    occupy()
    sys.exit(invoke(sys.argv[1:] if arguments is None else arguments))


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure is one line on stderr.

    With ``--debug`` before the command, or BOUNDLAB_DEBUG=1, the traceback of an unforeseen one stands before it. An
    answer that cannot be written is no answer: the code is then that of a file that cannot be written.
    """
    with screens() as out:
        try:
            with interrupts() as user:
                code = _answer(arguments, user)
                out.flush()
        except KeyboardInterrupt:  # while the answer was being put into words
            return _complain(WORDS, ExitCode.INTERRUPTED)
        if user.asked and code != ExitCode.INTERRUPTED:
            return _complain(WORDS, ExitCode.INTERRUPTED)
        if out.lost is not None and code not in (ExitCode.USAGE, ExitCode.UNFORESEEN, ExitCode.INTERRUPTED):
            reason = getattr(out.lost, "strerror", None) or str(out.lost)
            return _complain(f"cannot write the output: {reason}; what it said is lost", ExitCode.USAGE)
    return code


def _answer(arguments: Sequence[str], user: Interrupts) -> int:
    """Run one command line, and answer whatever it raises."""
    try:
        return _run(arguments)
    except BoundlabError as error:
        if error.exit_code not in (ExitCode.USAGE, ExitCode.UNDECIDED, ExitCode.NOT_APPLICABLE):
            return _unforeseen(error, arguments)
        return _complain(str(error), error.exit_code)
    except KeyboardInterrupt as error:
        if user.watched and not user.asked and _by_plugin(error):
            return _unforeseen(error, arguments)
        return _complain(WORDS, ExitCode.INTERRUPTED)
    except MemoryError:
        message = "not enough memory; make the problem, the grid or the number of iterations smaller"
        return _complain(message, ExitCode.USAGE)
    except BaseException as error:  # SystemExit, too: what a plug-in raises never chooses the exit code
        if user.asked:  # a library has turned KeyboardInterrupt into something else
            return _complain(WORDS, ExitCode.INTERRUPTED)
        code = _expected(error)
        return _unforeseen(error, arguments) if code is None else code


def _run(arguments: Sequence[str]) -> int:
    """Run the command, which returns its exit code, or nothing where it just did what it was asked.

    Not by Click's ``main``: it turns what a command raises into other exceptions, and its place is lost.
    """
    import typer

    from boundlab.cli._app import app

    for word in arguments:
        if "\0" in word:  # no path may hold one, and whoever opens files says so in words of its own
            raise SpecError(f"the argument {word!r} holds a NUL character; leave it out")
    command = typer.main.get_command(app)
    with command.make_context("boundlab", list(arguments)) as context:
        code = command.invoke(context)
    return code if isinstance(code, ExitCode) else ExitCode.STANDS


def _expected(error: BaseException) -> int | None:
    """Answer Click's own errors, wherever this version of Typer keeps them; None for any other exception."""
    if not type(error).__module__.startswith(("click.", "typer.")):
        return None
    if hasattr(error, "format_message"):
        return _complain(error.format_message(), ExitCode.USAGE)
    # --help and --version leave in this way; a plug-in that does has not let the command come to its verdict.
    asked = getattr(error, "exit_code", None) == ExitCode.STANDS and _origin(error) in ("boundlab", "click", "typer")
    return ExitCode.STANDS if asked else None


def _origin(error: BaseException) -> str:
    """Return the top-level module whose code raised an exception."""
    *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__", "")).split(".")[0]


def _by_plugin(error: BaseException) -> bool:
    """Return whether a plug-in's own code has raised it; of a broken registry nobody can tell."""
    from boundlab.cli._crash import raised_by_plugin

    try:
        return raised_by_plugin(error)
    except Exception:
        return False


def _unforeseen(error: BaseException, arguments: Sequence[str]) -> int:
    from boundlab.cli._crash import crash

    if _debug(arguments):
        sys.stderr.write("".join(traceback.format_exception(error)))
    return _complain(crash(error), ExitCode.UNFORESEEN)


def _debug(arguments: Sequence[str]) -> bool:
    """Return whether tracebacks are wanted; read by hand, since Typer itself may be what failed."""
    if os.environ.get(_DEBUG, "") not in ("", "0"):
        return True
    options = iter(arguments)
    for option in options:
        if option == "--debug":
            return True
        if option == "--plugin":
            next(options, None)
        elif not option.startswith("-"):
            return False
    return False


def _complain(message: str, code: ExitCode) -> int:
    line = " ".join(message.split())
    sys.stderr.write(f"boundlab: {visible(line)}\n")
    return code
