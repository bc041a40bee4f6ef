"""A verdict is shown first, and then its files are written: whatever becomes of them, it is not lost."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from boundlab.errors import OutputError
from boundlab.files import check_writable
from boundlab.verdict import ExitCode


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
        _warn(error)
        files = ()
    show(files)
    sys.stdout.flush()
    if not files:
        return code
    try:
        write()
    except OutputError as error:
        if asked:
            raise
        _warn(error)
        return code
    if not quiet:
        for path in files:
            sys.stdout.write(f"written: {path}\n")
    return code


def _warn(error: OutputError) -> None:
    sys.stderr.write(f"boundlab: {' '.join(str(error).split())}\n")
