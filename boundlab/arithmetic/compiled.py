"""Loops of numbers that Numba compiles, where it is installed and there is enough to do.

A loop is a function of numbers, arrays and named tuples of them; so is what it calls. Machine code is kept
on disk, next to the source or, where that cannot be written, in the user's cache folder.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISDIR, S_IWGRP, S_IWOTH
from types import FunctionType
from typing import Any, Final, NamedTuple

import numpy as np

from boundlab.errors import OutputError
from boundlab.files import cache_folder

_WORTH: Final = 200_000  # passes of a loop from which on an import of Numba is made up for
_passed = 0


@cache
def installed() -> bool:
    """Return whether there is a Numba."""
    return find_spec("numba") is not None


def worth(passes: int) -> bool:
    """Return whether loops are to be compiled: so many passes are ahead, beside all those that were asked of before."""
    global _passed
    _passed += passes
    return _passed >= _WORTH and installed()


@cache
def machine_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop in machine code, helpers included."""
    import numba

    assert isinstance(function, FunctionType)  # noqa: S101  (for the type checker)
    helpers = {name: machine_code(one) for name, one in _helpers(function).items()}
    twin = FunctionType(
        function.__code__, {**function.__globals__, **helpers}, function.__name__, function.__defaults__
    )
    twin.__module__, twin.__qualname__ = function.__module__, function.__qualname__
    kept, before = _kept(_sources(function)), numba.config.CACHE_DIR  # type: ignore[attr-defined]
    # Loops make no arrays; counting who still reads those that they are given would be most of the work.
    options: dict[str, Any] = {"cache": kept is not None, "nogil": True, "error_model": "numpy", "_nrt": False}
    try:
        numba.config.CACHE_DIR = str(kept or "")  # type: ignore[attr-defined]
        made: Callable[..., Any] = numba.njit(**options)(twin)
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
    return made


def _helpers(function: FunctionType) -> dict[str, FunctionType]:
    """Return the functions of boundlab that a loop calls."""
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    return {
        name: one
        for name, one in named.items()
        if isinstance(one, FunctionType) and one.__module__.startswith("boundlab.")
    }


def _sources(function: FunctionType) -> tuple[str, ...]:
    """Return the files of a loop and of all that it calls, its own first."""
    found = dict.fromkeys([function.__code__.co_filename])
    for helper in _helpers(function).values():
        found |= dict.fromkeys(_sources(helper))
    return (*found,)


@cache
def _kept(sources: tuple[str, ...]) -> Path | None:
    """Return the folder of the machine code of sources, or None where none can be written.

    It bears their text in its name: what another text left there cannot even be read. A folder of somebody else, or
    that others may write to, is passed over: Numba runs what it finds there.
    """
    key = hashlib.sha256()
    for path in (*sources, __file__):
        key.update(Path(path).read_bytes())
    name = f"numba-{key.hexdigest()[:16]}"
    beside: Callable[[str], Path] = (Path(sources[0]).parent / "__pycache__").joinpath
    for found in (beside, cache_folder):
        with suppress(OSError, OutputError):
            folder = found(name)
            folder.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            found_there = folder.lstat()
            own = S_ISDIR(found_there.st_mode) and found_there.st_uid == os.geteuid()
            if own and not found_there.st_mode & (S_IWGRP | S_IWOTH) and os.access(folder, os.W_OK):
                return folder
    return None


# Functions of clients, losses of one number, and simple terms, as compiled loops tell them apart.
SEPARABLE, QUADRATIC, SAMPLES = range(3)
HUBER, PSEUDO_HUBER, ABSOLUTE, SQUARE, HINGE, LOGISTIC, SOFTMAX, POISSON, QUANTILE, SQUARED_HINGE = range(10)
NOTHING, L1, BOX, BALL = range(4)
EXACT, GAUSSIAN, SIGNS, BATCHES = range(4)  # what is drawn for a local step


class Clients(NamedTuple):
    """The clients of a problem as arrays, which a compiled loop makes local steps of.

    Parameters
    ----------
    kind
        SEPARABLE: Σ_j a_ij·φ(x_j − b_ij); QUADRATIC: ½(x − b_i)ᵀA_i(x − b_i), the columns of the A_i one
        below the other; SAMPLES: a mean of losses of linear models, times factor_i, with rows of a and targets b.
    loss, width
        Which φ, and where it turns linear, or its fraction.
    a, b
        Arrays of two axes.
    first, size
        Shape (n,): the rows of each client.
    factor, nu
        Weights of the clients, shape (n,), and the regulariser of each coordinate, (d,).
    classes
        Of softmax, else 1.
    relative
        What the loss of each row is multiplied by, shape (rows,), or (1,) where that is one number.
    drawn
        What is drawn for a local step.
    vector
        What is added with either sign, shape (d,); else it is empty.
    simple
        The h of proximal steps.
    low, high
        The ends of a box; the latter is the radius of a ball, or the weight of ‖x‖₁.
    """

    kind: int
    loss: int
    width: float
    a: Any
    b: Any
    first: Any = np.empty(0, np.int64)
    size: Any = np.empty(0, np.int64)
    factor: Any = np.empty(0)
    nu: Any = np.empty(0)
    classes: int = 1
    relative: Any = np.ones(1)
    drawn: int = EXACT
    vector: Any = np.empty(0)
    simple: int = NOTHING
    low: float = 0.0
    high: float = 0.0


# How many threads the libraries of linear algebra take.


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread: other numbers of threads round otherwise."""
    controller = _controller(len(sys.modules))
    with nullcontext() if controller is None else controller.limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _controller(_modules: int) -> Any:
    """Return what limits the threads of the libraries that are loaded, looked for again when modules were loaded."""
    try:
        from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return ThreadpoolController()
