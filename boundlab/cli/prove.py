"""``boundlab prove``, and the second check of a proof or a certificate."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import Files, answer, console, deliver, print_json, print_line, print_page, writable
from boundlab.errors import DataError, SpecError
from boundlab.files import check_writable, is_file, schema, write_text
from boundlab.options import nearest
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.prove import Outcome, Step
    from boundlab.recheck import Finding
    from boundlab.theorems import Theorem


def prove(
    context: typer.Context,
    what: Annotated[
        str | None,
        option.argument(
            "[ID|FILE.py]",
            "A registered proof (boundlab list proofs), or a Python file with PROOFS = (Script(…), …) or BOUNDLAB, as "
            "boundlab new proof writes it. The file is run. Default: all registered proofs, a line each.",
            option.ids("proofs", ".py"),
        ),
    ] = None,
    search: Annotated[
        bool,
        option.named("--search", "Search for a proof of a theorem about gd (ID or FILE.toml); write NAME_proof.py."),
    ] = False,
    script: option.With = None,
    axioms: Annotated[
        bool,
        option.named("--axioms", "Show everything a proof rests on: the class of its runs, its axioms, the rules."),
    ] = False,
    step: Annotated[str | None, option.named("--step NAME", "Show one step in full: facts and multipliers.")] = None,
    latex: Annotated[bool, option.named("--latex", "Print LaTeX with verdicts in the margin.")] = False,
    coq: Annotated[Path | None, option.file("--coq FILE", "Write each step as a lemma for Coq.")] = None,
    trace: Annotated[Path | None, option.file("--trace FILE", "Write all facts, for --recheck.")] = None,
    recheck: option.Recheck = False,
    of: Annotated[
        str | None,
        option.named(
            "--theorem FILE.toml",
            "With --recheck: the theorem that a proof ends in, if it is not registered.",
            option.ids("theorems", ".toml"),
        ),
    ] = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Decide each step of a proof by a small kernel.

    It also decides whether the last step is the registered theorem.
    """
    if recheck:
        option.form(context, "prove FILE --recheck", "what", "recheck", "of", "quiet", "verbose", "as_json")
        if what is None:
            raise SpecError("--recheck checks a file of prove --trace, or of worst-case --certificate: name it")
        return check_again(Path(what), of, quiet=quiet, verbose=verbose, as_json=as_json)
    if of is not None:
        raise SpecError("--theorem goes with --recheck; --with SCRIPT proves a theorem of yours")
    if latex and (as_json or step is not None):
        raise SpecError("--latex prints a whole proof: leave --json and --step out")
    option.alone(quiet, json=as_json, verbose=verbose, latex=latex, step=step is not None, axioms=axioms)
    option.alone(
        axioms, "--axioms prints a page of its own", json=as_json, verbose=verbose, latex=latex, step=step is not None
    )
    if search:
        if any((script, axioms, step, latex, coq, trace, as_json)):
            raise SpecError("--search writes a file: use the other options on that file")
        return _look(what, quiet=quiet, verbose=verbose)
    if script is not None and (what is None or what.endswith(".py")):
        raise SpecError("--with writes the proof of a theorem: name its id, or its file (FILE.toml)")
    from boundlab.prove import run
    from boundlab.prove.coq import coq_source
    from boundlab.prove.run import scripts as named, the_script
    from boundlab.prove.trace import write_trace
    from boundlab.registry import registered

    theorem, one = None, what is not None
    if script is not None and what is not None:
        from boundlab.theorems import load_theorem

        theorem, scripts = load_theorem(what), [the_script(script)]
    else:
        if what is not None and what.endswith(".toml") and is_file(file := _proof_file(what)):
            raise SpecError(
                f"{what} is a theorem: boundlab prove {file} decides the proof beside it; or add --search or --with"
            )
        scripts = [*registered("proofs").values()] if what is None else named(what)
    if not one and (axioms or any(given is not None for given in (step, coq, trace))):
        raise SpecError("--axioms, --step, --coq and --trace are about one proof: name it")
    if len(scripts) > 1 and (coq is not None or trace is not None):
        raise SpecError(f"--coq and --trace are about one proof, and {what} has {len(scripts)}")
    if coq is not None and coq == trace:
        raise SpecError("--coq and --trace name the same file")
    files = writable(
        {
            coq: lambda path: write_text(path, coq_source(outcomes[0])),
            trace: lambda path: write_text(path, write_trace(outcomes[0])),
        }
    )

    outcomes = [run(each, theorem, witnesses=True) for each in scripts]
    code = ExitCode.worst(outcome.exit_code for outcome in outcomes)

    def show(_files: Sequence[Path]) -> None:
        if quiet:
            for outcome in outcomes:
                print_line(outcome.line())
            return
        if axioms:
            from boundlab.pages.proofs import axioms_page

            print_page(chain.from_iterable(map(axioms_page, outcomes)))
            return
        _show(outcomes, one, step, latex, as_json)
        for outcome in outcomes if verbose and one and step is None and not (latex or as_json) else ():
            for each in outcome.steps:
                typer.echo()
                _show_step(outcome, each, as_json)

    return deliver(code, files, show, quiet=as_json or latex or quiet)


