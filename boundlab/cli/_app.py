"""The Typer application."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from boundlab.__about__ import __version__
from boundlab.cli import _options as option
from boundlab.cli import (
    audit,
    check,
    compare,
    demo,
    doctor,
    exact,
    falsify,
    listing,
    new,
    optimal_rate,
    prove,
    recheck,
    runs,
    schemas,
    theorems,
    worst_case,
)
from boundlab.cli.endings import epilog, summary

app = typer.Typer(
    name="boundlab",
    help="A type-checker for convergence theorems of asynchronous and federated first-order methods.",
    epilog=summary(),
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
# Each command with an example of its arguments, in the order of the help.
_COMMANDS: dict[str, tuple[Callable[..., Any], str]] = {
    "list": (listing.list_command, "problems"),
    "show": (theorems.show, "area.theorem8 --latex"),
    "eval": (
        theorems.evaluate,
        "area.theorem8 --set p=0.5 --set M=50 --set K=1:1e4:log --set B=1 --set sigma=0 --set R=3 --terms",
    ),
    "optimal-rate": (optimal_rate.optimal_rate, "--rates 10,10,2.5 --objective per-time --server-cost 0.01"),
    "run": (
        runs.run,
        "area --problem softmax:clients=10 --delays exponential:spread=10 --set alpha=0.5 --iterations 2000",
    ),
    "replay": (runs.replay, "case.json --json"),
    "check": (check.check, "area.theorem7 --only units"),
    "compare": (
        compare.compare,
        "area.theorem8 --problem lad:x0=3 --delays iid:p_s=0.5 --iterations 6 --set M=50 --trials 400",
    ),
    "exact": (exact.exact, "area.theorem8"),
    "worst-case": (worst_case.worst_case, "area.theorem8 --iterations 5 --p 0.5 --set M=3"),
    "prove": (prove.prove, "area.theorem8.repaired --step 'a pass'"),
    "recheck": (recheck.recheck, "certificate.json"),
    "falsify": (falsify.falsify, "area.theorem8 --budget 60"),
    "audit": (audit.audit, "area.theorem8 --html area.html"),
    "demo": (demo.demo, "--out demo"),
    "new": (new.new, "algorithm mine"),
    "doctor": (doctor.doctor, "tests/plugin_example/example.py"),
    "schema": (schemas.schema, "case"),
}
for _name, (_command, _example) in _COMMANDS.items():
    app.command(_name, epilog=epilog(_name, f"{_name} {_example}"))(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"boundlab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
    plugin: option.PluginFiles = None,
    _debug: option.Debug = False,
) -> None:
    if plugin:
        from boundlab.registry import using

        context.with_resource(using(plugin))
