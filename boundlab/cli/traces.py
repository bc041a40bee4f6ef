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
    as_json: option.AsJson = False,
) -> ExitCode:
    """Read the log of a system: devices, rates, durations, staleness; write it as a trace that runs follow."""
    from boundlab.api import trace as ask

    files = writable(out)
    result = ask(log, form, option.columns_map(columns))

    def write() -> None:
        result.save(files[0])

    return deliver(ExitCode.STANDS, files, lambda _: show(result, result.page, as_json=as_json), write, quiet=as_json)


def fit(
    log: option.Log,
    form: option.LogForm = "csv",
    columns: option.LogColumns = None,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Fit the laws of delays to the durations of a trace, and print the best one as it is typed."""
    from boundlab.api import fit as ask

    result = ask(log, form, option.columns_map(columns))
    show(result, result.page, as_json=as_json)
    return ExitCode.STANDS
