"""How a sign is known."""

from enum import IntEnum


class SignProof(IntEnum):
    """How it is shown that an expression is ≥ 0; what is not shown counts as False.

    A conclusion from several signs is known as well as the worst of them: ``min``.
    """

    NOT = 0
    BY_SOLVER = 1  # z3 says that the contrary has no solution, and nobody has checked that
    BY_CERTIFICATE = 2  # coefficients ≥ 0, or a cover of the orthant by cones that was checked again
