"""The command line. Commands import what they need when they run, so that ``--help`` is quick."""

import os
import sys

from boundlab.errors import BoundlabError
from boundlab.verdict import ExitCode


def main(arguments: list[str] | None = None) -> None:
    """Run ``boundlab`` and exit with a code of :class:`boundlab.verdict.ExitCode`."""
    sys.exit(invoke(sys.argv[1:] if arguments is None else arguments))


def invoke(arguments: list[str]) -> int:
    """Run one command line and return its exit code; every expected failure is one line on stderr."""
    import typer

    from boundlab.cli._app import app

    command = typer.main.get_command(app)
    try:
        code = command.main(arguments, prog_name="boundlab", standalone_mode=False)
        sys.stdout.flush()
    except BoundlabError as error:
        return _complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _complain("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has left; Python must not complain about it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.STANDS
    except MemoryError:
        return _complain(
            "not enough memory; make the problem, the grid or the number of iterations smaller", ExitCode.USAGE
        )
    except Exception as error:
        # Click's own errors, wherever this version of Typer keeps them, can format themselves.
        if type(error).__name__ == "Abort":
            return _complain("interrupted", ExitCode.INTERRUPTED)
        if not hasattr(error, "format_message"):
            raise
        return _complain(error.format_message(), ExitCode.USAGE)
    return code if isinstance(code, int) else ExitCode.STANDS


def _complain(message: str, code: int) -> int:
    line = " ".join(message.split())
    sys.stderr.write(f"boundlab: {line}\n")
    return code
