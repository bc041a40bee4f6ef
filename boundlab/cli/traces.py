"""``boundlab trace``."""

from boundlab.cli import _options as option
from boundlab.cli.terminal import deliver, show, writable
from boundlab.verdict import ExitCode


def trace(
    log: option.Log,
    form: option.LogForm = "csv",
    columns: option.LogColumns = None,
    fit: option.Fit = False,
    out: option.TraceOut = None,
    quiet: option.Quiet = False,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Read a log of your system: rates, durations, staleness.

    With --out the log becomes a trace, which runs can follow. With --fit the laws of delays are fitted to the
    durations, and the best one is printed.
    """
    from boundlab.api import fit as ask_fit, trace as ask

    option.alone(quiet, json=as_json)
    option.alone(fit, "--fit prints a law, and --out writes a trace", out=out)
    if fit:
        law = ask_fit(log, form, option.columns_map(columns))
        show(law, law.page, quiet=quiet, as_json=as_json)
        return ExitCode.STANDS
    files = writable(out)
    result = ask(log, form, option.columns_map(columns))

    def write() -> None:
        result.save(files[0])

    def show_found(_files: object) -> None:
        show(result, result.page, quiet=quiet, as_json=as_json)

    return deliver(ExitCode.STANDS, files, show_found, write, quiet=as_json or quiet)
