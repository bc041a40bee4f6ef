"""Twins of problems, in rational numbers (:meth:`boundlab.objective.Problem.rational`) or in balls alone."""

from boundlab.problems.rational.arrays import (
    RationalMaxAffine as RationalMaxAffine,
    RationalQuadratic as RationalQuadratic,
)
from boundlab.problems.rational.samples import RationalLeastSquares as RationalLeastSquares
from boundlab.problems.rational.separable import RationalSeparable as RationalSeparable
