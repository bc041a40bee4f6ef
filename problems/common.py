"""Helpers shared by the problem families: reading arrays and start points, and rounding outwards."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import numpy as np

from boundlab.arithmetic.compiled import one_thread
from boundlab.arithmetic.near import Near, sqrt
from boundlab.errors import SpecError
from boundlab.files import SHARE, bytes_text, free_bytes
from boundlab.formulas.symbols import having
from boundlab.objective import Array, Constant, Floats, Problem, alike
from boundlab.objective.facts import above
from boundlab.options import Options, number, numbers

LARGEST = 20_000_000  # entries of one explicit or generated array: 160 MB
_COPIES = 12  # of an array that are held while a problem is generated and its constants are computed
_CALM = 5_000_000
START_OPTION = "start point: a number for every coordinate, or a list"


def _nested(text: str, what: str) -> Any:
    """Read ``[[1,2],[3,4]]`` from the command line."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or an integer of more than 4300 digits
        raise SpecError(f"{what} must be nested lists of numbers, e.g. [[1,2],[3,4]], got {text[:60]!r}") from None


def read_array(options: Options, key: str, ndim: int) -> Floats:
    """Return an explicit array of finite numbers.

    Parameters
    ----------
    options
        Holds ``key`` as nested JSON lists; on the command line a list of numbers is a column, one a client.
    ndim
        The number of axes that the array must have.

    Raises
    ------
    SpecError
        If the array is missing, ragged, empty, not finite, too large, or has another number of axes.
    """
    raw, what = options.require(key), f"{options.owner}: {key}"
    if isinstance(raw, str) and raw.startswith("[["):
        raw = _nested(raw, what)
    listed = isinstance(raw, (list, tuple))
    if not listed and ndim > 2:
        raise SpecError(f"{what} must be nested lists with {ndim} levels, got {raw!r}; give it in a JSON case file")
    if not listed or (ndim == 2 and raw and not any(isinstance(row, (list, tuple)) for row in raw)):
        return np.array(numbers(raw, what)).reshape((-1, 1)[:ndim])
    table = np.array(raw, dtype=object)
    if table.size > LARGEST:
        raise SpecError(f"{what} has more than {LARGEST} entries")
    if table.ndim <= ndim and any(isinstance(entry, (list, tuple)) for entry in table.flat):
        raise SpecError(f"{what} is ragged: its lists differ in length, or one stands where a number should")
    if table.ndim != ndim:
        raise SpecError(f"{what} must have {ndim} axes, got {table.ndim} with lengths {list(table.shape)}")
    if not table.size:
        raise SpecError(f"{what} is empty; its axes have lengths {list(table.shape)}")
    return np.array([number(entry, what) for entry in table.flat]).reshape(table.shape)


def check_shape(options: Options, key: str, array: Array, shape: tuple[int, ...], axes: str, other: str) -> None:
    """Refuse an array whose shape does not fit to that of another one.

    Raises
    ------
    SpecError
        Naming the axes, in words such as n×d, and both shapes.
    """
    if array.shape != shape:
        wanted, got = ("×".join(map(str, one)) for one in (shape, array.shape))
        raise SpecError(f"{options.owner}: {key} must be {axes} = {wanted} to fit {other}, got {got}")


def read_start(options: Options, d: int, default: float = 0.0) -> Floats:
    """Return the start point x0, shape (d,), unit (0, 1), from a number or a list of d numbers.

    Raises
    ------
    SpecError
        If the list has another length or holds anything but finite numbers.
    """
    return read_vector(options, "x0", d, default)


def read_vector(options: Options, key: str, d: int, default: float = 0.0) -> Floats:
    """Return a vector of shape (d,) from a list of d numbers, or from one number, which then is every entry.

    Raises
    ------
    SpecError
        If the list has another length or holds anything but finite numbers.
    """
    raw = options.raw(key, default)
    entries = numbers(raw, f"{options.owner}: {key}")
    listed = isinstance(raw, (list, tuple)) or (isinstance(raw, str) and raw.startswith(("[", "@")))
    if len(entries) == 1 and (not listed or d == 1):
        return np.full(d, entries[0])
    if len(entries) != d:
        raise SpecError(f"{options.owner}: {key} has {len(entries)} entries, the problem has dimension {d}")
    return np.asarray(entries, dtype=np.float64)


def check_size(options: Options, entries: int, what: str, most: int = LARGEST) -> None:
    """Refuse a generated problem that would not fit into memory.

    Raises
    ------
    SpecError
        If there would be more than ``most`` entries, or no memory for them and what is computed of them.
    """
    if entries > most:
        raise SpecError(f"{options.owner}: {what} would have {entries} entries, at most {most} are allowed")
    needed, free = _COPIES * 8 * entries, free_bytes() if entries > LARGEST else None
    if free is not None and needed > SHARE * free:
        raise SpecError(
            f"{options.owner}: {what} would have {entries} entries, about {bytes_text(needed)} with what is computed "
            f"of them, and {bytes_text(free)} are free; take fewer clients or dimensions"
        )


