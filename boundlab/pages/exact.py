"""The page of both sides on one case."""

from typing import TYPE_CHECKING, Any

from boundlab.arithmetic.numbers import shortened
from boundlab.pages.blocks import GAP, Block, words
from boundlab.pages.results import constants_of, figure, of_objective, proof_speaks, verdict_words

if TYPE_CHECKING:
    from boundlab.exact import ExactResult
    from boundlab.theorems import Theorem


_LONG = 60  # characters of an exact number that are shown; --json has all


def exact_page(result: "ExactResult", theorem: "Theorem | None" = None) -> list[Block]:
    """Return both sides with what they were made from, or the way to them where that was asked for.

    Parameters
    ----------
    theorem
        Whose left side the head names.
    """
    left = "both sides" if theorem is None else theorem.left.expectation
    head = [words(f"{result.theorem} at k = {result.k}: {left}{of_objective(result.objective)}")]
    if result.sentence:
        head.append(words((result.sentence, "strong")))
    if result.derivation is not None:
        from boundlab.pages.derivation import derived

        return [*head, GAP, *derived(result.derivation)]
    values = ", ".join(f"{name} = {_word(value)}" for name, value in result.values.items())
    constants = ((name, _word(one["value"]), one["side"], one["how"]) for name, one in result.constants.items())
    return [
        *head,
        constants_of(constants),
        words((values, "dim")),
        GAP,
        words(f"left  = {result.left_text}"),
        words(f"right = {result.right_text}"),
        words(f"left/right = {figure(result.ratio)} ({result.kind}: {result.method})"),
        *([words((result.note, "dim"))] if result.note else []),
        *proof_speaks(result.proof),
        GAP,
        verdict_words(result.verdict, result.reason),
    ]


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else shortened(str(value), _LONG)
