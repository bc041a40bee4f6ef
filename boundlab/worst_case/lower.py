"""A rational point of the program whose objective is above a bound: the bound is then exceeded, for certain.

Where the class has sufficient interpolation inequalities, a point of the program is a function of the class, in as many
dimensions as G has rank. The solver's point is moved a little towards one with room and rounded;
:mod:`boundlab.worst_case.verify` says whether it is still a point of the program.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from boundlab.worst_case.program import Compiled, SemidefiniteProgram, Solution
from boundlab.worst_case.verify import Matrix, lower_value

Floats = NDArray[np.float64]
_SHARES = tuple(10.0 ** (-7.0 + step) for step in range(6))
_STEP = 2**50


def certified_lower(
    compiled: Compiled, solution: Solution, above: Fraction
) -> tuple[Fraction, Matrix, list[Fraction]] | None:
    """Return the objective at a rational point of the program, checked exactly, and the point: G and F; or None.

    Parameters
    ----------
    above
        Only points whose objective is larger are looked for.
    """
    inner = compiled.interior()
    if inner is None:
        return None
    program = compiled.program
    for share in _SHARES:
        gram = (1.0 - share) * solution.gram + share * inner[0]
        values = (1.0 - share) * solution.values + share * inner[1]
        point = _rounded(program, gram), _fractions(values, program.level)
        value = lower_value(program, *point)
        if value is not None and value > above:
            return value, *point
    return None


def _rounded(program: SemidefiniteProgram, gram: Floats) -> Matrix:
    """Round the entries, each in its own unit, to a symmetric matrix."""
    out: Matrix = []
    for i, line in enumerate(gram.tolist()):
        out.append([])
        for j, entry in enumerate(line):
            unit = float(program.scale[i] * program.scale[j])
            out[i].append(out[j][i] if j < i else _fractions(np.array([entry]), unit)[0])
    return out


def _fractions(values: Floats, unit: float) -> list[Fraction]:
    """Round to few binary digits below the unit."""
    power = Fraction(2) ** round(np.log2(unit))
    return [power * Fraction(round(value / float(power) * _STEP), _STEP) for value in values.tolist()]
