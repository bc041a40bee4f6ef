"""The Typer application."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from boundlab.__about__ import __version__
from boundlab.cli import _options as option
from boundlab.cli.terminal import epilog, summary

# The commands in the groups and the order of the help: where each stands, and an example of its arguments.
_GROUPS = {
    "Is it true?": {
        "audit": ("judges:audit", "area.theorem8 --html area.html"),
        "check": ("judges:check", "area.theorem7 --only units"),
        "compare": (
            "judges:compare",
            "area.theorem8 --problem lad:x0=3 --delays iid:p_s=0.5 --iterations 6 --set M=50 --trials 400",
        ),
        "falsify": ("judges:falsify", "area.theorem8 --budget 60"),
        "prove": ("prove:prove", "area.theorem8.repaired --step 'a pass'"),
        "exact": ("judges:exact", "area.theorem8"),
        "worst-case": ("judges:worst_case", "area.theorem8 --iterations 5 --p 0.5 --set M=3"),
    },
    "My system": {
        "run": (
            "system:run",
            "area --problem softmax:clients=10 --delays exponential:spread=10 --set alpha=0.5 --iterations 2000",
        ),
        "trace": ("system:trace", "log.csv --map time=ts,client=device --out trace.csv"),
        "constants": ("system:constants", "logistic:data=breast_cancer,clients=4,nu=0.1,batch=1"),
        "optimal-rate": ("system:optimal_rate", "--rates 10,10,2.5 --objective per-time --server-cost 0.01"),
    },
    "Many": {"sweep": ("sweep:sweep", "plan.toml --out results --jobs 2")},
    "Write and look": {
        "new": ("new:new", "algorithm mine"),
        "list": ("listing:list_command", "problems"),
        "show": ("listing:show", "area.theorem8 --latex"),
        "eval": (
            "listing:evaluate",
            "area.theorem8 --set p=0.5 --set M=50 --set K=1:1e4:log --set B=1 --set sigma=0 --set R=3 --terms",
        ),
        "docs": ("docs:docs", "verdicts"),
        "doctor": ("doctor:doctor", "tests/plugin_example/example.py"),
        "demo": ("demo:demo", "--out demo"),
        "mcp": ("mcp:mcp", ""),
    },
}
_COMMANDS = {name: command for commands in _GROUPS.values() for name, command in commands.items()}


class _Grouped(TyperGroup):
    """The help with the commands in their groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each command."""
        for group, names in _GROUPS.items():
            commands = [(name.ljust(12), self.commands[name]) for name in names if name in self.commands]
            if commands:
                formatter.write(f"\n{group}\n")
                with formatter.indentation():
                    formatter.write_dl([(name, one.get_short_help_str(80)) for name, one in commands])


def application(asked: str | None = None, *, whole: bool = True) -> typer.Typer:
    """Return the application with the one command that is asked for; with all where there is none of that name.

    Parameters
    ----------
    whole
        Whether all of them take what their questions take; else they have their names and help alone, and no question
        is loaded.
    """
    app = typer.Typer(
        name="boundlab",
        cls=_Grouped,
        help="A type-checker for convergence theorems of asynchronous and federated first-order methods.",
        epilog=summary(),
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in (asked,) if asked in _COMMANDS else _COMMANDS:
        place, example = _COMMANDS[name]
        module, function = place.split(":")
        command = getattr(import_module(f"boundlab.cli.{module}"), function)
        taken = option.command_of(command) if whole or name == asked else option.named_only(command)
        app.command(name, epilog=epilog(name, f"{name} {example}".strip()))(taken)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"boundlab {__version__}")
        raise typer.Exit


def _options(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
    plugin: Annotated[
        list[Path] | None, option.file("--plugin FILE.py", "Run this file and use what it registers; may be repeated.")
    ] = None,
    _debug: Annotated[bool, option.named("--debug", "Show the traceback of an unexpected error.")] = False,
) -> None:
    if plugin:
        from boundlab.registry import using

        context.with_resource(using(plugin))
