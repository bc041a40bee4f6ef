"""From "false" to "why" to "what is true": the lines with which a command about a theorem ends."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boundlab.theorems import Theorem


def related_links(theorem: "Theorem") -> str:
    """Return where the counterexample, the repairs, the argument and the proof stand, a line each; or nothing.

    Examples
    --------
    >>> from boundlab.theorems import load_theorem
    >>> print(related_links(load_theorem("area.theorem8")))
    refuted: proofs/counterexamples/area.theorem8.json
    repaired: area.theorem8.repaired
    step by step: boundlab prove area.theorem8
    why: docs/theory/area.md
    """
    answered = theorem.refuted_by or theorem.repaired_by
    return "\n".join(
        f"{what}: {where}"
        for what, where in (
            ("refuted", theorem.refuted_by),
            ("repaired", ", ".join(theorem.repaired_by)),
            ("proof", theorem.proof),
            ("step by step", ", ".join(f"boundlab prove {one}" for one in theorem.proofs)),
            ("why" if answered else "page", theorem.page if answered or not theorem.proof else ""),
        )
        if where
    )
