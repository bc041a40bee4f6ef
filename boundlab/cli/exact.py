"""``boundlab exact``."""

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import show
from boundlab.errors import SpecError
from boundlab.verdict import ExitCode


def exact(
    theorem: option.Theorem,
    case: option.CaseOrOwn = None,
    derivation: option.Derivation = False,
    latex: option.DerivationLatex = False,
    quiet: option.Quiet = False,
    verbose: option.Verbose = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Compute both sides of a theorem on one case, without sampling.

    Rational cases are computed in rational numbers. The result says whether it is exact, an enclosure by intervals, or
    numeric (floating point).
    """
    from boundlab.api import exact as ask
    from boundlab.theorems import load_theorem

    if latex and as_json:
        raise SpecError("give --latex or --json, not both")
    option.alone(quiet, json=as_json, verbose=verbose, derivation=derivation, latex=latex)
    statement = load_theorem(theorem)
    result = ask(statement, case, derivation=derivation or latex or verbose)
    if (derivation or latex) and result.derivation is None:
        numeric = f"of numbers in {result.note or 'floating point'}"
        what = numeric if result.kind == "numeric" else "if a file defines the left side"
        raise SpecError(f"there is no derivation {what}; without it both sides are printed")
    if latex and result.derivation is not None:
        from boundlab.pages.exact import derived
        from boundlab.pages.latex import plain_latex

        typer.echo(plain_latex(derived(result.derivation)))
    else:
        show(result, result.page, quiet=quiet, as_json=as_json, beside=statement.links(), theorem=statement)
    return result.verdict.exit_code
