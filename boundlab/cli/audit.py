"""``boundlab audit``."""

from collections.abc import Callable, Sequence
from pathlib import Path

from boundlab.cli import _options as option
from boundlab.cli.terminal import deliver, show, status, writable
from boundlab.errors import SpecError
from boundlab.files import json_text, write_text
from boundlab.options import Default
from boundlab.verdict import ExitCode


def audit(
    theorem: option.Theorem,
    budget: option.AuditBudget = Default.BUDGET,
    candidates: option.AuditCandidates = None,
    seed: option.Seed = Default.SEED,
    jobs: option.Jobs = None,
    html: option.HtmlFile = None,
    latex: option.LatexFile = None,
    markdown: option.MarkdownFile = None,
    json: option.JsonFile = None,
    brief: option.Brief = False,
    require: option.Require = None,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
) -> ExitCode:
    """Write a one-page report on a theorem.

    The page has the verdict, what fails, the counterexample with its derivation, the step of the proof that goes wrong,
    the repair and what supports it, a comparison, what was not decided, and the commands that repeat each number. If
    you name a file, the terminal shows only the verdict.
    """
    from boundlab.audit import Audit, audit as ask

    option.alone(quiet, verbose=verbose, brief=brief)
    makers: dict[Path, Callable[[Audit], str]] = {}
    data = (json, lambda audit: json_text(audit.as_dict()))
    for path, make in ((html, Audit.html), (latex, Audit.latex), (markdown, Audit.markdown), data):
        if path in makers:
            raise SpecError(f"{path} is named twice; give each page a separate file")
        makers |= dict.fromkeys(writable(path), make)
    with status("auditing") as say:
        found = ask(theorem, budget, candidates=candidates, seed=seed, jobs=jobs, progress=say)

    def show_found(files: Sequence[Path]) -> None:
        show(found, found.brief if brief else found.page, folded=verbose, quiet=quiet or (bool(files) and not brief))

    def write() -> None:
        for path, make in makers.items():
            write_text(path, make(found))

    code = ExitCode.UNDECIDED if require == "holds" and found.only_tried else found.exit_code
    return deliver(code, [*makers], show_found, write, quiet=quiet)
