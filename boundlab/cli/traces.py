"""``boundlab trace`` and ``boundlab fit``."""

from boundlab.cli import _options as option
from boundlab.cli.endings import deliver, writable
from boundlab.cli.terminal import show
from boundlab.verdict import ExitCode


def trace(
    log: option.Log,
    form: option.LogForm = "csv",
    columns: option.LogColumns = None,
    out: option.TraceOut = None,
    quiet: option.Quiet = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Read the log of a system: devices, rates, durations, staleness; write it as a trace that runs follow."""
    from boundlab.api import trace as ask

    option.alone(quiet, json=as_json)
    files = writable(out)
    result = ask(log, form, option.columns_map(columns))

    def write() -> None:
        result.save(files[0])

    def show_found(_files: object) -> None:
        show(result, result.page, quiet=quiet, as_json=as_json)

    return deliver(ExitCode.STANDS, files, show_found, write, quiet=as_json or quiet)


def fit(
    log: option.Log,
    form: option.LogForm = "csv",
    columns: option.LogColumns = None,
    quiet: option.Quiet = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Fit the laws of delays to the durations of a trace, and print the best one as it is typed."""
    from boundlab.api import fit as ask

    option.alone(quiet, json=as_json)
    result = ask(log, form, option.columns_map(columns))
    show(result, result.page, quiet=quiet, as_json=as_json)
    return ExitCode.STANDS
