"""The command line. Commands import what they need when they run, so that ``--help`` is quick."""

import json
import os
import sys
import traceback
from collections.abc import Sequence

from boundlab.cli.terminal import (
    ENDINGS,
    INTERRUPTED,
    Interrupts,
    complain,
    crash,
    interrupts,
    is_unicode,
    occupy,
    origin,
    raised_by_plugin,
    screens,
)
from boundlab.errors import BoundlabError, ExecutorError, SpecError
from boundlab.files import schema
from boundlab.options import nearest
from boundlab.verdict import ExitCode

_DEBUG, _ASKED = "BOUNDLAB_DEBUG", "_BOUNDLAB_COMPLETE"
JSON_FILES = ("audit",)  # commands of which --json names a file
# Commands of 0.5, which answer until 0.7: the form that asks the same, and how it is written.
FORMER = {
    "replay": (("run",), "run CASE.json"),
    "fit": (("trace", "--fit"), "trace LOG --fit"),
    "recheck": (("prove", "--recheck"), "prove FILE --recheck"),
    "results": (("sweep",), "sweep DIR"),
    "schema": (("docs", "--schema"), "docs --schema NAME"),
}
_FIRST = """\
boundlab checks convergence theorems of asynchronous and federated methods.

  boundlab exact area.theorem8    a published theorem and its counterexample
  boundlab new theorem mine       a file for your own theorem: mine.toml
  boundlab audit mine.toml        a one-page report on it

boundlab docs questions says which command answers your question,
boundlab docs tutorial leads through an example, and
boundlab --help lists all commands.
"""


def main(arguments: list[str] | None = None) -> None:
    """Run ``boundlab`` and exit with a code of :class:`boundlab.verdict.ExitCode`."""
    occupy()
    if os.environ.get(_ASKED):
        _answer_shell()
    sys.exit(invoke(sys.argv[1:] if arguments is None else arguments))