def _proof_file(what: str) -> Path:
    """Return the file that --search writes for a theorem."""
    return Path(f"{Path(what).stem if what.endswith('.toml') else what}_proof.py")


def _look(what: str | None, *, quiet: bool, verbose: bool) -> ExitCode:
    """Look for a proof of a theorem, and write the file that is one."""
    if what is None or what.endswith(".py"):
        raise SpecError("--search looks for a proof of a theorem: name its id, or its file (FILE.toml)")
    from boundlab.documentation import pointers
    from boundlab.pages.blocks import GAP, words as said
    from boundlab.prove.run import look

    file = _proof_file(what)
    check_writable(file)
    found = look(what)
    if found.outcome is None:
        together: dict[str, list[str]] = {}  # what is in the way, and of which potentials
        for words, why in found.tried:
            together.setdefault(why.removeprefix("end of the proof: "), []).append(words)
        for why, each in () if quiet else together.items():
            print_line(f"{why}: {'; '.join(each) if verbose else f'{len(each)} potentials'}")
        way = "a stronger bound may have a proof, and this one follows from it"
        print_line(f"no proof was found: {len(found.tried)} potentials were tried; {way}")
        return ExitCode.UNDECIDED
    outcome = found.outcome
    files: Files = {file: lambda path: write_text(path, found.script)}
    after = said(pointers(f"to see it on one page: boundlab audit {what} --with {file}"))
    return answer(outcome, files, page=lambda: [*outcome.page(), GAP, after], quiet=quiet)


def _show(outcomes: "Sequence[Outcome]", one: bool, step: str | None, latex: bool, as_json: bool) -> None:
    from boundlab.pages import proofs

    if latex:
        from boundlab.prove.latex import proof_latex

        sys.stdout.write("\n".join(map(proof_latex, outcomes)))
    elif step is not None:
        _show_step(*_find(outcomes, step), as_json)
    elif as_json:
        found: list[dict[str, Any]] = [outcome.as_dict() for outcome in outcomes]
        whole = {"schema": schema("decided-proofs"), "proofs": found}
        print_json(found[0] if one and len(found) == 1 else whole)
    else:
        pages = map(proofs.proof_page, outcomes) if one else [proofs.proofs_page(outcomes)]
        print_page(chain.from_iterable(pages))


def _find(outcomes: "Sequence[Outcome]", name: str) -> "tuple[Outcome, Step]":
    every = [(outcome, step) for outcome in outcomes for step in outcome.steps]
    found = [pair for pair in every if pair[1].name == name]
    if not found:
        raise SpecError(f"no step is called {name!r}; {nearest(name, (step.name for _, step in every))}")
    if len(found) > 1:
        raise SpecError(f"{len(found)} proofs of the file have a step {name!r}: move one into a file of its own")
    return found[0]


def _show_step(outcome: "Outcome", step: "Step", as_json: bool) -> None:
    from boundlab.pages.proofs import step_dict, step_page

    if as_json:
        print_json({"schema": schema("decided-step"), **step_dict(outcome, step)})
        return
    screen = console()
    for line in step_page(outcome, step):
        screen.print(line, soft_wrap=True)


CODES = {"accepted": ExitCode.STANDS, "rejected": ExitCode.REFUTED, "not decided": ExitCode.UNDECIDED}


def check_again(file: Path, of: str | None, *, quiet: bool, verbose: bool, as_json: bool) -> ExitCode:
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
    if found.proof and not found.accepted:
        from boundlab.prove.trace import with_points

        found = with_points(raw, found)
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
        from boundlab.worst_case.analysis import bound

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
