"""``boundlab doctor``: what is installed and registered, and whether the objects of a plug-in conform."""

import os
import platform
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from boundlab.__about__ import __version__
from boundlab.cli import _options as option
from boundlab.cli.terminal import answer, progress
from boundlab.errors import SpecError
from boundlab.files import is_folder, schema
from boundlab.result import Report
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.pages.blocks import Tone

# Package, module, and which questions need it.
_PACKAGES = (
    ("numpy", "numpy", "everything"),
    ("scipy", "scipy", "everything"),
    ("sympy", "sympy", "everything"),
    ("cvxpy", "cvxpy", "certified minimisers of hinge and lad, worst cases (extras solve, worst-case)"),
    ("clarabel", "clarabel", "the same"),
    ("scikit-learn", "sklearn", "bundled data (extra data)"),
    ("matplotlib", "matplotlib", "plots (extra plot)"),
    ("python-flint", "flint", "exact numbers, balls, recheck"),
    ("numba", "numba", "long runs in few dimensions (extra fast)"),
    ("torch", "torch", "trials in lock step (extra torch)"),
    ("pandas", "pandas", "frames (extra notebook)"),
    ("hypothesis", "hypothesis", "tests of your own theorems"),
    ("pytest", "pytest", "tests of your own theorems"),
)


def doctor(
    plugin: Annotated[
        Path | None, option.file_argument("[PLUGIN.py]", "A plug-in. It is run, and its objects are tested.")
    ] = None,
    as_json: option.AsJson = False,
) -> ExitCode:
    """Show what is installed, and test a plug-in.

    It also shows what cannot be loaded. The objects of PLUGIN.py are tested for conformance to their interfaces.
    """
    rows, bad = _installed(), _broken()
    checks: list[dict[str, Any]] = []
    if plugin is not None:
        with progress("checks", 1) as tick:
            checks = _conformance(plugin)
            tick(1)
    failed = [one for one in checks if one["fails"]]
    unsound = bad or any(row["broken"] for row in rows)
    code = ExitCode.REFUTED if failed else ExitCode.UNDECIDED if unsound else ExitCode.STANDS
    from boundlab.pages.blocks import GAP, Block, line, table, words

    there = [(row["what"], line((row["broken"] or row["there"] or "–", _tone(row))), row["for"]) for row in rows]
    lost = [f"{one['kind']} {one['id']} of {one['from']} cannot be loaded: {one['reason']}" for one in bad]
    page: list[Block] = [table("", ("what", "there", "for"), there, whole=(0,)), *(words((one, "bad")) for one in lost)]
    if plugin is not None:
        for name, fails in dict.fromkeys((one["object"], one["fails"]) for one in failed):
            said = "; ".join(one["check"] for one in failed if (one["object"], one["fails"]) == (name, fails))
            page += [GAP, words((f"{name}: {said.replace(f'{name}: ', '')}\n  {fails}", "bad"))]
        objects = {one["object"] for one in checks}
        of = f"{len(objects)} object{'s' * (len(objects) > 1)}"
        summary = f"{len(checks) - len(failed)} of {len(checks)} checks of {of} pass"
        page += [GAP, words((f"{plugin}: {summary}", "bad" if failed else "good"))]
    document = {"schema": schema("doctor"), "installed": rows, "cannot_be_loaded": bad, "conformance": checks}
    return answer(Report("", "", tuple(page), document), code=code, as_json=as_json)


def _tone(row: Mapping[str, str]) -> "Tone":
    if row["broken"]:
        return "bad"
    return "" if row["there"] else "dim"


def _installed() -> list[dict[str, str]]:
    """Return a row for each package: ``what``, ``there`` (empty where it is not), ``for``, and ``broken`` or ''."""
    data, plugins = os.environ.get("BOUNDLAB_DATA", ""), os.environ.get("BOUNDLAB_PLUGINS", "")
    there = data if data and is_folder(Path(data)) else ""
    return [
        _row("boundlab", __version__),
        _row("python", platform.python_version(), sys.executable),
        *(_package(*one) for one in _PACKAGES),
        _row("GPU", _device(), "large problems on a GPU: --backend torch --device cuda"),
        _row("BOUNDLAB_DATA", there, "MNIST and a9a, which are not bundled", "no folder" if data and not there else ""),
        _row("BOUNDLAB_PLUGINS", plugins, "files with objects of yours"),
    ]


def _row(what: str, there: str, used: str = "", broken: str = "") -> dict[str, str]:
    return {"what": what, "there": there, "for": used, "broken": broken}


def _package(package: str, module: str, used: str) -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        there = version(package)
    except PackageNotFoundError:
        return _row(package, "", used)
    try:
        import_module(module)
    except Exception as error:  # whatever a broken installation raises
        return _row(package, there, used, f"cannot be imported ({type(error).__name__}: {error})")
    return _row(package, there, used)


def _device() -> str:
    try:
        torch = import_module("torch")
        return str(torch.cuda.get_device_name(0)) if torch.cuda.is_available() else ""
    except Exception:  # torch may be missing, or its driver
        return ""


def _broken() -> list[dict[str, str]]:
    """Return the registered objects that cannot be loaded."""
    from boundlab.registry import KINDS, catalogue

    return [
        {"kind": kind, "id": row.id, "from": row.origin, "reason": row.reason}
        for kind in KINDS
        for row in catalogue(kind)
        if row.reason
    ]


def _conformance(plugin: Path) -> list[dict[str, str]]:
    """Run a plug-in and the checks of all its objects; ``fails`` says what is wrong, or nothing.

    Raises
    ------
    SpecError
        If it cannot be loaded, or registers nothing that there are checks for.
    """
    from boundlab.registry import catalogue, using, value_of

    with using([plugin]):
        found = dict(value_of(plugin, "BOUNDLAB"))
        objects = [
            (kind, one)
            for kind, given in found.items()
            for one in (given if isinstance(given, (tuple, list)) else (given,))
        ]
        rows = [row for kind, one in objects for row in _checks(kind, one)]
        wrong = [one.reason for kind in found for one in catalogue(kind) if one.reason and str(plugin) in one.origin]
    if wrong or not rows:
        nothing = "registers nothing that the conformance suite covers: an algorithm, a problem, delays, …"
        raise SpecError(f"{plugin}: {'; '.join(wrong)}" if wrong else f"{plugin} {nothing}")
    return rows


def _checks(kind: str, one: Any) -> list[dict[str, str]]:
    from boundlab.testing import conform

    try:
        every = conform.checks(one)
    except SpecError:
        return []  # assumptions, checks and proofs have no suite
    rows = []
    for check in every:
        fails = ""
        try:
            check()
        except AssertionError as error:
            fails = str(error)
        rows.append({"object": f"{kind} {one.id}", "check": check.name, "fails": fails})
    return rows