def _answer_shell() -> None:
    """Answer the shell, which asks by an environment variable, and leave."""
    import typer.main

    from boundlab.cli._app import application

    words = (os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")).split()
    app = application(_command(words[1:]), whole=False)
    try:
        typer.main.get_command(app).main(args=[], prog_name="boundlab")
    except Exception:  # nobody reads a message while typing
        sys.exit(ExitCode.UNFORESEEN)


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure is one line on stderr.

    Where JSON is asked for, it is an object on stdout, too, unless the answer stands there already: whoever reads that
    gets one document. With ``--debug`` before the command, or BOUNDLAB_DEBUG=1, the traceback of an unexpected one
    stands before it. An answer that cannot be written is no answer: the code is then that of a file that cannot be
    written. The reader of a pipe may leave before the end: the code is then that of the answer.
    """
    arguments, pointer = _of_today(arguments)
    with screens() as out:
        try:
            with interrupts() as user:
                code, words = _answer(arguments, user)
                line = None if words is None else complain(words)
                if line is None and pointer:
                    complain(pointer)
                if line is not None and not out.used and wants_json(arguments):
                    out.write(_error_document(line, code, out.encoding))
                out.flush()
            interrupted = user.asked and code != ExitCode.INTERRUPTED
        except KeyboardInterrupt:  # while the answer was being put into words
            interrupted = True
        if interrupted:
            code = ExitCode.INTERRUPTED
            complain(INTERRUPTED)
        elif (
            out.lost is not None
            and not isinstance(out.lost, BrokenPipeError)  # who closes a pipe, as head does, has read what it wanted
            and code not in (ExitCode.USAGE, ExitCode.UNFORESEEN, ExitCode.INTERRUPTED)
        ):
            code = ExitCode.USAGE
            reason = getattr(out.lost, "strerror", None) or str(out.lost)
            complain(f"cannot write the output: {reason}; the output is lost")
    return code


def _of_today(arguments: Sequence[str]) -> tuple[list[str], str]:
    """Return a command line with a name of 0.5 as it is written now, and a line that says so; others as they are."""
    words, name = list(arguments), _command(arguments)
    if name not in FORMER:
        return words, ""
    form, shown = FORMER[name]
    at = words.index(name)
    return [*words[:at], *form, *words[at + 1 :]], f"{name} is now boundlab {shown}; the old name goes with 0.7"


def _answer(arguments: Sequence[str], user: Interrupts) -> tuple[ExitCode, str | None]:
    """Run one command line, and return its exit code and what went wrong, if anything."""
    try:
        return _run(arguments), None
    except BaseException as error:  # SystemExit, too: what a plug-in raises never chooses the exit code
        found = _foreseen(error, user)
        if found is None and _debug(arguments):
            sys.stderr.write("".join(traceback.format_exception(error)))
        return (ExitCode.UNFORESEEN, crash(error)) if found is None else found


def _run(arguments: Sequence[str]) -> ExitCode:
    """Run the command, which returns its exit code, or nothing where it just did what it was asked.

    Not by Click's ``main``: it turns what a command raises into other exceptions, and its place is lost.
    """
    import typer

    from boundlab.cli._app import application

    for word in arguments:
        if "\0" in word:  # no path may hold one, and whoever opens files says so in words of its own
            raise SpecError(f"the argument {word!r} holds a NUL character; leave it out")
    if not arguments:
        sys.stdout.write(_FIRST)
        return ExitCode.STANDS
    name = _command(arguments)
    if name is not None and name not in ENDINGS:
        near = f"boundlab audit {name} takes a theorem" if name.endswith(".toml") else nearest(name, ENDINGS)
        raise SpecError(f"No such command {name!r}; {near}; boundlab --help lists all")
    command = typer.main.get_command(application(name, whole=False))
    with command.make_context("boundlab", list(arguments)) as context:
        code = command.invoke(context)
    return code if isinstance(code, ExitCode) else ExitCode.STANDS


def _foreseen(error: BaseException, user: Interrupts) -> tuple[ExitCode, str | None] | None:
    """Return the exit code of an exception and what it says; None where it is a defect."""
    if isinstance(error, BoundlabError):
        known = (ExitCode.USAGE, ExitCode.UNDECIDED, ExitCode.NOT_APPLICABLE)
        foreseen = error.exit_code in known or isinstance(error, ExecutorError)
        return (error.exit_code, str(error)) if foreseen else None
    if isinstance(error, KeyboardInterrupt):
        by_plugin = user.watched and not user.asked and raised_by_plugin(error)
        said = [one for one in error.args if isinstance(one, str)]  # how far a command came
        return None if by_plugin else (ExitCode.INTERRUPTED, ": ".join([INTERRUPTED, *said]))
    if isinstance(error, MemoryError):
        return ExitCode.USAGE, "not enough memory; make the problem, the grid or the number of iterations smaller"
    if user.asked:  # a library has turned KeyboardInterrupt into something else
        return ExitCode.INTERRUPTED, INTERRUPTED
    if isinstance(error, SystemExit) and origin(error) == "typer" and not error.code:
        return ExitCode.STANDS, None  # the script for the shell was shown, or installed
    if not type(error).__module__.startswith(("click.", "typer.")):  # Typer keeps Click's errors here or there
        return None
    if hasattr(error, "format_message"):
        return ExitCode.USAGE, error.format_message()
    # --help and --version leave in this way; a plug-in that does has not let the command come to its verdict.
    asked = getattr(error, "exit_code", None) == ExitCode.STANDS and origin(error) in ("boundlab", "click", "typer")
    return (ExitCode.STANDS, None) if asked else None


def _error_document(message: str, code: ExitCode, encoding: str) -> str:
    """Return an error as JSON, which the encoding of the output can hold."""
    found = {"schema": schema("error"), "error": {"message": message, "exit_code": int(code)}}
    return json.dumps(found, indent=1, ensure_ascii=not is_unicode(encoding)) + "\n"


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether standard output is to hold JSON; read by hand, since the words may make no command line."""
    words = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    return "--json" in words and _command(words) not in JSON_FILES


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
