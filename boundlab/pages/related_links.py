"""From "false" to "why" to "what is true": the lines with which a command about a theorem ends."""

from typing import TYPE_CHECKING

from boundlab.documentation import pointers

if TYPE_CHECKING:
    from boundlab.theorems import Theorem


def related_links(theorem: "Theorem") -> str:
    """Return where the counterexample, the repairs, the argument and the proof stand, a line each; or nothing.

    Examples
    --------
    >>> from boundlab.theorems import load_theorem
    >>> print(related_links(load_theorem("area.theorem8")))
    counterexample: boundlab exact area.theorem8
    true instead: area.theorem8.repaired
    step by step: boundlab prove area.theorem8
    why: boundlab docs area
    """
    answered = theorem.refuted_by or theorem.repaired_by
    return "\n".join(
        f"{what}: {where}"
        for what, where in (
            ("counterexample", _case(theorem)),
            ("true instead", ", ".join(theorem.repaired_by)),
            ("proof", pointers(theorem.proof)),
            ("step by step", ", ".join(f"boundlab prove {one}" for one in theorem.proofs)),
            ("why" if answered else "page", pointers(theorem.page) if answered or not theorem.proof else ""),
        )
        if where
    )


def _case(theorem: "Theorem") -> str:
    """Return the command that replays a counterexample of boundlab's, or the path of the user's."""
    own = theorem.refuted_by.startswith("proofs/")
    return f"boundlab exact {theorem.id}" if own else theorem.refuted_by
