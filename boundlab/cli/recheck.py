"""``boundlab recheck``."""

from pathlib import Path
from typing import Annotated

import typer

from boundlab.cli._common import AsJson, Quiet, Verbose, alone, console, print_json, print_line
from boundlab.cli._endings import epilog
from boundlab.errors import DataError
from boundlab.files import schema
from boundlab.verdict import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("recheck", epilog=epilog("recheck", "recheck certificate.json"))(recheck)


def recheck(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="a certificate, boundlab worst-case --certificate FILE, or a proof")
    ],
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Check a certificate or a proof a second time, by a checker that shares nothing with what found it.

    What is checked of a certificate: the inequalities of the class are made from the samples that the file lists, and
    the value follows from them and from what is given, in fractions. What is not: that the samples are those of the
    algorithm. Of a proof: every line follows from earlier ones by the rule that it names. What is not: its assumptions,
    which are listed, and that its last line is what the theorem says. A line by a rule that is not known here is taken
    on trust, and counted.
    """
    from boundlab.recheck import recheck as check

    alone(quiet, json=as_json, verbose=verbose)
    try:
        found = check(file)
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(str(error)) from None
    if quiet:
        print_line(f"{'accepted' if found.accepted else 'rejected'}: {found.reason}")
    elif as_json:
        print_json({
            "schema": schema("recheck"), "file": str(file), "verdict": "accepted" if found.accepted else "rejected",
            "reason": found.reason, "checked": found.checked, "claim": found.claim, "given": list(found.given),
            "left": list(found.left), "trusted": list(found.trusted),
        })  # fmt: skip
    elif found.accepted:
        screen = console()
        how = "accepted, but for lines that are taken on trust" if found.trusted else "accepted"
        screen.print(f"{how}: {found.reason}", soft_wrap=True, markup=False)
        for one in found.trusted:
            screen.print(f"  {one}", soft_wrap=True, markup=False)
        if found.left:
            screen.print("Signs that are not shown here, and are false at none of a few points:")
            for one in found.left:
                screen.print(f"  {one}", soft_wrap=True, markup=False)
        screen.print(f"{found.checked} lines were checked in fractions. Given, and not checked here:")
        last = "that the samples are those of a run, and the objective is what the file says"
        if found.proof:
            last = "that vectors are known and drawn when the file says, and its conclusion is that of"
        for one in (*found.given, f"{last}: {found.claim}"):
            screen.print(f"  {one}", soft_wrap=True, markup=False)
    else:
        console().print(f"rejected: {found.reason}", soft_wrap=True, markup=False)
    return ExitCode.STANDS if found.accepted else ExitCode.REFUTED
