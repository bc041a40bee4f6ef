"""Report of ``boundlab doctor``: what is installed and found, and whether objects of others conform."""

import os
import platform
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from boundlab.__about__ import __version__
from boundlab.errors import SpecError
from boundlab.registry import KINDS, catalogue, value_of

# Package, module, and which questions need it.
PACKAGES = (
    ("numpy", "numpy", "everything"),
    ("scipy", "scipy", "everything"),
    ("sympy", "sympy", "everything"),
    ("cvxpy", "cvxpy", "certified minimisers of hinge and lad, worst cases (extra solve)"),
    ("clarabel", "clarabel", "the same"),
    ("scikit-learn", "sklearn", "bundled data (extra data)"),
    ("matplotlib", "matplotlib", "plots (extra plot)"),
    ("python-flint", "flint", "exact numbers, balls, recheck"),
    ("z3-solver", "z3", "checks of monotonicity and vacuity (extra check)"),
    ("PEPit", "PEPit", "worst cases (extra worst-case)"),
    ("torch", "torch", "trials in lock step (extra torch)"),
    ("pandas", "pandas", "frames (extra notebook)"),
    ("hypothesis", "hypothesis", "tests of your own theorems"),
    ("pytest", "pytest", "tests of your own theorems"),
)


def installed() -> list[dict[str, str]]:
    """Return rows of what there is: ``what``, ``there`` (empty where it is not), ``for``, and ``broken`` or ''."""
    rows = [
        _row("boundlab", __version__, "", ""),
        _row("python", platform.python_version(), sys.executable, ""),
    ]
    for package, module, used in PACKAGES:
        try:
            there = version(package)
        except PackageNotFoundError:
            rows.append(_row(package, "", used, ""))
            continue
        rows.append(_row(package, there, used, _import(module)))
    rows.append(_device())
    where = os.environ.get("BOUNDLAB_DATA", "")
    there = where if where and Path(where).is_dir() else ""
    words = "no folder" if where and not there else ""
    rows.append(_row("BOUNDLAB_DATA", there, "MNIST and a9a, which are not bundled", words))
    rows.append(_row("BOUNDLAB_PLUGINS", os.environ.get("BOUNDLAB_PLUGINS", ""), "files with objects of yours", ""))
    return rows


def _row(what: str, there: str, used: str, broken: str) -> dict[str, str]:
    return {"what": what, "there": there, "for": used, "broken": broken}


def _import(module: str) -> str:
    """Return why an installed package cannot be imported; empty where it can."""
    try:
        import_module(module)
    except Exception as error:  # whatever a broken installation raises
        return f"cannot be imported ({type(error).__name__}: {error})"
    return ""


def _device() -> dict[str, str]:
    used = "large problems on a GPU: --backend torch --device cuda"
    try:
        torch = import_module("torch")
        there = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    except Exception:  # torch may be missing, or its driver
        there = ""
    return _row("GPU", there, used, "")


def broken() -> list[dict[str, str]]:
    """Return what is registered and cannot be loaded."""
    return [
        {"kind": kind, "id": row.id, "from": row.origin, "reason": row.reason}
        for kind in KINDS
        for row in catalogue(kind)
        if row.reason
    ]


def conformance(plugin: Path) -> list[dict[str, str]]:
    """Run a plug-in and the checks of all its objects; ``fails`` says what is wrong, or nothing.

    Raises
    ------
    SpecError
        If it cannot be loaded, or registers nothing that there are checks for.
    """
    from boundlab.registry import using

    with using([plugin]):
        found = dict(value_of(plugin, "BOUNDLAB"))
        rows: list[dict[str, str]] = []
        for kind, given in found.items():
            for one in given if isinstance(given, (tuple, list)) else (given,):
                rows += _checks(kind, one)
    if not rows:
        raise SpecError(f"{plugin} registers nothing that conformance is known of: an algorithm, a problem, delays, …")
    return rows


def _checks(kind: str, one: Any) -> list[dict[str, str]]:
    from boundlab.testing import conform

    name = f"{kind} {one.id}"
    try:
        every = conform.checks(one)
    except SpecError:
        return []  # assumptions, checks and proofs have no suite
    return [{"object": name, "check": check.name, "fails": _failure(check)} for check in every]


def _failure(check: Callable[[], None]) -> str:
    try:
        check()
    except AssertionError as error:
        return str(error)
    return ""
