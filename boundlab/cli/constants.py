"""``boundlab constants``."""

from boundlab.cli import _options as option
from boundlab.cli.terminal import show
from boundlab.verdict import ExitCode


def constants(about: option.AskedProblem, quiet: option.Quiet = False, as_json: option.AsJson = False) -> ExitCode:
    """Certify the constants of a problem, and the steps they allow."""
    from boundlab.api import constants as constants_of

    option.alone(quiet, json=as_json)
    found = constants_of(about)
    show(found, found.page, quiet=quiet, as_json=as_json)
    return ExitCode.STANDS
