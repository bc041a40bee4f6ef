"""``boundlab check``."""

from boundlab.cli import _options as option
from boundlab.cli.terminal import show
from boundlab.verdict import ExitCode


def check(
    theorem: option.Theorem,
    only: option.Groups = None,
    quiet: option.Quiet = False,
    verbose: option.VerboseOrAll = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Check the formula alone: units, limits, symmetries.

    Nothing is simulated.
    """
    from boundlab.api import check as ask

    option.alone(quiet, json=as_json, verbose=verbose)
    found = ask(theorem, only)
    show(found, lambda: found.page(verbose), quiet=quiet, as_json=as_json, theorem=found.theorem)
    return found.exit_code
