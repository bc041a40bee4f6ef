"""The command line. Commands import what they need when they run, so that ``--help`` is quick."""

import json
import os
import sys
import traceback
from collections.abc import Sequence

from boundlab.cli._complete import VARIABLE, answer
from boundlab.cli._interrupt import WORDS, Interrupts, interrupts
from boundlab.cli._screen import occupy, screens
from boundlab.errors import BoundlabError, SpecError, visible
from boundlab.files import schema
from boundlab.verdict import ExitCode

_DEBUG = "BOUNDLAB_DEBUG"
_WORD, _LINE = 300, 2000  # letters of a refusal
JSON_FILES = ("audit",)  # commands of which --json names a file


def main(arguments: list[str] | None = None) -> None:
    """Run ``boundlab`` and exit with a code of :class:`boundlab.verdict.ExitCode`."""
    occupy()
    if os.environ.get(VARIABLE):
        answer()
    sys.exit(invoke(sys.argv[1:] if arguments is None else arguments))


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure is one line on stderr.

    Where JSON is asked for, it is an object on stdout, too, unless the answer stands there already: whoever reads that
    gets one document. With ``--debug`` before the command, or BOUNDLAB_DEBUG=1, the traceback of an unforeseen one
    stands before it. An answer that cannot be written is no answer: the code is then that of a file that cannot be
    written.
    """
    with screens() as out:
        said: list[str] = []
        try:
            with interrupts() as user:
                code = _answer(arguments, user, said)
                if said and not out.used and wants_json(arguments):
                    out.write(_error_document(said[-1], code, out.encoding))
                out.flush()
        except KeyboardInterrupt:  # while the answer was being put into words
            return _complain(WORDS, ExitCode.INTERRUPTED)
        if user.asked and code != ExitCode.INTERRUPTED:
            return _complain(WORDS, ExitCode.INTERRUPTED)
        if out.lost is not None and code not in (ExitCode.USAGE, ExitCode.UNFORESEEN, ExitCode.INTERRUPTED):
            reason = getattr(out.lost, "strerror", None) or str(out.lost)
            return _complain(f"cannot write the output: {reason}; what it said is lost", ExitCode.USAGE)
    return code


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether standard output is to hold JSON; read by hand, since the words may make no command line."""
    words = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    return "--json" in words and _command(words) not in JSON_FILES


def _error_document(message: str, code: int, encoding: str) -> str:
    """Return an error as JSON, which the encoding of the output can hold."""
    escaped = not encoding.lower().replace("_", "-").startswith("utf")
    found = {"schema": schema("error"), "error": {"message": message, "exit_code": int(code)}}
    return json.dumps(found, indent=1, ensure_ascii=escaped) + "\n"


def _answer(arguments: Sequence[str], user: Interrupts, said: list[str]) -> int:
    """Run one command line, and answer whatever it raises; what is said of it is added to ``said``."""
    try:
        return _run(arguments)
    except BoundlabError as error:
        if error.exit_code not in (ExitCode.USAGE, ExitCode.UNDECIDED, ExitCode.NOT_APPLICABLE):
            return _unforeseen(error, arguments, said)
        return _complain(str(error), error.exit_code, said)
    except KeyboardInterrupt as error:
        if user.watched and not user.asked and _by_plugin(error):
            return _unforeseen(error, arguments, said)
        return _complain(WORDS, ExitCode.INTERRUPTED, said)
    except MemoryError:
        message = "not enough memory; make the problem, the grid or the number of iterations smaller"
        return _complain(message, ExitCode.USAGE, said)
    except BaseException as error:  # SystemExit, too: what a plug-in raises never chooses the exit code
        if user.asked:  # a library has turned KeyboardInterrupt into something else
            return _complain(WORDS, ExitCode.INTERRUPTED, said)
        code = _expected(error, said)
        return _unforeseen(error, arguments, said) if code is None else code


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


def _expected(error: BaseException, said: list[str]) -> int | None:
    """Answer Click's own errors, wherever this version of Typer keeps them; None for any other exception."""
    if isinstance(error, SystemExit) and _origin(error) == "typer" and not error.code:
        return ExitCode.STANDS  # the script for the shell was shown, or installed
    if not type(error).__module__.startswith(("click.", "typer.")):
        return None
    if hasattr(error, "format_message"):
        return _complain(error.format_message(), ExitCode.USAGE, said)
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


def _unforeseen(error: BaseException, arguments: Sequence[str], said: list[str]) -> int:
    from boundlab.cli._crash import crash

    if _debug(arguments):
        sys.stderr.write("".join(traceback.format_exception(error)))
    return _complain(crash(error), ExitCode.UNFORESEEN, said)


def _debug(arguments: Sequence[str]) -> bool:
    """Return whether tracebacks are wanted; read by hand, since Typer itself may be what failed."""
    if os.environ.get(_DEBUG, "") not in ("", "0"):
        return True
    command = _command(arguments)
    return "--debug" in (arguments if command is None else arguments[: list(arguments).index(command)])


def _command(arguments: Sequence[str]) -> str | None:
    """Return the name of the command, None where there is none."""
    options = iter(arguments)
    for option in options:
        if option == "--plugin":
            next(options, None)
        elif not option.startswith("-"):
            return option
    return None


def _short(text: str, longest: int) -> str:
    """Return a text without its middle where it is too long: a refusal may repeat what somebody has pasted."""
    return text if len(text) <= longest else f"{text[: longest - 60]} … {text[-40:]}"


def _complain(message: str, code: ExitCode, said: list[str] | None = None) -> int:
    line = _short(" ".join(_short(word, _WORD) for word in message.split()), _LINE)
    if said is not None:
        said.append(line)
    sys.stderr.write(f"boundlab: {visible(line)}\n")
    return code
