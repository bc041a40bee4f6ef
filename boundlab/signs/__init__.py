"""Signs of formulas: what is certainly ≥ 0 on the domains of its symbols, and how that is shown.

Everything here is bounded by counts, never by a clock: predicted numbers of terms, multiplications of a search, steps
of z3. The same question has the same answer on every machine.
"""

from boundlab.signs._polynomial import polynomial_sign as polynomial_sign
from boundlab.signs._prover import Direction as Direction
from boundlab.signs._prover import Prover as Prover
from boundlab.signs._prover import Trend as Trend
from boundlab.signs._quotient import vanishes as vanishes
from boundlab.signs._shown import SignProof as SignProof
from boundlab.signs._solver import NoAnswerError as NoAnswerError
from boundlab.signs._solver import Solver as Solver