def read_drawn(options: Options, d: int) -> dict[str, Any]:
    """Read how a generated problem is drawn: clients, dimension (by default d), spread and seed.

    Raises
    ------
    SpecError
        If one of them is wrong.
    """
    return {
        "clients": options.integer("clients", 5, minimum=1),
        "dimension": options.integer("dimension", d, minimum=1),
        "spread": options.number("spread", 1.0, minimum=0.0),
        "seed": options.integer("seed", 0),
    }


def key_of(*arrays: Array) -> bytes:
    """Return a key that arrays of the same shapes share if they are equal to the last bit."""
    return b"".join(array.tobytes() for array in arrays)


def calm(entries: int) -> AbstractContextManager[None]:
    """Keep BLAS to one thread while matrices are small, where threads wait for each other longer than they work.

    A matter of speed alone, up to a hundredfold where the cores are busy; without threadpoolctl (it comes with
    scikit-learn) nothing is changed.

    Parameters
    ----------
    entries
        Size of the largest matrix.
    """
    return one_thread() if entries <= _CALM else nullcontext()


# Constants that follow from others, and the reasons why they may be missing, in one form for every family.

SHARED = Constant(0.0, "exact", "x* is the minimiser of every client")  # as zeta
SAME = Constant(0.0, "exact", "all clients have the same function")  # as any heterogeneity


def met(
    *,
    strongly_convex: str = "",
    smooth: str = "",
    steep: str = "",
    variance: str = "",
    spread: str = "",
    minimiser: str = "",
    below: str | None = None,
) -> dict[str, str]:
    """Return what convex functions say of the assumptions about them: each argument is a reason, or met where empty.

    Parameters
    ----------
    strongly_convex, smooth, variance, minimiser
        Why they are not that, why the oracle's variance has no bound, and why no minimiser is certified.
    steep
        Why gradients are unbounded.
    spread
        Why the clients' gradients differ by more and more.
    below
        Why f has no lower bound; by default the reason that there is for the minimiser.
    """
    return {
        "convex": "",
        "strongly-convex": strongly_convex,
        "smooth": smooth,
        **dict.fromkeys(("lipschitz", "bounded-gradients", "bounded-second-moment"), steep),
        "bounded-variance": variance,
        "bounded-heterogeneity": spread,
        "bounded-below": minimiser if below is None else below,
        "minimiser": minimiser,
    }


def of_alike(problem: Problem, found: Mapping[str, Constant]) -> dict[str, Constant]:
    """Return constants with no heterogeneity where all clients have one function: none, not what rounding adds."""
    none = dict.fromkeys(found.keys() & having("heterogeneity"), SAME) if alike(problem) else {}
    return {**found, **none}


def smoothness(constant: Constant) -> dict[str, Constant]:
    """Return L and L_sq = L²."""
    return {"L": constant, "L_sq": above(Near(constant.value) ** 2, f"L², L by {constant.how}")}


def noise(constant: Constant) -> dict[str, Constant]:
    """Return sigma under the names that theorems know it by."""
    return {"sigma": constant, "sigma_l": constant}


def gradients(norms: Floats, drawn: Any, how: str) -> dict[str, Constant]:
    """Return G_sq and G.

    Parameters
    ----------
    norms
        Shape (n,): ‖∇f_i(w)‖ is at most this.
    drawn
        Shape (n,): √E‖g_i(w)‖² is at most this.
    how
        Where the norms come from.
    """
    return {"G_sq": above(Near(norms) ** 2, how), "G": above(drawn, f"second moment of the oracle; {how}")}


def additive(norms: Floats, sigma: float, how: str) -> dict[str, Constant]:
    """Return G_sq and G where independent noise with E‖noise‖² = sigma² is added: E‖g_i‖² = ‖∇f_i‖² + sigma²."""
    return gradients(norms, sqrt(Near(norms) ** 2 + Near(sigma) ** 2) if sigma else norms, how)


def heterogeneity(each: Any, mean: Any, how: str) -> dict[str, Constant]:
    """Return sigma_g and sigma_g_mean.

    Parameters
    ----------
    each
        Shape (n,): ‖∇f_i(w) − ∇f(w)‖ is at most this.
    mean
        √((1/n)Σ_i ‖∇f_i(w) − ∇f(w)‖²) is at most this.
    """
    largest, spread = above(each, how), above(mean, how)
    return {"sigma_g": largest, "sigma_g_mean": min(spread, largest, key=lambda one: one.value)}


def zeta(away: Any, off: float | None, how: str) -> Constant:
    """Return the largest distance of a client's minimiser from x*, where it is 0 exactly so.

    Parameters
    ----------
    away
        It is at most this from the point that stands for x*.
    off
        That point's distance from x*, rounded up; None counts as 0.
    how
        Where both come from.
    """
    found = above(Near(0.0) + away + (off or 0.0), how)
    return found if found.value else SHARED


# Instances of a family whose arrays are drawn, which tests look at.
_SMALL: Final = {"clients": 3, "dimension": 2}
_NOISY: Final = {**_SMALL, "seed": 1, "sigma": 0.5, "x0": [4.0, -1.5]}
DRAWN: Final[tuple[dict[str, Any], ...]] = (_SMALL, _NOISY, {**_NOISY, "noise": "sign"})
