"""Signs of formulas: what is certainly ≥ 0 on the domains of its symbols, and how that is shown.

Everything here is bounded by counts, never by a clock: predicted numbers of terms, multiplications of a search, steps
of z3. The same question has the same answer on every machine.
"""

from boundlab.signs._prover import (
    Direction as Direction,
    NoAnswerError as NoAnswerError,
    Prover as Prover,
    SignProof as SignProof,
    Solver as Solver,
    Trend as Trend,
    polynomial_sign as polynomial_sign,
    vanishes as vanishes,
)
