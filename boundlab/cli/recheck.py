"""A file of a proof, or a certificate, checked again: ``prove FILE --recheck``, ``worst-case FILE --recheck``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundlab.cli import _options as option
from boundlab.cli.terminal import console, print_json, print_line
from boundlab.errors import DataError, SpecError
from boundlab.files import schema
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.recheck import Finding
    from boundlab.theorems import Theorem

CODES = {"accepted": ExitCode.STANDS, "rejected": ExitCode.REFUTED, "not decided": ExitCode.UNDECIDED}


def recheck(file: Path, of: str | None, *, quiet: bool, verbose: bool, as_json: bool) -> ExitCode:
    """Check a certificate or a proof a second time, by a checker that shares nothing with what found it.

    What is checked of a certificate: the inequalities of the class are made from the samples that the file lists, and
    the value follows from them and from what is given, in fractions; samples, objective and what is given are those of
    the theorem, the horizon and the constants that the file names, from which they are made anew. Of a proof: every
    line follows from earlier ones by the rule that it names, or is an axiom that is made anew; the theorem that it
    states is the registered one, and what it says of symbols, vectors, moves and schedules is what the theorem's own
    setting says. What is on trust, such as a step that is only claimed, is named: then nothing is decided.
    """
    from boundlab.recheck import load, recheck_loaded

    option.alone(quiet, json=as_json, verbose=verbose)
    try:
        raw = load(file)
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(str(error)) from None
    found = recheck_loaded(raw)
    if of is not None and not found.proof:
        raise SpecError("--theorem is about proofs; a certificate names its theorem")
    stated: Mapping[str, Any] | None = raw.get("statement") if found.proof and found.right else None
    registered, name = False, str(raw.get("theorem"))
    if stated is not None:
        from boundlab.prove.trace import registered_theorem, with_setting

        theorem = registered_theorem(raw) if of is None else _theorem(of, name)
        registered = theorem is not None
        if theorem is not None:
            found = with_setting(raw, found, theorem)
    if found.right and not found.proof:
        from boundlab.worst_case.binding import bound

        found = bound(raw, found)
        registered = not found.setting
        name = raw["question"]["theorem"] if registered else name
    if quiet:
        print_line("; ".join((f"{found.verdict}: {found.reason}", *found.open)))
    elif as_json:
        print_json(
            {
                "schema": schema("recheck"),
                "file": str(file),
                "verdict": found.verdict,
                "reason": found.reason,
                "checked": found.checked,
                "claim": found.claim,
                "given": list(found.given),
                "left": list(found.left),
                "trusted": [*found.trusted, *found.setting],
                "declared": list(found.declared),
                "statement": stated,
                "registered": registered,
            }
        )
    else:
        for line in _page(found, name, stated, registered):
            console().print(line, soft_wrap=True, markup=False)
    return CODES[found.verdict]


def _theorem(of: str, name: str) -> "Theorem":
    from boundlab.theorems import load_theorem

    theorem = load_theorem(of)
    if theorem.id != name:
        raise SpecError(f"--theorem {of} is {theorem.id}, and the file proves {name}")
    return theorem


def _page(found: "Finding", name: str, stated: Mapping[str, Any] | None, registered: bool) -> Iterator[str]:
    yield f"{found.verdict}: {found.reason}"
    if not found.right:
        return
    yield from (f"  {one}" for one in found.open)
    if stated is not None and not registered:
        yield f"No theorem {name} is registered. The file states, of it, and of its setting:"
        yield from (f"  {field}: {value}" for field, value in stated.items())
        yield from (f"  {one}" for one in found.declared)
    by = f"by what {name} assumes" if registered else "and not checked here"
    yield f"{found.checked} lines were checked in fractions. Given, {by}:"
    last = "that the samples are those of a run, and the objective is what the file says"
    if registered:
        last = "the proof" if found.proof else "the objective"
    elif found.proof:
        last = "that its conclusion is that of"
    yield from (f"  {one}" for one in (*found.given, f"{last}: {found.claim}"))
