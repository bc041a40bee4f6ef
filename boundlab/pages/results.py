"""Parts that the pages of several results share: figures, constants, the verdict."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from boundlab.pages.blocks import Rows, Words, figures, tone_of, words

if TYPE_CHECKING:
    from boundlab.instance.membership import Membership


def figure(value: float) -> str:
    """Return a number with four significant digits."""
    return f"{value:.4g}"


def word(value: Any) -> str:
    """Return a value: a float with four significant digits, anything else as it is."""
    return figure(value) if isinstance(value, float) else str(value)


def of_objective(words: str) -> str:
    """Return what a head says of the objective: nothing of the plain mean, with which f stands for itself."""
    return f", f = {words}" if words.startswith("Σ") else ""


def constants_of(rows: Iterable[tuple[str, str, str, str]]) -> Rows:
    """Return the constants of an instance: name, value, side, and how it was found."""
    return figures(("constant", "value", "side", "how"), rows, words=(2, 3))


def verdict_words(verdict: str, reason: str, note: str = "") -> Words:
    """Return the verdict, coloured, with what is to be noted and its reason."""
    return words((f"{verdict}{note}: ", tone_of(verdict)), reason)


def proof_speaks(of: "Membership | None") -> list[Words]:
    """Return whether a proof speaks of the runs in hand; nothing where there is no proof."""
    return [] if of is None else [words((of.words, "open" if of.outside else "dim"))]
