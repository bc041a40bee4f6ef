"""``boundlab falsify``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundlab.cli import _options as option
from boundlab.cli.terminal import deliver, show, status
from boundlab.errors import BoundlabError
from boundlab.files import RESULT, folder, write_folder, write_json
from boundlab.options import Default
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.api import Searched
    from boundlab.pages import Block


def falsify(
    theorem: option.Theorem,
    budget: option.SearchBudget = Default.BUDGET,
    candidates: option.SearchCandidates = None,
    seed: option.Seed = Default.SEED,
    jobs: option.Jobs = None,
    out: option.SearchFolder = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Search for a small counterexample.

    The search varies problems, delays, steps, horizons and start points, and then shrinks what it finds. A
    counterexample leaves THEOREM.counterexample.json in the current folder, or in --out.
    """
    from boundlab.api import falsify as ask
    from boundlab.pages.plots import case_name
    from boundlab.theorems import load_theorem

    option.alone(quiet, json=as_json, verbose=verbose)
    statement = load_theorem(theorem)
    if out is not None:
        folder(out)
    with status("searching") as say:
        found = ask(statement, budget, candidates=candidates, seed=seed, jobs=jobs, progress=say)
    case = [(out or Path()) / case_name(statement.id, "counterexample")] if found.violated else []
    limits: dict[str, Any] = {"budget": budget, "limit": None}
    if candidates is not None:  # independent of wall-clock time: equal searches are equal to the letter
        limits = {"budget": None, "limit": candidates, "seconds": None}

    def page() -> "list[Block]":
        shown = found.page(theorem, case[0] if case else None)
        return [*shown, *(_derivation(found) if verbose else ())]

    def show_found(files: Sequence[Path]) -> None:
        beside = {**limits, "written": [str(path) for path in files]}
        show(found, page, quiet=quiet, as_json=as_json, beside=beside, theorem=statement)

    def write() -> None:
        if out is not None:
            write_folder(out, {**found.as_dict(), **limits}, {path.name: found.case for path in case})
        else:
            write_json(case[0], found.case)

    files = case if out is None else [*case, out / RESULT]
    return deliver(found.verdict.exit_code, files, show_found, write, quiet=as_json or quiet, asked=out is not None)


def _derivation(found: "Searched") -> "list[Block]":
    """Return the derivation of both sides of a counterexample, or why there is none."""
    from boundlab.api import exact
    from boundlab.pages.blocks import GAP, words
    from boundlab.pages.exact import derived

    if not found.violated:
        return []
    try:
        result = exact(found.theorem, found.case)
    except BoundlabError as error:
        return [GAP, words(f"no derivation: {error}")]
    if result.derivation is None:
        return [GAP, words(f"no derivation of numbers in {result.note or 'floating point'}")]
    return [GAP, *derived(result.derivation)]
