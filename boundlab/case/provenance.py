"""Dependencies of a result beside the numbers that it shows: files, libraries, and all options of the delays."""

import contextlib
import platform
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import numpy as np

from boundlab.__about__ import __version__
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.files import hashes
from boundlab.objective import Problem
from boundlab.registry import files as plugins

_PACKAGES = (
    "numpy",
    "scipy",
    "sympy",
    "cvxpy",
    "clarabel",
    "scikit-learn",
    "python-flint",
    "z3-solver",
    "pepit",
)


class TheoremLike(Protocol):
    """A theorem, as far as it matters here."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def source(self) -> str:
        """The text of the file that it was read from; empty where it came with a package."""


def provenance(
    theorem: TheoremLike | None = None,
    problem: Problem | None = None,
    delays: DelayModel | None = None,
    policy: ServerPolicy | None = None,
    parameters: Any = None,
) -> dict[str, Any]:
    """Return what determines a result, JSON-ready: with the same, it can be repeated to the last bit.

    Parameters
    ----------
    parameters
        What the algorithm has read, defaults included.

    Returns
    -------
    dict
        Data that were read from files are identified by the SHA-256 of these, others by that of their samples.
    """
    found: dict[str, Any] = {"boundlab": __version__, "versions": versions(), "blas": blas()}
    if theorem is not None:
        found["theorem"] = {"id": theorem.id, **_text(theorem.source)}
    if delays is not None:
        found["delays"] = plain(delays.spec())
    if policy is not None:
        found["server"] = policy.spec()
    if parameters is not None:
        found["parameters"] = plain(parameters)
    if problem is not None and not problem.files() and (samples := problem.data_sha256()):
        found["data"] = {"sha256": samples}
    data = [*([] if problem is None else problem.files()), *([] if delays is None else delays.files())]
    return {**found, "files": hashes(data), "plugins": hashes(plugins())}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on, where they are installed."""
    return {"python": platform.python_version(), "machine": platform.machine(), **_packages(tuple(sys.path))}


@lru_cache(maxsize=4)
def _packages(_path: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of the packages that are installed; their metadata are read once for each search path."""
    found = {}
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def blas() -> list[dict[str, Any]]:
    """Return the libraries of linear algebra that are loaded: their kernels round in different ways.

    Without threadpoolctl (it comes with scikit-learn) the one that NumPy was built with.
    """
    try:
        from threadpoolctl import threadpool_info  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        built: Any = np.show_config(mode="dicts")
        one = built.get("Build Dependencies", {}).get("blas", {})
        return [{key: str(one[key]) for key in ("name", "version") if key in one}]
    keys = ("internal_api", "version", "architecture", "num_threads")
    import scipy.linalg  # noqa: F401  (it has one of its own: whether it is loaded yet must not matter)

    found: list[dict[str, Any]] = []
    for library in threadpool_info():
        one = {key: library.get(key) for key in keys}
        if library.get("user_api") == "blas" and one not in found:
            found.append(one)
    return sorted(found, key=lambda one: [str(value) for value in one.values()])  # loaded in no certain order


def plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, parameters as objects, anything else as its words."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _text(source: str) -> dict[str, str]:
    return {"sha256": sha256(source.encode("utf-8")).hexdigest(), "text": source} if source else {}
