"""Small problems, piece by piece, and what often fits a theorem: what the strategies draw from."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, final

from hypothesis import strategies as st

FAMILIES = (
    "huber", "pseudo-huber", "lad", "quadratic", "max-affine", "smoothed-max-affine", "logistic", "softmax", "hinge",
    "lad-regression",
)  # fmt: skip
CURVED = ("quadratic", "quadratic", "logistic", "softmax")
STEEP = ("huber", "huber", "pseudo-huber", "lad", "max-affine", "smoothed-max-affine", "logistic", "hinge")
SMOOTH = ("huber", "huber", "pseudo-huber", "smoothed-max-affine", "logistic")
DELAYS = (
    "exponential", "exponential:spread=5", "deterministic", "deterministic:spread=3", "uniform", "lognormal",
    "two-speed", "markov", "iid:p_s=0.3", "iid", "gamma", "per-step:jitter=0.1",
)  # fmt: skip
MEMORYLESS = ("exponential", "exponential:spread=5", "iid:p_s=0.3", "iid")
_CENTRES = ("-2", "0", "0.5", "1", "4")
_WEIGHTS = ("0.1", "1", "3")
_SEPARABLE = ("huber", "pseudo-huber", "lad")
_SUMS = (*_SEPARABLE, "quadratic", "max-affine", "smoothed-max-affine")  # noise is an option of these


@final
@dataclass(frozen=True, slots=True)
class Aim:
    """Properties that a problem should have.

    Parameters
    ----------
    families
        Of which; empty: any.
    noise, curved
        Whether gradients have noise, and regularisers make losses strongly convex; None: either.
    """

    families: tuple[str, ...] = ()
    noise: bool | None = None
    curved: bool | None = None


def families_of(assumed: Collection[str]) -> tuple[str, ...]:
    """Return the families of problems that mostly meet the assumptions."""
    if "strongly-convex" in assumed:
        return CURVED
    return SMOOTH if "smooth" in assumed else STEEP


def draw_problem(draw: Any, n: int, aim: Aim) -> str:
    """Draw a problem of n clients, in one or two dimensions, as ``--problem`` takes it."""
    kind = draw(st.sampled_from(aim.families or FAMILIES))
    loud = draw(st.booleans()) if aim.noise is None else aim.noise
    parts: list[str] = []
    if kind in _SEPARABLE:
        parts += [f"c={_entries(draw, n, _CENTRES)}", f"w={_entries(draw, n, _WEIGHTS)}"]
        parts += [f"delta={draw(st.sampled_from(('0.1', '1', '10')))}"] if kind != "lad" else []
    elif kind == "quadratic":
        A = ",".join(f"[[{draw(st.sampled_from(_WEIGHTS))}]]" for _ in range(n))
        b = ",".join(f"[{draw(st.sampled_from(_CENTRES))}]" for _ in range(n))
        parts += [f"A=[{A}]", f"b=[{b}]"]
    elif kind in ("max-affine", "smoothed-max-affine"):
        parts += [f"clients={n}", "pieces=2", f"dimension={draw(st.integers(1, 2))}", f"seed={draw(st.integers(0, 3))}"]
    else:
        parts += _regression(draw, kind, n, aim, loud=loud)
    if kind in _SUMS:
        parts += [f"sigma={'0.3' if loud else '0'}"]
    parts += [f"x0={draw(st.sampled_from(('0', '0.5', '3')))}"]
    return f"{kind}:{','.join(parts)}"


def _regression(draw: Any, kind: str, n: int, aim: Aim, *, loud: bool) -> list[str]:
    """Draw two rows of data a client, labels, a regulariser, batches and weights."""
    rows = [_entries(draw, 2, ("-1", "0", "1", "2")) for _ in range(2 * n)]
    targets = ",".join(draw(st.permutations(["0", "1"] * n)))
    owners = ",".join(str(client) for client in range(n) for _ in range(2))
    nu = ("0", "0.1") if aim.curved is None else ("0.1", "1") if aim.curved else ("0",)
    return [
        f"features=[{','.join(rows)}]", f"targets=[{targets}]", f"owners=[{owners}]",
        f"nu={draw(st.sampled_from(nu))}", f"batch={'1' if loud else 'full'}",
        f"weights={draw(st.sampled_from(('equal', 'size', 'paper')))}", f"bias={draw(st.sampled_from(('yes', 'no')))}",
        *(["solver=newton"] if kind in ("logistic", "softmax") else []),
    ]  # fmt: skip


def words_of(line: str) -> list[str]:
    """Return what a line of help may name: words, and words with options."""
    return sorted({*re.findall(r"[a-z][a-z_-]+(?::[a-z]=[0-9.]+(?:,[a-z]=[0-9.]+)?)?", line)})


def _entries(draw: Any, count: int, choices: tuple[str, ...]) -> str:
    return f"[{','.join(draw(st.sampled_from(choices)) for _ in range(count))}]"
