"""``boundlab recheck``."""

from pathlib import Path
from typing import Annotated

import typer

from boundlab.cli._common import AsJson, console, print_json
from boundlab.cli._endings import epilog
from boundlab.errors import DataError
from boundlab.verdict import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("recheck", epilog=epilog("recheck", "recheck certificate.json"))(recheck)


def recheck(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a certificate: boundlab worst-case --certificate FILE")],
    as_json: AsJson = False,
) -> ExitCode:
    """Check a certificate a second time, by a checker that shares nothing with the search that found it.

    What is checked: the inequalities of the class are made from the samples that the file lists, and the value follows
    from them and from what is given, in fractions. What is not: that the samples are those of the algorithm.
    """
    from boundlab.recheck import recheck as check

    try:
        found = check(file)
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(str(error)) from None
    if as_json:
        given = list(found.given)
        words = {"accepted": found.accepted, "reason": found.reason, "checked": found.checked, "claim": found.claim}
        print_json({"file": str(file), **words, "given": given})
    elif found.accepted:
        screen = console()
        screen.print(f"accepted: {found.reason}", soft_wrap=True)
        screen.print(f"{found.checked} lines were checked in fractions. Given, and not checked here:")
        for one in (
            *found.given,
            f"that the samples are those of a run, and the objective is what the file says: {found.claim}",
        ):
            screen.print(f"  {one}", soft_wrap=True)
    else:
        console().print(f"rejected: {found.reason}", soft_wrap=True)
    return ExitCode.STANDS if found.accepted else ExitCode.REFUTED
